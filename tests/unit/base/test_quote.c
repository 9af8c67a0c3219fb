/* Quoting: what stands inside of the quotes, whatever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quote.h"
#include "test_env.h"

static void assert_quoted(struct sl_str text, char quote, struct sl_str expected)
{
    struct test_env t;
    struct sl_buf out;
    test_env_init(&t);
    sl_buf_init(&out, &t.env);
    sl_quote_put(&out, text, quote);
    assert_int_equal(sl_buf_status(&out, NULL), SILT_OK);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.data, expected.ptr, expected.len);
    sl_buf_release(&out);
    test_env_check(&t);
}

static void text_is_put_between_quotes(void **state)
{
    (void)state;
    assert_quoted(SL_STR("plain"), '"', SL_STR("\"plain\""));
    assert_quoted(SL_STR(""), '`', SL_STR("``"));
    assert_quoted((struct sl_str){0}, '\'', SL_STR("''"));
}

static void the_quote_itself_is_doubled_and_others_are_not(void **state)
{
    (void)state;
    assert_quoted(SL_STR("a\"b'c`"), '"', SL_STR("\"a\"\"b'c`\""));
    assert_quoted(SL_STR("a\"b'c`"), '\'', SL_STR("'a\"b''c`'"));
    assert_quoted(SL_STR("''"), '\'', SL_STR("''''''"));
    assert_quoted(SL_STR("`"), '`', SL_STR("````"));
}

static void any_bytes_pass(void **state)
{
    (void)state;
    assert_quoted(SL_STR("a\0\xff\n"), '"', SL_STR("\"a\0\xff\n\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_put_between_quotes),
        cmocka_unit_test(the_quote_itself_is_doubled_and_others_are_not),
        cmocka_unit_test(any_bytes_pass),
    };
    return cmocka_run_group_tests_name("quote", tests, NULL, NULL);
}
