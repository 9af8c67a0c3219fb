/* Columns of type void leave a scan as Arrow's null, nested ones too, though DuckDB makes them integers. */
#include "duck_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/arrow.h"

#define VOID_FIELD(name) "{\"name\":\"" name "\",\"type\":\"void\",\"nullable\":true,\"metadata\":{}}"

static const char FIELDS[] = "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}," VOID_FIELD(
    "n") ","
         "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[" VOID_FIELD(
             "v") "]},\"nullable\":true,\"metadata\":{}},"
                  "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"void\",\"containsNull\":true},\"nullable\":true,"
                  "\"metadata\":{}},"
                  "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"void\",\"valueContainsNull\":true},"
                  "\"nullable\":true,\"metadata\":{}}";

static void add_file(struct duck_fixture *fx)
{
    char sql[512];
    struct duck_written *file = sl_vec_push(&fx->files);
    file->path = "void.parquet";
    file->full = sl_arena_printf(&fx->arena, "%s/void.parquet", fx->dir);
    file->num_rows = 2;
    (void)snprintf(
        sql, sizeof(sql),
        "COPY (SELECT i AS id, [NULL, NULL]::INTEGER[] AS l, MAP {'k': NULL::INTEGER} AS m FROM range(2) r(i)) TO "
        "'%s' (FORMAT parquet)",
        file->full);
    (void)duck_text(fx, sql);
}

static void void_columns_are_arrows_null(void **state)
{
    struct duck_fixture *fx = *state;
    add_file(fx);
    silt_schema *schema = duck_schema(fx, FIELDS);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema types = {0};
    struct ArrowArray batch = {0};
    bool done = false;
    assert_int_equal(fx->plane.vtable->parquet->scan(fx->plane.dp, NULL, plan, &stream, &fx->err), SILT_OK);
    assert_int_equal(sl_arrow_stream_schema(&stream, &types, &fx->err), SILT_OK);
    assert_string_equal(types.children[0]->format, "l");
    assert_string_equal(types.children[1]->format, "n");
    assert_string_equal(types.children[2]->children[0]->format, "n");
    assert_string_equal(types.children[3]->children[0]->format, "n");
    assert_string_equal(types.children[4]->children[0]->children[0]->format, "u");
    assert_string_equal(types.children[4]->children[0]->children[1]->format, "n");
    assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &fx->err), SILT_OK);
    assert_false(done);
    assert_int_equal(batch.length, 2);
    assert_int_equal(batch.children[1]->n_buffers, 0);
    assert_int_equal(batch.children[1]->null_count, 2);
    assert_int_equal(batch.children[4]->children[0]->children[1]->n_buffers, 0);
    sl_arrow_array_release(&batch);
    sl_arrow_schema_release(&types);
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(void_columns_are_arrows_null, duck_setup, duck_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
