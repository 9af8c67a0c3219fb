/*
 * Parquet files of few rows; see small_image.h. The schema is a tree of nodes, each beside the Arrow array that its values lie in. Rows go
 * through the tree one by one, which gives every leaf its levels: at a null all leaves below get an entry without a value. The
 * footer is small_footer.c's.
 *
 * Parquet's format: "Nested Encoding", "Logical Types" (lists and maps in three levels).
 */
#include "engine/small_image.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/arrow.h"
#include "base/error.h"
#include "engine/small_image_int.h"

/* Nesting that is followed: checkpoints stay far below it. */
#define MAX_DEPTH 16
#define MAX_LEAVES 4096

/* ---- the tree ---- */

struct planting {
    struct sl_small_image *image;
    silt_error *err;
    bool known; /* false: something is not written here */
    unsigned depth;
};

static silt_status plant(struct planting *p, const struct silt_field *field, const struct ArrowSchema *schema,
                         struct sl_small_node *node);

static silt_status plant_children(struct planting *p, const struct silt_field *fields, size_t n,
                                  const struct ArrowSchema *schema, struct sl_small_node *node)
{
    if (schema->n_children != (int64_t)n || n == 0 || p->depth >= MAX_DEPTH) {
        p->known = false;
        return SILT_OK;
    }
    node->children = sl_arena_alloc_array(&p->image->arena, n, sizeof(*node->children));
    if (node->children == NULL) {
        return sl_fail_nomem(p->err);
    }
    node->n_children = n;
    p->depth++;
    for (size_t i = 0; i < n && p->known; i++) {
        struct sl_small_node *child = &node->children[i];
        child->definition = node->definition;
        child->repetition = node->repetition;
        child->required = node->shape == SL_SMALL_MAP && i == 0; /* the key; all else may be null in the file */
        SL_TRY(plant(p, &fields[i], schema->children[i], child));
    }
    p->depth--;
    return SILT_OK;
}

/* Elements, or keys and values: below a group of its own, which is repeated. */
static silt_status plant_repeated(struct planting *p, const struct silt_type *type, const struct ArrowSchema *schema,
                                  struct sl_small_node *node)
{
    const bool is_map = type->kind == SILT_TYPE_MAP;
    const struct silt_field element = {.name = SL_STR("element"), .type = type->element};
    const struct silt_field entry[2] = {{.name = SL_STR("key"), .type = type->key},
                                        {.name = SL_STR("value"), .type = type->element}};
    node->shape = is_map ? SL_SMALL_MAP : SL_SMALL_LIST;
    if (strcmp(schema->format, is_map ? "+m" : "+l") != 0 || schema->n_children != 1) {
        p->known = false;
        return SILT_OK;
    }
    node->definition++;
    node->repetition++;
    return plant_children(p, is_map ? entry : &element, is_map ? 2 : 1, is_map ? schema->children[0] : schema, node);
}

static void plant_leaf(struct planting *p, const struct silt_type *type, const struct ArrowSchema *schema,
                       struct sl_small_node *node)
{
    struct sl_small_image *image = p->image;
    node->shape = SL_SMALL_LEAF;
    const bool same = sl_arrow_format_parse(schema->format, &node->format) && node->format.kind == type->kind &&
                      node->format.layout != SL_ARROW_NULL && node->format.layout < SL_ARROW_STRUCT &&
                      (type->kind != SILT_TYPE_DECIMAL ||
                       (node->format.precision == type->precision && node->format.scale == type->scale));
    if (!same || !sl_small_type_is_known(type) || image->n_columns >= MAX_LEAVES) {
        p->known = false;
        return;
    }
    node->column = image->n_columns++;
}

static silt_status plant(struct planting *p, const struct silt_field *field, const struct ArrowSchema *schema,
                         struct sl_small_node *node)
{
    const struct silt_type *type = field->type;
    const struct sl_str id = sl_field_meta_text(field, SL_STR("parquet.field.id"));
    int64_t number = -1;
    node->name = field->name;
    node->type = type;
    node->definition = (uint8_t)(node->definition + (node->required ? 0 : 1));
    node->field_id = id.ptr != NULL && sl_str_to_i64(id, &number) && number >= 0 && number <= INT32_MAX
                         ? (int32_t)number
                         : -1;
    if (type == NULL || schema->format == NULL || schema->dictionary != NULL ||
        sl_field_meta_text(field, SL_STR("parquet.field.nested.ids")).ptr != NULL) {
        p->known = false;
        return SILT_OK;
    }
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        node->shape = SL_SMALL_STRUCT;
        p->known = p->known && strcmp(schema->format, "+s") == 0;
        return p->known ? plant_children(p, type->fields, type->n_fields, schema, node) : SILT_OK;
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: return plant_repeated(p, type, schema, node);
    default: plant_leaf(p, type, schema, node); return SILT_OK;
    }
}

static void fill_columns(struct sl_small_image *image, const struct sl_small_node *node)
{
    if (node->shape == SL_SMALL_LEAF) {
        struct sl_small_column *column = &image->columns[node->column];
        sl_small_column_init(column, image->arena.env, node->type);
        column->max_definition = node->definition;
        column->max_repetition = node->repetition;
    }
    for (size_t i = 0; i < node->n_children; i++) {
        fill_columns(image, &node->children[i]);
    }
}

static silt_status grow_tree(struct planting *p, const struct silt_type *root, const struct ArrowSchema *schema)
{
    struct sl_small_image *image = p->image;
    image->root = (struct sl_small_node){
        .name = SL_STR("schema"), .type = root, .shape = SL_SMALL_STRUCT, .required = true};
    SL_TRY(plant_children(p, root->fields, root->n_fields, schema, &image->root));
    if (!p->known) {
        return SILT_OK;
    }
    image->columns = sl_arena_alloc_array(&image->arena, image->n_columns, sizeof(*image->columns));
    image->chunks = sl_arena_alloc_array(&image->arena, image->n_columns, sizeof(*image->chunks));
    if (image->columns == NULL || image->chunks == NULL) {
        image->columns = NULL;
        return sl_fail_nomem(p->err);
    }
    fill_columns(image, &image->root);
    return SILT_OK;
}

silt_status sl_small_image_open(const silt_env *env, const struct silt_type *root, const struct ArrowSchema *schema,
                                struct sl_small_image **out, silt_error *err)
{
    *out = NULL;
    struct sl_small_image *image = sl_alloc_zero(env, sizeof(*image));
    if (image == NULL) {
        return sl_fail_nomem(err);
    }
    image->env = env;
    sl_arena_init(&image->arena, env);
    sl_buf_init(&image->groups, env);
    struct planting planting = {.image = image, .err = err, .known = true};
    const silt_status status = grow_tree(&planting, root, schema);
    if (status != SILT_OK || !planting.known) {
        sl_small_image_close(image);
        return status;
    }
    *out = image;
    return SILT_OK;
}

void sl_small_image_close(struct sl_small_image *image)
{
    if (image == NULL) {
        return;
    }
    for (size_t i = 0; image->columns != NULL && i < image->n_columns; i++) {
        sl_small_column_release(&image->columns[i]);
    }
    sl_buf_release(&image->groups);
    sl_arena_release(&image->arena);
    sl_release(image->env, image, sizeof(*image));
}

/* ---- rows ---- */

/* Puts the arrays beside the nodes; false if they are not of the schema's shape. */
static bool bind_array(struct sl_small_node *node, const struct ArrowArray *array)
{
    const struct ArrowArray *parent = array;
    node->array = array;
    if (node->shape == SL_SMALL_LEAF) {
        return array->dictionary == NULL && array->n_buffers >= 2;
    }
    if (node->shape == SL_SMALL_MAP) {
        if (array->n_children != 1) {
            return false;
        }
        parent = node->entries = array->children[0];
    }
    const bool repeated = node->shape != SL_SMALL_STRUCT;
    if (parent->n_children != (int64_t)node->n_children || array->n_buffers < (repeated ? 2 : 1) ||
        (repeated && array->length > 0 && array->buffers[1] == NULL)) {
        return false;
    }
    for (size_t i = 0; i < node->n_children; i++) {
        if (!bind_array(&node->children[i], parent->children[i])) {
            return false;
        }
    }
    return true;
}

static bool add_nothing(struct sl_small_image *image, const struct sl_small_node *node, uint8_t repetition,
                        uint8_t definition)
{
    if (node->shape == SL_SMALL_LEAF) {
        return sl_small_column_add(&image->columns[node->column], repetition, definition, NULL);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        if (!add_nothing(image, &node->children[i], repetition, definition)) {
            return false;
        }
    }
    return true;
}

static bool add_row(struct sl_small_image *image, const struct sl_small_node *node, int64_t row, uint8_t repetition);

static bool add_leaf(struct sl_small_image *image, const struct sl_small_node *node, int64_t row, uint8_t repetition)
{
    silt_value value;
    return sl_arrow_flat_value(&node->format, node->array, node->array->offset + row, &value) &&
           sl_small_column_add(&image->columns[node->column], repetition, node->definition, &value);
}

static bool add_items(struct sl_small_image *image, const struct sl_small_node *node, int64_t row, uint8_t repetition)
{
    const int32_t *ends = node->array->buffers[1];
    const int64_t begin = ends[node->array->offset + row];
    const int64_t end = ends[node->array->offset + row + 1];
    const struct ArrowArray *items = node->entries != NULL ? node->entries : node->children[0].array;
    const int64_t shift = node->entries != NULL ? node->entries->offset : 0;
    if (begin < 0 || end < begin || end > items->length) {
        return false;
    }
    if (begin == end) {
        return add_nothing(image, node, repetition, (uint8_t)(node->definition - 1));
    }
    for (int64_t i = begin; i < end; i++) {
        for (size_t c = 0; c < node->n_children; c++) {
            if (!add_row(image, &node->children[c], shift + i, i == begin ? repetition : node->repetition)) {
                return false;
            }
        }
    }
    return true;
}

/* Nesting bounds the recursion. A row that is not in the array, or a null where none may be, does not fit. */
static bool add_row(struct sl_small_image *image, const struct sl_small_node *node, int64_t row, uint8_t repetition)
{
    const bool repeated = node->shape == SL_SMALL_LIST || node->shape == SL_SMALL_MAP;
    if (row < 0 || row >= node->array->length) {
        return false;
    }
    if (sl_arrow_is_null(node->array, row)) {
        return !node->required &&
               add_nothing(image, node, repetition, (uint8_t)(node->definition - (repeated ? 2 : 1)));
    }
    if (node->shape == SL_SMALL_LEAF) {
        return add_leaf(image, node, row, repetition);
    }
    if (repeated) {
        return add_items(image, node, row, repetition);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        if (!add_row(image, &node->children[i], node->array->offset + row, repetition)) {
            return false;
        }
    }
    return true;
}

/* ---- many rows at once ---- */

static void add_nothing_often(struct sl_small_image *image, const struct sl_small_node *node, uint64_t n,
                              uint8_t definition)
{
    if (node->shape == SL_SMALL_LEAF) {
        sl_small_column_add_nothing(&image->columns[node->column], n, 0, definition);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        add_nothing_often(image, &node->children[i], n, definition);
    }
}

/* Of the rows of an array. */
static int64_t count_nulls(const struct ArrowArray *array, int64_t begin, int64_t end)
{
    int64_t n = 0;
    if (array->null_count == 0 || array->n_buffers < 1 || array->buffers[0] == NULL) {
        return 0;
    }
    for (int64_t row = begin; row < end; row++) {
        n += sl_arrow_is_null(array, row) ? 1 : 0;
    }
    return n;
}

/* Lists or maps of texts, of which no row is empty and no item null; false: these are others, and nothing was added. */
static bool add_texts_of_rows(struct sl_small_image *image, const struct sl_small_node *node, int64_t begin,
                              int64_t end)
{
    const struct ArrowArray *array = node->array;
    const struct ArrowArray *items = node->entries != NULL ? node->entries : node->children[0].array;
    const int64_t shift = node->entries != NULL ? node->entries->offset : 0;
    const int64_t n = end - begin;
    bool fits = n > 0 && array->length > 0;
    const int32_t *ends = fits ? (const int32_t *)array->buffers[1] + array->offset + begin : NULL;
    fits = fits && ends[0] >= 0 && ends[n] <= items->length;
    for (int64_t i = 0; i < n && fits; i++) {
        fits = ends[i + 1] > ends[i];
    }
    for (size_t c = 0; c < node->n_children && fits; c++) {
        const struct sl_small_node *leaf = &node->children[c];
        fits = leaf->shape == SL_SMALL_LEAF && shift + ends[n] <= leaf->array->length &&
               count_nulls(leaf->array, shift + ends[0], shift + ends[n]) == 0 &&
               sl_small_column_takes_items(&image->columns[leaf->column], &leaf->format, leaf->array,
                                           leaf->array->offset + shift + ends[0], (int64_t)ends[n] - ends[0]);
    }
    for (size_t c = 0; c < node->n_children && fits; c++) {
        const struct sl_small_node *leaf = &node->children[c];
        sl_small_column_add_items(&image->columns[leaf->column], leaf->array, leaf->array->offset + shift, ends, n);
    }
    return fits;
}

/* Columns do not depend on each other: each takes all rows before the next one does. A node that is not below a list or map. */
static bool add_rows(struct sl_small_image *image, const struct sl_small_node *node, int64_t begin, int64_t end)
{
    const struct ArrowArray *array = node->array;
    const bool repeated = node->shape == SL_SMALL_LIST || node->shape == SL_SMALL_MAP;
    if (begin < 0 || end > array->length) {
        return false;
    }
    const int64_t n_nulls = count_nulls(array, begin, end);
    if (n_nulls > 0 && n_nulls == end - begin && !node->required) {
        add_nothing_often(image, node, (uint64_t)n_nulls, (uint8_t)(node->definition - (repeated ? 2 : 1)));
        return true;
    }
    bool fits = true;
    if (n_nulls == 0 && node->shape == SL_SMALL_STRUCT) {
        for (size_t i = 0; i < node->n_children && fits; i++) {
            fits = add_rows(image, &node->children[i], array->offset + begin, array->offset + end);
        }
        return fits;
    }
    if (n_nulls == 0 && node->shape == SL_SMALL_LEAF &&
        sl_small_column_add_all(&image->columns[node->column], &node->format, array, array->offset + begin,
                                end - begin)) {
        return true;
    }
    if (n_nulls == 0 && repeated && add_texts_of_rows(image, node, begin, end)) {
        return true;
    }
    for (int64_t row = begin; row < end && fits; row++) {
        fits = add_row(image, node, row, 0);
    }
    return fits;
}

silt_status sl_small_image_add(struct sl_small_image *image, const struct ArrowArray *batch, bool *fits,
                               silt_error *err)
{
    return sl_small_image_add_part(image, batch, 0, batch->length, fits, err);
}

silt_status sl_small_image_add_part(struct sl_small_image *image, const struct ArrowArray *batch, int64_t begin,
                                    int64_t n, bool *fits, silt_error *err)
{
    *fits = bind_array(&image->root, batch) && add_rows(image, &image->root, begin, begin + n);
    image->n_rows += n;
    for (size_t i = 0; i < image->n_columns; i++) {
        SL_TRY(sl_buf_status(&image->columns[i].values, err));
    }
    return SILT_OK;
}

int64_t sl_small_image_rows(const struct sl_small_image *image)
{
    return image->n_rows;
}

size_t sl_small_image_size(const struct sl_small_image *image)
{
    size_t size = 0;
    for (size_t i = 0; i < image->n_columns; i++) {
        size += sl_small_column_size(&image->columns[i]);
    }
    return size;
}

const struct sl_small_column *sl_small_image_column(const struct sl_small_image *image, size_t index)
{
    return &image->columns[index];
}

silt_status sl_small_image_end_group(struct sl_small_image *image, const struct sl_small_codec *codec,
                                     struct sl_buf *out, silt_error *err)
{
    const size_t begin = out->len;
    if (image->size == 0) {
        sl_buf_put_c(out, SL_PARQUET_MAGIC);
    }
    for (size_t i = 0; i < image->n_columns; i++) {
        struct sl_small_chunk *chunk = &image->chunks[i];
        const size_t at = out->len;
        size_t raw_size = 0;
        sl_small_column_put_page(&image->columns[i], codec, &raw_size, out);
        *chunk = (struct sl_small_chunk){
            .at = image->size + (int64_t)(at - begin), .size = (int64_t)(out->len - at), .raw_size = (int64_t)raw_size};
    }
    if (out->status == SILT_EENGINE) {
        return sl_fail(err, SILT_EENGINE, NULL, "the bytes of a column could not be compressed");
    }
    sl_small_footer_put_group(image, codec != NULL ? codec->id : 0, &image->groups);
    SL_TRY(sl_buf_status(&image->groups, err));
    image->size += (int64_t)(out->len - begin);
    image->n_rows_ended += image->n_rows;
    image->n_groups++;
    return sl_buf_status(out, err);
}

void sl_small_image_restart(struct sl_small_image *image)
{
    for (size_t i = 0; i < image->n_columns; i++) {
        sl_small_column_restart(&image->columns[i]);
    }
    image->n_rows = 0;
}

silt_status sl_small_image_end(struct sl_small_image *image, struct sl_buf *out, silt_error *err)
{
    sl_small_footer_put(image, out);
    return sl_buf_status(out, err);
}

silt_status sl_small_image_finish(struct sl_small_image *image, struct sl_buf *out, silt_error *err)
{
    SL_TRY(sl_small_image_end_group(image, NULL, out, err));
    return sl_small_image_end(image, out, err);
}
