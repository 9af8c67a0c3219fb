/*
 * Chosen columns of chosen rows of one Parquet file of a checkpoint: for scan planning, which first reads what decides about all files
 * and then the rest of those that are left.
 */
#ifndef SL_KERNEL_REPLAY_CHECKPOINT_SELECT_H
#define SL_KERNEL_REPLAY_CHECKPOINT_SELECT_H

#include "kernel/replay/checkpoint_files.h"

struct sl_checkpoint_select {
    const struct sl_checkpoint_files *files;
    size_t file; /* place among the checkpoint's Parquet files */
    const silt_schema *schema;
    const int64_t *rows; /* their places in the file, ascending; n_rows 0: all */
    size_t n_rows;
    const silt_row_range *ranges; /* instead: of rows that are wanted, ascending; n_ranges 0: all */
    size_t n_ranges;
    const silt_text_filter *texts; /* rows that are not wanted by it may be left out; NULL: none are */
};

/* A batch and where its rows are in the file. */
struct sl_checkpoint_rows {
    const struct ArrowSchema *schema;
    const struct ArrowArray *batch; /* the columns that were asked for, perhaps one more */
    int64_t first;                  /* place of the first row, when `places` is NULL */
    const int64_t *places;
};

static inline int64_t sl_checkpoint_place(const struct sl_checkpoint_rows *rows, int64_t row)
{
    return rows->places != NULL ? rows->places[row] : rows->first + row;
}

/*
 * Visits the batches in the order of the rows. With `rows`, `ranges` or `texts`, batches may hold others too: places tell. A visitor ends the reading
 * early by *stop. Errors name the checkpoint.
 */
silt_status sl_checkpoint_select(const struct sl_checkpoint_select *select, const silt_call *call,
                                 silt_status (*visit)(void *ctx, const struct sl_checkpoint_rows *rows, bool *stop,
                                                      silt_error *err),
                                 void *ctx, silt_error *err);

#endif
