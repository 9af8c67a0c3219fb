/*
 * Running one statement on a connection. The caller's thread runs the query; DuckDB's own threads help. A call that can end
 * early is under the watcher for as long as DuckDB has control; one with a progress callback is run task by task, so that
 * the callback comes on the caller's thread.
 */
#include "duck.h"

#include "base/env.h"
#include "base/error.h"
#include "duck_fetch.h"
#include "duck_variant.h"

#define IDLE_US 50
#define PROGRESS_PERIOD_US 100000

silt_status sl_duck_prepare(struct sl_duck_conn *conn, struct sl_str sql, duckdb_prepared_statement *out,
                            silt_error *err)
{
    *out = NULL;
    if (memchr(sql.ptr, '\0', sql.len) != NULL) {
        return sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "the text of a statement holds a NUL byte");
    }
    struct sl_buf text;
    sl_buf_init(&text, conn->dp->env);
    sl_buf_put_str(&text, sql);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK && duckdb_prepare(conn->handle, sl_buf_cstr(&text), out) != DuckDBSuccess) {
        status = sl_duck_fail(conn, NULL, sql, duckdb_prepare_error(*out), err);
        duckdb_destroy_prepare(out);
    }
    sl_buf_release(&text);
    return status;
}

static void tell_progress(struct sl_duck_conn *conn, const silt_call *call)
{
    const duckdb_query_progress_type now = duckdb_query_progress(conn->handle);
    silt_progress progress = {.size = sizeof(progress), .phase = "running query", .fraction = -1};
    if (now.percentage >= 0) {
        progress.fraction = now.percentage / 100.0;
        progress.done = (int64_t)(now.rows_processed <= INT64_MAX ? now.rows_processed : 0);
        progress.total = (int64_t)(now.total_rows_to_process <= INT64_MAX ? now.total_rows_to_process : 0);
    }
    call->progress(call->progress_ctx, &progress);
}

/* Without this setting, which exists for connections only, there is no progress to ask for. */
static silt_status enable_progress(struct sl_duck_conn *conn, silt_error *err)
{
    const char *const sql = "SET enable_progress_bar_print = false; SET enable_progress_bar = true";
    if (duckdb_query(conn->handle, sql, NULL) != DuckDBSuccess) {
        return sl_fail(err, SILT_EENGINE, NULL, "DuckDB refuses to report progress");
    }
    return SILT_OK;
}

/* A statement that failed says why here and nowhere else: to run it to its end then is an error of its own. */
static silt_status finish_tasks(struct sl_duck_conn *conn, const silt_call *call, struct sl_str sql,
                                duckdb_pending_result pending, duckdb_pending_state state, silt_error *err)
{
    return state == DUCKDB_PENDING_ERROR ? sl_duck_fail(conn, call, sql, duckdb_pending_error(pending), err) : SILT_OK;
}

static silt_status run_tasks(struct sl_duck_conn *conn, const silt_call *call, struct sl_str sql,
                             duckdb_pending_result pending, silt_error *err)
{
    const silt_env *env = conn->dp->env;
    int64_t told_us = sl_monotonic_us(env);
    for (;;) {
        const duckdb_pending_state state = duckdb_pending_execute_task(pending);
        if (duckdb_pending_execution_is_finished(state)) {
            return finish_tasks(conn, call, sql, pending, state, err);
        }
        const silt_status status = sl_call_check(env, call, err);
        if (status != SILT_OK) {
            /* DuckDB's own threads may be at work: without this, closing the connection waits until they are done. */
            duckdb_interrupt(conn->handle);
            sl_duck_fetch_interrupt(conn->dp, conn->handle);
            return status;
        }
        if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE) {
            env->sleep_us(env->ctx, IDLE_US);
        }
        const int64_t now_us = sl_monotonic_us(env);
        if (now_us - told_us >= PROGRESS_PERIOD_US) {
            tell_progress(conn, call);
            told_us = now_us;
        }
    }
}

static silt_status execute(struct sl_duck_conn *conn, const silt_call *call, const struct sl_duck_run *run,
                           duckdb_prepared_statement stmt, duckdb_result *out, silt_error *err)
{
    duckdb_pending_result pending = NULL;
    silt_status status = SILT_OK;
    const duckdb_state state = run->streaming ? duckdb_pending_prepared_streaming(stmt, &pending)
                                              : duckdb_pending_prepared(stmt, &pending);
    if (state != DuckDBSuccess) {
        status = sl_duck_fail(conn, call, run->sql, duckdb_pending_error(pending), err);
    }
    if (status == SILT_OK && call != NULL && call->progress != NULL) {
        status = run_tasks(conn, call, run->sql, pending, err);
    }
    if (status == SILT_OK && duckdb_execute_pending(pending, out) != DuckDBSuccess) {
        const char *message = duckdb_result_error(out);
        status = sl_duck_fail(conn, call, run->sql, message != NULL ? message : duckdb_pending_error(pending), err);
    }
    duckdb_destroy_pending(&pending);
    return status;
}

silt_status sl_duck_run(struct sl_duck_conn *conn, const silt_call *call, const struct sl_duck_run *run,
                        duckdb_result *out, silt_error *err)
{
    *out = (duckdb_result){0};
    struct sl_duck_watch watch;
    SL_TRY(sl_duck_watch_begin(conn, call, &watch, err));
    duckdb_prepared_statement stmt = NULL;
    silt_status status = SILT_OK;
    if (call != NULL && call->progress != NULL) {
        status = enable_progress(conn, err);
    }
    if (status == SILT_OK && run->in_utc && !sl_duck_zone_is_utc(conn->dp) &&
        duckdb_query(conn->handle, "SET SESSION TimeZone = 'UTC'", NULL) != DuckDBSuccess) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB refuses to run a statement in UTC");
    }
    if (status == SILT_OK) {
        status = sl_duck_prepare(conn, run->sql, &stmt, err);
    }
    if (status == SILT_OK && run->hands_out) {
        status = sl_variant_hand_out(conn, run->sql, &stmt, err);
    }
    if (status == SILT_OK) {
        status = sl_duck_bind(conn, stmt, run->params, err);
    }
    if (status == SILT_OK) {
        status = execute(conn, call, run, stmt, out, err);
    }
    duckdb_destroy_prepare(&stmt);
    sl_duck_watch_end(conn, &watch);
    return status;
}

silt_status sl_duck_exec(struct sl_duck_conn *conn, const silt_call *call, const struct sl_buf *sql, duckdb_result *out,
                         silt_error *err)
{
    *out = (duckdb_result){0};
    SL_TRY(sl_buf_status(sql, err));
    const struct sl_duck_run run = {.sql = sl_buf_view(sql)};
    return sl_duck_run(conn, call, &run, out, err);
}

silt_status sl_duck_fetch(struct sl_duck_conn *conn, const silt_call *call, duckdb_result *result,
                          duckdb_data_chunk *out, silt_error *err)
{
    *out = NULL;
    struct sl_duck_watch watch;
    SL_TRY(sl_duck_watch_begin(conn, call, &watch, err));
    silt_status status = SILT_OK;
    *out = duckdb_fetch_chunk(*result);
    if (*out == NULL) {
        const char *message = duckdb_result_error(result);
        if (message != NULL && message[0] != '\0') {
            status = sl_duck_fail(conn, call, (struct sl_str){NULL, 0}, message, err);
        }
    } else if (duckdb_data_chunk_get_size(*out) == 0) {
        duckdb_destroy_data_chunk(out);
    }
    sl_duck_watch_end(conn, &watch);
    return status;
}
