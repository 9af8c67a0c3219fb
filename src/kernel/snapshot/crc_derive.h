/*
 * The version checksum of a version from that of the version before and the commit between them, and from a whole snapshot. What
 * cannot be known for certain is left out; where a total cannot be known, there is no checksum (PROTOCOL.md "Version Checksum
 * File", "Writer Requirements"). Called by what follows a commit. Any thread.
 */
#ifndef SL_KERNEL_SNAPSHOT_CRC_DERIVE_H
#define SL_KERNEL_SNAPSHOT_CRC_DERIVE_H

#include "kernel/log/crc.h"
#include "silt/snapshot.h"

/* Beyond these numbers the lists are left out, as by Delta Spark. */
#define SL_CRC_MAX_FILES 50
#define SL_CRC_MAX_TXNS 100
#define SL_CRC_MAX_DOMAINS 10

struct sl_crc_step {
    const silt_env *env;
    struct sl_arena *arena;
    struct sl_str root;             /* of the table */
    const struct sl_crc *before;    /* NULL: the commit creates the table */
    const struct sl_commit *commit; /* of the version after it, whole */
};

/*
 * Pure. *why_not: the reason for which there is none, static text; NULL: *out is made, and borrows from the step's parts. A
 * failure is one of memory.
 */
silt_status sl_crc_derive(const struct sl_crc_step *step, struct sl_crc *out, const char **why_not, silt_error *err);

/*
 * The whole state of a snapshot, which must be settled (sl_snapshot_settle), counted anew: the files are walked, at most twice. Text
 * lies in the arena or in the snapshot.
 */
silt_status sl_crc_of_snapshot(silt_snapshot *snapshot, const silt_call *call, struct sl_arena *arena,
                               struct sl_crc *out, const char **why_not, silt_error *err);

#endif
