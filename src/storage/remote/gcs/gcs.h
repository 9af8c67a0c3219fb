/*
 * Tables on Google Cloud Storage, gs://BUCKET/KEY, through its JSON API.
 *
 * How it keeps the contract of a log store (silt/storage.h): objects become visible whole, listings are strongly consistent, and
 * put_if_absent is an upload under ifGenerationMatch=0, which the service grants to one of all writers of a name.
 *
 * Options and credentials are looked at when a slot is first called. Any thread.
 */
#ifndef SL_REMOTE_GCS_H
#define SL_REMOTE_GCS_H

#include "storage/remote/context.h"

/* The opener of gs:// and gcs://. */
silt_status sl_gcs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                        silt_error *err);

/* A sl_remote_examiner. */
silt_status sl_gcs_examine(void *impl, const silt_call *call, const char *uri, silt_error *err);

#endif
