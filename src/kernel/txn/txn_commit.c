/*
 * Committing: the actions of a transaction in their order, the facts for the conflict check, and the result for the caller.
 * Called once a transaction. PROTOCOL.md "Delta Log Entries", "Commit Provenance Information".
 */
#include "kernel/txn/txn_int.h"

#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "kernel/feature/feature.h"
#include "kernel/txn/commit_info.h"
#include "kernel/txn/commit_loop.h"
#include "kernel/txn/replace.h"
#include "kernel/txn/txn_write.h"

/* In the order of the file, after commitInfo. */
silt_status sl_txn_actions(silt_txn *txn, struct sl_action **actions, size_t *n, silt_error *err)
{
    const size_t most = 2 + txn->app_txns.len + txn->removes.len + txn->adds.len;
    struct sl_action *list = sl_arena_alloc_array(&txn->arena, most, sizeof(*list));
    if (list == NULL) {
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
    const struct sl_vec *const parts[] = {&txn->app_txns, &txn->removes, &txn->adds};
    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
        for (size_t i = 0; i < parts[part]->len; i++) {
            list[count++] = *sl_txn_action_at(parts[part], i);
        }
    }
    *actions = list;
    *n = count;
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
    if (!data && !txn->metadata_changed && !txn->protocol_changed && txn->app_txns.len == 0) {
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

static silt_status gather_facts(silt_txn *txn, struct sl_txn_facts *facts, silt_error *err)
{
    struct sl_action *actions = NULL;
    size_t n = 0;
    SL_TRY(sl_txn_actions(txn, &actions, &n, err));
    const bool data = changes_data(actions, n);
    *facts = (struct sl_txn_facts){.read_version = txn->read_version,
                                   .isolation = choose_isolation(txn, data),
                                   .read_whole_table = txn->reads_table,
                                   .read_predicates = (const silt_expr *const *)txn->predicates.data,
                                   .n_read_predicates = txn->predicates.len,
                                   .schema = txn->schema,
                                   .physical = txn->physical,
                                   .partition_columns = &txn->metadata.partition_columns,
                                   .actions = actions,
                                   .n_actions = n,
                                   .exclusive = txn->exclusive,
                                   .changes_data = data};
    facts->is_blind_append = txn->removes.len == 0 && !txn->reads_table && txn->predicates.len == 0;
    return SILT_OK;
}

static silt_status serialize(silt_txn *txn, const struct sl_txn_facts *facts, struct sl_buf *out, silt_error *err)
{
    char txn_id[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(txn->env, txn_id, err));
    const struct sl_commit_facts info = {sl_now_ms(txn->env), isolation_name(facts->isolation), facts->is_blind_append,
                                         txn_id};
    struct sl_buf json;
    sl_buf_init(&json, txn->env);
    silt_status status = sl_commit_info_write(&json, txn, &info, err);
    if (status == SILT_OK) {
        struct sl_action action = {.kind = SL_ACTION_COMMIT_INFO};
        action.u.commit_info.json = sl_buf_view(&json);
        status = sl_action_write(out, &action, err);
    }
    sl_buf_release(&json);
    for (size_t i = 0; status == SILT_OK && i < facts->n_actions; i++) {
        status = sl_action_write(out, &facts->actions[i], err);
    }
    return status;
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

static silt_status run_job(silt_txn *txn, const silt_call *call, struct sl_commit_end *end, silt_error *err)
{
    struct sl_commit_job job = {.env = txn->env,
                                .storage = txn->storage,
                                .root = txn->root,
                                .max_attempts = txn->max_attempts,
                                .resolve_us = txn->resolve_us};
    for (size_t i = 0; i < txn->app_txns.len; i++) {
        sl_txn_action_at(&txn->app_txns, i)->u.app_txn.last_updated = sl_now_ms(txn->env);
    }
    SL_TRY(sl_txn_check_schema_change(txn, err));
    SL_TRY(sl_txn_check_enablement(txn, call, err));
    SL_TRY(sl_replace_check(txn, call, err));
    SL_TRY(gather_facts(txn, &job.facts, err));
    job.first_version = txn->read_version + 1;
    struct sl_buf bytes;
    sl_buf_init(&bytes, txn->env);
    silt_status status = serialize(txn, &job.facts, &bytes, err);
    if (status == SILT_OK) {
        job.bytes = sl_buf_view(&bytes);
        status = sl_commit_run(&job, call, end, err);
    }
    sl_buf_release(&bytes);
    return status;
}

static void fill_result(const silt_txn *txn, const struct sl_commit_end *end, silt_commit_result *result)
{
    result->outcome = end->outcome;
    result->conflict = end->conflict;
    result->version = end->version;
    result->attempts = end->attempts;
    const bool committed = end->outcome == SILT_COMMIT_COMMITTED;
    result->files_added = committed ? (int64_t)txn->adds.len : 0;
    result->files_removed = committed ? (int64_t)txn->removes.len : 0;
    /* Rows that were there and were written again are not added. */
    const int64_t added = txn->rows_added < 0 || txn->rows_copied < 0 ? -1 : txn->rows_added - txn->rows_copied;
    result->rows_added = committed ? added : 0;
}

silt_status silt_txn_commit(silt_txn *txn, const silt_call *call, silt_commit_result *result, silt_error *err)
{
    struct sl_commit_end end = {.outcome = SILT_COMMIT_CONFLICT, .version = -1};
    silt_status status = sl_txn_check_open(txn, err);
    if (status == SILT_OK && sl_txn_is_recorded(txn)) {
        end.outcome = SILT_COMMIT_SKIPPED;
        end.version = txn->read_version;
    } else if (status == SILT_OK) {
        status = run_job(txn, call, &end, err);
    }
    if (txn != NULL) {
        if (status == SILT_OK && end.outcome == SILT_COMMIT_COMMITTED) {
            txn->written.len = 0; /* they belong to the table now */
            sl_txn_unmark_creation(txn);
        }
        txn->state = end.outcome == SILT_COMMIT_UNKNOWN ? SL_TXN_UNKNOWN : SL_TXN_ENDED;
        if (result != NULL) {
            fill_result(txn, &end, result);
        }
        if (status != SILT_OK) {
            sl_error_path(err, silt_table_uri(txn->table));
        }
    }
    return status;
}
