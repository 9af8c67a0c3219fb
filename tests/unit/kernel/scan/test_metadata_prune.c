/* Conditions on "_metadata": which files they leave, by what is known of the files alone. */
#include "kernel/scan/metadata_prune.h"

#include <string.h>

#include "schema/value.h"
#include "test_env.h"

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};
static const struct sl_partition_column partitions[] = {{.name = {"p", 1}, .type = &long_type, .physical = {"p", 1}}};

static struct silt_field members[] = {
    {.name = {"file_path", 9}, .type = &text_type},
    {.name = {"file_name", 9}, .type = &text_type},
    {.name = {"file_size", 9}, .type = &long_type},
    {.name = {"file_block_start", 16}, .type = &long_type},
    {.name = {"file_block_length", 17}, .type = &long_type},
    {.name = {"file_modification_time", 22}, .type = &time_type},
    {.name = {"row_index", 9}, .type = &long_type},
    {.name = {"row_id", 6}, .type = &long_type},
    {.name = {"base_row_id", 11}, .type = &long_type},
    {.name = {"default_row_commit_version", 26}, .type = &long_type},
};
static const struct silt_type metadata_type = {
    .kind = SILT_TYPE_STRUCT, .fields = members, .n_fields = sizeof(members) / sizeof(members[0])};

/* Does a file named "a b.parquet" of 100 bytes, changed at 1 s, with base row id 7, in partition 3, stay? */
static bool keeps(const char *predicate)
{
    struct test_env t;
    struct sl_arena arena;
    silt_schema *schema = NULL;
    silt_schema *table = NULL;
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    struct sl_scan_filter filter;
    const struct silt_field fields[] = {{.name = {"x", 1}, .type = &long_type, .nullable = true},
                                        {.name = {"p", 1}, .type = &long_type, .nullable = true},
                                        {.name = {"_metadata", 9}, .type = &metadata_type}};
    const silt_value values[] = {{.kind = SILT_TYPE_LONG, .as.i64 = 3}};
    const enum sl_truth truths[4] = {SL_UNKNOWN, SL_UNKNOWN, SL_UNKNOWN, SL_UNKNOWN};
    const struct sl_partition_tuple tuple = {.values = values, .truths = truths};
    const silt_plan_file file = {.path = "file:///t/a b.parquet",
                                 .size_bytes = 100,
                                 .modified_ms = 1000,
                                 .num_records = -1,
                                 .base_row_id = 7,
                                 .row_commit_version = -1};
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    assert_int_equal(sl_schema_from_fields(&t.env, fields, 3, &schema, NULL), SILT_OK);
    assert_int_equal(sl_schema_from_fields(&t.env, fields, 2, &table, NULL), SILT_OK);
    if (silt_expr_parse(&t.env, predicate, strlen(predicate), schema, &expr, &err) != SILT_OK) {
        fail_msg("%s: %s", predicate, err.message);
    }
    assert_int_equal(sl_scan_filter_make(&arena, expr, table, partitions, 1, &filter, NULL), SILT_OK);
    assert_int_equal(sl_metadata_prunes(&filter), strstr(predicate, "_metadata") != NULL);
    const bool result = sl_metadata_may_match(&filter, &tuple, &file, &arena);
    silt_expr_unref(expr);
    silt_schema_unref(schema);
    silt_schema_unref(table);
    sl_arena_release(&arena);
    test_env_check(&t);
    return result;
}

static void values_of_the_file_decide(void **state)
{
    (void)state;
    assert_true(keeps("_metadata.file_name = 'a%20b.parquet'"));
    assert_false(keeps("_metadata.file_name = 'a b.parquet'"));
    assert_true(keeps("_metadata.file_path LIKE 'file:%'"));
    assert_false(keeps("_metadata.file_path LIKE 's3:%'"));
    assert_false(keeps("_metadata.file_size > 100"));
    assert_true(keeps("_metadata.file_size >= 100 AND _metadata.file_block_length = 100"));
    assert_false(keeps("_metadata.file_block_start <> 0"));
    assert_true(keeps("_metadata.file_modification_time = TIMESTAMP '1970-01-01 00:00:01Z'"));
    assert_false(keeps("_metadata.file_modification_time < TIMESTAMP '1970-01-01 00:00:01Z'"));
    assert_true(keeps("_metadata.base_row_id = 7"));
    assert_false(keeps("_metadata.base_row_id <> 7"));
    assert_false(keeps("_metadata.default_row_commit_version = 1")); /* it has none: null */
    assert_true(keeps("_metadata.default_row_commit_version IS NULL"));
}

static void what_differs_from_row_to_row_decides_nothing(void **state)
{
    (void)state;
    assert_true(keeps("_metadata.row_index = 5"));
    assert_false(keeps("_metadata.row_index < 0"));
    assert_true(keeps("_metadata.row_id = 0")); /* may be stored */
    assert_true(keeps("_metadata.file_size = 1 OR x = 5"));
}

static void partition_values_count_beside_it(void **state)
{
    (void)state;
    assert_false(keeps("_metadata.file_size = 1 OR p = 4"));
    assert_true(keeps("_metadata.file_size = 1 OR p = 3"));
    assert_true(keeps("p = 4")); /* others judge this */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_the_file_decide),
        cmocka_unit_test(what_differs_from_row_to_row_decides_nothing),
        cmocka_unit_test(partition_values_count_beside_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
