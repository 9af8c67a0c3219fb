/*
 * Tables on S3 and what speaks like it: s3://bucket/key, with s3a and s3n as other names.
 *
 * A commit is a PUT with "If-None-Match: *": of all that create one name, one is answered 200, the others 412. Listings are those of
 * ListObjectsV2, in the byte order of names. Reads after writes are consistent.
 *
 * A server that ignores the condition would let two writers own a version. So before the first conditional create on a server that is not
 * AWS's own, the store proves the condition with a file of its own (s3_probe.c), and refuses to commit where it does not hold.
 *
 * Any thread.
 */
#ifndef SL_REMOTE_S3_S3_H
#define SL_REMOTE_S3_S3_H

#include "storage/remote/context.h"

/* An sl_remote_opener. */
silt_status sl_s3_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                       silt_error *err);

/* A sl_remote_examiner. */
silt_status sl_s3_examine(void *impl, const silt_call *call, const char *uri, silt_error *err);

#endif
