/*
 * The adds of a checkpoint as a stream of batches, in its order: those of the older checkpoint that are still alive, read as they are
 * wanted, and between them those of the commits. An older checkpoint in another order is sorted by stretches, so that memory is bounded
 * whatever its size; what is in order stays in order without being copied. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_ADDS_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_ADDS_H

#include "kernel/checkpoint/checkpoint_content.h"
#include "kernel/checkpoint/checkpoint_layout.h"
#include "kernel/checkpoint/checkpoint_order.h"
#include "kernel/checkpoint/checkpoint_spread.h"

struct sl_add_stream;

struct sl_add_stream_request {
    const struct sl_checkpoint_content *content; /* outlives the stream */
    const struct sl_checkpoint_layout *layout;
    struct sl_row_order *order; /* NULL: none. Borrowed */
    const silt_call *call;
    const struct sl_part_share *share; /* NULL: all files. Borrowed */
};
silt_status sl_add_stream_open(const struct sl_add_stream_request *request, struct sl_add_stream **out,
                               silt_error *err);
void sl_add_stream_close(struct sl_add_stream *stream); /* NULL is legal */
/* A column "add" with the members of sl_checkpoint_raw_schema; every row is an add. */
const struct ArrowSchema *sl_add_stream_schema(const struct sl_add_stream *stream);
enum sl_raw_parsed sl_add_stream_parsed(const struct sl_add_stream *stream);
/* batch->release stays NULL at the end. */
silt_status sl_add_stream_next(struct sl_add_stream *stream, struct ArrowArray *batch, silt_error *err);
/* Was the failure the older checkpoint's? */
bool sl_add_stream_is_bad(const struct sl_add_stream *stream);

#endif
