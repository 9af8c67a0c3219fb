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

struct sl_small_image {
    const silt_env *env;
    struct sl_arena arena;
    struct sl_small_node root;
    struct sl_small_column *columns;
    size_t n_columns;
    int64_t n_rows;
};

/* ---- small_footer.c ---- */

/* The footer, its length and the magic behind the pages, of which offsets has where each begins, and where the last ends. */
void sl_small_footer_put(const struct sl_small_image *image, const size_t *offsets, struct sl_buf *out);

#endif
