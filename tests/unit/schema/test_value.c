/* Scalars, and the text of floating-point numbers. */
#include "model_fixture.h"

#include <float.h>
#include <math.h>

static void java_text(struct model *m, double v, bool is_float, const char *expected)
{
    struct sl_buf out = model_buf(m);
    sl_float_print_java(&out, v, is_float);
    assert_string_equal(model_text(m, &out), expected);
}

static void doubles_are_written_as_java_writes_them(void **state)
{
    struct model *m = *state;
    java_text(m, 0.0, false, "0.0");
    java_text(m, -0.0, false, "-0.0");
    java_text(m, 1, false, "1.0");
    java_text(m, -12.5, false, "-12.5");
    java_text(m, 0.001, false, "0.001");
    java_text(m, 0.0001, false, "1.0E-4");
    java_text(m, 0.00123, false, "0.00123");
    java_text(m, 1234567, false, "1234567.0");
    java_text(m, 9999999.5, false, "9999999.5");
    java_text(m, 10000000, false, "1.0E7");
    java_text(m, 1.5e10, false, "1.5E10");
    java_text(m, 1e300, false, "1.0E300");
    java_text(m, -1.25e-7, false, "-1.25E-7");
    java_text(m, 100, false, "100.0");
    java_text(m, 123456789012.5, false, "1.234567890125E11");
    java_text(m, DBL_MAX, false, "1.7976931348623157E308");
    java_text(m, (double)NAN, false, "NaN");
    java_text(m, (double)INFINITY, false, "Infinity");
    java_text(m, -(double)INFINITY, false, "-Infinity");
    java_text(m, (double)0.1f, true, "0.1");
    java_text(m, (double)16777216.0f, true, "1.6777216E7");
}

static void java_text_reads_back(void **state)
{
    (void)state;
    double v = 0;
    assert_true(sl_float_parse_java(SL_STR("1.0E10"), false, &v));
    assert_true(v == 1e10);
    assert_true(sl_float_parse_java(SL_STR("-infinity"), false, &v));
    assert_true(isinf(v) && v < 0);
    assert_true(sl_float_parse_java(SL_STR("+Inf"), false, &v));
    assert_true(isinf(v) && v > 0);
    assert_true(sl_float_parse_java(SL_STR("NaN"), false, &v));
    assert_true(isnan(v));
    assert_true(sl_float_parse_java(SL_STR("0.1"), true, &v));
    assert_true(v == (double)0.1f);
    assert_false(sl_float_parse_java(SL_STR("-NaN"), false, &v));
    assert_false(sl_float_parse_java(SL_STR(""), false, &v));
    assert_false(sl_float_parse_java(SL_STR("1.0x"), false, &v));
    assert_false(sl_float_parse_java(SL_STR("0x1p3"), false, &v));
}

static void decimals_are_kept_whole(void **state)
{
    (void)state;
    const sl_i128 v = -sl_i128_pow10(37);
    const silt_value d = sl_value_decimal(v, 38, 4);
    assert_true(sl_value_get_i128(&d) == v);
    assert_int_equal(d.precision, 38);
    assert_int_equal(d.scale, 4);
}

static void copies_own_their_bytes(void **state)
{
    struct model *m = *state;
    char text[] = "abc";
    const silt_value v = sl_value_bytes(SILT_TYPE_STRING, sl_str_make(text, 3));
    silt_value copy;
    assert_true(sl_value_copy(&m->arena, &v, &copy));
    text[0] = 'x';
    assert_true(sl_str_eq_c(sl_value_get_str(&copy), "abc"));
    const silt_value empty = sl_value_bytes(SILT_TYPE_BINARY, (struct sl_str){NULL, 0});
    assert_true(sl_value_copy(&m->arena, &empty, &copy));
    assert_non_null(copy.as.bytes.ptr);
    assert_int_equal(copy.as.bytes.len, 0);
}

static void integers_fit_their_kinds(void **state)
{
    (void)state;
    assert_true(sl_int_fits(SILT_TYPE_BYTE, -128));
    assert_false(sl_int_fits(SILT_TYPE_BYTE, 128));
    assert_true(sl_int_fits(SILT_TYPE_SHORT, 32767));
    assert_false(sl_int_fits(SILT_TYPE_SHORT, -32769));
    assert_false(sl_int_fits(SILT_TYPE_INTEGER, INT64_C(1) << 31));
    assert_true(sl_int_fits(SILT_TYPE_LONG, INT64_MIN));
    assert_false(sl_int_fits(SILT_TYPE_STRING, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(doubles_are_written_as_java_writes_them),
        MODEL_TEST(java_text_reads_back),
        MODEL_TEST(decimals_are_kept_whole),
        MODEL_TEST(copies_own_their_bytes),
        MODEL_TEST(integers_fit_their_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
