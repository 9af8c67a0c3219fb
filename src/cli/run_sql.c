/*
 * The loop over statements; see run_sql.h.
 */
#include "cli/run_sql.h"

#include <string.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/warehouse.h"

/* Where an error stands in what the user wrote; one outside of it has no place to show. */
static void place_error(silt_error *err, struct sl_str text, struct sl_str shown)
{
    if (shown.ptr == NULL || err->position < 0) {
        err->position = -1;
        return;
    }
    const int64_t offset = (int64_t)err->position - (shown.ptr - text.ptr);
    const int64_t len = (int64_t)shown.len;
    /* what is missing at the end of the user's part is noticed at what was put behind it */
    err->position = offset < 0 || offset > len + 2 ? -1 : (int32_t)(offset < len ? offset : len);
}

/* A name of the warehouse that is like the unknown one at the error's place; else where names are looked for. */
static void hint_table(struct sl_cli *cli, struct sl_str shown, silt_error *err)
{
    static const char ends_name[] = " \t\r\n,;()";
    if (strcmp(err->code_name, "TABLE_OR_VIEW_NOT_FOUND") != 0 || err->hint[0] != '\0' || err->position < 0) {
        return;
    }
    const size_t begin = (size_t)err->position;
    size_t end = begin;
    while (end < shown.len && strchr(ends_name, shown.ptr[end]) == NULL) {
        end++;
    }
    const char *typed = sl_arena_strdup(&cli->arena, sl_str_sub(shown, begin, end));
    const char *near = typed != NULL ? sl_warehouse_suggest(cli, typed) : NULL;
    struct sl_str warehouse = {0};
    if (near != NULL) {
        sl_error_hint(err, "did you mean %s?", near);
    } else if (sl_uri_normalize(&cli->arena, sl_str_from(sl_cli_warehouse(cli)), &warehouse, NULL) == SILT_OK) {
        sl_error_hint(err, "tables are looked for in the warehouse, %.*s", SL_FMT(warehouse));
    }
}

/* SQL's own advice, for a command that has another way. */
static void hint_columns(const struct sl_run_sql *options, silt_error *err)
{
    if (options->hint_columns != NULL && strncmp(err->hint, "INSERT WITH SCHEMA EVOLUTION ", 29) == 0) {
        sl_error_hint(err, "%s", options->hint_columns);
    }
}

static void show_time(struct sl_cli *cli, const silt_result *result, int64_t begin_us)
{
    const double seconds = (double)(sl_monotonic_us(cli->env) - begin_us) / 1e6;
    if (result->kind == SILT_RESULT_NONE) {
        sl_report_note(cli, "done in %.3f s", seconds);
    } else if (result->version >= 0) {
        sl_report_note(cli, "version %lld, %.3f s", (long long)result->version, seconds);
    } else {
        sl_report_note(cli, "%.3f s", seconds);
    }
}

/* The error that follows is about the result alone: who repeats the statement for it writes twice. */
static void tell_committed(struct sl_cli *cli, const silt_result *result)
{
    if (sl_out_is_broken(&cli->out) && result->version >= 0) {
        sl_report_note(cli, "note: version %lld is committed, only the result could not be written",
                       (long long)result->version);
    }
}

/* A statement works while its result is pulled. */
static silt_status drain(struct ArrowArrayStream *stream, silt_error *err)
{
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        sl_arrow_array_release(&batch);
    }
    sl_arrow_stream_release(stream);
    return status;
}

/* One statement and its result. */
static silt_status run_next(struct sl_cli *cli, silt_execution *execution, const struct sl_run_sql *options, bool *done,
                            silt_error *err)
{
    silt_result result = {.size = sizeof(result), .version = -1, .kind = SILT_RESULT_NONE};
    const int64_t begin_us = sl_monotonic_us(cli->env);
    silt_status status;

    sl_progress_begin(&cli->progress);
    status = silt_execution_next(execution, &cli->call, &result, done, err);
    if (status == SILT_OK && !*done && result.stream.release != NULL) {
        status = options->discard_rows ? drain(&result.stream, err)
                                       : sl_print_stream(cli, options->format, &result.stream, NULL, err);
        sl_out_flush(&cli->out);
    }
    sl_progress_end(&cli->progress);
    if (status == SILT_OK && !*done) {
        tell_committed(cli, &result);
    }
    if (status == SILT_OK && !*done && result.skipped) {
        sl_report_note(cli,
                       "note: skipped, the table has recorded this application id with this version or a later one");
    }
    if (status == SILT_OK && !*done && options->show_time) {
        show_time(cli, &result, begin_us);
    }
    return status;
}

int sl_run_sql(struct sl_cli *cli, struct sl_str text, const struct sl_run_sql *options)
{
    silt_error err = SILT_ERROR_INIT;
    silt_session *session = NULL;
    silt_execution *execution = NULL;
    int code = SL_EXIT_DONE;
    bool done = false;
    silt_status status = sl_cli_session(cli, &session, &err);

    if (status == SILT_OK) {
        status = silt_session_execute(session, text.ptr != NULL ? text.ptr : "", text.len, NULL, NULL, &execution,
                                      &err);
    }
    if (status != SILT_OK) {
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    while (!done && !sl_out_is_broken(&cli->out)) {
        silt_error_reset(&err);
        status = run_next(cli, execution, options, &done, &err);
        if (status == SILT_OK) {
            continue;
        }
        if (status == SILT_ECANCELLED) {
            silt_error_reset(&err);
            (void)sl_fail(&err, SILT_ECANCELLED, NULL, "interrupted");
        }
        place_error(&err, text, options->shown);
        hint_columns(options, &err);
        if (options->table != NULL) {
            sl_table_arg_hint(cli, options->table, &err);
        } else {
            hint_table(cli, options->shown, &err);
        }
        const int failed = sl_report_error(cli, &err, options->shown);
        code = code == SL_EXIT_DONE ? failed : code;
        if (!options->keep_going || status == SILT_ECANCELLED) {
            break;
        }
    }
    silt_execution_free(execution);
    return code;
}

int sl_run_sql_buf(struct sl_cli *cli, const struct sl_buf *text, const struct sl_run_sql *options)
{
    silt_error err = SILT_ERROR_INIT;
    if (sl_buf_status(text, &err) != SILT_OK) {
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    return sl_run_sql(cli, sl_str_make(sl_buf_cstr(text), text->len), options);
}
