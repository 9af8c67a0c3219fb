/*
 * Statistics that a checkpoint holds as typed columns only (PROTOCOL.md "Per-file Statistics", add.stats_parsed): the type to read
 * them with, and their text as JSON, as add.stats would hold it. For whoever needs all of an add: writing it again, checks.
 * Planning reads the columns themselves (scan/stats_arrow.h). Pure, any thread.
 */
#ifndef SL_KERNEL_ACTION_STATS_PARSED_H
#define SL_KERNEL_ACTION_STATS_PARSED_H

#include "base/buf.h"
#include "schema/type.h"
#include "silt/arrow.h"

/*
 * Appends the type of the column as Delta's JSON: numRecords, tightBounds, minValues, maxValues and nullCount of the columns of `data`
 * (physical names). bounds false: without minValues and maxValues, for a file whose bounds have types that cannot be taken for these.
 */
void sl_stats_parsed_put_type(struct sl_buf *out, const silt_schema *data, bool bounds);

/*
 * Appends the JSON text of one row; nothing when it holds nothing. row counts before the array's own offset. SILT_EENGINE: the
 * array is not well-formed.
 */
silt_status sl_stats_parsed_write(struct sl_buf *out, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  int64_t row, silt_error *err);

#endif
