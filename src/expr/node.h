/*
 * Private to src/expr: making nodes and expressions.
 */
#ifndef SL_EXPR_NODE_H
#define SL_EXPR_NODE_H

#include "expr/expr.h"

/* A zeroed node in the arena; NULL when out of memory. */
struct sl_expr_node *sl_node_new(struct sl_arena *arena, enum sl_expr_kind kind);
/* Sets copies of the pointers as arguments; false when out of memory. */
bool sl_node_set_args(struct sl_arena *arena, struct sl_expr_node *node, const struct sl_expr_node *const *args,
                      size_t n);
/* Deep copy; SILT_ELIMIT beyond SL_EXPR_MAX_DEPTH. */
silt_status sl_node_copy(struct sl_arena *arena, const struct sl_expr_node *src, unsigned depth,
                         const struct sl_expr_node **out, silt_error *err);

/* An expression without root; set root (made in its arena), then seal. */
silt_status sl_expr_new(const silt_env *env, silt_expr **out, silt_error *err);
/* Makes the text and hands the expression out; releases it on failure. */
silt_status sl_expr_seal(silt_expr *expr, silt_expr **out, silt_error *err);

#endif
