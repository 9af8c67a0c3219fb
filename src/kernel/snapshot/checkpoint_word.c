/*
 * The hint's and the checksum's word against a checkpoint; see checkpoint_word.h. A checksum is read for it only where a checkpoint has no
 * files at all. Any thread; a note comes once a snapshot.
 */
#include "kernel/snapshot/checkpoint_word.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/log/crc.h"
#include "kernel/snapshot/snapshot_int.h"

static const struct sl_log_file *find_crc(const struct sl_log_segment *segment)
{
    for (size_t i = 0; i < segment->n_crcs; i++) {
        if (segment->crcs[i].version == segment->checkpoint_version) {
            return &segment->crcs[i];
        }
    }
    return NULL;
}

/* The files that the checksum of the checkpoint's version counts; -1: there is none, or none that is of use. */
static silt_status ask_crc(const silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                           int64_t *n_files, silt_error *err)
{
    const struct sl_log_file *file = find_crc(&view->segment);
    *n_files = -1;
    if (file == NULL || !sl_table_trusts_crc(snapshot->table)) {
        return SILT_OK;
    }
    const struct sl_log_source source = sl_view_source(snapshot, view);
    struct sl_arena arena;
    struct sl_crc crc;
    sl_arena_init(&arena, snapshot->env);
    const silt_status status = sl_crc_read(&source, call, file, false, &arena, &crc, err);
    if (status == SILT_OK) {
        *n_files = crc.n_files;
    }
    sl_arena_release(&arena);
    if (status == SILT_ECORRUPT || status == SILT_ELIMIT || status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

/* A checkpoint without a file. */
static silt_status check_empty(silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                               bool doubt, silt_error *err)
{
    const int64_t version = view->checkpoint.version;
    const int64_t hinted = view->segment.said.known ? view->segment.said.n_adds : -1;
    int64_t counted = -1;
    SL_TRY(ask_crc(snapshot, view, call, &counted, err));
    if (counted <= 0 && (counted == 0 || hinted <= 0 || !doubt)) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(
        err, SILT_ECORRUPT, counted > 0 ? "DELTA_STATE_RECOVER_ERROR" : SL_CHECKPOINT_DOUBTED,
        "checkpoint of version %" PRId64 ": it holds no files where %s counts %" PRId64, version,
        counted > 0 ? "the version checksum" : "_last_checkpoint", counted > 0 ? counted : hinted);
    sl_error_version(err, version);
    return status;
}

/* ---- numbers of the hint ---- */

static bool differs(int64_t said, int64_t found)
{
    return said >= 0 && found >= 0 && said != found;
}

/* Bytes of all its files, and of the top one or the parts alone; -1 when a size is not known. */
static void add_bytes(const struct sl_log_view *view, int64_t *all, int64_t *top)
{
    const struct sl_checkpoint *checkpoint = &view->checkpoint;
    *top = 0;
    for (size_t i = 0; i < view->segment.n_checkpoint && *top >= 0; i++) {
        const int64_t size = view->segment.checkpoint[i].size;
        *top = size >= 0 && size <= INT64_MAX - *top ? *top + size : -1;
    }
    *all = *top;
    for (size_t i = checkpoint->n_parquet - checkpoint->n_sidecars; i < checkpoint->n_parquet && *all >= 0; i++) {
        const int64_t size = checkpoint->parquet[i].size_bytes;
        *all = size >= 0 && size <= INT64_MAX - *all ? *all + size : -1;
    }
}

static void note(silt_snapshot *snapshot, const struct sl_log_view *view, const char *what, int64_t said, int64_t found)
{
    if (!atomic_exchange(&snapshot->told_hint, true)) {
        sl_log(snapshot->env, SILT_LOG_WARN,
               "%s: _last_checkpoint is wrong about the checkpoint of version %" PRId64
               ", which is read as it is: %" PRId64 " %s where it says %" PRId64,
               silt_table_uri(snapshot->table), view->checkpoint.version, found, what, said);
    }
}

silt_status sl_checkpoint_word_check(silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                                     const struct sl_checkpoint_counts *counts, bool doubt, silt_error *err)
{
    const struct sl_hint_numbers *said = &view->segment.said;
    int64_t bytes = 0;
    int64_t top_bytes = 0;
    if (counts->n_adds == 0) {
        SL_TRY(check_empty(snapshot, view, call, doubt, err));
    }
    if (!said->known) {
        return SILT_OK;
    }
    add_bytes(view, &bytes, &top_bytes);
    if (differs(said->n_adds, counts->n_adds)) {
        note(snapshot, view, "files", said->n_adds, counts->n_adds);
    } else if (!view->checkpoint.is_v2 && differs(said->n_actions, counts->n_rows)) {
        note(snapshot, view, "actions", said->n_actions, counts->n_rows); /* of a V2 one writers count what they like */
    } else if (differs(said->n_bytes, bytes) && said->n_bytes != top_bytes) {
        note(snapshot, view, "bytes", said->n_bytes, bytes);
    }
    return SILT_OK;
}

bool sl_checkpoint_word_of_files(const struct sl_log_view *view)
{
    return (view->segment.said.known && view->segment.said.n_adds > 0) || find_crc(&view->segment) != NULL;
}

void sl_checkpoint_word_again(silt_snapshot *snapshot, int64_t version, int64_t n)
{
    if (n > 0 && !atomic_exchange(&snapshot->told_again, true)) {
        sl_log(snapshot->env, SILT_LOG_WARN,
               "%s: the checkpoint of version %" PRId64 " names %" PRId64
               " files more than once; each is read once (silt fsck names them)",
               silt_table_uri(snapshot->table), version, n);
    }
}
