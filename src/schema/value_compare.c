/*
 * The order of two scalars, exact across numeric kinds: a decimal and a double are compared as the numbers that they are, not
 * after rounding one of them.
 *
 * Called by statistics merging, skipping and partition pruning. Pure; any thread.
 */
#include "schema/value.h"

#include <math.h>

/* Enough for 128 bits shifted by 180, and for 53 bits times 10^38 shifted by 140; in words of 32 bits, low first. */
#define BIG_WORDS 14
#define MAX_SHIFT 200

__extension__ typedef unsigned __int128 u128;

struct big {
    uint32_t word[BIG_WORDS];
};

enum number_class {
    NO_NUMBER,
    INTEGRAL,
    FLOATING,
    DECIMAL
};

/* A scale beyond the largest makes a value that is no decimal. */
static enum number_class classify(const silt_value *v)
{
    switch (v->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return INTEGRAL;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return FLOATING;
    case SILT_TYPE_DECIMAL: return v->scale <= SL_DECIMAL_MAX_PRECISION ? DECIMAL : NO_NUMBER;
    default: return NO_NUMBER;
    }
}

static int sign_of(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b) != 0 ? (isnan(a) ? 1 : -1) : 0;
    }
    return a < b ? -1 : a > b;
}

static struct big big_from(u128 v)
{
    struct big b = {{0}};
    for (size_t i = 0; i < 4; i++) {
        b.word[i] = (uint32_t)(v >> (32 * i));
    }
    return b;
}

static void big_multiply(struct big *b, uint32_t factor)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < BIG_WORDS; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void big_shift(struct big *b, unsigned bits)
{
    for (; bits >= 31; bits -= 31) {
        big_multiply(b, UINT32_C(1) << 31);
    }
    big_multiply(b, UINT32_C(1) << bits);
}

static int big_compare(const struct big *a, const struct big *b)
{
    for (size_t i = BIG_WORDS; i-- > 0;) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i] ? -1 : 1;
        }
    }
    return 0;
}

/* |unscaled| / 10^scale against mantissa * 2^exponent, both positive. */
static int compare_magnitudes(u128 unscaled, unsigned scale, uint64_t mantissa, int exponent)
{
    if (exponent > MAX_SHIFT) {
        return -1; /* 2^200 is beyond any decimal */
    }
    if (exponent < -MAX_SHIFT) {
        return 1; /* below 2^-147, so smaller than 10^-38 */
    }
    struct big left = big_from(unscaled);
    struct big right = big_from(mantissa);
    for (unsigned i = 0; i < scale; i++) {
        big_multiply(&right, 10);
    }
    if (exponent >= 0) {
        big_shift(&right, (unsigned)exponent);
    } else {
        big_shift(&left, (unsigned)-exponent);
    }
    return big_compare(&left, &right);
}

static int compare_decimal_double(sl_i128 unscaled, unsigned scale, double d)
{
    if (isnan(d) || d > 1e300) {
        return -1;
    }
    if (d < -1e300) {
        return 1;
    }
    const int left_sign = unscaled < 0 ? -1 : unscaled > 0;
    const int right_sign = d < 0 ? -1 : d > 0;
    if (left_sign != right_sign || left_sign == 0) {
        return sign_of(left_sign, right_sign);
    }
    int exponent = 0;
    const double fraction = frexp(fabs(d), &exponent); /* 53 bits after the point */
    const uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
    const u128 magnitude = left_sign < 0 ? -(u128)unscaled : (u128)unscaled;
    return left_sign * compare_magnitudes(magnitude, scale, mantissa, exponent - 53);
}

static sl_i128 unscaled_of(const silt_value *v, int *scale)
{
    if (v->kind == SILT_TYPE_DECIMAL) {
        *scale = v->scale;
        return sl_value_get_i128(v);
    }
    *scale = 0;
    return v->as.i64;
}

static int compare_numbers(const silt_value *a, enum number_class a_class, const silt_value *b,
                           enum number_class b_class)
{
    int a_scale = 0;
    int b_scale = 0;
    if (a_class == FLOATING && b_class == FLOATING) {
        return compare_doubles(a->as.f64, b->as.f64);
    }
    if (a_class == FLOATING) {
        const sl_i128 right = unscaled_of(b, &b_scale);
        return -compare_decimal_double(right, (unsigned)b_scale, a->as.f64);
    }
    const sl_i128 left = unscaled_of(a, &a_scale);
    if (b_class == FLOATING) {
        return compare_decimal_double(left, (unsigned)a_scale, b->as.f64);
    }
    if (a_class == INTEGRAL && b_class == INTEGRAL) {
        return sign_of(a->as.i64, b->as.i64);
    }
    const sl_i128 right = unscaled_of(b, &b_scale); /* before b_scale is read: arguments have no order */
    return sl_decimal_compare(left, a_scale, right, b_scale);
}

bool sl_value_compare(const silt_value *a, const silt_value *b, int *order)
{
    const enum number_class a_class = classify(a);
    const enum number_class b_class = classify(b);
    *order = 0;
    if (a->is_null || b->is_null) {
        return false;
    }
    if (a_class != NO_NUMBER && b_class != NO_NUMBER) {
        const int result = compare_numbers(a, a_class, b, b_class);
        *order = result < 0 ? -1 : result > 0;
        return true;
    }
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case SILT_TYPE_BOOLEAN: *order = (int)a->as.boolean - (int)b->as.boolean; return true;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: *order = sign_of(a->as.i64, b->as.i64); return true;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY: {
        const int result = sl_str_compare(sl_value_get_str(a), sl_value_get_str(b));
        *order = result < 0 ? -1 : result > 0;
        return true;
    }
    default: return false;
    }
}
