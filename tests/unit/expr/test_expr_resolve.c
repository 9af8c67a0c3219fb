/* Resolving names and literals against a schema. */
#include "model_fixture.h"

#include <string.h>

#define COLUMNS                                                                                                     \
    "Id: int, L: bigint, b: tinyint, f: float, d: double, dec: decimal(5,2), s: string, day: date, ts: timestamp, " \
    "ntz: timestamp_ntz, ok: boolean, bin: binary, st: struct<X: int, In: struct<y: string>>, `a.b`: int, v: variant"

static void check(struct model *m, const char *text, const char *expected)
{
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = model_expr(m, text, schema);
    assert_string_equal(silt_expr_text(expr), expected);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
}

static void fails(struct model *m, const char *text, int position, const char *said)
{
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = NULL;
    m->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(silt_expr_parse(&m->test.env, text, strlen(text), schema, &expr, &m->err), SILT_ESCHEMA);
    assert_null(expr);
    assert_int_equal(m->err.position, position);
    assert_non_null(strstr(m->err.message, said));
    silt_schema_unref(schema);
}

static void names_get_their_stored_spelling_and_type(void **state)
{
    struct model *m = *state;
    check(m, "ID = 1", "Id = 1");
    check(m, "ST.x = 1 and st.IN.Y = 'q'", "(st.X = 1) AND (st.`In`.y = 'q')");
    check(m, "`A.B` = 1", "`a.b` = 1");
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = model_expr(m, "dec IS NULL", schema);
    silt_schema_unref(schema);
    assert_int_equal(expr->root->args[0]->type->kind, SILT_TYPE_DECIMAL);
    assert_int_equal(expr->root->args[0]->type->scale, 2);
    silt_expr_unref(expr);
}

static void unknown_names_are_reported_with_the_nearest(void **state)
{
    struct model *m = *state;
    fails(m, "1 = 1 AND ntzz = 1", 10, "'ntzz'");
    assert_non_null(strstr(m->err.hint, "'ntz'"));
    fails(m, "st.zz = 1", 0, "'zz'");
    fails(m, "Id.x = 1", 0, "'Id' (int)");
    fails(m, "a.b = 1", 0, "'a'");
}

static void literals_take_the_type_of_their_column(void **state)
{
    struct model *m = *state;
    check(m, "L = 5", "L = 5L");
    check(m, "5 < b", "5Y < b");
    check(m, "Id = 5L", "Id = 5");
    check(m, "Id = 5.00", "Id = 5");
    check(m, "d > 0.1", "d > 0.1D");
    check(m, "d = 5", "d = 5.0D");
    check(m, "f > 1", "f > 1.0F");
    check(m, "f > 0.1", "f > 0.1D");
    check(m, "dec = 1", "dec = 1.00BD");
    check(m, "dec IN (1, 2.5)", "dec IN (1.00BD, 2.50BD)");
    check(m, "day = '2020-01-01'", "day = DATE '2020-01-01'");
    check(m, "ts >= '2020-01-01T00:00:00+01:00'", "ts >= TIMESTAMP '2019-12-31 23:00:00Z'");
    check(m, "ts >= DATE'2020-01-01'", "ts >= TIMESTAMP '2020-01-01 00:00:00Z'");
    check(m, "ntz BETWEEN '2020-01-01' AND TIMESTAMP'2020-01-02'",
          "ntz BETWEEN TIMESTAMP_NTZ '2020-01-01 00:00:00' AND TIMESTAMP_NTZ '2020-01-02 00:00:00'");
    check(m, "Id = '5'", "Id = 5");
    check(m, "Id = '3000000000'", "Id = 3000000000L");
    check(m, "ok = 'true'", "ok = true");
    check(m, "bin = 'ab'", "bin = X'6162'");
    check(m, "CAST(s AS INT) = 5L", "CAST(s AS INT) = 5");
    check(m, "(Id = 1) = 'false'", "(Id = 1) = false");
}

static void comparisons_that_would_change_their_meaning_stay(void **state)
{
    struct model *m = *state;
    check(m, "Id = 1.5", "Id = 1.5BD");
    check(m, "b < 300", "b < 300");
    check(m, "Id < 3000000000", "Id < 3000000000L");
    check(m, "dec = 1.005", "dec = 1.005BD");
    check(m, "dec > 1e0", "dec > 1.0D");
    check(m, "s = 5", "s = 5");
    check(m, "s = DATE'2020-01-01'", "s = DATE '2020-01-01'");
    check(m, "day = TIMESTAMP'2020-01-01'", "day = TIMESTAMP '2020-01-01 00:00:00Z'");
    check(m, "L = 1e16", "L = 1.0E16D");
    check(m, "f = '0.1'", "f = '0.1'");
    check(m, "ok = 1", "ok = 1");
    check(m, "'5' IN (Id, s)", "'5' IN (Id, s)");
    check(m, "dec = '1.005'", "dec = '1.005'");
}

static void texts_that_cannot_be_read_are_errors(void **state)
{
    struct model *m = *state;
    fails(m, "day = 'soon'", 6, "date");
    fails(m, "ts < '12'", 5, "timestamp");
    fails(m, "Id IN (1, 'x')", 10, "int");
    fails(m, "Id = '5.5'", 5, "int");
    fails(m, "d = 'x'", 4, "double");
    fails(m, "dec = 'x'", 6, "decimal");
    fails(m, "ok = 'maybe'", 5, "boolean");
}

static void casts_of_literals_are_folded(void **state)
{
    struct model *m = *state;
    check(m, "Id = CAST('7' AS INT)", "Id = 7");
    check(m, "d = CAST('NaN' AS DOUBLE)", "d = CAST('NaN' AS DOUBLE)");
    check(m, "day > CAST('2020-01-01' AS DATE)", "day > DATE '2020-01-01'");
    check(m, "L = CAST(1.5 AS BIGINT)", "L = CAST(1.5BD AS BIGINT)");
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = model_expr(m, "d = CAST('NaN' AS DOUBLE)", schema);
    assert_int_equal(expr->root->args[1]->kind, SL_EXPR_LITERAL);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
}

static void like_matches_the_text_of_any_type(void **state)
{
    struct model *m = *state;
    check(m, "Id LIKE '5%'", "CAST(Id AS STRING) LIKE '5%'");
    check(m, "s LIKE '5%'", "s LIKE '5%'");
}

static void null_literals_get_a_type(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, COLUMNS);
    silt_expr *expr = model_expr(m, "s <=> NULL", schema);
    assert_int_equal(expr->root->args[1]->value.kind, SILT_TYPE_STRING);
    assert_true(expr->root->args[1]->value.is_null);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
}

static silt_status resolve_once(struct model *m, silt_error *err)
{
    struct silt_type flat = {.kind = SILT_TYPE_LONG};
    const struct silt_field inner = {.name = SL_STR("x"), .type = &flat};
    struct silt_type nested = {.kind = SILT_TYPE_STRUCT, .fields = (struct silt_field *)&inner, .n_fields = 1};
    const struct silt_field field = {.name = SL_STR("s"), .type = &nested};
    static const char text[] = "s.x IN (1, '2') OR s IS NULL";
    silt_schema *schema = NULL;
    silt_expr *expr = NULL;
    silt_status status = sl_schema_from_fields(&m->test.env, &field, 1, &schema, err);
    if (status == SILT_OK) {
        status = silt_expr_parse(&m->test.env, text, sizeof text - 1, schema, &expr, err);
    }
    silt_expr_unref(expr);
    silt_schema_unref(schema);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(resolve_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(names_get_their_stored_spelling_and_type),
        MODEL_TEST(unknown_names_are_reported_with_the_nearest),
        MODEL_TEST(literals_take_the_type_of_their_column),
        MODEL_TEST(comparisons_that_would_change_their_meaning_stay),
        MODEL_TEST(texts_that_cannot_be_read_are_errors),
        MODEL_TEST(casts_of_literals_are_folded),
        MODEL_TEST(like_matches_the_text_of_any_type),
        MODEL_TEST(null_literals_get_a_type),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
