/*
 * An executor with threads of its own, for programs that bring none. The kernel never makes threads; this belongs to the
 * default engine. The caller of run takes part in the work; several callers may run at once; a call from within a
 * running item goes through its items by itself if no thread is free, so that nesting cannot deadlock.
 */
#ifndef SL_STORAGE_THREADPOOL_H
#define SL_STORAGE_THREADPOOL_H

#include "silt/env.h"
#include "silt/status.h"

/*
 * n_threads counts the caller: n_threads - 1 threads are made, by the first call that has use for them; 0 takes the number of
 * processors. *out is zeroed on failure.
 */
silt_status sl_thread_pool_new(const silt_env *env, unsigned n_threads, silt_executor *out, silt_error *err);
/* Waits for the threads to end; nothing may be running. A zeroed executor is legal. */
void sl_thread_pool_free(silt_executor *executor);

#endif
