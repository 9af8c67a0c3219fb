/*
 * Expressions as objects: reference counts, nodes, builders, copies, and walks over the tree.
 *
 * Called by the parser and by everything that makes predicates. Each expression owns a copy of its whole tree, so that it
 * never depends on another's life. Sealed expressions never change; any thread.
 */
#include "silt/expr.h"

#include "base/alloc.h"
#include "base/error.h"
#include "expr/node.h"

struct sl_expr_node *sl_node_new(struct sl_arena *arena, enum sl_expr_kind kind)
{
    struct sl_expr_node *node = sl_arena_alloc_zero(arena, sizeof *node);
    if (node != NULL) {
        node->kind = kind;
    }
    return node;
}

bool sl_node_set_args(struct sl_arena *arena, struct sl_expr_node *node, const struct sl_expr_node *const *args,
                      size_t n)
{
    if (n == 0) {
        return true;
    }
    const struct sl_expr_node **copy = sl_arena_alloc_array(arena, n, sizeof(*copy));
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, args, n * sizeof(*copy));
    node->args = copy;
    node->n_args = n;
    return true;
}

static silt_status copy_path(struct sl_arena *arena, const struct sl_str *path, size_t n, struct sl_expr_node *out,
                             silt_error *err)
{
    struct sl_str *copy = sl_arena_alloc_array(arena, n > 0 ? n : 1, sizeof *copy);
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = sl_arena_copy(arena, path[i].ptr != NULL ? path[i] : SL_STR(""));
        if (copy[i].ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    out->path = copy;
    out->path_len = n;
    return SILT_OK;
}

/* Types of columns may be nested; those of casts are flat. Depth was limited where they were made. */
static silt_status copy_type(struct sl_arena *arena, const struct silt_type *src, const struct silt_type **out,
                             silt_error *err)
{
    struct silt_type *type = sl_arena_alloc_zero(arena, sizeof *type);
    if (type == NULL) {
        return sl_fail_nomem(err);
    }
    *type = *src;
    *out = type;
    if (src->json.ptr != NULL) {
        type->json = sl_arena_copy(arena, src->json);
        if (type->json.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    if (src->n_fields > 0) {
        type->fields = sl_arena_alloc_array(arena, src->n_fields, sizeof *type->fields);
        if (type->fields == NULL) {
            return sl_fail_nomem(err);
        }
    }
    for (size_t i = 0; i < src->n_fields; i++) {
        struct silt_field *field = &type->fields[i];
        field->nullable = src->fields[i].nullable;
        field->name = sl_arena_copy(arena, src->fields[i].name);
        if (field->name.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        SL_TRY(copy_type(arena, src->fields[i].type, &field->type, err));
    }
    if (src->key != NULL) {
        SL_TRY(copy_type(arena, src->key, &type->key, err));
    }
    return src->element != NULL ? copy_type(arena, src->element, &type->element, err) : SILT_OK;
}

silt_status sl_node_copy(struct sl_arena *arena, const struct sl_expr_node *src, unsigned depth,
                         const struct sl_expr_node **out, silt_error *err)
{
    if (depth > SL_EXPR_MAX_DEPTH) {
        return sl_fail(err, SILT_ELIMIT, NULL, "an expression is nested deeper than %d levels", SL_EXPR_MAX_DEPTH);
    }
    struct sl_expr_node *node = sl_node_new(arena, src->kind);
    if (node == NULL) {
        return sl_fail_nomem(err);
    }
    node->op = src->op;
    node->position = src->position;
    if (src->kind == SL_EXPR_LITERAL && !sl_value_copy(arena, &src->value, &node->value)) {
        return sl_fail_nomem(err);
    }
    if (src->kind == SL_EXPR_COLUMN) {
        SL_TRY(copy_path(arena, src->path, src->path_len, node, err));
    }
    if (src->type != NULL) {
        SL_TRY(copy_type(arena, src->type, &node->type, err));
    }
    if (src->n_args > 0) {
        const struct sl_expr_node **args = sl_arena_alloc_array(arena, src->n_args, sizeof(*args));
        if (args == NULL) {
            return sl_fail_nomem(err);
        }
        for (size_t i = 0; i < src->n_args; i++) {
            SL_TRY(sl_node_copy(arena, src->args[i], depth + 1, &args[i], err));
        }
        node->args = args;
        node->n_args = src->n_args;
    }
    *out = node;
    return SILT_OK;
}

silt_status sl_expr_new(const silt_env *env, silt_expr **out, silt_error *err)
{
    *out = NULL;
    silt_expr *expr = sl_alloc_zero(env, sizeof *expr);
    if (expr == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&expr->refs, 1);
    expr->env = env;
    sl_arena_init(&expr->arena, env);
    *out = expr;
    return SILT_OK;
}

silt_status sl_expr_seal(silt_expr *expr, silt_expr **out, silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, expr->env);
    sl_expr_print(&text, expr->root);
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        expr->text = sl_arena_strdup(&expr->arena, sl_str_from(sl_buf_cstr(&text)));
        status = expr->text != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&text);
    if (status != SILT_OK) {
        silt_expr_unref(expr);
        expr = NULL;
    }
    *out = expr;
    return status;
}

silt_status sl_expr_from_node(const silt_env *env, const struct sl_expr_node *node, silt_expr **out, silt_error *err)
{
    silt_expr *expr = NULL;
    *out = NULL;
    SL_TRY(sl_expr_new(env, &expr, err));
    const silt_status status = sl_node_copy(&expr->arena, node, 0, &expr->root, err);
    if (status != SILT_OK) {
        silt_expr_unref(expr);
        return status;
    }
    return sl_expr_seal(expr, out, err);
}

silt_status silt_expr_column(const silt_env *env, const char *const *path, size_t path_len, silt_expr **out,
                             silt_error *err)
{
    *out = NULL;
    if (path_len == 0 || path_len > SL_SCHEMA_MAX_DEPTH) {
        return sl_fail(err, SILT_EINVALID, NULL, "a column's path must have 1 to %d names", SL_SCHEMA_MAX_DEPTH);
    }
    struct sl_str names[SL_SCHEMA_MAX_DEPTH];
    for (size_t i = 0; i < path_len; i++) {
        names[i] = sl_str_from(path[i]);
    }
    const struct sl_expr_node node = {.kind = SL_EXPR_COLUMN, .path = names, .path_len = path_len};
    return sl_expr_from_node(env, &node, out, err);
}

silt_status silt_expr_literal(const silt_env *env, const silt_value *value, silt_expr **out, silt_error *err)
{
    *out = NULL;
    const bool is_decimal = value->kind == SILT_TYPE_DECIMAL;
    if (value->kind < SILT_TYPE_VOID || value->kind > SILT_TYPE_TIMESTAMP_NTZ ||
        (is_decimal && (value->precision > SL_DECIMAL_MAX_PRECISION || value->scale > SL_DECIMAL_MAX_PRECISION))) {
        return sl_fail(err, SILT_EINVALID, NULL, "the value is no scalar that a literal can hold");
    }
    const struct sl_expr_node node = {.kind = SL_EXPR_LITERAL, .value = *value};
    return sl_expr_from_node(env, &node, out, err);
}

static silt_status combine(const silt_env *env, const struct sl_expr_node *pattern, const silt_expr *const *args,
                           size_t n, silt_expr **out, silt_error *err)
{
    *out = NULL;
    const struct sl_expr_node **nodes = sl_alloc_array(env, n > 0 ? n : 1, sizeof(*nodes));
    if (nodes == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        nodes[i] = args[i]->root;
    }
    struct sl_expr_node node = *pattern;
    node.args = nodes;
    node.n_args = n;
    const silt_status status = sl_expr_from_node(env, &node, out, err);
    sl_release(env, nodes, (n > 0 ? n : 1) * sizeof(*nodes));
    return status;
}

silt_status silt_expr_compare(const silt_env *env, silt_compare_op op, const silt_expr *left, const silt_expr *right,
                              silt_expr **out, silt_error *err)
{
    *out = NULL;
    if (op < SILT_COMPARE_EQ || op > SILT_COMPARE_NULL_SAFE_EQ) {
        return sl_fail(err, SILT_EINVALID, NULL, "%d is no comparison", (int)op);
    }
    const silt_expr *const args[2] = {left, right};
    const struct sl_expr_node pattern = {.kind = SL_EXPR_COMPARE, .op = op};
    return combine(env, &pattern, args, 2, out, err);
}

/* One argument stands for itself; none is the neutral element, as in mathematics. */
static silt_status junction(const silt_env *env, enum sl_expr_kind kind, const silt_expr *const *args, size_t n,
                            silt_expr **out, silt_error *err)
{
    if (n == 1) {
        return sl_expr_from_node(env, args[0]->root, out, err);
    }
    if (n == 0) {
        const silt_value neutral = sl_value_bool(kind == SL_EXPR_AND);
        return silt_expr_literal(env, &neutral, out, err);
    }
    const struct sl_expr_node pattern = {.kind = kind};
    return combine(env, &pattern, args, n, out, err);
}

silt_status silt_expr_and(const silt_env *env, const silt_expr *const *args, size_t n, silt_expr **out, silt_error *err)
{
    return junction(env, SL_EXPR_AND, args, n, out, err);
}

silt_status silt_expr_or(const silt_env *env, const silt_expr *const *args, size_t n, silt_expr **out, silt_error *err)
{
    return junction(env, SL_EXPR_OR, args, n, out, err);
}

silt_status silt_expr_not(const silt_env *env, const silt_expr *arg, silt_expr **out, silt_error *err)
{
    const struct sl_expr_node pattern = {.kind = SL_EXPR_NOT};
    return combine(env, &pattern, &arg, 1, out, err);
}

silt_status silt_expr_is_null(const silt_env *env, const silt_expr *arg, silt_expr **out, silt_error *err)
{
    const struct sl_expr_node pattern = {.kind = SL_EXPR_IS_NULL};
    return combine(env, &pattern, &arg, 1, out, err);
}

const char *silt_expr_text(const silt_expr *expr)
{
    return expr->text;
}

silt_expr *silt_expr_ref(const silt_expr *expr)
{
    silt_expr *shared = (silt_expr *)expr;
    if (shared != NULL) {
        atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
    }
    return shared;
}

void silt_expr_unref(const silt_expr *expr)
{
    silt_expr *shared = (silt_expr *)expr;
    if (shared == NULL || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    const silt_env *env = shared->env;
    sl_arena_release(&shared->arena);
    sl_release(env, shared, sizeof *shared);
}
