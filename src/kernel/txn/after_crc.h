/*
 * The version checksum of a commit of ours. Called by after_commit.c.
 */
#ifndef SL_KERNEL_TXN_AFTER_CRC_H
#define SL_KERNEL_TXN_AFTER_CRC_H

#include "kernel/log/crc.h"
#include "kernel/txn/after_commit.h"

struct sl_after_crc {
    const struct sl_committed *committed;
    const struct sl_commit *commit; /* its bytes, parsed */
    struct sl_arena *arena;         /* of the result */
};

/*
 * Derives it from that of a version shortly before and the commits since, and writes it unless the version has one of the same commit. *made: it could be
 * derived, and is in *out; otherwise, as after a log without checksums, there is none.
 */
silt_status sl_after_crc_write(const struct sl_after_crc *after, const silt_call *call, struct sl_crc *out, bool *made,
                               silt_error *err);
/* Writes the checksum of a settled snapshot unless its version has one of the same commit: from it on, they can be derived. */
silt_status sl_after_crc_restart(silt_table *table, silt_snapshot *snapshot, const silt_call *call, silt_error *err);

#endif
