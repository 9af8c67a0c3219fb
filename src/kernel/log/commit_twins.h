/*
 * Exact comparison of the file actions of one commit whose hashes are equal: their lines are read again, from memory or from the
 * store. It happens once in billions of commits, or when the commit is corrupt. Used by log/ only.
 */
#ifndef SL_KERNEL_LOG_COMMIT_TWINS_H
#define SL_KERNEL_LOG_COMMIT_TWINS_H

#include "kernel/log/commit_rules.h"

/* Whole lines of the file, with the one that was asked for among them. */
struct sl_twin_lines {
    struct sl_str bytes;
    uint64_t offset;   /* of the bytes in the file */
    size_t first_line; /* number of lines before them */
};

struct sl_twin_source {
    /* Loads the lines around a place into one of two slots (0, 1); they stay until the slot is loaded again. */
    silt_status (*load)(void *ctx, uint64_t place, unsigned slot, struct sl_twin_lines *out, silt_error *err);
    void *ctx;
};

/*
 * Fails with SILT_ECORRUPT (DELTA_DUPLICATE_ACTIONS_FOUND) when two marks of the rules are of the same logical file; *line is then the
 * later one's.
 */
silt_status sl_commit_twins_refuse(struct sl_commit_rules *rules, const struct sl_twin_source *source, size_t *line,
                                   silt_error *err);

#endif
