/*
 * A version checksum against the table (PROTOCOL.md "State Validation"): every member that the log and its files can prove or
 * refute. For fsck and for debugging; opening a table does not do this. Any thread.
 */
#ifndef SL_KERNEL_SNAPSHOT_CRC_VERIFY_H
#define SL_KERNEL_SNAPSHOT_CRC_VERIFY_H

#include "kernel/log/commit.h"
#include "silt/snapshot.h"

/*
 * Reads the checksum `file` (of a listing) and compares it with the snapshot of its version, which is replayed for it. on_fault is called once
 * for every member that is wrong, with the member's name and one line that says what it has and what the log has; also,
 * with the member "", for a file that cannot be parsed. Fails only when the checksum or the table cannot be read.
 */
silt_status sl_crc_verify(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_file *file,
                          void (*on_fault)(void *ctx, const char *member, const char *message), void *ctx,
                          silt_error *err);

#endif
