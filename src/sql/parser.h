/*
 * The cursor that statement parsers share: one token of look-ahead over the lexer, and errors with positions. One owner.
 */
#ifndef SL_SQL_PARSER_H
#define SL_SQL_PARSER_H

#include <stdbool.h>

#include "base/arena.h"
#include "sql/lexer.h"
#include "sql/statement.h"

struct sl_parser {
    struct sl_arena *arena;
    struct sl_str text;
    struct sl_token token; /* the current one */
    struct sl_token after; /* the one after it */
    struct sl_lexer lexer; /* stands behind `after` */
    silt_error *err;
};

void sl_parser_init(struct sl_parser *parser, struct sl_arena *arena, struct sl_str text, silt_error *err);
void sl_parser_advance(struct sl_parser *parser);
/* Puts the cursor on the first token at or behind a byte offset. */
void sl_parser_seek(struct sl_parser *parser, size_t offset);

bool sl_parser_at(const struct sl_parser *parser, const char *word);
bool sl_parser_at_two(const struct sl_parser *parser, const char *first, const char *second);
bool sl_parser_at_end(const struct sl_parser *parser);
/* Takes the word if it is there. */
bool sl_parser_accept(struct sl_parser *parser, const char *word);
bool sl_parser_accept_two(struct sl_parser *parser, const char *first, const char *second);
/* The same or a syntax error that says what was expected. */
silt_status sl_parser_expect(struct sl_parser *parser, const char *word);
silt_status sl_parser_expect_end(struct sl_parser *parser);

silt_status sl_parser_identifier(struct sl_parser *parser, const char *what, struct sl_str *out);
silt_status sl_parser_string(struct sl_parser *parser, const char *what, struct sl_str *out);
silt_status sl_parser_integer(struct sl_parser *parser, const char *what, int64_t *out);
silt_status sl_parser_table(struct sl_parser *parser, struct sl_table_name *out);
/* "(a, b)": identifiers. */
silt_status sl_parser_identifier_list(struct sl_parser *parser, const char *what, struct sl_str_list *out);
/* "('k' = 'v', a.b = 1)": properties; keys are strings or dotted identifiers, values literals. */
silt_status sl_parser_properties(struct sl_parser *parser, struct sl_kv_list *out);

/* PARSE_SYNTAX_ERROR at the current token: "expected <what>, found <token>". */
silt_status sl_parser_fail(struct sl_parser *parser, const char *expected);

/* The statements with a parser of their own. The cursor stands behind the leading keyword. */
silt_status sl_parse_create(struct sl_parser *parser, struct sl_statement *out);
silt_status sl_parse_insert(struct sl_parser *parser, struct sl_statement *out);

#endif
