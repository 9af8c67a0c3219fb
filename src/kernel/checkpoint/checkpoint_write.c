/*
 * The course of writing a checkpoint; see checkpoint_write.h: what the log says is collected, a plan made, the files written, and at last
 * the hint that points to them. An older checkpoint that proves bad on the way is gone around as when a snapshot is read.
 */
#include "kernel/checkpoint/checkpoint_put.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/action/action_arrow.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/checkpoint_word.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

#define MAX_PARTS 100000

struct writing {
    silt_snapshot *snapshot;
    const silt_call *call;
    const struct sl_checkpoint_options *options;
    struct sl_checkpoint_plan plan;
    struct sl_checkpoint_content content;
    struct sl_doubles *doubles, *tombstone_doubles; /* of the view at hand */
    struct sl_checkpoint_putting putting;
    silt_schema *stats;     /* of layout.stats */
    silt_schema *partition; /* in the types of the table */
    bool bad_checkpoint;
};

/* ---- what is there already ---- */

static silt_status is_there(const struct writing *w, bool *there, silt_error *err)
{
    struct sl_arena arena;
    *there = false;
    sl_arena_init(&arena, silt_engine_env(sl_snapshot_engine(w->snapshot)));
    const struct sl_str path = sl_checkpoint_classic_path(&arena, sl_snapshot_root(w->snapshot),
                                                          silt_snapshot_version(w->snapshot));
    const silt_status status = path.ptr != NULL ? sl_checkpoint_is_there(sl_snapshot_storage(w->snapshot), w->call,
                                                                         path.ptr, there, err)
                                                : sl_fail_nomem(err);
    sl_arena_release(&arena);
    return status;
}

/*
 * Does the view rest on a checkpoint of this very version, in one file or in parts, which could be opened? Another one beside it, in one
 * file or in another number of parts, would say the same, and readers on delta-kernel-rs take either and refuse the table when
 * the hint is of the other.
 */
static bool rests_on_v1(const struct writing *w, const struct sl_log_view *view)
{
    const struct sl_log_segment *segment = &view->segment;
    return segment->checkpoint_version == silt_snapshot_version(w->snapshot) && segment->n_checkpoint > 0 &&
           (segment->checkpoint[0].kind == SL_LOG_CHECKPOINT || segment->checkpoint[0].kind == SL_LOG_CHECKPOINT_PART);
}

/* PROTOCOL: Catalog-managed tables: checkpoints can only be created for versions that are published. */
static silt_status check_published(const struct sl_log_view *view, silt_error *err)
{
    for (size_t i = 0; i < view->segment.n_commits; i++) {
        const struct sl_log_file *file = &view->segment.commits[i];
        if (file->content.ptr != NULL || sl_str_find(file->name, SL_STR("/")) != SIZE_MAX) {
            return sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                           "version %" PRId64 " is not published: its catalog must do that before a checkpoint can be "
                           "written",
                           file->version);
        }
    }
    return SILT_OK;
}

/* ---- content ---- */

static silt_status plan(struct writing *w, silt_error *err)
{
    const struct sl_checkpoint_plan_input input = {
        .protocol = sl_snapshot_protocol(w->snapshot),
        .metadata = sl_snapshot_get_metadata(w->snapshot),
        .options = w->options,
        .can_write_parquet = sl_engine_has_write_file(sl_snapshot_engine(w->snapshot)),
        .now_ms = sl_now_ms(silt_engine_env(sl_snapshot_engine(w->snapshot)))};
    return sl_checkpoint_plan(&input, &w->plan, err);
}

/* About as many as the options say, of all the files that a snapshot has. */
static silt_status count_parts(struct writing *w, silt_error *err)
{
    int64_t n_files = 0;
    w->putting.n_parts = 1;
    if (!w->plan.in_parts) {
        return SILT_OK;
    }
    SL_TRY(sl_snapshot_count_files(w->snapshot, w->call, &n_files, err));
    const int64_t n = n_files / w->plan.rows_per_part + (n_files % w->plan.rows_per_part != 0 ? 1 : 0);
    if (n > MAX_PARTS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a checkpoint of %" PRId64 " parts is not written, at most %d", n,
                       MAX_PARTS);
    }
    w->putting.n_parts = n > 1 ? (int32_t)n : 1;
    w->plan.in_parts = n > 1;
    return SILT_OK;
}

/* As the rows come that they are among: see put_file_lines. */
static silt_status remove_schema(const struct writing *w, struct ArrowSchema *out, silt_error *err)
{
    const silt_env *env = silt_engine_env(sl_snapshot_engine(w->snapshot));
    const struct sl_checkpoint_layout layout = {.columns = SL_COLUMN_REMOVE,
                                                .wide = w->plan.is_v2 && w->plan.files_per_sidecar == 0};
    silt_schema *schema = NULL;
    SL_TRY(sl_checkpoint_layout_schema(env, &layout, &schema, err));
    const silt_status status = silt_schema_to_arrow(schema, out, err);
    silt_schema_unref(schema);
    return status;
}

static silt_status collect(struct writing *w, const struct sl_log_view *view, silt_error *err)
{
    struct ArrowSchema remove = {0};
    SL_TRY(remove_schema(w, &remove, err));
    const struct sl_checkpoint_collecting how = {
        .snapshot = w->snapshot,
        .view = view,
        .doubles = w->doubles,
        .tombstone_doubles = w->tombstone_doubles,
        .remove = remove.children[0],
        .n_parts = (size_t)w->putting.n_parts,
        .with_vectors = sl_protocol_has_feature(sl_snapshot_protocol(w->snapshot), "deletionVectors"),
        .tombstones_after_ms = w->plan.tombstones_after_ms};
    const silt_status status = sl_checkpoint_collect(&w->content, &how, w->call, err);
    w->bad_checkpoint = w->content.bad_checkpoint;
    sl_arrow_schema_release(&remove);
    return status;
}

static silt_status add_action(struct sl_vec *state, enum sl_action_kind kind, struct sl_action **out, silt_error *err)
{
    *out = sl_vec_push(state);
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    (*out)->kind = kind;
    return SILT_OK;
}

/* One kind after the other. */
static silt_status list_state(struct writing *w, silt_error *err)
{
    const struct sl_replay_state *state = w->content.state;
    struct sl_vec *out = &w->putting.state;
    struct sl_action *action = NULL;
    SL_TRY(add_action(out, SL_ACTION_PROTOCOL, &action, err));
    action->u.protocol = state->protocol;
    SL_TRY(add_action(out, SL_ACTION_METADATA, &action, err));
    action->u.metadata = state->metadata;
    for (size_t i = 0; i < state->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&state->domains, i);
        if (!domain->removed) {
            SL_TRY(add_action(out, SL_ACTION_DOMAIN_METADATA, &action, err));
            action->u.domain = *domain;
        }
    }
    for (size_t i = 0; i < state->app_txns.len; i++) {
        const struct sl_app_txn *txn = sl_vec_at(&state->app_txns, i);
        if (sl_checkpoint_keeps_txn(&w->plan, txn)) {
            SL_TRY(add_action(out, SL_ACTION_APP_TXN, &action, err));
            action->u.app_txn = *txn;
        }
    }
    return SILT_OK;
}

static struct sl_str clustering_of(const struct sl_replay_state *state)
{
    for (size_t i = 0; i < state->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&state->domains, i);
        if (!domain->removed && sl_str_eq(domain->domain, SL_STR("delta.clustering"))) {
            return domain->configuration;
        }
    }
    return (struct sl_str){NULL, 0};
}

static silt_status lay_out(struct writing *w, silt_error *err)
{
    const silt_env *env = w->content.env;
    const struct sl_metadata *metadata = &w->content.state->metadata;
    const silt_schema *logical = silt_snapshot_schema(w->snapshot);
    const silt_schema *physical = silt_snapshot_physical_schema(w->snapshot);
    struct sl_checkpoint_layout *layout = &w->putting.layout;
    SL_TRY(sl_checkpoint_stats_columns(env, metadata, logical, physical, &w->stats, err));
    SL_TRY(sl_checkpoint_partition_columns(env, metadata, logical, physical, &w->partition, err));
    *layout = (struct sl_checkpoint_layout){.stats_json = w->plan.stats_json,
                                            .stats_struct = w->plan.stats_struct,
                                            .stats = w->stats,
                                            .partition = w->plan.stats_struct ? w->partition : NULL};
    const silt_status status = sl_checkpoint_find_optional(&w->content, w->call, &layout->optional, err);
    w->bad_checkpoint = w->content.bad_checkpoint;
    SL_TRY(status);
    const struct sl_row_order_columns columns = {
        .partition = w->partition, .physical = physical, .clustering_json = clustering_of(w->content.state)};
    return sl_row_order_new(env, &columns, &w->putting.order, err);
}

/* ---- the whole ---- */

static void begin(struct writing *w, const silt_env *env, struct sl_checkpoint_result *result)
{
    w->putting = (struct sl_checkpoint_putting){.content = &w->content,
                                                .plan = &w->plan,
                                                .call = w->call,
                                                .version = silt_snapshot_version(w->snapshot),
                                                .result = result};
    sl_vec_init(&w->putting.state, env, sizeof(struct sl_action));
    sl_vec_init(&w->putting.sidecars, env, sizeof(struct sl_sidecar));
    sl_vec_init(&w->putting.made, env, sizeof(const char *));
    sl_arena_init(&w->putting.arena, env);
}

static void end(struct writing *w)
{
    sl_row_order_free(w->putting.order);
    silt_schema_unref(w->putting.schema);
    silt_schema_unref(w->stats);
    silt_schema_unref(w->partition);
    sl_vec_release(&w->putting.state);
    sl_vec_release(&w->putting.sidecars);
    sl_vec_release(&w->putting.made);
    sl_arena_release(&w->putting.arena);
    sl_checkpoint_content_release(&w->content);
}

static silt_status write_files(struct writing *w, const struct sl_log_view *view, silt_error *err)
{
    SL_TRY(check_published(view, err));
    SL_TRY(count_parts(w, err));
    SL_TRY(collect(w, view, err));
    SL_TRY(list_state(w, err));
    SL_TRY(lay_out(w, err));
    const silt_status status = sl_checkpoint_put(&w->putting, err);
    w->bad_checkpoint = w->putting.bad_checkpoint;
    return status;
}

/* The name of a classic checkpoint is said to be taken: by one, or by what is no file at all? */
static silt_status check_taken(struct writing *w, silt_error *err)
{
    bool there = false;
    SL_TRY(is_there(w, &there, err));
    return there ? SILT_OK
                 : sl_fail(err, SILT_ECORRUPT, SL_NAME_TAKEN,
                           "the name of the checkpoint of version %" PRId64 " is taken, but there is no file",
                           silt_snapshot_version(w->snapshot));
}

/* A checkpoint without its commit would pass for a table, whose files are gone. */
static silt_status check_standing(struct writing *w, silt_error *err)
{
    if (sl_snapshot_fate(w->snapshot, w->call, w->putting.version) != SL_LOG_GONE) {
        return SILT_OK;
    }
    sl_checkpoint_take_back(&w->putting);
    return sl_fail(err, SILT_ECONFLICT, "DELTA_CONCURRENT_WRITE",
                   "the table was dropped while a checkpoint of its version %" PRId64 " was written",
                   w->putting.version);
}

/* Somebody else may have been faster with the one name that a classic checkpoint has: then it is theirs, and good. */
static silt_status write_once(struct writing *w, const struct sl_log_view *view, struct sl_checkpoint_result *result,
                              silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    *result = (struct sl_checkpoint_result){.version = silt_snapshot_version(w->snapshot), .n_actions = -1};
    begin(w, silt_engine_env(sl_snapshot_engine(w->snapshot)), result);
    silt_status status = write_files(w, view, &found);
    if (status == SILT_EEXISTS && !w->plan.is_v2) {
        *result = (struct sl_checkpoint_result){.version = silt_snapshot_version(w->snapshot), .n_actions = -1};
        silt_error_reset(&found);
        w->putting.hint.version = -1;
        status = w->plan.in_parts ? SILT_OK : check_taken(w, &found);
    } else if (status == SILT_OK) {
        status = check_standing(w, &found);
    }
    if (status == SILT_OK && w->putting.hint.version >= 0) {
        status = sl_hint_write(&w->content.source, w->call, &w->putting.hint, &found);
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    end(w);
    return status;
}

static struct writing anew(const struct writing *w)
{
    return (struct writing){.snapshot = w->snapshot,
                            .call = w->call,
                            .options = w->options,
                            .plan = w->plan,
                            .doubles = w->doubles,
                            .tombstone_doubles = w->tombstone_doubles};
}

static bool are_known(const struct sl_doubles *doubles)
{
    return doubles->is_settled && doubles->hashes.len > 0;
}

/*
 * Where the older checkpoint names files twice that is found while its rows are written, and likewise for its tombstones while they are
 * collected, so that it costs next to nothing where none does. Each costs one attempt more.
 */
static silt_status write_settled(struct writing *w, const struct sl_log_view *view, struct sl_checkpoint_result *result,
                                 silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    bool knows_files = false;
    bool knows_tombstones = false;
    silt_status status = SILT_OK;
    for (bool is_done = false; !is_done;) {
        found = (silt_error)SILT_ERROR_INIT;
        *w = anew(w);
        status = write_once(w, view, result, &found);
        const bool has_news = knows_files != are_known(w->doubles) ||
                              knows_tombstones != are_known(w->tombstone_doubles);
        if (are_known(w->doubles) && !knows_files) {
            sl_checkpoint_word_again(w->snapshot, view->checkpoint.version, (int64_t)w->doubles->hashes.len);
        }
        knows_files = are_known(w->doubles);
        knows_tombstones = are_known(w->tombstone_doubles);
        is_done = status == SILT_OK || !has_news;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

static silt_status write_view(struct writing *w, const struct sl_log_view *view, struct sl_checkpoint_result *result,
                              silt_error *err)
{
    const silt_env *env = silt_engine_env(sl_snapshot_engine(w->snapshot));
    struct sl_doubles files;
    struct sl_doubles tombstones;
    sl_doubles_init(&files, env, sl_snapshot_root(w->snapshot));
    sl_doubles_init(&tombstones, env, sl_snapshot_root(w->snapshot));
    w->doubles = &files;
    w->tombstone_doubles = &tombstones;
    const silt_status status = write_settled(w, view, result, err);
    w->doubles = NULL;
    w->tombstone_doubles = NULL;
    sl_doubles_release(&files);
    sl_doubles_release(&tombstones);
    return status;
}

silt_status sl_checkpoint_write_told(silt_snapshot *snapshot, const silt_call *call,
                                     const struct sl_checkpoint_options *options, struct sl_checkpoint_result *result,
                                     silt_error *err)
{
    static const struct sl_checkpoint_options by_table = {.kind = SL_CHECKPOINT_BY_TABLE};
    struct writing w = {.snapshot = snapshot, .call = call, .options = options != NULL ? options : &by_table};
    const struct sl_log_view *view = NULL;
    bool there = false;
    *result = (struct sl_checkpoint_result){.version = silt_snapshot_version(snapshot), .n_actions = -1};
    SL_TRY(plan(&w, err));
    if (!w.plan.is_v2 && !w.plan.in_parts) {
        SL_TRY(is_there(&w, &there, err));
        if (there) {
            return SILT_OK;
        }
    }
    SL_TRY(sl_snapshot_view(snapshot, call, true, &view, err));
    if (!w.plan.is_v2 && rests_on_v1(&w, view)) {
        return SILT_OK;
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = write_view(&w, view, result, &found);
    while (status == SILT_ENOTFOUND || (status != SILT_OK && w.bad_checkpoint)) {
        silt_error ignored = SILT_ERROR_INIT;
        const silt_status other = w.bad_checkpoint
                                      ? sl_snapshot_other_view(snapshot, call, view, &found, &view, &ignored)
                                      : sl_snapshot_view_anew(snapshot, call, view, &view, &ignored);
        if (other != SILT_OK) {
            break; /* the first failure is the one to tell */
        }
        found = (silt_error)SILT_ERROR_INIT;
        status = write_view(&w, view, result, &found);
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

silt_status sl_checkpoint_write(silt_snapshot *snapshot, const silt_call *call,
                                const struct sl_checkpoint_options *options, silt_error *err)
{
    struct sl_checkpoint_result result;
    return sl_checkpoint_write_told(snapshot, call, options, &result, err);
}
