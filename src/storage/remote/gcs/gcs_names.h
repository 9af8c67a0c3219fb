/*
 * Where objects are: locations as bucket and key, and the URLs of the JSON API. Pure; any thread.
 */
#ifndef SL_REMOTE_GCS_NAMES_H
#define SL_REMOTE_GCS_NAMES_H

#include "base/buf.h"
#include "base/str.h"
#include "silt/status.h"

/* Borrowed from the location. */
struct sl_gcs_name {
    struct sl_str bucket;
    struct sl_str key; /* of a folder: without the slash at its end, empty for the bucket's root */
};

/* "gs://bucket/key" of a file; SILT_EINVALID for what cannot be the name of one. */
silt_status sl_gcs_file_name(const char *path, struct sl_gcs_name *out, silt_error *err);
/* The same of a folder; slashes at the end do not count. */
silt_status sl_gcs_folder_name(const char *path, struct sl_gcs_name *out, silt_error *err);

/* Append "BASE/storage/v1/b/BUCKET/o" and with a key "/KEY", all of the key encoded, its slashes too. Parameters are the caller's to add. */
void sl_gcs_put_list_url(struct sl_buf *out, const char *base, struct sl_str bucket);
void sl_gcs_put_object_url(struct sl_buf *out, const char *base, const struct sl_gcs_name *name);
/* Appends "BASE/upload/storage/v1/b/BUCKET/o". */
void sl_gcs_put_upload_url(struct sl_buf *out, const char *base, struct sl_str bucket);
/* Appends "NAME=VALUE", the value encoded, behind '?' or '&'. */
void sl_gcs_put_parameter(struct sl_buf *url, const char *name, struct sl_str value);

#endif
