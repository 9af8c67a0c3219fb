/*
 * Taking over a finished local file: by giving it its new name where both are on one file system, else by a copy.
 *
 * Called through the store's slots. Any thread.
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

#define COPY_BUFFER_SIZE ((size_t)1 << 20)

/* Opens the file that is to be moved, and makes its bytes durable: its writer may not have. */
static silt_status open_source(const struct sl_local *local, const char *from, int *fd, silt_error *err)
{
    *fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0) {
        return sl_fail_errno(err, errno, "open", from);
    }
    struct stat found = {0};
    silt_status status = SILT_OK;
    if (fstat(*fd, &found) != 0) {
        status = sl_fail_errno(err, errno, "look at", from);
    } else if (!S_ISREG(found.st_mode)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "%s is not a regular file", from);
    } else if (sl_local_sync(local, *fd) != 0) {
        status = sl_fail_errno(err, errno, "make durable", from);
    }
    if (status != SILT_OK) {
        (void)close(*fd); /* read only: there is nothing to lose */
        *fd = -1;
    }
    return status;
}

static silt_status copy_bytes(const struct sl_local *local, const silt_call *call, int from, int to, silt_error *err)
{
    char *buffer = sl_alloc(local->env, COPY_BUFFER_SIZE);
    if (buffer == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = SILT_OK;
    /* Bounded by the file's size: nobody appends to a finished file. */
    while (status == SILT_OK) {
        ssize_t got = read(from, buffer, COPY_BUFFER_SIZE);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            status = sl_fail_errno(err, errno, "read the file to be moved", NULL);
        }
        if (got <= 0) {
            break;
        }
        status = sl_local_write_all(local, call, to, buffer, (size_t)got, err);
    }
    sl_release(local->env, buffer, COPY_BUFFER_SIZE);
    return status;
}

/* The outcome of a naming as that of a move. */
static silt_status judge_move(silt_status status, silt_put_outcome outcome, silt_error *err)
{
    if (status != SILT_OK || outcome == SILT_PUT_DONE) {
        return status;
    }
    if (outcome == SILT_PUT_EXISTS) {
        return sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    }
    /* The reason is in err; a failed write is the status that fits it here. */
    silt_error reason = *err;
    return sl_fail(err, SILT_EIO, NULL, "it is not known whether the file is there: %s", reason.message);
}

static silt_status move_by_copy(const struct sl_local *local, const silt_call *call, int source, const char *final,
                                silt_error *err)
{
    char temp[SL_LOCAL_PATH_SIZE];
    int fd = -1;
    SL_TRY(sl_local_open_temp(local, final, temp, &fd, err));
    silt_status status = copy_bytes(local, call, source, fd, err);
    SL_TRY(sl_local_finish_temp(local, fd, temp, status, err));
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    status = sl_local_publish(local, call, temp, final, &outcome, err);
    status = judge_move(status, outcome, err);
    if (status != SILT_OK) {
        (void)unlink(temp); /* may be gone already; hidden if not */
    }
    return status;
}

static silt_status make_missing_parents(const struct sl_local *local, const char *final, silt_error *err)
{
    char dir[SL_LOCAL_PATH_SIZE];
    struct stat found = {0};
    sl_local_parent(final, dir);
    if (stat(dir, &found) == 0) {
        return SILT_OK;
    }
    return sl_local_make_parents(local, final, err);
}

silt_status sl_local_adopt(void *impl, const silt_call *call, const char *from, const char *path, silt_error *err)
{
    const struct sl_local *local = impl;
    char final[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_target_path(path, final, err));
    if (strlen(from) >= SL_LOCAL_PATH_SIZE) {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of the file to be moved is too long");
    }
    struct stat there = {0};
    if (lstat(final, &there) == 0) {
        /* Not left to link(2): a file moved onto itself must not pass for one that was just named. */
        silt_put_outcome taken = SILT_PUT_AMBIGUOUS;
        const silt_status status = sl_local_judge_taken(final, &taken, err);
        return judge_move(status, taken, err);
    }
    SL_TRY(make_missing_parents(local, final, err));
    int source = -1;
    SL_TRY(open_source(local, from, &source, err));
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_status status = sl_local_publish(local, call, from, final, &outcome, err);
    /* Whoever made the folder may have taken it away again, as it was empty. */
    for (int i = 0; status != SILT_OK && err->sys_code == ENOENT && i < SL_LOCAL_MAX_ANEW; i++) {
        silt_error_reset(err);
        status = sl_local_make_parents(local, final, err);
        status = status == SILT_OK ? sl_local_publish(local, call, from, final, &outcome, err) : status;
    }
    if (status != SILT_OK && err->sys_code == EXDEV) {
        silt_error_reset(err);
        status = move_by_copy(local, call, source, final, err);
        if (status == SILT_OK && unlink(from) != 0) {
            sl_log(local->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", from, errno);
        }
    } else {
        status = judge_move(status, outcome, err);
    }
    (void)close(source); /* read only: there is nothing to lose */
    return status;
}
