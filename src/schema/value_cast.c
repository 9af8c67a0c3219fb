/*
 * Casting scalars as Spark's ANSI casts do, where the result is exact; everything else is refused, so that whoever decides by
 * the result (pruning, skipping, resolving literals) never decides by a changed value. Casts to FLOAT and DOUBLE round, as in
 * SQL.
 *
 * Called by the expression layer. Pure; any thread.
 */
#include "schema/value.h"

#include <math.h>

#include "base/time.h"

static bool to_integer(silt_type_kind kind, int64_t v, silt_value *out)
{
    if (!sl_int_fits(kind, v)) {
        return false;
    }
    *out = sl_value_i64(kind, v);
    return true;
}

static bool to_decimal(sl_i128 unscaled, int scale, const struct silt_type *to, silt_value *out)
{
    sl_i128 v = 0;
    if (!sl_decimal_rescale(unscaled, scale, to->scale, &v) || sl_i128_digits(v) > to->precision) {
        return false;
    }
    *out = sl_value_decimal(v, to->precision, to->scale);
    return true;
}

static silt_value rounded(silt_type_kind kind, double v)
{
    return sl_value_f64(kind, kind == SILT_TYPE_FLOAT ? (double)(float)v : v);
}

static bool cast_integer(int64_t v, const struct silt_type *to, silt_value *out)
{
    switch (to->kind) {
    case SILT_TYPE_BOOLEAN: *out = sl_value_bool(v != 0); return true;
    case SILT_TYPE_DECIMAL: return to_decimal(v, 0, to, out);
    case SILT_TYPE_FLOAT: *out = sl_value_f64(to->kind, (double)(float)v); return true;
    case SILT_TYPE_DOUBLE: *out = sl_value_f64(to->kind, (double)v); return true;
    default: return sl_kind_is_integer(to->kind) && to_integer(to->kind, v, out);
    }
}

/* The text in between makes the rounding right, which a division of doubles would not. */
static bool decimal_to_float(struct sl_arena *arena, const silt_value *from, silt_type_kind kind, silt_value *out)
{
    struct sl_buf text;
    double v = 0;
    sl_buf_init(&text, arena->env);
    sl_decimal_format(&text, sl_value_get_i128(from), from->scale);
    const bool ok = text.status == SILT_OK && sl_float_parse_java(sl_buf_view(&text), kind == SILT_TYPE_FLOAT, &v);
    sl_buf_release(&text);
    *out = sl_value_f64(kind, v);
    return ok;
}

static bool cast_decimal(struct sl_arena *arena, const silt_value *from, const struct silt_type *to, silt_value *out)
{
    const sl_i128 v = sl_value_get_i128(from);
    sl_i128 whole = 0;
    switch (to->kind) {
    case SILT_TYPE_BOOLEAN: *out = sl_value_bool(v != 0); return true;
    case SILT_TYPE_DECIMAL: return to_decimal(v, from->scale, to, out);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return decimal_to_float(arena, from, to->kind, out);
    default:
        return sl_kind_is_integer(to->kind) && sl_decimal_rescale(v, from->scale, 0, &whole) && whole >= INT64_MIN &&
               whole <= INT64_MAX && to_integer(to->kind, (int64_t)whole, out);
    }
}

/* By the shortest text, as Spark does: 0.1 becomes 0.1 and not its binary expansion. */
static bool float_to_decimal(struct sl_arena *arena, const silt_value *from, const struct silt_type *to,
                             silt_value *out)
{
    struct sl_buf text;
    sl_i128 unscaled = 0;
    int scale = 0;
    sl_buf_init(&text, arena->env);
    sl_float_print_java(&text, from->as.f64, from->kind == SILT_TYPE_FLOAT);
    const bool ok = text.status == SILT_OK && sl_decimal_parse(sl_buf_view(&text), &unscaled, &scale) &&
                    to_decimal(unscaled, scale, to, out);
    sl_buf_release(&text);
    return ok;
}

static bool cast_float(struct sl_arena *arena, const silt_value *from, const struct silt_type *to, silt_value *out)
{
    const double v = from->as.f64;
    switch (to->kind) {
    case SILT_TYPE_BOOLEAN: *out = sl_value_bool(isnan(v) || v < 0 || v > 0); return true;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: *out = rounded(to->kind, v); return true;
    case SILT_TYPE_DECIMAL: return isfinite(v) && float_to_decimal(arena, from, to, out);
    default:
        /* -2^63 is a double, 2^63 - 1 is not. */
        if (!sl_kind_is_integer(to->kind) || !(v >= -0x1p63 && v < 0x1p63) || trunc(v) < v || trunc(v) > v) {
            return false;
        }
        return to_integer(to->kind, (int64_t)v, out);
    }
}

static bool text_to_bool(struct sl_str text, silt_value *out)
{
    static const char *const words[2][5] = {{"false", "f", "no", "n", "0"}, {"true", "t", "yes", "y", "1"}};
    for (size_t value = 0; value < 2; value++) {
        for (size_t i = 0; i < 5; i++) {
            if (sl_str_eq_nocase(text, sl_str_from(words[value][i]))) {
                *out = sl_value_bool(value == 1);
                return true;
            }
        }
    }
    return false;
}

/* Spark also takes a year, a year and month, and a date followed by a time that does not count. */
static bool text_to_date(struct sl_str text, silt_value *out)
{
    size_t end = 0;
    size_t dashes = 0;
    while (end < text.len && text.ptr[end] != ' ' && text.ptr[end] != 'T') {
        dashes += end > 0 && text.ptr[end] == '-';
        end++;
    }
    char padded[32];
    struct sl_str date = sl_str_sub(text, 0, end);
    if (dashes < 2 && end == text.len && date.len >= 4 && date.len <= 12) {
        const char *rest = dashes == 0 ? "-01-01" : "-01";
        memcpy(padded, date.ptr, date.len);
        memcpy(padded + date.len, rest, strlen(rest));
        date = sl_str_make(padded, date.len + strlen(rest));
    }
    int32_t days = 0;
    if (!sl_date_parse(date, &days)) {
        return false;
    }
    *out = sl_value_i64(SILT_TYPE_DATE, days);
    return true;
}

static bool text_to_timestamp(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    int64_t us = 0;
    bool has_zone = false;
    if (!sl_timestamp_parse(text, &us, &has_zone) || (has_zone && kind == SILT_TYPE_TIMESTAMP_NTZ)) {
        return false;
    }
    *out = sl_value_i64(kind, us);
    return true;
}

static bool cast_text(const silt_value *from, const struct silt_type *to, silt_value *out)
{
    const struct sl_str raw = sl_value_get_str(from);
    const struct sl_str text = sl_str_trim(raw);
    int64_t integer = 0;
    double f = 0;
    sl_i128 unscaled = 0;
    int scale = 0;
    switch (to->kind) {
    case SILT_TYPE_BOOLEAN: return text_to_bool(text, out);
    case SILT_TYPE_BINARY: *out = sl_value_bytes(SILT_TYPE_BINARY, raw); return true;
    case SILT_TYPE_DATE: return text_to_date(text, out);
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return text_to_timestamp(text, to->kind, out);
    case SILT_TYPE_DECIMAL: return sl_decimal_parse(text, &unscaled, &scale) && to_decimal(unscaled, scale, to, out);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
        if (!sl_float_parse_java(text, to->kind == SILT_TYPE_FLOAT, &f)) {
            return false;
        }
        *out = sl_value_f64(to->kind, f);
        return true;
    default: return sl_kind_is_integer(to->kind) && sl_str_to_i64(text, &integer) && to_integer(to->kind, integer, out);
    }
}

/* Date, timestamp and timestamp without zone, all in UTC. */
static bool cast_time(const silt_value *from, silt_type_kind to, silt_value *out)
{
    int64_t us = from->as.i64;
    if (to != SILT_TYPE_DATE && to != SILT_TYPE_TIMESTAMP && to != SILT_TYPE_TIMESTAMP_NTZ) {
        return false;
    }
    if (from->kind == SILT_TYPE_DATE) {
        if (us > INT64_MAX / SL_US_PER_DAY || us < INT64_MIN / SL_US_PER_DAY) {
            return false;
        }
        us *= SL_US_PER_DAY;
    }
    if (to != SILT_TYPE_DATE) {
        *out = sl_value_i64(to, us);
        return true;
    }
    *out = sl_value_i64(to, sl_floor_div(us, SL_US_PER_DAY));
    return sl_floor_mod(us, SL_US_PER_DAY) == 0;
}

static bool to_text(struct sl_arena *arena, const silt_value *from, silt_value *out)
{
    struct sl_buf text;
    sl_buf_init(&text, arena->env);
    sl_value_print(&text, from);
    const struct sl_str copy = text.status == SILT_OK ? sl_arena_copy(arena, sl_str_from(sl_buf_cstr(&text)))
                                                      : (struct sl_str){NULL, 0};
    sl_buf_release(&text);
    *out = sl_value_bytes(SILT_TYPE_STRING, copy);
    return copy.ptr != NULL;
}

bool sl_value_cast(struct sl_arena *arena, const silt_value *from, const struct silt_type *to, silt_value *out)
{
    *out = sl_value_null(to->kind);
    out->precision = to->precision;
    out->scale = to->scale;
    if (sl_type_is_nested(to)) {
        return false;
    }
    if (from->is_null) {
        return true;
    }
    if (from->kind == to->kind && to->kind != SILT_TYPE_DECIMAL) {
        return sl_value_copy(arena, from, out);
    }
    if (to->kind == SILT_TYPE_STRING && from->kind != SILT_TYPE_BINARY) {
        return to_text(arena, from, out);
    }
    switch (from->kind) {
    case SILT_TYPE_BOOLEAN: return cast_integer(from->as.boolean ? 1 : 0, to, out);
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return cast_integer(from->as.i64, to, out);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return cast_float(arena, from, to, out);
    case SILT_TYPE_DECIMAL: return cast_decimal(arena, from, to, out);
    case SILT_TYPE_STRING: return cast_text(from, to, out);
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return cast_time(from, to->kind, out);
    default: return false;
    }
}
