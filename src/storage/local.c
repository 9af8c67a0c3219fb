/*
 * The local store: files of this machine, and of network file systems mounted on it. Here are its constructor, its
 * vtable and the slots that are one system call each.
 *
 * How it keeps the contract of a log store (silt/storage.h):
 *  - visibility: files are written under hidden names and get their own when they are whole (local_write.c);
 *  - exclusion: link(2) or renameat2(RENAME_NOREPLACE) decides (local_publish.c);
 *  - listing: the file system's own, sorted (local_list.c).
 *
 * A removal is not made durable: what comes back after a crash is garbage that VACUUM or log clean-up removes again.
 * Any thread; what changes in a store is what it keeps of a lost race (local_unnamed.c) and of folders (local_folders.c).
 */
#include "storage/local_int.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <fcntl.h>
#endif

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"

static int system_rename_noreplace(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
#else
    (void)from;
    (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

static int system_link_unnamed(int fd, const char *to)
{
#ifdef O_TMPFILE
    char from[64];
    (void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd); /* fits */
    return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
#else
    (void)fd;
    (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

static const struct sl_local_calls system_calls = {.link = link,
                                                   .rename_noreplace = system_rename_noreplace,
                                                   .write = write,
                                                   .sync = fsync,
                                                   .link_unnamed = system_link_unnamed,
                                                   .rename_folder = rename};

const struct sl_local_calls *sl_local_system_calls(void)
{
    return &system_calls;
}

static void close_local(void *impl)
{
    struct sl_local *local = impl;
    if (local->spare != NULL) {
        sl_local_spare_free(local, atomic_load(local->spare));
        sl_release(local->env, local->spare, sizeof(*local->spare));
    }
    sl_local_folders_free(local->folders);
    sl_release(local->env, local, sizeof(*local));
}

static silt_status stat_file(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    (void)impl;
    (void)call; /* one quick system call: the dispatch has looked */
    char file[SL_LOCAL_PATH_SIZE];
    struct stat found = {0};
    SL_TRY(sl_local_file_path(path, file, err));
    if (stat(file, &found) != 0) {
        return sl_fail_errno(err, errno, "look at it", NULL);
    }
    if (!S_ISREG(found.st_mode)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "there is no regular file of this name");
    }
    *size_bytes = (int64_t)found.st_size;
    *modified_ms = sl_local_modified_ms(&found);
    return SILT_OK;
}

/* A file system that may only be read says so before it looks for the file. */
static bool is_not_there(const char *file, int error)
{
    struct stat found;
    return error == ENOENT || error == ENOTDIR || (error == EROFS && lstat(file, &found) != 0 && errno == ENOENT);
}

static silt_status remove_file(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct sl_local *local = impl;
    (void)call; /* one quick system call: the dispatch has looked */
    char file[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_file_path(path, file, err));
    const int error = unlink(file) == 0 ? 0 : errno;
    if (error == 0 || is_not_there(file, error)) {
        sl_local_folders_drop(local->folders, file);
        return SILT_OK;
    }
    return sl_local_fail_write(err, error, "remove it");
}

static silt_status local_path(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err)
{
    (void)impl;
    char file[SL_LOCAL_PATH_SIZE];
    SL_TRY(sl_local_file_path(path, file, err));
    size_t len = strlen(file);
    if (len >= buf_size) {
        return sl_fail(err, SILT_EINVALID, NULL, "the path needs a buffer of %zu bytes, not %zu", len + 1, buf_size);
    }
    memcpy(buf, file, len + 1);
    return SILT_OK;
}

static const silt_storage_vtable local_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "local",
    .close = close_local,
    .read_many = sl_local_read_many,
    .list = sl_local_list,
    .put_if_absent = sl_local_put_if_absent,
    .put_hint = sl_local_put_hint,
    .put = sl_local_put,
    .put_fresh = sl_local_put_fresh,
    .put_beside = sl_local_put_beside,
    .stat = stat_file,
    .remove = remove_file,
    .local_path = local_path,
    .adopt = sl_local_adopt,
    .remove_tree = sl_local_remove_tree,
};

silt_status sl_local_new_with(const silt_env *env, const silt_local_options *options,
                              const struct sl_local_calls *calls, silt_storage **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a local store needs an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_env_check(env, err));
    if (options != NULL && options->size < sizeof(*options)) {
        return sl_fail(err, SILT_EINVALID, NULL, "options of a local store have size %u, expected %zu",
                       (unsigned)options->size, sizeof(*options));
    }
    struct sl_local *local = sl_alloc(env, sizeof(*local));
    if (local == NULL) {
        return sl_fail_nomem(err);
    }
    *local = (struct sl_local){.env = env,
                               .calls = calls,
                               .allow_lock_file = options != NULL && options->allow_lock_file,
                               .no_sync = options != NULL && options->no_sync,
                               .spare = sl_alloc(env, sizeof(*local->spare)),
                               .folders = sl_local_folders_new(env)};
    if (local->spare != NULL) {
        atomic_init(local->spare, NULL);
    }
    if (local->folders == NULL || local->spare == NULL) {
        close_local(local);
        return sl_fail_nomem(err);
    }
    silt_status status = silt_storage_new(env, &local_slots, local, out, err);
    if (status != SILT_OK) {
        close_local(local);
    }
    return status;
}

silt_status silt_storage_local_new(const silt_env *env, const silt_local_options *options, silt_storage **out,
                                   silt_error *err)
{
    return sl_local_new_with(env, options, &system_calls, out, err);
}
