/*
 * The way to a bucket, step by step: where the API is, who asks, what it says to a listing of one name. Any thread.
 */
#include <stdlib.h>

#include "base/error.h"
#include "storage/remote/examine.h"
#include "storage/remote/gcs/gcs_int.h"
#include "storage/remote/url.h"

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* What was chosen, in the order in which it is looked for. */
static void tell_kind(const struct sl_gcs *gcs)
{
    static const char *const texts[] = {
        [SL_GCS_ANONYMOUS] = "none: requests carry no token",
        [SL_GCS_TOKEN] = "a token that was given; it is not renewed",
        [SL_GCS_SERVICE_ACCOUNT] = "the key of a service account",
        [SL_GCS_USER] = "a user, by a refresh token",
        [SL_GCS_METADATA] = "the machine's metadata server: no token, key or key file was found",
    };
    const struct sl_gcs_credentials *found = &gcs->credentials;
    const char *who = found->email != NULL ? found->email : "";
    sl_trace_note(gcs->context, found->kind == SL_GCS_ANONYMOUS ? SILT_DOCTOR_NOTE : SILT_DOCTOR_OK, "credentials",
                  "provider", "%s%s%s", texts[found->kind], who[0] != '\0' ? " " : "", who);
    if (found->token_url != NULL) {
        sl_trace_note(gcs->context, SILT_DOCTOR_OK, "credentials", "endpoint", "tokens come from %.*s",
                      SL_FMT(sl_url_origin(sl_str_from(found->token_url))));
    }
}

static void tell_absent(const struct sl_gcs *gcs)
{
    static const struct {
        enum sl_option option;
        const char *subject;
    } ways[] = {{SL_OPTION_GCS_TOKEN, "google_bearer_token"},
                {SL_OPTION_GCS_ACCOUNT_KEY, "google_service_account_key"},
                {SL_OPTION_GCS_ACCOUNT_FILE, "google_service_account"}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (sl_option_get(gcs->context->options, ways[i].option, NULL) == NULL) {
            sl_trace_note(gcs->context, SILT_DOCTOR_SKIPPED, "credentials", ways[i].subject, "not set");
        } else {
            return; /* it decides */
        }
    }
    const char *folder = variable("CLOUDSDK_CONFIG") != NULL ? variable("CLOUDSDK_CONFIG") : variable("HOME");
    if (gcs->credentials.kind == SL_GCS_METADATA) {
        sl_trace_note(gcs->context, SILT_DOCTOR_SKIPPED, "credentials", "gcloud",
                      "no file of gcloud auth application-default login in %s", folder != NULL ? folder : "no folder");
    }
}

static silt_status find_token(struct sl_gcs *gcs, const silt_call *call, silt_error *err)
{
    struct sl_credential *token = NULL;
    tell_absent(gcs);
    tell_kind(gcs);
    if (gcs->tokens == NULL) {
        return SILT_OK;
    }
    const silt_status status = sl_credential_cache_get(gcs->tokens, call, NULL, &token, err);
    sl_trace_credential(gcs->context, "token", status, token, "", err);
    sl_credential_unref(token);
    return status;
}

static silt_status list_one(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *name, silt_error *err)
{
    const struct sl_gcs_name bucket = {.bucket = name->bucket};
    struct sl_gcs_request request;
    struct sl_buf text;
    sl_gcs_request_init(&request, gcs, "GET");
    sl_buf_init(&text, gcs->env);
    sl_buf_put_str(&text, name->key);
    sl_buf_put_c(&text, name->key.len > 0 ? "/_delta_log/" : "_delta_log/");
    sl_gcs_put_list_url(&request.url, gcs->base_url, name->bucket);
    sl_gcs_put_parameter(&request.url, "prefix", sl_buf_view(&text));
    sl_gcs_put_parameter(&request.url, "maxResults", SL_STR("1"));
    silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = sl_gcs_run(&request, call, err);
    }
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_gcs_fail(gcs, &request.exchange, &bucket, err);
    }
    sl_buf_clear(&text);
    sl_buf_put_str(&text, name->bucket);
    if (status == SILT_OK) {
        sl_trace_note(gcs->context, SILT_DOCTOR_OK, "list", sl_buf_cstr(&text),
                      "the bucket is there and may be listed");
    } else {
        sl_trace_failure(gcs->context, "list", sl_buf_cstr(&text), err);
    }
    sl_buf_release(&text);
    sl_gcs_request_release(&request);
    return status;
}

silt_status sl_gcs_examine(void *impl, const silt_call *call, const char *uri, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name = {0};
    struct sl_buf source;
    silt_status status = sl_gcs_begin(gcs, uri, true, &name, err);
    if (status != SILT_OK) {
        sl_trace_failure(gcs->context, status == SILT_EACCESS ? "credentials" : "endpoint", "", err);
        return status;
    }
    sl_buf_init(&source, gcs->env);
    sl_option_put_source(gcs->context->options, SL_OPTION_GCS_ENDPOINT, NULL, &source);
    sl_trace_note(gcs->context, SILT_DOCTOR_OK, "store", "Google Cloud Storage", "bucket %.*s, key %.*s",
                  SL_FMT(name.bucket), SL_FMT(name.key));
    sl_trace_note(gcs->context, SILT_DOCTOR_OK, "endpoint", "url", "%s, %s", gcs->base_url,
                  source.len > 0 ? sl_buf_cstr(&source) : "Google's own, as no option says otherwise");
    sl_buf_release(&source);
    status = sl_examine_reach(gcs->context, call, gcs->base_url, err);
    if (status == SILT_OK) {
        status = find_token(gcs, call, err);
    }
    return status == SILT_OK ? list_one(gcs, call, &name, err) : status;
}
