/*
 * What stores that wrap another store have in common: the inner store, and slots that only hand a call on.
 *
 * An implementation begins with struct sl_decorator, so that its pointer serves the shared slots. Inner errors come
 * back with their context in place; the dispatch does not add it a second time.
 */
#ifndef SL_STORAGE_DECORATOR_H
#define SL_STORAGE_DECORATOR_H

#include "silt/storage.h"

struct sl_decorator {
    const silt_env *env;
    silt_storage *inner; /* a reference */
    size_t size;         /* of the whole implementation */
};

/*
 * Makes a store of an implementation of `size` bytes that begins with a zeroed struct sl_decorator and is copied;
 * checks env and takes a reference of inner. The copy is freed by sl_decorator_close.
 */
struct sl_decorator_spec {
    const silt_storage_vtable *slots;
    const void *impl;
    size_t size;
};
silt_status sl_decorator_new(const silt_env *env, silt_storage *inner, const struct sl_decorator_spec *spec,
                             silt_storage **out, silt_error *err);

/* Slots. */
void sl_decorator_close(void *impl);
silt_status sl_decorator_local_path(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err);
/* Of wrappers whose uploads are those of the inner store. The last three do not look at impl. */
silt_status sl_decorator_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                      silt_error *err);
silt_status sl_decorator_upload_append(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, size_t *unit, silt_error *err);
silt_status sl_decorator_upload_finish(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, silt_error *err);
void sl_decorator_upload_abort(void *impl, void *upload);
/* The first of them, for whoever has the inner store by other means. */
silt_status sl_decorator_upload_in(silt_storage *inner, const silt_call *call, const char *path, void **upload,
                                   size_t *unit, silt_error *err);

#endif
