/* The default environment, calls and the executor. */
#include "base/env.h"

#include <string.h>

#include "base/alloc.h"
#include "silt/version.h"
#include "test_env.h"

static void default_environment_works(void **state)
{
    (void)state;
    const silt_env *env = silt_env_default();
    assert_int_equal(sl_env_check(env, NULL), SILT_OK);
    assert_true(sl_now_us(env) > INT64_C(1577836800000000));
    assert_true(sl_now_ms(env) > INT64_C(1577836800000));
    const int64_t before = sl_monotonic_us(env);
    env->sleep_us(env->ctx, 1000);
    assert_true(sl_monotonic_us(env) >= before + 1000);
    unsigned char bytes[1000] = {0};
    unsigned all = 0;
    assert_int_equal(env->random_bytes(env->ctx, bytes, sizeof(bytes)), SILT_OK);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        all |= bytes[i];
    }
    assert_int_equal(all, 0xFF);
    void *block = sl_resize(env, sl_alloc(env, 10), 10, 100);
    assert_non_null(block);
    sl_release(env, block, 100);
}

static void incomplete_environment_is_refused_by_name(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    struct test_env t;
    test_env_init(&t);
    assert_int_equal(sl_env_check(NULL, &err), SILT_EINVALID);
    t.env.random_bytes = NULL;
    assert_int_equal(sl_env_check(&t.env, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "random_bytes"));
    t.env.allocator.resize = NULL;
    assert_int_equal(sl_env_check(&t.env, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "allocator.resize"));
    t.env.abi_version = SILT_ABI_VERSION + 1;
    assert_int_equal(sl_env_check(&t.env, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "abi_version"));
    t.env.size = 8;
    assert_int_equal(sl_env_check(&t.env, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "size"));
}

static void larger_environment_and_absent_log_are_accepted(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    t.env.size = sizeof(silt_env) + 64;
    t.env.log = NULL;
    assert_int_equal(sl_env_check(&t.env, NULL), SILT_OK);
    sl_log(&t.env, SILT_LOG_WARN, "nobody hears");
    sl_log(NULL, SILT_LOG_WARN, "nobody hears");
}

static void log_line_is_one_line(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    sl_log(&t.env, SILT_LOG_INFO, "a\n%d", 5);
    assert_string_equal(t.last_log, "a 5");
    assert_int_equal(t.last_level, SILT_LOG_INFO);
}

static void milliseconds_before_the_epoch_round_down(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    t.wall_us = -1;
    assert_int_equal(sl_now_ms(&t.env), -1);
    t.wall_us = -1000;
    assert_int_equal(sl_now_ms(&t.env), -1);
    t.wall_us = 1999;
    assert_int_equal(sl_now_ms(&t.env), 1);
}

static void call_ends_by_deadline_and_by_cancellation(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    volatile int cancel = 0;
    silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    assert_int_equal(sl_call_check(&t.env, NULL, NULL), SILT_OK);
    assert_int_equal(sl_call_check(&t.env, &call, NULL), SILT_OK);
    call.deadline_us = t.monotonic_us + 1;
    assert_int_equal(sl_call_check(&t.env, &call, NULL), SILT_OK);
    t.monotonic_us++;
    assert_int_equal(sl_call_check(&t.env, &call, NULL), SILT_EDEADLINE);
    cancel = 1;
    assert_int_equal(sl_call_check(&t.env, &call, NULL), SILT_ECANCELLED);
}

static void sleep_is_cut_into_slices_and_at_the_deadline(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION};
    assert_int_equal(sl_call_sleep(&t.env, &call, 120000, NULL), SILT_OK);
    assert_int_equal(t.slept_us, 120000);
    assert_int_equal(t.n_sleeps, 3);
    assert_int_equal(sl_call_sleep(&t.env, NULL, 120000, NULL), SILT_OK);
    assert_int_equal(t.n_sleeps, 4);
    t.slept_us = 0;
    call.deadline_us = t.monotonic_us + 70000;
    assert_int_equal(sl_call_sleep(&t.env, &call, 120000, NULL), SILT_EDEADLINE);
    assert_int_equal(t.slept_us, 70000);
    assert_int_equal(sl_call_sleep(&t.env, &call, 0, NULL), SILT_EDEADLINE);
}

/* A sleep during which the caller cancels. */
static void sleep_and_cancel(void *ctx, int64_t duration_us)
{
    (void)duration_us;
    (*(volatile int *)ctx)++;
}

static void cancellation_during_a_sleep_is_noticed(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    volatile int cancel = 0;
    silt_env env = t.env;
    env.ctx = (void *)(uintptr_t)&cancel;
    env.sleep_us = sleep_and_cancel;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    assert_int_equal(sl_call_sleep(&env, &call, 1000000, NULL), SILT_ECANCELLED);
    assert_int_equal(cancel, 1);
}

static void keep_progress(void *ctx, const silt_progress *progress)
{
    *(silt_progress *)ctx = *progress;
}

static void progress_tells_a_fraction_where_there_is_a_total(void **state)
{
    (void)state;
    silt_progress seen = {0};
    silt_call call = {.size = sizeof(call), .progress = keep_progress, .progress_ctx = &seen};
    sl_call_progress(&call, "reading", 1, 4);
    assert_string_equal(seen.phase, "reading");
    assert_true(seen.fraction == 0.25);
    sl_call_progress(&call, "reading", 1, 0);
    assert_true(seen.fraction < 0);
    call.progress = NULL;
    sl_call_progress(&call, "reading", 1, 0);
    sl_call_progress(NULL, "reading", 1, 0);
}

static void count_item(void *arg, size_t index)
{
    ((int *)arg)[index]++;
}

static void run_backwards(void *ctx, size_t n, void (*fn)(void *arg, size_t index), void *arg)
{
    (*(int *)ctx)++;
    while (n > 0) {
        fn(arg, --n);
    }
}

static void parallel_for_runs_every_item_once(void **state)
{
    (void)state;
    int counts[10] = {0};
    int calls = 0;
    const silt_executor executor = {
        .size = sizeof(executor), .abi_version = SILT_ABI_VERSION, .ctx = &calls, .run = run_backwards};
    sl_parallel_for(NULL, 10, count_item, counts);
    sl_parallel_for(&executor, 10, count_item, counts);
    sl_parallel_for(&executor, 0, count_item, counts);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(counts[i], 2);
    }
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_environment_works),
        cmocka_unit_test(incomplete_environment_is_refused_by_name),
        cmocka_unit_test(larger_environment_and_absent_log_are_accepted),
        cmocka_unit_test(log_line_is_one_line),
        cmocka_unit_test(milliseconds_before_the_epoch_round_down),
        cmocka_unit_test(call_ends_by_deadline_and_by_cancellation),
        cmocka_unit_test(sleep_is_cut_into_slices_and_at_the_deadline),
        cmocka_unit_test(cancellation_during_a_sleep_is_noticed),
        cmocka_unit_test(progress_tells_a_fraction_where_there_is_a_total),
        cmocka_unit_test(parallel_for_runs_every_item_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
