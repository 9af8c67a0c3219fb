/* The HDFS store: the instance, its set-up, the vtable. Any thread. */
#include "storage/remote/hdfs/hdfs.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/hdfs/hdfs_int.h"

/* The user of the process, as Hadoop's clients have it. NULL: he has no name, and servers take their own default. */
static const char *process_user(struct sl_arena *arena)
{
    char room[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(geteuid(), &entry, room, sizeof(room), &found) != 0 || found == NULL) {
        return NULL;
    }
    return sl_arena_strdup(arena, sl_str_from(found->pw_name));
}

static silt_status read_options(struct sl_hdfs *hdfs, silt_error *err)
{
    const struct sl_remote_options *options = hdfs->context->options;
    const char *user = sl_option_get(options, SL_OPTION_HDFS_USER, NULL);
    const char *token = sl_option_get(options, SL_OPTION_HDFS_DELEGATION, NULL);
    const char *mode = sl_option_given(options, SL_OPTION_HDFS_AUTHENTICATION, NULL);
    SL_TRY(sl_option_bool(options, SL_OPTION_ALLOW_HTTP, NULL, &hdfs->allow_http, err));
    if (mode != NULL && strcmp(mode, "simple") != 0 && strcmp(mode, "kerberos") != 0) {
        return sl_option_unusable(SL_OPTION_HDFS_AUTHENTICATION, mode, "simple or kerberos", err);
    }
    hdfs->kerberos = mode != NULL && strcmp(mode, "kerberos") == 0;
    if (token == NULL && sl_option_get(options, SL_OPTION_HDFS_TOKEN_FILE, NULL) != NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "files of delegation tokens (HADOOP_TOKEN_FILE_LOCATION) are not read; give the token by %s",
                       sl_option_name(SL_OPTION_HDFS_DELEGATION));
    }
    hdfs->delegation = token != NULL ? sl_arena_strdup(&hdfs->arena, sl_str_from(token)) : NULL;
    hdfs->user = user != NULL ? sl_arena_strdup(&hdfs->arena, sl_str_from(user)) : process_user(&hdfs->arena);
    const bool lost = (token != NULL && hdfs->delegation == NULL) || (user != NULL && hdfs->user == NULL);
    return lost ? sl_fail_nomem(err) : SILT_OK;
}

silt_status sl_hdfs_begin(struct sl_hdfs *hdfs, const char *location, bool folder, struct sl_hdfs_name *name,
                          struct sl_hdfs_cluster **cluster, silt_error *err)
{
    SL_TRY(folder ? sl_hdfs_folder_name(location, name, err) : sl_hdfs_file_name(location, name, err));
    (void)pthread_mutex_lock(&hdfs->lock);
    silt_status status = SILT_OK;
    if (!hdfs->ready) {
        status = read_options(hdfs, err);
        hdfs->ready = status == SILT_OK;
    }
    if (status == SILT_OK) {
        status = sl_hdfs_find_cluster(hdfs, name->authority, cluster, err);
    }
    (void)pthread_mutex_unlock(&hdfs->lock);
    return status;
}

static void hdfs_close(void *impl)
{
    struct sl_hdfs *hdfs = impl;
    sl_arena_release(&hdfs->arena);
    (void)pthread_mutex_destroy(&hdfs->lock);
    sl_release(hdfs->env, hdfs, sizeof(*hdfs));
}

static const silt_storage_vtable slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "hdfs",
    .close = hdfs_close,
    .read_many = sl_hdfs_read_many,
    .read_stream = sl_hdfs_read_stream,
    .list = sl_hdfs_list,
    .list_folders = sl_hdfs_list_folders,
    .put_if_absent = sl_hdfs_put_if_absent,
    .put = sl_hdfs_put,
    .stat = sl_hdfs_stat,
    .remove = sl_hdfs_remove,
    .adopt = sl_hdfs_adopt,
    .upload_begin = sl_hdfs_upload_begin,
    .upload_append = sl_hdfs_upload_append,
    .upload_finish = sl_hdfs_upload_finish,
    .upload_abort = sl_hdfs_upload_abort,
    .remove_tree = sl_hdfs_remove_tree,
};

static silt_status new_store(const struct sl_remote_context *context, enum sl_hdfs_scheme scheme,
                             const silt_storage_vtable **vtable, void **impl, silt_error *err)
{
    *vtable = NULL;
    *impl = NULL;
    struct sl_hdfs *hdfs = sl_alloc_zero(context->env, sizeof(*hdfs));
    if (hdfs == NULL) {
        return sl_fail_nomem(err);
    }
    *hdfs = (struct sl_hdfs){.env = context->env, .context = context, .scheme = scheme};
    sl_arena_init(&hdfs->arena, context->env);
    (void)pthread_mutex_init(&hdfs->lock, NULL); /* fails only for attributes that are none */
    *vtable = &slots;
    *impl = hdfs;
    return SILT_OK;
}

silt_status sl_hdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                         silt_error *err)
{
    return new_store(context, SL_HDFS, vtable, impl, err);
}

silt_status sl_webhdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                            silt_error *err)
{
    return new_store(context, SL_WEBHDFS, vtable, impl, err);
}

silt_status sl_swebhdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                             silt_error *err)
{
    return new_store(context, SL_SWEBHDFS, vtable, impl, err);
}
