/*
 * The walk through a log on a store that is far away: the next files of the listing are asked for together, so that a version takes no round for
 * each of its files. Windows bound what that takes in memory; large files are read by themselves.
 */
#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/engine/engine.h"

#define WINDOW_FILES 256
#define WINDOW_BYTES (INT64_C(8) << 20)
#define FILE_BYTES (INT64_C(1) << 20)

static silt_status want_window(const struct sl_fsck *fsck, struct sl_fsck_ahead *ahead, struct sl_arena *arena,
                               struct sl_vec *wants, silt_error *err)
{
    const struct sl_log_file *files = fsck->listing.data;
    int64_t bytes = 0;
    while (ahead->end < fsck->listing.len && wants->len < WINDOW_FILES && bytes < WINDOW_BYTES) {
        const struct sl_log_file *file = &files[ahead->end++];
        if (file->content.ptr != NULL || file->size <= 0 || file->size > FILE_BYTES) {
            continue;
        }
        const struct sl_str path = sl_log_path(arena, fsck->source.root, file->name);
        struct sl_early_want *want = path.ptr != NULL ? sl_vec_push(wants) : NULL;
        if (want == NULL) {
            return sl_fail_nomem(err);
        }
        *want = (struct sl_early_want){.path = path.ptr, .size_bytes = file->size, .end_bytes = file->size};
        bytes += file->size;
    }
    return SILT_OK;
}

silt_status sl_fsck_look_ahead(struct sl_fsck *fsck, struct sl_fsck_ahead *ahead, size_t at, silt_error *err)
{
    if (ahead->own == NULL) {
        ahead->own = fsck->source.storage;
        ahead->is_far = sl_storage_is_far(ahead->own, fsck->source.root.ptr);
    }
    if (!ahead->is_far || at < ahead->end) {
        return SILT_OK;
    }
    struct sl_arena arena;
    struct sl_vec wants;
    sl_fsck_ahead_release(fsck, ahead);
    ahead->end = at;
    sl_arena_init(&arena, fsck->env);
    sl_vec_init(&wants, fsck->env, sizeof(struct sl_early_want));
    silt_status status = want_window(fsck, ahead, &arena, &wants, err);
    if (status == SILT_OK) {
        status = sl_early_new(fsck->env, ahead->own, &ahead->early, err);
    }
    if (status == SILT_OK) {
        fsck->source.storage = sl_early_storage(ahead->early);
        status = sl_early_bring(ahead->early, fsck->call, wants.data, wants.len, err);
    }
    sl_vec_release(&wants);
    sl_arena_release(&arena);
    return status;
}

void sl_fsck_ahead_release(struct sl_fsck *fsck, struct sl_fsck_ahead *ahead)
{
    if (ahead->own != NULL) {
        fsck->source.storage = ahead->own;
    }
    sl_early_unref(ahead->early);
    ahead->early = NULL;
}
