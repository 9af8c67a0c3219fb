/*
 * The cursor that statement parsers share. See parser.h. Parsers never recurse here; lists are bounded by the text.
 */
#include "sql/parser.h"

#include "base/error.h"
#include "base/vec.h"

void sl_parser_init(struct sl_parser *parser, struct sl_arena *arena, struct sl_str text, silt_error *err)
{
    *parser = (struct sl_parser){.arena = arena, .text = text, .err = err};
    sl_parser_seek(parser, 0);
}

void sl_parser_advance(struct sl_parser *parser)
{
    parser->token = parser->after;
    parser->after = sl_lex(&parser->lexer);
}

void sl_parser_seek(struct sl_parser *parser, size_t offset)
{
    parser->lexer = (struct sl_lexer){.text = parser->text, .pos = offset};
    parser->token = sl_lex(&parser->lexer);
    parser->after = sl_lex(&parser->lexer);
}

bool sl_parser_at(const struct sl_parser *parser, const char *word)
{
    return sl_token_is(&parser->token, word);
}

bool sl_parser_at_two(const struct sl_parser *parser, const char *first, const char *second)
{
    return sl_token_is(&parser->token, first) && sl_token_is(&parser->after, second);
}

bool sl_parser_at_end(const struct sl_parser *parser)
{
    return parser->token.kind == SL_TOK_END;
}

bool sl_parser_accept(struct sl_parser *parser, const char *word)
{
    if (!sl_parser_at(parser, word)) {
        return false;
    }
    sl_parser_advance(parser);
    return true;
}

bool sl_parser_accept_two(struct sl_parser *parser, const char *first, const char *second)
{
    if (!sl_parser_at_two(parser, first, second)) {
        return false;
    }
    sl_parser_advance(parser);
    sl_parser_advance(parser);
    return true;
}

silt_status sl_parser_fail(struct sl_parser *parser, const char *expected)
{
    silt_status status;
    if (parser->token.kind == SL_TOK_END) {
        status = sl_fail(parser->err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "expected %s, found the end of the statement",
                         expected);
    } else {
        status = sl_fail(parser->err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "expected %s, found %.*s", expected,
                         SL_FMT(parser->token.text));
    }
    sl_error_position(parser->err, parser->token.begin);
    return status;
}

silt_status sl_parser_expect(struct sl_parser *parser, const char *word)
{
    return sl_parser_accept(parser, word) ? SILT_OK : sl_parser_fail(parser, word);
}

silt_status sl_parser_expect_end(struct sl_parser *parser)
{
    return sl_parser_at_end(parser) ? SILT_OK : sl_parser_fail(parser, "the end of the statement");
}

silt_status sl_parser_identifier(struct sl_parser *parser, const char *what, struct sl_str *out)
{
    enum sl_token_kind kind = parser->token.kind;
    if (kind != SL_TOK_WORD && kind != SL_TOK_BACKTICK && kind != SL_TOK_DQUOTE) {
        return sl_parser_fail(parser, what);
    }
    *out = sl_token_name(parser->arena, &parser->token);
    if (out->ptr == NULL) {
        return sl_fail_nomem(parser->err);
    }
    if (out->len == 0) {
        return sl_parser_fail(parser, what);
    }
    sl_parser_advance(parser);
    return SILT_OK;
}

silt_status sl_parser_string(struct sl_parser *parser, const char *what, struct sl_str *out)
{
    if (parser->token.kind != SL_TOK_STRING && parser->token.kind != SL_TOK_DQUOTE) {
        return sl_parser_fail(parser, what);
    }
    *out = sl_token_string(parser->arena, &parser->token);
    if (out->ptr == NULL) {
        return sl_fail_nomem(parser->err);
    }
    sl_parser_advance(parser);
    return SILT_OK;
}

silt_status sl_parser_integer(struct sl_parser *parser, const char *what, int64_t *out)
{
    if (parser->token.kind != SL_TOK_NUMBER || !sl_str_to_i64(parser->token.text, out)) {
        return sl_parser_fail(parser, what);
    }
    sl_parser_advance(parser);
    return SILT_OK;
}

silt_status sl_parser_table(struct sl_parser *parser, struct sl_table_name *out)
{
    struct sl_lexer lexer = {.text = parser->text, .pos = parser->token.begin};
    SL_TRY(sl_table_name_parse(parser->arena, &lexer, out, parser->err));
    sl_parser_seek(parser, lexer.pos);
    return SILT_OK;
}

/* Copies a finished vector into the arena. */
static void *take_vec(struct sl_parser *parser, struct sl_vec *vec)
{
    void *items = sl_arena_alloc_array(parser->arena, vec->len > 0 ? vec->len : 1, vec->elem_size);
    if (items != NULL && vec->len > 0) {
        memcpy(items, vec->data, vec->len * vec->elem_size);
    }
    return items;
}

silt_status sl_parser_identifier_list(struct sl_parser *parser, const char *what, struct sl_str_list *out)
{
    struct sl_vec names;
    struct sl_str *slot = NULL;
    silt_status status = SILT_OK;

    *out = (struct sl_str_list){0};
    sl_vec_init(&names, parser->arena->env, sizeof(struct sl_str));
    status = sl_parser_expect(parser, "(");
    while (status == SILT_OK) {
        slot = sl_vec_push(&names);
        if (slot == NULL) {
            status = sl_fail_nomem(parser->err);
            break;
        }
        status = sl_parser_identifier(parser, what, slot);
        if (status == SILT_OK && !sl_parser_accept(parser, ",")) {
            status = sl_parser_expect(parser, ")");
            break;
        }
    }
    if (status == SILT_OK) {
        out->items = take_vec(parser, &names);
        out->n = names.len;
        status = out->items != NULL ? SILT_OK : sl_fail_nomem(parser->err);
    }
    sl_vec_release(&names);
    return status;
}

/* A key: 'text', or identifiers joined by dots. */
static silt_status property_key(struct sl_parser *parser, struct sl_str *out)
{
    struct sl_buf buf;
    struct sl_str part;
    silt_status status = SILT_OK;

    if (parser->token.kind == SL_TOK_STRING || parser->token.kind == SL_TOK_DQUOTE) {
        return sl_parser_string(parser, "a property name", out);
    }
    sl_buf_init(&buf, parser->arena->env);
    do {
        status = sl_parser_identifier(parser, "a property name", &part);
        if (status != SILT_OK) {
            goto out;
        }
        if (buf.len > 0) {
            sl_buf_put_char(&buf, '.');
        }
        sl_buf_put_str(&buf, part);
    } while (sl_parser_accept(parser, "."));
    status = sl_buf_status(&buf, parser->err);
    if (status == SILT_OK) {
        *out = sl_arena_copy(parser->arena, sl_buf_view(&buf));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(parser->err);
    }
out:
    sl_buf_release(&buf);
    return status;
}

/* A literal as its text: 'x', 12, -3.5, true. */
static silt_status property_value(struct sl_parser *parser, struct sl_str *out)
{
    size_t begin = parser->token.begin;
    if (parser->token.kind == SL_TOK_STRING || parser->token.kind == SL_TOK_DQUOTE) {
        return sl_parser_string(parser, "a property value", out);
    }
    (void)sl_parser_accept(parser, "-"); /* a sign belongs to the number behind it */
    if (parser->token.kind != SL_TOK_NUMBER && parser->token.kind != SL_TOK_WORD) {
        return sl_parser_fail(parser, "a property value");
    }
    *out = sl_str_sub(parser->text, begin, parser->token.end);
    sl_parser_advance(parser);
    return SILT_OK;
}

silt_status sl_parser_properties(struct sl_parser *parser, struct sl_kv_list *out)
{
    struct sl_vec items;
    silt_status status = SILT_OK;

    *out = (struct sl_kv_list){0};
    sl_vec_init(&items, parser->arena->env, sizeof(struct sl_kv));
    status = sl_parser_expect(parser, "(");
    while (status == SILT_OK) {
        struct sl_kv *slot = sl_vec_push(&items);
        if (slot == NULL) {
            status = sl_fail_nomem(parser->err);
            break;
        }
        status = property_key(parser, &slot->key);
        if (status == SILT_OK) {
            (void)sl_parser_accept(parser, "="); /* Spark lets the sign be left out */
            status = property_value(parser, &slot->value);
        }
        if (status == SILT_OK && !sl_parser_accept(parser, ",")) {
            status = sl_parser_expect(parser, ")");
            break;
        }
    }
    if (status == SILT_OK) {
        out->items = take_vec(parser, &items);
        out->n = items.len;
        status = out->items != NULL ? SILT_OK : sl_fail_nomem(parser->err);
    }
    sl_vec_release(&items);
    return status;
}
