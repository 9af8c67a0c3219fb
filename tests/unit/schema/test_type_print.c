/* Types as text. */
#include "model_fixture.h"

static void check(struct model *m, const char *type, const char *simple, const char *json, const char *duckdb)
{
    struct sl_buf out = model_buf(m);
    sl_type_print(&out, model_type(m, type));
    assert_string_equal(model_text(m, &out), simple);
    sl_type_print_json(&out, model_type(m, type));
    assert_string_equal(model_text(m, &out), json);
    sl_type_print_duckdb(&out, model_type(m, type));
    assert_string_equal(model_text(m, &out), duckdb);
}

static void each_dialect_has_its_names(void **state)
{
    struct model *m = *state;
    check(m, "int", "int", "\"integer\"", "INTEGER");
    check(m, "tinyint", "tinyint", "\"byte\"", "TINYINT");
    check(m, "string", "string", "\"string\"", "VARCHAR");
    check(m, "binary", "binary", "\"binary\"", "BLOB");
    check(m, "timestamp", "timestamp", "\"timestamp\"", "TIMESTAMPTZ");
    check(m, "timestamp_ntz", "timestamp_ntz", "\"timestamp_ntz\"", "TIMESTAMP");
    check(m, "decimal(5,0)", "decimal(5,0)", "\"decimal(5,0)\"", "DECIMAL(5,0)");
    check(m, "decimal(38,18)", "decimal(38,18)", "\"decimal(38,18)\"", "DECIMAL(38,18)");
    check(m, "void", "void", "\"void\"", "\"NULL\"");
}

static void nested_types_are_printed_whole(void **state)
{
    struct model *m = *state;
    check(m, "map<string,array<int>>", "map<string,array<int>>",
          "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":{\"type\":\"array\",\"elementType\":\"integer\","
          "\"containsNull\":true},\"valueContainsNull\":true}",
          "MAP(VARCHAR, INTEGER[])");
    check(m, "struct<`a b`:date,`x\"y`:long>", "struct<`a b`:date,`x\"y`:bigint>",
          "{\"type\":\"struct\",\"fields\":[{\"name\":\"a b\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
          "{\"name\":\"x\\\"y\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}",
          "STRUCT(\"a b\" DATE, \"x\"\"y\" BIGINT)");
}

static void kinds_have_names_for_messages(void **state)
{
    (void)state;
    assert_string_equal(sl_type_kind_name(SILT_TYPE_LONG), "bigint");
    assert_string_equal(sl_type_kind_name(SILT_TYPE_DECIMAL), "decimal");
    assert_string_equal(sl_type_kind_name(SILT_TYPE_STRUCT), "struct");
    assert_string_equal(sl_type_kind_name(SILT_TYPE_MAP), "map");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(each_dialect_has_its_names),
        MODEL_TEST(nested_types_are_printed_whole),
        MODEL_TEST(kinds_have_names_for_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
