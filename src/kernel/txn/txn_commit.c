/*
 * Committing: the actions of a transaction in their order, the facts for the conflict check, and the result for the caller.
 * Called once a transaction. PROTOCOL.md "Delta Log Entries", "Commit Provenance Information".
 */
#include "kernel/txn/txn_int.h"

#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/after_commit.h"
#include "kernel/txn/base_check.h"
#include "kernel/txn/commit_loop.h"
#include "kernel/txn/commit_render.h"
#include "kernel/txn/replace.h"
#include "kernel/txn/row_ids.h"
#include "kernel/txn/txn_write.h"

#define MAX_ATTEMPTS 100000
#define RESOLVE_US (60 * INT64_C(1000000))

/* The actions that it will write, in the order of the file, after commitInfo. */
static silt_status gather_actions(silt_txn *txn, struct sl_rebase *rebase, silt_error *err)
{
    const size_t most = 2 + txn->domains.len + txn->app_txns.len + txn->removes.len + txn->adds.len;
    struct sl_action *list = sl_arena_alloc_array(&txn->arena, most, sizeof(*list));
    int64_t *rows = sl_arena_alloc_array(&txn->arena, most, sizeof(*rows));
    if (list == NULL || rows == NULL) {
        return sl_fail_nomem(err);
    }
    size_t count = 0;
    if (txn->protocol_changed) {
        list[count].kind = SL_ACTION_PROTOCOL;
        list[count++].u.protocol = txn->protocol;
    }
    if (txn->metadata_changed) {
        list[count].kind = SL_ACTION_METADATA;
        list[count++].u.metadata = txn->metadata;
    }
    const struct sl_vec *const parts[] = {&txn->domains, &txn->app_txns, &txn->removes, &txn->adds};
    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
        for (size_t i = 0; i < parts[part]->len; i++) {
            rows[count] = parts[part] == &txn->adds ? *(const int64_t *)sl_vec_at(&txn->add_rows, i) : SL_NO_I64;
            list[count++] = *sl_txn_action_at(parts[part], i);
        }
    }
    rebase->actions = list;
    rebase->rows = rows;
    rebase->n_actions = count;
    return SILT_OK;
}

static bool changes_data(const struct sl_action *actions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((actions[i].kind == SL_ACTION_ADD && actions[i].u.add.data_change) ||
            (actions[i].kind == SL_ACTION_REMOVE && actions[i].u.remove.data_change)) {
            return true;
        }
    }
    return false;
}

/* As Delta Spark: a commit of nothing but files without data change needs snapshot isolation only. */
static enum sl_isolation choose_isolation(const silt_txn *txn, bool data)
{
    if (!data && !txn->metadata_changed && !txn->protocol_changed && txn->app_txns.len == 0 && txn->domains.len == 0) {
        return SL_ISOLATION_SNAPSHOT;
    }
    const struct sl_str level = sl_property_text(&txn->metadata.configuration, "delta.isolationLevel");
    return sl_str_eq_c(level, "Serializable") ? SL_ISOLATION_SERIALIZABLE : SL_ISOLATION_WRITE_SERIALIZABLE;
}

static const char *isolation_name(enum sl_isolation isolation)
{
    switch (isolation) {
    case SL_ISOLATION_SERIALIZABLE: return "Serializable";
    case SL_ISOLATION_WRITE_SERIALIZABLE: return "WriteSerializable";
    case SL_ISOLATION_SNAPSHOT: break;
    }
    return "SnapshotIsolation";
}

static struct sl_txn_facts gather_facts(const silt_txn *txn, const struct sl_rebase *rebase)
{
    const bool data = changes_data(rebase->actions, rebase->n_actions);
    return (struct sl_txn_facts){
        .read_version = txn->read_version,
        .isolation = choose_isolation(txn, data),
        .read_whole_table = txn->reads_table,
        .reads = txn->reads.data,
        .n_reads = txn->reads.len,
        .read_files = txn->read_files.data,
        .n_read_files = txn->read_files.len,
        .schema = txn->snapshot != NULL ? silt_snapshot_schema(txn->snapshot) : txn->schema,
        .physical = txn->snapshot != NULL ? silt_snapshot_physical_schema(txn->snapshot) : txn->physical,
        .partition_columns = txn->snapshot != NULL ? &sl_snapshot_get_metadata(txn->snapshot)->partition_columns
                                                   : &txn->metadata.partition_columns,
        .is_blind_append = txn->removes.len == 0 && !txn->reads_table && txn->reads.len == 0 &&
                           txn->read_files.len == 0 && !txn->readds,
        .is_backfill = rebase->is_backfill,
        .exclusive = txn->exclusive};
}

struct marked {
    const silt_env *env;
    int64_t high_water;
};

static silt_status check_file_ids(void *ctx, const struct sl_add *add, bool whole, silt_error *err)
{
    const struct marked *marked = ctx;
    return sl_row_ids_check(marked->env, marked->high_water, add, whole, err);
}

/* Ids that follow a mark which lies would be those of other rows. What is in memory is looked at; a checkpoint is not read for it. */
static silt_status check_high_water(const silt_txn *txn, const struct sl_rebase *rebase, silt_error *err)
{
    struct marked marked = {txn->env, rebase->row_id_high_water};
    return txn->adds.len > 0 && sl_row_ids_wanted(rebase)
               ? sl_snapshot_each_last_row_id(txn->snapshot, check_file_ids, &marked, err)
               : SILT_OK;
}

/* What the snapshot that was read leaves to the commit after it. */
static silt_status begin_rebase(silt_txn *txn, struct sl_rebase *rebase, silt_error *err)
{
    const silt_snapshot *snapshot = txn->snapshot;
    if (txn->read_version == INT64_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the table has used up all versions");
    }
    *rebase = (struct sl_rebase){.arena = &txn->arena,
                                 .version = txn->read_version + 1,
                                 .floor_ms = SL_NO_I64,
                                 .row_id_high_water = -1,
                                 .protocol = &txn->protocol,
                                 .metadata = &txn->metadata,
                                 .is_backfill = sl_str_eq_c(txn->operation, SL_BACKFILL_OPERATION)};
    if (snapshot != NULL) {
        const char *domain = silt_snapshot_domain(snapshot, SL_ROW_TRACKING_DOMAIN);
        rebase->floor_ms = sl_snapshot_commit_time_ms(snapshot);
        SL_TRY(sl_row_id_high_water(txn->env, sl_str_from(domain), &rebase->row_id_high_water, err));
        SL_TRY(check_high_water(txn, rebase, err));
        rebase->needs_file_times = sl_has_commit_times(&txn->protocol, &txn->metadata) &&
                                   !sl_has_commit_times(sl_snapshot_protocol(snapshot),
                                                        sl_snapshot_get_metadata(snapshot));
    }
    return gather_actions(txn, rebase, err);
}

/* PROTOCOL: Transaction Identifiers: what the table has recorded already is not done again. */
bool sl_txn_is_recorded(const silt_txn *txn)
{
    for (size_t i = 0; txn->snapshot != NULL && i < txn->app_txns.len; i++) {
        const struct sl_app_txn *app = &sl_txn_action_at(&txn->app_txns, i)->u.app_txn;
        if (silt_snapshot_app_version(txn->snapshot, app->app_id.ptr) >= app->version) {
            return true;
        }
    }
    return false;
}

/* One commit from its beginning to its end. */
struct run {
    silt_txn *txn;
    struct sl_rebase rebase;
    struct sl_commit_render render;
    struct sl_buf bytes;
    struct sl_commit_end end;
};

static silt_status check_base(struct run *run, const silt_call *call, bool *is_behind, silt_error *err)
{
    struct sl_base_look look;
    const silt_status status = sl_txn_check_base(run->txn, call, &look, err);
    if (status == SILT_ECONFLICT) {
        run->end.conflict = SILT_CONFLICT_CONCURRENT_WRITE;
        run->end.version = look.newest;
    }
    *is_behind = look.next_is_there;
    return status;
}

static struct sl_commit_place place_of(const silt_txn *txn)
{
    return (struct sl_commit_place){.env = txn->env,
                                    .storage = txn->storage,
                                    .root = txn->root,
                                    .committer = txn->by_catalog ? sl_table_committer(txn->table) : NULL,
                                    .rests = txn->snapshot != NULL};
}

static silt_status run_job(struct run *run, const silt_call *call, silt_error *err)
{
    silt_txn *txn = run->txn;
    struct sl_commit_place place = place_of(txn);
    bool is_behind = false;
    for (size_t i = 0; i < txn->app_txns.len; i++) {
        sl_txn_action_at(&txn->app_txns, i)->u.app_txn.last_updated = sl_now_ms(txn->env);
    }
    SL_TRY(sl_txn_check_schema_change(txn, err));
    SL_TRY(sl_txn_check_enablement(txn, call, err));
    SL_TRY(sl_replace_check(txn, call, err));
    SL_TRY(sl_txn_check_adds(txn, call, err));
    SL_TRY(sl_txn_enable_row_tracking(txn, err));
    SL_TRY(check_base(run, call, &is_behind, err));
    SL_TRY(begin_rebase(txn, &run->rebase, err));
    const silt_commit_options *options = &txn->options;
    const struct sl_commit_job job = {.env = txn->env,
                                      .place = &place,
                                      .render = sl_commit_render,
                                      .render_ctx = &run->render,
                                      .txn_id = run->render.txn_id,
                                      .rebase = &run->rebase,
                                      .facts = gather_facts(txn, &run->rebase),
                                      .is_behind = is_behind,
                                      .max_attempts = options->max_attempts > 0 ? options->max_attempts : MAX_ATTEMPTS,
                                      .time_limit_us = options->time_limit_us,
                                      .resolve_us = options->resolve_us > 0 ? options->resolve_us : RESOLVE_US};
    run->render = (struct sl_commit_render){.txn = txn,
                                            .isolation = isolation_name(job.facts.isolation),
                                            .is_blind_append = job.facts.is_blind_append,
                                            .had_times = txn->snapshot != NULL && !run->rebase.needs_file_times,
                                            .first_timestamp_ms = SL_NO_I64,
                                            .in_commit_timestamp_ms = SL_NO_I64};
    SL_TRY(sl_uuid_make(txn->env, run->render.txn_id, err));
    const silt_status status = sl_commit_run(&job, call, &run->bytes, &run->end, err);
    if (run->end.outcome == SILT_COMMIT_CONFLICT || run->end.outcome == SILT_COMMIT_SKIPPED) {
        sl_place_drop_staged(&place);
    }
    return status;
}

static int64_t number_or(int64_t number, int64_t if_absent)
{
    return number != SL_NO_I64 ? number : if_absent;
}

static void fill_result(const struct run *run, silt_commit_result *result)
{
    const silt_txn *txn = run->txn;
    const struct sl_commit_end *end = &run->end;
    const bool committed = end->outcome == SILT_COMMIT_COMMITTED;
    /* Rows that were there and were written again are not added. */
    const int64_t added = txn->rows_added < 0 || txn->rows_copied < 0 ? -1 : txn->rows_added - txn->rows_copied;
    const silt_commit_result full = {
        .size = result->size,
        .outcome = end->outcome,
        .conflict = end->conflict,
        .version = end->version,
        .attempts = end->attempts,
        .files_added = committed ? (int64_t)txn->adds.len : 0,
        .files_removed = committed ? (int64_t)txn->removes.len : 0,
        .rows_added = committed ? added : 0,
        .winners = run->rebase.winners,
        .rebased = run->rebase.changes | run->render.changes,
        .in_commit_timestamp_ms = committed ? number_or(run->render.in_commit_timestamp_ms, -1) : -1,
        .conflict_operation = end->operation.ptr,
        .conflict_file = end->path.ptr,
        .conflict_partition = end->partition.ptr,
    };
    memcpy(result, &full, result->size < sizeof(full) ? result->size : sizeof(full));
}

static void publish(const struct run *run, const silt_call *call)
{
    const silt_txn *txn = run->txn;
    silt_error found = SILT_ERROR_INIT;
    if (txn->by_catalog && silt_table_publish(txn->table, call, NULL, &found) != SILT_OK) {
        sl_log(txn->env, SILT_LOG_WARN, "%s: version %lld is committed, but not published: %s",
               silt_table_uri(txn->table), (long long)run->end.version, found.message);
    }
}

static const char *tell_fate(enum sl_log_fate fate)
{
    switch (fate) {
    case SL_LOG_GONE: return "was dropped with the table, and it could not be taken back: ";
    case SL_LOG_EXPIRED: return "has expired with versions after it: it may lie where no reader looks";
    default: return "is another one now";
    }
}

/* Its version is in the log, but the table that it rests on is not what it was. */
static silt_status finish_fallen(struct run *run, enum sl_log_fate fate, silt_error *err)
{
    const struct sl_commit_place place = place_of(run->txn);
    const int64_t version = run->end.version;
    silt_error found = SILT_ERROR_INIT;
    if (fate == SL_LOG_GONE && sl_place_take_back(&place, version, &found) == SILT_OK) {
        run->end.outcome = SILT_COMMIT_CONFLICT;
        run->end.conflict = SILT_CONFLICT_CONCURRENT_WRITE;
        run->end.version = -1;
        return sl_conflict_dropped(run->txn->read_version, err);
    }
    run->end.outcome = SILT_COMMIT_UNKNOWN;
    const silt_status status = sl_fail(
        err, SILT_EUNKNOWN, NULL, "version %lld was written (txnId %s), but version %lld, which it rests on, %s%s",
        (long long)version, run->render.txn_id, (long long)run->txn->read_version, tell_fate(fate), found.message);
    sl_error_version(err, version);
    sl_error_hint(err, "look at the table before trying again");
    return status;
}

/* The first version of a table was written, and below what is left of another, or in the place of its first. */
static silt_status finish_hidden(struct run *run, enum sl_log_fate fate, silt_error *err)
{
    const struct sl_commit_place place = place_of(run->txn);
    silt_error found = SILT_ERROR_INIT;
    silt_status status = SILT_OK;
    if (fate == SL_LOG_EXPIRED && sl_place_take_back(&place, run->end.version, &found) == SILT_OK) {
        run->end.outcome = SILT_COMMIT_CONFLICT;
        run->end.conflict = SILT_CONFLICT_CONCURRENT_WRITE;
        run->end.version = -1;
        status = sl_fail(err, SILT_ECONFLICT, "DELTA_CONCURRENT_WRITE",
                         "another table was made here meanwhile, and its first versions have expired since");
        sl_error_hint(err, "run the operation again; it will start from the table's new state");
        return status;
    }
    run->end.outcome = SILT_COMMIT_UNKNOWN;
    status = sl_fail(
        err, SILT_EUNKNOWN, NULL, "version %lld was written (txnId %s), but the table is another one now%s%s",
        (long long)run->end.version, run->render.txn_id, found.message[0] != '\0' ? ": " : "", found.message);
    sl_error_version(err, run->end.version);
    sl_error_hint(err, "look at the table before trying again");
    return status;
}

/* Everything that can be done once the version is ours. */
static silt_status finish_committed(struct run *run, const silt_call *call, silt_error *err)
{
    silt_txn *txn = run->txn;
    publish(run, call);
    const struct sl_committed committed = {.table = txn->table,
                                           .base = txn->snapshot,
                                           .version = run->end.version,
                                           .created_id = txn->snapshot == NULL ? txn->metadata.id : (struct sl_str){0},
                                           .bytes = sl_buf_view(&run->bytes),
                                           .options = &txn->options};
    const enum sl_log_fate fate = sl_after_commit(&committed, call);
    if (fate != SL_LOG_STANDS) {
        return txn->snapshot != NULL ? finish_fallen(run, fate, err) : finish_hidden(run, fate, err);
    }
    txn->written.len = 0; /* they belong to the table now */
    sl_txn_unmark_creation(txn);
    return SILT_OK;
}

/*
 * Of a transaction that has not ended. One that has keeps how it ended: were a commit whose outcome is unknown to count as failed, the
 * files that it may have made part of the table would be removed.
 */
static silt_status commit_open(struct run *run, const silt_call *call, silt_error *err)
{
    silt_txn *txn = run->txn;
    silt_status status = SILT_OK;
    if (sl_txn_is_recorded(txn)) {
        run->end.outcome = SILT_COMMIT_SKIPPED;
        run->end.version = txn->read_version;
    } else {
        status = run_job(run, call, err);
    }
    if (status == SILT_OK && run->end.outcome == SILT_COMMIT_COMMITTED) {
        status = finish_committed(run, call, err);
    }
    txn->state = run->end.outcome == SILT_COMMIT_UNKNOWN ? SL_TXN_UNKNOWN : SL_TXN_ENDED;
    return status;
}

silt_status silt_txn_commit(silt_txn *txn, const silt_call *call, silt_commit_result *result, silt_error *err)
{
    if (txn == NULL) {
        return sl_txn_check_open(txn, err);
    }
    struct run run = {.txn = txn, .end = {.outcome = SILT_COMMIT_CONFLICT, .version = -1}};
    run.render.in_commit_timestamp_ms = SL_NO_I64;
    sl_buf_init(&run.bytes, txn->env);
    silt_status status = sl_txn_check_open(txn, err);
    if (status == SILT_OK) {
        status = commit_open(&run, call, err);
    }
    if (result != NULL) {
        fill_result(&run, result);
    }
    if (status != SILT_OK) {
        sl_error_path(err, silt_table_uri(txn->table));
    }
    sl_buf_release(&run.bytes);
    return status;
}
