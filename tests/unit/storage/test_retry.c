/*
 * The retrying store over a failing one, on a clock that only sleeping moves.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

struct rig {
    struct test_env test;
    silt_storage *memory;
    silt_storage *fault;
    silt_storage *store;
    silt_fault_action action;
    unsigned failures_left;
    unsigned calls;
};

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct rig *rig = ctx;
    (void)number;
    (void)operation;
    if (strstr(path, "quiet") != NULL) {
        return SILT_FAULT_NONE;
    }
    rig->calls++;
    if (rig->failures_left == 0) {
        return SILT_FAULT_NONE;
    }
    rig->failures_left--;
    return rig->action;
}

static void open_retry(struct rig *rig, const silt_retry_options *options)
{
    silt_error err = SILT_ERROR_INIT;
    silt_storage_unref(rig->store);
    assert_int_equal(silt_storage_retry_new(&rig->test.env, rig->fault, options, &rig->store, &err), SILT_OK);
}

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig = (struct rig){.action = SILT_FAULT_BEFORE};
    test_env_init(&rig.test);
    assert_int_equal(silt_storage_memory_new(&rig.test.env, &rig.memory, &err), SILT_OK);
    assert_int_equal(silt_storage_fault_new(&rig.test.env, rig.memory, decide, &rig, &rig.fault, &err), SILT_OK);
    open_retry(&rig, NULL);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->store);
    silt_storage_unref(rig->fault);
    silt_storage_unref(rig->memory);
    test_env_check(&rig->test);
    return 0;
}

static void fail_next(struct rig *rig, unsigned failures)
{
    rig->failures_left = failures;
    rig->calls = 0;
}

static void every_repeatable_operation_is_repeated(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    int64_t size = 0;
    fail_next(rig, 3);
    store_put(rig->store, "memory://t/a", "text");
    assert_int_equal(rig->calls, 4);
    fail_next(rig, 2);
    store_expect(rig->store, "memory://t/a", "text");
    assert_int_equal(rig->calls, 3);
    fail_next(rig, 2);
    assert_int_equal(silt_storage_put_fresh(rig->store, NULL, "memory://t/a", "more", 4, &err), SILT_OK);
    assert_int_equal(rig->calls, 3);
    store_expect(rig->memory, "memory://t/a", "more");
    fail_next(rig, 2);
    assert_int_equal(silt_storage_stat(rig->store, NULL, "memory://t/a", &size, NULL, &err), SILT_OK);
    assert_int_equal(size, 4);
    fail_next(rig, 2);
    assert_string_equal(store_list(rig->store, "memory://t", NULL, false), "a\n");
    fail_next(rig, 2);
    assert_int_equal(silt_storage_remove(rig->store, NULL, "memory://t/a", &err), SILT_OK);
    fail_next(rig, 2);
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, "memory://t", &err), SILT_OK);
    assert_int_equal(rig->calls, 3);
    assert_true(rig->test.slept_us > 0);
}

static void a_conditional_create_is_never_repeated(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    fail_next(rig, 1);
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_EIO);
    assert_int_equal(rig->calls, 1);
    rig->action = SILT_FAULT_AFTER;
    fail_next(rig, 1);
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(rig->calls, 1);
    fail_next(rig, 1);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, "/nowhere", "memory://t/b", &err), SILT_ENOTFOUND);
    assert_int_equal(rig->calls, 1);
    assert_int_equal(rig->test.n_sleeps, 0);
}

static void it_gives_up_after_the_wanted_attempts(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    const silt_retry_options options = {.size = sizeof(options), .max_attempts = 4};
    open_retry(rig, &options);
    fail_next(rig, 100);
    assert_int_equal(silt_storage_put(rig->store, NULL, "memory://t/a", "x", 1, &err), SILT_EIO);
    assert_int_equal(rig->calls, 4);
    assert_non_null(strstr(err.message, "writing memory://t/a: injected fault"));
    assert_null(strstr(err.message, "writing memory://t/a: writing"));
    assert_non_null(strstr(err.hint, "gave up after attempt 4"));
}

static void defaults_are_ten_attempts(void **state)
{
    struct rig *rig = *state;
    void *data = NULL;
    size_t len = 0;
    fail_next(rig, 100);
    assert_int_equal(silt_storage_read(rig->store, NULL, "memory://t/a", &data, &len, NULL), SILT_EIO);
    assert_int_equal(rig->calls, 10);
}

static void other_failures_are_told_at_once(void **state)
{
    struct rig *rig = *state;
    store_expect_missing(rig->store, "memory://t/none");
    assert_int_equal(rig->calls, 2); /* a read and a stat */
    assert_int_equal(rig->test.n_sleeps, 0);
}

static void delays_stay_under_the_ceiling_and_the_total(void **state)
{
    struct rig *rig = *state;
    const silt_retry_options options = {.size = sizeof(options),
                                        .max_attempts = 1000,
                                        .base_delay_us = 1000,
                                        .max_delay_us = 16000,
                                        .max_total_us = 200000};
    open_retry(rig, &options);
    fail_next(rig, 1000);
    int64_t start = rig->test.monotonic_us;
    assert_int_equal(silt_storage_put(rig->store, NULL, "memory://t/a", "x", 1, NULL), SILT_EIO);
    assert_true(rig->calls > 12 && rig->calls < 200);
    assert_true(rig->test.monotonic_us - start <= 200000);
    assert_true(rig->test.monotonic_us - start >= 200000 - 16000);
}

static void the_deadline_is_not_overrun_by_a_delay(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    const silt_call call = {.size = sizeof(call), .deadline_us = rig->test.monotonic_us + 300000};
    fail_next(rig, 1000);
    assert_int_equal(silt_storage_put(rig->store, &call, "memory://t/a", "x", 1, &err), SILT_EIO);
    assert_true(rig->test.monotonic_us < call.deadline_us);
    assert_non_null(strstr(err.hint, "deadline"));
}

static volatile int cancelled;

static silt_fault_action cancel_and_fail(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)operation;
    (void)path;
    cancelled = 1;
    return SILT_FAULT_BEFORE;
}

static void cancelling_ends_the_wait(void **state)
{
    struct rig *rig = *state;
    silt_storage *fault = NULL;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_call call = {.size = sizeof(call), .cancel = &cancelled};
    cancelled = 0;
    assert_int_equal(silt_storage_fault_new(&rig->test.env, rig->memory, cancel_and_fail, NULL, &fault, &err), SILT_OK);
    assert_int_equal(silt_storage_retry_new(&rig->test.env, fault, NULL, &store, &err), SILT_OK);
    assert_int_equal(silt_storage_put(store, &call, "memory://t/a", "x", 1, &err), SILT_ECANCELLED);
    silt_storage_unref(store);
    silt_storage_unref(fault);
}

static void count_done(void *ctx, silt_read_request *request)
{
    unsigned *done = ctx;
    (*done)++;
    assert_int_equal(request->user == ctx, 1);
}

static void only_failed_reads_of_a_batch_are_repeated(void **state)
{
    struct rig *rig = *state;
    unsigned done = 0;
    store_put(rig->memory, "memory://t/quiet", "1");
    store_put(rig->memory, "memory://t/b", "22");
    silt_read_request requests[4] = {{.path = "memory://t/quiet", .length = -1, .user = &done},
                                     {.path = "memory://t/b", .length = -1, .user = &done},
                                     {.path = "memory://t/none-quiet", .length = -1, .user = &done},
                                     {.path = "memory://t/b", .offset = 1, .length = -1, .user = &done}};
    fail_next(rig, 3); /* both b, then one of them again */
    assert_int_equal(silt_storage_read_many(rig->store, NULL, requests, 4, count_done, &done, NULL), SILT_OK);
    assert_int_equal(done, 4);
    assert_int_equal(rig->calls, 5);
    assert_int_equal(requests[0].data_len, 1);
    assert_int_equal(requests[1].data_len, 2);
    assert_int_equal(requests[2].status, SILT_ENOTFOUND);
    assert_int_equal(requests[3].data_len, 1);
    for (size_t i = 0; i < 4; i++) {
        silt_read_request_release(rig->store, &requests[i]);
    }
}

static void lost_reads_leak_nothing(void **state)
{
    struct rig *rig = *state;
    store_put(rig->memory, "memory://t/a", "text");
    rig->action = SILT_FAULT_AFTER;
    fail_next(rig, 5);
    store_expect(rig->store, "memory://t/a", "text");
    assert_int_equal(rig->calls, 6);
}

/* A listing that shows names before it fails: the names come once all the same. */
static void a_repeated_listing_shows_each_name_once(void **state)
{
    struct rig *rig = *state;
    store_put(rig->memory, "memory://t/a", "1");
    store_put(rig->memory, "memory://t/b", "1");
    store_put(rig->memory, "memory://t/d/c", "1");
    rig->action = SILT_FAULT_AFTER;
    fail_next(rig, 2);
    assert_string_equal(store_list(rig->store, "memory://t", "a", true), "a\nb\nd/c\n");
    assert_int_equal(rig->calls, 3);
}

static void running_out_of_memory_is_reported(void **state)
{
    struct rig *rig = *state;
    bool ran_out = true;
    store_put(rig->memory, "memory://t/a", "text");
    for (size_t n = 1; ran_out; n++) {
        void *data = NULL;
        size_t len = 0;
        silt_error err = SILT_ERROR_INIT;
        rig->action = SILT_FAULT_AFTER;
        fail_next(rig, 2);
        test_env_fail_at(&rig->test, n);
        silt_status status = silt_storage_read(rig->store, NULL, "memory://t/a", &data, &len, &err);
        silt_storage_free(rig->store, data, len);
        ran_out = status != SILT_OK;
        assert_true(status == SILT_OK || status == SILT_ENOMEM || status == SILT_EIO);
        assert_true(n < 100);
    }
    test_env_fail_at(&rig->test, 0);
}

static void bad_options_are_refused(void **state)
{
    struct rig *rig = *state;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_retry_options small = {.size = 4};
    const silt_retry_options negative = {.size = sizeof(negative), .base_delay_us = -1};
    assert_int_equal(silt_storage_retry_new(&rig->test.env, rig->memory, &small, &store, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_retry_new(&rig->test.env, rig->memory, &negative, &store, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_retry_new(&rig->test.env, NULL, NULL, &store, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_retry_new(silt_env_default(), rig->memory, NULL, &store, &err), SILT_EINVALID);
    assert_null(store);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_repeatable_operation_is_repeated),
        TEST(a_conditional_create_is_never_repeated),
        TEST(it_gives_up_after_the_wanted_attempts),
        TEST(defaults_are_ten_attempts),
        TEST(other_failures_are_told_at_once),
        TEST(delays_stay_under_the_ceiling_and_the_total),
        TEST(the_deadline_is_not_overrun_by_a_delay),
        TEST(cancelling_ends_the_wait),
        TEST(only_failed_reads_of_a_batch_are_repeated),
        TEST(lost_reads_leak_nothing),
        TEST(a_repeated_listing_shows_each_name_once),
        TEST(running_out_of_memory_is_reported),
        TEST(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
