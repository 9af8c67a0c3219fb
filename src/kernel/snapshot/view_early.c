/*
 * What a view asks a far store for as soon as its segment is chosen: the commits and the checkpoint's ends together, one round where there would
 * be one after the other. Called by log_view.c.
 */
#include "kernel/snapshot/snapshot_int.h"

#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/replay/checkpoint_bring.h"

/* Larger commits are read by themselves, in parts; and so is what is beyond the sum. */
#define COMMIT_BYTES (INT64_C(1) << 20)
#define COMMITS_BYTES (INT64_C(4) << 20)
#define MAX_COMMITS 1024
/* A top file in JSON is read as a whole. */
#define JSON_BYTES (INT64_C(4) << 20)

static silt_status want_file(struct sl_vec *wants, struct sl_str path, int64_t size, silt_error *err)
{
    struct sl_early_want *want = path.ptr != NULL ? sl_vec_push(wants) : NULL;
    if (want == NULL) {
        return sl_fail_nomem(err);
    }
    *want = (struct sl_early_want){.path = path.ptr, .size_bytes = size, .end_bytes = size};
    return SILT_OK;
}

/* The newest ones: they are read first. */
static silt_status want_commits(const struct sl_log_view *view, const struct sl_log_source *source,
                                struct sl_arena *arena, struct sl_vec *wants, silt_error *err)
{
    const struct sl_log_segment *segment = &view->segment;
    int64_t sum = 0;
    for (size_t i = segment->n_commits; i > 0 && segment->n_commits - i < MAX_COMMITS; i--) {
        const struct sl_log_file *file = &segment->commits[i - 1];
        if (file->content.ptr != NULL || file->size < 0 || file->size > COMMIT_BYTES) {
            continue;
        }
        sum += file->size;
        if (sum > COMMITS_BYTES) {
            break;
        }
        SL_TRY(want_file(wants, sl_log_path(arena, source->root, file->name), file->size, err));
    }
    return SILT_OK;
}

static silt_status want_checkpoint(const struct sl_log_view *view, const struct sl_log_source *source,
                                   struct sl_arena *arena, struct sl_vec *wants, silt_error *err)
{
    const struct sl_log_segment *segment = &view->segment;
    silt_parquet_file *files = sl_arena_alloc_array(arena, segment->n_checkpoint, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < segment->n_checkpoint; i++) {
        const struct sl_log_file *file = &segment->checkpoint[i];
        const struct sl_str path = sl_log_path(arena, source->root, file->name);
        if (path.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        if (sl_str_ends_with(path, SL_STR(".json"))) {
            return file->size >= 0 && file->size <= JSON_BYTES ? want_file(wants, path, file->size, err) : SILT_OK;
        }
        files[i] = (silt_parquet_file){.path = path.ptr, .size_bytes = file->size};
    }
    return sl_checkpoint_want(files, segment->n_checkpoint, wants, err);
}

silt_status sl_view_ask_early(struct sl_log_view *view, const struct sl_log_source *source, const silt_call *call,
                              silt_error *err)
{
    if (view->segment.n_checkpoint == 0 || !sl_storage_is_far(source->storage, source->root.ptr)) {
        return SILT_OK;
    }
    struct sl_arena arena;
    struct sl_vec wants;
    sl_arena_init(&arena, view->env);
    sl_vec_init(&wants, view->env, sizeof(struct sl_early_want));
    silt_status status = sl_early_new(view->env, source->storage, &view->early, err);
    if (status == SILT_OK) {
        status = want_commits(view, source, &arena, &wants, err);
    }
    if (status == SILT_OK) {
        status = want_checkpoint(view, source, &arena, &wants, err);
    }
    if (status == SILT_OK) {
        status = sl_early_bring(view->early, call, wants.data, wants.len, err);
    }
    sl_vec_release(&wants);
    sl_arena_release(&arena);
    return status;
}

struct sl_log_source sl_view_source(const silt_snapshot *snapshot, const struct sl_log_view *view)
{
    struct sl_log_source source = sl_snapshot_source(snapshot);
    if (view->early != NULL) {
        source.storage = sl_early_storage(view->early);
    }
    return source;
}

silt_status sl_view_bring_adds(const silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                               silt_error *err)
{
    const struct sl_log_source source = sl_view_source(snapshot, view);
    const struct sl_checkpoint_bringing bringing = {.source = &source,
                                                    .early = view->early,
                                                    .files = view->checkpoint.parquet,
                                                    .n_files = view->checkpoint.n_parquet,
                                                    .what = SL_BRING_ADDS};
    return view->adds_brought ? SILT_OK : sl_checkpoint_bring(&bringing, call, err);
}
