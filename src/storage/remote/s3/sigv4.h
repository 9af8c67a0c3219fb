/*
 * AWS Signature Version 4 in its header form: the value of "Authorization" for one request. Pure; any thread.
 *
 * What is signed is what is sent: the path as it stands in the URL (S3 encodes a path once), every header given. The caller sends
 * x-amz-date (sl_sigv4_date) among them and, to S3, x-amz-content-sha256; with temporary credentials x-amz-security-token.
 */
#ifndef SL_REMOTE_S3_SIGV4_H
#define SL_REMOTE_S3_SIGV4_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"
#include "storage/remote/http.h"

#define SL_SIGV4_DATE_SIZE 17 /* "20130524T000000Z" and a NUL */
#define SL_SIGV4_UNSIGNED "UNSIGNED-PAYLOAD"
#define SL_SIGV4_MAX_HEADERS 48
#define SL_SIGV4_MAX_PARAMETERS 32

struct sl_sigv4_key {
    const char *access_key;
    const char *secret_key;
    const char *region;
    const char *service; /* "s3", "sts", … */
};

struct sl_sigv4_request {
    const char *method;
    struct sl_str host;                   /* as in the Host header: with a port that is not the scheme's own */
    struct sl_str path;                   /* percent-encoded as sent; empty: "/" */
    struct sl_str query;                  /* percent-encoded as sent, without '?', in any order; may be empty */
    const struct sl_http_header *headers; /* all but Host; their values without line breaks */
    size_t n_headers;
    const char *payload_hash; /* SHA-256 of the body in hex, or SL_SIGV4_UNSIGNED */
    const char *date;         /* as sl_sigv4_date writes it */
};

/* A time in the form of x-amz-date. SILT_EINVALID beyond the years 0 to 9999. */
silt_status sl_sigv4_date(int64_t wall_us, char out[SL_SIGV4_DATE_SIZE], silt_error *err);

/* The host and path of a URL without a query, for a request: "https://h:1/p" → "h:1", "/p". Borrowed. */
void sl_sigv4_split(const char *url, struct sl_str *host, struct sl_str *path);

/* Appends the value of the Authorization header. */
silt_status sl_sigv4_sign(const silt_env *env, const struct sl_sigv4_key *key, const struct sl_sigv4_request *request,
                          struct sl_buf *out, silt_error *err);

/* Appends text with all but the unreserved characters of RFC 3986 as %XX; a path's '/' is kept. */
void sl_sigv4_encode(struct sl_buf *out, struct sl_str text);
void sl_sigv4_encode_path(struct sl_buf *out, struct sl_str path);

#endif
