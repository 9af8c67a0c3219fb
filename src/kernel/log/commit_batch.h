/*
 * Reading many commits: all requests of a batch at once, parsed in parallel on the engine's executor, handed out newest
 * first. Batches bound the memory that a long log takes. Called by replay and history.
 */
#ifndef SL_KERNEL_LOG_COMMIT_BATCH_H
#define SL_KERNEL_LOG_COMMIT_BATCH_H

#include "kernel/log/commit.h"

struct sl_log_source {
    silt_engine *engine;
    silt_storage *storage;
    struct sl_str root;
};

enum sl_missing_commit {
    SL_MISSING_FAILS,  /* a commit that was listed and is gone is SILT_ENOTFOUND */
    SL_MISSING_IS_PAST /* it was cleaned up meanwhile: left out */
};

struct sl_commits_request {
    const struct sl_log_source *source;
    const struct sl_log_file *files; /* ascending */
    size_t n;
    enum sl_missing_commit missing;
    bool info_only; /* commits have only their commitInfo (sl_commit_parse_info) */
    /*
     * A large commit may be visited several times, each time with some of its actions in their order, so that it takes bounded
     * memory. Those but the last have has_more; the last comes when all of the commit was found sound, and a failure before it
     * takes back what was visited. Such visits may come from another thread than the caller's, one at a time. Its first commitInfo
     * is told with the actions that it is among.
     */
    bool in_parts;
};

/*
 * Visits the commits from the last to the first. A commit is borrowed during its visit; *stop ends early. A failure names
 * the commit.
 */
silt_status sl_commits_each(const struct sl_commits_request *request, const silt_call *call,
                            silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                 silt_error *err),
                            void *ctx, silt_error *err);

#endif
