/*
 * What happens after a commit, for the good of later readers: the version checksum, the checkpoint that is due, the clean-up of
 * expired log files. The commit stands whatever comes of these. Called by silt_txn_commit, on its thread.
 */
#ifndef SL_KERNEL_TXN_AFTER_COMMIT_H
#define SL_KERNEL_TXN_AFTER_COMMIT_H

#include "base/str.h"
#include "kernel/log/log_fate.h"
#include "silt/engine.h"
#include "silt/snapshot.h"
#include "silt/table.h"

struct silt_commit_options;

/* Borrowed during the call. */
struct sl_committed {
    silt_table *table;
    silt_snapshot *base; /* that the transaction read; NULL for a table that it created */
    int64_t version;
    struct sl_str created_id;                  /* of the metadata of that table; absent: none was created */
    struct sl_str bytes;                       /* the commit file as it was committed */
    const struct silt_commit_options *options; /* NULL: defaults */
};

/*
 * Never fails: what goes wrong is told once on the log sink of the environment. Returns what has become of the table that the transaction
 * read or created; unless it stands, nothing is left of what was done here.
 */
enum sl_log_fate sl_after_commit(const struct sl_committed *committed, const silt_call *call);

#endif
