/* Tokens from their endpoints: of service accounts and users by POST, of a machine by its metadata server. One thread at a time. */
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/gcs/gcs_int.h"

#define MAX_ANSWER 65536
#define METADATA_ATTEMPTS 3 /* outside of Google's cloud nobody answers */

/* A token that is asked for; exchange->user. */
struct inquiry {
    const struct sl_gcs *gcs;
    struct sl_buf body;
};

static const struct sl_http_header post_headers[] = {
    {.name = "Content-Type", .value = "application/x-www-form-urlencoded"},
    {.name = "Accept", .value = "application/json"},
};
static const struct sl_http_header metadata_headers[] = {{.name = "Metadata-Flavor", .value = "Google"}};

/* The claims are signed anew for each attempt: they tell the time. */
static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct inquiry *inquiry = exchange->user;
    const struct sl_gcs *gcs = inquiry->gcs;
    struct sl_http_request *request = &exchange->request;
    (void)call;
    (void)renew;
    request->url = gcs->credentials.token_url;
    request->max_answer = MAX_ANSWER;
    if (gcs->credentials.kind == SL_GCS_METADATA) {
        request->method = "GET";
        request->headers = metadata_headers;
        request->n_headers = 1;
        return SILT_OK;
    }
    sl_buf_clear(&inquiry->body);
    SL_TRY(sl_gcs_put_token_request(gcs->env, &gcs->credentials, sl_now_us(gcs->env), &inquiry->body, err));
    request->method = "POST";
    request->headers = post_headers;
    request->n_headers = sizeof(post_headers) / sizeof(post_headers[0]);
    request->body = inquiry->body.data;
    request->body_len = inquiry->body.len;
    return SILT_OK;
}

/* Here 401 says that the account is no good: there is nothing to renew. */
static enum sl_verdict judge(struct sl_exchange *exchange)
{
    const enum sl_verdict verdict = sl_exchange_judge(exchange);
    return verdict == SL_VERDICT_RENEW ? SL_VERDICT_DONE : verdict;
}

static const struct sl_exchange_class exchange_class = {.prepare = prepare, .judge = judge};

static silt_status fail_metadata(const struct sl_exchange *exchange, silt_error *err)
{
    silt_status status = SILT_OK;
    if (exchange->status == SILT_EIO) {
        status = sl_fail(err, SILT_EACCESS, NULL,
                         "no credentials of Google Cloud were found, and there is no metadata server: %s",
                         exchange->error.message);
    } else {
        status = sl_fail(err, SILT_EACCESS, NULL,
                         "no credentials of Google Cloud were found; the metadata server answered %d",
                         exchange->request.code);
    }
    sl_error_hint(
        err, "set google_service_account or GOOGLE_APPLICATION_CREDENTIALS to a key file, or google_skip_signature "
             "for public buckets");
    return status;
}

/* Does the answer repeat a secret that was sent? Then its words are none for a message. */
static bool repeats_secret(const struct sl_gcs *gcs, struct sl_str body)
{
    const char *const secrets[] = {gcs->credentials.refresh_token, gcs->credentials.client_secret};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (secrets[i] != NULL && sl_str_find(body, sl_str_from(secrets[i])) != SIZE_MAX) {
            return true;
        }
    }
    return sl_str_find(body, SL_STR("assertion=")) != SIZE_MAX;
}

static silt_status judge_answer(const struct sl_gcs *gcs, const struct sl_exchange *exchange, struct sl_buf *token,
                                int64_t *lifetime_us, silt_error *err)
{
    const bool metadata = gcs->credentials.kind == SL_GCS_METADATA;
    const bool flavored = sl_str_eq_c(sl_http_header(&exchange->request, "metadata-flavor"), "Google");
    if (exchange->status != SILT_OK && (!metadata || exchange->status != SILT_EIO)) {
        *err = exchange->error;
        return exchange->status;
    }
    if (metadata && (exchange->status != SILT_OK || exchange->request.code != 200 || !flavored)) {
        return fail_metadata(exchange, err);
    }
    const int code = exchange->request.code;
    if (code == 200) {
        return sl_gcs_read_token(gcs->env, sl_buf_view(&exchange->request.answer), token, lifetime_us, err);
    }
    struct sl_buf reason;
    sl_buf_init(&reason, gcs->env);
    if (!repeats_secret(gcs, sl_buf_view(&exchange->request.answer))) {
        sl_gcs_put_reason(gcs->env, &reason, sl_buf_view(&exchange->request.answer));
    }
    if (repeats_secret(gcs, sl_buf_view(&reason))) { /* behind escapes of JSON */
        sl_buf_clear(&reason);
    }
    const silt_status kind = code >= 400 && code < 500 && code != 408 && code != 429 ? SILT_EACCESS : SILT_EIO;
    const silt_status status = sl_fail(err, kind, NULL, "the token endpoint of Google Cloud answered %d (%s)", code,
                                       reason.len > 0 ? sl_buf_cstr(&reason) : "no reason given");
    sl_buf_release(&reason);
    return status;
}

/* *lifetime_us stays 0 for a token without an end. */
static silt_status ask(const struct sl_gcs *gcs, const silt_call *call, struct sl_buf *token, int64_t *lifetime_us,
                       silt_error *err)
{
    struct inquiry inquiry = {.gcs = gcs};
    sl_buf_init(&inquiry.body, gcs->env);
    struct sl_exchange exchange = {.class = &exchange_class, .user = &inquiry};
    const struct sl_exchange_limits limits = {
        .max_attempts = gcs->credentials.kind == SL_GCS_METADATA ? METADATA_ATTEMPTS : 0};
    silt_status status = sl_exchange_run(gcs->context->http, gcs->env, &limits, call, &exchange, 1, NULL, NULL, err);
    if (status == SILT_OK) {
        status = judge_answer(gcs, &exchange, token, lifetime_us, err);
    }
    sl_exchange_release(&exchange);
    sl_buf_release(&inquiry.body);
    return status;
}

silt_status sl_gcs_fetch_token(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err)
{
    const struct sl_gcs *gcs = ctx;
    int64_t lifetime_us = 0;
    silt_status status = SILT_OK;
    struct sl_buf token;
    *out = NULL;
    sl_buf_init(&token, gcs->env);
    if (gcs->credentials.kind == SL_GCS_TOKEN) {
        sl_buf_put_c(&token, gcs->credentials.token);
        status = sl_buf_status(&token, err);
    } else {
        status = ask(gcs, call, &token, &lifetime_us, err);
    }
    if (status == SILT_OK) {
        const struct sl_str parts[3] = {{0}, {0}, sl_buf_view(&token)};
        const int64_t expires_us = lifetime_us > 0 ? sl_now_us(gcs->env) + lifetime_us : 0;
        status = sl_credential_new(gcs->env, parts, expires_us, out, err);
    }
    sl_buf_release(&token);
    return status;
}
