/*
 * What the benchmark programs share: their options, a clock, and results as JSON, so that the harness compares what all of them
 * print. One thread.
 */
#ifndef SILT_BENCH_ROWS_H
#define SILT_BENCH_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "silt/arrow.h"
#include "silt/status.h"

#define BENCH_MAX_REPEAT 1000

/* The command line "[--threads N] [--repeat N] [--sync FILE] TEXT". */
struct bench_options {
    uint32_t threads;
    int repeat;
    const char *sync; /* a file to flush to the disk after each repetition, "{n}" in it; NULL: none */
    const char *text;
};
/* Tells what is wrong on stderr and returns false. */
bool bench_options_parse(int argc, char **argv, struct bench_options *out);

int64_t bench_now_us(void);

/* Wall clock and processor time of all threads of the process, in microseconds: a point in time, or what lies between two. */
struct bench_time {
    int64_t wall_us;
    int64_t cpu_us;
};
struct bench_time bench_now(void);
struct bench_time bench_since(struct bench_time begin);

/* `text` with each "{n}" replaced by the number of the repetition. */
silt_status bench_numbered(struct sl_buf *out, const char *text, int repetition);

/* A result: rows as JSON lists of text or null, the first of them only. */
struct bench_rows {
    struct sl_buf json;
    int64_t n;
};
void bench_rows_init(struct bench_rows *rows, const silt_env *env);
void bench_rows_clear(struct bench_rows *rows);
void bench_rows_release(struct bench_rows *rows);
silt_status bench_rows_take(struct bench_rows *rows, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                            silt_error *err);

/* Prints {"open_us": …, "times_us": […], "cpu_us": […], "n_rows": …, "rows": […]}. */
void bench_report(int64_t open_us, const struct bench_time *times, int n, const struct bench_rows *rows);

#endif
