/*
 * Tables on HDFS, through WebHDFS (or HttpFS): hdfs://, webhdfs://, and swebhdfs:// with TLS.
 *
 * How it keeps the contract of a log store (silt/storage.h): a file is written under a hidden name in its folder and then renamed without
 * overwriting, which the name node grants to one of all writers of a name. Its listings are of one moment for a page, and what was answered is in them.
 *
 * Options are looked at when a slot is first called. Any thread.
 */
#ifndef SL_REMOTE_HDFS_H
#define SL_REMOTE_HDFS_H

#include "silt/storage.h"
#include "storage/remote/context.h"

/* The openers of hdfs://, webhdfs:// and swebhdfs://. */
silt_status sl_hdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                         silt_error *err);
silt_status sl_webhdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                            silt_error *err);
silt_status sl_swebhdfs_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                             silt_error *err);

/* A sl_remote_examiner. */
silt_status sl_hdfs_examine(void *impl, const silt_call *call, const char *uri, silt_error *err);

#endif
