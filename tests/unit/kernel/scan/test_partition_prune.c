/* Partition values: how they are read, and which files a filter drops by them. */
#include "kernel/scan/partition_prune.h"

#include <string.h>

#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;
static silt_schema *schema;
static silt_expr *expr;
static struct sl_scan_filter filter;
static struct sl_partition_pruner pruner;

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type integer_type = {.kind = SILT_TYPE_INTEGER};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};
static const struct sl_partition_column partitions[] = {
    {.name = {"p", 1}, .type = &text_type, .physical = {"p", 1}},
    {.name = {"n", 1}, .type = &integer_type, .physical = {"n", 1}},
    {.name = {"at", 2}, .type = &time_type, .physical = {"at", 2}},
};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    const struct silt_field fields[] = {{.name = {"x", 1}, .type = &long_type, .nullable = true},
                                        {.name = {"p", 1}, .type = &text_type, .nullable = true},
                                        {.name = {"n", 1}, .type = &integer_type, .nullable = true},
                                        {.name = {"at", 2}, .type = &time_type, .nullable = true}};
    return sl_schema_from_fields(&t.env, fields, 4, &schema, NULL) == SILT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sl_partition_pruner_release(&pruner);
    silt_expr_unref(expr);
    expr = NULL;
    silt_schema_unref(schema);
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

static void begin(const char *predicate)
{
    if (predicate != NULL) {
        silt_error err = SILT_ERROR_INIT;
        if (silt_expr_parse(&t.env, predicate, strlen(predicate), schema, &expr, &err) != SILT_OK) {
            fail_msg("%s: %s", predicate, err.message);
        }
    }
    assert_int_equal(sl_scan_filter_make(&arena, expr, schema, partitions, 3, &filter, NULL), SILT_OK);
    sl_partition_pruner_init(&pruner, &arena, &filter);
}

/* NULL for a key that is not there; "-" for JSON null. */
static silt_status find(const char *p, const char *n, const char *at, const struct sl_partition_tuple **out,
                        silt_error *err)
{
    const char *const texts[] = {p, n, at};
    struct sl_kv items[3];
    struct sl_kv_list list = {items, 0};
    for (size_t i = 0; i < 3; i++) {
        if (texts[i] != NULL) {
            bool is_null = strcmp(texts[i], "-") == 0;
            items[list.n++] = (struct sl_kv){partitions[i].name, is_null ? (struct sl_str){0} : sl_str_from(texts[i])};
        }
    }
    return sl_partition_pruner_find(&pruner, &list, SL_STR("p=wrong/f.parquet"), out, err);
}

static const struct sl_partition_tuple *tuple_of(const char *p, const char *n, const char *at)
{
    const struct sl_partition_tuple *tuple = NULL;
    assert_int_equal(find(p, n, at, &tuple, NULL), SILT_OK);
    return tuple;
}

static void null_empty_and_missing_are_one_and_the_same(void **state)
{
    (void)state;
    begin(NULL);
    const struct sl_partition_tuple *tuple = tuple_of("-", "", NULL);
    assert_true(tuple->values[0].is_null && tuple->values[1].is_null && tuple->values[2].is_null);
    assert_ptr_equal(tuple, tuple_of(NULL, NULL, NULL));
    assert_ptr_equal(tuple, tuple_of("", "-", ""));
    assert_ptr_not_equal(tuple, tuple_of("a", NULL, NULL));
    assert_false(tuple->dropped);
}

static void default_partition_name_is_a_value_like_any_other(void **state)
{
    (void)state;
    begin("p IS NULL");
    assert_true(tuple_of("__HIVE_DEFAULT_PARTITION__", NULL, NULL)->dropped);
    assert_false(tuple_of("-", NULL, NULL)->dropped);
}

static void files_with_equal_values_share_their_tuple(void **state)
{
    (void)state;
    begin("n > 1");
    assert_ptr_equal(tuple_of("a", "1", NULL), tuple_of("a", "1", NULL));
    /* Keys keep the parts apart. */
    assert_ptr_not_equal(tuple_of("a", "1", NULL), tuple_of("a1", NULL, NULL));
    for (int i = 0; i < 1000; i++) {
        assert_ptr_equal(tuple_of("b", "2", NULL), tuple_of("b", "2", NULL));
    }
}

static void both_forms_of_a_timestamp_are_compared_as_instants(void **state)
{
    (void)state;
    begin("at = TIMESTAMP '2020-05-05 00:00:00.100000Z'");
    assert_false(tuple_of(NULL, NULL, "2020-05-05 00:00:00.1")->dropped);
    assert_false(tuple_of(NULL, NULL, "2020-05-05 00:00:00.100000")->dropped);
    assert_false(tuple_of(NULL, NULL, "2020-05-05T00:00:00.100000Z")->dropped);
    assert_true(tuple_of(NULL, NULL, "2020-05-05T00:00:00.100001Z")->dropped);
}

static void null_result_drops_and_unknown_keeps(void **state)
{
    (void)state;
    begin("n = 1 AND (x = 5 OR p = 'k')");
    const struct sl_partition_tuple *kept = tuple_of("m", "1", NULL);
    assert_false(kept->dropped);
    assert_int_equal(kept->truths[0], SL_TRUE);
    assert_true(kept->truths[1] != SL_TRUE && kept->truths[1] != SL_FALSE);
    assert_int_equal(tuple_of("k", "1", NULL)->truths[1], SL_TRUE);
    assert_true(tuple_of("k", NULL, NULL)->dropped); /* null = 1 is not true */
    assert_true(tuple_of("k", "2", NULL)->dropped);
}

static void unreadable_value_names_file_and_column(void **state)
{
    (void)state;
    begin(NULL);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_partition_tuple *tuple = NULL;
    assert_int_equal(find(NULL, "one", NULL, &tuple, &err), SILT_ECORRUPT);
    assert_null(tuple);
    assert_non_null(strstr(err.message, "p=wrong/f.parquet"));
    assert_non_null(strstr(err.message, "n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(null_empty_and_missing_are_one_and_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(default_partition_name_is_a_value_like_any_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_with_equal_values_share_their_tuple, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_forms_of_a_timestamp_are_compared_as_instants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(null_result_drops_and_unknown_keeps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unreadable_value_names_file_and_column, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
