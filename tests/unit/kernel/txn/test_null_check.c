/* NOT NULL over Arrow data. */
#include "kernel/txn/null_check.h"

#include <stdio.h>

#include "base/arrow.h"
#include "test_env.h"

static struct test_env t;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_env_check(&t);
    return 0;
}

/* The schema of a table's only column, from its JSON type; the table is a struct of it. */
static silt_schema *schema_of(const char *json)
{
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&t.env, json, strlen(json), &schema, NULL), SILT_OK);
    return schema;
}

static struct sl_arrow_builder *build_like(const silt_schema *schema, struct ArrowSchema *arrow)
{
    struct sl_arrow_builder *builder = NULL;
    assert_int_equal(silt_schema_to_arrow(schema, arrow, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_new(&t.env, arrow, &builder, NULL), SILT_OK);
    return builder;
}

static silt_status check(const silt_schema *schema, struct ArrowSchema *arrow, struct sl_arrow_builder *builder,
                         silt_error *err)
{
    struct ArrowArray array;
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    const silt_status status = sl_null_check(&schema->root.fields[0], arrow->children[0], array.children[0], err);
    sl_arrow_array_release(&array);
    sl_arrow_schema_release(arrow);
    sl_arrow_builder_free(builder);
    return status;
}

#define FIELD(name, type, nullable) \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":" nullable ",\"metadata\":{}}"
#define TABLE(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"

static void flat_column(const char *nullable, bool with_null, silt_status expected)
{
    char json[256];
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":%s,"
                   "\"metadata\":{}}]}",
                   nullable);
    silt_schema *schema = schema_of(json);
    struct ArrowSchema arrow;
    struct sl_arrow_builder *builder = build_like(schema, &arrow);
    struct sl_arrow_builder *a = sl_arrow_builder_child(builder, 0);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(i == 1 && with_null ? sl_arrow_append_null(a, NULL) : sl_arrow_append_i64(a, i, NULL),
                         SILT_OK);
        assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    }
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(check(schema, &arrow, builder, &err), expected);
    if (expected != SILT_OK) {
        assert_string_equal(err.code_name, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
        assert_non_null(strstr(err.message, ": a"));
    }
    silt_schema_unref(schema);
}

static void null_in_a_required_column_is_found(void **state)
{
    (void)state;
    flat_column("false", true, SILT_ECONSTRAINT);
    flat_column("false", false, SILT_OK);
    flat_column("true", true, SILT_OK);
}

enum row {
    NULL_PARENT,
    NULL_CHILD,
    WHOLE
};

static silt_status struct_column(const char *json, enum row row, silt_error *err)
{
    silt_schema *schema = schema_of(json);
    struct ArrowSchema arrow;
    struct sl_arrow_builder *builder = build_like(schema, &arrow);
    struct sl_arrow_builder *s = sl_arrow_builder_child(builder, 0);
    struct sl_arrow_builder *x = sl_arrow_builder_child(s, 0);
    if (row == NULL_PARENT) {
        assert_int_equal(sl_arrow_append_null(s, NULL), SILT_OK);
    } else {
        assert_int_equal(row == NULL_CHILD ? sl_arrow_append_null(x, NULL) : sl_arrow_append_i64(x, 1, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(s, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    const silt_status status = check(schema, &arrow, builder, err);
    silt_schema_unref(schema);
    return status;
}

static void null_parent_excuses_its_required_members(void **state)
{
    (void)state;
    static const char json[] = TABLE(
        FIELD("s", "{\"type\":\"struct\",\"fields\":[" FIELD("x", "\"long\"", "false") "]}", "true"));
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(struct_column(json, NULL_PARENT, &err), SILT_OK);
    assert_int_equal(struct_column(json, WHOLE, &err), SILT_OK);
    assert_int_equal(struct_column(json, NULL_CHILD, &err), SILT_ECONSTRAINT);
    assert_non_null(strstr(err.message, "s.x"));
}

static void required_struct_may_hold_nulls(void **state)
{
    (void)state;
    static const char json[] = TABLE(
        FIELD("s", "{\"type\":\"struct\",\"fields\":[" FIELD("x", "\"long\"", "true") "]}", "false"));
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(struct_column(json, NULL_CHILD, &err), SILT_OK);
    assert_int_equal(struct_column(json, NULL_PARENT, &err), SILT_ECONSTRAINT);
}

static void null_elements_of_an_array_are_found(void **state)
{
    (void)state;
    static const char json[] = TABLE(
        FIELD("a", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":false}", "true"));
    silt_schema *schema = schema_of(json);
    for (int with_null = 0; with_null < 2; with_null++) {
        struct ArrowSchema arrow;
        struct sl_arrow_builder *builder = build_like(schema, &arrow);
        struct sl_arrow_builder *list = sl_arrow_builder_child(builder, 0);
        struct sl_arrow_builder *element = sl_arrow_builder_child(list, 0);
        assert_int_equal(sl_arrow_append_null(list, NULL), SILT_OK); /* a null list has no elements */
        assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_i64(element, 1, NULL), SILT_OK);
        assert_int_equal(with_null != 0 ? sl_arrow_append_null(element, NULL) : sl_arrow_append_i64(element, 2, NULL),
                         SILT_OK);
        assert_int_equal(sl_arrow_append_nested(list, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(check(schema, &arrow, builder, &err), with_null != 0 ? SILT_ECONSTRAINT : SILT_OK);
    }
    silt_schema_unref(schema);
}

static void nulls_behind_a_dictionary_are_found(void **state)
{
    (void)state;
    silt_schema *schema = schema_of(TABLE(FIELD("a", "\"long\"", "false")));
    static const int64_t values[] = {10, 20};
    static const uint8_t second_is_null[] = {0x01};
    static const int32_t first[] = {0, 0};
    static const int32_t both[] = {0, 1};
    const void *value_buffers[] = {second_is_null, values};
    struct ArrowArray dictionary = {.length = 2, .null_count = 1, .n_buffers = 2, .buffers = value_buffers};
    struct ArrowSchema value_schema = {.format = "l"};
    const struct ArrowSchema arrow = {.format = "i", .dictionary = &value_schema};
    const void *index_buffers[] = {NULL, first};
    struct ArrowArray array = {.length = 2, .n_buffers = 2, .buffers = index_buffers, .dictionary = &dictionary};
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_null_check(&schema->root.fields[0], &arrow, &array, &err), SILT_OK);
    index_buffers[1] = both;
    assert_int_equal(sl_null_check(&schema->root.fields[0], &arrow, &array, &err), SILT_ECONSTRAINT);
    silt_schema_unref(schema);
}

static void column_of_the_null_type_is_null_throughout(void **state)
{
    (void)state;
    silt_schema *schema = schema_of(TABLE(FIELD("a", "\"long\"", "false")));
    const struct ArrowSchema arrow = {.format = "n"};
    const struct ArrowArray array = {.length = 1, .null_count = 1};
    const struct ArrowArray empty = {.length = 0};
    assert_int_equal(sl_null_check(&schema->root.fields[0], &arrow, &array, NULL), SILT_ECONSTRAINT);
    assert_int_equal(sl_null_check(&schema->root.fields[0], &arrow, &empty, NULL), SILT_OK);
    silt_schema_unref(schema);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(null_in_a_required_column_is_found),  TEST(null_parent_excuses_its_required_members),
        TEST(required_struct_may_hold_nulls),      TEST(null_elements_of_an_array_are_found),
        TEST(nulls_behind_a_dictionary_are_found), TEST(column_of_the_null_type_is_null_throughout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
