/*
 * Planning: visits the live files of the snapshot, drops those that partition values or statistics rule out, and keeps the rest
 * with absolute path and typed partition values. Statistics are asked for only when the filter names data columns that have some, and
 * are held for a window of files at a time, so that memory does not grow with the size of the log. The files of a large checkpoint that
 * is not in memory are not all visited: what decides about them is read first (plan_checkpoint.c).
 *
 * Called by the scan builder, on the caller's thread; reading statistics runs on the engine's executor (data_skip.c).
 */
#include "kernel/scan/scan_int.h"

#include "base/env.h"
#include "base/error.h"
#include "kernel/dv/dv.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_read.h"
#include "kernel/scan/data_skip.h"
#include "kernel/scan/metadata_prune.h"
#include "kernel/scan/plan_again.h"
#include "kernel/scan/plan_checkpoint.h"
#include "kernel/scan/plan_path.h"
#include "kernel/snapshot/checkpoint_word.h"

/* A window is judged when it has this many files or this much text. */
#define WINDOW_FILES 16384
#define WINDOW_BYTES ((size_t)32 << 20)

/* Checkpoints of fewer bytes are loaded: planning again then finds their files in memory. */
#define SMALL_CHECKPOINT (INT64_C(1) << 20)

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
    int64_t mark;
};

struct planner {
    silt_scan *scan;
    const silt_call *call;
    silt_engine *engine;
    bool *answered;
    bool wants_stats;
    bool by_metadata; /* the filter names it */
    bool met_files;   /* of a checkpoint, when it was gone through selectively */
    int64_t seen;
    struct sl_partition_pruner pruner;
    struct sl_arena scratch;
    struct sl_arena window;
    struct sl_vec pending; /* struct pending */
    struct sl_vec skips;   /* struct sl_skip_file, one for each pending */
    size_t window_bytes;
    struct sl_plan_paths paths;
};

int64_t sl_scan_file_name(const struct sl_add *add)
{
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    uint64_t hash = sl_key_hash_xxh3(add->path.ptr, add->path.len, 0);
    if (dv != NULL) {
        hash = sl_key_hash_xxh3(dv->storage_type.ptr, dv->storage_type.len, hash);
        hash = sl_key_hash_xxh3(dv->path_or_inline_dv.ptr, dv->path_or_inline_dv.len, hash);
        hash = sl_key_hash_xxh3(&dv->offset, sizeof(dv->offset), hash);
    }
    return (int64_t)hash;
}

/* ---- keeping a file ---- */

static silt_status keep_file(struct planner *p, const struct pending *file, const struct sl_partition_tuple *tuple,
                             silt_error *err)
{
    silt_scan *scan = p->scan;
    silt_plan_file found = {0};
    SL_TRY(sl_plan_paths_find(&p->paths, file->path, &found, err));
    found = (silt_plan_file){.path = found.path,
                             .local_path = found.local_path,
                             .size_bytes = file->size,
                             .modified_ms = file->modified_ms,
                             .partition_values = tuple->values,
                             .deleted = file->deleted,
                             .num_records = -1,
                             .base_row_id = file->base_row_id,
                             .row_commit_version = file->row_commit_version};
    if (p->by_metadata) {
        const bool keep = sl_metadata_may_match(&scan->facts, tuple, &found, &p->scratch);
        sl_arena_reset(&p->scratch);
        if (!keep) {
            return SILT_OK;
        }
    }
    silt_plan_file *kept = sl_vec_push(&scan->files);
    int64_t *mark = kept != NULL ? sl_vec_push(&scan->marks) : NULL;
    if (mark == NULL) {
        return sl_fail_nomem(err);
    }
    *kept = found;
    *mark = file->mark;
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
        .mark = p->scan->marks_names ? sl_scan_file_name(add) : p->seen - 1,
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

static silt_status visit_all(struct planner *p, silt_error *err)
{
    SL_TRY(sl_snapshot_each_file(p->scan->snapshot, p->call, p->wants_stats ? SL_FILES_STATS : 0U, visit_file, p, err));
    return flush_window(p, err);
}

/* ---- around a large checkpoint ---- */

static silt_status visit_tail(struct planner *p, const struct sl_log_view *view, silt_error *err)
{
    struct sl_file_cursor cursor;
    bool done = false;
    silt_status status = SILT_OK;
    sl_file_cursor_init(&cursor, view->tail, p->wants_stats);
    while (status == SILT_OK && !done) {
        struct sl_add add;
        bool stop = false;
        status = sl_file_cursor_next(&cursor, &add, &done, err);
        if (status == SILT_OK && !done) {
            status = visit_file(p, &add, &stop, err);
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

static silt_status visit_json_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    bool stop = false;
    return visit_file(ctx, add, &stop, err);
}

static silt_status take_json_action(void *ctx, const struct sl_action *action, silt_error *err)
{
    return sl_replay_checkpoint_action(ctx, action, err);
}

/* The adds of a top file in JSON that the commits did not decide about. */
static silt_status visit_json(struct planner *p, const struct sl_log_view *view, silt_error *err)
{
    const struct sl_log_source source = sl_view_source(p->scan->snapshot, view);
    const struct sl_replay_sink sink = {.on_add = visit_json_add, .ctx = p};
    struct sl_replay replay;
    struct sl_key_maker scratch;
    sl_key_maker_init(&scratch, p->scan->env, source.root, NULL);
    sl_replay_init(&replay, p->scan->env, source.root, NULL, NULL, &sink);
    replay.newer = (struct sl_key_probe){.keys = &view->decided, .files = view->tail, .maker = &scratch};
    const silt_status status = sl_checkpoint_each_json(&source, &view->checkpoint, p->call, take_json_action, &replay,
                                                       err);
    sl_replay_release(&replay);
    sl_key_maker_release(&scratch);
    return status;
}

static silt_status keep_checkpoint_add(void *ctx, const struct sl_add *add, const struct sl_partition_tuple *tuple,
                                       silt_error *err)
{
    struct planner *p = ctx;
    p->met_files = true;
    struct pending file;
    SL_TRY(describe(p, add, &file, err));
    return keep_file(p, &file, tuple, err);
}

static void begin_anew(struct planner *p, bool marks_names)
{
    p->scan->files.len = 0;
    p->scan->marks.len = 0;
    p->scan->marks_names = marks_names;
    p->pending.len = 0;
    p->skips.len = 0;
    p->seen = 0;
    p->met_files = false;
    for (size_t i = 0; i < p->scan->facts.n_conjuncts; i++) {
        p->answered[i] = true;
    }
}

static silt_status select_files(struct planner *p, const struct sl_log_view *view, bool with_vectors,
                                bool *lacks_vectors, silt_error *err)
{
    const struct sl_plan_checkpoint plan = {.snapshot = p->scan->snapshot,
                                            .view = view,
                                            .call = p->call,
                                            .pruner = &p->pruner,
                                            .wants_stats = p->wants_stats,
                                            .with_vectors = with_vectors,
                                            .keep = keep_checkpoint_add,
                                            .ctx = p};
    begin_anew(p, true);
    SL_TRY(visit_tail(p, view, err));
    SL_TRY(visit_json(p, view, err));
    SL_TRY(flush_window(p, err));
    return sl_plan_checkpoint(&plan, lacks_vectors, err);
}

/* Is it worth it, and can it be done? The files that commits added must be at hand with what decides about them. */
static bool is_selective(const struct planner *p, const struct sl_log_view *view, enum sl_plan_way way)
{
    int64_t size = 0;
    if (view->checkpoint.version < 0 || view->checkpoint.n_parquet == 0 || view->tail == NULL ||
        (p->wants_stats && view->tail->n_files > 0 && !view->tail->has_details)) {
        return false;
    }
    for (size_t i = 0; i < view->checkpoint.n_parquet && size < SMALL_CHECKPOINT; i++) {
        size += view->checkpoint.parquet[i].size_bytes;
    }
    return way == SL_PLAN_SELECTS || size >= SMALL_CHECKPOINT;
}

/*
 * After select_files. *doubtful: no file was met where a word says that there are some, and footers show none; who loads the files
 * judges that.
 */
static silt_status check_selected(struct planner *p, const struct sl_log_view *view, bool *doubtful, silt_error *err)
{
    int64_t n_again = 0;
    bool shown = true;
    SL_TRY(sl_plan_drop_again(p->scan, &n_again, err));
    sl_checkpoint_word_again(p->scan->snapshot, view->checkpoint.version, n_again);
    if (!p->met_files && sl_checkpoint_word_of_files(view)) {
        SL_TRY(sl_plan_shows_files(p->scan, view, p->call, &shown, err));
    }
    *doubtful = !shown;
    return SILT_OK;
}

/* *done false: this is no way, or the checkpoint's files cannot be read like this, and perhaps not at all. */
static silt_status plan_selectively(struct planner *p, enum sl_plan_way way, bool *done, silt_error *err)
{
    silt_snapshot *snapshot = p->scan->snapshot;
    const struct sl_log_view *view = NULL;
    bool decides = p->wants_stats;
    for (size_t i = 0; i < p->scan->facts.n_conjuncts; i++) {
        decides = decides || p->scan->facts.conjuncts[i].uses_partition;
    }
    *done = false;
    if (!decides || way == SL_PLAN_VISITS ||
        (way != SL_PLAN_SELECTS && sl_snapshot_has_list(snapshot, p->wants_stats))) {
        return SILT_OK;
    }
    SL_TRY(sl_snapshot_view(snapshot, p->call, true, &view, err));
    if (!is_selective(p, view, way)) {
        return SILT_OK;
    }
    SL_TRY(sl_view_bring_adds(snapshot, view, p->call, err));
    silt_error found = SILT_ERROR_INIT;
    bool vectors = sl_protocol_has_feature(sl_snapshot_protocol(snapshot), "deletionVectors");
    bool lacks_vectors = false;
    silt_status status = select_files(p, view, vectors, &lacks_vectors, &found);
    if (status == SILT_OK && lacks_vectors) {
        status = select_files(p, view, true, &lacks_vectors, &found);
    }
    bool doubtful = false;
    if (status == SILT_OK) {
        status = check_selected(p, view, &doubtful, &found);
    }
    *done = !sl_checkpoint_is_bad(status) && !doubtful;
    if (!*done) {
        begin_anew(p, false);
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* ---- the whole ---- */

/* Do statistics say anything about columns of the filter? */
static bool wants_stats(const struct sl_scan_filter *facts)
{
    bool uses_data = false;
    for (size_t i = 0; i < facts->n_conjuncts; i++) {
        uses_data = uses_data || facts->conjuncts[i].uses_data;
    }
    return uses_data && facts->n_columns > 0;
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
    p->wants_stats = wants_stats(&scan->facts);
    p->by_metadata = sl_metadata_prunes(&scan->facts);
    sl_arena_init(&p->scratch, scan->env);
    sl_partition_pruner_init(&p->pruner, &scan->arena, &scan->facts);
    p->pruner.local_time = wish->local_time;
    p->pruner.local_time_ctx = wish->local_time_ctx;
    sl_arena_init(&p->window, scan->env);
    sl_vec_init(&p->pending, scan->env, sizeof(struct pending));
    sl_vec_init(&p->skips, scan->env, sizeof(struct sl_skip_file));
    begin_anew(p, false);
    bool done = false;
    silt_status status = plan_selectively(p, wish->plan_way, &done, err);
    if (status == SILT_OK && !done) {
        status = visit_all(p, err);
    }
    for (size_t i = 0; i < scan->facts.n_conjuncts; i++) {
        /* With no file left everything is answered; what names more than partition columns stays, so that the filter is told honestly. */
        answered[i] = answered[i] && (scan->files.len > 0 ||
                                      !(scan->facts.conjuncts[i].uses_data || scan->facts.conjuncts[i].uses_metadata));
    }
    sl_partition_pruner_release(&p->pruner);
    sl_arena_release(&p->scratch);
    sl_arena_release(&p->window);
    sl_vec_release(&p->pending);
    sl_vec_release(&p->skips);
    return status;
}
