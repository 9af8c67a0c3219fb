/*
 * AssumeRole and AssumeRoleWithWebIdentity (API version 2011-06-15): a form is posted, XML comes back. Any thread; nothing is kept.
 */
#include "storage/remote/s3/aws_sts.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/time.h"
#include "storage/remote/digest.h"
#include "storage/remote/errand.h"
#include "storage/remote/s3/aws_error.h"
#include "storage/remote/s3/sigv4.h"
#include "storage/remote/xml.h"

#define TIMEOUT_US (INT64_C(30) * 1000000)
#define MAX_ANSWER (1 << 20)
#define SECONDS_OF_ROLE 3600

struct answer {
    struct sl_arena *arena;
    struct sl_str parts[3];
    struct sl_str expires;
};

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    static const char *const names[3] = {"/Credentials/AccessKeyId", "/Credentials/SecretAccessKey",
                                         "/Credentials/SessionToken"};
    struct answer *answer = ctx;
    struct sl_str *slot = sl_str_ends_with(path, SL_STR("/Credentials/Expiration")) ? &answer->expires : NULL;
    for (size_t i = 0; i < 3; i++) {
        slot = sl_str_ends_with(path, sl_str_from(names[i])) ? &answer->parts[i] : slot;
    }
    if (slot == NULL) {
        return SILT_OK;
    }
    *slot = sl_arena_copy(answer->arena, sl_str_trim(text));
    return slot->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status take_answer(const silt_env *env, struct sl_arena *arena, struct sl_str body,
                               struct sl_credential **out, silt_error *err)
{
    struct answer answer = {.arena = arena};
    const struct sl_xml_handler handler = {.on_end = on_end, .ctx = &answer};
    int64_t expires_us = 0;
    bool has_zone = false;
    SL_TRY(sl_xml_read(env, body, &handler, err));
    if (answer.parts[0].len == 0 || answer.parts[1].len == 0 || answer.parts[2].len == 0 ||
        !sl_timestamp_parse(answer.expires, &expires_us, &has_zone)) {
        return sl_fail(err, SILT_EIO, NULL, "the token service's answer has no credentials");
    }
    return sl_credential_new(env, answer.parts, expires_us, out, err);
}

silt_status sl_aws_sts_parse(const silt_env *env, struct sl_str body, struct sl_credential **out, silt_error *err)
{
    struct sl_arena arena;
    *out = NULL;
    sl_arena_init(&arena, env);
    const silt_status status = take_answer(env, &arena, body, out, err);
    sl_arena_release(&arena);
    return status;
}

static void put_field(struct sl_buf *form, const char *name, struct sl_str value)
{
    if (value.len > 0) {
        sl_buf_printf(form, "&%s=", name);
        sl_sigv4_encode(form, value);
    }
}

static silt_status put_form(struct sl_buf *form, const struct sl_aws_role *role, struct sl_str token, silt_error *err)
{
    sl_buf_printf(form, "Action=%s&Version=2011-06-15&DurationSeconds=%d",
                  token.len > 0 ? "AssumeRoleWithWebIdentity" : "AssumeRole", SECONDS_OF_ROLE);
    put_field(form, "RoleArn", role->arn);
    put_field(form, "RoleSessionName", role->session.len > 0 ? role->session : SL_STR("silt"));
    put_field(form, "ExternalId", role->external_id);
    put_field(form, "WebIdentityToken", token);
    return sl_buf_status(form, err);
}

struct signing {
    struct sl_http_header headers[5];
    size_t n;
    char date[SL_SIGV4_DATE_SIZE];
    char hash[2 * SL_SHA256_SIZE + 1];
    struct sl_buf authorization;
};

static silt_status sign(const struct sl_remote_context *context, const struct sl_credential *base, const char *region,
                        const struct sl_http_request *request, struct signing *signing, silt_error *err)
{
    uint8_t hash[SL_SHA256_SIZE];
    SL_TRY(sl_sha256(sl_str_make(request->body, request->body_len), hash, err));
    sl_hex_put(hash, sizeof(hash), signing->hash);
    SL_TRY(sl_sigv4_date(sl_now_us(context->env), signing->date, err));
    signing->headers[signing->n++] = (struct sl_http_header){"X-Amz-Date", signing->date};
    if (base->token != NULL) {
        signing->headers[signing->n++] = (struct sl_http_header){"X-Amz-Security-Token", base->token};
    }
    const struct sl_sigv4_key key = {base->id, base->secret, region, "sts"};
    struct sl_sigv4_request text = {.method = request->method,
                                    .headers = signing->headers,
                                    .n_headers = signing->n,
                                    .payload_hash = signing->hash,
                                    .date = signing->date};
    sl_sigv4_split(request->url, &text.host, &text.path);
    SL_TRY(sl_sigv4_sign(context->env, &key, &text, &signing->authorization, err));
    signing->headers[signing->n++] = (struct sl_http_header){"Authorization", sl_buf_cstr(&signing->authorization)};
    return SILT_OK;
}

static const char *make_endpoint(const struct sl_remote_context *context, struct sl_arena *arena, const char *region)
{
    const char *given = sl_option_get(context->options, SL_OPTION_S3_STS_ENDPOINT, NULL);
    const bool china = strncmp(region, "cn-", 3) == 0;
    return given != NULL ? given
                         : sl_arena_printf(arena, "https://sts.%s.amazonaws.com%s/", region, china ? ".cn" : "");
}

/* A refusal in words that help. */
static silt_status judge(const struct sl_remote_context *context, const struct sl_aws_role *role,
                         const struct sl_http_request *request, silt_error *err)
{
    struct sl_aws_error said;
    if (request->code / 100 == 2) {
        return SILT_OK;
    }
    sl_aws_error_read(context->env, sl_buf_view(&request->answer), &said);
    const silt_status status = sl_fail(err, request->code / 100 == 4 ? SILT_EACCESS : SILT_EIO, NULL,
                                       "the token service refused role %.*s: HTTP %d %s", SL_FMT(role->arn),
                                       request->code, said.code);
    if (err != NULL) {
        err->sys_code = request->code;
    }
    return status;
}

silt_status sl_aws_assume_role(const struct sl_remote_context *context, const silt_call *call,
                               const struct sl_aws_role *role, const struct sl_credential *base, struct sl_str token,
                               struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    const struct sl_errand_options options = {.timeout_us = TIMEOUT_US};
    struct sl_exchange exchange = {0};
    struct signing signing = {.headers = {{"Content-Type", "application/x-www-form-urlencoded"}}, .n = 1};
    struct sl_arena arena;
    struct sl_buf form;
    sl_arena_init(&arena, context->env);
    sl_buf_init(&form, context->env);
    sl_buf_init(&signing.authorization, context->env);
    const char *region = sl_arena_strdup(&arena, role->region.len > 0 ? role->region : SL_STR("us-east-1"));
    const char *endpoint = region != NULL ? make_endpoint(context, &arena, region) : NULL;
    silt_status status = endpoint != NULL ? put_form(&form, role, token, err) : sl_fail_nomem(err);
    struct sl_http_request request = {.method = "POST",
                                      .url = endpoint,
                                      .headers = signing.headers,
                                      .body = sl_buf_cstr(&form),
                                      .body_len = form.len,
                                      .max_answer = MAX_ANSWER};
    if (status == SILT_OK && base != NULL) {
        status = sign(context, base, region, &request, &signing, err);
    }
    request.n_headers = signing.n;
    if (status == SILT_OK) {
        status = sl_errand(context, call, &request, &options, &exchange, err);
    }
    if (status == SILT_OK) {
        status = judge(context, role, &exchange.request, err);
    }
    if (status == SILT_OK) {
        status = sl_aws_sts_parse(context->env, sl_buf_view(&exchange.request.answer), out, err);
    }
    sl_exchange_release(&exchange);
    sl_buf_release(&signing.authorization);
    sl_buf_release(&form);
    sl_arena_release(&arena);
    return status;
}
