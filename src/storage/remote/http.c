/*
 * The pool of connections, and a perform over it. Any thread; what a perform borrowed is its own until it gives it back.
 */
#include "storage/remote/http_int.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"

#define DEFAULT_CONNECT_TIMEOUT_US INT64_C(10000000)
#define DEFAULT_IDLE_TIMEOUT_US INT64_C(30000000)
#define DEFAULT_MAX_CONNECTIONS 64
/* Workers that are kept with their connections; more than so many threads at once is rare, and a connection is not free. */
#define MAX_IDLE_WORKERS 32

/* ---- libcurl as a whole ---- */

static pthread_once_t global_once = PTHREAD_ONCE_INIT;
static CURLcode global_result;

/* Never undone: other users of libcurl may be in the process. */
static void set_up_libcurl(void)
{
    global_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void lock_share(CURL *easy, curl_lock_data data, curl_lock_access access, void *user)
{
    struct sl_http *http = user;
    (void)easy;
    (void)access;
    (void)pthread_mutex_lock(&http->share_locks[data]); /* a plain mutex that we do not hold cannot fail */
}

static void unlock_share(CURL *easy, curl_lock_data data, void *user)
{
    struct sl_http *http = user;
    (void)easy;
    (void)pthread_mutex_unlock(&http->share_locks[data]); /* cannot fail: we hold it */
}

/* ---- workers ---- */

static void free_worker(const silt_env *env, struct sl_http_worker *worker)
{
    while (worker->idle != NULL) {
        struct sl_http_flight *flight = worker->idle;
        worker->idle = flight->next;
        sl_http_flight_free(flight);
    }
    if (worker->multi != NULL) {
        (void)curl_multi_cleanup(worker->multi); /* no handle is in it */
    }
    sl_release(env, worker, sizeof(*worker));
}

static silt_status make_worker(struct sl_http *http, struct sl_http_worker **out, silt_error *err)
{
    struct sl_http_worker *worker = sl_alloc_zero(http->env, sizeof(*worker));
    if (worker == NULL) {
        return sl_fail_nomem(err);
    }
    worker->env = http->env;
    worker->multi = curl_multi_init();
    if (worker->multi == NULL ||
        curl_multi_setopt(worker->multi, CURLMOPT_MAXCONNECTS, (long)http->options.max_connections) != CURLM_OK) {
        free_worker(http->env, worker);
        return sl_fail_nomem(err);
    }
    *out = worker;
    return SILT_OK;
}

silt_status sl_http_borrow(struct sl_http *http, struct sl_http_worker **out, silt_error *err)
{
    (void)pthread_mutex_lock(&http->lock); /* a plain mutex that we do not hold cannot fail */
    struct sl_http_worker *worker = http->idle;
    if (worker != NULL) {
        http->idle = worker->next;
        http->n_idle--;
    }
    (void)pthread_mutex_unlock(&http->lock); /* cannot fail: we hold it */
    *out = worker;
    return worker != NULL ? SILT_OK : make_worker(http, out, err);
}

void sl_http_give_back(struct sl_http *http, struct sl_http_worker *worker, bool broken)
{
    bool kept = false;
    (void)pthread_mutex_lock(&http->lock); /* as above */
    if (!broken && http->n_idle < MAX_IDLE_WORKERS) {
        worker->next = http->idle;
        http->idle = worker;
        http->n_idle++;
        kept = true;
    }
    (void)pthread_mutex_unlock(&http->lock); /* as above */
    if (!kept) {
        free_worker(http->env, worker);
    }
}

/* ---- the pool ---- */

static silt_status take_options(struct sl_http *http, const struct sl_http_options *options, silt_error *err)
{
    struct sl_http_options *chosen = &http->options;
    *chosen = *options;
    if (chosen->connect_timeout_us < 0 || chosen->idle_timeout_us < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "a time-out of requests must not be negative");
    }
    chosen->connect_timeout_us = chosen->connect_timeout_us != 0 ? chosen->connect_timeout_us
                                                                 : DEFAULT_CONNECT_TIMEOUT_US;
    chosen->idle_timeout_us = chosen->idle_timeout_us != 0 ? chosen->idle_timeout_us : DEFAULT_IDLE_TIMEOUT_US;
    chosen->max_connections = chosen->max_connections != 0 ? chosen->max_connections : DEFAULT_MAX_CONNECTIONS;
    if (options->ca_file != NULL) {
        const int fd = open(options->ca_file, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            const int errnum = errno;
            return sl_fail(err, SILT_EINVALID, NULL, "cannot read the file of certificates %s (errno %d)",
                           options->ca_file, errnum);
        }
        (void)close(fd); /* only read */
        http->ca_file = sl_strdup_len(http->env, options->ca_file, strlen(options->ca_file));
        if (http->ca_file == NULL) {
            return sl_fail_nomem(err);
        }
    }
    for (size_t i = 0; options->resolve != NULL && options->resolve[i] != NULL; i++) {
        struct curl_slist *list = curl_slist_append(http->resolve, options->resolve[i]);
        if (list == NULL) {
            return sl_fail_nomem(err);
        }
        http->resolve = list;
    }
    chosen->ca_file = NULL;
    chosen->resolve = NULL;
    return SILT_OK;
}

static silt_status make_share(struct sl_http *http, silt_error *err)
{
    while (http->n_share_locks < CURL_LOCK_DATA_LAST) {
        if (pthread_mutex_init(&http->share_locks[http->n_share_locks], NULL) != 0) {
            return sl_fail_nomem(err);
        }
        http->n_share_locks++;
    }
    http->has_lock = pthread_mutex_init(&http->lock, NULL) == 0;
    http->share = curl_share_init();
    if (!http->has_lock || http->share == NULL ||
        curl_share_setopt(http->share, CURLSHOPT_LOCKFUNC, lock_share) != CURLSHE_OK ||
        curl_share_setopt(http->share, CURLSHOPT_UNLOCKFUNC, unlock_share) != CURLSHE_OK ||
        curl_share_setopt(http->share, CURLSHOPT_USERDATA, http) != CURLSHE_OK ||
        curl_share_setopt(http->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) != CURLSHE_OK) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

silt_status sl_http_new(const silt_env *env, const struct sl_http_options *options, struct sl_http **out,
                        silt_error *err)
{
    static const struct sl_http_options DEFAULTS = {0};
    *out = NULL;
    if (pthread_once(&global_once, set_up_libcurl) != 0 || global_result != CURLE_OK) {
        return sl_fail(err, SILT_EIO, NULL, "libcurl cannot be set up: %s", curl_easy_strerror(global_result));
    }
    struct sl_http *http = sl_alloc_zero(env, sizeof(*http));
    if (http == NULL) {
        return sl_fail_nomem(err);
    }
    http->env = env;
    silt_status status = take_options(http, options != NULL ? options : &DEFAULTS, err);
    if (status == SILT_OK) {
        status = make_share(http, err);
    }
    if (status != SILT_OK) {
        sl_http_free(http);
        return status;
    }
    *out = http;
    return SILT_OK;
}

void sl_http_free(struct sl_http *http)
{
    if (http == NULL) {
        return;
    }
    while (http->idle != NULL) {
        struct sl_http_worker *worker = http->idle;
        http->idle = worker->next;
        free_worker(http->env, worker);
    }
    if (http->share != NULL) {
        (void)curl_share_cleanup(http->share); /* its users are gone */
    }
    while (http->n_share_locks > 0) {
        http->n_share_locks--;
        (void)pthread_mutex_destroy(&http->share_locks[http->n_share_locks]); /* nobody holds it */
    }
    if (http->has_lock) {
        (void)pthread_mutex_destroy(&http->lock); /* nobody holds it */
    }
    curl_slist_free_all(http->resolve);
    sl_strfree(http->env, http->ca_file);
    sl_release(http->env, http, sizeof(*http));
}

/* ---- requests ---- */

silt_status sl_http_perform(struct sl_http *http, const silt_call *call, struct sl_http_request *requests, size_t n,
                            void (*on_done)(void *ctx, struct sl_http_request *request), void *ctx, silt_error *err)
{
    struct sl_http_session session = {.on_done = on_done, .ctx = ctx};
    silt_error error = SILT_ERROR_INIT;
    silt_status status = sl_http_session_open(&session, http, call, &error);
    if (status != SILT_OK) {
        for (size_t i = 0; i < n; i++) {
            sl_http_request_fail(&requests[i], status, &error);
            if (on_done != NULL) {
                on_done(ctx, &requests[i]);
            }
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            sl_http_session_add(&session, &requests[i]);
        }
        while (status == SILT_OK && session.n_open > 0) {
            status = sl_http_session_turn(&session, SL_HTTP_SLICE_US, &error);
        }
        sl_http_session_close(&session, status, &error);
    }
    if (status != SILT_OK && err != NULL) {
        *err = error;
    }
    return status;
}

void sl_http_request_release(struct sl_http_request *request)
{
    request->status = SILT_OK;
    request->unsent = false;
    request->silent = false;
    request->unreached = false;
    request->final = false;
    request->code = 0;
    sl_buf_release(&request->headers_raw);
    sl_buf_release(&request->answer);
    silt_error_reset(&request->error);
}

struct sl_str sl_http_header(const struct sl_http_request *request, const char *name)
{
    struct sl_str block = sl_buf_view(&request->headers_raw);
    return sl_http_field_next(&block, name);
}

bool sl_http_header_i64(const struct sl_http_request *request, const char *name, int64_t *out)
{
    *out = 0;
    const struct sl_str text = sl_http_header(request, name);
    return text.ptr != NULL && sl_str_to_i64(text, out);
}
