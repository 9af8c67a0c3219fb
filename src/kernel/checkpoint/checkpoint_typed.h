/*
 * What a checkpoint says of adds in typed columns: add.stats_parsed and add.partitionValues_parsed (PROTOCOL.md "Checkpoints"), made from
 * the texts of the log. A text that is not understood gives nulls, as in Delta Spark. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_TYPED_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_TYPED_H

#include "base/arrow.h"
#include "kernel/action/action.h"
#include "schema/type.h"

struct sl_typed_stats;

/* columns: of sl_checkpoint_stats_columns, borrowed; schema: of the column stats_parsed. */
silt_status sl_typed_stats_new(const silt_env *env, const silt_schema *columns, const struct ArrowSchema *schema,
                               struct sl_typed_stats **out, silt_error *err);
void sl_typed_stats_free(struct sl_typed_stats *typed); /* NULL is legal */
/* A row from the JSON text of statistics; absent: null. */
silt_status sl_typed_stats_put(struct sl_typed_stats *typed, struct sl_str text, silt_error *err);
silt_status sl_typed_stats_take(struct sl_typed_stats *typed, struct ArrowArray *out, silt_error *err);

struct sl_typed_values;

/* columns: of sl_checkpoint_partition_columns, borrowed; schema: of the column partitionValues_parsed. */
silt_status sl_typed_values_new(const silt_env *env, const silt_schema *columns, const struct ArrowSchema *schema,
                                struct sl_typed_values **out, silt_error *err);
void sl_typed_values_free(struct sl_typed_values *typed); /* NULL is legal */
silt_status sl_typed_values_put(struct sl_typed_values *typed, const struct sl_kv_list *values, silt_error *err);
silt_status sl_typed_values_take(struct sl_typed_values *typed, struct ArrowArray *out, silt_error *err);

#endif
