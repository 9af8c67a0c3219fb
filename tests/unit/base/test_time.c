/* Civil time. */
#include "base/time.h"

#include "test_env.h"

static void check_date(const char *text, int32_t expected)
{
    int32_t days = 0;
    assert_true(sl_date_parse(sl_str_from(text), &days));
    assert_int_equal(days, expected);
}

static void check_timestamp(const char *text, int64_t expected, bool expected_zone)
{
    int64_t us = 0;
    bool has_zone = !expected_zone;
    assert_true(sl_timestamp_parse(sl_str_from(text), &us, &has_zone));
    assert_true(us == expected);
    assert_int_equal(has_zone, expected_zone);
}

static void check_date_format(int64_t days, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_date_format(&buf, days);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void check_timestamp_format(int64_t us, char sep, int digits, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_timestamp_format(&buf, us, sep, digits);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void every_day_of_a_thousand_years_follows_the_one_before(void **state)
{
    (void)state;
    int64_t year = 0;
    int month = 0;
    int day = 0;
    sl_civil_from_days(sl_days_from_civil(1600, 2, 28), &year, &month, &day);
    for (int64_t d = sl_days_from_civil(1600, 2, 28); d < sl_days_from_civil(2600, 1, 1); d++) {
        int64_t next_year = 0;
        int next_month = 0;
        int next_day = 0;
        assert_true(sl_days_from_civil(year, month, day) == d);
        assert_true(sl_civil_valid(year, month, day));
        sl_civil_from_days(d + 1, &next_year, &next_month, &next_day);
        const bool same_month = next_month == month && next_year == year && next_day == day + 1;
        assert_true(same_month || (next_day == 1 && !sl_civil_valid(year, month, day + 1)));
        year = next_year;
        month = next_month;
        day = next_day;
    }
}

static void known_dates_are_right(void **state)
{
    (void)state;
    check_date("1970-01-01", 0);
    check_date("1969-12-31", -1);
    check_date("2000-02-29", 11016);
    check_date("2020-1-5", 18266);
    check_date("0001-01-01", -719162);
    check_date("0000-01-01", -719528);
    check_date("-0001-01-01", -719893);
    check_date("+10000-01-01", 2932897);
    check_date("1582-10-10", -141432);
}

static void malformed_dates_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "2020",
                                      "2020-01",
                                      "2020-01-",
                                      "2020-13-01",
                                      "2020-00-01",
                                      "2021-02-29",
                                      "1900-02-29",
                                      "2020-01-32",
                                      "2020-01-01 ",
                                      " 2020-01-01",
                                      "20-01-01",
                                      "2020/01/01",
                                      "2020-001-01",
                                      "12345678-01-01",
                                      "2020-01-01T00:00",
                                      "--2020-01-01",
                                      "2020-01-1x",
                                      "300000-01-01"};
    int32_t days = 5;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_date_parse(sl_str_from(bad[i]), &days));
    }
    assert_int_equal(days, 5);
}

static void timestamps_are_read_with_and_without_zone(void **state)
{
    (void)state;
    check_timestamp("1970-01-01", 0, false);
    check_timestamp("1970-01-01 00:00", 0, false);
    check_timestamp("1970-01-01T00:00:01", 1000000, false);
    check_timestamp("1970-01-01 00:00:01.5", 1500000, false);
    check_timestamp("1970-01-01 00:00:01.123456000", 1123456, false);
    check_timestamp("1969-12-31T23:59:59.999999", -1, false);
    check_timestamp("1970-01-01T01:30:00+01:30", 0, true);
    check_timestamp("1970-01-01T00:00:00Z", 0, true);
    check_timestamp("1970-01-01 00:00:00 UTC", 0, true);
    check_timestamp("1970-01-01 00:00:00UTC+01:00", INT64_C(-3600000000), true);
    check_timestamp("1970-01-01 00:53:28+00:53:28", 0, true);
    check_timestamp("1970-01-01 00:00:00-0130", INT64_C(5400000000), true);
    check_timestamp("1970-01-01 00:00:00-8", INT64_C(28800000000), true);
    check_timestamp("1970-01-01 00:00:00+18:00", INT64_C(-64800000000), true);
    check_timestamp("2020-01-01T00:00:00.000Z", INT64_C(1577836800000000), true);
}

static void whole_range_of_microseconds_fits(void **state)
{
    (void)state;
    check_timestamp("294247-01-10T04:00:54.775807", INT64_MAX, false);
    check_timestamp("-290308-12-21T19:59:05.224192", INT64_MIN, false);
    int64_t us = 5;
    bool has_zone = false;
    assert_false(sl_timestamp_parse(SL_STR("294247-01-10T04:00:54.775808"), &us, &has_zone));
    assert_false(sl_timestamp_parse(SL_STR("-290308-12-21T19:59:05.224191"), &us, &has_zone));
    assert_int_equal(us, 5);
    check_timestamp_format(INT64_MAX, 'T', 6, "+294247-01-10T04:00:54.775807");
    check_timestamp_format(INT64_MIN, 'T', 6, "-290308-12-21T19:59:05.224192");
}

static void malformed_timestamps_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"1970-01-01T",
                                      "1970-01-01T00",
                                      "1970-01-01T24:00",
                                      "1970-01-01T00:60",
                                      "1970-01-01T00:00:60",
                                      "1970-01-01T00:00:00.",
                                      "1970-01-01T00:00:00.1234567",
                                      "1970-01-01T00:00:00.1234560001",
                                      "1970-01-01T00:00:00 ",
                                      "1970-01-01T00:00:00+",
                                      "1970-01-01T00:00:00+19",
                                      "1970-01-01T00:00:00+01:60",
                                      "1970-01-01T00:00:00+18:00:01",
                                      "1970-01-01T00:00:00+123",
                                      "1970-01-01T00:00:00 Europe/Berlin",
                                      "1970-01-01T00:00:00ZZ",
                                      "1970-01-01  00:00:00",
                                      "1970-01-01Z",
                                      "1970-01-01T00:00:00+01:3"};
    int64_t us = 5;
    bool has_zone = false;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_timestamp_parse(sl_str_from(bad[i]), &us, &has_zone));
    }
    assert_int_equal(us, 5);
}

static void formats_pad_and_cut(void **state)
{
    (void)state;
    check_date_format(0, "1970-01-01");
    check_date_format(-719162, "0001-01-01");
    check_date_format(-719893, "-0001-01-01");
    check_date_format(2932897, "+10000-01-01");
    check_timestamp_format(0, ' ', -1, "1970-01-01 00:00:00");
    check_timestamp_format(0, 'T', 3, "1970-01-01T00:00:00.000");
    check_timestamp_format(1500000, ' ', -1, "1970-01-01 00:00:01.5");
    check_timestamp_format(1000001, ' ', -1, "1970-01-01 00:00:01.000001");
    check_timestamp_format(1234567, 'T', 3, "1970-01-01T00:00:01.234");
    check_timestamp_format(1234567, 'T', 6, "1970-01-01T00:00:01.234567");
    check_timestamp_format(1234567, 'T', 0, "1970-01-01T00:00:01");
    check_timestamp_format(-1, 'T', 3, "1969-12-31T23:59:59.999");
}

static void floor_division_rounds_down(void **state)
{
    (void)state;
    assert_int_equal(sl_floor_div(7, 2), 3);
    assert_int_equal(sl_floor_div(-7, 2), -4);
    assert_int_equal(sl_floor_div(7, -2), -4);
    assert_int_equal(sl_floor_div(-8, 2), -4);
    assert_int_equal(sl_floor_mod(-7, 2), 1);
    assert_int_equal(sl_floor_mod(7, -2), -1);
    assert_int_equal(sl_floor_mod(-8, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_of_a_thousand_years_follows_the_one_before),
        cmocka_unit_test(known_dates_are_right),
        cmocka_unit_test(malformed_dates_are_refused),
        cmocka_unit_test(timestamps_are_read_with_and_without_zone),
        cmocka_unit_test(whole_range_of_microseconds_fits),
        cmocka_unit_test(malformed_timestamps_are_refused),
        cmocka_unit_test(formats_pad_and_cut),
        cmocka_unit_test(floor_division_rounds_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
