/*
 * UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF. Pure functions, any thread.
 */
#include "base/utf8.h"

#include <string.h>

bool sl_utf8_next(struct sl_str s, size_t *pos, uint32_t *code_point)
{
    if (*pos >= s.len) {
        return false;
    }
    const unsigned char *bytes = (const unsigned char *)s.ptr + *pos;
    const size_t left = s.len - *pos;
    const unsigned char first = bytes[0];
    if (first < 0x80) {
        *code_point = first;
        *pos += 1;
        return true;
    }
    size_t n = 0;
    uint32_t value = 0;
    uint32_t least = 0;
    if (first >= 0xC2 && first < 0xE0) {
        n = 2;
        value = first & 0x1Fu;
        least = 0x80;
    } else if (first >= 0xE0 && first < 0xF0) {
        n = 3;
        value = first & 0x0Fu;
        least = 0x800;
    } else if (first >= 0xF0 && first < 0xF5) {
        n = 4;
        value = first & 0x07u;
        least = 0x10000;
    }
    if (n == 0 || n > left) {
        return false;
    }
    for (size_t i = 1; i < n; i++) {
        if ((bytes[i] & 0xC0u) != 0x80u) {
            return false;
        }
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    if (value < least || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        return false;
    }
    *code_point = value;
    *pos += n;
    return true;
}

/* Behind the ASCII from `pos` on, or near its end. */
static size_t skip_ascii(struct sl_str s, size_t pos)
{
    uint64_t bytes = 0;
    while (s.len - pos >= sizeof(bytes)) {
        memcpy(&bytes, s.ptr + pos, sizeof(bytes));
        if ((bytes & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
        pos += sizeof(bytes);
    }
    return pos;
}

bool sl_utf8_valid(struct sl_str s)
{
    size_t pos = skip_ascii(s, 0);
    uint32_t code_point = 0;
    while (sl_utf8_next(s, &pos, &code_point)) {
        pos = code_point < 0x80 ? skip_ascii(s, pos) : pos;
    }
    return pos == s.len;
}

size_t sl_utf8_encode(uint32_t code_point, char out[4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xC0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3F));
        return 2;
    }
    if (code_point >= 0xD800 && code_point < 0xE000) {
        return 0;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xE0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code_point & 0x3F));
        return 3;
    }
    if (code_point <= 0x10FFFF) {
        out[0] = (char)(0xF0 | code_point >> 18);
        out[1] = (char)(0x80 | (code_point >> 12 & 0x3F));
        out[2] = (char)(0x80 | (code_point >> 6 & 0x3F));
        out[3] = (char)(0x80 | (code_point & 0x3F));
        return 4;
    }
    return 0;
}

size_t sl_utf8_prefix(struct sl_str s, size_t n)
{
    size_t pos = 0;
    for (size_t i = 0; i < n && pos < s.len; i++) {
        uint32_t code_point = 0;
        if (!sl_utf8_next(s, &pos, &code_point)) {
            pos++;
        }
    }
    return pos;
}
