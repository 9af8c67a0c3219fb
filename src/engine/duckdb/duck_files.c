/*
 * Files that DuckDB can open, and scratch folders. DuckDB reads only what the local file system has: of files of a store without
 * local paths it gets local copies with holes, which are filled in as queries need them (duck_fetch.c).
 * One owner an object; any thread.
 */
#include "duck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/uuid.h"
#include "duck_fetch.h"

/* Folders below a scratch folder: one for each partition column, and the root. */
#define REMOVE_MAX_DEPTH 256

silt_status sl_duck_make_dir(struct sl_dataplane *dp, struct sl_arena *arena, const char *parent, const char *prefix,
                             char **out, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    *out = NULL;
    SL_TRY(sl_uuid_make(dp->env, uuid, err));
    char *path = sl_arena_printf(arena, "%s/%s%s", parent, prefix, uuid);
    if (path == NULL) {
        return sl_fail_nomem(err);
    }
    if (mkdir(path, 0777) != 0) {
        return sl_fail_errno(err, errno, "create folder", path);
    }
    *out = path;
    return SILT_OK;
}

silt_status sl_duck_make_dirs(struct sl_dataplane *dp, const char *path, silt_error *err)
{
    struct sl_buf part;
    sl_buf_init(&part, dp->env);
    silt_status status = SILT_OK;
    const size_t len = strlen(path);
    for (size_t i = 1; i <= len && status == SILT_OK; i++) {
        if (i < len && path[i] != '/') {
            continue;
        }
        sl_buf_clear(&part);
        sl_buf_put(&part, path, i);
        status = sl_buf_status(&part, err);
        if (status == SILT_OK && mkdir(sl_buf_cstr(&part), 0777) != 0 && errno != EEXIST) {
            status = sl_fail_errno(err, errno, "create folder", sl_buf_cstr(&part));
        }
    }
    sl_buf_release(&part);
    return status;
}

/* Scratch is removed as far as it goes: a failure leaves a hidden or temporary folder, never wrong data. */
static void remove_below(int parent, const char *name, unsigned depth)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        if (fd >= 0) {
            (void)close(fd); /* nothing was written through it */
        }
        return;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(fd, entry->d_name, 0) != 0 && depth < REMOVE_MAX_DEPTH) {
            remove_below(fd, entry->d_name, depth + 1);
        }
    }
    (void)closedir(dir);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void sl_duck_remove_dir(struct sl_dataplane *dp, const char *path)
{
    (void)dp;
    if (path != NULL) {
        remove_below(AT_FDCWD, path, 0);
    }
}

silt_status sl_duck_files_make_dir(struct sl_duck_files *files, silt_error *err)
{
    struct sl_dataplane *dp = files->dp;
    return sl_duck_make_dir(dp, &files->arena, dp->temp_dir, "silt-read-", &files->temp_dir, err);
}

bool sl_duck_files_is_copy(const struct sl_duck_files *files, size_t index)
{
    return files->temp_dir != NULL &&
           sl_str_starts_with(sl_str_from(files->local[index]), sl_str_from(files->temp_dir));
}

void sl_duck_files_note_copies(struct sl_duck_files *files)
{
    if (!files->has_copies) {
        sl_duck_cache_begin_copies(files->dp);
        files->has_copies = true;
    }
}

static silt_status copy_sources(struct sl_duck_files *files, const struct sl_duck_source *sources, size_t n,
                                silt_error *err)
{
    struct sl_duck_source *copies = sl_arena_alloc_array(&files->arena, n, sizeof(*copies));
    files->local = sl_arena_alloc_array(&files->arena, n, sizeof(*files->local));
    if (copies == NULL || files->local == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        copies[i] = sources[i];
        copies[i].path = sl_arena_strdup(&files->arena, sl_str_from(sources[i].path));
        if (copies[i].path == NULL) {
            return sl_fail_nomem(err);
        }
        if (sources[i].local_path != NULL) {
            copies[i].local_path = sl_arena_strdup(&files->arena, sl_str_from(sources[i].local_path));
            if (copies[i].local_path == NULL) {
                return sl_fail_nomem(err);
            }
        }
        files->local[i] = copies[i].local_path;
    }
    files->sources = copies;
    files->n = n;
    return SILT_OK;
}

/* Brings the files without local paths, of which `index` is one. */
static silt_status bring(struct sl_duck_files *files, const silt_call *call, silt_storage *storage, size_t index,
                         silt_error *err)
{
    if (storage == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "file %s has no local path and no store was given",
                       files->sources[index].path);
    }
    SL_TRY(sl_duck_files_make_dir(files, err));
    SL_TRY(sl_duck_fetch_new(files, call, storage, &files->fetch, err));
    for (size_t i = 0; i < files->n; i++) {
        if (sl_duck_files_is_copy(files, i)) {
            sl_duck_files_note_copies(files);
        }
    }
    return SILT_OK;
}

silt_status sl_duck_files_open(struct sl_dataplane *dp, const silt_call *call, silt_storage *storage,
                               const struct sl_duck_source *sources, size_t n, struct sl_duck_files *out,
                               silt_error *err)
{
    *out = (struct sl_duck_files){.dp = dp};
    sl_arena_init(&out->arena, dp->env);
    silt_status status = copy_sources(out, sources, n, err);
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        if (out->local[i] == NULL) {
            status = bring(out, call, storage, i, err);
            break; /* it has brought them all */
        }
    }
    if (status != SILT_OK) {
        sl_duck_files_close(out);
    }
    return status;
}

void sl_duck_files_close(struct sl_duck_files *files)
{
    if (files->dp == NULL) {
        return;
    }
    sl_duck_fetch_drop(files->fetch);
    if (files->has_copies) {
        sl_duck_cache_end_copies(files->dp);
    }
    sl_duck_remove_dir(files->dp, files->temp_dir);
    sl_arena_release(&files->arena);
    *files = (struct sl_duck_files){0};
}
