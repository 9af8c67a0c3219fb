/*
 * Log compaction files (PROTOCOL.md "Log Compaction Files"): the commits of a range as one file of their reconciled actions. Called by
 * silt_table_compact_log. Any thread.
 */
#ifndef SL_KERNEL_CHECKPOINT_COMPACT_LOG_H
#define SL_KERNEL_CHECKPOINT_COMPACT_LOG_H

#include "base/buf.h"
#include "kernel/log/commit_batch.h"

struct sl_compaction {
    const struct sl_log_source *source;
    const struct sl_log_file *commits; /* ascending, without gaps */
    size_t n_commits;
};

/*
 * Appends the file's text: of every logical file its newest action, tombstones included, whatever their age: they hide what lies under the
 * range. commitInfo and cdc are left out. *n_actions: lines. SILT_EUNSUPPORTED for a commit with an action that silt does not
 * know.
 */
silt_status sl_compaction_write(const struct sl_compaction *compaction, const silt_call *call, struct sl_buf *out,
                                int64_t *n_actions, silt_error *err);

#endif
