/*
 * Reads of the local store, one after the other on the caller's thread: the page cache answers faster than threads
 * could be told to ask it.
 *
 * Called through the store's slots. Any thread.
 */
#include "storage/local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"

static silt_status open_file(const char *path, int *fd, int64_t *size, silt_error *err)
{
    char file[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_file_path(path, file, err));
    do {
        *fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not hold us up */
    } while (*fd < 0 && errno == EINTR);
    if (*fd < 0) {
        return sl_fail_errno(err, errno, "open", NULL);
    }
    struct stat found = {0};
    silt_status status = SILT_OK;
    if (fstat(*fd, &found) != 0) {
        status = sl_fail_errno(err, errno, "look at", NULL);
    } else if (!S_ISREG(found.st_mode)) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no regular file of this name");
    }
    if (status != SILT_OK) {
        (void)close(*fd); /* read only: there is nothing to lose */
        *fd = -1;
        return status;
    }
    *size = (int64_t)found.st_size;
    return SILT_OK;
}

/* Where a request begins and how much of the file it covers. */
static void clip_range(const silt_read_request *request, int64_t size, int64_t *begin, int64_t *length)
{
    *begin = request->offset;
    if (request->offset < 0) {
        *begin = request->offset <= -size ? 0 : size + request->offset;
    }
    int64_t rest = *begin < size ? size - *begin : 0;
    *length = request->length >= 0 && request->length < rest ? request->length : rest;
}

/* Part of an open file. */
struct range {
    int fd;
    int64_t begin;
    size_t length;
};

/* Fills `out` with the range; *got is less when the file has become shorter. */
static silt_status fill_range(const struct sl_local *local, const silt_call *call, const struct range *range, char *out,
                              size_t *got, silt_error *err)
{
    *got = 0;
    while (*got < range->length) {
        SL_TRY(sl_call_check(local->env, call, err));
        size_t left = range->length - *got;
        size_t wanted = left < SL_LOCAL_CHUNK ? left : SL_LOCAL_CHUNK;
        ssize_t n = pread(range->fd, out + *got, wanted, (off_t)(range->begin + (int64_t)*got));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return sl_fail_errno(err, errno, "read", NULL);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return SILT_OK;
}

static silt_status read_range(const struct sl_local *local, const silt_call *call, const struct range *range,
                              silt_read_request *request, silt_error *err)
{
    if (range->length == 0) {
        return SILT_OK;
    }
    char *data = sl_alloc(local->env, range->length);
    if (data == NULL) {
        return sl_fail_nomem(err);
    }
    size_t got = 0;
    silt_status status = fill_range(local, call, range, data, &got, err);
    if (status != SILT_OK || got == 0) {
        sl_release(local->env, data, range->length);
        return status;
    }
    if (got < range->length) {
        char *shorter = sl_resize(local->env, data, range->length, got);
        if (shorter == NULL) {
            sl_release(local->env, data, range->length);
            return sl_fail_nomem(err);
        }
        data = shorter;
    }
    request->data = data;
    request->data_len = got;
    return SILT_OK;
}

static silt_status read_file(const struct sl_local *local, const silt_call *call, silt_read_request *request,
                             silt_error *err)
{
    int fd = -1;
    int64_t size = 0;
    SL_TRY(sl_call_check(local->env, call, err));
    SL_TRY(open_file(request->path, &fd, &size, err));
    request->file_size = size;
    int64_t begin = 0;
    int64_t length = 0;
    clip_range(request, size, &begin, &length);
    silt_status status = SILT_OK;
    if ((uint64_t)length > SIZE_MAX / 2) {
        status = sl_fail(err, SILT_ELIMIT, NULL, "%lld bytes do not fit into memory", (long long)length);
    } else {
        const struct range range = {.fd = fd, .begin = begin, .length = (size_t)length};
        status = read_range(local, call, &range, request, err);
    }
    (void)close(fd); /* read only: there is nothing to lose */
    return status;
}

silt_status sl_local_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                               void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct sl_local *local = impl;
    silt_status whole = SILT_OK;
    for (size_t i = 0; i < n; i++) {
        silt_error failure = SILT_ERROR_INIT;
        requests[i].status = read_file(local, call, &requests[i], &failure);
        if (requests[i].status != SILT_OK) {
            *err = failure;
        }
        if (requests[i].status == SILT_ECANCELLED || requests[i].status == SILT_EDEADLINE) {
            whole = requests[i].status;
        }
        on_done(ctx, &requests[i]);
    }
    return whole;
}
