/*
 * Loading a snapshot: hint, listing, segment, commits and the checkpoint's small rows. The file list of a checkpoint is not
 * read here (see snapshot_files.c). A stale hint or a bad checkpoint costs another listing and a warning, never the table
 * (PROTOCOL.md "Last Checkpoint File", "Checkpoints"). Any thread; nothing is shared before it is complete.
 */
#include "kernel/snapshot/snapshot_int.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/log/list.h"
#include "kernel/replay/checkpoint_read.h"

/* A log that is cleaned up while it is read is listed again, this often. */
#define MAX_ATTEMPTS 3

/* ---- listing ---- */

struct listing {
    struct sl_vec files; /* of struct sl_log_file */
    bool complete;
    bool exists;
};

static bool note_any(void *ctx, const silt_file_entry *entry)
{
    (void)entry;
    *(bool *)ctx = true;
    return false;
}

silt_status sl_table_absent(silt_table *table, const silt_call *call, silt_error *err)
{
    const char *uri = silt_table_uri(table);
    const silt_list_options options = {.size = sizeof(options)};
    bool any = false;
    const silt_status status = silt_storage_list(sl_table_storage(table), call, uri, &options, note_any, &any, NULL);
    if (status == SILT_ENOTFOUND || (status == SILT_OK && !any)) {
        (void)sl_fail(err, SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", "%s does not exist, or is not a Delta table",
                      uri);
    } else {
        (void)sl_fail(err, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND",
                      "%s is not a Delta table: it has no %s with commits", uri, SL_LOG_DIR);
    }
    sl_error_path(err, uri);
    return SILT_ENOTTABLE;
}

static silt_status list_from(silt_table *table, const silt_call *call, int64_t from, struct sl_arena *arena,
                             struct listing *out, silt_error *err)
{
    out->files.len = 0;
    out->complete = from <= 0;
    return sl_log_list(sl_table_storage(table), call, sl_table_root(table), from, arena, &out->files, &out->exists,
                       err);
}

static silt_status choose(const struct listing *listing, int64_t version, int64_t below, struct sl_arena *arena,
                          struct sl_log_segment *out, silt_error *err)
{
    const struct sl_segment_request request = {.files = listing->files.data,
                                               .n_files = listing->files.len,
                                               .complete = listing->complete,
                                               .version = version,
                                               .checkpoint_below = below};
    return sl_segment_choose(&request, arena, out, err);
}

/* A hint says where to begin; what is found there must hold together by a checkpoint, or the hint is worth nothing. */
static silt_status choose_by_hint(silt_table *table, const silt_call *call, int64_t version, struct sl_arena *arena,
                                  struct sl_log_segment *out, bool *chosen, silt_error *err)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    *chosen = false;
    int64_t hint = -1;
    SL_TRY(sl_log_read_hint(env, sl_table_storage(table), call, sl_table_root(table), &hint, err));
    if (hint <= 0 || hint > version) {
        return SILT_OK;
    }
    struct listing listing = {.complete = false};
    sl_vec_init(&listing.files, env, sizeof(struct sl_log_file));
    silt_status status = list_from(table, call, hint, arena, &listing, err);
    if (status == SILT_OK && listing.exists) {
        *chosen = choose(&listing, version, INT64_MAX, arena, out, NULL) == SILT_OK && out->n_checkpoint > 0;
        if (!*chosen) {
            sl_log(env, SILT_LOG_WARN,
                   "%s: _last_checkpoint names version %" PRId64 ", from which nothing can be read; the whole log is "
                   "listed instead",
                   silt_table_uri(table), hint);
        }
    }
    sl_vec_release(&listing.files);
    return status;
}

static silt_status choose_by_listing(silt_table *table, const silt_call *call, int64_t version, int64_t below,
                                     struct sl_arena *arena, struct sl_log_segment *out, silt_error *err)
{
    struct listing listing = {.complete = true};
    sl_vec_init(&listing.files, silt_engine_env(silt_table_engine(table)), sizeof(struct sl_log_file));
    silt_status status = list_from(table, call, 0, arena, &listing, err);
    if (status == SILT_OK) {
        status = listing.exists ? choose(&listing, version, below, arena, out, err) : SILT_ENOTTABLE;
    }
    sl_vec_release(&listing.files);
    return status == SILT_ENOTTABLE ? sl_table_absent(table, call, err) : status;
}

silt_status sl_snapshot_other_segment(silt_table *table, const silt_call *call, int64_t version,
                                      int64_t checkpoint_below, struct sl_arena *arena, struct sl_log_segment *out,
                                      silt_error *err)
{
    return choose_by_listing(table, call, version, checkpoint_below, arena, out, err);
}

/* ---- replaying ---- */

struct opening {
    silt_snapshot *snapshot;
    struct sl_replay replay;
    struct sl_file_set_builder tail;
    bool has_protocol, has_metadata, has_sidecar; /* in the checkpoint */
    silt_status checkpoint_status;
};

static silt_status keep_add(void *ctx, const struct sl_add *add, silt_error *err)
{
    struct opening *opening = ctx;
    return sl_file_set_add(&opening->tail, add, err);
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct opening *opening = ctx;
    silt_snapshot *snapshot = opening->snapshot;
    if (commit->version == snapshot->segment.version && commit->commit_info != NULL) {
        snapshot->in_commit_timestamp = commit->commit_info->in_commit_timestamp;
    }
    return sl_replay_commit(&opening->replay, commit, err);
}

static silt_status take_row(void *ctx, const struct sl_action *action, silt_error *err)
{
    struct opening *opening = ctx;
    opening->has_protocol = opening->has_protocol || action->kind == SL_ACTION_PROTOCOL;
    opening->has_metadata = opening->has_metadata || action->kind == SL_ACTION_METADATA;
    opening->has_sidecar = opening->has_sidecar || action->kind == SL_ACTION_SIDECAR;
    return sl_replay_checkpoint_action(&opening->replay, action, err);
}

static silt_status read_checkpoint(struct opening *opening, const silt_call *call, silt_error *err)
{
    silt_snapshot *snapshot = opening->snapshot;
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    const struct sl_checkpoint_request request = {
        .source = &source, .segment = &snapshot->segment, .columns = SL_COLUMNS_STATE};
    SL_TRY(sl_checkpoint_each(&request, call, take_row, opening, err));
    if (!opening->has_protocol || !opening->has_metadata) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR",
                       "the checkpoint of version %" PRId64 " holds no %s action", snapshot->segment.checkpoint_version,
                       opening->has_protocol ? "metaData" : "protocol");
    }
    return SILT_OK;
}

/* Sidecars belong to a feature that the gate refuses; a table that has them without naming it must not lose files. */
static silt_status check_sidecars(const struct opening *opening, silt_error *err)
{
    if (!opening->has_sidecar) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                   "the checkpoint of version %" PRId64 " has sidecars (feature v2Checkpoint), which are not supported",
                   opening->snapshot->segment.checkpoint_version);
}

static silt_status replay_segment(struct opening *opening, const silt_call *call, silt_error *err)
{
    silt_snapshot *snapshot = opening->snapshot;
    const struct sl_log_segment *segment = &snapshot->segment;
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    SL_TRY(sl_file_set_begin(&opening->tail, snapshot->env, true, SL_FILE_SET_MAX_DETAILS, err));
    const struct sl_commits_request commits = {
        .source = &source, .files = segment->commits, .n = segment->n_commits, .missing = SL_MISSING_FAILS};
    SL_TRY(sl_commits_each(&commits, call, take_commit, opening, err));
    if (segment->n_checkpoint > 0) {
        opening->checkpoint_status = read_checkpoint(opening, call, err);
        SL_TRY(opening->checkpoint_status);
    }
    SL_TRY(sl_snapshot_complete(snapshot, call, err));
    return check_sidecars(opening, err);
}

/* Files that are decided by the commits; without a checkpoint those are all. */
static void keep_files(struct opening *opening)
{
    silt_snapshot *snapshot = opening->snapshot;
    snapshot->tail = sl_file_set_finish(&opening->tail);
    if (snapshot->segment.n_checkpoint > 0) {
        snapshot->seen = opening->replay.seen;
        snapshot->seen_keys = opening->replay.keys;
        sl_map_init(&opening->replay.seen, snapshot->env);
        sl_arena_init(&opening->replay.keys, snapshot->env);
        return;
    }
    atomic_store(&snapshot->files, sl_file_set_ref(snapshot->tail));
    if (snapshot->tail->has_details) {
        atomic_store(&snapshot->detailed, sl_file_set_ref(snapshot->tail));
    } else {
        atomic_store(&snapshot->details_too_big, true);
    }
}

/* Opens what snapshot->segment says. *bad_checkpoint: it failed for the checkpoint's sake. */
static silt_status open_segment(silt_snapshot *snapshot, const silt_call *call, bool *bad_checkpoint, silt_error *err)
{
    struct opening opening = {.snapshot = snapshot};
    const struct sl_replay_sink sink = {.on_add = keep_add, .ctx = &opening};
    sl_replay_init(&opening.replay, snapshot->env, sl_snapshot_root(snapshot), &snapshot->state, &snapshot->arena,
                   &sink);
    const silt_status status = replay_segment(&opening, call, err);
    *bad_checkpoint = sl_checkpoint_is_bad(opening.checkpoint_status);
    if (status == SILT_OK) {
        keep_files(&opening);
    }
    sl_file_set_abandon(&opening.tail);
    sl_replay_release(&opening.replay);
    return status;
}

/* ---- attempts ---- */

struct attempt {
    silt_table *table;
    int64_t version;
    int64_t checkpoint_below; /* INT64_MAX until a checkpoint proved bad */
    bool ignore_hint;
};

static silt_status choose_segment(const struct attempt *attempt, const silt_call *call, silt_snapshot *snapshot,
                                  silt_error *err)
{
    bool chosen = false;
    if (!attempt->ignore_hint) {
        SL_TRY(
            choose_by_hint(attempt->table, call, attempt->version, &snapshot->arena, &snapshot->segment, &chosen, err));
    }
    return chosen ? SILT_OK
                  : choose_by_listing(attempt->table, call, attempt->version, attempt->checkpoint_below,
                                      &snapshot->arena, &snapshot->segment, err);
}

/* What the next attempt does differently; false: the failure is final. */
static bool try_otherwise(struct attempt *attempt, const silt_snapshot *snapshot, silt_status status,
                          bool bad_checkpoint, unsigned n_attempts, const silt_error *err)
{
    if (bad_checkpoint) {
        sl_log(snapshot->env, SILT_LOG_WARN, "%s: another way to version %" PRId64 " is tried: %s",
               silt_table_uri(attempt->table), snapshot->segment.version, err->message);
        attempt->checkpoint_below = snapshot->segment.checkpoint_version;
        attempt->ignore_hint = true;
        return true; /* each time with an older one: this ends */
    }
    return status == SILT_ENOTFOUND && snapshot->segment.version >= 0 && n_attempts < MAX_ATTEMPTS;
}

silt_status sl_snapshot_load(silt_table *table, const silt_call *call, int64_t version, silt_snapshot **out,
                             silt_error *err)
{
    *out = NULL;
    struct attempt attempt = {.table = table, .version = version, .checkpoint_below = INT64_MAX};
    silt_error first = SILT_ERROR_INIT; /* of the newest checkpoint, told when nothing else helps */
    for (unsigned n = 1;; n++) {
        silt_error found = SILT_ERROR_INIT;
        bool bad_checkpoint = false;
        silt_snapshot *snapshot = sl_snapshot_alloc(table);
        if (snapshot == NULL) {
            return sl_fail_nomem(err);
        }
        snapshot->segment.version = -1;
        silt_status status = choose_segment(&attempt, call, snapshot, &found);
        const bool no_other_way = status == SILT_ECORRUPT && first.status != SILT_OK;
        if (status == SILT_OK) {
            status = open_segment(snapshot, call, &bad_checkpoint, &found);
        }
        if (status == SILT_OK) {
            *out = snapshot;
            return SILT_OK;
        }
        if (bad_checkpoint && first.status == SILT_OK) {
            first = found;
        }
        const bool again = !no_other_way && try_otherwise(&attempt, snapshot, status, bad_checkpoint, n, &found);
        silt_snapshot_unref(snapshot);
        if (!again) {
            if (err != NULL) {
                *err = no_other_way ? first : found;
            }
            return no_other_way ? first.status : status;
        }
    }
}
