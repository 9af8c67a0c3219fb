/*
 * Exact decimals as 128-bit integers with a scale. Used for values, statistics, partition values and wherever a JSON number
 * must be judged exactly. Nothing goes through floating point. Pure functions, any thread.
 */
#include "base/decimal.h"

__extension__ typedef unsigned __int128 u128;

/* The exponent of a number that is written out; what lies beyond needs too many digits anyway. */
#define EXPONENT_BOUND 100000

sl_i128 sl_i128_make(int64_t hi, uint64_t lo)
{
    return (sl_i128)((u128)(uint64_t)hi << 64 | lo);
}

static u128 pow10_u128(unsigned n)
{
    u128 power = 1;
    for (unsigned i = 0; i < n; i++) {
        power *= 10;
    }
    return power;
}

sl_i128 sl_i128_pow10(unsigned n)
{
    return (sl_i128)pow10_u128(n <= SL_DECIMAL_MAX_PRECISION ? n : SL_DECIMAL_MAX_PRECISION);
}

/* Negation in unsigned arithmetic has no overflow for the least value. */
static u128 magnitude_of(sl_i128 v)
{
    return v < 0 ? (u128)0 - (u128)v : (u128)v;
}

static unsigned count_digits(u128 v)
{
    unsigned n = 1;
    while (v >= 10) {
        v /= 10;
        n++;
    }
    return n;
}

unsigned sl_i128_digits(sl_i128 v)
{
    return count_digits(magnitude_of(v));
}

/* A decimal while it is read: digits so far, zeros that were seen but not yet taken in, and the scale. */
struct scan {
    u128 magnitude;
    unsigned n_digits;     /* significant ones in magnitude */
    int64_t pending_zeros; /* zeros behind them: they count only if a digit follows, or if there is room */
    int64_t fraction_digits;
    bool too_long;
};

static void take_digit(struct scan *scan, char c, bool is_fraction)
{
    const unsigned digit = (unsigned)(c - '0');
    scan->fraction_digits += is_fraction ? 1 : 0;
    if (digit == 0) {
        scan->pending_zeros += scan->n_digits > 0 ? 1 : 0;
        return;
    }
    if (scan->pending_zeros + scan->n_digits + 1 > SL_DECIMAL_MAX_PRECISION) {
        scan->too_long = true;
        return;
    }
    const unsigned places = (unsigned)scan->pending_zeros + 1;
    scan->magnitude = scan->magnitude * pow10_u128(places) + digit;
    scan->n_digits += places;
    scan->pending_zeros = 0;
}

static bool scan_exponent(struct sl_str text, int64_t *exponent)
{
    size_t i = 0;
    const bool negative = text.len > 0 && text.ptr[0] == '-';
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        i = 1;
    }
    if (i == text.len) {
        return false;
    }
    int64_t value = 0;
    for (; i < text.len; i++) {
        if (!sl_is_digit(text.ptr[i])) {
            return false;
        }
        value = value < EXPONENT_BOUND ? value * 10 + (text.ptr[i] - '0') : EXPONENT_BOUND;
    }
    *exponent = negative ? -value : value;
    return true;
}

/*
 * Brings magnitude, pending zeros and scale into 38 digits. Zeros at the end of the fraction are kept as written while there
 * is room for them.
 */
static bool settle(struct scan *scan, int64_t scale, int *out_scale)
{
    if (scan->n_digits == 0) {
        const int64_t kept = scale > SL_DECIMAL_MAX_PRECISION ? SL_DECIMAL_MAX_PRECISION : scale;
        *out_scale = kept > 0 ? (int)kept : 0;
        return true;
    }
    scale -= scan->pending_zeros; /* of the digits without those zeros */
    int64_t wanted = scan->pending_zeros;
    if (scale + wanted < 0) {
        wanted = -scale; /* the exponent reaches beyond the digits that were written */
    }
    const int64_t room = (int64_t)SL_DECIMAL_MAX_PRECISION - scan->n_digits;
    const int64_t scale_room = (int64_t)SL_DECIMAL_MAX_PRECISION - scale;
    int64_t taken = wanted < room ? wanted : room;
    taken = taken < scale_room ? taken : scale_room;
    if (taken < 0 || scale + taken < 0) {
        return false;
    }
    scan->magnitude *= pow10_u128((unsigned)taken);
    *out_scale = (int)(scale + taken);
    return true;
}

bool sl_decimal_parse(struct sl_str text, sl_i128 *unscaled, int *scale)
{
    struct scan scan = {0};
    size_t i = 0;
    size_t n_seen = 0;
    const bool negative = text.len > 0 && text.ptr[0] == '-';
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        i++;
    }
    for (; i < text.len && sl_is_digit(text.ptr[i]); i++, n_seen++) {
        take_digit(&scan, text.ptr[i], false);
    }
    if (i < text.len && text.ptr[i] == '.') {
        for (i++; i < text.len && sl_is_digit(text.ptr[i]); i++, n_seen++) {
            take_digit(&scan, text.ptr[i], true);
        }
    }
    int64_t exponent = 0;
    if (n_seen == 0 || scan.too_long) {
        return false;
    }
    if (i < text.len) {
        const bool has_exponent = text.ptr[i] == 'e' || text.ptr[i] == 'E';
        if (!has_exponent || !scan_exponent(sl_str_sub(text, i + 1, text.len), &exponent)) {
            return false;
        }
    }
    int settled_scale = 0;
    if (!settle(&scan, scan.fraction_digits - exponent, &settled_scale)) {
        return false;
    }
    *unscaled = negative ? -(sl_i128)scan.magnitude : (sl_i128)scan.magnitude;
    *scale = settled_scale;
    return true;
}

bool sl_decimal_rescale(sl_i128 v, int from_scale, int to_scale, sl_i128 *out)
{
    const int64_t steps = (int64_t)to_scale - from_scale;
    const u128 magnitude = magnitude_of(v);
    if (v == 0) {
        *out = 0;
        return true;
    }
    u128 result = 0;
    if (steps >= 0) {
        if (steps + count_digits(magnitude) > SL_DECIMAL_MAX_PRECISION) {
            return false;
        }
        result = magnitude * pow10_u128((unsigned)steps);
    } else {
        if (-steps > SL_DECIMAL_MAX_PRECISION) {
            return false;
        }
        const u128 divisor = pow10_u128((unsigned)-steps);
        if (magnitude % divisor != 0) {
            return false;
        }
        result = magnitude / divisor;
        if (count_digits(result) > SL_DECIMAL_MAX_PRECISION) {
            return false;
        }
    }
    *out = v < 0 ? -(sl_i128)result : (sl_i128)result;
    return true;
}

/* Compares a with b / 10^steps, by the quotient, then by what is left of b. */
static int compare_with_quotient(u128 a, u128 b, int64_t steps)
{
    u128 quotient = 0;
    u128 rest = b;
    if (steps <= SL_DECIMAL_MAX_PRECISION) {
        const u128 divisor = pow10_u128((unsigned)steps);
        quotient = b / divisor;
        rest = b % divisor;
    }
    if (a != quotient) {
        return a < quotient ? -1 : 1;
    }
    return rest != 0 ? -1 : 0;
}

int sl_decimal_compare(sl_i128 a, int a_scale, sl_i128 b, int b_scale)
{
    const int a_sign = (a > 0) - (a < 0);
    const int b_sign = (b > 0) - (b < 0);
    if (a_sign != b_sign || a_sign == 0) {
        return (a_sign > b_sign) - (a_sign < b_sign);
    }
    const int64_t steps = (int64_t)b_scale - a_scale;
    int order = 0;
    if (steps >= 0) {
        order = compare_with_quotient(magnitude_of(a), magnitude_of(b), steps);
    } else {
        order = -compare_with_quotient(magnitude_of(b), magnitude_of(a), -steps);
    }
    return a_sign > 0 ? order : -order;
}

void sl_decimal_format(struct sl_buf *out, sl_i128 v, int scale)
{
    char digits[40];
    int n = 0;
    u128 rest = magnitude_of(v);
    do {
        digits[sizeof(digits) - 1 - (size_t)n] = (char)('0' + (int)(rest % 10));
        rest /= 10;
        n++;
    } while (rest != 0);
    const char *first = digits + sizeof(digits) - (size_t)n;
    if (v < 0) {
        sl_buf_put_char(out, '-');
    }
    if (scale <= 0) {
        sl_buf_put(out, first, (size_t)n);
        for (int i = 0; v != 0 && i > scale; i--) {
            sl_buf_put_char(out, '0');
        }
        return;
    }
    if (n <= scale) {
        sl_buf_put_c(out, "0.");
        for (int i = n; i < scale; i++) {
            sl_buf_put_char(out, '0');
        }
        sl_buf_put(out, first, (size_t)n);
    } else {
        sl_buf_put(out, first, (size_t)(n - scale));
        sl_buf_put_char(out, '.');
        sl_buf_put(out, first + (n - scale), (size_t)scale);
    }
}
