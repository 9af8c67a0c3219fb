/*
 * Small helpers over the environment, the executor and the call. All accept NULL where the public structs may be absent.
 */
#ifndef SL_BASE_ENV_H
#define SL_BASE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/status.h"

silt_status sl_env_check(const silt_env *env, silt_error *err); /* size, abi_version, required slots */
int64_t sl_now_us(const silt_env *env);
int64_t sl_now_ms(const silt_env *env);
int64_t sl_monotonic_us(const silt_env *env);
void sl_log(const silt_env *env, silt_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* SILT_ECANCELLED or SILT_EDEADLINE when the call is over, else SILT_OK. */
silt_status sl_call_check(const silt_env *env, const silt_call *call, silt_error *err);
void sl_call_progress(const silt_call *call, const char *phase, int64_t done, int64_t total);
/* Sleeps in slices so that a cancellation is noticed within 50 ms; returns as sl_call_check. */
silt_status sl_call_sleep(const silt_env *env, const silt_call *call, int64_t duration_us, silt_error *err);

/* Runs fn(arg, 0..n-1) on the executor, inline when executor is NULL. */
void sl_parallel_for(const silt_executor *executor, size_t n, void (*fn)(void *arg, size_t index), void *arg);

#endif
