/*
 * What a checkpoint is to hold, reconciled (PROTOCOL.md "Action Reconciliation"): the state beside the files, the files that the commits
 * since an older checkpoint left, the tombstones that count; and of that older checkpoint which files are still alive. Its adds are not read
 * here: there may be millions. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_CONTENT_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_CONTENT_H

#include "kernel/checkpoint/checkpoint_doubles.h"
#include "kernel/checkpoint/checkpoint_rows.h"
#include "kernel/replay/checkpoint_files.h"
#include "kernel/replay/replay.h"
#include "kernel/snapshot/log_view.h"

struct sl_checkpoint_content {
    const silt_env *env;
    struct sl_log_source source;
    silt_snapshot *snapshot;        /* borrowed */
    const struct sl_log_view *view; /* borrowed from the snapshot */
    struct sl_arena arena;
    struct sl_replay_state own_state;
    struct sl_replay replay;
    const struct sl_replay_state *state; /* own_state or the view's */
    const struct sl_key_set
        *decided; /* files that are not to be taken from the older checkpoint; positions are of files */
    /*
     * Borrowed. A stream of the older checkpoint's adds that finds files named twice fails at its end, with these settled: all is then
     * collected and written once more, with the same ones.
     */
    struct sl_doubles *doubles;
    struct sl_doubles *tombstone_doubles; /* likewise, but of its removes, and it is the collecting that fails */
    bool in_checkpoint;                   /* actions come from the older checkpoint */
    struct sl_key_maker keys;             /* of its removes */
    struct sl_file_set_builder building;  /* of `files` */
    struct sl_file_set *files;            /* adds of the commits, with details */
    int64_t tombstones_after_ms;          /* older ones have expired */
    bool has_removes;
    struct sl_action_rows
        *removes; /* [part] the column "remove", begun where there are rows; one if there are no parts */
    const struct ArrowSchema *remove_schema; /* of them, while they are collected */
    size_t n_removes;
    bool with_vectors;   /* of the parts, see sl_checkpoint_part_of */
    bool bad_checkpoint; /* the failure was the older checkpoint's */
};

/*
 * view: of the snapshot. remove: the schema of the column "remove". n_parts (1: no parts), with_vectors and tombstones_after_ms are the
 * plan's.
 */
struct sl_checkpoint_collecting {
    silt_snapshot *snapshot;
    const struct sl_log_view *view;
    struct sl_doubles *doubles, *tombstone_doubles; /* outlive the content */
    const struct ArrowSchema *remove;               /* outlives the collecting */
    size_t n_parts;
    bool with_vectors;
    int64_t tombstones_after_ms;
};
silt_status sl_checkpoint_collect(struct sl_checkpoint_content *content, const struct sl_checkpoint_collecting *how,
                                  const silt_call *call, silt_error *err);
void sl_checkpoint_content_release(struct sl_checkpoint_content *content); /* safe on a zeroed one */

/* Members that adds of the older checkpoint or of the commits have: SL_LAYOUT_…. */
silt_status sl_checkpoint_find_optional(struct sl_checkpoint_content *content, const silt_call *call, unsigned *out,
                                        silt_error *err);

#endif
