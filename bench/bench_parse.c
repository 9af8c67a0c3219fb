/*
 * What cannot be beaten when commits are read: every line of every commit of a table through yyjson, on one thread, and nothing kept.
 * Prints what bench_query prints; the row is the number of files added less those removed, which is that of the table's files when it
 * has no checkpoint.
 *
 *     bench_parse [--threads 1] [--repeat N] TABLE
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yyjson.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "support/bench_rows.h"

#define READ_SIZE ((size_t)1 << 20)

static silt_status read_whole(int folder, const char *name, struct sl_buf *out, silt_error *err)
{
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? 1 : -1;
    sl_buf_clear(out);
    while (n > 0) {
        char *room = sl_buf_reserve(out, READ_SIZE);
        n = room != NULL ? read(file, room, READ_SIZE) : -1;
        out->len += n > 0 ? (size_t)n : 0;
    }
    if (file >= 0) {
        (void)close(file);
    }
    return n == 0 ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "%s cannot be read", name);
}

static silt_status parse_lines(struct sl_buf *text, int64_t *n_files, silt_error *err)
{
    for (size_t at = 0; at < text->len;) {
        const char *end = memchr(text->data + at, '\n', text->len - at);
        const size_t len = end != NULL ? (size_t)(end - text->data) - at : text->len - at;
        yyjson_doc *doc = yyjson_read(text->data + at, len, YYJSON_READ_NOFLAG);
        if (doc == NULL) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "a line at byte %zu is no JSON", at);
        }
        yyjson_val *root = yyjson_doc_get_root(doc);
        *n_files += yyjson_obj_get(root, "add") != NULL ? 1 : 0;
        *n_files -= yyjson_obj_get(root, "remove") != NULL ? 1 : 0;
        yyjson_doc_free(doc);
        at += len + 1;
    }
    return SILT_OK;
}

static silt_status parse_log(const char *path, struct sl_buf *text, int64_t *n_files, silt_error *err)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return sl_fail(err, SILT_EIO, NULL, "%s cannot be listed", path);
    }
    silt_status status = SILT_OK;
    struct dirent *entry = NULL;
    *n_files = 0;
    while (status == SILT_OK && (entry = readdir(folder)) != NULL) {
        const size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 5, ".json") != 0) {
            continue;
        }
        status = read_whole(dirfd(folder), entry->d_name, text, err);
        if (status == SILT_OK) {
            status = parse_lines(text, n_files, err);
        }
    }
    (void)closedir(folder);
    return status;
}

int main(int argc, char **argv)
{
    static struct bench_time times[BENCH_MAX_REPEAT];
    struct bench_options options;
    silt_error err = SILT_ERROR_INIT;
    struct bench_rows rows;
    struct sl_buf path;
    struct sl_buf text;
    int64_t n_files = 0;
    if (!bench_options_parse(argc, argv, &options)) {
        return EXIT_FAILURE;
    }
    bench_rows_init(&rows, silt_env_default());
    sl_buf_init(&path, silt_env_default());
    sl_buf_init(&text, silt_env_default());
    sl_buf_printf(&path, "%s/_delta_log", options.text);
    silt_status status = sl_buf_status(&path, &err);
    for (int i = 0; status == SILT_OK && i < options.repeat; i++) {
        const struct bench_time begin = bench_now();
        status = parse_log(sl_buf_cstr(&path), &text, &n_files, &err);
        times[i] = bench_since(begin);
    }
    if (status == SILT_OK) {
        sl_buf_printf(&rows.json, "[\"%" PRId64 "\"]", n_files);
        rows.n = 1;
        bench_report(0, times, options.repeat, &rows);
    } else {
        (void)fprintf(stderr, "bench_parse: %s\n", err.message);
    }
    bench_rows_release(&rows);
    sl_buf_release(&path);
    sl_buf_release(&text);
    return status == SILT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
