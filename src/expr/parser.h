/*
 * Private to src/expr: the state of the parser and what its two halves share: operands (expr_primary.c) and operators
 * (expr_parse.c).
 */
#ifndef SL_EXPR_PARSER_H
#define SL_EXPR_PARSER_H

#include "expr/lex.h"
#include "expr/node.h"

struct sl_parser {
    struct sl_lexer lexer;
    struct sl_arena *arena;
    const silt_env *env;
    unsigned depth;
    const struct sl_expr_zone *zone; /* of literals; NULL: UTC */
    silt_error *err;
};

bool sl_parser_at_word(const struct sl_parser *p, const char *word);
bool sl_parser_at_symbol(const struct sl_parser *p, const char *symbol);
silt_status sl_parser_advance(struct sl_parser *p);
silt_status sl_parser_expect_symbol(struct sl_parser *p, const char *symbol, const char *name);
/* SILT_EUNSUPPORTED: "'…' is not supported in expressions". */
silt_status sl_parser_refuse(const struct sl_parser *p, struct sl_str what, size_t position);
/* One level deeper, SILT_ELIMIT beyond the limit; who enters takes it off depth again. */
silt_status sl_parser_enter(struct sl_parser *p);
silt_status sl_parser_make(struct sl_parser *p, enum sl_expr_kind kind, size_t position,
                           const struct sl_expr_node *const *args, size_t n, struct sl_expr_node **out);
silt_status sl_parser_make_literal(struct sl_parser *p, size_t position, const silt_value *value,
                                   struct sl_expr_node **out);

/* A whole predicate. */
silt_status sl_parser_or(struct sl_parser *p, struct sl_expr_node **out);
/* An operand: literal, column, CAST, or a predicate in parentheses, with casts after it. */
silt_status sl_parser_value(struct sl_parser *p, struct sl_expr_node **out);

#endif
