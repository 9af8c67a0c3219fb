/* From entries to plans: where each column comes from, what files bring that is not the table's, zones of partition values. */
#include <string.h>

#include "changes_fixture.h"
#include "schema/type.h"

#define ID_AND_NAME CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string")

static silt_changes *plan(struct changes_fixture *f, int64_t from, int64_t to)
{
    silt_changes *changes = NULL;
    const silt_changes_options options = changes_range(from, to);
    if (changes_try(f, &options, &changes) != SILT_OK) {
        fail_msg("%s", f->err.message);
    }
    return changes;
}

/* Writers of change data leave "_change_type" in data files too, null or with a value: only change files are asked for it. */
static void a_change_type_in_a_data_file_is_not_taken(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_change_file(f, "x", 1, 1, "update_postimage"); /* of the shape of a change file */
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_REMOVE("x"), NULL);
    changes_expect(f, 1, 2, "1,a,insert,1,2000000;1,a,delete,2,3000000;");
}

static void columns_of_the_files_own_with_the_other_names_are_not_taken(void **state)
{
    struct changes_fixture *f = *state;
    static const char *const names[] = {"id", "name", "_commit_version", "_commit_timestamp", "_change_type"};
    const silt_value cells[] = {mini_long(1), mini_text("a"), mini_long(77), mini_long(78), mini_text("delete")};
    changes_make(f);
    mini_engine_can(&f->mini, CHANGES_ROOT "/c", names, 5, cells, 1);
    changes_commit(f, 1, CHANGES_CDC("c"), NULL);
    changes_expect(f, 1, 1, "1,a,delete,1,2000000;");
}

static void a_plan_tells_its_files_oldest_version_first(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_commit(f, 1, CHANGES_ADD("x"), CHANGES_ADD("y"), NULL);
    changes_commit(f, 2, CHANGES_REMOVE("x"), NULL);
    silt_changes *changes = plan(f, 0, 2);
    const silt_scan_plan *rows = silt_changes_plan(changes, 0);
    assert_int_equal(silt_changes_plan_count(changes), 1);
    assert_int_equal(rows->n_files, 3);
    assert_int_equal(rows->version, 2);
    assert_string_equal(rows->files[2].path, CHANGES_ROOT "/x");
    assert_int_equal(rows->files[2].partition_values[1].as.i64, 2);
    assert_int_equal(rows->n_partition_columns, 3);
    assert_false(rows->has_row_sets);
    assert_int_equal(rows->columns[0].source, SILT_FROM_FILE);
    assert_int_equal(rows->columns[4].source, SILT_FROM_PARTITION);
    silt_changes_unref(changes);
}

static void what_a_remove_does_not_say_is_not_known(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_commit(f, 1, "{\"remove\":{\"path\":\"x\",\"deletionTimestamp\":7,\"dataChange\":true}}", NULL);
    silt_changes *changes = plan(f, 1, 1);
    const silt_plan_file *file = &silt_changes_plan(changes, 0)->files[0];
    assert_int_equal(file->size_bytes, -1);
    assert_int_equal(file->num_records, -1);
    assert_int_equal(file->base_row_id, -1);
    assert_int_equal(file->row_commit_version, -1);
    silt_changes_unref(changes);
}

static void vectors_select_and_delete_rows_of_a_file(void **state)
{
    struct changes_fixture *f = *state;
    const int64_t one[] = {1};
    const int64_t two[] = {1, 2};
    changes_commit(f, 0, CHANGES_PROTOCOL_VECTORS, changes_metadata(f, ID_AND_NAME, "", CHANGES_ON), NULL);
    changes_commit(f, 1, changes_vector(f, "remove", "x", one, 1), changes_vector(f, "add", "x", two, 2), NULL);
    silt_changes *changes = plan(f, 1, 1);
    const silt_scan_plan *rows = silt_changes_plan(changes, 0);
    assert_true(rows->has_row_sets);
    assert_int_equal(rows->n_files, 2); /* what went, and (nothing) that came back */
    assert_non_null(rows->files[0].selected);
    assert_non_null(rows->files[0].deleted);
    silt_changes_unref(changes);
}

/* In id mode change files have ids for the table's columns alone: the plan says so, the reader finds the rest by name. */
static void id_mode_asks_for_the_change_type_without_an_id(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL_MAPPED,
                   changes_metadata(f, CHANGES_MAPPED("n", "long", "id", 4), "",
                                    CHANGES_ON ",\"delta.columnMapping.mode\":\"id\","
                                               "\"delta.columnMapping.maxColumnId\":\"4\""),
                   NULL);
    changes_change_file(f, "c", 3, 1, "delete");
    changes_commit(f, 1, CHANGES_CDC("c"), NULL);
    changes_expect(f, 1, 1, "3,delete,1,2000000;");
    assert_true(f->mini.matched_by_id);
    silt_changes *changes = plan(f, 1, 1);
    const silt_schema *physical = silt_changes_plan(changes, 0)->physical;
    assert_string_equal(silt_field_name(silt_schema_field(physical, 0)), "id");
    const struct sl_str key = SL_STR("parquet.field.id");
    assert_true(sl_str_eq_c(sl_field_meta_text(silt_schema_field(physical, 0), key), "4"));
    assert_null(sl_field_meta_text(silt_schema_field(physical, 1), key).ptr);
    silt_changes_unref(changes);
}

static silt_status two_hours_east(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err)
{
    (void)err;
    ++*(int *)ctx;
    *instant_us = wall_us - INT64_C(7200000000);
    return SILT_OK;
}

static void partition_values_without_a_zone_are_of_the_callers(void **state)
{
    struct changes_fixture *f = *state;
    int n = 0;
    silt_changes_options options = changes_range(1, 1);
    changes_commit(f, 0, CHANGES_PROTOCOL,
                   changes_metadata(f, ID_AND_NAME "," CHANGES_FIELD("p", "timestamp"), "\"p\"", CHANGES_ON), NULL);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1,
                   "{\"add\":{\"path\":\"x\",\"partitionValues\":{\"p\":\"1970-01-01 03:00:00\"},\"size\":5,"
                   "\"modificationTime\":7,\"dataChange\":true}}",
                   NULL);
    assert_string_equal(changes_read(f, &options), "1,a,10800000000,insert,1,2000000;");
    options.local_time = two_hours_east;
    options.local_time_ctx = &n;
    assert_string_equal(changes_read(f, &options), "1,a,3600000000,insert,1,2000000;");
    assert_int_equal(n, 1);
}

static void a_partition_value_that_does_not_parse_is_refused_with_its_file(void **state)
{
    struct changes_fixture *f = *state;
    const silt_changes_options options = changes_range(1, 1);
    changes_commit(f, 0, CHANGES_PROTOCOL,
                   changes_metadata(f, ID_AND_NAME "," CHANGES_FIELD("p", "integer"), "\"p\"", CHANGES_ON), NULL);
    changes_commit(f, 1,
                   "{\"add\":{\"path\":\"x\",\"partitionValues\":{\"p\":\"seven\"},\"size\":5,\"modificationTime\":7,"
                   "\"dataChange\":true}}",
                   NULL);
    silt_changes *changes = NULL;
    assert_int_equal(changes_try(f, &options, &changes), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "partition column p of file x"));
}

static void partition_values_are_found_by_physical_names(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, CHANGES_PROTOCOL_MAPPED,
                   changes_metadata(
                       f, CHANGES_MAPPED("a", "long", "id", 1) "," CHANGES_MAPPED("b", "integer", "col-p", 2), "\"b\"",
                       CHANGES_ON ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"2\""),
                   NULL);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1,
                   "{\"add\":{\"path\":\"x\",\"partitionValues\":{\"col-p\":\"7\"},\"size\":5,\"modificationTime\":7,"
                   "\"dataChange\":true}}",
                   NULL);
    changes_commit(
        f, 2,
        changes_metadata(f, CHANGES_MAPPED("a", "long", "id", 1) "," CHANGES_MAPPED("c", "long", "col-p", 2), "\"c\"",
                         CHANGES_ON ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"2\""),
        NULL);
    changes_expect(f, 0, 2, "1,7,insert,1,2000000;"); /* renamed and widened since */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(a_change_type_in_a_data_file_is_not_taken),
        CHANGES_TEST(columns_of_the_files_own_with_the_other_names_are_not_taken),
        CHANGES_TEST(a_plan_tells_its_files_oldest_version_first),
        CHANGES_TEST(what_a_remove_does_not_say_is_not_known),
        CHANGES_TEST(vectors_select_and_delete_rows_of_a_file),
        CHANGES_TEST(id_mode_asks_for_the_change_type_without_an_id),
        CHANGES_TEST(partition_values_without_a_zone_are_of_the_callers),
        CHANGES_TEST(a_partition_value_that_does_not_parse_is_refused_with_its_file),
        CHANGES_TEST(partition_values_are_found_by_physical_names),
    };
    return cmocka_run_group_tests_name("changes_scan", tests, NULL, NULL);
}
