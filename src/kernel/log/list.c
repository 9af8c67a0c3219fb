/*
 * Listing a log from a version on. It only finds out what is there; which of it makes a snapshot is decided in segment.c. Any
 * thread.
 *
 * A store lists what was there when the listing began, and of what came meanwhile any part: readdir(3) in a large folder, as pages of an
 * object store, can have a commit and not the one before it. So a commit that seems to be missing between two others is asked for by
 * its name.
 */
#include "kernel/log/list.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uri.h"

struct lister {
    struct sl_arena *arena;
    struct sl_vec *files;
    bool out_of_memory;
};

static bool take_entry(void *ctx, const silt_file_entry *entry)
{
    struct lister *lister = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    if (name.len > 0 && name.ptr[0] > '9') {
        return false; /* names come in byte order: no versioned file follows */
    }
    const struct sl_log_file file = sl_log_name_parse(name);
    if (file.kind == SL_LOG_OTHER || file.kind == SL_LOG_LAST_CHECKPOINT) {
        return true;
    }
    struct sl_log_file *slot = sl_vec_push(lister->files);
    if (slot == NULL) {
        lister->out_of_memory = true;
        return false;
    }
    *slot = file;
    slot->size = entry->size_bytes;
    slot->modified_ms = entry->modified_ms;
    slot->name = sl_arena_copy(lister->arena, name);
    if (slot->name.ptr == NULL) {
        lister->out_of_memory = true;
        return false;
    }
    return true;
}

/* ---- commits that came while the log was listed ---- */

struct filler {
    silt_storage *storage;
    const silt_call *call;
    struct sl_str dir;
    struct sl_arena *arena;
    struct sl_vec *files;
};

/* Puts a commit before the file at an index. */
static silt_status insert_commit(struct filler *f, size_t index, const struct sl_log_file *commit, silt_error *err)
{
    if (sl_vec_push(f->files) == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_log_file *slot = sl_vec_at(f->files, index);
    memmove(slot + 1, slot, (f->files->len - 1 - index) * sizeof(*slot));
    *slot = *commit;
    return SILT_OK;
}

/* Looks for one commit; *found is false if it is not there, and then it is not missing from the listing only. */
static silt_status fill_in(struct filler *f, int64_t version, bool *found, silt_error *err)
{
    const char *name = sl_log_name_make(f->arena, version, SL_STR(".json"));
    const struct sl_str path = name != NULL ? sl_uri_join(f->arena, f->dir, sl_str_from(name)) : (struct sl_str){0};
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_log_file commit = sl_log_name_parse(sl_str_from(name)); /* the name is in the arena */
    const silt_status status = silt_storage_stat(f->storage, f->call, path.ptr, &commit.size, &commit.modified_ms, err);
    *found = status == SILT_OK;
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    SL_TRY(status);
    size_t index = 0;
    while (index < f->files->len && ((struct sl_log_file *)sl_vec_at(f->files, index))->version <= version) {
        index++;
    }
    return insert_commit(f, index, &commit, err);
}

static silt_status fill_gaps(struct filler *f, silt_error *err)
{
    int64_t last = -1;
    for (size_t i = 0; i < f->files->len; i++) {
        const struct sl_log_file *file = sl_vec_at(f->files, i);
        if (file->kind != SL_LOG_COMMIT) {
            continue;
        }
        bool found = last >= 0 && file->version > last + 1;
        const int64_t end = file->version;
        for (int64_t version = last + 1; found && version < end; version++) {
            SL_TRY(fill_in(f, version, &found, err));
        }
        last = end; /* what was put before it has moved it on: it is met again, and is no gap then */
    }
    return SILT_OK;
}

silt_status sl_log_list(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                        struct sl_arena *arena, struct sl_vec *files, bool *exists, silt_error *err)
{
    *exists = false;
    const struct sl_str dir = sl_uri_join(arena, root, SL_STR(SL_LOG_DIR));
    const char *start = sl_log_name_make(arena, from_version > 0 ? from_version : 0, SL_STR(""));
    if (dir.ptr == NULL || start == NULL) {
        return sl_fail_nomem(err);
    }
    struct lister lister = {.arena = arena, .files = files};
    const silt_list_options options = {.size = sizeof(options), .start_from = start};
    const silt_status status = silt_storage_list(storage, call, dir.ptr, &options, take_entry, &lister, err);
    if (lister.out_of_memory) {
        return sl_fail_nomem(err);
    }
    if (status == SILT_ENOTFOUND && !sl_error_is(err, SL_BUCKET_NOT_FOUND)) {
        silt_error_reset(err);
        return SILT_OK;
    }
    *exists = status == SILT_OK;
    struct filler filler = {.storage = storage, .call = call, .dir = dir, .arena = arena, .files = files};
    return status == SILT_OK ? fill_gaps(&filler, err) : status;
}

silt_status sl_log_look_ahead(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                              size_t most, struct sl_arena *arena, struct sl_vec *files, bool *told, silt_error *err)
{
    *told = false;
    for (size_t i = 0; i < most; i++) {
        int64_t version = 0;
        if (!sl_add_i64(from_version, (int64_t)i, &version)) {
            return SILT_OK;
        }
        const struct sl_str path = sl_log_commit_path(arena, root, version);
        if (path.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        const char *name = strrchr(path.ptr, '/') + 1;
        struct sl_log_file commit = sl_log_name_parse(sl_str_from(name));
        const silt_status status = silt_storage_stat(storage, call, path.ptr, &commit.size, &commit.modified_ms, NULL);
        if (status != SILT_OK) {
            *told = status == SILT_ENOTFOUND && i > 0;
            return SILT_OK;
        }
        struct sl_log_file *slot = sl_vec_push(files);
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        *slot = commit;
    }
    return SILT_OK;
}
