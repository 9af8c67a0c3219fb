/* Requests as they are sent. One thread a request. */
#include "storage/remote/azure/azure_request.h"

#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/url.h"

void sl_azure_request_init(struct sl_azure_request *request, const struct sl_remote_context *context,
                           struct sl_azure_access *access, const char *method, struct sl_str path)
{
    *request = (struct sl_azure_request){.context = context, .access = access, .method = method, .path = path};
    sl_arena_init(&request->arena, context->env);
}

/* Beyond the limits it is left out here, and refused by prepare. */
void sl_azure_request_parameter(struct sl_azure_request *request, const char *name, const char *value)
{
    if (request->n_parameters < SL_AZURE_MAX_PARAMETERS) {
        request->parameters[request->n_parameters] = (struct sl_http_header){name, value};
    }
    request->n_parameters++;
}

void sl_azure_request_header(struct sl_azure_request *request, const char *name, const char *value)
{
    if (request->n_extra < SL_AZURE_MAX_EXTRA) {
        request->extra[request->n_extra] = (struct sl_http_header){name, value};
    }
    request->n_extra++;
}

void sl_azure_request_release(struct sl_azure_request *request)
{
    sl_credential_unref(request->credential);
    request->credential = NULL;
    sl_arena_release(&request->arena);
}

/* ---- one attempt ---- */

static void add_header(struct sl_azure_request *request, const char *name, const char *value)
{
    request->headers[request->n_headers++] = (struct sl_http_header){name, value};
}

/* The text that a buffer holds, moved to the request's arena. */
static silt_status settle(struct sl_azure_request *request, struct sl_buf *text, const char **out, silt_error *err)
{
    silt_status status = sl_buf_status(text, err);
    *out = NULL;
    if (status == SILT_OK) {
        *out = sl_arena_strdup(&request->arena, sl_buf_view(text));
        status = *out != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(text);
    return status;
}

static silt_status make_url(struct sl_azure_request *request, const char **out, silt_error *err)
{
    const struct sl_azure_access *access = request->access;
    struct sl_buf url;
    sl_buf_init(&url, request->context->env);
    sl_buf_put_c(&url, request->dfs ? access->dfs_url : access->blob_url);
    sl_buf_put_char(&url, '/');
    sl_url_encode(&url, sl_str_from(access->container), "");
    if (request->path.len > 0) {
        sl_buf_put_char(&url, '/');
        sl_url_encode(&url, request->path, "/");
    }
    for (size_t i = 0; i < request->n_parameters; i++) {
        sl_buf_put_char(&url, i == 0 ? '?' : '&');
        sl_buf_put_c(&url, request->parameters[i].name);
        sl_buf_put_char(&url, '=');
        sl_url_encode(&url, sl_str_from(request->parameters[i].value), "");
    }
    if (access->auth == SL_AZURE_AUTH_SAS) {
        sl_buf_put_char(&url, request->n_parameters == 0 ? '?' : '&');
        sl_buf_put_c(&url, access->sas);
    }
    return settle(request, &url, out, err);
}

/* What stands between the host and the query. */
static struct sl_str path_of(const char *url)
{
    const struct sl_str text = sl_str_from(url);
    const size_t scheme = sl_str_find(text, SL_STR("://"));
    const struct sl_str rest = sl_str_sub(text, scheme + 3, text.len);
    const size_t slash = sl_str_find(rest, SL_STR("/"));
    const struct sl_str path = sl_str_sub(rest, slash, rest.len);
    const size_t query = sl_str_find(path, SL_STR("?"));
    return sl_str_sub(path, 0, query != SIZE_MAX ? query : path.len);
}

static silt_status add_signature(struct sl_azure_request *request, const char *url, silt_error *err)
{
    const struct sl_azure_access *access = request->access;
    const struct sl_azure_signable signable = {.method = request->method,
                                               .account = access->account,
                                               .path = path_of(url),
                                               .parameters = request->parameters,
                                               .n_parameters = request->n_parameters,
                                               .headers = request->headers,
                                               .n_headers = request->n_headers,
                                               .body_len = request->body_len};
    const char *value = NULL;
    struct sl_buf text;
    sl_buf_init(&text, request->context->env);
    const silt_status status = sl_azure_sign(request->context->env, access->key, &signable, &text, err);
    if (status != SILT_OK) {
        sl_buf_release(&text);
        return status;
    }
    SL_TRY(settle(request, &text, &value, err));
    add_header(request, "Authorization", value);
    return SILT_OK;
}

static silt_status add_token(struct sl_azure_request *request, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_credential *fresh = NULL;
    SL_TRY(sl_credential_cache_get(request->access->tokens, call, renew ? request->credential : NULL, &fresh, err));
    sl_credential_unref(request->credential);
    request->credential = fresh;
    const char *value = sl_arena_printf(&request->arena, "Bearer %s", fresh->token != NULL ? fresh->token : "");
    if (value == NULL) {
        return sl_fail_nomem(err);
    }
    add_header(request, "Authorization", value);
    return SILT_OK;
}

static silt_status add_headers(struct sl_azure_request *request, silt_error *err)
{
    const silt_env *env = request->context->env;
    const char *date = NULL;
    struct sl_buf text;
    sl_buf_init(&text, env);
    sl_azure_put_date(&text, sl_now_us(env));
    SL_TRY(settle(request, &text, &date, err));
    SL_TRY(sl_uuid_make(env, request->id, err));
    request->n_headers = 0;
    add_header(request, "x-ms-date", date);
    add_header(request, "x-ms-version", request->access->version);
    add_header(request, "x-ms-client-request-id", request->id);
    for (size_t i = 0; i < request->n_extra; i++) {
        add_header(request, request->extra[i].name, request->extra[i].value);
    }
    return SILT_OK;
}

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_azure_request *request = exchange->user;
    const enum sl_azure_auth auth = request->access->auth;
    const char *url = NULL;
    if (request->n_parameters > SL_AZURE_MAX_PARAMETERS || request->n_extra > SL_AZURE_MAX_EXTRA) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a request has too many parameters or headers");
    }
    sl_arena_reset(&request->arena);
    SL_TRY(make_url(request, &url, err));
    SL_TRY(add_headers(request, err));
    if (auth == SL_AZURE_AUTH_KEY) {
        SL_TRY(add_signature(request, url, err));
    } else if (auth == SL_AZURE_AUTH_TOKEN) {
        SL_TRY(add_token(request, call, renew, err));
    }
    struct sl_http_request *http = &exchange->request;
    http->method = request->method;
    http->url = url;
    http->headers = request->headers;
    http->n_headers = request->n_headers;
    http->body = request->body;
    http->body_len = request->body_len;
    http->max_answer = request->max_answer;
    return SILT_OK;
}

/* Only a token can be had anew; a key or a signature that is refused stays refused. */
static enum sl_verdict judge_attempt(struct sl_exchange *exchange)
{
    const struct sl_azure_request *request = exchange->user;
    const enum sl_verdict verdict = sl_exchange_judge(exchange);
    const bool renewable = request->access->auth == SL_AZURE_AUTH_TOKEN &&
                           request->access->source.grant.kind != SL_AZURE_GRANT_FIXED;
    return verdict == SL_VERDICT_RENEW && !renewable ? SL_VERDICT_DONE : verdict;
}

static const struct sl_exchange_class request_class = {.prepare = prepare, .judge = judge_attempt};

void sl_azure_arm(struct sl_azure_request *request, struct sl_exchange *exchange)
{
    *exchange = (struct sl_exchange){.class = &request_class, .user = request};
    request->exchange = exchange;
}

silt_status sl_azure_ask_all(struct sl_azure_request *requests, struct sl_exchange *exchanges, size_t n,
                             const silt_call *call, void (*on_done)(void *ctx, struct sl_exchange *exchange), void *ctx,
                             silt_error *err)
{
    if (n == 0) {
        return SILT_OK;
    }
    for (size_t i = 0; i < n; i++) {
        sl_azure_arm(&requests[i], &exchanges[i]);
    }
    const struct sl_remote_context *context = requests[0].context;
    return sl_exchange_run(context->http, context->env, NULL, call, exchanges, n, on_done, ctx, err);
}

silt_status sl_azure_ask(struct sl_azure_request *request, const silt_call *call, struct sl_exchange *exchange,
                         silt_error *err)
{
    SL_TRY(sl_azure_ask_all(request, exchange, 1, call, NULL, NULL, err));
    return exchange->status == SILT_OK ? SILT_OK : sl_azure_judge(request, err);
}
