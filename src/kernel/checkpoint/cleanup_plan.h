/*
 * Which files of a log may go, and in which order: a pure decision over a listing (PROTOCOL.md "Metadata Cleanup"). All from the newest
 * complete checkpoint at or before the cutoff on stays, so that every version from there on stays as it was, after each single
 * deletion too.
 */
#ifndef SL_KERNEL_CHECKPOINT_CLEANUP_PLAN_H
#define SL_KERNEL_CHECKPOINT_CLEANUP_PLAN_H

#include "base/arena.h"
#include "kernel/log/segment_checkpoint.h"

struct sl_cleanup_facts {
    const struct sl_log_file *files; /* a complete listing of the log, as listed */
    size_t n_files;
    int64_t cutoff_version;      /* the newest commit that is not newer than the cutoff; -1 if there is none */
    int64_t first_timed_version; /* since it commits have times of their own; INT64_MAX: none has */
    int64_t protected_before;    /* nothing goes unless all before this version does; 0: no such protection */
    struct sl_bad_checkpoints bad;
};

enum sl_cleanup_verdict {
    SL_CLEANUP_NOTHING,       /* nothing has expired, or nothing is before the checkpoint that stands for it */
    SL_CLEANUP_NO_CHECKPOINT, /* expired commits are needed: no checkpoint at or before the cutoff stands for them */
    SL_CLEANUP_NOT_ALONE,     /* one is there, but the time of its commit hangs on the commits before it */
    SL_CLEANUP_PROTECTED,     /* checkpointProtection: not all of what it protects has expired */
    SL_CLEANUP_FILES
};

struct sl_cleanup_plan {
    enum sl_cleanup_verdict verdict;
    int64_t checkpoint_version; /* the first that stays, -1 if none was found */
    struct sl_found_checkpoint checkpoint;
    const struct sl_log_file *files; /* to be deleted, in this order */
    size_t n_files;
    size_t n_extras;  /* the first of them: checksums and compacted files, each of which may stay */
    size_t n_commits; /* the next: if one of them stays, so does all that follows */
};

/* Names are borrowed from the listing. Fails only for want of memory. */
silt_status sl_cleanup_plan_make(const struct sl_cleanup_facts *facts, struct sl_arena *arena,
                                 struct sl_cleanup_plan *out, silt_error *err);

/* Midnight UTC of the day that is `retention_ms` before now. */
int64_t sl_cleanup_cutoff(int64_t now_ms, int64_t retention_ms);

#endif
