/*
 * A version checksum against the state that replay makes: as input of a replay, and compared with its result. Pure but for the
 * arena of the replay. Called by snapshot_crc.c and crc_verify.c.
 */
#ifndef SL_KERNEL_SNAPSHOT_CRC_COMPARE_H
#define SL_KERNEL_SNAPSHOT_CRC_COMPARE_H

#include "kernel/log/crc.h"
#include "kernel/replay/replay.h"

#define SL_CRC_DIFFERENCE_SIZE 96

/* A replay of the commits after a checksum. */
struct sl_crc_replay {
    struct sl_replay replay;
    int64_t version;             /* whose in-commit timestamp is wanted */
    int64_t in_commit_timestamp; /* found, or SL_NO_I64 */
    struct sl_arena *arena;      /* of what follows */
    struct sl_str txn_id;        /* likewise, or absent */
};

/* Puts the state of a checksum behind newer commits, as the rows of a checkpoint would come. */
silt_status sl_crc_each_action(const struct sl_crc *crc, struct sl_replay *replay, silt_error *err);

/*
 * Same meaning, whatever the order of lists, maps and JSON members? If not, `what` names the first thing that differs. Of the
 * checksum, applications may be missing where the table lets them expire. Out of memory counts as different.
 */
bool sl_crc_same_state(const silt_env *env, const struct sl_replay_state *crc, const struct sl_replay_state *log,
                       char what[SL_CRC_DIFFERENCE_SIZE]);

#endif
