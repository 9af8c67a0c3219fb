/* Expressions as DuckDB SQL. */
#include "model_fixture.h"

#include <string.h>

#define COLUMNS \
    "id: int, s: string, st: struct<`x y`: int, z: struct<w: int>>, d: double, dec: decimal(5,2), day: date, ts: timestamp"

static void check(struct model *m, const char *text, const char *expected)
{
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = model_expr(m, text, schema);
    struct sl_buf out = model_buf(m);
    assert_int_equal(sl_expr_print_duckdb(&out, expr->root, &m->err), SILT_OK);
    assert_string_equal(model_text(m, &out), expected);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
}

static void predicates_are_fully_parenthesised(void **state)
{
    struct model *m = *state;
    check(m, "id = 1", "(\"id\" = CAST('1' AS INTEGER))");
    check(m, "id <> 1 and not (s = 'it''s' or s is null)",
          "((\"id\" <> CAST('1' AS INTEGER)) AND (NOT ((\"s\" = 'it''s') OR (\"s\" IS NULL))))");
    check(m, "s <=> null", "coalesce((\"s\" IS NOT DISTINCT FROM CAST(NULL AS VARCHAR)), FALSE)");
    check(m, "s is not null", "(\"s\" IS NOT NULL)");
    check(m, "id in (1, null)", "(\"id\" IN (CAST('1' AS INTEGER), CAST(NULL AS INTEGER)))");
    check(m, "id between 1 and 2", "(\"id\" BETWEEN CAST('1' AS INTEGER) AND CAST('2' AS INTEGER))");
    check(m, "s like 'a\\%%'", "(\"s\" LIKE 'a\\%%' ESCAPE '\\')");
    check(m, "id + 1 > 5", "((\"id\" + CAST('1' AS INTEGER)) > CAST('5' AS INTEGER))");
    check(m, "id - 5000000000 = id", "((\"id\" - CAST('5000000000' AS BIGINT)) = \"id\")");
    check(m, "starts_with(s, 'a_')", "(\"s\" LIKE 'a\\_%' ESCAPE '\\')");
    check(m, "ts > '2020-01-01'", "(\"ts\" > CAST('2020-01-01 00:00:00+00' AS TIMESTAMPTZ))");
}

static void nested_names_cannot_be_taken_for_tables(void **state)
{
    struct model *m = *state;
    check(m, "st.`x y` = 1", "((\"st\").\"x y\" = CAST('1' AS INTEGER))");
    check(m, "st.z.w = 1", "(((\"st\").\"z\").\"w\" = CAST('1' AS INTEGER))");
}

static void casts_give_what_spark_gives_or_are_refused(void **state)
{
    struct model *m = *state;
    check(m, "CAST(id AS BIGINT) = 1", "(CAST(\"id\" AS BIGINT) = CAST('1' AS BIGINT))");
    check(m, "CAST(d AS INT) = 1", "(CAST(trunc(\"d\") AS INTEGER) = CAST('1' AS INTEGER))");
    check(m, "CAST(day AS STRING) = '2020-01-01'", "(CAST(\"day\" AS VARCHAR) = '2020-01-01')");
    check(m, "CAST(s AS DATE) = '2020-01-01'", "(CAST(\"s\" AS DATE) = CAST('2020-01-01' AS DATE))");
    static const char *const refused[] = {"CAST(d AS STRING) = 'x'",
                                          "CAST(ts AS STRING) = 'x'",
                                          "CAST(s AS INT) = 1",
                                          "CAST(d AS DECIMAL(5,2)) = 1",
                                          "CAST(st AS STRING) = 'x'",
                                          "d + 1 > 2",
                                          "dec - 1 > 2",
                                          "day + 1 > '2020-01-01'"};
    silt_schema *schema = model_schema(m, COLUMNS);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        silt_expr *expr = model_expr(m, refused[i], schema);
        struct sl_buf out = model_buf(m);
        assert_int_equal(sl_expr_print_duckdb(&out, expr->root, &m->err), SILT_EUNSUPPORTED);
        sl_buf_release(&out);
        silt_expr_unref(expr);
    }
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(predicates_are_fully_parenthesised),
        MODEL_TEST(nested_names_cannot_be_taken_for_tables),
        MODEL_TEST(casts_give_what_spark_gives_or_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
