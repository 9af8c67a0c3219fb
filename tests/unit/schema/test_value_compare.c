/* The order of scalars. */
#include "model_fixture.h"

#include <math.h>

static int order_of(const silt_value *a, const silt_value *b)
{
    int order = 7;
    int reverse = 7;
    assert_true(sl_value_compare(a, b, &order));
    assert_true(sl_value_compare(b, a, &reverse));
    assert_int_equal(order, -reverse);
    return order;
}

static int order(struct model *m, const char *a_type, const char *a, const char *b_type, const char *b)
{
    const silt_value x = model_value(m, a_type, a);
    const silt_value y = model_value(m, b_type, b);
    return order_of(&x, &y);
}

static void numbers_of_different_kinds_compare_exactly(void **state)
{
    struct model *m = *state;
    assert_int_equal(order(m, "tinyint", "5", "bigint", "5"), 0);
    assert_int_equal(order(m, "bigint", "9007199254740993", "double", "9007199254740992"), 1);
    assert_int_equal(order(m, "bigint", "9223372036854775807", "double", "9223372036854775808"), -1);
    assert_int_equal(order(m, "bigint", "-9223372036854775808", "double", "-9223372036854775808"), 0);
    assert_int_equal(order(m, "decimal(2,1)", "0.1", "double", "0.1"), -1);
    assert_int_equal(order(m, "decimal(2,1)", "0.5", "double", "0.5"), 0);
    assert_int_equal(order(m, "decimal(38,0)", "99999999999999999999999999999999999999", "double", "1e38"), 1);
    assert_int_equal(order(m, "decimal(38,38)", "0.00000000000000000000000000000000000001", "double", "1e-39"), 1);
    assert_int_equal(order(m, "decimal(38,38)", "0.00000000000000000000000000000000000001", "double", "4.9e-324"), 1);
    assert_int_equal(order(m, "decimal(38,38)", "-0.00000000000000000000000000000000000001", "double", "-1e-38"), -1);
    assert_int_equal(order(m, "decimal(3,2)", "1.00", "int", "1"), 0);
    assert_int_equal(order(m, "decimal(3,2)", "-1.01", "int", "-1"), -1);
    assert_int_equal(order(m, "decimal(5,0)", "0", "double", "0"), 0);
    assert_int_equal(order(m, "float", "1.5", "double", "1.5"), 0);
    assert_int_equal(order(m, "int", "1", "double", "1e308"), -1);
    assert_int_equal(order(m, "int", "1", "double", "-Infinity"), 1);
}

static void nan_is_the_greatest_and_zeros_are_equal(void **state)
{
    struct model *m = *state;
    assert_int_equal(order(m, "double", "NaN", "double", "Infinity"), 1);
    assert_int_equal(order(m, "double", "NaN", "float", "NaN"), 0);
    assert_int_equal(order(m, "bigint", "5", "double", "NaN"), -1);
    assert_int_equal(order(m, "decimal(5,2)", "5", "double", "NaN"), -1);
    assert_int_equal(order(m, "double", "-0.0", "double", "0.0"), 0);
}

static void texts_and_times_have_their_order(void **state)
{
    struct model *m = *state;
    assert_int_equal(order(m, "string", "a", "string", "ab"), -1);
    assert_int_equal(order(m, "string", "\xc3\xa9", "string", "z"), 1);
    assert_int_equal(order(m, "binary", "\xff", "binary", "\x01"), 1);
    assert_int_equal(order(m, "date", "2020-01-01", "date", "2019-12-31"), 1);
    assert_int_equal(order(m, "timestamp", "2020-01-01T00:00:00Z", "timestamp", "2020-01-01T01:00:00+01:00"), 0);
    assert_int_equal(order(m, "boolean", "false", "boolean", "true"), -1);
}

static void what_has_no_order_is_not_compared(void **state)
{
    struct model *m = *state;
    static const char *const pairs[][4] = {{"string", "1", "int", "1"},
                                           {"string", "a", "binary", "a"},
                                           {"date", "2020-01-01", "timestamp", "2020-01-01"},
                                           {"timestamp", "2020-01-01", "timestamp_ntz", "2020-01-01"},
                                           {"boolean", "true", "int", "1"},
                                           {"int", NULL, "int", "1"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const silt_value a = model_value(m, pairs[i][0], pairs[i][1]);
        const silt_value b = model_value(m, pairs[i][2], pairs[i][3]);
        int result = 0;
        assert_false(sl_value_compare(&a, &b, &result));
    }
    const silt_value wild = sl_value_decimal(1, 38, 200);
    const silt_value one = sl_value_i64(SILT_TYPE_LONG, 1);
    int result = 0;
    assert_false(sl_value_compare(&wild, &one, &result));
}

/* A second opinion: doubles that are small multiples of powers of two are decimals too. */
static void decimals_and_doubles_agree_where_both_are_exact(void **state)
{
    (void)state;
    for (int64_t a = -40; a <= 40; a++) {
        for (int64_t b = -40; b <= 40; b++) {
            const silt_value d = sl_value_decimal((sl_i128)a * 125, 38, 3); /* a / 8 */
            const silt_value f = sl_value_f64(SILT_TYPE_DOUBLE, (double)b / 8);
            assert_int_equal(order_of(&d, &f), a < b ? -1 : a > b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(numbers_of_different_kinds_compare_exactly),
        MODEL_TEST(nan_is_the_greatest_and_zeros_are_equal),
        MODEL_TEST(texts_and_times_have_their_order),
        MODEL_TEST(what_has_no_order_is_not_compared),
        MODEL_TEST(decimals_and_doubles_agree_where_both_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
