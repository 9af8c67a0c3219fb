/*
 * Comparisons, IN and BETWEEN as kernel predicates. Before values are compared the data plane casts them to one type, by rules of its
 * own; the kernel gets constants that are cast so already, and columns in casts that keep their order. What would need another cast is
 * left out.
 *
 * Called by predicate.c. One owner.
 */
#include "base/error.h"
#include "sql/predicate_int.h"

/* ---- the common type ---- */

/* What the data plane compares two classes as; OTHER: something that needs more than this file knows. */
static enum sl_operand_class common_of(enum sl_operand_class a, enum sl_operand_class b)
{
    const enum sl_operand_class low = a < b ? a : b;
    const enum sl_operand_class high = a < b ? b : a;
    const bool numbers = low >= SL_OPERAND_EXACT && high <= SL_OPERAND_DOUBLE;
    const bool times = low >= SL_OPERAND_DATE && high <= SL_OPERAND_INSTANT;
    if (low == high || low == SL_OPERAND_NULL || numbers || times) {
        return high;
    }
    return high == SL_OPERAND_TEXT ? low : SL_OPERAND_OTHER;
}

struct comparison {
    enum sl_operand_class cls;
    const struct silt_type *exact; /* the type that texts become beside exact numbers; NULL: not known */
    bool in_utc;                   /* instants are given as wall clocks of UTC */
};

/* A text takes the type of all that is beside it, which must not hang on several types. */
static const struct silt_type *exact_type(const struct sl_operand *operands, size_t n)
{
    const struct silt_type *type = NULL;
    for (size_t i = 0; i < n; i++) {
        if (operands[i].cls == SL_OPERAND_EXACT) {
            if (type != NULL || operands[i].node == NULL || operands[i].is_sum) {
                return NULL;
            }
            type = operands[i].type;
        }
    }
    return type;
}

static bool find_common(struct sl_predicate_maker *maker, struct sl_operand *operands, size_t n, struct comparison *out)
{
    bool any_column = false;
    bool any_instant = false;
    for (size_t i = 0; i < n; i++) {
        any_column = any_column || operands[i].node != NULL;
        any_instant = any_instant || (operands[i].node != NULL && operands[i].cls == SL_OPERAND_INSTANT);
    }
    if (!any_column) {
        return false;
    }
    *out = (struct comparison){.cls = SL_OPERAND_NULL};
    for (size_t i = 0; i < n; i++) {
        if (!sl_constant_classify(maker, &operands[i])) {
            return false;
        }
        out->cls = common_of(out->cls, operands[i].cls);
        if (out->cls == SL_OPERAND_OTHER) {
            return false;
        }
    }
    out->exact = exact_type(operands, n);
    out->in_utc = out->cls == SL_OPERAND_INSTANT && maker->source->utc && !any_instant;
    return true;
}

static const struct sl_expr_node *constant_side(struct sl_predicate_maker *maker, const struct sl_operand *operand,
                                                const struct comparison *comparison)
{
    silt_value value;
    if (!sl_constant_value(maker, operand, comparison->cls, comparison->exact, &value)) {
        return NULL;
    }
    if (comparison->in_utc && !value.is_null) {
        value.kind = SILT_TYPE_TIMESTAMP_NTZ;
    }
    return sl_predicate_literal(maker, &value);
}

/* The operand as what it is compared as. NULL: it cannot be. */
static const struct sl_expr_node *side(struct sl_predicate_maker *maker, const struct sl_operand *operand,
                                       const struct comparison *comparison)
{
    static const struct silt_type types[] = {[SL_OPERAND_FLOAT] = {.kind = SILT_TYPE_FLOAT},
                                             [SL_OPERAND_DOUBLE] = {.kind = SILT_TYPE_DOUBLE},
                                             [SL_OPERAND_CLOCK] = {.kind = SILT_TYPE_TIMESTAMP_NTZ},
                                             [SL_OPERAND_INSTANT] = {.kind = SILT_TYPE_TIMESTAMP}};
    if (operand->node == NULL) {
        return constant_side(maker, operand, comparison);
    }
    const enum sl_operand_class cls = comparison->in_utc ? SL_OPERAND_CLOCK : comparison->cls;
    if (operand->cls == cls || (operand->cls == SL_OPERAND_FLOAT && cls == SL_OPERAND_DOUBLE)) {
        return operand->node;
    }
    if (operand->cls == SL_OPERAND_TEXT) {
        return NULL; /* the column is cast, and its order with it */
    }
    if (operand->cls == SL_OPERAND_EXACT && operand->type->kind == SILT_TYPE_DECIMAL) {
        return operand->node; /* the kernel minds the rounding */
    }
    return sl_predicate_cast(maker, operand->node, &types[cls]);
}

/* ---- predicates ---- */

/* All sides brought to one type. NULL if there is something else among them. */
static struct sl_expr_node *compare(struct sl_predicate_maker *maker, enum sl_expr_kind kind,
                                    const sl_json *const *sides, size_t n, unsigned depth)
{
    struct sl_operand *operands = sl_arena_alloc_array(&maker->arena, n, sizeof(*operands));
    const struct sl_expr_node **args = sl_arena_alloc_array(&maker->arena, n, sizeof(*args));
    struct comparison comparison;
    if (operands == NULL || args == NULL) {
        maker->status = sl_fail_nomem(maker->err);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!sl_operand_read(maker, sides[i], depth + 1, &operands[i])) {
            return NULL;
        }
    }
    if (!find_common(maker, operands, n, &comparison)) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        args[i] = side(maker, &operands[i], &comparison);
        if (args[i] == NULL) {
            return NULL;
        }
    }
    return sl_predicate_node(maker, kind, args, n);
}

const struct sl_expr_node *sl_predicate_compare(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    static const struct {
        const char *type;
        silt_compare_op op;
        silt_compare_op swapped;
    } table[] = {
        {"COMPARE_EQUAL", SILT_COMPARE_EQ, SILT_COMPARE_EQ},
        {"COMPARE_NOTEQUAL", SILT_COMPARE_NE, SILT_COMPARE_NE},
        {"COMPARE_LESSTHAN", SILT_COMPARE_LT, SILT_COMPARE_GT},
        {"COMPARE_GREATERTHAN", SILT_COMPARE_GT, SILT_COMPARE_LT},
        {"COMPARE_LESSTHANOREQUALTO", SILT_COMPARE_LE, SILT_COMPARE_GE},
        {"COMPARE_GREATERTHANOREQUALTO", SILT_COMPARE_GE, SILT_COMPARE_LE},
        {"COMPARE_NOT_DISTINCT_FROM", SILT_COMPARE_NULL_SAFE_EQ, SILT_COMPARE_NULL_SAFE_EQ},
        {"COMPARE_DISTINCT_FROM", SILT_COMPARE_NULL_SAFE_EQ, SILT_COMPARE_NULL_SAFE_EQ},
    };
    const sl_json *sides[2] = {sl_json_member(node, "left"), sl_json_member(node, "right")};
    const bool swap = sl_node_is(sides[0], "class", "CONSTANT"); /* for the look of it: 5 < x is x > 5 */
    const sl_json *ordered[2] = {sides[swap ? 1 : 0], sides[swap ? 0 : 1]};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (!sl_node_is(node, "type", table[i].type)) {
            continue;
        }
        struct sl_expr_node *made = compare(maker, SL_EXPR_COMPARE, ordered, 2, depth);
        if (made != NULL) {
            made->op = swap ? table[i].swapped : table[i].op;
        }
        return sl_node_is(node, "type", "COMPARE_DISTINCT_FROM") ? sl_predicate_negate(maker, made) : made;
    }
    return NULL;
}

const struct sl_expr_node *sl_predicate_in(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    const sl_json *children = sl_json_member(node, "children");
    const size_t n = sl_json_count(children);
    const sl_json **sides = sl_arena_alloc_array(&maker->arena, n + 1, sizeof(*sides));
    struct sl_json_iter iter = sl_json_iterate(children);
    struct sl_str key;
    if (sides == NULL) {
        maker->status = sl_fail_nomem(maker->err);
        return NULL;
    }
    for (size_t i = 0; i < n && sl_json_next(&iter, &key, &sides[i]);) {
        i++;
    }
    const struct sl_expr_node *made = n >= 2 ? compare(maker, SL_EXPR_IN, sides, n, depth) : NULL;
    return sl_node_is(node, "type", "COMPARE_NOT_IN") ? sl_predicate_negate(maker, made) : made;
}

const struct sl_expr_node *sl_predicate_between(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    const sl_json *sides[3] = {sl_json_member(node, "input"), sl_json_member(node, "lower"),
                               sl_json_member(node, "upper")};
    return compare(maker, SL_EXPR_BETWEEN, sides, 3, depth);
}
