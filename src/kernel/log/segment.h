/*
 * Which files of a log make the snapshot of a version: a pure decision over a listing (PROTOCOL.md "Checkpoints",
 * "Log Compaction Files", "Action Reconciliation"). The newest complete checkpoint that may be used, then every commit after
 * it without a gap, compacted files in the place of the commits that they stand for.
 */
#ifndef SL_KERNEL_LOG_SEGMENT_H
#define SL_KERNEL_LOG_SEGMENT_H

#include "base/arena.h"
#include "kernel/log/commit.h"

#define SL_VERSION_LATEST INT64_MAX

/* What `_last_checkpoint` said of the checkpoint, beside where it is. -1: nothing. */
struct sl_hint_numbers {
    bool known; /* it is of this checkpoint */
    int64_t n_adds;
    int64_t n_actions;
    int64_t n_bytes;
};

struct sl_log_segment {
    int64_t version;
    int64_t checkpoint_version;           /* -1 if none */
    const struct sl_log_file *checkpoint; /* its one file (V2: the top file) or its parts, in order */
    size_t n_checkpoint;
    struct sl_hint_numbers said; /* of it; filled by who has read the hint */
    const struct sl_log_file
        *commits; /* after the checkpoint, ascending: commits, and compacted files where they help */
    size_t n_commits;
    bool has_compacted;             /* some of them are compacted files */
    const struct sl_log_file *crcs; /* version checksums from the checkpoint to the version, ascending */
    size_t n_crcs;
    bool has_commit_file;           /* N.json of the version itself was listed */
    struct sl_log_file commit_file; /* that file */
};

/* Checkpoints that proved bad, each by the name of its first file. */
struct sl_bad_checkpoints {
    const struct sl_str *names;
    size_t n;
};

struct sl_segment_request {
    const struct sl_log_file *files; /* as listed */
    size_t n_files;
    bool complete;                 /* the listing began at version 0 */
    int64_t version;               /* wanted, or SL_VERSION_LATEST */
    struct sl_bad_checkpoints bad; /* not to be used */
    bool commits_only;             /* no compacted files */
};

/*
 * Chooses. Arrays are made in the arena, names are borrowed from the listing. SILT_ECORRUPT
 * (DELTA_VERSIONS_NOT_CONTIGUOUS, DELTA_TRUNCATED_TRANSACTION_LOG) lists what is missing, SILT_ENOTFOUND
 * (DELTA_VERSION_NOT_FOUND) says what is there, SILT_ENOTTABLE when there is nothing. What an incomplete listing lacks may
 * be there before it.
 */
silt_status sl_segment_choose(const struct sl_segment_request *request, struct sl_arena *arena,
                              struct sl_log_segment *out, silt_error *err);

/* First version that can be rebuilt from a complete listing; -1 if none. Last version; -1 if none. */
int64_t sl_segment_earliest(const struct sl_log_file *files, size_t n);
int64_t sl_segment_latest(const struct sl_log_file *files, size_t n);

#endif
