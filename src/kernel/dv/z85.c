/*
 * Z85; see z85.h.
 */
#include "kernel/dv/z85.h"

enum {
    BASE = 85,
    GROUP_CHARS = 5,
    GROUP_BYTES = 4,
    NO_DIGIT = 0xFF
};

static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

static void fill_values(uint8_t values[256])
{
    memset(values, NO_DIGIT, 256);
    for (uint8_t i = 0; i < BASE; i++) {
        values[(uint8_t)DIGITS[i]] = i;
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
        for (size_t j = 0; j < GROUP_CHARS; j++) {
            const uint8_t digit = values[(uint8_t)text.ptr[i + j]];
            if (digit == NO_DIGIT) {
                return false;
            }
            number = number * BASE + digit;
        }
        if (number > UINT32_MAX) {
            return false;
        }
        *out++ = (uint8_t)(number >> 24);
        *out++ = (uint8_t)(number >> 16);
        *out++ = (uint8_t)(number >> 8);
        *out++ = (uint8_t)number;
    }
    return true;
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
