/*
 * Header fields of HTTP: looking them up, and the forms of their values. Pure functions over borrowed bytes; any thread.
 */
#include "storage/remote/http_fields.h"

#include "base/time.h"

/* A word of US-ASCII letters, in any case. */
static bool same_word(struct sl_str a, struct sl_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        const unsigned char x = (unsigned char)a.ptr[i];
        const unsigned char y = (unsigned char)b.ptr[i];
        const bool letter = (x | 0x20) >= 'a' && (x | 0x20) <= 'z';
        if (x != y && !(letter && (x | 0x20) == (y | 0x20))) {
            return false;
        }
    }
    return true;
}

/* Cuts the text before the first `mark` off *rest, all of it if there is none. */
static struct sl_str cut_before(struct sl_str *rest, char mark)
{
    const char *at = rest->len > 0 ? memchr(rest->ptr, mark, rest->len) : NULL;
    const size_t n = at != NULL ? (size_t)(at - rest->ptr) : rest->len;
    const struct sl_str part = sl_str_make(rest->ptr, n);
    *rest = at != NULL ? sl_str_sub(*rest, n + 1, rest->len) : sl_str_make(NULL, 0);
    return part;
}

struct sl_str sl_http_field_next(struct sl_str *block, const char *name)
{
    const struct sl_str wanted = sl_str_from(name);
    while (block->len > 0) {
        const struct sl_str line = cut_before(block, '\n');
        if (line.len > wanted.len && line.ptr[wanted.len] == ':' &&
            same_word(sl_str_sub(line, 0, wanted.len), wanted)) {
            const struct sl_str value = sl_str_trim(sl_str_sub(line, wanted.len + 1, line.len));
            return value.len > 0 ? value : sl_str_make(line.ptr, 0);
        }
    }
    return sl_str_make(NULL, 0);
}

/* ---- dates ---- */

struct civil {
    int64_t year;
    int month;
    int day;
    int64_t seconds; /* of the day */
};

/* `digits` digits at the start of *rest. */
static bool take_number(struct sl_str *rest, size_t digits, int64_t *out)
{
    if (rest->len < digits) {
        return false;
    }
    int64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!sl_is_digit(rest->ptr[i])) {
            return false;
        }
        value = value * 10 + (rest->ptr[i] - '0');
    }
    *rest = sl_str_sub(*rest, digits, rest->len);
    *out = value;
    return true;
}

static bool take_text(struct sl_str *rest, const char *text)
{
    const struct sl_str wanted = sl_str_from(text);
    if (!sl_str_starts_with(*rest, wanted)) {
        return false;
    }
    *rest = sl_str_sub(*rest, wanted.len, rest->len);
    return true;
}

static bool take_month(struct sl_str *rest, int *month)
{
    static const char NAMES[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (int i = 0; i < 12; i++) {
        if (take_text(rest, NAMES[i])) {
            *month = i + 1;
            return true;
        }
    }
    return false;
}

/* "08:49:37"; a leap second is taken as the last one of its minute. */
static bool take_clock(struct sl_str *rest, int64_t *seconds)
{
    int64_t hour = 0;
    int64_t minute = 0;
    int64_t second = 0;
    if (!take_number(rest, 2, &hour) || !take_text(rest, ":") || !take_number(rest, 2, &minute) ||
        !take_text(rest, ":") || !take_number(rest, 2, &second) || hour > 23 || minute > 59 || second > 60) {
        return false;
    }
    *seconds = hour * 3600 + minute * 60 + (second < 60 ? second : 59);
    return true;
}

/* " 06 Nov 1994 08:49:37 GMT" or " 06-Nov-94 08:49:37 GMT", behind the day's name and the comma. */
static bool parse_after_comma(struct sl_str rest, struct civil *out)
{
    int64_t day = 0;
    if (!take_text(&rest, " ") || !take_number(&rest, 2, &day)) {
        return false;
    }
    const bool dashes = take_text(&rest, "-");
    const char *separator = dashes ? "-" : " ";
    if ((!dashes && !take_text(&rest, " ")) || !take_month(&rest, &out->month) || !take_text(&rest, separator) ||
        !take_number(&rest, dashes ? 2 : 4, &out->year)) {
        return false;
    }
    if (dashes) { /* HTTP is younger than 1970, and this form older than 2070 */
        out->year += out->year < 70 ? 2000 : 1900;
    }
    out->day = (int)day;
    return take_text(&rest, " ") && take_clock(&rest, &out->seconds) && take_text(&rest, " GMT") && rest.len == 0;
}

/* "Nov  6 08:49:37 1994", behind the day's name. */
static bool parse_asctime(struct sl_str rest, struct civil *out)
{
    int64_t day = 0;
    if (!take_month(&rest, &out->month) || !take_text(&rest, " ")) {
        return false;
    }
    const bool one_digit = take_text(&rest, " ");
    if (!take_number(&rest, one_digit ? 1 : 2, &day)) {
        return false;
    }
    out->day = (int)day;
    return take_text(&rest, " ") && take_clock(&rest, &out->seconds) && take_text(&rest, " ") &&
           take_number(&rest, 4, &out->year) && rest.len == 0;
}

bool sl_http_date_parse(struct sl_str text, int64_t *seconds)
{
    *seconds = 0;
    struct civil civil = {0};
    struct sl_str rest = text;
    const bool comma = text.len > 0 && memchr(text.ptr, ',', text.len) != NULL;
    cut_before(&rest, comma ? ',' : ' ');
    if (!(comma ? parse_after_comma(rest, &civil) : parse_asctime(rest, &civil)) || civil.year < 1970 ||
        !sl_civil_valid(civil.year, civil.month, civil.day)) {
        return false;
    }
    *seconds = sl_days_from_civil(civil.year, civil.month, civil.day) * 86400 + civil.seconds;
    return true;
}

/* ---- numbers ---- */

/* Digits only, as HTTP has them. */
static bool parse_digits(struct sl_str text, int64_t *out)
{
    return text.len > 0 && sl_is_digit(text.ptr[0]) && sl_str_to_i64(text, out);
}

bool sl_http_content_range_parse(struct sl_str text, int64_t *first, int64_t *last, int64_t *size)
{
    *first = -1;
    *last = -1;
    *size = -1;
    struct sl_str rest = text;
    if (!same_word(cut_before(&rest, ' '), SL_STR("bytes")) || rest.len == 0) {
        return false;
    }
    struct sl_str range = cut_before(&rest, '/');
    int64_t whole = -1;
    const bool any_size = sl_str_eq_c(rest, "*");
    if (!any_size && !parse_digits(rest, &whole)) {
        return false;
    }
    if (sl_str_eq_c(range, "*")) {
        *size = whole;
        return !any_size;
    }
    const struct sl_str from = cut_before(&range, '-');
    int64_t begin = 0;
    int64_t end = 0;
    if (!parse_digits(from, &begin) || !parse_digits(range, &end) || begin > end || (!any_size && end >= whole)) {
        return false;
    }
    *first = begin;
    *last = end;
    *size = whole;
    return true;
}

bool sl_http_retry_after_parse(struct sl_str text, int64_t now_us, int64_t *wait_us)
{
    *wait_us = 0;
    int64_t seconds = 0;
    if (parse_digits(text, &seconds)) {
        *wait_us = seconds <= INT64_MAX / 1000000 ? seconds * 1000000 : INT64_MAX;
        return true;
    }
    if (!sl_http_date_parse(text, &seconds)) {
        return false;
    }
    const int64_t due_us = seconds * 1000000; /* of a year with four digits: fits */
    *wait_us = due_us > now_us ? due_us - now_us : 0;
    return true;
}

/* ---- framing ---- */

/* True when the last of all transfer codings is chunked (RFC 9112, 6.1). */
static bool ends_chunked(struct sl_str codings)
{
    struct sl_str last = codings;
    while (codings.len > 0) {
        last = cut_before(&codings, ',');
    }
    return same_word(sl_str_trim(last), SL_STR("chunked"));
}

enum sl_http_framing sl_http_framing_of(struct sl_str block, int64_t *length)
{
    *length = -1;
    struct sl_str rest = block;
    struct sl_str codings = {NULL, 0};
    for (struct sl_str text = sl_http_field_next(&rest, "transfer-encoding"); text.ptr != NULL;
         text = sl_http_field_next(&rest, "transfer-encoding")) {
        codings = text;
    }
    if (codings.ptr != NULL) {
        return ends_chunked(codings) ? SL_HTTP_FRAMING_CHUNKS : SL_HTTP_FRAMING_NONE;
    }
    int64_t found = -1;
    rest = block;
    for (struct sl_str text = sl_http_field_next(&rest, "content-length"); text.ptr != NULL;
         text = sl_http_field_next(&rest, "content-length")) {
        int64_t value = 0;
        if (!parse_digits(text, &value) || (found >= 0 && value != found)) {
            return SL_HTTP_FRAMING_BROKEN;
        }
        found = value;
    }
    *length = found;
    return found >= 0 ? SL_HTTP_FRAMING_LENGTH : SL_HTTP_FRAMING_NONE;
}
