/*
 * Statistics of a file as bounds of columns (PROTOCOL.md "Per-file Statistics"). Every part is optional for each file and column; what
 * is missing or cannot be understood gives no bound, never an error. Pure; any thread.
 */
#ifndef SL_KERNEL_SCAN_FILE_STATS_H
#define SL_KERNEL_SCAN_FILE_STATS_H

#include "expr/eval.h"
#include "kernel/scan/scan_filter.h"

enum sl_stat {
    SL_STAT_NUM_RECORDS,
    SL_STAT_TIGHT_BOUNDS,
    SL_STAT_NULL_COUNT,
    SL_STAT_MIN,
    SL_STAT_MAX
};

enum sl_stat_answer {
    SL_STAT_ABSENT,  /* not there, or null */
    SL_STAT_FOUND,   /* numRecords and nullCount as long, tightBounds as boolean, bounds in the column's type */
    SL_STAT_UNUSABLE /* there, but of a kind or value that is not understood */
};

/* Where the statistics of one file are read from. column is NULL for those of the whole file. */
struct sl_stats_source {
    enum sl_stat_answer (*get)(void *ctx, enum sl_stat stat, const struct sl_skip_column *column,
                               struct sl_arena *arena, silt_value *out);
    void *ctx;
};

/* Assembles one struct sl_bounds for each column. Text goes to the arena or is borrowed from the source. */
void sl_stats_bounds(const struct sl_stats_source *source, const struct sl_skip_column *columns, size_t n,
                     struct sl_arena *arena, struct sl_bounds *out);

/* From the JSON text of add.stats (absent: nothing is known). Fails only for lack of memory. */
silt_status sl_stats_bounds_from_json(const silt_env *env, struct sl_str text, const struct sl_skip_column *columns,
                                      size_t n, struct sl_arena *arena, struct sl_bounds *out, silt_error *err);

#endif
