/*
 * Columns of one value, for partition columns: their values are in the log, not in the files (PROTOCOL.md "Partition Value
 * Serialization"). Buffers are written directly, since a value is repeated for every row of a batch. Called by the reading side of
 * scans; no state.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/scan/batch.h"
#include "schema/value.h"

enum {
    VALIDITY,
    VALUES,
    TEXT,
    MAX_BUFFERS
};

struct column {
    const silt_env *env;
    void *blocks[MAX_BUFFERS];
    size_t sizes[MAX_BUFFERS];
    const void *buffers[MAX_BUFFERS];
};

static void free_column(struct column *column)
{
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        sl_release(column->env, column->blocks[i], column->sizes[i]);
    }
    sl_release(column->env, column, sizeof(*column));
}

static void release_column(struct ArrowArray *array)
{
    free_column(array->private_data);
    array->release = NULL;
}

/* A zeroed buffer; at least one byte, so that consumers never see a NULL one. */
static void *add_buffer(struct column *column, size_t which, size_t size)
{
    void *block = sl_alloc_zero(column->env, size + 1);
    if (block != NULL) {
        column->blocks[which] = block;
        column->sizes[which] = size + 1;
        column->buffers[which] = block;
    }
    return block;
}

/* Bytes of a value, 0 for types whose values have no fixed number of them. */
static size_t fixed_width(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BYTE: return 1;
    case SILT_TYPE_SHORT: return 2;
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DATE: return 4;
    case SILT_TYPE_LONG:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return 8;
    case SILT_TYPE_DECIMAL: return 16;
    default: return 0;
    }
}

/* The value's bytes as Arrow stores them. */
static void encode(const silt_value *value, unsigned char out[16])
{
    int8_t i8 = (int8_t)value->as.i64;
    int16_t i16 = (int16_t)value->as.i64;
    int32_t i32 = (int32_t)value->as.i64;
    float f32 = (float)value->as.f64;
    switch (value->kind) {
    case SILT_TYPE_BYTE: memcpy(out, &i8, sizeof(i8)); break;
    case SILT_TYPE_SHORT: memcpy(out, &i16, sizeof(i16)); break;
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_DATE: memcpy(out, &i32, sizeof(i32)); break;
    case SILT_TYPE_FLOAT: memcpy(out, &f32, sizeof(f32)); break;
    case SILT_TYPE_DOUBLE: memcpy(out, &value->as.f64, sizeof(double)); break;
    case SILT_TYPE_DECIMAL:
        memcpy(out, &value->as.decimal.lo, sizeof(uint64_t));
        memcpy(out + sizeof(uint64_t), &value->as.decimal.hi, sizeof(int64_t));
        break;
    default: memcpy(out, &value->as.i64, sizeof(int64_t)); break;
    }
}

static silt_status fill_fixed(struct column *column, const silt_value *value, size_t width, size_t length,
                              silt_error *err)
{
    size_t size = 0;
    unsigned char *values = sl_mul_size(width, length, &size) ? add_buffer(column, VALUES, size) : NULL;
    if (values == NULL) {
        return sl_fail_nomem(err);
    }
    unsigned char one[16] = {0};
    if (!value->is_null) {
        encode(value, one);
        for (size_t i = 0; i < length; i++) {
            memcpy(values + i * width, one, width);
        }
    }
    return SILT_OK;
}

static silt_status fill_bits(struct column *column, const silt_value *value, size_t length, silt_error *err)
{
    unsigned char *bits = add_buffer(column, VALUES, length / 8 + 1);
    if (bits == NULL) {
        return sl_fail_nomem(err);
    }
    if (!value->is_null && value->as.boolean) {
        memset(bits, 0xFF, length / 8 + 1);
    }
    return SILT_OK;
}

static silt_status fill_text(struct column *column, const silt_value *value, size_t length, silt_error *err)
{
    struct sl_str text = value->is_null ? (struct sl_str){0} : sl_value_get_str(value);
    size_t total = 0;
    size_t offsets_size = 0;
    if (!sl_mul_size(text.len, length, &total) || total > INT32_MAX ||
        !sl_mul_size(length + 1, sizeof(int32_t), &offsets_size)) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a partition value of %zu bytes is too long for a batch of %zu rows",
                       text.len, length);
    }
    unsigned char *offsets = add_buffer(column, VALUES, offsets_size);
    char *bytes = add_buffer(column, TEXT, total);
    if (offsets == NULL || bytes == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < length && text.len > 0; i++) {
        int32_t end = (int32_t)((i + 1) * text.len);
        memcpy(bytes + i * text.len, text.ptr, text.len);
        memcpy(offsets + (i + 1) * sizeof(end), &end, sizeof(end));
    }
    return SILT_OK;
}

static silt_status fill(struct column *column, const struct silt_type *type, const silt_value *value, size_t length,
                        silt_error *err)
{
    size_t width = fixed_width(type->kind);
    if (value->is_null && add_buffer(column, VALIDITY, length / 8 + 1) == NULL) {
        return sl_fail_nomem(err);
    }
    if (width > 0) {
        return fill_fixed(column, value, width, length, err);
    }
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN: return fill_bits(column, value, length, err);
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: return fill_text(column, value, length, err);
    default:
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_INVALID_PARTITION_COLUMN_TYPE",
                       "a partition column of type kind %d cannot be read", (int)type->kind);
    }
}

silt_status sl_constant_column(const silt_env *env, const struct silt_type *type, const silt_value *value,
                               int64_t length, struct ArrowArray *out, silt_error *err)
{
    memset(out, 0, sizeof(*out));
    bool is_void = type->kind == SILT_TYPE_VOID;
    if (length < 0 || (!value->is_null && value->kind != type->kind)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a column of one value needs a length and a value of its type");
    }
    struct column *column = sl_alloc_zero(env, sizeof(*column));
    if (column == NULL) {
        return sl_fail_nomem(err);
    }
    column->env = env;
    silt_status status = is_void ? SILT_OK : fill(column, type, value, (size_t)length, err);
    if (status != SILT_OK) {
        free_column(column);
        return status;
    }
    bool is_text = type->kind == SILT_TYPE_STRING || type->kind == SILT_TYPE_BINARY;
    out->length = length;
    out->null_count = value->is_null ? length : 0;
    out->n_buffers = is_void ? 0 : is_text ? 3 : 2;
    out->buffers = column->buffers;
    out->private_data = column;
    out->release = release_column;
    return SILT_OK;
}

silt_status sl_long_column(const silt_env *env, int64_t n, int64_t **values, struct ArrowArray *out, silt_error *err)
{
    memset(out, 0, sizeof(*out));
    *values = NULL;
    size_t size = 0;
    struct column *column = sl_alloc_zero(env, sizeof(*column));
    if (column == NULL) {
        return sl_fail_nomem(err);
    }
    column->env = env;
    unsigned char *valid = add_buffer(column, VALIDITY, (size_t)n / 8 + 1);
    *values = sl_mul_size((size_t)n, sizeof(int64_t), &size) ? add_buffer(column, VALUES, size) : NULL;
    if (valid == NULL || *values == NULL) {
        free_column(column);
        return sl_fail_nomem(err);
    }
    memset(valid, 0xFF, (size_t)n / 8 + 1);
    out->length = n;
    out->n_buffers = 2;
    out->buffers = column->buffers;
    out->private_data = column;
    out->release = release_column;
    return SILT_OK;
}

void sl_long_column_set_null(struct ArrowArray *array, int64_t row)
{
    const struct column *column = array->private_data;
    unsigned char *valid = column->blocks[VALIDITY];
    valid[row / 8] = (unsigned char)(valid[row / 8] & ~(1U << (row % 8)));
    array->null_count++;
}
