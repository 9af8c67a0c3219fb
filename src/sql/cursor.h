/*
 * The cursor that statement parsers share: one token of look-ahead over the lexer, and errors with positions. One owner.
 */
#ifndef SL_SQL_CURSOR_H
#define SL_SQL_CURSOR_H

#include <stdbool.h>

#include "base/arena.h"
#include "sql/lexer.h"
#include "sql/statement.h"

struct sl_cursor {
    struct sl_arena *arena;
    struct sl_str text;
    struct sl_token token; /* the current one */
    struct sl_token after; /* the one after it */
    struct sl_lexer lexer; /* stands behind `after` */
    silt_error *err;
};

void sl_cursor_init(struct sl_cursor *cursor, struct sl_arena *arena, struct sl_str text, silt_error *err);
void sl_cursor_advance(struct sl_cursor *cursor);
/* Puts the cursor on the first token at or behind a byte offset. */
void sl_cursor_seek(struct sl_cursor *cursor, size_t offset);

bool sl_cursor_at(const struct sl_cursor *cursor, const char *word);
bool sl_cursor_at_two(const struct sl_cursor *cursor, const char *first, const char *second);
bool sl_cursor_at_end(const struct sl_cursor *cursor);
/* Takes the word if it is there. */
bool sl_cursor_accept(struct sl_cursor *cursor, const char *word);
bool sl_cursor_accept_two(struct sl_cursor *cursor, const char *first, const char *second);
/* The same or a syntax error that says what was expected. */
silt_status sl_cursor_expect(struct sl_cursor *cursor, const char *word);
silt_status sl_cursor_expect_end(struct sl_cursor *cursor);

silt_status sl_cursor_identifier(struct sl_cursor *cursor, const char *what, struct sl_str *out);
silt_status sl_cursor_string(struct sl_cursor *cursor, const char *what, struct sl_str *out);
silt_status sl_cursor_integer(struct sl_cursor *cursor, const char *what, int64_t *out);
silt_status sl_cursor_table(struct sl_cursor *cursor, struct sl_table_name *out);
/* "(a, b)": identifiers. */
silt_status sl_cursor_identifier_list(struct sl_cursor *cursor, const char *what, struct sl_str_list *out);
/* "('k' = 'v', a.b = 1)": properties; keys are strings or dotted identifiers, values literals. */
silt_status sl_cursor_properties(struct sl_cursor *cursor, struct sl_kv_list *out);

/* PARSE_SYNTAX_ERROR at the current token: "expected <what>, found <token>". */
silt_status sl_cursor_fail(struct sl_cursor *cursor, const char *expected);

/* The statements with a parser of their own. The cursor stands behind the leading keyword. */
silt_status sl_create_parse(struct sl_cursor *cursor, struct sl_statement *out);
silt_status sl_insert_parse(struct sl_cursor *cursor, struct sl_statement *out);

#endif
