/*
 * Requests to the Blob and the Data Lake service: described by their parts, made into URL and headers and authorised anew for each attempt, and what
 * a bad answer means as an error. One thread a request.
 */
#ifndef SL_REMOTE_AZURE_REQUEST_H
#define SL_REMOTE_AZURE_REQUEST_H

#include "storage/remote/azure/azure_access.h"
#include "storage/remote/azure/azure_sign.h"
#include "storage/remote/exchange.h"

#define SL_AZURE_MAX_EXTRA 8

struct sl_azure_request {
    /* Filled by the caller; text is borrowed until the release. */
    const struct sl_remote_context *context;
    struct sl_azure_access *access;
    const char *method;
    bool dfs;
    struct sl_str path;                                        /* in the container, not encoded; empty: the container */
    struct sl_http_header parameters[SL_AZURE_MAX_PARAMETERS]; /* names in lower case, values not encoded */
    size_t n_parameters;
    struct sl_http_header extra[SL_AZURE_MAX_EXTRA]; /* headers */
    size_t n_extra;
    const void *body;
    size_t body_len;
    size_t max_answer;
    void *user;

    /* Of the attempts. */
    struct sl_exchange *exchange;
    struct sl_credential *credential; /* the last one used */
    struct sl_arena arena;
    struct sl_http_header headers[SL_AZURE_MAX_HEADERS];
    size_t n_headers;
    char id[40]; /* x-ms-client-request-id */
};

/* A request to the container or, with a path, to a file in it. */
void sl_azure_request_init(struct sl_azure_request *request, const struct sl_remote_context *context,
                           struct sl_azure_access *access, const char *method, struct sl_str path);
void sl_azure_request_parameter(struct sl_azure_request *request, const char *name, const char *value);
void sl_azure_request_header(struct sl_azure_request *request, const char *name, const char *value);
/* Frees what prepare made; the exchange is its owner's. */
void sl_azure_request_release(struct sl_azure_request *request);

/* Makes an exchange of a request, to be run by sl_exchange_run and its like. */
void sl_azure_arm(struct sl_azure_request *request, struct sl_exchange *exchange);
/*
 * Runs the request as one exchange, which it leaves in *exchange, to be released also after a failure. SILT_OK: there is an answer, whatever
 * its code.
 */
silt_status sl_azure_ask(struct sl_azure_request *request, const silt_call *call, struct sl_exchange *exchange,
                         silt_error *err);
/* The same of many at once; requests[i] belongs to exchanges[i], which are zeroed. on_done finds the request in exchange->user. */
silt_status sl_azure_ask_all(struct sl_azure_request *requests, struct sl_exchange *exchanges, size_t n,
                             const silt_call *call, void (*on_done)(void *ctx, struct sl_exchange *exchange), void *ctx,
                             silt_error *err);

/* The server's own code of an answer that is no good: absent if it gives none. Lives in the request. */
struct sl_str sl_azure_answer_code(struct sl_azure_request *request);
/* Is it one of the words? Separated by spaces. */
bool sl_azure_code_in(struct sl_str code, const char *words);
/* The error that an answer, or the lack of one, is. SILT_OK only for 2xx. */
silt_status sl_azure_judge(struct sl_azure_request *request, silt_error *err);

#endif
