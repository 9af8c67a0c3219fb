/*
 * Reading variants. A value is read header by header; members of objects and arrays are found by their offsets, which need not be in
 * order. A walk counts what it reads against the length of the whole value, since values do not overlap in a sound variant: a few bytes
 * whose members point at each other can then not grow into billions. Pure; any thread.
 */
#include "schema/variant.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "schema/variant_walk.h"

#define VERSION 1

static silt_status fail(silt_error *err, const char *what)
{
    return sl_fail(err, SILT_ECORRUPT, "MALFORMED_VARIANT", "a variant is malformed: %s", what);
}

/* 1 to 8 bytes, little endian. */
static uint64_t load(const unsigned char *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

static int64_t load_signed(const unsigned char *at, size_t size)
{
    const unsigned unused = 64 - (unsigned)size * 8;
    return (int64_t)(load(at, size) << unused) >> unused;
}

silt_status sl_variant_names_open(struct sl_str metadata, struct sl_variant_names *out, silt_error *err)
{
    *out = (struct sl_variant_names){0};
    if (metadata.len < 1) {
        return fail(err, "its metadata is empty");
    }
    const unsigned char *bytes = (const unsigned char *)metadata.ptr;
    if ((bytes[0] & 0x0F) != VERSION) {
        return sl_fail(err, SILT_EUNSUPPORTED, "MALFORMED_VARIANT", "a variant has version %u, which is not known",
                       bytes[0] & 0x0FU);
    }
    const uint8_t size = (uint8_t)((bytes[0] >> 6) + 1);
    if (metadata.len < 1U + size) {
        return fail(err, "its metadata is cut off");
    }
    const uint64_t n = load(bytes + 1, size);
    const uint64_t begin = 1 + size + (n + 1) * size;
    if (begin > metadata.len) {
        return fail(err, "its metadata is cut off");
    }
    const uint64_t text_len = load(bytes + 1 + size + n * size, size);
    if (text_len > metadata.len - begin) {
        return fail(err, "its metadata is cut off");
    }
    out->n = (uint32_t)n;
    out->offset_size = size;
    out->offsets = bytes + 1 + size;
    out->text = sl_str_sub(metadata, (size_t)begin, (size_t)(begin + text_len));
    out->size = (size_t)(begin + text_len);
    return SILT_OK;
}

bool sl_variant_name(const struct sl_variant_names *names, uint32_t id, struct sl_str *out)
{
    if (id >= names->n) {
        return false;
    }
    const unsigned char *at = names->offsets + (size_t)id * names->offset_size;
    const uint64_t begin = load(at, names->offset_size);
    const uint64_t end = load(at + names->offset_size, names->offset_size);
    if (begin > end || end > names->text.len) {
        return false;
    }
    *out = sl_str_sub(names->text, (size_t)begin, (size_t)end);
    return true;
}

/* ---- primitives ---- */

/* By the number of a primitive type: what it is and how many bytes follow the header. */
static const struct {
    uint8_t kind;
    uint8_t size;
} PRIMITIVES[] = {
    {SL_VARIANT_NULL, 0},         {SL_VARIANT_BOOL, 0},
    {SL_VARIANT_BOOL, 0},         {SL_VARIANT_INT, 1},
    {SL_VARIANT_INT, 2},          {SL_VARIANT_INT, 4},
    {SL_VARIANT_INT, 8},          {SL_VARIANT_DOUBLE, 8},
    {SL_VARIANT_DECIMAL, 5},      {SL_VARIANT_DECIMAL, 9},
    {SL_VARIANT_DECIMAL, 17},     {SL_VARIANT_DATE, 4},
    {SL_VARIANT_TIMESTAMP, 8},    {SL_VARIANT_TIMESTAMP_NTZ, 8},
    {SL_VARIANT_FLOAT, 4},        {SL_VARIANT_BINARY, 4},
    {SL_VARIANT_STRING, 4},       {SL_VARIANT_TIME, 8},
    {SL_VARIANT_TIMESTAMP_NS, 8}, {SL_VARIANT_TIMESTAMP_NTZ_NS, 8},
    {SL_VARIANT_UUID, 16},
};
#define N_PRIMITIVES (sizeof(PRIMITIVES) / sizeof(PRIMITIVES[0]))
#define TRUE_TYPE 1

static silt_status read_decimal(const unsigned char *at, size_t size, struct sl_variant_value *out, silt_error *err)
{
    static const unsigned digits[] = {[4] = 9, [8] = 18, [16] = 38};
    out->scale = at[0];
    out->decimal = size < 16 ? load_signed(at + 1, size) : sl_i128_make((int64_t)load(at + 9, 8), load(at + 1, 8));
    /* The smallest number of 128 bits has no absolute value to count the digits of. */
    const bool smallest = size == 16 && load(at + 1, 8) == 0 && load(at + 9, 8) == UINT64_C(1) << 63;
    if (out->scale > SL_DECIMAL_MAX_PRECISION || smallest || sl_i128_digits(out->decimal) > digits[size]) {
        return fail(err, "a decimal has more digits than its type");
    }
    return SILT_OK;
}

static silt_status read_sized(struct sl_str bytes, struct sl_variant_value *out, silt_error *err)
{
    const uint64_t n = load((const unsigned char *)bytes.ptr + 1, 4);
    if (n > bytes.len - 5) {
        return fail(err, "a text or binary is cut off");
    }
    out->bytes = sl_str_sub(bytes, 5, 5 + (size_t)n);
    out->len = 5 + (size_t)n;
    return SILT_OK;
}

static silt_status read_primitive(struct sl_str bytes, struct sl_variant_value *out, silt_error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr + 1;
    const unsigned type = ((const unsigned char *)bytes.ptr)[0] >> 2;
    if (type >= N_PRIMITIVES) {
        return sl_fail(err, SILT_EUNSUPPORTED, "UNKNOWN_PRIMITIVE_TYPE_IN_VARIANT",
                       "a variant holds a value of the primitive type %u, which is not known", type);
    }
    const size_t size = PRIMITIVES[type].size;
    if (bytes.len - 1 < size) {
        return fail(err, "a value is cut off");
    }
    out->kind = (enum sl_variant_kind)PRIMITIVES[type].kind;
    out->len = 1 + size;
    uint32_t bits = 0;
    switch (out->kind) {
    case SL_VARIANT_NULL: return SILT_OK;
    case SL_VARIANT_BOOL: out->i64 = type == TRUE_TYPE; return SILT_OK;
    case SL_VARIANT_DECIMAL: return read_decimal(at, size - 1, out, err);
    case SL_VARIANT_BINARY:
    case SL_VARIANT_STRING: return read_sized(bytes, out, err);
    case SL_VARIANT_UUID: out->bytes = sl_str_sub(bytes, 1, 17); return SILT_OK;
    case SL_VARIANT_FLOAT: {
        float narrow = 0;
        bits = (uint32_t)load(at, 4);
        memcpy(&narrow, &bits, sizeof(narrow));
        out->f64 = (double)narrow;
        return SILT_OK;
    }
    case SL_VARIANT_DOUBLE: {
        const uint64_t wide = load(at, 8);
        memcpy(&out->f64, &wide, sizeof(out->f64));
        return SILT_OK;
    }
    default: out->i64 = load_signed(at, size); return SILT_OK;
    }
}

/* ---- containers ---- */

/*
 * Header bits of an object: size of offsets, size of ids, 4 bytes for the count; of an array: size of offsets, 4 bytes for the count.
 * Then the count, ids of an object, one offset more than members, and the members.
 */
static silt_status read_container(struct sl_str bytes, struct sl_variant_value *out, silt_error *err)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    const unsigned header = at[0] >> 2;
    const bool is_object = out->kind == SL_VARIANT_OBJECT;
    const size_t count_size = (header >> (is_object ? 4 : 2) & 1) != 0 ? 4 : 1;
    out->offset_size = (uint8_t)((header & 3) + 1);
    out->id_size = is_object ? (uint8_t)((header >> 2 & 3) + 1) : 0;
    if (bytes.len < 1 + count_size) {
        return fail(err, "an object or array is cut off");
    }
    const uint64_t n = load(at + 1, count_size);
    const uint64_t offsets = 1 + count_size + n * out->id_size;
    const uint64_t items = offsets + (n + 1) * out->offset_size;
    if (items > bytes.len) {
        return fail(err, "an object or array is cut off");
    }
    const uint64_t size = load(at + offsets + n * out->offset_size, out->offset_size);
    if (size > bytes.len - items) {
        return fail(err, "an object or array is longer than what holds it");
    }
    out->n = (uint32_t)n;
    out->ids = at + 1 + count_size;
    out->offsets = at + offsets;
    out->items = sl_str_sub(bytes, (size_t)items, (size_t)(items + size));
    out->len = (size_t)(items + size);
    return SILT_OK;
}

bool sl_variant_item(const struct sl_variant_value *value, uint32_t i, struct sl_str *bytes, uint32_t *id)
{
    const uint64_t offset = load(value->offsets + (size_t)i * value->offset_size, value->offset_size);
    if (offset >= value->items.len) {
        return false;
    }
    *id = (uint32_t)load(value->ids + (size_t)i * value->id_size, value->id_size);
    *bytes = sl_str_sub(value->items, (size_t)offset, value->items.len);
    return true;
}

silt_status sl_variant_read(struct sl_str bytes, struct sl_variant_value *out, silt_error *err)
{
    *out = (struct sl_variant_value){0};
    if (bytes.len == 0) {
        return fail(err, "a value is empty");
    }
    const unsigned header = ((const unsigned char *)bytes.ptr)[0];
    switch (header & 3) {
    case 0: return read_primitive(bytes, out, err);
    case 1:
        out->kind = SL_VARIANT_STRING;
        out->len = 1 + (header >> 2);
        if (out->len > bytes.len) {
            return fail(err, "a text is cut off");
        }
        out->bytes = sl_str_sub(bytes, 1, out->len);
        return SILT_OK;
    case 2: out->kind = SL_VARIANT_OBJECT; return read_container(bytes, out, err);
    default: out->kind = SL_VARIANT_ARRAY; return read_container(bytes, out, err);
    }
}

/* ---- walking ---- */

silt_status sl_variant_walk_begin(struct sl_variant_walk *walk, struct sl_str metadata, struct sl_str value,
                                  silt_error *err)
{
    *walk = (struct sl_variant_walk){.budget = value.len};
    return sl_variant_names_open(metadata, &walk->names, err);
}

silt_status sl_variant_walk_read(struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth,
                                 struct sl_variant_value *out, silt_error *err)
{
    if (depth > SL_VARIANT_MAX_DEPTH) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a variant is nested more than %d levels deep", SL_VARIANT_MAX_DEPTH);
    }
    SL_TRY(sl_variant_read(bytes, out, err));
    const size_t own = out->len - out->items.len;
    if (own > walk->budget) {
        return fail(err, "its values overlap");
    }
    walk->budget -= own;
    if (out->kind == SL_VARIANT_STRING && !sl_utf8_valid(out->bytes)) {
        return fail(err, "a text is not UTF-8");
    }
    return SILT_OK;
}

silt_status sl_variant_walk_item(const struct sl_variant_walk *walk, const struct sl_variant_value *value, uint32_t i,
                                 struct sl_str *bytes, struct sl_str *name, silt_error *err)
{
    uint32_t id = 0;
    if (!sl_variant_item(value, i, bytes, &id)) {
        return fail(err, "a member lies outside of what holds it");
    }
    *name = (struct sl_str){NULL, 0};
    if (value->kind == SL_VARIANT_OBJECT) {
        if (!sl_variant_name(&walk->names, id, name)) {
            return fail(err, "a member's name is not in its metadata");
        }
        if (!sl_utf8_valid(*name)) {
            return fail(err, "a name is not UTF-8");
        }
    }
    return SILT_OK;
}

/* Recursion is bounded by SL_VARIANT_MAX_DEPTH. */
static silt_status check_value(struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth, silt_error *err)
{
    struct sl_variant_value value;
    SL_TRY(sl_variant_walk_read(walk, bytes, depth, &value, err));
    walk->below_us = walk->below_us || (value.kind == SL_VARIANT_TIMESTAMP_NS && value.i64 % 1000 != 0);
    for (uint32_t i = 0; i < value.n; i++) {
        struct sl_str item;
        struct sl_str name;
        SL_TRY(sl_variant_walk_item(walk, &value, i, &item, &name, err));
        SL_TRY(check_value(walk, item, depth + 1, err));
    }
    return SILT_OK;
}

silt_status sl_variant_check(struct sl_str metadata, struct sl_str value, bool *below_us, silt_error *err)
{
    struct sl_variant_walk walk;
    SL_TRY(sl_variant_walk_begin(&walk, metadata, value, err));
    const silt_status status = check_value(&walk, value, 1, err);
    if (below_us != NULL) {
        *below_us = walk.below_us;
    }
    return status;
}
