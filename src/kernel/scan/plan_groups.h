/*
 * Which rows of a checkpoint's file need not be read at all: row groups in which, by the file's footer, every file of the table has typed
 * statistics that rule it out. Called by plan_checkpoint.c.
 */
#ifndef SL_KERNEL_SCAN_PLAN_GROUPS_H
#define SL_KERNEL_SCAN_PLAN_GROUPS_H

#include "base/vec.h"
#include "kernel/replay/checkpoint_files.h"
#include "kernel/scan/scan_filter.h"

struct sl_plan_groups {
    int64_t n_rows;       /* of the file; -1: not known, then nothing is left out */
    struct sl_vec ranges; /* silt_row_range: what has to be read, ascending and apart */
};

void sl_plan_groups_init(struct sl_plan_groups *groups, const silt_env *env); /* allocates nothing */
void sl_plan_groups_release(struct sl_plan_groups *groups);

/* Of the checkpoint's Parquet file at the place `file`. What was found before is forgotten. */
silt_status sl_plan_groups_find(struct sl_plan_groups *groups, const struct sl_checkpoint_files *files, size_t file,
                                const struct sl_scan_filter *filter, const silt_call *call, silt_error *err);

/* Does something of the file need no reading? */
bool sl_plan_groups_leave_out(const struct sl_plan_groups *groups);

#endif
