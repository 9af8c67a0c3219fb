/*
 * Taking over a finished local file by an upload of its bytes, a few parts at a time. For the stores; any thread, an adoption by one.
 */
#ifndef SL_REMOTE_ADOPT_H
#define SL_REMOTE_ADOPT_H

#include "silt/env.h"
#include "silt/storage.h"

/* The slots of a store's uploads (silt/storage.h). */
struct sl_adopt_slots {
    silt_status (*append)(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                          size_t *unit, silt_error *err);
    silt_status (*finish)(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                          silt_error *err);
    void (*abort)(void *impl, void *upload);
};

struct sl_adopt {
    const silt_env *env;
    const struct sl_adopt_slots *slots;
    void *impl;
    const silt_call *call;
    const char *local;
    /* Of sl_adopt_open: */
    int fd;
    int64_t size; /* of the local file, bytes */
    /* Of the store's begin: */
    void *upload;
    size_t unit;
};

/* Opens the local file, which must be a regular one, and no link. */
silt_status sl_adopt_open(struct sl_adopt *adopt, silt_error *err);
/* begun: what the store's begin returned. Sends the file, closes it, and removes it when all went well. */
silt_status sl_adopt_send(struct sl_adopt *adopt, silt_status begun, silt_error *err);

#endif
