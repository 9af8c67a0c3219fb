/*
 * The commitInfo action as JSON (PROTOCOL.md "Commit Provenance Information"), with Delta Spark's names and spellings. Pure.
 */
#ifndef SL_KERNEL_TXN_COMMIT_INFO_H
#define SL_KERNEL_TXN_COMMIT_INFO_H

#include "base/buf.h"
#include "kernel/txn/txn_int.h"

struct sl_commit_facts {
    int64_t timestamp_ms;
    int64_t in_commit_timestamp_ms; /* SL_NO_I64: the table has none */
    const char *isolation;          /* "Serializable", "WriteSerializable", "SnapshotIsolation" */
    bool is_blind_append;
    const char *txn_id;
};

silt_status sl_commit_info_write(struct sl_buf *out, const silt_txn *txn, const struct sl_commit_facts *facts,
                                 silt_error *err);

#endif
