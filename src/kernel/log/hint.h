/*
 * `_last_checkpoint` (PROTOCOL.md "Last Checkpoint File"): where to begin listing a log. It is never trusted: what it says of
 * the checkpoint is compared with what is there, and one that does not hold is ignored. Called by snapshot loading.
 */
#ifndef SL_KERNEL_LOG_HINT_H
#define SL_KERNEL_LOG_HINT_H

#include "base/arena.h"
#include "kernel/log/commit.h"
#include "silt/storage.h"

struct sl_hint {
    int64_t version;       /* -1: there is no usable hint */
    int64_t size;          /* actions in the checkpoint, -1 if not said */
    int64_t parts;         /* 0: one file */
    int64_t size_in_bytes; /* of all files of the checkpoint, -1 if not said */
    int64_t n_adds;        /* -1 if not said */
    bool has_schema;       /* checkpointSchema is there and is a schema */
    struct sl_str v2_path; /* name of a V2 top file within _delta_log, absent otherwise */
    int64_t v2_size;       /* of that file, -1 if not said */
    int64_t n_sidecars;    /* -1 if not said */
    int64_t sidecar_bytes; /* their sizes together */
};

/*
 * Pure. SILT_ECORRUPT says what is wrong: no JSON object, a key twice, a checksum that does not fit, numbers that cannot be,
 * a path that leaves the log. Text lies in the arena.
 */
silt_status sl_hint_parse(const silt_env *env, struct sl_arena *arena, struct sl_str bytes, struct sl_hint *out,
                          silt_error *err);

/* Pure. The version that it names, unchecked; -1: none, or it is no JSON object. For who trusts no hint and asks only which is the newer one. */
int64_t sl_hint_version(const silt_env *env, struct sl_str bytes);

/* Pure. Does the listing hold the checkpoint that the hint describes, whole and of that size? SILT_ECORRUPT says what not. */
silt_status sl_hint_check(const struct sl_hint *hint, const struct sl_log_file *files, size_t n, silt_error *err);

/*
 * Reads the hint of a log; out->version is -1 where there is none, or where it is not usable: then a note is logged. What else a read
 * fails of is an error: nobody is to wait for a store that cannot be reached once more.
 */
silt_status sl_hint_read(const silt_env *env, silt_storage *storage, const silt_call *call, struct sl_str root,
                         struct sl_arena *arena, struct sl_hint *out, silt_error *err);

#endif
