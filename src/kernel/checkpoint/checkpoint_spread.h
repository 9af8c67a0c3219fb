/*
 * What of a checkpoint in parts belongs to which part: files of the commits, and rows of the older checkpoint, which is read once for as many
 * parts as fit into memory at a time, not once for each. Parts are asked for in their order. Private to checkpoint_put.c. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_SPREAD_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_SPREAD_H

#include "kernel/checkpoint/checkpoint_base.h"

struct sl_spread_options {
    const struct sl_checkpoint_content *content; /* outlives the spreading */
    const struct sl_checkpoint_layout *layout;
    const silt_call *call;
    int32_t n_parts;
    size_t max_bytes; /* of rows that are held at once */
};

/* A part, for the stream of its rows. */
struct sl_part_share {
    int32_t part, n_parts;    /* from 0 */
    bool with_vectors;        /* see sl_checkpoint_part_of */
    const sl_file_pos *files; /* of the commits */
    size_t n_files;
    struct sl_held_rows
        *held;         /* of the older checkpoint; NULL: they are read from it, and other parts' are passed over */
    bool knows_parsed; /* how typed statistics are read */
    enum sl_raw_parsed parsed;
};

struct sl_spread {
    struct sl_spread_options options;
    const silt_env *env;
    /* Files of the commits, by part. */
    sl_file_pos *files;
    size_t *begins; /* [n_parts + 1] in files */
    size_t n_files;
    /* Of the older checkpoint. */
    struct sl_held_rows *held; /* [n_parts]; of parts from `first` to before `end` */
    int32_t first, end;
    int32_t n_fit; /* parts that fit into a pass, as far as is known */
    size_t bytes;  /* that are held */
    bool knows_parsed;
    enum sl_raw_parsed parsed;
    bool is_bad; /* the failure was the older checkpoint's */
};

/* After a failure `spread` is to be released, too. */
silt_status sl_spread_begin(struct sl_spread *spread, const struct sl_spread_options *options, silt_error *err);
void sl_spread_release(struct sl_spread *spread); /* safe on a zeroed one */
/* The next part; reads the older checkpoint if it has to. What `out` points to lives until the next call. */
silt_status sl_spread_part(struct sl_spread *spread, int32_t part, struct sl_part_share *out, silt_error *err);

#endif
