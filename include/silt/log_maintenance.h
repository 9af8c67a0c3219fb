/*
 * Maintenance of a table's log: log compaction files, and the deletion of what has expired. Commits do what is needed by themselves; these
 * are for whoever wants to choose the moment. Any thread, also while others read and write the table.
 */
#ifndef SILT_LOG_MAINTENANCE_H
#define SILT_LOG_MAINTENANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_compact_log_result {
    uint32_t size;
    bool written; /* false: there was nothing to do, or the file was there already */
    int64_t from_version;
    int64_t to_version; /* -1 both when there was nothing to do */
    int64_t actions;    /* in the file */
    int64_t size_bytes; /* of it */
} silt_compact_log_result;

/*
 * Writes the commits of a range of versions as one file, which readers take instead of them (PROTOCOL.md "Log Compaction Files"). The commits
 * stay: history and change data are theirs. from_version -1: after the newest checkpoint at or before to_version; to_version -1: the newest.
 *
 * SILT_EINVALID for a range of fewer than two versions; SILT_ENOTFOUND when a commit of it is gone; SILT_EUNSUPPORTED for a table that
 * silt may not write, and for commits of a catalog that are not published yet. *result (size set by the caller) is filled on success; may be NULL.
 */
SILT_API SILT_NODISCARD silt_status silt_table_compact_log(silt_table *table, const silt_call *call,
                                                           int64_t from_version, int64_t to_version,
                                                           silt_compact_log_result *result, silt_error *err);

typedef struct silt_clean_log_options {
    uint32_t size;
    bool dry_run; /* nothing is deleted */
    /* Called with the name, within `_delta_log`, of each file that is about to be deleted; borrowed. NULL: not told. false: no more. */
    bool (*on_file)(void *ctx, const char *name);
    void *ctx;
} silt_clean_log_options;

typedef struct silt_clean_log_result {
    uint32_t size;
    const char *reason;     /* why nothing was done; static text, NULL otherwise */
    int64_t oldest_version; /* of the checkpoint that everything now rests on; -1 if nothing has expired */
    int64_t deleted;        /* files; with dry_run: that would be */
    int64_t failed;         /* that could not be deleted: the next clean-up tries again */
} silt_clean_log_result;

/*
 * Deletes what has expired of a log (PROTOCOL.md "Metadata Cleanup"): versions older than delta.logRetentionDuration (30 days), as of the last
 * midnight UTC, up to the newest checkpoint that is so old; all from that one on stays, and every version from it on can be opened at any
 * moment of the clean-up. With the versions go their checksums, compacted files, staged commits, and sidecars that no
 * checkpoint names and that are a day old. Nothing is done where delta.enableExpiredLogCleanup is false, for what
 * delta.requireCheckpointProtectionBeforeVersion protects, and in a table that a catalog manages: `reason` says so.
 *
 * SILT_EUNSUPPORTED for a table that silt may not write. SILT_ECANCELLED when on_file ended it. Options may be NULL; *result (size set by
 * the caller) is filled in every case; may be NULL.
 */
SILT_API SILT_NODISCARD silt_status silt_table_clean_log(silt_table *table, const silt_call *call,
                                                         const silt_clean_log_options *options,
                                                         silt_clean_log_result *result, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
