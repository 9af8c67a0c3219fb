/* Types and ranges of literals. */
#include "model_fixture.h"

#include <string.h>

#include "expr/literal.h"

static void check(struct model *m, const char *text, bool negative, silt_type_kind kind, const char *expected)
{
    silt_value v;
    assert_true(sl_literal_number(sl_str_from(text), negative, &v));
    assert_int_equal(v.kind, kind);
    struct sl_buf out = model_buf(m);
    sl_value_print(&out, &v);
    assert_string_equal(model_text(m, &out), expected);
}

static void numbers_have_the_narrowest_type(void **state)
{
    struct model *m = *state;
    check(m, "2147483647", false, SILT_TYPE_INTEGER, "2147483647");
    check(m, "2147483648", true, SILT_TYPE_INTEGER, "-2147483648");
    check(m, "2147483648", false, SILT_TYPE_LONG, "2147483648");
    check(m, "9223372036854775808", true, SILT_TYPE_LONG, "-9223372036854775808");
    check(m, "9223372036854775808", false, SILT_TYPE_DECIMAL, "9223372036854775808");
    check(m, "1.50", true, SILT_TYPE_DECIMAL, "-1.50");
    check(m, "1e2", false, SILT_TYPE_DOUBLE, "100.0");
    check(m, "128y", true, SILT_TYPE_BYTE, "-128");
    check(m, "1.", false, SILT_TYPE_DECIMAL, "1");
    check(m, "1e-2bd", false, SILT_TYPE_DECIMAL, "0.01");
    check(m, "0", true, SILT_TYPE_INTEGER, "0");
    check(m, "0d", true, SILT_TYPE_DOUBLE, "-0.0");
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"128Y",    "32768S", "9223372036854775808L",
                                      "1.5L",    "1e2L",   "1e400",
                                      "1e39f",   "1e39BD", "999999999999999999999999999999999999999",
                                      "1e-39BD", "L"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        silt_value v;
        const bool taken = sl_literal_number(sl_str_from(bad[i]), false, &v);
        assert_false(taken);
    }
}

static void precision_covers_the_scale(void **state)
{
    (void)state;
    silt_value v;
    assert_true(sl_literal_number(SL_STR("0.05"), false, &v));
    assert_int_equal(v.precision, 2);
    assert_int_equal(v.scale, 2);
}

static void typed_strings_are_read_in_their_type(void **state)
{
    struct model *m = *state;
    silt_value v;
    bool known = false;
    assert_true(sl_literal_typed(&m->arena, SL_STR("Date"), SL_STR("1970-01-02"), &known, &v));
    assert_int_equal(v.as.i64, 1);
    assert_true(sl_literal_typed(&m->arena, SL_STR("TIMESTAMP"), SL_STR("1970-01-01 00:00:01"), &known, &v));
    assert_int_equal(v.as.i64, 1000000);
    assert_false(sl_literal_typed(&m->arena, SL_STR("timestamp_ntz"), SL_STR("x"), &known, &v));
    assert_true(known);
    assert_false(sl_literal_typed(&m->arena, SL_STR("interval"), SL_STR("1 day"), &known, &v));
    assert_false(known);
    assert_true(sl_literal_hex(&m->arena, SL_STR("fAb"), &v));
    assert_true(sl_str_eq(sl_value_get_str(&v), SL_STR("\x0f\xab")));
    assert_true(sl_literal_hex(&m->arena, SL_STR(""), &v));
    assert_int_equal(v.as.bytes.len, 0);
    assert_false(sl_literal_hex(&m->arena, SL_STR("0x"), &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(numbers_have_the_narrowest_type),
        MODEL_TEST(numbers_out_of_range_are_refused),
        MODEL_TEST(precision_covers_the_scale),
        MODEL_TEST(typed_strings_are_read_in_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
