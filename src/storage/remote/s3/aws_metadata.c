/*
 * Endpoints on the machine itself, asked without a signature; the answers are JSON. Any thread; nothing is kept.
 */
#include "storage/remote/s3/aws_metadata.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "json/json.h"
#include "storage/remote/errand.h"
#include "storage/remote/s3/aws_profile.h"

#define MAX_ANSWER 65536
#define MAX_TOKEN 65536
#define INSTANCE_ENDPOINT "http://169.254.169.254"
#define CONTAINER_ENDPOINT "http://169.254.170.2"
#define FIRST_TIMEOUT_US 1000000 /* until the token of the metadata service: nobody may be there */
#define TIMEOUT_US 5000000

silt_status sl_aws_credential_parse(const silt_env *env, struct sl_str json, struct sl_credential **out,
                                    silt_error *err)
{
    *out = NULL;
    struct sl_json_doc *doc = NULL;
    int64_t expires_us = 0;
    bool has_zone = false;
    if (sl_json_parse(env, json, &doc, NULL) != SILT_OK) {
        return sl_fail(err, SILT_EIO, NULL, "the answer with credentials is no JSON");
    }
    const sl_json *root = sl_json_root(doc);
    const struct sl_str parts[3] = {sl_json_member_text(root, "AccessKeyId"),
                                    sl_json_member_text(root, "SecretAccessKey"), sl_json_member_text(root, "Token")};
    const struct sl_str expires = sl_json_member_text(root, "Expiration");
    silt_status status = SILT_OK;
    if (parts[0].len == 0 || parts[1].len == 0 ||
        (expires.ptr != NULL && !sl_timestamp_parse(expires, &expires_us, &has_zone))) {
        status = sl_fail(err, SILT_EIO, NULL, "the answer with credentials lacks some");
    } else {
        status = sl_credential_new(env, parts, expires_us, out, err);
    }
    sl_json_free(doc);
    return status;
}

static bool host_is(struct sl_str url, const char *prefix)
{
    const struct sl_str text = sl_str_from(prefix);
    if (!sl_str_starts_with(url, text)) {
        return false;
    }
    const char next = url.len > text.len ? url.ptr[text.len] : '/';
    return next == '/' || next == ':' || next == '?';
}

bool sl_aws_container_url_allowed(struct sl_str url)
{
    static const char *const hosts[] = {"http://127.0.0.1",     "http://localhost",      "http://[::1]",
                                        "http://169.254.170.2", "http://169.254.170.23", "http://[fd00:ec2::23]"};
    if (sl_str_find(url, SL_STR("@")) != SIZE_MAX) {
        return false;
    }
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (host_is(url, hosts[i])) {
            return true;
        }
    }
    return sl_str_starts_with(url, SL_STR("https://"));
}

bool sl_aws_container_is_set(const struct sl_remote_context *context)
{
    return sl_option_get(context->options, SL_OPTION_S3_CONTAINER_PATH, NULL) != NULL ||
           sl_option_get(context->options, SL_OPTION_S3_CONTAINER_URL, NULL) != NULL;
}

/* The URL to ask, or an error. */
static silt_status container_url(const struct sl_remote_context *context, struct sl_arena *arena, const char **out,
                                 silt_error *err)
{
    const char *path = sl_option_get(context->options, SL_OPTION_S3_CONTAINER_PATH, NULL);
    if (path != NULL) {
        *out = sl_arena_printf(arena, CONTAINER_ENDPOINT "%s%s", path[0] == '/' ? "" : "/", path);
        return *out != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    *out = sl_option_get(context->options, SL_OPTION_S3_CONTAINER_URL, NULL);
    if (!sl_aws_container_url_allowed(sl_str_from(*out))) {
        return sl_option_unusable(SL_OPTION_S3_CONTAINER_URL, *out, "https, or http to this machine", err);
    }
    return SILT_OK;
}

/* The container's token; absent if there is none. The file goes first: what it holds is renewed. */
static silt_status container_token(const struct sl_remote_context *context, struct sl_arena *arena, const char **out,
                                   silt_error *err)
{
    const char *file = sl_option_get(context->options, SL_OPTION_S3_CONTAINER_TOKEN_FILE, NULL);
    *out = sl_option_get(context->options, SL_OPTION_S3_CONTAINER_TOKEN, NULL);
    if (file == NULL) {
        return SILT_OK;
    }
    struct sl_buf text;
    sl_buf_init(&text, context->env);
    silt_status status = sl_aws_file_read(file, MAX_TOKEN, &text, err);
    if (status == SILT_OK) {
        *out = sl_arena_strdup(arena, sl_str_trim(sl_buf_view(&text)));
        status = *out != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&text);
    return status;
}

static silt_status check_code(const struct sl_http_request *request, const char *what, silt_error *err)
{
    if (request->code == 200) {
        return SILT_OK;
    }
    const silt_status status = request->code == 404 ? SILT_ENOTFOUND
                                                    : (request->code / 100 == 4 ? SILT_EACCESS : SILT_EIO);
    return sl_fail(err, status, NULL, "%s answered HTTP %d", what, request->code);
}

silt_status sl_aws_container_fetch(const struct sl_remote_context *context, const silt_call *call,
                                   struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    const struct sl_errand_options options = {.timeout_us = TIMEOUT_US};
    const char *url = NULL;
    const char *token = NULL;
    struct sl_exchange exchange = {0};
    struct sl_arena arena;
    sl_arena_init(&arena, context->env);
    silt_status status = container_url(context, &arena, &url, err);
    if (status == SILT_OK) {
        status = container_token(context, &arena, &token, err);
    }
    if (status == SILT_OK) {
        const struct sl_http_header header = {"Authorization", token};
        const struct sl_http_request request = {.method = "GET",
                                                .url = url,
                                                .headers = &header,
                                                .n_headers = token != NULL ? 1 : 0,
                                                .max_answer = MAX_ANSWER};
        status = sl_errand(context, call, &request, &options, &exchange, err);
    }
    if (status == SILT_OK) {
        status = check_code(&exchange.request, "the container's endpoint of credentials", err);
    }
    if (status == SILT_OK) {
        status = sl_aws_credential_parse(context->env, sl_buf_view(&exchange.request.answer), out, err);
    }
    sl_exchange_release(&exchange);
    sl_arena_release(&arena);
    return status;
}

/* ---- instance metadata ---- */

struct instance {
    const struct sl_remote_context *context;
    const silt_call *call;
    const char *endpoint;
    struct sl_arena *arena;
    struct sl_http_header token;
};

/* One question to the service; the answer's text goes to *out. */
static silt_status ask(struct instance *instance, const char *method, const char *path, int64_t timeout_us,
                       struct sl_str *out, silt_error *err)
{
    const struct sl_errand_options options = {.timeout_us = timeout_us, .max_attempts = 3};
    struct sl_exchange exchange = {0};
    const char *url = sl_arena_printf(instance->arena, "%s%s", instance->endpoint, path);
    if (url == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_http_request request = {
        .method = method, .url = url, .headers = &instance->token, .n_headers = 1, .max_answer = MAX_ANSWER};
    silt_status status = sl_errand(instance->context, instance->call, &request, &options, &exchange, err);
    if (status == SILT_OK) {
        status = check_code(&exchange.request, "the instance's metadata service", err);
    }
    if (status == SILT_OK) {
        *out = sl_arena_copy(instance->arena, sl_str_trim(sl_str_make(sl_buf_cstr(&exchange.request.answer),
                                                                      exchange.request.answer.len)));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_exchange_release(&exchange);
    return status;
}

/* A role's name or a token goes into a request: one line of printable ASCII. */
static bool is_plain(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len > 0;
}

static silt_status fetch_of_role(struct instance *instance, struct sl_credential **out, silt_error *err)
{
    static const char roles[] = "/latest/meta-data/iam/security-credentials/";
    struct sl_str role;
    struct sl_str json;
    SL_TRY(ask(instance, "GET", roles, TIMEOUT_US, &role, err));
    if (!is_plain(role)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "the instance has no role");
    }
    const char *path = sl_arena_printf(instance->arena, "%s%.*s", roles, SL_FMT(role));
    if (path == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(ask(instance, "GET", path, TIMEOUT_US, &json, err));
    return sl_aws_credential_parse(instance->context->env, json, out, err);
}

silt_status sl_aws_instance_fetch(const struct sl_remote_context *context, const silt_call *call,
                                  struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    const char *given = sl_option_get(context->options, SL_OPTION_S3_METADATA_ENDPOINT, NULL);
    struct sl_arena arena;
    sl_arena_init(&arena, context->env);
    struct instance instance = {.context = context,
                                .call = call,
                                .endpoint = given != NULL ? given : INSTANCE_ENDPOINT,
                                .arena = &arena,
                                .token = {"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
    struct sl_str token = {0};
    silt_status status = ask(&instance, "PUT", "/latest/api/token", FIRST_TIMEOUT_US, &token, err);
    if (status == SILT_EIO || status == SILT_EACCESS) { /* 403: it is switched off */
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "no metadata service of an EC2 instance answers");
    } else if (status == SILT_OK && !is_plain(token)) {
        status = sl_fail(err, SILT_EIO, NULL, "the instance's metadata service gave no token");
    } else if (status == SILT_OK) {
        instance.token = (struct sl_http_header){"X-aws-ec2-metadata-token", token.ptr};
        status = fetch_of_role(&instance, out, err);
    }
    sl_arena_release(&arena);
    return status;
}
