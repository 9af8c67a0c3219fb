/*
 * The file actions in the Parquet files of a checkpoint (V1 file or parts, V2 top file, sidecars), fast: batches go straight into a file
 * set, or to whoever wants their columns. Called by snapshots and scan planning.
 */
#ifndef SL_KERNEL_REPLAY_CHECKPOINT_FILES_H
#define SL_KERNEL_REPLAY_CHECKPOINT_FILES_H

#include "kernel/replay/add_batch.h"
#include "kernel/replay/checkpoint.h"
#include "kernel/replay/file_build.h"
#include "kernel/replay/key_set.h"

struct sl_checkpoint_files {
    const struct sl_log_source *source;
    const struct sl_checkpoint *checkpoint;
};

/*
 * Visits the batches of the Parquet files, in the order of files and rows, with the columns of `schema`. With a column
 * "add" of sl_add_batch_schema's members (and others), sl_add_batch reads them. Errors name the checkpoint.
 */
silt_status sl_checkpoint_each_batch(const struct sl_checkpoint_files *files, const silt_schema *schema,
                                     const silt_call *call,
                                     silt_status (*visit)(void *ctx, const struct ArrowSchema *schema,
                                                          const struct ArrowArray *batch, silt_error *err),
                                     void *ctx, silt_error *err);

/* Has some add of the Parquet files typed statistics (stats_parsed)? Ends at the first. */
silt_status sl_checkpoint_has_parsed(const struct sl_checkpoint_files *files, const silt_call *call, bool *found,
                                     silt_error *err);

/* What there is in it, whatever newer commits decided. */
struct sl_checkpoint_counts {
    int64_t n_adds;
    int64_t n_rows; /* of the Parquet files, -1 if not counted */
};

struct sl_checkpoint_put {
    const struct sl_checkpoint_files *files;
    unsigned members;                   /* SL_ADD_… */
    const struct sl_key_probe *decided; /* files that newer commits decided about are passed over */
    struct sl_file_set_builder *builder;
    struct sl_checkpoint_counts *counts; /* added to */
};

/*
 * Appends to the builder, without details, the adds of the Parquet files. *lacks_vectors: it ended early because a file has a deletion
 * vector and `members` leaves them out; begin again with them.
 */
silt_status sl_checkpoint_put_files(const struct sl_checkpoint_put *put, const silt_call *call, bool *lacks_vectors,
                                    silt_error *err);

#endif
