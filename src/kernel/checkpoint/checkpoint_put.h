/*
 * The files of a checkpoint, by its plan: one file, parts, or sidecars and the top file that makes them count. Private to the writing of
 * checkpoints. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_PUT_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_PUT_H

#include "kernel/checkpoint/checkpoint_stream.h"
#include "kernel/checkpoint/checkpoint_write.h"
#include "kernel/checkpoint/hint_write.h"

struct sl_checkpoint_putting {
    struct sl_checkpoint_content *content;
    const struct sl_checkpoint_plan *plan;
    struct sl_checkpoint_layout layout; /* of all columns; columns is set for each file */
    struct sl_row_order *order;         /* NULL: none */
    const silt_call *call;
    int64_t version;
    int32_t n_parts;             /* of a plan in parts */
    struct sl_vec state;         /* struct sl_action, the state beside the files */
    struct sl_vec sidecars;      /* struct sl_sidecar, written so far */
    struct sl_vec made;          /* const char *, paths of the other files that were written */
    struct sl_arena arena;       /* of what is below */
    struct sl_hint_content hint; /* filled */
    silt_schema *schema;         /* of hint.schema */
    struct sl_checkpoint_result *result;
    bool bad_checkpoint; /* the failure was the older checkpoint's */
};

/* "<root>/_delta_log/<version>.checkpoint.parquet", in the arena; ptr NULL: out of memory. */
struct sl_str sl_checkpoint_classic_path(struct sl_arena *arena, struct sl_str root, int64_t version);

/* Is there a file of a V1 checkpoint at path? One of no bytes is removed and is not: its writer died where writing is not atomic. */
silt_status sl_checkpoint_is_there(silt_storage *storage, const silt_call *call, const char *path, bool *there,
                                   silt_error *err);

/* Removes what was written: the table that it is of was dropped. */
void sl_checkpoint_take_back(struct sl_checkpoint_putting *putting);

silt_status sl_checkpoint_put(struct sl_checkpoint_putting *putting, silt_error *err);

#endif
