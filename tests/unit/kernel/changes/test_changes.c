/* The object of change data: what it tells, its rows, wrong calls, features that came and went, want of memory. */
#include <string.h>

#include "changes_fixture.h"
#include "kernel/changes/changes.h"
#include "mini_rows.h"

static void changes_tell_their_range_columns_and_plans(void **state)
{
    struct changes_fixture *f = *state;
    silt_changes *changes = NULL;
    changes_make(f);
    changes_file(f, "x", 1, 2);
    changes_change_file(f, "_change_data/c", 1, 1, "delete");
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_CDC("_change_data/c"), NULL);
    const silt_changes_options options = changes_range(1, SILT_CHANGES_LATEST);
    assert_int_equal(changes_try(f, &options, &changes), SILT_OK);
    assert_int_equal(silt_changes_from_version(changes), 1);
    assert_int_equal(silt_changes_to_version(changes), 2);
    const silt_schema *schema = silt_changes_schema(changes);
    assert_int_equal(silt_schema_field_count(schema), 5);
    assert_string_equal(silt_field_name(silt_schema_field(schema, 1)), "name");
    assert_string_equal(silt_field_name(silt_schema_field(schema, 2)), "_change_type");
    assert_string_equal(silt_field_name(silt_schema_field(schema, 3)), "_commit_version");
    assert_string_equal(silt_field_name(silt_schema_field(schema, 4)), "_commit_timestamp");
    assert_int_equal(silt_changes_plan_count(changes), 2);
    assert_int_equal(silt_changes_plan(changes, 0)->n_files, 1);
    assert_int_equal(silt_changes_plan(changes, 0)->columns[2].source, SILT_FROM_FILE);
    assert_int_equal(silt_changes_plan(changes, 1)->columns[2].source, SILT_FROM_PARTITION);
    assert_null(silt_changes_plan(changes, 2));
    assert_null(sl_changes_scan(changes, 2));
    silt_changes_unref(silt_changes_ref(changes));
    silt_changes_unref(changes);
}

static void rows_of_change_files_and_of_data_files_come_together(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 2);
    changes_change_file(f, "_change_data/c", 1, 1, "delete");
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_CDC("_change_data/c"), NULL);
    changes_expect(f, 0, 2, "1,a,delete,2,3000000;1,a,insert,1,2000000;2,b,insert,1,2000000;");
    changes_expect(f, 1, 1, "1,a,insert,1,2000000;2,b,insert,1,2000000;");
    changes_expect(f, 2, 2, "1,a,delete,2,3000000;");
}

static void a_range_without_changes_has_typed_columns_and_no_rows(void **state)
{
    struct changes_fixture *f = *state;
    silt_changes *changes = NULL;
    struct ArrowArrayStream rows;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    changes_make(f);
    const silt_changes_options options = changes_range(0, 0);
    assert_int_equal(changes_try(f, &options, &changes), SILT_OK);
    assert_int_equal(silt_changes_plan_count(changes), 1);
    assert_int_equal(silt_changes_read(changes, NULL, &rows, &f->err), SILT_OK);
    silt_changes_unref(changes); /* the stream holds it */
    assert_int_equal(rows.get_schema(&rows, &schema), 0);
    assert_int_equal(schema.n_children, 5);
    assert_string_equal(schema.children[0]->format, "l");
    assert_string_equal(schema.children[2]->format, "u");
    assert_string_equal(schema.children[3]->format, "l");
    assert_string_equal(schema.children[4]->format, "tsu:UTC");
    schema.release(&schema);
    assert_int_equal(rows.get_next(&rows, &batch), 0);
    assert_null(batch.release);
    rows.release(&rows);
}

static void wrong_calls_are_refused(void **state)
{
    struct changes_fixture *f = *state;
    silt_changes *changes = NULL;
    silt_changes_options options = changes_range(0, 0);
    changes_make(f);
    assert_int_equal(silt_table_changes(NULL, NULL, &options, &changes, &f->err), SILT_EINVALID);
    options.size = 4;
    changes_expect_failure(f, &options, SILT_EINVALID, "DELTA_NO_START_FOR_CDC_READ", "from 0 on");
    options = changes_range(-3, 0);
    changes_expect_failure(f, &options, SILT_EINVALID, "DELTA_NO_START_FOR_CDC_READ", "from 0 on");
    options = changes_range(0, -3);
    changes_expect_failure(f, &options, SILT_EINVALID, "DELTA_NO_START_FOR_CDC_READ", "from 0 on");
    assert_int_equal(silt_changes_read(NULL, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_changes_from_version(NULL), -1);
    assert_int_equal(silt_changes_to_version(NULL), -1);
    assert_null(silt_changes_schema(NULL));
    assert_int_equal(silt_changes_plan_count(NULL), 0);
    assert_null(silt_changes_plan(NULL, 0));
    silt_changes_unref(NULL);
}

/* Files from between may need it, though the first and the last version do not. */
static void an_unknown_feature_in_the_middle_is_refused_with_its_version(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_commit(f, 1,
                   "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"swirl\"],"
                   "\"writerFeatures\":[\"swirl\",\"changeDataFeed\"]}}",
                   NULL);
    changes_commit(f, 2, CHANGES_PROTOCOL, NULL);
    changes_commit(f, 3, CHANGES_ADD("x"), NULL);
    const silt_changes_options options = changes_range(0, 3);
    changes_expect_failure(f, &options, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "swirl");
    assert_non_null(strstr(f->err.message, "version 1"));
    changes_file(f, "x", 1, 1);
    changes_expect(f, 2, 3, "1,a,insert,3,4000000;");
}

static void missing_file_is_reported_by_the_stream(void **state)
{
    struct changes_fixture *f = *state;
    silt_changes *changes = NULL;
    struct ArrowArrayStream rows;
    changes_make(f);
    changes_commit(f, 1, CHANGES_REMOVE("vacuumed"), NULL);
    const silt_changes_options options = changes_range(1, 1);
    assert_int_equal(changes_try(f, &options, &changes), SILT_OK);
    assert_int_equal(silt_changes_read(changes, NULL, &rows, &f->err), SILT_OK);
    silt_changes_unref(changes);
    assert_int_equal(mini_rows_text(&rows, f->rows, sizeof(f->rows)), -1);
    assert_non_null(strstr(f->rows, "no such file: " CHANGES_ROOT "/vacuumed"));
}

static silt_status plan_and_read(struct changes_fixture *f)
{
    silt_changes *changes = NULL;
    struct ArrowArrayStream rows;
    const silt_changes_options options = changes_range(0, SILT_CHANGES_LATEST);
    silt_status status = changes_try(f, &options, &changes);
    if (status == SILT_OK) {
        status = silt_changes_read(changes, NULL, &rows, &f->err);
    }
    if (status == SILT_OK) {
        status = mini_rows_text(&rows, f->rows, sizeof(f->rows)) < 0 ? SILT_ENOMEM : SILT_OK;
    }
    silt_changes_unref(changes);
    return status;
}

#define ALL_ROWS "1,a,delete,2,3000000;1,a,insert,1,2000000;2,b,insert,1,2000000;2,b,delete,3,4000000;"

static void want_of_memory_anywhere_is_reported_and_leaks_nothing(void **state)
{
    struct changes_fixture *f = *state;
    const int64_t dead[] = {1};
    changes_commit(f, 0, CHANGES_PROTOCOL_VECTORS,
                   changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "", CHANGES_ON),
                   NULL);
    changes_file(f, "x", 1, 2);
    changes_change_file(f, "c", 1, 1, "delete");
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_CDC("c"), NULL);
    changes_commit(f, 3, changes_vector(f, "add", "x", dead, 1), CHANGES_REMOVE("x"), NULL);
    for (size_t n = 1; n == 1 || f->test.n_requests >= n - 1; n++) { /* until no request is left to fail */
        test_env_fail_at(&f->test, n);
        const silt_status status = plan_and_read(f);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        assert_true(status == SILT_ENOMEM || strcmp(f->rows, ALL_ROWS) == 0);
    }
    test_env_fail_at(&f->test, 0);
    assert_int_equal(plan_and_read(f), SILT_OK);
    assert_string_equal(f->rows, ALL_ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(changes_tell_their_range_columns_and_plans),
        CHANGES_TEST(rows_of_change_files_and_of_data_files_come_together),
        CHANGES_TEST(a_range_without_changes_has_typed_columns_and_no_rows),
        CHANGES_TEST(wrong_calls_are_refused),
        CHANGES_TEST(an_unknown_feature_in_the_middle_is_refused_with_its_version),
        CHANGES_TEST(missing_file_is_reported_by_the_stream),
        CHANGES_TEST(want_of_memory_anywhere_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests_name("changes", tests, NULL, NULL);
}
