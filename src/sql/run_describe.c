/*
 * DESCRIBE and SHOW of Delta tables. A DESCRIBE of something that is no Delta table (a view, a file) goes to the data plane.
 */
#include "base/error.h"
#include "commands/describe.h"
#include "sql/run.h"

const char *sl_table_name_text(struct sl_run *run, const struct sl_table_name *name)
{
    struct sl_buf buf;
    char *text = NULL;

    sl_buf_init(&buf, run->session->env);
    for (size_t i = 0; i < name->n_parts; i++) {
        sl_buf_put_c(&buf, i > 0 ? "." : "");
        sl_buf_put_str(&buf, name->parts[i]);
    }
    text = sl_arena_strdup(run->arena, sl_buf_view(&buf));
    sl_buf_release(&buf);
    return text != NULL ? text : "the table";
}

/* A plain DESCRIBE name may mean a view or a temporary table of the data plane. */
static silt_status is_foreign(struct sl_run *run, bool *out, silt_error *err)
{
    struct sl_table_name *name = &run->statement->table;
    struct sl_str uri = {0};
    bool is_table = false;

    *out = false;
    if (run->statement->kind != SL_STMT_DESCRIBE_TABLE || (name->is_path && !name->quoted_path)) {
        return SILT_OK;
    }
    SL_TRY(sl_session_resolve(run->session, run->arena, name, &uri, err));
    SL_TRY(sl_session_is_table(run->session, run->call, uri, &is_table, err));
    *out = !is_table;
    return SILT_OK;
}

static silt_status describe_snapshot(struct sl_run *run, struct ArrowArrayStream *out, silt_error *err)
{
    struct sl_statement *statement = run->statement;
    const char *name = sl_table_name_text(run, &statement->table);
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_status status;

    SL_TRY(sl_session_snapshot(run->session, run->call, &statement->table, &table, &snapshot, err));
    if (statement->kind == SL_STMT_SHOW_COLUMNS) {
        status = sl_show_columns(snapshot, run->session->env, out, err);
    } else if (statement->kind == SL_STMT_SHOW_PROPERTIES) {
        status = sl_show_properties(snapshot, run->session->env, name, statement->key.ptr, out, err);
    } else {
        status = sl_describe_table(table, snapshot, name, statement->extended, out, err);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

static silt_status describe_log(struct sl_run *run, struct ArrowArrayStream *out, silt_error *err)
{
    struct sl_statement *statement = run->statement;
    silt_table *table = NULL;
    silt_status status;

    if (statement->table.travel != SL_TRAVEL_NONE) {
        return sl_fail(err, SILT_EINVALID, "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS",
                       "%s does not take a version of a table", statement->name);
    }
    SL_TRY(sl_session_open_table(run->session, &statement->table, &table, err));
    status = statement->kind == SL_STMT_DESCRIBE_HISTORY
                 ? sl_describe_history(table, run->call, statement->limit, out, err)
                 : sl_describe_detail(table, run->call, out, err);
    silt_table_unref(table);
    return status;
}

silt_status sl_run_describe(struct sl_run *run, silt_error *err)
{
    struct ArrowArrayStream stream = {0};
    bool foreign = false;

    SL_TRY(is_foreign(run, &foreign, err));
    if (foreign) {
        return sl_run_query(run, err);
    }
    if (run->statement->kind == SL_STMT_DESCRIBE_HISTORY || run->statement->kind == SL_STMT_DESCRIBE_DETAIL) {
        SL_TRY(describe_log(run, &stream, err));
    } else {
        SL_TRY(describe_snapshot(run, &stream, err));
    }
    run->result->kind = SILT_RESULT_ROWS;
    run->result->stream = stream;
    return SILT_OK;
}
