/*
 * What the JSON API answers: objects, pages of listings, errors, how far an upload has come. Pure; the bytes are a server's and may be
 * anything. Any thread.
 */
#ifndef SL_REMOTE_GCS_ANSWERS_H
#define SL_REMOTE_GCS_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "silt/env.h"
#include "silt/status.h"

/* What a resource of the API says of an object; views are borrowed from the document. */
struct sl_gcs_object {
    struct sl_str name; /* absent if it is not told */
    int64_t size_bytes;
    int64_t updated_ms;
    int64_t generation;   /* 0: not told */
    struct sl_str crc32c; /* base64; absent: not told */
};

/* SILT_EIO when size or time, where there is one, are none. */
silt_status sl_gcs_read_object(const sl_json *value, struct sl_gcs_object *out, silt_error *err);

/* Parses an answer that must be an object of JSON; SILT_EIO. *out is freed by sl_json_free. */
silt_status sl_gcs_parse(const silt_env *env, struct sl_str body, struct sl_json_doc **out, silt_error *err);

/* The page of a listing, entry by entry. */
struct sl_gcs_page {
    struct sl_json_iter items;
    size_t n_prefixes;
    struct sl_str next_token; /* absent on the last page */
};
silt_status sl_gcs_read_page(const sl_json *root, struct sl_gcs_page *out, silt_error *err);
/* False at the end, with SILT_OK in *status, or after a failure. */
bool sl_gcs_next_object(struct sl_gcs_page *page, struct sl_gcs_object *out, silt_status *status, silt_error *err);

/* Appends what an error's body says, "notFound: No such object: b/k", in short; nothing if it says nothing. */
void sl_gcs_put_reason(const silt_env *env, struct sl_buf *out, struct sl_str body);

/*
 * "bytes=0-N" of a 308: how many bytes the service has; an absent header: none. False if it is anything else or beyond `sent`.
 */
bool sl_gcs_read_progress(struct sl_str range, int64_t sent, int64_t *stored);

#endif
