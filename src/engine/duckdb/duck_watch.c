/*
 * The watcher: one thread a data plane that looks every few milliseconds at the calls that are inside DuckDB and interrupts
 * the connections of those that were cancelled or are past their deadline. DuckDB offers no other way in while a statement
 * binds, or while a streaming result computes its next chunk.
 *
 * The thread starts with the first call that can end early and sleeps without waking while there is none. Calls without
 * deadline and cancel flag are never listed, so they cost nothing.
 */
#include "duck.h"

#include <time.h>

#include "base/env.h"
#include "base/error.h"
#include "duck_fetch.h"

#define WATCH_PERIOD_NS 4000000L

static void interrupt_ended(struct sl_dataplane *dp)
{
    for (struct sl_duck_watch *watch = dp->watcher.first; watch != NULL; watch = watch->next) {
        if (sl_call_check(dp->env, watch->call, NULL) != SILT_OK) {
            duckdb_interrupt(watch->handle);
            sl_duck_fetch_interrupt(dp, watch->handle);
        }
    }
}

static void *watch_calls(void *arg)
{
    struct sl_dataplane *dp = arg;
    struct sl_duck_watcher *watcher = &dp->watcher;
    pthread_mutex_lock(&watcher->lock);
    while (!watcher->stop) {
        if (watcher->first == NULL) {
            pthread_cond_wait(&watcher->wake, &watcher->lock);
            continue;
        }
        interrupt_ended(dp);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WATCH_PERIOD_NS;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_nsec -= 1000000000L;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&watcher->wake, &watcher->lock, &until);
    }
    pthread_mutex_unlock(&watcher->lock);
    return NULL;
}

void sl_duck_watcher_init(struct sl_duck_watcher *watcher)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&watcher->lock, NULL);
    pthread_cond_init(&watcher->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    watcher->running = false;
    watcher->stop = false;
    watcher->first = NULL;
}

void sl_duck_watcher_stop(struct sl_duck_watcher *watcher)
{
    pthread_mutex_lock(&watcher->lock);
    watcher->stop = true;
    const bool running = watcher->running;
    pthread_cond_signal(&watcher->wake);
    pthread_mutex_unlock(&watcher->lock);
    if (running) {
        pthread_join(watcher->thread, NULL);
    }
    pthread_cond_destroy(&watcher->wake);
    pthread_mutex_destroy(&watcher->lock);
}

silt_status sl_duck_watch_begin(struct sl_duck_conn *conn, const silt_call *call, struct sl_duck_watch *watch,
                                silt_error *err)
{
    *watch = (struct sl_duck_watch){.call = call, .handle = conn->handle};
    if (call == NULL || (call->cancel == NULL && call->deadline_us == 0)) {
        return SILT_OK;
    }
    SL_TRY(sl_call_check(conn->dp->env, call, err));
    struct sl_duck_watcher *watcher = &conn->dp->watcher;
    silt_status status = SILT_OK;
    pthread_mutex_lock(&watcher->lock);
    if (!watcher->running) {
        watcher->running = pthread_create(&watcher->thread, NULL, watch_calls, conn->dp) == 0;
    }
    if (watcher->running) {
        watch->next = watcher->first;
        watch->listed = true;
        watcher->first = watch;
        pthread_cond_signal(&watcher->wake);
    } else {
        status = sl_fail(err, SILT_EENGINE, NULL, "no thread can be started to watch the call's deadline");
    }
    pthread_mutex_unlock(&watcher->lock);
    return status;
}

void sl_duck_watch_end(struct sl_duck_conn *conn, struct sl_duck_watch *watch)
{
    if (!watch->listed) {
        return;
    }
    struct sl_duck_watcher *watcher = &conn->dp->watcher;
    pthread_mutex_lock(&watcher->lock);
    struct sl_duck_watch **link = &watcher->first;
    while (*link != NULL && *link != watch) {
        link = &(*link)->next;
    }
    if (*link == watch) {
        *link = watch->next;
    }
    watch->listed = false;
    pthread_mutex_unlock(&watcher->lock);
}
