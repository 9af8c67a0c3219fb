/*
 * The commit loop: gets one commit file into the log under the first version that is free and that the conflict check allows.
 * Knows nothing of transactions beyond the facts for that check, so that simulations drive it directly.
 */
#ifndef SL_KERNEL_TXN_COMMIT_LOOP_H
#define SL_KERNEL_TXN_COMMIT_LOOP_H

#include "kernel/txn/conflict.h"
#include "silt/storage.h"

struct sl_commit_job {
    const silt_env *env;
    silt_storage *storage; /* borrowed */
    struct sl_str root;    /* of the table */
    int64_t first_version; /* read version + 1 */
    struct sl_str bytes;   /* the whole file; unique (it holds the transaction's id), the same for every version */
    struct sl_txn_facts facts;
    uint32_t max_attempts; /* to put a version, at least 1 */
    int64_t resolve_us;    /* how long an attempt without an answer is followed up */
};

struct sl_commit_end {
    silt_commit_outcome outcome;
    silt_conflict_kind conflict;
    int64_t version; /* committed, or the winner's; -1 if neither */
    uint32_t attempts;
};

/*
 * SILT_OK with COMMITTED or SKIPPED, SILT_ECONFLICT with CONFLICT, SILT_EUNKNOWN with UNKNOWN. Any other status: nothing was
 * committed, nor will be.
 */
silt_status sl_commit_run(const struct sl_commit_job *job, const silt_call *call, struct sl_commit_end *end,
                          silt_error *err);

#endif
