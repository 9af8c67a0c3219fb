/*
 * The course of what follows a commit: the version checksum, which costs a small read and a small write; and every
 * delta.checkpointInterval commits a checkpoint, after which expired files of the log may go. Only for a checkpoint are the
 * table's files loaded. And a look whether the table is still there. Called by silt_txn_commit, on its thread.
 */
#include "kernel/txn/after_commit.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/checkpoint/checkpoint_write.h"
#include "kernel/checkpoint/cleanup.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/after_crc.h"
#include "kernel/txn/creation_check.h"

/* A larger commit is not parsed again only to derive a checksum, which the next checkpoint brings. */
#define MAX_PARSED_BYTES ((size_t)64 * 1024 * 1024)
/* A smaller one is copied, so that what is derived from it can stay for the next commit. */
#define MAX_OWNED_BYTES ((size_t)64 * 1024)

struct after {
    const struct sl_committed *committed;
    const silt_call *call;
    const silt_env *env;
    struct sl_arena arena;
    const struct sl_metadata *metadata; /* of the version, NULL: not known */
    enum sl_log_fate fate;
    struct sl_kept_crc *kept; /* of the checksum that was put; NULL: none was */
    bool has_put;             /* with these totals */
    int64_t n_files, table_size;
};

static void tell(const struct after *after, const char *what, const silt_error *err)
{
    sl_log(after->env, SILT_LOG_WARN, "%s: version %" PRId64 " is committed, but %s: %s",
           silt_table_uri(after->committed->table), after->committed->version, what, err->message);
}

/* ---- the checksum ---- */

static silt_status write_crc(struct after *after, silt_error *err)
{
    const struct sl_committed *committed = after->committed;
    const bool owns = committed->bytes.len <= MAX_OWNED_BYTES;
    const struct sl_commit_bytes bytes = {.env = after->env,
                                          .version = committed->version,
                                          .bytes = owns ? sl_arena_copy(&after->arena, committed->bytes)
                                                        : committed->bytes};
    struct sl_commit *commit = sl_arena_alloc_zero(&after->arena, sizeof(*commit));
    struct sl_crc *crc = sl_arena_alloc_zero(&after->arena, sizeof(*crc));
    if (commit == NULL || crc == NULL || bytes.bytes.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_commit_parse_in_place(&bytes, &after->arena, commit, err));
    const struct sl_action *changed = sl_actions_find(commit->actions, commit->n_actions, SL_ACTION_METADATA);
    after->metadata = changed != NULL ? &changed->u.metadata : after->metadata;
    const struct sl_after_crc request = {
        .committed = committed, .commit = commit, .arena = &after->arena, .owns_commit = owns};
    bool made = false;
    const silt_status status = sl_after_crc_write(&request, after->call, crc, &made, &after->kept, err);
    if (made) {
        after->metadata = &crc->metadata;
    }
    after->has_put = after->kept != NULL;
    after->n_files = crc->n_files;
    after->table_size = crc->table_size;
    return status;
}

/* ---- the checkpoint ---- */

/* As by Delta Spark: not for the first version, however small the interval. */
static bool checkpoint_is_due(const struct after *after)
{
    const int64_t version = after->committed->version;
    const int64_t interval = after->metadata != NULL
                                 ? sl_property_int(&after->metadata->configuration, "delta.checkpointInterval")
                                 : 0;
    return version > 0 && interval > 0 && version % interval == 0;
}

static silt_status refresh(const struct after *after, silt_snapshot **out, silt_error *err)
{
    const struct sl_committed *committed = after->committed;
    if (committed->base != NULL) {
        SL_TRY(silt_snapshot_refresh(committed->base, after->call, out, err));
    } else {
        SL_TRY(silt_table_latest_snapshot(committed->table, after->call, out, err));
    }
    return sl_snapshot_settle(out, after->call, err);
}

/* Only now that a new checkpoint may stand for what goes. */
static void clean_up(const struct after *after, silt_snapshot *snapshot)
{
    const struct sl_cleanup_request request = {.table = after->committed->table, .snapshot = snapshot};
    struct sl_cleanup_result result;
    silt_error err = SILT_ERROR_INIT;
    if (sl_log_clean_up(&request, after->call, &result, &err) != SILT_OK) {
        tell(after, "the log was not cleaned up", &err);
    }
}

/* The checksum that was put just now needs no second look unless the checkpoint counted otherwise. */
static bool has_good_checksum(const struct after *after, const silt_snapshot *snapshot,
                              const struct sl_checkpoint_result *counted)
{
    const bool knows = counted->written && counted->n_adds >= 0 && counted->adds_bytes >= 0;
    return after->has_put && silt_snapshot_version(snapshot) == after->committed->version &&
           (!knows || (counted->n_adds == after->n_files && counted->adds_bytes == after->table_size));
}

static silt_status write_checkpoint(const struct after *after, silt_snapshot *snapshot, silt_error *err)
{
    struct sl_checkpoint_result counted;
    SL_TRY(sl_checkpoint_write_told(snapshot, after->call, NULL, &counted, err));
    if (has_good_checksum(after, snapshot, &counted)) {
        return SILT_OK;
    }
    return sl_after_crc_restart(after->committed->table, snapshot, after->call, counted.written ? &counted : NULL, err);
}

static void checkpoint(const struct after *after)
{
    silt_error err = SILT_ERROR_INIT;
    silt_snapshot *snapshot = NULL;
    silt_status status = refresh(after, &snapshot, &err);
    /* A catalog's table as it was opened does not show newer versions, and only published ones have checkpoints. */
    if (status == SILT_OK && silt_snapshot_version(snapshot) >= after->committed->version) {
        status = write_checkpoint(after, snapshot, &err);
    }
    if (status != SILT_OK) {
        tell(after, "the checkpoint that is due was not written", &err);
    } else if (silt_snapshot_version(snapshot) >= after->committed->version) {
        clean_up(after, snapshot);
    }
    silt_snapshot_unref(snapshot);
}

/* ---- the whole ---- */

static void add_checksum(struct after *after)
{
    silt_error err = SILT_ERROR_INIT;
    if (after->committed->bytes.len <= MAX_PARSED_BYTES && write_crc(after, &err) != SILT_OK) {
        tell(after, "its version checksum was not written", &err);
    }
}

static void look(struct after *after)
{
    const struct sl_committed *committed = after->committed;
    if (sl_table_is_catalog(committed->table)) {
        return; /* what a catalog manages, it alone gives away */
    }
    if (committed->base != NULL) {
        after->fate = sl_snapshot_fate(committed->base, after->call, committed->version);
    } else if (committed->created_id.ptr != NULL) {
        after->fate = sl_creation_fate(committed->table, after->call, committed->created_id);
    }
}

static void run_item(void *arg, size_t item)
{
    if (item == 0) {
        add_checksum(arg);
    } else {
        look(arg);
    }
}

/* A store far away is asked at the same time. */
static void look_and_add_checksum(struct after *after)
{
    silt_table *table = after->committed->table;
    silt_engine *engine = silt_table_engine(table);
    if (sl_engine_asks_at_once(engine, sl_table_storage(table), sl_table_root(table).ptr)) {
        sl_parallel_for(sl_engine_executor(engine), 2, run_item, after);
    } else {
        look(after);
        if (after->fate == SL_LOG_STANDS) {
            add_checksum(after);
        }
    }
}

static void remove_checksum(struct after *after)
{
    const char *name = sl_crc_name(&after->arena, after->committed->version);
    const struct sl_str path = name != NULL ? sl_log_path(&after->arena, sl_table_root(after->committed->table),
                                                          sl_str_from(name))
                                            : (struct sl_str){NULL, 0};
    if (path.ptr != NULL) {
        sl_ignore(silt_storage_remove(sl_table_storage(after->committed->table), NULL, path.ptr, NULL));
    }
}

enum sl_log_fate sl_after_commit(const struct sl_committed *committed, const silt_call *call)
{
    struct after after = {.committed = committed,
                          .call = call,
                          .env = silt_engine_env(silt_table_engine(committed->table)),
                          .metadata = committed->base != NULL ? sl_snapshot_get_metadata(committed->base) : NULL,
                          .fate = SL_LOG_STANDS};
    sl_arena_init(&after.arena, after.env);
    look_and_add_checksum(&after);
    const bool stands = after.fate == SL_LOG_STANDS;
    const bool is_due = stands && checkpoint_is_due(&after);
    if (!stands) {
        remove_checksum(&after);
    }
    after.metadata = NULL; /* it goes with the arena */
    if (stands && after.kept != NULL) {
        sl_after_crc_keep(committed, after.kept, &after.arena);
    } else {
        sl_kept_crc_free(after.kept);
        sl_arena_release(&after.arena);
    }
    if (is_due) {
        checkpoint(&after);
    }
    return after.fate;
}
