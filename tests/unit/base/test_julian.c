/* The calendar of old writers. Expected shifts are those of Spark's own table. */
#include "base/julian.h"

#include "base/time.h"
#include "test_env.h"

#define S INT64_C(1000000)

static int64_t day_of(const char *text)
{
    int32_t days = 0;
    assert_true(sl_date_parse(sl_str_from(text), &days));
    return days;
}

static void dates_keep_their_names(void **state)
{
    (void)state;
    assert_int_equal(sl_julian_days(day_of("1582-10-15")), day_of("1582-10-15"));
    /* The day before 1582-10-15 was 1582-10-04. */
    assert_int_equal(sl_julian_days(day_of("1582-10-15") - 1), day_of("1582-10-04"));
    assert_int_equal(sl_julian_days(-719164), day_of("0001-01-01"));
    assert_int_equal(sl_julian_days(day_of("2020-02-29")), day_of("2020-02-29"));
    assert_int_equal(sl_julian_days(INT32_MAX), INT32_MAX);
    assert_true(sl_julian_days(INT32_MIN) > INT64_C(-2147483648) - 20000000);
}

static void days_move_as_in_the_table_of_spark(void **state)
{
    static const int64_t switches[] = {-719164, -682945, -646420, -609895, -536845, -500320, -463795,
                                       -390745, -354220, -317695, -244645, -208120, -171595, -141427};
    static const int64_t shifts[] = {2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, 0};
    (void)state;
    for (size_t i = 0; i < sizeof(shifts) / sizeof(shifts[0]); i++) {
        assert_int_equal(sl_julian_days(switches[i]) - switches[i], shifts[i]);
        if (i > 0) {
            assert_int_equal(sl_julian_days(switches[i] - 1) - (switches[i] - 1), shifts[i - 1]);
        }
    }
}

static void a_leap_day_that_is_none_becomes_the_first_of_march(void **state)
{
    (void)state;
    const int64_t first_of_march = day_of("1500-03-01");
    int64_t julian = first_of_march;
    while (sl_julian_days(julian) < first_of_march) {
        julian++;
    }
    while (sl_julian_days(julian - 1) >= first_of_march) {
        julian--;
    }
    /* 29 February and 1 March of the Julian year meet. */
    assert_int_equal(sl_julian_days(julian), first_of_march);
    assert_int_equal(sl_julian_days(julian + 1), first_of_march);
    assert_int_equal(sl_julian_days(julian - 1), first_of_march - 1);
}

static void check_shift(const char *name, int64_t seconds, int64_t shift)
{
    int64_t zone = -1;
    int64_t out = 0;
    assert_true(sl_julian_zone(sl_str_from(name), &zone));
    assert_true(sl_julian_us(seconds * S + 7, zone, &out));
    assert_int_equal(out - (seconds * S + 7), shift * S);
}

static void instants_move_by_calendar_and_local_mean_time(void **state)
{
    (void)state;
    check_shift("UTC", -62135769600, 172800);
    check_shift("UTC", -12219292801, -864000);
    check_shift("UTC", -12219292800, 0);
    check_shift("America/Los_Angeles", -62135740800, 172378);
    check_shift("America/Los_Angeles", -12219264001, -864422);
    check_shift("America/Los_Angeles", -12219264000, -422);
    check_shift("America/Los_Angeles", -2717640000, 0);
    check_shift("Europe/Vilnius", -12219300000, 1124);
    check_shift("Europe/Vilnius", -2840149036, 2160);
    check_shift("Europe/Vilnius", -2208988800, 0);
    check_shift("Asia/Kolkata", -3645235808, -1400);
    check_shift("Asia/Kolkata", 1500000000, 0);
}

static void fixed_offsets_move_by_calendar_only(void **state)
{
    (void)state;
    check_shift("+03:00", -12219292800 - 10800, 0);
    check_shift("GMT-8", -12219292800 + 28800 - 1, -864000);
    check_shift("UTC+05:30:15", -12219292800 - 19815, 0);
    check_shift("+0530", -12219292800 - 19800 - 1, -864000);
    check_shift("Z", -12219292801, -864000);
}

static void an_unknown_zone_is_told(void **state)
{
    static const char *const names[] = {"",         "Mars/Olympus", "+",     "+19:00", "GMT+",
                                        "+1:2:3:4", "+0:60",        "UTC 3", "Europe"};
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        int64_t zone = 0;
        assert_false(sl_julian_zone(sl_str_from(names[i]), &zone));
    }
}

static void what_does_not_fit_is_told(void **state)
{
    int64_t out = 0;
    (void)state;
    assert_false(sl_julian_us(INT64_MIN, 0, &out));
    assert_true(sl_julian_us(INT64_MAX, 0, &out));
    assert_true(out == INT64_MAX);
    assert_false(sl_julian_us(0, 5000, &out));
    assert_false(sl_julian_us(0, -1, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_keep_their_names),
        cmocka_unit_test(days_move_as_in_the_table_of_spark),
        cmocka_unit_test(a_leap_day_that_is_none_becomes_the_first_of_march),
        cmocka_unit_test(instants_move_by_calendar_and_local_mean_time),
        cmocka_unit_test(fixed_offsets_move_by_calendar_only),
        cmocka_unit_test(an_unknown_zone_is_told),
        cmocka_unit_test(what_does_not_fit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
