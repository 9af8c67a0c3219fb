/*
 * Leaf columns of small Parquet files; see small_column.h.
 */
#include "engine/small_column.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thrift_write.h"
#include "schema/value.h"

#define ENCODING_PLAIN 0
#define ENCODING_RLE 3
#define PAGE_OF_DATA 0
/* Converted types. */
#define CONVERTED_UTF8 0
#define CONVERTED_MAP 1
#define CONVERTED_LIST 3
#define CONVERTED_DECIMAL 5
#define CONVERTED_DATE 6
#define CONVERTED_TIMESTAMP_MICROS 10
#define CONVERTED_INT_8 15
#define CONVERTED_INT_16 16
#define CONVERTED_INT_32 17
#define CONVERTED_INT_64 18

/* Digits that 32 and 64 bits hold. */
#define DIGITS_INT32 9
#define DIGITS_INT64 18
/* Bounds of longer texts are left out of footers, where readers look for short ones. */
#define LONGEST_BOUND 256

bool sl_small_type_is_known(const struct silt_type *type)
{
    return !sl_type_is_nested(type) && type->kind != SILT_TYPE_VARIANT && type->kind != SILT_TYPE_VOID &&
           type->json.ptr == NULL;
}

enum sl_physical sl_small_physical(const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN: return SL_PHYSICAL_BOOLEAN;
    case SILT_TYPE_LONG:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return SL_PHYSICAL_INT64;
    case SILT_TYPE_FLOAT: return SL_PHYSICAL_FLOAT;
    case SILT_TYPE_DOUBLE: return SL_PHYSICAL_DOUBLE;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: return SL_PHYSICAL_BYTE_ARRAY;
    case SILT_TYPE_DECIMAL:
        return type->precision <= DIGITS_INT32   ? SL_PHYSICAL_INT32
               : type->precision <= DIGITS_INT64 ? SL_PHYSICAL_INT64
                                                 : SL_PHYSICAL_FIXED;
    default: return SL_PHYSICAL_INT32; /* byte, short, integer, date */
    }
}

int32_t sl_small_converted(const struct silt_type *type)
{
    switch (type->kind) {
    case SILT_TYPE_STRING: return CONVERTED_UTF8;
    case SILT_TYPE_DECIMAL: return CONVERTED_DECIMAL;
    case SILT_TYPE_DATE: return CONVERTED_DATE;
    case SILT_TYPE_TIMESTAMP: return CONVERTED_TIMESTAMP_MICROS; /* has no word for local times */
    case SILT_TYPE_BYTE: return CONVERTED_INT_8;
    case SILT_TYPE_SHORT: return CONVERTED_INT_16;
    case SILT_TYPE_INTEGER: return CONVERTED_INT_32;
    case SILT_TYPE_LONG: return CONVERTED_INT_64;
    case SILT_TYPE_ARRAY: return CONVERTED_LIST;
    case SILT_TYPE_MAP: return CONVERTED_MAP;
    default: return SL_CONVERTED_NONE;
    }
}

/* ---- levels ---- */

static void end_run(struct sl_small_levels *levels)
{
    if (levels->n > 0) {
        sl_varint_put(&levels->runs, levels->n << 1);
        sl_buf_put_char(&levels->runs, (char)levels->value);
    }
    levels->n = 0;
}

static void add_levels(struct sl_small_levels *levels, uint8_t value, uint64_t n)
{
    if (levels->n > 0 && levels->value != value) {
        end_run(levels);
    }
    levels->value = value;
    levels->n += n;
}

/* ---- values ---- */

/* The low bytes of a number, the lowest first. */
static void put_bytes(struct sl_buf *out, uint64_t value, size_t n)
{
    unsigned char bytes[sizeof(value)];
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i) & 0xFFU);
    }
    sl_buf_put(out, bytes, n);
}

static void put_float(struct sl_buf *out, double value)
{
    const float narrow = (float)value;
    uint32_t bits = 0;
    memcpy(&bits, &narrow, sizeof(bits));
    put_bytes(out, bits, sizeof(bits));
}

static void put_double(struct sl_buf *out, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    put_bytes(out, bits, sizeof(bits));
}

static void put_wide(struct sl_buf *out, const silt_value *value)
{
    const uint64_t words[2] = {(uint64_t)value->as.decimal.hi, value->as.decimal.lo};
    for (size_t i = 0; i < SL_PHYSICAL_FIXED_BYTES; i++) {
        sl_buf_put_char(out, (char)(unsigned char)(words[i / 8] >> (56 - 8 * (i % 8)) & 0xFFU));
    }
}

/* Without the length of a text, and not for truth values. */
static void put_plain(struct sl_buf *out, const struct silt_type *type, const silt_value *value)
{
    const uint64_t integer = type->kind == SILT_TYPE_DECIMAL ? value->as.decimal.lo : (uint64_t)value->as.i64;
    switch (sl_small_physical(type)) {
    case SL_PHYSICAL_BOOLEAN: sl_buf_put_char(out, value->as.boolean ? 1 : 0); return;
    case SL_PHYSICAL_INT32: put_bytes(out, integer, sizeof(uint32_t)); return;
    case SL_PHYSICAL_INT64: put_bytes(out, integer, sizeof(uint64_t)); return;
    case SL_PHYSICAL_FLOAT: put_float(out, value->as.f64); return;
    case SL_PHYSICAL_DOUBLE: put_double(out, value->as.f64); return;
    case SL_PHYSICAL_BYTE_ARRAY: sl_buf_put(out, value->as.bytes.ptr, value->as.bytes.len); return;
    case SL_PHYSICAL_FIXED: put_wide(out, value); return;
    }
}

static void put_value(struct sl_small_column *column, const silt_value *value)
{
    struct sl_buf *out = &column->values;
    if (column->type->kind == SILT_TYPE_BOOLEAN) {
        if (column->n_values % 8 == 0) {
            sl_buf_put_char(out, 0);
        }
        if (value->as.boolean && out->status == SILT_OK) {
            out->data[out->len - 1] = (char)((unsigned char)out->data[out->len - 1] | 1U << (column->n_values % 8));
        }
        return;
    }
    if (sl_small_physical(column->type) == SL_PHYSICAL_BYTE_ARRAY) {
        put_bytes(out, value->as.bytes.len, sizeof(uint32_t));
    }
    put_plain(out, column->type, value);
}

/* DuckDB's infinite dates and times, which it refuses to store. */
static bool is_infinite(const silt_value *value)
{
    switch (value->kind) {
    case SILT_TYPE_DATE: return value->as.i64 == INT32_MAX || value->as.i64 == -INT32_MAX;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return value->as.i64 == INT64_MAX || value->as.i64 == -INT64_MAX;
    default: return false;
    }
}

static void widen_bounds(struct sl_small_column *column, const silt_value *value)
{
    const bool is_float = value->kind == SILT_TYPE_FLOAT || value->kind == SILT_TYPE_DOUBLE;
    int order = 0;
    if (column->is_unordered || column->type->kind == SILT_TYPE_BINARY || (is_float && isnan(value->as.f64))) {
        column->is_unordered = true;
        column->has_bounds = false;
        return;
    }
    if (!column->has_bounds || (sl_value_compare(value, &column->min, &order) && order < 0)) {
        column->min = *value;
    }
    if (!column->has_bounds || (sl_value_compare(value, &column->max, &order) && order > 0)) {
        column->max = *value;
    }
    column->has_bounds = true;
    /* Bounds under any order of zeros. */
    if (is_float && fpclassify(column->min.as.f64) == FP_ZERO) {
        column->min.as.f64 = -0.0;
    }
    if (is_float && fpclassify(column->max.as.f64) == FP_ZERO) {
        column->max.as.f64 = 0.0;
    }
}

/* ---- the column ---- */

void sl_small_column_init(struct sl_small_column *column, const silt_env *env, const struct silt_type *type)
{
    *column = (struct sl_small_column){.type = type};
    sl_buf_init(&column->definitions.runs, env);
    sl_buf_init(&column->repetitions.runs, env);
    sl_buf_init(&column->values, env);
}

void sl_small_column_release(struct sl_small_column *column)
{
    sl_buf_release(&column->definitions.runs);
    sl_buf_release(&column->repetitions.runs);
    sl_buf_release(&column->values);
}

bool sl_small_column_add(struct sl_small_column *column, uint8_t repetition, uint8_t definition,
                         const silt_value *value)
{
    if (value != NULL && is_infinite(value)) {
        return false;
    }
    add_levels(&column->repetitions, repetition, 1);
    add_levels(&column->definitions, definition, 1);
    column->n_entries++;
    if (value != NULL) {
        put_value(column, value);
        if (column->max_repetition == 0) { /* nobody asks for bounds of items */
            widen_bounds(column, value);
        }
        column->n_values++;
    }
    return true;
}

void sl_small_column_add_nothing(struct sl_small_column *column, uint64_t n, uint8_t repetition, uint8_t definition)
{
    add_levels(&column->repetitions, repetition, n);
    add_levels(&column->definitions, definition, n);
    column->n_entries += (int64_t)n;
}

/* ---- many values at once ---- */

static void widen_by_numbers(struct sl_small_column *column, const int64_t *numbers, size_t n)
{
    int64_t least = numbers[0];
    int64_t most = numbers[0];
    for (size_t i = 1; i < n; i++) {
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    const silt_value bounds[2] = {sl_value_i64(column->type->kind, least), sl_value_i64(column->type->kind, most)};
    widen_bounds(column, &bounds[0]);
    widen_bounds(column, &bounds[1]);
}

/* As they lie in memory, which is as a page has them on machines that put the low byte first. */
static bool add_numbers(struct sl_small_column *column, const struct ArrowArray *array, size_t begin, size_t n)
{
    const uint16_t one = 1;
    unsigned char first = 0;
    memcpy(&first, &one, 1);
    if (first != 1) {
        return false;
    }
    const int64_t *numbers = (const int64_t *)array->buffers[1] + begin;
    sl_buf_put(&column->values, numbers, n * sizeof(*numbers));
    widen_by_numbers(column, numbers, n);
    return true;
}

/* Of n texts, the first at an index of the buffers. */
static bool are_in_order(const struct ArrowArray *array, size_t begin, size_t n)
{
    const int32_t *ends = (const int32_t *)array->buffers[1] + begin;
    bool good = ends[0] >= 0 && (ends[n] == ends[0] || (array->n_buffers > 2 && array->buffers[2] != NULL));
    for (size_t i = 0; i < n && good; i++) {
        good = ends[i + 1] >= ends[i];
    }
    return good;
}

/* Each with its length before it; they are in order. */
static void put_texts(struct sl_buf *out, const struct ArrowArray *array, size_t begin, size_t n)
{
    const int32_t *ends = (const int32_t *)array->buffers[1] + begin;
    const char *bytes = array->n_buffers > 2 ? array->buffers[2] : NULL;
    size_t size = 0;
    char *to = sl_mul_size(n, sizeof(uint32_t), &size) && sl_add_size(size, (size_t)(ends[n] - ends[0]), &size)
                   ? sl_buf_reserve(out, size)
                   : sl_buf_reserve(out, SIZE_MAX);
    if (to == NULL) {
        return; /* shows in the buffer's status */
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t len = (uint32_t)(ends[i + 1] - ends[i]);
        for (unsigned k = 0; k < sizeof(len); k++) {
            *to++ = (char)(unsigned char)(len >> (8 * k) & 0xFFU);
        }
        if (len > 0) {
            memcpy(to, bytes + ends[i], len);
            to += len;
        }
    }
    out->len += size;
}

static bool add_texts(struct sl_small_column *column, const struct ArrowArray *array, size_t begin, size_t n)
{
    const int32_t *ends = (const int32_t *)array->buffers[1] + begin;
    const char *bytes = array->n_buffers > 2 && array->buffers[2] != NULL ? array->buffers[2] : "";
    if (!are_in_order(array, begin, n)) {
        return false;
    }
    put_texts(&column->values, array, begin, n);
    struct sl_str least = sl_str_make(bytes + ends[0], (size_t)(ends[1] - ends[0]));
    struct sl_str most = least;
    for (size_t i = 1; i < n; i++) {
        const struct sl_str text = sl_str_make(bytes + ends[i], (size_t)(ends[i + 1] - ends[i]));
        if (sl_str_compare(text, least) < 0) {
            least = text;
        } else if (sl_str_compare(text, most) > 0) {
            most = text;
        }
    }
    const silt_value bounds[2] = {sl_value_bytes(SILT_TYPE_STRING, least), sl_value_bytes(SILT_TYPE_STRING, most)};
    widen_bounds(column, &bounds[0]);
    widen_bounds(column, &bounds[1]);
    return true;
}

static bool add_truths(struct sl_small_column *column, const struct ArrowArray *array, size_t begin, size_t n)
{
    const unsigned char *bits = array->buffers[1];
    struct sl_buf *out = &column->values;
    bool seen[2] = {false, false};
    for (size_t i = 0; i < n; i++) {
        const unsigned place = (unsigned)((size_t)column->n_values + i) % 8;
        const bool value = (bits[(begin + i) / 8] >> ((begin + i) % 8) & 1) != 0;
        if (place == 0) {
            sl_buf_put_char(out, 0);
        }
        if (value && out->status == SILT_OK) {
            out->data[out->len - 1] = (char)((unsigned char)out->data[out->len - 1] | 1U << place);
        }
        seen[value] = true;
    }
    for (int value = 0; value < 2; value++) {
        const silt_value bound = sl_value_bool(value != 0);
        if (seen[value]) {
            widen_bounds(column, &bound);
        }
    }
    return true;
}

bool sl_small_column_add_all(struct sl_small_column *column, const struct sl_arrow_format *format,
                             const struct ArrowArray *array, int64_t begin, int64_t n)
{
    const silt_type_kind kind = column->type->kind;
    bool done = false;
    if (n <= 0 || begin < 0 || array->n_buffers < 2 || array->buffers[1] == NULL || column->max_repetition > 0) {
        return n == 0;
    }
    if (kind == SILT_TYPE_LONG && format->layout == SL_ARROW_INT64) {
        done = add_numbers(column, array, (size_t)begin, (size_t)n);
    } else if (kind == SILT_TYPE_STRING && format->layout == SL_ARROW_BYTES) {
        done = add_texts(column, array, (size_t)begin, (size_t)n);
    } else if (kind == SILT_TYPE_BOOLEAN && format->layout == SL_ARROW_BOOL) {
        done = add_truths(column, array, (size_t)begin, (size_t)n);
    }
    if (done) {
        sl_small_column_add_nothing(column, (uint64_t)n, 0, column->max_definition);
        column->n_values += n;
    }
    return done;
}

bool sl_small_column_takes_items(const struct sl_small_column *column, const struct sl_arrow_format *format,
                                 const struct ArrowArray *array, int64_t begin, int64_t n)
{
    return column->type->kind == SILT_TYPE_STRING && format->layout == SL_ARROW_BYTES && n > 0 && begin >= 0 &&
           array->n_buffers > 2 && array->buffers[1] != NULL && are_in_order(array, (size_t)begin, (size_t)n);
}

void sl_small_column_add_items(struct sl_small_column *column, const struct ArrowArray *array, int64_t shift,
                               const int32_t *ends, int64_t n_rows)
{
    const int64_t n = (int64_t)ends[n_rows] - ends[0];
    for (int64_t i = 0; i < n_rows; i++) {
        add_levels(&column->repetitions, 0, 1);
        if (ends[i + 1] - ends[i] > 1) {
            add_levels(&column->repetitions, column->max_repetition, (uint64_t)(ends[i + 1] - ends[i] - 1));
        }
    }
    add_levels(&column->definitions, column->max_definition, (uint64_t)n);
    put_texts(&column->values, array, (size_t)(shift + ends[0]), (size_t)n);
    column->n_entries += n;
    column->n_values += n;
}

void sl_small_column_restart(struct sl_small_column *column)
{
    sl_buf_clear(&column->definitions.runs);
    sl_buf_clear(&column->repetitions.runs);
    sl_buf_clear(&column->values);
    column->definitions.n = 0;
    column->repetitions.n = 0;
    column->n_entries = 0;
    column->n_values = 0;
    column->has_bounds = false;
    column->is_unordered = false;
}

static void put_levels(struct sl_small_levels *levels, uint8_t max, struct sl_buf *out)
{
    if (max == 0) {
        return;
    }
    end_run(levels);
    put_bytes(out, levels->runs.len, sizeof(uint32_t));
    sl_buf_put_str(out, sl_buf_view(&levels->runs));
}

static void put_header(const struct sl_small_column *column, size_t raw_size, size_t size, struct sl_buf *out)
{
    struct sl_thrift_out header;
    sl_thrift_out_init(&header, out);
    sl_thrift_put_i32(&header, 1, PAGE_OF_DATA);
    sl_thrift_put_i32(&header, 2, (int32_t)raw_size);
    sl_thrift_put_i32(&header, 3, (int32_t)size);
    sl_thrift_begin(&header, 5);
    sl_thrift_put_i32(&header, 1, (int32_t)column->n_entries);
    sl_thrift_put_i32(&header, 2, ENCODING_PLAIN);
    sl_thrift_put_i32(&header, 3, ENCODING_RLE);
    sl_thrift_put_i32(&header, 4, ENCODING_RLE);
    sl_thrift_end(&header);
    sl_thrift_end(&header);
}

static void note_failure(struct sl_buf *out, silt_status status)
{
    out->status = out->status == SILT_OK ? status : out->status;
}

void sl_small_column_put_page(struct sl_small_column *column, const struct sl_small_codec *codec, size_t *raw_size,
                              struct sl_buf *out)
{
    struct sl_buf page;
    struct sl_buf packed;
    sl_buf_init(&page, out->env);
    sl_buf_init(&packed, out->env);
    put_levels(&column->repetitions, column->max_repetition, &page);
    put_levels(&column->definitions, column->max_definition, &page);
    sl_buf_put_str(&page, sl_buf_view(&column->values));
    const struct sl_buf *const parts[] = {&column->repetitions.runs, &column->definitions.runs, &column->values, &page};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        note_failure(out, parts[i]->status);
    }
    if (out->status == SILT_OK && codec != NULL && !codec->compress(codec->ctx, sl_buf_view(&page), &packed)) {
        note_failure(out, packed.status != SILT_OK ? packed.status : SILT_EENGINE);
    }
    const struct sl_str bytes = sl_buf_view(codec != NULL ? &packed : &page);
    if (page.len > INT32_MAX || bytes.len > INT32_MAX || column->n_entries > INT32_MAX) {
        note_failure(out, SILT_ELIMIT);
    }
    const size_t begin = out->len;
    put_header(column, page.len, bytes.len, out);
    *raw_size = out->len - begin + page.len;
    sl_buf_put_str(out, bytes);
    sl_buf_release(&packed);
    sl_buf_release(&page);
}

/* Bounds of floats are not written: which of them tell of a NaN is not the same with all writers, so that readers do not trust them. */
bool sl_small_column_put_bound(const struct sl_small_column *column, bool is_min, struct sl_buf *out)
{
    const silt_value *bound = is_min ? &column->min : &column->max;
    const bool is_text = column->type->kind == SILT_TYPE_STRING;
    if (!column->has_bounds || column->type->kind == SILT_TYPE_FLOAT || column->type->kind == SILT_TYPE_DOUBLE ||
        (is_text && bound->as.bytes.len > LONGEST_BOUND)) {
        return false;
    }
    put_plain(out, column->type, bound);
    return true;
}

size_t sl_small_column_size(const struct sl_small_column *column)
{
    return column->values.len + column->definitions.runs.len + column->repetitions.runs.len;
}
