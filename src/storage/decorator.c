/*
 * What stores that wrap another store have in common. Optional slots are always filled by a wrapper: where the inner
 * store lacks one, its dispatch gives the answer (SILT_EUNSUPPORTED), and the wrapper passes that on.
 *
 * Called by retry.c, trace.c and fault.c. Any thread.
 */
#include "storage/decorator.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"

silt_status sl_decorator_new(const silt_env *env, silt_storage *inner, const struct sl_decorator_spec *spec,
                             silt_storage **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a wrapping store needs an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_storage_check_wrap(env, inner, err));
    struct sl_decorator *decorator = sl_alloc(env, spec->size);
    if (decorator == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(decorator, spec->impl, spec->size);
    *decorator = (struct sl_decorator){
        .env = env, .inner = silt_storage_ref(inner), .size = spec->size, .create = spec->create};
    silt_status status = silt_storage_new(env, spec->slots, decorator, out, err);
    if (status != SILT_OK) {
        sl_decorator_close(decorator);
    }
    return status;
}

void sl_decorator_close(void *impl)
{
    struct sl_decorator *decorator = impl;
    silt_storage_unref(decorator->inner);
    sl_release(decorator->env, decorator, decorator->size);
}

silt_status sl_decorator_local_path(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err)
{
    const struct sl_decorator *decorator = impl;
    return silt_storage_local_path(decorator->inner, path, buf, buf_size, err);
}

/* ---- creations ---- */

static silt_status create(void *impl, const silt_call *call, const struct sl_creation *creation,
                          silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_decorator *decorator = impl;
    return decorator->create != NULL ? decorator->create(impl, call, creation, outcome, err)
                                     : creation->put(decorator->inner, call, creation->path, creation->data,
                                                     creation->data_len, outcome, err);
}

silt_status sl_decorator_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                       size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_creation creation = {silt_storage_put_if_absent, "put_if_absent", path, data, data_len};
    return create(impl, call, &creation, outcome, err);
}

/* Told as put_if_absent: which of the two a commit is does not matter to what can go wrong. */
silt_status sl_decorator_put_beside(void *impl, const silt_call *call, const char *path, const void *data,
                                    size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_creation creation = {silt_storage_put_beside, "put_if_absent", path, data, data_len};
    return create(impl, call, &creation, outcome, err);
}

silt_status sl_decorator_put_hint(void *impl, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_creation creation = {silt_storage_put_hint, "put_hint", path, data, data_len};
    return create(impl, call, &creation, outcome, err);
}

/* ---- uploads: the inner store's, as they are ---- */

silt_status sl_decorator_upload_in(silt_storage *inner, const silt_call *call, const char *path, void **upload,
                                   size_t *unit, silt_error *err)
{
    silt_upload *begun = NULL;
    SL_TRY(silt_storage_upload_begin(inner, call, path, &begun, err));
    *upload = begun;
    *unit = silt_upload_unit(begun);
    return SILT_OK;
}

silt_status sl_decorator_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                      silt_error *err)
{
    const struct sl_decorator *decorator = impl;
    return sl_decorator_upload_in(decorator->inner, call, path, upload, unit, err);
}

silt_status sl_decorator_upload_append(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, size_t *unit, silt_error *err)
{
    (void)impl;
    SL_TRY(silt_upload_append(upload, call, data, data_len, err));
    *unit = silt_upload_unit(upload);
    return SILT_OK;
}

silt_status sl_decorator_upload_finish(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, silt_error *err)
{
    (void)impl;
    return silt_upload_finish(upload, call, data, data_len, err);
}

void sl_decorator_upload_abort(void *impl, void *upload)
{
    (void)impl;
    silt_upload_abort(upload);
}
