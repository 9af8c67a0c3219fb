/* The surviving files of a scan as an Arrow stream. */
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"
#include "base/buf.h"
#include "mini_rows.h"
#include "mini_table.h"
#include "schema/value.h"
#include "test_env.h"

#define ROOT "memory://t"

static struct test_env t;
static struct mini_engine mini;
static silt_error err;

static const struct mini_field fields[] = {{"id", "long"}, {"P", "string"}, {"q", "integer"}};

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

static void files_of(const char *filter, struct ArrowArrayStream *out)
{
    silt_scan *scan = NULL;
    if (mini_table_scan(&mini, ROOT, NULL, 0, filter, &scan, &err) != SILT_OK ||
        silt_scan_files(scan, NULL, out, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    silt_scan_unref(scan); /* the stream does not need ours */
}

static void survivors_are_listed_with_statistics_even_if_planning_needed_none(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"P\":\"x\",\"q\":\"1\"},\"size\":5,\"modificationTime\":7,"
        "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1}\"}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"P\":\"y\",\"q\":null},\"size\":6,\"modificationTime\":8,"
        "\"dataChange\":true}}",
        "{\"add\":{\"path\":\"c\",\"partitionValues\":{\"P\":\"x\",\"q\":\"\"},\"size\":7,\"modificationTime\":9,"
        "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":3}\"}}"};
    char text[1024];
    struct ArrowArrayStream files;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"P\",\"q\"]", lines, 3));
    files_of("p = 'x'", &files);
    assert_int_equal(mini_rows_text(&files, text, sizeof(text)), 1);
    assert_string_equal(text, ROOT "/a,5,7,<+m>,{\"numRecords\":1},null,null,null,<+m>;" ROOT
                                   "/c,7,9,<+m>,{\"numRecords\":3},null,null,null,<+m>;");
}

static void partition_values_come_under_their_logical_names_and_empty_is_null(void **state)
{
    (void)state;
    static const char *const lines[] = {"{\"add\":{\"path\":\"a\",\"partitionValues\":{\"q\":\"\",\"P\":\"x y\"},"
                                        "\"size\":5,\"modificationTime\":7,\"dataChange\":true}}"};
    struct ArrowArrayStream files;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    bool done = false;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"P\",\"q\"]", lines, 1));
    files_of(NULL, &files);
    assert_int_equal(sl_arrow_stream_schema(&files, &schema, &err), SILT_OK);
    assert_string_equal(schema.children[3]->name, "partitionValues");
    assert_int_equal(sl_arrow_stream_next(&files, &batch, &done, &err), SILT_OK);
    const struct ArrowArray *map = batch.children[3];
    assert_int_equal(((const int32_t *)map->buffers[1])[1], 2);
    silt_value cell;
    const struct ArrowSchema *entry = schema.children[3]->children[0];
    assert_true(sl_value_from_arrow(entry->children[0], map->children[0]->children[0], 0, &cell));
    assert_true(sl_str_eq_c(sl_value_get_str(&cell), "P"));
    assert_true(sl_value_from_arrow(entry->children[1], map->children[0]->children[1], 0, &cell));
    assert_true(sl_str_eq_c(sl_value_get_str(&cell), "x y"));
    assert_true(sl_value_from_arrow(entry->children[1], map->children[0]->children[1], 1, &cell));
    assert_true(cell.is_null);
    batch.release(&batch);
    schema.release(&schema);
    files.release(&files);
}

static silt_value cell_of(const struct ArrowSchema *schema, const struct ArrowArray *batch, int column, int member)
{
    silt_value cell;
    const struct ArrowSchema *type = schema->children[column];
    const struct ArrowArray *array = batch->children[column];
    if (member >= 0) {
        type = type->children[member];
        array = array->children[member];
    }
    assert_true(sl_value_from_arrow(type, array, 0, &cell));
    return cell;
}

static void vector_row_ids_and_tags_are_listed(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":5,\"modificationTime\":7,\"dataChange\":true,"
        "\"baseRowId\":11,\"defaultRowCommitVersion\":2,\"tags\":{\"k\":\"v\"},\"deletionVector\":{\"storageType\":\"p\","
        "\"pathOrInlineDv\":\"memory://t/v%20w.bin\",\"offset\":1,\"sizeInBytes\":34,\"cardinality\":3}}}"};
    struct ArrowArrayStream files;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    bool done = false;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"P\",\"q\"]", lines, 1));
    files_of(NULL, &files);
    assert_int_equal(sl_arrow_stream_schema(&files, &schema, &err), SILT_OK);
    assert_int_equal(sl_arrow_stream_next(&files, &batch, &done, &err), SILT_OK);
    silt_value cell = cell_of(&schema, &batch, 5, 1);
    assert_true(sl_str_eq_c(sl_value_get_str(&cell), "memory://t/v w.bin"));
    assert_true(cell_of(&schema, &batch, 5, 2).is_null);
    assert_int_equal(cell_of(&schema, &batch, 5, 5).as.i64, 3);
    assert_int_equal(cell_of(&schema, &batch, 6, -1).as.i64, 11);
    assert_int_equal(cell_of(&schema, &batch, 7, -1).as.i64, 2);
    assert_int_equal(((const int32_t *)batch.children[8]->buffers[1])[1], 1);
    batch.release(&batch);
    schema.release(&schema);
    files.release(&files);
}

static void many_files_come_in_several_batches(void **state)
{
    (void)state;
    enum {
        N = 9000
    };
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    for (int i = 0; i < N; i++) {
        sl_buf_printf(&text,
                      "%s{\"add\":{\"path\":\"f%d\",\"partitionValues\":{\"P\":\"x\",\"q\":\"1\"},\"size\":1,"
                      "\"modificationTime\":1,\"dataChange\":true}}",
                      i > 0 ? "\n" : "", i);
    }
    const char *lines[] = {sl_buf_cstr(&text)};
    char out[64];
    struct ArrowArrayStream files;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"P\",\"q\"]", lines, 1));
    sl_buf_release(&text);
    files_of(NULL, &files);
    assert_int_equal(mini_rows_text(&files, out, sizeof(out)), 2);
}

static void no_survivors_give_an_empty_stream_with_a_schema(void **state)
{
    (void)state;
    char text[64];
    struct ArrowArrayStream files;
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"P\",\"q\"]", NULL, 0));
    files_of(NULL, &files);
    assert_int_equal(mini_rows_text(&files, text, sizeof(text)), 0);
    assert_string_equal(text, "");
    assert_int_equal(silt_scan_files(NULL, NULL, &files, &err), SILT_EINVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(survivors_are_listed_with_statistics_even_if_planning_needed_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(partition_values_come_under_their_logical_names_and_empty_is_null, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(vector_row_ids_and_tags_are_listed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_come_in_several_batches, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_survivors_give_an_empty_stream_with_a_schema, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
