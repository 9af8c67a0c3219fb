/* Planning over a snapshot: which files are left, and where they are. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "mini_table.h"
#include "test_env.h"

#define ROOT "memory://t"

static struct test_env t;
static struct mini_engine mini;
static silt_error err;

static const struct mini_field fields[] = {{"id", "long"}, {"p", "string"}};

static int set_up(void **state)
{
    (void)state;
    err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&t);
    return mini_engine_init(&mini, &t.env, 0, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mini_engine_release(&mini);
    test_env_check(&t);
    return 0;
}

static silt_scan *scan_of(const char *filter)
{
    silt_scan *scan = NULL;
    if (mini_table_scan(&mini, ROOT, NULL, 0, filter, &scan, &err) != SILT_OK) {
        fail_msg("%s: %s", filter, err.message);
    }
    return scan;
}

/* The last characters of the planned files' names, in order: "ab" for …/a and …/b. */
static void assert_files(const char *filter, const char *expected)
{
    char names[64] = "";
    silt_scan *scan = scan_of(filter);
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    for (size_t i = 0; i < plan->n_files; i++) {
        names[i] = plan->files[i].path[strlen(plan->files[i].path) - 1];
    }
    assert_string_equal(names, expected);
    silt_scan_unref(scan);
}

static void files_are_dropped_by_values_and_statistics_and_keep_their_order(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"x\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true,"
        "\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"id\\\":1},\\\"maxValues\\\":{\\\"id\\\":5}}\"}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":\"y\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}",
        "{\"add\":{\"path\":\"c\",\"partitionValues\":{\"p\":\"x\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true,"
        "\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"id\\\":6},\\\"maxValues\\\":{\\\"id\\\":9}}\"}}",
        "{\"add\":{\"path\":\"d\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true,"
        "\"stats\":\"{broken\"}}"};
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 4));
    silt_scan *scan = scan_of(NULL);
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 4);
    silt_scan_unref(scan);
    assert_files("p = 'x'", "ac");
    assert_files("p IS NULL", "d");
    assert_files("id > 5", "bcd");
    assert_files("p = 'y' OR id > 5", "bcd");
    assert_files("p = 'x' AND id > 5", "c");
    assert_files("p = 'none'", "");
    assert_files("id IN (7, 8) OR p = 'y'", "bcd");
}

static void member_that_is_true_in_every_file_left_is_answered(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"x\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":\"y\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}"};
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 2));
    silt_scan *scan = scan_of("p = 'x' AND (p <> 'y' OR id = 1)");
    assert_null(silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
    scan = scan_of("p <> 'y' OR id = 1");
    assert_non_null(silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
    scan = scan_of("p = 'z' AND id = 1");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 0);
    assert_non_null(silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
}

static void paths_are_decoded_once_and_absolute_ones_stand(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"p=A%252FA/a+b%20c\",\"partitionValues\":{\"p\":\"A/A\"},\"size\":1,\"modificationTime\":1,"
        "\"dataChange\":true}}",
        "{\"add\":{\"path\":\"memory://other/x%2520y\",\"partitionValues\":{\"p\":\"B\"},\"size\":1,\"modificationTime\":1,"
        "\"dataChange\":true}}"};
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 2));
    silt_scan *scan = scan_of("p = 'A/A'");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    assert_string_equal(silt_scan_get_plan(scan)->files[0].path, ROOT "/p=A%2FA/a+b c");
    silt_scan_unref(scan);
    scan = scan_of("p = 'B'");
    assert_string_equal(silt_scan_get_plan(scan)->files[0].path, "memory://other/x%20y");
    silt_scan_unref(scan);
}

static void file_in_a_store_of_another_kind_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"s3://bucket/f\",\"partitionValues\":{\"p\":\"B\"},\"size\":1,"
        "\"modificationTime\":1,\"dataChange\":true}}"};
    silt_scan *scan = NULL;
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 1));
    assert_int_equal(mini_table_scan(&mini, ROOT, NULL, 0, NULL, &scan, &err), SILT_EUNSUPPORTED);
    assert_null(scan);
}

static void file_is_planned_with_its_vector_row_ids_and_time(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"B\"},\"size\":1,\"modificationTime\":7,\"dataChange\":true,"
        "\"baseRowId\":40,\"defaultRowCommitVersion\":3,\"deletionVector\":{\"storageType\":\"p\",\"pathOrInlineDv\":"
        "\"memory://t/a%2520b.bin\",\"offset\":4,\"sizeInBytes\":30,\"cardinality\":2}}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":\"C\"},\"size\":1,\"modificationTime\":8,\"dataChange\":true}}"};
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 2));
    silt_scan *scan = scan_of(NULL);
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    assert_true(plan->has_row_sets);
    assert_int_equal(plan->files[0].deleted->storage_type, 'p');
    assert_string_equal(plan->files[0].deleted->path, "memory://t/a%20b.bin");
    assert_int_equal(plan->files[0].deleted->offset, 4);
    assert_int_equal(plan->files[0].deleted->cardinality, 2);
    assert_int_equal(plan->files[0].base_row_id, 40);
    assert_int_equal(plan->files[0].row_commit_version, 3);
    assert_int_equal(plan->files[0].modified_ms, 7);
    assert_null(plan->files[1].deleted);
    assert_int_equal(plan->files[1].base_row_id, -1);
    silt_scan_unref(scan);
    scan = scan_of("p = 'C'");
    assert_false(silt_scan_get_plan(scan)->has_row_sets);
    silt_scan_unref(scan);
    scan = scan_of("id = 5"); /* through the window of statistics */
    assert_int_equal(silt_scan_get_plan(scan)->files[0].deleted->size_in_bytes, 30);
    silt_scan_unref(scan);
}

static void descriptor_that_makes_no_sense_fails_with_its_file(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"B\"},\"size\":1,\"modificationTime\":1,\"dataChange\":true,"
        "\"deletionVector\":{\"storageType\":\"x\",\"pathOrInlineDv\":\"x\",\"sizeInBytes\":1,\"cardinality\":1}}}"};
    silt_scan *scan = NULL;
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 1));
    assert_int_equal(mini_table_scan(&mini, ROOT, NULL, 0, NULL, &scan, &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "deletion vector of file a"));
}

static void unreadable_partition_value_fails_with_file_and_column(void **state)
{
    (void)state;
    static const struct mini_field typed[] = {{"id", "long"}, {"part_no", "integer"}};
    static const char *const lines[] = {"{\"add\":{\"path\":\"f.parquet\",\"partitionValues\":{\"part_no\":\"seven\"},"
                                        "\"size\":1,\"modificationTime\":1,\"dataChange\":true}}"};
    silt_scan *scan = NULL;
    assert_true(mini_table_make(&mini, ROOT, typed, 2, "[\"part_no\"]", lines, 1));
    assert_int_equal(mini_table_scan(&mini, ROOT, NULL, 0, NULL, &scan, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "f.parquet"));
    assert_non_null(strstr(err.message, "part_no"));
}

static void partition_column_outside_the_schema_is_a_clean_error(void **state)
{
    (void)state;
    silt_scan *scan = NULL;
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"gone\"]", NULL, 0));
    silt_status status = mini_table_scan(&mini, ROOT, NULL, 0, NULL, &scan, &err);
    assert_int_not_equal(status, SILT_OK);
    assert_non_null(strstr(err.message, "gone"));
    assert_null(scan);
}

static void windows_of_files_are_judged_without_losing_any(void **state)
{
    (void)state;
    enum {
        N = 20000
    }; /* more than one window */
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    for (int i = 0; i < N; i++) {
        sl_buf_printf(
            &text,
            "%s{\"add\":{\"path\":\"f%d\",\"partitionValues\":{\"p\":\"%d\"},\"size\":1,\"modificationTime\":1,"
            "\"dataChange\":true,\"stats\":\"{\\\"minValues\\\":{\\\"id\\\":%d},\\\"maxValues\\\":{\\\"id\\\":%d}}\"}}",
            i > 0 ? "\n" : "", i, i % 7, i, i);
    }
    const char *lines[] = {sl_buf_cstr(&text)};
    assert_true(mini_table_make(&mini, ROOT, fields, 2, "[\"p\"]", lines, 1));
    sl_buf_release(&text);
    silt_scan *scan = scan_of("id >= 16000 AND id < 17000");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1000);
    silt_scan_unref(scan);
    scan = scan_of("(id >= 16000 AND p <> '3') OR p = '3'");
    int64_t expected = 0;
    for (int i = 0; i < N; i++) {
        expected += i % 7 == 3 || i >= 16000 ? 1 : 0;
    }
    assert_int_equal(silt_scan_get_plan(scan)->n_files, expected);
    silt_scan_unref(scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_dropped_by_values_and_statistics_and_keep_their_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(member_that_is_true_in_every_file_left_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_are_decoded_once_and_absolute_ones_stand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_in_a_store_of_another_kind_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_is_planned_with_its_vector_row_ids_and_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(descriptor_that_makes_no_sense_fails_with_its_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unreadable_partition_value_fails_with_file_and_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partition_column_outside_the_schema_is_a_clean_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(windows_of_files_are_judged_without_losing_any, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
