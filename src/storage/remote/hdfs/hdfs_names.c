/* Names on HDFS. Pure but for the randomness of temporary names; any thread. */
#include "storage/remote/hdfs/hdfs_names.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "storage/remote/url.h"

#define TEMP_PREFIX ".silt-"
#define TEMP_SUFFIX ".tmp"
#define MAX_PATH 8000 /* characters of a path that HDFS takes */

static silt_status check_segment(struct sl_str segment, silt_error *err)
{
    if (segment.len == 0 || sl_str_eq_c(segment, ".") || sl_str_eq_c(segment, "..")) {
        return sl_fail(err, SILT_EINVALID, NULL, "HDFS has no names that are empty, '.' or '..'");
    }
    if (memchr(segment.ptr, ':', segment.len) != NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "HDFS has no names with ':' (%.*s)", SL_FMT(segment));
    }
    return SILT_OK;
}

static silt_status check_path(struct sl_str path, silt_error *err)
{
    if (path.len > MAX_PATH || !sl_utf8_valid(path)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a path on HDFS has at most %d bytes of UTF-8", MAX_PATH);
    }
    for (size_t begin = 0; begin < path.len;) {
        const struct sl_str rest = sl_str_sub(path, begin, path.len);
        const size_t slash = sl_str_find(rest, SL_STR("/"));
        const size_t len = slash == SIZE_MAX ? rest.len : slash;
        SL_TRY(check_segment(sl_str_sub(rest, 0, len), err));
        begin += len + 1;
    }
    return SILT_OK;
}

static silt_status split(const char *location, struct sl_hdfs_name *out, silt_error *err)
{
    struct sl_location parts;
    if (!sl_location_split(sl_str_from(location), &parts)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a location hdfs://HOST/PATH is expected");
    }
    *out = (struct sl_hdfs_name){.authority = parts.authority, .path = parts.path};
    for (size_t i = 0; i < parts.authority.len; i++) {
        const char c = parts.authority.ptr[i];
        const char lower = (char)(c | 0x20);
        if (!sl_is_digit(c) && (lower < 'a' || lower > 'z') && strchr("-._:[]", c) == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "'%.*s' is no host", SL_FMT(parts.authority));
        }
    }
    return SILT_OK;
}

silt_status sl_hdfs_file_name(const char *location, struct sl_hdfs_name *out, silt_error *err)
{
    SL_TRY(split(location, out, err));
    if (out->path.len == 0 || out->path.ptr[out->path.len - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of a file is expected, not of a folder");
    }
    return check_path(out->path, err);
}

silt_status sl_hdfs_folder_name(const char *location, struct sl_hdfs_name *out, silt_error *err)
{
    SL_TRY(split(location, out, err));
    while (out->path.len > 0 && out->path.ptr[out->path.len - 1] == '/') {
        out->path.len--;
    }
    return check_path(out->path, err);
}

void sl_hdfs_put_operation(struct sl_buf *out, struct sl_str path, const char *operation)
{
    sl_buf_put_c(out, "/webhdfs/v1/");
    sl_url_encode(out, path, "/");
    sl_buf_put_c(out, "?op=");
    sl_buf_put_c(out, operation);
}

void sl_hdfs_put_parameter(struct sl_buf *out, const char *name, struct sl_str value)
{
    sl_buf_put_char(out, '&');
    sl_buf_put_c(out, name);
    sl_buf_put_char(out, '=');
    sl_url_encode(out, value, "");
}

silt_status sl_hdfs_make_temp(const silt_env *env, char out[SL_HDFS_TEMP_SIZE], silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(env, uuid, err));
    (void)snprintf(out, SL_HDFS_TEMP_SIZE, "%s%s%s", TEMP_PREFIX, uuid, TEMP_SUFFIX);
    return SILT_OK;
}

bool sl_hdfs_is_temp(struct sl_str name)
{
    return sl_str_starts_with(name, SL_STR(TEMP_PREFIX)) && sl_str_ends_with(name, SL_STR(TEMP_SUFFIX)) &&
           name.len == sizeof(TEMP_PREFIX) - 1 + SL_UUID_TEXT_SIZE - 1 + sizeof(TEMP_SUFFIX) - 1;
}
