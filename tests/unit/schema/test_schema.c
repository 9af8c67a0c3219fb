/* Schemas as the public API shows them. */
#include "model_fixture.h"

static const silt_type *type_of(const silt_schema *schema, const char *name)
{
    const silt_field *field = silt_schema_find(schema, name);
    assert_non_null(field);
    return silt_field_type(field);
}

static void types_tell_their_parts(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "d: decimal(12,3), s: struct<a: int, b: string>, l: array<double>, "
                                          "m: map<string, date>");
    const silt_type *decimal = type_of(schema, "d");
    assert_int_equal(silt_type_get_kind(decimal), SILT_TYPE_DECIMAL);
    assert_int_equal(silt_type_precision(decimal), 12);
    assert_int_equal(silt_type_scale(decimal), 3);
    const silt_type *nested = type_of(schema, "s");
    assert_int_equal(silt_type_field_count(nested), 2);
    assert_string_equal(silt_field_name(silt_type_field(nested, 1)), "b");
    assert_null(silt_type_field(nested, 2));
    assert_int_equal(silt_type_get_kind(silt_type_element(type_of(schema, "l"))), SILT_TYPE_DOUBLE);
    silt_schema_unref(schema);
}

static void parts_that_a_type_lacks_are_absent(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "i: int, s: struct<a: int>");
    const silt_type *plain = type_of(schema, "i");
    assert_int_equal(silt_type_precision(plain), 0);
    assert_int_equal(silt_type_scale(plain), 0);
    assert_int_equal(silt_type_field_count(plain), 0);
    assert_null(silt_type_field(plain, 0));
    assert_null(silt_type_element(plain));
    assert_null(silt_type_element(type_of(schema, "s")));
    assert_null(silt_schema_find(schema, "nope"));
    assert_null(silt_schema_field(schema, 2));
    silt_schema_unref(schema);
}

static void a_column_is_found_ignoring_case(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "Id: bigint not null, city: string");
    silt_schema *second = silt_schema_ref(schema);
    silt_schema_unref(schema);
    const silt_field *field = silt_schema_find(second, "iD");
    assert_ptr_equal(field, silt_schema_field(second, 0));
    assert_string_equal(silt_field_name(field), "Id");
    assert_false(silt_field_nullable(field));
    silt_schema_unref(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(types_tell_their_parts),
        MODEL_TEST(parts_that_a_type_lacks_are_absent),
        MODEL_TEST(a_column_is_found_ignoring_case),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
