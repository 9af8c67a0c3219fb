/*
 * String views: comparing, searching, and exact reading of numbers. Reading floating point goes through strtod on a text
 * that holds only digits and an exponent, so that no locale can change its meaning. Pure functions, any thread.
 */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * No two neighbouring doubles need more than 767 significant digits to be told apart; digits beyond these matter only by
 * whether one of them is not zero.
 */
#define MAX_SIGNIFICANT_DIGITS 800
#define NUMBER_TEXT_SIZE (MAX_SIGNIFICANT_DIGITS + 32)
/* Far outside what a double holds, far inside int64. */
#define EXPONENT_BOUND INT64_C(1000000000)

#define MAX_DISTANCE_LEN 128

bool sl_str_eq(struct sl_str a, struct sl_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool sl_str_eq_c(struct sl_str a, const char *b)
{
    return (a.len == 0 || a.ptr[0] == b[0]) && sl_str_eq(a, sl_str_from(b));
}

int sl_str_compare(struct sl_str a, struct sl_str b)
{
    const size_t common = a.len < b.len ? a.len : b.len;
    const int order = common > 0 ? memcmp(a.ptr, b.ptr, common) : 0;
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

bool sl_str_starts_with(struct sl_str s, struct sl_str prefix)
{
    return s.len >= prefix.len && sl_str_eq(sl_str_make(s.ptr, prefix.len), prefix);
}

bool sl_str_ends_with(struct sl_str s, struct sl_str suffix)
{
    if (suffix.len == 0 || s.len < suffix.len) {
        return suffix.len == 0;
    }
    return memcmp(s.ptr + (s.len - suffix.len), suffix.ptr, suffix.len) == 0;
}

size_t sl_str_find(struct sl_str s, struct sl_str needle)
{
    if (needle.len == 0) {
        return 0;
    }
    size_t begin = 0;
    while (s.len - begin >= needle.len) {
        const char *hit = memchr(s.ptr + begin, needle.ptr[0], s.len - begin - needle.len + 1);
        if (hit == NULL) {
            return SIZE_MAX;
        }
        if (memcmp(hit, needle.ptr, needle.len) == 0) {
            return (size_t)(hit - s.ptr);
        }
        begin = (size_t)(hit - s.ptr) + 1;
    }
    return SIZE_MAX;
}

struct sl_str sl_str_sub(struct sl_str s, size_t begin, size_t end)
{
    end = end < s.len ? end : s.len;
    begin = begin < end ? begin : end;
    return (struct sl_str){s.ptr != NULL ? s.ptr + begin : NULL, end - begin};
}

struct sl_str sl_str_trim(struct sl_str s)
{
    size_t begin = 0;
    size_t end = s.len;
    while (begin < end && sl_is_space(s.ptr[begin])) {
        begin++;
    }
    while (end > begin && sl_is_space(s.ptr[end - 1])) {
        end--;
    }
    return sl_str_sub(s, begin, end);
}

bool sl_str_to_u64(struct sl_str s, uint64_t *out)
{
    uint64_t value = 0;
    if (s.len == 0) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (!sl_is_digit(s.ptr[i])) {
            return false;
        }
        const uint64_t digit = (uint64_t)(s.ptr[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool sl_str_to_i64(struct sl_str s, int64_t *out)
{
    const bool has_sign = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    const bool negative = has_sign && s.ptr[0] == '-';
    uint64_t magnitude = 0;
    if (!sl_str_to_u64(sl_str_sub(s, has_sign ? 1 : 0, s.len), &magnitude)) {
        return false;
    }
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    if (negative) {
        *out = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    } else {
        *out = (int64_t)magnitude;
    }
    return true;
}

/* A decimal number on its way to strtod: its significant digits and where the point is. */
struct number {
    char text[NUMBER_TEXT_SIZE];
    size_t len;       /* sign and digits so far */
    size_t n_digits;  /* significant digits taken */
    int64_t exponent; /* of ten, that the digits are to be multiplied with */
    bool lost_digits; /* some digit that was not taken is not zero */
};

static void take_digit(struct number *number, char digit, bool is_fraction)
{
    if (number->n_digits == 0 && digit == '0') {
        number->exponent -= is_fraction ? 1 : 0;
        return;
    }
    if (number->n_digits == MAX_SIGNIFICANT_DIGITS) {
        number->lost_digits = number->lost_digits || digit != '0';
        number->exponent += is_fraction ? 0 : 1;
        return;
    }
    number->text[number->len++] = digit;
    number->n_digits++;
    number->exponent -= is_fraction ? 1 : 0;
}

/* Reads "e-12" from *pos to the end of the text. */
static bool scan_exponent(struct sl_str s, size_t *pos, int64_t *exponent)
{
    size_t i = *pos + 1;
    const bool negative = i < s.len && s.ptr[i] == '-';
    if (i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+')) {
        i++;
    }
    if (i == s.len) {
        return false;
    }
    int64_t value = 0;
    for (; i < s.len && sl_is_digit(s.ptr[i]); i++) {
        value = value < EXPONENT_BOUND ? value * 10 + (s.ptr[i] - '0') : EXPONENT_BOUND;
    }
    *pos = i;
    *exponent = negative ? -value : value;
    return true;
}

/* Checks the whole text and normalises it to "[-]digits" and an exponent. */
static bool scan_number(struct sl_str s, struct number *number)
{
    *number = (struct number){.len = 0};
    size_t i = 0;
    if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+')) {
        if (s.ptr[0] == '-') {
            number->text[number->len++] = '-';
        }
        i++;
    }
    size_t n_seen = 0;
    for (; i < s.len && sl_is_digit(s.ptr[i]); i++) {
        take_digit(number, s.ptr[i], false);
        n_seen++;
    }
    if (i < s.len && s.ptr[i] == '.') {
        for (i++; i < s.len && sl_is_digit(s.ptr[i]); i++) {
            take_digit(number, s.ptr[i], true);
            n_seen++;
        }
    }
    int64_t written_exponent = 0;
    if (n_seen > 0 && i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E') && !scan_exponent(s, &i, &written_exponent)) {
        return false;
    }
    if (n_seen == 0 || i != s.len) {
        return false;
    }
    if (number->n_digits == 0) {
        number->text[number->len++] = '0';
        number->exponent = 0;
        written_exponent = 0;
    }
    if (number->lost_digits) {
        number->text[number->len++] = '1';
        number->exponent -= 1;
    }
    number->exponent += written_exponent;
    if (number->exponent > EXPONENT_BOUND) {
        number->exponent = EXPONENT_BOUND;
    } else if (number->exponent < -EXPONENT_BOUND) {
        number->exponent = -EXPONENT_BOUND;
    }
    const size_t room = sizeof(number->text) - number->len;
    const int n = snprintf(number->text + number->len, room, "e%lld", (long long)number->exponent);
    return n > 0 && (size_t)n < room;
}

/*
 * Plain decimals of up to 15 digits: both the digits and the power of ten are doubles themselves, so that one division rounds once, as
 * it should. False for everything else, valid or not.
 */
static bool short_decimal(struct sl_str s, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = s.len > 0 && s.ptr[0] == '-';
    const size_t begin = negative ? 1 : 0;
    size_t point = s.len;
    int64_t digits = 0;
    if (s.len - begin > sizeof(powers) / sizeof(powers[0]) || begin == s.len) {
        return false; /* 15 digits and a point */
    }
    for (size_t i = begin; i < s.len; i++) {
        if (s.ptr[i] == '.' && point == s.len && i > begin && i + 1 < s.len) {
            point = i;
        } else if (sl_is_digit(s.ptr[i])) {
            digits = digits * 10 + (s.ptr[i] - '0');
        } else {
            return false;
        }
    }
    if (point == s.len && s.len - begin > 15) {
        return false;
    }
    const double value = (double)digits / powers[point < s.len ? s.len - point - 1 : 0];
    *out = negative ? -value : value;
    return true;
}

bool sl_str_to_f64(struct sl_str s, double *out)
{
    struct number number;
    if (short_decimal(s, out)) {
        return true;
    }
    if (!scan_number(s, &number)) {
        return false;
    }
    const double value = strtod(number.text, NULL);
    if (!isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool sl_str_to_f32(struct sl_str s, float *out)
{
    struct number number;
    if (!scan_number(s, &number)) {
        return false;
    }
    const float value = strtof(number.text, NULL);
    if (!isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

size_t sl_str_distance(struct sl_str a, struct sl_str b, size_t cap)
{
    const size_t difference = a.len > b.len ? a.len - b.len : b.len - a.len;
    if (difference > cap || a.len > MAX_DISTANCE_LEN || b.len > MAX_DISTANCE_LEN) {
        return sl_str_eq(a, b) ? 0 : cap + 1;
    }
    size_t row[MAX_DISTANCE_LEN + 1];
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const size_t above = row[j];
            size_t best = diagonal + (a.ptr[i - 1] != b.ptr[j - 1] ? 1 : 0);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[b.len] <= cap ? row[b.len] : cap + 1;
}
