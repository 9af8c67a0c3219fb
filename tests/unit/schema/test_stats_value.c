/* Bounds in statistics. */
#include "model_fixture.h"

#include <math.h>

#include "json/json.h"
#include "json/writer.h"

/* The JSON of a bound, or NULL if it is not written. */
static const char *write(struct model *m, const silt_value *v)
{
    struct sl_buf out = model_buf(m);
    struct sl_json_writer w;
    sl_json_writer_init(&w, &out);
    const bool written = sl_stats_value_write(&w, v);
    assert_true(written || out.len == 0);
    const char *text = model_text(m, &out);
    return written ? text : NULL;
}

static void check_write(struct model *m, const char *type, const char *text, const char *expected)
{
    const silt_value v = model_value(m, type, text);
    const char *json = write(m, &v);
    if (expected == NULL) {
        assert_null(json);
    } else {
        assert_non_null(json);
        assert_string_equal(json, expected);
    }
}

/* The value's text as a bound of the type, or NULL if there is none. */
static const char *read(struct model *m, const char *type, const char *json)
{
    struct sl_json_doc *doc = NULL;
    silt_value v;
    assert_int_equal(sl_json_parse(&m->test.env, sl_str_from(json), &doc, &m->err), SILT_OK);
    const bool ok = sl_stats_value_read(&m->arena, sl_json_root(doc), model_type(m, type), &v);
    const char *text = NULL;
    if (ok) {
        struct sl_buf out = model_buf(m);
        sl_value_print(&out, &v);
        text = model_text(m, &out);
    }
    sl_json_free(doc);
    return text;
}

static void check_read(struct model *m, const char *type, const char *json, const char *expected)
{
    const char *text = read(m, type, json);
    if (expected == NULL) {
        assert_null(text);
    } else {
        assert_non_null(text);
        assert_string_equal(text, expected);
    }
}

static void bounds_are_written_exactly(void **state)
{
    struct model *m = *state;
    check_write(m, "int", "-5", "-5");
    check_write(m, "bigint", "9223372036854775807", "9223372036854775807");
    check_write(m, "double", "1.5", "1.5");
    check_write(m, "float", "0.1", "0.1");
    check_write(m, "string", "a\"b", "\"a\\\"b\"");
    check_write(m, "date", "0202-10-21", "\"0202-10-21\"");
    check_write(m, "decimal(1,0)", "1", "1");
    check_write(m, "decimal(18,0)", "-999999999999999999", "-999999999999999999");
    check_write(m, "decimal(38,6)", "99999999999999999999999999999999.999999",
                "99999999999999999999999999999999.999999");
    check_write(m, "decimal(38,18)", "0.000000000000000001", "0.000000000000000001");
}

static void timestamps_are_cut_down_to_milliseconds(void **state)
{
    struct model *m = *state;
    check_write(m, "timestamp", "2020-01-01 00:00:00", "\"2020-01-01T00:00:00.000Z\"");
    check_write(m, "timestamp", "2020-01-01 00:00:00.123999", "\"2020-01-01T00:00:00.123Z\"");
    check_write(m, "timestamp", "1960-01-01 00:00:00.000001", "\"1960-01-01T00:00:00.000Z\"");
    check_write(m, "timestamp_ntz", "1969-12-31 23:59:59.999999", "\"1969-12-31T23:59:59.999\"");
}

static void what_json_cannot_hold_is_not_written(void **state)
{
    struct model *m = *state;
    check_write(m, "double", "NaN", NULL);
    check_write(m, "double", "Infinity", NULL);
    check_write(m, "float", "-Infinity", NULL);
    check_write(m, "boolean", "true", NULL);
    check_write(m, "binary", "x", NULL);
    check_write(m, "int", NULL, NULL);
    const silt_value broken = sl_value_bytes(SILT_TYPE_STRING, SL_STR("a\xff"));
    assert_null(write(m, &broken));
    const silt_value first = sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, INT64_MIN);
    assert_null(write(m, &first));
    const silt_value next = sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, INT64_MIN + 1000);
    assert_non_null(write(m, &next));
}

static void bounds_are_read_in_their_type(void **state)
{
    struct model *m = *state;
    check_read(m, "int", "5", "5");
    check_read(m, "int", "5.0", "5");
    check_read(m, "bigint", "9007199254740993", "9007199254740993");
    check_read(m, "bigint", "9.007199254740992E15", "9007199254740992");
    check_read(m, "bigint", "9.007199254740994E15", NULL);
    check_read(m, "int", "2147483648", NULL);
    check_read(m, "int", "\"5\"", NULL);
    check_read(m, "int", "null", NULL);
    check_read(m, "int", "{\"a\":1}", NULL);
    check_read(m, "string", "\"abc\"", "abc");
    check_read(m, "string", "7", NULL);
    check_read(m, "date", "\"2020-01-31\"", "2020-01-31");
    check_read(m, "date", "\"soon\"", NULL);
    check_read(m, "boolean", "true", "true");
    check_read(m, "binary", "\"x\"", NULL);
    check_read(m, "array<int>", "[1]", NULL);
}

static void decimals_never_go_through_doubles(void **state)
{
    struct model *m = *state;
    check_read(m, "decimal(5,0)", "1.0", "1");
    check_read(m, "decimal(5,0)", "1e3", "1000");
    check_read(m, "decimal(38,3)", "12345678901234567890.123", "12345678901234567890.123");
    check_read(m, "decimal(18,0)", "999999999999999999", "999999999999999999");
    check_read(m, "decimal(5,2)", "\"1.25\"", "1.25");
    check_read(m, "decimal(5,2)", "1.255", NULL);
    check_read(m, "decimal(5,2)", "1e32", NULL);
}

static void floats_take_infinities_but_no_nan(void **state)
{
    struct model *m = *state;
    check_read(m, "double", "1.5", "1.5");
    check_read(m, "float", "0.1", "0.1");
    check_read(m, "double", "\"Infinity\"", "Infinity");
    check_read(m, "double", "\"-Infinity\"", "-Infinity");
    check_read(m, "double", "\"NaN\"", NULL);
    check_read(m, "double", "\"high\"", NULL);
}

static void timestamps_of_every_writer_are_read(void **state)
{
    struct model *m = *state;
    check_read(m, "timestamp", "\"2020-01-01T00:00:00.123Z\"", "2020-01-01 00:00:00.123");
    check_read(m, "timestamp", "\"2020-01-01T01:00:00.000+01:00\"", "2020-01-01 00:00:00");
    check_read(m, "timestamp", "\"0202-10-21T00:53:28.000+00:53:28\"", "0202-10-21 00:00:00");
    check_read(m, "timestamp", "\"2020-01-01T00:00:00\"", NULL);
    check_read(m, "timestamp", "\"then\"", NULL);
    check_read(m, "timestamp_ntz", "\"2020-01-01T00:00:00.123\"", "2020-01-01 00:00:00.123");
    check_read(m, "timestamp_ntz", "\"2020-01-01T00:00:00.123Z\"", "2020-01-01 00:00:00.123");
    check_read(m, "timestamp_ntz", "\"2020-01-01T00:00:00.123+01:00\"", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(bounds_are_written_exactly),           MODEL_TEST(timestamps_are_cut_down_to_milliseconds),
        MODEL_TEST(what_json_cannot_hold_is_not_written), MODEL_TEST(bounds_are_read_in_their_type),
        MODEL_TEST(decimals_never_go_through_doubles),    MODEL_TEST(floats_take_infinities_but_no_nan),
        MODEL_TEST(timestamps_of_every_writer_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
