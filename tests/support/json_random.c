/*
 * Random JSON text; see json_random.h.
 */
#include "json_random.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint64_t json_random_next(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

uint64_t json_random_below(uint64_t *state, uint64_t n)
{
    return json_random_next(state) % n;
}

void json_random_space(struct sl_buf *out, uint64_t *state)
{
    static const char *const spaces[] = {" ", "\t", "\r", "  ", "\n"};
    if (json_random_below(state, 16) == 0) {
        sl_buf_put_c(out, spaces[json_random_below(state, COUNT(spaces))]);
    }
}

void json_random_string(struct sl_buf *out, uint64_t *state)
{
    static const char *const hard[] = {
        "\\\"",
        "\\\\",
        "\\n",
        "\\/",
        "\\u0041",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\u0000",
        "é",
        "😀",
        "\\\\\\\"",
        "\x7f",
        "€",
        "\\b\\f\\r\\t",
        "{\\\"a\\\":1,\\\"b\\\":{\\\"c\\\":\\\"x\\\"}}",
        "\xEF\xBF\xBF",
        "\\u20AC",
        "\\uFFFF",
        "a/b=c%20d",
    };
    /* Not valid anywhere: chosen seldom. */
    static const char *const bad[] = {"\\x",
                                      "\\u12G4",
                                      "\\uD800",
                                      "\\uDC00",
                                      "\\uD83D\\u0041",
                                      "\xC0\x80",
                                      "\xED\xA0\x80",
                                      "\xF4\x90\x80\x80",
                                      "\xE2\x82",
                                      "\x01",
                                      "\x1f",
                                      "\n",
                                      "\xFF",
                                      "\\u1",
                                      "\\"};
    sl_buf_put_char(out, '"');
    const uint64_t n = json_random_below(state, 8) == 0 ? json_random_below(state, 40) : json_random_below(state, 5);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t choice = json_random_below(state, 300);
        if (choice == 0) {
            sl_buf_put_c(out, bad[json_random_below(state, COUNT(bad))]);
        } else if (choice < 120) {
            sl_buf_put_c(out, hard[json_random_below(state, COUNT(hard))]);
        } else {
            static const char plain[] = "part-00000-c1b1a5e0-0000-4000-8000-0123456789ab.c000.snappy.parquet "
                                        "plain text of some length for whole blocks of it";
            sl_buf_put(out, plain, (size_t)json_random_below(state, sizeof(plain)));
        }
    }
    sl_buf_put_char(out, '"');
}

void json_random_number(struct sl_buf *out, uint64_t *state)
{
    static const char *const numbers[] = {"0",
                                          "-0",
                                          "7",
                                          "1e3",
                                          "1E+2",
                                          "5.0",
                                          "-1.50",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775808",
                                          "1e400",
                                          "123456789012345678901234567890.5",
                                          "100000000000000000",
                                          "999999999999999999",
                                          "1234567890123456789",
                                          "0.1e-7"};
    static const char *const bad[] = {"01", "-",   "1.",  ".5",       "+1",  "1e", "1e+",
                                      "-a", "0x1", "NaN", "Infinity", "--1", "00"};
    const uint64_t choice = json_random_below(state, 200);
    if (choice == 0) {
        sl_buf_put_c(out, bad[json_random_below(state, COUNT(bad))]);
    } else if (choice < 80) {
        sl_buf_put_c(out, numbers[json_random_below(state, COUNT(numbers))]);
    } else {
        sl_buf_put_i64(out, (int64_t)(json_random_next(state) >> json_random_below(state, 64)));
    }
}

static void put_container(struct sl_buf *out, uint64_t *state, unsigned depth, bool is_object)
{
    sl_buf_put_char(out, is_object ? '{' : '[');
    const uint64_t n = json_random_below(state, 4);
    for (uint64_t i = 0; i < n; i++) {
        if (i > 0) {
            sl_buf_put_char(out, ',');
        }
        json_random_space(out, state);
        if (is_object) {
            json_random_string(out, state);
            json_random_space(out, state);
            sl_buf_put_char(out, ':');
        }
        json_random_value(out, state, depth + 1);
    }
    json_random_space(out, state);
    sl_buf_put_char(out, is_object ? '}' : ']');
}

void json_random_value(struct sl_buf *out, uint64_t *state, unsigned depth)
{
    json_random_space(out, state);
    switch (json_random_below(state, depth < 6 ? 8 : 5)) {
    case 0: sl_buf_put_c(out, "null"); break;
    case 1: sl_buf_put_c(out, json_random_below(state, 2) == 0 ? "true" : "false"); break;
    case 2: json_random_number(out, state); break;
    case 3:
    case 4: json_random_string(out, state); break;
    default: put_container(out, state, depth, json_random_below(state, 2) == 0); break;
    }
    json_random_space(out, state);
}

void json_random_mutate(struct sl_buf *text, uint64_t *state)
{
    static const char letters[] = "\"\\{}[],:0123456789-+.eEtrufalsn \n\r\t\0\x01\x7f\x80\xC3\xA9\xFF/u";
    const uint64_t n = 1 + json_random_below(state, 3);
    for (uint64_t i = 0; i < n && text->len > 0; i++) {
        const size_t at = (size_t)json_random_below(state, text->len);
        const char letter = letters[json_random_below(state, sizeof(letters) - 1)];
        switch (json_random_below(state, 4)) {
        case 0: text->data[at] = letter; break;
        case 1:
            memmove(text->data + at, text->data + at + 1, text->len - at - 1);
            text->len--;
            break;
        case 2:
            sl_buf_put_char(text, letter);
            memmove(text->data + at + 1, text->data + at, text->len - at - 1);
            text->data[at] = letter;
            break;
        default: text->len = at + 1; break; /* torn */
        }
    }
}
