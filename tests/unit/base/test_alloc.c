/* Memory through the environment, and checked arithmetic. */
#include "base/alloc.h"

#include <string.h>

#include "test_env.h"

static void blocks_of_size_zero_are_blocks_of_one_byte(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    void *block = sl_alloc(&t.env, 0);
    assert_non_null(block);
    assert_int_equal(t.live_bytes, 1);
    block = sl_resize(&t.env, block, 0, 10);
    assert_int_equal(t.live_bytes, 10);
    sl_release(&t.env, block, 10);
    sl_release(&t.env, NULL, 10);
    test_env_check(&t);
}

static void array_size_that_overflows_is_out_of_memory(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    assert_null(sl_alloc_array(&t.env, SIZE_MAX / 2, 3));
    assert_null(sl_alloc(&t.env, SIZE_MAX));
    assert_int_equal(t.n_requests, 0);
}

static void zeroed_block_is_zero(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    const char zeros[100] = {0};
    char *block = sl_alloc_zero(&t.env, sizeof(zeros));
    assert_memory_equal(block, zeros, sizeof(zeros));
    sl_release(&t.env, block, sizeof(zeros));
    test_env_check(&t);
}

static void copied_string_ends_with_nul(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    char *copy = sl_strdup_len(&t.env, "abcdef", 3);
    char *empty = sl_strdup_len(&t.env, NULL, 0);
    assert_string_equal(copy, "abc");
    assert_string_equal(empty, "");
    sl_strfree(&t.env, copy);
    sl_strfree(&t.env, empty);
    sl_strfree(&t.env, NULL);
    test_env_check(&t);
}

static void arithmetic_reports_overflow_and_keeps_out(void **state)
{
    (void)state;
    size_t size = 7;
    int64_t value = 7;
    assert_false(sl_add_size(SIZE_MAX, 1, &size));
    assert_false(sl_mul_size(SIZE_MAX / 2 + 1, 2, &size));
    assert_int_equal(size, 7);
    assert_true(sl_mul_size(0, SIZE_MAX, &size));
    assert_int_equal(size, 0);
    assert_false(sl_add_i64(INT64_MIN, -1, &value));
    assert_false(sl_mul_i64(INT64_MIN, -1, &value));
    assert_int_equal(value, 7);
    assert_true(sl_add_i64(INT64_MAX, INT64_MIN, &value));
    assert_int_equal(value, -1);
    assert_true(sl_mul_i64(-3, 4, &value));
    assert_int_equal(value, -12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_size_zero_are_blocks_of_one_byte),
        cmocka_unit_test(array_size_that_overflows_is_out_of_memory),
        cmocka_unit_test(zeroed_block_is_zero),
        cmocka_unit_test(copied_string_ends_with_nul),
        cmocka_unit_test(arithmetic_reports_overflow_and_keeps_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
