/*
 * The truth of a predicate for one row, some of whose values are known: TRUE, FALSE, NULL, or UNKNOWN where it hangs on a value
 * that is not known or on a comparison that engines do not decide alike.
 *
 * Called by partition pruning and by conflict checks. UNKNOWN is a value of its own: NULL AND UNKNOWN is UNKNOWN, since it
 * may be FALSE. Pure; any thread.
 */
#include "expr/eval.h"

#include "expr/compare.h"
#include "expr/like.h"

struct row {
    sl_eval_lookup lookup;
    void *ctx;
    struct sl_arena *scratch;
};

static enum sl_truth eval_node(const struct row *row, const struct sl_expr_node *node);

static enum sl_truth truth_of(bool holds)
{
    return holds ? SL_TRUE : SL_FALSE;
}

static bool eval_value(const struct row *row, const struct sl_expr_node *node, silt_value *out);

static bool eval_sum(const struct row *row, const struct sl_expr_node *node, silt_value *out)
{
    silt_value a;
    silt_value b;
    if (!eval_value(row, node->args[0], &a) || !eval_value(row, node->args[1], &b)) {
        return false;
    }
    if (a.is_null || b.is_null) {
        *out = sl_value_null(node->type != NULL ? node->type->kind : SILT_TYPE_VOID);
        return true;
    }
    return sl_integer_sum(&a, &b, node->kind == SL_EXPR_SUBTRACT, out);
}

/* The value of an operand; false when it is not known. A cast between an instant and a wall clock hangs on the session's zone. */
static bool eval_value(const struct row *row, const struct sl_expr_node *node, silt_value *out)
{
    silt_value inner;
    switch (node->kind) {
    case SL_EXPR_LITERAL: *out = node->value; return true;
    case SL_EXPR_COLUMN: return row->lookup(row->ctx, node->path, node->path_len, out);
    case SL_EXPR_CAST:
        return eval_value(row, node->args[0], &inner) &&
               (inner.is_null || !sl_cast_needs_zone(inner.kind, node->type->kind)) &&
               sl_value_cast(row->scratch, &inner, node->type, out);
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return eval_sum(row, node, out);
    default: break;
    }
    const enum sl_truth truth = eval_node(row, node);
    *out = truth == SL_NULL ? sl_value_null(SILT_TYPE_BOOLEAN) : sl_value_bool(truth == SL_TRUE);
    return truth != SL_UNKNOWN;
}

/* An operand: its value, if it is known. */
struct operand {
    bool known;
    silt_value value;
};

static enum sl_truth compare_values(silt_compare_op op, struct sl_common common, const struct operand *left,
                                    const struct operand *right)
{
    const silt_value *a = &left->value;
    const silt_value *b = &right->value;
    const bool a_known = left->known;
    const bool b_known = right->known;
    int order = 0;
    const bool a_null = a_known && a->is_null;
    const bool b_null = b_known && b->is_null;
    if (op == SILT_COMPARE_NULL_SAFE_EQ && a_known && b_known && (a_null || b_null)) {
        return truth_of(a_null && b_null);
    }
    if (op != SILT_COMPARE_NULL_SAFE_EQ && (a_null || b_null)) {
        return SL_NULL; /* whatever the other side is */
    }
    if (!a_known || !b_known || !sl_compare_certain(common, a, b, &order)) {
        return SL_UNKNOWN;
    }
    return truth_of(sl_compare_holds(op, order));
}

static enum sl_truth eval_compare(const struct row *row, silt_compare_op op, struct sl_common common,
                                  const struct sl_expr_node *left, const struct sl_expr_node *right)
{
    struct operand a = {.value = sl_value_null(SILT_TYPE_VOID)};
    struct operand b = a;
    a.known = eval_value(row, left, &a.value);
    b.known = eval_value(row, right, &b.value);
    return compare_values(op, common, &a, &b);
}

/* AND of two truths; OR is its mirror image. */
static enum sl_truth both(enum sl_truth a, enum sl_truth b)
{
    if (a == SL_FALSE || b == SL_FALSE) {
        return SL_FALSE;
    }
    if (a == SL_UNKNOWN || b == SL_UNKNOWN) {
        return SL_UNKNOWN;
    }
    return a == SL_NULL || b == SL_NULL ? SL_NULL : SL_TRUE;
}

static enum sl_truth negate(enum sl_truth truth)
{
    return truth == SL_TRUE ? SL_FALSE : truth == SL_FALSE ? SL_TRUE : truth;
}

static enum sl_truth either(enum sl_truth a, enum sl_truth b)
{
    return negate(both(negate(a), negate(b)));
}

static enum sl_truth eval_in(const struct row *row, const struct sl_expr_node *node)
{
    const struct sl_common common = sl_common_of(node->args, node->n_args);
    enum sl_truth result = SL_FALSE;
    for (size_t i = 1; i < node->n_args && result != SL_TRUE; i++) {
        result = either(result, eval_compare(row, SILT_COMPARE_EQ, common, node->args[0], node->args[i]));
    }
    return result;
}

static enum sl_truth eval_between(const struct row *row, const struct sl_expr_node *node)
{
    const struct sl_common common = sl_common_of(node->args, node->n_args);
    return both(eval_compare(row, SILT_COMPARE_GE, common, node->args[0], node->args[1]),
                eval_compare(row, SILT_COMPARE_LE, common, node->args[0], node->args[2]));
}

static enum sl_truth eval_like(const struct row *row, const struct sl_expr_node *node)
{
    silt_value text;
    silt_value pattern;
    const bool text_known = eval_value(row, node->args[0], &text);
    const bool pattern_known = eval_value(row, node->args[1], &pattern);
    if ((text_known && text.is_null) || (pattern_known && pattern.is_null)) {
        return SL_NULL;
    }
    if (!text_known || !pattern_known || text.kind != SILT_TYPE_STRING || pattern.kind != SILT_TYPE_STRING ||
        !sl_like_valid(sl_value_get_str(&pattern))) {
        return SL_UNKNOWN;
    }
    return truth_of(sl_like_match(sl_value_get_str(&text), sl_value_get_str(&pattern)));
}

/* A column, literal or cast where a truth is wanted. */
static enum sl_truth eval_boolean(const struct row *row, const struct sl_expr_node *node)
{
    silt_value value;
    if (!eval_value(row, node, &value)) {
        return SL_UNKNOWN;
    }
    if (value.is_null) {
        return SL_NULL;
    }
    return value.kind == SILT_TYPE_BOOLEAN ? truth_of(value.as.boolean) : SL_UNKNOWN;
}

static enum sl_truth eval_is_null(const struct row *row, const struct sl_expr_node *arg)
{
    silt_value value;
    return eval_value(row, arg, &value) ? truth_of(value.is_null) : SL_UNKNOWN;
}

static enum sl_truth eval_junction(const struct row *row, const struct sl_expr_node *node)
{
    const bool is_and = node->kind == SL_EXPR_AND;
    const enum sl_truth decided = is_and ? SL_FALSE : SL_TRUE;
    enum sl_truth result = is_and ? SL_TRUE : SL_FALSE;
    for (size_t i = 0; i < node->n_args && result != decided; i++) {
        const enum sl_truth truth = eval_node(row, node->args[i]);
        result = is_and ? both(result, truth) : either(result, truth);
    }
    return result;
}

static enum sl_truth eval_node(const struct row *row, const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_COMPARE: return eval_compare(row, node->op, sl_common_of(node->args, 2), node->args[0], node->args[1]);
    case SL_EXPR_AND:
    case SL_EXPR_OR: return eval_junction(row, node);
    case SL_EXPR_NOT: return negate(eval_node(row, node->args[0]));
    case SL_EXPR_IS_NULL: return eval_is_null(row, node->args[0]);
    case SL_EXPR_IS_NOT_NULL: return negate(eval_is_null(row, node->args[0]));
    case SL_EXPR_IN: return eval_in(row, node);
    case SL_EXPR_BETWEEN: return eval_between(row, node);
    case SL_EXPR_LIKE: return eval_like(row, node);
    default: return eval_boolean(row, node);
    }
}

enum sl_truth sl_eval_predicate(const struct sl_expr_node *node, sl_eval_lookup lookup, void *ctx,
                                struct sl_arena *scratch)
{
    const struct row row = {lookup, ctx, scratch};
    return eval_node(&row, node);
}
