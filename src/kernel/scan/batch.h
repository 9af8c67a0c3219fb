/*
 * Batches of rows as scans hand them out: struct arrays assembled from columns of other batches, columns of one value, columns of
 * numbers.
 */
#ifndef SL_KERNEL_SCAN_BATCH_H
#define SL_KERNEL_SCAN_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/type.h"
#include "silt/arrow.h"
#include "silt/env.h"
#include "silt/status.h"

/* A struct array of `length` rows with room for n released children, which the caller fills. Release frees what was filled. */
silt_status sl_batch_new(const silt_env *env, size_t n, int64_t length, struct ArrowArray *out, silt_error *err);
/* Moves child `index` out of a struct array, with the struct's own offset and length applied to it. */
silt_status sl_batch_take_child(struct ArrowArray *batch, size_t index, struct ArrowArray *out, silt_error *err);
/* The first n columns of a batch, which is consumed in every case. */
silt_status sl_batch_keep_first(const silt_env *env, struct ArrowArray *batch, size_t n, struct ArrowArray *out,
                                silt_error *err);

/* True if both describe arrays of the same layout; names, nullability and metadata do not matter. */
bool sl_batch_same_layout(const struct ArrowSchema *a, const struct ArrowSchema *b);

/* A column of a flat type that holds one value `length` times. SILT_ELIMIT when its text exceeds 2 GiB. */
silt_status sl_constant_column(const silt_env *env, const struct silt_type *type, const silt_value *value,
                               int64_t length, struct ArrowArray *out, silt_error *err);

/* A column of n 64-bit numbers, 0 at first, which the caller fills in through *values; none is null. */
silt_status sl_long_column(const silt_env *env, int64_t n, int64_t **values, struct ArrowArray *out, silt_error *err);
/* Makes a row of such a column null, each at most once. */
void sl_long_column_set_null(struct ArrowArray *column, int64_t row);

#endif
