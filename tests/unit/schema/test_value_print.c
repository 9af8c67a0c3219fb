/* Scalars as text and as literals. */
#include "model_fixture.h"

#include <string.h>

static void check(struct model *m, const silt_value *v, const char *plain, const char *spark, const char *duckdb)
{
    struct sl_buf out = model_buf(m);
    sl_value_print(&out, v);
    assert_string_equal(model_text(m, &out), plain);
    sl_value_print_sql(&out, v);
    assert_string_equal(model_text(m, &out), spark);
    sl_value_print_duckdb(&out, v);
    assert_string_equal(model_text(m, &out), duckdb);
}

static void check_text(struct model *m, const char *type, const char *text, const char *spark, const char *duckdb)
{
    const silt_value v = model_value(m, type, text);
    struct sl_buf out = model_buf(m);
    sl_value_print(&out, &v);
    check(m, &v, model_text(m, &out), spark, duckdb);
}

static void numbers_have_their_exact_type(void **state)
{
    struct model *m = *state;
    check_text(m, "tinyint", "-1", "-1Y", "CAST('-1' AS TINYINT)");
    check_text(m, "smallint", "1", "1S", "CAST('1' AS SMALLINT)");
    check_text(m, "int", "-2147483648", "-2147483648", "CAST('-2147483648' AS INTEGER)");
    check_text(m, "bigint", "-9223372036854775808", "-9223372036854775808L", "CAST('-9223372036854775808' AS BIGINT)");
    check_text(m, "decimal(10,2)", "5", "5.00BD", "CAST('5.00' AS DECIMAL(10,2))");
    check_text(m, "double", "1e300", "1.0E300D", "CAST('1.0E300' AS DOUBLE)");
    check_text(m, "float", "0.1", "0.1F", "CAST('0.1' AS FLOAT)");
    check_text(m, "double", "NaN", "CAST('NaN' AS DOUBLE)", "CAST('NaN' AS DOUBLE)");
    check_text(m, "float", "-Infinity", "CAST('-Infinity' AS FLOAT)", "CAST('-Infinity' AS FLOAT)");
    check_text(m, "boolean", "true", "true", "true");
}

static void times_do_not_hang_on_a_session_zone(void **state)
{
    struct model *m = *state;
    check_text(m, "date", "2020-01-31", "DATE '2020-01-31'", "CAST('2020-01-31' AS DATE)");
    check_text(m, "timestamp", "2020-01-31 01:02:03.5", "TIMESTAMP '2020-01-31 01:02:03.5Z'",
               "CAST('2020-01-31 01:02:03.5+00' AS TIMESTAMPTZ)");
    check_text(m, "timestamp_ntz", "2020-01-31", "TIMESTAMP_NTZ '2020-01-31 00:00:00'",
               "CAST('2020-01-31 00:00:00' AS TIMESTAMP)");
    const silt_value far = sl_value_i64(SILT_TYPE_DATE, 2932897); /* 10000-01-01 */
    check(m, &far, "+10000-01-01", "DATE '+10000-01-01'", "(CAST('1970-01-01' AS DATE) + CAST(2932897 AS INTEGER))");
    const silt_value early = sl_value_i64(SILT_TYPE_TIMESTAMP, INT64_C(-62167219200000000)); /* year 0 */
    struct sl_buf out = model_buf(m);
    sl_value_print_duckdb(&out, &early);
    assert_string_equal(model_text(m, &out), "make_timestamptz(-62167219200000000)");
}

static void texts_are_escaped(void **state)
{
    struct model *m = *state;
    check_text(m, "string", "it's \\ \n\t\r", "'it\\'s \\\\ \\n\\t\\r'", "'it''s \\ \n\t\r'");
    const silt_value nul = sl_value_bytes(SILT_TYPE_STRING, SL_STR("a\0b'"));
    struct sl_buf out = model_buf(m);
    sl_value_print_sql(&out, &nul);
    assert_string_equal(model_text(m, &out), "'a\\u0000b\\''");
    sl_value_print_duckdb(&out, &nul);
    assert_string_equal(model_text(m, &out), "('a' || chr(0) || 'b''')");
    const silt_value bytes = sl_value_bytes(SILT_TYPE_BINARY, SL_STR("\x00\xab"));
    check(m, &bytes, "00AB", "X'00AB'", "CAST('\\x00\\xAB' AS BLOB)");
}

static void nulls_are_typed_for_duckdb(void **state)
{
    struct model *m = *state;
    silt_value null = sl_value_null(SILT_TYPE_DECIMAL);
    null.precision = 5;
    null.scale = 1;
    check(m, &null, "NULL", "NULL", "CAST(NULL AS DECIMAL(5,1))");
    const silt_value untyped = sl_value_null(SILT_TYPE_VOID);
    check(m, &untyped, "NULL", "NULL", "NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(numbers_have_their_exact_type),
        MODEL_TEST(times_do_not_hang_on_a_session_zone),
        MODEL_TEST(texts_are_escaped),
        MODEL_TEST(nulls_are_typed_for_duckdb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
