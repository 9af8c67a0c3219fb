/*
 * The short way to drop a file while a checkpoint is planned: AND members that compare an integer, a date or a timestamp with a constant,
 * decided by two comparisons. It drops only what the long way (file_stats.h, eval.h) drops as well, and leaves everything that is odd
 * in any way to it. Pure; one owner.
 */
#ifndef SL_KERNEL_SCAN_PLAN_QUICK_H
#define SL_KERNEL_SCAN_PLAN_QUICK_H

#include "kernel/scan/file_stats.h"
#include "silt/arrow.h"

/* A wanted range of a column: a file without values in [low, high] has no row for the member. */
struct sl_quick_range {
    size_t conjunct;
    size_t column; /* of the filter's columns */
    int64_t low, high;
};

struct sl_quick_leaf;
struct sl_stats_reader;

struct sl_plan_quick {
    const struct sl_scan_filter *filter;
    struct sl_quick_range *ranges; /* in the arena */
    size_t n;
    struct sl_quick_leaf
        *leaves; /* of typed statistics: numRecords, then least and greatest value of each range; NULL: not bound */
};

silt_status sl_plan_quick_init(struct sl_plan_quick *quick, struct sl_arena *arena, const struct sl_scan_filter *filter,
                               silt_error *err);

/* By claims as they were read. Members that partition values answered are left out by `truths`. */
bool sl_plan_quick_drops(const struct sl_plan_quick *quick, const enum sl_truth *truths, const struct sl_claims *claims,
                         const struct sl_bounds *bounds);

/* By the text itself, when the reader, which has the filter's columns, knows its shape: *known. */
bool sl_plan_quick_drops_text(const struct sl_plan_quick *quick, const enum sl_truth *truths,
                              struct sl_stats_reader *reader, struct sl_str text, bool *known);

/* Takes the struct stats_parsed of a batch. What has another shape than the short way knows is not used. */
silt_status sl_plan_quick_bind(struct sl_plan_quick *quick, struct sl_arena *arena, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, silt_error *err);
/* The same by the batch that was taken last; row counts from the array's first, its offset not included. */
bool sl_plan_quick_drops_row(const struct sl_plan_quick *quick, const enum sl_truth *truths, int64_t row);

/*
 * Do all files drop out whose bounds of the range's column lie between these two? Of their least and greatest values, in the order of a file
 * or not: the files have more than no rows.
 */
bool sl_plan_quick_excludes(const struct sl_plan_quick *quick, const struct sl_quick_range *range, int64_t least,
                            int64_t most);

#endif
