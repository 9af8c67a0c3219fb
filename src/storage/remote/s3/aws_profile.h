/*
 * The files of AWS profiles, ~/.aws/credentials and ~/.aws/config. Reading of their text is pure.
 */
#ifndef SL_REMOTE_S3_AWS_PROFILE_H
#define SL_REMOTE_S3_AWS_PROFILE_H

#include "base/buf.h"
#include "base/str.h"
#include "storage/remote/context.h"

/* The two files; empty where there is none. */
struct sl_aws_files {
    struct sl_buf credentials;
    struct sl_buf config;
};

/* Reads them from where options, environment or habit say. SILT_EACCESS for one that is there and cannot be read. */
silt_status sl_aws_files_read(const struct sl_remote_context *context, struct sl_aws_files *files, silt_error *err);
void sl_aws_files_release(struct sl_aws_files *files); /* wipes them; safe on a zeroed one */

/* A setting of a profile; the file of credentials goes first. Absent if there is none. Borrowed from the files. */
struct sl_str sl_aws_profile_get(const struct sl_aws_files *files, struct sl_str profile, const char *key);
/* The address of S3 that a profile names: its services' own goes before that of all. Absent if there is none. Borrowed from the files. */
struct sl_str sl_aws_profile_endpoint(const struct sl_aws_files *files, struct sl_str profile);
bool sl_aws_profile_exists(const struct sl_aws_files *files, struct sl_str profile);

/* The name of the profile that counts, "default" if nobody says otherwise. Borrowed. */
const char *sl_aws_profile_name(const struct sl_remote_context *context);

/* Appends the file's content. SILT_ENOTFOUND if there is none, SILT_ELIMIT above max bytes. */
silt_status sl_aws_file_read(const char *path, size_t max, struct sl_buf *out, silt_error *err);

#endif
