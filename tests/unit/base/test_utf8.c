/* UTF-8. */
#include "base/utf8.h"

#include "test_env.h"

static void valid_text_is_valid(void **state)
{
    (void)state;
    assert_true(sl_utf8_valid(SL_STR("")));
    assert_true(sl_utf8_valid((struct sl_str){NULL, 0}));
    assert_true(sl_utf8_valid(SL_STR("a\0b")));
    assert_true(sl_utf8_valid(SL_STR("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF")));
    assert_true(sl_utf8_valid(SL_STR("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")));
    assert_true(sl_utf8_valid(SL_STR("twelve bytes\xC3\xA4 and some more of them")));
}

static void malformed_text_is_invalid(void **state)
{
    (void)state;
    assert_false(sl_utf8_valid(SL_STR("\x80")));
    assert_false(sl_utf8_valid(SL_STR("\xC0\x80")));
    assert_false(sl_utf8_valid(SL_STR("\xC1\xBF")));
    assert_false(sl_utf8_valid(SL_STR("\xE0\x9F\xBF")));
    assert_false(sl_utf8_valid(SL_STR("\xED\xA0\x80")));
    assert_false(sl_utf8_valid(SL_STR("\xF0\x8F\xBF\xBF")));
    assert_false(sl_utf8_valid(SL_STR("\xF4\x90\x80\x80")));
    assert_false(sl_utf8_valid(SL_STR("\xF5\x80\x80\x80")));
    assert_false(sl_utf8_valid(SL_STR("\xE2\x82")));
    assert_false(sl_utf8_valid(SL_STR("\xE2\x82x")));
    assert_false(sl_utf8_valid(SL_STR("\xFF")));
    assert_false(sl_utf8_valid(SL_STR("eight by\xFFtes and some more")));
    assert_false(sl_utf8_valid(SL_STR("more than eight bytes\xC3")));
}

static void every_code_point_survives_encoding(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x110000; c++) {
        char bytes[4];
        const size_t n = sl_utf8_encode(c, bytes);
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
            assert_int_equal(n, 0);
            continue;
        }
        size_t pos = 0;
        uint32_t back = 0;
        assert_true(sl_utf8_next(sl_str_make(bytes, n), &pos, &back));
        assert_int_equal(pos, n);
        assert_int_equal(back, c);
    }
}

static void invalid_byte_leaves_the_position(void **state)
{
    (void)state;
    size_t pos = 1;
    uint32_t c = 0;
    assert_false(sl_utf8_next(SL_STR("a\xFF"), &pos, &c));
    assert_int_equal(pos, 1);
}

static void prefix_counts_characters(void **state)
{
    (void)state;
    const struct sl_str text = SL_STR("a\xC3\xA4\xFF\xF0\x9F\x98\x80z");
    assert_int_equal(sl_utf8_prefix(text, 0), 0);
    assert_int_equal(sl_utf8_prefix(text, 2), 3);
    assert_int_equal(sl_utf8_prefix(text, 3), 4);
    assert_int_equal(sl_utf8_prefix(text, 4), 8);
    assert_int_equal(sl_utf8_prefix(text, 100), text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_text_is_valid),
        cmocka_unit_test(malformed_text_is_invalid),
        cmocka_unit_test(every_code_point_survives_encoding),
        cmocka_unit_test(invalid_byte_leaves_the_position),
        cmocka_unit_test(prefix_counts_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
