/*
 * One request to S3: how it is made for each attempt, what an answer means, and how a failure reads. Any thread; an ask has one owner.
 */
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "storage/remote/s3/s3_int.h"

#define DEFAULT_REGION "us-east-1"
#define UNSIGNED_ABOVE ((size_t)1024 * 1024) /* over TLS, longer bodies are not hashed once more */

/* ---- an attempt ---- */

static void take_region(struct sl_s3_ask *ask, bool *known)
{
    pthread_mutex_lock(&ask->store->lock);
    const char *region = ask->bucket->region;
    *known = region != NULL;
    (void)snprintf(ask->region, sizeof(ask->region), "%s", region != NULL ? region : DEFAULT_REGION);
    pthread_mutex_unlock(&ask->store->lock);
}

/* The host's part of the URL: which host it is depends on the region on AWS, and on the style. */
static void put_host(struct sl_buf *url, const struct sl_s3_ask *ask, bool region_known)
{
    const struct sl_s3_bucket *bucket = ask->bucket;
    if (!bucket->path_style) {
        sl_buf_printf(url, "%s.", bucket->name);
    }
    if (bucket->host != NULL) {
        sl_buf_put_c(url, bucket->host);
    } else if (!region_known) {
        sl_buf_put_c(url, "s3.amazonaws.com");
    } else {
        sl_buf_printf(url, "s3.%s.amazonaws.com%s", ask->region, strncmp(ask->region, "cn-", 3) == 0 ? ".cn" : "");
    }
}

/* Views into the URL, for the signature. */
struct url_parts {
    size_t host_at, path_at, query_at;
};

static silt_status make_url(struct sl_s3_ask *ask, struct url_parts *parts, silt_error *err)
{
    const struct sl_s3_bucket *bucket = ask->bucket;
    bool region_known = false;
    take_region(ask, &region_known);
    sl_buf_clear(&ask->url);
    sl_buf_put_c(&ask->url, bucket->tls ? "https://" : "http://");
    parts->host_at = ask->url.len;
    put_host(&ask->url, ask, region_known);
    parts->path_at = ask->url.len;
    sl_buf_put_c(&ask->url, bucket->base);
    if (bucket->path_style) {
        sl_buf_printf(&ask->url, "/%s", bucket->name);
    }
    if (ask->key.len > 0 || !bucket->path_style) {
        sl_buf_put_char(&ask->url, '/');
        sl_sigv4_encode_path(&ask->url, ask->key);
    }
    parts->query_at = ask->url.len;
    if (ask->query != NULL) {
        sl_buf_printf(&ask->url, "?%s", ask->query);
    }
    return sl_buf_status(&ask->url, err);
}

silt_status sl_s3_put_url(struct sl_s3_store *store, struct sl_s3_bucket *bucket, struct sl_buf *out, silt_error *err)
{
    struct sl_s3_ask ask = {.store = store, .bucket = bucket};
    struct url_parts parts = {0};
    sl_buf_init(&ask.url, store->env);
    silt_status status = make_url(&ask, &parts, err);
    if (status == SILT_OK) {
        sl_buf_put_str(out, sl_buf_view(&ask.url));
        status = sl_buf_status(out, err);
    }
    sl_buf_release(&ask.url);
    return status;
}

static silt_status hash_body(struct sl_s3_ask *ask, silt_error *err)
{
    uint8_t hash[SL_SHA256_SIZE];
    if (ask->hash[0] != '\0') {
        return SILT_OK;
    }
    if (ask->bucket->tls && (ask->bucket->unsigned_payload || ask->body_len > UNSIGNED_ABOVE)) {
        (void)snprintf(ask->hash, sizeof(ask->hash), "%s", SL_SIGV4_UNSIGNED);
        return SILT_OK;
    }
    SL_TRY(sl_sha256(sl_str_make(ask->body, ask->body_len), hash, err));
    sl_hex_put(hash, sizeof(hash), ask->hash);
    return SILT_OK;
}

static void add_headers(struct sl_s3_ask *ask, const struct sl_http_header *headers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ask->headers[ask->n_headers++] = headers[i];
    }
}

static void add_header(struct sl_s3_ask *ask, const char *name, const char *value)
{
    add_headers(ask, &(struct sl_http_header){name, value}, 1);
}

static silt_status sign(struct sl_s3_ask *ask, const struct url_parts *parts, silt_error *err)
{
    SL_TRY(hash_body(ask, err));
    SL_TRY(sl_sigv4_date(sl_now_us(ask->store->env), ask->date, err));
    add_header(ask, "x-amz-content-sha256", ask->hash);
    add_header(ask, "x-amz-date", ask->date);
    if (ask->used->token != NULL) {
        add_header(ask, "x-amz-security-token", ask->used->token);
    }
    const struct sl_str url = sl_buf_view(&ask->url);
    const struct sl_sigv4_key key = {ask->used->id, ask->used->secret, ask->region, "s3"};
    const struct sl_sigv4_request request = {.method = ask->method,
                                             .host = sl_str_sub(url, parts->host_at, parts->path_at),
                                             .path = sl_str_sub(url, parts->path_at, parts->query_at),
                                             .query = sl_str_from(ask->query),
                                             .headers = ask->headers,
                                             .n_headers = ask->n_headers,
                                             .payload_hash = ask->hash,
                                             .date = ask->date};
    sl_buf_clear(&ask->authorization);
    SL_TRY(sl_sigv4_sign(ask->store->env, &key, &request, &ask->authorization, err));
    add_header(ask, "Authorization", sl_buf_cstr(&ask->authorization));
    return SILT_OK;
}

static silt_status take_credential(struct sl_s3_ask *ask, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_credential *fresh = NULL;
    const struct sl_credential *refused = renew && !ask->moved ? ask->used : NULL;
    ask->moved = false;
    if (ask->bucket->anonymous) {
        return SILT_OK;
    }
    SL_TRY(sl_credential_cache_get(ask->bucket->credentials, call, refused, &fresh, err));
    sl_credential_unref(ask->used);
    ask->used = fresh;
    return SILT_OK;
}

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_s3_ask *ask = exchange->user;
    const struct sl_s3_bucket *bucket = ask->bucket;
    struct url_parts parts = {0};
    SL_TRY(take_credential(ask, call, renew, err));
    SL_TRY(make_url(ask, &parts, err));
    ask->n_headers = 0;
    add_headers(ask, bucket->every, bucket->n_every);
    add_headers(ask, bucket->creating, ask->creates ? bucket->n_creating : 0);
    add_headers(ask, bucket->content, ask->content ? bucket->n_content : 0);
    add_headers(ask, ask->extra, ask->n_extra);
    if (ask->used != NULL) {
        SL_TRY(sign(ask, &parts, err));
    }
    exchange->request.method = ask->method;
    exchange->request.url = sl_buf_cstr(&ask->url);
    exchange->request.headers = ask->headers;
    exchange->request.n_headers = ask->n_headers;
    exchange->request.body = ask->body;
    exchange->request.body_len = ask->body_len;
    exchange->request.max_answer = ask->max_answer;
    return SILT_OK;
}

/* ---- an answer ---- */

/* A region is told by a header, or in the body. Takes it over if it is news. */
static bool moves(struct sl_s3_ask *ask, const struct sl_http_request *request)
{
    struct sl_str region = sl_http_header(request, "x-amz-bucket-region");
    region = region.len > 0 ? region : sl_str_from(ask->said.region);
    if (region.len == 0 || region.len >= sizeof(ask->region) || sl_str_eq_c(region, ask->region)) {
        return false;
    }
    for (size_t i = 0; i < region.len; i++) {
        const char lower = (char)(region.ptr[i] | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || sl_is_digit(region.ptr[i]) || region.ptr[i] == '-')) {
            return false;
        }
    }
    pthread_mutex_lock(&ask->store->lock);
    const char *copy = sl_arena_strdup(&ask->store->arena, region);
    if (copy != NULL) {
        ask->bucket->region = copy;
    }
    pthread_mutex_unlock(&ask->store->lock);
    ask->moved = copy != NULL;
    return ask->moved;
}

static bool is_code(const struct sl_s3_ask *ask, const char *code)
{
    return strcmp(ask->said.code, code) == 0;
}

/* Old credentials, by name; an answer to HEAD has no body, so with a session's credentials it is taken for one. */
static bool is_stale(const struct sl_s3_ask *ask, const struct sl_http_request *request)
{
    if (ask->used == NULL || (request->code != 400 && request->code != 401 && request->code != 403)) {
        return false;
    }
    return request->code == 401 || is_code(ask, "ExpiredToken") || is_code(ask, "InvalidToken") ||
           is_code(ask, "TokenRefreshRequired") || is_code(ask, "InvalidAccessKeyId") ||
           (ask->said.code[0] == '\0' && ask->used->token != NULL);
}

static enum sl_verdict judge(struct sl_exchange *exchange)
{
    struct sl_s3_ask *ask = exchange->user;
    const struct sl_http_request *request = &exchange->request;
    ask->said = (struct sl_aws_error){{0}, {0}, {0}};
    if (request->status != SILT_OK || request->code / 100 == 2) {
        return sl_exchange_judge(exchange);
    }
    sl_aws_error_read(ask->store->env, sl_buf_view(&request->answer), &ask->said);
    if ((request->code == 301 || request->code == 307 || request->code == 400 || request->code == 403) &&
        moves(ask, request)) {
        return SL_VERDICT_RENEW;
    }
    if (is_stale(ask, request)) {
        return SL_VERDICT_RENEW;
    }
    const bool again = (request->code == 409 && (is_code(ask, "ConditionalRequestConflict") ||
                                                 is_code(ask, "OperationAborted") || ask->said.code[0] == '\0')) ||
                       request->code == 307 || is_code(ask, "RequestTimeout") || is_code(ask, "SlowDown");
    return again ? SL_VERDICT_RETRY : sl_exchange_judge(exchange);
}

/* What a server does not implement it did not do. */
static bool is_refused(const struct sl_exchange *exchange)
{
    return exchange->request.code == 501 || sl_exchange_refused(exchange);
}

static const struct sl_exchange_class ask_class = {.prepare = prepare, .judge = judge, .refused = is_refused};

void sl_s3_arm(struct sl_s3_store *store, struct sl_s3_ask *ask, struct sl_exchange *exchange)
{
    ask->store = store;
    sl_buf_init(&ask->url, store->env);
    sl_buf_init(&ask->authorization, store->env);
    *exchange = (struct sl_exchange){.class = &ask_class, .user = ask};
}

silt_status sl_s3_run(struct sl_s3_store *store, const silt_call *call, struct sl_s3_ask *asks,
                      struct sl_exchange *exchanges, size_t n, silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        sl_s3_arm(store, &asks[i], &exchanges[i]);
    }
    return sl_exchange_run(store->context->http, store->env, NULL, call, exchanges, n, NULL, NULL, err);
}

silt_status sl_s3_run_for(struct sl_s3_store *store, const silt_call *call, struct sl_s3_ask *ask,
                          struct sl_exchange *exchange, int code, silt_error *err)
{
    const silt_status status = sl_s3_run(store, call, ask, exchange, 1, err);
    if (status == SILT_OK && !sl_s3_answered(exchange, code)) {
        return sl_s3_fail(ask, exchange, err);
    }
    return status;
}

void sl_s3_release(struct sl_s3_ask *ask, struct sl_exchange *exchange)
{
    sl_exchange_release(exchange);
    sl_buf_release(&ask->url);
    sl_buf_release(&ask->authorization);
    sl_credential_unref(ask->used);
    ask->used = NULL;
}

/* ---- failures ---- */

static silt_status choose_status(const struct sl_s3_ask *ask, int code)
{
    if (is_code(ask, "ExpiredToken") || is_code(ask, "InvalidToken") || code == 401 || code == 403) {
        return SILT_EACCESS;
    }
    if (code == 404) {
        return SILT_ENOTFOUND;
    }
    return code == 501 ? SILT_EUNSUPPORTED : SILT_EIO;
}

static void explain(const struct sl_s3_ask *ask, silt_error *err)
{
    static const char *const words[][2] = {
        {"SignatureDoesNotMatch", "the secret key does not belong to the access key, or a proxy changed the request"},
        {"InvalidAccessKeyId", "the server does not know the access key"},
        {"RequestTimeTooSkewed", "this machine's clock differs from the server's"},
        {"ExpiredToken", "the credentials have expired"},
        {"AuthorizationHeaderMalformed", "set aws_region to the bucket's region"},
        {"PermanentRedirect", "set aws_region to the bucket's region, or the endpoint to its own"},
        {"InvalidRequest", "a bucket or an object may be encrypted by a customer's key"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (is_code(ask, words[i][0])) {
            sl_error_hint(err, "%s", words[i][1]);
        }
    }
}

silt_status sl_s3_fail(const struct sl_s3_ask *ask, const struct sl_exchange *exchange, silt_error *err)
{
    const struct sl_http_request *request = &exchange->request;
    if (exchange->status != SILT_OK) {
        if (err != NULL) {
            *err = exchange->error;
        }
        return exchange->status;
    }
    silt_status status = choose_status(ask, request->code);
    if (is_code(ask, "NoSuchBucket")) {
        status = sl_fail(err, SILT_ENOTFOUND, SL_BUCKET_NOT_FOUND, "there is no bucket %s", ask->bucket->name);
    } else if (request->code == 404 && ask->key.len == 0 && ask->said.code[0] == '\0') {
        /* A listing of what is not there is empty: so says a server of another kind, which must not pass for "no table". */
        status = sl_fail(err, SILT_EIO, NULL, "bucket %s: the server answered HTTP 404 and no error of S3",
                         ask->bucket->name);
        sl_error_hint(err, "does what %s names speak S3?", sl_option_name(SL_OPTION_S3_ENDPOINT));
    } else if (request->code == 404) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no such object in bucket %s", ask->bucket->name);
    } else {
        status = sl_fail(err, status, NULL, "bucket %s: the server answered HTTP %d%s%s", ask->bucket->name,
                         request->code, ask->said.code[0] != '\0' ? " " : "", ask->said.code);
        explain(ask, err);
    }
    if (err != NULL) {
        err->sys_code = request->code;
    }
    return status;
}
