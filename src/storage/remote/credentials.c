/*
 * The cache of credentials: one lock for the state, which is not held while the source is asked; `fetching` tells the others. Any thread.
 */
#include "storage/remote/credentials.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"

#define RENEW_BEFORE_US (INT64_C(300) * 1000000)
#define RETRY_AFTER_US (INT64_C(30) * 1000000)
#define WAIT_SLICE_NS 50000000

struct sl_credential_cache {
    const silt_env *env;
    struct sl_credential_source source;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by lock: */
    struct sl_credential *current; /* a reference, NULL before the first */
    bool fetching;
    int64_t retry_at_us; /* of a renewal that failed: not before */
};

silt_status sl_credential_new(const silt_env *env, const struct sl_str parts[3], int64_t expires_us,
                              struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    struct sl_credential *made = sl_alloc_zero(env, sizeof(*made));
    if (made == NULL) {
        return sl_fail_nomem(err);
    }
    made->env = env;
    made->expires_us = expires_us;
    atomic_init(&made->refs, 1);
    char **const slots[3] = {&made->id, &made->secret, &made->token};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].ptr == NULL) {
            continue;
        }
        if (memchr(parts[i].ptr, '\0', parts[i].len) != NULL) {
            sl_credential_unref(made);
            return sl_fail(err, SILT_EINVALID, NULL, "credentials with a NUL byte");
        }
        *slots[i] = sl_strdup_len(env, parts[i].ptr, parts[i].len);
        if (*slots[i] == NULL) {
            sl_credential_unref(made);
            return sl_fail_nomem(err);
        }
    }
    *out = made;
    return SILT_OK;
}

struct sl_credential *sl_credential_ref(struct sl_credential *credential)
{
    atomic_fetch_add(&credential->refs, 1);
    return credential;
}

static void wipe(const silt_env *env, char *text)
{
    if (text != NULL) {
        const size_t size = strlen(text) + 1;
        explicit_bzero(text, size);
        sl_release(env, text, size);
    }
}

void sl_credential_unref(struct sl_credential *credential)
{
    if (credential == NULL || atomic_fetch_sub(&credential->refs, 1) != 1) {
        return;
    }
    wipe(credential->env, credential->id);
    wipe(credential->env, credential->secret);
    wipe(credential->env, credential->token);
    sl_release(credential->env, credential, sizeof(*credential));
}

silt_status sl_credential_lacking(silt_status status, silt_error *err)
{
    if (status != SILT_ENOTFOUND) {
        return status;
    }
    const silt_error found = err != NULL ? *err : (silt_error)SILT_ERROR_INIT;
    return sl_fail(err, SILT_EACCESS, NULL, "%s", found.message);
}

silt_status sl_credential_cache_new(const silt_env *env, const struct sl_credential_source *source,
                                    struct sl_credential_cache **out, silt_error *err)
{
    *out = NULL;
    struct sl_credential_cache *cache = sl_alloc_zero(env, sizeof(*cache));
    if (cache == NULL) {
        return sl_fail_nomem(err);
    }
    cache->env = env;
    cache->source = *source;
    if (pthread_mutex_init(&cache->lock, NULL) != 0) {
        sl_release(env, cache, sizeof(*cache));
        return sl_fail_nomem(err);
    }
    if (pthread_cond_init(&cache->changed, NULL) != 0) {
        pthread_mutex_destroy(&cache->lock);
        sl_release(env, cache, sizeof(*cache));
        return sl_fail_nomem(err);
    }
    *out = cache;
    return SILT_OK;
}

void sl_credential_cache_free(struct sl_credential_cache *cache)
{
    if (cache != NULL) {
        sl_credential_unref(cache->current);
        pthread_cond_destroy(&cache->changed);
        pthread_mutex_destroy(&cache->lock);
        sl_release(cache->env, cache, sizeof(*cache));
    }
}

/* Can the current ones still be used, though they may be due for renewal? */
static bool holds(const struct sl_credential_cache *cache, const struct sl_credential *refused)
{
    const struct sl_credential *current = cache->current;
    return current != NULL && current != refused &&
           (current->expires_us == 0 || sl_now_us(cache->env) < current->expires_us);
}

static bool is_due(const struct sl_credential_cache *cache)
{
    const int64_t expires_us = cache->current->expires_us;
    const int64_t now_us = sl_now_us(cache->env);
    return expires_us != 0 && now_us >= expires_us - RENEW_BEFORE_US && now_us >= cache->retry_at_us;
}

/* Waits a moment, or until the thread that fetches is ready. The lock is held. */
static silt_status wait_a_moment(struct sl_credential_cache *cache, const silt_call *call, silt_error *err)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_REALTIME, &until); /* cannot fail for this clock */
    until.tv_nsec += WAIT_SLICE_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&cache->changed, &cache->lock, &until); /* the caller looks again in any case */
    return sl_call_check(cache->env, call, err);
}

/* Asks the source. The lock is held at entry and at return, not between. */
static silt_status fetch(struct sl_credential_cache *cache, const silt_call *call, const struct sl_credential *refused,
                         silt_error *err)
{
    struct sl_credential *fetched = NULL;
    cache->fetching = true;
    pthread_mutex_unlock(&cache->lock);
    silt_status status = cache->source.fetch(cache->source.ctx, call, &fetched, err);
    status = sl_credential_lacking(status, err);
    pthread_mutex_lock(&cache->lock);
    cache->fetching = false;
    if (status == SILT_OK) {
        sl_credential_unref(cache->current);
        cache->current = fetched;
    } else if (status != SILT_ECANCELLED && status != SILT_EDEADLINE && holds(cache, refused)) {
        cache->retry_at_us = sl_now_us(cache->env) + RETRY_AFTER_US;
        status = SILT_OK;
        silt_error_reset(err);
    }
    pthread_cond_broadcast(&cache->changed);
    return status;
}

silt_status sl_credential_cache_get(struct sl_credential_cache *cache, const silt_call *call,
                                    const struct sl_credential *refused, struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    silt_status status = SILT_OK;
    pthread_mutex_lock(&cache->lock);
    while (status == SILT_OK && cache->fetching && !holds(cache, refused)) {
        status = wait_a_moment(cache, call, err);
    }
    if (status == SILT_OK && !cache->fetching && (!holds(cache, refused) || is_due(cache))) {
        status = fetch(cache, call, refused, err);
    }
    if (status == SILT_OK) {
        *out = sl_credential_ref(cache->current);
    }
    pthread_mutex_unlock(&cache->lock);
    return status;
}
