/*
 * What the remote stores of one engine share. The entry owns it and outlives the stores. Any thread.
 */
#ifndef SL_REMOTE_CONTEXT_H
#define SL_REMOTE_CONTEXT_H

#include "silt/env.h"
#include "silt/storage.h"
#include "storage/remote/http.h"
#include "storage/remote/remote_options.h"

struct sl_trace; /* remote_trace.h */

struct sl_remote_context {
    const silt_env *env;
    const struct sl_remote_options *options;
    struct sl_http *http;
    const struct sl_trace *trace; /* who listens to an examination; NULL: nobody */
};

/* Makes the store of one kind, for sl_remote_vtable.store: reads no file, asks no server. The context is borrowed. */
typedef silt_status (*sl_remote_opener)(const struct sl_remote_context *context, const silt_storage_vtable **vtable,
                                        void **impl, silt_error *err);

/*
 * Examines the way to a location (silt/doctor.h), of a store made by the opener of the same scheme: tells of its endpoint, of what it is
 * asked with, and whether the folder of the log can be listed. The failure that stopped it has been told.
 */
typedef silt_status (*sl_remote_examiner)(void *impl, const silt_call *call, const char *uri, silt_error *err);

#endif
