/* String views and reading of numbers. */
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "test_env.h"

static void absent_and_empty_views_compare_equal(void **state)
{
    (void)state;
    const struct sl_str absent = {NULL, 0};
    assert_true(sl_str_eq(absent, SL_STR("")));
    assert_true(sl_str_eq_c(absent, ""));
    assert_true(sl_str_eq_c(absent, NULL));
    assert_int_equal(sl_str_compare(absent, SL_STR("")), 0);
    assert_true(sl_str_starts_with(absent, absent));
    assert_true(sl_str_ends_with(absent, absent));
    assert_int_equal(sl_str_trim(absent).len, 0);
    assert_int_equal(sl_str_find(absent, SL_STR("x")), SIZE_MAX);
}

static void order_is_that_of_unsigned_bytes_then_length(void **state)
{
    (void)state;
    assert_true(sl_str_compare(SL_STR("a"), SL_STR("b")) < 0);
    assert_true(sl_str_compare(SL_STR("\xFF"), SL_STR("a")) > 0);
    assert_true(sl_str_compare(SL_STR("a"), SL_STR("aa")) < 0);
    assert_true(sl_str_compare(SL_STR("ab"), SL_STR("aa")) > 0);
}

static void parts_are_found(void **state)
{
    (void)state;
    assert_true(sl_str_starts_with(SL_STR("abc"), SL_STR("ab")));
    assert_false(sl_str_starts_with(SL_STR("a"), SL_STR("ab")));
    assert_true(sl_str_ends_with(SL_STR("abc"), SL_STR("bc")));
    assert_false(sl_str_ends_with(SL_STR("abc"), SL_STR("ab")));
    assert_int_equal(sl_str_find(SL_STR("aaab"), SL_STR("ab")), 2);
    assert_int_equal(sl_str_find(SL_STR("aaab"), SL_STR("")), 0);
    assert_int_equal(sl_str_find(SL_STR("aaab"), SL_STR("abb")), SIZE_MAX);
    assert_int_equal(sl_str_find(SL_STR("b"), SL_STR("ab")), SIZE_MAX);
    assert_true(sl_str_eq_c(sl_str_sub(SL_STR("abcdef"), 2, 4), "cd"));
    assert_true(sl_str_eq_c(sl_str_sub(SL_STR("abc"), 2, 100), "c"));
    assert_true(sl_str_eq_c(sl_str_sub(SL_STR("abc"), 5, 2), ""));
    assert_true(sl_str_eq_c(sl_str_trim(SL_STR(" \t\r\n a b \v\f")), "a b"));
}

static void integers_are_read_to_their_limits(void **state)
{
    (void)state;
    int64_t i = 5;
    uint64_t u = 5;
    assert_true(sl_str_to_i64(SL_STR("9223372036854775807"), &i));
    assert_true(i == INT64_MAX);
    assert_true(sl_str_to_i64(SL_STR("-9223372036854775808"), &i));
    assert_true(i == INT64_MIN);
    assert_true(sl_str_to_i64(SL_STR("+0007"), &i));
    assert_int_equal(i, 7);
    assert_true(sl_str_to_i64(SL_STR("-0"), &i));
    assert_int_equal(i, 0);
    assert_true(sl_str_to_u64(SL_STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
}

static void what_is_no_integer_is_refused_and_out_is_kept(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      "1 ",
                                      " 1",
                                      "1.0",
                                      "0x1",
                                      "--1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999",
                                      "1e3"};
    int64_t i = 5;
    uint64_t u = 5;
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        assert_false(sl_str_to_i64(sl_str_from(bad[k]), &i));
    }
    assert_false(sl_str_to_u64(SL_STR("+1"), &u));
    assert_false(sl_str_to_u64(SL_STR("-1"), &u));
    assert_false(sl_str_to_u64(SL_STR("18446744073709551616"), &u));
    assert_int_equal(i, 5);
    assert_int_equal(u, 5);
}

static void floating_point_is_rounded_correctly(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "1",
                                        "-1.5",
                                        ".5",
                                        "5.",
                                        "1e3",
                                        "1E-3",
                                        "+2.5e+2",
                                        "0.1",
                                        "1e23",
                                        "1e22",
                                        "1.7976931348623157e308",
                                        "5e-324",
                                        "4.9e-324",
                                        "2.2250738585072011e-308",
                                        "9007199254740993",
                                        "0.000001",
                                        "123456789012345678901234567890",
                                        "1e-400",
                                        "0e999999999999",
                                        "00012.500"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value = -1;
        assert_true(sl_str_to_f64(sl_str_from(texts[i]), &value));
        assert_true(value == strtod(texts[i], NULL));
    }
    double zero = 1;
    assert_true(sl_str_to_f64(SL_STR("-0.0"), &zero));
    assert_true(zero == 0 && signbit(zero));
    float narrow = 0;
    /* Rounded once: by way of double this would be 1 + 2^-23. */
    assert_true(sl_str_to_f32(SL_STR("1.00000005960464477539062500000000001"), &narrow));
    assert_true(narrow == strtof("1.00000005960464477539062500000000001", NULL));
}

static void long_digit_strings_are_rounded_by_their_last_digit(void **state)
{
    (void)state;
    /* 2^53 + 1 lies half way between two doubles: only what follows decides. */
    char text[3000] = "9007199254740993.";
    const size_t len = sizeof(text);
    memset(text + 17, '0', len - 17);
    double value = 0;
    assert_true(sl_str_to_f64(sl_str_make(text, len), &value));
    assert_true(value == 9007199254740992.0);
    text[len - 1] = '1';
    assert_true(sl_str_to_f64(sl_str_make(text, len), &value));
    assert_true(value == 9007199254740994.0);
    /* Zeros in front and places before the point count for nothing else. */
    memset(text, '0', len);
    text[len - 3] = '7';
    text[len - 2] = '.';
    assert_true(sl_str_to_f64(sl_str_make(text, len), &value));
    assert_true(value == 7.0);
    text[0] = '1';
    assert_false(sl_str_to_f64(sl_str_make(text, len - 2), &value));
    memset(text, '0', len);
    text[0] = '1';
    text[1] = '.';
    memcpy(text + len - 2, "e5", 2);
    assert_true(sl_str_to_f64(sl_str_make(text, len), &value));
    assert_true(value == 100000.0);
}

static void what_is_no_finite_number_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    ".",        "-",    "e5",    "1e",     "1e+", "1.5x",  " 1",    "1 ",  "nan",
        "inf", "Infinity", "0x10", "1e400", "-1e400", "1,5", "1e5.5", "1.2.3", "++1", "1e99999999999999"};
    double value = 5;
    float narrow = 5;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_str_to_f64(sl_str_from(bad[i]), &value));
        assert_false(sl_str_to_f32(sl_str_from(bad[i]), &narrow));
    }
    assert_false(sl_str_to_f32(SL_STR("1e39"), &narrow));
    assert_true(value == 5 && narrow == 5);
}

static void distance_counts_edits_up_to_the_cap(void **state)
{
    (void)state;
    assert_int_equal(sl_str_distance(SL_STR("kitten"), SL_STR("sitting"), 5), 3);
    assert_int_equal(sl_str_distance(SL_STR("kitten"), SL_STR("sitting"), 2), 3);
    assert_int_equal(sl_str_distance(SL_STR(""), SL_STR("ab"), 5), 2);
    assert_int_equal(sl_str_distance(SL_STR("ab"), SL_STR("ab"), 0), 0);
    assert_int_equal(sl_str_distance(SL_STR("a"), SL_STR("abcdef"), 2), 3);
    char text[500];
    memset(text, 'a', sizeof(text));
    assert_int_equal(sl_str_distance(sl_str_make(text, 500), sl_str_make(text, 500), 2), 0);
    assert_int_equal(sl_str_distance(sl_str_make(text, 500), sl_str_make(text, 499), 2), 3);
}

static void short_decimals_are_rounded_as_long_ones_are(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 100000; i++) {
        char text[40];
        char zeros[64];
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const int len = snprintf(text, sizeof(text), "%s%0*llu", (seed >> 60) % 2 == 0 ? "-" : "",
                                 1 + (int)((seed >> 55) % 16), (unsigned long long)((seed >> 10) % 1000000000000000));
        const size_t point = (size_t)len - (seed >> 50) % 6;
        (void)snprintf(zeros, sizeof(zeros), "%.*s.%s", (int)point, text, text + point);
        double found = 0;
        if (!sl_str_to_f64(sl_str_from(zeros), &found)) {
            continue; /* the point stands first or last */
        }
        const double expected = strtod(zeros, NULL);
        assert_memory_equal(&found, &expected, sizeof(found));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_decimals_are_rounded_as_long_ones_are),
        cmocka_unit_test(absent_and_empty_views_compare_equal),
        cmocka_unit_test(order_is_that_of_unsigned_bytes_then_length),
        cmocka_unit_test(parts_are_found),
        cmocka_unit_test(integers_are_read_to_their_limits),
        cmocka_unit_test(what_is_no_integer_is_refused_and_out_is_kept),
        cmocka_unit_test(floating_point_is_rounded_correctly),
        cmocka_unit_test(long_digit_strings_are_rounded_by_their_last_digit),
        cmocka_unit_test(what_is_no_finite_number_is_refused),
        cmocka_unit_test(distance_counts_edits_up_to_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
