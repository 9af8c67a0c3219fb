/*
 * Partition values as text (PROTOCOL.md "Partition Value Serialization").
 *
 * Called by readers of add and remove actions and by writers of data. Reading is lenient where the protocol has two forms and
 * strict otherwise: a partition value that is misread would be wrong data, not a lost optimisation. Pure; any thread.
 */
#include <math.h>

#include "base/error.h"
#include "base/time.h"
#include "base/utf8.h"
#include "schema/value.h"

static silt_status fail_parse(silt_error *err, struct sl_str text, const struct silt_type *type)
{
    const struct sl_str shown = sl_str_sub(text, 0, text.len < 100 ? text.len : 100);
    return sl_fail(err, SILT_ECORRUPT, "DELTA_FAILED_CAST_PARTITION_VALUE",
                   "the partition value '%.*s' cannot be read as %s", SL_FMT(shown), sl_type_kind_name(type->kind));
}

/* Every spelling that Spark casts to a boolean, in any case. */
static bool parse_bool(struct sl_str text, silt_value *out)
{
    static const char *const spellings[][2] = {{"false", "true"}, {"f", "t"}, {"no", "yes"}, {"n", "y"}, {"0", "1"}};
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        for (int value = 0; value < 2; value++) {
            if (sl_str_eq_nocase(text, sl_str_from(spellings[i][value]))) {
                *out = sl_value_bool(value == 1);
                return true;
            }
        }
    }
    return false;
}

#define TIME_SIZE 80      /* longer text is no timestamp */
#define FRACTION_DIGITS 6 /* what a timestamp can hold */

/* Spark cuts digits after the microseconds off. The text without them, in buf if there were any. */
static struct sl_str cut_fraction(struct sl_str text, char buf[TIME_SIZE])
{
    size_t dot = 0;
    while (dot < text.len && text.ptr[dot] != '.') {
        dot++;
    }
    size_t end = dot < text.len ? dot + 1 : dot;
    while (end < text.len && sl_is_digit(text.ptr[end])) {
        end++;
    }
    if (end <= dot + 1 + FRACTION_DIGITS || end > dot + 10 || text.len > TIME_SIZE) {
        return text;
    }
    const size_t kept = dot + 1 + FRACTION_DIGITS;
    memcpy(buf, text.ptr, kept);
    memcpy(buf + kept, text.ptr + end, text.len - end);
    return sl_str_make(buf, kept + text.len - end);
}

/*
 * Zone-less text of a timestamp is the wall clock of the system that wrote it, which nothing records: UTC is taken, and the caller may
 * know better. A wall clock never shifts, so that a zone on it is accepted only if it says UTC.
 */
static bool parse_timestamp(struct sl_str given, silt_type_kind kind, silt_value *out, bool *is_local)
{
    int64_t us = 0;
    bool has_zone = false;
    char buf[TIME_SIZE];
    const struct sl_str text = cut_fraction(given, buf);
    if (!sl_timestamp_parse(text, &us, &has_zone)) {
        return false;
    }
    *is_local = !has_zone && kind == SILT_TYPE_TIMESTAMP;
    if (kind == SILT_TYPE_TIMESTAMP_NTZ && has_zone && !sl_str_ends_with(text, SL_STR("Z"))) {
        return false;
    }
    *out = sl_value_i64(kind, us);
    return true;
}

/* \u00XX at pos; the byte, or -1 when there is no such escape. */
static int escaped_byte(struct sl_str text, size_t pos)
{
    if (text.len - pos < 6 || text.ptr[pos] != '\\' || text.ptr[pos + 1] != 'u') {
        return -1;
    }
    int code = 0;
    for (size_t i = 2; i < 6; i++) {
        const int digit = sl_hex_digit(text.ptr[pos + i]);
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    return code <= 0xff ? code : -1;
}

/* False when out of memory. */
static bool parse_binary(struct sl_arena *arena, struct sl_str text, silt_value *out)
{
    char *bytes = sl_arena_alloc(arena, text.len + 1);
    if (bytes == NULL) {
        return false;
    }
    size_t len = 0;
    for (size_t pos = 0; pos < text.len;) {
        const int byte = escaped_byte(text, pos);
        bytes[len++] = byte >= 0 ? (char)(unsigned char)byte : text.ptr[pos];
        pos += byte >= 0 ? 6 : 1;
    }
    bytes[len] = '\0';
    *out = sl_value_bytes(SILT_TYPE_BINARY, sl_str_make(bytes, len));
    return true;
}

static bool parse_integer(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    int64_t v = 0;
    if (!sl_str_to_i64(text, &v) || !sl_int_fits(kind, v)) {
        return false;
    }
    *out = sl_value_i64(kind, v);
    return true;
}

static bool parse_value(struct sl_str given, const struct silt_type *type, silt_value *out, bool *is_local)
{
    const struct sl_str text = sl_str_trim(given); /* as Spark's casts do */
    double f = 0;
    int32_t days = 0;
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN: return parse_bool(text, out);
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return parse_integer(text, type->kind, out);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
        if (!sl_float_parse_java(text, type->kind == SILT_TYPE_FLOAT, &f)) {
            return false;
        }
        *out = sl_value_f64(type->kind, f);
        return true;
    case SILT_TYPE_DECIMAL: return sl_value_decimal_parse(text, type, out);
    case SILT_TYPE_DATE:
        if (!sl_date_parse(text, &days)) {
            return false;
        }
        *out = sl_value_i64(SILT_TYPE_DATE, days);
        return true;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return parse_timestamp(text, type->kind, out, is_local);
    default: return false;
    }
}

silt_status sl_partition_value_parse(struct sl_arena *arena, struct sl_str text, const struct silt_type *type,
                                     silt_value *out, bool *is_local, silt_error *err)
{
    bool local = false;
    if (is_local != NULL) {
        *is_local = false;
    }
    *out = sl_value_null(type->kind);
    out->precision = type->precision;
    out->scale = type->scale;
    if (text.len == 0) {
        return SILT_OK; /* PROTOCOL: an empty string of any type is null */
    }
    silt_value v = sl_value_bytes(SILT_TYPE_STRING, text);
    if (type->kind == SILT_TYPE_STRING || type->kind == SILT_TYPE_BINARY) {
        const bool ok = type->kind == SILT_TYPE_STRING ? sl_value_copy(arena, &v, &v) : parse_binary(arena, text, &v);
        if (!ok) {
            return sl_fail_nomem(err);
        }
    } else if (!parse_value(text, type, &v, &local)) {
        return fail_parse(err, text, type);
    }
    *out = v;
    if (is_local != NULL) {
        *is_local = local;
    }
    return SILT_OK;
}

/* Text that would be read as an escape, or that is no text, is escaped byte by byte; else it stands as it is. */
static void format_binary(struct sl_buf *out, struct sl_str bytes)
{
    bool plain = sl_utf8_valid(bytes);
    for (size_t i = 0; i < bytes.len && plain; i++) {
        plain = escaped_byte(bytes, i) < 0;
    }
    if (plain) {
        sl_buf_put_str(out, bytes);
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        sl_buf_printf(out, "\\u%04X", (unsigned)(unsigned char)bytes.ptr[i]);
    }
}

static void format_ntz(struct sl_buf *out, int64_t us)
{
    sl_timestamp_format(out, us, ' ', sl_floor_mod(us, 1000000) == 0 ? -1 : 6);
}

silt_status sl_partition_value_format(struct sl_buf *out, const silt_value *v, silt_error *err)
{
    if (v->is_null) {
        return sl_fail(err, SILT_EINVALID, NULL, "a null partition value has no text");
    }
    switch (v->kind) {
    case SILT_TYPE_BOOLEAN:
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL:
    case SILT_TYPE_STRING:
    case SILT_TYPE_DATE: sl_value_print(out, v); break;
    case SILT_TYPE_BINARY: format_binary(out, sl_value_get_str(v)); break;
    case SILT_TYPE_TIMESTAMP:
        sl_timestamp_format(out, v->as.i64, 'T', 6);
        sl_buf_put_char(out, 'Z');
        break;
    case SILT_TYPE_TIMESTAMP_NTZ: format_ntz(out, v->as.i64); break;
    default:
        return sl_fail(err, SILT_ESCHEMA, "DELTA_INVALID_PARTITION_COLUMN_TYPE",
                       "a value of type %s cannot be a partition value", sl_type_kind_name(v->kind));
    }
    return sl_buf_status(out, err);
}
