/* Exact decimals. */
#include "base/decimal.h"

#include "test_env.h"

#define NINES_38 "99999999999999999999999999999999999999"

static void check_format(sl_i128 v, int scale, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_decimal_format(&buf, v, scale);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void check_parse(const char *text, const char *expected, int expected_scale)
{
    sl_i128 v = 0;
    int scale = -1;
    assert_true(sl_decimal_parse(sl_str_from(text), &v, &scale));
    assert_int_equal(scale, expected_scale);
    check_format(v, scale, expected);
}

static void numbers_keep_the_scale_that_was_written(void **state)
{
    (void)state;
    check_parse("0", "0", 0);
    check_parse("-0.00", "0.00", 2);
    check_parse("-12.340", "-12.340", 3);
    check_parse("+.5", "0.5", 1);
    check_parse("5.", "5", 0);
    check_parse("000120", "120", 0);
    check_parse("1e3", "1000", 0);
    check_parse("1.5E1", "15", 0);
    check_parse("1.5e-3", "0.0015", 4);
    check_parse("1200e-1", "120.0", 1);
    check_parse("-1e-38", "-0.00000000000000000000000000000000000001", 38);
    check_parse("100e-40", "0.00000000000000000000000000000000000001", 38);
    check_parse(NINES_38, NINES_38, 0);
    check_parse("-" NINES_38, "-" NINES_38, 0);
    check_parse("1e37", "10000000000000000000000000000000000000", 0);
}

static void zeros_beyond_the_room_are_dropped_not_refused(void **state)
{
    (void)state;
    check_parse("1.0000000000000000000000000000000000000000000000000000", "1.0000000000000000000000000000000000000",
                37);
    check_parse("0.00000000000000000000000000000000000000000000000000", "0.00000000000000000000000000000000000000", 38);
    check_parse("0e99999999999", "0", 0);
    check_parse("0000000000000000000000000000000000000000000000000001", "1", 0);
}

static void what_is_no_decimal_of_38_digits_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",           ".",           "-",
                                      "e1",         "1e",          "1e-",
                                      "1x",         " 1",          "1 ",
                                      "0x1",        "NaN",         "1..2",
                                      "1e38",       "1e-39",       "1e999999999999999999",
                                      "1" NINES_38, NINES_38 ".5", "1.00000000000000000000000000000000000001"};
    sl_i128 v = 5;
    int scale = 5;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_decimal_parse(sl_str_from(bad[i]), &v, &scale));
    }
    assert_true(v == 5 && scale == 5);
}

static void rescaling_is_exact_or_fails(void **state)
{
    (void)state;
    sl_i128 v = 0;
    assert_true(sl_decimal_rescale(125, 1, 3, &v));
    assert_true(v == 12500);
    assert_true(sl_decimal_rescale(-12500, 3, 1, &v));
    assert_true(v == -125);
    assert_false(sl_decimal_rescale(125, 2, 1, &v));
    assert_true(v == -125);
    assert_false(sl_decimal_rescale(10, 0, 37, &v));
    assert_true(sl_decimal_rescale(1, 0, 37, &v));
    assert_true(v == sl_i128_pow10(37));
    assert_true(sl_decimal_rescale(0, 0, 1000, &v));
    assert_true(v == 0);
    assert_false(sl_decimal_rescale(1, 1000, 0, &v));
    assert_false(sl_decimal_rescale(1, -2147483647, 2147483647, &v));
}

static void comparison_crosses_scales_without_overflow(void **state)
{
    (void)state;
    const sl_i128 largest = sl_i128_pow10(38) - 1;
    assert_int_equal(sl_decimal_compare(10, 1, 1, 0), 0);
    assert_int_equal(sl_decimal_compare(11, 1, 1, 0), 1);
    assert_int_equal(sl_decimal_compare(-11, 1, -1, 0), -1);
    assert_int_equal(sl_decimal_compare(1, 0, 11, 1), -1);
    assert_int_equal(sl_decimal_compare(largest, 0, largest, 38), 1);
    assert_int_equal(sl_decimal_compare(largest, 38, largest, 0), -1);
    assert_int_equal(sl_decimal_compare(-largest, 0, largest, 38), -1);
    assert_int_equal(sl_decimal_compare(0, 0, 0, 38), 0);
    assert_int_equal(sl_decimal_compare(1, 0, 1, 1000000), 1);
    assert_int_equal(sl_decimal_compare(0, 5, -1, 0), 1);
    const sl_i128 least = sl_i128_make(INT64_MIN, 0);
    assert_int_equal(sl_decimal_compare(least, 0, least, 1), -1);
}

static void digits_and_halves_are_counted(void **state)
{
    (void)state;
    assert_int_equal(sl_i128_digits(0), 1);
    assert_int_equal(sl_i128_digits(-10), 2);
    assert_int_equal(sl_i128_digits(sl_i128_pow10(38)), 39);
    assert_int_equal(sl_i128_digits(sl_i128_make(INT64_MIN, 0)), 39);
    assert_true(sl_i128_make(-1, UINT64_MAX) == -1);
    assert_true(sl_i128_make(1, 0) == (sl_i128)UINT64_MAX + 1);
}

static void format_pads_fractions_and_shifts_negative_scales(void **state)
{
    (void)state;
    check_format(5, 3, "0.005");
    check_format(-5, 1, "-0.5");
    check_format(1234, 2, "12.34");
    check_format(12, -3, "12000");
    check_format(0, -3, "0");
    check_format(sl_i128_make(INT64_MIN, 0), 0, "-170141183460469231731687303715884105728");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_keep_the_scale_that_was_written),
        cmocka_unit_test(zeros_beyond_the_room_are_dropped_not_refused),
        cmocka_unit_test(what_is_no_decimal_of_38_digits_is_refused),
        cmocka_unit_test(rescaling_is_exact_or_fails),
        cmocka_unit_test(comparison_crosses_scales_without_overflow),
        cmocka_unit_test(digits_and_halves_are_counted),
        cmocka_unit_test(format_pads_fractions_and_shifts_negative_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
