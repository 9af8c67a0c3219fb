/* Finding the credentials of Google Cloud. Any thread. */
#include "storage/remote/gcs/gcs_credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "json/json.h"
#include "storage/remote/credentials.h"
#include "storage/remote/url.h"

#define MAX_KEY_FILE 65536
#define DEFAULT_TOKEN_URL "https://oauth2.googleapis.com/token"
#define METADATA_HOST "metadata.google.internal"
#define METADATA_PATH "/computeMetadata/v1/instance/service-accounts/default/token"

static const char *copy_text(struct sl_arena *arena, struct sl_str text, bool *no_memory)
{
    if (text.ptr == NULL || text.len == 0) {
        return NULL;
    }
    const char *copy = sl_arena_strdup(arena, text);
    *no_memory = *no_memory || copy == NULL;
    return copy;
}

/* A string of the key; SILT_EACCESS when a needed one is missing. */
static silt_status take(const sl_json *root, const char *member, const char *origin, struct sl_arena *arena,
                        const char **out, silt_error *err)
{
    bool no_memory = false;
    const struct sl_str text = sl_json_member_text(root, member);
    if (text.len == 0 || memchr(text.ptr, '\0', text.len) != NULL) {
        return sl_fail(err, SILT_EACCESS, NULL, "%s has no %s", origin, member);
    }
    *out = copy_text(arena, text, &no_memory);
    return no_memory ? sl_fail_nomem(err) : SILT_OK;
}

/* Where a key's token is asked for. Secrets go there, so it must be a URL that nobody else can listen at. */
static silt_status take_token_url(const sl_json *root, const char *origin, struct sl_arena *arena, const char **out,
                                  silt_error *err)
{
    const struct sl_str text = sl_json_member_text(root, "token_uri");
    *out = DEFAULT_TOKEN_URL;
    if (text.len == 0) {
        return SILT_OK;
    }
    if (!sl_url_is_usable(text) || !sl_url_is_private(text)) {
        return sl_fail(err, SILT_EACCESS, NULL, "the token_uri of %s is no https URL", origin);
    }
    return take(root, "token_uri", origin, arena, out, err);
}

static silt_status read_service_account(const sl_json *root, const char *origin, struct sl_arena *arena,
                                        struct sl_gcs_credentials *out, silt_error *err)
{
    bool no_memory = false;
    bool unsigned_ok = false;
    (void)sl_json_to_bool(sl_json_member(root, "disable_oauth"), &unsigned_ok); /* absent: false */
    out->base_url = copy_text(arena, sl_json_member_text(root, "gcs_base_url"), &no_memory);
    out->private_key_id = copy_text(arena, sl_json_member_text(root, "private_key_id"), &no_memory);
    if (no_memory) {
        return sl_fail_nomem(err);
    }
    if (unsigned_ok) {
        out->kind = SL_GCS_ANONYMOUS;
        return SILT_OK;
    }
    out->kind = SL_GCS_SERVICE_ACCOUNT;
    SL_TRY(take(root, "client_email", origin, arena, &out->email, err));
    SL_TRY(take(root, "private_key", origin, arena, &out->private_key, err));
    return take_token_url(root, origin, arena, &out->token_url, err);
}

static silt_status read_user(const sl_json *root, const char *origin, struct sl_arena *arena,
                             struct sl_gcs_credentials *out, silt_error *err)
{
    bool no_memory = false;
    out->kind = SL_GCS_USER;
    out->project = copy_text(arena, sl_json_member_text(root, "quota_project_id"), &no_memory);
    if (no_memory) {
        return sl_fail_nomem(err);
    }
    SL_TRY(take(root, "client_id", origin, arena, &out->client_id, err));
    SL_TRY(take(root, "client_secret", origin, arena, &out->client_secret, err));
    SL_TRY(take(root, "refresh_token", origin, arena, &out->refresh_token, err));
    return take_token_url(root, origin, arena, &out->token_url, err);
}

silt_status sl_gcs_read_key(const silt_env *env, struct sl_str json, const char *origin, struct sl_arena *arena,
                            struct sl_gcs_credentials *out, silt_error *err)
{
    *out = (struct sl_gcs_credentials){0};
    struct sl_json_doc *doc = NULL;
    const silt_status parsed = sl_json_parse(env, json, &doc, NULL); /* what it says of the text may be a secret */
    if (parsed == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (parsed != SILT_OK || !sl_json_is_object(sl_json_root(doc))) {
        sl_json_free(doc);
        return sl_fail(err, SILT_EACCESS, NULL, "%s is no key in JSON", origin);
    }
    const sl_json *root = sl_json_root(doc);
    const struct sl_str type = sl_json_member_text(root, "type");
    const bool emulator = type.ptr == NULL && sl_json_member(root, "gcs_base_url") != NULL;
    silt_status status = SILT_OK;
    if (sl_str_eq_c(type, "service_account") || emulator) {
        status = read_service_account(root, origin, arena, out, err);
    } else if (sl_str_eq_c(type, "authorized_user")) {
        status = read_user(root, origin, arena, out, err);
    } else {
        char kind[65] = "";
        memcpy(kind, type.ptr != NULL ? type.ptr : "", type.len < sizeof(kind) - 1 ? type.len : sizeof(kind) - 1);
        status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                         "%s holds credentials of the kind '%s'; supported are service_account and authorized_user",
                         origin, kind);
    }
    sl_json_free(doc);
    return status;
}

/* A file of at most MAX_KEY_FILE bytes. SILT_ENOTFOUND when it is not there. */
static silt_status read_file(const char *path, struct sl_buf *out, silt_error *err)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL) {
        return sl_fail_errno(err, errno, "open the credentials", path);
    }
    out->max = MAX_KEY_FILE + 1;
    char chunk[4096];
    size_t got = 0;
    while ((got = fread(chunk, 1, sizeof(chunk), file)) > 0 && sl_buf_status(out, NULL) == SILT_OK) {
        sl_buf_put(out, chunk, got);
    }
    const bool failed = ferror(file) != 0;
    (void)fclose(file); /* read only: there is nothing to lose */
    memset(chunk, 0, sizeof(chunk));
    if (failed) {
        return sl_fail(err, SILT_EIO, NULL, "cannot read the credentials in %s", path);
    }
    return sl_buf_status(out, err);
}

static silt_status read_key_file(const silt_env *env, const char *path, struct sl_arena *arena,
                                 struct sl_gcs_credentials *out, silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, env);
    silt_status status = read_file(path, &text, err);
    if (status == SILT_OK) {
        status = sl_gcs_read_key(env, sl_buf_view(&text), path, arena, out, err);
    }
    sl_buf_release(&text);
    return status;
}

/* The file that `gcloud auth application-default login` leaves; NULL when there can be none. */
static const char *usual_file(struct sl_arena *arena)
{
    const char *config = getenv("CLOUDSDK_CONFIG");
    const char *home = getenv("HOME");
    if (config != NULL && config[0] != '\0') {
        return sl_arena_printf(arena, "%s/application_default_credentials.json", config);
    }
    return home == NULL || home[0] == '\0'
               ? NULL
               : sl_arena_printf(arena, "%s/.config/gcloud/application_default_credentials.json", home);
}

/* The host is asked without TLS, as Google has it: it answers on the machine's own network only. */
static silt_status use_metadata_server(const struct sl_remote_options *options, struct sl_arena *arena,
                                       struct sl_gcs_credentials *out, silt_error *err)
{
    const char *host = sl_option_get(options, SL_OPTION_GCS_METADATA_HOST, NULL);
    const char *scheme = host != NULL && strstr(host, "://") != NULL ? "" : "http://";
    out->kind = SL_GCS_METADATA;
    out->token_url = sl_arena_printf(arena, "%s%s%s", scheme, host != NULL ? host : METADATA_HOST, METADATA_PATH);
    if (out->token_url == NULL) {
        return sl_fail_nomem(err);
    }
    return sl_url_is_usable(sl_str_from(out->token_url))
               ? SILT_OK
               : sl_option_unusable(SL_OPTION_GCS_METADATA_HOST, host, "a host", err);
}

/* Values of Hadoop's fs.gs.auth.type that name one way; the others are what is looked for anyway. */
static silt_status use_kind(const struct sl_remote_options *options, struct sl_arena *arena,
                            struct sl_gcs_credentials *out, bool *chosen, silt_error *err)
{
    const char *kind = sl_option_given(options, SL_OPTION_GCS_AUTH_TYPE, NULL);
    *chosen = true;
    if (kind != NULL && strcmp(kind, "UNAUTHENTICATED") == 0) {
        out->kind = SL_GCS_ANONYMOUS;
        return SILT_OK;
    }
    if (kind != NULL && strcmp(kind, "COMPUTE_ENGINE") == 0) {
        return use_metadata_server(options, arena, out, err);
    }
    *chosen = false;
    if (kind != NULL && strcmp(kind, "APPLICATION_DEFAULT") != 0 && strcmp(kind, "SERVICE_ACCOUNT_JSON_KEYFILE") != 0) {
        return sl_option_unusable(SL_OPTION_GCS_AUTH_TYPE, kind,
                                  "APPLICATION_DEFAULT, SERVICE_ACCOUNT_JSON_KEYFILE, COMPUTE_ENGINE or "
                                  "UNAUTHENTICATED",
                                  err);
    }
    return SILT_OK;
}

static silt_status use_token(const char *token, struct sl_arena *arena, struct sl_gcs_credentials *out, silt_error *err)
{
    for (const char *at = token; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            return sl_option_unusable(SL_OPTION_GCS_TOKEN, token, "a token without spaces", err);
        }
    }
    out->kind = SL_GCS_TOKEN;
    out->token = sl_arena_strdup(arena, sl_str_from(token));
    return out->token != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_gcs_find_credentials(const silt_env *env, const struct sl_remote_options *options,
                                    struct sl_arena *arena, struct sl_gcs_credentials *out, silt_error *err)
{
    *out = (struct sl_gcs_credentials){0};
    bool chosen = false;
    SL_TRY(sl_option_bool(options, SL_OPTION_GCS_ANONYMOUS, NULL, &chosen, err));
    if (chosen) {
        return SILT_OK;
    }
    SL_TRY(use_kind(options, arena, out, &chosen, err));
    if (chosen) {
        return SILT_OK;
    }
    const char *token = sl_option_get(options, SL_OPTION_GCS_TOKEN, NULL);
    const char *key = sl_option_get(options, SL_OPTION_GCS_ACCOUNT_KEY, NULL);
    const char *file = sl_option_get(options, SL_OPTION_GCS_ACCOUNT_FILE, NULL);
    if (token != NULL) {
        return use_token(token, arena, out, err);
    }
    if (key != NULL) {
        return sl_gcs_read_key(env, sl_str_from(key), sl_option_name(SL_OPTION_GCS_ACCOUNT_KEY), arena, out, err);
    }
    if (file != NULL) {
        return sl_credential_lacking(read_key_file(env, file, arena, out, err), err);
    }
    const char *usual = usual_file(arena);
    if (usual != NULL) {
        silt_error found = SILT_ERROR_INIT;
        const silt_status status = read_key_file(env, usual, arena, out, &found);
        if (status != SILT_ENOTFOUND) {
            *err = status != SILT_OK ? found : *err;
            return status;
        }
    }
    if (sl_option_given(options, SL_OPTION_GCS_ENDPOINT, NULL) == NULL &&
        sl_option_get(options, SL_OPTION_GCS_ENDPOINT, NULL) != NULL) {
        return SILT_OK; /* STORAGE_EMULATOR_HOST: emulators ask for no token, and Google's own clients send them none */
    }
    return use_metadata_server(options, arena, out, err);
}
