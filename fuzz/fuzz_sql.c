/*
 * SQL: tokens cover the text in order, statements are within it, what a parser refuses it refuses at a place in it, and every byte of a
 * respelled text has a way back.
 */
#include "base/arena.h"
#include "silt/session.h"
#include "sql/lexer.h"
#include "sql/spelling.h"
#include "sql/statement.h"
#include "support/fuzz.h"

static void check_tokens(struct sl_arena *arena, struct sl_str text)
{
    struct sl_lexer lexer = {.text = text};
    size_t end = 0;
    for (struct sl_token token = sl_lex(&lexer); token.kind != SL_TOK_END; token = sl_lex(&lexer)) {
        FUZZ_CHECK(token.begin >= end && token.end > token.begin && token.end <= text.len);
        FUZZ_CHECK(sl_str_eq(token.text, sl_str_sub(text, token.begin, token.end)));
        end = token.end;
        if (token.kind == SL_TOK_STRING) {
            FUZZ_CHECK(sl_token_string(arena, &token).ptr != NULL);
        } else if (token.kind == SL_TOK_WORD || token.kind == SL_TOK_BACKTICK || token.kind == SL_TOK_DQUOTE) {
            FUZZ_CHECK(sl_token_name(arena, &token).ptr != NULL);
        }
    }
    FUZZ_CHECK(sl_lex(&lexer).kind == SL_TOK_END);
}

static void check_spelling(struct sl_str statement)
{
    struct sl_spelled spelled;
    silt_error err = SILT_ERROR_INIT;
    sl_spelled_init(&spelled, fuzz_env());
    if (sl_spell(statement, &spelled, &err) == SILT_OK) {
        size_t last = 0;
        for (size_t i = 0; i < spelled.text.len; i++) {
            const size_t back = sl_offset_map_back(&spelled.map, i);
            FUZZ_CHECK(back <= statement.len && back >= last);
            last = back;
        }
        for (size_t i = 0; i < spelled.travels.len; i++) {
            const struct sl_travel_note *note = sl_vec_at(&spelled.travels, i);
            FUZZ_CHECK(note->table <= spelled.text.len && note->clause <= statement.len);
            FUZZ_CHECK(note->expr.len <= statement.len);
        }
    } else {
        FUZZ_CHECK(err.position <= (int64_t)statement.len);
    }
    sl_spelled_release(&spelled);
}

static void check_statement(struct sl_arena *arena, struct sl_str text)
{
    struct sl_statement statement;
    silt_error err = SILT_ERROR_INIT;
    if (sl_statement_parse(arena, text, &statement, &err) != SILT_OK) {
        FUZZ_CHECK(err.position <= (int64_t)text.len && err.code_name[0] != '\0');
        return;
    }
    FUZZ_CHECK(statement.kind != SL_STMT_UNSUPPORTED || statement.name != NULL);
    if (statement.kind == SL_STMT_INSERT) {
        FUZZ_CHECK(statement.insert.query_begin <= statement.insert.query_end &&
                   statement.insert.query_end <= text.len && statement.insert.table.n_parts > 0);
    }
    if (statement.kind == SL_STMT_CREATE_TABLE) {
        FUZZ_CHECK(statement.create.query_begin <= statement.create.query_end &&
                   statement.create.query_end <= text.len && statement.create.table.n_parts > 0);
        FUZZ_CHECK(statement.create.has_query || statement.create.query_end == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sl_str text = {(const char *)data, size};
    struct sl_arena arena;
    size_t pos = 0;
    size_t begin = 0;
    size_t end = 0;
    sl_arena_init(&arena, fuzz_env());
    check_tokens(&arena, text);
    (void)silt_sql_is_complete(text.ptr, text.len); /* either answer is fine */
    for (size_t last = 0; sl_sql_split(text, &pos, &begin, &end); last = pos) {
        FUZZ_CHECK(begin >= last && begin < end && end <= pos && pos <= text.len);
        check_statement(&arena, sl_str_sub(text, begin, end));
        check_spelling(sl_str_sub(text, begin, end));
    }
    sl_arena_release(&arena);
    return 0;
}
