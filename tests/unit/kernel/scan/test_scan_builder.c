/* The scan builder: columns, filters, and what a built scan tells. */
#include <stdio.h>
#include <string.h>

#include "mini_table.h"
#include "silt/scan.h"
#include "test_env.h"

#define ROOT "memory://t"

static struct test_env t;
static struct mini_engine mini;
static silt_snapshot *snapshot;
static silt_scan_builder *builder;
static silt_error err;

static int set_up(void **state)
{
    (void)state;
    static const struct mini_field fields[] = {{"id", "long"}, {"Name", "string"}, {"day", "date"}, {"p", "integer"}};
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"p=1/a.parquet\",\"partitionValues\":{\"p\":\"1\"},\"size\":10,\"modificationTime\":1,"
        "\"dataChange\":true}}",
        "{\"add\":{\"path\":\"p=2/b.parquet\",\"partitionValues\":{\"p\":\"2\"},\"size\":20,\"modificationTime\":2,"
        "\"dataChange\":true}}"};
    silt_table *table = NULL;
    err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&t);
    bool good = mini_engine_init(&mini, &t.env, 0, &err) &&
                mini_table_make(&mini, ROOT, fields, 4, "[\"p\"]", lines, 2) &&
                silt_table_for_path(mini.engine, ROOT, &table, &err) == SILT_OK &&
                silt_table_latest_snapshot(table, NULL, &snapshot, &err) == SILT_OK &&
                silt_scan_builder_new(snapshot, &builder, &err) == SILT_OK;
    silt_table_unref(table);
    return good ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    mini_engine_release(&mini);
    test_env_check(&t);
    return 0;
}

static silt_scan *build(void)
{
    silt_scan *scan = NULL;
    if (silt_scan_builder_build(builder, NULL, &scan, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    return scan;
}

static void filter_by(const char *text)
{
    silt_expr *expr = NULL;
    if (silt_expr_parse(&t.env, text, strlen(text), NULL, &expr, &err) != SILT_OK ||
        silt_scan_builder_filter(builder, expr, &err) != SILT_OK) {
        fail_msg("%s: %s", text, err.message);
    }
    silt_expr_unref(expr);
}

static void scan_of_all_has_the_tables_columns(void **state)
{
    (void)state;
    silt_scan *scan = build();
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 4);
    assert_int_equal(plan->n_files, 2);
    assert_string_equal(plan->files[1].path, ROOT "/p=2/b.parquet");
    assert_null(plan->files[1].local_path);
    assert_int_equal(plan->files[1].size_bytes, 20);
    assert_int_equal(plan->n_partition_columns, 1);
    assert_int_equal(plan->files[1].partition_values[0].as.i64, 2);
    assert_int_equal(plan->columns[0].source, SILT_FROM_FILE);
    assert_int_equal(plan->columns[3].source, SILT_FROM_PARTITION);
    assert_int_equal(plan->columns[3].index, 0);
    assert_null(plan->filter);
    assert_null(silt_scan_remaining_filter(scan));
    assert_string_equal(plan->table, ROOT);
    assert_int_equal(plan->version, 0);
    silt_scan_unref(scan);
}

static void projection_takes_names_in_any_case_and_keeps_their_spelling(void **state)
{
    (void)state;
    static const char *const columns[] = {"NAME", "Id"};
    assert_int_equal(silt_scan_builder_project(builder, columns, 2, &err), SILT_OK);
    silt_scan *scan = build();
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 2);
    assert_string_equal(silt_field_name(silt_schema_field(silt_scan_schema(scan), 0)), "Name");
    assert_string_equal(silt_field_name(silt_schema_field(silt_scan_schema(scan), 1)), "id");
    silt_scan_unref(scan);
}

static void last_projection_counts(void **state)
{
    (void)state;
    static const char *const first[] = {"id", "day"};
    static const char *const second[] = {"p"};
    assert_int_equal(silt_scan_builder_project(builder, first, 2, &err), SILT_OK);
    assert_int_equal(silt_scan_builder_project(builder, second, 1, &err), SILT_OK);
    silt_scan *scan = build();
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 1);
    silt_scan_unref(scan);
}

static void unknown_column_is_named_with_the_nearest_one(void **state)
{
    (void)state;
    static const char *const columns[] = {"nmae"};
    assert_int_equal(silt_scan_builder_project(builder, columns, 1, &err), SILT_ESCHEMA);
    assert_string_equal(err.code_name, "DELTA_COLUMN_NOT_FOUND");
    assert_non_null(strstr(err.message, "nmae"));
    assert_non_null(strstr(err.hint, "Name"));
    static const char *const far[] = {"something quite different"};
    err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(silt_scan_builder_project(builder, far, 1, &err), SILT_ESCHEMA);
    assert_string_equal(err.hint, "");
}

static void column_named_twice_is_refused(void **state)
{
    (void)state;
    static const char *const columns[] = {"id", "ID"};
    assert_int_equal(silt_scan_builder_project(builder, columns, 2, &err), SILT_ESCHEMA);
    assert_string_equal(err.code_name, "DELTA_DUPLICATE_COLUMNS_FOUND");
}

static void filter_on_an_unknown_column_is_refused_at_once(void **state)
{
    (void)state;
    silt_expr *expr = NULL;
    assert_int_equal(silt_expr_parse(&t.env, "idd = 1", 7, NULL, &expr, &err), SILT_OK);
    assert_int_equal(silt_scan_builder_filter(builder, expr, &err), SILT_ESCHEMA);
    silt_expr_unref(expr);
}

static void several_filters_are_joined_and_partition_members_drop_out(void **state)
{
    (void)state;
    filter_by("P = 1");
    filter_by("id > 3");
    silt_scan *scan = build();
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    assert_non_null(silt_scan_remaining_filter(scan));
    assert_non_null(strstr(silt_expr_text(silt_scan_remaining_filter(scan)), "id"));
    assert_null(strstr(silt_expr_text(silt_scan_remaining_filter(scan)), "p ="));
    assert_ptr_equal(silt_scan_get_plan(scan)->filter, silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
}

static void columns_for_the_filter_stand_after_the_projected_ones_in_the_plan(void **state)
{
    (void)state;
    static const char *const columns[] = {"day"};
    assert_int_equal(silt_scan_builder_project(builder, columns, 1, &err), SILT_OK);
    filter_by("id > 3 OR p = 2");
    silt_scan *scan = build();
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 1);
    assert_int_equal(silt_schema_field_count(plan->logical), 3);
    assert_string_equal(silt_field_name(silt_schema_field(plan->logical, 0)), "day");
    assert_int_equal(plan->columns[2].source, SILT_FROM_PARTITION);
    assert_int_equal(plan->columns[2].index, 0);
    silt_scan_unref(scan);
}

static void projection_of_no_column_still_plans_one(void **state)
{
    (void)state;
    assert_int_equal(silt_scan_builder_project(builder, NULL, 0, &err), SILT_OK);
    silt_scan *scan = build();
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 0);
    assert_int_equal(silt_schema_field_count(silt_scan_get_plan(scan)->logical), 1);
    silt_scan_unref(scan);
}

static void scan_outlives_its_builder_and_its_other_references(void **state)
{
    (void)state;
    silt_scan *scan = build();
    silt_scan_builder_free(builder);
    builder = NULL;
    silt_snapshot_unref(snapshot);
    snapshot = NULL;
    silt_scan *again = silt_scan_ref(scan);
    silt_scan_unref(scan);
    assert_int_equal(silt_scan_get_plan(again)->n_files, 2);
    silt_scan_unref(again);
}

static void builder_can_be_used_again(void **state)
{
    (void)state;
    silt_scan *all = build();
    filter_by("p = 2");
    silt_scan *some = build();
    assert_int_equal(silt_scan_get_plan(all)->n_files, 2);
    assert_int_equal(silt_scan_get_plan(some)->n_files, 1);
    silt_scan_unref(all);
    silt_scan_unref(some);
}

static void missing_arguments_are_refused(void **state)
{
    (void)state;
    silt_scan_builder *none = NULL;
    assert_int_equal(silt_scan_builder_new(NULL, &none, &err), SILT_EINVALID);
    assert_int_equal(silt_scan_builder_project(builder, NULL, 1, &err), SILT_EINVALID);
    assert_int_equal(silt_scan_builder_filter(builder, NULL, &err), SILT_EINVALID);
    assert_int_equal(silt_scan_builder_build(builder, NULL, NULL, NULL), SILT_EINVALID);
    silt_scan_builder_free(NULL);
    silt_scan_unref(NULL);
    assert_null(silt_scan_ref(NULL));
    assert_null(silt_scan_get_plan(NULL));
}

static void lack_of_memory_is_survived_at_every_request(void **state)
{
    (void)state;
    static const char *const columns[] = {"day", "Name"};
    for (size_t n = 1; n < 2000; n++) {
        silt_scan *scan = NULL;
        silt_scan_builder *own = NULL;
        silt_expr *expr = NULL;
        assert_int_equal(silt_expr_parse(&t.env, "p = 1 AND id > 3", 16, NULL, &expr, NULL), SILT_OK);
        test_env_fail_at(&t, n);
        silt_status status = silt_scan_builder_new(snapshot, &own, NULL);
        status = status != SILT_OK ? status : silt_scan_builder_project(own, columns, 2, NULL);
        status = status != SILT_OK ? status : silt_scan_builder_filter(own, expr, NULL);
        status = status != SILT_OK ? status : silt_scan_builder_build(own, NULL, &scan, NULL);
        bool ran_out = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        silt_scan_unref(scan);
        silt_scan_builder_free(own);
        silt_expr_unref(expr);
        if (!ran_out) {
            assert_int_equal(status, SILT_OK);
            return;
        }
        /* Memory for statistics may fail quietly in places; what comes back is either whole or an error. */
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
    }
    fail_msg("building a scan never came to an end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scan_of_all_has_the_tables_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(projection_takes_names_in_any_case_and_keeps_their_spelling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(last_projection_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_column_is_named_with_the_nearest_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(column_named_twice_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(filter_on_an_unknown_column_is_refused_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_filters_are_joined_and_partition_members_drop_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_for_the_filter_stand_after_the_projected_ones_in_the_plan, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(projection_of_no_column_still_plans_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scan_outlives_its_builder_and_its_other_references, set_up, tear_down),
        cmocka_unit_test_setup_teardown(builder_can_be_used_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_arguments_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_is_survived_at_every_request, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
