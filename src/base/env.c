/*
 * The process's own environment, and the helpers over environment, executor and call. The only file besides the stores
 * that talks to the operating system. Any thread.
 */
#include "base/env.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include "base/error.h"
#include "base/mask.h"
#include "silt/version.h"

#define US_PER_SECOND INT64_C(1000000)
#define SLEEP_SLICE_US INT64_C(50000)
#define LOG_LINE_SIZE 1024

/* From here on blocks lie on huge pages where the system has them: a page fault for each 4 KB costs more than filling it. */
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

static void *alloc_huge(size_t size)
{
    void *block = NULL;
    if (size > SIZE_MAX - HUGE_PAGE || posix_memalign(&block, HUGE_PAGE, size) != 0) {
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(block, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE); /* advice: the memory is good without */
#endif
    return block;
}

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size >= HUGE_PAGE ? alloc_huge(size) : malloc(size);
}

static void *default_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(block, new_size);
}

static void default_release(void *ctx, void *block, size_t size)
{
    (void)ctx;
    (void)size;
    free(block);
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    if (clock_gettime(clock, &now) != 0) {
        return 0;
    }
    return (int64_t)now.tv_sec * US_PER_SECOND + (int64_t)now.tv_nsec / 1000;
}

static int64_t default_wall_time_us(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_REALTIME);
}

static int64_t default_monotonic_us(void *ctx)
{
    (void)ctx;
    return read_clock(CLOCK_MONOTONIC);
}

static silt_status default_random_bytes(void *ctx, void *out, size_t size)
{
    (void)ctx;
    char *next = out;
    while (size > 0) {
        const ssize_t n = getrandom(next, size, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return SILT_EIO;
        }
        next += n;
        size -= (size_t)n;
    }
    return SILT_OK;
}

static void default_sleep_us(void *ctx, int64_t duration_us)
{
    (void)ctx;
    if (duration_us <= 0) {
        return;
    }
    struct timespec left = {.tv_sec = (time_t)(duration_us / US_PER_SECOND),
                            .tv_nsec = (long)(duration_us % US_PER_SECOND) * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void default_log(void *ctx, silt_log_level level, const char *message)
{
    (void)ctx;
    if (level >= SILT_LOG_WARN) {
        (void)fprintf(stderr, "warning: %s\n", message); /* there is nowhere to report a failure to */
    }
}

static const silt_env default_env = {
    .size = sizeof(silt_env),
    .abi_version = SILT_ABI_VERSION,
    .allocator = {.ctx = NULL, .alloc = default_alloc, .resize = default_resize, .release = default_release},
    .ctx = NULL,
    .wall_time_us = default_wall_time_us,
    .monotonic_us = default_monotonic_us,
    .random_bytes = default_random_bytes,
    .sleep_us = default_sleep_us,
    .log = default_log,
};

const silt_env *silt_env_default(void)
{
    return &default_env;
}

silt_status sl_env_check(const silt_env *env, silt_error *err)
{
    if (env == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "environment is NULL, expected a silt_env");
    }
    if (env->size < sizeof(*env)) {
        return sl_fail(err, SILT_EINVALID, NULL, "environment has size %u, expected at least %zu", (unsigned)env->size,
                       sizeof(*env));
    }
    if (env->abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "environment has abi_version %u, expected %d",
                       (unsigned)env->abi_version, SILT_ABI_VERSION);
    }
    const struct {
        bool is_set;
        const char *name;
    } slots[] = {
        {env->allocator.alloc != NULL, "allocator.alloc"},
        {env->allocator.resize != NULL, "allocator.resize"},
        {env->allocator.release != NULL, "allocator.release"},
        {env->wall_time_us != NULL, "wall_time_us"},
        {env->monotonic_us != NULL, "monotonic_us"},
        {env->random_bytes != NULL, "random_bytes"},
        {env->sleep_us != NULL, "sleep_us"},
    };
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        if (!slots[i].is_set) {
            return sl_fail(err, SILT_EINVALID, NULL, "environment lacks the required slot %s", slots[i].name);
        }
    }
    return SILT_OK;
}

int64_t sl_now_us(const silt_env *env)
{
    return env->wall_time_us(env->ctx);
}

int64_t sl_now_ms(const silt_env *env)
{
    const int64_t us = sl_now_us(env);
    const int64_t ms = us / 1000;
    return us % 1000 < 0 ? ms - 1 : ms;
}

int64_t sl_monotonic_us(const silt_env *env)
{
    return env->monotonic_us(env->ctx);
}

void sl_log(const silt_env *env, silt_log_level level, const char *format, ...)
{
    if (env == NULL || env->log == NULL) {
        return;
    }
    char line[LOG_LINE_SIZE];
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (len < 0) {
        return;
    }
    line[sl_mask_secrets(line, strlen(line))] = '\0';
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20) {
            *c = ' ';
        }
    }
    env->log(env->ctx, level, line);
}

silt_status sl_call_check(const silt_env *env, const silt_call *call, silt_error *err)
{
    if (call == NULL) {
        return SILT_OK;
    }
    /* Atomic, since another thread may set it at this moment; no order with anything else is meant. */
    if (call->cancel != NULL && __atomic_load_n(call->cancel, __ATOMIC_RELAXED) != 0) {
        return sl_fail(err, SILT_ECANCELLED, NULL, "cancelled by the caller");
    }
    if (call->deadline_us != 0 && sl_monotonic_us(env) >= call->deadline_us) {
        return sl_fail(err, SILT_EDEADLINE, NULL, "the deadline of the call passed");
    }
    return SILT_OK;
}

void sl_call_progress(const silt_call *call, const char *phase, int64_t done, int64_t total)
{
    if (call == NULL || call->progress == NULL) {
        return;
    }
    const silt_progress progress = {
        .size = sizeof(progress),
        .phase = phase,
        .done = done,
        .total = total,
        .fraction = total > 0 ? (double)done / (double)total : -1.0,
    };
    call->progress(call->progress_ctx, &progress);
}

silt_status sl_call_sleep(const silt_env *env, const silt_call *call, int64_t duration_us, silt_error *err)
{
    while (duration_us > 0) {
        SL_TRY(sl_call_check(env, call, err));
        int64_t slice = duration_us;
        if (call != NULL && slice > SLEEP_SLICE_US) {
            slice = SLEEP_SLICE_US;
        }
        if (call != NULL && call->deadline_us != 0) {
            const int64_t left = call->deadline_us - sl_monotonic_us(env);
            if (left > 0 && left < slice) {
                slice = left;
            }
        }
        env->sleep_us(env->ctx, slice);
        duration_us -= slice;
    }
    return sl_call_check(env, call, err);
}

void sl_parallel_for(const silt_executor *executor, size_t n, void (*fn)(void *arg, size_t index), void *arg)
{
    if (n == 0) {
        return;
    }
    if (executor == NULL || executor->run == NULL) {
        for (size_t i = 0; i < n; i++) {
            fn(arg, i);
        }
        return;
    }
    executor->run(executor->ctx, n, fn, arg);
}
