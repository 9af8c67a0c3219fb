/*
 * Removing a folder and all below it. It gets a hidden name first, so that it is there as a whole or gone, also for who is killed in the
 * midst; then it is emptied. Goes by descriptors and never through a symbolic link, so that nobody can lead
 * it elsewhere by swapping a folder for a link.
 *
 * Called through the store's slots. Any thread.
 */
#include "storage/local_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"

/* Passes over a folder: others may add files while it is emptied, but not for ever. */
#define MAX_PASSES 8

static silt_status open_folder(int parent, const char *name, DIR **out, silt_error *err)
{
    *out = NULL;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return sl_fail_errno(err, errno, "open the folder", name);
    }
    *out = fdopendir(fd);
    if (*out == NULL) {
        silt_status status = sl_fail_errno(err, errno, "read the folder", name);
        (void)close(fd); /* read only: there is nothing to lose */
        return status;
    }
    return SILT_OK;
}

/* The removal under way. */
struct removal {
    const struct sl_local *local;
    const silt_call *call;
};

static silt_status remove_folder(const struct removal *removal, int parent, const char *name, unsigned depth,
                                 silt_error *err);

static silt_status remove_child(const struct removal *removal, int parent, const struct dirent *child, unsigned depth,
                                silt_error *err)
{
    SL_TRY(sl_call_check(removal->local->env, removal->call, err));
    if (child->d_type != DT_DIR) {
        if (unlinkat(parent, child->d_name, 0) == 0 || errno == ENOENT) {
            return SILT_OK;
        }
        /* A folder, where readdir did not say so: EISDIR on Linux, EPERM elsewhere. */
        if (child->d_type != DT_UNKNOWN || (errno != EISDIR && errno != EPERM)) {
            return sl_local_fail_write(err, errno, "remove a file in it");
        }
    }
    return remove_folder(removal, parent, child->d_name, depth, err);
}

/* One pass over an open folder. */
static silt_status empty_folder(const struct removal *removal, DIR *dir, unsigned depth, silt_error *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *child = readdir(dir);
        if (child == NULL) {
            return errno != 0 ? sl_fail_errno(err, errno, "read the folder", NULL) : SILT_OK;
        }
        if (strcmp(child->d_name, ".") != 0 && strcmp(child->d_name, "..") != 0) {
            SL_TRY(remove_child(removal, dirfd(dir), child, depth, err));
        }
    }
}

static silt_status remove_folder(const struct removal *removal, int parent, const char *name, unsigned depth,
                                 silt_error *err)
{
    if (depth > SL_LOCAL_MAX_DEPTH) {
        return sl_fail(err, SILT_ELIMIT, NULL, "folders are nested deeper than %d", SL_LOCAL_MAX_DEPTH);
    }
    DIR *dir = NULL;
    silt_status status = open_folder(parent, name, &dir, err);
    if (status == SILT_ENOTFOUND) {
        return SILT_OK; /* gone meanwhile */
    }
    if (status != SILT_OK) {
        return status;
    }
    bool gone = false;
    for (int pass = 0; status == SILT_OK && !gone && pass < MAX_PASSES; pass++) {
        rewinddir(dir);
        status = empty_folder(removal, dir, depth + 1, err);
        if (status != SILT_OK) {
            break;
        }
        gone = unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
        if (!gone && ((errno != ENOTEMPTY && errno != EEXIST) || pass == MAX_PASSES - 1)) {
            status = sl_fail_errno(err, errno, "remove the folder", name);
        }
    }
    (void)closedir(dir); /* read only: there is nothing to lose */
    return status;
}

/*
 * It is not emptied in its place instead: whoever is killed then leaves half of it, and what others make there anew meanwhile, as a table in the
 * place of one whose first commit is gone, would go with it.
 */
static silt_status fail_rename(int errnum, silt_error *err)
{
    if (errnum != EXDEV && errnum != EBUSY) {
        return sl_local_fail_write(err, errnum, "take its name away");
    }
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                       "the folder cannot be taken away as a whole, as %s; nothing was removed",
                                       errnum == EXDEV ? "its file system cannot rename it" : "it is a mount point");
    err->sys_code = errnum;
    sl_error_hint(err, errnum == EXDEV ? "an overlay does so with a folder of a lower layer, unless it is mounted with "
                                         "redirect_dir=on; else remove the folder while nobody uses it"
                                       : "remove what is in it while nobody uses it");
    return status;
}

silt_status sl_local_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    const struct sl_local *local = impl;
    char path[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_dir_path(dir, path, err));
    if (strcmp(path, "/") == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "refused: that is the whole file system");
    }
    struct stat found = {0};
    if (lstat(path, &found) != 0) {
        return errno == ENOENT || errno == ENOTDIR ? SILT_OK : sl_fail_errno(err, errno, "look at it", NULL);
    }
    if (!S_ISDIR(found.st_mode)) {
        return sl_fail(err, SILT_EINVALID, NULL, "it is not a folder%s",
                       S_ISLNK(found.st_mode) ? ", but a symbolic link" : "");
    }
    char hidden[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_call_check(local->env, call, err));
    SL_TRY(sl_local_temp_path(local, path, hidden, err));
    if (local->calls->rename_folder(path, hidden) != 0) {
        return errno == ENOENT ? SILT_OK : fail_rename(errno, err);
    }
    const struct removal removal = {.local = local, .call = call};
    return remove_folder(&removal, AT_FDCWD, hidden, 0, err);
}
