/*
 * The parts of change data, shared by the files of this folder:
 *
 *   changes.c         the object, the course of planning, reading
 *   changes_range.c   which versions: bounds by number and by time, the commits of the range
 *   changes_schema.c  can the columns of every version be read as those of the last? (pure)
 *   changes_log.c     one commit's actions → entries (pure but for memory)
 *   changes_columns.c the columns of the rows
 *   changes_scan.c    entries → scans
 *
 * A silt_changes is built by one thread and immutable afterwards.
 */
#ifndef SL_KERNEL_CHANGES_CHANGES_INT_H
#define SL_KERNEL_CHANGES_CHANGES_INT_H

#include <stdatomic.h>

#include "base/vec.h"
#include "kernel/log/commit.h"
#include "kernel/snapshot/state.h"
#include "silt/changes.h"

#define SL_CHANGES_MAX_SCANS 2

enum sl_change_kind {
    SL_CHANGE_FILE, /* a change file: its rows say what they are */
    SL_CHANGE_INSERT,
    SL_CHANGE_DELETE
};

/* A file whose rows are changes. Text lies in the arena of the changes. */
struct sl_change_entry {
    enum sl_change_kind kind;
    int64_t version;
    int64_t timestamp_ms;
    struct sl_str path;
    struct sl_kv_list partition_values;
    int64_t size;        /* -1 if the log does not say */
    int64_t base_row_id; /* SL_NO_I64 if absent */
    int64_t row_commit_version;
    int64_t modified_ms;
    const struct sl_dv_descriptor *deleted;  /* these rows are no changes; NULL: none */
    const struct sl_dv_descriptor *selected; /* only these are; NULL: all */
};

struct silt_changes {
    atomic_size_t refs;
    const silt_env *env;
    silt_snapshot *snapshot; /* of the last version; a reference */
    int64_t from;
    int64_t to;
    struct sl_arena arena;
    struct sl_vec entries; /* struct sl_change_entry, newest version first */
    silt_schema *schema;
    silt_schema *physical;
    silt_scan *scans[SL_CHANGES_MAX_SCANS];
    size_t n_scans;
};

/* ---- changes_range.c ---- */

/* What is asked for. */
struct sl_changes_request {
    silt_table *table;
    silt_snapshot *newest; /* of the version that counts as the newest */
    const silt_changes_options *options;
};
/* The range as numbers; *snapshot is of its last version, the caller's. */
silt_status sl_changes_range(const struct sl_changes_request *request, const silt_call *call, int64_t *from,
                             silt_snapshot **snapshot, silt_error *err);
/* Visits the commits of [from, to], newest first, with their times; fails if the log lacks one. */
silt_status sl_changes_commits(silt_table *table, const silt_call *call, int64_t from, int64_t to,
                               silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                    silt_error *err),
                               void *ctx, silt_error *err);

/* ---- changes_schema.c ---- */

/* What a version's metadata must say for its rows to be told under the columns of the last one. */
struct sl_changes_rule {
    const silt_env *env;
    const silt_schema *logical; /* of the last version */
    const silt_schema *physical;
    const struct sl_metadata *last;
    int64_t from, to;
};
silt_status sl_changes_check_metadata(const struct sl_changes_rule *rule, const struct sl_metadata *metadata,
                                      int64_t version, silt_error *err);

/* ---- changes_log.c ---- */

/* Appends the entries of one commit. root: of the table, for keys. */
silt_status sl_changes_of_commit(silt_changes *changes, struct sl_str root, const struct sl_commit *commit,
                                 silt_error *err);

/* ---- changes_columns.c ---- */

/* The columns after the table's own, and their places among the constants of a file after its partition values. */
enum sl_changes_column {
    SL_CHANGES_TYPE,
    SL_CHANGES_VERSION,
    SL_CHANGES_TIMESTAMP,
    SL_CHANGES_COLUMNS
};
/* schema and physical, from the snapshot's. */
silt_status sl_changes_make_schema(silt_changes *changes, silt_error *err);

/* ---- changes_scan.c ---- */

silt_status sl_changes_make_scans(silt_changes *changes, const silt_changes_options *options, silt_error *err);

#endif
