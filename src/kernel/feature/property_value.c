/*
 * Reading the texts of property values. What Spark's CalendarInterval, toBoolean and byteStringAsBytes take is taken here,
 * and nothing is guessed: a text that does not parse is refused on SET and falls back to the default when it is met in a
 * table. Called by property.c; pure, any thread.
 */
#include "kernel/feature/property_value.h"

#include "base/alloc.h"

bool sl_property_parse_bool(struct sl_str text, bool *out)
{
    const struct sl_str value = sl_str_trim(text);
    if (sl_str_eq_nocase(value, SL_STR("true"))) {
        *out = true;
        return true;
    }
    if (sl_str_eq_nocase(value, SL_STR("false"))) {
        *out = false;
        return true;
    }
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct sl_str next_word(struct sl_str text, size_t *pos)
{
    while (*pos < text.len && is_space(text.ptr[*pos])) {
        (*pos)++;
    }
    const size_t begin = *pos;
    while (*pos < text.len && !is_space(text.ptr[*pos])) {
        (*pos)++;
    }
    return sl_str_sub(text, begin, *pos);
}

static bool unit_micros(struct sl_str unit, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t micros;
    } units[] = {{"microsecond", 1},
                 {"millisecond", 1000},
                 {"second", 1000000},
                 {"minute", 60 * 1000000LL},
                 {"hour", 3600 * 1000000LL},
                 {"day", 86400 * 1000000LL},
                 {"week", 7 * 86400 * 1000000LL}};
    const struct sl_str plural = SL_STR("s");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const struct sl_str name = sl_str_from(units[i].name);
        const bool longer = unit.len == name.len + 1 && sl_str_eq_nocase(sl_str_sub(unit, name.len, unit.len), plural);
        if ((unit.len == name.len || longer) && sl_str_eq_nocase(sl_str_sub(unit, 0, name.len), name)) {
            *out = units[i].micros;
            return true;
        }
    }
    return false;
}

/* "12", "-3"; for seconds also "1.25", with at most six fraction digits that are kept. */
static bool parse_amount(struct sl_str text, int64_t unit, int64_t *micros)
{
    const size_t dot = sl_str_find(text, SL_STR("."));
    if (dot == SIZE_MAX) {
        int64_t number = 0;
        return sl_str_to_i64(text, &number) && sl_mul_i64(number, unit, micros);
    }
    const struct sl_str digits = sl_str_sub(text, dot + 1, text.len);
    int64_t whole = 0;
    uint64_t fraction = 0;
    if (unit != 1000000 || digits.len == 0 || digits.len > 6 || !sl_str_to_i64(sl_str_sub(text, 0, dot), &whole) ||
        !sl_str_to_u64(digits, &fraction) || !sl_mul_i64(whole, unit, &whole)) {
        return false;
    }
    for (size_t i = digits.len; i < 6; i++) {
        fraction *= 10;
    }
    const bool negative = text.ptr[0] == '-';
    return sl_add_i64(whole, negative ? -(int64_t)fraction : (int64_t)fraction, micros);
}

bool sl_property_parse_interval(struct sl_str text, int64_t *micros)
{
    size_t pos = 0;
    struct sl_str word = next_word(text, &pos);
    if (sl_str_eq_nocase(word, SL_STR("interval"))) {
        word = next_word(text, &pos);
    }
    int64_t total = 0;
    bool any = false;
    for (; word.len > 0; word = next_word(text, &pos)) {
        const struct sl_str unit = next_word(text, &pos);
        int64_t unit_size = 0;
        int64_t amount = 0;
        if (!unit_micros(unit, &unit_size) || !parse_amount(word, unit_size, &amount) ||
            !sl_add_i64(total, amount, &total)) {
            return false;
        }
        any = true;
    }
    if (!any) {
        return false;
    }
    *micros = total;
    return true;
}

bool sl_property_parse_bytes(struct sl_str text, int64_t *bytes)
{
    static const struct {
        const char *suffix;
        int64_t factor;
    } suffixes[] = {{"", 1},          {"b", 1},          {"k", 1LL << 10}, {"kb", 1LL << 10},
                    {"m", 1LL << 20}, {"mb", 1LL << 20}, {"g", 1LL << 30}, {"gb", 1LL << 30},
                    {"t", 1LL << 40}, {"tb", 1LL << 40}, {"p", 1LL << 50}, {"pb", 1LL << 50}};
    const struct sl_str value = sl_str_trim(text);
    size_t digits = 0;
    while (digits < value.len && value.ptr[digits] >= '0' && value.ptr[digits] <= '9') {
        digits++;
    }
    int64_t number = 0;
    if (!sl_str_to_i64(sl_str_sub(value, 0, digits), &number)) {
        return false;
    }
    const struct sl_str suffix = sl_str_trim(sl_str_sub(value, digits, value.len));
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (sl_str_eq_nocase(suffix, sl_str_from(suffixes[i].suffix))) {
            return sl_mul_i64(number, suffixes[i].factor, bytes);
        }
    }
    return false;
}

bool sl_property_match_choice(struct sl_str value, const char *choices, struct sl_str *out)
{
    const struct sl_str list = sl_str_from(choices);
    size_t begin = 0;
    while (begin <= list.len) {
        size_t end = begin;
        while (end < list.len && list.ptr[end] != ',') {
            end++;
        }
        const struct sl_str choice = sl_str_sub(list, begin, end);
        if (sl_str_eq_nocase(value, choice)) {
            *out = choice;
            return true;
        }
        begin = end + 1;
    }
    return false;
}
