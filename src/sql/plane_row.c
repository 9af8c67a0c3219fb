/*
 * One question to the data plane. See plane_row.h.
 */
#include "sql/plane_row.h"

#include "base/arrow.h"
#include "schema/value.h"

silt_status sl_plane_row_get(const struct sl_dataplane_ref *plane, const silt_call *call, struct sl_str sql,
                             const struct sl_dataplane_params *params, struct sl_plane_row *out, silt_error *err)
{
    static const struct sl_dataplane_params none = {0};
    bool done = false;
    silt_status status;

    *out = (struct sl_plane_row){0};
    status = plane->vtable->query(plane->dp, call, sql, params != NULL ? params : &none, &out->stream, err);
    if (status == SILT_OK) {
        status = sl_arrow_stream_schema(&out->stream, &out->schema, err);
    }
    if (status == SILT_OK) {
        status = sl_arrow_stream_next(&out->stream, &out->batch, &done, err);
    }
    if (status != SILT_OK) {
        sl_plane_row_release(out);
    }
    return status;
}

void sl_plane_row_release(struct sl_plane_row *row)
{
    sl_arrow_array_release(&row->batch);
    sl_arrow_schema_release(&row->schema);
    sl_arrow_stream_release(&row->stream);
}

bool sl_plane_row_exists(const struct sl_plane_row *row)
{
    return row->batch.release != NULL && row->batch.length > 0;
}

bool sl_plane_row_value(const struct sl_plane_row *row, size_t column, silt_value *out)
{
    return sl_plane_row_exists(row) && column < (size_t)row->batch.n_children &&
           sl_value_from_arrow(row->schema.children[column], row->batch.children[column], row->batch.offset, out) &&
           !out->is_null;
}
