/*
 * What small_image.c and small_footer.c share: the tree of an image. Only they include this.
 */
#ifndef SL_ENGINE_SMALL_IMAGE_INT_H
#define SL_ENGINE_SMALL_IMAGE_INT_H

#include "base/arena.h"
#include "engine/small_image.h"
#include "schema/arrow_format.h"

#define SL_PARQUET_MAGIC "PAR1"

enum sl_small_shape {
    SL_SMALL_LEAF,
    SL_SMALL_STRUCT,
    SL_SMALL_LIST, /* its child is the element */
    SL_SMALL_MAP   /* its children are key and value */
};

struct sl_small_node {
    struct sl_str name;
    const struct silt_type *type;
    enum sl_small_shape shape;
    bool required;
    int32_t field_id; /* -1: none */
    /* Levels of a value that is there; of a list or map: of one of its items. */
    uint8_t definition;
    uint8_t repetition;
    struct sl_small_node *children;
    size_t n_children;
    size_t column;                    /* of a leaf */
    struct sl_arrow_format format;    /* of a leaf */
    const struct ArrowArray *array;   /* of the batch that is added */
    const struct ArrowArray *entries; /* of a map: what holds keys and values */
};

/* Where a column of a row group lies in the file. */
struct sl_small_chunk {
    int64_t at;
    int64_t size;
    int64_t raw_size; /* before compression */
};

struct sl_small_image {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_small_node root;
    struct sl_small_column *columns;
    struct sl_small_chunk *chunks; /* of the row group that is written */
    size_t n_columns;
    int64_t n_rows;       /* of the row group at hand */
    int64_t n_rows_ended; /* of those before it */
    int64_t size;         /* of the file so far */
    struct sl_buf groups; /* what the footer says of row groups */
    size_t n_groups;
};

/* ---- small_footer.c ---- */

/* What the footer says of the row group at hand, whose chunks were written with a codec. */
void sl_small_footer_put_group(const struct sl_small_image *image, int32_t codec, struct sl_buf *out);
/* The footer, its length and the magic behind the row groups. */
void sl_small_footer_put(const struct sl_small_image *image, struct sl_buf *out);

#endif
