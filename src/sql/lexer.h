/*
 * The SQL lexer: tokens with byte offsets, for Spark's and DuckDB's spellings alike. It never fails: what is not closed or not
 * known becomes a SL_TOK_BAD token that a parser reports. Pure; any thread.
 */
#ifndef SL_SQL_LEXER_H
#define SL_SQL_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "silt/status.h"

enum sl_token_kind {
    SL_TOK_END,
    SL_TOK_WORD,     /* unquoted identifier or keyword */
    SL_TOK_BACKTICK, /* `name` */
    SL_TOK_DQUOTE,   /* "name" */
    SL_TOK_STRING,   /* 'text', also E'…' and $$…$$ */
    SL_TOK_NUMBER,
    SL_TOK_PARAM, /* $1, $name, ? */
    SL_TOK_OP,    /* punctuation; multi-character operators are one token */
    SL_TOK_BAD
};

struct sl_token {
    enum sl_token_kind kind;
    struct sl_str text; /* as written, quotes included */
    size_t begin, end;  /* byte offsets in the text */
};

struct sl_lexer {
    struct sl_str text;
    size_t pos;
};

/* The next token, comments and white space skipped; SL_TOK_END at the end, again and again. */
struct sl_token sl_lex(struct sl_lexer *lexer);

bool sl_token_is(const struct sl_token *token, const char *word); /* keyword, ignoring case; an operator exactly */

/* Content of an identifier (any spelling) or of a string literal, quotes and escapes resolved. Spark: backslash escapes in
 * strings. Absent view when out of memory. */
struct sl_str sl_token_name(struct sl_arena *arena, const struct sl_token *token);
struct sl_str sl_token_string(struct sl_arena *arena, const struct sl_token *token);

/* Range of the next statement from *pos on: [begin, end) without its semicolon, trimmed; false when only blanks and comments
 * are left. *pos moves behind the semicolon. */
bool sl_sql_split(struct sl_str text, size_t *pos, size_t *begin, size_t *end);

#endif
