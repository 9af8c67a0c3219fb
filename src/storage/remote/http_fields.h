/*
 * What the header fields of an HTTP answer say. Pure; the bytes are a server's and may be anything.
 */
#ifndef SL_REMOTE_HTTP_FIELDS_H
#define SL_REMOTE_HTTP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Value of the first field of that name (any case) in *block, "name: value\r\n" lines, white space trimmed; *block is then what
 * follows. Absent view if there is none. A line that begins with white space belongs to nothing. Borrowed from the block.
 */
struct sl_str sl_http_field_next(struct sl_str *block, const char *name);

/* A date in any of HTTP's three forms (RFC 9110, 5.6.7), in seconds since 1970: false if it is anything else. Years 1970–9999. */
bool sl_http_date_parse(struct sl_str text, int64_t *seconds);

/*
 * Content-Range of bytes (RFC 9110, 14.4), "bytes FIRST-LAST/SIZE": false if it is anything else or does not hold together.
 * *size is -1 for "*". "bytes *" "/SIZE", of a range that cannot be had, gives *first and *last -1.
 */
bool sl_http_content_range_parse(struct sl_str text, int64_t *first, int64_t *last, int64_t *size);

/* Retry-After, seconds or a date: the time to wait from `now_us` (since 1970) on, at least 0; false if it is anything else. */
bool sl_http_retry_after_parse(struct sl_str text, int64_t now_us, int64_t *wait_us);

/* What says where the body of an answer ends. */
enum sl_http_framing {
    SL_HTTP_FRAMING_NONE = 0,   /* the end of the connection, which is also that of a cut answer */
    SL_HTTP_FRAMING_LENGTH = 1, /* Content-Length */
    SL_HTTP_FRAMING_CHUNKS = 2, /* Transfer-Encoding: chunked */
    SL_HTTP_FRAMING_BROKEN = 3  /* lengths that differ, or are none */
};

/* *length is that of SL_HTTP_FRAMING_LENGTH, else -1. */
enum sl_http_framing sl_http_framing_of(struct sl_str block, int64_t *length);

#endif
