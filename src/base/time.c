/*
 * Civil time in the proleptic Gregorian calendar, as Spark 3 and later count it, and the text forms of dates and
 * timestamps in logs, partition values and literals. Zones are fixed offsets only. Pure functions, any thread.
 */
#include "base/time.h"

#include <stddef.h>

#include "base/alloc.h"

#define DAYS_PER_ERA INT64_C(146097)  /* 400 years */
#define DAYS_TO_EPOCH INT64_C(719468) /* from 0000-03-01 to 1970-01-01 */
#define US_PER_SECOND INT64_C(1000000)
#define MAX_YEAR_DIGITS 7
#define MIN_YEAR INT64_C(-290308)
#define MAX_YEAR INT64_C(294247)
#define MAX_OFFSET_SECONDS (18 * 3600)

int64_t sl_floor_div(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t sl_floor_mod(int64_t a, int64_t b)
{
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/*
 * Years are counted from March, so that the leap day is the last day of a year, and days within eras of 400 years, which
 * are all alike.
 */
int64_t sl_days_from_civil(int64_t year, int month, int day)
{
    const int64_t march_year = month <= 2 ? year - 1 : year;
    const int64_t era = sl_floor_div(march_year, 400);
    const int64_t year_of_era = march_year - era * 400;
    const int64_t march_month = month > 2 ? month - 3 : month + 9;
    const int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
    const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_EPOCH;
}

void sl_civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    const int64_t shifted = days + DAYS_TO_EPOCH;
    const int64_t era = sl_floor_div(shifted, DAYS_PER_ERA);
    const int64_t day_of_era = shifted - era * DAYS_PER_ERA;
    const int64_t leap_days = day_of_era / 1460 - day_of_era / 36524 + day_of_era / (DAYS_PER_ERA - 1);
    const int64_t year_of_era = (day_of_era - leap_days) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t march_month = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * march_month + 2) / 5 + 1);
    *month = (int)(march_month < 10 ? march_month + 3 : march_month - 9);
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

bool sl_civil_valid(int64_t year, int month, int day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < MIN_YEAR || year > MAX_YEAR || month < 1 || month > 12 || day < 1) {
        return false;
    }
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= lengths[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

/* A bounds-checked place in a text. */
struct reader {
    struct sl_str text;
    size_t pos;
};

static bool at_end(const struct reader *reader)
{
    return reader->pos >= reader->text.len;
}

/* The next byte, NUL at the end. */
static char peek(const struct reader *reader)
{
    return at_end(reader) ? '\0' : reader->text.ptr[reader->pos];
}

static bool accept(struct reader *reader, char c)
{
    if (at_end(reader) || peek(reader) != c) {
        return false;
    }
    reader->pos++;
    return true;
}

/* Reads between min and max digits; more than max is a failure. */
static bool read_digits(struct reader *reader, int min, int max, int64_t *value)
{
    int n = 0;
    *value = 0;
    for (; peek(reader) >= '0' && peek(reader) <= '9'; reader->pos++, n++) {
        if (n == max) {
            return false;
        }
        *value = *value * 10 + (peek(reader) - '0');
    }
    return n >= min;
}

static bool read_date(struct reader *reader, int64_t *days)
{
    int64_t year = 0;
    int64_t month = 0;
    int64_t day = 0;
    const bool negative = accept(reader, '-');
    if (!negative) {
        (void)accept(reader, '+'); /* may be there or not */
    }
    if (!read_digits(reader, 4, MAX_YEAR_DIGITS, &year) || !accept(reader, '-') || !read_digits(reader, 1, 2, &month) ||
        !accept(reader, '-') || !read_digits(reader, 1, 2, &day)) {
        return false;
    }
    year = negative ? -year : year;
    if (!sl_civil_valid(year, (int)month, (int)day)) {
        return false;
    }
    *days = sl_days_from_civil(year, (int)month, (int)day);
    return true;
}

/* Reads the digits behind the point; what is finer than a microsecond must be zero. */
static bool read_fraction(struct reader *reader, int64_t *us)
{
    int64_t nanoseconds = 0;
    const size_t begin = reader->pos;
    if (!read_digits(reader, 1, 9, &nanoseconds)) {
        return false;
    }
    for (size_t n = reader->pos - begin; n < 9; n++) {
        nanoseconds *= 10;
    }
    if (nanoseconds % 1000 != 0) {
        return false;
    }
    *us = nanoseconds / 1000;
    return true;
}

static bool read_time(struct reader *reader, int64_t *us)
{
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    int64_t fraction = 0;
    if (!read_digits(reader, 1, 2, &hour) || !accept(reader, ':') || !read_digits(reader, 1, 2, &minute)) {
        return false;
    }
    if (accept(reader, ':')) {
        if (!read_digits(reader, 1, 2, &second)) {
            return false;
        }
        if (accept(reader, '.') && !read_fraction(reader, &fraction)) {
            return false;
        }
    }
    if (hour > 23 || minute > 59 || second > 59) {
        return false;
    }
    *us = (hour * 3600 + minute * 60 + second) * US_PER_SECOND + fraction;
    return true;
}

static bool accept_word(struct reader *reader, struct sl_str word)
{
    if (!sl_str_starts_with(sl_str_sub(reader->text, reader->pos, reader->text.len), word)) {
        return false;
    }
    reader->pos += word.len;
    return true;
}

/* Reads "Z", "UTC", "GMT", an offset "+1", "+01", "+0130", "+01:30", "+00:53:28", or "UTC" with an offset. */
static bool read_zone(struct reader *reader, int64_t *offset_seconds)
{
    int64_t hours = 0;
    int64_t minutes = 0;
    int64_t seconds = 0;
    *offset_seconds = 0;
    if (accept(reader, 'Z')) {
        return true;
    }
    const bool has_name = accept_word(reader, SL_STR("UTC")) || accept_word(reader, SL_STR("GMT"));
    if (has_name && at_end(reader)) {
        return true;
    }
    const bool negative = accept(reader, '-');
    if (!negative && !accept(reader, '+')) {
        return false;
    }
    const size_t begin = reader->pos;
    if (!read_digits(reader, 1, 4, &hours)) {
        return false;
    }
    const size_t n_digits = reader->pos - begin;
    if (n_digits == 4) {
        minutes = hours % 100;
        hours /= 100;
    } else if (n_digits == 3) {
        return false;
    } else if (accept(reader, ':')) {
        if (!read_digits(reader, 2, 2, &minutes)) {
            return false;
        }
        if (accept(reader, ':') && !read_digits(reader, 2, 2, &seconds)) {
            return false;
        }
    }
    const int64_t offset = hours * 3600 + minutes * 60 + seconds;
    if (minutes > 59 || seconds > 59 || offset > MAX_OFFSET_SECONDS) {
        return false;
    }
    *offset_seconds = negative ? -offset : offset;
    return true;
}

bool sl_date_parse(struct sl_str text, int32_t *days)
{
    struct reader reader = {.text = text};
    int64_t value = 0;
    if (!read_date(&reader, &value) || !at_end(&reader)) {
        return false;
    }
    *days = (int32_t)value; /* years are bounded by MIN_YEAR and MAX_YEAR: fits */
    return true;
}

bool sl_timestamp_parse(struct sl_str text, int64_t *us, bool *has_zone)
{
    struct reader reader = {.text = text};
    int64_t days = 0;
    int64_t time_us = 0;
    int64_t offset_seconds = 0;
    bool zone_seen = false;
    if (!read_date(&reader, &days)) {
        return false;
    }
    if (accept(&reader, 'T') || accept(&reader, ' ')) {
        if (!read_time(&reader, &time_us)) {
            return false;
        }
        if (!at_end(&reader)) {
            (void)accept(&reader, ' '); /* may be there or not */
            if (!read_zone(&reader, &offset_seconds)) {
                return false;
            }
            zone_seen = true;
        }
    }
    if (!at_end(&reader)) {
        return false;
    }
    /* Before the epoch days are counted from their end: the midnight before the least timestamp is out of range. */
    const int64_t whole_days = days < 0 ? days + 1 : days;
    const int64_t within = time_us - offset_seconds * US_PER_SECOND - (days < 0 ? SL_US_PER_DAY : 0);
    int64_t result = 0;
    if (!sl_mul_i64(whole_days, SL_US_PER_DAY, &result) || !sl_add_i64(result, within, &result)) {
        return false;
    }
    *us = result;
    *has_zone = zone_seen;
    return true;
}

void sl_date_format(struct sl_buf *out, int64_t days)
{
    int64_t year = 0;
    int month = 0;
    int day = 0;
    sl_civil_from_days(days, &year, &month, &day);
    const char *sign = year > 9999 ? "+" : (year < 0 ? "-" : "");
    sl_buf_printf(out, "%s%04lld-%02d-%02d", sign, (long long)(year < 0 ? -year : year), month, day);
}

void sl_timestamp_format(struct sl_buf *out, int64_t us, char sep, int digits)
{
    const int64_t time_us = sl_floor_mod(us, SL_US_PER_DAY);
    const int second_of_day = (int)(time_us / US_PER_SECOND);
    int fraction = (int)(time_us % US_PER_SECOND);
    sl_date_format(out, sl_floor_div(us, SL_US_PER_DAY));
    sl_buf_printf(out, "%c%02d:%02d:%02d", sep, second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    int width = 6;
    if (digits < 0) {
        if (fraction == 0) {
            return;
        }
        for (; fraction % 10 == 0; width--) {
            fraction /= 10;
        }
    } else {
        for (; width > digits; width--) {
            fraction /= 10;
        }
    }
    if (width > 0) {
        sl_buf_printf(out, ".%0*d", width, fraction);
    }
}
