/*
 * The times of a table's versions: pure arithmetic over file times, as Delta Spark does it, shared by time travel and
 * history.
 */
#ifndef SL_KERNEL_TABLE_COMMIT_TIMES_H
#define SL_KERNEL_TABLE_COMMIT_TIMES_H

#include <stddef.h>

#include "kernel/log/commit.h"

/*
 * File times of commits in ascending order of versions, made strictly increasing in place: a file that is not newer than
 * the one before it counts as one millisecond newer.
 */
void sl_commit_times_adjust(struct sl_log_file *commits, size_t n);

/* Index of the last commit whose time is <= at_ms; n if there is none. */
size_t sl_commit_times_find(const struct sl_log_file *commits, size_t n, int64_t at_ms);

/* Keeps the commits of a listing, drops the rest; returns their number. */
size_t sl_commit_times_filter(struct sl_log_file *files, size_t n, int64_t from_version);

#endif
