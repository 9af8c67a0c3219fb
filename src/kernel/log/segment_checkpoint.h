/*
 * The checkpoints of a listing: which are complete, and which of them is to be read (PROTOCOL.md "Checkpoint Naming
 * Scheme"). Pure; called by segment.c.
 */
#ifndef SL_KERNEL_LOG_SEGMENT_CHECKPOINT_H
#define SL_KERNEL_LOG_SEGMENT_CHECKPOINT_H

#include "kernel/log/segment.h"

/* A complete checkpoint in a listing. */
struct sl_found_checkpoint {
    int64_t version; /* -1: none */
    size_t first;    /* index of its first file */
    int32_t n_parts; /* of a checkpoint in parts, else 0 */
};

/* The newest one at or below a version that is not known to be bad; of several for a version the one that reads best. */
struct sl_found_checkpoint sl_checkpoint_find(const struct sl_log_file *files, size_t n, int64_t at_most,
                                              const struct sl_bad_checkpoints *bad);
/* The version of the oldest; -1 if there is none. */
int64_t sl_checkpoint_oldest(const struct sl_log_file *files, size_t n);
/* Its files in order, in the arena; *out NULL when out of memory. Returns their number. */
size_t sl_checkpoint_files(const struct sl_log_file *files, size_t n, const struct sl_found_checkpoint *found,
                           struct sl_arena *arena, struct sl_log_file **out);

#endif
