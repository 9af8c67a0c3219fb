/*
 * A transaction as the bytes of its commit file, for the version that is tried (PROTOCOL.md "Delta Log Entries").
 */
#ifndef SL_KERNEL_TXN_COMMIT_RENDER_H
#define SL_KERNEL_TXN_COMMIT_RENDER_H

#include "base/uuid.h"
#include "kernel/txn/txn_int.h"

struct sl_commit_render {
    const silt_txn *txn;
    const char *isolation;
    bool is_blind_append;
    char txn_id[SL_UUID_TEXT_SIZE];
    bool had_times;                 /* the snapshot that was read has in-commit timestamps */
    uint32_t changes;               /* of enum silt_rebase: what the last rendering did otherwise than the first */
    int64_t first_timestamp_ms;     /* in-commit timestamp of the first; SL_NO_I64 before, or without */
    int64_t in_commit_timestamp_ms; /* of the last */
};

/* Did the commit that this state describes have in-commit timestamps? */
bool sl_has_commit_times(const struct sl_protocol *protocol, const struct sl_metadata *metadata);

/* For struct sl_commit_job; ctx is a struct sl_commit_render. */
silt_status sl_commit_render(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err);

#endif
