/*
 * The rows of a checkpoint's Parquet files as Arrow streams: the state beside the files, adds, removes, in this order. One stream after
 * the other can be drawn from it, each of at most so many rows. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_STREAM_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_STREAM_H

#include "kernel/checkpoint/checkpoint_content.h"
#include "kernel/checkpoint/checkpoint_layout.h"
#include "kernel/checkpoint/checkpoint_order.h"
#include "kernel/checkpoint/checkpoint_plan.h"
#include "kernel/checkpoint/checkpoint_spread.h"

struct sl_checkpoint_stream;

/* Actions beside the files, in the order in which they are written. */
struct sl_checkpoint_state {
    const struct sl_action *actions;
    size_t n;
};

struct sl_checkpoint_stream_request {
    struct sl_checkpoint_content *content; /* outlives the stream; its removes are used up */
    const struct sl_checkpoint_layout *layout;
    const struct sl_checkpoint_state *state; /* NULL: none of it */
    bool files;                              /* adds and removes */
    struct sl_row_order *order;              /* NULL: none */
    const silt_call *call;
    const struct sl_part_share *share; /* of a checkpoint in parts; NULL: all rows. Borrowed */
};
silt_status sl_checkpoint_stream_open(const struct sl_checkpoint_stream_request *request,
                                      struct sl_checkpoint_stream **out, silt_error *err);
void sl_checkpoint_stream_close(struct sl_checkpoint_stream *stream); /* NULL is legal */
/* Delta's JSON of the columns. */
const silt_schema *sl_checkpoint_stream_schema(const struct sl_checkpoint_stream *stream);
/* Has it rows that were not drawn? */
silt_status sl_checkpoint_stream_more(struct sl_checkpoint_stream *stream, bool *more, silt_error *err);
/* A stream of the next rows, at most max_rows. It is used up before the next one is drawn and before the close. */
silt_status sl_checkpoint_stream_draw(struct sl_checkpoint_stream *stream, int64_t max_rows,
                                      struct ArrowArrayStream *out, silt_error *err);
int64_t sl_checkpoint_stream_rows(const struct sl_checkpoint_stream *stream); /* drawn so far */
int64_t sl_checkpoint_stream_adds(const struct sl_checkpoint_stream *stream); /* of them */
/* Sum of add.size, complete when all rows are drawn; -1: more than a number holds. */
int64_t sl_checkpoint_stream_add_bytes(const struct sl_checkpoint_stream *stream);
/* Was the failure the older checkpoint's? */
bool sl_checkpoint_stream_is_bad(const struct sl_checkpoint_stream *stream);

#endif
