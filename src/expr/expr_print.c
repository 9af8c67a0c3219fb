/*
 * Expressions as Spark SQL: the text that goes into logs and histories, and that Spark parses back to the same tree.
 *
 * Called when an expression is sealed. Parentheses are put around every operand that is not a name, literal or cast, so that
 * no reader needs to know the precedences. Pure; any thread.
 */
#include "expr/expr.h"

#include "expr/compare.h"
#include "schema/ident.h"

const char *sl_compare_text(silt_compare_op op)
{
    static const char *const texts[] = {[SILT_COMPARE_EQ] = " = ",
                                        [SILT_COMPARE_NE] = " <> ",
                                        [SILT_COMPARE_LT] = " < ",
                                        [SILT_COMPARE_LE] = " <= ",
                                        [SILT_COMPARE_GT] = " > ",
                                        [SILT_COMPARE_GE] = " >= ",
                                        [SILT_COMPARE_NULL_SAFE_EQ] = " <=> "};
    return texts[op];
}

static void print_operand(struct sl_buf *out, const struct sl_expr_node *node)
{
    const bool simple = node->kind == SL_EXPR_LITERAL || node->kind == SL_EXPR_COLUMN || node->kind == SL_EXPR_CAST;
    sl_buf_put_c(out, simple ? "" : "(");
    sl_expr_print(out, node);
    sl_buf_put_c(out, simple ? "" : ")");
}

static void print_list(struct sl_buf *out, const struct sl_expr_node *const *args, size_t n, const char *separator)
{
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(out, i > 0 ? separator : "");
        print_operand(out, args[i]);
    }
}

static void print_column(struct sl_buf *out, const struct sl_expr_node *node)
{
    for (size_t i = 0; i < node->path_len; i++) {
        sl_buf_put_c(out, i > 0 ? "." : "");
        sl_ident_print(out, node->path[i]);
    }
}

/* A predicate of the form "operand word…". */
static void print_suffixed(struct sl_buf *out, const struct sl_expr_node *node, const char *suffix)
{
    print_operand(out, node->args[0]);
    sl_buf_put_c(out, suffix);
}

void sl_expr_print(struct sl_buf *out, const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_LITERAL: sl_value_print_sql(out, &node->value); break;
    case SL_EXPR_COLUMN: print_column(out, node); break;
    case SL_EXPR_COMPARE: print_list(out, node->args, 2, sl_compare_text(node->op)); break;
    case SL_EXPR_AND: print_list(out, node->args, node->n_args, " AND "); break;
    case SL_EXPR_OR: print_list(out, node->args, node->n_args, " OR "); break;
    case SL_EXPR_NOT:
        sl_buf_put_c(out, "NOT ");
        print_operand(out, node->args[0]);
        break;
    case SL_EXPR_IS_NULL: print_suffixed(out, node, " IS NULL"); break;
    case SL_EXPR_IS_NOT_NULL: print_suffixed(out, node, " IS NOT NULL"); break;
    case SL_EXPR_IN:
        print_suffixed(out, node, " IN (");
        print_list(out, node->args + 1, node->n_args - 1, ", ");
        sl_buf_put_char(out, ')');
        break;
    case SL_EXPR_BETWEEN:
        print_suffixed(out, node, " BETWEEN ");
        print_list(out, node->args + 1, 2, " AND ");
        break;
    case SL_EXPR_LIKE: print_list(out, node->args, 2, " LIKE "); break;
    case SL_EXPR_ADD: print_list(out, node->args, 2, " + "); break;
    case SL_EXPR_SUBTRACT: print_list(out, node->args, 2, " - "); break;
    case SL_EXPR_CAST:
        sl_buf_put_c(out, "CAST(");
        sl_expr_print(out, node->args[0]);
        sl_buf_put_c(out, " AS ");
        sl_type_print_sql(out, node->type);
        sl_buf_put_char(out, ')');
        break;
    }
}
