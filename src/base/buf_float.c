/*
 * Floating point as text: the shortest decimal digits that read back to the same value. Digits come from printf's
 * scientific notation, of which only digits and exponent are used, so that no locale shows in the result. Pure apart from
 * the buffer.
 */
#include "base/buf.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DIGITS 17
/* Values of this and more significant places before the point are written with an exponent, as are those below 1e-5. */
#define MAX_PLAIN_EXPONENT 16
#define MIN_PLAIN_EXPONENT (-5)

/* Digits of a finite, positive number: d.ddd × 10^exponent. */
struct digits {
    char text[MAX_DIGITS + 16]; /* the digits, later with "e…" for reading back */
    size_t len;
    int exponent;
};

static void make_digits(double value, int precision, struct digits *out)
{
    char printed[64];
    (void)snprintf(printed, sizeof(printed), "%.*e", precision - 1, value); /* at most 17 digits: fits */
    *out = (struct digits){.len = 0};
    const char *c = printed;
    for (; *c != '\0' && *c != 'e'; c++) {
        if (*c >= '0' && *c <= '9' && out->len < MAX_DIGITS) {
            out->text[out->len++] = *c;
        }
    }
    if (*c == 'e') {
        out->exponent = (int)strtol(c + 1, NULL, 10);
    }
    while (out->len > 1 && out->text[out->len - 1] == '0') {
        out->len--;
    }
    out->text[out->len] = '\0';
}

static bool reads_back(const struct digits *digits, double value, bool is_float)
{
    char text[MAX_DIGITS + 32];
    (void)snprintf(text, sizeof(text), "%se%d", digits->text, digits->exponent - (int)digits->len + 1); /* fits */
    return is_float ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value;
}

static void find_shortest(double value, bool is_float, struct digits *digits)
{
    /* A normal number of no more digits than these survives the way there and back; smaller ones may need fewer. */
    const double least_normal = is_float ? (double)FLT_MIN : DBL_MIN;
    const int first = value < least_normal ? 1 : (is_float ? FLT_DIG : DBL_DIG);
    const int last = is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    for (int precision = first; precision <= last; precision++) {
        make_digits(value, precision, digits);
        if (reads_back(digits, value, is_float)) {
            return;
        }
    }
}

static void put_zeros(struct sl_buf *buf, int n)
{
    for (int i = 0; i < n; i++) {
        sl_buf_put_char(buf, '0');
    }
}

static void put_plain(struct sl_buf *buf, const struct digits *digits)
{
    const int point = digits->exponent + 1; /* digits before the point */
    const int len = (int)digits->len;
    if (point <= 0) {
        sl_buf_put_c(buf, "0.");
        put_zeros(buf, -point);
        sl_buf_put(buf, digits->text, digits->len);
    } else if (point >= len) {
        sl_buf_put(buf, digits->text, digits->len);
        put_zeros(buf, point - len);
        sl_buf_put_c(buf, ".0");
    } else {
        sl_buf_put(buf, digits->text, (size_t)point);
        sl_buf_put_char(buf, '.');
        sl_buf_put(buf, digits->text + point, digits->len - (size_t)point);
    }
}

static void put_scientific(struct sl_buf *buf, const struct digits *digits)
{
    sl_buf_put_char(buf, digits->text[0]);
    if (digits->len > 1) {
        sl_buf_put_char(buf, '.');
        sl_buf_put(buf, digits->text + 1, digits->len - 1);
    }
    sl_buf_put_char(buf, 'e');
    sl_buf_put_i64(buf, digits->exponent);
}

static void put_number(struct sl_buf *buf, double value, bool is_float)
{
    if (isnan(value)) {
        sl_buf_put_c(buf, "NaN");
        return;
    }
    if (signbit(value)) {
        sl_buf_put_char(buf, '-');
        value = -value;
    }
    if (isinf(value)) {
        sl_buf_put_c(buf, "Infinity");
        return;
    }
    if (value == 0) {
        sl_buf_put_c(buf, "0.0");
        return;
    }
    struct digits digits;
    find_shortest(value, is_float, &digits);
    if (digits.exponent >= MIN_PLAIN_EXPONENT && digits.exponent < MAX_PLAIN_EXPONENT) {
        put_plain(buf, &digits);
    } else {
        put_scientific(buf, &digits);
    }
}

void sl_buf_put_f64(struct sl_buf *buf, double value)
{
    put_number(buf, value, false);
}

void sl_buf_put_f32(struct sl_buf *buf, float value)
{
    put_number(buf, (double)value, true);
}
