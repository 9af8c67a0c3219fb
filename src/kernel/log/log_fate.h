/*
 * Does the table still stand on which something was just written? A table can be dropped by others at any moment, and stores have no request
 * that writes a file only where another one is. So whoever has added to a log looks afterwards for what it rests on, and takes back what
 * stands alone. Who drops a table lists once more after deleting: of the two at least one sees what the other did.
 */
#ifndef SL_KERNEL_LOG_FATE_H
#define SL_KERNEL_LOG_FATE_H

#include "kernel/log/commit.h"
#include "silt/storage.h"

enum sl_log_fate {
    SL_LOG_STANDS,   /* as far as can be seen: a look that failed counts as that */
    SL_LOG_GONE,     /* nothing is there by which a table could be opened */
    SL_LOG_REPLACED, /* the base is another commit now */
    SL_LOG_EXPIRED   /* versions up to ours were deleted: before it was written, so that no reader sees it, or after */
};

struct sl_log_look {
    const silt_env *env;
    silt_storage *storage;          /* borrowed */
    struct sl_str root;             /* of the table */
    const struct sl_log_file *base; /* a commit as it was listed; NULL: the log stands */
    int64_t ours;                   /* the version whose files were just written; -1: nothing was */
};

/* One request where the log stands. Any thread. */
enum sl_log_fate sl_log_fate(const struct sl_log_look *look, const silt_call *call);

#endif
