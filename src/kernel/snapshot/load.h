/*
 * Loading snapshots, for table/ (time travel, latest), and what loading needs of a table.
 */
#ifndef SL_KERNEL_SNAPSHOT_LOAD_H
#define SL_KERNEL_SNAPSHOT_LOAD_H

#include "base/vec.h"
#include "kernel/log/crc.h"
#include "kernel/log/log_fate.h"
#include "kernel/log/segment.h"
#include "silt/snapshot.h"
#include "silt/table.h"

/* Loads a version, SL_VERSION_LATEST for the newest. */
silt_status sl_snapshot_load(silt_table *table, const silt_call *call, int64_t version, silt_snapshot **out,
                             silt_error *err);

/* A moment by both clocks; taken before a listing that says which version is the newest. */
struct sl_snapshot_moment {
    int64_t monotonic_us;
    int64_t wall_us;
};
struct sl_snapshot_moment sl_snapshot_moment_now(const silt_env *env);
void sl_snapshot_note_newest(silt_snapshot *snapshot, struct sl_snapshot_moment moment);
/* Was its version seen to be the newest in the last `within_us`? By either clock it must be so. */
bool sl_snapshot_was_newest(const silt_snapshot *snapshot, int64_t within_us);

/* The commit file of its version as it was listed; NULL: it was not there. Borrowed. */
const struct sl_log_file *sl_snapshot_commit_file(const silt_snapshot *snapshot);

/* What has become of the table that something new rests on; see sl_log_look for `ours`. One request where it stands. */
enum sl_log_fate sl_snapshot_fate(const silt_snapshot *snapshot, const silt_call *call, int64_t ours);

/* SILT_ENOTTABLE: says whether there is a folder at all. */
silt_status sl_table_absent(silt_table *table, const silt_call *call, silt_error *err);

/*
 * Lists the table's log from a version on (see sl_log_list), with the commits of its catalog, if it has one, in their places and
 * without what that has not ratified. Commits have the name or content that they are read by.
 */
silt_status sl_table_list_log(silt_table *table, const silt_call *call, int64_t from_version, struct sl_arena *arena,
                              struct sl_vec *files, bool *exists, silt_error *err);

silt_table *sl_snapshot_table(const silt_snapshot *snapshot); /* borrowed */

/*
 * The version checksum that was put last through this table object, for who derives the next one from it: its text, and what that says when
 * it is at hand. Taking it takes it away; release it with sl_kept_crc_free. Any thread, one owner.
 */
struct sl_kept_crc {
    const silt_env *env;
    struct sl_buf text; /* of the file */
    bool is_parsed;
    struct sl_crc crc;     /* the version alone unless it is parsed; borrows from arena and text */
    struct sl_arena arena; /* empty unless it is parsed */
};
struct sl_kept_crc *sl_kept_crc_new(const silt_env *env, int64_t version); /* NULL: out of memory */
void sl_kept_crc_free(struct sl_kept_crc *kept);                           /* NULL is legal */
/* Takes it, in every case; a large one is not kept. NULL: forgets what was kept. */
void sl_table_keep_crc(silt_table *table, struct sl_kept_crc *kept);
struct sl_kept_crc *sl_table_take_crc(silt_table *table, int64_t version); /* NULL: that version's is not there */

bool sl_table_is_catalog(const silt_table *table);           /* opened through a catalog */
silt_committer *sl_table_committer(const silt_table *table); /* of its catalog, borrowed; NULL: none */
int64_t sl_table_newest_allowed(const silt_table *table);    /* the catalog's version; INT64_MAX without a catalog */
bool sl_table_trusts_crc(const silt_table *table);           /* false after one contradicted the log */
void sl_table_distrust_crc(silt_table *table);

#endif
