/*
 * A small thread pool as an executor. Each call of run is a batch on the caller's stack, linked into a list while it has
 * items that nobody took; workers and the caller take items one by one. A batch ends when all its items have returned, so
 * its memory is safe: workers touch it only between taking an item and reporting it done, under the lock.
 *
 * Threads are made by the first batch that has use for them: a process that only looks at a small log makes none.
 */
#include "storage/threadpool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"

#define MAX_THREADS 256

struct batch {
    struct batch *next;
    void (*fn)(void *arg, size_t index);
    void *arg;
    size_t n;
    size_t n_taken;
    size_t n_done;
    pthread_cond_t finished;
};

struct pool {
    const silt_env *env;
    pthread_mutex_t lock;
    pthread_cond_t work_came;
    struct batch *batches; /* those with items to take, oldest first */
    bool started;
    bool stopping;
    size_t n_threads; /* that run */
    size_t capacity;  /* of `threads` */
    pthread_t threads[];
};

static size_t pool_size(size_t capacity)
{
    return sizeof(struct pool) + capacity * sizeof(pthread_t);
}

static void unlink_batch(struct pool *pool, const struct batch *batch)
{
    struct batch **link = &pool->batches;
    while (*link != NULL && *link != batch) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = batch->next;
    }
}

/* Takes and runs one item. Called and returns with the lock held; the lock is open while the item runs. */
static void run_one(struct pool *pool, struct batch *batch)
{
    const size_t index = batch->n_taken++;
    if (batch->n_taken == batch->n) {
        unlink_batch(pool, batch);
    }
    (void)pthread_mutex_unlock(&pool->lock); /* cannot fail: we hold it */
    batch->fn(batch->arg, index);
    (void)pthread_mutex_lock(&pool->lock); /* a plain mutex that we do not hold cannot fail */
    batch->n_done++;
    if (batch->n_done == batch->n) {
        (void)pthread_cond_signal(&batch->finished); /* never fails for a valid condition */
    }
}

static void *work(void *arg)
{
    struct pool *pool = arg;
    (void)pthread_mutex_lock(&pool->lock); /* as above */
    while (!pool->stopping) {
        if (pool->batches != NULL) {
            run_one(pool, pool->batches);
        } else {
            (void)pthread_cond_wait(&pool->work_came, &pool->lock); /* never fails for a held lock */
        }
    }
    (void)pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Called with the lock held. Fewer threads are slower, not wrong, so that a failure is only told. */
static void start_threads(struct pool *pool)
{
    int errnum = 0;
    pool->started = true;
    for (size_t i = 0; i < pool->capacity && errnum == 0; i++) {
        errnum = pthread_create(&pool->threads[i], NULL, work, pool);
        pool->n_threads += errnum == 0 ? 1 : 0;
    }
    if (errnum != 0) {
        sl_log(pool->env, SILT_LOG_WARN, "only %zu of %zu threads could be made (errno %d)", pool->n_threads,
               pool->capacity, errnum);
    }
}

/*
 * The caller takes the items of its own batch only, and waits only for items that some other thread is running. So a call
 * from within an item always makes progress by itself, whatever the workers do: nesting needs no special case.
 */
static void pool_run(void *ctx, size_t n, void (*fn)(void *arg, size_t index), void *arg)
{
    struct pool *pool = ctx;
    struct batch batch = {.fn = fn, .arg = arg, .n = n};
    if (n <= 1 || pool->capacity == 0 || pthread_cond_init(&batch.finished, NULL) != 0) {
        for (size_t i = 0; i < n; i++) {
            fn(arg, i);
        }
        return;
    }
    (void)pthread_mutex_lock(&pool->lock); /* as above */
    if (!pool->started) {
        start_threads(pool);
    }
    struct batch **end = &pool->batches;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = &batch;
    (void)pthread_cond_broadcast(&pool->work_came); /* never fails for a valid condition */
    while (batch.n_taken < batch.n) {
        run_one(pool, &batch);
    }
    while (batch.n_done < batch.n) {
        (void)pthread_cond_wait(&batch.finished, &pool->lock); /* never fails for a held lock */
    }
    (void)pthread_mutex_unlock(&pool->lock);
    (void)pthread_cond_destroy(&batch.finished); /* nobody waits any more */
}

static void stop_threads(struct pool *pool)
{
    (void)pthread_mutex_lock(&pool->lock); /* as above */
    pool->stopping = true;
    (void)pthread_cond_broadcast(&pool->work_came);
    (void)pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++) {
        (void)pthread_join(pool->threads[i], NULL); /* each was made and is joined once */
    }
}

static size_t choose_count(unsigned n_threads)
{
    size_t count = n_threads;
    if (count == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (size_t)online : 1;
    }
    return count < MAX_THREADS ? count : MAX_THREADS;
}

silt_status sl_thread_pool_new(const silt_env *env, unsigned n_threads, silt_executor *out, silt_error *err)
{
    *out = (silt_executor){0};
    const size_t n_workers = choose_count(n_threads) - 1;
    struct pool *pool = sl_alloc_zero(env, pool_size(n_workers));
    if (pool == NULL) {
        return sl_fail_nomem(err);
    }
    pool->env = env;
    pool->capacity = n_workers;
    int errnum = pthread_mutex_init(&pool->lock, NULL);
    if (errnum != 0) {
        sl_release(env, pool, pool_size(n_workers));
        return sl_fail_errno(err, errnum, "make a lock", NULL);
    }
    errnum = pthread_cond_init(&pool->work_came, NULL);
    if (errnum != 0) {
        (void)pthread_mutex_destroy(&pool->lock); /* nobody else has seen it */
        sl_release(env, pool, pool_size(n_workers));
        return sl_fail_errno(err, errnum, "make a condition", NULL);
    }
    *out = (silt_executor){.size = sizeof(*out), .abi_version = SILT_ABI_VERSION, .ctx = pool, .run = pool_run};
    return SILT_OK;
}

void sl_thread_pool_free(silt_executor *executor)
{
    struct pool *pool = executor->ctx;
    *executor = (silt_executor){0};
    if (pool == NULL) {
        return;
    }
    stop_threads(pool);
    (void)pthread_cond_destroy(&pool->work_came); /* all who used them are gone */
    (void)pthread_mutex_destroy(&pool->lock);
    sl_release(pool->env, pool, pool_size(pool->capacity));
}
