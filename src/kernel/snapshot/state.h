/*
 * What the rest of the kernel may see of a snapshot: its protocol, metadata and files as structs. Read-only, any thread.
 */
#ifndef SL_KERNEL_SNAPSHOT_STATE_H
#define SL_KERNEL_SNAPSHOT_STATE_H

#include "kernel/action/action.h"
#include "schema/column_mapping.h"
#include "silt/snapshot.h"
#include "silt/table.h"

silt_engine *sl_snapshot_engine(const silt_snapshot *snapshot);
silt_storage *sl_snapshot_storage(const silt_snapshot *snapshot);
struct sl_str sl_snapshot_root(const silt_snapshot *snapshot); /* table URI, decoded, NUL-terminated */
const struct sl_protocol *sl_snapshot_protocol(const silt_snapshot *snapshot);
const struct sl_metadata *sl_snapshot_get_metadata(const silt_snapshot *snapshot);
/* How columns are found in files. The physical schema is silt_snapshot_physical_schema. */
enum sl_mapping_mode sl_snapshot_mapping(const silt_snapshot *snapshot);
/*
 * For who is about to read rows or write: a snapshot that was opened through a version checksum is compared with the log now. When the checksum
 * proves wrong, *snapshot is replaced by one of the same version that was replayed, with one note; the reference passes over.
 */
silt_status sl_snapshot_settle(silt_snapshot **snapshot, const silt_call *call, silt_error *err);
/*
 * The newest snapshot for who is about to read rows or write anyway: the log is replayed at once, and no time goes into a version checksum that
 * would only be compared with it. with_files: its files will be listed, so that a store which is far away is asked for a checkpoint's at once.
 */
silt_status sl_table_newest_replayed(silt_table *table, const silt_call *call, bool with_files, silt_snapshot **out,
                                     silt_error *err);
/* The txnId of its last commit, borrowed: which commit it rests on; absent if that has none or was not read, as behind a checkpoint. */
struct sl_str sl_snapshot_txn_id(const silt_snapshot *snapshot);
/* In-commit timestamp of its last commit if it has one, else the commit file's modification time. */
int64_t sl_snapshot_commit_time_ms(const silt_snapshot *snapshot);
const struct sl_app_txn *sl_snapshot_app_txn(const silt_snapshot *snapshot, struct sl_str app_id); /* NULL if none */

/* Which parts of the files are wanted; the rest may be left absent. */
enum {
    SL_FILES_STATS = 1, /* add.stats */
    SL_FILES_ALL = 3    /* everything: tags, vectors' extras … for re-emitting */
};

/*
 * Visits every live file once, in a stable order. The add is borrowed during the visit. *stop ends early. Loads what is needed at
 * first use (thread-safe) and keeps it as far as memory limits allow.
 */
silt_status sl_snapshot_each_file(silt_snapshot *snapshot, const silt_call *call, unsigned want,
                                  silt_status (*visit)(void *ctx, const struct sl_add *add, bool *stop,
                                                       silt_error *err),
                                  void *ctx, silt_error *err);
/* Are the files in memory (with details: statistics too), so that a visit reads nothing? */
bool sl_snapshot_has_list(const silt_snapshot *snapshot, bool details);
/* Number and bytes of its files, where that is known without reading anything; false: it is not. */
bool sl_snapshot_known_totals(const silt_snapshot *snapshot, int64_t *n_files, int64_t *total_size);
/* Number of its files, which are listed for that if need be, but do not stay in memory: silt_snapshot_totals keeps them. */
silt_status sl_snapshot_count_files(silt_snapshot *snapshot, const silt_call *call, int64_t *n_files, silt_error *err);
/*
 * Visits files that are in memory already (the lists, and what the commits after the checkpoint added), of each layer those with the greatest
 * baseRowId; some may be gone. Reads nothing. whole: the add has its statistics, else they may be missing for want of memory.
 */
typedef silt_status sl_row_id_visit(void *ctx, const struct sl_add *add, bool whole, silt_error *err);
silt_status sl_snapshot_each_last_row_id(const silt_snapshot *snapshot, sl_row_id_visit *visit, void *ctx,
                                         silt_error *err);
/* Does it hold little memory and few names of commits, so that it may be kept only to be refreshed? False if it has no way to its files yet. */
bool sl_snapshot_is_light(const silt_snapshot *snapshot);
/* Tombstones that are still in the state (for checkpoints and vacuum). */
silt_status sl_snapshot_each_tombstone(silt_snapshot *snapshot, const silt_call *call,
                                       silt_status (*visit)(void *ctx, const struct sl_remove *remove, bool *stop,
                                                            silt_error *err),
                                       void *ctx, silt_error *err);

/* Table internals. */
silt_storage *sl_table_storage(const silt_table *table);
struct sl_str sl_table_root(const silt_table *table);

/* Absolute, decoded path of a data file of the table (see sl_uri_resolve). */
silt_status sl_snapshot_file_path(const silt_snapshot *snapshot, struct sl_arena *arena, struct sl_str log_path,
                                  struct sl_str *out, silt_error *err);

#endif
