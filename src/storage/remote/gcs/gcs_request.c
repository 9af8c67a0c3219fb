/* Requests to the JSON API as exchanges. Any thread, a request by one. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/gcs/gcs_int.h"

#define MAX_ANSWER ((size_t)16 << 20) /* of JSON; a page of a listing has a thousand objects of at most a few KB */

void sl_gcs_request_init(struct sl_gcs_request *request, struct sl_gcs *gcs, const char *method)
{
    *request = (struct sl_gcs_request){.gcs = gcs, .method = method, .max_answer = MAX_ANSWER};
    sl_buf_init(&request->url, gcs->env);
    sl_buf_init(&request->authorization, gcs->env);
}

void sl_gcs_request_release(struct sl_gcs_request *request)
{
    sl_exchange_release(&request->exchange);
    sl_buf_release(&request->url);
    sl_buf_release(&request->authorization);
    sl_credential_unref(request->token);
}

void sl_gcs_request_header(struct sl_gcs_request *request, const char *name, const char *value)
{
    if (request->n_headers + 2 < SL_GCS_MAX_HEADERS) {
        request->headers[request->n_headers++] = (struct sl_http_header){.name = name, .value = value};
    }
}

static silt_status authorize(struct sl_gcs_request *request, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_credential *token = NULL;
    SL_TRY(sl_credential_cache_get(request->gcs->tokens, call, renew ? request->token : NULL, &token, err));
    sl_credential_unref(request->token);
    request->token = token;
    sl_buf_clear(&request->authorization);
    sl_buf_put_c(&request->authorization, "Bearer ");
    sl_buf_put_c(&request->authorization, token->token);
    return sl_buf_status(&request->authorization, err);
}

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_gcs_request *request = exchange->user;
    const struct sl_gcs *gcs = request->gcs;
    size_t n = request->n_headers;
    SL_TRY(sl_buf_status(&request->url, err));
    if (gcs->tokens != NULL && !request->no_token) {
        SL_TRY(authorize(request, call, renew, err));
        request->headers[n++] = (struct sl_http_header){.name = "Authorization",
                                                        .value = sl_buf_cstr(&request->authorization)};
    }
    if (gcs->project != NULL && !request->no_token) {
        request->headers[n++] = (struct sl_http_header){.name = "x-goog-user-project", .value = gcs->project};
    }
    exchange->request.method = request->method;
    exchange->request.url = sl_buf_cstr(&request->url);
    exchange->request.headers = request->headers;
    exchange->request.n_headers = n;
    exchange->request.body = request->body;
    exchange->request.body_len = request->body_len;
    exchange->request.max_answer = request->max_answer;
    return SILT_OK;
}

static enum sl_verdict judge(struct sl_exchange *exchange)
{
    const struct sl_gcs_request *request = exchange->user;
    const enum sl_verdict verdict = sl_exchange_judge(exchange);
    /* A token that was given and never changes cannot be renewed; nor can none. */
    const bool renewable = request->gcs->tokens != NULL && request->gcs->credentials.kind != SL_GCS_TOKEN;
    if (verdict == SL_VERDICT_RENEW && (!renewable || request->no_token)) {
        return SL_VERDICT_DONE;
    }
    return verdict == SL_VERDICT_RETRY && request->once ? SL_VERDICT_DONE : verdict;
}

static const struct sl_exchange_class exchange_class = {.prepare = prepare, .judge = judge};

void sl_gcs_arm(struct sl_gcs_request *request, struct sl_exchange *exchange)
{
    *exchange = (struct sl_exchange){.class = &exchange_class, .user = request};
}

silt_status sl_gcs_run(struct sl_gcs_request *request, const silt_call *call, silt_error *err)
{
    struct sl_gcs *gcs = request->gcs;
    sl_exchange_release(&request->exchange);
    sl_gcs_arm(request, &request->exchange);
    const silt_status status = sl_exchange_run(gcs->context->http, gcs->env, NULL, call, &request->exchange, 1, NULL,
                                               NULL, err);
    if (status == SILT_OK && request->exchange.status != SILT_OK && err != NULL) {
        *err = request->exchange.error;
    }
    return status != SILT_OK ? status : request->exchange.status;
}

silt_status sl_gcs_run_many(struct sl_gcs_request *requests, size_t n, const silt_call *call,
                            struct sl_exchange *exchanges, void (*on_done)(void *ctx, struct sl_exchange *exchange),
                            void *ctx, silt_error *err)
{
    struct sl_gcs *gcs = requests[0].gcs;
    for (size_t i = 0; i < n; i++) {
        sl_gcs_arm(&requests[i], &exchanges[i]);
    }
    return sl_exchange_run(gcs->context->http, gcs->env, NULL, call, exchanges, n, on_done, ctx, err);
}

static bool is_about_bucket(struct sl_str reason)
{
    return sl_str_find(reason, SL_STR("bucket does not exist")) != SIZE_MAX;
}

/* Words of a service that repeats the token that it was sent stay away from messages. */
static bool repeats_token(const struct sl_exchange *exchange, struct sl_str text)
{
    const struct sl_gcs_request *request = exchange->user;
    return request != NULL && request->token != NULL && request->token->token != NULL &&
           sl_str_find(text, sl_str_from(request->token->token)) != SIZE_MAX;
}

silt_status sl_gcs_fail(const struct sl_gcs *gcs, const struct sl_exchange *exchange, const struct sl_gcs_name *name,
                        silt_error *err)
{
    if (exchange->status != SILT_OK) {
        if (err != NULL) {
            *err = exchange->error;
        }
        return exchange->status;
    }
    const int code = exchange->request.code;
    struct sl_buf reason;
    sl_buf_init(&reason, gcs->env);
    if (!repeats_token(exchange, sl_buf_view(&exchange->request.answer))) {
        sl_gcs_put_reason(gcs->env, &reason, sl_buf_view(&exchange->request.answer));
    }
    if (repeats_token(exchange, sl_buf_view(&reason))) { /* behind escapes of JSON */
        sl_buf_clear(&reason);
    }
    const char *words = reason.len > 0 ? sl_buf_cstr(&reason) : "no reason given";
    silt_status status = SILT_EIO;
    if (code == 404 && (name->key.len == 0 || is_about_bucket(sl_buf_view(&reason)))) {
        status = sl_fail(err, SILT_ENOTFOUND, SL_BUCKET_NOT_FOUND, "there is no bucket gs://%.*s (404, %s)",
                         SL_FMT(name->bucket), words);
    } else if (code == 404) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no object %.*s in gs://%.*s (404, %s)", SL_FMT(name->key),
                         SL_FMT(name->bucket), words);
    } else if (code == 401 || code == 403) {
        status = sl_fail(err, SILT_EACCESS, NULL, "gs://%.*s refused access to '%.*s' (%d, %s)", SL_FMT(name->bucket),
                         SL_FMT(name->key), code, words);
        if (gcs->tokens == NULL) {
            sl_error_hint(err, "the request was sent without credentials");
        }
    } else if (code == 412 && strcmp(exchange->request.method, "GET") != 0) { /* a read has no condition */
        status = sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    } else {
        status = sl_fail(err, SILT_EIO, NULL, "gs://%.*s answered %d for '%.*s' (%s)", SL_FMT(name->bucket), code,
                         SL_FMT(name->key), words);
    }
    sl_buf_release(&reason);
    return status;
}
