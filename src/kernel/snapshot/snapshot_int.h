/*
 * The snapshot object and the steps that make one, shared by the files of this folder. Immutable once handed out, but for the slots of the file list, which are published by
 * compare-and-exchange: two threads that load at once both succeed, and one throws its work away.
 */
#ifndef SL_KERNEL_SNAPSHOT_SNAPSHOT_INT_H
#define SL_KERNEL_SNAPSHOT_SNAPSHOT_INT_H

#include <stdatomic.h>

#include "kernel/log/commit_batch.h"
#include "kernel/log/segment.h"
#include "kernel/replay/file_list.h"
#include "kernel/replay/replay.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/log_view.h"
#include "kernel/snapshot/segment_search.h"
#include "kernel/snapshot/state.h"

/* Where an add of a checkpoint has its statistics. Found out when details are first read. */
enum sl_stats_form {
    SL_STATS_TEXT,         /* add.stats, or nowhere */
    SL_STATS_PARSED,       /* some only in add.stats_parsed */
    SL_STATS_PARSED_COUNTS /* the same, but its bounds have types that cannot be read as the table's */
};

struct silt_snapshot {
    atomic_size_t refs;
    const silt_env *env;
    silt_table *table;     /* a reference */
    struct sl_arena arena; /* of all text below */
    struct sl_log_segment segment;
    bool segment_is_tail; /* it holds only the newest commits, and is no way to the version by itself */
    struct sl_replay_state state;
    silt_schema *schema;
    silt_schema *physical; /* the same shape in the names of files; `schema` itself without column mapping */
    enum sl_mapping_mode mapping;
    int64_t timestamp_ms;
    int64_t txns_expired_ms; /* application versions recorded up to this time do not count; INT64_MIN: all do */
    _Atomic(int64_t)
        newest_us; /* monotonic time at which it was last seen to be the newest version; INT64_MIN: never */
    _Atomic(int64_t) newest_wall_us; /* the same by the wall clock, which counts while the machine sleeps */
    atomic_size_t n_ahead;           /* commits that a refresh asks for beside the listing */
    int64_t in_commit_timestamp;     /* of the version's own commit, SL_NO_I64 if not seen */
    struct sl_str txn_id;            /* likewise, absent if it has none */
    struct sl_kv_list properties;    /* in the order of their keys */
    struct sl_str_list features;     /* in byte order */

    /*
     * Opened through a version checksum: then there is no view of the log before somebody needs one, and what the checksum
     * said is compared with it.
     */
    int64_t crc_version; /* of the checksum, -1: the snapshot was replayed */
    bool has_crc_totals; /* it is of this very version: */
    int64_t crc_files, crc_bytes;

    _Atomic(struct sl_log_view *) view; /* see log_view.h; NULL until loaded */
    /*
     * Files = the view's tail, then those of its checkpoint that the commits did not decide about. What is built of them is put
     * into `files`, or `detailed` when statistics and the like are with it. A snapshot that grew from one whose files
     * were loaded has `files` from the start.
     */
    _Atomic(struct sl_file_list *) files;
    _Atomic(struct sl_file_list *) detailed;
    atomic_bool details_too_big; /* read from the log at each visit */
    atomic_bool told_hint;       /* that the hint is wrong */
    atomic_bool told_again;      /* that a checkpoint names files twice */
    atomic_int stats_form;       /* enum sl_stats_form, of the checkpoint's adds */
};

struct sl_log_source sl_snapshot_source(const silt_snapshot *snapshot);

/* A snapshot with nothing in it; free with silt_snapshot_unref. NULL: out of memory. */
silt_snapshot *sl_snapshot_alloc(silt_table *table);

/*
 * Checks and derives everything once protocol and metadata are known (PROTOCOL.md "Requirements for Readers"): the gate
 * comes before anything else is interpreted.
 */
silt_status sl_snapshot_complete(silt_snapshot *snapshot, const silt_call *call, silt_error *err);

/* A list that is known from the start; takes it. Before the snapshot is shared. */
void sl_snapshot_keep_list(silt_snapshot *snapshot, struct sl_file_list *list);

/* ---- views ---- */

struct sl_log_view *sl_view_new(const silt_env *env); /* NULL: out of memory */
void sl_view_free(struct sl_log_view *view);          /* and those that it replaced; NULL is legal */

/*
 * Replays view->segment, whose text lies in view->arena or outlives it, into the view. When the search fell back, and without a checkpoint,
 * version 0 must hold protocol and metaData. *fault says whose fault a failure is.
 */
silt_status sl_view_open(const struct sl_segment_search *search, struct sl_log_view *view, enum sl_segment_fault *fault,
                         silt_error *err);

/* ---- view_early.c ---- */

/* Fills view->early, on a store that is far away; the segment has been chosen. */
silt_status sl_view_ask_early(struct sl_log_view *view, const struct sl_log_source *source, const silt_call *call,
                              silt_error *err);

/* ---- version checksums ---- */

/*
 * Opens what snapshot->segment says through the newest version checksum of it, when that saves reading the checkpoint or many
 * commits. *opened false: it cannot be, or is not worth it; a checksum that is not usable costs a note.
 */
silt_status sl_snapshot_open_by_crc(silt_snapshot *snapshot, const silt_call *call, bool *opened, silt_error *err);

/*
 * Compares what the checksum said with a view of the log. SILT_ECORRUPT when they differ: the snapshot is not to be used, and the
 * table is opened without checksums from now on.
 */
silt_status sl_snapshot_check_crc(const silt_snapshot *snapshot, const struct sl_log_view *view, silt_error *err);

/* The same for the totals, once the files are known. A difference costs a note; what the log says counts. */
void sl_snapshot_check_crc_totals(silt_snapshot *snapshot, int64_t n_files, int64_t total_size);

#endif
