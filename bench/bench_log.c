/*
 * What the metadata of a large table costs, in process: opens the newest snapshot of a table that make_log.py made, has its file list
 * ready, visits every file, refreshes it. Times are told as CPU (all threads) and wall clock, memory as counted bytes and as the process's
 * peak.
 *
 *     bench_log [--repeat N] [--threads N] [--details 1 | --plan 1 | --where PREDICATE] TABLE
 *     bench_log [--threads N] --refresh N --scratch FOLDER [--steady 1] TABLE
 *
 * With --details every file is visited with its statistics. With --plan a scan is built instead and every file of its plan visited; with
 * --where it is a scan with that filter. With --refresh N commits of 100 adds and 50 removes are written behind a copy (by links) of the
 * table's log in FOLDER, each followed by a refresh after which the new count of files is asked for; with --steady each commit removes
 * what the one before it added, so that the table does not grow.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/snapshot/state.h"
#include "silt/engine.h"
#include "silt/expr.h"
#include "silt/scan.h"
#include "silt/snapshot.h"
#include "silt/table.h"
#include "support/bench_rows.h"

#define ADDS_PER_COMMIT 100
#define REMOVES_PER_COMMIT 50

struct options {
    int64_t repeat, threads, details, refresh, plan, steady;
    const char *scratch;
    const char *where; /* NULL: no filter */
    const char *table;
};

/* ---- an allocator that counts ---- */

static atomic_size_t live_bytes;

static void *count_alloc(void *ctx, size_t size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    void *block = inner->alloc(inner->ctx, size);
    (void)atomic_fetch_add(&live_bytes, block != NULL ? size : 0);
    return block;
}

static void *count_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    void *moved = inner->resize(inner->ctx, block, old_size, new_size);
    (void)atomic_fetch_add(&live_bytes, moved != NULL ? new_size - old_size : 0);
    return moved;
}

static void count_release(void *ctx, void *block, size_t size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    inner->release(inner->ctx, block, size);
    (void)atomic_fetch_sub(&live_bytes, block != NULL ? size : 0);
}

static int64_t cpu_us(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

static int64_t peak_rss_kb(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* ---- visiting ---- */

struct visited {
    int64_t n, size, text;
};

static silt_status count_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct visited *visited = ctx;
    visited->n++;
    visited->size += add->size;
    visited->text += (int64_t)(add->path.len + add->stats.len);
    for (size_t i = 0; i < add->partition_values.n; i++) {
        visited->text += (int64_t)add->partition_values.items[i].value.len;
    }
    return SILT_OK;
}

struct measured {
    int64_t open_cpu, open_wall, list_cpu, list_wall, visit_cpu, visit_wall;
    size_t bytes;
    struct visited visited;
};

static silt_status measure(silt_engine *engine, const struct options *options, struct measured *out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t n = 0;
    int64_t size = 0;
    const size_t before = atomic_load(&live_bytes);
    int64_t cpu = cpu_us();
    int64_t wall = bench_now_us();
    *out = (struct measured){.bytes = 0};
    silt_status status = silt_table_for_path(engine, options->table, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    out->open_cpu = cpu_us() - cpu;
    out->open_wall = bench_now_us() - wall;
    if (status == SILT_OK) {
        status = silt_snapshot_totals(snapshot, NULL, &n, &size, err);
    }
    out->list_cpu = cpu_us() - cpu;
    out->list_wall = bench_now_us() - wall;
    out->bytes = atomic_load(&live_bytes) - before;
    cpu = cpu_us();
    wall = bench_now_us();
    if (status == SILT_OK) {
        status = sl_snapshot_each_file(snapshot, NULL, options->details != 0 ? SL_FILES_STATS : 0, count_file,
                                       &out->visited, err);
    }
    out->visit_cpu = cpu_us() - cpu;
    out->visit_wall = bench_now_us() - wall;
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    if (status == SILT_OK && (out->visited.n != n || out->visited.size != size)) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "visited %" PRId64 " files, the snapshot says %" PRId64,
                         out->visited.n, n);
    }
    return status;
}

/* ---- planning ---- */

static silt_status build_scan(silt_snapshot *snapshot, const char *where, silt_scan **out, silt_error *err)
{
    silt_scan_builder *builder = NULL;
    silt_expr *filter = NULL;
    silt_status status = silt_scan_builder_new(snapshot, &builder, err);
    if (status == SILT_OK && where != NULL) {
        status = silt_expr_parse(silt_env_default(), where, strlen(where), silt_snapshot_schema(snapshot), &filter,
                                 err);
    }
    if (status == SILT_OK && filter != NULL) {
        status = silt_scan_builder_filter(builder, filter, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, NULL, out, err);
    }
    silt_expr_unref(filter);
    silt_scan_builder_free(builder);
    return status;
}

/* From the path of a table to a plan whose every file was looked at, as an engine does it. */
static silt_status measure_plan(silt_engine *engine, const struct options *options, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_scan *scan = NULL;
    struct visited visited = {0};
    const struct bench_time begin = bench_now();
    silt_status status = silt_table_for_path(engine, options->table, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    if (status == SILT_OK) {
        status = build_scan(snapshot, options->where, &scan, err);
    }
    if (status == SILT_OK) {
        const silt_scan_plan *plan = silt_scan_get_plan(scan);
        for (size_t i = 0; i < plan->n_files; i++) {
            visited.n++;
            visited.size += plan->files[i].size_bytes;
            visited.text += (int64_t)strlen(plan->files[i].path);
        }
    }
    const struct bench_time took = bench_since(begin);
    if (status == SILT_OK) {
        (void)printf("{\"plan_us\": [%" PRId64 ", %" PRId64 "], \"n_files\": %" PRId64 ", \"text\": %" PRId64
                     ", \"bytes\": %zu, \"peak_rss_kb\": %" PRId64 "}\n",
                     took.cpu_us, took.wall_us, visited.n, visited.text, atomic_load(&live_bytes), peak_rss_kb());
    }
    silt_scan_unref(scan);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

/* ---- refreshing ---- */

struct names {
    struct sl_vec paths; /* of struct sl_str, live files */
    struct sl_arena arena;
    uint64_t seen;
    int64_t
        steady_from; /* every commit after this one removes what the one before it added; -1: old files are removed */
};

static silt_status keep_name(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct names *names = ctx;
    *stop = false;
    if (names->seen++ % 17 != 0) { /* from all over the table */
        return SILT_OK;
    }
    struct sl_str *slot = sl_vec_push(&names->paths);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = sl_arena_copy(&names->arena, add->path);
    return slot->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status link_log(const struct options *options, struct sl_buf *to, silt_error *err)
{
    struct sl_buf from;
    sl_buf_init(&from, silt_env_default());
    sl_buf_printf(&from, "%s/_delta_log", options->table);
    sl_buf_printf(to, "%s/_delta_log", options->scratch);
    (void)mkdir(options->scratch, 0755);
    (void)mkdir(sl_buf_cstr(to), 0755);
    DIR *dir = opendir(sl_buf_cstr(&from));
    silt_status status = dir != NULL ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "%s cannot be listed", options->table);
    struct dirent *entry = NULL;
    while (status == SILT_OK && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        struct sl_buf name;
        sl_buf_init(&name, silt_env_default());
        sl_buf_printf(&name, "%s/%s", sl_buf_cstr(to), entry->d_name);
        if (linkat(dirfd(dir), entry->d_name, AT_FDCWD, sl_buf_cstr(&name), 0) != 0 && errno != EEXIST) {
            status = sl_fail(err, SILT_EIO, NULL, "%s cannot be linked: %s", sl_buf_cstr(&name), strerror(errno));
        }
        sl_buf_release(&name);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    sl_buf_release(&from);
    return status;
}

static void put_added_path(struct sl_buf *text, int64_t version, int64_t i)
{
    sl_buf_printf(text,
                  "\"path\":\"day=2026-01-05/part-%05" PRId64 "-new-%" PRId64
                  "-0f3a7c52-9b1e-4d77-8c31.c000.snappy.parquet\"",
                  i, version);
}

static silt_status write_commit(const char *log, int64_t version, const struct names *names, size_t *next,
                                silt_error *err)
{
    struct sl_buf text;
    struct sl_buf path;
    sl_buf_init(&text, silt_env_default());
    sl_buf_init(&path, silt_env_default());
    for (int64_t i = 0; i < ADDS_PER_COMMIT; i++) {
        sl_buf_put_c(&text, "{\"add\":{");
        put_added_path(&text, version, i);
        sl_buf_printf(&text,
                      ",\"partitionValues\":{\"day\":\"2026-01-05\"},\"size\":%" PRId64
                      ",\"modificationTime\":1767225600000,\"dataChange\":true}}\n",
                      1000 + i);
    }
    for (int64_t i = 0; names->steady_from >= 0 && version > names->steady_from && i < ADDS_PER_COMMIT; i++) {
        sl_buf_put_c(&text, "{\"remove\":{");
        put_added_path(&text, version - 1, i);
        sl_buf_put_c(&text, ",\"deletionTimestamp\":5,\"dataChange\":true}}\n");
    }
    for (int64_t i = 0; names->steady_from < 0 && i < REMOVES_PER_COMMIT && *next < names->paths.len; i++, (*next)++) {
        const struct sl_str gone = *(const struct sl_str *)sl_vec_at(&names->paths, *next);
        sl_buf_printf(&text, "{\"remove\":{\"path\":\"%.*s\",\"deletionTimestamp\":5,\"dataChange\":true}}\n",
                      SL_FMT(gone));
    }
    sl_buf_printf(&path, "%s/%020" PRId64 ".json", log, version);
    FILE *file = fopen(sl_buf_cstr(&path), "we");
    const bool ok = file != NULL && fwrite(text.data, 1, text.len, file) == text.len;
    const bool closed = file != NULL && fclose(file) == 0;
    sl_buf_release(&text);
    sl_buf_release(&path);
    return ok && closed ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "commit %" PRId64 " cannot be written", version);
}

static silt_status refresh_once(silt_snapshot **snapshot, int64_t expected, struct bench_time *time, silt_error *err)
{
    silt_snapshot *grown = NULL;
    int64_t n = 0;
    const struct bench_time begin = bench_now();
    SL_TRY(silt_snapshot_refresh(*snapshot, NULL, &grown, err));
    silt_status status = silt_snapshot_totals(grown, NULL, &n, NULL, err);
    *time = bench_since(begin);
    silt_snapshot_unref(*snapshot);
    *snapshot = grown;
    if (status == SILT_OK && n != expected) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "%" PRId64 " files, expected %" PRId64, n, expected);
    }
    return status;
}

static void print_refreshes(const struct bench_time *times, int64_t n)
{
    (void)printf("{\"times_us\": [");
    for (int64_t i = 0; i < n; i++) {
        (void)printf("%s%" PRId64, i > 0 ? ", " : "", times[i].wall_us);
    }
    (void)printf("], \"cpu_us\": [");
    for (int64_t i = 0; i < n; i++) {
        (void)printf("%s%" PRId64, i > 0 ? ", " : "", times[i].cpu_us);
    }
}

static silt_status refresh_all(const struct options *options, const char *log, silt_snapshot **snapshot,
                               struct names *names, struct bench_time *times, silt_error *err)
{
    int64_t n = 0;
    size_t next = 0;
    SL_TRY(silt_snapshot_totals(*snapshot, NULL, &n, NULL, err));
    SL_TRY(sl_snapshot_each_file(*snapshot, NULL, 0, keep_name, names, err));
    const size_t before = atomic_load(&live_bytes);
    const int64_t first = silt_snapshot_version(*snapshot) + 1;
    size_t after_one = 0;
    names->steady_from = options->steady != 0 ? first : -1;
    for (int64_t i = 0; i < options->refresh; i++) {
        const int64_t gone = options->steady == 0 ? REMOVES_PER_COMMIT : i > 0 ? ADDS_PER_COMMIT : 0;
        n += ADDS_PER_COMMIT - gone;
        SL_TRY(write_commit(log, first + i, names, &next, err));
        SL_TRY(refresh_once(snapshot, n, &times[i], err));
        after_one = i == 0 ? atomic_load(&live_bytes) : after_one;
    }
    print_refreshes(times, options->refresh);
    (void)printf("], \"bytes_loaded\": %zu, \"bytes_after_1\": %zu, \"bytes_after_all\": %zu, \"n_files\": %" PRId64
                 "}\n",
                 before, after_one, atomic_load(&live_bytes), n);
    return SILT_OK;
}

static silt_status refresh(silt_engine *engine, const struct options *options, silt_error *err)
{
    struct sl_buf log;
    struct names names = {.seen = 0};
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    sl_buf_init(&log, silt_env_default());
    sl_vec_init(&names.paths, silt_env_default(), sizeof(struct sl_str));
    sl_arena_init(&names.arena, silt_env_default());
    struct bench_time *times = calloc((size_t)options->refresh, sizeof(*times));
    silt_status status = times != NULL ? link_log(options, &log, err) : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = silt_table_for_path(engine, options->scratch, &table, err);
    }
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    if (status == SILT_OK) {
        status = refresh_all(options, sl_buf_cstr(&log), &snapshot, &names, times, err);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    sl_buf_release(&log);
    sl_vec_release(&names.paths);
    sl_arena_release(&names.arena);
    free(times);
    return status;
}

/* ---- the program ---- */

static silt_status run(silt_engine *engine, const struct options *options, silt_error *err)
{
    if (options->refresh > 0) {
        return refresh(engine, options, err);
    }
    for (int64_t i = 0; i < options->repeat; i++) {
        struct measured m;
        if (options->plan != 0 || options->where != NULL) {
            SL_TRY(measure_plan(engine, options, err));
            continue;
        }
        SL_TRY(measure(engine, options, &m, err));
        (void)printf("{\"open_us\": [%" PRId64 ", %" PRId64 "], \"list_us\": [%" PRId64 ", %" PRId64
                     "], \"visit_us\": [%" PRId64 ", %" PRId64 "], \"n_files\": %" PRId64 ", \"text\": %" PRId64
                     ", \"bytes\": %zu, \"peak_rss_kb\": %" PRId64 "}\n",
                     m.open_cpu, m.open_wall, m.list_cpu, m.list_wall, m.visit_cpu, m.visit_wall, m.visited.n,
                     m.visited.text, m.bytes, peak_rss_kb());
    }
    return SILT_OK;
}

static bool parse(int argc, char **argv, struct options *out)
{
    *out = (struct options){.repeat = 1, .threads = 2};
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name;
            int64_t *value;
        } numbers[] = {{"--repeat", &out->repeat},   {"--threads", &out->threads}, {"--details", &out->details},
                       {"--refresh", &out->refresh}, {"--plan", &out->plan},       {"--steady", &out->steady}};
        bool known = false;
        for (size_t j = 0; !known && j < sizeof(numbers) / sizeof(numbers[0]) && i + 1 < argc; j++) {
            if (strcmp(argv[i], numbers[j].name) == 0) {
                known = sl_str_to_i64(sl_str_from(argv[++i]), numbers[j].value);
            }
        }
        if (!known && strcmp(argv[i], "--scratch") == 0 && i + 1 < argc) {
            out->scratch = argv[++i];
        } else if (!known && strcmp(argv[i], "--where") == 0 && i + 1 < argc) {
            out->where = argv[++i];
        } else if (!known) {
            out->table = argv[i];
        }
    }
    return out->table != NULL && out->table[0] != '-' && (out->refresh == 0 || out->scratch != NULL);
}

int main(int argc, char **argv)
{
    struct options options;
    silt_error err = SILT_ERROR_INIT;
    if (!parse(argc, argv, &options)) {
        (void)fprintf(stderr,
                      "usage: bench_log [--repeat N] [--threads N] [--details 1 | --plan 1 | --where PREDICATE] TABLE\n"
                      "       bench_log [--threads N] --refresh N --scratch FOLDER [--steady 1] TABLE\n");
        return EXIT_FAILURE;
    }
    silt_env env = *silt_env_default();
    env.allocator = (silt_allocator){.alloc = count_alloc, .resize = count_resize, .release = count_release};
    const silt_default_engine_options engine_options = {
        .size = sizeof(engine_options), .env = &env, .threads = (uint32_t)options.threads};
    silt_engine *engine = NULL;
    silt_status status = silt_engine_default_new(&engine_options, &engine, &err);
    if (status == SILT_OK) {
        status = run(engine, &options, &err);
    }
    silt_engine_unref(engine);
    if (status != SILT_OK) {
        (void)fprintf(stderr, "bench_log: %s\n", err.message);
    }
    return status == SILT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
