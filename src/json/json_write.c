/*
 * Writing JSON onto a buffer: the writer for new texts, and the printing of parsed values. What cannot be JSON is made so:
 * invalid UTF-8 becomes U+FFFD, numbers that are not finite become null. Failures stick to the buffer. One owner.
 */
#include "json/writer.h"

#include <string.h>

#include "base/utf8.h"
#include "json/json.h"

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Whether any of eight bytes is zero, told by the high bit of each; what lies behind a zero may be told as well. */
static uint64_t zero_bytes(uint64_t bytes)
{
    return (bytes - EACH_BYTE(0x01)) & ~bytes;
}

/* The first byte from `pos` on that is not ASCII or must be escaped. */
static size_t skip_plain(struct sl_str text, size_t pos)
{
    for (uint64_t bytes = 0; text.len - pos >= sizeof(bytes); pos += sizeof(bytes)) {
        memcpy(&bytes, text.ptr + pos, sizeof(bytes));
        const uint64_t special = bytes | (bytes - EACH_BYTE(0x20)) | zero_bytes(bytes ^ EACH_BYTE('"')) |
                                 zero_bytes(bytes ^ EACH_BYTE('\\'));
        if ((special & EACH_BYTE(0x80)) != 0) {
            break;
        }
    }
    while (pos < text.len) {
        const unsigned char c = (unsigned char)text.ptr[pos];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') {
            break;
        }
        pos++;
    }
    return pos;
}

void sl_json_escape(struct sl_buf *out, struct sl_str text)
{
    static const char hex[] = "0123456789abcdef";
    size_t pos = 0;
    size_t plain = 0; /* start of what needs no escape and is not yet written */
    while ((pos = skip_plain(text, pos)) < text.len) {
        const size_t begin = pos;
        uint32_t code_point = 0;
        const bool is_valid = sl_utf8_next(text, &pos, &code_point);
        if (is_valid && code_point >= 0x20 && code_point != '"' && code_point != '\\') {
            continue;
        }
        sl_buf_put(out, text.ptr + plain, begin - plain);
        if (!is_valid) {
            sl_buf_put_c(out, "\xEF\xBF\xBD");
            pos++;
        } else if (code_point == '"') {
            sl_buf_put_c(out, "\\\"");
        } else if (code_point == '\\') {
            sl_buf_put_c(out, "\\\\");
        } else if (code_point == '\n') {
            sl_buf_put_c(out, "\\n");
        } else if (code_point == '\r') {
            sl_buf_put_c(out, "\\r");
        } else if (code_point == '\t') {
            sl_buf_put_c(out, "\\t");
        } else {
            const char escape[6] = {'\\', 'u', '0', '0', hex[code_point >> 4], hex[code_point & 0xF]};
            sl_buf_put(out, escape, sizeof(escape));
        }
        plain = pos;
    }
    if (text.len > plain) {
        sl_buf_put(out, text.ptr + plain, text.len - plain);
    }
}

static void begin_value(struct sl_json_writer *w)
{
    if (w->need_comma) {
        sl_buf_put_char(w->out, ',');
    }
    w->need_comma = true;
}

static void put_quoted(struct sl_buf *out, struct sl_str text)
{
    sl_buf_put_char(out, '"');
    sl_json_escape(out, text);
    sl_buf_put_char(out, '"');
}

void sl_json_writer_init(struct sl_json_writer *w, struct sl_buf *out)
{
    *w = (struct sl_json_writer){.out = out};
}

void sl_json_begin_object(struct sl_json_writer *w)
{
    begin_value(w);
    sl_buf_put_char(w->out, '{');
    w->need_comma = false;
}

void sl_json_end_object(struct sl_json_writer *w)
{
    sl_buf_put_char(w->out, '}');
    w->need_comma = true;
}

void sl_json_begin_array(struct sl_json_writer *w)
{
    begin_value(w);
    sl_buf_put_char(w->out, '[');
    w->need_comma = false;
}

void sl_json_end_array(struct sl_json_writer *w)
{
    sl_buf_put_char(w->out, ']');
    w->need_comma = true;
}

void sl_json_key(struct sl_json_writer *w, struct sl_str key)
{
    begin_value(w);
    put_quoted(w->out, key);
    sl_buf_put_char(w->out, ':');
    w->need_comma = false;
}

void sl_json_key_c(struct sl_json_writer *w, const char *key)
{
    sl_json_key(w, sl_str_from(key));
}

void sl_json_put_null(struct sl_json_writer *w)
{
    sl_json_put_raw(w, SL_STR("null"));
}

void sl_json_put_str(struct sl_json_writer *w, struct sl_str text)
{
    if (text.ptr == NULL) {
        sl_json_put_null(w);
        return;
    }
    begin_value(w);
    put_quoted(w->out, text);
}

void sl_json_put_c(struct sl_json_writer *w, const char *text)
{
    sl_json_put_str(w, sl_str_from(text));
}

void sl_json_put_i64(struct sl_json_writer *w, int64_t value)
{
    begin_value(w);
    if (value >= 0 && value <= 9) { /* most numbers of a histogram */
        sl_buf_put_char(w->out, (char)('0' + value));
        return;
    }
    sl_buf_put_i64(w->out, value);
}

void sl_json_put_f64(struct sl_json_writer *w, double value)
{
    /* The difference is NaN for infinities and NaN, 0 for numbers. */
    if (value - value != 0) {
        sl_json_put_null(w);
        return;
    }
    begin_value(w);
    sl_buf_put_f64(w->out, value);
}

void sl_json_put_bool(struct sl_json_writer *w, bool value)
{
    sl_json_put_raw(w, value ? SL_STR("true") : SL_STR("false"));
}

void sl_json_put_raw(struct sl_json_writer *w, struct sl_str json)
{
    begin_value(w);
    sl_buf_put_str(w->out, json);
}

/* Recursion is bounded: documents nest at most SL_JSON_MAX_DEPTH levels. */
static void write_value(struct sl_json_writer *w, const sl_json *value)
{
    struct sl_str text = {NULL, 0};
    bool truth = false;
    struct sl_json_iter iter;
    switch (sl_json_get_kind(value)) {
    case SL_JSON_BOOL: sl_json_put_bool(w, sl_json_to_bool(value, &truth) && truth); return;
    case SL_JSON_NUMBER:
        if (sl_json_to_number_text(value, &text)) {
            sl_json_put_raw(w, text);
        }
        return;
    case SL_JSON_STRING:
        if (sl_json_to_str(value, &text)) {
            sl_json_put_str(w, text);
        }
        return;
    case SL_JSON_ARRAY:
        sl_json_begin_array(w);
        iter = sl_json_iterate(value);
        while (sl_json_next(&iter, NULL, &value)) {
            write_value(w, value);
        }
        sl_json_end_array(w);
        return;
    case SL_JSON_OBJECT:
        sl_json_begin_object(w);
        iter = sl_json_iterate(value);
        while (sl_json_next(&iter, &text, &value)) {
            sl_json_key(w, text);
            write_value(w, value);
        }
        sl_json_end_object(w);
        return;
    default: sl_json_put_null(w); return;
    }
}

void sl_json_write(struct sl_buf *out, const sl_json *value)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    write_value(&w, value);
}
