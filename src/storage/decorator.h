/*
 * What stores that wrap another store have in common: the inner store, and slots that only hand a call on.
 *
 * An implementation begins with struct sl_decorator, so that its pointer serves the shared slots. Inner errors come
 * back with their context in place; the dispatch does not add it a second time.
 */
#ifndef SL_STORAGE_DECORATOR_H
#define SL_STORAGE_DECORATOR_H

#include "silt/storage.h"

/* Bytes under a name that must be free, by one of the three ways that a store has for it. */
struct sl_creation {
    silt_status (*put)(silt_storage *storage, const silt_call *call, const char *path, const void *data,
                       size_t data_len, silt_put_outcome *outcome, silt_error *err);
    const char *operation; /* as traces and faults name it: a commit is "put_if_absent", by whichever slot */
    const char *path;
    const void *data;
    size_t data_len;
};

struct sl_decorator {
    const silt_env *env;
    silt_storage *inner; /* a reference */
    size_t size;         /* of the whole implementation */
    /* What the three slots of creations do; NULL: they hand the call on. */
    silt_status (*create)(void *impl, const silt_call *call, const struct sl_creation *creation,
                          silt_put_outcome *outcome, silt_error *err);
};

/*
 * Makes a store of an implementation of `size` bytes that begins with a zeroed struct sl_decorator and is copied;
 * checks env and takes a reference of inner. The copy is freed by sl_decorator_close.
 */
struct sl_decorator_spec {
    const silt_storage_vtable *slots;
    const void *impl;
    size_t size;
    silt_status (*create)(void *impl, const silt_call *call, const struct sl_creation *creation,
                          silt_put_outcome *outcome, silt_error *err);
};
silt_status sl_decorator_new(const silt_env *env, silt_storage *inner, const struct sl_decorator_spec *spec,
                             silt_storage **out, silt_error *err);

/* Slots. */
void sl_decorator_close(void *impl);
silt_status sl_decorator_local_path(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err);
silt_status sl_decorator_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                       size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_decorator_put_beside(void *impl, const silt_call *call, const char *path, const void *data,
                                    size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_decorator_put_hint(void *impl, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_put_outcome *outcome, silt_error *err);
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
