/*
 * An environment for tests: memory that is counted and can run out at the n-th request, clocks that move only when told
 * or slept on, random bytes that repeat, log lines that are kept. Any test may use it.
 *
 *     struct test_env t;
 *     test_env_init(&t);
 *     ... &t.env ...
 *     test_env_check(&t);   fails the test on a leak or on a block that was released with a wrong size
 */
#ifndef SILT_TEST_ENV_H
#define SILT_TEST_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "silt/env.h"

struct test_env {
    silt_env env;
    size_t n_requests; /* of memory so far */
    size_t fail_at;    /* number of the request that fails, counted from 1; 0: none */
    size_t live_blocks;
    size_t live_bytes;
    size_t n_wrong_sizes; /* blocks that were resized or released with another size than they have */
    int64_t wall_us;
    int64_t monotonic_us;
    int64_t slept_us;
    size_t n_sleeps;
    uint64_t random_state;
    silt_status random_status; /* what random_bytes returns */
    size_t n_logs;
    silt_log_level last_level;
    char last_log[1024];
};

/* Clocks start at 2020-01-01T00:00:00Z and 1,000 s. Not thread-safe: for tests of one thread. */
void test_env_init(struct test_env *test);
void test_env_check(const struct test_env *test);
/* Starts counting again and lets request n fail; 0: none. */
void test_env_fail_at(struct test_env *test, size_t n);

#endif
