/* Names without regard to case. */
#include "base/str.h"

#include "test_env.h"

static void names_that_differ_in_case_are_equal(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""},
        {"userId", "USERID"},
        {"straße", "STRAßE"},
        {"Größe", "GRÖSSE"},
        {"ÀÉÎÕÜÞ", "àéîõüþ"},
        {"ŁÓDŹ", "łódź"},
        {"Ÿ", "ÿ"},
        {"ŉĸ", "ŉĸ"},
        {"ΆΈΉΊΌΎΏΣΩΪ", "άέήίόύώσωϊ"},
        {"λόγος", "ΛΌΓΟΣ"},
        {"ЁЖЯҐӀ", "ёжяґӏ"},
        {"İı", "ii"},
        {"K", "k"},
        {"ẞ", "ß"},
        {"ԱՖ", "աֆ"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const bool expected = i != 3; /* ß is one character and SS are two */
        assert_int_equal(sl_str_eq_nocase(sl_str_from(pairs[i][0]), sl_str_from(pairs[i][1])), expected);
        assert_int_equal(sl_str_eq_nocase(sl_str_from(pairs[i][1]), sl_str_from(pairs[i][0])), expected);
    }
}

static void other_names_are_not_equal(void **state)
{
    (void)state;
    assert_false(sl_str_eq_nocase(SL_STR("a"), SL_STR("b")));
    assert_false(sl_str_eq_nocase(SL_STR("a"), SL_STR("ab")));
    assert_false(sl_str_eq_nocase(SL_STR("ab"), SL_STR("a")));
    assert_false(sl_str_eq_nocase(SL_STR("@"), SL_STR("`")));
    assert_false(sl_str_eq_nocase(SL_STR("["), SL_STR("{")));
    assert_false(sl_str_eq_nocase(SL_STR("×"), SL_STR("÷")));
    assert_false(sl_str_eq_nocase(SL_STR("ä"), SL_STR("a")));
    assert_false(sl_str_eq_nocase(SL_STR("ĸ"), SL_STR("Ĺ")));
}

static void invalid_bytes_equal_only_themselves(void **state)
{
    (void)state;
    assert_true(sl_str_eq_nocase(SL_STR("A\xFF\xC3"), SL_STR("a\xFF\xC3")));
    assert_false(sl_str_eq_nocase(SL_STR("\xFF"), SL_STR("\xFE")));
    assert_false(sl_str_eq_nocase(SL_STR("\xE4"), SL_STR("\xC4")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_differ_in_case_are_equal),
        cmocka_unit_test(other_names_are_not_equal),
        cmocka_unit_test(invalid_bytes_equal_only_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
