/*
 * Walks over expressions: conjuncts, the columns that are used, renaming columns.
 *
 * Called by scans (which conjuncts concern partitions), by conflict checks and by the mapping of logical to physical names.
 * Pure; any thread.
 */
#include "base/error.h"
#include "expr/node.h"

void sl_expr_each_conjunct(const struct sl_expr_node *node, void (*visit)(void *ctx, const struct sl_expr_node *node),
                           void *ctx)
{
    if (node->kind != SL_EXPR_AND) {
        visit(ctx, node);
        return;
    }
    for (size_t i = 0; i < node->n_args; i++) {
        sl_expr_each_conjunct(node->args[i], visit, ctx);
    }
}

bool sl_expr_columns_all(const struct sl_expr_node *node,
                         bool (*test)(void *ctx, const struct sl_str *path, size_t path_len), void *ctx)
{
    if (node->kind == SL_EXPR_COLUMN) {
        return test(ctx, node->path, node->path_len);
    }
    for (size_t i = 0; i < node->n_args; i++) {
        if (!sl_expr_columns_all(node->args[i], test, ctx)) {
            return false;
        }
    }
    return true;
}

typedef struct sl_str (*rename_fn)(void *ctx, const struct sl_str *path, size_t path_len, size_t level);

/* original and node have the same shape; node's are ours until the expression is sealed. */
static silt_status rename_columns(struct sl_arena *arena, const struct sl_expr_node *original,
                                  const struct sl_expr_node *node, rename_fn map, void *ctx, silt_error *err)
{
    for (size_t i = 0; i < original->n_args; i++) {
        SL_TRY(rename_columns(arena, original->args[i], node->args[i], map, ctx, err));
    }
    if (original->kind != SL_EXPR_COLUMN) {
        return SILT_OK;
    }
    struct sl_str *path = (struct sl_str *)node->path;
    for (size_t i = 0; i < original->path_len; i++) {
        const struct sl_str name = map(ctx, original->path, original->path_len, i);
        if (name.ptr == NULL) {
            continue;
        }
        path[i] = sl_arena_copy(arena, name);
        if (path[i].ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

silt_status sl_expr_rename(const silt_expr *expr,
                           struct sl_str (*map)(void *ctx, const struct sl_str *path, size_t path_len, size_t level),
                           void *ctx, silt_expr **out, silt_error *err)
{
    silt_expr *renamed = NULL;
    *out = NULL;
    SL_TRY(sl_expr_new(expr->env, &renamed, err));
    silt_status status = sl_node_copy(&renamed->arena, expr->root, 0, &renamed->root, err);
    if (status == SILT_OK) {
        status = rename_columns(&renamed->arena, expr->root, renamed->root, map, ctx, err);
    }
    if (status != SILT_OK) {
        silt_expr_unref(renamed);
        return status;
    }
    return sl_expr_seal(renamed, out, err);
}
