/*
 * Expressions as DuckDB SQL, with literals of exact type and with Spark's results.
 *
 * Called by the DuckDB engine's query building. Where DuckDB's cast would give another result than Spark's (rounding where
 * Spark truncates, other text of floats and times) it is adapted or refused. DuckDB orders NaN and signed zeros as Spark
 * does. Pure; any thread.
 */
#include "base/error.h"
#include "base/quote.h"
#include "expr/compare.h"
#include "expr/expr.h"

struct printer {
    struct sl_buf *out;
    silt_error *err;
};

static silt_status print_node(const struct printer *p, const struct sl_expr_node *node);

static void put(const struct printer *p, const char *text)
{
    sl_buf_put_c(p->out, text);
}

/* ("a")."b": the parentheses keep DuckDB from taking the first name for a table. */
static void print_column(const struct printer *p, const struct sl_expr_node *node)
{
    for (size_t i = 1; i < node->path_len; i++) {
        sl_buf_put_char(p->out, '(');
    }
    for (size_t i = 0; i < node->path_len; i++) {
        put(p, i > 0 ? ")." : "");
        sl_quote_put(p->out, node->path[i], '"');
    }
}

static silt_status print_list(const struct printer *p, const struct sl_expr_node *const *args, size_t n,
                              const char *separator)
{
    for (size_t i = 0; i < n; i++) {
        put(p, i > 0 ? separator : "");
        SL_TRY(print_node(p, args[i]));
    }
    return SILT_OK;
}

static silt_status print_wrapped(const struct printer *p, const char *before, const struct sl_expr_node *const *args,
                                 size_t n, const char *separator)
{
    put(p, before);
    SL_TRY(print_list(p, args, n, separator));
    put(p, ")");
    return SILT_OK;
}

/*
 * The call around IS NOT DISTINCT FROM changes no result. It keeps DuckDB from making NOT of it an IS DISTINCT FROM and pushing that
 * into the scan below an OR, where DuckDB 1.5 takes it for false in row groups whose values are all null.
 */
static silt_status print_compare(const struct printer *p, const struct sl_expr_node *node)
{
    if (node->op != SILT_COMPARE_NULL_SAFE_EQ) {
        return print_wrapped(p, "(", node->args, 2, sl_compare_text(node->op));
    }
    SL_TRY(print_wrapped(p, "coalesce((", node->args, 2, " IS NOT DISTINCT FROM "));
    put(p, ", FALSE)");
    return SILT_OK;
}

static const struct silt_type *type_of(const struct sl_expr_node *node, struct silt_type *space)
{
    if (node->kind == SL_EXPR_LITERAL) {
        *space = (struct silt_type){
            .kind = node->value.kind, .precision = node->value.precision, .scale = node->value.scale};
        return space;
    }
    if (node->kind == SL_EXPR_COLUMN || node->kind == SL_EXPR_CAST || node->kind == SL_EXPR_ADD ||
        node->kind == SL_EXPR_SUBTRACT) {
        return node->type;
    }
    *space = (struct silt_type){.kind = SILT_TYPE_BOOLEAN};
    return space;
}

enum cast_rule {
    REFUSED,
    SAME,
    TRUNCATED
};

static bool is_fractional(silt_type_kind kind)
{
    return kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE || kind == SILT_TYPE_DECIMAL;
}

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_DATE || kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

/* Which casts of DuckDB give what Spark's ANSI casts give. */
static enum cast_rule cast_rule(silt_type_kind from, silt_type_kind to)
{
    if (from == to || from == SILT_TYPE_VOID) {
        return SAME;
    }
    if (sl_kind_is_integer(to)) {
        return sl_kind_is_integer(from) || from == SILT_TYPE_BOOLEAN ? SAME : is_fractional(from) ? TRUNCATED : REFUSED;
    }
    if (is_fractional(to)) {
        const bool by_text = to == SILT_TYPE_DECIMAL && from != SILT_TYPE_DECIMAL && is_fractional(from);
        return (sl_kind_is_integer(from) || is_fractional(from)) && !by_text ? SAME : REFUSED;
    }
    if (to == SILT_TYPE_STRING) {
        return sl_kind_is_integer(from) || from == SILT_TYPE_BOOLEAN || from == SILT_TYPE_DATE ||
                       from == SILT_TYPE_DECIMAL
                   ? SAME
                   : REFUSED;
    }
    if (is_time(to)) {
        return is_time(from) || from == SILT_TYPE_STRING ? SAME : REFUSED;
    }
    return to == SILT_TYPE_BOOLEAN && sl_kind_is_integer(from) ? SAME : REFUSED;
}

static silt_status print_cast(const struct printer *p, const struct sl_expr_node *node)
{
    struct silt_type space;
    const struct silt_type *from = type_of(node->args[0], &space);
    const enum cast_rule rule = from != NULL ? cast_rule(from->kind, node->type->kind) : REFUSED;
    if (rule == REFUSED) {
        return sl_fail(
            p->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION", "the cast from %s to %s is not supported",
            from != NULL ? sl_type_kind_name(from->kind) : "an unknown type", sl_type_kind_name(node->type->kind));
    }
    put(p, rule == TRUNCATED ? "CAST(trunc(" : "CAST(");
    SL_TRY(print_node(p, node->args[0]));
    put(p, rule == TRUNCATED ? ") AS " : " AS ");
    sl_type_print_duckdb(p->out, node->type);
    put(p, ")");
    return SILT_OK;
}

/* Both give the wider type of two integers and fail when it overflows. Other sums have types of their own in each. */
static silt_status print_sum(const struct printer *p, const struct sl_expr_node *node)
{
    if (node->type == NULL) {
        return sl_fail(p->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION",
                       "'%c' of anything but integers is not supported", node->kind == SL_EXPR_ADD ? '+' : '-');
    }
    return print_wrapped(p, "(", node->args, 2, node->kind == SL_EXPR_ADD ? " + " : " - ");
}

/* Every compound comes in parentheses of its own. */
static silt_status print_node(const struct printer *p, const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_LITERAL: sl_value_print_duckdb(p->out, &node->value); return SILT_OK;
    case SL_EXPR_COLUMN: print_column(p, node); return SILT_OK;
    case SL_EXPR_COMPARE: return print_compare(p, node);
    case SL_EXPR_AND: return print_wrapped(p, "(", node->args, node->n_args, " AND ");
    case SL_EXPR_OR: return print_wrapped(p, "(", node->args, node->n_args, " OR ");
    case SL_EXPR_NOT: return print_wrapped(p, "(NOT ", node->args, 1, "");
    case SL_EXPR_IS_NULL:
    case SL_EXPR_IS_NOT_NULL:
        put(p, "(");
        SL_TRY(print_node(p, node->args[0]));
        put(p, node->kind == SL_EXPR_IS_NULL ? " IS NULL)" : " IS NOT NULL)");
        return SILT_OK;
    case SL_EXPR_IN:
        put(p, "(");
        SL_TRY(print_node(p, node->args[0]));
        SL_TRY(print_wrapped(p, " IN (", node->args + 1, node->n_args - 1, ", "));
        put(p, ")");
        return SILT_OK;
    case SL_EXPR_BETWEEN:
        put(p, "(");
        SL_TRY(print_node(p, node->args[0]));
        return print_wrapped(p, " BETWEEN ", node->args + 1, 2, " AND ");
    case SL_EXPR_LIKE:
        put(p, "(");
        SL_TRY(print_list(p, node->args, 2, " LIKE "));
        put(p, " ESCAPE '\\')");
        return SILT_OK;
    case SL_EXPR_CAST: return print_cast(p, node);
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return print_sum(p, node);
    }
    return sl_fail(p->err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION", "an expression of an unknown kind");
}

silt_status sl_expr_print_duckdb(struct sl_buf *out, const struct sl_expr_node *node, silt_error *err)
{
    const struct printer p = {out, err};
    SL_TRY(print_node(&p, node));
    return sl_buf_status(out, err);
}
