/* Casts of scalars. */
#include "model_fixture.h"

#include <math.h>

static bool cast(struct model *m, const silt_value *from, const char *type, silt_value *out)
{
    return sl_value_cast(&m->arena, from, model_type(m, type), out);
}

static const char *print(struct model *m, const silt_value *v)
{
    struct sl_buf out = model_buf(m);
    sl_value_print(&out, v);
    return model_text(m, &out);
}

/* "type text" to another type gives this text; NULL: refused. */
static void check(struct model *m, const char *from_type, const char *from, const char *to_type, const char *expected)
{
    const silt_value v = model_value(m, from_type, from);
    silt_value out;
    const bool ok = cast(m, &v, to_type, &out);
    if (ok != (expected != NULL)) {
        print_error("%s %s to %s\n", from_type, from, to_type);
    }
    assert_int_equal(ok, expected != NULL);
    if (ok) {
        assert_int_equal(out.kind, model_type(m, to_type)->kind);
        assert_string_equal(print(m, &out), expected);
    }
}

static void numbers_fit_or_are_refused(void **state)
{
    struct model *m = *state;
    check(m, "bigint", "127", "tinyint", "127");
    check(m, "bigint", "128", "tinyint", NULL);
    check(m, "int", "5", "decimal(3,2)", "5.00");
    check(m, "int", "10", "decimal(3,2)", NULL);
    check(m, "decimal(5,2)", "12.00", "int", "12");
    check(m, "decimal(5,2)", "12.50", "int", NULL);
    check(m, "decimal(38,0)", "99999999999999999999999999999999999999", "bigint", NULL);
    check(m, "decimal(5,2)", "1.20", "decimal(3,1)", "1.2");
    check(m, "decimal(5,2)", "1.25", "decimal(3,1)", NULL);
    check(m, "decimal(5,2)", "0.10", "double", "0.1");
    check(m, "decimal(38,20)", "0.12345678901234567890", "double", "0.12345678901234568");
    check(m, "double", "3.0", "int", "3");
    check(m, "double", "3.5", "int", NULL);
    check(m, "double", "NaN", "int", NULL);
    check(m, "double", "9223372036854775808", "bigint", NULL);
    check(m, "double", "-9223372036854775808", "bigint", "-9223372036854775808");
    check(m, "double", "0.1", "decimal(3,2)", "0.10");
    check(m, "double", "Infinity", "decimal(3,2)", NULL);
    check(m, "double", "0.1", "float", "0.1");
    check(m, "int", "0", "boolean", "false");
    check(m, "boolean", "true", "int", "1");
}

static void texts_are_read_as_spark_reads_them(void **state)
{
    struct model *m = *state;
    check(m, "string", " 42 ", "int", "42");
    check(m, "string", "4.2", "int", NULL);
    check(m, "string", "", "int", NULL);
    check(m, "string", "1e3", "decimal(6,1)", "1000.0");
    check(m, "string", "nan", "double", "NaN");
    check(m, "string", "abc", "double", NULL);
    check(m, "string", "YES", "boolean", "true");
    check(m, "string", "maybe", "boolean", NULL);
    check(m, "string", "2020-02-29", "date", "2020-02-29");
    check(m, "string", "2021-02-29", "date", NULL);
    check(m, "string", "2020", "date", "2020-01-01");
    check(m, "string", "2020-03", "date", "2020-03-01");
    check(m, "string", "2020-03-04T10:00", "date", "2020-03-04");
    check(m, "string", "2020-03-04 10:00", "date", "2020-03-04");
    check(m, "string", "2020-03-04 10:20:30.5", "timestamp", "2020-03-04 10:20:30.5");
    check(m, "string", "2020-03-04T10:20:30+02:00", "timestamp", "2020-03-04 08:20:30");
    check(m, "string", "2020-03-04T10:20:30+02:00", "timestamp_ntz", NULL);
    check(m, "string", "ab", "binary", "6162");
}

static void times_change_kind_in_utc(void **state)
{
    struct model *m = *state;
    check(m, "date", "2020-01-02", "timestamp", "2020-01-02 00:00:00");
    check(m, "date", "1960-01-02", "timestamp_ntz", "1960-01-02 00:00:00");
    check(m, "timestamp", "1960-01-02", "date", "1960-01-02");
    check(m, "timestamp", "1960-01-02 00:00:01", "date", NULL);
    check(m, "timestamp", "2020-01-02 03:04:05", "timestamp_ntz", "2020-01-02 03:04:05");
    check(m, "date", "2020-01-02", "int", NULL);
    const silt_value far = sl_value_i64(SILT_TYPE_DATE, INT64_MAX / 2);
    silt_value out;
    assert_false(cast(m, &far, "timestamp", &out));
}

static void everything_flat_becomes_text(void **state)
{
    struct model *m = *state;
    check(m, "decimal(5,2)", "1.5", "string", "1.50");
    check(m, "boolean", "true", "string", "true");
    check(m, "date", "2020-01-02", "string", "2020-01-02");
    check(m, "double", "1e10", "string", "1.0E10");
    check(m, "binary", "x", "string", NULL);
}

static void null_casts_to_null(void **state)
{
    struct model *m = *state;
    const silt_value null = sl_value_null(SILT_TYPE_VOID);
    silt_value out;
    assert_true(cast(m, &null, "decimal(5,2)", &out));
    assert_true(out.is_null);
    assert_int_equal(out.kind, SILT_TYPE_DECIMAL);
    assert_int_equal(out.precision, 5);
    assert_false(cast(m, &null, "array<int>", &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(numbers_fit_or_are_refused), MODEL_TEST(texts_are_read_as_spark_reads_them),
        MODEL_TEST(times_change_kind_in_utc),   MODEL_TEST(everything_flat_becomes_text),
        MODEL_TEST(null_casts_to_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
