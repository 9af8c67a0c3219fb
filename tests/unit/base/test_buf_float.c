/* Floating point as text. */
#include "base/buf.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "test_env.h"

static void check_f64(double value, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_buf_put_f64(&buf, value);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void check_f32(float value, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_buf_put_f32(&buf, value);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void doubles_print_shortest(void **state)
{
    (void)state;
    check_f64(0.0, "0.0");
    check_f64(-0.0, "-0.0");
    check_f64(1.0, "1.0");
    check_f64(-1.5, "-1.5");
    check_f64(0.1, "0.1");
    check_f64(0.1 + 0.2, "0.30000000000000004");
    check_f64(100.0, "100.0");
    check_f64(123456.789, "123456.789");
    check_f64(9007199254740992.0, "9007199254740992.0");
    check_f64(1e16, "1e16");
    check_f64(1e300, "1e300");
    check_f64(1.5e-7, "1.5e-7");
    check_f64(0.00012, "0.00012");
    check_f64(0.00001, "0.00001");
    check_f64(DBL_MAX, "1.7976931348623157e308");
    check_f64(5e-324, "5e-324");
    check_f64(DBL_MIN, "2.2250738585072014e-308");
}

static void floats_print_shortest_for_their_width(void **state)
{
    (void)state;
    check_f32(0.1F, "0.1");
    check_f32(16777216.0F, "16777216.0");
    check_f32(FLT_MAX, "3.4028235e38");
    check_f32(1e-45F, "1e-45");
    check_f32(1.1754944e-38F, "1.1754944e-38");
}

static void what_is_no_number_has_a_name(void **state)
{
    (void)state;
    check_f64((double)NAN, "NaN");
    check_f64((double)INFINITY, "Infinity");
    check_f64(-(double)INFINITY, "-Infinity");
    check_f32(-INFINITY, "-Infinity");
}

static void every_value_reads_back(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double value = 0;
        float narrow = 0;
        memcpy(&value, &random, sizeof(value));
        memcpy(&narrow, &random, sizeof(narrow));
        if (!isfinite(value) || !isfinite(narrow)) {
            continue;
        }
        double back = 0;
        float narrow_back = 0;
        sl_buf_clear(&buf);
        sl_buf_put_f64(&buf, value);
        assert_true(sl_str_to_f64(sl_buf_view(&buf), &back));
        assert_true(back == value);
        sl_buf_clear(&buf);
        sl_buf_put_f32(&buf, narrow);
        assert_true(sl_str_to_f32(sl_buf_view(&buf), &narrow_back));
        assert_true(narrow_back == narrow);
    }
    sl_buf_release(&buf);
}

static void locale_with_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) {
        skip();
    }
    check_f64(1.5, "1.5");
    double value = 0;
    assert_true(sl_str_to_f64(SL_STR("1.5"), &value));
    assert_true(value == 1.5);
    assert_false(sl_str_to_f64(SL_STR("1,5"), &value));
    assert_non_null(setlocale(LC_NUMERIC, "C"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_print_shortest),
        cmocka_unit_test(floats_print_shortest_for_their_width),
        cmocka_unit_test(what_is_no_number_has_a_name),
        cmocka_unit_test(every_value_reads_back),
        cmocka_unit_test(locale_with_decimal_comma_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
