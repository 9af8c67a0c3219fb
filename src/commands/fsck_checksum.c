/*
 * Version checksums against the state of their version (PROTOCOL.md "Version Checksum File"). The kernel's own verification
 * (kernel/snapshot/crc_verify.h) replays the log for each; here the walk through the log has the state at hand.
 */
#include <inttypes.h>

#include "base/error.h"
#include "commands/fsck_int.h"
#include "kernel/feature/feature.h"
#include "kernel/log/crc.h"
#include "kernel/snapshot/crc_compare.h"

struct judging {
    struct sl_fsck *fsck;
    struct sl_fsck_state *state;
    struct sl_fsck_about about;
    struct sl_arena arena;
    struct sl_crc crc;
};

static silt_status compare_number(struct judging *j, const char *member, int64_t said, int64_t right, silt_error *err)
{
    return said == SL_NO_I64 || said == right ? SILT_OK
                                              : sl_fsck_tell_numbers(j->fsck, &j->about, right, said, member, err);
}

/* What it does not say is not judged. */
static silt_status compare_state(struct judging *j, silt_error *err)
{
    const struct sl_replay_state *log = &j->state->state;
    struct sl_replay_state said;
    struct sl_replay replay;
    sl_replay_state_init(&said, j->fsck->env);
    sl_replay_init(&replay, j->fsck->env, j->fsck->source.root, &said, &j->arena, NULL);
    silt_status status = sl_crc_each_action(&j->crc, &replay, err);
    for (size_t i = 0; i < log->app_txns.len && !j->crc.has_txns && status == SILT_OK; i++) {
        const struct sl_action action = {.kind = SL_ACTION_APP_TXN,
                                         .u.app_txn = *(const struct sl_app_txn *)sl_vec_at(&log->app_txns, i)};
        status = sl_replay_checkpoint_action(&replay, &action, err);
    }
    for (size_t i = 0; i < log->domains.len && !j->crc.has_domains && status == SILT_OK; i++) {
        const struct sl_action action = {.kind = SL_ACTION_DOMAIN_METADATA,
                                         .u.domain = *(const struct sl_domain_metadata *)sl_vec_at(&log->domains, i)};
        status = sl_replay_checkpoint_action(&replay, &action, err);
    }
    char what[SL_CRC_DIFFERENCE_SIZE];
    if (status == SILT_OK && !sl_crc_same_state(j->fsck->env, &said, log, what)) {
        status = sl_fsck_tell(j->fsck, &j->about, err, "%s differs from what the log has", what);
    }
    sl_replay_release(&replay);
    sl_replay_state_release(&said);
    return status;
}

static silt_status compare_commit(struct judging *j, silt_error *err)
{
    const struct sl_replay_state *log = &j->state->state;
    const int64_t time_ms = j->state->in_commit_timestamp;
    if (j->crc.txn_id.ptr != NULL && j->state->txn_id.ptr != NULL && !sl_str_eq(j->crc.txn_id, j->state->txn_id)) {
        struct sl_fsck_about about = j->about;
        about.expected = j->state->txn_id;
        about.found = j->crc.txn_id;
        SL_TRY(sl_fsck_tell(j->fsck, &about, err, "txnId is %.*s where the commit has %.*s", SL_FMT(j->crc.txn_id),
                            SL_FMT(j->state->txn_id)));
    }
    const bool enabled = sl_protocol_has_feature(&log->protocol, "inCommitTimestamp") &&
                         sl_property_bool(&log->metadata.configuration, "delta.enableInCommitTimestamps");
    if (enabled && time_ms != SL_NO_I64 && j->crc.in_commit_timestamp == SL_NO_I64) {
        return sl_fsck_tell(j->fsck, &j->about, err, "inCommitTimestampOpt is missing, but the table has such times");
    }
    return time_ms != SL_NO_I64 ? compare_number(j, "inCommitTimestampOpt", j->crc.in_commit_timestamp, time_ms, err)
                                : SILT_OK;
}

static silt_status compare_all_files(struct judging *j, silt_error *err)
{
    struct sl_fsck_set *files = &j->state->files;
    int64_t n_wrong = 0;
    for (size_t i = 0; i < j->crc.n_all_files; i++) {
        const struct sl_add *add = &j->crc.all_files[i];
        struct sl_fsck_id id;
        if (!sl_fsck_id_make(files, add->path, add->deletion_vector, &id)) {
            return sl_fail_nomem(err);
        }
        const struct sl_fsck_file *file = sl_fsck_set_find(files, id);
        n_wrong += file == NULL || !file->is_live || file->number != add->size ? 1 : 0;
    }
    n_wrong += (int64_t)j->crc.n_all_files != files->n_live && n_wrong == 0 ? 1 : 0;
    return n_wrong == 0 ? SILT_OK
                        : sl_fsck_tell(j->fsck, &j->about, err,
                                       "allFiles has %zu files, %" PRId64 " of the table are live: they differ",
                                       j->crc.n_all_files, files->n_live);
}

static silt_status compare(struct judging *j, silt_error *err)
{
    const struct sl_fsck_set *files = &j->state->files;
    SL_TRY(compare_number(j, "numFiles", j->crc.n_files, files->n_live, err));
    SL_TRY(compare_number(j, "tableSizeBytes", j->crc.table_size, files->bytes, err));
    SL_TRY(compare_number(j, "numDeletionVectorsOpt", j->crc.n_deletion_vectors, files->n_vectors, err));
    SL_TRY(compare_number(j, "numDeletedRecordsOpt", j->crc.n_deleted_records, files->n_deleted, err));
    SL_TRY(compare_state(j, err));
    SL_TRY(compare_commit(j, err));
    return j->crc.has_all_files ? compare_all_files(j, err) : SILT_OK;
}

silt_status sl_fsck_checksum(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                             silt_error *err)
{
    struct judging j = {
        .fsck = fsck,
        .state = state,
        .about = {
            .severity = SILT_FSCK_FAULT, .check = SL_FSCK_CHECKSUM, .version = file->version, .file = file->name}};
    silt_error found = SILT_ERROR_INIT;
    sl_arena_init(&j.arena, fsck->env);
    fsck->report.checksums++;
    silt_status status = sl_crc_read(&fsck->source, fsck->call, file, true, &j.arena, &j.crc, &found);
    if (status != SILT_OK) {
        status = sl_fsck_tell_failure(fsck, &j.about, &found, err);
    } else if (state->version == file->version) {
        status = compare(&j, err);
    }
    sl_arena_release(&j.arena);
    return status;
}
