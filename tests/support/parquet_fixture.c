/* Writes Parquet files byte by byte; see parquet_fixture.h. The footer is Thrift's compact protocol. */
#include "parquet_fixture.h"

#include "lz4_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "silt/env.h"

/* Types of the compact protocol. */
enum {
    T_TRUE = 1,
    T_FALSE = 2,
    T_BYTE = 3,
    T_I32 = 5,
    T_I64 = 6,
    T_BINARY = 8,
    T_LIST = 9,
    T_STRUCT = 12
};

#define MAX_DEPTH 16
#define MAX_LEAVES 64

struct thrift {
    struct sl_buf out;
    int16_t last[MAX_DEPTH]; /* field written last, by depth of structs */
    size_t depth;
};

static void put_varint(struct sl_buf *out, uint64_t value)
{
    while (value >= 0x80) {
        sl_buf_put_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    sl_buf_put_char(out, (char)value);
}

static void put_zigzag(struct sl_buf *out, int64_t value)
{
    put_varint(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static void put_field(struct thrift *t, int16_t id, int type)
{
    const int delta = id - t->last[t->depth];
    if (delta > 0 && delta < 16) {
        sl_buf_put_char(&t->out, (char)(delta << 4 | type));
    } else {
        sl_buf_put_char(&t->out, (char)type);
        put_zigzag(&t->out, id);
    }
    t->last[t->depth] = id;
}

static void put_i32(struct thrift *t, int16_t id, int64_t value)
{
    put_field(t, id, T_I32);
    put_zigzag(&t->out, value);
}

static void put_i64(struct thrift *t, int16_t id, int64_t value)
{
    put_field(t, id, T_I64);
    put_zigzag(&t->out, value);
}

static void put_text(struct thrift *t, int16_t id, const char *text)
{
    put_field(t, id, T_BINARY);
    put_varint(&t->out, strlen(text));
    sl_buf_put_c(&t->out, text);
}

/* A struct that is an element of a list has no field of its own: id 0. */
static void begin_struct(struct thrift *t, int16_t id)
{
    if (id > 0) {
        put_field(t, id, T_STRUCT);
    }
    t->last[++t->depth] = 0;
}

static void end_struct(struct thrift *t)
{
    sl_buf_put_char(&t->out, 0);
    t->depth--;
}

static void begin_list(struct thrift *t, int16_t id, int type, size_t n)
{
    put_field(t, id, T_LIST);
    if (n < 15) {
        sl_buf_put_char(&t->out, (char)(n << 4 | (size_t)type));
    } else {
        sl_buf_put_char(&t->out, (char)(0xF0 | type));
        put_varint(&t->out, n);
    }
}

/* ---- the schema ---- */

static void put_timestamp(struct thrift *t, bool utc, int16_t unit)
{
    begin_struct(t, 8);
    put_field(t, 1, utc ? T_TRUE : T_FALSE);
    begin_struct(t, 2);
    begin_struct(t, unit);
    end_struct(t);
    end_struct(t);
    end_struct(t);
}

static void put_logical(struct thrift *t, enum pq_logical logical)
{
    begin_struct(t, 10);
    switch (logical) {
    case PQ_MILLIS_UTC: put_timestamp(t, true, 1); break;
    case PQ_MILLIS_LOCAL: put_timestamp(t, false, 1); break;
    case PQ_MICROS_UTC: put_timestamp(t, true, 2); break;
    case PQ_MICROS_LOCAL: put_timestamp(t, false, 2); break;
    case PQ_NANOS_UTC: put_timestamp(t, true, 3); break;
    case PQ_NANOS_LOCAL: put_timestamp(t, false, 3); break;
    case PQ_VARIANT:
        begin_struct(t, 16);
        put_field(t, 1, T_BYTE);
        sl_buf_put_char(&t->out, 1);
        end_struct(t);
        break;
    default: begin_struct(t, logical == PQ_UNKNOWN ? 11 : logical == PQ_UUID ? 14 : 15); end_struct(t);
    }
    end_struct(t);
}

static size_t count_nodes(const struct pq_column *columns, size_t n)
{
    size_t count = n;
    for (size_t i = 0; i < n; i++) {
        count += count_nodes(columns[i].children, columns[i].n_children);
    }
    return count;
}

static void put_nodes(struct thrift *t, const struct pq_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pq_column *column = &columns[i];
        begin_struct(t, 0);
        if (column->type != PQ_GROUP) {
            put_i32(t, 1, column->type);
        }
        if (column->length > 0) {
            put_i32(t, 2, column->length);
        }
        put_i32(t, 3, column->repetition);
        put_text(t, 4, column->name);
        if (column->type == PQ_GROUP) {
            put_i32(t, 5, (int64_t)column->n_children);
        }
        if (column->converted != PQ_NO_CONVERTED) {
            put_i32(t, 6, column->converted - 1);
        }
        if (column->precision > 0) {
            put_i32(t, 7, column->scale);
            put_i32(t, 8, column->precision);
        }
        if (column->field_id > 0) {
            put_i32(t, 9, column->field_id);
        }
        if (column->logical != PQ_NO_LOGICAL) {
            put_logical(t, column->logical);
        }
        end_struct(t);
        put_nodes(t, column->children, column->n_children);
    }
}

/* ---- the data ---- */

struct leaf {
    const struct pq_column *column;
    const char *path[MAX_DEPTH];
    size_t n_path;
    unsigned max_repetition;
    unsigned max_definition;
    int64_t offset;
    int64_t size;
};

struct leaves {
    struct leaf leaf[MAX_LEAVES];
    size_t n;
};

static void collect(struct leaves *leaves, const struct leaf *above, const struct pq_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct leaf leaf = *above;
        assert_true(leaf.n_path < MAX_DEPTH && leaves->n < MAX_LEAVES);
        leaf.column = &columns[i];
        leaf.path[leaf.n_path++] = columns[i].name;
        leaf.max_definition += columns[i].repetition != PQ_REQUIRED;
        leaf.max_repetition += columns[i].repetition == PQ_REPEATED;
        if (columns[i].type == PQ_GROUP) {
            collect(leaves, &leaf, columns[i].children, columns[i].n_children);
        } else {
            leaves->leaf[leaves->n++] = leaf;
        }
    }
}

static void put_number(struct sl_buf *out, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        sl_buf_put_char(out, (char)(value >> (8 * i) & 0xFF));
    }
}

/* Runs of one level each. */
static void put_levels(struct sl_buf *out, const struct leaf *leaf, size_t n, bool repetition)
{
    const unsigned max = repetition ? leaf->max_repetition : leaf->max_definition;
    if (max == 0) {
        return;
    }
    put_number(out, (uint32_t)(2 * n));
    for (size_t i = 0; i < n; i++) {
        const struct pq_level *levels = leaf->column->levels;
        const unsigned level = levels == NULL ? (repetition ? 0 : max)
                               : repetition   ? levels[i].repetition
                                              : levels[i].definition;
        sl_buf_put_char(out, 2);
        sl_buf_put_char(out, (char)level);
    }
}

static size_t width_of(const struct pq_column *column)
{
    static const size_t widths[] = {1, 4, 8, 12, 4, 8, 0, 0};
    return column->type == PQ_FIXED ? (size_t)column->length : widths[column->type];
}

static void put_values(struct sl_buf *out, const struct pq_column *column)
{
    if (column->type == PQ_BYTES) {
        for (size_t i = 0; i < column->n_values; i++) {
            put_number(out, (uint32_t)column->texts[i].len);
            sl_buf_put_str(out, column->texts[i]);
        }
    } else if (column->type == PQ_BOOLEAN) {
        const uint8_t *values = column->values;
        for (size_t i = 0; i < column->n_values; i += 8) {
            unsigned bits = 0;
            for (size_t j = i; j < column->n_values && j < i + 8; j++) {
                bits |= (unsigned)values[j] << (j - i);
            }
            sl_buf_put_char(out, (char)bits);
        }
    } else {
        sl_buf_put(out, column->values, column->n_values * width_of(column));
    }
}

static void compress(struct sl_buf *body, const struct pq_column *column)
{
    struct sl_buf out;
    if (column->frame == PQ_NOT_COMPRESSED) {
        return;
    }
    sl_buf_init(&out, body->env);
    if (column->frame == PQ_LZ4) {
        lz4_put_block(&out, sl_buf_view(body));
    } else {
        lz4_put_frames(&out, sl_buf_view(body), column->block, column->chunk);
    }
    sl_buf_release(body);
    *body = out;
}

static void put_page(struct sl_buf *file, struct leaf *leaf)
{
    struct thrift header = {.depth = 0};
    struct sl_buf body;
    const size_t n = leaf->column->levels != NULL ? leaf->column->n_levels : leaf->column->n_values;
    sl_buf_init(&header.out, silt_env_default());
    sl_buf_init(&body, silt_env_default());
    put_levels(&body, leaf, n, true);
    put_levels(&body, leaf, n, false);
    put_values(&body, leaf->column);
    put_i32(&header, 1, 0);
    put_i32(&header, 2, (int64_t)body.len);
    compress(&body, leaf->column);
    put_i32(&header, 3, (int64_t)body.len);
    begin_struct(&header, 5);
    put_i32(&header, 1, (int64_t)n);
    put_i32(&header, 2, leaf->column->encoding);
    put_i32(&header, 3, 3);
    put_i32(&header, 4, 3);
    end_struct(&header);
    sl_buf_put_char(&header.out, 0);
    leaf->offset = (int64_t)file->len;
    leaf->size = (int64_t)(header.out.len + body.len);
    sl_buf_put_str(file, sl_buf_view(&header.out));
    sl_buf_put_str(file, sl_buf_view(&body));
    sl_buf_release(&body);
    sl_buf_release(&header.out);
}

/* ---- the footer ---- */

static void put_bytes(struct thrift *t, int16_t id, struct sl_str bytes)
{
    put_field(t, id, T_BINARY);
    put_varint(&t->out, bytes.len);
    sl_buf_put_str(&t->out, bytes);
}

static void put_bounds(struct thrift *t, const struct pq_column *column)
{
    begin_struct(t, 12);
    put_bytes(t, column->old_bounds ? 1 : 5, column->max);
    put_bytes(t, column->old_bounds ? 2 : 6, column->min);
    end_struct(t);
}

static void put_chunk(struct thrift *t, const struct leaf *leaf)
{
    const size_t n = leaf->column->levels != NULL ? leaf->column->n_levels : leaf->column->n_values;
    begin_struct(t, 0);
    put_i64(t, 2, leaf->offset);
    begin_struct(t, 3);
    put_i32(t, 1, leaf->column->type);
    begin_list(t, 2, T_I32, 2);
    put_zigzag(&t->out, 0);
    put_zigzag(&t->out, 3);
    begin_list(t, 3, T_BINARY, leaf->n_path);
    for (size_t i = 0; i < leaf->n_path; i++) {
        put_varint(&t->out, strlen(leaf->path[i]));
        sl_buf_put_c(&t->out, leaf->path[i]);
    }
    put_i32(t, 4, leaf->column->codec);
    put_i64(t, 5, (int64_t)n);
    put_i64(t, 6, leaf->size);
    put_i64(t, 7, leaf->size);
    put_i64(t, 9, leaf->offset);
    if (leaf->column->min.ptr != NULL) {
        put_bounds(t, leaf->column);
    }
    end_struct(t);
    end_struct(t);
}

static void put_key_values(struct thrift *t, const char *const *key_values)
{
    size_t n = 0;
    while (key_values[2 * n] != NULL) {
        n++;
    }
    begin_list(t, 5, T_STRUCT, n);
    for (size_t i = 0; i < n; i++) {
        begin_struct(t, 0);
        put_text(t, 1, key_values[2 * i]);
        put_text(t, 2, key_values[2 * i + 1]);
        end_struct(t);
    }
}

static void put_footer(struct thrift *t, const struct pq_column *columns, size_t n_columns, int64_t n_rows,
                       const struct leaves *leaves)
{
    put_i32(t, 1, 1);
    begin_list(t, 2, T_STRUCT, 1 + count_nodes(columns, n_columns));
    begin_struct(t, 0);
    put_text(t, 4, "schema");
    put_i32(t, 5, (int64_t)n_columns);
    end_struct(t);
    put_nodes(t, columns, n_columns);
    put_i64(t, 3, n_rows);
    begin_list(t, 4, T_STRUCT, 1);
    begin_struct(t, 0);
    begin_list(t, 1, T_STRUCT, leaves->n);
    int64_t size = 0;
    for (size_t i = 0; i < leaves->n; i++) {
        put_chunk(t, &leaves->leaf[i]);
        size += leaves->leaf[i].size;
    }
    put_i64(t, 2, size);
    put_i64(t, 3, n_rows);
    end_struct(t);
}

void pq_write(const char *path, const struct pq_column *columns, size_t n_columns, int64_t n_rows,
              const char *const *key_values)
{
    struct sl_buf file;
    struct thrift footer = {.depth = 0};
    struct leaves leaves = {.n = 0};
    const struct leaf top = {.column = NULL};
    sl_buf_init(&file, silt_env_default());
    sl_buf_init(&footer.out, silt_env_default());
    sl_buf_put_c(&file, "PAR1");
    collect(&leaves, &top, columns, n_columns);
    for (size_t i = 0; i < leaves.n; i++) {
        put_page(&file, &leaves.leaf[i]);
    }
    put_footer(&footer, columns, n_columns, n_rows, &leaves);
    if (key_values != NULL) {
        put_key_values(&footer, key_values);
    }
    put_text(&footer, 6, "a test");
    sl_buf_put_char(&footer.out, 0);
    sl_buf_put_str(&file, sl_buf_view(&footer.out));
    put_number(&file, (uint32_t)footer.out.len);
    sl_buf_put_c(&file, "PAR1");
    assert_int_equal(file.status, SILT_OK);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.data, 1, file.len, out), file.len);
    assert_int_equal(fclose(out), 0);
    sl_buf_release(&footer.out);
    sl_buf_release(&file);
}
