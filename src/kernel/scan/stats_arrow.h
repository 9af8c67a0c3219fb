/*
 * What typed columns of a checkpoint say of files: `stats_parsed` (PROTOCOL.md "Per-file Statistics") and `partitionValues_parsed`. Their types are
 * those that the writer of the checkpoint had, which need not be the table's.
 *
 * Bound once to a schema, then set to each batch of it; both are borrowed. One owner; reading from any thread.
 */
#ifndef SL_KERNEL_SCAN_STATS_ARROW_H
#define SL_KERNEL_SCAN_STATS_ARROW_H

#include "kernel/scan/file_stats.h"
#include "silt/arrow.h"

struct sl_arrow_leaf;

/* Zeroed: bound to nothing, knows nothing. */
struct sl_stats_arrow {
    const struct sl_skip_column *columns;
    size_t n;
    struct sl_arrow_leaf *leaves; /* numRecords, tightBounds, then nullCount, minValues, maxValues of each column */
};

/* schema: of the struct stats_parsed. What it lacks, or has in a type that cannot be taken for the column's, is not known later. */
silt_status sl_stats_arrow_bind(struct sl_stats_arrow *out, struct sl_arena *arena, const struct ArrowSchema *schema,
                                const struct sl_skip_column *columns, size_t n, silt_error *err);
/* Are both bounds of this column there? If not, the JSON text may have them. */
bool sl_stats_arrow_covers(const struct sl_stats_arrow *stats, size_t column);
/* False when the array has not the shape of the schema; then nothing is known of it. */
bool sl_stats_arrow_set(struct sl_stats_arrow *stats, const struct ArrowArray *array);
/*
 * As sl_stats_claims_from_json; values borrow from the batch. False when the row has no statistics here (the JSON text may have). row
 * counts from the array's first, its offset not included.
 */
bool sl_stats_arrow_claims(const struct sl_stats_arrow *stats, int64_t row, struct sl_claims *claims,
                           struct sl_bounds *bounds);

/* The same for partition values; zeroed: knows nothing. */
struct sl_partition_arrow {
    const struct sl_partition_column *columns;
    size_t n;
    struct sl_arrow_leaf *leaves; /* one for each column */
};

silt_status sl_partition_arrow_bind(struct sl_partition_arrow *out, struct sl_arena *arena,
                                    const struct ArrowSchema *schema, const struct sl_partition_column *columns,
                                    size_t n, silt_error *err);
bool sl_partition_arrow_set(struct sl_partition_arrow *values, const struct ArrowArray *array);
/*
 * The value of a column that its text in partitionValues would give. False when only the text can tell: nulls (also of what the
 * writer could not parse), timestamps (the writer's zone is in them), types that are not the column's.
 */
bool sl_partition_arrow_get(const struct sl_partition_arrow *values, size_t column, int64_t row, silt_value *out);

#endif
