/*
 * What planning over a checkpoint that is not in memory cannot see row by row: files that it names twice, and that it has lost all of them.
 * Called by scan_plan.c, on the caller's thread.
 */
#ifndef SL_KERNEL_SCAN_PLAN_AGAIN_H
#define SL_KERNEL_SCAN_PLAN_AGAIN_H

#include "kernel/scan/scan_int.h"
#include "kernel/snapshot/log_view.h"

/* Leaves one of the plan's files that are the same, by path and deletion vector: the first. *n: how many went. */
silt_status sl_plan_drop_again(silt_scan *scan, int64_t *n, silt_error *err);

/*
 * Do footers show that there are files in the checkpoint's Parquet files? false: there are none, or the footers do not say. An engine that
 * does not tell of row groups says nothing.
 */
silt_status sl_plan_shows_files(silt_scan *scan, const struct sl_log_view *view, const silt_call *call, bool *shown,
                                silt_error *err);

#endif
