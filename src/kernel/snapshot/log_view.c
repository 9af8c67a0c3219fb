/*
 * Building views of a log and publishing them; see log_view.h. A view is replayed on its own and shared when it is whole: two
 * threads that build at once both succeed, and one throws its work away.
 */
#include "kernel/snapshot/log_view.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/snapshot/segment_search.h"
#include "kernel/snapshot/snapshot_int.h"

struct sl_log_view *sl_view_new(const silt_env *env)
{
    struct sl_log_view *view = sl_alloc_zero(env, sizeof(*view));
    if (view == NULL) {
        return NULL;
    }
    view->env = env;
    view->segment = (struct sl_log_segment){.version = -1, .checkpoint_version = -1};
    view->checkpoint.version = -1;
    view->in_commit_timestamp = SL_NO_I64;
    sl_arena_init(&view->arena, env);
    sl_replay_state_init(&view->state, env);
    sl_key_set_init(&view->decided, env);
    return view;
}

void sl_view_free(struct sl_log_view *view)
{
    while (view != NULL) {
        struct sl_log_view *replaced = view->replaced;
        sl_file_set_unref(view->tail);
        sl_early_unref(view->early);
        sl_key_set_release(&view->decided);
        sl_replay_state_release(&view->state);
        sl_arena_release(&view->arena);
        sl_release(view->env, view, sizeof(*view));
        view = replaced;
    }
}

const struct sl_replay_state *sl_view_state(const silt_snapshot *snapshot, const struct sl_log_view *view)
{
    return view->gave_state ? &snapshot->state : &view->state;
}

/* ---- replaying a segment ---- */

struct opening {
    struct sl_log_view *view;
    struct sl_replay replay;
    struct sl_file_set_builder tail;
    bool from_zero;                  /* no checkpoint could be used: version 0 must be the table's first */
    bool has_protocol, has_metadata; /* in version 0 */
    bool no_history;                 /* it is not */
    bool has_removes;                /* of the commits */
};

/* A log that was cleaned up, or a table that was made anew in its place, must not pass for the whole history. */
static silt_status check_first(struct opening *opening, const struct sl_commit *commit, silt_error *err)
{
    for (size_t i = 0; i < commit->n_actions; i++) {
        opening->has_protocol = opening->has_protocol || commit->actions[i].kind == SL_ACTION_PROTOCOL;
        opening->has_metadata = opening->has_metadata || commit->actions[i].kind == SL_ACTION_METADATA;
    }
    if (commit->has_more || (opening->has_protocol && opening->has_metadata)) {
        return SILT_OK;
    }
    opening->no_history = true;
    return sl_fail(err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR",
                   "the commits are no way to the table: version 0 holds no %s action",
                   opening->has_protocol ? "metaData" : "protocol");
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct opening *opening = ctx;
    struct sl_log_view *view = opening->view;
    if (commit->version == view->segment.version && commit->commit_info != NULL) {
        view->in_commit_timestamp = commit->commit_info->in_commit_timestamp;
        SL_TRY(sl_commit_keep_txn_id(&view->arena, commit, &view->txn_id, err));
    }
    if (opening->from_zero && commit->version == 0) {
        SL_TRY(check_first(opening, commit, err));
    }
    return sl_replay_commit(&opening->replay, commit, err);
}

static silt_status note_remove(void *ctx, const struct sl_remove *remove, silt_error *err)
{
    (void)remove;
    (void)err;
    ((struct opening *)ctx)->has_removes = true;
    return SILT_OK;
}

static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct opening *opening = ctx;
    return sl_replay_checkpoint_action(&opening->replay, action, err);
}

static bool is_unreadable(silt_status status)
{
    return status == SILT_ECORRUPT || status == SILT_ENOTFOUND || status == SILT_ELIMIT;
}

/* From version 0 on there is a table; what is left of one in a compacted file that lost lines tells nothing. */
static silt_status check_compacted(const struct sl_log_segment *segment, const struct sl_replay_state *state,
                                   silt_error *err)
{
    if (!segment->has_compacted || segment->n_checkpoint > 0 || (state->has_protocol && state->has_metadata)) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "they hold no %s action",
                   state->has_protocol ? "metaData" : "protocol");
}

static silt_status replay_segment(struct opening *opening, const struct sl_log_source *source,
                                  const struct sl_segment_search *search, enum sl_segment_fault *fault, silt_error *err)
{
    const silt_call *call = search->call;
    struct sl_log_view *view = opening->view;
    const struct sl_log_segment *segment = &view->segment;
    if (segment->n_checkpoint == 0 && segment->n_commits > 0) {
        opening->replay.last_version = segment->commits[0].version;
    }
    const struct sl_commits_request commits = {.source = source,
                                               .files = segment->commits,
                                               .n = segment->n_commits,
                                               .missing = SL_MISSING_FAILS,
                                               .in_parts = true};
    silt_status status = sl_commits_each(&commits, call, take_commit, opening, err);
    if (opening->no_history) {
        *fault = SL_FAULT_NO_HISTORY;
        return status;
    }
    if (status == SILT_OK) {
        status = check_compacted(segment, &view->state, err);
    }
    if (status != SILT_OK) {
        *fault = segment->has_compacted && is_unreadable(status) ? SL_FAULT_COMPACTED : SL_FAULT_OTHER;
        return status;
    }
    const struct sl_checkpoint_opening checkpoint = {.source = source,
                                                     .segment = segment,
                                                     .arena = &view->arena,
                                                     .early = view->early,
                                                     .with_adds = search->with_files,
                                                     .visit = take_row,
                                                     .ctx = opening};
    view->adds_brought = search->with_files;
    status = sl_checkpoint_open(&checkpoint, call, &view->checkpoint, err);
    if (sl_checkpoint_is_bad(status)) {
        *fault = SL_FAULT_CHECKPOINT;
    }
    return status;
}

silt_status sl_view_open(const struct sl_segment_search *search, struct sl_log_view *view, enum sl_segment_fault *fault,
                         silt_error *err)
{
    *fault = SL_FAULT_OTHER;
    silt_table *table = search->table;
    struct sl_log_source source = {
        .engine = silt_table_engine(table), .storage = sl_table_storage(table), .root = sl_table_root(table)};
    const bool from_zero = sl_segment_search_fell_back(search) && view->segment.n_checkpoint == 0;
    struct opening opening = {.view = view, .from_zero = from_zero};
    const struct sl_replay_sink sink = {.on_remove = note_remove, .ctx = &opening, .adds = &opening.tail};
    const struct sl_file_set_options options = {.env = view->env, .root = source.root, .want_details = true};
    SL_TRY(sl_view_ask_early(view, &source, search->call, err));
    if (view->early != NULL) {
        source.storage = sl_early_storage(view->early);
    }
    SL_TRY(sl_file_set_begin(&opening.tail, &options, err));
    sl_replay_init(&opening.replay, view->env, source.root, &view->state, &view->arena, &sink);
    silt_status status = replay_segment(&opening, &source, search, fault, err);
    if (status == SILT_OK) {
        status = sl_file_set_finish(&opening.tail, &view->tail, err);
        view->lacks_removes = !opening.has_removes;
    }
    if (status == SILT_OK && view->segment.n_checkpoint > 0) {
        sl_key_set_move(&view->decided, &opening.replay.decided);
    }
    sl_file_set_abandon(&opening.tail);
    sl_replay_release(&opening.replay);
    return status;
}

/* ---- views of a snapshot that is there already ---- */

/* Opens the first segment of the search that holds. first: the one to begin with, NULL: the search's own choice. */
static silt_status open_first_good(struct sl_segment_search *search, const struct sl_log_segment *first,
                                   struct sl_log_view **out, silt_error *err)
{
    for (;;) {
        silt_error found = SILT_ERROR_INIT;
        enum sl_segment_fault fault = SL_FAULT_OTHER;
        struct sl_log_view *view = sl_view_new(search->env);
        if (view == NULL) {
            return sl_fail_nomem(err);
        }
        silt_status status = SILT_OK;
        if (first != NULL) {
            view->segment = *first;
            first = NULL;
        } else {
            status = sl_segment_search_next(search, &view->arena, &view->segment, &found);
        }
        const bool chosen = status == SILT_OK;
        if (chosen) {
            status = sl_view_open(search, view, &fault, &found);
        }
        if (status == SILT_OK) {
            *out = view;
            return SILT_OK;
        }
        bool again = false;
        const silt_status arranged = chosen ? sl_segment_search_failed(search, &view->segment, fault, &found, &again,
                                                                       &found)
                                            : SILT_OK;
        sl_view_free(view);
        if (arranged != SILT_OK || !again) {
            if (err != NULL) {
                *err = found;
            }
            return arranged != SILT_OK ? arranged : status;
        }
    }
}

/* Takes the view. Returns the one that stands afterwards. */
static struct sl_log_view *publish(silt_snapshot *snapshot, struct sl_log_view *expected, struct sl_log_view *view)
{
    view->replaced = expected;
    struct sl_log_view *current = expected;
    if (atomic_compare_exchange_strong(&snapshot->view, &current, view)) {
        return view;
    }
    view->replaced = NULL;
    sl_view_free(view);
    return current;
}

silt_status sl_snapshot_view(silt_snapshot *snapshot, const silt_call *call, bool with_files,
                             const struct sl_log_view **out, silt_error *err)
{
    *out = atomic_load(&snapshot->view);
    if (*out != NULL) {
        return SILT_OK;
    }
    struct sl_segment_search search;
    sl_segment_search_init(&search, snapshot->table, call, snapshot->segment.version);
    search.with_files = with_files;
    struct sl_log_view *view = NULL;
    silt_status status = open_first_good(&search, snapshot->segment_is_tail ? NULL : &snapshot->segment, &view, err);
    if (status == SILT_OK) {
        status = sl_snapshot_check_crc(snapshot, view, err);
        if (status == SILT_OK) {
            *out = publish(snapshot, NULL, view);
        } else {
            sl_view_free(view);
        }
    }
    sl_segment_search_release(&search);
    return status;
}

silt_status sl_snapshot_other_view(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_view *bad,
                                   const silt_error *reason, const struct sl_log_view **out, silt_error *err)
{
    *out = NULL;
    if (bad->segment.n_checkpoint == 0) {
        if (err != NULL) {
            *err = *reason; /* there is nothing to go around */
        }
        return reason->status;
    }
    struct sl_log_view *current = atomic_load(&snapshot->view);
    if (current != bad) {
        *out = current; /* another thread has found one */
        return SILT_OK;
    }
    struct sl_segment_search search;
    sl_segment_search_init(&search, snapshot->table, call, snapshot->segment.version);
    silt_status status = sl_segment_search_exclude(&search, &bad->segment, reason, err);
    for (const struct sl_log_view *v = bad->replaced; v != NULL && status == SILT_OK; v = v->replaced) {
        status = sl_segment_search_exclude(&search, &v->segment, NULL, err);
    }
    struct sl_log_view *view = NULL;
    if (status == SILT_OK) {
        status = open_first_good(&search, NULL, &view, err);
    }
    if (status == SILT_OK) {
        *out = publish(snapshot, current, view);
    }
    sl_segment_search_release(&search);
    return status;
}

static bool is_same_way(const struct sl_log_segment *a, const struct sl_log_segment *b)
{
    return a->checkpoint_version == b->checkpoint_version && a->n_commits == b->n_commits &&
           (a->n_commits == 0 || sl_str_eq(a->commits[0].name, b->commits[0].name));
}

silt_status sl_snapshot_view_anew(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_view *gone,
                                  const struct sl_log_view **out, silt_error *err)
{
    *out = NULL;
    struct sl_log_view *current = atomic_load(&snapshot->view);
    if (current != gone) {
        *out = current; /* another thread has found one */
        return SILT_OK;
    }
    struct sl_segment_search search;
    struct sl_log_view *view = NULL;
    sl_segment_search_init(&search, snapshot->table, call, snapshot->segment.version);
    silt_status status = SILT_OK;
    for (const struct sl_log_view *v = gone->replaced; v != NULL && status == SILT_OK; v = v->replaced) {
        status = sl_segment_search_exclude(&search, &v->segment, NULL, err);
    }
    if (status == SILT_OK) {
        status = open_first_good(&search, NULL, &view, err);
    }
    if (status == SILT_OK && is_same_way(&view->segment, &gone->segment)) {
        sl_view_free(view);
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no other way to the version");
    } else if (status == SILT_OK) {
        *out = publish(snapshot, current, view);
    }
    sl_segment_search_release(&search);
    return status;
}
