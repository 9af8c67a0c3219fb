/*
 * Looking for the commit that something new rests on; see log_fate.h. That it is gone proves little: it may have expired. Only when nothing
 * is there by which a table could be opened was it dropped. And where later versions are there but not the one before ours, ours may have been written
 * when its number was free for the second time. Called by the commit loop and after checkpoints.
 */
#include "kernel/log/log_fate.h"

#include "base/error.h"
#include "base/vec.h"
#include "kernel/log/list.h"

/* Listings and single looks of one store tell times with different precision. */
#define SAME_TIME_MS 1000

static bool is_base(const struct sl_log_file *base, int64_t size, int64_t modified_ms)
{
    const int64_t apart = modified_ms > base->modified_ms ? modified_ms - base->modified_ms
                                                          : base->modified_ms - modified_ms;
    return size == base->size && apart <= SAME_TIME_MS;
}

/* By one of these a table can be opened; several that commit to a table that is gone leave versions behind one another, and none of these. */
static bool begins_a_table(const struct sl_log_file *file, int64_t ours)
{
    switch (file->kind) {
    case SL_LOG_COMMIT: return file->version == 0;
    case SL_LOG_CHECKPOINT:
    case SL_LOG_CHECKPOINT_PART:
    case SL_LOG_CHECKPOINT_V2: return file->version != ours;
    default: return false;
    }
}

static enum sl_log_fate judge_others(const struct sl_log_look *look, const struct sl_vec *files)
{
    bool is_table = false;
    bool later = false;
    bool follows = look->ours < 0; /* nothing was written: nothing can be in the wrong place */
    for (size_t i = 0; i < files->len; i++) {
        const struct sl_log_file *file = sl_vec_at(files, i);
        const bool is_commit = file->kind == SL_LOG_COMMIT;
        is_table = is_table || begins_a_table(file, look->ours);
        later = later || (file->kind != SL_LOG_CRC && file->kind != SL_LOG_COMPACTED && file->version > look->ours);
        follows = follows || (is_commit && file->version == look->ours - 1);
    }
    if (!is_table) {
        return SL_LOG_GONE;
    }
    /* Versions are deleted oldest first: ours was not, if the one before it was not. */
    return later && !follows ? SL_LOG_EXPIRED : SL_LOG_STANDS;
}

/* Of a log whose base is not there. */
static enum sl_log_fate look_for_others(const struct sl_log_look *look, const silt_call *call)
{
    struct sl_arena names;
    struct sl_vec files;
    bool exists = false;
    silt_error unused = SILT_ERROR_INIT;
    sl_arena_init(&names, look->env);
    sl_vec_init(&files, look->env, sizeof(struct sl_log_file));
    enum sl_log_fate fate = SL_LOG_STANDS;
    if (sl_log_list(look->storage, call, look->root, 0, &names, &files, &exists, &unused) == SILT_OK) {
        fate = judge_others(look, &files);
    }
    sl_vec_release(&files);
    sl_arena_release(&names);
    return fate;
}

enum sl_log_fate sl_log_fate(const struct sl_log_look *look, const silt_call *call)
{
    struct sl_arena scratch;
    int64_t size = 0;
    int64_t modified_ms = 0;
    silt_error unused = SILT_ERROR_INIT;
    if (look->base == NULL) {
        return SL_LOG_STANDS;
    }
    sl_arena_init(&scratch, look->env);
    enum sl_log_fate fate = SL_LOG_STANDS;
    const struct sl_str path = sl_log_commit_path(&scratch, look->root, look->base->version);
    if (path.ptr != NULL) {
        const silt_status status = silt_storage_stat(look->storage, call, path.ptr, &size, &modified_ms, &unused);
        if (status == SILT_ENOTFOUND) {
            fate = look_for_others(look, call);
        } else if (status == SILT_OK && !is_base(look->base, size, modified_ms)) {
            fate = SL_LOG_REPLACED;
        }
    }
    sl_arena_release(&scratch);
    return fate;
}
