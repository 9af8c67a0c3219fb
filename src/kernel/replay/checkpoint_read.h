/*
 * Reading a checkpoint's rows as actions: Parquet files through the engine's handler, a top file in JSON line by line. Called by
 * checkpoint.c and the file list.
 */
#ifndef SL_KERNEL_REPLAY_CHECKPOINT_READ_H
#define SL_KERNEL_REPLAY_CHECKPOINT_READ_H

#include "kernel/action/action_arrow.h"
#include "kernel/log/commit_batch.h"
#include "kernel/replay/checkpoint.h"

struct sl_checkpoint_request {
    const struct sl_log_source *source;
    const struct sl_checkpoint *checkpoint;
    unsigned columns;  /* SL_COLUMN_… */
    bool with_details; /* of add */
    /* With details: columns (physical names) whose typed statistics stand for those that have no text; NULL: they are not read. */
    const silt_schema *parsed;
    bool parsed_bounds; /* their bounds too, see action/stats_parsed.h */
};

/* Visits every action of the wanted columns, in the order of files and rows. Errors name the checkpoint. */
silt_status sl_checkpoint_each(const struct sl_checkpoint_request *request, const silt_call *call,
                               silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                               void *ctx, silt_error *err);

#endif
