/*
 * The cursor that statement parsers share. See cursor.h. Parsers never recurse here; lists are bounded by the text.
 */
#include "sql/cursor.h"

#include "base/error.h"
#include "base/vec.h"

void sl_cursor_init(struct sl_cursor *cursor, struct sl_arena *arena, struct sl_str text, silt_error *err)
{
    *cursor = (struct sl_cursor){.arena = arena, .text = text, .err = err};
    sl_cursor_seek(cursor, 0);
}

void sl_cursor_advance(struct sl_cursor *cursor)
{
    cursor->token = cursor->after;
    cursor->after = sl_lex(&cursor->lexer);
}

void sl_cursor_seek(struct sl_cursor *cursor, size_t offset)
{
    cursor->lexer = (struct sl_lexer){.text = cursor->text, .pos = offset};
    cursor->token = sl_lex(&cursor->lexer);
    cursor->after = sl_lex(&cursor->lexer);
}

bool sl_cursor_at(const struct sl_cursor *cursor, const char *word)
{
    return sl_token_is(&cursor->token, word);
}

bool sl_cursor_at_two(const struct sl_cursor *cursor, const char *first, const char *second)
{
    return sl_token_is(&cursor->token, first) && sl_token_is(&cursor->after, second);
}

bool sl_cursor_at_end(const struct sl_cursor *cursor)
{
    return cursor->token.kind == SL_TOK_END;
}

bool sl_cursor_accept(struct sl_cursor *cursor, const char *word)
{
    if (!sl_cursor_at(cursor, word)) {
        return false;
    }
    sl_cursor_advance(cursor);
    return true;
}

bool sl_cursor_accept_two(struct sl_cursor *cursor, const char *first, const char *second)
{
    if (!sl_cursor_at_two(cursor, first, second)) {
        return false;
    }
    sl_cursor_advance(cursor);
    sl_cursor_advance(cursor);
    return true;
}

silt_status sl_cursor_fail(struct sl_cursor *cursor, const char *expected)
{
    silt_status status;
    if (cursor->token.kind == SL_TOK_END) {
        status = sl_fail(cursor->err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "expected %s, found the end of the statement",
                         expected);
    } else {
        status = sl_fail(cursor->err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "expected %s, found %.*s", expected,
                         SL_FMT(cursor->token.text));
    }
    sl_error_position(cursor->err, cursor->token.begin);
    return status;
}

silt_status sl_cursor_expect(struct sl_cursor *cursor, const char *word)
{
    return sl_cursor_accept(cursor, word) ? SILT_OK : sl_cursor_fail(cursor, word);
}

silt_status sl_cursor_expect_end(struct sl_cursor *cursor)
{
    return sl_cursor_at_end(cursor) ? SILT_OK : sl_cursor_fail(cursor, "the end of the statement");
}

silt_status sl_cursor_identifier(struct sl_cursor *cursor, const char *what, struct sl_str *out)
{
    enum sl_token_kind kind = cursor->token.kind;
    if (kind != SL_TOK_WORD && kind != SL_TOK_BACKTICK && kind != SL_TOK_DQUOTE) {
        return sl_cursor_fail(cursor, what);
    }
    *out = sl_token_name(cursor->arena, &cursor->token);
    if (out->ptr == NULL) {
        return sl_fail_nomem(cursor->err);
    }
    if (out->len == 0) {
        return sl_cursor_fail(cursor, what);
    }
    sl_cursor_advance(cursor);
    return SILT_OK;
}

silt_status sl_cursor_string(struct sl_cursor *cursor, const char *what, struct sl_str *out)
{
    if (cursor->token.kind != SL_TOK_STRING && cursor->token.kind != SL_TOK_DQUOTE) {
        return sl_cursor_fail(cursor, what);
    }
    *out = sl_token_string(cursor->arena, &cursor->token);
    if (out->ptr == NULL) {
        return sl_fail_nomem(cursor->err);
    }
    sl_cursor_advance(cursor);
    return SILT_OK;
}

silt_status sl_cursor_integer(struct sl_cursor *cursor, const char *what, int64_t *out)
{
    if (cursor->token.kind != SL_TOK_NUMBER || !sl_str_to_i64(cursor->token.text, out)) {
        return sl_cursor_fail(cursor, what);
    }
    sl_cursor_advance(cursor);
    return SILT_OK;
}

silt_status sl_cursor_table(struct sl_cursor *cursor, struct sl_table_name *out)
{
    struct sl_lexer lexer = {.text = cursor->text, .pos = cursor->token.begin};
    SL_TRY(sl_table_name_parse(cursor->arena, &lexer, out, cursor->err));
    sl_cursor_seek(cursor, lexer.pos);
    return SILT_OK;
}

/* Copies a finished vector into the arena. */
static void *take_vec(struct sl_cursor *cursor, struct sl_vec *vec)
{
    void *items = sl_arena_alloc_array(cursor->arena, vec->len > 0 ? vec->len : 1, vec->elem_size);
    if (items != NULL && vec->len > 0) {
        memcpy(items, vec->data, vec->len * vec->elem_size);
    }
    return items;
}

silt_status sl_cursor_identifier_list(struct sl_cursor *cursor, const char *what, struct sl_str_list *out)
{
    struct sl_vec names;
    struct sl_str *slot = NULL;
    silt_status status = SILT_OK;

    *out = (struct sl_str_list){0};
    sl_vec_init(&names, cursor->arena->env, sizeof(struct sl_str));
    status = sl_cursor_expect(cursor, "(");
    while (status == SILT_OK) {
        slot = sl_vec_push(&names);
        if (slot == NULL) {
            status = sl_fail_nomem(cursor->err);
            break;
        }
        status = sl_cursor_identifier(cursor, what, slot);
        if (status == SILT_OK && !sl_cursor_accept(cursor, ",")) {
            status = sl_cursor_expect(cursor, ")");
            break;
        }
    }
    if (status == SILT_OK) {
        out->items = take_vec(cursor, &names);
        out->n = names.len;
        status = out->items != NULL ? SILT_OK : sl_fail_nomem(cursor->err);
    }
    sl_vec_release(&names);
    return status;
}

/* A key: 'text', or identifiers joined by dots. */
static silt_status property_key(struct sl_cursor *cursor, struct sl_str *out)
{
    struct sl_buf buf;
    struct sl_str part;
    silt_status status = SILT_OK;

    if (cursor->token.kind == SL_TOK_STRING || cursor->token.kind == SL_TOK_DQUOTE) {
        return sl_cursor_string(cursor, "a property name", out);
    }
    sl_buf_init(&buf, cursor->arena->env);
    do {
        status = sl_cursor_identifier(cursor, "a property name", &part);
        if (status != SILT_OK) {
            goto out;
        }
        if (buf.len > 0) {
            sl_buf_put_char(&buf, '.');
        }
        sl_buf_put_str(&buf, part);
    } while (sl_cursor_accept(cursor, "."));
    status = sl_buf_status(&buf, cursor->err);
    if (status == SILT_OK) {
        *out = sl_arena_copy(cursor->arena, sl_buf_view(&buf));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(cursor->err);
    }
out:
    sl_buf_release(&buf);
    return status;
}

/* A literal as its text: 'x', 12, -3.5, true. */
static silt_status property_value(struct sl_cursor *cursor, struct sl_str *out)
{
    size_t begin = cursor->token.begin;
    if (cursor->token.kind == SL_TOK_STRING || cursor->token.kind == SL_TOK_DQUOTE) {
        return sl_cursor_string(cursor, "a property value", out);
    }
    (void)sl_cursor_accept(cursor, "-"); /* a sign belongs to the number behind it */
    if (cursor->token.kind != SL_TOK_NUMBER && cursor->token.kind != SL_TOK_WORD) {
        return sl_cursor_fail(cursor, "a property value");
    }
    *out = sl_str_sub(cursor->text, begin, cursor->token.end);
    sl_cursor_advance(cursor);
    return SILT_OK;
}

/* As Delta Spark stores them: keys of Delta's own ignore case. */
static bool is_same_key(struct sl_str a, struct sl_str b)
{
    static const struct sl_str own = {"delta.", 6};
    const bool ignores_case = a.len > own.len && sl_str_eq_nocase(sl_str_sub(a, 0, own.len), own);
    return ignores_case ? sl_str_eq_nocase(a, b) : sl_str_eq(a, b);
}

/* Of two values for one key nobody can tell which is meant. begin: of the last key in the text. */
static silt_status check_new_key(struct sl_cursor *cursor, const struct sl_vec *items, size_t begin)
{
    const struct sl_kv *last = sl_vec_at(items, items->len - 1);
    for (size_t i = 0; i + 1 < items->len; i++) {
        if (is_same_key(((const struct sl_kv *)sl_vec_at(items, i))->key, last->key)) {
            const silt_status status = sl_fail(cursor->err, SILT_ESYNTAX, "DUPLICATE_KEY", "key %.*s is given twice",
                                               SL_FMT(last->key));
            sl_error_position(cursor->err, begin);
            return status;
        }
    }
    return SILT_OK;
}

silt_status sl_cursor_properties(struct sl_cursor *cursor, struct sl_kv_list *out)
{
    struct sl_vec items;
    silt_status status = SILT_OK;

    *out = (struct sl_kv_list){0};
    sl_vec_init(&items, cursor->arena->env, sizeof(struct sl_kv));
    status = sl_cursor_expect(cursor, "(");
    while (status == SILT_OK) {
        struct sl_kv *slot = sl_vec_push(&items);
        if (slot == NULL) {
            status = sl_fail_nomem(cursor->err);
            break;
        }
        const size_t begin = cursor->token.begin;
        status = property_key(cursor, &slot->key);
        if (status == SILT_OK) {
            status = check_new_key(cursor, &items, begin);
        }
        if (status == SILT_OK) {
            (void)sl_cursor_accept(cursor, "="); /* Spark lets the sign be left out */
            status = property_value(cursor, &slot->value);
        }
        if (status == SILT_OK && !sl_cursor_accept(cursor, ",")) {
            status = sl_cursor_expect(cursor, ")");
            break;
        }
    }
    if (status == SILT_OK) {
        out->items = take_vec(cursor, &items);
        out->n = items.len;
        status = out->items != NULL ? SILT_OK : sl_fail_nomem(cursor->err);
    }
    sl_vec_release(&items);
    return status;
}
