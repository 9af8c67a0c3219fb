/*
 * Tables and views that live in the data plane itself (CREATE TEMP TABLE, CREATE VIEW …). They go before a folder of the same name. The data
 * plane is in memory and ends with the session, so nothing of them stays.
 */
#include "base/arrow.h"
#include "base/error.h"
#include "schema/value.h"
#include "sql/run.h"

bool sl_session_is_temporary(silt_session *session, const silt_call *call, struct sl_str name)
{
    struct sl_dataplane_ref plane;
    struct sl_dataplane_params none = {0};
    struct ArrowArrayStream stream = {0};
    struct ArrowArray batch = {0};
    struct sl_buf sql;
    silt_value text = sl_value_bytes(SILT_TYPE_STRING, name);
    bool done = false;
    bool found = false;

    if (!session->has_temporaries) {
        return false; /* most sessions: no question, and the data plane need not be loaded for it */
    }
    sl_buf_init(&sql, session->env);
    sl_buf_put_c(&sql, "SELECT 1 FROM information_schema.tables WHERE lower(table_name) = lower(");
    sl_value_print_duckdb(&sql, &text);
    sl_buf_put_c(&sql, ") LIMIT 1");
    if (sql.status == SILT_OK && sl_engine_dataplane(session->engine, &plane, NULL) == SILT_OK &&
        plane.vtable->query(plane.dp, call, sl_buf_view(&sql), &none, &stream, NULL) == SILT_OK &&
        sl_arrow_stream_next(&stream, &batch, &done, NULL) == SILT_OK) {
        found = !done && batch.length > 0;
    }
    sl_arrow_array_release(&batch);
    sl_arrow_stream_release(&stream);
    sl_buf_release(&sql);
    return found;
}

silt_status sl_run_drop(struct sl_run *run, silt_error *err)
{
    const struct sl_table_name *name = &run->statement->table;
    if (name->n_parts == 1 && !name->is_path && sl_session_is_temporary(run->session, run->call, name->parts[0])) {
        return sl_run_query(run, err);
    }
    return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT",
                   "DROP TABLE of a Delta table is not supported by this version of silt");
}
