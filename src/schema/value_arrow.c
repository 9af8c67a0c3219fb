/*
 * One cell of an Arrow array as a scalar, whatever form the array has (large, view, dictionary, run-end, other units).
 *
 * Called by readers of checkpoints and by writers that split data by partition. Values borrow from the array. The arrays come
 * from other libraries: what their lengths tell is checked, what their offsets say must be right, as for every consumer of
 * the C Data interface. Pure; any thread.
 */
#include <math.h>
#include <string.h>

#include "base/arrow.h"
#include "base/time.h"
#include "schema/arrow_format.h"
#include "schema/value.h"

#define MAX_INDIRECTION 8
#define VIEW_SIZE 16
#define VIEW_INLINE 12

/* Reads element i of a buffer of fixed-size elements into out. */
static bool load(const struct ArrowArray *array, int64_t buffer, int64_t i, void *out, size_t size)
{
    if (array->n_buffers <= buffer || array->buffers == NULL || array->buffers[buffer] == NULL) {
        return false;
    }
    memcpy(out, (const char *)array->buffers[buffer] + (size_t)i * size, size);
    return true;
}

static bool load_integer(const struct ArrowArray *array, enum sl_arrow_layout layout, int64_t i, int64_t *out)
{
    uint8_t u8 = 0;
    int16_t i16 = 0;
    uint16_t u16 = 0;
    int32_t i32 = 0;
    uint32_t u32 = 0;
    bool ok = false;
    switch (layout) {
    case SL_ARROW_INT8:
        ok = load(array, 1, i, &u8, sizeof u8);
        *out = u8 < 128 ? u8 : (int64_t)u8 - 256; /* two's complement */
        break;
    case SL_ARROW_UINT8:
        ok = load(array, 1, i, &u8, sizeof u8);
        *out = u8;
        break;
    case SL_ARROW_INT16:
        ok = load(array, 1, i, &i16, sizeof i16);
        *out = i16;
        break;
    case SL_ARROW_UINT16:
        ok = load(array, 1, i, &u16, sizeof u16);
        *out = u16;
        break;
    case SL_ARROW_INT32:
    case SL_ARROW_DATE32:
        ok = load(array, 1, i, &i32, sizeof i32);
        *out = i32;
        break;
    case SL_ARROW_UINT32:
        ok = load(array, 1, i, &u32, sizeof u32);
        *out = u32;
        break;
    default: ok = load(array, 1, i, out, sizeof *out);
    }
    return ok;
}

static double half_to_double(uint16_t half)
{
    const int exponent = (half >> 10) & 0x1f;
    const int mantissa = half & 0x3ff;
    double v;
    if (exponent == 0x1f) {
        v = mantissa != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        v = ldexp(mantissa, -24);
    } else {
        v = ldexp(mantissa + 0x400, exponent - 25);
    }
    return (half & 0x8000) != 0 ? -v : v;
}

static bool get_float(const struct ArrowArray *array, enum sl_arrow_layout layout, int64_t i, silt_value *out)
{
    uint16_t half = 0;
    float single = 0;
    double v = 0;
    bool ok;
    if (layout == SL_ARROW_FLOAT16) {
        ok = load(array, 1, i, &half, sizeof half);
        v = half_to_double(half);
    } else if (layout == SL_ARROW_FLOAT32) {
        ok = load(array, 1, i, &single, sizeof single);
        v = (double)single;
    } else {
        ok = load(array, 1, i, &v, sizeof v);
    }
    *out = sl_value_f64(layout == SL_ARROW_FLOAT64 ? SILT_TYPE_DOUBLE : SILT_TYPE_FLOAT, v);
    return ok;
}

static bool get_span(const struct ArrowArray *array, silt_type_kind kind, int64_t begin, int64_t end, silt_value *out)
{
    if (begin < 0 || end < begin) {
        return false;
    }
    if (end == begin) {
        *out = sl_value_bytes(kind, SL_STR(""));
        return true;
    }
    if (array->n_buffers < 3 || array->buffers[2] == NULL) {
        return false;
    }
    *out = sl_value_bytes(kind, sl_str_make((const char *)array->buffers[2] + begin, (size_t)(end - begin)));
    return true;
}

static bool get_bytes(const struct ArrowArray *array, const struct sl_arrow_format *format, int64_t i, silt_value *out)
{
    if (format->layout == SL_ARROW_LARGE_BYTES) {
        int64_t ends[2] = {0, 0};
        return load(array, 1, i, &ends[0], sizeof ends[0]) && load(array, 1, i + 1, &ends[1], sizeof ends[1]) &&
               get_span(array, format->kind, ends[0], ends[1], out);
    }
    int32_t ends[2] = {0, 0};
    return load(array, 1, i, &ends[0], sizeof ends[0]) && load(array, 1, i + 1, &ends[1], sizeof ends[1]) &&
           get_span(array, format->kind, ends[0], ends[1], out);
}

/* length, then 12 bytes inline, or a prefix, the index of a data buffer and the offset in it. */
static bool get_view(const struct ArrowArray *array, silt_type_kind kind, int64_t i, silt_value *out)
{
    if (array->n_buffers < 3 || array->buffers == NULL || array->buffers[1] == NULL) {
        return false;
    }
    const char *view = (const char *)array->buffers[1] + (size_t)i * VIEW_SIZE;
    int32_t len = 0;
    memcpy(&len, view, sizeof len);
    if (len < 0) {
        return false;
    }
    if (len <= VIEW_INLINE) {
        *out = sl_value_bytes(kind, sl_str_make(view + 4, (size_t)len));
        return true;
    }
    int32_t buffer = 0;
    int32_t offset = 0;
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&offset, view + 12, sizeof offset);
    /* The last buffer holds the sizes of the data buffers. */
    const int64_t n_data = array->n_buffers - 3;
    const int64_t *sizes = array->buffers[array->n_buffers - 1];
    if (buffer < 0 || buffer >= n_data || offset < 0 || sizes == NULL || (int64_t)offset + len > sizes[buffer] ||
        array->buffers[2 + buffer] == NULL) {
        return false;
    }
    *out = sl_value_bytes(kind, sl_str_make((const char *)array->buffers[2 + buffer] + offset, (size_t)len));
    return true;
}

static bool get_fixed(const struct ArrowArray *array, int32_t width, int64_t i, silt_value *out)
{
    if (width == 0) {
        *out = sl_value_bytes(SILT_TYPE_BINARY, SL_STR(""));
        return true;
    }
    if (array->n_buffers < 2 || array->buffers == NULL || array->buffers[1] == NULL) {
        return false;
    }
    const char *base = array->buffers[1];
    *out = sl_value_bytes(SILT_TYPE_BINARY, sl_str_make(base + (size_t)i * (size_t)width, (size_t)width));
    return true;
}

/* Little-endian two's complement of 4, 8, 16 or 32 bytes; what is beyond 128 bits must be sign. */
static bool get_decimal(const struct ArrowArray *array, const struct sl_arrow_format *format, int64_t i,
                        silt_value *out)
{
    uint64_t words[4] = {0, 0, 0, 0};
    int32_t narrow = 0;
    int64_t wide = 0;
    sl_i128 v;
    if (format->width == 4) {
        if (!load(array, 1, i, &narrow, sizeof narrow)) {
            return false;
        }
        v = narrow;
    } else if (format->width == 8) {
        if (!load(array, 1, i, &wide, sizeof wide)) {
            return false;
        }
        v = wide;
    } else {
        if (!load(array, 1, i, words, (size_t)format->width)) {
            return false;
        }
        const uint64_t sign = (words[1] >> 63) != 0 ? UINT64_MAX : 0;
        if (format->width == 32 && (words[2] != sign || words[3] != sign)) {
            return false;
        }
        v = sl_i128_make((int64_t)words[1], words[0]);
    }
    *out = sl_value_decimal(v, format->precision, format->scale);
    return sl_i128_digits(v) <= format->precision;
}

static bool get_time(const struct ArrowArray *array, const struct sl_arrow_format *format, int64_t i, silt_value *out)
{
    int64_t v = 0;
    if (!load_integer(array, format->layout, i, &v)) {
        return false;
    }
    *out = sl_value_i64(format->kind, v);
    if (format->layout == SL_ARROW_DATE64) {
        out->as.i64 = sl_floor_div(v, 86400000);
        return sl_floor_mod(v, 86400000) == 0;
    }
    if (format->layout != SL_ARROW_TIMESTAMP || format->units_per_second == 1000000) {
        return true;
    }
    if (format->units_per_second > 1000000) {
        const int64_t divisor = format->units_per_second / 1000000;
        out->as.i64 = sl_floor_div(v, divisor);
        return sl_floor_mod(v, divisor) == 0; /* what microseconds cannot hold is refused */
    }
    const int64_t factor = 1000000 / format->units_per_second;
    out->as.i64 = v > INT64_MAX / factor || v < INT64_MIN / factor ? 0 : v * factor;
    return v <= INT64_MAX / factor && v >= INT64_MIN / factor;
}

bool sl_arrow_flat_value(const struct sl_arrow_format *format, const struct ArrowArray *array, int64_t i,
                         silt_value *out)
{
    int64_t integer = 0;
    uint64_t unsigned_integer = 0;
    uint8_t bits = 0;
    switch (format->layout) {
    case SL_ARROW_BOOL:
        if (!load(array, 1, i / 8, &bits, sizeof bits)) {
            return false;
        }
        *out = sl_value_bool(((bits >> (i % 8)) & 1) != 0);
        return true;
    case SL_ARROW_INT8:
    case SL_ARROW_UINT8:
    case SL_ARROW_INT16:
    case SL_ARROW_UINT16:
    case SL_ARROW_INT32:
    case SL_ARROW_UINT32:
    case SL_ARROW_INT64:
        if (!load_integer(array, format->layout, i, &integer)) {
            return false;
        }
        *out = sl_value_i64(format->kind, integer);
        return true;
    case SL_ARROW_UINT64:
        if (!load(array, 1, i, &unsigned_integer, sizeof unsigned_integer)) {
            return false;
        }
        *out = sl_value_decimal(unsigned_integer, format->precision, format->scale);
        return true;
    case SL_ARROW_FLOAT16:
    case SL_ARROW_FLOAT32:
    case SL_ARROW_FLOAT64: return get_float(array, format->layout, i, out);
    case SL_ARROW_BYTES:
    case SL_ARROW_LARGE_BYTES: return get_bytes(array, format, i, out);
    case SL_ARROW_VIEW: return get_view(array, format->kind, i, out);
    case SL_ARROW_FIXED_BYTES: return get_fixed(array, format->width, i, out);
    case SL_ARROW_DECIMAL: return get_decimal(array, format, i, out);
    case SL_ARROW_DATE32:
    case SL_ARROW_DATE64:
    case SL_ARROW_TIMESTAMP: return get_time(array, format, i, out);
    default: return false;
    }
}

/* The physical index of a logical row: the first run whose end is beyond it. */
static bool find_run(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row, int64_t *out)
{
    struct sl_arrow_format ends_format;
    if (schema->n_children != 2 || array->n_children != 2 ||
        !sl_arrow_format_parse(schema->children[0]->format, &ends_format)) {
        return false;
    }
    const struct ArrowArray *ends = array->children[0];
    int64_t low = 0;
    int64_t high = ends->length;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        int64_t end = 0;
        if (!load_integer(ends, ends_format.layout, middle + ends->offset, &end)) {
            return false;
        }
        if (end > row + array->offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *out = low;
    return low < ends->length;
}

bool sl_value_from_arrow(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row, silt_value *out)
{
    *out = sl_value_null(SILT_TYPE_VOID);
    for (int step = 0; step < MAX_INDIRECTION; step++) {
        struct sl_arrow_format format;
        if (row < 0 || row >= array->length || !sl_arrow_format_parse(schema->format, &format)) {
            return false;
        }
        if (format.layout == SL_ARROW_RUN_END) {
            if (!find_run(schema, array, row, &row)) {
                return false;
            }
            schema = schema->children[1];
            array = array->children[1];
            continue;
        }
        if (format.layout == SL_ARROW_NULL || sl_arrow_is_null(array, row)) {
            if (schema->dictionary != NULL && !sl_arrow_format_parse(schema->dictionary->format, &format)) {
                return false;
            }
            *out = sl_value_null(format.kind);
            return true;
        }
        if (schema->dictionary == NULL) {
            return sl_arrow_flat_value(&format, array, row + array->offset, out);
        }
        int64_t index = 0;
        if (array->dictionary == NULL || format.layout < SL_ARROW_INT8 || format.layout > SL_ARROW_UINT64 ||
            !load_integer(array, format.layout, row + array->offset, &index)) {
            return false;
        }
        schema = schema->dictionary;
        array = array->dictionary;
        row = index;
    }
    return false;
}

silt_status sl_value_append(struct sl_arrow_builder *builder, const silt_value *value, silt_error *err)
{
    if (value->is_null) {
        return sl_arrow_append_null(builder, err);
    }
    switch (value->kind) {
    case SILT_TYPE_BOOLEAN: return sl_arrow_append_i64(builder, value->as.boolean, err);
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return sl_arrow_append_i64(builder, value->as.i64, err);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return sl_arrow_append_f64(builder, value->as.f64, err);
    case SILT_TYPE_DECIMAL: return sl_arrow_append_decimal(builder, value->as.decimal.hi, value->as.decimal.lo, err);
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: return sl_arrow_append_bytes(builder, sl_value_get_str(value), err);
    case SILT_TYPE_VOID:
    case SILT_TYPE_VARIANT:
    case SILT_TYPE_STRUCT:
    case SILT_TYPE_ARRAY:
    case SILT_TYPE_MAP: break;
    }
    return sl_arrow_append_null(builder, err);
}
