/* Buckets, keys and URLs. Pure; any thread. */
#include "storage/remote/gcs/gcs_names.h"

#include <string.h>

#include "base/error.h"
#include "storage/remote/url.h"

#define MAX_BUCKET 222 /* bytes, with dots; the service says so */
#define MAX_KEY 1024

static silt_status split(const char *path, struct sl_gcs_name *out, silt_error *err)
{
    struct sl_location location;
    if (!sl_location_split(sl_str_from(path), &location)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a location gs://BUCKET/KEY is expected");
    }
    *out = (struct sl_gcs_name){.bucket = location.authority, .key = location.path};
    if (out->bucket.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the location names no bucket, expected gs://BUCKET/PATH");
    }
    bool good = out->bucket.len >= 3 && out->bucket.len <= MAX_BUCKET;
    for (size_t i = 0; i < out->bucket.len; i++) {
        const char c = out->bucket.ptr[i];
        good = good && (sl_is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.');
    }
    if (!good) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "'%.*s' cannot be a bucket: 3 to 222 lower-case letters, digits and '-_.' are expected",
                       SL_FMT(out->bucket));
    }
    return SILT_OK;
}

/* PROTOCOL of the service, "Object names": at most 1024 bytes, no line breaks, neither "." nor "..". */
static silt_status check_key(struct sl_str key, silt_error *err)
{
    if (key.len > MAX_KEY) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name has %zu bytes, Google Cloud Storage takes 1024", key.len);
    }
    if (key.len > 0 && (memchr(key.ptr, '\n', key.len) != NULL || memchr(key.ptr, '\r', key.len) != NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a name on Google Cloud Storage cannot have line breaks");
    }
    if (sl_str_eq_c(key, ".") || sl_str_eq_c(key, "..")) {
        return sl_fail(err, SILT_EINVALID, NULL, "Google Cloud Storage has no object '%.*s'", SL_FMT(key));
    }
    return SILT_OK;
}

silt_status sl_gcs_file_name(const char *path, struct sl_gcs_name *out, silt_error *err)
{
    SL_TRY(split(path, out, err));
    if (out->key.len == 0 || out->key.ptr[out->key.len - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of a file is expected, not of a folder");
    }
    return check_key(out->key, err);
}

silt_status sl_gcs_folder_name(const char *path, struct sl_gcs_name *out, silt_error *err)
{
    SL_TRY(split(path, out, err));
    while (out->key.len > 0 && out->key.ptr[out->key.len - 1] == '/') {
        out->key.len--;
    }
    return check_key(out->key, err);
}

static void put_bucket(struct sl_buf *out, const char *base, const char *api, struct sl_str bucket)
{
    sl_buf_put_c(out, base);
    sl_buf_put_c(out, api);
    sl_url_encode(out, bucket, "");
    sl_buf_put_c(out, "/o");
}

void sl_gcs_put_list_url(struct sl_buf *out, const char *base, struct sl_str bucket)
{
    put_bucket(out, base, "/storage/v1/b/", bucket);
}

void sl_gcs_put_object_url(struct sl_buf *out, const char *base, const struct sl_gcs_name *name)
{
    put_bucket(out, base, "/storage/v1/b/", name->bucket);
    sl_buf_put_char(out, '/');
    sl_url_encode(out, name->key, "");
}

void sl_gcs_put_upload_url(struct sl_buf *out, const char *base, struct sl_str bucket)
{
    put_bucket(out, base, "/upload/storage/v1/b/", bucket);
}

void sl_gcs_put_parameter(struct sl_buf *url, const char *name, struct sl_str value)
{
    const bool first = url->len == 0 || memchr(url->data, '?', url->len) == NULL;
    sl_buf_put_char(url, first ? '?' : '&');
    sl_buf_put_c(url, name);
    sl_buf_put_char(url, '=');
    sl_url_encode(url, value, "");
}
