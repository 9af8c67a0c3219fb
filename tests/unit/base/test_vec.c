/* Growing arrays. */
#include "base/vec.h"

#include <stdint.h>

#include "test_env.h"

static void pushed_elements_are_zeroed_and_kept_in_order(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_vec vec;
    sl_vec_init(&vec, &t.env, sizeof(uint64_t));
    assert_int_equal(t.n_requests, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *element = sl_vec_push(&vec);
        assert_int_equal(*element, 0);
        *element = i * i;
    }
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(*(uint64_t *)sl_vec_at(&vec, i), i * i);
    }
    sl_vec_release(&vec);
    assert_int_equal(vec.len, 0);
    test_env_check(&t);
}

static void reserve_makes_room_at_once(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_vec vec;
    sl_vec_init(&vec, &t.env, 3);
    assert_true(sl_vec_reserve(&vec, 500));
    const size_t requests = t.n_requests;
    for (int i = 0; i < 500; i++) {
        assert_non_null(sl_vec_push(&vec));
    }
    assert_int_equal(t.n_requests, requests);
    sl_vec_release(&vec);
    test_env_check(&t);
}

static void failed_growth_keeps_what_is_there(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_vec vec;
    sl_vec_init(&vec, &t.env, sizeof(int));
    *(int *)sl_vec_push(&vec) = 5;
    assert_false(sl_vec_reserve(&vec, SIZE_MAX));
    assert_false(sl_vec_reserve(&vec, SIZE_MAX / 2));
    test_env_fail_at(&t, 1);
    assert_false(sl_vec_reserve(&vec, 100));
    assert_int_equal(vec.len, 1);
    assert_int_equal(*(int *)sl_vec_at(&vec, 0), 5);
    sl_vec_release(&vec);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_elements_are_zeroed_and_kept_in_order),
        cmocka_unit_test(reserve_makes_room_at_once),
        cmocka_unit_test(failed_growth_keeps_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
