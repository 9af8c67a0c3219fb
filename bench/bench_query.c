/*
 * Runs a text of SQL through a session again and again, and prints the time of each run and the rows of the last statement's result.
 * A run ends when all rows were fetched. "{n}" in the text is the number of the run, so that each can write to a place of its own.
 *
 *     bench_query [--threads N] [--repeat N] "STATEMENTS"
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arrow.h"
#include "base/error.h"
#include "silt/session.h"
#include "support/bench_rows.h"

static silt_status drain(struct ArrowArrayStream *stream, struct bench_rows *rows, silt_error *err)
{
    struct ArrowSchema schema = {0};
    silt_status status = sl_arrow_stream_schema(stream, &schema, err);
    bool done = false;
    bench_rows_clear(rows);
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        if (status == SILT_OK && !done) {
            status = bench_rows_take(rows, &schema, &batch, err);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

static silt_status run_once(silt_session *session, struct sl_str text, struct bench_rows *rows, silt_error *err)
{
    silt_execution *execution = NULL;
    bool done = false;
    silt_status status = silt_session_execute(session, text.ptr, text.len, NULL, NULL, &execution, err);
    while (status == SILT_OK && !done) {
        silt_result result = {.size = sizeof(result)};
        status = silt_execution_next(execution, NULL, &result, &done, err);
        if (status == SILT_OK && !done && result.stream.release != NULL) {
            status = drain(&result.stream, rows, err);
            sl_arrow_stream_release(&result.stream);
        }
    }
    silt_execution_free(execution);
    return status;
}

static silt_status run_all(const struct bench_options *options, silt_error *err)
{
    static struct bench_time times[BENCH_MAX_REPEAT];
    const silt_default_engine_options engine = {.size = sizeof(engine), .threads = options->threads};
    const silt_session_options session_options = {.size = sizeof(session_options), .engine = &engine};
    silt_session *session = NULL;
    struct bench_rows rows;
    struct sl_buf text;
    bench_rows_init(&rows, silt_env_default());
    sl_buf_init(&text, silt_env_default());
    const int64_t start_us = bench_now_us();
    silt_status status = silt_session_open(&session_options, &session, err);
    const int64_t open_us = bench_now_us() - start_us;
    for (int i = 0; status == SILT_OK && i < options->repeat; i++) {
        status = bench_numbered(&text, options->text, i);
        if (status == SILT_OK) {
            const struct bench_time begin = bench_now();
            status = run_once(session, sl_buf_view(&text), &rows, err);
            times[i] = bench_since(begin);
        }
    }
    if (status == SILT_OK) {
        bench_report(open_us, times, options->repeat, &rows);
    }
    silt_session_close(session);
    sl_buf_release(&text);
    bench_rows_release(&rows);
    return status;
}

int main(int argc, char **argv)
{
    struct bench_options options;
    silt_error err = SILT_ERROR_INIT;
    if (!bench_options_parse(argc, argv, &options)) {
        return EXIT_FAILURE;
    }
    if (run_all(&options, &err) != SILT_OK) {
        (void)fprintf(stderr, "bench_query: %s\n", err.message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
