/*
 * Footers of files, read from their ends: one or two reads a file, about 10 µs with the parsing (duck_footer_parse.c). One owner a
 * request. Parquet: the file ends with the footer, its length in four bytes, lowest first, and "PAR1".
 */
#include "duck_footer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "base/thrift.h"

enum {
    TAIL = 8,           /* length and magic */
    SMALLEST = 12,      /* magic at both ends, length */
    FIRST_READ = 16384, /* holds most footers */
    CHECK_CALL = 256    /* files between looks at the call */
};
#define MAX_FOOTER ((uint64_t)512 << 20)

/* The file that is read now. */
struct tail {
    const char *path; /* for messages */
    int fd;
    uint64_t size;
    struct sl_buf bytes; /* of the end of the file */
};

static silt_status fail_file(const struct tail *tail, const char *what, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                                       "data file %s is no Parquet file: %s", tail->path, what);
    sl_error_path(err, tail->path);
    return status;
}

/* Opening a pipe or a device would wait for a writer that never comes. */
static silt_status open_tail(struct tail *tail, const char *local, silt_error *err)
{
    struct stat found;
    tail->fd = open(local, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (tail->fd < 0 && errno == ENOENT) {
        const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "data file %s is not there",
                                           tail->path);
        sl_error_path(err, tail->path);
        return status;
    }
    if (tail->fd < 0 || fstat(tail->fd, &found) != 0) {
        return sl_fail_errno(err, errno, "open", tail->path);
    }
    if (!S_ISREG(found.st_mode)) {
        const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND",
                                           "data file %s is no regular file", tail->path);
        sl_error_path(err, tail->path);
        return status;
    }
    tail->size = (uint64_t)found.st_size;
    return tail->size >= SMALLEST ? SILT_OK : fail_file(tail, "it is too short", err);
}

/* The last n bytes of the file. */
static silt_status read_end(struct tail *tail, size_t n, silt_error *err)
{
    sl_buf_clear(&tail->bytes);
    char *out = sl_buf_reserve(&tail->bytes, n);
    if (out == NULL) {
        return sl_buf_status(&tail->bytes, err);
    }
    for (size_t got = 0; got < n;) {
        const ssize_t part = pread(tail->fd, out + got, n - got, (off_t)(tail->size - n + got));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part <= 0) {
            return part < 0 ? sl_fail_errno(err, errno, "read", tail->path)
                            : fail_file(tail, "it was cut while it was read", err);
        }
        got += (size_t)part;
    }
    tail->bytes.len = n;
    return SILT_OK;
}

/* The footer's bytes; they live in tail->bytes. */
static silt_status read_footer(struct tail *tail, struct sl_str *out, silt_error *err)
{
    SL_TRY(read_end(tail, tail->size < FIRST_READ ? (size_t)tail->size : FIRST_READ, err));
    const char *end = tail->bytes.data + tail->bytes.len;
    if (memcmp(end - 4, "PARE", 4) == 0) {
        return sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", "data file %s is encrypted", tail->path);
    }
    if (memcmp(end - 4, "PAR1", 4) != 0) {
        return fail_file(tail, "it does not end with PAR1", err);
    }
    uint64_t n = 0;
    for (int i = 0; i < 4; i++) {
        n |= (uint64_t)(unsigned char)end[i - TAIL] << (8 * i);
    }
    if (n == 0 || n > tail->size - SMALLEST) {
        return fail_file(tail, "the length of its footer is wrong", err);
    }
    if (n > MAX_FOOTER) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the footer of data file %s is too large", tail->path);
    }
    if (n + TAIL > tail->bytes.len) {
        SL_TRY(read_end(tail, (size_t)n + TAIL, err));
    }
    *out = sl_str_make(tail->bytes.data + tail->bytes.len - TAIL - n, (size_t)n);
    return SILT_OK;
}

/* Opens the file at the place and reads its footer. */
static silt_status load_footer(const struct sl_duck_files *files, size_t index, struct tail *tail, struct sl_str *out,
                               silt_error *err)
{
    tail->path = files->sources[index].path;
    silt_status status = open_tail(tail, files->local[index], err);
    if (status == SILT_OK) {
        status = read_footer(tail, out, err);
    }
    if (tail->fd >= 0) {
        (void)close(tail->fd); /* nothing was written */
    }
    return status;
}

silt_status sl_footer_load(const struct sl_duck_files *files, size_t index, struct sl_buf *space, struct sl_str *out,
                           silt_error *err)
{
    struct tail tail = {.fd = -1, .bytes = *space};
    const silt_status status = load_footer(files, index, &tail, out, err);
    *space = tail.bytes;
    return status;
}

static silt_status read_file(const struct sl_footers_request *request, size_t index, struct tail *tail,
                             struct sl_arena *arena, silt_error *err)
{
    struct sl_str bytes;
    struct sl_footer footer;
    SL_TRY(load_footer(request->files, index, tail, &bytes, err));
    if (!sl_duck_files_is_copy(request->files, index)) {
        sl_duck_cache_count(request->dp, request->files->local[index], bytes.len);
    }
    SL_TRY(sl_footer_parse(arena, bytes, tail->path, &footer, err));
    request->footers[index] = sl_footer_intern(request->dp, &footer);
    return request->footers[index] != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_footers_read(const struct sl_footers_request *request, silt_error *err)
{
    const silt_env *env = request->dp->env;
    struct tail tail = {.fd = -1};
    struct sl_arena arena;
    sl_arena_init(&arena, env);
    sl_buf_init(&tail.bytes, env);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < request->n && status == SILT_OK; i++) {
        if (i % CHECK_CALL == 0) {
            status = sl_call_check(env, request->call, err);
        }
        if (status == SILT_OK) {
            status = read_file(request, request->which[i], &tail, &arena, err);
        }
        sl_arena_reset(&arena);
    }
    sl_buf_release(&tail.bytes);
    sl_arena_release(&arena);
    return status;
}

static silt_status count_file(const struct sl_duck_files *files, size_t index, struct tail *tail, int64_t *count,
                              silt_error *err)
{
    struct sl_str bytes;
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    SL_TRY(load_footer(files, index, tail, &bytes, err));
    *count = -1;
    sl_thrift_init(&in, bytes.ptr, bytes.len);
    while (*count < 0 && sl_thrift_next(&in, &field)) {
        if (field.id == 3 && field.type == SL_THRIFT_I64) { /* FileMetaData.num_rows; what is long comes after it */
            *count = sl_thrift_int(&in);
        } else {
            sl_thrift_skip(&in, field.type);
        }
    }
    return *count >= 0 && !in.bad ? SILT_OK : fail_file(tail, "its footer does not say how many rows it has", err);
}

silt_status sl_footers_count_rows(struct sl_dataplane *dp, const silt_call *call, const struct sl_duck_files *files,
                                  const size_t *which, size_t n, int64_t *counts, silt_error *err)
{
    struct tail tail = {.fd = -1};
    sl_buf_init(&tail.bytes, dp->env);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        if (i % CHECK_CALL == 0) {
            status = sl_call_check(dp->env, call, err);
        }
        if (status == SILT_OK) {
            status = count_file(files, which[i], &tail, &counts[which[i]], err);
        }
    }
    sl_buf_release(&tail.bytes);
    return status;
}
