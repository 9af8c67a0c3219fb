/*
 * Display widths; see text_width.h.
 */
#include "cli/text_width.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"

void sl_text_use_utf8(void)
{
    if (setlocale(LC_CTYPE, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
        (void)setlocale(LC_CTYPE, "C.UTF-8"); /* where it is missing, widths are less exact */
    }
}

static size_t char_width(uint32_t code_point)
{
    if (code_point < 0x300) {
        return 1;
    }
    const int width = wcwidth((wchar_t)code_point);
    return width < 0 ? 1 : (size_t)width;
}

static bool is_ascii(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/* As sl_text_fit. */
static size_t measure(struct sl_str text, size_t limit, size_t *used)
{
    size_t pos = 0;
    size_t end = 0;
    uint32_t code_point = 0;

    *used = 0;
    while (sl_utf8_next(text, &pos, &code_point)) {
        const size_t width = char_width(code_point);
        if (width > limit - *used) {
            break;
        }
        *used += width;
        end = pos;
    }
    return end;
}

size_t sl_text_width(struct sl_str text)
{
    size_t used = 0;
    if (is_ascii(text)) {
        return text.len;
    }
    (void)measure(text, SIZE_MAX, &used);
    return used;
}

size_t sl_text_fit(struct sl_str text, size_t cells, size_t *used)
{
    return measure(text, cells, used);
}

static bool is_displayable(struct sl_str text)
{
    size_t pos = 0;
    uint32_t code_point = 0;
    while (sl_utf8_next(text, &pos, &code_point)) {
        if (code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0)) {
            return false;
        }
    }
    return pos == text.len;
}

static size_t escape_byte(unsigned char byte, char out[5])
{
    static const struct {
        unsigned char byte;
        const char *text;
    } names[] = {{'\n', "\\n"}, {'\t', "\\t"}, {'\r', "\\r"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].byte == byte) {
            return (size_t)snprintf(out, 5, "%s", names[i].text);
        }
    }
    return (size_t)snprintf(out, 5, "\\x%02x", (unsigned)byte);
}

struct sl_str sl_text_displayable(struct sl_arena *arena, struct sl_str text)
{
    size_t pos = 0;
    size_t n = 0;
    if (is_displayable(text)) {
        return text;
    }
    char *out = sl_arena_alloc_array(arena, text.len + 1, 4); /* \x1b for one byte */
    if (out == NULL) {
        return (struct sl_str){0};
    }
    while (pos < text.len) {
        const size_t begin = pos;
        uint32_t code_point = 0;
        char escaped[5];
        const bool valid = sl_utf8_next(text, &pos, &code_point);
        if (valid && code_point >= 0x20 && (code_point < 0x7F || code_point >= 0xA0)) {
            memcpy(out + n, text.ptr + begin, pos - begin);
            n += pos - begin;
            continue;
        }
        pos = valid ? pos : begin + 1;
        for (size_t i = begin; i < pos; i++) {
            const size_t len = escape_byte((unsigned char)text.ptr[i], escaped);
            memcpy(out + n, escaped, len);
            n += len;
        }
    }
    return sl_str_make(out, n);
}
