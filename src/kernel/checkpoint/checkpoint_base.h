/*
 * The adds of the older checkpoint for a new one, as raw batches: read from its files, without those that are not to be taken over; or held
 * in memory, where a pass put them beforehand (checkpoint_spread.h). Private to the writing of checkpoints. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_BASE_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_BASE_H

#include "base/arrow.h"
#include "base/vec.h"
#include "kernel/checkpoint/checkpoint_content.h"
#include "kernel/checkpoint/checkpoint_layout.h"
#include "kernel/replay/add_batch.h"

/* Rows that are still alive, in the order of the older checkpoint. */
struct sl_held_rows {
    struct sl_vec batches; /* struct ArrowArray */
    size_t next;           /* those before it were handed out */
    size_t bytes;          /* of memory, of all that were put */
};

void sl_held_rows_init(struct sl_held_rows *held, const silt_env *env);
void sl_held_rows_release(struct sl_held_rows *held); /* safe on a zeroed one */

struct sl_base_request {
    const struct sl_checkpoint_content *content; /* outlives the reading */
    const struct sl_checkpoint_layout *layout;
    const silt_call *call;
    struct sl_held_rows *held; /* NULL: read from the files; else handed out. Borrowed */
    bool knows_parsed;
    enum sl_raw_parsed parsed; /* if it is known, as it is where rows are held */
};

struct sl_base {
    const silt_env *env;
    struct sl_base_request request;
    enum sl_raw_parsed parsed;
    struct ArrowSchema schema; /* a column "add" with the members of sl_checkpoint_raw_schema */
    silt_schema *raw;
    struct ArrowArrayStream stream;
    bool is_bad;              /* the failure was the older checkpoint's */
    int64_t n_adds;           /* whatever the commits decided */
    struct sl_add_batch rows; /* of the batch at hand */
    struct sl_key_maker keys, others;
};

/* After a failure `base` is to be released, too. */
silt_status sl_base_open(struct sl_base *base, const struct sl_base_request *request, silt_error *err);
void sl_base_release(struct sl_base *base); /* safe on a zeroed one */
/*
 * The next batch, whose rows are those of base->rows from now on; *done: there was none. Fails at the end when the older checkpoint lost its
 * files, or when it names some more than once and the rows have to pass again (see sl_checkpoint_content).
 */
silt_status sl_base_next(struct sl_base *base, struct ArrowArray *batch, bool *done, silt_error *err);
/* A row of the batch at hand; *alive false: it holds no add, or one that is not taken over. Each row is asked for once, in order. */
silt_status sl_base_row(struct sl_base *base, int64_t row, struct sl_file_row *file, bool *alive, silt_error *err);

#endif
