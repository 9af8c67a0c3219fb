/*
 * From options to a way in. Names of options as delta-rs and Spark's ABFS connector have them; where both could be meant, what is given for
 * the account goes first.
 */
#include "storage/remote/azure/azure_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/digest.h"
#include "storage/remote/url.h"

/* The first version whose listings can begin at a name (startFrom). */
#define DEFAULT_VERSION "2026-02-06"
/* Azurite's, known to everybody. */
#define EMULATOR_ACCOUNT "devstoreaccount1"
#define EMULATOR_KEY "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define EMULATOR_URL "http://127.0.0.1:10000"

struct making {
    const struct sl_remote_context *context;
    const struct sl_azure_place *place;
    struct sl_azure_access *access;
    bool emulator;
    bool allow_http;
    bool given_only; /* what decides how to log in must be an option, not the environment */
};

static const char *option(const struct making *making, enum sl_option id)
{
    return sl_option_get(making->context->options, id, making->access->account);
}

static silt_status flag(const struct making *making, enum sl_option id, bool *out, silt_error *err)
{
    return sl_option_bool(making->context->options, id, making->access->account, out, err);
}

static silt_status keep(const struct making *making, const char *text, const char **out, silt_error *err)
{
    *out = text != NULL ? sl_arena_strdup(&making->access->arena, sl_str_from(text)) : NULL;
    return text == NULL || *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* ---- endpoints ---- */

static silt_status choose_account(struct making *making, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    if (making->place->account.ptr != NULL) {
        access->account = sl_arena_strdup(&access->arena, making->place->account);
        return access->account != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    const char *name = sl_option_get(making->context->options, SL_OPTION_AZURE_ACCOUNT, NULL);
    if (name == NULL && making->emulator) {
        name = EMULATOR_ACCOUNT;
    }
    if (name == NULL) {
        const silt_status status = sl_fail(err, SILT_EINVALID, NULL,
                                           "the URI names no account of Azure, and option %s is not given",
                                           sl_option_name(SL_OPTION_AZURE_ACCOUNT));
        sl_error_hint(err, "write abfss://CONTAINER@ACCOUNT.dfs." SL_AZURE_DEFAULT_SUFFIX "/PATH, or give the option");
        return status;
    }
    for (const char *at = name; *at != '\0'; at++) {
        if (!((*at >= 'a' && *at <= 'z') || sl_is_digit(*at) || *at == '-')) {
            return sl_option_unusable(SL_OPTION_AZURE_ACCOUNT, name, "letters in lower case and digits", err);
        }
    }
    return keep(making, name, &access->account, err);
}

/* An endpoint from an option, without slashes at its end. */
static silt_status take_url(const struct making *making, enum sl_option id, const char *url, const char **out,
                            silt_error *err)
{
    struct sl_str text = sl_str_trim(sl_str_from(url));
    while (text.len > 0 && text.ptr[text.len - 1] == '/') {
        text.len--;
    }
    if (!sl_url_is_usable(text)) {
        return sl_option_unusable(id, "(not shown)", "a URL such as https://HOST", err);
    }
    if (memchr(text.ptr, '?', text.len) != NULL || memchr(text.ptr, '@', text.len) != NULL ||
        memchr(text.ptr, '#', text.len) != NULL) {
        return sl_option_unusable(id, "(not shown)", "a URL without user and parameters", err);
    }
    if (!sl_url_is_private(text) && !making->allow_http) {
        return sl_option_unusable(id, url, "https, unless allow_http is given", err);
    }
    *out = sl_arena_strdup(&making->access->arena, text);
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* The same URL with one service's name in the host instead of the other's; NULL if it has none. */
static const char *swap_service(struct making *making, const char *url, const char *from, const char *to)
{
    const char *at = strstr(url, from);
    if (at == NULL) {
        return NULL;
    }
    return sl_arena_printf(&making->access->arena, "%.*s%s%s", (int)(at - url), url, to, at + strlen(from));
}

/* The endpoint is given: both services are there, unless its host says which it is. */
static silt_status use_endpoint(struct making *making, const char *endpoint, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    const char *dfs = option(making, SL_OPTION_AZURE_DFS_ENDPOINT);
    SL_TRY(take_url(making, SL_OPTION_AZURE_ENDPOINT, endpoint, &access->blob_url, err));
    const char *given = access->blob_url;
    const char *swapped = swap_service(making, given, ".dfs.", ".blob.");
    if (swapped != NULL) {
        access->blob_url = swapped;
        access->dfs_url = given;
    } else {
        access->dfs_url = swap_service(making, given, ".blob.", ".dfs.");
    }
    return dfs != NULL ? take_url(making, SL_OPTION_AZURE_DFS_ENDPOINT, dfs, &access->dfs_url, err) : SILT_OK;
}

static silt_status use_host(struct making *making, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    const char *extra = option(making, SL_OPTION_AZURE_ENDPOINT_SUFFIX);
    struct sl_str head = making->place->head;
    struct sl_str suffix = making->place->suffix;
    bool fabric = false;
    SL_TRY(flag(making, SL_OPTION_AZURE_FABRIC, &fabric, err));
    if (head.ptr == NULL) {
        head = sl_str_from(access->account);
        suffix = extra != NULL ? sl_str_from(extra)
                 : fabric      ? SL_STR("fabric.microsoft.com")
                               : SL_STR(SL_AZURE_DEFAULT_SUFFIX);
    }
    if (!sl_azure_suffix_known(suffix, extra)) {
        const silt_status status = sl_fail(err, SILT_EACCESS, NULL,
                                           "\"%.*s\" is none of Azure's domains: no credentials are sent there",
                                           SL_FMT(suffix));
        sl_error_hint(err, "if it is a private one, name it by the option %s",
                      sl_option_name(SL_OPTION_AZURE_ENDPOINT_SUFFIX));
        return status;
    }
    access->blob_url = sl_arena_printf(&access->arena, "https://%.*s.blob.%.*s", SL_FMT(head), SL_FMT(suffix));
    access->dfs_url = sl_arena_printf(&access->arena, "https://%.*s.dfs.%.*s", SL_FMT(head), SL_FMT(suffix));
    return access->blob_url != NULL && access->dfs_url != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status choose_endpoints(struct making *making, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    const char *endpoint = option(making, SL_OPTION_AZURE_ENDPOINT);
    if (endpoint == NULL && making->emulator) {
        const char *base = getenv("AZURITE_BLOB_STORAGE_URL");
        endpoint = sl_arena_printf(&access->arena, "%s/%s", base != NULL && base[0] != '\0' ? base : EMULATOR_URL,
                                   access->account);
        if (endpoint == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return endpoint != NULL ? use_endpoint(making, endpoint, err) : use_host(making, err);
}

/* Where nobody can say, a service of one's own is taken for flat: it has no dfs endpoint. */
static silt_status choose_hierarchy(struct making *making, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    bool hierarchical = false;
    SL_TRY(flag(making, SL_OPTION_AZURE_HIERARCHICAL, &hierarchical, err));
    const bool given = option(making, SL_OPTION_AZURE_HIERARCHICAL) != NULL;
    int hierarchy = hierarchical ? SL_AZURE_HIERARCHICAL : SL_AZURE_FLAT;
    if (!given && access->dfs_url != NULL) {
        hierarchy = SL_AZURE_UNKNOWN;
    }
    if (hierarchical && access->dfs_url == NULL) {
        access->dfs_url = access->blob_url;
    }
    atomic_init(&access->hierarchy, hierarchy);
    return SILT_OK;
}

/* ---- credentials ---- */

static silt_status use_key(struct making *making, const char *key, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    struct sl_buf decoded;
    sl_buf_init(&decoded, making->context->env);
    silt_status status = sl_base64_decode(&decoded, sl_str_trim(sl_str_from(key)), NULL);
    if (status == SILT_EINVALID || (status == SILT_OK && decoded.len == 0)) {
        status = sl_option_unusable(SL_OPTION_AZURE_ACCOUNT_KEY, "", "base64, as the portal shows it", err);
    } else if (status != SILT_OK) {
        status = sl_fail_nomem(err);
    } else {
        access->auth = SL_AZURE_AUTH_KEY;
        access->key = sl_arena_copy(&access->arena, sl_buf_view(&decoded));
        status = access->key.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&decoded);
    return status;
}

static silt_status use_sas(struct making *making, const char *sas, silt_error *err)
{
    struct sl_buf query;
    sl_buf_init(&query, making->context->env);
    const bool usable = sl_azure_put_sas(&query, sl_str_from(sas));
    silt_status status = sl_buf_status(&query, err);
    if (status == SILT_OK && !usable) {
        status = sl_option_unusable(SL_OPTION_AZURE_SAS, "", "a shared access signature, which has a part named sig",
                                    err);
    }
    if (status == SILT_OK) {
        making->access->auth = SL_AZURE_AUTH_SAS;
        status = keep(making, sl_buf_cstr(&query), &making->access->sas, err);
    }
    sl_buf_release(&query);
    return status;
}

static const char *container_sas(const struct making *making)
{
    char scope[400];
    if (snprintf(scope, sizeof(scope), "%s.%s", making->access->container, making->access->account) >=
        (int)sizeof(scope)) {
        return NULL;
    }
    return sl_option_given(making->context->options, SL_OPTION_AZURE_CONTAINER_SAS, scope);
}

static silt_status token_url(struct making *making, const char **out, silt_error *err)
{
    const char *whole = option(making, SL_OPTION_AZURE_TOKEN_URL);
    if (whole != NULL) {
        return take_url(making, SL_OPTION_AZURE_TOKEN_URL, whole, out, err);
    }
    const char *host = option(making, SL_OPTION_AZURE_AUTHORITY_HOST);
    const char *tenant = option(making, SL_OPTION_AZURE_TENANT_ID);
    const char *base = SL_AZURE_LOGIN;
    if (host != NULL) {
        SL_TRY(take_url(making, SL_OPTION_AZURE_AUTHORITY_HOST, host, &base, err));
    }
    if (tenant == NULL) {
        return sl_fail(err, SILT_EACCESS, NULL, "option %s is needed to log in at Azure with a client id",
                       sl_option_name(SL_OPTION_AZURE_TENANT_ID));
    }
    for (const char *at = tenant; *at != '\0'; at++) {
        if (strchr("/?#%\\ ", *at) != NULL) {
            return sl_option_unusable(SL_OPTION_AZURE_TENANT_ID, tenant, "an id or a domain", err);
        }
    }
    *out = sl_arena_printf(&making->access->arena, "%s/%s/oauth2/v2.0/token", base, tenant);
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Spark's class that gets tokens, where it is named: those that ask for a password or have their own code are not known here. */
static silt_status check_provider(const char *provider, silt_error *err)
{
    static const char *const known[] = {"ClientCredsTokenProvider", "MsiTokenProvider",
                                        "WorkloadIdentityTokenProvider"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (provider == NULL || sl_str_ends_with(sl_str_trim(sl_str_from(provider)), sl_str_from(known[i]))) {
            return SILT_OK;
        }
    }
    return sl_option_unusable(SL_OPTION_AZURE_PROVIDER, provider,
                              "ClientCredsTokenProvider, MsiTokenProvider or WorkloadIdentityTokenProvider", err);
}

static silt_status use_grant(struct making *making, const struct sl_azure_grant *grant, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    access->auth = SL_AZURE_AUTH_TOKEN;
    access->source = (struct sl_azure_token_source){.context = making->context, .grant = *grant};
    const struct sl_credential_source source = {.ctx = &access->source, .fetch = sl_azure_token_fetch};
    return sl_credential_cache_new(making->context->env, &source, &access->tokens, err);
}

static bool auth_is(const char *type, const char *name)
{
    return type == NULL || sl_str_eq_nocase(sl_str_trim(sl_str_from(type)), sl_str_from(name));
}

/* An option's value if it may decide. */
static const char *decisive(const struct making *making, enum sl_option id)
{
    return making->given_only ? sl_option_given(making->context->options, id, making->access->account)
                              : option(making, id);
}

static bool is_machine(const struct making *making)
{
    const char *provider = option(making, SL_OPTION_AZURE_PROVIDER);
    return provider != NULL && strstr(provider, "MsiTokenProvider") != NULL;
}

/* A client has an id, and a secret or another issuer's token; one of the three decides, the others may come from anywhere. */
static silt_status try_client(struct making *making, bool *decided, silt_error *err)
{
    const char *file = option(making, SL_OPTION_AZURE_TOKEN_FILE);
    const char *secret = option(making, SL_OPTION_AZURE_CLIENT_SECRET);
    struct sl_azure_grant grant = {.kind = secret != NULL ? SL_AZURE_GRANT_SECRET : SL_AZURE_GRANT_FEDERATED};
    const bool any = decisive(making, SL_OPTION_AZURE_CLIENT_ID) != NULL ||
                     decisive(making, SL_OPTION_AZURE_CLIENT_SECRET) != NULL ||
                     decisive(making, SL_OPTION_AZURE_TOKEN_FILE) != NULL;
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_CLIENT_ID), &grant.client_id, err));
    *decided = any && grant.client_id != NULL && (secret != NULL || file != NULL) && !is_machine(making);
    if (!*decided) {
        return SILT_OK;
    }
    SL_TRY(keep(making, secret, &grant.secret, err));
    SL_TRY(keep(making, file, &grant.token_file, err));
    SL_TRY(token_url(making, &grant.url, err));
    return use_grant(making, &grant, err);
}

static silt_status try_cli(struct making *making, bool *decided, silt_error *err)
{
    struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_CLI};
    if (decisive(making, SL_OPTION_AZURE_CLI) != NULL && !is_machine(making)) {
        SL_TRY(flag(making, SL_OPTION_AZURE_CLI, decided, err));
    }
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_TENANT_ID), &grant.tenant, err));
    return *decided ? use_grant(making, &grant, err) : SILT_OK;
}

/* The ways in the order of delta-rs: a token, the key, a client of OAuth, a signature, the CLI. */
static silt_status try_ways(struct making *making, bool *decided, silt_error *err)
{
    const char *type = option(making, SL_OPTION_AZURE_AUTH_TYPE);
    const char *token = decisive(making, SL_OPTION_AZURE_TOKEN);
    const char *key = decisive(making, SL_OPTION_AZURE_ACCOUNT_KEY);
    const char *bound = container_sas(making);
    const char *sas = bound != NULL ? bound : decisive(making, SL_OPTION_AZURE_SAS);
    struct sl_azure_grant fixed = {.kind = SL_AZURE_GRANT_FIXED};
    *decided = true;
    if (token != NULL && auth_is(type, "OAuth")) {
        SL_TRY(keep(making, token, &fixed.token, err));
        return use_grant(making, &fixed, err);
    }
    if (key != NULL && auth_is(type, "SharedKey")) {
        return use_key(making, key, err);
    }
    *decided = false;
    if (auth_is(type, "OAuth")) {
        SL_TRY(try_client(making, decided, err));
    }
    if (!*decided && sas != NULL && auth_is(type, "SAS")) {
        *decided = true;
        return use_sas(making, sas, err);
    }
    return *decided || !auth_is(type, "OAuth") ? SILT_OK : try_cli(making, decided, err);
}

/*
 * The metadata service has no TLS: its address is of this machine's own link. implied: nobody said that there is a managed
 * identity, it is what is left.
 */
static silt_status use_machine(struct making *making, silt_error *err)
{
    const char *endpoint = option(making, SL_OPTION_AZURE_MSI_ENDPOINT);
    struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_MACHINE};
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_CLIENT_ID), &grant.client_id, err));
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_IDENTITY_HEADER), &grant.identity_header, err));
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_OBJECT_ID), &grant.object_id, err));
    SL_TRY(keep(making, option(making, SL_OPTION_AZURE_MSI_RESOURCE_ID), &grant.resource_id, err));
    SL_TRY(keep(making, endpoint != NULL ? endpoint : SL_AZURE_METADATA, &grant.url, err));
    grant.implied = !is_machine(making) && endpoint == NULL && grant.object_id == NULL && grant.resource_id == NULL;
    return use_grant(making, &grant, err);
}

/* What options say goes before what merely stands in the environment. */
static silt_status choose_auth(struct making *making, silt_error *err)
{
    const char *type = option(making, SL_OPTION_AZURE_AUTH_TYPE);
    bool decided = false;
    SL_TRY(flag(making, SL_OPTION_AZURE_ANONYMOUS, &decided, err));
    if (type != NULL && !auth_is(type, "SharedKey") && !auth_is(type, "SAS") && !auth_is(type, "OAuth")) {
        return sl_option_unusable(SL_OPTION_AZURE_AUTH_TYPE, type, "SharedKey, SAS or OAuth", err);
    }
    SL_TRY(check_provider(option(making, SL_OPTION_AZURE_PROVIDER), err));
    for (int round = 0; round < 2 && !decided; round++) {
        making->given_only = round == 0;
        SL_TRY(try_ways(making, &decided, err));
    }
    if (decided) {
        return SILT_OK;
    }
    if (making->emulator && type == NULL) {
        return use_key(making, EMULATOR_KEY, err);
    }
    if (!auth_is(type, "OAuth")) {
        return sl_fail(err, SILT_EACCESS, NULL, "%s is %s, and no %s is given",
                       sl_option_name(SL_OPTION_AZURE_AUTH_TYPE), type,
                       auth_is(type, "SAS") ? "shared access signature" : "key of the account");
    }
    return use_machine(making, err);
}

static silt_status fill(struct making *making, silt_error *err)
{
    struct sl_azure_access *access = making->access;
    const struct sl_remote_options *options = making->context->options;
    SL_TRY(sl_option_bool(options, SL_OPTION_AZURE_EMULATOR, NULL, &making->emulator, err));
    SL_TRY(sl_option_bool(options, SL_OPTION_ALLOW_HTTP, NULL, &making->allow_http, err));
    making->allow_http = making->allow_http || making->emulator;
    access->container = sl_arena_strdup(&access->arena, making->place->container);
    access->head = sl_arena_copy(&access->arena, making->place->head);
    access->suffix = sl_arena_copy(&access->arena, making->place->suffix);
    if (access->container == NULL ||
        (making->place->head.ptr != NULL && (access->head.ptr == NULL || access->suffix.ptr == NULL))) {
        return sl_fail_nomem(err);
    }
    const char *only = sl_option_get(options, SL_OPTION_AZURE_CONTAINER, NULL);
    if (only != NULL && strcmp(only, access->container) != 0) {
        return sl_option_unusable(SL_OPTION_AZURE_CONTAINER, only, "the container of the URI", err);
    }
    SL_TRY(choose_account(making, err));
    SL_TRY(choose_endpoints(making, err));
    SL_TRY(choose_hierarchy(making, err));
    const char *version = option(making, SL_OPTION_AZURE_SERVICE_VERSION);
    SL_TRY(keep(making, version != NULL ? version : DEFAULT_VERSION, &access->version, err));
    return choose_auth(making, err);
}

silt_status sl_azure_access_new(const struct sl_remote_context *context, const struct sl_azure_place *place,
                                struct sl_azure_access **out, silt_error *err)
{
    *out = NULL;
    struct sl_azure_access *access = sl_alloc_zero(context->env, sizeof(*access));
    if (access == NULL) {
        return sl_fail_nomem(err);
    }
    sl_arena_init(&access->arena, context->env);
    struct making making = {.context = context, .place = place, .access = access};
    const silt_status status = fill(&making, err);
    if (status != SILT_OK) {
        sl_azure_access_free(context->env, access);
        return status;
    }
    *out = access;
    return SILT_OK;
}

void sl_azure_access_free(const silt_env *env, struct sl_azure_access *access)
{
    if (access != NULL) {
        sl_credential_cache_free(access->tokens);
        sl_arena_release(&access->arena);
        sl_release(env, access, sizeof(*access));
    }
}
