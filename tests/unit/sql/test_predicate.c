/* Conditions of a parse tree as kernel predicates: what is taken, and what is left alone because it could mean something else. */
#include "sql/predicate.h"

#include "test_env.h"

#define COLUMN(name) "{\"class\":\"COLUMN_REF\",\"column_names\":[" name "]}"
#define CONST(id, value) \
    "{\"class\":\"CONSTANT\",\"value\":{\"type\":{\"id\":\"" id "\"},\"is_null\":false,\"value\":" value "}}"
#define DEC(value, scale)                                                                             \
    "{\"class\":\"CONSTANT\",\"value\":{\"type\":{\"id\":\"DECIMAL\",\"type_info\":{\"scale\":" scale \
    "}},\"value\":" value "}}"
#define CAST(child, id) "{\"class\":\"CAST\",\"child\":" child ",\"cast_type\":{\"id\":\"" id "\"}}"
#define COMPARE(type, left, right) \
    "{\"class\":\"COMPARISON\",\"type\":\"COMPARE_" type "\",\"left\":" left ",\"right\":" right "}"

static const char *const schema_json =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"i\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ts\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ntz\",\"type\":\"timestamp_ntz\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"f\",\"type\":\"float\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"g\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"b\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"dec\",\"type\":\"decimal(10,2)\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,"
    "\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}";

/* expected NULL: no predicate. */
static void expect(const char *json, bool only_item, bool utc, const char *expected)
{
    struct test_env t;
    silt_schema *schema = NULL;
    struct sl_json_doc *doc = NULL;
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    const struct sl_table_ref ref = {.table = SL_STR("t"), .only_item = only_item};

    test_env_init(&t);
    assert_int_equal(silt_schema_from_json(&t.env, schema_json, strlen(schema_json), &schema, &err), SILT_OK);
    assert_int_equal(sl_json_parse(&t.env, sl_str_from(json), &doc, &err), SILT_OK);
    assert_int_equal(sl_predicate_from_conjunct(&t.env, &ref, sl_json_root(doc), schema, NULL, utc, &expr, &err),
                     SILT_OK);
    if (expected == NULL) {
        assert_null(expr);
    } else {
        assert_non_null(expr);
        assert_string_equal(silt_expr_text(expr), expected);
    }
    silt_expr_unref(expr);
    sl_json_free(doc);
    silt_schema_unref(schema);
    test_env_check(&t);
}

static void comparisons_are_taken_either_way_round(void **state)
{
    (void)state;
    expect(COMPARE("GREATERTHAN", COLUMN("\"i\""), CONST("INTEGER", "5")), true, true, "i > 5");
    expect(COMPARE("GREATERTHAN", CONST("INTEGER", "5"), COLUMN("\"i\"")), true, true, "i < 5");
    expect(COMPARE("NOT_DISTINCT_FROM", COLUMN("\"I\""), CONST("INTEGER", "5")), true, true, "i <=> 5");
    expect(COMPARE("EQUAL", COLUMN("\"t\",\"s\""), CONST("VARCHAR", "\"it's\"")), false, true, "s = 'it\\'s'");
    expect(COMPARE("EQUAL", COLUMN("\"st\",\"x\""), CONST("BIGINT", "7")), true, true, "st.x = 7L");
}

static void a_column_that_may_be_anothers_is_left_alone(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "5")), false, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"u\",\"i\""), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"nope\""), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"i\""), COLUMN("\"i\"")), true, true, NULL);
}

static void types_that_compare_differently_are_left_alone(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", COLUMN("\"s\""), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("VARCHAR", "\"5\"")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("DOUBLE", "5.5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"f\""), DEC("11", "1")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"f\""), CONST("INTEGER", "123456789")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"st\""), CONST("INTEGER", "1")), true, true, NULL);
}

static void numbers_that_are_exact_are_taken(void **state)
{
    (void)state;
    expect(COMPARE("LESSTHAN", COLUMN("\"dec\""), DEC("1234", "2")), true, true, "dec < 12.34BD");
    expect(COMPARE("LESSTHAN", COLUMN("\"f\""), CONST("INTEGER", "3")), true, true, "f < 3.0F");
    expect(COMPARE("LESSTHAN", COLUMN("\"g\""), DEC("11", "1")), true, true, "g < 1.1D");
    expect(COMPARE("EQUAL", COLUMN("\"b\""), CAST(CONST("VARCHAR", "\"t\""), "BOOLEAN")), true, true, "b = true");
}

static void times_depend_on_the_zone(void **state)
{
    (void)state;
    const char *ts = COMPARE("EQUAL", COLUMN("\"ts\""), CONST("VARCHAR", "\"2020-01-02 03:04:05\""));
    expect(COMPARE("EQUAL", COLUMN("\"d\""), CAST(CONST("VARCHAR", "\"2020-01-02\""), "DATE")), true, true,
           "d = DATE '2020-01-02'");
    expect(COMPARE("EQUAL", COLUMN("\"d\""), CAST(CONST("VARCHAR", "\"2020-01-02\""), "TIMESTAMP")), true, true, NULL);
    expect(ts, true, false, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"ntz\""), CONST("VARCHAR", "\"2020-01-02 03:04:05Z\"")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"d\""), CONST("VARCHAR", "\"soon\"")), true, true, NULL);
}

static void lists_ranges_and_null_tests_are_taken(void **state)
{
    (void)state;
    expect("{\"class\":\"OPERATOR\",\"type\":\"COMPARE_IN\",\"children\":[" COLUMN("\"i\"") "," CONST(
               "INTEGER", "1") "," CONST("INTEGER", "2") "]}",
           true, true, "i IN (1, 2)");
    expect("{\"class\":\"BETWEEN\",\"input\":" COLUMN("\"i\"") ",\"lower\":" CONST("INTEGER", "1") ",\"upper\":" CONST(
               "INTEGER", "2") "}",
           true, true, "i BETWEEN 1 AND 2");
    expect("{\"class\":\"OPERATOR\",\"type\":\"OPERATOR_IS_NULL\",\"children\":[" COLUMN("\"i\"") "]}", true, true,
           "i IS NULL");
}

static void an_or_needs_all_of_its_parts(void **state)
{
    (void)state;
    const char *good = "{\"class\":\"CONJUNCTION\",\"type\":\"CONJUNCTION_OR\",\"children\":[" COMPARE(
        "EQUAL", COLUMN("\"i\""), CONST("INTEGER", "1")) "," COMPARE("EQUAL", COLUMN("\"i\""),
                                                                     CONST("INTEGER", "2")) "]}";
    const char *bad = "{\"class\":\"CONJUNCTION\",\"type\":\"CONJUNCTION_OR\",\"children\":[" COMPARE(
        "EQUAL", COLUMN("\"i\""), CONST("INTEGER", "1")) ",{\"class\":\"FUNCTION\",\"function_name\":\"random\"}]}";
    expect(good, true, true, "(i = 1) OR (i = 2)");
    expect(bad, true, true, NULL);
}

static void a_like_with_a_backslash_is_left_alone(void **state)
{
    (void)state;
    expect("{\"class\":\"FUNCTION\",\"function_name\":\"~~\",\"children\":[" COLUMN("\"s\"") "," CONST("VARCHAR",
                                                                                                       "\"ab%\"") "]}",
           true, true, "s LIKE 'ab%'");
    expect("{\"class\":\"FUNCTION\",\"function_name\":\"~~\",\"children\":[" COLUMN("\"s\"") "," CONST(
               "VARCHAR", "\"a\\\\%\"") "]}",
           true, true, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_are_taken_either_way_round),
        cmocka_unit_test(a_column_that_may_be_anothers_is_left_alone),
        cmocka_unit_test(types_that_compare_differently_are_left_alone),
        cmocka_unit_test(numbers_that_are_exact_are_taken),
        cmocka_unit_test(times_depend_on_the_zone),
        cmocka_unit_test(lists_ranges_and_null_tests_are_taken),
        cmocka_unit_test(an_or_needs_all_of_its_parts),
        cmocka_unit_test(a_like_with_a_backslash_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
