/*
 * The expression tree behind silt_expr: immutable, in one arena. Pure; any thread.
 */
#ifndef SL_EXPR_EXPR_H
#define SL_EXPR_EXPR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "schema/type.h"
#include "schema/value.h"
#include "silt/expr.h"

#define SL_EXPR_MAX_DEPTH 256

enum sl_expr_kind {
    SL_EXPR_LITERAL,
    SL_EXPR_COLUMN,
    SL_EXPR_COMPARE, /* op; 2 args */
    SL_EXPR_AND,     /* n args */
    SL_EXPR_OR,      /* n args */
    SL_EXPR_NOT,     /* 1 arg */
    SL_EXPR_IS_NULL, /* 1 arg */
    SL_EXPR_IS_NOT_NULL,
    SL_EXPR_IN,      /* args[0] in args[1..] */
    SL_EXPR_BETWEEN, /* args[0] between args[1] and args[2] */
    SL_EXPR_LIKE,    /* args[0] like args[1] (pattern literal, '\' escapes) */
    SL_EXPR_CAST,    /* args[0] as type */
    SL_EXPR_ADD,     /* args[0] + args[1]; an overflow of the result's type is an error where rows are */
    SL_EXPR_SUBTRACT /* args[0] - args[1] */
};

struct sl_expr_node {
    enum sl_expr_kind kind;
    silt_compare_op op;
    silt_value value;          /* LITERAL */
    const struct sl_str *path; /* COLUMN: names from the top */
    size_t path_len;
    const struct silt_type *type; /* CAST target; COLUMN, ADD, SUBTRACT: its type if resolved and known, else NULL */
    const struct sl_expr_node *const *args;
    size_t n_args;
    size_t position; /* byte offset in the parsed text */
};

struct silt_expr {
    atomic_uint refs;
    const silt_env *env;
    struct sl_arena arena;
    const struct sl_expr_node *root;
    const char *text;
};

/* The zone of a session: what is a wall clock there, as an instant. */
struct sl_expr_zone {
    silt_status (*local_time)(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err);
    void *ctx;
};

/* As silt_expr_parse; literals without a zone are of this one. zone NULL: UTC. */
silt_status sl_expr_parse_in_zone(const silt_env *env, struct sl_str text, const silt_schema *schema,
                                  const struct sl_expr_zone *zone, silt_expr **out, silt_error *err);

/* A copy of nodes from anywhere as an expression of its own. */
silt_status sl_expr_from_node(const silt_env *env, const struct sl_expr_node *node, silt_expr **out, silt_error *err);

/*
 * Resolves columns against a schema (ignoring case, stored spelling kept) and casts literals to the type of the column they
 * are compared with when that is exact; a comparison that cannot be true or false exactly (e.g. int column = 1.5) stays
 * as it is. SILT_ESCHEMA names an unknown column and suggests the nearest.
 */
silt_status sl_expr_resolve(const silt_expr *expr, const silt_schema *schema, silt_expr **out, silt_error *err);

/* The same in a zone of literals; NULL: UTC. What is resolved has none left that hang on it. */
silt_status sl_expr_resolve_in_zone(const silt_expr *expr, const silt_schema *schema, const struct sl_expr_zone *zone,
                                    silt_expr **out, silt_error *err);

/* Splits a conjunction: calls visit for every top-level AND member. */
void sl_expr_each_conjunct(const struct sl_expr_node *node, void (*visit)(void *ctx, const struct sl_expr_node *node),
                           void *ctx);
/* True if all columns of the node satisfy is_known(path). */
bool sl_expr_columns_all(const struct sl_expr_node *node,
                         bool (*test)(void *ctx, const struct sl_str *path, size_t path_len), void *ctx);

/* Rewrites top-level column names (logical → physical): map gives the new name or an absent view to keep. */
silt_status sl_expr_rename(const silt_expr *expr,
                           struct sl_str (*map)(void *ctx, const struct sl_str *path, size_t path_len, size_t level),
                           void *ctx, silt_expr **out, silt_error *err);

/* Printing: Spark SQL, and DuckDB SQL (identifiers double-quoted; types exact). */
void sl_expr_print(struct sl_buf *out, const struct sl_expr_node *node);
silt_status sl_expr_print_duckdb(struct sl_buf *out, const struct sl_expr_node *node, silt_error *err);

#endif
