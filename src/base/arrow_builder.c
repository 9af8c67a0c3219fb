/*
 * Building Arrow arrays row by row: for log rows, partition columns, results of statements, tests. A builder is a tree in
 * the shape of its schema; values go to the leaves, and append_nested ends a row of a struct, list or map. A validity bitmap
 * is made only when the first null comes. After a failure a builder is good only for being freed. One owner.
 */
#include "base/arrow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/decimal.h"
#include "base/error.h"

#define MAX_DEPTH 256
#define MAX_BUFFERS 3

enum kind {
    KIND_NULL,
    KIND_BOOL,
    KIND_INT, /* integers, dates, timestamps */
    KIND_FLOAT,
    KIND_DOUBLE,
    KIND_BYTES,
    KIND_DECIMAL,
    KIND_STRUCT,
    KIND_LIST /* and maps: lists of entries */
};

struct sl_arrow_builder {
    const silt_env *env;
    char *name; /* for messages */
    enum kind kind;
    size_t width;      /* bytes of an integer */
    sl_i128 too_large; /* first decimal beyond the precision */
    int64_t length;
    int64_t null_count;
    struct sl_buf validity; /* in use once null_count > 0 */
    struct sl_buf values;   /* fixed-size values, bits or offsets */
    struct sl_buf bytes;
    struct sl_arrow_builder *children;
    size_t n_children;
};

struct flat_format {
    const char *format;
    enum kind kind;
    size_t width;
};

static const struct flat_format flat_formats[] = {
    {"n", KIND_NULL, 0},  {"b", KIND_BOOL, 0},    {"c", KIND_INT, 1},    {"s", KIND_INT, 2},   {"i", KIND_INT, 4},
    {"l", KIND_INT, 8},   {"f", KIND_FLOAT, 0},   {"g", KIND_DOUBLE, 0}, {"u", KIND_BYTES, 0}, {"z", KIND_BYTES, 0},
    {"tdD", KIND_INT, 4}, {"+s", KIND_STRUCT, 0}, {"+l", KIND_LIST, 0},  {"+m", KIND_LIST, 0},
};

/* Reads "d:precision,scale" with an optional ",128". */
static bool parse_decimal_format(struct sl_str format, uint64_t *precision)
{
    uint64_t scale = 0;
    if (!sl_str_starts_with(format, SL_STR("d:"))) {
        return false;
    }
    struct sl_str rest = sl_str_sub(format, 2, format.len);
    if (sl_str_ends_with(rest, SL_STR(",128"))) {
        rest.len -= 4;
    }
    const size_t comma = sl_str_find(rest, SL_STR(","));
    return comma != SIZE_MAX && sl_str_to_u64(sl_str_sub(rest, 0, comma), precision) &&
           sl_str_to_u64(sl_str_sub(rest, comma + 1, rest.len), &scale) && *precision >= 1 &&
           *precision <= SL_DECIMAL_MAX_PRECISION && scale <= *precision;
}

static bool set_kind(struct sl_arrow_builder *builder, const char *format)
{
    const struct sl_str text = sl_str_from(format);
    uint64_t precision = 0;
    for (size_t i = 0; i < sizeof(flat_formats) / sizeof(flat_formats[0]); i++) {
        if (sl_str_eq_c(text, flat_formats[i].format)) {
            builder->kind = flat_formats[i].kind;
            builder->width = flat_formats[i].width;
            return true;
        }
    }
    if (sl_str_starts_with(text, SL_STR("tsu:"))) {
        builder->kind = KIND_INT;
        builder->width = 8;
        return true;
    }
    if (parse_decimal_format(text, &precision)) {
        builder->kind = KIND_DECIMAL;
        builder->too_large = sl_i128_pow10((unsigned)precision);
        return true;
    }
    return false;
}

static void release_builder(struct sl_arrow_builder *builder)
{
    for (size_t i = 0; i < builder->n_children; i++) {
        release_builder(&builder->children[i]);
    }
    sl_release(builder->env, builder->children, builder->n_children * sizeof(*builder->children));
    if (builder->env != NULL) {
        sl_buf_release(&builder->validity);
        sl_buf_release(&builder->values);
        sl_buf_release(&builder->bytes);
        sl_strfree(builder->env, builder->name);
    }
}

/* Fills a zeroed builder. What is made stays in it on failure, for the caller to release. */
static silt_status init_builder(struct sl_arrow_builder *builder, const silt_env *env, const struct ArrowSchema *schema,
                                int depth, silt_error *err)
{
    builder->env = env;
    sl_buf_init(&builder->validity, env);
    sl_buf_init(&builder->values, env);
    sl_buf_init(&builder->bytes, env);
    if (schema == NULL || schema->format == NULL || schema->n_children < 0 ||
        (schema->n_children > 0 && schema->children == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow schema is released or malformed");
    }
    if (depth > MAX_DEPTH || schema->n_children > INT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "an Arrow schema is deeper than %d levels or too wide", MAX_DEPTH);
    }
    const char *name = schema->name != NULL ? schema->name : "";
    builder->name = sl_strdup_len(env, name, strlen(name));
    if (builder->name == NULL) {
        return sl_fail_nomem(err);
    }
    if (!set_kind(builder, schema->format)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "cannot build a column of Arrow format '%s' for '%s'",
                       schema->format, name);
    }
    const bool is_nested = builder->kind == KIND_STRUCT || builder->kind == KIND_LIST;
    if ((builder->kind == KIND_LIST && schema->n_children != 1) || (!is_nested && schema->n_children != 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "Arrow field '%s' of format '%s' has %lld children", name,
                       schema->format, (long long)schema->n_children);
    }
    if (schema->n_children == 0) {
        return SILT_OK;
    }
    const size_t n = (size_t)schema->n_children;
    builder->children = sl_alloc_zero(env, n * sizeof(*builder->children));
    if (builder->children == NULL) {
        return sl_fail_nomem(err);
    }
    builder->n_children = n;
    for (size_t i = 0; i < n; i++) {
        SL_TRY(init_builder(&builder->children[i], env, schema->children[i], depth + 1, err));
    }
    return SILT_OK;
}

silt_status sl_arrow_builder_new(const silt_env *env, const struct ArrowSchema *schema, struct sl_arrow_builder **out,
                                 silt_error *err)
{
    *out = NULL;
    struct sl_arrow_builder *builder = sl_alloc_zero(env, sizeof(*builder));
    if (builder == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_status status = init_builder(builder, env, schema, 0, err);
    if (status != SILT_OK) {
        sl_arrow_builder_free(builder);
        return status;
    }
    *out = builder;
    return SILT_OK;
}

void sl_arrow_builder_free(struct sl_arrow_builder *builder)
{
    if (builder != NULL) {
        const silt_env *env = builder->env;
        release_builder(builder);
        sl_release(env, builder, sizeof(*builder));
    }
}

struct sl_arrow_builder *sl_arrow_builder_child(struct sl_arrow_builder *builder, size_t index)
{
    return index < builder->n_children ? &builder->children[index] : NULL;
}

int64_t sl_arrow_builder_length(const struct sl_arrow_builder *builder)
{
    return builder->length;
}

/* ---- appending ---- */

static silt_status fail_kind(const struct sl_arrow_builder *builder, const char *what, silt_error *err)
{
    return sl_fail(err, SILT_EINVALID, NULL, "column '%s' cannot take %s", builder->name, what);
}

/* Adds bit number `length` to a bitmap. */
static void put_bit(struct sl_buf *bits, int64_t length, bool value)
{
    if (length % 8 == 0) {
        sl_buf_put_char(bits, '\0');
    }
    if (value && bits->status == SILT_OK) {
        const unsigned byte = (unsigned char)bits->data[length / 8];
        bits->data[length / 8] = (char)(byte | 1u << (length % 8));
    }
}

/* Ends a row whose value was put: the last step, so that lengths never run ahead of buffers. */
static silt_status end_row(struct sl_arrow_builder *builder, bool is_valid, silt_error *err)
{
    SL_TRY(sl_buf_status(&builder->values, err));
    SL_TRY(sl_buf_status(&builder->bytes, err));
    if (!is_valid && builder->null_count == 0 && builder->kind != KIND_NULL) {
        for (int64_t i = 0; i < builder->length; i++) {
            put_bit(&builder->validity, i, true);
        }
    }
    if (builder->kind != KIND_NULL && (!is_valid || builder->null_count > 0)) {
        put_bit(&builder->validity, builder->length, is_valid);
        SL_TRY(sl_buf_status(&builder->validity, err));
    }
    builder->null_count += is_valid ? 0 : 1;
    builder->length++;
    return SILT_OK;
}

/* Adds n bits from number `length` on. */
static void put_bits(struct sl_buf *bits, int64_t length, int64_t n, bool value)
{
    while (n > 0 && length % 8 != 0) {
        put_bit(bits, length++, value);
        n--;
    }
    char *room = sl_buf_reserve(bits, (size_t)(n / 8));
    if (room != NULL) {
        memset(room, value ? 0xFF : 0, (size_t)(n / 8));
        bits->len += (size_t)(n / 8);
    }
    for (length += n / 8 * 8, n %= 8; n > 0; n--) {
        put_bit(bits, length++, value);
    }
}

/* The same for several rows that are alike. */
static silt_status end_rows(struct sl_arrow_builder *builder, int64_t n, bool is_valid, silt_error *err)
{
    SL_TRY(sl_buf_status(&builder->values, err));
    SL_TRY(sl_buf_status(&builder->bytes, err));
    if (!is_valid && builder->null_count == 0 && builder->kind != KIND_NULL) {
        put_bits(&builder->validity, 0, builder->length, true);
    }
    if (builder->kind != KIND_NULL && (!is_valid || builder->null_count > 0)) {
        put_bits(&builder->validity, builder->length, n, is_valid);
        SL_TRY(sl_buf_status(&builder->validity, err));
    }
    builder->null_count += is_valid ? 0 : n;
    builder->length += n;
    return SILT_OK;
}

static void put_i32(struct sl_buf *buf, int32_t value)
{
    sl_buf_put(buf, &value, sizeof(value));
}

/* Offsets start with a zero, put before the first row. */
static void start_offsets(struct sl_arrow_builder *builder)
{
    if (builder->values.len == 0) {
        put_i32(&builder->values, 0);
    }
}

static silt_status put_offset(struct sl_arrow_builder *builder, int64_t offset, silt_error *err)
{
    if (offset > INT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "column '%s' exceeds what one batch can hold (2^31 - 1 bytes or items)",
                       builder->name);
    }
    start_offsets(builder);
    put_i32(&builder->values, (int32_t)offset);
    return SILT_OK;
}

/* Where the items of a list's last row end. */
static int64_t last_offset(const struct sl_arrow_builder *builder)
{
    int32_t offset = 0;
    if (builder->values.len >= sizeof(offset)) {
        memcpy(&offset, builder->values.data + builder->values.len - sizeof(offset), sizeof(offset));
    }
    return offset;
}

static silt_status append_null_nested(struct sl_arrow_builder *builder, silt_error *err)
{
    if (builder->kind == KIND_LIST) {
        if (builder->children[0].length != last_offset(builder)) {
            return sl_fail(err, SILT_EINVALID, NULL, "column '%s' got items for a row that is null", builder->name);
        }
        return put_offset(builder, builder->children[0].length, err);
    }
    for (size_t i = 0; i < builder->n_children; i++) {
        if (builder->children[i].length != builder->length) {
            return sl_fail(err, SILT_EINVALID, NULL, "column '%s' got fields for a row that is null", builder->name);
        }
        SL_TRY(sl_arrow_append_null(&builder->children[i], err));
    }
    return SILT_OK;
}

silt_status sl_arrow_append_null(struct sl_arrow_builder *builder, silt_error *err)
{
    static const char zeros[sizeof(sl_i128)] = {0};
    switch (builder->kind) {
    case KIND_NULL: break;
    case KIND_BOOL: put_bit(&builder->values, builder->length, false); break;
    case KIND_INT: sl_buf_put(&builder->values, zeros, builder->width); break;
    case KIND_FLOAT: sl_buf_put(&builder->values, zeros, sizeof(float)); break;
    case KIND_DOUBLE: sl_buf_put(&builder->values, zeros, sizeof(double)); break;
    case KIND_DECIMAL: sl_buf_put(&builder->values, zeros, sizeof(sl_i128)); break;
    case KIND_BYTES: SL_TRY(put_offset(builder, (int64_t)builder->bytes.len, err)); break;
    case KIND_STRUCT:
    case KIND_LIST: SL_TRY(append_null_nested(builder, err)); break;
    }
    return end_row(builder, false, err);
}

silt_status sl_arrow_append_i64(struct sl_arrow_builder *builder, int64_t value, silt_error *err)
{
    if (builder->kind == KIND_BOOL) {
        put_bit(&builder->values, builder->length, value != 0);
        return end_row(builder, true, err);
    }
    if (builder->kind != KIND_INT) {
        return fail_kind(builder, "an integer", err);
    }
    if (builder->width < sizeof(value)) {
        const int64_t limit = INT64_C(1) << (builder->width * 8 - 1);
        if (value < -limit || value >= limit) {
            return sl_fail(err, SILT_ESCHEMA, NULL, "value %lld does not fit into column '%s' of %zu bits",
                           (long long)value, builder->name, builder->width * 8);
        }
    }
    const int8_t narrow8 = (int8_t)value;
    const int16_t narrow16 = (int16_t)value;
    const int32_t narrow32 = (int32_t)value;
    switch (builder->width) {
    case 1: sl_buf_put(&builder->values, &narrow8, 1); break;
    case 2: sl_buf_put(&builder->values, &narrow16, 2); break;
    case 4: sl_buf_put(&builder->values, &narrow32, 4); break;
    default: sl_buf_put(&builder->values, &value, 8); break;
    }
    return end_row(builder, true, err);
}

silt_status sl_arrow_append_f64(struct sl_arrow_builder *builder, double value, silt_error *err)
{
    const float narrow = (float)value;
    if (builder->kind == KIND_DOUBLE) {
        sl_buf_put(&builder->values, &value, sizeof(value));
    } else if (builder->kind == KIND_FLOAT) {
        sl_buf_put(&builder->values, &narrow, sizeof(narrow));
    } else {
        return fail_kind(builder, "a floating-point number", err);
    }
    return end_row(builder, true, err);
}

silt_status sl_arrow_append_bytes(struct sl_arrow_builder *builder, struct sl_str value, silt_error *err)
{
    if (builder->kind != KIND_BYTES) {
        return fail_kind(builder, "a string", err);
    }
    if (value.len > INT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a value of %zu bytes is too large for column '%s'", value.len,
                       builder->name);
    }
    SL_TRY(put_offset(builder, (int64_t)builder->bytes.len + (int64_t)value.len, err));
    sl_buf_put_str(&builder->bytes, value);
    return end_row(builder, true, err);
}

silt_status sl_arrow_append_decimal(struct sl_arrow_builder *builder, int64_t hi, uint64_t lo, silt_error *err)
{
    if (builder->kind != KIND_DECIMAL) {
        return fail_kind(builder, "a decimal", err);
    }
    const sl_i128 value = sl_i128_make(hi, lo);
    if (value >= builder->too_large || value <= -builder->too_large) {
        return sl_fail(err, SILT_ESCHEMA, NULL, "a decimal of %u digits does not fit into column '%s'",
                       sl_i128_digits(value), builder->name);
    }
    sl_buf_put(&builder->values, &value, sizeof(value));
    return end_row(builder, true, err);
}

silt_status sl_arrow_append_nested(struct sl_arrow_builder *builder, silt_error *err)
{
    if (builder->kind == KIND_LIST) {
        SL_TRY(put_offset(builder, builder->children[0].length, err));
        return end_row(builder, true, err);
    }
    if (builder->kind != KIND_STRUCT) {
        return fail_kind(builder, "nested values", err);
    }
    for (size_t i = 0; i < builder->n_children; i++) {
        if (builder->children[i].length != builder->length + 1) {
            return sl_fail(err, SILT_EINVALID, NULL, "field '%s' of '%s' has %lld rows, expected %lld",
                           builder->children[i].name, builder->name, (long long)builder->children[i].length,
                           (long long)builder->length + 1);
        }
    }
    return end_row(builder, true, err);
}

/* ---- several rows at once ---- */

silt_status sl_arrow_append_structs(struct sl_arrow_builder *builder, int64_t n, bool is_valid, silt_error *err)
{
    if (builder->kind != KIND_STRUCT) {
        return fail_kind(builder, "structs", err);
    }
    return n > 0 ? end_rows(builder, n, is_valid, err) : SILT_OK;
}

/* Of fixed-size values. */
static void put_zeros(struct sl_buf *values, int64_t n, size_t width)
{
    size_t bytes = 0;
    char *room = sl_mul_size((size_t)n, width, &bytes) ? sl_buf_reserve(values, bytes) : NULL;
    if (room != NULL) {
        memset(room, 0, bytes);
        values->len += bytes;
    } else if (values->status == SILT_OK) {
        values->status = SILT_ELIMIT;
    }
}

silt_status sl_arrow_append_nulls(struct sl_arrow_builder *builder, int64_t n, silt_error *err)
{
    if (n <= 0) {
        return SILT_OK;
    }
    switch (builder->kind) {
    case KIND_NULL: break;
    case KIND_INT: put_zeros(&builder->values, n, builder->width); break;
    case KIND_FLOAT: put_zeros(&builder->values, n, sizeof(float)); break;
    case KIND_DOUBLE: put_zeros(&builder->values, n, sizeof(double)); break;
    case KIND_DECIMAL: put_zeros(&builder->values, n, sizeof(sl_i128)); break;
    case KIND_BOOL: put_bits(&builder->values, builder->length, n, false); break;
    case KIND_STRUCT:
        for (size_t i = 0; i < builder->n_children; i++) {
            SL_TRY(sl_arrow_append_nulls(&builder->children[i], n, err));
        }
        break;
    case KIND_BYTES:
    case KIND_LIST:
        for (int64_t i = 0; i < n; i++) {
            SL_TRY(sl_arrow_append_null(builder, err));
        }
        return SILT_OK;
    }
    return end_rows(builder, n, false, err);
}

silt_status sl_arrow_append_longs(struct sl_arrow_builder *builder, const void *values, int64_t n, silt_error *err)
{
    if (builder->kind != KIND_INT || builder->width != sizeof(int64_t)) {
        return fail_kind(builder, "integers of 64 bits", err);
    }
    sl_buf_put(&builder->values, values, (size_t)n * sizeof(int64_t));
    return n > 0 ? end_rows(builder, n, true, err) : SILT_OK;
}

/* ---- finishing ---- */

/* What a finished array owns. */
struct array_owner {
    const silt_env *env;
    const void *buffers[MAX_BUFFERS];
    size_t sizes[MAX_BUFFERS];
    struct ArrowArray *children;
    struct ArrowArray **child_pointers;
    size_t n_children;
};

static void release_array(struct ArrowArray *array)
{
    struct array_owner *owner = array->private_data;
    const silt_env *env = owner->env;
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        sl_release(env, (void *)(uintptr_t)owner->buffers[i], owner->sizes[i]);
    }
    for (size_t i = 0; owner->children != NULL && i < owner->n_children; i++) {
        sl_arrow_array_release(&owner->children[i]);
    }
    sl_release(env, owner->children, owner->n_children * sizeof(*owner->children));
    sl_release(env, owner->child_pointers, owner->n_children * sizeof(*owner->child_pointers));
    sl_release(env, owner, sizeof(*owner));
    *array = (struct ArrowArray){0};
}

static void take_buffer(struct array_owner *owner, size_t index, struct sl_buf *buf)
{
    size_t len = 0;
    owner->buffers[index] = sl_buf_take(buf, &len, &owner->sizes[index]);
}

static int64_t count_buffers(enum kind kind)
{
    switch (kind) {
    case KIND_NULL: return 0;
    case KIND_STRUCT: return 1;
    case KIND_BYTES: return 3;
    default: return 2;
    }
}

/* Data buffers are never NULL, though the format would allow it for empty ones: some readers do not. */
static bool ensure_buffers(struct sl_arrow_builder *builder)
{
    if (builder->kind == KIND_BYTES || builder->kind == KIND_LIST) {
        start_offsets(builder);
    }
    const int64_t n_buffers = count_buffers(builder->kind);
    return (n_buffers < 2 || sl_buf_reserve(&builder->values, 0) != NULL) &&
           (n_buffers < 3 || sl_buf_reserve(&builder->bytes, 0) != NULL);
}

static silt_status finish_array(struct sl_arrow_builder *builder, struct ArrowArray *out, silt_error *err)
{
    struct array_owner *owner = sl_alloc_zero(builder->env, sizeof(*owner));
    if (owner == NULL) {
        return sl_fail_nomem(err);
    }
    owner->env = builder->env;
    *out = (struct ArrowArray){
        .length = builder->length,
        .null_count = builder->null_count,
        .n_buffers = count_buffers(builder->kind),
        .buffers = owner->buffers,
        .release = release_array,
        .private_data = owner,
    };
    if (!ensure_buffers(builder)) {
        return sl_fail_nomem(err);
    }
    take_buffer(owner, 0, &builder->validity);
    take_buffer(owner, 1, &builder->values);
    take_buffer(owner, 2, &builder->bytes);
    builder->length = 0;
    builder->null_count = 0;
    if (builder->n_children == 0) {
        return SILT_OK;
    }
    owner->n_children = builder->n_children;
    owner->children = sl_alloc_zero(builder->env, owner->n_children * sizeof(*owner->children));
    owner->child_pointers = sl_alloc_zero(builder->env, owner->n_children * sizeof(*owner->child_pointers));
    if (owner->children == NULL || owner->child_pointers == NULL) {
        return sl_fail_nomem(err);
    }
    out->n_children = (int64_t)owner->n_children;
    out->children = owner->child_pointers;
    for (size_t i = 0; i < owner->n_children; i++) {
        owner->child_pointers[i] = &owner->children[i];
        SL_TRY(finish_array(&builder->children[i], &owner->children[i], err));
    }
    return SILT_OK;
}

/* Items that were appended to a list or struct whose row was never ended would make the arrays disagree. */
static silt_status check_rows_ended(const struct sl_arrow_builder *builder, silt_error *err)
{
    for (size_t i = 0; i < builder->n_children; i++) {
        const int64_t expected = builder->kind == KIND_LIST ? last_offset(builder) : builder->length;
        if (builder->children[i].length != expected) {
            return sl_fail(err, SILT_EINVALID, NULL, "column '%s' has a row that was not ended", builder->name);
        }
        SL_TRY(check_rows_ended(&builder->children[i], err));
    }
    return SILT_OK;
}

silt_status sl_arrow_builder_finish(struct sl_arrow_builder *builder, struct ArrowArray *out, silt_error *err)
{
    *out = (struct ArrowArray){0};
    SL_TRY(check_rows_ended(builder, err));
    const silt_status status = finish_array(builder, out, err);
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}
