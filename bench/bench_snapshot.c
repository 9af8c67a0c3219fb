/*
 * What a snapshot of a large table costs: makes a log of many files in a folder, loads the newest snapshot
 * through an allocator that counts, and prints the bytes that stay for each file and the time to get there. Beside it the limit:
 * the same commits, parsed by yyjson alone.
 *
 *     bench_snapshot [--files N] [--per-commit N] [--stats] [--repeat N] FOLDER
 *
 * FOLDER gets the table. With --stats its files have statistics, as Spark writes them for three columns, else only what each must have:
 * path, size, time, partition values.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yyjson.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/engine.h"
#include "silt/snapshot.h"
#include "silt/table.h"
#include "support/bench_rows.h"

struct options {
    int64_t files;
    int64_t per_commit;
    int64_t repeat;
    bool stats;
    const char *folder;
};

/* ---- an allocator that counts ---- */

static atomic_size_t live_bytes;
static atomic_size_t peak_bytes;

static void note(size_t added, size_t removed)
{
    const size_t now = atomic_fetch_add(&live_bytes, added - removed) + added - removed;
    if (now > atomic_load(&peak_bytes)) {
        atomic_store(&peak_bytes, now); /* one thread allocates here */
    }
}

static void *count_alloc(void *ctx, size_t size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    void *block = inner->alloc(inner->ctx, size);
    note(block != NULL ? size : 0, 0);
    return block;
}

static void *count_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    void *moved = inner->resize(inner->ctx, block, old_size, new_size);
    if (moved != NULL) {
        note(new_size, old_size);
    }
    return moved;
}

static void count_release(void *ctx, void *block, size_t size)
{
    (void)ctx;
    const silt_allocator *inner = &silt_env_default()->allocator;
    inner->release(inner->ctx, block, size);
    note(0, size);
}

/* ---- the log ---- */

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Bounds of three columns. */
static void put_stats(struct sl_buf *out, int64_t i, uint64_t a, uint64_t b)
{
    sl_buf_printf(out, ",\"stats\":\"{\\\"numRecords\\\":%" PRIu64 ",\\\"minValues\\\":{\\\"id\\\":%" PRId64,
                  1000 + b % 1000, i * 2000);
    sl_buf_printf(out,
                  ",\\\"name\\\":\\\"a%06" PRIx64 "\\\",\\\"value\\\":%" PRIu64
                  ".25},\\\"maxValues\\\":{\\\"id\\\":%" PRId64,
                  a & 0xFFFFFF, a % 1000, i * 2000 + 1999);
    sl_buf_printf(out,
                  ",\\\"name\\\":\\\"z%06" PRIx64 "\\\",\\\"value\\\":%" PRIu64 ".75},\\\"nullCount\\\":", b & 0xFFFFFF,
                  b % 1000 + 1000);
    sl_buf_printf(out, "{\\\"id\\\":0,\\\"name\\\":0,\\\"value\\\":%" PRIu64 "}}\"", a % 10);
}

/* As Spark writes it: a partition value, a UUID in the name. */
static void put_add(struct sl_buf *out, int64_t i, bool stats)
{
    const uint64_t a = mix((uint64_t)i * 2);
    const uint64_t b = mix((uint64_t)i * 2 + 1);
    const int day = (int)(i % 28) + 1;
    sl_buf_printf(out, "{\"add\":{\"path\":\"day=2026-01-%02d/part-%05d-", day, (int)(i % 100000));
    sl_buf_printf(out, "%08" PRIx64 "-%04" PRIx64 "-4%03" PRIx64 "-8%03" PRIx64 "-%012" PRIx64, a >> 32,
                  (a >> 16) & 0xFFFF, a & 0xFFF, b >> 52, b & UINT64_C(0xFFFFFFFFFFFF));
    sl_buf_printf(out, ".c000.snappy.parquet\",\"partitionValues\":{\"day\":\"2026-01-%02d\"},\"size\":%" PRIu64, day,
                  10000000 + a % 1000000);
    sl_buf_printf(out, ",\"modificationTime\":%" PRIu64 ",\"dataChange\":true", UINT64_C(1767225600000) + (uint64_t)i);
    if (stats) {
        put_stats(out, i, a, b);
    }
    sl_buf_put_c(out, "}}\n");
}

static void put_head(struct sl_buf *out)
{
    sl_buf_put_c(out, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
                      "{\"metaData\":{\"id\":\"5fba94ed-9794-4965-ba6e-6ee3c0d22af9\",\"format\":{\"provider\":"
                      "\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[");
    static const char *const columns[][2] = {{"id", "long"}, {"name", "string"}, {"value", "double"}, {"day", "date"}};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        sl_buf_printf(out,
                      "%s{\\\"name\\\":\\\"%s\\\",\\\"type\\\":\\\"%s\\\",\\\"nullable\\\":true,"
                      "\\\"metadata\\\":{}}",
                      i > 0 ? "," : "", columns[i][0], columns[i][1]);
    }
    sl_buf_put_c(out, "]}\",\"partitionColumns\":[\"day\"],\"configuration\":{},\"createdTime\":1767225600000}}\n");
}

static silt_status write_file(const char *path, struct sl_str text, silt_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    size_t done = 0;
    while (file >= 0 && done < text.len) {
        const ssize_t n = write(file, text.ptr + done, text.len - done);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    const bool closed = file >= 0 && close(file) == 0;
    return closed && done == text.len ? SILT_OK
                                      : sl_fail(err, SILT_EIO, NULL, "%s cannot be written: %s", path, strerror(errno));
}

static const char *commit_path(struct sl_buf *path, const struct options *options, int64_t version)
{
    sl_buf_clear(path);
    sl_buf_printf(path, "%s/_delta_log/%020" PRId64 ".json", options->folder, version);
    return sl_buf_cstr(path);
}

static int64_t commit_count(const struct options *options)
{
    return (options->files + options->per_commit - 1) / options->per_commit;
}

static silt_status make_log(const struct options *options, silt_error *err)
{
    struct sl_buf path;
    struct sl_buf text;
    sl_buf_init(&path, silt_env_default());
    sl_buf_init(&text, silt_env_default());
    sl_buf_printf(&path, "%s/_delta_log", options->folder);
    silt_status status = SILT_OK;
    (void)mkdir(options->folder, 0755); /* it may be there; writing tells */
    (void)mkdir(sl_buf_cstr(&path), 0755);
    for (int64_t version = 0; status == SILT_OK && version < commit_count(options); version++) {
        const int64_t first = version * options->per_commit;
        sl_buf_clear(&text);
        if (version == 0) {
            put_head(&text);
        }
        for (int64_t i = first; i < first + options->per_commit && i < options->files; i++) {
            put_add(&text, i, options->stats);
        }
        status = sl_buf_status(&text, err);
        if (status == SILT_OK) {
            status = write_file(commit_path(&path, options, version), sl_buf_view(&text), err);
        }
    }
    sl_buf_release(&path);
    sl_buf_release(&text);
    return status;
}

/* ---- the limit: the same bytes through the parser ---- */

static silt_status read_whole(const char *path, struct sl_buf *out, silt_error *err)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? 1 : -1;
    sl_buf_clear(out);
    while (n > 0) {
        char *room = sl_buf_reserve(out, (size_t)1 << 20);
        n = room != NULL ? read(file, room, (size_t)1 << 20) : -1;
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return n == 0 ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "%s cannot be read: %s", path, strerror(errno));
}

static silt_status parse_commits(const struct options *options, int64_t *n_adds, silt_error *err)
{
    struct sl_buf path;
    struct sl_buf text;
    sl_buf_init(&path, silt_env_default());
    sl_buf_init(&text, silt_env_default());
    *n_adds = 0;
    silt_status status = SILT_OK;
    for (int64_t version = 0; status == SILT_OK && version < commit_count(options); version++) {
        status = read_whole(commit_path(&path, options, version), &text, err);
        for (size_t at = 0; status == SILT_OK && at < text.len;) {
            const char *end = memchr(text.data + at, '\n', text.len - at);
            const size_t len = end != NULL ? (size_t)(end - text.data) - at : text.len - at;
            yyjson_doc *doc = yyjson_read(text.data + at, len, YYJSON_READ_NOFLAG);
            *n_adds += yyjson_obj_get(yyjson_doc_get_root(doc), "add") != NULL ? 1 : 0;
            at += len + 1;
            yyjson_doc_free(doc);
        }
    }
    sl_buf_release(&path);
    sl_buf_release(&text);
    return status;
}

/* ---- the snapshot ---- */

struct measured {
    int64_t time_us;
    int64_t n_files;
    size_t bytes;
    size_t peak;
};

static silt_status load(silt_engine *engine, const struct options *options, struct measured *out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t size_bytes = 0;
    const size_t before = atomic_load(&live_bytes);
    atomic_store(&peak_bytes, before);
    const int64_t begin_us = bench_now_us();
    silt_status status = silt_table_for_path(engine, options->folder, &table, err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    }
    if (status == SILT_OK) {
        status = silt_snapshot_totals(snapshot, NULL, &out->n_files, &size_bytes, err);
    }
    out->time_us = bench_now_us() - begin_us;
    out->bytes = atomic_load(&live_bytes) - before;
    out->peak = atomic_load(&peak_bytes) - before;
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    if (status == SILT_OK && out->n_files != options->files) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "the snapshot has %" PRId64 " files, expected %" PRId64,
                         out->n_files, options->files);
    }
    return status;
}

static silt_status run(const struct options *options, silt_error *err)
{
    silt_env env = *silt_env_default();
    env.allocator = (silt_allocator){.alloc = count_alloc, .resize = count_resize, .release = count_release};
    const silt_default_engine_options engine_options = {.size = sizeof(engine_options), .env = &env, .threads = 1};
    silt_engine *engine = NULL;
    SL_TRY(make_log(options, err));
    SL_TRY(silt_engine_default_new(&engine_options, &engine, err));
    (void)printf("{\"limit_us\": [");
    silt_status status = SILT_OK;
    for (int64_t i = 0; status == SILT_OK && i < options->repeat; i++) {
        int64_t n_adds = 0;
        const int64_t begin_us = bench_now_us();
        status = parse_commits(options, &n_adds, err);
        (void)printf("%s%" PRId64, i > 0 ? ", " : "", bench_now_us() - begin_us);
        if (status == SILT_OK && n_adds != options->files) {
            status = sl_fail(err, SILT_ECORRUPT, NULL, "the log has %" PRId64 " files", n_adds);
        }
    }
    (void)printf("], \"times_us\": [");
    struct measured measured = {0};
    for (int64_t i = 0; status == SILT_OK && i < options->repeat; i++) {
        status = load(engine, options, &measured, err);
        (void)printf("%s%" PRId64, i > 0 ? ", " : "", measured.time_us);
    }
    (void)printf("], \"n_files\": %" PRId64 ", \"bytes\": %zu, \"peak_bytes\": %zu}\n", measured.n_files,
                 measured.bytes, measured.peak);
    silt_engine_unref(engine);
    return status;
}

static bool parse(int argc, char **argv, struct options *out)
{
    *out = (struct options){.files = 100000, .per_commit = 1000, .repeat = 1};
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name;
            int64_t *value;
        } numbers[] = {{"--files", &out->files}, {"--per-commit", &out->per_commit}, {"--repeat", &out->repeat}};
        bool known = strcmp(argv[i], "--stats") == 0;
        out->stats = out->stats || known;
        for (size_t j = 0; !known && j < sizeof(numbers) / sizeof(numbers[0]) && i + 1 < argc; j++) {
            if (strcmp(argv[i], numbers[j].name) == 0) {
                known = sl_str_to_i64(sl_str_from(argv[i + 1]), numbers[j].value) && *numbers[j].value > 0;
                i++;
            }
        }
        if (!known) {
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
        (void)fprintf(stderr, "usage: bench_snapshot [--files N] [--per-commit N] [--stats] [--repeat N] FOLDER\n");
        return EXIT_FAILURE;
    }
    if (run(&options, &err) != SILT_OK) {
        (void)fprintf(stderr, "bench_snapshot: %s\n", err.message);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
