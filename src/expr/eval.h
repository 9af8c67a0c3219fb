/*
 * Three-valued evaluation: over known values (partition pruning) and over bounds (data skipping). Pure; any thread.
 *
 * Skipping is decided on *definitely false* only: unknown keeps the file (PROTOCOL.md "Per-file Statistics").
 */
#ifndef SL_EXPR_EVAL_H
#define SL_EXPR_EVAL_H

#include "expr/expr.h"

enum sl_truth {
    SL_FALSE = 0,
    SL_TRUE = 1,
    SL_NULL = 2,   /* SQL null */
    SL_UNKNOWN = 3 /* not decidable here */
};

/* Gives a column's value; false when it is not known here (then the result is UNKNOWN where it matters). */
typedef bool (*sl_eval_lookup)(void *ctx, const struct sl_str *path, size_t path_len, silt_value *out);

/* Truth of a predicate for one row of which some values are known. */
enum sl_truth sl_eval_predicate(const struct sl_expr_node *node, sl_eval_lookup lookup, void *ctx,
                                struct sl_arena *scratch);

/* What is known of a column over all rows of a file. */
struct sl_bounds {
    bool has_min, has_max;
    silt_value min, max; /* every non-null value v: min <= v <= max; max already widened where text was cut */
    bool has_null_count;
    int64_t null_count; /* with tight bounds; else an upper bound is unknown: has_null_count false */
    bool has_row_count;
    int64_t row_count; /* physical rows */
};
typedef bool (*sl_bounds_lookup)(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out);

/* True if the predicate can be true for some row of the file; false only when it is certainly not. */
bool sl_eval_may_match(const struct sl_expr_node *node, sl_bounds_lookup lookup, void *ctx, struct sl_arena *scratch);

#endif
