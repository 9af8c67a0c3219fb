/* Reading a scan: through an engine that runs scans itself, and through one that only reads files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mini_rows.h"
#include "mini_table.h"
#include "test_env.h"

#define ROOT "memory://t"

static struct test_env t;
static struct mini_engine mini;
static silt_error err;

static const struct mini_field fields[] = {{"id", "long"}, {"name", "string"}, {"p", "integer"}};

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

static void make_table(struct mini_engine *engine)
{
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"7\"},\"size\":5,\"modificationTime\":7,\"dataChange\":true}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":null},\"size\":5,\"modificationTime\":7,\"dataChange\":true}}"};
    static const char *const names[] = {"id", "name"};
    const silt_value a[] = {mini_long(1),   mini_text("x"), mini_long(2),  mini_null(),  mini_long(3),
                            mini_text("z"), mini_long(4),   mini_text(""), mini_long(5), mini_text("five")};
    const silt_value b[] = {mini_null(), mini_text("last")};
    assert_true(mini_table_make(engine, ROOT, fields, 3, "[\"p\"]", lines, 2));
    mini_engine_can(engine, ROOT "/a", names, 2, a, 5);
    mini_engine_can(engine, ROOT "/b", names, 2, b, 1);
}

static silt_scan *scan_of(struct mini_engine *engine, const char *const *columns, size_t n, const char *filter)
{
    silt_scan *scan = NULL;
    if (mini_table_scan(engine, ROOT, columns, n, filter, &scan, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    return scan;
}

static void assert_read(const char *const *columns, size_t n, const char *filter, const char *expected)
{
    char text[1024];
    struct ArrowArrayStream rows;
    silt_scan *scan = scan_of(&mini, columns, n, filter);
    if (silt_scan_read(scan, NULL, &rows, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    silt_scan_unref(scan);
    (void)mini_rows_text(&rows, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void files_are_read_with_their_partition_values(void **state)
{
    (void)state;
    make_table(&mini);
    assert_read(NULL, 0, NULL, "1,x,7;2,null,7;3,z,7;4,,7;5,five,7;null,last,null;");
}

static void filter_keeps_only_rows_for_which_it_is_true(void **state)
{
    (void)state;
    make_table(&mini);
    static const char *const columns[] = {"p", "name"};
    assert_read(columns, 2, "id <> 3", "7,x;7,null;7,;7,five;");
    assert_read(columns, 2, "p = 7 AND id > 4", "7,five;");
    assert_read(columns, 2, "(p = 7 AND id > 4) OR name = 'last'", "7,five;null,last;");
}

static void no_column_gives_rows_without_cells(void **state)
{
    (void)state;
    make_table(&mini);
    struct ArrowArrayStream rows;
    silt_scan *scan = scan_of(&mini, (const char *const[]){NULL}, 0, "id > 2");
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_OK);
    silt_scan_unref(scan);
    struct ArrowArray batch;
    int64_t n = 0;
    while (rows.get_next(&rows, &batch) == 0 && batch.release != NULL) {
        assert_int_equal(batch.n_children, 0);
        n += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(n, 3);
    rows.release(&rows);
}

static void missing_file_is_reported_by_the_stream(void **state)
{
    (void)state;
    static const char *const lines[] = {"{\"add\":{\"path\":\"gone\",\"partitionValues\":{\"p\":\"7\"},\"size\":5,"
                                        "\"modificationTime\":7,\"dataChange\":true}}"};
    char text[1024];
    struct ArrowArrayStream rows;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"p\"]", lines, 1));
    silt_scan *scan = scan_of(&mini, NULL, 0, NULL);
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_OK);
    silt_scan_unref(scan);
    assert_int_equal(mini_rows_text(&rows, text, sizeof(text)), -1);
    assert_non_null(strstr(text, "no such file: " ROOT "/gone"));
}

static void handler_that_gives_other_types_is_refused(void **state)
{
    (void)state;
    struct ArrowArrayStream rows;
    make_table(&mini);
    mini.lies_about_types = true;
    silt_scan *scan = scan_of(&mini, NULL, 0, NULL);
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_EENGINE);
    assert_non_null(strstr(err.message, "id"));
    assert_null(rows.release);
    silt_scan_unref(scan);
}

static void filter_without_an_expression_handler_is_refused_but_planned(void **state)
{
    (void)state;
    struct mini_engine bare;
    struct ArrowArrayStream rows;
    assert_true(mini_engine_init(&bare, &t.env, MINI_NO_EXPRESSION, &err));
    make_table(&bare);
    silt_scan *scan = scan_of(&bare, NULL, 0, "id = 1");
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_EUNSUPPORTED);
    assert_non_null(silt_scan_get_plan(scan)->filter);
    silt_scan_unref(scan);
    scan = scan_of(&bare, NULL, 0, "p = 7"); /* answered by planning */
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_OK);
    rows.release(&rows);
    silt_scan_unref(scan);
    mini_engine_release(&bare);
}

static void table_without_files_gives_no_rows_and_wakes_no_engine(void **state)
{
    (void)state;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"p\"]", NULL, 0));
    assert_read(NULL, 0, "id > 1", "");
    assert_int_equal(mini.n_reads, 0);
}

static void table_without_columns_is_refused(void **state)
{
    (void)state;
    struct ArrowArrayStream rows;
    assert_true(mini_table_make(&mini, ROOT, NULL, 0, "[]", NULL, 0));
    silt_scan *scan = scan_of(&mini, NULL, 0, NULL);
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_ESCHEMA);
    assert_string_equal(err.code_name, "DELTA_READ_TABLE_WITHOUT_COLUMNS");
    silt_scan_unref(scan);
}

/* ---- an engine that runs scans itself ---- */

static const silt_scan_plan *seen_plan;
static bool gives_too_few_columns;

/* Gives two rows (i, "r", 7) in the plan's columns, whatever it asks for. */
static silt_status own_scan(void *impl, const silt_call *call, const silt_scan_plan *plan, struct ArrowArrayStream *out,
                            silt_error *found)
{
    (void)impl;
    (void)call;
    (void)found;
    seen_plan = plan;
    size_t n = silt_schema_field_count(plan->logical);
    const char *names[MINI_MAX_COLUMNS];
    const char *formats[MINI_MAX_COLUMNS];
    silt_value cells[2 * MINI_MAX_COLUMNS];
    for (size_t i = 0; i < n; i++) {
        const silt_field *field = silt_schema_field(plan->logical, i);
        silt_type_kind kind = silt_type_get_kind(silt_field_type(field));
        names[i] = silt_field_name(field);
        formats[i] = kind == SILT_TYPE_LONG ? "l" : kind == SILT_TYPE_STRING ? "u" : "i";
        for (size_t row = 0; row < 2; row++) {
            cells[row * n + i] = kind == SILT_TYPE_LONG     ? mini_long((int64_t)row)
                                 : kind == SILT_TYPE_STRING ? mini_text("r")
                                                            : mini_long(7);
        }
    }
    if (gives_too_few_columns) {
        mini_rows_stream(out, names, formats, 1, cells, 2);
        return SILT_OK;
    }
    mini_rows_stream(out, names, formats, n, cells, 2);
    return SILT_OK;
}

static silt_parquet_handler_vtable scanning;

/* The mini engine, with the scan slot on top. */
static silt_engine *make_scanning_engine(void)
{
    silt_engine *engine = NULL;
    silt_storage_registry *stores = NULL;
    scanning = mini_parquet;
    scanning.scan = own_scan;
    assert_int_equal(silt_storage_registry_new(&t.env, &stores, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", mini.store, &err), SILT_OK);
    silt_engine_options options = {.size = sizeof(options),
                                   .abi_version = SILT_ABI_VERSION,
                                   .env = &t.env,
                                   .stores = stores,
                                   .parquet = {&scanning, &mini}};
    assert_int_equal(silt_engine_new(&options, &engine, &err), SILT_OK);
    return engine;
}

static void engine_with_a_scan_of_its_own_is_given_the_plan(void **state)
{
    (void)state;
    char text[256];
    struct ArrowArrayStream rows;
    make_table(&mini);
    silt_engine *plain = mini.engine;
    mini.engine = make_scanning_engine();
    static const char *const columns[] = {"name"};
    silt_scan *scan = scan_of(&mini, columns, 1, "id >= 0");
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_OK);
    assert_ptr_equal(seen_plan, silt_scan_get_plan(scan));
    assert_non_null(seen_plan->filter);
    silt_scan_unref(scan);
    (void)mini_rows_text(&rows, text, sizeof(text));
    assert_string_equal(text, "r;r;"); /* id was for the filter only */
    assert_int_equal(mini.n_reads, 0);
    scan = scan_of(&mini, NULL, 0, NULL);
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_OK);
    silt_scan_unref(scan);
    (void)mini_rows_text(&rows, text, sizeof(text));
    assert_string_equal(text, "0,r,7;1,r,7;");
    silt_engine_unref(mini.engine);
    mini.engine = plain;
}

static void engine_that_returns_other_columns_is_caught_before_they_are_dropped(void **state)
{
    (void)state;
    struct ArrowArrayStream rows;
    make_table(&mini);
    silt_engine *plain = mini.engine;
    mini.engine = make_scanning_engine();
    static const char *const columns[] = {"name"};
    silt_scan *scan = scan_of(&mini, columns, 1, "id >= 0");
    gives_too_few_columns = true;
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &err), SILT_EENGINE);
    gives_too_few_columns = false;
    silt_scan_unref(scan);
    silt_engine_unref(mini.engine);
    mini.engine = plain;
}

static void lack_of_memory_while_reading_is_survived_at_every_request(void **state)
{
    (void)state;
    static const char *const columns[] = {"p", "name"};
    char text[1024];
    make_table(&mini);
    silt_scan *scan = scan_of(&mini, columns, 2, "id <> 3");
    for (size_t n = 1; n < 3000; n++) {
        struct ArrowArrayStream rows = {0};
        test_env_fail_at(&t, n);
        silt_status status = silt_scan_read(scan, NULL, &rows, NULL);
        int batches = status == SILT_OK ? mini_rows_text(&rows, text, sizeof(text)) : -1;
        bool ran_out = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        assert_true(status == SILT_OK || status == SILT_ENOMEM || status == SILT_EENGINE);
        if (!ran_out) {
            assert_true(batches > 0);
            assert_string_equal(text, "7,x;7,null;7,;7,five;");
            silt_scan_unref(scan);
            return;
        }
        assert_int_equal(batches, -1);
    }
    fail_msg("reading never came to an end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_read_with_their_partition_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_keeps_only_rows_for_which_it_is_true, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_column_gives_rows_without_cells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_file_is_reported_by_the_stream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(handler_that_gives_other_types_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_without_an_expression_handler_is_refused_but_planned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(table_without_files_gives_no_rows_and_wakes_no_engine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(table_without_columns_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(engine_with_a_scan_of_its_own_is_given_the_plan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(engine_that_returns_other_columns_is_caught_before_they_are_dropped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_while_reading_is_survived_at_every_request, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
