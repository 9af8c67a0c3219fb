/*
 * The check of a table, shared by its files:
 *
 *   fsck.c             the course of it, telling findings; fsck_held.c: those that may come of a clean-up beside it
 *   fsck_log.c         the walk through the log from its beginning: gaps, what is compared at which version
 *   fsck_early.c       the next files of the log, asked for together
 *   fsck_commit.c      one commit: its rules, and what it makes of the state
 *   fsck_state.c       protocol, metadata, transactions, domains: the newest counts
 *   fsck_set.c         the logical files, as hashes
 *   fsck_compare.c     a checkpoint, a compacted file or a snapshot against the state
 *   fsck_parsed.c      typed columns of a checkpoint against its text
 *   fsck_checksum.c    version checksums; fsck_hint.c: _last_checkpoint
 *   fsck_files.c       the live files: there, of their size, partition values; which are read
 *   fsck_columns.c     the columns that have statistics
 *   fsck_data.c        rows of files, by the data plane (fsck_query.c); fsck_judge.c: statistics against them (pure)
 *   fsck_stated.c      statistics that cannot be read as what they are to be
 *   fsck_row_ids.c     ranges of row ids
 *
 * One owner, one thread (stores and commits are read by several on their own).
 */
#ifndef SL_COMMANDS_FSCK_INT_H
#define SL_COMMANDS_FSCK_INT_H

#include "base/vec.h"
#include "commands/fsck_set.h"
#include "engine/dataplane.h"
#include "kernel/log/commit_batch.h"
#include "kernel/log/segment.h"
#include "kernel/replay/checkpoint.h"
#include "kernel/replay/replay.h"
#include "silt/commands.h"
#include "silt/snapshot.h"

enum sl_fsck_check {
    SL_FSCK_LOG,
    SL_FSCK_COMMIT,
    SL_FSCK_CHECKPOINT,
    SL_FSCK_COMPACTED,
    SL_FSCK_HINT,
    SL_FSCK_CHECKSUM,
    SL_FSCK_FILE,
    SL_FSCK_DATA,
    SL_FSCK_VECTOR,
    SL_FSCK_STATISTICS,
    SL_FSCK_PARTITION,
    SL_FSCK_ROW_ID,
    SL_FSCK_CHANGE_FILE,
    SL_FSCK_CHECKS
};

/* Which findings are kept, to be told when it is sure that they stand. */
enum sl_fsck_hold {
    SL_FSCK_HOLD_NONE,
    SL_FSCK_HOLD_ALL,
    SL_FSCK_HOLD_DOUBTFUL /* from the first fault on that the removal of a data file would explain */
};

struct sl_fsck {
    const silt_env *env;
    silt_table *table;
    const silt_call *call;
    silt_fsck_options options;
    silt_fsck_report report;
    bool (*on_finding)(void *ctx, const silt_fsck_finding *finding);
    void *ctx;
    int64_t told[SL_FSCK_CHECKS];
    struct sl_log_source source;
    struct sl_arena arena;   /* of the names in the listing */
    struct sl_vec listing;   /* of struct sl_log_file, in the order of names */
    silt_snapshot *snapshot; /* the newest; NULL: it cannot be opened */
    silt_error refused;      /* the first of what may not be looked at, beside which the check went on */
    int64_t n_refused;
    enum sl_fsck_hold hold;
    struct sl_vec held;         /* of silt_fsck_finding */
    struct sl_arena held_arena; /* of their texts */
};

/* ---- fsck_early.c ---- */

/* What the walk through the log has asked for; zeroed to begin with. */
struct sl_fsck_ahead {
    silt_storage *own; /* the table's; NULL: nothing was asked for yet */
    bool is_far;
    size_t end; /* files of the listing before it have been asked for */
    struct sl_early *early;
};

/* Before the files from `at` on are walked. From then on fsck->source hands out what came, until release. */
silt_status sl_fsck_look_ahead(struct sl_fsck *fsck, struct sl_fsck_ahead *ahead, size_t at, silt_error *err);
void sl_fsck_ahead_release(struct sl_fsck *fsck, struct sl_fsck_ahead *ahead);

/* ---- fsck.c ---- */

/* What a finding is about. Texts are borrowed; absent ones do not apply. */
struct sl_fsck_about {
    silt_fsck_severity severity;
    enum sl_fsck_check check;
    int64_t version; /* -1: none */
    struct sl_str file;
    struct sl_str column;
    struct sl_str expected;
    struct sl_str found;
};

/* Tells a finding. SILT_ECANCELLED: nobody wants more. */
silt_status sl_fsck_tell(struct sl_fsck *fsck, const struct sl_fsck_about *about, silt_error *err, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
/* The same with two numbers as expected and found. */
silt_status sl_fsck_tell_numbers(struct sl_fsck *fsck, const struct sl_fsck_about *about, int64_t expected,
                                 int64_t found, const char *what, silt_error *err);
/*
 * After something failed with `failure`: a finding of it, unless it says nothing of the table. Where the process failed (memory, cancelled, deadline), or
 * the store, or the log may not be read, it is that failure; where a single file may not be, the check goes on, and fails in the end.
 */
silt_status sl_fsck_tell_failure(struct sl_fsck *fsck, const struct sl_fsck_about *about, const silt_error *failure,
                                 silt_error *err);

/* ---- fsck_held.c ---- */

void sl_fsck_held_init(struct sl_fsck *fsck);
void sl_fsck_held_release(struct sl_fsck *fsck);
void sl_fsck_held_forget(struct sl_fsck *fsck);
bool sl_fsck_holds(const struct sl_fsck *fsck, const struct sl_fsck_about *about);
/* Its texts but for the message are in held_arena. */
silt_status sl_fsck_hold(struct sl_fsck *fsck, const silt_fsck_finding *finding, silt_error *err);
silt_status sl_fsck_tell_held(struct sl_fsck *fsck, silt_error *err);
/* Are files of the listing gone meanwhile? Costs a listing. */
bool sl_fsck_log_lost_files(const struct sl_fsck *fsck);
/* Drops held findings about files that the newest version does not have any more. */
silt_status sl_fsck_drop_dead_files(struct sl_fsck *fsck, silt_error *err);

/* ---- fsck_state.c ---- */

/* What the log says up to a version, oldest first. */
struct sl_fsck_state {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_replay_state state;
    struct sl_fsck_set files;
    int64_t version;             /* -1: nothing is known */
    int64_t in_commit_timestamp; /* of the version, SL_NO_I64 */
    struct sl_str txn_id;        /* of its commit; absent: not known */
    char txn_id_text[64];
    uint32_t mark; /* of the comparison under way */
};
silt_status sl_fsck_state_init(struct sl_fsck_state *state, const silt_env *env, struct sl_str root, silt_error *err);
void sl_fsck_state_release(struct sl_fsck_state *state);
void sl_fsck_state_forget(struct sl_fsck_state *state); /* back to nothing */
/* One action that is not about a file: the newest counts. */
silt_status sl_fsck_state_take(struct sl_fsck_state *state, const struct sl_action *action, silt_error *err);

/* ---- fsck_commit.c ---- */

/* Applies the commit of version state->version + 1. *applied false: it cannot be read, which was told; the state is then worth nothing. */
silt_status sl_fsck_commit(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                           bool *applied, silt_error *err);
/* A commit behind a gap or at the begin of a log that was cleaned up: whether it can be read, by itself. The state stays forgotten. */
silt_status sl_fsck_commit_alone(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                                 silt_error *err);

/* ---- fsck_log.c ---- */

silt_status sl_fsck_log(struct sl_fsck *fsck, silt_error *err);

/* ---- fsck_compare.c ---- */

/* Reads a checkpoint and compares it with a state of its version. */
silt_status sl_fsck_compare_checkpoint(struct sl_fsck *fsck, struct sl_fsck_state *state,
                                       const struct sl_log_segment *segment, silt_error *err);
/* Makes a checkpoint the state. *loaded false: it cannot be read, which was told. */
silt_status sl_fsck_load_checkpoint(struct sl_fsck *fsck, struct sl_fsck_state *state,
                                    const struct sl_log_segment *segment, bool *loaded, silt_error *err);
/* The kernel's own list of files against the state of the newest version. */
silt_status sl_fsck_compare_snapshot(struct sl_fsck *fsck, struct sl_fsck_state *state, silt_error *err);
/* A compacted file against the n commits that it stands for. */
silt_status sl_fsck_compare_compacted(struct sl_fsck *fsck, const struct sl_log_file *compacted,
                                      const struct sl_log_file *commits, size_t n, silt_error *err);

/* ---- fsck_parsed.c ---- */

/* The typed columns of an open checkpoint against its text. name: of its first file. */
silt_status sl_fsck_parsed(struct sl_fsck *fsck, const struct sl_checkpoint *checkpoint, struct sl_str name,
                           silt_error *err);

/* ---- fsck_checksum.c, fsck_hint.c ---- */

silt_status sl_fsck_checksum(struct sl_fsck *fsck, struct sl_fsck_state *state, const struct sl_log_file *file,
                             silt_error *err);
silt_status sl_fsck_hint(struct sl_fsck *fsck, silt_error *err);

/* ---- fsck_files.c ---- */

silt_status sl_fsck_files(struct sl_fsck *fsck, silt_error *err);

/* ---- fsck_row_ids.c ---- */

silt_status sl_fsck_row_ids(struct sl_fsck *fsck, silt_error *err);

#endif
