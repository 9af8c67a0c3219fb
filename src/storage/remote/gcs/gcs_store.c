/* The Google Cloud Storage store: the instance, its set-up, the vtable. Any thread. */
#include "storage/remote/gcs/gcs.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/gcs/gcs_int.h"
#include "storage/remote/url.h"

#define DEFAULT_BASE_URL "https://storage.googleapis.com"

/* "localhost:4443", as STORAGE_EMULATOR_HOST often is, is http; slashes at the end do not count. */
static silt_status take_base_url(struct sl_gcs *gcs, silt_error *err)
{
    bool allow_http = false;
    const char *given = sl_option_get(gcs->context->options, SL_OPTION_GCS_ENDPOINT, NULL);
    const char *wanted = given != NULL ? given : gcs->credentials.base_url;
    SL_TRY(sl_option_bool(gcs->context->options, SL_OPTION_ALLOW_HTTP, NULL, &allow_http, err));
    wanted = wanted != NULL ? wanted : DEFAULT_BASE_URL;
    char *url = sl_arena_printf(&gcs->arena, "%s%s", strstr(wanted, "://") != NULL ? "" : "http://", wanted);
    if (url == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--) {
        url[len - 1] = '\0';
    }
    gcs->base_url = url;
    if (!sl_url_is_usable(sl_str_from(url)) || strpbrk(url, "?#@") != NULL) {
        return sl_option_unusable(SL_OPTION_GCS_ENDPOINT, wanted, "a URL http(s)://HOST", err);
    }
    const bool has_secret = gcs->credentials.kind != SL_GCS_ANONYMOUS;
    if (has_secret && !allow_http && !sl_url_is_private(sl_str_from(url))) {
        return sl_option_unusable(SL_OPTION_GCS_ENDPOINT, wanted, "https, or allow_http to send tokens without it",
                                  err);
    }
    return SILT_OK;
}

static bool can_be_header(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            return false;
        }
    }
    return true;
}

static silt_status read_options(struct sl_gcs *gcs, silt_error *err)
{
    SL_TRY(sl_gcs_find_credentials(gcs->env, gcs->context->options, &gcs->arena, &gcs->credentials, err));
    SL_TRY(take_base_url(gcs, err));
    gcs->bucket = sl_option_given(gcs->context->options, SL_OPTION_GCS_BUCKET, NULL);
    const char *project = sl_option_get(gcs->context->options, SL_OPTION_GCS_PROJECT, NULL);
    gcs->project = project != NULL ? sl_arena_strdup(&gcs->arena, sl_str_from(project)) : gcs->credentials.project;
    if (project != NULL && gcs->project == NULL) {
        return sl_fail_nomem(err);
    }
    if (gcs->project != NULL && !can_be_header(gcs->project)) {
        return sl_option_unusable(SL_OPTION_GCS_PROJECT, gcs->project, "the name of a project", err);
    }
    if (gcs->credentials.kind == SL_GCS_ANONYMOUS) {
        return SILT_OK;
    }
    const struct sl_credential_source source = {.ctx = gcs, .fetch = sl_gcs_fetch_token};
    return sl_credential_cache_new(gcs->env, &source, &gcs->tokens, err);
}

silt_status sl_gcs_set_up(struct sl_gcs *gcs, silt_error *err)
{
    silt_status status = SILT_OK;
    (void)pthread_mutex_lock(&gcs->lock);
    if (!gcs->ready) {
        status = read_options(gcs, err);
        gcs->ready = status == SILT_OK;
        if (!gcs->ready) {
            sl_arena_release(&gcs->arena);
        }
    }
    (void)pthread_mutex_unlock(&gcs->lock);
    return status;
}

silt_status sl_gcs_begin(struct sl_gcs *gcs, const char *path, bool folder, struct sl_gcs_name *name, silt_error *err)
{
    SL_TRY(sl_gcs_set_up(gcs, err));
    SL_TRY(folder ? sl_gcs_folder_name(path, name, err) : sl_gcs_file_name(path, name, err));
    if (gcs->bucket != NULL && !sl_str_eq_c(name->bucket, gcs->bucket)) {
        return sl_fail(err, SILT_EINVALID, NULL, "option %s is '%.100s', the location is in the bucket '%.*s'",
                       sl_option_name(SL_OPTION_GCS_BUCKET), gcs->bucket, SL_FMT(name->bucket));
    }
    return SILT_OK;
}

static void gcs_close(void *impl)
{
    struct sl_gcs *gcs = impl;
    sl_credential_cache_free(gcs->tokens);
    sl_arena_release(&gcs->arena);
    (void)pthread_mutex_destroy(&gcs->lock);
    sl_release(gcs->env, gcs, sizeof(*gcs));
}

static const silt_storage_vtable slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "gcs",
    .close = gcs_close,
    .read_many = sl_gcs_read_many,
    .read_stream = sl_gcs_read_stream,
    .list = sl_gcs_list,
    .put_if_absent = sl_gcs_put_if_absent,
    .put = sl_gcs_put,
    .stat = sl_gcs_stat,
    .remove = sl_gcs_remove,
    .adopt = sl_gcs_adopt,
    .upload_begin = sl_gcs_upload_begin,
    .upload_append = sl_gcs_upload_append,
    .upload_finish = sl_gcs_upload_finish,
    .upload_abort = sl_gcs_upload_abort,
    .remove_tree = sl_gcs_remove_tree,
};

silt_status sl_gcs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                        silt_error *err)
{
    const silt_env *env = context->env;
    *vtable = NULL;
    *impl = NULL;
    struct sl_gcs *gcs = sl_alloc_zero(env, sizeof(*gcs));
    if (gcs == NULL) {
        return sl_fail_nomem(err);
    }
    *gcs = (struct sl_gcs){.env = env, .context = context};
    sl_arena_init(&gcs->arena, env);
    (void)pthread_mutex_init(&gcs->lock, NULL); /* fails only for attributes that are none */
    *vtable = &slots;
    *impl = gcs;
    return SILT_OK;
}
