/*
 * A checkpoint as a whole (PROTOCOL.md "Checkpoints", "Sidecar Files"): V1 in one file or in parts, V2 with a top file in JSON or
 * Parquet and sidecars. Opening reads the rows that are not about files, once, and says where the file actions are;
 * those are read by who wants them. Called by snapshot loading, the file list, fsck. Any thread.
 */
#ifndef SL_KERNEL_REPLAY_CHECKPOINT_H
#define SL_KERNEL_REPLAY_CHECKPOINT_H

#include "base/arena.h"
#include "kernel/action/action.h"
#include "kernel/log/commit_batch.h"
#include "kernel/log/early.h"
#include "kernel/log/segment.h"

struct sl_checkpoint {
    int64_t version; /* -1: there is none, all else is empty */
    bool is_v2;      /* it has a checkpointMetadata action */
    const silt_parquet_file
        *parquet; /* files that may hold file actions: V1 file or parts, V2 Parquet top file, sidecars */
    size_t n_parquet;
    size_t n_sidecars;       /* the last ones of them */
    struct sl_str json_path; /* of a V2 top file in JSON, which may hold file actions too; else absent */
    int64_t json_size;       /* of it, as it was listed */
};

struct sl_checkpoint_opening {
    const struct sl_log_source *source;
    const struct sl_log_segment *segment; /* its checkpoint */
    struct sl_arena *arena;               /* of the names in the result */
    struct sl_early *early; /* the source's store, where it is far away and the top files were asked for; else NULL */
    bool with_adds;         /* file actions will be read next: a far store is asked for them at once */
    /*
     * Visits every protocol, metaData, txn, domainMetadata, sidecar and checkpointMetadata action, in the order of files and rows; the
     * action is borrowed. NULL: they are not told.
     */
    silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err);
    void *ctx;
};

/*
 * Opens the segment's checkpoint and checks it: exactly one protocol and metaData, sidecars and checkpointMetadata only
 * where the protocol has them, sidecars' names, existence and sizes. *out: version -1 when the segment has none. A failure for
 * which sl_checkpoint_is_bad holds says that another way to the version is worth trying.
 */
silt_status sl_checkpoint_open(const struct sl_checkpoint_opening *opening, const silt_call *call,
                               struct sl_checkpoint *out, silt_error *err);

/*
 * Visits the file actions (add, remove) of the top file in JSON, in its order; nothing to visit without one. The action is
 * borrowed. Errors name the checkpoint.
 */
silt_status sl_checkpoint_each_json(const struct sl_log_source *source, const struct sl_checkpoint *checkpoint,
                                    const silt_call *call,
                                    silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                                    void *ctx, silt_error *err);

/* Is this failure the checkpoint's own (so that another way to the version is worth trying), not the store's or caller's? */
bool sl_checkpoint_is_bad(silt_status status);

#endif
