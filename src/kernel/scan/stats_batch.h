/*
 * Statistics of many files through the engine's JSON handler: one Arrow struct array of the statistics that a filter needs.
 */
#ifndef SL_KERNEL_SCAN_STATS_BATCH_H
#define SL_KERNEL_SCAN_STATS_BATCH_H

#include "kernel/scan/file_stats.h"
#include "silt/arrow.h"
#include "silt/engine.h"

/* The shape that the handler is asked for. Zeroed is legal for release. */
struct sl_stats_shape {
    silt_schema *schema;
    struct ArrowSchema arrow;
};

silt_status sl_stats_shape_make(struct sl_arena *arena, const struct sl_skip_column *columns, size_t n,
                                struct sl_stats_shape *out, silt_error *err);
void sl_stats_shape_release(struct sl_stats_shape *shape);

/* A source (see sl_stats_source) for row `row` of what the handler gave. */
struct sl_stats_row {
    const struct sl_stats_shape *shape;
    const struct ArrowArray *batch;
    int64_t row;
};
enum sl_stat_answer sl_stats_row_get(void *ctx, enum sl_stat stat, const struct sl_skip_column *column,
                                     struct sl_arena *arena, silt_value *out);

#endif
