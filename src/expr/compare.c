/*
 * Comparing two values as engines do, as far as all of them agree; and the other arithmetic that evaluation and skipping share. See
 * compare.h. Pure; any thread.
 */
#include "expr/compare.h"

#include <math.h>

#include "base/alloc.h"

static bool is_floating(silt_type_kind kind)
{
    return kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE;
}

static bool exact_in(const silt_value *v, silt_type_kind floating)
{
    const int64_t limit = floating == SILT_TYPE_FLOAT ? INT64_C(1) << 24 : INT64_C(1) << 53;
    return v->kind >= SILT_TYPE_BYTE && v->kind <= SILT_TYPE_LONG && v->as.i64 <= limit && v->as.i64 >= -limit;
}

/* True if every engine turns the number into its exact equal, once there is one. */
static bool converts_exactly(const silt_value *v, silt_type_kind floating)
{
    if (v->kind != SILT_TYPE_DECIMAL) {
        return true;
    }
    /* Both the digits and the power of ten are floating-point numbers themselves, so that one division rounds once. */
    const bool narrow = floating == SILT_TYPE_FLOAT;
    const sl_i128 limit = (sl_i128)1 << (narrow ? 24 : 53);
    const sl_i128 unscaled = sl_value_get_i128(v);
    return unscaled <= limit && unscaled >= -limit && v->scale <= (narrow ? 10 : 22);
}

static double approximate(const silt_value *v)
{
    if (is_floating(v->kind)) {
        return v->as.f64;
    }
    if (v->kind != SILT_TYPE_DECIMAL) {
        return (double)v->as.i64;
    }
    return (double)sl_value_get_i128(v) / pow(10, v->scale);
}

/*
 * Engines turn the exact side of a mixed comparison into a double or a float and so may find two numbers equal that are not.
 * Numbers that close leave the answer open.
 */
static bool certain_as(silt_type_kind floating, const silt_value *a, const silt_value *b, int order)
{
    if ((is_floating(a->kind) && !isfinite(a->as.f64)) || (is_floating(b->kind) && !isfinite(b->as.f64))) {
        return true;
    }
    const bool a_same = is_floating(a->kind) || exact_in(a, floating);
    const bool b_same = is_floating(b->kind) || exact_in(b, floating);
    if (a_same && b_same) {
        return true;
    }
    if (order == 0) {
        return converts_exactly(a, floating) && converts_exactly(b, floating);
    }
    const double x = approximate(a);
    const double y = approximate(b);
    const double tolerance = floating == SILT_TYPE_FLOAT ? 0x1p-20 : 0x1p-48;
    return fabs(x - y) > tolerance * fmax(fabs(x), fabs(y));
}

bool sl_compare_certain(struct sl_common common, const silt_value *a, const silt_value *b, int *order)
{
    const bool a_floats = is_floating(a->kind);
    const bool b_floats = is_floating(b->kind);
    if (common.is_open || !sl_value_compare(a, b, order)) {
        return false;
    }
    if (a_floats != b_floats) {
        return certain_as(a_floats ? a->kind : b->kind, a, b, *order);
    }
    const bool are_numbers = sl_kind_is_integer(a->kind) || a->kind == SILT_TYPE_DECIMAL;
    return a_floats || common.floating == SILT_TYPE_VOID || !are_numbers || certain_as(common.floating, a, b, *order);
}

static silt_type_kind kind_of(const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_LITERAL: return node->value.kind;
    case SL_EXPR_COLUMN:
    case SL_EXPR_CAST:
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return node->type != NULL ? node->type->kind : SILT_TYPE_VOID;
    default: return SILT_TYPE_BOOLEAN;
    }
}

struct sl_common sl_common_of(const struct sl_expr_node *const *args, size_t n)
{
    struct sl_common common = {.floating = SILT_TYPE_VOID};
    size_t n_texts = 0;
    size_t n_others = 0;
    for (size_t i = 0; i < n; i++) {
        const silt_type_kind kind = kind_of(args[i]);
        n_texts += kind == SILT_TYPE_STRING ? 1 : 0;
        n_others += kind != SILT_TYPE_STRING && kind != SILT_TYPE_VOID ? 1 : 0;
        if (is_floating(kind) && common.floating != SILT_TYPE_DOUBLE) {
            common.floating = kind;
        }
    }
    common.is_open = n_texts > 0 && n_others > 0;
    return common;
}

bool sl_compare_holds(silt_compare_op op, int order)
{
    switch (op) {
    case SILT_COMPARE_NE: return order != 0;
    case SILT_COMPARE_LT: return order < 0;
    case SILT_COMPARE_LE: return order <= 0;
    case SILT_COMPARE_GT: return order > 0;
    case SILT_COMPARE_GE: return order >= 0;
    default: return order == 0;
    }
}

static bool is_zoned_with(silt_type_kind a, silt_type_kind b)
{
    return a == SILT_TYPE_TIMESTAMP && (b == SILT_TYPE_DATE || b == SILT_TYPE_TIMESTAMP_NTZ || b == SILT_TYPE_STRING);
}

bool sl_cast_needs_zone(silt_type_kind from, silt_type_kind to)
{
    return is_zoned_with(from, to) || is_zoned_with(to, from);
}

bool sl_integer_sum(const silt_value *a, const silt_value *b, bool subtract, silt_value *out)
{
    const silt_type_kind kind = a->kind > b->kind ? a->kind : b->kind; /* kinds are in the order of their width */
    int64_t sum = 0;
    if (!sl_kind_is_integer(a->kind) || !sl_kind_is_integer(b->kind) || (subtract && b->as.i64 == INT64_MIN) ||
        !sl_add_i64(a->as.i64, subtract ? -b->as.i64 : b->as.i64, &sum)) {
        return false;
    }
    *out = sl_value_i64(kind, sum);
    return sl_int_fits(kind, sum);
}
