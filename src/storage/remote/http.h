/*
 * HTTP on libcurl's multi interface: one pool of connections for all remote stores of an engine.
 *
 * One perform is one attempt: requests go out together, answers come in any order on the caller's thread, nothing is repeated
 * and no redirect is followed (exchange.h repeats, the stores follow what their protocol knows). Any thread; a perform
 * borrows an idle multi handle of the pool, with its connections, and gives it back.
 *
 * Nothing is repeated holds where libcurl would repeat of its own accord, too: when a connection that was kept open breaks before a
 * byte of the answer came, the request may have been obeyed. Only GET and HEAD are then sent again; any other request fails, not
 * `unsent`.
 *
 * An answer is whole or is none. Its body must be as long as its Content-Length says; two lengths that differ, and a good answer to GET
 * that has neither a length nor chunks nor HTTP/2's frames, so that nobody could tell whether it was cut, are SILT_EIO. Nothing is
 * decompressed. One gap is libcurl's: a stream of HTTP/2 without a length that the server resets with NO_ERROR counts as whole. Who
 * reads bytes of a file compares with the length that was asked for.
 *
 * A connection that was kept is looked at before a request goes out on it, and is not used if the server has ended it or sent something.
 *
 * TLS is verified with the system's trust store, or with ca_file. Proxies come from the environment (https_proxy, no_proxy,
 * …). "Expect: 100-continue" is never sent. HTTP/2 where the server offers it. Only http and https.
 */
#ifndef SL_REMOTE_HTTP_H
#define SL_REMOTE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_http; /* the pool */

/* Zero means the default. Text is copied. */
struct sl_http_options {
    int64_t connect_timeout_us; /* 10 s: until a connection, TLS included, is there */
    int64_t idle_timeout_us;    /* 30 s without a byte in either direction */
    uint32_t max_connections;   /* 64 at once, of one perform; other requests wait for their turn */
    const char *ca_file;        /* certificates in PEM instead of the system's */
    const char *const *resolve; /* "HOST:PORT:ADDRESS", as curl's --resolve; NULL-terminated; NULL for none */
};

/* Text is borrowed until the request is completed. */
struct sl_http_header {
    const char *name; /* without ':' */
    const char *value;
};

enum sl_http_auth {
    SL_HTTP_AUTH_NONE = 0,
    SL_HTTP_AUTH_NEGOTIATE = 1 /* SPNEGO with the process's Kerberos tickets */
};

struct sl_http_request {
    /* Filled by the caller, borrowed until the request is completed. */
    const char *method; /* "GET", "HEAD", "DELETE": without a body; "PUT", "POST", "PATCH", …: with one */
    const char *url;    /* absolute, percent-encoded; its path is sent as it is ("/./" is not folded) */
    const struct sl_http_header *headers;
    size_t n_headers;
    const void *body; /* of PUT, POST and the like, sent with its Content-Length, which is 0 for an empty one */
    size_t body_len;
    size_t max_answer; /* longest body taken of an answer in bytes, more is SILT_EIO and `final`; 0: 64 MiB */
    /*
     * Where the body of a 2xx answer goes as it comes, instead of `answer`; NULL: into `answer`. Bodies of other codes always go into
     * `answer`. code and headers_raw are there already; whether the body will be whole is not known before the end. A status other than SILT_OK
     * ends the request with it; another attempt is made where its kind is worth one, unless the sink sets `final`.
     */
    silt_status (*sink)(void *user, const void *bytes, size_t n, silt_error *err);
    enum sl_http_auth auth;
    void *user;

    /* Filled when the request is completed. */
    silt_status
        status;  /* SILT_OK: a whole answer came, whatever its code; SILT_EIO and others: none did, or not all of it */
    bool silent; /* of a failure: the server said nothing for as long as it may, or took no connection */
    bool unreached; /* of a failure: the host's name is not known, or it refused the connection */
    bool
        unsent; /* of a failure: the server has certainly not got the whole request (no connection, no TLS, part of the body) */
    bool
        final; /* of a failure: another attempt would end in the same way (a certificate that is not trusted, no TLS at all) */
    int code;                  /* of the answer; 0 with any failure */
    struct sl_buf headers_raw; /* of the answer: "name: value\r\n" lines of the last header block */
    struct sl_buf answer;      /* the body, see sink; empty with any failure */
    silt_error error;          /* of a failure; says which host, never a query string */

    struct sl_http_request *next; /* the pool's, while the request is performed */
};

/*
 * The pool. SILT_EIO when libcurl cannot be set up, SILT_EINVALID for a ca_file that cannot be read. sl_http_free: no perform may
 * be running; NULL is legal.
 */
silt_status sl_http_new(const silt_env *env, const struct sl_http_options *options, struct sl_http **out,
                        silt_error *err);
void sl_http_free(struct sl_http *http);

/*
 * Performs all requests at once and returns when each has been completed: on_done is called once for each on the caller's thread, as
 * soon as it is (NULL for none). on_done may release the request and must not perform. The status is for the whole (SILT_ECANCELLED,
 * SILT_EDEADLINE, SILT_ENOMEM); requests that had no answer by then are completed with it. A cancellation is noticed within 100 ms.
 */
silt_status sl_http_perform(struct sl_http *http, const silt_call *call, struct sl_http_request *requests, size_t n,
                            void (*on_done)(void *ctx, struct sl_http_request *request), void *ctx, silt_error *err);

/* Frees what the answer holds and zeroes the filled part; the request can be performed again. Safe on a zeroed request. */
void sl_http_request_release(struct sl_http_request *request);

/* Value of the answer's first header of that name (any case), white space trimmed; absent view if there is none. Borrowed. */
struct sl_str sl_http_header(const struct sl_http_request *request, const char *name);
/* A header's whole value as a number: false if it is absent or anything else. */
bool sl_http_header_i64(const struct sl_http_request *request, const char *name, int64_t *out);
/* More of what headers hold is in http_fields.h. */

#endif
