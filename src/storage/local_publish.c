/*
 * The heart of commits on a local file system: of all who want to give a file a name, exactly one succeeds.
 *
 * link(2) does it everywhere that has it: it fails with EEXIST when the name is there, on NFS too. Where a file system
 * has no links, renameat2(RENAME_NOREPLACE) does. Where neither works a commit is refused, unless the store's options
 * allow an exclusive lock (flock) on a file that only silt knows of; the kernel drops it when its holder dies, so a
 * crash leaves nothing to clean up.
 *
 * On a network file system an answer may be lost and the repeated request be told EEXIST, or the error be a time-out:
 * the truth is then in the inode and its link count. What cannot be told is AMBIGUOUS, and so is a name that is there
 * while the folder could not be made durable.
 *
 * Called by local_write.c and local_adopt.c. Any thread.
 */
#include "storage/local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"

#define LOCK_FIRST_WAIT_US INT64_C(1000)
#define LOCK_MAX_WAIT_US INT64_C(50000)

/* What one way of naming a file came to. */
enum attempt {
    ATTEMPT_NAMED,      /* the name is ours */
    ATTEMPT_TAKEN,      /* it is another's */
    ATTEMPT_IMPOSSIBLE, /* the file system does not have this call */
    ATTEMPT_FAILED,     /* refused for good; nothing happened */
    ATTEMPT_UNCLEAR     /* it may have happened */
};

/* One naming on its way. */
struct naming {
    const struct sl_local *local;
    const char *from; /* NULL: a file without a name */
    int fd;           /* of that one */
    const char *to;
    struct stat before; /* `from` as it was */
    int errnum;         /* of the last call that failed */
};

/* EPERM is what Linux says where a file system has no links; EACCES and EMLINK what some others say. */
static bool has_no_links(int errnum)
{
    return errnum == EPERM || errnum == EACCES || errnum == EOPNOTSUPP || errnum == ENOSYS || errnum == EMLINK;
}

static bool has_no_noreplace(int errnum)
{
    return errnum == EINVAL || errnum == ENOSYS || errnum == EOPNOTSUPP;
}

/* Errors after which the system has certainly done nothing. */
static bool is_definite(int errnum)
{
    switch (errnum) {
    case EXDEV:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOMEM:
    case EPERM:
    case EACCES:
    case EOPNOTSUPP:
    case ENOSYS:
    case EMLINK: return true;
    default: return false;
    }
}

/* Whether `to` is our file, though the system said otherwise. */
static bool is_ours(const struct naming *naming)
{
    const struct stat *before = &naming->before;
    struct stat now = {0};
    if (naming->from == NULL) {
        return fstat(naming->fd, &now) == 0 && now.st_nlink > 0;
    }
    if (lstat(naming->to, &now) == 0 && now.st_ino == before->st_ino && now.st_dev == before->st_dev) {
        return true;
    }
    return lstat(naming->from, &now) == 0 && now.st_ino == before->st_ino && now.st_nlink > before->st_nlink;
}

static enum attempt judge_failure(struct naming *naming, int errnum)
{
    naming->errnum = errnum;
    if (is_ours(naming)) {
        return ATTEMPT_NAMED;
    }
    if (errnum == EEXIST) {
        return ATTEMPT_TAKEN;
    }
    return is_definite(errnum) ? ATTEMPT_FAILED : ATTEMPT_UNCLEAR;
}

static enum attempt try_link(struct naming *naming)
{
    if (naming->local->calls->link(naming->from, naming->to) == 0) {
        return ATTEMPT_NAMED;
    }
    int errnum = errno;
    return has_no_links(errnum) && !is_ours(naming) ? ATTEMPT_IMPOSSIBLE : judge_failure(naming, errnum);
}

static enum attempt try_rename(struct naming *naming)
{
    if (naming->local->calls->rename_noreplace(naming->from, naming->to) == 0) {
        return ATTEMPT_NAMED;
    }
    int errnum = errno;
    return has_no_noreplace(errnum) && !is_ours(naming) ? ATTEMPT_IMPOSSIBLE : judge_failure(naming, errnum);
}

/* Takes the lock of the folder of `to`; the descriptor that holds it goes to *fd. */
static silt_status take_lock(const struct sl_local *local, const silt_call *call, const char *to, int *fd,
                             silt_error *err)
{
    char path[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_lock_path(to, path, err));
    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd < 0) {
        return sl_local_fail_write(err, errno, "open the lock file");
    }
    silt_status status = SILT_OK;
    int64_t wait_us = LOCK_FIRST_WAIT_US;
    /* Bounded by the call's deadline only: the holder is alive, or the kernel would have dropped its lock. */
    while (status == SILT_OK && flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) {
            continue;
        }
        if (errno != EWOULDBLOCK) {
            status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                             "the file system has no locks (errno %d), so commits would not be safe", errno);
            break;
        }
        status = sl_call_sleep(local->env, call, wait_us, err);
        wait_us = wait_us * 2 < LOCK_MAX_WAIT_US ? wait_us * 2 : LOCK_MAX_WAIT_US;
    }
    if (status != SILT_OK) {
        (void)close(*fd); /* nothing was written */
    }
    return status;
}

/* Fails only where the lock cannot be had; then nothing happened. */
static silt_status try_under_lock(struct naming *naming, const silt_call *call, enum attempt *attempt, silt_error *err)
{
    int fd = -1;
    SL_TRY(take_lock(naming->local, call, naming->to, &fd, err));
    struct stat there = {0};
    if (lstat(naming->to, &there) == 0) {
        *attempt = ATTEMPT_TAKEN;
    } else if (errno != ENOENT) {
        naming->errnum = errno;
        *attempt = ATTEMPT_FAILED; /* only looked */
    } else if (rename(naming->from, naming->to) == 0) {
        *attempt = ATTEMPT_NAMED;
    } else {
        *attempt = judge_failure(naming, errno);
    }
    (void)close(fd); /* drops the lock; the file stays, else two could hold locks on two files of that name */
    return SILT_OK;
}

static silt_status refuse(silt_error *err)
{
    (void)sl_fail(err, SILT_EUNSUPPORTED, NULL,
                  "the file system has neither link(2) nor renameat2(RENAME_NOREPLACE), so that two writers could "
                  "both believe to own the file");
    sl_error_hint(err, "allow the lock file in the store's options if nothing but silt writes here");
    return SILT_EUNSUPPORTED;
}

/* No file can come from there, and nobody who waits for one will get it. */
static silt_status refuse_name(const char *what, silt_error *err)
{
    (void)sl_fail(err, SILT_ECORRUPT, SL_NAME_TAKEN, "the name is taken by %s", what);
    sl_error_hint(err, "move it away; silt puts nothing in the place of what it did not write");
    return SILT_ECORRUPT;
}

/* The name is there: removes the other one, and makes both changes durable. */
static void settle(const struct naming *naming, silt_put_outcome *outcome, silt_error *err)
{
    if (naming->from != NULL && unlink(naming->from) != 0 && errno != ENOENT) {
        sl_log(naming->local->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", naming->from, errno);
    }
    int errnum = sl_local_sync_parent(naming->local, naming->to);
    *outcome = errnum == 0 ? SILT_PUT_DONE : SILT_PUT_AMBIGUOUS;
    if (errnum != 0) {
        (void)sl_fail_errno(err, errnum, "make the new name durable", NULL);
    }
}

silt_status sl_local_judge_taken(const char *name, silt_put_outcome *outcome, silt_error *err)
{
    struct stat there = {0};
    *outcome = SILT_PUT_EXISTS;
    if (stat(name, &there) == 0) {
        return S_ISREG(there.st_mode)
                   ? SILT_OK
                   : refuse_name(S_ISDIR(there.st_mode) ? "a folder" : "something that is no file", err);
    }
    const bool leads_nowhere = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if (leads_nowhere && lstat(name, &there) == 0 && S_ISLNK(there.st_mode)) {
        return refuse_name("a symbolic link that leads to no file", err);
    }
    return SILT_OK; /* whoever reads it learns why it cannot be looked at, or that it is gone meanwhile */
}

static silt_status finish(struct naming *naming, enum attempt attempt, silt_put_outcome *outcome, silt_error *err)
{
    switch (attempt) {
    case ATTEMPT_NAMED: settle(naming, outcome, err); return SILT_OK;
    case ATTEMPT_TAKEN: return sl_local_judge_taken(naming->to, outcome, err);
    case ATTEMPT_UNCLEAR:
        *outcome = SILT_PUT_AMBIGUOUS;
        (void)sl_fail_errno(err, naming->errnum, "learn whether the name was given", NULL);
        return SILT_OK;
    case ATTEMPT_IMPOSSIBLE:
    case ATTEMPT_FAILED: break;
    }
    return sl_local_fail_write(err, naming->errnum, "name the file");
}

silt_status sl_local_publish_unnamed(const struct sl_local *local, int fd, const char *to, bool *supported,
                                     silt_put_outcome *outcome, silt_error *err)
{
    struct naming naming = {.local = local, .fd = fd, .to = to};
    const bool named = local->calls->link_unnamed(fd, to) == 0;
    const enum attempt attempt = named ? ATTEMPT_NAMED : judge_failure(&naming, errno);
    *supported = attempt != ATTEMPT_FAILED;
    return *supported ? finish(&naming, attempt, outcome, err) : SILT_OK;
}

silt_status sl_local_publish(const struct sl_local *local, const silt_call *call, const char *from, const char *to,
                             silt_put_outcome *outcome, silt_error *err)
{
    struct naming naming = {.local = local, .from = from, .fd = -1, .to = to};
    if (lstat(from, &naming.before) != 0) {
        return sl_fail_errno(err, errno, "find the finished file", NULL);
    }
    enum attempt attempt = try_link(&naming);
    if (attempt == ATTEMPT_IMPOSSIBLE) {
        attempt = try_rename(&naming);
    }
    if (attempt == ATTEMPT_IMPOSSIBLE) {
        if (!local->allow_lock_file) {
            return refuse(err);
        }
        SL_TRY(try_under_lock(&naming, call, &attempt, err));
    }
    return finish(&naming, attempt, outcome, err);
}
