/*
 * What a checkpoint's files give on a store that is far away, asked for in few rounds: the ends of all of them together, then the columns of all
 * of them together. Small ones come whole and need no second round. Called where checkpoints are opened and their file actions are read. Any
 * thread; a call works on its own.
 */
#ifndef SL_KERNEL_REPLAY_CHECKPOINT_BRING_H
#define SL_KERNEL_REPLAY_CHECKPOINT_BRING_H

#include "base/vec.h"
#include "kernel/log/commit_batch.h"
#include "kernel/log/early.h"
#include "silt/engine.h"

/* Appends to `wants` (of struct sl_early_want) how much of these files is asked for first: all, or the ends. */
silt_status sl_checkpoint_want(const silt_parquet_file *files, size_t n, struct sl_vec *wants, silt_error *err);

enum {
    SL_BRING_STATE = 1, /* what is not about files */
    SL_BRING_ADDS = 2
};

struct sl_checkpoint_bringing {
    const struct sl_log_source *source; /* its store is that of `early`, if there is one */
    const struct sl_early *early;       /* NULL: nothing is brought */
    const silt_parquet_file *files;
    size_t n_files;
    unsigned what; /* SL_BRING_… */
};

/*
 * Has the engine bring the columns of all files at once, unless the files came whole, or are so large that the adds are better read as they
 * come. What could not be brought is read when it is needed; only what ends the call, and failures of the store, are errors.
 */
silt_status sl_checkpoint_bring(const struct sl_checkpoint_bringing *bringing, const silt_call *call, silt_error *err);

#endif
