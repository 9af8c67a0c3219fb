/*
 * A stranger's engine, plugged in through the public headers alone, reads and writes a table end to end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mini_engine.h"
#include "mini_rows.h"
#include "mini_table.h"

#define ROOT "memory://t"

static struct mini_engine mini;
static silt_table *table;

/* A partitioned table of two files; the second lacks the column score, and its region is null. */
static void make_table(void)
{
    static const struct mini_field fields[] = {{"id", "long"}, {"Region", "string"}, {"score", "double"}};
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"Region=north%2520sea/a.parquet\",\"partitionValues\":{\"Region\":\"north sea\"},\"size\":4,"
        "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":4,\\\"minValues\\\":{\\\"id\\\":1},"
        "\\\"maxValues\\\":{\\\"id\\\":4},\\\"nullCount\\\":{\\\"id\\\":0}}\"}}",
        "{\"add\":{\"path\":\"b.parquet\",\"partitionValues\":{\"Region\":null},\"size\":4,\"modificationTime\":2,"
        "\"dataChange\":true}}"};
    static const char *const names_a[] = {"score", "id"};
    static const char *const names_b[] = {"id", "surplus"};
    const silt_value a[] = {mini_double(0.5), mini_long(1), mini_double(1.5), mini_long(2),
                            mini_null(),      mini_long(3), mini_double(3.5), mini_long(4)};
    const silt_value b[] = {mini_long(10), mini_text("x"), mini_null(), mini_text("y")};
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"Region\"]", lines, 2));
    mini_engine_can(&mini, ROOT "/Region=north%20sea/a.parquet", names_a, 2, a, 4);
    mini_engine_can(&mini, ROOT "/b.parquet", names_b, 2, b, 2);
}

static int set_up(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    if (!mini_engine_init(&mini, NULL, 0, &err)) {
        print_error("%s\n", err.message);
        return -1;
    }
    return silt_table_for_path(mini.engine, ROOT, &table, &err) == SILT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_table_unref(table);
    table = NULL;
    mini_engine_release(&mini);
    return 0;
}

static void must(silt_status status, const silt_error *err)
{
    if (status != SILT_OK) {
        fail_msg("%s %s: %s", silt_status_name(status), err->code_name, err->message);
    }
}

static silt_scan *scan_of(const char *const *columns, size_t n, const char *filter)
{
    silt_error err = SILT_ERROR_INIT;
    silt_scan *scan = NULL;
    must(mini_table_scan(&mini, ROOT, columns, n, filter, &scan, &err), &err);
    return scan;
}

static void assert_rows(const char *const *columns, size_t n, const char *filter, const char *expected)
{
    char text[2048];
    silt_error err = SILT_ERROR_INIT;
    struct ArrowArrayStream rows;
    silt_scan *scan = scan_of(columns, n, filter);
    must(silt_scan_read(scan, NULL, &rows, &err), &err);
    silt_scan_unref(scan); /* the stream lives on */
    (void)mini_rows_text(&rows, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void whole_table_is_read_in_the_order_of_its_schema(void **state)
{
    (void)state;
    make_table();
    assert_rows(NULL, 0, NULL,
                "1,north sea,0.5;2,north sea,1.5;3,north sea,null;4,north sea,3.5;10,null,null;null,null,null;");
    assert_int_equal(mini.n_files_read, 2);
    assert_int_equal(mini.n_columns_asked, 2);
}

static void projection_ignores_case_and_keeps_its_own_order(void **state)
{
    (void)state;
    make_table();
    static const char *const columns[] = {"SCORE", "region"};
    assert_rows(columns, 2, NULL, "0.5,north sea;1.5,north sea;null,north sea;3.5,north sea;null,null;null,null;");
    assert_int_equal(mini.n_columns_asked, 1);
}

static void partition_columns_alone_need_no_stored_column(void **state)
{
    (void)state;
    make_table();
    static const char *const columns[] = {"Region"};
    assert_rows(columns, 1, NULL, "north sea;north sea;north sea;north sea;null;null;");
    assert_int_equal(mini.n_columns_asked, 0);
}

static void filter_may_use_columns_that_are_not_projected(void **state)
{
    (void)state;
    make_table();
    static const char *const columns[] = {"score"};
    assert_rows(columns, 1, "id >= 2 AND id < 10", "1.5;null;3.5;");
    assert_true(mini.had_predicate);
}

static void partition_filter_reads_only_its_files_and_needs_no_evaluation(void **state)
{
    (void)state;
    make_table();
    silt_scan *scan = scan_of(NULL, 0, "region IS NULL");
    assert_null(silt_scan_remaining_filter(scan));
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    silt_scan_unref(scan);
    static const char *const columns[] = {"id"};
    assert_rows(columns, 1, "region IS NULL", "10;null;");
    assert_rows(columns, 1, "region = 'north sea' AND id > 3", "4;");
    assert_int_equal(mini.n_files_read, 2);
}

static void statistics_spare_files_without_a_matching_row(void **state)
{
    (void)state;
    make_table();
    static const char *const columns[] = {"id"};
    assert_rows(columns, 1, "id > 4", "10;");
    assert_int_equal(mini.n_files_read, 1);
    mini.n_files_read = 0;
    assert_rows(columns, 1, "id > 4 AND region = 'north sea'", "");
    assert_int_equal(mini.n_files_read, 0);
    assert_int_equal(mini.n_reads, 1);
}

static void files_are_listed_with_decoded_paths(void **state)
{
    (void)state;
    make_table();
    char text[4096];
    silt_error err = SILT_ERROR_INIT;
    struct ArrowArrayStream files;
    silt_scan *scan = scan_of(NULL, 0, NULL);
    must(silt_scan_files(scan, NULL, &files, &err), &err);
    silt_scan_unref(scan);
    assert_int_equal(mini_rows_text(&files, text, sizeof(text)), 1);
    assert_non_null(strstr(text, ROOT "/Region=north%20sea/a.parquet,4,1,<+m>,{\"numRecords\":4"));
    assert_non_null(strstr(text, ROOT "/b.parquet,4,2,<+m>,null,null,null,null,<+m>;"));
}

/* ---- writing ---- */

static void write_rows(silt_txn *txn, int64_t first)
{
    static const char *const names[] = {"id", "region", "score"};
    static const char *const formats[] = {"l", "u", "g"};
    silt_error err = SILT_ERROR_INIT;
    struct ArrowArrayStream rows;
    const silt_value cells[] = {mini_long(first),  mini_text("east"),    mini_double(1),       mini_long(first + 1),
                                mini_text("west"), mini_null(),          mini_long(first + 2), mini_text("east"),
                                mini_double(3),    mini_long(first + 3), mini_null(),          mini_double(4)};
    mini_rows_stream(&rows, names, formats, 3, cells, 4);
    must(silt_txn_write(txn, NULL, &rows, &err), &err);
}

static void commit(silt_txn *txn, int64_t version)
{
    silt_error err = SILT_ERROR_INIT;
    silt_commit_result result = {.size = sizeof(result)};
    must(silt_txn_commit(txn, NULL, &result, &err), &err);
    assert_int_equal(result.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(result.version, version);
    silt_txn_free(txn);
}

static void table_is_created_appended_to_and_read_back(void **state)
{
    (void)state;
    static const char json[] = "{\"type\":\"struct\",\"fields\":["
                               "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"region\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"score\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}]}";
    static const char *const partition_columns[] = {"region"};
    static const char *const columns[] = {"id", "region"};
    silt_error err = SILT_ERROR_INIT;
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    must(silt_schema_from_json(silt_engine_env(mini.engine), json, sizeof(json) - 1, &schema, &err), &err);
    silt_create_options options = {
        .size = sizeof(options), .schema = schema, .partition_columns = partition_columns, .n_partition_columns = 1};
    must(silt_txn_begin_create(table, NULL, &options, "CREATE TABLE", &txn, &err), &err);
    write_rows(txn, 1);
    commit(txn, 0);
    silt_schema_unref(schema);
    assert_int_equal(mini.n_written, 3);
    assert_rows(columns, 2, NULL, "1,east;3,east;2,west;4,null;");

    must(silt_txn_begin(table, NULL, "WRITE", &txn, &err), &err);
    write_rows(txn, 101);
    commit(txn, 1);
    assert_rows(columns, 2, "region = 'east'", "101,east;103,east;1,east;3,east;");
    mini.n_files_read = 0;
    assert_rows(columns, 2, "id > 102", "103,east;104,null;");
    assert_int_equal(mini.n_files_read, 2); /* statistics that the transaction wrote are used */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_table_is_read_in_the_order_of_its_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(projection_ignores_case_and_keeps_its_own_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partition_columns_alone_need_no_stored_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_may_use_columns_that_are_not_projected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partition_filter_reads_only_its_files_and_needs_no_evaluation, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(statistics_spare_files_without_a_matching_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_listed_with_decoded_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(table_is_created_appended_to_and_read_back, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
