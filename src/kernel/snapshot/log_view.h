/*
 * What a snapshot's files are made of: the segment, its checkpoint, what the commits after it decided. A snapshot that was opened
 * through a version checksum has none of it until it is asked for; a checkpoint that proves bad while its files are read
 * is replaced by another way to the same version. Views are immutable, published by compare-and-exchange and kept until the
 * snapshot goes, so that borrowed ones stay valid.
 */
#ifndef SL_KERNEL_SNAPSHOT_LOG_VIEW_H
#define SL_KERNEL_SNAPSHOT_LOG_VIEW_H

#include "kernel/log/commit_batch.h"
#include "kernel/log/early.h"
#include "kernel/log/segment.h"
#include "kernel/replay/checkpoint.h"
#include "kernel/replay/file_set.h"
#include "kernel/replay/key_set.h"
#include "kernel/replay/replay.h"
#include "silt/snapshot.h"

struct sl_log_view {
    struct sl_log_view *replaced; /* the view that this one stands for, NULL for the first */
    const silt_env *env;
    struct sl_arena arena; /* of the text of segment, checkpoint and state */
    struct sl_log_segment segment;
    struct sl_checkpoint checkpoint;
    struct sl_replay_state state; /* what the log says; empty when the snapshot itself holds it */
    /*
     * Files that the commits left live, and the keys of all files that they decided about (positions are of tail). Tail is NULL
     * where nobody needs them: in a snapshot that grew from one whose files were loaded. Without a checkpoint `decided` is not complete.
     */
    struct sl_file_set *tail;
    struct sl_key_set decided;
    /*
     * On a store that is far away: commits and what the checkpoint gives at once, so that reading them a second time, for statistics, asks for
     * nothing. NULL elsewhere. Its parts are bounded.
     */
    struct sl_early *early;
    bool gave_state;             /* the state went to the snapshot that the view was opened for */
    bool lacks_removes;          /* no file that the commits removed stays removed; false: not known, or some do */
    bool adds_brought;           /* the checkpoint's adds were asked for when it was opened */
    int64_t in_commit_timestamp; /* of the version's own commit, SL_NO_I64 if it was not among those read */
    struct sl_str txn_id;        /* likewise; absent if it has none */
};

/* What the log says beside files, by the view of a snapshot; without protocol or metadata where it is not known. */
const struct sl_replay_state *sl_view_state(const silt_snapshot *snapshot, const struct sl_log_view *view);
/* Where the files of a view are read from. */
struct sl_log_source sl_view_source(const silt_snapshot *snapshot, const struct sl_log_view *view);
/* Before the checkpoint's file actions are read: those of all its files are asked for together, unless that was done. */
silt_status sl_view_bring_adds(const silt_snapshot *snapshot, const struct sl_log_view *view, const silt_call *call,
                               silt_error *err);

/* The view in force, loaded if need be; borrowed from the snapshot. with_files: the checkpoint's file actions will be read next. */
silt_status sl_snapshot_view(silt_snapshot *snapshot, const silt_call *call, bool with_files,
                             const struct sl_log_view **out, silt_error *err);

/*
 * After the checkpoint of `bad` failed with a status of sl_checkpoint_is_bad: another view of the same version that avoids every checkpoint
 * tried before. One note to the log sink tells why (`reason`). Fails when there is no other way: then the caller tells its
 * own failure.
 */
silt_status sl_snapshot_other_view(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_view *bad,
                                   const silt_error *reason, const struct sl_log_view **out, silt_error *err);

/*
 * After a file that `gone` rests on was not found: it may have expired while the snapshot, or one that it grew from, was held. A view of the
 * same version as the log has it now. Fails when that is no other way: then the caller tells its own failure.
 */
silt_status sl_snapshot_view_anew(silt_snapshot *snapshot, const silt_call *call, const struct sl_log_view *gone,
                                  const struct sl_log_view **out, silt_error *err);

#endif
