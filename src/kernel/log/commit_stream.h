/*
 * Reading a large file of actions in windows: while one window comes from the store, the one before is parsed by several
 * threads and the one before that is handed out, so that memory is bounded whatever the file's size. For commits and for the
 * JSON top file of a checkpoint. The request is the caller's; any thread, one a call.
 */
#ifndef SL_KERNEL_LOG_COMMIT_STREAM_H
#define SL_KERNEL_LOG_COMMIT_STREAM_H

#include "kernel/log/commit_batch.h"

/* Some actions of the file, in its order. Borrowed during the visit. */
struct sl_stream_part {
    const struct sl_action *actions;
    size_t n;
    const struct sl_commit_info *commit_info; /* the file's first, in the part that holds it; else NULL */
    bool is_last; /* the file was read to its end and is sound; such a part has no actions of its own */
};

struct sl_stream_request {
    const struct sl_log_source *source;
    const char *path;
    const char *title; /* of the file in errors: "commit 7" */
    int64_t version;
    int64_t size_bytes;   /* as it was listed; -1: not known */
    bool is_commit;       /* the rules of a commit hold (commit_rules.h) */
    int64_t window_bytes; /* read at once; 0: as much as is good */
    /* Called from one thread at a time, perhaps not the caller's. *stop: nothing more is wanted. */
    silt_status (*visit)(void *ctx, const struct sl_stream_part *part, bool *stop, silt_error *err);
    void *ctx;
};

/*
 * *stop: the visitor wanted no more, and the rest was not looked at. SILT_ENOTFOUND when there is no such file. Other errors name the
 * title, the line, and what is wrong there.
 */
silt_status sl_stream_actions(const struct sl_stream_request *request, const silt_call *call, bool *stop,
                              silt_error *err);

#endif
