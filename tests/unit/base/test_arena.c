/* Arenas. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#include "test_env.h"

static void memory_is_aligned_and_not_shared(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    assert_int_equal(t.n_requests, 0);
    char *blocks[2000];
    for (size_t i = 0; i < 2000; i++) {
        blocks[i] = sl_arena_alloc(&arena, i % 100);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        memset(blocks[i], (int)(i % 251), i % 100);
    }
    for (size_t i = 0; i < 2000; i++) {
        for (size_t j = 0; j < i % 100; j++) {
            assert_int_equal((unsigned char)blocks[i][j], i % 251);
        }
    }
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void few_blocks_serve_many_requests(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    for (int i = 0; i < 100000; i++) {
        assert_non_null(sl_arena_alloc(&arena, 48));
    }
    assert_true(t.n_requests < 20);
    assert_true(arena.total_bytes < (size_t)100000 * 48 * 2);
    assert_int_equal(arena.total_bytes, t.live_bytes);
    sl_arena_release(&arena);
    assert_int_equal(arena.total_bytes, 0);
    assert_non_null(sl_arena_alloc(&arena, 1));
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void large_request_does_not_waste_the_current_block(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    assert_non_null(sl_arena_alloc(&arena, 16));
    const size_t left = arena.left;
    char *large = sl_arena_alloc_zero(&arena, 3 << 20);
    assert_non_null(large);
    assert_int_equal(large[(3 << 20) - 1], 0);
    assert_int_equal(arena.left, left);
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void merged_arena_keeps_pointers_of_both(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena a;
    struct sl_arena b;
    struct sl_arena empty;
    sl_arena_init(&a, &t.env);
    sl_arena_init(&b, &t.env);
    sl_arena_init(&empty, &t.env);
    const char *x = sl_arena_strdup(&a, SL_STR("x"));
    const char *y = sl_arena_strdup(&b, SL_STR("y"));
    sl_arena_merge(&a, &b);
    sl_arena_merge(&a, &empty);
    sl_arena_merge(&empty, &a);
    assert_string_equal(x, "x");
    assert_string_equal(y, "y");
    assert_string_equal(sl_arena_printf(&empty, "%s-%d", "z", 7), "z-7");
    assert_int_equal(a.total_bytes, 0);
    sl_arena_release(&a);
    sl_arena_release(&b);
    sl_arena_release(&empty);
    test_env_check(&t);
}

static void absent_view_stays_absent_and_empty_does_not(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    assert_null(sl_arena_copy(&arena, (struct sl_str){NULL, 0}).ptr);
    assert_non_null(sl_arena_copy(&arena, SL_STR("")).ptr);
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void running_out_of_memory_gives_null_and_keeps_the_arena(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    test_env_fail_at(&t, 1);
    assert_null(sl_arena_alloc(&arena, 10));
    assert_non_null(sl_arena_alloc(&arena, 10));
    assert_null(sl_arena_alloc(&arena, SIZE_MAX));
    assert_null(sl_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(sl_arena_alloc_array(&arena, SIZE_MAX / 4, 8));
    test_env_fail_at(&t, 1);
    assert_null(sl_arena_copy(&arena, (struct sl_str){(char[5000]){0}, 5000}).ptr);
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void reset_arena_takes_no_more_memory_for_the_same_work(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    sl_arena_reset(&arena);
    assert_int_equal(t.live_blocks, 0);
    for (int round = 0; round < 100; round++) {
        assert_non_null(sl_arena_alloc(&arena, 100));
        assert_non_null(sl_arena_alloc(&arena, 2000));
        sl_arena_reset(&arena);
        assert_int_equal(t.live_blocks, 1);
    }
    assert_non_null(sl_arena_alloc(&arena, 1));
    assert_non_null(sl_arena_alloc(&arena, 100000)); /* a block of its own */
    for (int i = 0; i < 10; i++) {
        assert_non_null(sl_arena_alloc(&arena, 1000));
    }
    sl_arena_reset(&arena);
    assert_int_equal(t.live_blocks, 1);
    assert_int_equal(t.live_bytes, arena.total_bytes);
    sl_arena_release(&arena);
    /* What was taken first may be large: its block serves again. */
    assert_non_null(sl_arena_alloc(&arena, 100000));
    sl_arena_reset(&arena);
    char *again = sl_arena_alloc(&arena, 5000);
    assert_non_null(again);
    memset(again, 1, 5000);
    assert_int_equal(t.live_blocks, 1);
    sl_arena_release(&arena);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_not_shared),
        cmocka_unit_test(few_blocks_serve_many_requests),
        cmocka_unit_test(large_request_does_not_waste_the_current_block),
        cmocka_unit_test(reset_arena_takes_no_more_memory_for_the_same_work),
        cmocka_unit_test(merged_arena_keeps_pointers_of_both),
        cmocka_unit_test(absent_view_stays_absent_and_empty_does_not),
        cmocka_unit_test(running_out_of_memory_gives_null_and_keeps_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
