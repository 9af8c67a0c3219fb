/*
 * Writing files of the local store: always whole, into a temp file beside the final name, durable, and only then under
 * that name. So readers never see a part, and a crash leaves at most a hidden file.
 *
 * Called through the store's slots and by local_adopt.c. Any thread.
 */
#include "storage/local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"

silt_status sl_local_open_temp(const struct sl_local *local, const char *final, char temp[SL_LOCAL_PATH_SIZE], int *fd,
                               silt_error *err)
{
    *fd = -1;
    SL_TRY(sl_local_temp_path(local, final, temp, err));
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    *fd = open(temp, flags, 0666);
    for (int i = 0; *fd < 0 && errno == ENOENT && !local->no_folders && i < SL_LOCAL_MAX_ANEW; i++) {
        SL_TRY(sl_local_make_parents(local, final, err));
        *fd = open(temp, flags, 0666);
    }
    return *fd < 0 ? sl_local_fail_write(err, errno, "create a file in its folder") : SILT_OK;
}

silt_status sl_local_write_all(const struct sl_local *local, const silt_call *call, int fd, const void *data,
                               size_t data_len, silt_error *err)
{
    const char *next = data;
    while (data_len > 0) {
        SL_TRY(sl_call_check(local->env, call, err));
        size_t wanted = data_len < SL_LOCAL_CHUNK ? data_len : SL_LOCAL_CHUNK;
        ssize_t written = local->calls->write(fd, next, wanted);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return sl_local_fail_write(err, written < 0 ? errno : EIO, "write");
        }
        next += written;
        data_len -= (size_t)written;
    }
    return SILT_OK;
}

silt_status sl_local_finish_temp(const struct sl_local *local, int fd, const char *temp, silt_status status,
                                 silt_error *err)
{
    if (status == SILT_OK && sl_local_sync(local, fd) != 0) {
        status = sl_local_fail_write(err, errno, "make the bytes durable");
    }
    /* After EINTR the descriptor is gone on Linux and its state elsewhere is unspecified: never closed twice. */
    if (close(fd) != 0 && errno != EINTR && status == SILT_OK) {
        status = sl_local_fail_write(err, errno, "close");
    }
    if (status != SILT_OK) {
        (void)unlink(temp); /* hidden, and the failure is told already */
    }
    return status;
}

static silt_status write_temp(const struct sl_local *local, const silt_call *call, const struct sl_local_job *job,
                              char temp[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    int fd = -1;
    SL_TRY(sl_local_open_temp(local, job->final, temp, &fd, err));
    silt_status status = sl_local_write_all(local, call, fd, job->data, job->data_len, err);
    return sl_local_finish_temp(local, fd, temp, status, err);
}

silt_status sl_local_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_local *local = impl;
    char final[SL_LOCAL_PATH_SIZE];
    char temp[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_target_path(path, final, err));
    struct stat there = {0};
    if (lstat(final, &there) == 0) {
        return sl_local_judge_taken(final, outcome, err); /* saves the loser of a race the write */
    }
    const struct sl_local_job job = {.final = final, .data = data, .data_len = data_len, .keeps_spare = true};
    bool done = false;
    silt_status status = sl_local_put_unnamed(local, call, &job, outcome, &done, err);
    if (done || status != SILT_OK) {
        return status;
    }
    SL_TRY(write_temp(local, call, &job, temp, err));
    status = sl_call_check(local->env, call, err);
    if (status == SILT_OK) {
        status = sl_local_publish(local, call, temp, final, outcome, err);
    }
    if (status != SILT_OK || *outcome != SILT_PUT_DONE) {
        (void)unlink(temp); /* may be gone already; hidden if not */
    }
    return status;
}

/* The same only beside other files: a folder that went with the table that it was of is not made anew. */
silt_status sl_local_put_beside(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err)
{
    struct sl_local beside = *(const struct sl_local *)impl;
    beside.no_folders = true;
    return sl_local_put_if_absent(&beside, call, path, data, data_len, outcome, err);
}

/* The same, too, without waiting for the disk. */
silt_status sl_local_put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err)
{
    struct sl_local lazy = *(const struct sl_local *)impl;
    lazy.no_sync = true;
    lazy.no_folders = true;
    lazy.spare = NULL; /* what is kept there is durable */
    return sl_local_put_if_absent(&lazy, call, path, data, data_len, outcome, err);
}

silt_status sl_local_put_fresh(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                               silt_error *err)
{
    const struct sl_local *local = impl;
    char final[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_target_path(path, final, err));
    const struct sl_local_job job = {.final = final, .data = data, .data_len = data_len, .sync_last = true};
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    bool done = false;
    const silt_status status = sl_local_put_unnamed(local, call, &job, &outcome, &done, err);
    return done || status != SILT_OK ? status : sl_local_put(impl, call, path, data, data_len, err);
}

silt_status sl_local_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                         silt_error *err)
{
    const struct sl_local *local = impl;
    char final[SL_LOCAL_PATH_SIZE];
    char temp[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_target_path(path, final, err));
    const struct sl_local_job job = {.final = final, .data = data, .data_len = data_len};
    SL_TRY(write_temp(local, call, &job, temp, err));
    silt_status status = sl_call_check(local->env, call, err);
    if (status == SILT_OK && rename(temp, final) != 0) {
        silt_put_outcome taken = SILT_PUT_AMBIGUOUS;
        const int errnum = errno;
        status = errnum == EISDIR ? sl_local_judge_taken(final, &taken, err) : SILT_OK;
        status = status == SILT_OK ? sl_local_fail_write(err, errnum, "name the file") : status;
    }
    if (status != SILT_OK) {
        (void)unlink(temp); /* hidden, and the failure is told already */
        return status;
    }
    int errnum = sl_local_sync_parent(local, final);
    return errnum != 0 ? sl_local_fail_write(err, errnum, "make the new name durable") : SILT_OK;
}
