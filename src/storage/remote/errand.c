/* One request, repeated as it is until it is answered. Any thread. */
#include "storage/remote/errand.h"

#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    (void)call;
    (void)renew;
    (void)err;
    const struct sl_http_request *given = exchange->user;
    exchange->request.method = given->method;
    exchange->request.url = given->url;
    exchange->request.headers = given->headers;
    exchange->request.n_headers = given->n_headers;
    exchange->request.body = given->body;
    exchange->request.body_len = given->body_len;
    exchange->request.max_answer = given->max_answer;
    exchange->request.auth = given->auth;
    return SILT_OK;
}

/* 401 is an answer here: there is nothing to renew. */
static enum sl_verdict judge(struct sl_exchange *exchange)
{
    const enum sl_verdict verdict = sl_exchange_judge(exchange);
    return verdict == SL_VERDICT_RENEW ? SL_VERDICT_DONE : verdict;
}

static const struct sl_exchange_class fetch_class = {.prepare = prepare, .judge = judge};

silt_status sl_errand(const struct sl_remote_context *context, const silt_call *call,
                      const struct sl_http_request *request, const struct sl_errand_options *options,
                      struct sl_exchange *exchange, silt_error *err)
{
    struct sl_http_request given = *request;
    silt_call own = {.size = sizeof(own), .abi_version = SILT_ABI_VERSION};
    if (call != NULL) {
        own = *call;
    }
    if (options->timeout_us > 0) {
        const int64_t until_us = sl_monotonic_us(context->env) + options->timeout_us;
        own.deadline_us = own.deadline_us == 0 || until_us < own.deadline_us ? until_us : own.deadline_us;
    }
    const struct sl_exchange_limits limits = {.max_attempts = options->max_attempts};
    *exchange = (struct sl_exchange){.class = &fetch_class, .user = &given};
    silt_status status = sl_exchange_run(context->http, context->env, &limits, &own, exchange, 1, NULL, NULL, err);
    exchange->user = NULL;
    if (status == SILT_OK && exchange->status != SILT_OK) {
        status = exchange->status;
        if (err != NULL) {
            *err = exchange->error;
        }
    }
    if (status == SILT_EDEADLINE && sl_call_check(context->env, call, NULL) == SILT_OK) {
        return sl_fail(err, SILT_EIO, NULL, "no answer within %lld ms", (long long)(options->timeout_us / 1000));
    }
    return status;
}
