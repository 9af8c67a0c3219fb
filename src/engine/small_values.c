/*
 * Values of small files of silt's own, as columns of Arrow; see small_read.c. Where rows have one entry each, a column is filled by the runs
 * of its levels; below lists and maps, and where rows may be left out, row by row: whether a struct or list is there is seen at the levels of
 * its first leaf.
 */
#include "engine/small_read_int.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "engine/small_column.h"
#include "schema/value.h"

/* ---- values ---- */

static uint64_t load(const unsigned char *at, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; at != NULL && i < n; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static double load_float(uint64_t bits, bool wide)
{
    const uint32_t narrow_bits = (uint32_t)bits;
    double value = 0;
    float narrow = 0;
    if (wide) {
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    memcpy(&narrow, &narrow_bits, sizeof(narrow));
    return (double)narrow;
}

static bool take_bit(struct sl_small_cursor *cursor)
{
    const size_t bit = cursor->n_bits++ % 8;
    if (bit == 0 && sl_small_cursor_take(cursor, 1) == NULL) {
        return false;
    }
    return (cursor->at[-1] >> bit & 1U) != 0;
}

static silt_value take_bytes(struct sl_small_cursor *cursor, const struct silt_type *type)
{
    const size_t len = (size_t)load(sl_small_cursor_take(cursor, sizeof(uint32_t)), sizeof(uint32_t));
    const unsigned char *at = sl_small_cursor_take(cursor, len);
    const struct sl_str text = at != NULL ? sl_str_make((const char *)at, len) : SL_STR("");
    cursor->bad = cursor->bad || (type->kind == SILT_TYPE_STRING && !sl_utf8_valid(text));
    return sl_value_bytes(type->kind, text);
}

/* The highest byte comes first. */
static silt_value take_wide(struct sl_small_cursor *cursor, const struct silt_type *type)
{
    const unsigned char *at = sl_small_cursor_take(cursor, SL_PHYSICAL_FIXED_BYTES);
    uint64_t words[2] = {0, 0};
    for (size_t i = 0; at != NULL && i < SL_PHYSICAL_FIXED_BYTES; i++) {
        words[i / 8] = words[i / 8] << 8 | at[i];
    }
    return sl_value_decimal(sl_i128_make((int64_t)words[0], words[1]), type->precision, type->scale);
}

static silt_value take_integer(const struct silt_type *type, int64_t number)
{
    return type->kind == SILT_TYPE_DECIMAL ? sl_value_decimal(number, type->precision, type->scale)
                                           : sl_value_i64(type->kind, number);
}

static silt_value take_value(const struct sl_small_want *node)
{
    struct sl_small_cursor *cursor = node->cursor;
    const struct silt_type *type = node->type;
    switch (node->is_short ? SL_PHYSICAL_INT32 : sl_small_physical(type)) {
    case SL_PHYSICAL_BOOLEAN: return sl_value_bool(take_bit(cursor));
    case SL_PHYSICAL_INT32: return take_integer(type, (int32_t)(uint32_t)load(sl_small_cursor_take(cursor, 4), 4));
    case SL_PHYSICAL_INT64: return take_integer(type, (int64_t)load(sl_small_cursor_take(cursor, 8), 8));
    case SL_PHYSICAL_FLOAT:
        return sl_value_f64(type->kind, load_float(load(sl_small_cursor_take(cursor, 4), 4), false));
    case SL_PHYSICAL_DOUBLE:
        return sl_value_f64(type->kind, load_float(load(sl_small_cursor_take(cursor, 8), 8), true));
    case SL_PHYSICAL_FIXED: return take_wide(cursor, type);
    case SL_PHYSICAL_BYTE_ARRAY: break;
    }
    return take_bytes(cursor, type);
}

/* ---- rows ---- */

/* An entry of each leaf, of which nothing is there. */
static void step_all(struct sl_small_want *node)
{
    if (node->n_children == 0 && !node->absent) {
        sl_small_cursor_step(node->cursor);
    }
    if (node->spare != NULL) {
        sl_small_cursor_step(node->spare);
    }
    for (size_t i = 0; i < node->n_children; i++) {
        step_all(&node->children[i]);
    }
}

static silt_status put(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder);

static silt_status put_leaf(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    const bool there = node->cursor->definitions.value == node->definition;
    const silt_value value = there ? take_value(node) : sl_value_null(node->type->kind);
    sl_small_cursor_step(node->cursor);
    r->good = r->good && !node->cursor->bad;
    return r->good ? sl_value_append(builder, &value, r->err) : SILT_OK;
}

static silt_status put_items(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    struct sl_arrow_builder *items = sl_arrow_builder_child(builder, 0);
    const bool is_map = node->type->kind == SILT_TYPE_MAP;
    do {
        for (size_t i = 0; i < node->n_children && r->good; i++) {
            SL_TRY(put(r, &node->children[i], is_map ? sl_arrow_builder_child(items, i) : items));
        }
        if (is_map && r->good) {
            SL_TRY(sl_arrow_append_nested(items, r->err));
        }
    } while (r->good && node->cursor->left > 0 && node->cursor->repetitions.value == node->repetition);
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

/* Nesting bounds the recursion, and each step takes an entry of a leaf, of which there are as many as the file says. */
static silt_status put(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    if (node->absent) {
        return sl_arrow_append_null(builder, r->err);
    }
    if (node->n_children == 0) {
        return put_leaf(r, node, builder);
    }
    const bool repeated = node->type->kind != SILT_TYPE_STRUCT;
    const uint8_t found = node->cursor->definitions.value;
    if (found < node->definition) {
        const bool is_empty = repeated && found + 1 == node->definition;
        step_all(node);
        return is_empty ? sl_arrow_append_nested(builder, r->err) : sl_arrow_append_null(builder, r->err);
    }
    if (repeated) {
        return put_items(r, node, builder);
    }
    for (size_t i = 0; i < node->n_children && r->good; i++) {
        SL_TRY(put(r, &node->children[i], sl_arrow_builder_child(builder, i)));
    }
    if (node->spare != NULL) {
        sl_small_cursor_step(node->spare);
    }
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

silt_status sl_small_put_row(struct sl_small_reading *r, int64_t row, struct sl_arrow_builder *builder)
{
    size_t next = r->root.n_children;
    for (size_t i = 0; i < r->root.n_children && r->good; i++) {
        SL_TRY(put(r, &r->root.children[i], sl_arrow_builder_child(builder, i)));
    }
    if (r->good && r->request->with_file_index) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next++), 0, r->err));
    }
    if (r->good && r->request->with_row_index) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next), row, r->err));
    }
    return r->good ? sl_arrow_append_nested(builder, r->err) : SILT_OK;
}

/* ---- columns ---- */

/* Of the file's bytes, which have the lowest one first. */
static silt_status put_longs(struct sl_small_reading *r, const struct sl_small_want *node,
                             struct sl_arrow_builder *builder, int64_t n)
{
    const unsigned char *at = sl_small_cursor_take(node->cursor, (size_t)n * sizeof(uint64_t));
    while (at != NULL && n > 0) {
        int64_t block[64];
        const int64_t size = n < 64 ? n : 64;
        for (int64_t i = 0; i < size; i++) {
            block[i] = (int64_t)load(at + 8 * i, sizeof(uint64_t));
        }
        SL_TRY(sl_arrow_append_longs(builder, block, size, r->err));
        at += 8 * size;
        n -= size;
    }
    return SILT_OK;
}

/* So many values of a leaf, none of them null. */
static silt_status put_values(struct sl_small_reading *r, const struct sl_small_want *node,
                              struct sl_arrow_builder *builder, int64_t n)
{
    const bool is_decimal = node->type->kind == SILT_TYPE_DECIMAL;
    const enum sl_physical physical = sl_small_physical(node->type);
    if (physical == SL_PHYSICAL_INT64 && !is_decimal && !node->is_short) {
        return put_longs(r, node, builder, n);
    }
    for (int64_t i = 0; i < n && !node->cursor->bad; i++) {
        const silt_value value = take_value(node);
        SL_TRY(physical == SL_PHYSICAL_BYTE_ARRAY ? sl_arrow_append_bytes(builder, sl_value_get_str(&value), r->err)
                                                  : sl_value_append(builder, &value, r->err));
    }
    return SILT_OK;
}

/* How many of the next `left` rows are alike; 0: the levels do not tell. */
static int64_t count_alike(const struct sl_small_cursor *cursor, int64_t left)
{
    const struct sl_small_level_cursor *levels = &cursor->definitions;
    return levels->end == NULL || levels->left > (uint64_t)left ? left : (int64_t)levels->left;
}

static silt_status fill_leaf(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    struct sl_small_cursor *cursor = node->cursor;
    for (int64_t left = r->file.n_rows; left > 0 && r->good;) {
        const int64_t n = count_alike(cursor, left);
        const bool there = cursor->definitions.value == node->definition;
        SL_TRY(there ? put_values(r, node, builder, n) : sl_arrow_append_nulls(builder, n, r->err));
        sl_small_cursor_skip(cursor, n);
        r->good = n > 0 && !cursor->bad;
        left -= n;
    }
    return SILT_OK;
}

static silt_status fill(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder);

static silt_status fill_struct(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    struct sl_small_cursor levels = *node->cursor; /* before its owner goes through them */
    for (int64_t left = r->file.n_rows; left > 0 && r->good;) {
        const int64_t n = count_alike(&levels, left);
        SL_TRY(sl_arrow_append_structs(builder, n, levels.definitions.value >= node->definition, r->err));
        sl_small_cursor_skip(&levels, n);
        r->good = n > 0 && !levels.bad;
        left -= n;
    }
    if (node->spare != NULL) {
        sl_small_cursor_skip(node->spare, r->file.n_rows);
    }
    for (size_t i = 0; i < node->n_children && r->good; i++) {
        SL_TRY(fill(r, &node->children[i], sl_arrow_builder_child(builder, i)));
    }
    return SILT_OK;
}

/* Nesting bounds the recursion. */
static silt_status fill(struct sl_small_reading *r, struct sl_small_want *node, struct sl_arrow_builder *builder)
{
    if (node->absent) {
        return sl_arrow_append_nulls(builder, r->file.n_rows, r->err);
    }
    const bool has_entry_each = node->cursor->repetitions.end == NULL;
    if (has_entry_each && node->n_children == 0) {
        return fill_leaf(r, node, builder);
    }
    if (has_entry_each && node->type->kind == SILT_TYPE_STRUCT) {
        return fill_struct(r, node, builder);
    }
    for (int64_t row = 0; row < r->file.n_rows && r->good; row++) {
        SL_TRY(put(r, node, builder));
    }
    return SILT_OK;
}

silt_status sl_small_put_columns(struct sl_small_reading *r, struct sl_arrow_builder *builder)
{
    size_t next = r->root.n_children;
    for (size_t i = 0; i < r->root.n_children && r->good; i++) {
        SL_TRY(fill(r, &r->root.children[i], sl_arrow_builder_child(builder, i)));
    }
    for (int64_t row = 0; r->request->with_file_index && r->good && row < r->file.n_rows; row++) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next), 0, r->err));
    }
    next += r->request->with_file_index ? 1 : 0;
    for (int64_t row = 0; r->request->with_row_index && r->good && row < r->file.n_rows; row++) {
        SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(builder, next), row, r->err));
    }
    return r->good ? sl_arrow_append_structs(builder, r->file.n_rows, true, r->err) : SILT_OK;
}
