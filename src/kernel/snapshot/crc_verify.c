/*
 * Verification of version checksums; see crc_verify.h. The snapshot's files are walked once, the commit of the version is read
 * for its identifier and time. Any thread.
 */
#include "kernel/snapshot/crc_verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/map.h"
#include "kernel/feature/feature.h"
#include "kernel/log/crc.h"
#include "kernel/snapshot/crc_compare.h"
#include "kernel/snapshot/snapshot_int.h"

#define MESSAGE_SIZE 256

struct verifier {
    silt_snapshot *snapshot;
    struct sl_crc crc;
    struct sl_arena arena;
    void (*on_fault)(void *ctx, const char *member, const char *message);
    void *ctx;
    /* of the live files: */
    int64_t n_files, bytes, n_vectors, n_deleted;
    struct sl_map listed; /* paths of allFiles → place in it */
    int64_t n_unlisted;   /* live files that are not in it, or have another size there */
    /* of the commit: */
    bool has_commit_info;
    struct sl_str txn_id;
    int64_t in_commit_timestamp;
};

static void tell_number(struct verifier *v, const char *member, int64_t said, int64_t found)
{
    if (said == SL_NO_I64 || said == found) {
        return;
    }
    char text[MESSAGE_SIZE];
    (void)snprintf(text, sizeof(text), "%s is %" PRId64 " where the log has %" PRId64, member, said, found);
    v->on_fault(v->ctx, member, text);
}

/* ---- files ---- */

static silt_status take_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct verifier *v = ctx;
    (void)stop;
    v->n_files++;
    if (!sl_add_i64(v->bytes, add->size, &v->bytes)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "sizes of the files do not add up");
    }
    if (add->deletion_vector != NULL) {
        v->n_vectors++;
        v->n_deleted += add->deletion_vector->cardinality;
    }
    if (v->crc.has_all_files) {
        const struct sl_map_entry *entry = sl_map_find(&v->listed, add->path);
        const struct sl_add *listed = entry != NULL ? &v->crc.all_files[entry->value.u64] : NULL;
        v->n_unlisted += listed == NULL || listed->size != add->size ? 1 : 0;
    }
    return SILT_OK;
}

static silt_status index_all_files(struct verifier *v, silt_error *err)
{
    for (size_t i = 0; i < v->crc.n_all_files; i++) {
        struct sl_map_entry *entry = sl_map_put(&v->listed, v->crc.all_files[i].path, NULL);
        if (entry == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = i;
    }
    return SILT_OK;
}

static silt_status compare_files(struct verifier *v, const silt_call *call, silt_error *err)
{
    SL_TRY(index_all_files(v, err));
    SL_TRY(sl_snapshot_each_file(v->snapshot, call, SL_FILES_ALL, take_file, v, err));
    tell_number(v, "numFiles", v->crc.n_files, v->n_files);
    tell_number(v, "tableSizeBytes", v->crc.table_size, v->bytes);
    tell_number(v, "numDeletionVectorsOpt", v->crc.n_deletion_vectors, v->n_vectors);
    tell_number(v, "numDeletedRecordsOpt", v->crc.n_deleted_records, v->n_deleted);
    if (v->n_unlisted > 0) {
        char text[MESSAGE_SIZE];
        (void)snprintf(text, sizeof(text), "allFiles lacks %" PRId64 " live files, or has other sizes of them",
                       v->n_unlisted);
        v->on_fault(v->ctx, "allFiles", text);
    }
    return SILT_OK;
}

/* ---- the commit ---- */

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct verifier *v = ctx;
    if (commit->commit_info == NULL) {
        return SILT_OK;
    }
    v->has_commit_info = true;
    v->in_commit_timestamp = commit->commit_info->in_commit_timestamp;
    if (commit->commit_info->txn_id.ptr != NULL) {
        v->txn_id = sl_arena_copy(&v->arena, commit->commit_info->txn_id);
        return v->txn_id.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    return SILT_OK;
}

static silt_status compare_commit(struct verifier *v, const silt_call *call, silt_error *err)
{
    const struct sl_log_segment *segment = &v->snapshot->segment;
    const struct sl_log_source source = sl_snapshot_source(v->snapshot);
    if (!segment->has_commit_file) {
        return SILT_OK;
    }
    const struct sl_commits_request request = {
        .source = &source, .files = &segment->commit_file, .n = 1, .missing = SL_MISSING_IS_PAST, .info_only = true};
    SL_TRY(sl_commits_each(&request, call, take_commit, v, err));
    if (!v->has_commit_info) {
        return SILT_OK;
    }
    if (v->crc.txn_id.ptr != NULL && v->txn_id.ptr != NULL && !sl_str_eq(v->crc.txn_id, v->txn_id)) {
        char text[MESSAGE_SIZE];
        (void)snprintf(text, sizeof(text), "txnId is %.60s where the commit has %.60s", v->crc.txn_id.ptr,
                       v->txn_id.ptr);
        v->on_fault(v->ctx, "txnId", text);
    }
    /* PROTOCOL: present if and only if in-commit timestamps are enabled. */
    const bool enabled = sl_protocol_has_feature(&v->snapshot->state.protocol, "inCommitTimestamp") &&
                         sl_property_bool(&v->snapshot->state.metadata.configuration, "delta.enableInCommitTimestamps");
    if (enabled && v->crc.in_commit_timestamp == SL_NO_I64) {
        v->on_fault(v->ctx, "inCommitTimestampOpt", "inCommitTimestampOpt is missing, but the table has such times");
    } else if (v->in_commit_timestamp != SL_NO_I64) {
        tell_number(v, "inCommitTimestampOpt", v->crc.in_commit_timestamp, v->in_commit_timestamp);
    }
    return SILT_OK;
}

/* ---- the state ---- */

/* What the checksum does not say is taken from the log, so that only what it says is judged. */
static silt_status compare_state(struct verifier *v, silt_error *err)
{
    const struct sl_replay_state *log = &v->snapshot->state;
    struct sl_replay_state said;
    struct sl_replay replay;
    sl_replay_state_init(&said, v->snapshot->env);
    sl_replay_init(&replay, v->snapshot->env, sl_snapshot_root(v->snapshot), &said, &v->arena, NULL);
    silt_status status = sl_crc_each_action(&v->crc, &replay, err);
    for (size_t i = 0; i < log->app_txns.len && !v->crc.has_txns && status == SILT_OK; i++) {
        const struct sl_app_txn *txn = sl_vec_at(&log->app_txns, i);
        const struct sl_action action = {.kind = SL_ACTION_APP_TXN, .u.app_txn = *txn};
        status = sl_replay_checkpoint_action(&replay, &action, err);
    }
    for (size_t i = 0; i < log->domains.len && !v->crc.has_domains && status == SILT_OK; i++) {
        const struct sl_domain_metadata *domain = sl_vec_at(&log->domains, i);
        const struct sl_action action = {.kind = SL_ACTION_DOMAIN_METADATA, .u.domain = *domain};
        status = sl_replay_checkpoint_action(&replay, &action, err);
    }
    char what[SL_CRC_DIFFERENCE_SIZE];
    if (status == SILT_OK && !sl_crc_same_state(v->snapshot->env, &said, log, what)) {
        char text[MESSAGE_SIZE];
        (void)snprintf(text, sizeof(text), "%s differs from what the log has", what);
        v->on_fault(v->ctx, what, text);
    }
    sl_replay_release(&replay);
    sl_replay_state_release(&said);
    return status;
}

static silt_status verify(struct verifier *v, const silt_call *call, const struct sl_log_file *file, silt_error *err)
{
    if (file->version != silt_snapshot_version(v->snapshot)) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "the version checksum of version %" PRId64 " cannot be compared with version %" PRId64,
                       file->version, silt_snapshot_version(v->snapshot));
    }
    const struct sl_log_source source = sl_snapshot_source(v->snapshot);
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_crc_read(&source, call, file, true, &v->arena, &v->crc, &found);
    if (status == SILT_ECORRUPT || status == SILT_ELIMIT) {
        v->on_fault(v->ctx, "", found.message);
        return SILT_OK;
    }
    if (status != SILT_OK) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    SL_TRY(compare_state(v, err));
    SL_TRY(compare_commit(v, call, err));
    return compare_files(v, call, err);
}

silt_status sl_crc_verify(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_file *file,
                          void (*on_fault)(void *ctx, const char *member, const char *message), void *ctx,
                          silt_error *err)
{
    struct verifier v = {
        .snapshot = silt_snapshot_ref(snapshot), .on_fault = on_fault, .ctx = ctx, .in_commit_timestamp = SL_NO_I64};
    const silt_env *env = snapshot->env;
    sl_arena_init(&v.arena, env);
    sl_map_init(&v.listed, env);
    silt_status status = sl_snapshot_settle(&v.snapshot, call, err);
    if (status == SILT_OK) {
        status = verify(&v, call, file, err);
    }
    sl_map_release(&v.listed);
    sl_arena_release(&v.arena);
    silt_snapshot_unref(v.snapshot);
    return status;
}
