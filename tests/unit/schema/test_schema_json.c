/* Reading schemas from Delta's JSON. */
#include "model_fixture.h"

#include <string.h>

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FIELDS_OF_ONE(type) ("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"nullable\":true,\"type\":" type "}]}")
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"

static silt_status read(struct model *m, const char *json, silt_schema **out)
{
    m->err = (silt_error)SILT_ERROR_INIT;
    return silt_schema_from_json(&m->test.env, json, strlen(json), out, &m->err);
}

static void primitive_types_are_read(void **state)
{
    struct model *m = *state;
    static const struct {
        const char *name;
        silt_type_kind kind;
    } cases[] = {
        {"string", SILT_TYPE_STRING},   {"long", SILT_TYPE_LONG},           {"integer", SILT_TYPE_INTEGER},
        {"short", SILT_TYPE_SHORT},     {"byte", SILT_TYPE_BYTE},           {"float", SILT_TYPE_FLOAT},
        {"double", SILT_TYPE_DOUBLE},   {"boolean", SILT_TYPE_BOOLEAN},     {"binary", SILT_TYPE_BINARY},
        {"date", SILT_TYPE_DATE},       {"timestamp", SILT_TYPE_TIMESTAMP}, {"timestamp_ntz", SILT_TYPE_TIMESTAMP_NTZ},
        {"variant", SILT_TYPE_VARIANT}, {"void", SILT_TYPE_VOID},           {"null", SILT_TYPE_VOID}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        silt_schema *schema = NULL;
        const char *json = sl_arena_printf(
            &m->arena, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\",\"nullable\":false}]}",
            cases[i].name);
        assert_int_equal(read(m, json, &schema), SILT_OK);
        assert_int_equal(silt_schema_field(schema, 0)->type->kind, cases[i].kind);
        assert_false(silt_field_nullable(silt_schema_field(schema, 0)));
        silt_schema_unref(schema);
    }
}

static void decimals_keep_precision_and_scale(void **state)
{
    struct model *m = *state;
    silt_schema *schema = NULL;
    const char *json = STRUCT(
        FIELD("a", "\"decimal(38,18)\"") "," FIELD("b", "\"decimal(5, 2)\"") "," FIELD("c", "\"decimal\""));
    assert_int_equal(read(m, json, &schema), SILT_OK);
    const struct silt_field *f = schema->root.fields;
    assert_int_equal(f[0].type->precision, 38);
    assert_int_equal(f[0].type->scale, 18);
    assert_int_equal(f[1].type->precision, 5);
    assert_int_equal(f[1].type->scale, 2);
    assert_int_equal(f[2].type->precision, 10);
    assert_int_equal(f[2].type->scale, 0);
    silt_schema_unref(schema);
}

static void nested_types_keep_their_nullability(void **state)
{
    struct model *m = *state;
    silt_schema *schema = NULL;
    const char *json = STRUCT(FIELD("l", "{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":false}") "," FIELD(
        "m",
        "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":{\"type\":\"variant\"},\"valueContainsNull\":true}") "," FIELD("s",
                                                                                                                               STRUCT(FIELD(
                                                                                                                                   "x",
                                                                                                                                   "\"date\""))));
    assert_int_equal(read(m, json, &schema), SILT_OK);
    const struct silt_type *list = silt_schema_field(schema, 0)->type;
    const struct silt_type *map = silt_schema_field(schema, 1)->type;
    assert_int_equal(list->kind, SILT_TYPE_ARRAY);
    assert_false(silt_type_contains_null(list));
    assert_int_equal(silt_type_element(list)->kind, SILT_TYPE_INTEGER);
    assert_null(silt_type_value(list));
    assert_int_equal(silt_type_key(map)->kind, SILT_TYPE_STRING);
    assert_int_equal(silt_type_value(map)->kind, SILT_TYPE_VARIANT);
    assert_true(silt_type_contains_null(map));
    const struct sl_str path[2] = {SL_STR("S"), SL_STR("X")};
    assert_int_equal(sl_schema_find_path(schema, path, 2)->type->kind, SILT_TYPE_DATE);
    silt_schema_unref(schema);
}

static void metadata_and_text_are_kept_as_written(void **state)
{
    struct model *m = *state;
    silt_schema *schema = NULL;
    const char *json =
        "{ \"type\":\"struct\", \"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":"
        "{\"z\":1.50,\"comment\":\"it \\\"is\\\"\",\"n\":{\"b\":[1,2]},\"a\":null}}], \"extra\": 1}";
    assert_int_equal(read(m, json, &schema), SILT_OK);
    assert_string_equal(silt_schema_json(schema), json);
    const struct silt_field *field = silt_schema_field(schema, 0);
    assert_int_equal(field->n_metadata, 4);
    assert_string_equal(field->metadata[0].key.ptr, "z");
    assert_string_equal(silt_field_metadata(field, "z"), "1.50");
    assert_string_equal(silt_field_metadata(field, "comment"), "\"it \\\"is\\\"\"");
    assert_string_equal(silt_field_metadata(field, "n"), "{\"b\":[1,2]}");
    assert_null(silt_field_metadata(field, "Z"));
    assert_string_equal(sl_field_meta_text(field, SL_STR("comment")).ptr, "it \"is\"");
    assert_string_equal(sl_field_meta_text(field, SL_STR("n")).ptr, "{\"b\":[1,2]}");
    assert_null(sl_field_meta_text(field, SL_STR("no")).ptr);
    silt_schema_unref(schema);
}

static void unknown_types_are_unsupported_and_name_the_column(void **state)
{
    struct model *m = *state;
    static const char *const types[] = {"\"interval day\"", "\"decimal(39,2)\"",  "\"decimal(5,6)\"",  "\"decimal(x)\"",
                                        "\"Long\"",         "\"geometry(4326)\"", "{\"type\":\"udt\"}"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        silt_schema *schema = NULL;
        const char *json = sl_arena_printf(
            &m->arena,
            "{\"type\":\"struct\",\"fields\":[{\"name\":\"s\",\"nullable\":true,\"type\":{\"type\":\"struct\","
            "\"fields\":[{\"name\":\"x\",\"type\":%s,\"nullable\":true}]}}]}",
            types[i]);
        assert_int_equal(read(m, json, &schema), SILT_EUNSUPPORTED);
        assert_null(schema);
        assert_non_null(strstr(m->err.message, "s.x"));
    }
}

static void malformed_schemas_are_corrupt(void **state)
{
    struct model *m = *state;
    static const char *const bad[] = {
        "",
        "[]",
        "\"struct\"",
        "{\"type\":\"array\"}",
        "{\"type\":\"struct\"}",
        "{\"type\":\"struct\",\"fields\":{}}",
        "{\"type\":\"struct\",\"fields\":[1]}",
        "{\"type\":\"struct\",\"fields\":[{\"type\":\"long\",\"nullable\":true}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\"}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"nullable\":true}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":7,\"nullable\":true}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":[]}]}",
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\\u0000b\",\"type\":\"long\",\"nullable\":true}]}",
        FIELDS_OF_ONE("{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":1}"),
        "{\"type\":\"struct\",\"fields\":[]} x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        silt_schema *schema = NULL;
        assert_int_equal(read(m, bad[i], &schema), SILT_ECORRUPT);
        assert_null(schema);
        assert_true(m->err.message[0] != '\0');
    }
}

static void depth_is_limited(void **state)
{
    struct model *m = *state;
    struct sl_buf json = model_buf(m);
    sl_buf_put_c(&json, "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"nullable\":true,\"type\":");
    for (int i = 0; i < 200; i++) {
        sl_buf_put_c(&json, "{\"type\":\"array\",\"elementType\":");
    }
    sl_buf_put_c(&json, "\"long\"");
    for (int i = 0; i < 200; i++) {
        sl_buf_put_char(&json, '}');
    }
    sl_buf_put_c(&json, "}]}");
    silt_schema *schema = NULL;
    assert_int_equal(read(m, model_text(m, &json), &schema), SILT_ELIMIT);
}

static void a_collated_string_is_a_string_that_keeps_its_name(void **state)
{
    struct model *m = *state;
    silt_schema *schema = NULL;
    assert_int_equal(read(m, STRUCT(FIELD("a", "\"string collate UTF8_LCASE\"")), &schema), SILT_OK);
    const struct silt_type *type = silt_schema_field(schema, 0)->type;
    assert_int_equal(type->kind, SILT_TYPE_STRING);
    struct sl_buf out = model_buf(m);
    sl_type_print_json(&out, type);
    assert_string_equal(model_text(m, &out), "\"string collate UTF8_LCASE\"");
    silt_schema_unref(schema);
}

static silt_status read_once(struct model *m, silt_error *err)
{
    const char *json = STRUCT(
        "{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"comment\":\"x\\ty\"}}," FIELD(
            "l", "{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":false}"));
    silt_schema *schema = NULL;
    const silt_status status = silt_schema_from_json(&m->test.env, json, strlen(json), &schema, err);
    assert_true((schema != NULL) == (status == SILT_OK));
    silt_schema_unref(schema);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(read_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(primitive_types_are_read),
        MODEL_TEST(decimals_keep_precision_and_scale),
        MODEL_TEST(nested_types_keep_their_nullability),
        MODEL_TEST(metadata_and_text_are_kept_as_written),
        MODEL_TEST(unknown_types_are_unsupported_and_name_the_column),
        MODEL_TEST(malformed_schemas_are_corrupt),
        MODEL_TEST(depth_is_limited),
        MODEL_TEST(a_collated_string_is_a_string_that_keeps_its_name),
        cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
