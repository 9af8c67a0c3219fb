/*
 * The column "add" of a checkpoint from a batch of adds as they were read: members that are there move over, the others are derived from
 * them. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_DERIVE_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_DERIVE_H

#include "kernel/checkpoint/checkpoint_layout.h"
#include "kernel/checkpoint/checkpoint_typed.h"
#include "kernel/replay/add_batch.h"

struct sl_add_deriver {
    const silt_env *env;
    const struct sl_checkpoint_layout *layout;
    const struct ArrowSchema *raw;    /* a column "add" */
    const struct ArrowSchema *column; /* what it becomes */
    enum sl_raw_parsed parsed;        /* how stats_parsed is in raw */
    struct sl_add_batch rows;
    struct sl_typed_stats *stats;     /* NULL: not wanted */
    struct sl_typed_values *values;   /* NULL: not wanted */
    struct sl_arrow_builder *vectors; /* NULL: not wanted */
    struct sl_arrow_builder *texts;   /* of add.stats */
    struct sl_buf text;
};

/* All is borrowed. */
silt_status sl_add_deriver_init(struct sl_add_deriver *deriver, const silt_env *env,
                                const struct sl_checkpoint_layout *layout, const struct ArrowSchema *raw,
                                enum sl_raw_parsed parsed, const struct ArrowSchema *column, silt_error *err);
void sl_add_deriver_release(struct sl_add_deriver *deriver); /* safe on a zeroed one */
/* Takes the batch in every case. */
silt_status sl_add_deriver_column(struct sl_add_deriver *deriver, struct ArrowArray *batch, struct ArrowArray *out,
                                  silt_error *err);

#endif
