/*
 * A store that is made when it is first used. Called by the maker of the default engine.
 */
#ifndef SL_STORAGE_LAZY_H
#define SL_STORAGE_LAZY_H

#include "silt/storage.h"

struct sl_lazy_maker {
    void *ctx;
    /* Makes the store; called until it succeeds once, by one thread at a time. */
    silt_status (*make)(void *ctx, const char *scheme, silt_storage **out, silt_error *err);
    void (*release)(void *ctx); /* after the store is closed */
};

/* scheme: lower case, static text. The new store owns the maker; after a failure the caller still does. */
silt_status sl_storage_lazy_new(const silt_env *env, const char *scheme, const struct sl_lazy_maker *maker,
                                silt_storage **out, silt_error *err);

#endif
