/* What planning learns of a filter: members, columns, partition columns. */
#include "kernel/scan/scan_filter.h"

#include <string.h>

#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;
static silt_schema *schema;

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type list_type = {.kind = SILT_TYPE_ARRAY, .element = &long_type, .contains_null = true};
static struct silt_field inner[] = {{.name = {"b", 1}, .type = &long_type, .nullable = true},
                                    {.name = {"c.d", 3}, .type = &text_type, .nullable = true}};
static const struct silt_type struct_type = {.kind = SILT_TYPE_STRUCT, .fields = inner, .n_fields = 2};
static const struct sl_partition_column partitions[] = {{.name = {"p", 1}, .type = &text_type, .physical = {"p", 1}}};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    const struct silt_field fields[] = {{.name = {"x", 1}, .type = &long_type, .nullable = true},
                                        {.name = {"a.b", 3}, .type = &long_type, .nullable = true},
                                        {.name = {"a", 1}, .type = &struct_type, .nullable = true},
                                        {.name = {"l", 1}, .type = &list_type, .nullable = true},
                                        {.name = {"p", 1}, .type = &text_type, .nullable = true}};
    return sl_schema_from_fields(&t.env, fields, 5, &schema, NULL) == SILT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_schema_unref(schema);
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

/* The facts of a predicate; the expression must be dropped after use. */
static silt_expr *analyse(const char *text, struct sl_scan_filter *out)
{
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (silt_expr_parse(&t.env, text, strlen(text), schema, &expr, &err) != SILT_OK) {
        fail_msg("%s: %s", text, err.message);
    }
    assert_int_equal(sl_scan_filter_make(&arena, expr, schema, partitions, 1, out, NULL), SILT_OK);
    return expr;
}

static void no_filter_has_no_members(void **state)
{
    (void)state;
    struct sl_scan_filter filter;
    assert_int_equal(sl_scan_filter_make(&arena, NULL, schema, partitions, 1, &filter, NULL), SILT_OK);
    assert_int_equal(filter.n_conjuncts, 0);
    assert_int_equal(filter.n_columns, 0);
    assert_int_equal(sl_scan_filter_partition(&filter, SL_STR("p")), 0);
}

static void members_know_whether_they_need_data(void **state)
{
    (void)state;
    struct sl_scan_filter filter;
    silt_expr *expr = analyse("p = 'k' AND x > 1 AND (P = 'm' OR X < 9)", &filter);
    assert_int_equal(filter.n_conjuncts, 3);
    assert_true(filter.conjuncts[0].uses_partition && !filter.conjuncts[0].uses_data);
    assert_true(filter.conjuncts[1].uses_data && !filter.conjuncts[1].uses_partition);
    assert_true(filter.conjuncts[2].uses_data && filter.conjuncts[2].uses_partition);
    assert_int_equal(filter.n_columns, 1);
    silt_expr_unref(expr);
}

static void name_with_a_dot_and_path_with_a_dot_are_two_columns(void **state)
{
    (void)state;
    struct sl_scan_filter filter;
    silt_expr *expr = analyse("`a.b` = 1 OR a.b = 2 OR a.`c.d` = 'x'", &filter);
    assert_int_equal(filter.n_columns, 3);
    assert_int_equal(filter.columns[0].path_len, 1);
    assert_int_equal(filter.columns[1].path_len, 2);
    assert_true(sl_str_eq_c(filter.columns[2].path[1], "c.d"));
    silt_expr_unref(expr);
}

static void nested_columns_need_data_but_have_no_statistics(void **state)
{
    (void)state;
    struct sl_scan_filter filter;
    silt_expr *expr = analyse("l IS NULL", &filter);
    assert_true(filter.conjuncts[0].uses_data);
    assert_int_equal(filter.n_columns, 0);
    silt_expr_unref(expr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_filter_has_no_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_know_whether_they_need_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(name_with_a_dot_and_path_with_a_dot_are_two_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_columns_need_data_but_have_no_statistics, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
