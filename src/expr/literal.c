/*
 * Literals of Spark SQL: which type a number has, and what the typed strings mean.
 *
 * Called by the expression parser. Pure; any thread.
 */
#include "expr/literal.h"

#include <math.h>

#include "schema/value.h"

/* Splits the suffix off: the longest run of letters at the end that is no exponent. */
static struct sl_str split_suffix(struct sl_str text, struct sl_str *digits)
{
    static const char *const suffixes[] = {"BD", "L", "S", "Y", "D", "F"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const struct sl_str suffix = sl_str_from(suffixes[i]);
        if (text.len > suffix.len && sl_str_eq_nocase(sl_str_sub(text, text.len - suffix.len, text.len), suffix)) {
            *digits = sl_str_sub(text, 0, text.len - suffix.len);
            return suffix;
        }
    }
    *digits = text;
    return SL_STR("");
}

static bool has_any(struct sl_str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++) {
        if (strchr(characters, text.ptr[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool make_decimal(struct sl_str digits, bool negative, silt_value *out)
{
    sl_i128 v = 0;
    int scale = 0;
    if (!sl_decimal_parse(digits, &v, &scale) || scale > SL_DECIMAL_MAX_PRECISION) {
        return false;
    }
    const unsigned n = sl_i128_digits(v);
    const unsigned precision = n > (unsigned)scale ? n : (unsigned)scale;
    *out = sl_value_decimal(negative ? -v : v, (uint8_t)precision, (uint8_t)scale);
    return precision <= SL_DECIMAL_MAX_PRECISION;
}

static bool make_float(struct sl_str digits, bool negative, bool is_float, silt_value *out)
{
    double v = 0;
    if (!sl_float_parse_java(digits, is_float, &v) || !isfinite(v)) {
        return false;
    }
    *out = sl_value_f64(is_float ? SILT_TYPE_FLOAT : SILT_TYPE_DOUBLE, negative ? -v : v);
    return true;
}

/* Through a decimal, because the least long is not the negative of any long. */
static bool make_integer(struct sl_str digits, bool negative, silt_type_kind kind, silt_value *out)
{
    silt_value wide;
    if (has_any(digits, ".eE") || !make_decimal(digits, negative, &wide)) {
        return false;
    }
    const sl_i128 v = sl_value_get_i128(&wide);
    if (v < INT64_MIN || v > INT64_MAX || !sl_int_fits(kind, (int64_t)v)) {
        return false;
    }
    *out = sl_value_i64(kind, (int64_t)v);
    return true;
}

bool sl_literal_number(struct sl_str text, bool negative, silt_value *out)
{
    struct sl_str digits;
    const struct sl_str suffix = split_suffix(text, &digits);
    if (sl_str_eq_c(suffix, "BD")) {
        return make_decimal(digits, negative, out);
    }
    if (suffix.len == 0) {
        if (has_any(digits, "eE")) {
            return make_float(digits, negative, false, out);
        }
        /* Spark: the narrowest of int, long and decimal. */
        return make_integer(digits, negative, SILT_TYPE_INTEGER, out) ||
               make_integer(digits, negative, SILT_TYPE_LONG, out) || make_decimal(digits, negative, out);
    }
    switch (suffix.ptr[0]) {
    case 'L': return make_integer(digits, negative, SILT_TYPE_LONG, out);
    case 'S': return make_integer(digits, negative, SILT_TYPE_SHORT, out);
    case 'Y': return make_integer(digits, negative, SILT_TYPE_BYTE, out);
    case 'F': return make_float(digits, negative, true, out);
    default: return make_float(digits, negative, false, out);
    }
}

bool sl_literal_hex(struct sl_arena *arena, struct sl_str digits, silt_value *out)
{
    char *bytes = sl_arena_alloc(arena, digits.len / 2 + 2);
    if (bytes == NULL) {
        return false;
    }
    size_t len = 0;
    /* An odd number of digits has a zero before it. */
    int high = digits.len % 2 == 1 ? 0 : -1;
    for (size_t i = 0; i < digits.len; i++) {
        const int digit = sl_hex_digit(digits.ptr[i]);
        if (digit < 0) {
            return false;
        }
        if (high < 0) {
            high = digit;
        } else {
            bytes[len++] = (char)(unsigned char)(high * 16 + digit);
            high = -1;
        }
    }
    *out = sl_value_bytes(SILT_TYPE_BINARY, sl_str_make(bytes, len));
    return true;
}

bool sl_literal_typed(struct sl_arena *arena, struct sl_str word, struct sl_str text, bool *known, silt_value *out)
{
    static const struct {
        const char *word;
        silt_type_kind kind;
    } words[] = {{"date", SILT_TYPE_DATE},
                 {"timestamp", SILT_TYPE_TIMESTAMP},
                 {"timestamp_ltz", SILT_TYPE_TIMESTAMP},
                 {"timestamp_ntz", SILT_TYPE_TIMESTAMP_NTZ}};
    *known = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sl_str_eq_nocase(word, sl_str_from(words[i].word))) {
            const silt_value from = sl_value_bytes(SILT_TYPE_STRING, text);
            const struct silt_type type = {.kind = words[i].kind};
            *known = true;
            return sl_value_cast(arena, &from, &type, out);
        }
    }
    return false;
}
