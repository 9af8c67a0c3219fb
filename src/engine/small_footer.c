/*
 * The footer of a small Parquet file. Types are told in both ways, as logical and as older "converted" ones, for old readers.
 * Parquet's format: parquet.thrift, FileMetaData and what it holds. Pure.
 */
#include "base/thrift_write.h"
#include "engine/small_column.h"
#include "engine/small_image_int.h"
#include "silt/version.h"

/* Members of the union of logical types. */
#define LOGICAL_STRING 1
#define LOGICAL_MAP 2
#define LOGICAL_LIST 3
#define LOGICAL_DECIMAL 5
#define LOGICAL_DATE 6
#define LOGICAL_TIMESTAMP 8
#define LOGICAL_INTEGER 10

#define ENCODING_PLAIN 0
#define ENCODING_RLE 3
#define DEFINED_BY_TYPE 1

struct footer {
    const struct sl_small_image *image;
    int32_t codec;
    struct sl_thrift_out *out;
    struct sl_str path[SL_THRIFT_OUT_DEPTH * 4]; /* names down to the node that is written */
    size_t depth;
};

/* ---- the schema ---- */

static void put_empty(struct sl_thrift_out *out, int16_t field)
{
    sl_thrift_begin(out, field);
    sl_thrift_end(out);
}

static void put_integer(struct sl_thrift_out *out, int8_t bits)
{
    sl_thrift_begin(out, LOGICAL_INTEGER);
    sl_thrift_put_i8(out, 1, bits);
    sl_thrift_put_bool(out, 2, true);
    sl_thrift_end(out);
}

static void put_timestamp(struct sl_thrift_out *out, bool is_utc)
{
    sl_thrift_begin(out, LOGICAL_TIMESTAMP);
    sl_thrift_put_bool(out, 1, is_utc);
    sl_thrift_begin(out, 2);
    put_empty(out, 2); /* microseconds */
    sl_thrift_end(out);
    sl_thrift_end(out);
}

static void put_logical_member(struct sl_thrift_out *out, const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_STRING: put_empty(out, LOGICAL_STRING); return;
    case SILT_TYPE_ARRAY: put_empty(out, LOGICAL_LIST); return;
    case SILT_TYPE_MAP: put_empty(out, LOGICAL_MAP); return;
    case SILT_TYPE_DATE: put_empty(out, LOGICAL_DATE); return;
    case SILT_TYPE_TIMESTAMP: put_timestamp(out, true); return;
    case SILT_TYPE_TIMESTAMP_NTZ: put_timestamp(out, false); return;
    case SILT_TYPE_BYTE: put_integer(out, 8); return;
    case SILT_TYPE_SHORT: put_integer(out, 16); return;
    case SILT_TYPE_INTEGER: put_integer(out, 32); return;
    case SILT_TYPE_LONG: put_integer(out, 64); return;
    case SILT_TYPE_DECIMAL:
        sl_thrift_begin(out, LOGICAL_DECIMAL);
        sl_thrift_put_i32(out, 1, type->scale);
        sl_thrift_put_i32(out, 2, type->precision);
        sl_thrift_end(out);
        return;
    default: return;
    }
}

static bool has_logical(const struct silt_type *type)
{
    return sl_small_converted(type) != SL_CONVERTED_NONE || type->kind == SILT_TYPE_TIMESTAMP_NTZ;
}

static void put_types(struct sl_thrift_out *out, const struct sl_small_node *node)
{
    const struct silt_type *type = node->type;
    if (sl_small_converted(type) != SL_CONVERTED_NONE) {
        sl_thrift_put_i32(out, 6, sl_small_converted(type));
    }
    if (type->kind == SILT_TYPE_DECIMAL) {
        sl_thrift_put_i32(out, 7, type->scale);
        sl_thrift_put_i32(out, 8, type->precision);
    }
    if (node->field_id >= 0) {
        sl_thrift_put_i32(out, 9, node->field_id);
    }
    if (has_logical(type)) {
        sl_thrift_begin(out, 10);
        put_logical_member(out, type);
        sl_thrift_end(out);
    }
}

static void put_repeated_group(struct sl_thrift_out *out, const struct sl_small_node *node)
{
    sl_thrift_item_begin(out);
    sl_thrift_put_i32(out, 3, SL_REPETITION_REPEATED);
    sl_thrift_put_bytes(out, 4, node->shape == SL_SMALL_MAP ? SL_STR("key_value") : SL_STR("list"));
    sl_thrift_put_i32(out, 5, (int32_t)node->n_children);
    sl_thrift_end(out);
}

/* A node and what is below it, in the order of a walk. */
static void put_node(struct sl_thrift_out *out, const struct sl_small_node *node)
{
    const bool repeated = node->shape == SL_SMALL_LIST || node->shape == SL_SMALL_MAP;
    sl_thrift_item_begin(out);
    if (node->shape == SL_SMALL_LEAF) {
        const enum sl_physical physical = sl_small_physical(node->type);
        sl_thrift_put_i32(out, 1, (int32_t)physical);
        if (physical == SL_PHYSICAL_FIXED) {
            sl_thrift_put_i32(out, 2, SL_PHYSICAL_FIXED_BYTES);
        }
    }
    sl_thrift_put_i32(out, 3, node->required ? SL_REPETITION_REQUIRED : SL_REPETITION_OPTIONAL);
    sl_thrift_put_bytes(out, 4, node->name);
    if (node->shape != SL_SMALL_LEAF) {
        sl_thrift_put_i32(out, 5, repeated ? 1 : (int32_t)node->n_children);
    }
    put_types(out, node);
    sl_thrift_end(out);
    if (repeated) {
        put_repeated_group(out, node);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        put_node(out, &node->children[i]);
    }
}

static size_t count_elements(const struct sl_small_node *node)
{
    size_t n = node->shape == SL_SMALL_LIST || node->shape == SL_SMALL_MAP ? 2 : 1;
    for (size_t i = 0; i < node->n_children; i++) {
        n += count_elements(&node->children[i]);
    }
    return n;
}

static void put_schema(struct footer *footer)
{
    const struct sl_small_node *root = &footer->image->root;
    struct sl_thrift_out *out = footer->out;
    sl_thrift_put_list(out, 2, SL_THRIFT_STRUCT, count_elements(root));
    sl_thrift_item_begin(out);
    sl_thrift_put_bytes(out, 4, root->name);
    sl_thrift_put_i32(out, 5, (int32_t)root->n_children);
    sl_thrift_end(out);
    for (size_t i = 0; i < root->n_children; i++) {
        put_node(out, &root->children[i]);
    }
}

/* ---- columns ---- */

static void put_bound(struct footer *footer, const struct sl_small_column *column, bool is_min)
{
    struct sl_buf bytes;
    sl_buf_init(&bytes, footer->image->env);
    if (sl_small_column_put_bound(column, is_min, &bytes)) {
        sl_thrift_put_bytes(footer->out, is_min ? 6 : 5, sl_buf_view(&bytes));
    }
    if (bytes.status != SILT_OK) {
        footer->out->buf->status = bytes.status;
    }
    sl_buf_release(&bytes);
}

static void put_statistics(struct footer *footer, const struct sl_small_column *column)
{
    sl_thrift_begin(footer->out, 12);
    sl_thrift_put_i64(footer->out, 3, column->n_entries - column->n_values);
    /* Items of lists are ordered like other values, but nobody asks for them. */
    if (column->max_repetition == 0) {
        put_bound(footer, column, false);
        put_bound(footer, column, true);
    }
    sl_thrift_end(footer->out);
}

static void put_chunk(struct footer *footer, const struct sl_small_node *leaf)
{
    const struct sl_small_column *column = &footer->image->columns[leaf->column];
    const struct sl_small_chunk *chunk = &footer->image->chunks[leaf->column];
    struct sl_thrift_out *out = footer->out;
    sl_thrift_item_begin(out);
    sl_thrift_put_i64(out, 2, chunk->at);
    sl_thrift_begin(out, 3);
    sl_thrift_put_i32(out, 1, (int32_t)sl_small_physical(column->type));
    sl_thrift_put_list(out, 2, SL_THRIFT_I32, 2);
    sl_thrift_item_i32(out, ENCODING_PLAIN);
    sl_thrift_item_i32(out, ENCODING_RLE);
    sl_thrift_put_list(out, 3, SL_THRIFT_BINARY, footer->depth);
    for (size_t i = 0; i < footer->depth; i++) {
        sl_thrift_item_bytes(out, footer->path[i]);
    }
    sl_thrift_put_i32(out, 4, footer->codec);
    sl_thrift_put_i64(out, 5, column->n_entries);
    sl_thrift_put_i64(out, 6, chunk->raw_size);
    sl_thrift_put_i64(out, 7, chunk->size);
    sl_thrift_put_i64(out, 9, chunk->at);
    put_statistics(footer, column);
    sl_thrift_end(out);
    sl_thrift_end(out);
}

static void put_chunks(struct footer *footer, const struct sl_small_node *node)
{
    const size_t depth = footer->depth;
    if (node != &footer->image->root) {
        footer->path[footer->depth++] = node->name;
    }
    if (node->shape == SL_SMALL_LEAF) {
        put_chunk(footer, node);
    } else if (node->shape != SL_SMALL_STRUCT) {
        footer->path[footer->depth++] = node->shape == SL_SMALL_MAP ? SL_STR("key_value") : SL_STR("list");
    }
    for (size_t i = 0; i < node->n_children; i++) {
        put_chunks(footer, &node->children[i]);
    }
    footer->depth = depth;
}

void sl_small_footer_put_group(const struct sl_small_image *image, int32_t codec, struct sl_buf *out)
{
    struct sl_thrift_out thrift;
    struct footer footer = {.image = image, .codec = codec, .out = &thrift};
    int64_t size = 0;
    int64_t raw_size = 0;
    for (size_t i = 0; i < image->n_columns; i++) {
        size += image->chunks[i].size;
        raw_size += image->chunks[i].raw_size;
    }
    sl_thrift_out_init(&thrift, out);
    sl_thrift_put_list(&thrift, 1, SL_THRIFT_STRUCT, image->n_columns);
    put_chunks(&footer, &image->root);
    sl_thrift_put_i64(&thrift, 2, raw_size);
    sl_thrift_put_i64(&thrift, 3, image->n_rows);
    sl_thrift_put_i64(&thrift, 5, image->chunks[0].at);
    sl_thrift_put_i64(&thrift, 6, size);
    sl_thrift_end(&thrift);
}

/* ---- the whole ---- */

void sl_small_footer_put(const struct sl_small_image *image, struct sl_buf *out)
{
    struct sl_thrift_out thrift;
    struct footer footer = {.image = image, .out = &thrift};
    const size_t begin = out->len;
    sl_thrift_out_init(&thrift, out);
    sl_thrift_put_i32(&thrift, 1, 1);
    put_schema(&footer);
    sl_thrift_put_i64(&thrift, 3, image->n_rows_ended);
    sl_thrift_put_list(&thrift, 4, SL_THRIFT_STRUCT, image->n_groups);
    sl_buf_put_str(out, sl_buf_view(&image->groups)); /* a struct is the same bytes wherever it stands */
    sl_thrift_put_bytes(&thrift, 6, SL_STR("silt version " SILT_VERSION_STRING));
    sl_thrift_put_list(&thrift, 7, SL_THRIFT_STRUCT, image->n_columns);
    for (size_t i = 0; i < image->n_columns; i++) {
        sl_thrift_item_begin(&thrift);
        sl_thrift_begin(&thrift, DEFINED_BY_TYPE);
        sl_thrift_end(&thrift);
        sl_thrift_end(&thrift);
    }
    sl_thrift_end(&thrift);
    const size_t length = out->len - begin;
    for (unsigned i = 0; i < 4; i++) {
        sl_buf_put_char(out, (char)(unsigned char)(length >> (8 * i) & 0xFFU));
    }
    sl_buf_put_c(out, SL_PARQUET_MAGIC);
}
