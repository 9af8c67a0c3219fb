/*
 * Loading a snapshot: a way to the version, then a version checksum or the log itself. The file list of a checkpoint is not read
 * here (see snapshot_files.c). Any thread; nothing is shared before it is complete.
 */
#include "kernel/snapshot/snapshot_int.h"

#include "base/env.h"
#include "base/error.h"

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

/* Files that are decided by the commits; without a checkpoint those are all. */
static silt_status keep_files(silt_snapshot *snapshot, struct sl_log_view *view, silt_error *err)
{
    if (view->segment.n_checkpoint == 0) {
        struct sl_file_list *list = NULL;
        SL_TRY(sl_file_list_of(sl_file_set_ref(view->tail), &list, err));
        atomic_store(&snapshot->details_too_big, !view->tail->has_details);
        sl_snapshot_keep_list(snapshot, list);
    }
    atomic_store(&snapshot->view, view);
    return SILT_OK;
}

/* The state moves to the snapshot; its text stays with the view, which lives as long. */
static silt_status open_by_log(silt_snapshot *snapshot, const struct sl_segment_search *search,
                               struct sl_log_view *view, enum sl_segment_fault *fault, silt_error *err)
{
    SL_TRY(sl_view_open(search, view, fault, err));
    sl_replay_state_release(&snapshot->state);
    snapshot->state = view->state;
    view->gave_state = true;
    sl_replay_state_init(&view->state, view->env);
    snapshot->segment = view->segment;
    snapshot->in_commit_timestamp = view->in_commit_timestamp;
    snapshot->txn_id = view->txn_id;
    return sl_snapshot_complete(snapshot, search->call, err);
}

/* One attempt. *chosen: a segment was found, which `segment` then tells; its text is the view's or the snapshot's. */
static silt_status attempt(struct sl_segment_search *search, silt_snapshot *snapshot, struct sl_log_view **view,
                           bool *chosen, enum sl_segment_fault *fault, silt_error *err)
{
    SL_TRY(sl_segment_search_next(search, &(*view)->arena, &(*view)->segment, err));
    *chosen = true;
    bool opened = false;
    snapshot->segment = (*view)->segment;
    if (!search->ignore_crcs && sl_table_trusts_crc(snapshot->table) && !sl_segment_search_fell_back(search)) {
        SL_TRY(sl_snapshot_open_by_crc(snapshot, search->call, &opened, err));
    }
    if (opened) {
        sl_arena_merge(&snapshot->arena, &(*view)->arena); /* the segment's names */
        return sl_snapshot_complete(snapshot, search->call, err);
    }
    SL_TRY(open_by_log(snapshot, search, *view, fault, err));
    SL_TRY(keep_files(snapshot, *view, err));
    *view = NULL;
    return SILT_OK;
}

/* *again: the failure is not final. */
static silt_status try_once(struct sl_segment_search *search, silt_snapshot **out, bool *again, silt_error *err)
{
    *again = false;
    silt_snapshot *snapshot = sl_snapshot_alloc(search->table);
    struct sl_log_view *view = sl_view_new(search->env);
    bool chosen = false;
    enum sl_segment_fault fault = SL_FAULT_OTHER;
    silt_status status = snapshot != NULL && view != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = attempt(search, snapshot, &view, &chosen, &fault, err);
    }
    if (status == SILT_OK) {
        *out = snapshot;
        snapshot = NULL;
    } else if (chosen) {
        const silt_status arranged = sl_segment_search_failed(search, &snapshot->segment, fault, err, again, err);
        status = arranged != SILT_OK ? arranged : status;
    }
    silt_snapshot_unref(snapshot);
    sl_view_free(view);
    return status;
}

/* What is wanted of a snapshot besides its version. */
enum wish {
    WISH_ANY,
    WISH_REPLAYED, /* no version checksum */
    WISH_FILES     /* nor that, and its files next */
};

static silt_status load(silt_table *table, const silt_call *call, int64_t version, enum wish wish, silt_snapshot **out,
                        silt_error *err)
{
    *out = NULL;
    struct sl_segment_search search;
    /* A catalog's latest version is the table's: with less than that, commits are missing. */
    const int64_t newest = sl_table_newest_allowed(table);
    const int64_t wanted = version == SL_VERSION_LATEST && newest < version ? newest : version;
    sl_segment_search_init(&search, table, call, wanted);
    search.ignore_crcs = wish != WISH_ANY;
    search.with_files = wish == WISH_FILES;
    silt_error found = SILT_ERROR_INIT;
    bool again = true;
    silt_status status = SILT_OK;
    while (again) {
        silt_error_reset(&found);
        status = try_once(&search, out, &again, &found);
    }
    sl_segment_search_release(&search);
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

silt_status sl_snapshot_load(silt_table *table, const silt_call *call, int64_t version, silt_snapshot **out,
                             silt_error *err)
{
    return load(table, call, version, WISH_ANY, out, err);
}

silt_status sl_table_newest_replayed(silt_table *table, const silt_call *call, bool with_files, silt_snapshot **out,
                                     silt_error *err)
{
    const struct sl_snapshot_moment moment = sl_snapshot_moment_now(silt_engine_env(silt_table_engine(table)));
    SL_TRY(load(table, call, SL_VERSION_LATEST, with_files ? WISH_FILES : WISH_REPLAYED, out, err));
    sl_snapshot_note_newest(*out, moment);
    return SILT_OK;
}
