/*
 * The pull scanner; see scan.h. Text is looked at in blocks where there is enough of it; every other step checks the end before
 * each byte. What is valid is defined by RFC 8259 as the parser behind json.h takes it: UTF-8 without surrogates, no control
 * characters in strings, surrogate escapes in pairs only, nesting up to SL_JSON_MAX_DEPTH. Pure.
 */
#include "json/scan.h"

#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "json/text.h"

/* ---- strings ---- */

/* Four hex digits. */
static bool read_unit(const char *at, const char *end, uint32_t *unit)
{
    *unit = 0;
    if (end - at < 4) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        const int digit = sl_hex_digit(at[i]);
        if (digit < 0) {
            return false;
        }
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

/* A \u escape, or a pair of them, whose backslash is at `at`: its end, or NULL. */
static const char *read_code_point(const char *at, const char *end, uint32_t *code_point)
{
    uint32_t low = 0;
    if (!read_unit(at + 2, end, code_point)) {
        return NULL;
    }
    at += 6;
    if (*code_point < 0xD800 || *code_point > 0xDFFF) {
        return at;
    }
    if (*code_point > 0xDBFF || end - at < 6 || at[0] != '\\' || at[1] != 'u' || !read_unit(at + 2, end, &low) ||
        low < 0xDC00 || low > 0xDFFF) {
        return NULL;
    }
    *code_point = 0x10000 + ((*code_point - 0xD800) << 10 | (low - 0xDC00));
    return at + 6;
}

/* What a letter behind a backslash stands for; 0 if for nothing. */
static char escaped_char(char letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
    }
}

/* Decodes the escape at `at` into out (at most 4 bytes). Its end, or NULL. */
static const char *read_escape(const char *at, const char *end, char *out, size_t *len)
{
    *len = 0;
    if (end - at < 2) {
        return NULL;
    }
    if (at[1] == 'u') {
        uint32_t code_point = 0;
        const char *after = read_code_point(at, end, &code_point);
        *len = after != NULL ? sl_utf8_encode(code_point, out) : 0;
        return after;
    }
    out[0] = escaped_char(at[1]);
    *len = 1;
    return out[0] != 0 ? at + 2 : NULL;
}

/* The end of a run of characters beyond ASCII; NULL if they are no UTF-8. */
static const char *pass_wide(const char *at, const char *end)
{
    const struct sl_str text = {at, (size_t)(end - at)};
    size_t pos = 0;
    uint32_t code_point = 0;
    while (pos < text.len && (unsigned char)text.ptr[pos] >= 0x80) {
        if (!sl_utf8_next(text, &pos, &code_point)) {
            return NULL;
        }
    }
    return at + pos;
}

const char *sl_json_text_pass(const char *at, const char *end, bool *has_escapes)
{
    char letter[4];
    size_t len = 0;
    *has_escapes = false;
    while (at != NULL) {
        at += sl_plain_run(at, (size_t)(end - at));
        if (at == end || (unsigned char)*at < 0x20) {
            return NULL;
        }
        if (*at == '"') {
            return at;
        }
        if (*at == '\\') {
            *has_escapes = true;
            at = read_escape(at, end, letter, &len);
        } else {
            at = pass_wide(at, end);
        }
    }
    return NULL;
}

/* Copies runs of any length by blocks that reach beyond their ends: both sides have the room. */
static inline void copy_run(char *out, const char *from, size_t len)
{
    memcpy(out, from, 16);
    for (size_t i = 16; i < len; i += 16) {
        memcpy(out + i, from + i, 16);
    }
}

/* One step of decoding that is not only plain text and escaped quotes. NULL for what is invalid, and at the closing quote. */
static const char *decode_step(const char *at, const char *end, char **out)
{
    const size_t run = sl_plain_run(at, (size_t)(end - at));
    memcpy(*out, at, run);
    *out += run;
    at += run;
    if (at == end || *at == '"' || (unsigned char)*at < 0x20) {
        return at;
    }
    size_t len = 0;
    if (*at == '\\') {
        const char *after = read_escape(at, end, *out, &len);
        *out += len;
        return after;
    }
    const char *after = pass_wide(at, end);
    if (after != NULL) {
        memcpy(*out, at, (size_t)(after - at));
        *out += after - at;
    }
    return after;
}

const char *sl_json_text_take(const char *at, const char *end, char *out, size_t *len)
{
    char *const begin = out;
    *len = 0;
    for (;;) {
        while (end - at >= SL_BYTES_BLOCK + 16) {
            const struct sl_byte_masks masks = sl_byte_masks(at);
            /* A block is taken up to its first byte that is neither plain nor an escaped quote. */
            const uint64_t lone_quotes = masks.quote & ~(masks.backslash << 1);
            const uint64_t stops = lone_quotes | masks.other | (masks.backslash & ~(masks.quote >> 1));
            const unsigned n = stops != 0 ? sl_lowest_bit(stops) : SL_BYTES_BLOCK;
            uint64_t escapes = n < SL_BYTES_BLOCK ? masks.backslash & ((UINT64_C(1) << n) - 1) : masks.backslash;
            size_t from = 0;
            for (; escapes != 0; escapes &= escapes - 1) {
                const size_t to = sl_lowest_bit(escapes);
                copy_run(out, at + from, to - from);
                out += to - from;
                from = to + 1;
            }
            copy_run(out, at + from, n - from);
            out += n - from;
            at += n;
            if (n < SL_BYTES_BLOCK) {
                break;
            }
        }
        const char *next = decode_step(at, end, &out);
        if (next == NULL || next == end || (unsigned char)*next < 0x20) {
            return NULL;
        }
        at = next;
        if (*at == '"') {
            *len = (size_t)(out - begin);
            return at;
        }
    }
}

size_t sl_json_text_room(const struct sl_json_text *text)
{
    return text->raw.len + SL_JSON_TEXT_SLACK;
}

size_t sl_json_text_decode(const struct sl_json_text *text, char *out)
{
    size_t len = 0;
    /* The closing quote stands behind every text that a scanner gave. */
    const char *end = text->raw.ptr + text->raw.len + 1;
    return sl_json_text_take(text->raw.ptr, end, out, &len) != NULL ? len : 0;
}

bool sl_json_text_is(const struct sl_json_text *text, struct sl_str plain)
{
    if (!text->has_escapes) {
        return sl_str_eq(text->raw, plain);
    }
    const char *at = text->raw.ptr;
    const char *end = at + text->raw.len;
    size_t done = 0;
    while (at < end) {
        char letters[4] = {*at};
        size_t len = 1;
        const char *after = *at == '\\' ? read_escape(at, end, letters, &len) : at + 1;
        if (after == NULL || plain.len - done < len || memcmp(plain.ptr + done, letters, len) != 0) {
            return false;
        }
        done += len;
        at = after;
    }
    return done == plain.len;
}

/* ---- the scanner ---- */

void sl_json_scan_init(struct sl_json_scan *scan, struct sl_str text)
{
    const char *begin = text.len > 0 ? text.ptr : "";
    *scan = (struct sl_json_scan){.begin = begin, .at = begin, .end = begin + text.len};
}

static bool fail(struct sl_json_scan *scan, const char *fault)
{
    if (scan->fault == NULL) {
        scan->fault = fault;
    }
    return false;
}

static inline void pass_space(struct sl_json_scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r')) {
        scan->at++;
    }
}

/* The next character behind white space; 0 at the end (a NUL in the text is no better) and after a fault. */
static inline char next_char(struct sl_json_scan *scan)
{
    if (scan->fault != NULL) {
        return 0;
    }
    pass_space(scan);
    return scan->at < scan->end ? *scan->at : 0;
}

static bool take_text(struct sl_json_scan *scan, struct sl_str *raw, bool *has_escapes)
{
    const char *begin = scan->at + 1;
    const char *quote = sl_json_text_pass(begin, scan->end, has_escapes);
    if (quote == NULL) {
        return fail(scan, "a string does not end, or holds what no string may hold");
    }
    *raw = sl_str_make(begin, (size_t)(quote - begin));
    scan->at = quote + 1;
    return true;
}

static const char *pass_digits(const char *at, const char *end)
{
    while (at < end && sl_is_digit(*at)) {
        at++;
    }
    return at;
}

static bool take_number(struct sl_json_scan *scan, struct sl_str *raw)
{
    const char *const begin = scan->at;
    const char *const end = scan->end;
    const char *at = begin + (*begin == '-' ? 1 : 0);
    const char *digits = at;
    at = pass_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1)) {
        return fail(scan, "a number has no digits, or begins with 0");
    }
    if (at < end && *at == '.') {
        digits = ++at;
        at = pass_digits(at, end);
        if (at == digits) {
            return fail(scan, "a number has no digit behind its point");
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-') ? 1 : 0;
        digits = at;
        at = pass_digits(at, end);
        if (at == digits) {
            return fail(scan, "a number has no digit in its exponent");
        }
    }
    *raw = sl_str_make(begin, (size_t)(at - begin));
    scan->at = at;
    return true;
}

static bool take_word(struct sl_json_scan *scan, struct sl_str word, struct sl_str *raw)
{
    if ((size_t)(scan->end - scan->at) < word.len || memcmp(scan->at, word.ptr, word.len) != 0) {
        return fail(scan, "a value is expected");
    }
    *raw = sl_str_make(scan->at, word.len);
    scan->at += word.len;
    return true;
}

static bool enter(struct sl_json_scan *scan, char bracket)
{
    if (next_char(scan) != bracket) {
        return fail(scan, bracket == '{' ? "an object is expected" : "an array is expected");
    }
    if (scan->depth == SL_JSON_MAX_DEPTH) {
        return fail(scan, "values nest too deep");
    }
    scan->at++;
    scan->depth++;
    scan->fresh = true;
    return true;
}

bool sl_json_scan_object(struct sl_json_scan *scan)
{
    return enter(scan, '{');
}

bool sl_json_scan_array(struct sl_json_scan *scan)
{
    return enter(scan, '[');
}

/* Is there another item? At the closing bracket the container is left. */
static bool next_item(struct sl_json_scan *scan, char bracket)
{
    const char c = next_char(scan);
    if (c == bracket && scan->depth > 0) {
        scan->at++;
        scan->depth--;
        scan->fresh = false;
        return false;
    }
    if (scan->fault != NULL) {
        return false;
    }
    if (scan->fresh) {
        scan->fresh = false;
        return true;
    }
    if (c != ',') {
        return fail(scan, "a comma or a closing bracket is expected");
    }
    scan->at++;
    return true;
}

bool sl_json_scan_member(struct sl_json_scan *scan, struct sl_json_text *key)
{
    *key = (struct sl_json_text){.has_escapes = false};
    if (!next_item(scan, '}')) {
        return false;
    }
    if (next_char(scan) != '"') {
        return fail(scan, "a member's name is expected");
    }
    if (!take_text(scan, &key->raw, &key->has_escapes)) {
        return false;
    }
    if (next_char(scan) != ':') {
        return fail(scan, "a colon is expected");
    }
    scan->at++;
    return true;
}

bool sl_json_scan_element(struct sl_json_scan *scan)
{
    return next_item(scan, ']') && (next_char(scan) != ']' || fail(scan, "a value is expected behind a comma"));
}

enum sl_json_kind sl_json_scan_peek(struct sl_json_scan *scan)
{
    const char c = next_char(scan);
    switch (c) {
    case '{': return SL_JSON_OBJECT;
    case '[': return SL_JSON_ARRAY;
    case '"': return SL_JSON_STRING;
    case 't':
    case 'f': return SL_JSON_BOOL;
    default: return c == '-' || sl_is_digit(c) ? SL_JSON_NUMBER : SL_JSON_NULL;
    }
}

static bool take_scalar(struct sl_json_scan *scan, struct sl_json_token *out)
{
    out->kind = sl_json_scan_peek(scan);
    switch (out->kind) {
    case SL_JSON_STRING: return take_text(scan, &out->raw, &out->has_escapes);
    case SL_JSON_NUMBER: return take_number(scan, &out->raw);
    case SL_JSON_BOOL: return take_word(scan, *scan->at == 't' ? SL_STR("true") : SL_STR("false"), &out->raw);
    default: return take_word(scan, SL_STR("null"), &out->raw);
    }
}

/* Consumes a container without recursion: a bit for each open one says whether it is an object. */
static bool take_container(struct sl_json_scan *scan)
{
    unsigned char is_object[SL_JSON_MAX_DEPTH / 8] = {0};
    const unsigned outside = scan->depth;
    struct sl_json_token scalar;
    struct sl_json_text key;
    enum sl_json_kind kind = sl_json_scan_peek(scan);
    do {
        if (kind == SL_JSON_OBJECT || kind == SL_JSON_ARRAY) {
            if (!enter(scan, kind == SL_JSON_OBJECT ? '{' : '[')) {
                return false;
            }
            const unsigned bit = 1U << (scan->depth - 1) % 8;
            unsigned char *byte = &is_object[(scan->depth - 1) / 8];
            *byte = (unsigned char)(kind == SL_JSON_OBJECT ? *byte | bit : *byte & ~bit);
        } else if (!take_scalar(scan, &scalar)) {
            return false;
        }
        bool more = false; /* is there another value in an open container? */
        while (!more && scan->fault == NULL && scan->depth > outside) {
            const unsigned level = scan->depth - 1;
            const bool in_object = (is_object[level / 8] >> level % 8 & 1) != 0;
            more = in_object ? sl_json_scan_member(scan, &key) : sl_json_scan_element(scan);
        }
        if (more) { /* else white space behind the container is not its own */
            kind = sl_json_scan_peek(scan);
        }
    } while (scan->fault == NULL && scan->depth > outside);
    return scan->fault == NULL;
}

bool sl_json_scan_value(struct sl_json_scan *scan, struct sl_json_token *out)
{
    *out = (struct sl_json_token){.kind = sl_json_scan_peek(scan)};
    if (scan->fault != NULL) {
        return false;
    }
    scan->fresh = false;
    if (out->kind != SL_JSON_OBJECT && out->kind != SL_JSON_ARRAY) {
        return take_scalar(scan, out);
    }
    const char *begin = scan->at;
    if (!take_container(scan)) {
        return false;
    }
    out->raw = sl_str_make(begin, (size_t)(scan->at - begin));
    return true;
}

bool sl_json_scan_skip(struct sl_json_scan *scan)
{
    struct sl_json_token token;
    return sl_json_scan_value(scan, &token);
}

bool sl_json_scan_end(struct sl_json_scan *scan)
{
    if (scan->fault != NULL) {
        return false;
    }
    pass_space(scan);
    return (scan->at == scan->end && scan->depth == 0) || fail(scan, "something stands behind the value");
}
