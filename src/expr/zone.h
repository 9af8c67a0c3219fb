/*
 * The zone of literals, for the parser and for who casts a literal that it gave. A time without one, a date and a TIMESTAMP_NTZ that stand for an instant are of the session's
 * zone, as in Spark; values are cast as if that were UTC.
 */
#ifndef SL_EXPR_ZONE_H
#define SL_EXPR_ZONE_H

#include "expr/expr.h"

/*
 * After `from`, a literal, was cast to `to`: brings an instant to the zone. zone NULL: UTC. SILT_EUNSUPPORTED for an instant as a wall
 * clock, which only the other direction of the zone could tell.
 */
silt_status sl_zone_apply(const struct sl_expr_zone *zone, const silt_value *from, silt_value *to, silt_error *err);

#endif
