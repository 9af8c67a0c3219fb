/*
 * The version checksum of a commit of ours. Called by after_commit.c.
 */
#ifndef SL_KERNEL_TXN_AFTER_CRC_H
#define SL_KERNEL_TXN_AFTER_CRC_H

#include "kernel/checkpoint/checkpoint_write.h"
#include "kernel/log/crc.h"
#include "kernel/snapshot/load.h"
#include "kernel/txn/after_commit.h"

struct sl_after_crc {
    const struct sl_committed *committed;
    const struct sl_commit *commit; /* its bytes, parsed */
    struct sl_arena *arena;         /* of the result */
    bool
        owns_commit; /* the commit lives as long as the arena does, so that what is derived from it may be kept with it */
};

/*
 * Derives it from that of a version shortly before and the commits since, and writes it unless the version has one of the same commit. *made: it could be
 * derived, and is in *out; otherwise, as after a log without checksums, there is none. *kept: what sl_after_crc_keep takes when all is done;
 * NULL: the file was not put now.
 */
silt_status sl_after_crc_write(const struct sl_after_crc *after, const silt_call *call, struct sl_crc *out, bool *made,
                               struct sl_kept_crc **kept, silt_error *err);
/* For the commit that follows. Takes kept and the arena, of which nothing may be used any more. */
void sl_after_crc_keep(const struct sl_committed *committed, struct sl_kept_crc *kept, struct sl_arena *arena);
/*
 * Writes the checksum of a settled snapshot unless its version has one of the same commit: from it on, they can be derived. `counted` is the
 * checkpoint that was just written of the snapshot: one that contradicts its totals is replaced. Totals of -1, or NULL: nothing was counted.
 */
silt_status sl_after_crc_restart(silt_table *table, silt_snapshot *snapshot, const silt_call *call,
                                 const struct sl_checkpoint_result *counted, silt_error *err);

#endif
