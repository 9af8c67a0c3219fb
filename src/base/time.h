/*
 * Civil time: proleptic Gregorian dates and timestamps, their text forms. Pure functions, no time-zone database:
 * zones are fixed offsets ("Z", "+01:30", "+00:53:28") or "UTC". Years from -290307 to 294246 fit.
 */
#ifndef SL_BASE_TIME_H
#define SL_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define SL_US_PER_DAY INT64_C(86400000000)

int64_t sl_days_from_civil(int64_t year, int month, int day);
void sl_civil_from_days(int64_t days, int64_t *year, int *month, int *day);
bool sl_civil_valid(int64_t year, int month, int day);

/* "YYYY-MM-DD" (also signed or longer years, 1-digit month/day); whole text. */
bool sl_date_parse(struct sl_str text, int32_t *days);
/*
 * "YYYY-MM-DD[ |T]HH:MM[:SS[.f{1,9}]][zone]" or a date alone; whole text. *has_zone tells whether the text named one; *us is then
 * in UTC, else the wall clock's. Fractions beyond microseconds are refused unless zero.
 */
bool sl_timestamp_parse(struct sl_str text, int64_t *us, bool *has_zone);

void sl_date_format(struct sl_buf *out, int64_t days); /* 2020-01-31; years beyond 9999 with + */
/* 2020-01-31T10:20:30.123456; fraction of `digits` digits (3 or 6), or shortest when digits < 0; sep 'T' or ' '. No zone. */
void sl_timestamp_format(struct sl_buf *out, int64_t us, char sep, int digits);

/* Floor division helpers. */
int64_t sl_floor_div(int64_t a, int64_t b);
int64_t sl_floor_mod(int64_t a, int64_t b);

#endif
