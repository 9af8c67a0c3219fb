/* Schemas made by hand, projections, copies. */
#include "model_fixture.h"

#include <string.h>

#include "schema/schema_int.h"

static void json_is_written_as_spark_writes_it(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "id: bigint not null, s: struct<a: int comment 'x\"y', d: decimal(5,2)>, "
                                          "l: array<string>, m: map<string, timestamp_ntz>");
    assert_string_equal(
        silt_schema_json(schema),
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}},"
        "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,"
        "\"metadata\":{\"comment\":\"x\\\"y\"}},{\"name\":\"d\",\"type\":\"decimal(5,2)\",\"nullable\":true,\"metadata\":{}}]},"
        "\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true},\"nullable\":true,"
        "\"metadata\":{}},"
        "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"timestamp_ntz\","
        "\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{}}]}");
    silt_schema *again = NULL;
    const char *json = silt_schema_json(schema);
    assert_int_equal(silt_schema_from_json(&m->test.env, json, strlen(json), &again, &m->err), SILT_OK);
    assert_true(sl_type_equal(&schema->root, &again->root, true));
    silt_schema_unref(again);
    silt_schema_unref(schema);
}

static void a_projection_outlives_its_source(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "a: int, b: struct<x: string, y: array<date>>, c: double not null");
    silt_schema *part = NULL;
    const size_t columns[2] = {2, 1};
    assert_int_equal(sl_schema_project(schema, columns, 2, &part, &m->err), SILT_OK);
    silt_schema_unref(schema);
    assert_int_equal(silt_schema_field_count(part), 2);
    assert_string_equal(silt_field_name(silt_schema_field(part, 0)), "c");
    assert_false(silt_field_nullable(silt_schema_field(part, 0)));
    assert_string_equal(silt_field_name(silt_schema_find(part, "B")), "b");
    assert_int_equal(sl_schema_leaf_count(part), 3);
    assert_null(silt_schema_field(part, 2));
    const size_t beyond = 7;
    silt_schema *none = NULL;
    assert_int_equal(sl_schema_project(part, &beyond, 1, &none, &m->err), SILT_EINVALID);
    assert_null(none);
    silt_schema_unref(part);
}

static void types_differ_by_what_makes_them_differ(void **state)
{
    struct model *m = *state;
    const struct silt_type *a = model_type(m, "struct<x: int not null, l: array<string>>");
    assert_true(sl_type_equal(a, model_type(m, "struct<x: int not null, l: array<string>>"), true));
    assert_false(sl_type_equal(a, model_type(m, "struct<x: int, l: array<string>>"), true));
    assert_true(sl_type_equal(a, model_type(m, "struct<x: int, l: array<string>>"), false));
    assert_false(sl_type_equal(a, model_type(m, "struct<X: int, l: array<string>>"), false));
    assert_false(sl_type_equal(a, model_type(m, "struct<x: int, l: array<binary>>"), false));
    assert_false(sl_type_equal(model_type(m, "decimal(5,2)"), model_type(m, "decimal(5,1)"), false));
    assert_false(sl_type_equal(model_type(m, "map<int,int>"), model_type(m, "map<bigint,int>"), false));
    assert_true(sl_type_equal(model_type(m, "map<int,int>"), model_type(m, "map<int,int>"), true));
}

static void references_are_counted(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "a: int");
    silt_schema *shared = silt_schema_ref(schema);
    assert_ptr_equal(shared, schema);
    silt_schema_unref(schema);
    assert_string_equal(silt_field_name(silt_schema_field(shared, 0)), "a");
    silt_schema_unref(shared);
    silt_schema_unref(NULL);
    assert_null(silt_schema_ref(NULL));
}

static void a_long_place_shows_its_tail(void **state)
{
    (void)state;
    char buf[SL_PLACE_SIZE];
    const struct sl_place top = {NULL, {NULL, 0}, 0};
    const struct sl_place a = {&top, SL_STR("a"), 1};
    const struct sl_place b = {&a, SL_STR("b"), 2};
    char name[300];
    memset(name, 'n', sizeof name);
    const struct sl_place wide = {&top, {name, 150}, 1};
    const struct sl_place wider = {&wide, {name, 150}, 2};
    const struct sl_place widest = {&top, {name, 300}, 1};
    assert_string_equal(sl_place_print(&top, buf), "schema");
    assert_string_equal(sl_place_print(&b, buf), "a.b");
    assert_int_equal(strncmp(sl_place_print(&wider, buf), "...nnn", 6), 0);
    assert_string_equal(sl_place_print(&widest, buf), "...");
}

static silt_status build_once(struct model *m, silt_error *err)
{
    struct silt_type flat = {.kind = SILT_TYPE_LONG};
    struct silt_type list = {.kind = SILT_TYPE_ARRAY, .element = &flat};
    struct sl_field_meta meta = {.key = SL_STR("k"), .json = SL_STR("\"v\\n\"")};
    const struct silt_field fields[2] = {{.name = SL_STR("a"), .type = &list},
                                         {.name = SL_STR("b"), .type = &flat, .metadata = &meta, .n_metadata = 1}};
    silt_schema *schema = NULL;
    silt_schema *part = NULL;
    const size_t column = 1;
    silt_status status = sl_schema_from_fields(&m->test.env, fields, 2, &schema, err);
    if (status == SILT_OK) {
        status = sl_schema_project(schema, &column, 1, &part, err);
    }
    if (status == SILT_OK) {
        assert_string_equal(sl_field_meta_text(silt_schema_field(part, 0), SL_STR("k")).ptr, "v\n");
    }
    silt_schema_unref(part);
    silt_schema_unref(schema);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(build_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(json_is_written_as_spark_writes_it),
        MODEL_TEST(a_projection_outlives_its_source),
        MODEL_TEST(types_differ_by_what_makes_them_differ),
        MODEL_TEST(references_are_counted),
        MODEL_TEST(a_long_place_shows_its_tail),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
