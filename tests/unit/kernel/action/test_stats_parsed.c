/*
 * Typed statistics as the text that add.stats would hold, and the type to ask for.
 */
#include "test_env.h"

#include "base/arrow.h"
#include "kernel/action/stats_parsed.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"

static silt_schema *schema_of(struct test_env *t, const char *json)
{
    silt_schema *schema = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_schema_from_json(&t->env, json, strlen(json), &schema, &err), SILT_OK);
    return schema;
}

static void the_type_has_bounds_of_what_can_have_them(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_schema *data = schema_of(
        &t, STRUCT(FIELD("a", "\"long\"") "," FIELD("b", "\"binary\"") "," FIELD("s", STRUCT(FIELD("x", "\"date\"")))));
    struct sl_buf json;
    sl_buf_init(&json, &t.env);
    sl_stats_parsed_put_type(&json, data, true);
    const char *bounds = STRUCT(FIELD("a", "\"long\"") "," FIELD("s", STRUCT(FIELD("x", "\"date\""))));
    assert_non_null(strstr(sl_buf_cstr(&json), "\"name\":\"b\"")); /* among the counts */
    silt_schema *type = schema_of(&t, sl_buf_cstr(&json));
    silt_schema *expected = schema_of(&t, bounds);
    assert_int_equal(type->root.n_fields, 5);
    assert_true(sl_type_equal(type->root.fields[2].type, &expected->root, false));
    assert_int_equal(type->root.fields[4].type->n_fields, 3);
    sl_buf_clear(&json);
    sl_stats_parsed_put_type(&json, data, false);
    assert_null(strstr(sl_buf_cstr(&json), "minValues"));
    silt_schema_unref(type);
    silt_schema_unref(expected);
    silt_schema_unref(data);
    sl_buf_release(&json);
    test_env_check(&t);
}

static struct sl_arrow_builder *child(struct sl_arrow_builder *builder, size_t a, size_t b)
{
    return sl_arrow_builder_child(sl_arrow_builder_child(builder, a), b);
}

#define OK(call) assert_int_equal((call), SILT_OK)

static void a_row_becomes_the_text_that_it_stands_for(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_error err = SILT_ERROR_INIT;
    struct ArrowSchema arrow = {0};
    struct ArrowArray array = {0};
    struct sl_arrow_builder *b = NULL;
    silt_schema *type = schema_of(
        &t, STRUCT(FIELD("numRecords", "\"long\"") "," FIELD("tightBounds", "\"boolean\"") "," FIELD(
                "minValues", STRUCT(FIELD("d", "\"date\"") "," FIELD("n", "\"string\"")))));
    OK(silt_schema_to_arrow(type, &arrow, &err));
    OK(sl_arrow_builder_new(&t.env, &arrow, &b, &err));
    /* {3, false, {1970-01-11, "a\"b"}}, {4, null, null}, null, a struct of nulls */
    OK(sl_arrow_append_i64(sl_arrow_builder_child(b, 0), 3, &err));
    OK(sl_arrow_append_i64(sl_arrow_builder_child(b, 1), 0, &err));
    OK(sl_arrow_append_i64(child(b, 2, 0), 10, &err));
    OK(sl_arrow_append_bytes(child(b, 2, 1), SL_STR("a\"b"), &err));
    OK(sl_arrow_append_nested(sl_arrow_builder_child(b, 2), &err));
    OK(sl_arrow_append_nested(b, &err));
    OK(sl_arrow_append_i64(sl_arrow_builder_child(b, 0), 4, &err));
    OK(sl_arrow_append_null(sl_arrow_builder_child(b, 1), &err));
    OK(sl_arrow_append_null(sl_arrow_builder_child(b, 2), &err));
    OK(sl_arrow_append_nested(b, &err));
    OK(sl_arrow_append_null(b, &err));
    for (size_t i = 0; i < 3; i++) {
        OK(sl_arrow_append_null(sl_arrow_builder_child(b, i), &err));
    }
    OK(sl_arrow_append_nested(b, &err));
    OK(sl_arrow_builder_finish(b, &array, &err));
    static const char *const expected[] = {
        "{\"numRecords\":3,\"tightBounds\":false,\"minValues\":{\"d\":\"1970-01-11\",\"n\":\"a\\\"b\"}}",
        "{\"numRecords\":4}", "", ""};
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    for (int64_t row = 0; row < 4; row++) {
        sl_buf_clear(&text);
        OK(sl_stats_parsed_write(&text, &arrow, &array, row, &err));
        assert_string_equal(text.len > 0 ? sl_buf_cstr(&text) : "", expected[row]);
    }
    assert_int_equal(sl_stats_parsed_write(&text, &arrow, &array, 4, &err), SILT_EENGINE);
    sl_buf_release(&text);
    sl_arrow_builder_free(b);
    sl_arrow_array_release(&array);
    sl_arrow_schema_release(&arrow);
    silt_schema_unref(type);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_type_has_bounds_of_what_can_have_them),
                                       cmocka_unit_test(a_row_becomes_the_text_that_it_stands_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
