/*
 * Partition pruning: typed partition values of files and what the filter says of them. Files with the same values share one
 * tuple, so that values are parsed and the filter evaluated once for each combination.
 */
#ifndef SL_KERNEL_SCAN_PARTITION_PRUNE_H
#define SL_KERNEL_SCAN_PARTITION_PRUNE_H

#include "base/buf.h"
#include "base/map.h"
#include "expr/eval.h"
#include "kernel/action/action.h"
#include "kernel/scan/scan_filter.h"
#include "silt/scan.h"

/* One combination of partition values; lives in the pruner's arena. */
struct sl_partition_tuple {
    const silt_value *values;    /* one for each partition column */
    const enum sl_truth *truths; /* one for each conjunct, data columns not known */
    bool dropped;                /* a conjunct is certainly not true for its rows */
};

struct sl_partition_pruner {
    const struct sl_scan_filter *filter; /* borrowed */
    struct sl_arena *arena;              /* borrowed; receives tuples */
    struct sl_arena scratch;
    struct sl_map tuples;
    struct sl_buf key;
    silt_local_time local_time; /* of timestamps without a zone; NULL: UTC */
    void *local_time_ctx;
};

void sl_partition_pruner_init(struct sl_partition_pruner *pruner, struct sl_arena *arena,
                              const struct sl_scan_filter *filter);
void sl_partition_pruner_release(struct sl_partition_pruner *pruner); /* tuples stay in their arena */

/*
 * The tuple of a file. A column that the map lacks is null; directory names never matter. path is for messages. SILT_ECORRUPT names
 * file and column when a value does not parse.
 */
silt_status sl_partition_pruner_find(struct sl_partition_pruner *pruner, const struct sl_kv_list *values,
                                     struct sl_str path, const struct sl_partition_tuple **out, silt_error *err);

/* sl_eval_lookup over a struct sl_partition_view: partition columns are known, all others are not. */
struct sl_partition_view {
    const struct sl_scan_filter *filter;
    const silt_value *values;
};
bool sl_partition_lookup(void *view, const struct sl_str *path, size_t path_len, silt_value *out);

#endif
