/* Expressions made by hand, walks and renames. */
#include "model_fixture.h"

#include <string.h>

static silt_expr *column(struct model *m, const char *name)
{
    silt_expr *expr = NULL;
    assert_int_equal(silt_expr_column(&m->test.env, &name, 1, &expr, &m->err), SILT_OK);
    return expr;
}

static void builders_make_what_the_parser_makes(void **state)
{
    struct model *m = *state;
    const silt_env *env = &m->test.env;
    silt_expr *a = column(m, "a b");
    silt_expr *five = NULL;
    silt_expr *less = NULL;
    silt_expr *null = NULL;
    silt_expr *not_null = NULL;
    silt_expr *all = NULL;
    silt_expr *any = NULL;
    const silt_value value = sl_value_i64(SILT_TYPE_LONG, 5);
    assert_int_equal(silt_expr_literal(env, &value, &five, &m->err), SILT_OK);
    assert_int_equal(silt_expr_compare(env, SILT_COMPARE_LT, a, five, &less, &m->err), SILT_OK);
    assert_int_equal(silt_expr_is_null(env, a, &null, &m->err), SILT_OK);
    assert_int_equal(silt_expr_not(env, null, &not_null, &m->err), SILT_OK);
    const silt_expr *parts[2] = {less, not_null};
    assert_int_equal(silt_expr_and(env, parts, 2, &all, &m->err), SILT_OK);
    assert_int_equal(silt_expr_or(env, parts, 2, &any, &m->err), SILT_OK);
    silt_expr_unref(a);
    silt_expr_unref(five);
    silt_expr_unref(less);
    silt_expr_unref(null);
    silt_expr_unref(not_null);
    assert_string_equal(silt_expr_text(all), "(`a b` < 5L) AND (NOT (`a b` IS NULL))");
    assert_string_equal(silt_expr_text(any), "(`a b` < 5L) OR (NOT (`a b` IS NULL))");
    silt_expr_unref(all);
    silt_expr_unref(any);
}

static void junctions_of_none_and_one_are_neutral(void **state)
{
    struct model *m = *state;
    silt_expr *expr = NULL;
    assert_int_equal(silt_expr_and(&m->test.env, NULL, 0, &expr, &m->err), SILT_OK);
    assert_string_equal(silt_expr_text(expr), "true");
    silt_expr_unref(expr);
    assert_int_equal(silt_expr_or(&m->test.env, NULL, 0, &expr, &m->err), SILT_OK);
    assert_string_equal(silt_expr_text(expr), "false");
    silt_expr_unref(expr);
    silt_expr *a = column(m, "a");
    const silt_expr *one[1] = {a};
    assert_int_equal(silt_expr_or(&m->test.env, one, 1, &expr, &m->err), SILT_OK);
    assert_string_equal(silt_expr_text(expr), "a");
    silt_expr_unref(expr);
    silt_expr_unref(a);
}

static void bad_arguments_are_refused(void **state)
{
    struct model *m = *state;
    silt_expr *expr = NULL;
    silt_expr *a = column(m, "a");
    const silt_value nested = {.kind = SILT_TYPE_STRUCT};
    const silt_value wild = sl_value_decimal(1, 38, 99);
    assert_int_equal(silt_expr_column(&m->test.env, NULL, 0, &expr, &m->err), SILT_EINVALID);
    assert_int_equal(silt_expr_literal(&m->test.env, &nested, &expr, &m->err), SILT_EINVALID);
    assert_int_equal(silt_expr_literal(&m->test.env, &wild, &expr, &m->err), SILT_EINVALID);
    assert_int_equal(silt_expr_compare(&m->test.env, (silt_compare_op)9, a, a, &expr, &m->err), SILT_EINVALID);
    assert_null(expr);
    silt_expr_unref(a);
}

static void a_literal_owns_its_bytes(void **state)
{
    struct model *m = *state;
    char text[] = "abc";
    const silt_value value = sl_value_bytes(SILT_TYPE_STRING, sl_str_make(text, 3));
    silt_expr *expr = NULL;
    assert_int_equal(silt_expr_literal(&m->test.env, &value, &expr, &m->err), SILT_OK);
    text[0] = 'x';
    assert_true(sl_str_eq_c(sl_value_get_str(&expr->root->value), "abc"));
    silt_expr_unref(expr);
}

static void depth_is_limited(void **state)
{
    struct model *m = *state;
    silt_expr *expr = column(m, "a");
    silt_status status = SILT_OK;
    size_t n = 0;
    while (status == SILT_OK) {
        silt_expr *outer = NULL;
        status = silt_expr_not(&m->test.env, expr, &outer, &m->err);
        if (status == SILT_OK) {
            silt_expr_unref(expr);
            expr = outer;
            n++;
        }
    }
    assert_int_equal(status, SILT_ELIMIT);
    assert_int_equal(n, SL_EXPR_MAX_DEPTH);
    silt_expr_unref(expr);
}

static void count_visit(void *ctx, const struct sl_expr_node *node)
{
    (void)node;
    ++*(size_t *)ctx;
}

static bool is_short(void *ctx, const struct sl_str *path, size_t path_len)
{
    (void)ctx;
    return path_len == 1 && path[0].len == 1;
}

static void conjuncts_and_columns_are_walked(void **state)
{
    struct model *m = *state;
    silt_expr *expr = model_expr(m, "a = 1 AND (b = 2 AND (c = 3 OR d = 4)) AND NOT (e AND f)", NULL);
    size_t n = 0;
    sl_expr_each_conjunct(expr->root, count_visit, &n);
    assert_int_equal(n, 4);
    assert_true(sl_expr_columns_all(expr->root, is_short, NULL));
    silt_expr_unref(expr);
    expr = model_expr(m, "a = 1 OR cast(s.b as int) IN (2)", NULL);
    assert_false(sl_expr_columns_all(expr->root, is_short, NULL));
    silt_expr_unref(expr);
}

static struct sl_str rename_b(void *ctx, const struct sl_str *path, size_t path_len, size_t level)
{
    (void)ctx;
    (void)path_len;
    return sl_str_eq_c(path[level], "b") ? SL_STR("col-1") : (struct sl_str){NULL, 0};
}

static void columns_are_renamed_at_every_level(void **state)
{
    struct model *m = *state;
    silt_expr *expr = model_expr(m, "b = 1 AND a.b > 'b' AND c.d IS NULL", NULL);
    silt_expr *renamed = NULL;
    assert_int_equal(sl_expr_rename(expr, rename_b, NULL, &renamed, &m->err), SILT_OK);
    silt_expr_unref(expr);
    assert_string_equal(silt_expr_text(renamed), "(`col-1` = 1) AND (a.`col-1` > 'b') AND (c.d IS NULL)");
    silt_expr_unref(renamed);
}

static silt_status build_once(struct model *m, silt_error *err)
{
    const char *const path[2] = {"s", "a"};
    silt_expr *a = NULL;
    silt_expr *null = NULL;
    silt_expr *renamed = NULL;
    silt_status status = silt_expr_column(&m->test.env, path, 2, &a, err);
    status = status != SILT_OK ? status : silt_expr_is_null(&m->test.env, a, &null, err);
    status = status != SILT_OK ? status : sl_expr_rename(null, rename_b, NULL, &renamed, err);
    silt_expr_unref(renamed);
    silt_expr_unref(null);
    silt_expr_unref(a);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(build_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(builders_make_what_the_parser_makes),
        MODEL_TEST(junctions_of_none_and_one_are_neutral),
        MODEL_TEST(bad_arguments_are_refused),
        MODEL_TEST(a_literal_owns_its_bytes),
        MODEL_TEST(depth_is_limited),
        MODEL_TEST(conjuncts_and_columns_are_walked),
        MODEL_TEST(columns_are_renamed_at_every_level),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
