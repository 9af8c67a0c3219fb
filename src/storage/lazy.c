/*
 * A store that is made when it is first used, so that whoever never opens a remote table loads nothing for it. A failure to make it is
 * the answer of the call at hand; the next call tries again.
 *
 * Any thread.
 */
#include "storage/lazy.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"
#include "silt/version.h"
#include "storage/decorator.h"

struct lazy {
    const silt_env *env;
    const char *scheme;
    struct sl_lazy_maker maker;
    pthread_mutex_t lock;
    silt_storage *inner; /* a reference; guarded by lock until it is there, then fixed */
};

static silt_status need(struct lazy *lazy, silt_storage **out, silt_error *err)
{
    silt_status status = SILT_OK;
    pthread_mutex_lock(&lazy->lock);
    if (lazy->inner == NULL) {
        status = lazy->maker.make(lazy->maker.ctx, lazy->scheme, &lazy->inner, err);
    }
    *out = lazy->inner;
    pthread_mutex_unlock(&lazy->lock);
    return status;
}

static void lazy_close(void *impl)
{
    struct lazy *lazy = impl;
    silt_storage_unref(lazy->inner);
    lazy->maker.release(lazy->maker.ctx);
    pthread_mutex_destroy(&lazy->lock);
    sl_release(lazy->env, lazy, sizeof(*lazy));
}

static silt_status lazy_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                  void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    silt_storage *inner = NULL;
    const silt_status status = need(impl, &inner, err);
    if (status != SILT_OK) {
        for (size_t i = 0; i < n; i++) {
            requests[i].status = status;
            on_done(ctx, &requests[i]);
        }
        return status;
    }
    return silt_storage_read_many(inner, call, requests, n, on_done, ctx, err);
}

static silt_status lazy_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                    silt_read_request *requests, size_t n, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return sl_storage_pass_stream(inner, call, stream, requests, n, err);
}

static silt_status lazy_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                             bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_list(inner, call, dir, options, on_entry, ctx, err);
}

static silt_status lazy_list_folders(void *impl, const silt_call *call, const char *dir,
                                     bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                     silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_list_folders(inner, call, dir, on_folder, ctx, err);
}

static silt_status lazy_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                      size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_put_if_absent(inner, call, path, data, data_len, outcome, err);
}

static silt_status lazy_put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_put_hint(inner, call, path, data, data_len, outcome, err);
}

static silt_status lazy_put_beside(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_put_beside(inner, call, path, data, data_len, outcome, err);
}

static silt_status lazy_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                            silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_put(inner, call, path, data, data_len, err);
}

static silt_status lazy_put_fresh(void *impl, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_put_fresh(inner, call, path, data, data_len, err);
}

static silt_status lazy_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_stat(inner, call, path, size_bytes, modified_ms, err);
}

static silt_status lazy_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_remove(inner, call, path, err);
}

static silt_status lazy_local_path(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_local_path(inner, path, buf, buf_size, err);
}

static silt_status lazy_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_adopt(inner, call, local, path, err);
}

static silt_status lazy_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return silt_storage_remove_tree(inner, call, dir, err);
}

static silt_status lazy_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                     silt_error *err)
{
    silt_storage *inner = NULL;
    SL_TRY(need(impl, &inner, err));
    return sl_decorator_upload_in(inner, call, path, upload, unit, err);
}

static const silt_storage_vtable lazy_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "remote",
    .close = lazy_close,
    .read_many = lazy_read_many,
    .read_stream = lazy_read_stream,
    .list = lazy_list,
    .list_folders = lazy_list_folders,
    .put_if_absent = lazy_put_if_absent,
    .put_hint = lazy_put_hint,
    .put_beside = lazy_put_beside,
    .put = lazy_put,
    .put_fresh = lazy_put_fresh,
    .stat = lazy_stat,
    .remove = lazy_remove,
    .local_path = lazy_local_path,
    .adopt = lazy_adopt,
    .remove_tree = lazy_remove_tree,
    .upload_begin = lazy_upload_begin,
    .upload_append = sl_decorator_upload_append,
    .upload_finish = sl_decorator_upload_finish,
    .upload_abort = sl_decorator_upload_abort,
};

silt_status sl_storage_lazy_new(const silt_env *env, const char *scheme, const struct sl_lazy_maker *maker,
                                silt_storage **out, silt_error *err)
{
    struct lazy *lazy = sl_alloc_zero(env, sizeof(*lazy));
    if (lazy == NULL) {
        return sl_fail_nomem(err);
    }
    *lazy = (struct lazy){.env = env, .scheme = scheme, .maker = *maker};
    pthread_mutex_init(&lazy->lock, NULL);
    const silt_status status = silt_storage_new(env, &lazy_slots, lazy, out, err);
    if (status != SILT_OK) {
        pthread_mutex_destroy(&lazy->lock);
        sl_release(env, lazy, sizeof(*lazy));
    }
    return status;
}
