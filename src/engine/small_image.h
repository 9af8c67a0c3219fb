/*
 * A Parquet file, made in memory row group by row group: one plain page a column. Batches of Arrow are added, then the bytes are taken. A file
 * of few rows has one row group, and nothing is compressed. One owner. Batches must live until the bytes and bounds of their row group were
 * taken.
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
/* The same with n rows of a batch. */
silt_status sl_small_image_add_part(struct sl_small_image *image, const struct ArrowArray *batch, int64_t begin,
                                    int64_t n, bool *fits, silt_error *err);
/* Of the row group at hand, as all that is asked of columns. */
int64_t sl_small_image_rows(const struct sl_small_image *image);
size_t sl_small_image_size(const struct sl_small_image *image); /* of the bytes so far, roughly */
/* The file, of one row group. Once. */
silt_status sl_small_image_finish(struct sl_small_image *image, struct sl_buf *out, silt_error *err);
/* Or in parts: the next bytes of the file with the rows that were added since, as a row group; and the last bytes. */
silt_status sl_small_image_end_group(struct sl_small_image *image, const struct sl_small_codec *codec,
                                     struct sl_buf *out, silt_error *err);
/* Rows that come now are of another row group; bounds of the one before are gone. */
void sl_small_image_restart(struct sl_small_image *image);
silt_status sl_small_image_end(struct sl_small_image *image, struct sl_buf *out, silt_error *err);
/* Leaves in the order of the file. */
const struct sl_small_column *sl_small_image_column(const struct sl_small_image *image, size_t index);

#endif
