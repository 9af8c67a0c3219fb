/*
 * Where files are on HDFS: locations as a host and a path, and what WebHDFS is asked. Pure; any thread.
 */
#ifndef SL_REMOTE_HDFS_NAMES_H
#define SL_REMOTE_HDFS_NAMES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

/* Borrowed from the location. */
struct sl_hdfs_name {
    struct sl_str authority; /* "host", "host:port", the name of a pair of name nodes; may be empty */
    struct sl_str path;      /* without a slash at its begin and end; empty: the root */
};

/* "hdfs://host/path" of a file or folder; SILT_EINVALID for what HDFS cannot hold: names with ':', empty ones, "." and "..", text that is not UTF-8. */
silt_status sl_hdfs_file_name(const char *location, struct sl_hdfs_name *out, silt_error *err);
silt_status sl_hdfs_folder_name(const char *location, struct sl_hdfs_name *out, silt_error *err);

/* Appends "/webhdfs/v1/PATH?op=OP". More parameters are put behind it, their names in lower case: servers do not know other ones. */
void sl_hdfs_put_operation(struct sl_buf *out, struct sl_str path, const char *operation);
void sl_hdfs_put_parameter(struct sl_buf *out, const char *name, struct sl_str value);

#define SL_HDFS_TEMP_SIZE 64
/* Names of files that are being written, ".silt-UUID.tmp": hidden, and never listed. */
silt_status sl_hdfs_make_temp(const silt_env *env, char out[SL_HDFS_TEMP_SIZE], silt_error *err);
bool sl_hdfs_is_temp(struct sl_str name);

#endif
