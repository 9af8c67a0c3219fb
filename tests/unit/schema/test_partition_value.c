/* Partition values in the log. */
#include "model_fixture.h"

#include <math.h>
#include <string.h>

static silt_status parse(struct model *m, const char *type, struct sl_str text, silt_value *out)
{
    m->err = (silt_error)SILT_ERROR_INIT;
    return sl_partition_value_parse(&m->arena, text, model_type(m, type), out, NULL, &m->err);
}

static const char *format(struct model *m, const silt_value *v)
{
    struct sl_buf out = model_buf(m);
    assert_int_equal(sl_partition_value_format(&out, v, &m->err), SILT_OK);
    return model_text(m, &out);
}

/* Reads text and writes it again. */
static void check(struct model *m, const char *type, const char *text, const char *expected)
{
    silt_value v;
    if (parse(m, type, sl_str_from(text), &v) != SILT_OK) {
        print_error("%s %s: %s\n", type, text, m->err.message);
        fail();
    }
    assert_false(v.is_null);
    assert_string_equal(format(m, &v), expected);
}

static void values_are_read_and_written(void **state)
{
    struct model *m = *state;
    check(m, "string", "a b/c", "a b/c");
    check(m, "string", "__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__");
    check(m, "int", "-7", "-7");
    check(m, "bigint", "9223372036854775807", "9223372036854775807");
    check(m, "boolean", "TRUE", "true");
    check(m, "date", "1969-12-31", "1969-12-31");
    check(m, "decimal(5,2)", "1.5", "1.50");
    check(m, "decimal(38,0)", "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999");
    check(m, "double", "1.0E10", "1.0E10");
    check(m, "double", "-Infinity", "-Infinity");
    check(m, "float", "NaN", "NaN");
    check(m, "float", "0.1", "0.1");
}

static void both_forms_of_timestamps_are_one_instant(void **state)
{
    struct model *m = *state;
    check(m, "timestamp", "2020-05-05 00:00:00", "2020-05-05T00:00:00.000000Z");
    check(m, "timestamp", "2020-05-05 00:00:00.123456", "2020-05-05T00:00:00.123456Z");
    check(m, "timestamp", "2020-05-05T00:00:00.123456Z", "2020-05-05T00:00:00.123456Z");
    check(m, "timestamp", "2020-05-05 00:00:00.1", "2020-05-05T00:00:00.100000Z");
    check(m, "timestamp", "2020-05-05T02:00:00+02:00", "2020-05-05T00:00:00.000000Z");
    check(m, "timestamp_ntz", "2020-05-05 00:00:00", "2020-05-05 00:00:00");
    check(m, "timestamp_ntz", "2020-05-05 00:00:00.1", "2020-05-05 00:00:00.100000");
    check(m, "timestamp_ntz", "1900-01-01 00:00:00.123456", "1900-01-01 00:00:00.123456");
}

static void absent_and_empty_text_is_null(void **state)
{
    struct model *m = *state;
    static const char *const types[] = {"string", "int", "date", "timestamp", "binary", "decimal(5,2)"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        silt_value v;
        assert_int_equal(parse(m, types[i], SL_STR(""), &v), SILT_OK);
        assert_true(v.is_null);
        assert_int_equal(parse(m, types[i], (struct sl_str){NULL, 0}, &v), SILT_OK);
        assert_true(v.is_null);
        assert_int_equal(v.kind, model_type(m, types[i])->kind);
    }
}

static void what_does_not_fit_is_corrupt(void **state)
{
    struct model *m = *state;
    static const char *const bad[][2] = {{"int", "abc"},
                                         {"int", "2147483648"},
                                         {"tinyint", "128"},
                                         {"int", "1.5"},
                                         {"int", "1 1"},
                                         {"boolean", "2"},
                                         {"date", "2020-13-01"},
                                         {"date", "__HIVE_DEFAULT_PARTITION__"},
                                         {"timestamp", "yesterday"},
                                         {"timestamp_ntz", "2020-01-01T00:00:00+01:00"},
                                         {"decimal(3,1)", "1.25"},
                                         {"decimal(3,1)", "1000"},
                                         {"double", "1,5"},
                                         {"array<int>", "[1]"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        silt_value v;
        assert_int_equal(parse(m, bad[i][0], sl_str_from(bad[i][1]), &v), SILT_ECORRUPT);
        assert_true(v.is_null);
        assert_non_null(strstr(m->err.message, bad[i][1]));
    }
}

static void text_is_taken_as_sparks_casts_take_it(void **state)
{
    struct model *m = *state;
    static const char *const good[][3] = {
        {"int", " 1 ", "1"},
        {"boolean", "TRUE", "true"},
        {"boolean", "yes", "true"},
        {"boolean", "F", "false"},
        {"boolean", "0", "false"},
        {"date", "+10000-01-01", "+10000-01-01"},
        {"date", "-0044-03-15", "-0044-03-15"},
        {"timestamp_ntz", "2020-05-05 00:00:00.123456789", "2020-05-05 00:00:00.123456"},
        {"timestamp", "2020-05-05T00:00:00.1234567Z", "2020-05-05 00:00:00.123456"},
        {"timestamp", "2020-05-05 00:00:00.1", "2020-05-05 00:00:00.1"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        silt_value v;
        assert_int_equal(parse(m, good[i][0], sl_str_from(good[i][1]), &v), SILT_OK);
        struct sl_buf text = model_buf(m);
        sl_value_print(&text, &v);
        assert_string_equal(model_text(m, &text), good[i][2]);
    }
}

/* What was written before the column's type was widened. */
static void text_of_a_narrower_type_is_read_as_the_type_of_now(void **state)
{
    struct model *m = *state;
    static const char *const good[][3] = {
        {"bigint", "5", "5"},           {"double", "5", "5.0"},
        {"decimal(12,2)", "5", "5.00"}, {"decimal(12,2)", "-5.1", "-5.10"},
        {"double", "0.1", "0.1"},       {"timestamp_ntz", "2020-01-31", "2020-01-31 00:00:00"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        silt_value v;
        assert_int_equal(parse(m, good[i][0], sl_str_from(good[i][1]), &v), SILT_OK);
        struct sl_buf text = model_buf(m);
        sl_value_print(&text, &v);
        assert_string_equal(model_text(m, &text), good[i][2]);
    }
}

static void only_an_instant_without_a_zone_is_local(void **state)
{
    struct model *m = *state;
    static const struct {
        const char *type;
        const char *text;
        bool local;
    } cases[] = {{"timestamp", "2020-05-05 00:00:00", true},
                 {"timestamp", "2020-05-05", true},
                 {"timestamp", "2020-05-05T00:00:00.123456Z", false},
                 {"timestamp", "2020-05-05 00:00:00+02:00", false},
                 {"timestamp_ntz", "2020-05-05 00:00:00", false},
                 {"date", "2020-05-05", false},
                 {"timestamp", "", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        silt_value v;
        bool local = !cases[i].local;
        assert_int_equal(sl_partition_value_parse(&m->arena, sl_str_from(cases[i].text), model_type(m, cases[i].type),
                                                  &v, &local, &m->err),
                         SILT_OK);
        assert_int_equal(local, cases[i].local);
    }
}

static void binary_is_read_escaped_and_plain(void **state)
{
    struct model *m = *state;
    silt_value v;
    assert_int_equal(parse(m, "binary", SL_STR("\\u0001\\u00ffab"), &v), SILT_OK);
    assert_true(sl_str_eq(sl_value_get_str(&v), SL_STR("\x01\xff"
                                                       "ab")));
    assert_int_equal(parse(m, "binary", SL_STR("\x01\x02"), &v), SILT_OK);
    assert_true(sl_str_eq(sl_value_get_str(&v), SL_STR("\x01\x02")));
    assert_int_equal(parse(m, "binary", SL_STR("\\u12"), &v), SILT_OK);
    assert_true(sl_str_eq(sl_value_get_str(&v), SL_STR("\\u12")));
}

static void binary_survives_writing_and_reading(void **state)
{
    struct model *m = *state;
    static const struct sl_str values[] = {{"hello", 5}, {"\x00\xff", 2}, {"\\u0041", 6},
                                           {"\\u", 2},   {"\xc3\xa9", 2}, {"\xc3", 1}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const silt_value v = sl_value_bytes(SILT_TYPE_BINARY, values[i]);
        silt_value back;
        assert_int_equal(parse(m, "binary", sl_str_from(format(m, &v)), &back), SILT_OK);
        assert_true(sl_str_eq(sl_value_get_str(&back), values[i]));
    }
    const silt_value text = sl_value_bytes(SILT_TYPE_BINARY, SL_STR("hello"));
    assert_string_equal(format(m, &text), "hello");
    const silt_value bytes = sl_value_bytes(SILT_TYPE_BINARY, SL_STR("\xff"));
    assert_string_equal(format(m, &bytes), "\\u00FF");
}

static void nulls_and_nested_values_have_no_text(void **state)
{
    struct model *m = *state;
    struct sl_buf out = model_buf(m);
    const silt_value null = sl_value_null(SILT_TYPE_INTEGER);
    const silt_value nested = {.kind = SILT_TYPE_STRUCT};
    assert_int_equal(sl_partition_value_format(&out, &null, &m->err), SILT_EINVALID);
    assert_int_equal(sl_partition_value_format(&out, &nested, &m->err), SILT_ESCHEMA);
    sl_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(values_are_read_and_written),
        MODEL_TEST(both_forms_of_timestamps_are_one_instant),
        MODEL_TEST(absent_and_empty_text_is_null),
        MODEL_TEST(what_does_not_fit_is_corrupt),
        MODEL_TEST(text_is_taken_as_sparks_casts_take_it),
        MODEL_TEST(text_of_a_narrower_type_is_read_as_the_type_of_now),
        MODEL_TEST(only_an_instant_without_a_zone_is_local),
        MODEL_TEST(binary_is_read_escaped_and_plain),
        MODEL_TEST(binary_survives_writing_and_reading),
        MODEL_TEST(nulls_and_nested_values_have_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
