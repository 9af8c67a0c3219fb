/* Growing byte buffers. */
#include "base/buf.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "test_env.h"

static void appended_text_is_there_and_ends_with_nul(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    assert_string_equal(sl_buf_cstr(&buf), "");
    assert_int_equal(t.n_requests, 0);
    sl_buf_put_c(&buf, "a");
    sl_buf_put_char(&buf, 'b');
    sl_buf_put_str(&buf, SL_STR("cd"));
    sl_buf_put_str(&buf, (struct sl_str){NULL, 0});
    sl_buf_put_i64(&buf, INT64_MIN);
    sl_buf_put_u64(&buf, UINT64_MAX);
    sl_buf_put_i64(&buf, 0);
    sl_buf_printf(&buf, "<%s%03d>", "x", 7);
    sl_buf_printf(&buf, "%s", "");
    assert_int_equal(sl_buf_status(&buf, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(&buf), "abcd-9223372036854775808184467440737095516150<x007>");
    assert_int_equal(sl_buf_view(&buf).len, strlen(sl_buf_cstr(&buf)));
    sl_buf_clear(&buf);
    assert_string_equal(sl_buf_cstr(&buf), "");
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void numbers_of_every_length_are_printed(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    uint64_t value = 1;
    for (int digits = 1; digits <= 20; digits++, value *= 10) {
        const uint64_t around[] = {value - 1, value, value + 1, value / 2 * 3, value + value / 7};
        for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
            char expected[32];
            (void)snprintf(expected, sizeof(expected), "%" PRIu64, around[i]);
            sl_buf_clear(&buf);
            sl_buf_put_u64(&buf, around[i]);
            assert_string_equal(sl_buf_cstr(&buf), expected);
        }
    }
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void text_beyond_the_maximum_is_a_limit_error_that_sticks(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    buf.max = 10;
    sl_buf_put_c(&buf, "0123456789");
    assert_int_equal(buf.status, SILT_OK);
    sl_buf_put_c(&buf, "x");
    assert_int_equal(sl_buf_status(&buf, NULL), SILT_ELIMIT);
    assert_null(sl_buf_reserve(&buf, 0));
    assert_int_equal(buf.len, 10);
    sl_buf_clear(&buf);
    sl_buf_put_c(&buf, "ok");
    assert_int_equal(sl_buf_status(&buf, NULL), SILT_OK);
    assert_null(sl_buf_reserve(&buf, SIZE_MAX));
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void running_out_of_memory_sticks_and_keeps_the_text(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    sl_buf_put_c(&buf, "kept");
    test_env_fail_at(&t, 1);
    char text[200] = {0};
    sl_buf_put(&buf, text, sizeof(text));
    sl_buf_put_c(&buf, "ignored");
    sl_buf_printf(&buf, "%d", 5);
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_buf_status(&buf, &err), SILT_ENOMEM);
    assert_int_equal(err.status, SILT_ENOMEM);
    assert_string_equal(sl_buf_cstr(&buf), "kept");
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void taken_block_belongs_to_the_caller(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    sl_buf_put_c(&buf, "mine");
    size_t len = 0;
    size_t cap = 0;
    char *block = sl_buf_take(&buf, &len, &cap);
    assert_int_equal(len, 4);
    assert_string_equal(block, "mine");
    assert_string_equal(sl_buf_cstr(&buf), "");
    sl_buf_put_c(&buf, "more");
    sl_buf_release(&buf);
    sl_release(&t.env, block, cap);
    assert_null(sl_buf_take(&buf, &len, &cap));
    test_env_check(&t);
}

static void reserved_room_can_be_written_directly(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    memcpy(sl_buf_reserve(&buf, 1000), "abc", 3);
    buf.len += 3;
    sl_buf_put_char(&buf, 'd');
    assert_string_equal(sl_buf_cstr(&buf), "abcd");
    sl_buf_release(&buf);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_text_is_there_and_ends_with_nul),
        cmocka_unit_test(numbers_of_every_length_are_printed),
        cmocka_unit_test(text_beyond_the_maximum_is_a_limit_error_that_sticks),
        cmocka_unit_test(running_out_of_memory_sticks_and_keeps_the_text),
        cmocka_unit_test(taken_block_belongs_to_the_caller),
        cmocka_unit_test(reserved_room_can_be_written_directly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
