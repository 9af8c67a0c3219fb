/*
 * Pruning by "_metadata": what is known of all rows of a file by the file alone.
 */
#ifndef SL_KERNEL_SCAN_METADATA_PRUNE_H
#define SL_KERNEL_SCAN_METADATA_PRUNE_H

#include "kernel/scan/partition_prune.h"
#include "silt/scan.h"

/* Does a member of the filter name "_metadata"? */
bool sl_metadata_prunes(const struct sl_scan_filter *filter);
/*
 * Could some row of the file pass those members? scratch is left for the caller; running out of memory keeps the file. file: path, sizes,
 * times and row tracking are set.
 */
bool sl_metadata_may_match(const struct sl_scan_filter *filter, const struct sl_partition_tuple *tuple,
                           const silt_plan_file *file, struct sl_arena *scratch);

#endif
