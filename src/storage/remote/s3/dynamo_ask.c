/*
 * One request to DynamoDB: how it is made for each attempt, what an answer means, how a failure reads. Any thread; an ask has one owner.
 */
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/s3/dynamo_int.h"

#define API "DynamoDB_20120810."
#define MAX_ANSWER ((size_t)16 * 1024 * 1024) /* a page has 1 MiB of items */
#define MAX_SKEW_S 300                        /* AWS takes no more */

/* ---- an attempt ---- */

static silt_status take_credential(struct sl_dynamo_ask *ask, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_credential *fresh = NULL;
    SL_TRY(sl_credential_cache_get(ask->dynamo->credentials, call, renew ? ask->used : NULL, &fresh, err));
    sl_credential_unref(ask->used);
    ask->used = fresh;
    return SILT_OK;
}

static void add(struct sl_dynamo_ask *ask, const char *name, const char *value)
{
    ask->headers[ask->n_headers++] = (struct sl_http_header){name, value};
}

static silt_status sign(struct sl_dynamo_ask *ask, silt_error *err)
{
    const struct sl_dynamo *dynamo = ask->dynamo;
    uint8_t hash[SL_SHA256_SIZE];
    SL_TRY(sl_sha256(sl_buf_view(&ask->body), hash, err));
    sl_hex_put(hash, sizeof(hash), ask->hash);
    SL_TRY(sl_sigv4_date(sl_now_us(dynamo->context->env), ask->date, err));
    ask->n_headers = 0;
    add(ask, "Content-Type", "application/x-amz-json-1.0");
    add(ask, "X-Amz-Target", ask->target);
    add(ask, "X-Amz-Date", ask->date);
    if (ask->used->token != NULL) {
        add(ask, "X-Amz-Security-Token", ask->used->token);
    }
    const struct sl_sigv4_key key = {ask->used->id, ask->used->secret, dynamo->region, "dynamodb"};
    struct sl_sigv4_request request = {.method = "POST",
                                       .headers = ask->headers,
                                       .n_headers = ask->n_headers,
                                       .payload_hash = ask->hash,
                                       .date = ask->date};
    sl_sigv4_split(dynamo->url, &request.host, &request.path);
    sl_buf_clear(&ask->authorization);
    SL_TRY(sl_sigv4_sign(dynamo->context->env, &key, &request, &ask->authorization, err));
    add(ask, "Authorization", sl_buf_cstr(&ask->authorization));
    return SILT_OK;
}

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_dynamo_ask *ask = exchange->user;
    SL_TRY(sl_buf_status(&ask->body, err));
    SL_TRY(take_credential(ask, call, renew, err));
    SL_TRY(sign(ask, err));
    exchange->request.method = "POST";
    exchange->request.url = ask->dynamo->url;
    exchange->request.headers = ask->headers;
    exchange->request.n_headers = ask->n_headers;
    exchange->request.body = ask->body.data;
    exchange->request.body_len = ask->body.len;
    exchange->request.max_answer = MAX_ANSWER;
    return SILT_OK;
}

/* ---- an answer ---- */

static bool is_one_of(const char *said, const char *const *faults, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(said, faults[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Too much at once: nothing was done, and later it will be. */
static bool is_throttled(const struct sl_dynamo_ask *ask)
{
    static const char *const faults[] = {"ProvisionedThroughputExceededException", "ThrottlingException",
                                         "RequestLimitExceeded", "TransactionConflictException",
                                         "TransactionInProgressException"};
    return is_one_of(ask->said, faults, sizeof(faults) / sizeof(faults[0]));
}

static bool is_stale(const struct sl_dynamo_ask *ask)
{
    static const char *const faults[] = {"ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException",
                                         "InvalidClientTokenId"};
    return is_one_of(ask->said, faults, sizeof(faults) / sizeof(faults[0]));
}

static enum sl_verdict judge(struct sl_exchange *exchange)
{
    struct sl_dynamo_ask *ask = exchange->user;
    const struct sl_http_request *request = &exchange->request;
    ask->said[0] = '\0';
    if (request->status != SILT_OK || request->code / 100 == 2) {
        return sl_exchange_judge(exchange);
    }
    sl_dynamo_read_fault(ask->dynamo->context->env, sl_buf_view(&request->answer), ask->said);
    if (is_throttled(ask)) {
        return SL_VERDICT_RETRY;
    }
    return is_stale(ask) ? SL_VERDICT_RENEW : sl_exchange_judge(exchange);
}

static const struct sl_exchange_class ask_class = {.prepare = prepare, .judge = judge};

void sl_dynamo_arm(const struct sl_dynamo *dynamo, const char *operation, struct sl_dynamo_ask *ask,
                   struct sl_exchange *exchange)
{
    *ask = (struct sl_dynamo_ask){.dynamo = dynamo};
    (void)snprintf(ask->target, sizeof(ask->target), API "%s", operation);
    sl_buf_init(&ask->body, dynamo->context->env);
    sl_buf_init(&ask->authorization, dynamo->context->env);
    *exchange = (struct sl_exchange){.class = &ask_class, .user = ask};
}

silt_status sl_dynamo_run(const silt_call *call, struct sl_dynamo_ask *ask, struct sl_exchange *exchange,
                          silt_error *err)
{
    const struct sl_remote_context *context = ask->dynamo->context;
    const silt_status status = sl_exchange_run(context->http, context->env, NULL, call, exchange, 1, NULL, NULL, err);
    if (status == SILT_OK && !sl_s3_answered(exchange, 200)) {
        return sl_dynamo_fail(ask, exchange, err);
    }
    if (status == SILT_EIO) { /* it names a host and no more */
        sl_error_context(err, "DynamoDB table %s", ask->dynamo->table);
    }
    return status;
}

bool sl_dynamo_said(const struct sl_dynamo_ask *ask, const struct sl_exchange *exchange, const char *fault)
{
    return sl_s3_answered(exchange, 400) && strcmp(ask->said, fault) == 0;
}

void sl_dynamo_release(struct sl_dynamo_ask *ask, struct sl_exchange *exchange)
{
    sl_exchange_release(exchange);
    sl_buf_release(&ask->body);
    sl_buf_release(&ask->authorization);
    sl_credential_unref(ask->used);
    ask->used = NULL;
}

/* ---- failures ---- */

static silt_status choose_status(const struct sl_dynamo_ask *ask, int code)
{
    static const char *const denied[] = {"AccessDeniedException",       "AccessDenied",
                                         "UnrecognizedClientException", "InvalidClientTokenId",
                                         "InvalidSignatureException",   "SignatureDoesNotMatch",
                                         "ExpiredTokenException",       "ExpiredToken",
                                         "MissingAuthenticationToken",  "MissingAuthenticationTokenException",
                                         "IncompleteSignatureException"};
    if (code == 401 || code == 403 || is_one_of(ask->said, denied, sizeof(denied) / sizeof(denied[0]))) {
        return SILT_EACCESS;
    }
    return strcmp(ask->said, SL_DYNAMO_NO_TABLE) == 0 ? SILT_ENOTFOUND : SILT_EIO;
}

/* DynamoDB calls a request that is signed too early or too late badly signed. */
static bool is_skewed(const struct sl_dynamo_ask *ask, const struct sl_http_request *answer)
{
    int64_t seconds = 0;
    if (!sl_http_date_parse(sl_http_header(answer, "date"), &seconds)) {
        return false;
    }
    const int64_t off_s = seconds - sl_now_us(ask->dynamo->context->env) / 1000000;
    return off_s > MAX_SKEW_S || off_s < -MAX_SKEW_S;
}

silt_status sl_dynamo_fail(const struct sl_dynamo_ask *ask, const struct sl_exchange *exchange, silt_error *err)
{
    const struct sl_http_request *request = &exchange->request;
    const char *operation = ask->target + sizeof(API) - 1;
    if (exchange->status != SILT_OK) {
        if (err != NULL) {
            *err = exchange->error;
        }
        if (exchange->status == SILT_EIO) {
            sl_error_context(err, "DynamoDB table %s", ask->dynamo->table);
        }
        return exchange->status;
    }
    const silt_status status = sl_fail(err, choose_status(ask, request->code), NULL,
                                       "DynamoDB table %s: %s was answered HTTP %d%s%s", ask->dynamo->table, operation,
                                       request->code, ask->said[0] != '\0' ? " " : "", ask->said);
    if (err != NULL) {
        err->sys_code = request->code;
    }
    if (status == SILT_EACCESS && is_skewed(ask, request)) {
        sl_error_hint(err, "this machine's clock differs from the server's");
    } else if (status == SILT_EACCESS) {
        sl_error_hint(err, "commits need the rights to GetItem, PutItem, Query, DescribeTable and CreateTable there");
    }
    return status;
}
