/*
 * The file list of a snapshot: built at first use from the tail of the log and what lies under it, published for all threads,
 * walked by visitors (state.h). Statistics are kept while they fit a limit, else read from the log at each visit, in the
 * same order. Any thread: a loader works on its own and publishes by compare-and-exchange.
 */
#include "kernel/snapshot/snapshot_int.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/replay/checkpoint_read.h"
#include "kernel/replay/file_key.h"

/* ---- replaying the whole segment into a sink ---- */

struct log_replay {
    struct sl_replay replay;
    struct sl_replay_sink sink; /* the caller's */
    silt_status sink_status;    /* what the sink failed with: not the log's fault, */
    silt_error sink_err;        /* and told without the log's name before it */
};

static silt_status pass_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    (void)err; /* told by replay_log */
    struct log_replay *log = ctx;
    log->sink_status = log->sink.on_add(log->sink.ctx, add, &log->sink_err);
    return log->sink_status;
}

static silt_status pass_remove(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    (void)err; /* told by replay_log */
    struct log_replay *log = ctx;
    log->sink_status = log->sink.on_remove(log->sink.ctx, remove, &log->sink_err);
    return log->sink_status;
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct log_replay *log = ctx;
    return sl_replay_commit(&log->replay, commit, err);
}

static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct log_replay *log = ctx;
    return sl_replay_checkpoint_action(&log->replay, action, err);
}

struct replay_request {
    const struct sl_log_view *view;
    const struct sl_map *seen; /* the commits were replayed before, to this; NULL: they are read */
    unsigned columns;          /* of the checkpoint */
    bool with_details;
    struct sl_replay_sink sink;
};

/* *bad_checkpoint: it failed for the checkpoint's sake. */
static silt_status replay_log(silt_snapshot *snapshot, const silt_call *call, const struct replay_request *request,
                              bool *bad_checkpoint, silt_error *err)
{
    const struct sl_log_segment *segment = &request->view->segment;
    const struct sl_checkpoint *files = &request->view->checkpoint;
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    struct log_replay log = {.sink = request->sink, .sink_err = SILT_ERROR_INIT};
    const struct sl_replay_sink sink = {.on_add = request->sink.on_add != NULL ? pass_add : NULL,
                                        .on_remove = request->sink.on_remove != NULL ? pass_remove : NULL,
                                        .ctx = &log};
    *bad_checkpoint = false;
    sl_replay_init(&log.replay, snapshot->env, source.root, NULL, NULL, &sink);
    silt_status status = SILT_OK;
    if (request->seen != NULL) {
        log.replay.seen = *request->seen; /* on loan: a checkpoint only looks things up */
    } else {
        const struct sl_commits_request commits = {
            .source = &source, .files = segment->commits, .n = segment->n_commits, .missing = SL_MISSING_FAILS};
        status = sl_commits_each(&commits, call, take_commit, &log, err);
    }
    if (status == SILT_OK && files->version >= 0) {
        const struct sl_checkpoint_request checkpoint = {
            .source = &source, .checkpoint = files, .columns = request->columns, .with_details = request->with_details};
        status = sl_checkpoint_each(&checkpoint, call, take_row, &log, err);
        *bad_checkpoint = log.sink_status == SILT_OK && sl_checkpoint_is_bad(status);
    }
    if (log.sink_status != SILT_OK && err != NULL) {
        *err = log.sink_err;
    }
    if (request->seen != NULL) {
        sl_map_init(&log.replay.seen, snapshot->env);
    }
    sl_replay_release(&log.replay);
    return status;
}

/* ---- building ---- */

static silt_status put_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    return sl_file_set_add(ctx, add, err);
}

static silt_status copy_set(struct sl_file_set_builder *builder, const struct sl_file_set *from, bool with_details,
                            const silt_snapshot *snapshot, const struct sl_map *seen, silt_error *err)
{
    struct sl_file_cursor cursor;
    struct sl_arena scratch;
    sl_file_cursor_init(&cursor, from, with_details);
    sl_arena_init(&scratch, from->env);
    silt_status status = SILT_OK;
    while (status == SILT_OK) {
        struct sl_add add;
        bool done = false;
        bool decided = false;
        status = sl_file_cursor_next(&cursor, &add, &done, err);
        if (status != SILT_OK || done) {
            break;
        }
        if (seen != NULL) {
            const struct sl_str key = sl_file_key(&scratch, sl_snapshot_root(snapshot), add.path, add.deletion_vector);
            status = key.ptr == NULL ? sl_fail_nomem(err) : SILT_OK;
            decided = status == SILT_OK && sl_map_find(seen, key) != NULL;
        }
        if (status == SILT_OK && !decided) {
            status = sl_file_set_add(builder, &add, err);
        }
        if (scratch.total_bytes > 0) {
            sl_arena_release(&scratch);
        }
    }
    sl_file_cursor_release(&cursor);
    sl_arena_release(&scratch);
    return status;
}

/* Which parts that are in memory serve to build what is wanted. */
struct build_plan {
    const struct sl_log_view *view;
    bool details;
    bool use_tail; /* else the commits are read again */
    bool use_base; /* else what is under the tail is read from the log */
};

static struct build_plan plan_build(const silt_snapshot *snapshot, const struct sl_log_view *view, bool details)
{
    const struct sl_file_set *base = snapshot->base;
    const bool tail_serves = !details || view->tail->has_details;
    const bool base_serves = base != NULL && (!details || base->has_details);
    return (struct build_plan){.view = view,
                               .details = details,
                               .use_tail = tail_serves && (base == NULL || base_serves),
                               .use_base = tail_serves && base_serves};
}

static silt_status build_by_plan(silt_snapshot *snapshot, const silt_call *call, const struct build_plan *plan,
                                 struct sl_file_set_builder *builder, bool *bad_checkpoint, silt_error *err)
{
    if (plan->use_tail) {
        SL_TRY(copy_set(builder, plan->view->tail, plan->details, snapshot, NULL, err));
    }
    if (plan->use_base) {
        return copy_set(builder, snapshot->base, plan->details, snapshot, &plan->view->seen, err);
    }
    const struct replay_request request = {.view = plan->view,
                                           .seen = plan->use_tail ? &plan->view->seen : NULL,
                                           .columns = SL_COLUMN_ADD,
                                           .with_details = plan->details,
                                           .sink = {.on_add = put_add, .ctx = builder}};
    return replay_log(snapshot, call, &request, bad_checkpoint, err);
}

static silt_status build_once(silt_snapshot *snapshot, const silt_call *call, const struct build_plan *plan,
                              struct sl_file_set **out, bool *bad_checkpoint, silt_error *err)
{
    *bad_checkpoint = false;
    struct sl_file_set_builder builder = {0};
    SL_TRY(sl_file_set_begin(&builder, snapshot->env, plan->details, SL_FILE_SET_MAX_DETAILS, err));
    const silt_status status = build_by_plan(snapshot, call, plan, &builder, bad_checkpoint, err);
    if (status == SILT_OK) {
        *out = sl_file_set_finish(&builder);
    }
    sl_file_set_abandon(&builder);
    return status;
}

/* Builds; around a checkpoint whose files cannot be read, when the log has another way. */
static silt_status build(silt_snapshot *snapshot, const silt_call *call, bool details, struct sl_file_set **out,
                         silt_error *err)
{
    *out = NULL;
    const struct sl_log_view *view = NULL;
    SL_TRY(sl_snapshot_view(snapshot, call, &view, err));
    struct build_plan plan = plan_build(snapshot, view, details);
    bool bad = false;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = build_once(snapshot, call, &plan, out, &bad, &found);
    while (bad) {
        silt_error ignored = SILT_ERROR_INIT;
        if (sl_snapshot_other_view(snapshot, call, view, &found, &view, &ignored) != SILT_OK) {
            break; /* the first failure is the one to tell */
        }
        plan = plan_build(snapshot, view, details);
        status = build_once(snapshot, call, &plan, out, &bad, &found);
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

/* ---- publishing ---- */

/* Takes the reference. Returns what stands in the slot afterwards, borrowed from the snapshot. */
static struct sl_file_set *publish(_Atomic(struct sl_file_set *) *slot, struct sl_file_set *set)
{
    struct sl_file_set *expected = NULL;
    if (atomic_compare_exchange_strong(slot, &expected, set)) {
        return set;
    }
    sl_file_set_unref(set);
    return expected;
}

/* *out is borrowed; NULL without an error: details do not fit in memory. */
static silt_status get_set(silt_snapshot *snapshot, const silt_call *call, bool details, struct sl_file_set **out,
                           silt_error *err)
{
    *out = atomic_load(&snapshot->detailed);
    if (*out == NULL && !details) {
        *out = atomic_load(&snapshot->files);
    }
    if (*out != NULL || (details && atomic_load(&snapshot->details_too_big))) {
        return SILT_OK;
    }
    struct sl_file_set *set = NULL;
    SL_TRY(build(snapshot, call, details, &set, err));
    sl_snapshot_check_crc_totals(snapshot, set->n_files, set->total_size);
    if (!details) {
        *out = publish(&snapshot->files, set);
    } else if (set->has_details) {
        (void)publish(&snapshot->files, sl_file_set_ref(set));
        *out = publish(&snapshot->detailed, set);
    } else {
        atomic_store(&snapshot->details_too_big, true);
        (void)publish(&snapshot->files, set);
    }
    return SILT_OK;
}

/* ---- visiting ---- */

struct visitor {
    silt_status (*visit)(void *ctx, const struct sl_add *add, bool *stop, silt_error *err);
    silt_status (*visit_remove)(void *ctx, const struct sl_remove *remove, bool *stop, silt_error *err);
    void *ctx;
    bool stop;
};

/* Ends a replay early; no visitor can return it by accident and have it taken for an end, since `stop` is looked at. */
#define STOPPED SILT_ECANCELLED

static silt_status visit_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    struct visitor *visitor = ctx;
    SL_TRY(visitor->visit(visitor->ctx, add, &visitor->stop, err));
    return visitor->stop ? STOPPED : SILT_OK;
}

static silt_status visit_tombstone(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    struct visitor *visitor = ctx;
    SL_TRY(visitor->visit_remove(visitor->ctx, remove, &visitor->stop, err));
    return visitor->stop ? STOPPED : SILT_OK;
}

static silt_status visit_log(silt_snapshot *snapshot, const silt_call *call, struct visitor *visitor, silt_error *err)
{
    const bool adds = visitor->visit != NULL;
    const struct sl_log_view *view = NULL;
    SL_TRY(sl_snapshot_view(snapshot, call, &view, err));
    const struct replay_request request = {
        .view = view,
        /* Adds must be seen to know that a file was re-added; a checkpoint has no
                                              file in both columns. */
        .columns = adds ? SL_COLUMN_ADD : SL_COLUMN_REMOVE,
        .with_details = adds,
        .sink = {.on_add = adds ? visit_add : NULL, .on_remove = adds ? NULL : visit_tombstone, .ctx = visitor}};
    bool bad = false;
    const silt_status status = replay_log(snapshot, call, &request, &bad, err);
    if (visitor->stop && status == STOPPED) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

static silt_status visit_set(const struct sl_file_set *set, bool details, struct visitor *visitor, silt_error *err)
{
    struct sl_file_cursor cursor;
    sl_file_cursor_init(&cursor, set, details);
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done && !visitor->stop) {
        struct sl_add add;
        status = sl_file_cursor_next(&cursor, &add, &done, err);
        if (status == SILT_OK && !done) {
            status = visitor->visit(visitor->ctx, &add, &visitor->stop, err);
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

silt_status sl_snapshot_each_file(silt_snapshot *snapshot, const silt_call *call, unsigned want,
                                  silt_status (*visit)(void *ctx, const struct sl_add *add, bool *stop,
                                                       silt_error *err),
                                  void *ctx, silt_error *err)
{
    struct visitor visitor = {.visit = visit, .ctx = ctx};
    const bool details = want != 0;
    struct sl_file_set *set = NULL;
    SL_TRY(get_set(snapshot, call, details, &set, err));
    return set != NULL ? visit_set(set, details, &visitor, err) : visit_log(snapshot, call, &visitor, err);
}

silt_status sl_snapshot_each_tombstone(silt_snapshot *snapshot, const silt_call *call,
                                       silt_status (*visit)(void *ctx, const struct sl_remove *remove, bool *stop,
                                                            silt_error *err),
                                       void *ctx, silt_error *err)
{
    struct visitor visitor = {.visit_remove = visit, .ctx = ctx};
    return visit_log(snapshot, call, &visitor, err);
}

silt_status silt_snapshot_totals(silt_snapshot *snapshot, const silt_call *call, int64_t *num_files,
                                 int64_t *size_bytes, silt_error *err)
{
    struct sl_file_set *set = NULL;
    if (num_files != NULL) {
        *num_files = 0;
    }
    if (size_bytes != NULL) {
        *size_bytes = 0;
    }
    if (snapshot->has_crc_totals && atomic_load(&snapshot->files) == NULL) {
        if (num_files != NULL) {
            *num_files = snapshot->crc_files;
        }
        if (size_bytes != NULL) {
            *size_bytes = snapshot->crc_bytes;
        }
        return SILT_OK;
    }
    SL_TRY(get_set(snapshot, call, false, &set, err));
    if (num_files != NULL) {
        *num_files = set->n_files;
    }
    if (size_bytes != NULL) {
        *size_bytes = set->total_size;
    }
    return SILT_OK;
}
