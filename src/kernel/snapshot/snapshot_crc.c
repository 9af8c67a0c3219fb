/*
 * Opening a snapshot through a version checksum (PROTOCOL.md "Version Checksum File"): protocol, metadata, applications and domains of its
 * version, then the commits after it. The checkpoint is not read, nor the commits that it covers; both are when the files are
 * wanted, and then the checksum's word is tested. Called by snapshot_load.c and log_view.c.
 */
#include "kernel/snapshot/snapshot_int.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/log/crc.h"
#include "kernel/snapshot/crc_compare.h"

/* Without a checkpoint, a log of fewer commits is simply replayed: its files are needed soon anyway. */
#define MIN_COMMITS_SAVED 32

/* Index of the first commit file after a version; false when a compacted file goes across it. */
static bool first_after(const struct sl_log_segment *segment, int64_t version, size_t *index)
{
    size_t i = 0;
    while (i < segment->n_commits && segment->commits[i].end_version <= version) {
        i++;
    }
    *index = i;
    return i == segment->n_commits || segment->commits[i].version > version;
}

/* The newest checksum that saves something, and from where on commits must be read. NULL: none. */
static const struct sl_log_file *find_useful(const struct sl_log_segment *segment, size_t *first_commit)
{
    for (size_t i = segment->n_crcs; i > 0; i--) {
        const struct sl_log_file *crc = &segment->crcs[i - 1];
        if (first_after(segment, crc->version, first_commit)) {
            const bool saves = segment->n_checkpoint > 0 || *first_commit >= MIN_COMMITS_SAVED;
            return saves ? crc : NULL;
        }
    }
    return NULL;
}

/* Does it say all that a snapshot must know? What it leaves out is only in the log. */
static bool is_enough(const struct sl_crc *crc)
{
    return crc->has_txns && (crc->has_domains || !sl_protocol_has_feature(&crc->protocol, "domainMetadata"));
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct sl_crc_replay *replay = ctx;
    if (commit->version == replay->version && commit->commit_info != NULL) {
        replay->in_commit_timestamp = commit->commit_info->in_commit_timestamp;
        SL_TRY(sl_commit_keep_txn_id(replay->arena, commit, &replay->txn_id, err));
    }
    return sl_replay_commit(&replay->replay, commit, err);
}

static silt_status replay_onto(silt_snapshot *snapshot, const silt_call *call, const struct sl_crc *crc,
                               size_t first_commit, silt_error *err)
{
    const struct sl_log_segment *segment = &snapshot->segment;
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    struct sl_crc_replay onto = {
        .version = segment->version, .in_commit_timestamp = SL_NO_I64, .arena = &snapshot->arena};
    sl_replay_init(&onto.replay, snapshot->env, source.root, &snapshot->state, &snapshot->arena, NULL);
    const struct sl_commits_request commits = {.source = &source,
                                               .files = segment->commits + first_commit,
                                               .n = segment->n_commits - first_commit,
                                               .missing = SL_MISSING_FAILS,
                                               .in_parts = true};
    silt_status status = sl_commits_each(&commits, call, take_commit, &onto, err);
    if (status == SILT_OK) {
        status = sl_crc_each_action(crc, &onto.replay, err);
    }
    sl_replay_release(&onto.replay);
    snapshot->in_commit_timestamp = crc->version == segment->version ? crc->in_commit_timestamp
                                                                     : onto.in_commit_timestamp;
    snapshot->txn_id = crc->version == segment->version ? crc->txn_id : onto.txn_id;
    return status;
}

/* What came of an attempt with a checksum goes away before the log is replayed. */
static void forget(silt_snapshot *snapshot)
{
    sl_replay_state_release(&snapshot->state);
    sl_replay_state_init(&snapshot->state, snapshot->env);
    snapshot->in_commit_timestamp = SL_NO_I64;
    snapshot->txn_id = (struct sl_str){NULL, 0};
}

static silt_status use(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_file *file,
                       size_t first_commit, bool *opened, silt_error *err)
{
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    struct sl_crc crc;
    silt_status status = sl_crc_read(&source, call, file, false, &snapshot->arena, &crc, err);
    if (status == SILT_OK && is_enough(&crc)) {
        status = replay_onto(snapshot, call, &crc, first_commit, err);
        *opened = status == SILT_OK;
    }
    if (*opened) {
        snapshot->crc_version = crc.version;
        snapshot->has_crc_totals = crc.version == snapshot->segment.version;
        snapshot->crc_files = crc.n_files;
        snapshot->crc_bytes = crc.table_size;
    }
    return status;
}

silt_status sl_snapshot_open_by_crc(silt_snapshot *snapshot, const silt_call *call, bool *opened, silt_error *err)
{
    *opened = false;
    size_t first_commit = 0;
    const struct sl_log_file *file = find_useful(&snapshot->segment, &first_commit);
    if (file == NULL) {
        return SILT_OK;
    }
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = use(snapshot, call, file, first_commit, opened, &found);
    if (*opened) {
        return SILT_OK;
    }
    forget(snapshot);
    if (status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    if (status != SILT_OK) {
        sl_log(snapshot->env, SILT_LOG_WARN, "%s: %.*s is ignored: %s", silt_table_uri(snapshot->table),
               SL_FMT(file->name), found.message);
    }
    return SILT_OK;
}

/* ---- its word against the log's ---- */

silt_status sl_snapshot_check_crc(const silt_snapshot *snapshot, const struct sl_log_view *view, silt_error *err)
{
    if (snapshot->crc_version < 0) {
        return SILT_OK;
    }
    char what[SL_CRC_DIFFERENCE_SIZE];
    if (sl_crc_same_state(snapshot->env, &snapshot->state, &view->state, what)) {
        return SILT_OK;
    }
    sl_table_distrust_crc(snapshot->table);
    const silt_status status = sl_fail(err, SILT_ECORRUPT, NULL,
                                       "the version checksum of version %" PRId64 " contradicts the log: %s differs",
                                       snapshot->crc_version, what);
    sl_error_hint(err, "open the table again: its version checksums are not used any more");
    sl_error_version(err, snapshot->crc_version);
    return status;
}

void sl_snapshot_check_crc_totals(silt_snapshot *snapshot, int64_t n_files, int64_t total_size)
{
    if (!snapshot->has_crc_totals || (n_files == snapshot->crc_files && total_size == snapshot->crc_bytes)) {
        return;
    }
    sl_table_distrust_crc(snapshot->table);
    sl_log(snapshot->env, SILT_LOG_WARN,
           "%s: the version checksum of version %" PRId64 " is ignored: it counts %" PRId64 " files of %" PRId64
           " bytes where the log has %" PRId64 " of %" PRId64,
           silt_table_uri(snapshot->table), snapshot->crc_version, snapshot->crc_files, snapshot->crc_bytes, n_files,
           total_size);
}

silt_status sl_snapshot_settle(silt_snapshot **snapshot, const silt_call *call, silt_error *err)
{
    silt_snapshot *given = *snapshot;
    if (given->crc_version < 0) {
        return SILT_OK;
    }
    const struct sl_log_view *view = NULL;
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_snapshot_view(given, call, false, &view, &found);
    if (status == SILT_OK) {
        return SILT_OK;
    }
    if (sl_table_trusts_crc(given->table)) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    sl_log(given->env, SILT_LOG_WARN, "%s: %s", silt_table_uri(given->table), found.message);
    silt_snapshot *replayed = NULL;
    SL_TRY(sl_snapshot_load(given->table, call, given->segment.version, &replayed, err));
    const struct sl_snapshot_moment moment = {atomic_load(&given->newest_us), atomic_load(&given->newest_wall_us)};
    sl_snapshot_note_newest(replayed, moment);
    silt_snapshot_unref(given);
    *snapshot = replayed;
    return SILT_OK;
}
