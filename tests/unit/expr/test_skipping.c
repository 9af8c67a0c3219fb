/* Data skipping over bounds. */
#include "model_fixture.h"

#include <string.h>

#include "expr/eval.h"

#define ROWS 10

/*
 * Columns of a file of 10 rows: i in 4..6 without nulls; j in 4..6 with some; a all null; u without statistics; s in 'ba'..'bz';
 * f a double in 1..3; m has a minimum of 4 only; c only a null count of 0; d a decimal in 0.1..0.1.
 */
static bool lookup(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out)
{
    struct model *m = ctx;
    const char name = path_len == 1 && path[0].len == 1 ? path[0].ptr[0] : '\0';
    *out = (struct sl_bounds){.has_row_count = true, .row_count = ROWS};
    out->has_min = out->has_max = strchr("ijsfd", name) != NULL && name != '\0';
    out->has_null_count = out->has_min || name == 'a' || name == 'c';
    out->null_count = name == 'a' ? ROWS : name == 'j' ? 3 : 0;
    const bool is_int = name == 'i' || name == 'j' || name == 'm';
    if (is_int) {
        out->has_min = true;
        out->min = sl_value_i64(SILT_TYPE_INTEGER, 4);
        out->max = sl_value_i64(SILT_TYPE_INTEGER, 6);
    }
    if (name == 's') {
        out->min = sl_value_bytes(SILT_TYPE_STRING, SL_STR("ba"));
        out->max = sl_value_bytes(SILT_TYPE_STRING, SL_STR("bz"));
    }
    if (name == 'f') {
        out->min = sl_value_f64(SILT_TYPE_DOUBLE, 1);
        out->max = sl_value_f64(SILT_TYPE_DOUBLE, 3);
    }
    if (name == 'd') {
        out->min = out->max = model_value(m, "decimal(2,1)", "0.1");
    }
    return name != 'u' && name != '\0';
}

static void check(struct model *m, bool expected, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        silt_expr *expr = model_expr(m, *texts, NULL);
        const bool found = sl_eval_may_match(expr->root, lookup, m, &m->arena);
        if (found != expected) {
            print_error("%s: %d\n", *texts, (int)found);
        }
        assert_int_equal(found, expected);
        silt_expr_unref(expr);
    }
}

static void files_that_cannot_match_are_dropped(void **state)
{
    static const char *const texts[] = {"i < 4",
                                        "i <= 3",
                                        "i > 6",
                                        "i >= 6.5",
                                        "i = 7",
                                        "7 = i",
                                        "i IN (1, 2, 7)",
                                        "i IN (7, NULL)",
                                        "i BETWEEN 7 AND 9",
                                        "i BETWEEN 1 AND 3",
                                        "NOT (i > 3)",
                                        "NOT (i BETWEEN 4 AND 6)",
                                        "i NOT BETWEEN 4 AND 6",
                                        "i IS NULL",
                                        "i <=> NULL",
                                        "i <=> 9",
                                        "i = NULL",
                                        "a = 5",
                                        "a <> 5",
                                        "a IS NOT NULL",
                                        "NOT (a = 5)",
                                        "a <=> 5",
                                        "a LIKE 'x'",
                                        "c IS NULL",
                                        "m < 4",
                                        "i = 7 AND u = 1",
                                        "u = 1 AND i = 7",
                                        "i = 7 OR i < 2",
                                        "false",
                                        "NULL",
                                        "i = 5 AND false",
                                        "CAST(i AS BIGINT) > 6",
                                        "(i < 4) = true",
                                        "(i < 4) IS NULL",
                                        "NULL IN (i)",
                                        NULL};
    check(*state, false, texts);
}

static void files_that_may_match_are_kept(void **state)
{
    static const char *const texts[] = {"i = 5",
                                        "i < 5",
                                        "i > 5",
                                        "i <> 5",
                                        "NOT (i < 5)",
                                        "i >= 6",
                                        "i IN (1, 5)",
                                        "i NOT IN (5)",
                                        "j IS NULL",
                                        "j <=> NULL",
                                        "NOT (j <=> 5)",
                                        "a IS NULL",
                                        "a <=> NULL",
                                        "NOT (a <=> 5)",
                                        "u IS NULL",
                                        "u IS NOT NULL",
                                        "u = 5",
                                        "u <=> NULL",
                                        "NOT (u < 5)",
                                        "m > 100",
                                        "c = 3",
                                        "i = 7 OR u = 1",
                                        "i < 6 AND i IS NOT NULL",
                                        "i = 'x'",
                                        "CAST(i AS STRING) = '9'",
                                        "(i < 5) = true",
                                        "(j < 5) IS NULL",
                                        "u",
                                        "x.y = 1",
                                        NULL};
    check(*state, true, texts);
}

static void nan_may_hide_above_a_maximum(void **state)
{
    struct model *m = *state;
    static const char *const kept[] = {"f > 3",
                                       "f >= 4",
                                       "f <> 1",
                                       "NOT (f < 4)",
                                       "NOT (f <= 3)",
                                       "f = CAST('NaN' AS DOUBLE)",
                                       "f BETWEEN 4 AND CAST('NaN' AS DOUBLE)",
                                       "f <=> CAST('NaN' AS DOUBLE)",
                                       NULL};
    static const char *const dropped[] = {
        "f < 1",        "f <= 0.5", "f = 4", "f IN (4, 5)", "f > CAST('NaN' AS DOUBLE)", "f BETWEEN 4 AND 5 AND f = 4",
        "NOT (f >= 1)", NULL};
    silt_schema *schema = model_schema(m, "f: double");
    for (size_t i = 0; kept[i] != NULL; i++) {
        silt_expr *expr = model_expr(m, kept[i], schema);
        assert_true(sl_eval_may_match(expr->root, lookup, m, &m->arena));
        silt_expr_unref(expr);
    }
    for (size_t i = 0; dropped[i] != NULL; i++) {
        silt_expr *expr = model_expr(m, dropped[i], schema);
        assert_false(sl_eval_may_match(expr->root, lookup, m, &m->arena));
        silt_expr_unref(expr);
    }
    silt_schema_unref(schema);
}

static void patterns_use_their_prefix(void **state)
{
    static const char *const dropped[] = {
        "s LIKE 'a%'", "s LIKE 'c_'", "s LIKE 'bzz%'", "s LIKE 'a'", "s NOT LIKE 'b%'", "s NOT LIKE '%'", NULL};
    static const char *const kept[] = {
        "s LIKE 'b%'",  "s LIKE 'bm_'",   "s LIKE '%x'", "s LIKE '_a'", "s LIKE 'bz'", "s NOT LIKE 'ba%'",
        "s LIKE 'bz%'", "s LIKE '\\\\x'", "u LIKE 'a%'", "i LIKE '9%'", NULL};
    check(*state, false, dropped);
    check(*state, true, kept);
}

static void rounding_engines_keep_their_rows(void **state)
{
    static const char *const kept[] = {"d = 0.1D", "d >= 0.1D", "d < 0.1F", NULL};
    static const char *const dropped[] = {"d = 0.2D", "d > 0.2D", "d = 0.3BD", "d <> 0.1BD", NULL};
    check(*state, true, kept);
    check(*state, false, dropped);
}

/* Bounds of i: 4..6; of b: 100..120, a byte; of t: an instant of noon; of w: the same on the clock; of y: the day of it. */
static bool typed_lookup(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out)
{
    const int64_t noon = INT64_C(1577880000000000); /* 2020-01-01T12:00:00 */
    const char name = path[0].ptr[0];
    (void)ctx;
    (void)path_len;
    *out = (struct sl_bounds){.has_min = true, .has_max = true, .has_null_count = true};
    out->min = name == 'i'   ? sl_value_i64(SILT_TYPE_INTEGER, 4)
               : name == 'b' ? sl_value_i64(SILT_TYPE_BYTE, 100)
               : name == 't' ? sl_value_i64(SILT_TYPE_TIMESTAMP, noon)
               : name == 'w' ? sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, noon)
               : name == 'y' ? sl_value_i64(SILT_TYPE_DATE, 18262)
                             : sl_value_i64(SILT_TYPE_LONG, INT64_MAX - 1);
    out->max = out->min;
    out->max.as.i64 += name == 'i' ? 2 : name == 'b' ? 20 : 0;
    return true;
}

static void check_typed(struct model *m, bool expected, const char *const *texts)
{
    silt_schema *schema = model_schema(m, "i int, b tinyint, t timestamp, w timestamp_ntz, y date, l bigint");
    for (; *texts != NULL; texts++) {
        silt_expr *expr = model_expr(m, *texts, schema);
        const bool found = sl_eval_may_match(expr->root, typed_lookup, m, &m->arena);
        if (found != expected) {
            print_error("%s: %d\n", *texts, (int)found);
        }
        assert_int_equal(found, expected);
        silt_expr_unref(expr);
    }
    silt_schema_unref(schema);
}

static void sums_keep_their_order_unless_they_overflow(void **state)
{
    static const char *const dropped[] = {
        "i + 5 > 11",  "i - 5 > 1",     "5 + i < 9",   "10 - i > 6",    "i + i > 12",           "i - i > 2",
        "b + 5 > 125", "b + 5Y > 125Y", "l - 5 < 100", "i + 1 - 1 = 7", "i + NULL IS NOT NULL", NULL};
    static const char *const kept[] = {
        "i + 5 > 10", "i - 5 < 0", "10 - i = 6", "b + 20Y < 0", "l + 5 < 0", "b + 10Y > 100Y", "l + 1 < 0 OR l + 2 < 0",
        NULL};
    check_typed(*state, false, dropped);
    check_typed(*state, true, kept);
}

static void casts_keep_the_order_of_values(void **state)
{
    static const char *const dropped[] = {"CAST(i AS DOUBLE) > 6.5D",
                                          "CAST(i AS FLOAT) < 3.5F",
                                          "CAST(i AS DECIMAL(9,2)) > 6.01",
                                          "CAST(i AS DOUBLE) IN (7.0D, 8.0D)",
                                          "CAST(w AS DATE) <> DATE '2020-01-01'",
                                          "CAST(y AS TIMESTAMP_NTZ) > TIMESTAMP_NTZ '2020-01-01 00:00:00'",
                                          "CAST(t AS DATE) < DATE '2019-12-31'",
                                          "CAST(t AS DATE) > DATE '2020-01-02'",
                                          "CAST(y AS TIMESTAMP) > TIMESTAMP '2020-01-01 18:00:01Z'",
                                          "CAST(i AS TINYINT) > 6Y",
                                          "CAST(i AS BIGINT) IS NULL",
                                          NULL};
    /* What the zone of a session could make true. */
    static const char *const kept[] = {"CAST(l AS INT) < 0",
                                       "CAST(l AS INT) IS NULL",
                                       "CAST(t AS DATE) = DATE '2020-01-02'",
                                       "CAST(t AS DATE) = DATE '2019-12-31'",
                                       "CAST(y AS TIMESTAMP) = TIMESTAMP '2020-01-01 12:00:00Z'",
                                       "CAST(w AS TIMESTAMP) > TIMESTAMP '2020-01-01 20:00:00Z'",
                                       "CAST(i AS DOUBLE) < 4.5D",
                                       "CAST(i AS STRING) = '9'",
                                       NULL};
    check_typed(*state, false, dropped);
    check_typed(*state, true, kept);
}

/* Engines take one type for all operands of IN and BETWEEN. */
static void one_operand_decides_how_the_others_are_compared(void **state)
{
    static const char *const kept[] = {"d IN (0.10000000000000000001BD, 5.0D)",
                                       "d BETWEEN 0.10000000000000000001BD AND 5.0D",
                                       "d IN (0.10000001BD, 5.0F)",
                                       "s IN ('zz', 5)",
                                       "s BETWEEN 'c' AND 5",
                                       NULL};
    static const char *const dropped[] = {"d IN (0.10000000000000000001BD, 5BD)",
                                          "d IN (0.2BD, 5.0D)",
                                          "d BETWEEN 0.10000000000000000001BD AND 5BD",
                                          "i IN (7, 8.0D)",
                                          "s IN ('zz', NULL)",
                                          NULL};
    check(*state, true, kept);
    check(*state, false, dropped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(files_that_cannot_match_are_dropped), MODEL_TEST(files_that_may_match_are_kept),
        MODEL_TEST(nan_may_hide_above_a_maximum),        MODEL_TEST(patterns_use_their_prefix),
        MODEL_TEST(rounding_engines_keep_their_rows),    MODEL_TEST(sums_keep_their_order_unless_they_overflow),
        MODEL_TEST(casts_keep_the_order_of_values),      MODEL_TEST(one_operand_decides_how_the_others_are_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
