/*
 * Names of the files in a log, and reading commits (PROTOCOL.md "Delta Log Entries"). Used by replay and by transactions
 * that read the commits which won against them.
 */
#ifndef SL_KERNEL_LOG_COMMIT_H
#define SL_KERNEL_LOG_COMMIT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "kernel/action/action.h"
#include "silt/engine.h"

#define SL_LOG_DIR "_delta_log"
#define SL_LOG_STAGED_DIR "_staged_commits" /* within it */

enum sl_log_file_kind {
    SL_LOG_COMMIT,          /* N.json */
    SL_LOG_CHECKPOINT,      /* N.checkpoint.parquet */
    SL_LOG_CHECKPOINT_PART, /* N.checkpoint.P.T.parquet */
    SL_LOG_CHECKPOINT_V2,   /* N.checkpoint.UUID.{json,parquet} */
    SL_LOG_COMPACTED,       /* N.M.compacted.json */
    SL_LOG_CRC,             /* N.crc */
    SL_LOG_LAST_CHECKPOINT,
    SL_LOG_OTHER /* not a file of the log: ignored */
};

struct sl_log_file {
    enum sl_log_file_kind kind;
    int64_t version;
    int64_t end_version;   /* of a compacted file, else version */
    int32_t part, n_parts; /* of a part, from 1 */
    struct sl_str name;    /* within _delta_log */
    int64_t size;          /* as it was listed; -1: not known */
    int64_t modified_ms;
    struct sl_str content; /* of a commit that a catalog holds inline; absent: it is a file of the store */
};

/* Only the exact forms of the protocol count; all else is SL_LOG_OTHER. Name is borrowed. */
struct sl_log_file sl_log_name_parse(struct sl_str name);
/* "<version>.<uuid>.json", the name of a staged commit of that version. */
bool sl_log_is_staged_name(struct sl_str name, int64_t version);
/* "%020d" and what follows it, in the arena. version: from 0 on. NULL: no memory. */
const char *sl_log_name_make(struct sl_arena *arena, int64_t version, struct sl_str ending);
/* "<root>/_delta_log/%020d.json" */
struct sl_str sl_log_commit_path(struct sl_arena *arena, struct sl_str root, int64_t version);
struct sl_str sl_log_path(struct sl_arena *arena, struct sl_str root, struct sl_str name);

/* The actions of one commit, in order. */
struct sl_commit {
    int64_t version;
    int64_t modified_ms; /* of the file, 0 if not known */
    const struct sl_action *actions;
    size_t n_actions;
    const struct sl_commit_info *commit_info; /* the first, or NULL */
    bool has_more;                            /* only in parts (sl_commits_request): others of this commit follow */
};

/* A commit file's bytes, to be parsed. */
struct sl_commit_bytes {
    const silt_env *env;
    const silt_executor *executor; /* NULL: on the caller's thread; never from within one of its items */
    int64_t version;
    struct sl_str bytes;
    uint64_t seed; /* from sl_commit_seed, to have one for many commits; 0: a new one */
};

/* A number that nobody can guess, not 0: keeps makers of hostile paths from choosing their hashes. */
silt_status sl_commit_seed(const silt_env *env, uint64_t *seed, silt_error *err);

/*
 * Parses a whole commit file. Checks what the protocol demands of one commit (at most one metaData, one protocol, one
 * txn an application, one action a path and vector …). SILT_ECORRUPT names version, line and action. Plain text borrows from
 * the bytes, which must live as long as the arena.
 */
silt_status sl_commit_parse_in_place(const struct sl_commit_bytes *input, struct sl_arena *arena, struct sl_commit *out,
                                     silt_error *err);
/* The same; text is copied. */
silt_status sl_commit_parse(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                            struct sl_commit *out, silt_error *err);
/*
 * Only the commitInfo, for history: actions are not looked at, and a commit whose commitInfo does not parse has none. Fails
 * only for want of memory. Text is copied.
 */
silt_status sl_commit_parse_info(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                                 struct sl_commit *out, silt_error *err);
/* The txnId of its commitInfo, copied; *out stays as it is where there is none. */
silt_status sl_commit_keep_txn_id(struct sl_arena *arena, const struct sl_commit *commit, struct sl_str *out,
                                  silt_error *err);
/* Reads and parses; SILT_ENOTFOUND when the version does not exist, SILT_EIO when other bytes came than its size. */
silt_status sl_commit_read(silt_engine *engine, silt_storage *storage, const silt_call *call, struct sl_str root,
                           int64_t version, struct sl_arena *arena, struct sl_commit *out, silt_error *err);

#endif
