/*
 * The commits that may follow a version, asked for before a listing has said that they are there: a store that is far away is asked for both
 * at once. What came counts only for a commit that the listing then has, with its size. Called by refresh. One thread.
 */
#ifndef SL_KERNEL_LOG_AHEAD_H
#define SL_KERNEL_LOG_AHEAD_H

#include "kernel/log/commit_batch.h"

#define SL_AHEAD_COMMITS 4 /* at most */

struct sl_ahead {
    silt_storage *storage; /* borrowed; NULL: nothing was asked for */
    int64_t first_version;
    size_t n;
    struct sl_arena paths;
    silt_read_request requests[SL_AHEAD_COMMITS];
};

/* Asks for the n commits behind a version. A failure is none: what did not come is read when it is known to be there. */
void sl_ahead_read(struct sl_ahead *ahead, const struct sl_log_source *source, const silt_call *call, int64_t version,
                   size_t n);
/* The bytes of a commit as it was listed, borrowed; absent: it did not come. */
struct sl_str sl_ahead_find(const struct sl_ahead *ahead, const struct sl_log_file *file);
void sl_ahead_release(struct sl_ahead *ahead); /* a zeroed one is legal */

#endif
