/*
 * Expressions: what scans filter by and what transactions say they read.
 *
 * The text form is Spark SQL's: column names (back-quoted where needed, parts joined with '.'), literals (numbers,
 * 'text', DATE '…', TIMESTAMP '…', TRUE, FALSE, NULL, X'…'), =, <>, !=, <, <=, >, >=, <=>, IN, BETWEEN, IS [NOT] NULL,
 * LIKE, startswith(…, 'text'), AND, OR, NOT, CAST(… AS type), + and - of integers. Logic has three values.
 *
 * An expression is immutable, reference-counted and usable from any thread.
 */
#ifndef SILT_EXPR_H
#define SILT_EXPR_H

#include "silt/env.h"
#include "silt/export.h"
#include "silt/schema.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_expr silt_expr;

typedef enum silt_compare_op {
    SILT_COMPARE_EQ = 0,
    SILT_COMPARE_NE = 1,
    SILT_COMPARE_LT = 2,
    SILT_COMPARE_LE = 3,
    SILT_COMPARE_GT = 4,
    SILT_COMPARE_GE = 5,
    SILT_COMPARE_NULL_SAFE_EQ = 6
} silt_compare_op;

/*
 * Parses a predicate or value. With a schema, column names are resolved (ignoring case) and literals are cast to the
 * type they are compared with; without one names stay as written. SILT_ESYNTAX with err->position; SILT_ESCHEMA for
 * an unknown column.
 */
SILT_API SILT_NODISCARD silt_status silt_expr_parse(const silt_env *env, const char *text, size_t text_len,
                                                    const silt_schema *schema, silt_expr **out, silt_error *err);

/*
 * Builders. Arguments are referenced, not consumed; paths and values are copied; env must outlive the result.
 * SILT_EINVALID: an empty path, a value that is no scalar; SILT_ELIMIT: too deep a tree.
 */
SILT_API SILT_NODISCARD silt_status silt_expr_column(const silt_env *env, const char *const *path, size_t path_len,
                                                     silt_expr **out, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_literal(const silt_env *env, const silt_value *value, silt_expr **out,
                                                      silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_compare(const silt_env *env, silt_compare_op op, const silt_expr *left,
                                                      const silt_expr *right, silt_expr **out, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_and(const silt_env *env, const silt_expr *const *args, size_t n,
                                                  silt_expr **out, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_or(const silt_env *env, const silt_expr *const *args, size_t n,
                                                 silt_expr **out, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_not(const silt_env *env, const silt_expr *arg, silt_expr **out,
                                                  silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_expr_is_null(const silt_env *env, const silt_expr *arg, silt_expr **out,
                                                      silt_error *err);

/* The text, so that Spark parses it back. Borrowed; lives with the expression. */
SILT_API const char *silt_expr_text(const silt_expr *expr);

SILT_API silt_expr *silt_expr_ref(const silt_expr *expr); /* the same object; pair it with an unref */
SILT_API void silt_expr_unref(const silt_expr *expr);     /* NULL is legal */

#ifdef __cplusplus
}
#endif

#endif
