/*
 * One question to the data plane: a query of which only the first row matters. One owner.
 */
#ifndef SL_SQL_PLANE_ROW_H
#define SL_SQL_PLANE_ROW_H

#include "base/str.h"
#include "engine/dataplane.h"
#include "silt/schema.h"

struct sl_plane_row {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch; /* not there if the query has no row */
};

/* params NULL: none. */
silt_status sl_plane_row_get(const struct sl_dataplane_ref *plane, const silt_call *call, struct sl_str sql,
                             const struct sl_dataplane_params *params, struct sl_plane_row *out, silt_error *err);
void sl_plane_row_release(struct sl_plane_row *row); /* safe on a zeroed one */

bool sl_plane_row_exists(const struct sl_plane_row *row);
/* Value of a column, borrowed from the row; false if there is no row, no such column, or the value is null or nested. */
bool sl_plane_row_value(const struct sl_plane_row *row, size_t column, silt_value *out);

#endif
