/*
 * Conditions of a query, as predicates with which the kernel can prune files. Only what has the same meaning in the kernel as in the data
 * plane is taken; the data plane evaluates the whole condition in any case. Pure; any thread.
 */
#ifndef SL_SQL_PREDICATE_H
#define SL_SQL_PREDICATE_H

#include "engine/dataplane.h"
#include "json/json.h"
#include "schema/type.h"
#include "silt/expr.h"
#include "sql/refs.h"

/*
 * The predicate of a conjunct over columns of the referenced table, NULL when it says nothing that can be used. utc: the session's zone is
 * UTC, so that a time without zone means the same on both sides.
 */
silt_status sl_predicate_from_conjunct(const silt_env *env, const struct sl_table_ref *ref, const sl_json *conjunct,
                                       const silt_schema *schema, const struct sl_dataplane_params *params, bool utc,
                                       silt_expr **out, silt_error *err);

#endif
