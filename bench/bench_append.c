/*
 * Durable commits of one row, by one of several processes that write to one table. The first commit opens everything and is not
 * counted; then the process says "ready" and waits for a line on standard input, so that all begin at once.
 *
 *     bench_append --commits N [--values TEXT] TABLE   INSERTs of a session, of (1, 'a') unless told otherwise
 *     bench_append --commits N --limit TABLE       the limit, with libc alone: a data file and a commit of the same sizes, both
 *                  [--data BYTES] [--log BYTES]    written, synced and linked, and their folders synced
 *     bench_append --commits N --limit --serial …  the same with each file synced before it is named
 *
 * Prints {"commits": …, "refused": …, "begin_us": …, "end_us": …, "cpu_us": …} by the monotonic clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "silt/session.h"
#include "support/bench_rows.h"

#define MAX_BYTES 65536
#define PATH_SIZE 4096

struct options {
    int64_t commits;
    int64_t data_bytes;
    int64_t log_bytes;
    bool limit;
    bool serial;
    const char *table;
    const char *values;
};

/* One way to commit. Returns false after telling why; *refused: the commit was turned down, which is counted. */
struct way {
    bool (*commit)(void *ctx, bool *refused);
    void *ctx;
};

/* ---- the limit ---- */

struct limit {
    const struct options *options;
    int64_t files;
    int64_t version;
};

static bool fail(const char *what)
{
    (void)fprintf(stderr, "bench_append: cannot %s (errno %d)\n", what, errno);
    return false;
}

static bool sync_path(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool fine = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return fine ? true : fail("sync");
}

static bool write_file(const char *path, int64_t bytes, bool sync)
{
    static const char text[MAX_BYTES] = {0};
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool fine = fd >= 0 && write(fd, text, (size_t)bytes) == (ssize_t)bytes && (!sync || fsync(fd) == 0);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fine ? true : fail("write a file");
}

/* Nobody knows of the file before the commit: it may have its name before its bytes are durable. */
static bool write_data(struct limit *limit)
{
    const struct options *options = limit->options;
    char temp[PATH_SIZE];
    char name[PATH_SIZE];
    (void)snprintf(temp, sizeof(temp), "%s/.stage-%ld", options->table, (long)getpid());
    (void)snprintf(name, sizeof(name), "%s/part-%ld-%" PRId64 ".parquet", options->table, (long)getpid(),
                   limit->files++);
    if (!write_file(temp, options->data_bytes, options->serial)) {
        return false;
    }
    if (link(temp, name) != 0 || unlink(temp) != 0) {
        return fail("name a file");
    }
    return (options->serial || sync_path(name)) && sync_path(options->table);
}

static bool write_commit(struct limit *limit)
{
    const struct options *options = limit->options;
    char folder[PATH_SIZE];
    char temp[PATH_SIZE];
    char name[PATH_SIZE];
    (void)snprintf(folder, sizeof(folder), "%s/_delta_log", options->table);
    (void)snprintf(temp, sizeof(temp), "%s/_delta_log/.commit-%ld", options->table, (long)getpid());
    if (!write_file(temp, options->log_bytes, true)) {
        return false;
    }
    int named = -1;
    do {
        (void)snprintf(name, sizeof(name), "%s/_delta_log/%020" PRId64 ".json", options->table, limit->version++);
        named = link(temp, name);
    } while (named != 0 && errno == EEXIST);
    if (named != 0 || unlink(temp) != 0) {
        return fail("name a commit");
    }
    return sync_path(folder);
}

static bool commit_files(void *ctx, bool *refused)
{
    struct limit *limit = ctx;
    *refused = false;
    return write_data(limit) && write_commit(limit);
}

/* ---- silt ---- */

struct inserting {
    silt_session *session;
    struct sl_str text;
};

static bool insert_row(void *ctx, bool *refused)
{
    const struct inserting *inserting = ctx;
    silt_execution *execution = NULL;
    silt_error err = SILT_ERROR_INIT;
    bool done = false;
    silt_status status = silt_session_execute(inserting->session, inserting->text.ptr, inserting->text.len, NULL, NULL,
                                              &execution, &err);
    while (status == SILT_OK && !done) {
        silt_result result = {.size = sizeof(result)};
        status = silt_execution_next(execution, NULL, &result, &done, &err);
        if (status == SILT_OK && !done && result.stream.release != NULL) {
            result.stream.release(&result.stream);
        }
    }
    silt_execution_free(execution);
    *refused = status == SILT_ECONFLICT;
    if (status != SILT_OK) {
        (void)fprintf(stderr, "bench_append: %s\n", err.message);
    }
    return status == SILT_OK || *refused;
}

/* ---- the run ---- */

static bool wait_for_start(void)
{
    char line[16];
    (void)printf("ready\n");
    (void)fflush(stdout);
    return fgets(line, sizeof(line), stdin) != NULL;
}

static bool run(const struct options *options, const struct way *way)
{
    int64_t done = 0;
    bool refused = false;
    if (!way->commit(way->ctx, &refused) || !wait_for_start()) {
        return false;
    }
    const int64_t begin_us = bench_now_us();
    const struct bench_time begin = bench_now();
    for (int64_t i = 0; i < options->commits; i++) {
        if (!way->commit(way->ctx, &refused)) {
            return false;
        }
        done += refused ? 0 : 1;
    }
    const struct bench_time took = bench_since(begin);
    (void)printf("{\"commits\": %" PRId64 ", \"refused\": %" PRId64 ", \"begin_us\": %" PRId64 ", \"end_us\": %" PRId64
                 ", \"cpu_us\": %" PRId64 "}\n",
                 done, options->commits - done, begin_us, begin_us + took.wall_us, took.cpu_us);
    return true;
}

static bool run_limit(const struct options *options)
{
    struct limit limit = {.options = options};
    const struct way way = {commit_files, &limit};
    return run(options, &way);
}

static bool run_silt(const struct options *options)
{
    static const silt_default_engine_options engine = {.size = sizeof(engine), .threads = 1};
    static const silt_session_options session_options = {.size = sizeof(session_options), .engine = &engine};
    struct sl_buf text;
    struct inserting inserting = {0};
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&text, silt_env_default());
    sl_buf_printf(&text, "INSERT INTO delta.`%s` VALUES %s", options->table, options->values);
    silt_status status = sl_buf_status(&text, &err);
    if (status == SILT_OK) {
        status = silt_session_open(&session_options, &inserting.session, &err);
    }
    inserting.text = sl_buf_view(&text);
    const struct way way = {insert_row, &inserting};
    const bool fine = status == SILT_OK && run(options, &way);
    if (status != SILT_OK) {
        (void)fprintf(stderr, "bench_append: %s\n", err.message);
    }
    silt_session_close(inserting.session);
    sl_buf_release(&text);
    return fine;
}

static bool parse(int argc, char **argv, struct options *out)
{
    *out = (struct options){.commits = 100, .data_bytes = 320, .log_bytes = 662, .values = "(1, 'a')"};
    bool fine = true;
    for (int i = 1; i < argc; i++) {
        int64_t *number = strcmp(argv[i], "--commits") == 0 ? &out->commits
                          : strcmp(argv[i], "--data") == 0  ? &out->data_bytes
                          : strcmp(argv[i], "--log") == 0   ? &out->log_bytes
                                                            : NULL;
        if (number != NULL) {
            fine = fine && ++i < argc && sl_str_to_i64(sl_str_from(argv[i]), number) && *number > 0;
        } else if (strcmp(argv[i], "--values") == 0 && i + 1 < argc) {
            out->values = argv[++i];
        } else if (strcmp(argv[i], "--limit") == 0) {
            out->limit = true;
        } else if (strcmp(argv[i], "--serial") == 0) {
            out->serial = true;
        } else {
            out->table = argv[i];
        }
    }
    return fine && out->table != NULL && out->table[0] != '-' && out->data_bytes <= MAX_BYTES &&
           out->log_bytes <= MAX_BYTES;
}

int main(int argc, char **argv)
{
    struct options options;
    if (!parse(argc, argv, &options)) {
        (void)fprintf(
            stderr,
            "usage: bench_append --commits N [--values TEXT | --limit [--serial] [--data BYTES] [--log BYTES]] TABLE\n");
        return EXIT_FAILURE;
    }
    return (options.limit ? run_limit(&options) : run_silt(&options)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
