/*
 * What reading commits costs: one commit of many lines of a shape, parsed from memory as a whole, and streamed from a file of the
 * local store in parts. Prints processor time for a million lines, bytes a second, and the peak of memory.
 *
 *     bench_commit [--lines N] [--repeat N] [--threads N] [--shape NAME] FOLDER
 *
 * FOLDER gets a table's log with the commit in it. Shapes: add (no statistics), stats (of three columns), vector, remove, odd
 * (an unknown member: the general parser's way), wide (characters beyond ASCII). Without --shape all of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/log/commit_batch.h"
#include "silt/engine.h"
#include "silt/storage.h"
#include "support/bench_rows.h"

struct options {
    int64_t lines;
    int64_t repeat;
    int64_t threads;
    const char *shape; /* NULL: all */
    const char *folder;
};

struct shape {
    const char *name;
    const char *action;
    const char *tail; /* behind the members that all have */
};

static const struct shape shapes[] = {
    {"add", "add", ""},
    {"stats", "add",
     ",\"stats\":\"{\\\"numRecords\\\":1234,\\\"minValues\\\":{\\\"id\\\":200000,\\\"name\\\":\\\"a0f3e1\\\",\\\"value\\\":"
     "17.25},\\\"maxValues\\\":{\\\"id\\\":201999,\\\"name\\\":\\\"zff00a\\\",\\\"value\\\":1017.75},\\\"nullCount\\\":{"
     "\\\"id\\\":0,\\\"name\\\":0,\\\"value\\\":3}}\""},
    {"vector", "add",
     ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"ab^-aqEH.-t@S}K{vb[*k^\",\"offset\":4,"
     "\"sizeInBytes\":40,\"cardinality\":6}"},
    {"remove", "remove", ",\"deletionTimestamp\":1767225600000,\"extendedFileMetadata\":true"},
    {"odd", "add", ",\"unknown\":[1,{\"a\":null}]"},
    {"wide", "add", ",\"tags\":{\"Zoë\":\"ñandú über größe\"},\"stats\":\"{\\\"minValues\\\":{\\\"é\\\":\\\"ü\\\"}}\""},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static void put_line(struct sl_buf *out, const struct shape *shape, int64_t i)
{
    const uint64_t a = mix((uint64_t)i * 2);
    const uint64_t b = mix((uint64_t)i * 2 + 1);
    const int day = (int)(i % 28) + 1;
    sl_buf_printf(out, "{\"%s\":{\"path\":\"day=2026-01-%02d/part-%05d-%08" PRIx64 "-%04" PRIx64, shape->action, day,
                  (int)(i % 100000), a >> 32, (a >> 16) & 0xFFFF);
    sl_buf_printf(out, "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64 ".c000.snappy.parquet\"", a & 0xFFF, b >> 52,
                  b & UINT64_C(0xFFFFFFFFFFFF));
    sl_buf_printf(out, ",\"partitionValues\":{\"day\":\"2026-01-%02d\"},\"size\":%" PRIu64, day,
                  10000000 + a % 1000000);
    if (strcmp(shape->action, "add") == 0) {
        sl_buf_printf(out, ",\"modificationTime\":%" PRIu64, UINT64_C(1767225600000) + (uint64_t)i);
    }
    sl_buf_printf(out, ",\"dataChange\":true%s}}\n", shape->tail);
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for oneself */
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

struct result {
    int64_t cpu_us;
    int64_t wall_us;
};

static void keep_least(struct result *least, int64_t cpu_begin, int64_t wall_begin)
{
    const int64_t cpu = cpu_us() - cpu_begin;
    const int64_t wall = bench_now_us() - wall_begin;
    least->cpu_us = least->cpu_us == 0 || cpu < least->cpu_us ? cpu : least->cpu_us;
    least->wall_us = least->wall_us == 0 || wall < least->wall_us ? wall : least->wall_us;
}

static silt_status parse_whole(const silt_env *env, struct sl_str text, int64_t expected, silt_error *err)
{
    struct sl_arena arena;
    struct sl_commit commit;
    const struct sl_commit_bytes input = {.env = env, .bytes = text};
    sl_arena_init(&arena, env);
    silt_status status = sl_commit_parse_in_place(&input, &arena, &commit, err);
    if (status == SILT_OK && (int64_t)commit.n_actions != expected) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "%zu actions were read", commit.n_actions);
    }
    sl_arena_release(&arena);
    return status;
}

struct count {
    int64_t n;
    int64_t size;
};

static silt_status count_actions(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct count *count = ctx;
    for (size_t i = 0; i < commit->n_actions; i++) {
        count->size += commit->actions[i].u.add.size;
    }
    count->n += (int64_t)commit->n_actions;
    return SILT_OK;
}

struct setting {
    const struct options *options;
    const silt_env *env;
    silt_engine *engine;
    silt_storage *storage;
    const char *path;
};

static silt_status stream_file(const struct setting *setting, int64_t size, silt_error *err)
{
    const struct sl_log_source source = {setting->engine, setting->storage, sl_str_from(setting->options->folder)};
    const struct sl_log_file file = {.kind = SL_LOG_COMMIT, .name = SL_STR("00000000000000000000.json"), .size = size};
    const struct sl_commits_request request = {.source = &source, .files = &file, .n = 1, .in_parts = true};
    struct count count = {0};
    SL_TRY(sl_commits_each(&request, NULL, count_actions, &count, err));
    return count.n == setting->options->lines
               ? SILT_OK
               : sl_fail(err, SILT_ECORRUPT, NULL, "%" PRId64 " actions were read", count.n);
}

static void report(const char *shape, const char *way, const struct result *result, int64_t lines, size_t bytes)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage); /* cannot fail for oneself */
    (void)printf("{\"shape\": \"%s\", \"way\": \"%s\", \"cpu_ms_per_million\": %.1f, \"wall_ms_per_million\": %.1f, "
                 "\"mb_per_cpu_second\": %.0f, \"bytes_per_line\": %.0f, \"max_rss_mb\": %ld}\n",
                 shape, way, (double)result->cpu_us * 1000 / (double)lines,
                 (double)result->wall_us * 1000 / (double)lines, (double)bytes / (double)result->cpu_us,
                 (double)bytes / (double)lines, usage.ru_maxrss / 1024);
}

static silt_status run_shape(const struct setting *setting, const struct shape *shape, silt_error *err)
{
    const struct options *options = setting->options;
    struct sl_buf text;
    sl_buf_init(&text, setting->env);
    for (int64_t i = 0; i < options->lines; i++) {
        put_line(&text, shape, i);
    }
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = silt_storage_put(setting->storage, NULL, setting->path, text.data, text.len, err);
    }
    struct result whole = {0};
    for (int64_t i = 0; i < options->repeat && status == SILT_OK; i++) {
        const int64_t cpu = cpu_us();
        const int64_t wall = bench_now_us();
        status = parse_whole(setting->env, sl_buf_view(&text), options->lines, err);
        keep_least(&whole, cpu, wall);
    }
    const size_t len = text.len;
    sl_buf_release(&text);
    struct result stream = {0};
    for (int64_t i = 0; i < options->repeat && status == SILT_OK; i++) {
        const int64_t cpu = cpu_us();
        const int64_t wall = bench_now_us();
        status = stream_file(setting, (int64_t)len, err);
        keep_least(&stream, cpu, wall);
    }
    if (status == SILT_OK) {
        report(shape->name, "memory", &whole, options->lines, len);
        report(shape->name, "stream", &stream, options->lines, len);
    }
    return status;
}

static silt_status run(const struct options *options, silt_error *err)
{
    const silt_env *env = silt_env_default();
    struct setting setting = {.options = options, .env = env};
    const silt_default_engine_options engine_options = {
        .size = sizeof(engine_options), .env = env, .threads = (uint32_t)options->threads};
    struct sl_buf path;
    sl_buf_init(&path, env);
    sl_buf_printf(&path, "%s/_delta_log", options->folder);
    (void)mkdir(sl_buf_cstr(&path), 0755); /* writing tells if it is not there */
    sl_buf_put_c(&path, "/00000000000000000000.json");
    setting.path = sl_buf_cstr(&path);
    silt_status status = silt_storage_local_new(env, NULL, &setting.storage, err);
    if (status == SILT_OK) {
        status = silt_engine_default_new(&engine_options, &setting.engine, err);
    }
    for (size_t i = 0; i < N_SHAPES && status == SILT_OK; i++) {
        if (options->shape == NULL || strcmp(options->shape, shapes[i].name) == 0) {
            status = run_shape(&setting, &shapes[i], err);
        }
    }
    silt_engine_unref(setting.engine);
    silt_storage_unref(setting.storage);
    sl_buf_release(&path);
    return status;
}

static bool parse(int argc, char **argv, struct options *out)
{
    *out = (struct options){.lines = 1000000, .repeat = 3, .threads = 1};
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name;
            int64_t *value;
        } numbers[] = {{"--lines", &out->lines}, {"--repeat", &out->repeat}, {"--threads", &out->threads}};
        bool known = false;
        for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]) && i + 1 < argc && !known; j++) {
            if (strcmp(argv[i], numbers[j].name) == 0) {
                known = sl_str_to_i64(sl_str_from(argv[++i]), numbers[j].value) && *numbers[j].value > 0;
            }
        }
        if (!known && strcmp(argv[i], "--shape") == 0 && i + 1 < argc) {
            out->shape = argv[++i];
        } else if (!known) {
            out->folder = argv[i];
        }
    }
    return out->folder != NULL && out->folder[0] != '-';
}

int main(int argc, char **argv)
{
    struct options options;
    silt_error err = SILT_ERROR_INIT;
    if (!parse(argc, argv, &options)) {
        (void)fprintf(stderr, "usage: bench_commit [--lines N] [--repeat N] [--threads N] [--shape NAME] FOLDER\n");
        return EXIT_FAILURE;
    }
    (void)mkdir(options.folder, 0755); /* it may be there; writing tells */
    if (run(&options, &err) != SILT_OK) {
        (void)fprintf(stderr, "bench_commit: %s\n", err.message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
