/*
 * Shared by the benchmark programs, see bench_rows.h. Printing happens outside of what is timed, except that rows are taken from
 * their batch while it is there; results of the benchmarks' queries have a few rows.
 */
#include "bench_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "schema/value.h"

/* Rows beyond this are counted, not printed. */
#define PRINTED_ROWS 100

static bool parse_count(const char *text, int64_t max, int64_t *out)
{
    return text != NULL && sl_str_to_i64(sl_str_from(text), out) && *out >= 1 && *out <= max;
}

bool bench_options_parse(int argc, char **argv, struct bench_options *out)
{
    *out = (struct bench_options){.threads = 1, .repeat = 1};
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        int64_t count = 0;
        if (strcmp(argv[i], "--threads") == 0 && parse_count(next, 256, &count)) {
            out->threads = (uint32_t)count;
            i++;
        } else if (strcmp(argv[i], "--repeat") == 0 && parse_count(next, BENCH_MAX_REPEAT, &count)) {
            out->repeat = (int)count;
            i++;
        } else if (strcmp(argv[i], "--sync") == 0 && next != NULL) {
            out->sync = next;
            i++;
        } else if (argv[i][0] != '-' && out->text == NULL) {
            out->text = argv[i];
        } else {
            break;
        }
        if (i + 1 == argc && out->text != NULL) {
            return true;
        }
    }
    (void)fprintf(stderr, "usage: %s [--threads N] [--repeat N] [--sync FILE] TEXT\n", argv[0]);
    return false;
}

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now); /* cannot fail for these clocks */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t bench_now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

struct bench_time bench_now(void)
{
    return (struct bench_time){.wall_us = clock_us(CLOCK_MONOTONIC), .cpu_us = clock_us(CLOCK_PROCESS_CPUTIME_ID)};
}

struct bench_time bench_since(struct bench_time begin)
{
    const struct bench_time now = bench_now();
    return (struct bench_time){.wall_us = now.wall_us - begin.wall_us, .cpu_us = now.cpu_us - begin.cpu_us};
}

silt_status bench_numbered(struct sl_buf *out, const char *text, int repetition)
{
    sl_buf_clear(out);
    for (const char *at = text; *at != '\0';) {
        const char *mark = strstr(at, "{n}");
        if (mark == NULL) {
            sl_buf_put_c(out, at);
            break;
        }
        sl_buf_put_str(out, sl_str_make(at, (size_t)(mark - at)));
        sl_buf_put_i64(out, repetition);
        at = mark + 3;
    }
    (void)sl_buf_cstr(out); /* room for the end is made now, so that the status tells */
    return sl_buf_status(out, NULL);
}

void bench_rows_init(struct bench_rows *rows, const silt_env *env)
{
    rows->n = 0;
    sl_buf_init(&rows->json, env);
}

void bench_rows_clear(struct bench_rows *rows)
{
    rows->n = 0;
    sl_buf_clear(&rows->json);
}

void bench_rows_release(struct bench_rows *rows)
{
    sl_buf_release(&rows->json);
}

static void put_quoted(struct sl_buf *json, struct sl_str text)
{
    sl_buf_put_char(json, '"');
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c == '"' || c == '\\') {
            sl_buf_put_char(json, '\\');
        }
        sl_buf_put_char(json, (unsigned char)c < 0x20 ? ' ' : c);
    }
    sl_buf_put_char(json, '"');
}

static silt_status put_row(struct bench_rows *rows, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                           int64_t row, silt_error *err)
{
    struct sl_buf cell;
    sl_buf_init(&cell, rows->json.env);
    silt_status status = SILT_OK;
    sl_buf_put_c(&rows->json, rows->n == 0 ? "[" : ", [");
    for (int64_t i = 0; status == SILT_OK && i < schema->n_children; i++) {
        silt_value value;
        sl_buf_clear(&cell);
        sl_buf_put_c(&rows->json, i == 0 ? "" : ", ");
        if (!sl_value_from_arrow(schema->children[i], batch->children[i], row, &value)) {
            status = sl_fail(err, SILT_EUNSUPPORTED, NULL, "column %s has a type that cannot be printed",
                             schema->children[i]->name);
        } else if (value.is_null) {
            sl_buf_put_c(&rows->json, "null");
        } else {
            sl_value_print(&cell, &value);
            put_quoted(&rows->json, sl_buf_view(&cell));
        }
    }
    sl_buf_put_char(&rows->json, ']');
    sl_buf_release(&cell);
    return status != SILT_OK ? status : sl_buf_status(&rows->json, err);
}

silt_status bench_rows_take(struct bench_rows *rows, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                            silt_error *err)
{
    for (int64_t row = 0; row < batch->length; row++) {
        if (rows->n < PRINTED_ROWS) {
            SL_TRY(put_row(rows, schema, batch, row, err));
        }
        rows->n++;
    }
    return SILT_OK;
}

static void print_times(const char *name, const struct bench_time *times, int n, bool is_cpu)
{
    (void)printf("\"%s\": [", name);
    for (int i = 0; i < n; i++) {
        (void)printf("%s%" PRId64, i == 0 ? "" : ", ", is_cpu ? times[i].cpu_us : times[i].wall_us);
    }
    (void)printf("], ");
}

void bench_report(int64_t open_us, const struct bench_time *times, int n, const struct bench_rows *rows)
{
    struct sl_str json = sl_buf_view(&rows->json);
    (void)printf("{\"open_us\": %" PRId64 ", ", open_us);
    print_times("times_us", times, n, false);
    print_times("cpu_us", times, n, true);
    (void)printf("\"n_rows\": %" PRId64 ", \"rows\": [%.*s]}\n", rows->n, SL_FMT(json));
}
