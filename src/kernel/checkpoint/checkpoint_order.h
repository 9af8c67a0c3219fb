/*
 * The order of adds in a checkpoint: by the partition columns, and by the least values of the clustering columns, so that files which a
 * condition selects are near each other and the row groups between them need not be read. Keys compare as bytes. One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_ORDER_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_ORDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "kernel/action/action.h"
#include "schema/type.h"

struct sl_row_order;

struct sl_row_order_columns {
    const silt_schema *partition;  /* as of sl_checkpoint_partition_columns; NULL: none. Borrowed */
    const silt_schema *physical;   /* of the table; borrowed */
    struct sl_str clustering_json; /* configuration of the domain delta.clustering; absent: none */
};
/* *out NULL: there is no order to keep. */
silt_status sl_row_order_new(const silt_env *env, const struct sl_row_order_columns *columns, struct sl_row_order **out,
                             silt_error *err);
void sl_row_order_free(struct sl_row_order *order); /* NULL is legal */
bool sl_row_order_needs_stats(const struct sl_row_order *order);
/* The key of a file, borrowed until the next call. stats: JSON text, absent: none. */
silt_status sl_row_order_key(struct sl_row_order *order, const struct sl_kv_list *values, struct sl_str stats,
                             struct sl_str *key, silt_error *err);

/* Appends a value, or null, so that memcmp of what is appended is the order of values of one type, nulls first. */
void sl_order_put_value(struct sl_buf *out, const silt_value *value);
/* Order of two keys. */
int sl_order_compare(struct sl_str a, struct sl_str b);

#endif
