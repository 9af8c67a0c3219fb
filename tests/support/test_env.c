/*
 * The tests' environment. Blocks carry their size in front, so that a wrong size in release or resize is noticed.
 */
#include "test_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/version.h"

union head {
    size_t size;
    max_align_t align;
};

static int is_due_to_fail(struct test_env *test)
{
    test->n_requests++;
    return test->n_requests == test->fail_at;
}

static void *test_alloc(void *ctx, size_t size)
{
    struct test_env *test = ctx;
    if (is_due_to_fail(test)) {
        return NULL;
    }
    union head *head = malloc(sizeof(*head) + size);
    if (head == NULL) {
        return NULL;
    }
    head->size = size;
    test->live_blocks++;
    test->live_bytes += size;
    memset(head + 1, 0xA5, size); /* nobody may count on zeros */
    return head + 1;
}

static void test_release(void *ctx, void *block, size_t size)
{
    struct test_env *test = ctx;
    union head *head = (union head *)block - 1;
    test->n_wrong_sizes += head->size != size ? 1 : 0;
    test->live_blocks--;
    test->live_bytes -= head->size;
    free(head);
}

static void *test_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    struct test_env *test = ctx;
    const union head *head = (const union head *)block - 1;
    test->n_wrong_sizes += head->size != old_size ? 1 : 0;
    /* Always moves, so that pointers that were kept too long are noticed. */
    void *moved = test_alloc(ctx, new_size);
    if (moved != NULL) {
        memcpy(moved, block, head->size < new_size ? head->size : new_size);
        test_release(ctx, block, head->size);
    }
    return moved;
}

static int64_t test_wall_time_us(void *ctx)
{
    const struct test_env *test = ctx;
    return test->wall_us;
}

static int64_t test_monotonic_us(void *ctx)
{
    const struct test_env *test = ctx;
    return test->monotonic_us;
}

static silt_status test_random_bytes(void *ctx, void *out, size_t size)
{
    struct test_env *test = ctx;
    unsigned char *bytes = out;
    if (test->random_status != SILT_OK) {
        return test->random_status;
    }
    for (size_t i = 0; i < size; i++) {
        test->random_state = test->random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (unsigned char)(test->random_state >> 56);
    }
    return SILT_OK;
}

static void test_sleep_us(void *ctx, int64_t duration_us)
{
    struct test_env *test = ctx;
    test->slept_us += duration_us;
    test->wall_us += duration_us;
    test->monotonic_us += duration_us;
    test->n_sleeps++;
}

static void test_log(void *ctx, silt_log_level level, const char *message)
{
    struct test_env *test = ctx;
    test->n_logs++;
    test->last_level = level;
    (void)snprintf(test->last_log, sizeof(test->last_log), "%s", message);
}

void test_env_init(struct test_env *test)
{
    *test = (struct test_env){
        .wall_us = INT64_C(1577836800000000),
        .monotonic_us = INT64_C(1000000000),
        .random_state = 42,
    };
    test->env = (silt_env){
        .size = sizeof(silt_env),
        .abi_version = SILT_ABI_VERSION,
        .allocator = {.ctx = test, .alloc = test_alloc, .resize = test_resize, .release = test_release},
        .ctx = test,
        .wall_time_us = test_wall_time_us,
        .monotonic_us = test_monotonic_us,
        .random_bytes = test_random_bytes,
        .sleep_us = test_sleep_us,
        .log = test_log,
    };
}

void test_env_check(const struct test_env *test)
{
    assert_int_equal(test->n_wrong_sizes, 0);
    assert_int_equal(test->live_bytes, 0);
    assert_int_equal(test->live_blocks, 0);
}

void test_env_fail_at(struct test_env *test, size_t n)
{
    test->n_requests = 0;
    test->fail_at = n;
}
