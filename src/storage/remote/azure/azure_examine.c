/*
 * The way to a container, step by step: which account and endpoints, who asks, what it says to a listing of one name. Any thread.
 */
#include "base/error.h"
#include "storage/remote/azure/azure_int.h"
#include "storage/remote/azure/azure_store.h"
#include "storage/remote/examine.h"
#include "storage/remote/url.h"

struct examination {
    struct sl_azure *azure;
    const silt_call *call;
    struct sl_azure_place place;
    struct sl_azure_access *access;
};

static void tell_place(const struct examination *x)
{
    const struct sl_azure_access *access = x->access;
    const struct sl_remote_context *context = x->azure->context;
    struct sl_buf source;
    sl_buf_init(&source, context->env);
    sl_option_put_source(context->options, SL_OPTION_AZURE_ENDPOINT, access->account, &source);
    sl_trace_note(context, SILT_DOCTOR_OK, "store", "Azure", "account %s, container %s, path %.*s", access->account,
                  access->container, SL_FMT(x->place.path));
    sl_trace_note(context, SILT_DOCTOR_OK, "endpoint", "blob", "%s, %s", access->blob_url,
                  source.len > 0 ? sl_buf_cstr(&source) : "from the location, or the account's name");
    sl_trace_note(context, access->dfs_url != NULL ? SILT_DOCTOR_OK : SILT_DOCTOR_SKIPPED, "endpoint", "dfs", "%s",
                  access->dfs_url != NULL ? access->dfs_url : "none: the account is taken for a flat one");
    sl_buf_release(&source);
}

static void tell_ways(const struct examination *x)
{
    static const struct {
        enum sl_option option;
        const char *subject;
    } ways[] = {{SL_OPTION_AZURE_TOKEN, "azure_storage_token"},
                {SL_OPTION_AZURE_ACCOUNT_KEY, "azure_storage_account_key"},
                {SL_OPTION_AZURE_CLIENT_SECRET, "azure_storage_client_secret"},
                {SL_OPTION_AZURE_TOKEN_FILE, "azure_federated_token_file"},
                {SL_OPTION_AZURE_SAS, "azure_storage_sas_token"},
                {SL_OPTION_AZURE_CLI, "azure_use_azure_cli"}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (sl_option_get(x->azure->context->options, ways[i].option, x->access->account) == NULL) {
            sl_trace_note(x->azure->context, SILT_DOCTOR_SKIPPED, "credentials", ways[i].subject, "not set");
        }
    }
}

static const char *describe_auth(const struct sl_azure_access *access)
{
    static const char *const grants[] = {
        [SL_AZURE_GRANT_FIXED] = "a token that was given; it is not renewed",
        [SL_AZURE_GRANT_SECRET] = "a token for a client id and its secret",
        [SL_AZURE_GRANT_FEDERATED] = "a token for a client id and another issuer's token (workload identity)",
        [SL_AZURE_GRANT_MACHINE] = "a token for the managed identity of this machine",
        [SL_AZURE_GRANT_CLI] = "a token of the Azure CLI",
    };
    static const char *const kinds[] = {[SL_AZURE_AUTH_NONE] = "none: requests are sent without credentials",
                                        [SL_AZURE_AUTH_KEY] = "the key of the account (Shared Key)",
                                        [SL_AZURE_AUTH_SAS] = "a shared access signature"};
    return access->auth == SL_AZURE_AUTH_TOKEN ? grants[access->source.grant.kind] : kinds[access->auth];
}

static silt_status find_credentials(const struct examination *x, silt_error *err)
{
    struct sl_credential *token = NULL;
    const struct sl_remote_context *context = x->azure->context;
    const struct sl_azure_grant *grant = &x->access->source.grant;
    tell_ways(x);
    sl_trace_note(context, x->access->auth == SL_AZURE_AUTH_NONE ? SILT_DOCTOR_NOTE : SILT_DOCTOR_OK, "credentials",
                  "chosen", "%s", describe_auth(x->access));
    if (x->access->auth != SL_AZURE_AUTH_TOKEN) {
        return SILT_OK;
    }
    if (grant->url != NULL) {
        sl_trace_note(context, SILT_DOCTOR_OK, "credentials", "endpoint", "tokens come from %.*s",
                      SL_FMT(sl_url_origin(sl_str_from(grant->url))));
    }
    const silt_status status = sl_credential_cache_get(x->access->tokens, x->call, NULL, &token, err);
    sl_trace_credential(context, "token", status, token, "", err);
    sl_credential_unref(token);
    return status;
}

static silt_status list_one(const struct examination *x, silt_error *err)
{
    struct sl_azure_page page;
    struct sl_buf prefix;
    sl_azure_page_init(&page, x->azure->context->env);
    sl_buf_init(&prefix, x->azure->context->env);
    sl_buf_put_str(&prefix, x->place.path);
    sl_buf_put_c(&prefix, x->place.path.len > 0 ? "/_delta_log/" : "_delta_log/");
    silt_status status = sl_buf_status(&prefix, err);
    if (status == SILT_OK) {
        const struct sl_azure_blob_query query = {.prefix = sl_buf_cstr(&prefix), .recursive = true, .one = true};
        status = sl_azure_fetch_blobs(x->azure, x->access, x->call, &query, &page, err);
    }
    if (status == SILT_OK) {
        sl_trace_note(x->azure->context, SILT_DOCTOR_OK, "list", x->access->container,
                      "the container is there and may be listed");
    } else {
        sl_trace_failure(x->azure->context, "list", x->access->container, err);
    }
    sl_buf_release(&prefix);
    sl_azure_page_release(&page);
    return status;
}

static void tell_hierarchy(const struct examination *x)
{
    bool hierarchical = false;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = sl_azure_is_hierarchical(x->azure, x->access, x->call, &hierarchical, &err);
    sl_trace_note(x->azure->context, status == SILT_OK ? SILT_DOCTOR_OK : SILT_DOCTOR_NOTE, "endpoint", "kind", "%s",
                  status != SILT_OK ? "whether the account is hierarchical is not known"
                  : hierarchical    ? "a hierarchical account: commits are renames"
                                    : "a flat account: commits are conditional creates");
}

silt_status sl_azure_examine(void *impl, const silt_call *call, const char *uri, silt_error *err)
{
    struct examination x = {.azure = impl, .call = call};
    silt_status status = sl_azure_place_of_folder(uri, &x.place, err);
    if (status == SILT_OK) {
        status = sl_azure_reach(x.azure, &x.place, &x.access, err);
    }
    if (status != SILT_OK) {
        sl_trace_failure(x.azure->context, "endpoint", "", err);
        return status;
    }
    tell_place(&x);
    status = sl_examine_reach(x.azure->context, call, x.access->blob_url, err);
    if (status == SILT_OK) {
        status = find_credentials(&x, err);
    }
    if (status == SILT_OK) {
        status = list_one(&x, err);
    }
    if (status == SILT_OK) {
        tell_hierarchy(&x);
    }
    return status;
}
