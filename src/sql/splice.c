/*
 * The text work of a preparation: where a reference's name and its AT clause end, and putting the subqueries into the text.
 */
#include <stdlib.h>

#include "base/error.h"
#include "sql/prepare_int.h"

size_t sl_prepare_name_end(struct sl_str text, size_t begin)
{
    struct sl_lexer lexer = {.text = text, .pos = begin};
    size_t end = begin;
    for (;;) {
        struct sl_token part = sl_lex(&lexer);
        struct sl_lexer ahead;
        struct sl_token dot;
        end = part.end;
        ahead = lexer;
        dot = sl_lex(&ahead);
        if (part.kind == SL_TOK_END || !sl_token_is(&dot, ".")) {
            return end;
        }
        lexer = ahead;
    }
}

/* AT (…) stands behind the alias and its columns: name [[AS] alias] [(a, b)] AT (…). */
bool sl_prepare_find_at(struct sl_str text, size_t location, size_t *begin, size_t *end)
{
    struct sl_lexer lexer = {.text = text, .pos = sl_prepare_name_end(text, location)};
    size_t depth = 0;

    for (int i = 0; i < 4096; i++) {
        struct sl_token token = sl_lex(&lexer);
        struct sl_lexer ahead = lexer;
        struct sl_token open = sl_lex(&ahead);
        if (token.kind == SL_TOK_END || token.kind == SL_TOK_BAD) {
            return false;
        }
        if (depth == 0 && sl_token_is(&token, "AT") && sl_token_is(&open, "(")) {
            size_t level = 0;
            *begin = token.begin;
            do {
                token = sl_lex(&lexer);
                level += sl_token_is(&token, "(") ? 1u : 0u;
                level -= sl_token_is(&token, ")") && level > 0 ? 1u : 0u;
            } while (level > 0 && token.kind != SL_TOK_END && token.kind != SL_TOK_BAD);
            *end = token.end;
            return level == 0;
        }
        depth += sl_token_is(&token, "(") ? 1u : 0u;
        depth -= sl_token_is(&token, ")") && depth > 0 ? 1u : 0u;
    }
    return false;
}

/* Inside of AT (UNIT => expr). */
struct sl_str sl_prepare_at_expr(struct sl_str text, size_t begin, size_t end)
{
    struct sl_str clause = sl_str_sub(text, begin, end - 1);
    size_t arrow = sl_str_find(clause, SL_STR("=>"));
    return arrow == SIZE_MAX ? clause : sl_str_sub(clause, arrow + 2, clause.len);
}

struct sl_splice *sl_prepare_add_splice(struct sl_prepare *prepare, size_t begin, size_t end)
{
    struct sl_splice *splice = sl_vec_push(&prepare->splices);
    if (splice != NULL) {
        splice->begin = begin;
        splice->end = end;
        sl_buf_init(&splice->text, prepare->session->env);
    }
    return splice;
}

silt_status sl_prepare_check_travels(struct sl_prepare *prepare, silt_error *err)
{
    for (size_t i = 0; i < prepare->spelled->travels.len; i++) {
        const struct sl_travel_note *note = sl_vec_at(&prepare->spelled->travels, i);
        if (!note->used) {
            silt_status status = sl_fail(err, SILT_EINVALID, "DELTA_INVALID_TIME_TRAVEL_SPEC",
                                         "time travel works on Delta tables only, and none is named before it");
            sl_error_position(err, prepare->query->offset + note->clause);
            return status;
        }
    }
    return SILT_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct sl_splice *x = a;
    const struct sl_splice *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

silt_status sl_prepare_splice(struct sl_prepare *prepare, silt_error *err)
{
    struct sl_prepared_query *query = prepare->query;
    struct sl_str text = sl_buf_view(&prepare->spelled->text);
    size_t copied = 0;

    if (prepare->splices.len > 1) {
        qsort(prepare->splices.data, prepare->splices.len, prepare->splices.elem_size, by_begin);
    }
    for (size_t i = 0; i < prepare->splices.len; i++) {
        struct sl_splice *splice = sl_vec_at(&prepare->splices, i);
        if (splice->begin < copied) {
            return sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "two table references overlap in the query");
        }
        sl_rewrite_copy(&query->sql, query->spliced, text, copied, splice->begin);
        sl_rewrite_mark(&query->sql, query->spliced, splice->begin);
        sl_buf_put_str(&query->sql, sl_buf_view(&splice->text));
        copied = splice->end;
    }
    sl_rewrite_copy(&query->sql, query->spliced, text, copied, text.len);
    return sl_buf_status(&query->sql, err);
}
