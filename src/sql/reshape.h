/*
 * Bringing nested values into the shape of another type: members of structs found by name, in the other's order, null where they are
 * missing; also in arrays and maps. Text of the data plane's SQL. Pure.
 */
#ifndef SL_SQL_RESHAPE_H
#define SL_SQL_RESHAPE_H

#include "base/buf.h"
#include "schema/type.h"

/* Appends an expression for `expr`, a value of type `from`, in the shape of `to`. Types of leaves stay what they are. */
silt_status sl_reshape_put(struct sl_buf *out, struct sl_str expr, const struct silt_type *from,
                           const struct silt_type *to, silt_error *err);

#endif
