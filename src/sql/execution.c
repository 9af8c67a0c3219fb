/*
 * An execution walks a text statement by statement. It keeps a copy of the text, so that the caller's may go.
 */
#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "sql/pins.h"
#include "sql/run.h"

struct silt_execution {
    silt_session *session;
    char *text;
    size_t text_len;
    size_t pos;
    struct sl_dataplane_params params;
};

silt_status silt_session_execute(silt_session *session, const char *text, size_t text_len,
                                 const struct ArrowSchema *params_schema, const struct ArrowArray *params,
                                 silt_execution **out, silt_error *err)
{
    silt_execution *execution = NULL;

    if (session == NULL || text == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_session_execute: session, text and out are required");
    }
    *out = NULL;
    if ((params_schema == NULL) != (params == NULL) || (params != NULL && params->length != 1)) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_session_execute: parameters are a struct array of one row");
    }
    if (text_len > INT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a text of %zu bytes is too long to run", text_len);
    }
    execution = sl_alloc_zero(session->env, sizeof(*execution));
    if (execution == NULL) {
        return sl_fail_nomem(err);
    }
    execution->session = session;
    execution->params = (struct sl_dataplane_params){params_schema, params};
    execution->text_len = text_len;
    execution->text = sl_strdup_len(session->env, text, text_len);
    if (execution->text == NULL) {
        sl_release(session->env, execution, sizeof(*execution));
        return sl_fail_nomem(err);
    }
    *out = execution;
    return SILT_OK;
}

void silt_execution_free(silt_execution *execution)
{
    if (execution == NULL) {
        return;
    }
    const silt_env *env = execution->session->env;
    sl_release(env, execution->text, execution->text_len + 1);
    sl_release(env, execution, sizeof(*execution));
}

bool sl_run_is_utc(const struct sl_run *run)
{
    return sl_str_eq_nocase(sl_str_from(run->session->time_zone), SL_STR("UTC"));
}

silt_status sl_run_local_time(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err)
{
    const struct sl_run *run = ctx;
    return sl_session_local_to_utc(run->session, run->call, wall_us, instant_us, err);
}

silt_status sl_run_statement(struct sl_run *run, silt_error *err)
{
    switch (run->statement->kind) {
    case SL_STMT_CREATE_TABLE: return sl_run_create(run, err);
    case SL_STMT_INSERT: return sl_run_insert(run, err);
    case SL_STMT_DESCRIBE_TABLE:
    case SL_STMT_DESCRIBE_HISTORY:
    case SL_STMT_DESCRIBE_DETAIL:
    case SL_STMT_SHOW_PROPERTIES:
    case SL_STMT_SHOW_COLUMNS: return sl_run_describe(run, err);
    case SL_STMT_SET:
    case SL_STMT_RESET: return sl_run_set(run, err);
    case SL_STMT_DROP_TABLE: return sl_run_drop(run, err);
    case SL_STMT_TRUNCATE: return sl_run_truncate(run, err);
    case SL_STMT_QUERY: return sl_run_query(run, err);
    case SL_STMT_UNSUPPORTED: break;
    }
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT",
                                       "%s is not supported by this version of silt", run->statement->name);
    if (run->statement->hint != NULL) {
        sl_error_hint(err, "%s", run->statement->hint);
    }
    return status;
}

silt_status silt_execution_next(silt_execution *execution, const silt_call *call, silt_result *result, bool *done,
                                silt_error *err)
{
    struct sl_arena arena;
    struct sl_statement statement;
    silt_result made = {.size = sizeof(made), .version = -1, .kind = SILT_RESULT_NONE};
    struct sl_str text;
    silt_status status;

    if (execution == NULL || result == NULL || done == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_execution_next: execution, result and done are required");
    }
    text = sl_str_make(execution->text, execution->text_len);
    silt_error_reset(err);
    *done = !sl_sql_split(text, &execution->pos, &made.statement_begin, &made.statement_end);
    if (*done) {
        return SILT_OK;
    }
    sl_arena_init(&arena, execution->session->env);
    struct sl_run run = {.session = execution->session,
                         .call = call,
                         .params = execution->params,
                         .text = sl_str_sub(text, made.statement_begin, made.statement_end),
                         .offset = made.statement_begin,
                         .arena = &arena,
                         .statement = &statement,
                         .result = &made};
    status = sl_call_check(execution->session->env, call, err);
    if (status == SILT_OK) {
        status = sl_statement_parse(&arena, run.text, &statement, err);
        if (status != SILT_OK && err != NULL && err->position >= 0) {
            err->position += (int32_t)made.statement_begin;
        }
    }
    if (status == SILT_OK) {
        status = sl_run_statement(&run, err);
        sl_session_unpin(run.session, status == SILT_OK);
    }
    sl_arena_release(&arena);
    if (status == SILT_OK) {
        *result = made;
    }
    return status;
}
