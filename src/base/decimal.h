/*
 * Exact decimals: 128-bit unscaled integers. Used for values, statistics and partition values; never through doubles.
 */
#ifndef SL_BASE_DECIMAL_H
#define SL_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

__extension__ typedef __int128 sl_i128;

#define SL_DECIMAL_MAX_PRECISION 38

sl_i128 sl_i128_make(int64_t hi, uint64_t lo);
/* 10^n for 0 <= n <= 38. */
sl_i128 sl_i128_pow10(unsigned n);
/* Number of decimal digits of |v|, at least 1. */
unsigned sl_i128_digits(sl_i128 v);

/*
 * Parses "-12.340", "1e3", "+.5": whole text. Gives unscaled and scale exactly as written (exponents applied, scale may be
 * negative → normalised to 0). False when it is no number or needs more than 38 digits.
 */
bool sl_decimal_parse(struct sl_str text, sl_i128 *unscaled, int *scale);
/* Rescales exactly; false when digits would be lost or it overflows 38 digits. */
bool sl_decimal_rescale(sl_i128 v, int from_scale, int to_scale, sl_i128 *out);
/* Compares values of different scales: <0, 0, >0. Never overflows. */
int sl_decimal_compare(sl_i128 a, int a_scale, sl_i128 b, int b_scale);
/* Plain notation with exactly `scale` fraction digits. */
void sl_decimal_format(struct sl_buf *out, sl_i128 v, int scale);

#endif
