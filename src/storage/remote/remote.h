/*
 * Remote stores: what libsilt_remote.so gives to libsilt, which loads it when a table on s3://, abfss://, gs://, hdfs:// or one of their
 * like is first opened (libcurl and what hangs on it take longer to load than `silt history` takes in all).
 *
 * The library has its own hidden copy of base and json and calls nothing in libsilt. Any thread.
 */
#ifndef SL_REMOTE_REMOTE_H
#define SL_REMOTE_REMOTE_H

#include <stddef.h>
#include <stdint.h>

#include "silt/doctor.h"
#include "silt/env.h"
#include "silt/status.h"
#include "silt/storage.h"

#define SL_REMOTE_ABI_VERSION 1
#define SL_REMOTE_ENTRY "silt_remote_stores"

/*
 * The schemes that the library serves, in lower case. Aliases of one store stand together; a store object serves all buckets, accounts and hosts of
 * its schemes.
 */
#define SL_REMOTE_SCHEMES                                                                                    \
    {                                                                                                        \
        "s3", "s3a", "s3n", "abfss", "abfs", "wasbs", "wasb", "az", "azure", "gs", "gcs", "hdfs", "webhdfs", \
            "swebhdfs"                                                                                       \
    }

/* The remote stores of one engine: a pool of connections, options, credentials. */
struct sl_remote;

struct sl_remote_vtable {
    uint32_t size;
    uint32_t abi_version; /* SL_REMOTE_ABI_VERSION */

    /*
     * Takes copies of the options, each "name" = "value"; what they leave open comes from the process's environment and the usual files
     * when a store is first used. SILT_EINVALID names an option that nobody knows, with the nearest one as hint.
     */
    silt_status (*open)(const silt_env *env, const silt_store_option *options, size_t n, struct sl_remote **out,
                        silt_error *err);
    void (*close)(struct sl_remote *remote); /* after all its stores; NULL is legal */

    /*
     * The store of a scheme, to be given to silt_storage_new; the remote outlives it. Reads no file and asks no server: credentials are
     * looked for at the first request. SILT_EUNSUPPORTED for a scheme that is not in SL_REMOTE_SCHEMES.
     */
    silt_status (*store)(struct sl_remote *remote, const char *scheme, const silt_storage_vtable **vtable, void **impl,
                         silt_error *err);

    /*
     * Examines the way to a location, as silt_doctor tells it: options, endpoint, reach, clock, credentials, the right to list. The failure that
     * stopped it has been told as a step. No other call may run meanwhile.
     */
    silt_status (*examine)(struct sl_remote *remote, const silt_call *call, const char *uri,
                           void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx, silt_error *err);
};

typedef const struct sl_remote_vtable *(*sl_remote_entry)(void);

#endif
