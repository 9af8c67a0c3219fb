/* Texts of property values. */
#include "kernel/feature/property_value.h"

#include "test_env.h"

static int64_t interval(const char *text)
{
    int64_t micros = 0;
    return sl_property_parse_interval(sl_str_from(text), &micros) ? micros : INT64_MIN;
}

static int64_t bytes(const char *text)
{
    int64_t value = 0;
    return sl_property_parse_bytes(sl_str_from(text), &value) ? value : INT64_MIN;
}

static void intervals_add_up_their_parts(void **state)
{
    (void)state;
    const int64_t second = 1000000;
    assert_int_equal(interval("interval 30 days"), 30 * 86400 * second);
    assert_int_equal(interval("INTERVAL 1 WEEK"), 7 * 86400 * second);
    assert_int_equal(interval("1 hour 30 minutes"), 5400 * second);
    assert_int_equal(interval("1.25 seconds"), 1250000);
    assert_int_equal(interval("-0.5 second"), -500000);
    assert_int_equal(interval("5 milliseconds 7 microseconds"), 5007);
}

static void what_is_no_interval_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "interval",
                                      "5",
                                      "days",
                                      "5 fortnights",
                                      "1 day 2",
                                      "1.5 days",
                                      "1. seconds",
                                      "9223372036854775807 weeks",
                                      "1 month",
                                      "1 year",
                                      "1 dayss",
                                      "1.1234567 seconds"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (interval(bad[i]) != INT64_MIN) {
            fail_msg("'%s' was taken", bad[i]);
        }
    }
}

static void sizes_have_powers_of_1024(void **state)
{
    (void)state;
    assert_int_equal(bytes("134217728"), 134217728);
    assert_int_equal(bytes("128MB"), 134217728);
    assert_int_equal(bytes(" 2 g "), INT64_C(2) << 30);
    assert_int_equal(bytes("7b"), 7);
    assert_int_equal(bytes("-1"), INT64_MIN);
    assert_int_equal(bytes("mb"), INT64_MIN);
    assert_int_equal(bytes("9999999999999pb"), INT64_MIN);
}

static void choices_come_back_in_the_listed_spelling(void **state)
{
    (void)state;
    struct sl_str out;
    assert_true(sl_property_match_choice(SL_STR("SNAPPY"), "zstd,snappy", &out));
    assert_true(sl_str_eq_c(out, "snappy"));
    assert_false(sl_property_match_choice(SL_STR("snap"), "zstd,snappy", &out));
    assert_false(sl_property_match_choice(SL_STR(""), "zstd,snappy", &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_add_up_their_parts),
        cmocka_unit_test(what_is_no_interval_is_refused),
        cmocka_unit_test(sizes_have_powers_of_1024),
        cmocka_unit_test(choices_come_back_in_the_listed_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
