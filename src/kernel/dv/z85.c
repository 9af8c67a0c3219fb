/*
 * Z85; see z85.h.
 */
#include "kernel/dv/z85.h"

enum {
    BASE = 85,
    GROUP_CHARS = 5,
    GROUP_BYTES = 4,
    NO_DIGIT = 0xFF,
    SHORT_MARK = '#'
};

static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

static void fill_values(uint8_t values[256])
{
    memset(values, NO_DIGIT, 256);
    for (uint8_t i = 0; i < BASE; i++) {
        values[(uint8_t)DIGITS[i]] = i;
    }
}

/* The number that characters stand for; false for one that is no digit. At most five, so that it fits. */
static bool read_number(const uint8_t values[256], struct sl_str digits, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        const uint8_t digit = values[(uint8_t)digits.ptr[i]];
        if (digit == NO_DIGIT) {
            return false;
        }
        *out = *out * BASE + digit;
    }
    return true;
}

static void put_bytes(uint8_t *out, uint64_t number, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(number >> (8 * (n - 1 - i)));
    }
}

bool sl_z85_decode(struct sl_str text, uint8_t *out)
{
    uint8_t values[256];
    if (text.len % GROUP_CHARS != 0) {
        return false;
    }
    fill_values(values);
    for (size_t i = 0; i < text.len; i += GROUP_CHARS) {
        uint64_t number = 0;
        if (!read_number(values, sl_str_sub(text, i, i + GROUP_CHARS), &number) || number > UINT32_MAX) {
            return false;
        }
        put_bytes(out, number, GROUP_BYTES);
        out += GROUP_BYTES;
    }
    return true;
}

bool sl_z85_decode_short(struct sl_str text, uint8_t *out, size_t *n)
{
    uint8_t values[256];
    size_t missing = 0;
    *n = text.len / GROUP_CHARS * GROUP_BYTES;
    if (text.len % GROUP_CHARS != 0 || text.len == 0 || text.ptr[text.len - GROUP_CHARS] != SHORT_MARK) {
        return sl_z85_decode(text, out);
    }
    const struct sl_str tail = sl_str_sub(text, text.len - GROUP_CHARS, text.len);
    while (missing < GROUP_CHARS && tail.ptr[missing] == SHORT_MARK) {
        missing++;
    }
    uint64_t number = 0;
    fill_values(values);
    if (missing >= GROUP_BYTES || !read_number(values, sl_str_sub(tail, missing, GROUP_CHARS), &number) ||
        number >> (8 * (GROUP_BYTES - missing)) != 0) {
        return false;
    }
    put_bytes(out + *n - GROUP_BYTES, number, GROUP_BYTES - missing);
    *n -= missing;
    return sl_z85_decode(sl_str_sub(text, 0, text.len - GROUP_CHARS), out);
}

void sl_z85_encode(struct sl_buf *out, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += GROUP_BYTES) {
        uint32_t number = 0;
        for (size_t j = 0; j < GROUP_BYTES; j++) {
            number = number << 8 | (i + j < n ? bytes[i + j] : 0U);
        }
        char text[GROUP_CHARS];
        for (size_t j = GROUP_CHARS; j > 0; j--) {
            text[j - 1] = DIGITS[number % BASE];
            number /= BASE;
        }
        sl_buf_put(out, text, sizeof(text));
    }
}
