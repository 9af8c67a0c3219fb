/*
 * Names of the local store: from URIs to paths for the system, temp and lock files, folders above a file.
 *
 * Hidden names: a temp file is `.<name>.<uuid>.tmp` in the folder of the file that it becomes, the lock file is
 * `.silt.lock`. A leading dot keeps other engines away from them; our listings leave them out.
 *
 * Called by the files of the local store. Any thread.
 */
#include "storage/local_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"

#define TEMP_SUFFIX ".tmp"
#define LOCK_NAME ".silt.lock"
#define UUID_LEN (SL_UUID_TEXT_SIZE - 1)

/* Names longer than this would make a temp name that file systems do not take; theirs is made without them. */
#define NAME_IN_TEMP_MAX (NAME_MAX - 2 - UUID_LEN - (sizeof(TEMP_SUFFIX) - 1))

/* The part of `path` that the system understands, NULL if there is none. */
static const char *strip_scheme(const char *path)
{
    if (strncasecmp(path, "file:", 5) != 0) {
        return path[0] == '/' ? path : NULL;
    }
    path += 5;
    if (strncmp(path, "//", 2) == 0) {
        /* RFC 8089: the host of a file URI is empty or localhost. */
        path += 2;
        if (strncasecmp(path, "localhost/", 10) == 0) {
            path += 9;
        }
    }
    return path[0] == '/' ? path : NULL;
}

silt_status sl_local_dir_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    const char *bare = strip_scheme(path);
    if (bare == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "not a local path: expected /path or file:///path");
    }
    size_t len = strlen(bare);
    if (len >= SL_LOCAL_PATH_SIZE) {
        return sl_fail(err, SILT_EINVALID, NULL, "a path of %zu bytes is longer than the system's %d", len,
                       SL_LOCAL_PATH_SIZE - 1);
    }
    while (len > 1 && bare[len - 1] == '/') {
        len--;
    }
    memcpy(out, bare, len);
    out[len] = '\0';
    return SILT_OK;
}

silt_status sl_local_file_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    SL_TRY(sl_local_dir_path(path, out, err));
    if (path[strlen(path) - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of a file is expected, not of a folder");
    }
    return SILT_OK;
}

silt_status sl_local_target_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    SL_TRY(sl_local_file_path(path, out, err));
    const char *name = strrchr(out, '/') + 1;
    if (sl_local_is_hidden(name)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name is one of the store's own temporary names");
    }
    return SILT_OK;
}

void sl_local_parent(const char *path, char out[SL_LOCAL_PATH_SIZE])
{
    size_t len = (size_t)(strrchr(path, '/') - path);
    memcpy(out, path, len);
    if (len == 0) {
        out[len++] = '/';
    }
    out[len] = '\0';
}

static bool is_uuid(const char *text)
{
    for (size_t i = 0; i < UUID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : strchr("0123456789abcdef", text[i]) == NULL) {
            return false;
        }
    }
    return true;
}

bool sl_local_is_hidden(const char *name)
{
    if (name[0] != '.') {
        return false;
    }
    if (strcmp(name, LOCK_NAME) == 0) {
        return true;
    }
    struct sl_str text = sl_str_from(name);
    size_t tail = 1 + UUID_LEN + sizeof(TEMP_SUFFIX) - 1;
    if (text.len < tail || !sl_str_ends_with(text, SL_STR(TEMP_SUFFIX))) {
        return false;
    }
    const char *uuid = name + text.len - tail + 1;
    return uuid[-1] == '.' && is_uuid(uuid);
}

/* Replaces the last part of `final` by a name made of up to three texts. */
static silt_status put_beside(const char *final, const char *name, char out[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    int dir_len = (int)(strrchr(final, '/') - final);
    int printed = snprintf(out, SL_LOCAL_PATH_SIZE, "%.*s/%s", dir_len, final, name);
    if (printed < 0 || printed >= SL_LOCAL_PATH_SIZE) {
        return sl_fail(err, SILT_EINVALID, NULL, "the path leaves no room for a temporary name beside it");
    }
    return SILT_OK;
}

silt_status sl_local_temp_path(const struct sl_local *local, const char *final, char out[SL_LOCAL_PATH_SIZE],
                               silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(local->env, uuid, err));
    const char *base = strrchr(final, '/') + 1;
    char name[NAME_MAX + 1];
    int printed = strlen(base) <= NAME_IN_TEMP_MAX ? snprintf(name, sizeof(name), ".%s.%s" TEMP_SUFFIX, base, uuid)
                                                   : snprintf(name, sizeof(name), ".%s" TEMP_SUFFIX, uuid);
    if (printed < 0 || (size_t)printed >= sizeof(name)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name leaves no room for a temporary name");
    }
    return put_beside(final, name, out, err);
}

silt_status sl_local_lock_path(const char *final, char out[SL_LOCAL_PATH_SIZE], silt_error *err)
{
    return put_beside(final, LOCK_NAME, out, err);
}

int sl_local_sync(const struct sl_local *local, int fd)
{
    if (local->no_sync) {
        return 0;
    }
    int result = 0;
    do {
        result = local->calls->sync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

static int sync_dir(const struct sl_local *local, const char *dir)
{
    if (local->no_sync) {
        return 0;
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    int errnum = sl_local_sync(local, fd) == 0 ? 0 : errno;
    (void)close(fd); /* read only: there is nothing to lose */
    /* Some file systems have no fsync of folders; there it is as durable as it gets. */
    return errnum == EINVAL || errnum == EOPNOTSUPP ? 0 : errnum;
}

int sl_local_sync_parent(const struct sl_local *local, const char *path)
{
    char dir[SL_LOCAL_PATH_SIZE];
    sl_local_parent(path, dir);
    return sync_dir(local, dir);
}

/* *anew: a folder that was there, empty, is gone. */
static silt_status make_parents_once(const struct sl_local *local, const char *path, bool *anew, silt_error *err)
{
    char dir[SL_LOCAL_PATH_SIZE];
    size_t len = strlen(path);
    *anew = false;
    memcpy(dir, path, len + 1);
    for (size_t i = 1; i < len; i++) {
        if (dir[i] != '/' || dir[i - 1] == '/') {
            continue;
        }
        dir[i] = '\0';
        if (mkdir(dir, 0777) == 0) {
            sl_local_folder_made(local->folders, dir);
            int errnum = sl_local_sync_parent(local, dir);
            if (errnum != 0) {
                return sl_local_fail_write(err, errnum, "make a new folder durable");
            }
        } else if (errno != EEXIST) {
            *anew = errno == ENOENT;
            return sl_local_fail_write(err, errno, "make the folders above it");
        }
        dir[i] = '/';
    }
    return SILT_OK;
}

silt_status sl_local_make_parents(const struct sl_local *local, const char *path, silt_error *err)
{
    bool anew = false;
    silt_status status = make_parents_once(local, path, &anew, err);
    for (int i = 0; anew && i < SL_LOCAL_MAX_ANEW; i++) {
        silt_error_reset(err);
        status = make_parents_once(local, path, &anew, err);
    }
    return status;
}

int64_t sl_local_modified_ms(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000 + (int64_t)info->st_mtim.tv_nsec / 1000000;
}

silt_status sl_local_fail_write(silt_error *err, int errnum, const char *operation)
{
    silt_status status = sl_fail_errno(err, errnum, operation, NULL);
    silt_status better = status;
    switch (errnum) {
    /* "Not found" would be taken for a missing table. */
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG: better = SILT_EINVALID; break;
    case EFBIG: better = SILT_ENOSPACE; break;
    default: break;
    }
    if (better != status) {
        (void)sl_fail(err, better, NULL, "%s", err->message);
        err->sys_code = errnum;
    }
    return better;
}
