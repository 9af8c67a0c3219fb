/*
 * A Parquet file of few rows, made in memory: one row group, one plain page a column, nothing compressed. Batches of Arrow are added, then
 * the bytes are taken. One owner. Batches must live until the bytes and bounds were taken.
 */
#ifndef SL_ENGINE_SMALL_IMAGE_H
#define SL_ENGINE_SMALL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "engine/small_column.h"
#include "schema/type.h"
#include "silt/arrow.h"

struct sl_small_image;

/*
 * For rows of this Arrow schema, whose columns get the names and ids of `root` by their places. *out NULL: types, or forms of them, that are
 * not written here. Both must outlive the image. Close it in any case; NULL is legal.
 */
silt_status sl_small_image_open(const silt_env *env, const struct silt_type *root, const struct ArrowSchema *schema,
                                struct sl_small_image **out, silt_error *err);
void sl_small_image_close(struct sl_small_image *image);
/* *fits false: the rows hold something that is not written here; the image is of no use any more. */
silt_status sl_small_image_add(struct sl_small_image *image, const struct ArrowArray *batch, bool *fits,
                               silt_error *err);
int64_t sl_small_image_rows(const struct sl_small_image *image);
size_t sl_small_image_size(const struct sl_small_image *image); /* of the bytes so far, roughly */
/* The file. Once. */
silt_status sl_small_image_finish(struct sl_small_image *image, struct sl_buf *out, silt_error *err);
/* Leaves in the order of the file. */
const struct sl_small_column *sl_small_image_column(const struct sl_small_image *image, size_t index);

#endif
