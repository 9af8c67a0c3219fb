/*
 * The snapshot object and the steps that make one, shared by the files of this folder. Immutable once handed out, but for the slots of the file list, which are published by
 * compare-and-exchange: two threads that load at once both succeed, and one throws its work away.
 */
#ifndef SL_KERNEL_SNAPSHOT_SNAPSHOT_INT_H
#define SL_KERNEL_SNAPSHOT_SNAPSHOT_INT_H

#include <stdatomic.h>

#include "kernel/log/commit_batch.h"
#include "kernel/log/segment.h"
#include "kernel/replay/file_set.h"
#include "kernel/replay/replay.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

struct silt_snapshot {
    atomic_size_t refs;
    const silt_env *env;
    silt_table *table;     /* a reference */
    struct sl_arena arena; /* of all text below */
    struct sl_log_segment segment;
    struct sl_replay_state state;
    silt_schema *schema;
    silt_schema *physical; /* the same shape in the names of files; `schema` itself without column mapping */
    enum sl_mapping_mode mapping;
    int64_t timestamp_ms;
    int64_t txns_expired_ms;      /* application versions recorded up to this time do not count; INT64_MIN: all do */
    int64_t in_commit_timestamp;  /* of the version's own commit, SL_NO_I64 if not seen */
    struct sl_kv_list properties; /* in the order of their keys */
    struct sl_str_list features;  /* in byte order */

    /*
     * Files = tail, then those of base (or, without one, of the segment's checkpoint) that `seen` does not decide. What is
     * built of them is put into `files`, or `detailed` when statistics and the like are with it.
     */
    struct sl_file_set *tail;
    struct sl_map seen;
    struct sl_arena seen_keys;
    struct sl_file_set *base; /* of an earlier snapshot, NULL if none */
    _Atomic(struct sl_file_set *) files;
    _Atomic(struct sl_file_set *) detailed;
    atomic_bool details_too_big; /* read from the log at each visit */
};

struct sl_log_source sl_snapshot_source(const silt_snapshot *snapshot);

/* A snapshot with nothing in it; free with silt_snapshot_unref. NULL: out of memory. */
silt_snapshot *sl_snapshot_alloc(silt_table *table);

/*
 * Checks and derives everything once protocol and metadata are known (PROTOCOL.md "Requirements for Readers"): the gate
 * comes before anything else is interpreted.
 */
silt_status sl_snapshot_complete(silt_snapshot *snapshot, const silt_call *call, silt_error *err);

/*
 * Another way to a version when the checkpoint of a segment is bad: lists the whole log and chooses below it. Names live in
 * the arena.
 */
silt_status sl_snapshot_other_segment(silt_table *table, const silt_call *call, int64_t version,
                                      int64_t checkpoint_below, struct sl_arena *arena, struct sl_log_segment *out,
                                      silt_error *err);

#endif
