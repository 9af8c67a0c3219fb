/*
 * Writes that replace a part of a table: by a condition (replace_where.c), by the partitions that receive rows (replace_partitions.c),
 * and the proof that new rows belong to the part (replace_check.c). One owner, as the transaction.
 */
#ifndef SL_KERNEL_TXN_REPLACE_H
#define SL_KERNEL_TXN_REPLACE_H

#include "kernel/scan/scan_build.h"
#include "kernel/scan/scan_filter.h"
#include "kernel/txn/txn_int.h"

/* How files are read by the schema that the table has after the transaction: what is missing in older files is null. */
struct sl_replace_view {
    struct sl_arena arena;
    silt_schema *physical; /* a reference */
    const struct sl_partition_column *partitions;
    size_t n_partitions;
    const silt_plan_column *sources; /* one for each column of the schema */
};
silt_status sl_replace_view_init(struct sl_replace_view *view, const silt_txn *txn, silt_error *err);
void sl_replace_view_release(struct sl_replace_view *view); /* safe on a zeroed one */
/* The rows of a scan from parts for which the filter is true; the scan's files are added before. */
void sl_replace_view_finish(const struct sl_replace_view *view, const silt_txn *txn, silt_expr *filter,
                            silt_scan *scan);

/* True exactly where the condition is not, null included: rows that stay, and rows that must not come. */
silt_status sl_replace_negate(const silt_expr *condition, silt_expr **out, silt_error *err);

/* Before the commit: every row that was added after silt_txn_replace_where fulfils its condition. */
silt_status sl_replace_check(silt_txn *txn, const silt_call *call, silt_error *err);

#endif
