/*
 * Files that have no name before they are whole (O_TMPFILE): no temp file is made, named, unlinked, or left by a crash, and the folder changes
 * once. Where the file system or the system lacks them, or the name cannot be given, nothing has happened and a temp file does (local_write.c).
 *
 * One that lost a race for its name is finished and durable. It is kept for the next put of the same bytes into the same folder, which is the
 * same commit trying the next version. One is kept in a store, without a name, so that a crash leaves nothing.
 *
 * Called by local_write.c. Any thread.
 */
#include "storage/local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"

/* What is larger is written again. */
#define MAX_SPARE_BYTES ((size_t)1 << 20)

struct sl_local_spare {
    int fd;
    size_t dir_len;
    size_t data_len;
    char bytes[]; /* the folder and the data */
};

void sl_local_spare_free(const struct sl_local *local, struct sl_local_spare *spare)
{
    if (spare != NULL) {
        if (spare->fd >= 0) {
            (void)close(spare->fd); /* with it the file goes */
        }
        sl_release(local->env, spare, sizeof(*spare) + spare->dir_len + spare->data_len);
    }
}

static struct sl_str folder_of(const char *final)
{
    return sl_str_make(final, (size_t)(strrchr(final, '/') - final));
}

/* Keeps the file for the next try, in place of what was kept; without memory it is closed. */
static void keep_spare(const struct sl_local *local, const struct sl_local_job *job, int fd)
{
    const struct sl_str dir = folder_of(job->final);
    struct sl_local_spare *spare = NULL;
    if (job->keeps_spare && local->spare != NULL && job->data_len <= MAX_SPARE_BYTES) {
        spare = sl_alloc(local->env, sizeof(*spare) + dir.len + job->data_len);
    }
    if (spare == NULL) {
        (void)close(fd); /* with it the file goes */
        return;
    }
    *spare = (struct sl_local_spare){.fd = fd, .dir_len = dir.len, .data_len = job->data_len};
    memcpy(spare->bytes, dir.ptr, dir.len);
    memcpy(spare->bytes + dir.len, job->data, job->data_len);
    sl_local_spare_free(local, atomic_exchange(local->spare, spare));
}

/* The descriptor of what was kept, if it is this file; -1. */
static int take_spare(const struct sl_local *local, const struct sl_local_job *job)
{
    struct sl_local_spare *spare = job->keeps_spare && local->spare != NULL ? atomic_exchange(local->spare, NULL)
                                                                            : NULL;
    if (spare == NULL) {
        return -1;
    }
    int fd = -1;
    if (sl_str_eq(sl_str_make(spare->bytes, spare->dir_len), folder_of(job->final)) &&
        spare->data_len == job->data_len && memcmp(spare->bytes + spare->dir_len, job->data, job->data_len) == 0) {
        fd = spare->fd;
        spare->fd = -1;
        (void)futimens(fd, NULL); /* the time of a commit is that of its file; else it could be before the winner's */
    }
    sl_local_spare_free(local, spare);
    return fd;
}

static int open_unnamed(const char *final)
{
#ifdef O_TMPFILE
    char dir[SL_LOCAL_PATH_SIZE];
    sl_local_parent(final, dir);
    return open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#else
    (void) final;
    return -1;
#endif
}

/* *fd -1: there are none here. */
static silt_status write_unnamed(const struct sl_local *local, const silt_call *call, const struct sl_local_job *job,
                                 int *fd, silt_error *err)
{
    *fd = open_unnamed(job->final);
    if (*fd < 0) {
        return SILT_OK;
    }
    silt_status status = sl_local_write_all(local, call, *fd, job->data, job->data_len, err);
    if (status == SILT_OK && !job->sync_last && sl_local_sync(local, *fd) != 0) {
        status = sl_local_fail_write(err, errno, "make the bytes durable");
    }
    return status;
}

/* The name is given; a file whose bytes cannot be made durable loses it again. */
static silt_status sync_named(const struct sl_local *local, const struct sl_local_job *job, int fd, silt_error *err)
{
    if (sl_local_sync(local, fd) == 0) {
        return SILT_OK;
    }
    const int errnum = errno;
    (void)unlink(job->final); /* nobody knows of it, and the failure is told */
    return sl_local_fail_write(err, errnum, "make the bytes durable");
}

static silt_status give_name(const struct sl_local *local, const silt_call *call, const struct sl_local_job *job,
                             int fd, silt_put_outcome *outcome, bool *done, silt_error *err)
{
    SL_TRY(sl_call_check(local->env, call, err));
    if (!job->sync_last) {
        return sl_local_publish_unnamed(local, fd, job->final, done, outcome, err);
    }
    *done = local->calls->link_unnamed(fd, job->final) == 0;
    if (!*done) {
        return SILT_OK;
    }
    SL_TRY(sync_named(local, job, fd, err));
    *outcome = SILT_PUT_DONE;
    const int errnum = sl_local_sync_parent(local, job->final);
    return errnum != 0 ? sl_local_fail_write(err, errnum, "make the new name durable") : SILT_OK;
}

silt_status sl_local_put_unnamed(const struct sl_local *local, const silt_call *call, const struct sl_local_job *job,
                                 silt_put_outcome *outcome, bool *done, silt_error *err)
{
    *done = false;
    if (local->calls->link_unnamed == NULL) {
        return SILT_OK;
    }
    int fd = take_spare(local, job);
    silt_status status = fd < 0 ? write_unnamed(local, call, job, &fd, err) : SILT_OK;
    if (fd < 0) {
        return status;
    }
    *done = true;
    if (status == SILT_OK) {
        status = give_name(local, call, job, fd, outcome, done, err);
    }
    if (status == SILT_OK && *done && *outcome == SILT_PUT_EXISTS) {
        keep_spare(local, job, fd);
    } else {
        (void)close(fd); /* its bytes were synced, or it goes */
    }
    return status;
}
