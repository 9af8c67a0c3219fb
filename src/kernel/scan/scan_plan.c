/*
 * Planning: visits the live files of the snapshot, drops those that partition values or statistics rule out, and keeps the rest
 * with absolute path and typed partition values. Statistics are asked for only when the filter names data columns, and are held
 * for a window of files at a time, so that memory does not grow with the size of the log.
 *
 * Called by the scan builder, on the caller's thread; reading statistics runs on the engine's executor (data_skip.c).
 */
#include "kernel/scan/scan_int.h"

#include "base/env.h"
#include "base/error.h"
#include "kernel/dv/dv.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/data_skip.h"
#include "kernel/scan/plan_path.h"

/* A window is judged when it has this many files or this much text. */
#define WINDOW_FILES 16384
#define WINDOW_BYTES ((size_t)32 << 20)

/* How often, in files, planning looks at the call. */
#define CHECK_EVERY 1024

/* A file that waits for its statistics to be judged. Text is in the window's arena. */
struct pending {
    struct sl_str path;
    int64_t size;
    int64_t modified_ms;
    int64_t base_row_id; /* -1 if it has none */
    int64_t row_commit_version;
    const silt_deletion_vector *deleted; /* in the scan's arena */
    int64_t ordinal;
};

struct planner {
    silt_scan *scan;
    const silt_call *call;
    silt_engine *engine;
    bool *answered;
    bool wants_stats;
    int64_t seen;
    struct sl_partition_pruner pruner;
    struct sl_arena window;
    struct sl_vec pending; /* struct pending */
    struct sl_vec skips;   /* struct sl_skip_file, one for each pending */
    size_t window_bytes;
    struct sl_plan_paths paths;
};

/* ---- keeping a file ---- */

static silt_status keep_file(struct planner *p, const struct pending *file, const struct sl_partition_tuple *tuple,
                             silt_error *err)
{
    silt_scan *scan = p->scan;
    silt_plan_file found = {0};
    SL_TRY(sl_plan_paths_find(&p->paths, file->path, &found, err));
    silt_plan_file *kept = sl_vec_push(&scan->files);
    int64_t *ordinal = kept != NULL ? sl_vec_push(&scan->ordinals) : NULL;
    if (ordinal == NULL) {
        return sl_fail_nomem(err);
    }
    *kept = (silt_plan_file){.path = found.path,
                             .local_path = found.local_path,
                             .size_bytes = file->size,
                             .modified_ms = file->modified_ms,
                             .partition_values = tuple->values,
                             .deleted = file->deleted,
                             .num_records = -1,
                             .base_row_id = file->base_row_id,
                             .row_commit_version = file->row_commit_version};
    *ordinal = file->ordinal;
    for (size_t i = 0; i < scan->facts.n_conjuncts; i++) {
        p->answered[i] = p->answered[i] && tuple->truths[i] == SL_TRUE;
    }
    return SILT_OK;
}

/* ---- the window ---- */

static silt_status flush_window(struct planner *p, silt_error *err)
{
    SL_TRY(sl_data_skip(p->engine, p->call, &p->scan->facts, p->skips.data, p->skips.len, err));
    for (size_t i = 0; i < p->pending.len; i++) {
        const struct sl_skip_file *skip = sl_vec_at(&p->skips, i);
        if (skip->keep) {
            SL_TRY(keep_file(p, sl_vec_at(&p->pending, i), skip->tuple, err));
        }
    }
    sl_arena_release(&p->window);
    sl_arena_init(&p->window, p->scan->env);
    p->pending.len = 0;
    p->skips.len = 0;
    p->window_bytes = 0;
    return SILT_OK;
}

/* Everything of an add but its path's text, which the visit owns. */
static silt_status describe(struct planner *p, const struct sl_add *add, struct pending *out, silt_error *err)
{
    *out = (struct pending){
        .path = add->path,
        .size = add->size,
        .modified_ms = add->modification_time,
        .base_row_id = add->base_row_id != SL_NO_I64 ? add->base_row_id : -1,
        .row_commit_version = add->default_row_commit_version != SL_NO_I64 ? add->default_row_commit_version : -1,
        .ordinal = p->seen - 1,
    };
    if (add->deletion_vector == NULL) {
        return SILT_OK;
    }
    silt_deletion_vector *deleted = sl_arena_alloc_zero(&p->scan->arena, sizeof(*deleted));
    if (deleted == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_str root = sl_snapshot_root(p->scan->snapshot);
    const silt_status status = sl_dv_resolve(&p->scan->arena, root, add->deletion_vector, deleted, err);
    if (status != SILT_OK) {
        sl_error_context(err, "deletion vector of file %.*s", SL_FMT(add->path));
        sl_error_path(err, root.ptr);
        return status;
    }
    out->deleted = deleted;
    return SILT_OK;
}

static silt_status push_window(struct planner *p, const struct sl_add *add, const struct sl_partition_tuple *tuple,
                               silt_error *err)
{
    struct pending described;
    SL_TRY(describe(p, add, &described, err));
    struct pending *file = sl_vec_push(&p->pending);
    struct sl_skip_file *skip = file != NULL ? sl_vec_push(&p->skips) : NULL;
    if (skip == NULL) {
        return sl_fail_nomem(err);
    }
    *file = described;
    file->path = sl_arena_copy(&p->window, add->path);
    skip->tuple = tuple;
    if (add->stats.ptr != NULL) {
        skip->stats = sl_arena_copy(&p->window, add->stats);
    }
    if (file->path.ptr == NULL || (add->stats.ptr != NULL && skip->stats.ptr == NULL)) {
        return sl_fail_nomem(err);
    }
    p->window_bytes += add->path.len + add->stats.len;
    if (p->pending.len >= WINDOW_FILES || p->window_bytes >= WINDOW_BYTES) {
        return flush_window(p, err);
    }
    return SILT_OK;
}

/* ---- visiting ---- */

static bool needs_stats(const struct planner *p, const struct sl_partition_tuple *tuple)
{
    const struct sl_scan_filter *facts = &p->scan->facts;
    for (size_t i = 0; p->wants_stats && i < facts->n_conjuncts; i++) {
        if (facts->conjuncts[i].uses_data && tuple->truths[i] != SL_TRUE) {
            return true;
        }
    }
    return false;
}

static silt_status visit_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct planner *p = ctx;
    (void)stop; /* every file is looked at */
    if (p->seen % CHECK_EVERY == 0) {
        SL_TRY(sl_call_check(p->scan->env, p->call, err));
    }
    p->seen++;
    const struct sl_partition_tuple *tuple = NULL;
    SL_TRY(sl_partition_pruner_find(&p->pruner, &add->partition_values, add->path, &tuple, err));
    if (tuple->dropped) {
        return SILT_OK;
    }
    if (needs_stats(p, tuple)) {
        return push_window(p, add, tuple, err);
    }
    if (p->pending.len > 0) {
        SL_TRY(flush_window(p, err)); /* files stay in the snapshot's order */
    }
    struct pending file;
    SL_TRY(describe(p, add, &file, err));
    return keep_file(p, &file, tuple, err);
}

static bool uses_data(const struct sl_scan_filter *facts)
{
    for (size_t i = 0; i < facts->n_conjuncts; i++) {
        if (facts->conjuncts[i].uses_data) {
            return true;
        }
    }
    return false;
}

silt_status sl_scan_plan_files(silt_scan *scan, const silt_call *call, const struct sl_scan_wish *wish, bool *answered,
                               silt_error *err)
{
    struct planner *p = sl_arena_alloc_zero(&scan->arena, sizeof(*p));
    if (p == NULL) {
        return sl_fail_nomem(err);
    }
    p->scan = scan;
    p->call = call;
    p->engine = sl_snapshot_engine(scan->snapshot);
    sl_plan_paths_init(&p->paths, scan->snapshot, &scan->arena);
    p->answered = answered;
    p->wants_stats = uses_data(&scan->facts);
    sl_partition_pruner_init(&p->pruner, &scan->arena, &scan->facts);
    p->pruner.local_time = wish->local_time;
    p->pruner.local_time_ctx = wish->local_time_ctx;
    sl_arena_init(&p->window, scan->env);
    sl_vec_init(&p->pending, scan->env, sizeof(struct pending));
    sl_vec_init(&p->skips, scan->env, sizeof(struct sl_skip_file));
    for (size_t i = 0; i < scan->facts.n_conjuncts; i++) {
        answered[i] = true;
    }
    silt_status status = sl_snapshot_each_file(scan->snapshot, call, p->wants_stats ? SL_FILES_STATS : 0U, visit_file,
                                               p, err);
    if (status == SILT_OK) {
        status = flush_window(p, err);
    }
    for (size_t i = 0; i < scan->facts.n_conjuncts; i++) {
        /* With no file left everything is answered; what names more than partition columns stays, so that the filter is told honestly. */
        answered[i] = answered[i] && (scan->files.len > 0 ||
                                      !(scan->facts.conjuncts[i].uses_data || scan->facts.conjuncts[i].uses_metadata));
    }
    sl_partition_pruner_release(&p->pruner);
    sl_arena_release(&p->window);
    sl_vec_release(&p->pending);
    sl_vec_release(&p->skips);
    return status;
}
