/*
 * Tables and views that live in the data plane itself (CREATE TEMP TABLE, CREATE VIEW …). They go before a folder of the same name. The data
 * plane is in memory and ends with the session, so nothing of them stays.
 */
#include "base/error.h"
#include "schema/value.h"
#include "sql/plane_row.h"
#include "sql/run.h"

silt_status sl_session_is_temporary(silt_session *session, const silt_call *call, const struct sl_table_name *name,
                                    bool *out, silt_error *err)
{
    struct sl_dataplane_ref plane;
    struct sl_plane_row row = {0};
    struct sl_buf sql;
    silt_value text = sl_value_bytes(SILT_TYPE_STRING, name->parts[0]);
    silt_status status;

    *out = false;
    if (!session->has_temporaries || name->n_parts != 1) {
        return SILT_OK; /* most sessions: no question, and the data plane need not be loaded for it */
    }
    sl_buf_init(&sql, session->env);
    sl_buf_put_c(&sql, "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower(");
    sl_value_print_duckdb(&sql, &text);
    sl_buf_put_c(&sql, ") LIMIT 1");
    status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        status = sl_engine_dataplane(session->engine, &plane, err);
    }
    if (status == SILT_OK) {
        status = sl_plane_row_get(&plane, call, sl_buf_view(&sql), NULL, &row, err);
    }
    *out = status == SILT_OK && sl_plane_row_exists(&row);
    sl_plane_row_release(&row);
    sl_buf_release(&sql);
    return status;
}
