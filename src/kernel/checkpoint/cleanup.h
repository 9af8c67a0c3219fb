/*
 * The clean-up of a log (PROTOCOL.md "Metadata Cleanup"): what has expired is listed, chosen (cleanup_plan.h) and deleted. Called after
 * checkpoints and by silt_table_clean_log. Any thread; several at once, of any process, do no harm.
 */
#ifndef SL_KERNEL_CHECKPOINT_CLEANUP_H
#define SL_KERNEL_CHECKPOINT_CLEANUP_H

#include "kernel/log/commit_batch.h"
#include "silt/snapshot.h"
#include "silt/table.h"

struct sl_cleanup_request {
    silt_table *table;
    silt_snapshot *snapshot; /* the newest: its properties count */
    bool only_look;          /* nothing is deleted */
    bool always_sidecars;    /* also when no checkpoint goes */
    /* Called for each file before it is deleted, with its name within `_delta_log`. NULL: not told. false: no more. */
    bool (*on_file)(void *ctx, struct sl_str name);
    void *ctx;
};

struct sl_cleanup_result {
    const char *why_not;        /* static text: why nothing was done; NULL otherwise */
    int64_t checkpoint_version; /* of the oldest checkpoint that stays; -1 if nothing was done */
    int64_t n_deleted;
    int64_t n_failed; /* could not be deleted; the first is told on the log sink */
};

/*
 * SILT_OK also when single files could not be deleted. Refuses, with SILT_EUNSUPPORTED, a table that silt may not write. Fails when the
 * log cannot be read; what was deleted before a failure is counted.
 */
silt_status sl_log_clean_up(const struct sl_cleanup_request *request, const silt_call *call,
                            struct sl_cleanup_result *out, silt_error *err);

/* ---- sidecars ---- */

struct sl_sidecar_request {
    const struct sl_log_source *source;
    const struct sl_log_file *files; /* the log as listed before the clean-up */
    size_t n_files;
    int64_t checkpoint_version; /* checkpoints from it on stay */
    int64_t older_than_ms;
};

/*
 * Names ("_sidecars/…", of struct sl_str, in the arena) of old sidecars that no checkpoint names. Fails when a checkpoint cannot be
 * read: then none may go.
 */
silt_status sl_cleanup_find_sidecars(const struct sl_sidecar_request *request, const silt_call *call,
                                     struct sl_arena *arena, struct sl_vec *names, silt_error *err);

#endif
