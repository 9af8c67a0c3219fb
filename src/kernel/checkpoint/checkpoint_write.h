/*
 * Writing a checkpoint of a snapshot (PROTOCOL.md "Checkpoints"). Called by silt_table_checkpoint and after commits. Any thread: two
 * that write the same checkpoint at once leave one that is whole.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_WRITE_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_WRITE_H

#include "silt/snapshot.h"

enum sl_checkpoint_kind {
    SL_CHECKPOINT_BY_TABLE, /* what delta.checkpointPolicy and the protocol ask for */
    SL_CHECKPOINT_V1,
    SL_CHECKPOINT_V2 /* refused where the protocol has not the feature v2Checkpoint */
};

struct sl_checkpoint_options {
    enum sl_checkpoint_kind kind;
    int64_t
        rows_per_part; /* of V1: several parts of about so many rows; 0: one file. Never with the feature v2Checkpoint */
    int64_t held_bytes; /* of parts: memory for rows of the older checkpoint that wait for their part; 0: the default */
    int64_t files_per_sidecar; /* of V2: at most so many actions in a sidecar; 0: one sidecar */
    bool json_top;             /* of V2: the top file in JSON */
    bool no_sidecars;          /* of V2 with a top file in JSON: it holds the file actions too */
};

struct sl_checkpoint_result {
    bool written; /* false: there was one of this version and name */
    int64_t version;
    int64_t n_actions; /* -1 when it was not written */
    int64_t n_adds;
    int64_t adds_bytes; /* of the data files that they name; -1: more than a number holds */
    int64_t size_bytes; /* of all files of the checkpoint */
    int64_t n_files;
};

/* options NULL: by the table. */
silt_status sl_checkpoint_write(silt_snapshot *snapshot, const silt_call *call,
                                const struct sl_checkpoint_options *options, silt_error *err);
/* The same; tells what was done. */
silt_status sl_checkpoint_write_told(silt_snapshot *snapshot, const silt_call *call,
                                     const struct sl_checkpoint_options *options, struct sl_checkpoint_result *result,
                                     silt_error *err);

#endif
