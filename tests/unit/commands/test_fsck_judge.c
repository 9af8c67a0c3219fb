/* Statistics against rows: what makes engines skip rows, what is merely loose, and what the protocol lets writers cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "commands/fsck_judge.h"
#include "schema/value.h"

static struct sl_str PATH[2] = {{"s", 1}, {"v", 1}};
static const struct silt_type FLOAT_TYPE = {.kind = SILT_TYPE_FLOAT};
static const struct silt_type *const WAS_FLOAT[] = {&FLOAT_TYPE};

/* Bounds stated of a column, and the extremes that it has. */
static struct sl_fsck_judgement judge(enum sl_tightness tightness, silt_value min, silt_value max, silt_value true_min,
                                      silt_value true_max)
{
    const struct silt_type type = {.kind = min.kind, .precision = min.precision, .scale = min.scale};
    const bool widened = min.kind == SILT_TYPE_DOUBLE;
    const struct sl_skip_column column = {
        .path = PATH, .path_len = 1, .type = &type, .earlier = WAS_FLOAT, .n_earlier = widened ? 1 : 0};
    const struct sl_claims claims = {.has_rows = true, .rows = 10, .tightness = tightness};
    const struct sl_bounds stated = {.has_min = true, .has_max = true, .min = min, .max = max};
    const struct sl_fsck_truth truth = {.rows = 10, .min = true_min, .max = true_max};
    struct sl_fsck_judgement out;
    sl_fsck_judge(&claims, &column, &stated, &truth, &out);
    return out;
}

static silt_value number(int64_t v)
{
    return sl_value_i64(SILT_TYPE_LONG, v);
}

static silt_value text(const char *v)
{
    return sl_value_bytes(SILT_TYPE_STRING, sl_str_from(v));
}

static silt_value at(int64_t us)
{
    return sl_value_i64(SILT_TYPE_TIMESTAMP, us);
}

static silt_value real(double v)
{
    return sl_value_f64(SILT_TYPE_DOUBLE, v);
}

static void assert_judged(struct sl_fsck_judgement found, enum sl_fsck_verdict min, enum sl_fsck_verdict max)
{
    assert_int_equal(found.min, min);
    assert_int_equal(found.max, max);
    assert_int_equal(found.n, 2);
}

static void bounds_that_leave_a_value_out_are_wrong(void **state)
{
    (void)state;
    assert_judged(judge(SL_TIGHT, number(1), number(9), number(1), number(9)), SL_FSCK_GOOD, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, number(2), number(8), number(1), number(9)), SL_FSCK_WRONG, SL_FSCK_WRONG);
    assert_judged(judge(SL_WIDE, number(2), number(8), number(1), number(9)), SL_FSCK_WRONG, SL_FSCK_WRONG);
}

static void wider_bounds_are_loose_unless_they_say_so(void **state)
{
    (void)state;
    assert_judged(judge(SL_TIGHT, number(0), number(10), number(1), number(9)), SL_FSCK_LOOSE, SL_FSCK_LOOSE);
    assert_judged(judge(SL_TIGHT_UNSAID, number(0), number(10), number(1), number(9)), SL_FSCK_LOOSE, SL_FSCK_LOOSE);
    assert_judged(judge(SL_WIDE, number(0), number(10), number(1), number(9)), SL_FSCK_GOOD, SL_FSCK_GOOD);
}

static void bounds_of_nulls_alone_say_nothing(void **state)
{
    (void)state;
    const silt_value none = sl_value_null(SILT_TYPE_LONG);
    assert_judged(judge(SL_TIGHT, number(5), number(6), none, none), SL_FSCK_GOOD, SL_FSCK_GOOD);
}

static void texts_may_be_cut_so_that_they_still_bound(void **state)
{
    (void)state;
    assert_judged(judge(SL_TIGHT, text("abc"), text("xyz\x7F"), text("abcdef"), text("xyzzy")), SL_FSCK_GOOD,
                  SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, text("abc"), text("xyz\xF4\x8F\xBF\xBF"), text("abcdef"), text("xyzzy")),
                  SL_FSCK_GOOD, SL_FSCK_GOOD);
    /* Cut, and not closed: what follows is above it. */
    assert_judged(judge(SL_TIGHT, text("abc"), text("xyz"), text("abc"), text("xyzzy")), SL_FSCK_GOOD, SL_FSCK_WRONG);
    assert_judged(judge(SL_TIGHT, text("abd"), text("xyz"), text("abc"), text("xyz")), SL_FSCK_WRONG, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, text("a"), text("z"), text("b"), text("x")), SL_FSCK_LOOSE, SL_FSCK_GOOD);
}

static void timestamps_may_be_cut_to_milliseconds(void **state)
{
    (void)state;
    assert_judged(judge(SL_TIGHT, at(1000), at(5000), at(1001), at(5999)), SL_FSCK_GOOD, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, at(1000), at(5000), at(999), at(6000)), SL_FSCK_WRONG, SL_FSCK_WRONG);
    /* Digits below show that nothing was cut. */
    assert_judged(judge(SL_TIGHT, at(1000), at(5001), at(1000), at(5002)), SL_FSCK_GOOD, SL_FSCK_WRONG);
    assert_judged(judge(SL_TIGHT, at(-2000), at(-1000), at(-1500), at(-500)), SL_FSCK_GOOD, SL_FSCK_GOOD);
}

static void days_of_the_old_calendar_are_not_compared_exactly(void **state)
{
    (void)state;
    const silt_value year_1000 = sl_value_i64(SILT_TYPE_DATE, -354285);
    const silt_value near = sl_value_i64(SILT_TYPE_DATE, -354279);
    const silt_value far = sl_value_i64(SILT_TYPE_DATE, -354000);
    assert_judged(judge(SL_TIGHT, near, near, year_1000, year_1000), SL_FSCK_GOOD, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, far, far, year_1000, year_1000), SL_FSCK_WRONG, SL_FSCK_LOOSE);
}

static void signed_zeros_are_equal_and_nan_is_greatest(void **state)
{
    (void)state;
    assert_judged(judge(SL_TIGHT, real(0.0), real(-0.0), real(-0.0), real(0.0)), SL_FSCK_GOOD, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, real(1.0), real(2.0), real(1.0), real((double)NAN)), SL_FSCK_GOOD, SL_FSCK_WRONG);
    assert_judged(judge(SL_TIGHT, real(1.0), real((double)NAN), real(1.0), real((double)NAN)), SL_FSCK_GOOD,
                  SL_FSCK_GOOD);
}

static void texts_of_floats_are_taken_for_the_floats(void **state)
{
    (void)state;
    const double stored = (double)0.1F;
    assert_judged(judge(SL_TIGHT, real(0.1), real(0.1), real(stored), real(stored)), SL_FSCK_GOOD, SL_FSCK_GOOD);
    assert_judged(judge(SL_TIGHT, real(0.2), real(0.05), real(stored), real(stored)), SL_FSCK_WRONG, SL_FSCK_WRONG);
}

static void decimals_are_compared_digit_by_digit(void **state)
{
    (void)state;
    const silt_value a = sl_value_decimal(sl_i128_make(0, UINT64_C(999999999999999999)), 18, 0);
    const silt_value b = sl_value_decimal(sl_i128_make(0, UINT64_C(1000000000000000000)), 19, 0);
    assert_judged(judge(SL_TIGHT, b, b, a, a), SL_FSCK_WRONG, SL_FSCK_LOOSE);
}

static void text_under_a_collation_has_no_order_of_bytes(void **state)
{
    (void)state;
    const struct silt_type type = {.kind = SILT_TYPE_STRING};
    const struct sl_skip_column column = {.path = PATH, .path_len = 1, .type = &type, .collated = true};
    const struct silt_type binary = {.kind = SILT_TYPE_BINARY};
    const struct sl_skip_column bytes = {.path = PATH, .path_len = 1, .type = &binary};
    assert_false(sl_fsck_is_ordered(&column));
    assert_false(sl_fsck_is_ordered(&bytes));
}

static enum sl_fsck_verdict nulls(enum sl_tightness tightness, int64_t stated, int64_t rows, int64_t removed,
                                  int64_t right)
{
    const struct silt_type type = {.kind = SILT_TYPE_LONG};
    const struct sl_skip_column column = {.path = PATH, .path_len = 1, .type = &type};
    const struct sl_claims claims = {.has_rows = true, .rows = rows, .tightness = tightness};
    const struct sl_bounds bounds = {.has_null_count = true, .null_count = stated};
    const struct sl_fsck_truth truth = {.rows = rows - removed,
                                        .removed = removed,
                                        .nulls = right,
                                        .min = sl_value_null(SILT_TYPE_LONG),
                                        .max = sl_value_null(SILT_TYPE_LONG)};
    struct sl_fsck_judgement out;
    sl_fsck_judge(&claims, &column, &bounds, &truth, &out);
    assert_int_equal(out.n, 1);
    return out.nulls;
}

static void null_counts_must_be_exact_where_they_say_so(void **state)
{
    (void)state;
    assert_int_equal(nulls(SL_TIGHT, 3, 10, 0, 3), SL_FSCK_GOOD);
    assert_int_equal(nulls(SL_TIGHT, 0, 10, 0, 1), SL_FSCK_WRONG);
    assert_int_equal(nulls(SL_TIGHT, 10, 10, 0, 9), SL_FSCK_WRONG);
    assert_int_equal(nulls(SL_TIGHT, 4, 10, 0, 3), SL_FSCK_WRONG);
    /* Rows that a vector hides may have been counted. */
    assert_int_equal(nulls(SL_TIGHT, 5, 10, 2, 3), SL_FSCK_LOOSE);
    assert_int_equal(nulls(SL_TIGHT, 6, 10, 2, 3), SL_FSCK_WRONG);
    assert_int_equal(nulls(SL_TIGHT, 10, 10, 2, 8), SL_FSCK_GOOD);
}

static void wide_null_counts_say_only_none_and_all(void **state)
{
    (void)state;
    assert_int_equal(nulls(SL_WIDE, 7, 10, 2, 3), SL_FSCK_GOOD);
    assert_int_equal(nulls(SL_WIDE, 0, 10, 2, 1), SL_FSCK_WRONG);
    assert_int_equal(nulls(SL_WIDE, 10, 10, 2, 7), SL_FSCK_WRONG);
    assert_int_equal(nulls(SL_WIDE, 10, 10, 2, 8), SL_FSCK_GOOD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_that_leave_a_value_out_are_wrong),
        cmocka_unit_test(wider_bounds_are_loose_unless_they_say_so),
        cmocka_unit_test(bounds_of_nulls_alone_say_nothing),
        cmocka_unit_test(texts_may_be_cut_so_that_they_still_bound),
        cmocka_unit_test(timestamps_may_be_cut_to_milliseconds),
        cmocka_unit_test(days_of_the_old_calendar_are_not_compared_exactly),
        cmocka_unit_test(signed_zeros_are_equal_and_nan_is_greatest),
        cmocka_unit_test(texts_of_floats_are_taken_for_the_floats),
        cmocka_unit_test(decimals_are_compared_digit_by_digit),
        cmocka_unit_test(text_under_a_collation_has_no_order_of_bytes),
        cmocka_unit_test(null_counts_must_be_exact_where_they_say_so),
        cmocka_unit_test(wide_null_counts_say_only_none_and_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
