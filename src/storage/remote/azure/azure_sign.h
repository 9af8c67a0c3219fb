/*
 * Azure's Shared Key: the value of "Authorization" for one request to the Blob or the Data Lake service. Pure; any thread.
 *
 * What is signed is what is sent: the path as it stands in the URL, the parameters of the query before encoding, every header.
 */
#ifndef SL_REMOTE_AZURE_SIGN_H
#define SL_REMOTE_AZURE_SIGN_H

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"
#include "storage/remote/http.h"

#define SL_AZURE_MAX_PARAMETERS 12
#define SL_AZURE_MAX_HEADERS 24

struct sl_azure_signable {
    const char *method;
    const char *account;
    struct sl_str path;                      /* of the URL, as sent, with what a path-style endpoint puts before it */
    const struct sl_http_header *parameters; /* names in lower case, each once; values not encoded */
    size_t n_parameters;
    const struct sl_http_header *headers; /* all that are sent but Host and Content-Length, x-ms-date among them */
    size_t n_headers;
    size_t body_len;
};

/* Appends the text that is signed (version 2015-02-21 and later: an empty body has no length in it). */
silt_status sl_azure_text_to_sign(const struct sl_azure_signable *signable, struct sl_buf *out, silt_error *err);
/* Appends the header's value. key: decoded from base64. */
silt_status sl_azure_sign(const silt_env *env, struct sl_str key, const struct sl_azure_signable *signable,
                          struct sl_buf *out, silt_error *err);

#endif
