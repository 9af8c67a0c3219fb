/* Parsing predicates, and printing them so that they parse back to the same. */
#include "model_fixture.h"

#include <string.h>

static void check(struct model *m, const char *text, const char *expected)
{
    silt_expr *expr = model_expr(m, text, NULL);
    assert_string_equal(silt_expr_text(expr), expected);
    silt_expr *again = model_expr(m, silt_expr_text(expr), NULL);
    assert_string_equal(silt_expr_text(again), expected);
    silt_expr_unref(again);
    silt_expr_unref(expr);
}

static void fails(struct model *m, const char *text, silt_status status, int position)
{
    silt_expr *expr = NULL;
    m->err = (silt_error)SILT_ERROR_INIT;
    const silt_status found = silt_expr_parse(&m->test.env, text, strlen(text), NULL, &expr, &m->err);
    if (found != status || m->err.position != position) {
        print_error("%s: %d at %d: %s\n", text, (int)found, (int)m->err.position, m->err.message);
    }
    assert_int_equal(found, status);
    assert_int_equal(m->err.position, position);
    assert_null(expr);
}

static void comparisons_are_read(void **state)
{
    struct model *m = *state;
    check(m, "a=1", "a = 1");
    check(m, "a == 1", "a = 1");
    check(m, "a != 'x'", "a <> 'x'");
    check(m, "a <> b", "a <> b");
    check(m, "a<=1L", "a <= 1L");
    check(m, "1 < a", "1 < a");
    check(m, "a >= -5", "a >= -5");
    check(m, "a > + 5", "a > 5");
    check(m, "a <=> NULL", "a <=> NULL");
    check(m, "a = 1 = true", "(a = 1) = true");
}

static void logic_has_the_precedence_of_sql(void **state)
{
    struct model *m = *state;
    check(m, "a OR b AND NOT c = 1", "a OR (b AND (NOT (c = 1)))");
    check(m, "(a or b) and c", "(a OR b) AND c");
    check(m, "a AND b AND c", "a AND b AND c");
    check(m, "NOT NOT a", "NOT (NOT a)");
    check(m, "!a", "NOT a");
    check(m, "a AND (b AND c)", "a AND (b AND c)");
}

static void predicates_are_read(void **state)
{
    struct model *m = *state;
    check(m, "a IS NULL", "a IS NULL");
    check(m, "a is not null", "a IS NOT NULL");
    check(m, "a = 1 IS NULL", "(a = 1) IS NULL");
    check(m, "a IS TRUE", "a <=> true");
    check(m, "a IS NOT FALSE", "NOT (a <=> false)");
    check(m, "a IS UNKNOWN", "a IS NULL");
    check(m, "a IS DISTINCT FROM 1", "NOT (a <=> 1)");
    check(m, "a IS NOT DISTINCT FROM 1", "a <=> 1");
    check(m, "a IN (1, 2, NULL)", "a IN (1, 2, NULL)");
    check(m, "a NOT IN ('x')", "NOT (a IN ('x'))");
    check(m, "a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b");
    check(m, "a NOT BETWEEN 1 AND 2", "NOT (a BETWEEN 1 AND 2)");
    check(m, "a LIKE 'x%'", "a LIKE 'x%'");
    check(m, "a NOT LIKE '\\%'", "NOT (a LIKE '\\\\%')");
    check(m, "a LIKE 'x!%y\\\\' ESCAPE '!'", "a LIKE 'x\\\\%y\\\\\\\\'");
}

static void sums_stand_below_comparisons(void **state)
{
    struct model *m = *state;
    check(m, "a + 1 > 2", "(a + 1) > 2");
    check(m, "a+1-b<=-2", "((a + 1) - b) <= -2");
    check(m, "2 = a - -5", "2 = (a - -5)");
    check(m, "a - 5 BETWEEN 1 AND 1 + 1", "(a - 5) BETWEEN 1 AND (1 + 1)");
    check(m, "a + 1 IN (b - 1) AND c", "((a + 1) IN ((b - 1))) AND c");
    check(m, "a - (b - 1) = 0", "(a - (b - 1)) = 0");
    fails(m, "a + = 1", SILT_ESYNTAX, 4);
    fails(m, "a +", SILT_ESYNTAX, 3);
}

static void a_prefix_is_a_pattern(void **state)
{
    struct model *m = *state;
    check(m, "startswith(a, 'x')", "a LIKE 'x%'");
    check(m, "STARTS_WITH(s.a, '5%_\\\\')", "s.a LIKE '5\\\\%\\\\_\\\\\\\\%'");
    check(m, "NOT startswith(a, '')", "NOT (a LIKE '%')");
    check(m, "startswith = 1", "startswith = 1");
}

static void names_are_paths(void **state)
{
    struct model *m = *state;
    check(m, "a.b.c = 1", "a.b.c = 1");
    check(m, "`a.b` = 1", "`a.b` = 1");
    check(m, "`a``b`.`select` = 1", "`a``b`.`select` = 1");
    check(m, "2020_sales > 1", "`2020_sales` > 1");
    check(m, "größe > 1", "`größe` > 1");
    check(m, "date = DATE'2020-01-01'", "date = DATE '2020-01-01'");
    check(m, "s.1 = 2", "s.`1` = 2");
    silt_expr *expr = model_expr(m, "`a.b`.c", NULL);
    assert_int_equal(expr->root->path_len, 2);
    assert_string_equal(expr->root->path[0].ptr, "a.b");
    silt_expr_unref(expr);
}

static void literals_have_sparks_types(void **state)
{
    struct model *m = *state;
    check(m, "a = 2147483648", "a = 2147483648L");
    check(m, "a = 9223372036854775808", "a = 9223372036854775808BD");
    check(m, "a = -9223372036854775808", "a = -9223372036854775808L");
    check(m, "a = 1.50", "a = 1.50BD");
    check(m, "a = .5", "a = 0.5BD");
    check(m, "a = 1e3", "a = 1000.0D");
    check(m, "a = 1.5e3BD", "a = 1500BD");
    check(m, "a = 5Y", "a = 5Y");
    check(m, "a = 5s", "a = 5S");
    check(m, "a = 5f", "a = 5.0F");
    check(m, "a = 5D", "a = 5.0D");
    check(m, "a = x'0aF'", "a = X'00AF'");
    check(m, "a = \"it's\"", "a = 'it\\'s'");
    check(m, "a = 'it''s'", "a = 'it\\'s'");
    check(m, "a = r'a\\n'", "a = 'a\\\\n'");
    check(m, "a = 'tab\\t nl\\n u\\u00e9 \\q'", "a = 'tab\\t nl\\n u\xc3\xa9 q'");
    check(m, "a = '\\uD83D\\uDE00'", "a = '\xf0\x9f\x98\x80'");
    check(m, "a > TIMESTAMP '2020-01-01 00:00:00+01:00'", "a > TIMESTAMP '2019-12-31 23:00:00Z'");
    check(m, "a > TIMESTAMP_NTZ '2020-01-01'", "a > TIMESTAMP_NTZ '2020-01-01 00:00:00'");
}

static void casts_are_read_in_both_forms(void **state)
{
    struct model *m = *state;
    check(m, "CAST(a AS DECIMAL(5, 2)) = 1", "CAST(a AS DECIMAL(5,2)) = 1");
    check(m, "a::int = 1", "CAST(a AS INT) = 1");
    check(m, "cast('NaN' as double) = a::double", "CAST('NaN' AS DOUBLE) = CAST(a AS DOUBLE)");
    check(m, "'1'::int::bigint", "CAST(CAST('1' AS INT) AS BIGINT)");
}

static void comments_are_blank(void **state)
{
    struct model *m = *state;
    check(m, "a /* x /* y */ */ = -- what\n 1", "a = 1");
}

static void errors_name_the_place(void **state)
{
    struct model *m = *state;
    fails(m, "", SILT_ESYNTAX, 0);
    fails(m, "a =", SILT_ESYNTAX, 3);
    fails(m, "a = 1 b", SILT_ESYNTAX, 6);
    fails(m, "(a = 1", SILT_ESYNTAX, 6);
    fails(m, "a = 'x", SILT_ESYNTAX, 4);
    fails(m, "`a = 1", SILT_ESYNTAX, 0);
    fails(m, "`` = 1", SILT_ESYNTAX, 0);
    fails(m, "/* a = 1", SILT_ESYNTAX, 0);
    fails(m, "a = 300Y", SILT_ESYNTAX, 4);
    fails(m, "a = 1e999", SILT_ESYNTAX, 4);
    fails(m, "a = DATE 'soon'", SILT_ESYNTAX, 9);
    fails(m, "a = X'0g'", SILT_ESYNTAX, 5);
    fails(m, "a IN ()", SILT_ESYNTAX, 6);
    fails(m, "a IN (1,", SILT_ESYNTAX, 8);
    fails(m, "a NOT = 1", SILT_ESYNTAX, 6);
    fails(m, "a BETWEEN 1 OR 2", SILT_ESYNTAX, 12);
    fails(m, "a IS 5", SILT_ESYNTAX, 5);
    fails(m, "a = @", SILT_ESYNTAX, 4);
    fails(m, "a = '\\uD800'", SILT_ESYNTAX, 11);
    fails(m, "and", SILT_ESYNTAX, 0);
    fails(m, "CAST(a)", SILT_ESYNTAX, 6);
    fails(m, "CAST(a AS decimal(99))", SILT_ESYNTAX, 9);
}

static void what_is_not_supported_is_named(void **state)
{
    struct model *m = *state;
    fails(m, "upper(a) = 'X'", SILT_EUNSUPPORTED, 0);
    fails(m, "a * 1 = 2", SILT_EUNSUPPORTED, 2);
    fails(m, "startswith(a, b)", SILT_EUNSUPPORTED, 14);
    fails(m, "s.startswith(a, 'b')", SILT_EUNSUPPORTED, 0);
    fails(m, "-a = 2", SILT_EUNSUPPORTED, 0);
    fails(m, "CASE WHEN a THEN b END", SILT_EUNSUPPORTED, 0);
    fails(m, "a IN (SELECT 1)", SILT_EUNSUPPORTED, 6);
    fails(m, "a = (SELECT 1)", SILT_EUNSUPPORTED, 5);
    fails(m, "EXISTS (SELECT 1)", SILT_EUNSUPPORTED, 0);
    fails(m, "a RLIKE 'x'", SILT_EUNSUPPORTED, 2);
    fails(m, "a NOT ILIKE 'x'", SILT_EUNSUPPORTED, 6);
    fails(m, "a LIKE b", SILT_EUNSUPPORTED, 7);
    fails(m, "a[0] = 1", SILT_EUNSUPPORTED, 1);
    fails(m, "a > current_date", SILT_EUNSUPPORTED, 4);
    fails(m, "a > INTERVAL '1' DAY", SILT_EUNSUPPORTED, 4);
    fails(m, "(a, b) IN (1)", SILT_EUNSUPPORTED, 2);
    fails(m, "CAST(a AS ARRAY<INT>) = 1", SILT_EUNSUPPORTED, 9);
    fails(m, "a || b = 'x'", SILT_EUNSUPPORTED, 2);
}

static void depth_is_limited_and_width_is_not(void **state)
{
    struct model *m = *state;
    struct sl_buf deep = model_buf(m);
    struct sl_buf wide = model_buf(m);
    for (int i = 0; i < 5000; i++) {
        sl_buf_put_c(&deep, "(");
        sl_buf_printf(&wide, "%sa = %d", i > 0 ? " OR " : "", i);
    }
    silt_expr *expr = NULL;
    const char *text = model_text(m, &deep);
    assert_int_equal(silt_expr_parse(&m->test.env, text, strlen(text), NULL, &expr, &m->err), SILT_ELIMIT);
    expr = model_expr(m, model_text(m, &wide), NULL);
    assert_int_equal(expr->root->n_args, 5000);
    silt_expr_unref(expr);
    struct sl_buf nots = model_buf(m);
    struct sl_buf chain = model_buf(m);
    for (int i = 0; i < 300; i++) {
        sl_buf_put_c(&nots, "NOT ");
        sl_buf_put_c(&chain, "a = ");
    }
    text = model_text(m, &nots);
    assert_int_equal(silt_expr_parse(&m->test.env, text, strlen(text), NULL, &expr, &m->err), SILT_ELIMIT);
    text = model_text(m, &chain);
    assert_int_equal(silt_expr_parse(&m->test.env, text, strlen(text), NULL, &expr, &m->err), SILT_ELIMIT);
}

/* Every prefix of a text, and every text with one byte changed, is taken or refused, never more. */
static void broken_texts_do_no_harm(void **state)
{
    struct model *m = *state;
    static const char text[] =
        "a.`b``c` NOT IN (1.5e3, X'AB', 'x\\u0041''', DATE'2020-01-01') OR CAST(b AS decimal(5,2)) <=> -1L "
        "/* c */ AND c LIKE 'a!%' ESCAPE '!' OR d BETWEEN 1 AND 2 IS NOT NULL";
    static const char bytes[] = "\0'`\"(\\.e\xff%9";
    char copy[sizeof text];
    for (size_t i = 0; i < sizeof text; i++) {
        silt_expr *expr = NULL;
        if (silt_expr_parse(&m->test.env, text, i, NULL, &expr, &m->err) == SILT_OK) {
            silt_expr_unref(expr);
        }
        for (size_t k = 0; k < sizeof bytes - 1; k++) {
            memcpy(copy, text, sizeof text);
            copy[i] = bytes[k];
            if (silt_expr_parse(&m->test.env, copy, sizeof text - 1, NULL, &expr, &m->err) == SILT_OK) {
                silt_expr_unref(expr);
            }
        }
    }
}

static silt_status parse_once(struct model *m, silt_error *err)
{
    static const char text[] = "a IN (1, 'x') OR NOT b::int = 1 AND c LIKE 'x!%' ESCAPE '!'";
    silt_expr *expr = NULL;
    const silt_status status = silt_expr_parse(&m->test.env, text, sizeof text - 1, NULL, &expr, err);
    silt_expr_unref(expr);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(parse_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(sums_stand_below_comparisons),
        MODEL_TEST(a_prefix_is_a_pattern),
        MODEL_TEST(comparisons_are_read),
        MODEL_TEST(logic_has_the_precedence_of_sql),
        MODEL_TEST(predicates_are_read),
        MODEL_TEST(names_are_paths),
        MODEL_TEST(literals_have_sparks_types),
        MODEL_TEST(casts_are_read_in_both_forms),
        MODEL_TEST(comments_are_blank),
        MODEL_TEST(errors_name_the_place),
        MODEL_TEST(what_is_not_supported_is_named),
        MODEL_TEST(depth_is_limited_and_width_is_not),
        MODEL_TEST(broken_texts_do_no_harm),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
