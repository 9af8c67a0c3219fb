/*
 * The commit loop: gets one commit file into the log under the first version that is free and that the conflict check allows.
 * Knows nothing of transactions beyond the facts for that check, so that simulations drive it directly.
 */
#ifndef SL_KERNEL_TXN_COMMIT_LOOP_H
#define SL_KERNEL_TXN_COMMIT_LOOP_H

#include "kernel/txn/commit_place.h"
#include "kernel/txn/conflict.h"
#include "kernel/txn/rebase.h"

struct sl_commit_job {
    const silt_env *env;
    struct sl_commit_place *place;
    /*
     * Makes the commit file for the version of the rebase; called once before each version that is tried. out holds what it made for the version
     * before, and may stay as it is. The bytes must be unique: they hold the transaction's id.
     */
    silt_status (*render)(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err);
    void *render_ctx;
    const char *txn_id;        /* that id, for messages; borrowed */
    struct sl_rebase *rebase;  /* begins at the read version + 1; changed */
    struct sl_txn_facts facts; /* but for its actions and protocol, which are the rebase's */
    /*
     * The version of the rebase was seen to be another's: it is passed before anything is asked for. A request for it could be on its way for as
     * long as the version takes to expire, and then land in its place.
     */
    bool is_behind;
    uint32_t max_attempts; /* to put a version, at least 1 */
    int64_t time_limit_us; /* for winning a version, 0 for none; what is open then gets ten seconds more */
    int64_t resolve_us;    /* how long an attempt without an answer is followed up, if that ends sooner */
};

struct sl_commit_end {
    silt_commit_outcome outcome;
    silt_conflict_kind conflict;
    int64_t version; /* committed, or the winner's; -1 if neither */
    uint32_t attempts;
    struct sl_str operation, path, partition; /* of a conflict, in the arena of the rebase; absent where not known */
};

/*
 * SILT_OK with COMMITTED or SKIPPED, SILT_ECONFLICT with CONFLICT, SILT_EUNKNOWN with UNKNOWN. Any other status: nothing was
 * committed, nor will be. *bytes, initialised by the caller, is then what was committed.
 */
silt_status sl_commit_run(const struct sl_commit_job *job, const silt_call *call, struct sl_buf *bytes,
                          struct sl_commit_end *end, silt_error *err);

#endif
