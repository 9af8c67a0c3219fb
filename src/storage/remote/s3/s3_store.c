/*
 * The store: its buckets and its slots. Buckets are few, so they are a list. Any thread.
 */
#include "storage/remote/s3/s3.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/s3/s3_int.h"

#define MAX_BUCKET 255
#define DIRECTORY_SUFFIX "--x-s3"

static void close_store(void *impl)
{
    struct sl_s3_store *store = impl;
    for (struct sl_s3_bucket *bucket = store->buckets; bucket != NULL; bucket = bucket->next) {
        sl_credential_cache_free(bucket->credentials);
    }
    pthread_mutex_destroy(&store->probe_lock);
    pthread_mutex_destroy(&store->lock);
    sl_arena_release(&store->arena);
    sl_release(store->env, store, sizeof(*store));
}

static bool is_bucket_name(struct sl_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        const char lower = (char)(c | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || sl_is_digit(c) || c == '.' || c == '-' || c == '_')) {
            return false;
        }
    }
    return name.len > 0 && name.len <= MAX_BUCKET && name.ptr[0] != '.' && name.ptr[0] != '-';
}

/* The store's lock is held. */
static silt_status make_bucket(struct sl_s3_store *store, struct sl_str name, struct sl_s3_bucket **out,
                               silt_error *err)
{
    struct sl_s3_bucket *bucket = sl_arena_alloc_zero(&store->arena, sizeof(*bucket));
    char *copy = sl_arena_strdup(&store->arena, name);
    if (bucket == NULL || copy == NULL) {
        return sl_fail_nomem(err);
    }
    bucket->name = copy;
    SL_TRY(sl_s3_bucket_configure(store, bucket, err));
    bucket->next = store->buckets;
    store->buckets = bucket;
    *out = bucket;
    return SILT_OK;
}

static silt_status find_bucket(struct sl_s3_store *store, struct sl_str name, struct sl_s3_bucket **out,
                               silt_error *err)
{
    silt_status status = SILT_OK;
    *out = NULL;
    pthread_mutex_lock(&store->lock);
    for (struct sl_s3_bucket *bucket = store->buckets; bucket != NULL; bucket = bucket->next) {
        if (sl_str_eq_c(name, bucket->name)) {
            *out = bucket;
        }
    }
    if (*out == NULL) {
        status = make_bucket(store, name, out, err);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

silt_status sl_s3_locate(struct sl_s3_store *store, const char *path, struct sl_s3_place *out, silt_error *err)
{
    *out = (struct sl_s3_place){0};
    struct sl_str text = sl_str_from(path);
    const size_t scheme = sl_str_find(text, SL_STR("://"));
    if (scheme == SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    text = sl_str_sub(text, scheme + 3, text.len);
    const size_t slash = sl_str_find(text, SL_STR("/"));
    const struct sl_str name = sl_str_sub(text, 0, slash == SIZE_MAX ? text.len : slash);
    const struct sl_str key = slash == SIZE_MAX ? SL_STR("") : sl_str_sub(text, slash + 1, text.len);
    if (name.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the location names no bucket, expected s3://BUCKET/PATH");
    }
    if (!is_bucket_name(name)) {
        return sl_fail(err, SILT_EINVALID, NULL, "'%.*s' is no name of a bucket", SL_FMT(name));
    }
    if (sl_str_ends_with(name, SL_STR(DIRECTORY_SUFFIX))) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "%.*s is a directory bucket (S3 Express), whose listings have no order", SL_FMT(name));
    }
    if (key.len > SL_S3_MAX_KEY) {
        return sl_fail(err, SILT_EINVALID, NULL, "a key of %zu bytes: S3 takes %d", key.len, SL_S3_MAX_KEY);
    }
    SL_TRY(find_bucket(store, name, &out->bucket, err));
    out->key = key;
    return SILT_OK;
}

static const silt_storage_vtable slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "s3",
    .close = close_store,
    .read_many = sl_s3_read_many,
    .read_stream = sl_s3_read_stream,
    .list = sl_s3_log_list,
    .put_if_absent = sl_s3_log_put_if_absent,
    .put = sl_s3_log_put,
    .stat = sl_s3_stat,
    .remove = sl_s3_log_remove,
    .adopt = sl_s3_log_adopt,
    .remove_tree = sl_s3_log_remove_tree,
    .upload_begin = sl_s3_upload_begin,
    .upload_append = sl_s3_upload_append,
    .upload_finish = sl_s3_log_upload_finish,
    .upload_abort = sl_s3_upload_abort,
};

silt_status sl_s3_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                       silt_error *err)
{
    *vtable = NULL;
    *impl = NULL;
    struct sl_s3_store *store = sl_alloc_zero(context->env, sizeof(*store));
    if (store == NULL) {
        return sl_fail_nomem(err);
    }
    store->context = context;
    store->env = context->env;
    sl_arena_init(&store->arena, context->env);
    if (pthread_mutex_init(&store->lock, NULL) != 0) {
        sl_release(context->env, store, sizeof(*store));
        return sl_fail_nomem(err);
    }
    if (pthread_mutex_init(&store->probe_lock, NULL) != 0) {
        pthread_mutex_destroy(&store->lock);
        sl_release(context->env, store, sizeof(*store));
        return sl_fail_nomem(err);
    }
    *vtable = &slots;
    *impl = store;
    return SILT_OK;
}
