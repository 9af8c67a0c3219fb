/*
 * The file list of a snapshot: built at first use from the tail of the log and what lies under it, published for all threads,
 * walked by visitors (state.h). Statistics are kept while they fit a limit, else read from the log at each visit, in the
 * same order. Any thread: a loader works on its own and publishes by compare-and-exchange.
 */
#include "kernel/snapshot/snapshot_int.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_files.h"
#include "kernel/replay/checkpoint_read.h"
#include "kernel/snapshot/checkpoint_word.h"

/* ---- replaying the whole segment into a sink ---- */

struct log_replay {
    struct sl_replay replay;
    struct sl_replay_sink sink; /* the caller's */
    silt_status sink_status;    /* what the sink failed with: not the log's fault, */
    silt_error sink_err;        /* and told without the log's name before it */
    bool in_checkpoint;
    bool lacks_stats; /* an add of the checkpoint has none */
    bool once;        /* the checkpoint names files twice */
    int64_t n_adds;   /* of the checkpoint */
};

static silt_status pass_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    (void)err; /* told by replay_log */
    struct log_replay *log = ctx;
    log->lacks_stats = log->lacks_stats || (log->in_checkpoint && add->stats.ptr == NULL);
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
    const bool is_add = action->kind == SL_ACTION_ADD;
    log->n_adds += is_add ? 1 : 0;
    return is_add && log->once ? sl_replay_older_add(&log->replay, &action->u.add, err)
                               : sl_replay_checkpoint_action(&log->replay, action, err);
}

struct replay_request {
    const struct sl_log_view *view;
    unsigned columns; /* of the checkpoint */
    bool with_details;
    enum sl_stats_form stats_form;
    struct sl_replay_sink sink;
    bool once;         /* files that the checkpoint names twice are remembered, which takes memory */
    bool *lacks_stats; /* NULL: not wanted */
    int64_t *n_adds;   /* of the checkpoint; NULL: not wanted */
};

/* *bad_checkpoint: it failed for the checkpoint's sake. */
static silt_status replay_log(silt_snapshot *snapshot, const silt_call *call, const struct replay_request *request,
                              bool *bad_checkpoint, silt_error *err)
{
    const struct sl_log_segment *segment = &request->view->segment;
    const struct sl_checkpoint *files = &request->view->checkpoint;
    const struct sl_log_source source = sl_view_source(snapshot, request->view);
    struct log_replay log = {.sink = request->sink, .sink_err = SILT_ERROR_INIT, .once = request->once};
    const struct sl_replay_sink sink = {.on_add = request->sink.on_add != NULL ? pass_add : NULL,
                                        .on_remove = request->sink.on_remove != NULL ? pass_remove : NULL,
                                        .ctx = &log};
    *bad_checkpoint = false;
    sl_replay_init(&log.replay, snapshot->env, source.root, NULL, NULL, &sink);
    if (files->version < 0 && segment->n_commits > 0) {
        log.replay.last_version = segment->commits[0].version;
    }
    const struct sl_commits_request commits = {.source = &source,
                                               .files = segment->commits,
                                               .n = segment->n_commits,
                                               .missing = SL_MISSING_FAILS,
                                               .in_parts = true};
    silt_status status = sl_commits_each(&commits, call, take_commit, &log, err);
    if (status == SILT_OK && files->version >= 0) {
        const bool parsed = request->with_details && request->stats_form != SL_STATS_TEXT;
        const struct sl_checkpoint_request checkpoint = {.source = &source,
                                                         .checkpoint = files,
                                                         .columns = request->columns,
                                                         .with_details = request->with_details,
                                                         .parsed = parsed ? snapshot->physical : NULL,
                                                         .parsed_bounds = request->stats_form == SL_STATS_PARSED};
        log.in_checkpoint = true;
        status = sl_checkpoint_each(&checkpoint, call, take_row, &log, err);
        *bad_checkpoint = log.sink_status == SILT_OK && sl_checkpoint_is_bad(status);
    }
    if (log.sink_status != SILT_OK && err != NULL) {
        *err = log.sink_err;
    }
    if (request->lacks_stats != NULL) {
        *request->lacks_stats = log.lacks_stats;
    }
    if (request->n_adds != NULL) {
        *request->n_adds = log.n_adds;
    }
    sl_replay_release(&log.replay);
    return status;
}

/* ---- building ---- */

struct building {
    silt_snapshot *snapshot;
    const silt_call *call;
    const struct sl_log_view *view;
    struct sl_checkpoint_counts counts; /* of the view's checkpoint */
    bool doubt;                         /* a checkpoint without files is gone around on the hint's word alone */
    bool bad_checkpoint;                /* it failed for the checkpoint's sake */
};

static silt_status put_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    return sl_file_set_add(ctx, add, NULL, err);
}

/* Once all of the checkpoint was read. */
static silt_status check_word(struct building *b, silt_error *err)
{
    const bool has_checkpoint = b->view->checkpoint.version >= 0;
    const silt_status status = has_checkpoint
                                   ? sl_checkpoint_word_check(b->snapshot, b->view, b->call, &b->counts, b->doubt, err)
                                   : SILT_OK;
    b->bad_checkpoint = sl_checkpoint_is_bad(status);
    return status;
}

/* The files of the log alone, with details. *lacks_stats: some file of the checkpoint has none in that form. */
static silt_status build_in_form(struct building *b, enum sl_stats_form form, struct sl_file_list **out,
                                 bool *lacks_stats, silt_error *err)
{
    struct sl_file_set_builder builder = {0};
    const struct sl_file_set_options options = {.env = b->snapshot->env,
                                                .root = sl_snapshot_root(b->snapshot),
                                                .want_details = true,
                                                .find_again = b->view->checkpoint.version >= 0};
    SL_TRY(sl_file_set_begin(&builder, &options, err));
    b->counts = (struct sl_checkpoint_counts){.n_rows = -1};
    const struct replay_request request = {.view = b->view,
                                           .columns = SL_COLUMN_ADD,
                                           .with_details = true,
                                           .stats_form = form,
                                           .sink = {.on_add = put_add, .ctx = &builder},
                                           .lacks_stats = lacks_stats,
                                           .n_adds = &b->counts.n_adds};
    struct sl_file_set *set = NULL;
    silt_status status = replay_log(b->snapshot, b->call, &request, &b->bad_checkpoint, err);
    if (status == SILT_OK) {
        status = check_word(b, err);
    }
    if (status == SILT_OK) {
        status = sl_file_set_finish(&builder, &set, err);
    }
    sl_file_set_abandon(&builder);
    return status == SILT_OK ? sl_file_list_of(set, out, err) : status;
}

/*
 * With details, those of files whose statistics are typed columns only included. That is looked for once, when a file
 * turns out to have none as text; bounds, then all of it, are left out where their types are not the table's.
 */
static silt_status build_detailed(struct building *b, struct sl_file_list **out, silt_error *err)
{
    silt_snapshot *snapshot = b->snapshot;
    const enum sl_stats_form known = (enum sl_stats_form)atomic_load(&snapshot->stats_form);
    const struct sl_log_source source = sl_view_source(snapshot, b->view);
    const struct sl_checkpoint_files files = {.source = &source, .checkpoint = &b->view->checkpoint};
    bool lacks_stats = false;
    bool has_parsed = false;
    SL_TRY(build_in_form(b, known, out, &lacks_stats, err));
    if (!lacks_stats || known != SL_STATS_TEXT ||
        sl_checkpoint_has_parsed(&files, b->call, &has_parsed, NULL) != SILT_OK || !has_parsed) {
        return SILT_OK;
    }
    for (int form = SL_STATS_PARSED; form <= SL_STATS_PARSED_COUNTS; form++) {
        struct sl_file_list *better = NULL;
        const silt_status status = build_in_form(b, (enum sl_stats_form)form, &better, &lacks_stats, err);
        if (status == SILT_OK) {
            sl_file_list_unref(*out);
            *out = better;
            atomic_store(&snapshot->stats_form, form);
            return SILT_OK;
        }
        if (status != SILT_ESCHEMA) {
            sl_file_list_unref(*out);
            *out = NULL;
            return status;
        }
        b->bad_checkpoint = false;
        silt_error_reset(err);
    }
    return SILT_OK;
}

/* The layers of a list: what the commits left, and what the checkpoint has under them. */
static silt_status stack(struct sl_file_set *tail, struct sl_file_set *base, struct sl_file_list **out, silt_error *err)
{
    struct sl_file_list *under = NULL;
    SL_TRY(sl_file_list_of(base, &under, err));
    struct sl_key_set nothing; /* the base was built without what the tail decided about */
    sl_key_set_init(&nothing, under->env);
    const silt_status status = sl_file_list_grow(under, sl_file_set_ref(tail), &nothing, out, err);
    sl_file_list_unref(under);
    return status;
}

struct json_rows {
    struct sl_replay replay;
    int64_t n_adds;
};

/* A file action of a checkpoint's top file in JSON, unless the commits decided about its file. */
static silt_status put_json_add(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct json_rows *json = ctx;
    json->n_adds += action->kind == SL_ACTION_ADD ? 1 : 0;
    return sl_replay_checkpoint_action(&json->replay, action, err);
}

static silt_status put_checkpoint(struct building *b, unsigned members, struct sl_file_set_builder *builder,
                                  bool *lacks_vectors, silt_error *err)
{
    const struct sl_log_view *view = b->view;
    const struct sl_log_source source = sl_view_source(b->snapshot, view);
    const struct sl_checkpoint_files files = {.source = &source, .checkpoint = &view->checkpoint};
    struct sl_key_maker scratch;
    sl_key_maker_init(&scratch, b->snapshot->env, source.root, NULL);
    const struct sl_key_probe decided = {.keys = &view->decided, .files = view->tail, .maker = &scratch};
    struct sl_checkpoint_counts counts = {0};
    const struct sl_checkpoint_put parquet = {
        .files = &files, .members = members, .decided = &decided, .builder = builder, .counts = &counts};
    struct json_rows json = {.n_adds = 0};
    const struct sl_replay_sink sink = {.on_add = put_add, .ctx = builder};
    sl_replay_init(&json.replay, b->snapshot->env, source.root, NULL, NULL, &sink);
    json.replay.newer = decided;
    *lacks_vectors = false;
    silt_status status = sl_checkpoint_each_json(&source, &view->checkpoint, b->call, put_json_add, &json, err);
    if (status == SILT_OK) {
        status = sl_checkpoint_put_files(&parquet, b->call, lacks_vectors, err);
    }
    counts.n_adds += json.n_adds;
    b->counts = counts;
    sl_replay_release(&json.replay);
    sl_key_maker_release(&scratch);
    return status;
}

/* What is under the tail, without details. */
static silt_status build_base(struct building *b, unsigned members, struct sl_file_set **out, bool *lacks_vectors,
                              silt_error *err)
{
    const struct sl_file_set_options options = {
        .env = b->snapshot->env, .root = sl_snapshot_root(b->snapshot), .find_again = true};
    struct sl_file_set_builder builder = {0};
    *out = NULL;
    SL_TRY(sl_file_set_begin(&builder, &options, err));
    silt_status status = put_checkpoint(b, members, &builder, lacks_vectors, err);
    if (status == SILT_OK && !*lacks_vectors) {
        status = sl_file_set_finish(&builder, out, err);
    }
    sl_file_set_abandon(&builder);
    return status;
}

/* Without details: from the tail in memory and the adds of the checkpoint. */
static silt_status build_plain(struct building *b, struct sl_file_list **out, silt_error *err)
{
    const struct sl_protocol *protocol = &b->snapshot->state.protocol;
    struct sl_file_set *base = NULL;
    unsigned members = 0;
    bool lacks_vectors = false;
    members |= sl_protocol_has_feature(protocol, "deletionVectors") ? SL_ADD_VECTORS : 0U;
    members |= sl_protocol_has_feature(protocol, "rowTracking") ? SL_ADD_ROW_IDS : 0U;
    silt_status status = build_base(b, members, &base, &lacks_vectors, err);
    if (status == SILT_OK && lacks_vectors) {
        /* Vectors that the protocol does not announce: a file without its vector would have rows that are gone. */
        status = build_base(b, members | SL_ADD_VECTORS, &base, &lacks_vectors, err);
    }
    b->bad_checkpoint = sl_checkpoint_is_bad(status);
    if (status == SILT_OK) {
        status = check_word(b, err);
    }
    if (status != SILT_OK) {
        sl_file_set_unref(base);
        return status;
    }
    return stack(b->view->tail, base, out, err);
}

static silt_status build_once(struct building *b, bool details, struct sl_file_list **out, silt_error *err)
{
    b->bad_checkpoint = false;
    SL_TRY(sl_view_bring_adds(b->snapshot, b->view, b->call, err));
    return details ? build_detailed(b, out, err) : build_plain(b, out, err);
}

/* Builds; around a checkpoint whose files cannot be read and commits that have expired, when the log has another way. */
static silt_status build(silt_snapshot *snapshot, const silt_call *call, bool details, struct sl_file_list **out,
                         silt_error *err)
{
    *out = NULL;
    struct building b = {.snapshot = snapshot, .call = call, .doubt = true};
    SL_TRY(sl_snapshot_view(snapshot, call, true, &b.view, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = build_once(&b, details, out, &found);
    while (b.bad_checkpoint || status == SILT_ENOTFOUND) {
        silt_error ignored = SILT_ERROR_INIT;
        const silt_status other = b.bad_checkpoint
                                      ? sl_snapshot_other_view(snapshot, call, b.view, &found, &b.view, &ignored)
                                      : sl_snapshot_view_anew(snapshot, call, b.view, &b.view, &ignored);
        if (other != SILT_OK && b.doubt && sl_error_is(&found, SL_CHECKPOINT_DOUBTED)) {
            b.doubt = false; /* the checkpoint is all that there is, and only a hint speaks against it */
            b.view = atomic_load(&snapshot->view);
        } else if (other != SILT_OK) {
            break; /* the first failure is the one to tell */
        }
        silt_error_reset(&found);
        status = build_once(&b, details, out, &found);
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    if (status == SILT_OK) {
        sl_checkpoint_word_again(snapshot, b.view->checkpoint.version, (*out)->n_again);
    }
    return status;
}

/* ---- publishing ---- */

/* Takes the reference. Returns what stands in the slot afterwards, borrowed from the snapshot. */
static struct sl_file_list *publish(_Atomic(struct sl_file_list *) *slot, struct sl_file_list *list)
{
    struct sl_file_list *expected = NULL;
    if (atomic_compare_exchange_strong(slot, &expected, list)) {
        return list;
    }
    sl_file_list_unref(list);
    return expected;
}

void sl_snapshot_keep_list(silt_snapshot *snapshot, struct sl_file_list *list)
{
    if (sl_file_list_has_details(list)) {
        (void)publish(&snapshot->detailed, sl_file_list_ref(list));
    }
    (void)publish(&snapshot->files, list);
}

/* *out is borrowed; NULL without an error: details do not fit in memory. */
static silt_status get_list(silt_snapshot *snapshot, const silt_call *call, bool details, struct sl_file_list **out,
                            silt_error *err)
{
    *out = atomic_load(&snapshot->detailed);
    if (*out == NULL && !details) {
        *out = atomic_load(&snapshot->files);
    }
    if (*out != NULL || (details && atomic_load(&snapshot->details_too_big))) {
        return SILT_OK;
    }
    struct sl_file_list *list = NULL;
    SL_TRY(build(snapshot, call, details, &list, err));
    sl_snapshot_check_crc_totals(snapshot, list->n_files, list->total_size);
    if (!details) {
        *out = publish(&snapshot->files, list);
    } else if (sl_file_list_has_details(list)) {
        (void)publish(&snapshot->files, sl_file_list_ref(list));
        *out = publish(&snapshot->detailed, list);
    } else {
        atomic_store(&snapshot->details_too_big, true);
        (void)publish(&snapshot->files, list);
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
    const struct sl_file_list *list = atomic_load(&snapshot->files);
    const struct sl_log_view *view = NULL;
    SL_TRY(sl_snapshot_view(snapshot, call, true, &view, err));
    const struct replay_request request = {
        .view = view,
        /* Adds must be seen to know that a file was re-added; a checkpoint has no
                                              file in both columns. */
        .columns = adds ? SL_COLUMN_ADD : SL_COLUMN_REMOVE,
        .with_details = adds,
        .stats_form = (enum sl_stats_form)atomic_load(&snapshot->stats_form),
        .once = adds && list != NULL && list->n_again > 0,
        .sink = {.on_add = adds ? visit_add : NULL, .on_remove = adds ? NULL : visit_tombstone, .ctx = visitor}};
    bool bad = false;
    const silt_status status = replay_log(snapshot, call, &request, &bad, err);
    if (visitor->stop && status == STOPPED) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

static silt_status visit_list(const struct sl_file_list *list, bool details, struct visitor *visitor, silt_error *err)
{
    struct sl_list_cursor cursor;
    sl_list_cursor_init(&cursor, list, details);
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done && !visitor->stop) {
        struct sl_add add;
        status = sl_list_cursor_next(&cursor, &add, &done, err);
        if (status == SILT_OK && !done) {
            status = visitor->visit(visitor->ctx, &add, &visitor->stop, err);
        }
    }
    sl_list_cursor_release(&cursor);
    return status;
}

silt_status sl_snapshot_each_file(silt_snapshot *snapshot, const silt_call *call, unsigned want,
                                  silt_status (*visit)(void *ctx, const struct sl_add *add, bool *stop,
                                                       silt_error *err),
                                  void *ctx, silt_error *err)
{
    struct visitor visitor = {.visit = visit, .ctx = ctx};
    const bool details = want != 0;
    struct sl_file_list *list = NULL;
    SL_TRY(get_list(snapshot, call, details, &list, err));
    return list != NULL ? visit_list(list, details, &visitor, err) : visit_log(snapshot, call, &visitor, err);
}

bool sl_snapshot_has_list(const silt_snapshot *snapshot, bool details)
{
    return atomic_load(&snapshot->detailed) != NULL || (!details && atomic_load(&snapshot->files) != NULL);
}

bool sl_snapshot_known_totals(const silt_snapshot *snapshot, int64_t *n_files, int64_t *total_size)
{
    const struct sl_file_list *list = atomic_load(&snapshot->detailed);
    const struct sl_log_view *view = atomic_load(&snapshot->view);
    if (list == NULL) {
        list = atomic_load(&snapshot->files);
    }
    if (list != NULL) {
        *n_files = list->n_files;
        *total_size = list->total_size;
        return true;
    }
    if (view == NULL || view->tail == NULL || view->segment.n_checkpoint > 0 || snapshot->segment_is_tail) {
        return false;
    }
    *n_files = view->tail->n_files;
    *total_size = view->tail->total_size;
    return true;
}

silt_status sl_snapshot_count_files(silt_snapshot *snapshot, const silt_call *call, int64_t *n_files, silt_error *err)
{
    int64_t total_size = 0;
    struct sl_file_list *list = NULL;
    if (sl_snapshot_known_totals(snapshot, n_files, &total_size)) {
        return SILT_OK;
    }
    if (snapshot->has_crc_totals) {
        *n_files = snapshot->crc_files;
        return SILT_OK;
    }
    *n_files = 0;
    SL_TRY(build(snapshot, call, false, &list, err));
    sl_snapshot_check_crc_totals(snapshot, list->n_files, list->total_size);
    *n_files = list->n_files;
    sl_file_list_unref(list);
    return SILT_OK;
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
    struct sl_file_list *list = NULL;
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
    SL_TRY(get_list(snapshot, call, false, &list, err));
    if (num_files != NULL) {
        *num_files = list->n_files;
    }
    if (size_bytes != NULL) {
        *size_bytes = list->total_size;
    }
    return SILT_OK;
}
