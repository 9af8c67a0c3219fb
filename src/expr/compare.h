/*
 * Private to src/expr: comparisons whose outcome is certain in every engine, and how they are written. Pure; any thread.
 */
#ifndef SL_EXPR_COMPARE_H
#define SL_EXPR_COMPARE_H

#include "expr/eval.h"

/*
 * What the operands of one comparison, IN or BETWEEN are brought to before they are compared, as far as it matters: engines take one type for
 * all of them. A double in a list makes doubles of the decimals beside it.
 */
struct sl_common {
    silt_type_kind floating; /* FLOAT or DOUBLE; VOID: numbers stay exact */
    bool is_open;            /* text among other types: engines differ */
};
struct sl_common sl_common_of(const struct sl_expr_node *const *args, size_t n);

/*
 * The order of two non-null values as SQL engines find it. False when the kinds cannot be compared, or when the answer hangs on
 * the rounding of a mixed comparison.
 */
bool sl_compare_certain(struct sl_common common, const silt_value *a, const silt_value *b, int *order);

/* The operator between its operands, blanks included, as Spark spells it. Static text. */
const char *sl_compare_text(silt_compare_op op);

/* The truth of "x op y" for values whose order is known; NULL_SAFE_EQ is EQ here. */
bool sl_compare_holds(silt_compare_op op, int order);

/* Does a cast between these read the wall clock of some zone? */
bool sl_cast_needs_zone(silt_type_kind from, silt_type_kind to);

/* The sum or difference of two integers in the wider of their types; false on an overflow, and for other kinds. */
bool sl_integer_sum(const silt_value *a, const silt_value *b, bool subtract, silt_value *out);

#endif
