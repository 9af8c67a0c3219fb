/*
 * What a token says: names and strings without their quotes and escapes. Called by the statements' parsers. Pure; any thread.
 */
#include "base/arena.h"
#include "base/utf8.h"
#include "sql/lexer.h"

/* Inside of a quoted token with doubled quotes made single. */
static struct sl_str undouble(struct sl_arena *arena, struct sl_str inside, char quote)
{
    char *out = sl_arena_alloc(arena, inside.len + 1);
    size_t n = 0;
    if (out == NULL) {
        return (struct sl_str){0};
    }
    for (size_t i = 0; i < inside.len; i++) {
        out[n++] = inside.ptr[i];
        if (inside.ptr[i] == quote && i + 1 < inside.len && inside.ptr[i + 1] == quote) {
            i++;
        }
    }
    out[n] = '\0';
    return sl_str_make(out, n);
}

struct sl_str sl_token_name(struct sl_arena *arena, const struct sl_token *token)
{
    struct sl_str text = token->text;
    if (token->kind == SL_TOK_BACKTICK || token->kind == SL_TOK_DQUOTE || token->kind == SL_TOK_STRING) {
        return undouble(arena, sl_str_sub(text, 1, text.len - 1), text.ptr[0]);
    }
    return sl_arena_copy(arena, text);
}

/* $tag$…$tag$ without its tags. */
static struct sl_str dollar_inside(struct sl_str text)
{
    size_t tag = 1 + sl_str_find(sl_str_sub(text, 1, text.len), SL_STR("$")) + 1;
    return sl_str_sub(text, tag, text.len - tag);
}

/* Four hex digits behind \u; false if they are not there. */
static bool unicode_escape(struct sl_str inside, size_t pos, uint32_t *out)
{
    uint32_t value = 0;
    if (pos + 4 > inside.len) {
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        int digit = sl_hex_digit(inside.ptr[pos + i]);
        if (digit < 0) {
            return false;
        }
        value = value * 16 + (uint32_t)digit;
    }
    *out = value;
    return true;
}

static char simple_escape(char c)
{
    switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case '0': return '\0';
    default: return c;
    }
}

/* Backslash escapes as Spark reads them; a pair of quotes is one. */
static struct sl_str unescape(struct sl_arena *arena, struct sl_str inside, char quote)
{
    char *out = sl_arena_alloc(arena, inside.len + 1);
    size_t n = 0;
    if (out == NULL) {
        return (struct sl_str){0};
    }
    for (size_t i = 0; i < inside.len; i++) {
        char c = inside.ptr[i];
        uint32_t code_point = 0;
        if (c == quote && i + 1 < inside.len && inside.ptr[i + 1] == quote) {
            out[n++] = quote;
            i++;
        } else if (c != '\\' || i + 1 >= inside.len) {
            out[n++] = c;
        } else if (inside.ptr[i + 1] == 'u' && unicode_escape(inside, i + 2, &code_point)) {
            size_t len = sl_utf8_encode(code_point, out + n); /* at most 3 bytes for 6 of source */
            n += len;
            i += 5;
        } else if (inside.ptr[i + 1] == '%' || inside.ptr[i + 1] == '_') {
            out[n++] = c; /* patterns keep their escape */
        } else {
            out[n++] = simple_escape(inside.ptr[++i]);
        }
    }
    out[n] = '\0';
    return sl_str_make(out, n);
}

struct sl_str sl_token_string(struct sl_arena *arena, const struct sl_token *token)
{
    struct sl_str text = token->text;
    if (text.len >= 2 && text.ptr[0] == '$') {
        return sl_arena_copy(arena, dollar_inside(text));
    }
    if (text.len >= 3 && (text.ptr[0] == 'e' || text.ptr[0] == 'E')) {
        return unescape(arena, sl_str_sub(text, 2, text.len - 1), '\'');
    }
    if (text.len >= 2) {
        return unescape(arena, sl_str_sub(text, 1, text.len - 1), text.ptr[0]);
    }
    return (struct sl_str){0};
}
