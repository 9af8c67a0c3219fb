/*
 * Private to src/expr: tokens of Spark's expression text.
 */
#ifndef SL_EXPR_LEX_H
#define SL_EXPR_LEX_H

#include "base/arena.h"
#include "base/str.h"
#include "silt/status.h"

enum sl_token_kind {
    SL_TOKEN_END,
    SL_TOKEN_WORD,   /* identifier or keyword */
    SL_TOKEN_QUOTED, /* `identifier`; text is what is inside */
    SL_TOKEN_STRING, /* text is decoded */
    SL_TOKEN_NUMBER, /* with its suffix */
    SL_TOKEN_SYMBOL  /* text is the operator or punctuation */
};

struct sl_token {
    enum sl_token_kind kind;
    struct sl_str text;
    size_t begin; /* byte offsets in the input */
    size_t end;
};

struct sl_lexer {
    struct sl_arena *arena; /* decoded text goes here */
    struct sl_str input;    /* valid UTF-8 */
    size_t pos;
    struct sl_token token; /* the current one */
    silt_error *err;
};

/* Reads the first token. */
silt_status sl_lexer_init(struct sl_lexer *lexer, struct sl_arena *arena, struct sl_str input, silt_error *err);
silt_status sl_lexer_next(struct sl_lexer *lexer);
/* Continues at a byte offset; the token there becomes the current one. */
silt_status sl_lexer_seek(struct sl_lexer *lexer, size_t pos);

/* The token after the current one, without moving. */
silt_status sl_lexer_peek(const struct sl_lexer *lexer, struct sl_token *out);

bool sl_token_is_word(const struct sl_token *token, const char *word); /* ignoring case */
bool sl_token_is_symbol(const struct sl_token *token, const char *symbol);

/* SILT_ESYNTAX: "expected …, found …" with the position. */
silt_status sl_lexer_fail(const struct sl_lexer *lexer, const char *expected);

#endif
