/*
 * Planning over the Parquet files of a checkpoint without loading them: what decides is read of all files, the rest only of those that
 * are left. For checkpoints that are large; the answer is that of a visit of every file.
 */
#ifndef SL_KERNEL_SCAN_PLAN_CHECKPOINT_H
#define SL_KERNEL_SCAN_PLAN_CHECKPOINT_H

#include "kernel/scan/partition_prune.h"
#include "kernel/snapshot/log_view.h"

struct sl_plan_checkpoint {
    silt_snapshot *snapshot;
    const struct sl_log_view *view; /* of the snapshot */
    const silt_call *call;
    struct sl_partition_pruner *pruner; /* with the filter */
    bool wants_stats;                   /* statistics can decide something */
    bool with_vectors;                  /* the table may have deletion vectors */
    /* Takes the surviving files in the order of the snapshot; what it gets is borrowed, but for the tuple. */
    silt_status (*keep)(void *ctx, const struct sl_add *add, const struct sl_partition_tuple *tuple, silt_error *err);
    void *ctx;
};

/*
 * *lacks_vectors: it ended early because some file has a deletion vector against with_vectors; begin again with it. A failure of
 * which sl_checkpoint_is_bad holds may be the checkpoint's; the ordinary way may find another.
 */
silt_status sl_plan_checkpoint(const struct sl_plan_checkpoint *plan, bool *lacks_vectors, silt_error *err);

#endif
