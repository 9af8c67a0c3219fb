/*
 * The store of Azure: abfss, abfs, wasbs, wasb, az, azure. azure_int.h begins with a map of its files.
 */
#ifndef SL_REMOTE_AZURE_STORE_H
#define SL_REMOTE_AZURE_STORE_H

#include "storage/remote/context.h"

/* A sl_remote_opener. */
silt_status sl_azure_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                          silt_error *err);

/* A sl_remote_examiner. */
silt_status sl_azure_examine(void *impl, const silt_call *call, const char *uri, silt_error *err);

#endif
