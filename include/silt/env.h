/*
 * The environment: everything a library usually takes from the process behind the caller's back. silt takes
 * memory, time, random bytes, sleep and logging only from here, so that tests and simulations are deterministic
 * and a host application keeps control.
 *
 * Also here: the executor (how silt runs work in parallel; it never creates threads in the kernel) and the
 * call (deadline, cancellation, progress), the first parameter of every function that can do I/O.
 */
#ifndef SILT_ENV_H
#define SILT_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/export.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memory. All three must be callable from any thread. `resize` and `release` get the size that was asked for
 * when the block was made. Blocks are aligned for max_align_t. NULL from alloc or resize means out of memory
 * (resize then leaves the old block as it was). Sizes are never 0.
 */
typedef struct silt_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void *(*resize)(void *ctx, void *block, size_t old_size, size_t new_size);
    void (*release)(void *ctx, void *block, size_t size);
} silt_allocator;

typedef enum silt_log_level {
    SILT_LOG_DEBUG = 0,
    SILT_LOG_INFO = 1,
    SILT_LOG_WARN = 2
} silt_log_level;

/*
 * The environment. Given when an engine is made; it must outlive everything made from that engine. Fill `size`
 * and `abi_version`; every slot is required except `log`. All slots may be called from several threads at once.
 */
typedef struct silt_env {
    uint32_t size;        /* sizeof(silt_env) */
    uint32_t abi_version; /* SILT_ABI_VERSION */
    silt_allocator allocator;
    void *ctx;                          /* passed to the slots below */
    int64_t (*wall_time_us)(void *ctx); /* microseconds since 1970-01-01T00:00:00Z */
    int64_t (*monotonic_us)(void *ctx); /* microseconds since an arbitrary start, never backwards */
    silt_status (*random_bytes)(void *ctx, void *out, size_t size); /* unpredictable bytes */
    void (*sleep_us)(void *ctx, int64_t duration_us);
    void (*log)(void *ctx, silt_log_level level, const char *message); /* one line, no newline; NULL: silent */
} silt_env;

/*
 * The process's own environment: malloc, the system clocks, getrandom, nanosleep, warnings to stderr.
 * Static storage, any thread.
 */
SILT_API const silt_env *silt_env_default(void);

/*
 * A blocking parallel-for: calls fn(arg, i) for each i in [0, n), in any order, on any threads, and returns when
 * all have returned. NULL where an executor is expected runs inline on the caller's thread.
 */
typedef struct silt_executor {
    uint32_t size;
    uint32_t abi_version;
    void *ctx;
    void (*run)(void *ctx, size_t n, void (*fn)(void *arg, size_t index), void *arg);
} silt_executor;

/* What a progress callback is told. Counts of 0 with total 0 mean "not known". */
typedef struct silt_progress {
    uint32_t size;
    const char *phase; /* e.g. "reading log"; static text */
    int64_t done;      /* units of work done */
    int64_t total;     /* units in all, 0 if not known */
    double fraction;   /* 0..1, negative if not known */
} silt_progress;

/*
 * The circumstances of one operation. NULL is legal: no deadline, no cancellation, no progress. `cancel` is read
 * often; another thread or a signal handler may set it to non-zero at any time.
 */
typedef struct silt_call {
    uint32_t size;
    uint32_t abi_version;
    int64_t deadline_us;                                        /* in the environment's monotonic time; 0 for none */
    const volatile int *cancel;                                 /* NULL for none */
    void (*progress)(void *ctx, const silt_progress *progress); /* NULL for none */
    void *progress_ctx;
} silt_call;

#ifdef __cplusplus
}
#endif

#endif
