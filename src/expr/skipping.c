/*
 * Data skipping: whether a predicate can be true for some row of a file, of which bounds and null counts are known
 * (PROTOCOL.md "Per-file Statistics").
 *
 * Called by scans and by conflict checks. For each node the set of outcomes that some row may have is computed, never too
 * small: {true, false, null}. A file is dropped only if its set lacks "true". Sets of outcomes, unlike a single truth, are
 * right under NOT as well, and keep "unknown" apart from "null".
 *
 * NaN: writers differ in whether NaN counts in a maximum, and it is greater than every number. So a maximum of a float or double
 * column never rules out greater values; it does rule out equality with a number. Pure; any thread.
 */
#include <math.h>

#include "base/alloc.h"
#include "base/time.h"
#include "expr/compare.h"
#include "expr/like.h"

/* The widest offset of a zone: 18 hours. */
#define ZONE_US (INT64_C(18) * 3600 * 1000000)

enum outcome {
    CAN_TRUE = 1,
    CAN_FALSE = 2,
    CAN_NULL = 4
};
#define CAN_ANY (CAN_TRUE | CAN_FALSE | CAN_NULL)

/* What an operand may be over all rows. */
struct extent {
    bool can_null;
    bool can_value; /* some row may have a value that is not null */
    bool has_min;
    bool has_max;
    bool maybe_nan; /* NaN may hide above max */
    silt_value min;
    silt_value max;
};

struct file {
    sl_bounds_lookup lookup;
    void *ctx;
    struct sl_arena *scratch;
};

static unsigned may_be(const struct file *file, const struct sl_expr_node *node);

static bool is_floating(silt_type_kind kind)
{
    return kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE;
}

static bool is_nan(const silt_value *v)
{
    return is_floating(v->kind) && isnan(v->as.f64);
}

static struct extent extent_unknown(void)
{
    return (struct extent){.can_null = true, .can_value = true, .maybe_nan = true};
}

static struct extent extent_of_value(const silt_value *v)
{
    struct extent e = {.can_null = v->is_null, .can_value = !v->is_null};
    if (!v->is_null) {
        e.has_min = e.has_max = true;
        e.min = e.max = *v;
    }
    return e;
}

static struct extent extent_of_column(const struct file *file, const struct sl_expr_node *node)
{
    struct sl_bounds bounds = {0};
    struct extent e = extent_unknown();
    if (!file->lookup(file->ctx, node->path, node->path_len, &bounds)) {
        return e;
    }
    e.can_null = !(bounds.has_null_count && bounds.null_count == 0);
    e.can_value = !(bounds.has_null_count && bounds.has_row_count && bounds.null_count == bounds.row_count);
    /* A NaN as a bound says nothing about the numbers beside it. */
    e.has_min = bounds.has_min && !bounds.min.is_null && !is_nan(&bounds.min);
    e.has_max = bounds.has_max && !bounds.max.is_null && !is_nan(&bounds.max);
    e.min = bounds.min;
    e.max = bounds.max;
    const bool is_number = (e.has_min && !is_floating(e.min.kind)) || (e.has_max && !is_floating(e.max.kind));
    e.maybe_nan = !is_number;
    return e;
}

/*
 * Casts that keep the order of all values and never fail for one between two that do not. Integers become floating-point numbers by
 * rounding, in which every engine agrees; decimals do not.
 */
static bool is_monotone(silt_type_kind from, silt_type_kind to)
{
    const bool to_number = sl_kind_is_integer(to) || to == SILT_TYPE_DECIMAL || is_floating(to);
    return from == to || (sl_kind_is_integer(from) && to_number) ||
           (from == SILT_TYPE_FLOAT && to == SILT_TYPE_DOUBLE) ||
           (from == SILT_TYPE_DATE && to == SILT_TYPE_TIMESTAMP_NTZ);
}

/*
 * Between instants and wall clocks, and from either to the day that it is in. A zone that is not known moves a value by at most
 * ZONE_US, so that the bound moves as far.
 */
static bool cast_time_bound(const silt_value *bound, silt_type_kind to, bool is_max, silt_value *out)
{
    const bool needs_zone = sl_cast_needs_zone(bound->kind, to);
    int64_t us = bound->as.i64;
    if (bound->kind == SILT_TYPE_DATE && !sl_mul_i64(us, SL_US_PER_DAY, &us)) {
        return false;
    }
    if (needs_zone && !sl_add_i64(us, is_max ? ZONE_US : -ZONE_US, &us)) {
        return false;
    }
    *out = sl_value_i64(to, to == SILT_TYPE_DATE ? sl_floor_div(us, SL_US_PER_DAY) : us);
    return true;
}

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_DATE || kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

/* Casts that take every value. */
static bool never_fails(silt_type_kind from, const struct silt_type *to)
{
    const bool integers = sl_kind_is_integer(from) && sl_kind_is_integer(to->kind);
    return (integers && to->kind >= from) || is_floating(to->kind) || (is_time(from) && is_time(to->kind));
}

static bool cast_bound(const struct file *file, const silt_value *bound, const struct silt_type *type, bool is_max,
                       silt_value *out)
{
    if (is_time(bound->kind) && is_time(type->kind)) {
        return cast_time_bound(bound, type->kind, is_max, out);
    }
    return is_monotone(bound->kind, type->kind) && sl_value_cast(file->scratch, bound, type, out);
}

static struct extent extent_of(const struct file *file, const struct sl_expr_node *node);

/*
 * A value that the type cannot hold is an error, null or another value, as the engine has it: unless both ends are known to fit, a cast to a
 * narrower type bounds nothing and may be null.
 */
static struct extent extent_of_cast(const struct file *file, const struct sl_expr_node *node)
{
    struct extent inner = extent_of(file, node->args[0]);
    struct extent e = extent_unknown();
    e.can_value = inner.can_value;
    e.has_min = inner.has_min && cast_bound(file, &inner.min, node->type, false, &e.min);
    e.has_max = inner.has_max && cast_bound(file, &inner.max, node->type, true, &e.max);
    const bool fits = e.has_min && e.has_max;
    const bool is_wider = e.has_min || e.has_max ? never_fails(e.has_min ? inner.min.kind : inner.max.kind, node->type)
                                                 : false;
    e.can_null = inner.can_null || !(fits || is_wider);
    e.has_min = e.has_min && (fits || is_wider);
    e.has_max = e.has_max && (fits || is_wider);
    e.maybe_nan = is_floating(node->type->kind) && !(e.has_min && sl_kind_is_integer(inner.min.kind)) &&
                  !(e.has_max && sl_kind_is_integer(inner.max.kind));
    return e;
}

/* A sum moves as its parts do, as long as none overflows its type: for that all four bounds are needed. */
static struct extent extent_of_sum(const struct file *file, const struct sl_expr_node *node)
{
    const bool subtract = node->kind == SL_EXPR_SUBTRACT;
    const struct extent a = extent_of(file, node->args[0]);
    const struct extent b = extent_of(file, node->args[1]);
    struct extent e = extent_unknown();
    e.can_null = a.can_null || b.can_null;
    e.can_value = a.can_value && b.can_value;
    if (a.has_min && a.has_max && b.has_min && b.has_max &&
        sl_integer_sum(&a.min, subtract ? &b.max : &b.min, subtract, &e.min) &&
        sl_integer_sum(&a.max, subtract ? &b.min : &b.max, subtract, &e.max)) {
        e.has_min = e.has_max = true;
        e.maybe_nan = false;
    }
    return e;
}

static struct extent extent_of(const struct file *file, const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_LITERAL: return extent_of_value(&node->value);
    case SL_EXPR_COLUMN: return extent_of_column(file, node);
    case SL_EXPR_CAST: return extent_of_cast(file, node);
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return extent_of_sum(file, node);
    default: break;
    }
    const unsigned set = may_be(file, node);
    struct extent e = {.can_null = (set & CAN_NULL) != 0, .can_value = (set & (CAN_TRUE | CAN_FALSE)) != 0};
    e.has_min = e.has_max = true;
    e.min = sl_value_bool((set & CAN_FALSE) == 0);
    e.max = sl_value_bool((set & CAN_TRUE) != 0);
    return e;
}

/* True if each value up to "max" is certainly below (or, with or_equal, not above) each from "min" on. */
static bool is_below(struct sl_common common, const struct extent *low, const struct extent *high, bool or_equal)
{
    int order = 0;
    if (!low->has_max || !high->has_min || !sl_compare_certain(common, &low->max, &high->min, &order)) {
        return false;
    }
    return order < 0 || (or_equal && order == 0);
}

struct orders {
    bool less;
    bool equal;
    bool greater;
};

/* Which orders two values, one of each extent, may have. */
static struct orders possible_orders(struct sl_common common, const struct extent *a, const struct extent *b)
{
    const bool a_nan = a->maybe_nan || (a->has_max && is_nan(&a->max));
    const bool b_nan = b->maybe_nan || (b->has_max && is_nan(&b->max));
    struct orders o;
    /* NaN hidden above a maximum makes its side greater; it equals only another NaN. */
    o.greater = !is_below(common, a, b, true) || (a->maybe_nan && !(b->has_min && is_nan(&b->min)));
    o.less = !is_below(common, b, a, true) || (b->maybe_nan && !(a->has_min && is_nan(&a->min)));
    o.equal = (!is_below(common, a, b, false) && !is_below(common, b, a, false)) || (a_nan && b_nan);
    return o;
}

static unsigned outcomes_of_orders(silt_compare_op op, struct orders o)
{
    unsigned set = 0;
    const bool possible[3] = {o.less, o.equal, o.greater};
    for (int i = 0; i < 3; i++) {
        if (possible[i]) {
            set |= sl_compare_holds(op, i - 1) ? CAN_TRUE : CAN_FALSE;
        }
    }
    return set;
}

static unsigned compare_extents(silt_compare_op op, struct sl_common common, const struct extent *a,
                                const struct extent *b)
{
    unsigned set = a->can_value && b->can_value ? outcomes_of_orders(op, possible_orders(common, a, b)) : 0;
    if (op != SILT_COMPARE_NULL_SAFE_EQ) {
        return set | (a->can_null || b->can_null ? CAN_NULL : 0u);
    }
    set |= a->can_null && b->can_null ? CAN_TRUE : 0u;
    set |= (a->can_null && b->can_value) || (a->can_value && b->can_null) ? CAN_FALSE : 0u;
    return set;
}

static unsigned may_compare(const struct file *file, silt_compare_op op, struct sl_common common,
                            const struct sl_expr_node *left, const struct sl_expr_node *right)
{
    const struct extent a = extent_of(file, left);
    const struct extent b = extent_of(file, right);
    return compare_extents(op, common, &a, &b);
}

static unsigned negate(unsigned set)
{
    return (set & CAN_NULL) | ((set & CAN_TRUE) != 0 ? CAN_FALSE : 0u) | ((set & CAN_FALSE) != 0 ? CAN_TRUE : 0u);
}

/* AND of two rows' outcomes, each taken from its set. */
static unsigned both(unsigned a, unsigned b)
{
    unsigned set = 0;
    if ((a & CAN_TRUE) != 0 && (b & CAN_TRUE) != 0) {
        set |= CAN_TRUE;
    }
    if (((a & CAN_FALSE) != 0 && b != 0) || ((b & CAN_FALSE) != 0 && a != 0)) {
        set |= CAN_FALSE;
    }
    const unsigned not_false = CAN_TRUE | CAN_NULL;
    if (((a & CAN_NULL) != 0 && (b & not_false) != 0) || ((b & CAN_NULL) != 0 && (a & not_false) != 0)) {
        set |= CAN_NULL;
    }
    return set;
}

static unsigned either(unsigned a, unsigned b)
{
    return negate(both(negate(a), negate(b)));
}

static unsigned may_in(const struct file *file, const struct sl_expr_node *node)
{
    const struct sl_common common = sl_common_of(node->args, node->n_args);
    const struct extent left = extent_of(file, node->args[0]);
    unsigned set = CAN_FALSE;
    for (size_t i = 1; i < node->n_args; i++) {
        const struct extent right = extent_of(file, node->args[i]);
        set = either(set, compare_extents(SILT_COMPARE_EQ, common, &left, &right));
    }
    return set;
}

static unsigned may_between(const struct file *file, const struct sl_expr_node *node)
{
    const struct sl_common common = sl_common_of(node->args, node->n_args);
    return both(may_compare(file, SILT_COMPARE_GE, common, node->args[0], node->args[1]),
                may_compare(file, SILT_COMPARE_LE, common, node->args[0], node->args[2]));
}

static unsigned may_like(const struct file *file, const struct sl_expr_node *node)
{
    const struct extent text = extent_of(file, node->args[0]);
    const struct sl_expr_node *pattern = node->args[1];
    struct sl_like_prefix prefix;
    unsigned set = text.can_null ? CAN_NULL : 0u;
    if (!text.can_value) {
        return set;
    }
    if (pattern->kind != SL_EXPR_LITERAL || pattern->value.is_null || pattern->value.kind != SILT_TYPE_STRING ||
        !sl_like_valid(sl_value_get_str(&pattern->value)) ||
        !sl_like_split(file->scratch, sl_value_get_str(&pattern->value), &prefix)) {
        return CAN_ANY;
    }
    const bool min_known = text.has_min && text.min.kind == SILT_TYPE_STRING;
    const bool max_known = text.has_max && text.max.kind == SILT_TYPE_STRING;
    const struct sl_str min = min_known ? sl_value_get_str(&text.min) : SL_STR("");
    const struct sl_str max = max_known ? sl_value_get_str(&text.max) : SL_STR("");
    /* All texts that begin with the prefix lie together, from the prefix on. */
    const bool all_before = max_known && sl_str_compare(max, prefix.text) < 0;
    const bool all_after = min_known && sl_str_compare(min, prefix.text) > 0 &&
                           (prefix.is_exact || !sl_str_starts_with(min, prefix.text));
    const bool all_within = prefix.is_prefix &&
                            (prefix.text.len == 0 || (min_known && max_known && sl_str_starts_with(min, prefix.text) &&
                                                      sl_str_starts_with(max, prefix.text)));
    set |= all_before || all_after ? 0u : CAN_TRUE;
    set |= all_within ? 0u : CAN_FALSE;
    return set;
}

static unsigned may_is_null(const struct file *file, const struct sl_expr_node *arg)
{
    const struct extent e = extent_of(file, arg);
    return (e.can_null ? CAN_TRUE : 0u) | (e.can_value ? CAN_FALSE : 0u);
}

/* A column, literal or cast where a truth is wanted. */
static unsigned may_boolean(const struct file *file, const struct sl_expr_node *node)
{
    const silt_value yes = sl_value_bool(true);
    const struct extent e = extent_of(file, node);
    const struct extent truth = extent_of_value(&yes);
    return compare_extents(SILT_COMPARE_EQ, (struct sl_common){.floating = SILT_TYPE_VOID}, &e, &truth);
}

static unsigned may_be(const struct file *file, const struct sl_expr_node *node)
{
    unsigned set = 0;
    switch (node->kind) {
    case SL_EXPR_COMPARE: return may_compare(file, node->op, sl_common_of(node->args, 2), node->args[0], node->args[1]);
    case SL_EXPR_AND:
        set = CAN_TRUE;
        for (size_t i = 0; i < node->n_args; i++) {
            set = both(set, may_be(file, node->args[i]));
        }
        return set;
    case SL_EXPR_OR:
        set = CAN_FALSE;
        for (size_t i = 0; i < node->n_args; i++) {
            set = either(set, may_be(file, node->args[i]));
        }
        return set;
    case SL_EXPR_NOT: return negate(may_be(file, node->args[0]));
    case SL_EXPR_IS_NULL: return may_is_null(file, node->args[0]);
    case SL_EXPR_IS_NOT_NULL: return negate(may_is_null(file, node->args[0]));
    case SL_EXPR_IN: return may_in(file, node);
    case SL_EXPR_BETWEEN: return may_between(file, node);
    case SL_EXPR_LIKE: return may_like(file, node);
    default: return may_boolean(file, node);
    }
}

bool sl_eval_may_match(const struct sl_expr_node *node, sl_bounds_lookup lookup, void *ctx, struct sl_arena *scratch)
{
    const struct file file = {lookup, ctx, scratch};
    return (may_be(&file, node) & CAN_TRUE) != 0;
}
