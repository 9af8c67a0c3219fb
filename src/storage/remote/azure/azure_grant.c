/* Asking for tokens. Pure; any thread. */
#include "storage/remote/azure/azure_grant.h"

#include "base/env.h"
#include "base/error.h"
#include "json/json.h"
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/url.h"

#define MAX_TOKEN 65536
#define MAX_LIFE_S INT64_C(2592000) /* a month: no token lives longer */
#define CACHE_MARGIN_US INT64_C(300000000)

/* ---- requests ---- */

static void put_field(struct sl_buf *out, char separator, const char *name, struct sl_str value)
{
    if (separator != '\0') {
        sl_buf_put_char(out, separator);
    }
    sl_buf_put_c(out, name);
    sl_buf_put_char(out, '=');
    sl_url_encode(out, value, "");
}

static silt_status keep(struct sl_arena *arena, struct sl_buf *text, const char **out, silt_error *err)
{
    silt_status status = sl_buf_status(text, err);
    if (status == SILT_OK) {
        *out = sl_arena_strdup(arena, sl_buf_view(text));
        status = *out != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(text);
    return status;
}

/* An endpoint of version 2 takes scopes, one of version 1 resources. */
static silt_status ask_directory(const struct sl_azure_grant *grant, struct sl_str assertion, struct sl_arena *arena,
                                 struct sl_http_request *out, silt_error *err)
{
    struct sl_buf body;
    sl_buf_init(&body, arena->env);
    put_field(&body, '\0', "grant_type", SL_STR("client_credentials"));
    put_field(&body, '&', "client_id", sl_str_from(grant->client_id));
    if (sl_str_find(sl_str_from(grant->url), SL_STR("/v2.0/")) != SIZE_MAX) {
        put_field(&body, '&', "scope", SL_STR(SL_AZURE_RESOURCE "/.default"));
    } else {
        put_field(&body, '&', "resource", SL_STR(SL_AZURE_RESOURCE "/"));
    }
    if (grant->kind == SL_AZURE_GRANT_SECRET) {
        put_field(&body, '&', "client_secret", sl_str_from(grant->secret));
    } else {
        put_field(&body, '&', "client_assertion_type",
                  SL_STR("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"));
        put_field(&body, '&', "client_assertion", assertion);
    }
    const char *text = NULL;
    struct sl_http_header *headers = sl_arena_alloc_array(arena, 1, sizeof(*headers));
    SL_TRY(keep(arena, &body, &text, err));
    if (headers == NULL) {
        return sl_fail_nomem(err);
    }
    headers[0] = (struct sl_http_header){"Content-Type", "application/x-www-form-urlencoded"};
    out->method = "POST";
    out->url = grant->url;
    out->headers = headers;
    out->n_headers = 1;
    out->body = text;
    out->body_len = strlen(text);
    return SILT_OK;
}

static silt_status ask_machine(const struct sl_azure_grant *grant, struct sl_arena *arena, struct sl_http_request *out,
                               silt_error *err)
{
    const bool app_service = grant->identity_header != NULL;
    struct sl_buf url;
    sl_buf_init(&url, arena->env);
    sl_buf_put_c(&url, grant->url);
    put_field(&url, strchr(grant->url, '?') != NULL ? '&' : '?', "api-version",
              app_service ? SL_STR("2019-08-01") : SL_STR("2018-02-01"));
    put_field(&url, '&', "resource", SL_STR(SL_AZURE_RESOURCE));
    if (grant->object_id != NULL) {
        put_field(&url, '&', "object_id", sl_str_from(grant->object_id));
    } else if (grant->resource_id != NULL) {
        put_field(&url, '&', app_service ? "mi_res_id" : "msi_res_id", sl_str_from(grant->resource_id));
    } else if (grant->client_id != NULL) {
        put_field(&url, '&', "client_id", sl_str_from(grant->client_id));
    }
    struct sl_http_header *headers = sl_arena_alloc_array(arena, 1, sizeof(*headers));
    SL_TRY(keep(arena, &url, &out->url, err));
    if (headers == NULL) {
        return sl_fail_nomem(err);
    }
    headers[0] = app_service ? (struct sl_http_header){"X-IDENTITY-HEADER", grant->identity_header}
                             : (struct sl_http_header){"Metadata", "true"};
    out->method = "GET";
    out->headers = headers;
    out->n_headers = 1;
    return SILT_OK;
}

silt_status sl_azure_grant_request(const struct sl_azure_grant *grant, struct sl_str assertion, struct sl_arena *arena,
                                   struct sl_http_request *out, silt_error *err)
{
    if (grant->kind == SL_AZURE_GRANT_MACHINE) {
        return ask_machine(grant, arena, out, err);
    }
    return ask_directory(grant, assertion, arena, out, err);
}

/* ---- answers ---- */

/* A number that may stand in quotes. */
static bool to_number(const sl_json *value, int64_t *out)
{
    struct sl_str text;
    return sl_json_to_i64(value, out) || (sl_json_to_str(value, &text) && sl_str_to_i64(text, out));
}

static silt_status take_token(const sl_json *value, struct sl_buf *token, silt_error *err)
{
    struct sl_str text = {0};
    if (!sl_json_to_str(value, &text) || text.len == 0 || text.len > MAX_TOKEN) {
        return sl_fail(err, SILT_EIO, NULL, "the answer to a request for a token has no token in it");
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return sl_fail(err, SILT_EIO, NULL, "the token of an answer is not one word");
        }
    }
    sl_buf_put_str(token, text);
    return sl_buf_status(token, err);
}

/* An answer that does not say when its token expires is taken for good for ten minutes. */
static int64_t expiry_of(const sl_json *root, int64_t now_us)
{
    int64_t seconds = 0;
    if (to_number(sl_json_member(root, "expires_on"), &seconds)) {
        seconds = seconds > now_us / 1000000 ? seconds - now_us / 1000000 : 0;
    } else if (!to_number(sl_json_member(root, "expires_in"), &seconds)) {
        seconds = 600;
    }
    seconds = seconds < 0 ? 0 : seconds > MAX_LIFE_S ? MAX_LIFE_S : seconds;
    return now_us + seconds * 1000000;
}

/* "AADSTS" and its digits out of the description, which says more than the code. */
static struct sl_str directory_code(struct sl_str text)
{
    const size_t at = sl_str_find(text, SL_STR("AADSTS"));
    if (at == SIZE_MAX) {
        return (struct sl_str){0};
    }
    size_t end = at + 6;
    while (end < text.len && end - at < 20 && sl_is_digit(text.ptr[end])) {
        end++;
    }
    return sl_str_sub(text, at, end);
}

static const char *asked(const struct sl_azure_grant *grant)
{
    return grant->kind == SL_AZURE_GRANT_MACHINE ? "the managed identity" : "the token endpoint";
}

static silt_status refuse(const struct sl_azure_grant *grant, int code, const sl_json *root, silt_error *err)
{
    const struct sl_str name = sl_azure_clean_code(sl_json_member_text(root, "error"));
    const struct sl_str detail = directory_code(sl_json_member_text(root, "error_description"));
    const bool busy = code == 429 || code >= 500 || code == 408;
    const silt_status status = sl_fail(
        err, busy ? SILT_EIO : SILT_EACCESS, NULL, "no token for Azure storage: %s answered HTTP %d%s%.*s%s%.*s",
        asked(grant), code, name.len > 0 ? " " : "", SL_FMT(name), detail.len > 0 ? " " : "", SL_FMT(detail));
    if (err != NULL) {
        err->sys_code = code;
    }
    return status;
}

silt_status sl_azure_grant_answer(const struct sl_azure_grant *grant, const struct sl_http_request *answer,
                                  const silt_env *env, struct sl_buf *token, int64_t *expires_us, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    const silt_status parsed = sl_json_parse(env, sl_buf_view(&answer->answer), &doc, NULL);
    const sl_json *root = parsed == SILT_OK ? sl_json_root(doc) : NULL;
    silt_status status = SILT_OK;
    if (parsed == SILT_ENOMEM) {
        status = sl_fail_nomem(err);
    } else if (answer->code != 200) {
        status = refuse(grant, answer->code, root, err);
    } else if (root == NULL) {
        status = sl_fail(err, SILT_EIO, NULL, "no token for Azure storage: the answer of %s is not JSON", asked(grant));
    } else {
        status = take_token(sl_json_member(root, "access_token"), token, err);
        *expires_us = expiry_of(root, sl_now_us(env));
    }
    sl_json_free(doc);
    return status;
}

silt_status sl_azure_cli_answer(struct sl_str text, const silt_env *env, struct sl_buf *token, int64_t *expires_us,
                                silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_json_parse(env, text, &doc, NULL);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return sl_fail(err, SILT_EIO, NULL, "what az account get-access-token printed is not JSON");
    }
    status = take_token(sl_json_member(sl_json_root(doc), "accessToken"), token, err);
    *expires_us = expiry_of(sl_json_root(doc), sl_now_us(env));
    sl_json_free(doc);
    return status;
}

/* Is it a token for storage, of the tenant, that is good for a while? */
static bool is_usable(const sl_json *entry, const char *tenant, int64_t now_us)
{
    int64_t expires_s = 0;
    const struct sl_str target = sl_json_member_text(entry, "target");
    const struct sl_str realm = sl_json_member_text(entry, "realm");
    return sl_str_find(target, SL_STR(SL_AZURE_RESOURCE)) != SIZE_MAX &&
           (tenant == NULL || sl_str_eq_nocase(realm, sl_str_from(tenant))) &&
           to_number(sl_json_member(entry, "expires_on"), &expires_s) && expires_s > 0 &&
           expires_s < INT64_MAX / 1000000 && expires_s * 1000000 > now_us + CACHE_MARGIN_US;
}

silt_status sl_azure_cli_cache(struct sl_str text, const char *tenant, const silt_env *env, struct sl_buf *token,
                               int64_t *expires_us, bool *found, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *found = false;
    silt_status status = sl_json_parse(env, text, &doc, NULL);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return SILT_OK; /* another program's file, of whatever version: az itself will tell */
    }
    const int64_t now_us = sl_now_us(env);
    const sl_json *best = NULL;
    const sl_json *entry = NULL;
    struct sl_str key;
    size_t usable = 0;
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(sl_json_root(doc), "AccessToken"));
    while (sl_json_next(&iter, &key, &entry)) {
        if (is_usable(entry, tenant, now_us)) {
            best = entry;
            usable++;
        }
    }
    if (usable == 1) {
        status = take_token(sl_json_member(best, "secret"), token, err);
        *expires_us = expiry_of(best, now_us);
        *found = status == SILT_OK;
    }
    sl_json_free(doc);
    return status;
}
