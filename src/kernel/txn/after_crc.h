/*
 * The version checksum of a commit of ours. Called by after_commit.c.
 */
#ifndef SL_KERNEL_TXN_AFTER_CRC_H
#define SL_KERNEL_TXN_AFTER_CRC_H

#include "kernel/checkpoint/checkpoint_write.h"
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
/*
 * Writes the checksum of a settled snapshot unless its version has one of the same commit: from it on, they can be derived. `counted` is the
 * checkpoint that was just written of the snapshot: one that contradicts its totals is replaced. Totals of -1, or NULL: nothing was counted.
 */
silt_status sl_after_crc_restart(silt_table *table, silt_snapshot *snapshot, const silt_call *call,
                                 const struct sl_checkpoint_result *counted, silt_error *err);

#endif
