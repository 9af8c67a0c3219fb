/*
 * Refresh: a newer snapshot from an older one by reading the tail of the log only. What the older one knows of files is
 * shared, not read again. A log that does not continue the snapshot's (replaced, or cleaned up so far that commits are
 * missing) is loaded afresh. Any thread; the older snapshot is not changed.
 */
#include "kernel/snapshot/snapshot_int.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/log/ahead.h"
#include "kernel/log/list.h"

/* What the store says of the log behind a snapshot. */
struct look {
    silt_snapshot *old;
    const silt_call *call;
    struct sl_arena names;
    struct sl_vec listed; /* struct sl_log_file */
    bool exists;
    silt_status status; /* of the listing */
    silt_error *err;
    struct sl_ahead ahead;
};

/* What a listing from the snapshot's own version on says. */
enum continuation {
    LOG_UNCHANGED,
    LOG_GREW,
    LOG_DIFFERS /* load afresh */
};

static enum continuation judge_listing(const silt_snapshot *old, const struct sl_log_file *files, size_t n,
                                       size_t *n_commits)
{
    const struct sl_log_segment *segment = &old->segment;
    bool own_seen = false;
    int64_t last = segment->version;
    int64_t newest = segment->version; /* of any file */
    *n_commits = 0;
    for (size_t i = 0; i < n; i++) {
        if (files[i].kind == SL_LOG_CRC || files[i].kind == SL_LOG_COMPACTED) {
            continue; /* they make no version */
        }
        newest = files[i].version > newest ? files[i].version : newest;
        if (files[i].kind != SL_LOG_COMMIT) {
            continue;
        }
        if (files[i].version == segment->version) {
            own_seen = true;
            if (segment->has_commit_file && (files[i].size != segment->commit_file.size ||
                                             files[i].modified_ms != segment->commit_file.modified_ms)) {
                return LOG_DIFFERS;
            }
        } else if (files[i].version == last + 1) {
            last++;
            (*n_commits)++;
        }
    }
    if (own_seen != segment->has_commit_file || newest > last) {
        return LOG_DIFFERS;
    }
    return *n_commits > 0 ? LOG_GREW : LOG_UNCHANGED;
}

/* ---- the grown snapshot ---- */

static bool copy_files(struct sl_arena *arena, const struct sl_log_file *from, size_t n, struct sl_log_file *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].name = sl_arena_copy(arena, from[i].name);
        if (to[i].name.ptr == NULL) { /* `content` belongs to the table */
            return false;
        }
    }
    return true;
}

/*
 * The old segment with the new commits behind it. What the view has may be another way to the version than the one that was
 * chosen first. Without a view the new commits alone: the files are known, and who reads the log again finds a way of that
 * day, with a newer checkpoint perhaps. So a snapshot that is refreshed for months does not hold the names of all its commits.
 */
static silt_status extend_segment(silt_snapshot *grown, const silt_snapshot *old, const struct sl_log_view *view,
                                  const struct sl_vec *listed, size_t n_new, silt_error *err)
{
    const struct sl_log_segment none = {.version = old->segment.version, .checkpoint_version = -1};
    const struct sl_log_segment *from = view != NULL ? &view->segment : &none;
    const size_t n = from->n_commits + n_new;
    struct sl_log_file *commits = sl_arena_alloc_array(&grown->arena, n, sizeof(*commits));
    struct sl_log_file *checkpoint = NULL;
    if (from->n_checkpoint > 0) {
        checkpoint = sl_arena_alloc_array(&grown->arena, from->n_checkpoint, sizeof(*checkpoint));
        if (checkpoint == NULL || !copy_files(&grown->arena, from->checkpoint, from->n_checkpoint, checkpoint)) {
            return sl_fail_nomem(err);
        }
    }
    if (commits == NULL || !copy_files(&grown->arena, from->commits, from->n_commits, commits)) {
        return sl_fail_nomem(err);
    }
    size_t at = from->n_commits;
    for (size_t i = 0; i < listed->len && at < n; i++) {
        const struct sl_log_file *file = sl_vec_at(listed, i);
        if (file->kind == SL_LOG_COMMIT && file->version > from->version) {
            if (!copy_files(&grown->arena, file, 1, &commits[at])) {
                return sl_fail_nomem(err);
            }
            at++;
        }
    }
    grown->segment = (struct sl_log_segment){.version = commits[n - 1].version,
                                             .checkpoint_version = from->checkpoint_version,
                                             .checkpoint = checkpoint,
                                             .n_checkpoint = from->n_checkpoint,
                                             .commits = commits,
                                             .n_commits = n,
                                             .has_compacted = from->has_compacted,
                                             .has_commit_file = true,
                                             .commit_file = commits[n - 1]};
    return SILT_OK;
}

struct growing {
    silt_snapshot *snapshot;
    struct sl_file_list *loaded; /* files of the old snapshot, borrowed; NULL: it has not loaded them */
    struct sl_log_view *view;    /* of the snapshot, not published yet; NULL where files are loaded */
    struct sl_replay replay;
    struct sl_file_set_builder tail;
};

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct growing *growing = ctx;
    if (commit->version == growing->snapshot->segment.version && commit->commit_info != NULL) {
        silt_snapshot *snapshot = growing->snapshot;
        snapshot->in_commit_timestamp = commit->commit_info->in_commit_timestamp;
        SL_TRY(sl_commit_keep_txn_id(&snapshot->arena, commit, &snapshot->txn_id, err));
    }
    return sl_replay_commit(&growing->replay, commit, err);
}

/* The old state comes after the new commits, as a checkpoint would. */
static silt_status take_state(struct growing *growing, const struct sl_replay_state *state, silt_error *err)
{
    struct sl_action action = {.kind = SL_ACTION_PROTOCOL, .u.protocol = state->protocol};
    SL_TRY(sl_replay_checkpoint_action(&growing->replay, &action, err));
    action = (struct sl_action){.kind = SL_ACTION_METADATA, .u.metadata = state->metadata};
    SL_TRY(sl_replay_checkpoint_action(&growing->replay, &action, err));
    for (size_t i = 0; i < state->app_txns.len; i++) {
        const struct sl_app_txn *txn = sl_vec_at(&state->app_txns, i);
        action = (struct sl_action){.kind = SL_ACTION_APP_TXN, .u.app_txn = *txn};
        SL_TRY(sl_replay_checkpoint_action(&growing->replay, &action, err));
    }
    for (size_t i = 0; i < state->domains.len; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&state->domains, i);
        action = (struct sl_action){.kind = SL_ACTION_DOMAIN_METADATA, .u.domain = *domain};
        SL_TRY(sl_replay_checkpoint_action(&growing->replay, &action, err));
    }
    return SILT_OK;
}

static silt_status mark_key(void *ctx, const struct sl_file_key *key, silt_error *err)
{
    struct growing *growing = ctx;
    return sl_replay_mark(&growing->replay, key, err);
}

/* The old snapshot's files were never loaded: its tail goes behind the new one, its keys join the new ones. */
static silt_status join_tails(struct growing *growing, const struct sl_log_view *old, silt_error *err)
{
    struct sl_file_cursor cursor;
    struct sl_key_maker maker;
    if (!old->tail->has_details && growing->tail.set->has_details) {
        sl_file_set_drop_details(&growing->tail); /* details of some files only would lose the others' */
    }
    sl_file_cursor_init(&cursor, old->tail, true);
    sl_key_maker_init(&maker, old->env, sl_snapshot_root(growing->snapshot), NULL);
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct sl_add add;
        status = sl_file_cursor_next(&cursor, &add, &done, err);
        if (status == SILT_OK && !done) {
            status = sl_replay_older_add(&growing->replay, &add, err);
        }
    }
    const struct sl_key_probe decided = {.keys = &old->decided, .files = old->tail, .maker = &maker};
    if (status == SILT_OK) {
        status = sl_key_set_each(&decided, mark_key, growing, err);
    }
    sl_file_cursor_release(&cursor);
    sl_key_maker_release(&maker);
    return status;
}

/* A checkpoint's names, out of a view that may go before the new one. */
static silt_status copy_checkpoint(struct sl_arena *arena, const struct sl_checkpoint *from, struct sl_checkpoint *to,
                                   silt_error *err)
{
    *to = *from;
    silt_parquet_file *files = sl_arena_alloc_array(arena, from->n_parquet, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < from->n_parquet; i++) {
        const char *local = from->parquet[i].local_path;
        files[i] = from->parquet[i];
        files[i].path = sl_arena_strdup(arena, sl_str_from(from->parquet[i].path));
        files[i].local_path = local != NULL ? sl_arena_strdup(arena, sl_str_from(local)) : NULL;
        if (files[i].path == NULL || (local != NULL && files[i].local_path == NULL)) {
            return sl_fail_nomem(err);
        }
    }
    to->parquet = files;
    if (from->json_path.ptr != NULL) {
        to->json_path = sl_arena_copy(arena, from->json_path);
        to->json_size = from->json_size;
        return to->json_path.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    return SILT_OK;
}

static silt_status inherit_files(struct growing *growing, silt_snapshot *old, silt_error *err)
{
    silt_snapshot *grown = growing->snapshot;
    struct sl_log_view *view = growing->view;
    const struct sl_log_view *old_view = atomic_load(&old->view);
    if (growing->loaded == NULL) {
        SL_TRY(copy_checkpoint(&view->arena, &old_view->checkpoint, &view->checkpoint, err));
        view->segment = grown->segment;
        view->early = sl_early_ref(old_view->early);
        view->adds_brought = old_view->adds_brought;
        SL_TRY(join_tails(growing, old_view, err));
        sl_key_set_move(&view->decided, &growing->replay.decided);
        return sl_file_set_finish(&growing->tail, &view->tail, err);
    }
    struct sl_file_set *tail = NULL;
    struct sl_file_list *list = NULL;
    SL_TRY(sl_file_set_finish(&growing->tail, &tail, err));
    SL_TRY(sl_file_list_grow(growing->loaded, tail, &growing->replay.decided, &list, err));
    atomic_store(&grown->details_too_big, atomic_load(&old->details_too_big));
    atomic_store(&grown->stats_form, atomic_load(&old->stats_form));
    sl_snapshot_keep_list(grown, list);
    return SILT_OK;
}

/* Commits that came with the listing are not read again. */
static silt_status replay_new(struct growing *growing, const struct look *look, size_t n_new, silt_error *err)
{
    const silt_snapshot *grown = growing->snapshot;
    const struct sl_log_source source = sl_snapshot_source(grown);
    struct sl_log_file *files = sl_alloc_array(grown->env, n_new, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n_new; i++) {
        files[i] = grown->segment.commits[grown->segment.n_commits - n_new + i];
        const struct sl_str bytes = sl_ahead_find(&look->ahead, &files[i]);
        files[i].content = bytes.ptr != NULL ? bytes : files[i].content;
    }
    const struct sl_commits_request commits = {
        .source = &source, .files = files, .n = n_new, .missing = SL_MISSING_FAILS, .in_parts = true};
    const silt_status status = sl_commits_each(&commits, look->call, take_commit, growing, err);
    sl_release(grown->env, files, n_new * sizeof(*files));
    return status;
}

static silt_status grow(struct growing *growing, const struct look *look, size_t n_new, silt_error *err)
{
    silt_snapshot *grown = growing->snapshot;
    silt_snapshot *old = look->old;
    const struct sl_log_view *old_view = growing->loaded == NULL ? atomic_load(&old->view) : NULL;
    SL_TRY(extend_segment(grown, old, old_view, &look->listed, n_new, err));
    grown->segment_is_tail = old_view == NULL;
    SL_TRY(replay_new(growing, look, n_new, err));
    SL_TRY(take_state(growing, &old->state, err));
    SL_TRY(sl_snapshot_complete(grown, look->call, err));
    return inherit_files(growing, old, err);
}

static silt_status make_grown(const struct look *look, size_t n_new, silt_snapshot **out, silt_error *err)
{
    const silt_snapshot *old = look->old;
    silt_snapshot *grown = sl_snapshot_alloc(old->table);
    if (grown == NULL) {
        return sl_fail_nomem(err);
    }
    struct growing growing = {.snapshot = grown, .loaded = atomic_load(&old->detailed)};
    if (growing.loaded == NULL) {
        growing.loaded = atomic_load(&old->files);
    }
    if (growing.loaded == NULL) {
        growing.view = sl_view_new(grown->env);
        if (growing.view == NULL) {
            silt_snapshot_unref(grown);
            return sl_fail_nomem(err);
        }
    }
    const struct sl_replay_sink sink = {.adds = &growing.tail};
    const struct sl_file_set_options options = {
        .env = grown->env, .root = sl_snapshot_root(grown), .want_details = true};
    sl_replay_init(&growing.replay, grown->env, sl_snapshot_root(grown), &grown->state, &grown->arena, &sink);
    silt_status status = sl_file_set_begin(&growing.tail, &options, err);
    if (status == SILT_OK) {
        status = grow(&growing, look, n_new, err);
    }
    sl_file_set_abandon(&growing.tail);
    sl_replay_release(&growing.replay);
    if (status != SILT_OK) {
        sl_view_free(growing.view);
        silt_snapshot_unref(grown);
        return status;
    }
    atomic_store(&grown->view, growing.view);
    *out = grown;
    return SILT_OK;
}

/* ---- asking ---- */

/* A snapshot that was the newest so lately is looked behind by name: no version can have come and expired since. */
#define LOOK_AHEAD_US INT64_C(60000000)
/* More commits than these are cheaper to list. */
#define LOOK_AHEAD_COMMITS 33

/* *told false: the log is to be listed. */
static silt_status look_ahead(struct look *look, bool *told)
{
    const silt_snapshot *old = look->old;
    *told = false;
    if (!old->segment.has_commit_file || sl_table_is_catalog(old->table) ||
        !sl_snapshot_was_newest(old, LOOK_AHEAD_US) ||
        sl_storage_is_far(sl_snapshot_storage(old), sl_snapshot_root(old).ptr)) {
        return SILT_OK;
    }
    return sl_log_look_ahead(sl_snapshot_storage(old), look->call, sl_snapshot_root(old), old->segment.version,
                             LOOK_AHEAD_COMMITS, &look->names, &look->listed, told, look->err);
}

static silt_status look_at_log(struct look *look)
{
    bool told = false;
    SL_TRY(look_ahead(look, &told));
    look->exists = told;
    return told ? SILT_OK
                : sl_table_list_log(look->old->table, look->call, look->old->segment.version, &look->names,
                                    &look->listed, &look->exists, look->err);
}

static void ask(void *arg, size_t item)
{
    struct look *look = arg;
    silt_snapshot *old = look->old;
    const int64_t version = old->segment.version;
    if (item == 0) {
        look->status = look_at_log(look);
    } else {
        const struct sl_log_source source = sl_snapshot_source(old);
        sl_ahead_read(&look->ahead, &source, look->call, version, atomic_load(&old->n_ahead));
    }
}

/* Lists what is there from the snapshot's version on. A store far away is asked for the next commits at the same time. */
static silt_status look_behind(struct look *look)
{
    silt_engine *engine = sl_snapshot_engine(look->old);
    const bool at_once = !sl_table_is_catalog(look->old->table) &&
                         sl_engine_asks_at_once(engine, sl_snapshot_storage(look->old),
                                                sl_snapshot_root(look->old).ptr);
    sl_parallel_for(sl_engine_executor(engine), at_once ? 2 : 1, ask, look);
    return look->status;
}

static silt_status refresh(struct look *look, silt_snapshot **out, silt_error *err)
{
    silt_snapshot *old = look->old;
    size_t n_new = 0;
    SL_TRY(look_behind(look));
    enum continuation found = judge_listing(old, look->listed.data, look->listed.len, &n_new);
    if (found == LOG_GREW && atomic_load(&old->view) == NULL && atomic_load(&old->files) == NULL) {
        found = LOG_DIFFERS; /* opened through a version checksum: so is the new one, if it can be */
    }
    switch (found) {
    case LOG_UNCHANGED:
        atomic_store(&old->n_ahead, 1);
        *out = silt_snapshot_ref(old);
        return SILT_OK;
    case LOG_GREW:
        SL_TRY(make_grown(look, n_new, out, err));
        atomic_store(&(*out)->n_ahead, n_new + 1); /* a log that grows is likely to go on */
        return SILT_OK;
    case LOG_DIFFERS: break;
    }
    sl_table_keep_crc(old->table, NULL); /* it may be another table's */
    return sl_snapshot_load(old->table, look->call, SL_VERSION_LATEST, out, err);
}

silt_status silt_snapshot_refresh(silt_snapshot *snapshot, const silt_call *call, silt_snapshot **out, silt_error *err)
{
    if (snapshot == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_snapshot_refresh needs a snapshot and an out parameter");
    }
    *out = NULL;
    struct look look = {.old = snapshot, .call = call, .err = err};
    sl_arena_init(&look.names, snapshot->env);
    sl_vec_init(&look.listed, snapshot->env, sizeof(struct sl_log_file));
    const struct sl_snapshot_moment moment = sl_snapshot_moment_now(snapshot->env);
    const silt_status status = refresh(&look, out, err);
    if (status == SILT_OK) {
        sl_snapshot_note_newest(*out, moment);
    }
    sl_ahead_release(&look.ahead);
    sl_vec_release(&look.listed);
    sl_arena_release(&look.names);
    return status;
}
