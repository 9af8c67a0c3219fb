/*
 * Which commit was the newest at a moment (PROTOCOL.md "Recommendations for Readers of Tables with In-Commit Timestamps"): commits since
 * in-commit timestamps were enabled are searched by those, earlier ones by the times of their files. Called by time travel and
 * by the clean-up of the log. Any thread.
 */
#ifndef SL_KERNEL_TABLE_COMMIT_SEARCH_H
#define SL_KERNEL_TABLE_COMMIT_SEARCH_H

#include "kernel/log/commit_batch.h"
#include "kernel/table/ict.h"

struct sl_commit_search {
    const struct sl_log_source *source;
    struct sl_ict ict;
    int64_t at_ms;
};

/* Part of the commits that were given: those with in-commit timestamps or those without. */
struct sl_commit_found {
    struct sl_log_file *commits;
    size_t n;
    size_t index; /* the last whose time is <= at_ms; n: there is none */
};

/*
 * Commits ascend; n > 0. Their modified_ms become times of versions in place: of those without in-commit timestamps all, of the others
 * those that were looked at, which are few.
 */
silt_status sl_commit_search_run(const struct sl_commit_search *search, const silt_call *call,
                                 struct sl_log_file *commits, size_t n, struct sl_commit_found *out, silt_error *err);

#endif
