/* The thread pool. */
#include "storage/threadpool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "test_env.h"

#define N_ITEMS 1000

struct counts {
    const silt_executor *executor;
    atomic_int items[N_ITEMS];
    atomic_int inner;
};

static void count_item(void *arg, size_t index)
{
    atomic_fetch_add(&((struct counts *)arg)->items[index], 1);
}

static void count_inner(void *arg, size_t index)
{
    (void)index;
    atomic_fetch_add(&((struct counts *)arg)->inner, 1);
}

static void run_nested(void *arg, size_t index)
{
    struct counts *counts = arg;
    count_item(arg, index);
    counts->executor->run(counts->executor->ctx, 10, count_inner, counts);
}

static void every_item_runs_once_with_any_number_of_threads(void **state)
{
    (void)state;
    for (unsigned n_threads = 0; n_threads <= 8; n_threads++) {
        silt_executor executor;
        struct counts counts = {0};
        assert_int_equal(sl_thread_pool_new(silt_env_default(), n_threads, &executor, NULL), SILT_OK);
        for (int round = 0; round < 3; round++) {
            executor.run(executor.ctx, N_ITEMS, count_item, &counts);
        }
        executor.run(executor.ctx, 0, count_item, &counts);
        for (int i = 0; i < N_ITEMS; i++) {
            assert_int_equal(atomic_load(&counts.items[i]), 3);
        }
        sl_thread_pool_free(&executor);
        assert_null(executor.run);
        sl_thread_pool_free(&executor);
    }
}

static void nested_runs_end(void **state)
{
    (void)state;
    silt_executor executor;
    assert_int_equal(sl_thread_pool_new(silt_env_default(), 4, &executor, NULL), SILT_OK);
    struct counts counts = {.executor = &executor};
    executor.run(executor.ctx, 200, run_nested, &counts);
    assert_int_equal(atomic_load(&counts.inner), 2000);
    sl_thread_pool_free(&executor);
}

static void *run_from_a_thread(void *arg)
{
    struct counts *counts = arg;
    for (int i = 0; i < 20; i++) {
        counts->executor->run(counts->executor->ctx, 50, count_inner, counts);
    }
    return NULL;
}

static void several_callers_share_the_pool(void **state)
{
    (void)state;
    silt_executor executor;
    assert_int_equal(sl_thread_pool_new(silt_env_default(), 3, &executor, NULL), SILT_OK);
    struct counts counts = {.executor = &executor};
    pthread_t callers[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, run_from_a_thread, &counts), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&counts.inner), 4 * 20 * 50);
    sl_thread_pool_free(&executor);
}

static void pool_without_memory_is_not_made(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    test_env_fail_at(&t, 1);
    silt_executor executor;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_thread_pool_new(&t.env, 2, &executor, &err), SILT_ENOMEM);
    assert_null(executor.run);
    assert_int_equal(sl_thread_pool_new(&t.env, 2, &executor, &err), SILT_OK);
    sl_thread_pool_free(&executor);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_runs_once_with_any_number_of_threads),
        cmocka_unit_test(nested_runs_end),
        cmocka_unit_test(several_callers_share_the_pool),
        cmocka_unit_test(pool_without_memory_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
