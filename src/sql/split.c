/*
 * Cutting a text into statements, and telling a shell whether the text ends one.
 */
#include "silt/session.h"
#include "sql/lexer.h"

bool sl_sql_split(struct sl_str text, size_t *pos, size_t *begin, size_t *end)
{
    struct sl_lexer lexer = {.text = text, .pos = *pos};
    bool any = false;

    for (;;) {
        struct sl_token token = sl_lex(&lexer);
        bool at_semicolon = sl_token_is(&token, ";");
        if (token.kind != SL_TOK_END && !at_semicolon) {
            if (!any) {
                *begin = token.begin;
                any = true;
            }
            *end = token.end;
            continue;
        }
        *pos = token.end;
        if (any) {
            return true;
        }
        if (token.kind == SL_TOK_END) {
            return false;
        }
    }
}

bool silt_sql_is_complete(const char *text, size_t text_len)
{
    struct sl_lexer lexer = {.text = sl_str_make(text, text_len)};
    bool any = false;
    bool ended = false;

    if (text == NULL) {
        return true;
    }
    for (;;) {
        struct sl_token token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END) {
            break;
        }
        if (token.kind == SL_TOK_BAD) {
            return false; /* a quote that is still open */
        }
        any = true;
        ended = sl_token_is(&token, ";");
    }
    if (!any) {
        /* Blank, or a comment: complete unless a block comment is still open. */
        struct sl_str trimmed = sl_str_trim(sl_str_make(text, text_len));
        return !sl_str_starts_with(trimmed, SL_STR("/*")) || sl_str_ends_with(trimmed, SL_STR("*/"));
    }
    return ended;
}
