/*
 * The parts of the Google Cloud Storage store.
 *
 *   gcs_store.c        the instance, its set-up at first use, the vtable
 *   gcs_request.c      a request to the API as an exchange: URL, token, answer, failure
 *   gcs_read.c         ranges of objects, many at once; stat
 *   gcs_stream.c       parts of objects, one after the other
 *   gcs_write.c        objects from memory, under a condition or not; removal
 *   gcs_list.c         listings; removal of trees
 *   gcs_upload.c       local files, in an upload that goes on after a lost answer
 *   gcs_token.c        tokens from their endpoints
 *   gcs_examine.c      the way to a bucket, step by step
 *   gcs_names.c, gcs_answers.c, gcs_credentials.c, gcs_jwt.c   pure parts
 */
#ifndef SL_REMOTE_GCS_INT_H
#define SL_REMOTE_GCS_INT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "storage/remote/credentials.h"
#include "storage/remote/exchange.h"
#include "storage/remote/gcs/gcs.h"
#include "storage/remote/gcs/gcs_answers.h"
#include "storage/remote/gcs/gcs_credentials.h"
#include "storage/remote/gcs/gcs_names.h"

struct sl_gcs {
    const silt_env *env;
    const struct sl_remote_context *context;
    pthread_mutex_t lock; /* of what follows, until it is ready; fixed from then on */
    bool ready;
    struct sl_arena arena;
    const char *base_url; /* without a slash at its end */
    const char *bucket;   /* the only one that the options allow; NULL: any */
    const char *project;  /* that requests are charged to; NULL: the bucket's own */
    struct sl_gcs_credentials credentials;
    struct sl_credential_cache *tokens; /* NULL: requests carry none */
};

/* ---- gcs_store.c ---- */

/* Reads options and credentials if that was not done yet. */
silt_status sl_gcs_set_up(struct sl_gcs *gcs, silt_error *err);
/* Set-up, and the name of a file or folder in a bucket that is allowed. */
silt_status sl_gcs_begin(struct sl_gcs *gcs, const char *path, bool folder, struct sl_gcs_name *name, silt_error *err);

/* ---- gcs_token.c ---- */

/* A source for the cache of credentials; ctx is a struct sl_gcs. */
silt_status sl_gcs_fetch_token(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err);

/* ---- gcs_request.c ---- */

#define SL_GCS_MAX_HEADERS 6

/* A request to the API with its answer. Zeroed, then sl_gcs_request_init; freed by sl_gcs_request_release. */
struct sl_gcs_request {
    struct sl_gcs *gcs;
    struct sl_exchange exchange; /* of sl_gcs_run; unused by sl_gcs_run_many */
    const char *method;
    struct sl_buf url;
    struct sl_http_header headers[SL_GCS_MAX_HEADERS]; /* without those that sl_gcs_run adds */
    size_t n_headers;
    const void *body; /* borrowed */
    size_t body_len;
    size_t max_answer;
    bool no_token; /* the URL is a secret that suffices */
    bool once;     /* one attempt: who asks decides what is to follow */
    struct sl_buf authorization;
    struct sl_credential *token; /* of the last attempt */
    void *user;                  /* of who runs many */
};

void sl_gcs_request_init(struct sl_gcs_request *request, struct sl_gcs *gcs, const char *method);
void sl_gcs_request_release(struct sl_gcs_request *request);
/* The value is borrowed. There is room for SL_GCS_MAX_HEADERS - 2. */
void sl_gcs_request_header(struct sl_gcs_request *request, const char *name, const char *value);

/* Makes an exchange of a request, to be run by sl_exchange_run and its like. */
void sl_gcs_arm(struct sl_gcs_request *request, struct sl_exchange *exchange);
/* Runs one; returns the exchange's status: SILT_OK when there is an answer, of whatever code. */
silt_status sl_gcs_run(struct sl_gcs_request *request, const silt_call *call, silt_error *err);
/* Runs n at once, as sl_exchange_run. `exchanges` is room for n, freed by the caller with sl_exchange_release. */
silt_status sl_gcs_run_many(struct sl_gcs_request *requests, size_t n, const silt_call *call,
                            struct sl_exchange *exchanges, void (*on_done)(void *ctx, struct sl_exchange *exchange),
                            void *ctx, silt_error *err);

/* What an answer that is not as hoped amounts to, with the service's words. `name` without a key: the bucket is what was asked about. */
silt_status sl_gcs_fail(const struct sl_gcs *gcs, const struct sl_exchange *exchange, const struct sl_gcs_name *name,
                        silt_error *err);

/* ---- gcs_read.c ---- */

/* Describes an object; SILT_ENOTFOUND. Views of *out are gone with *doc, which sl_json_free frees. */
silt_status sl_gcs_describe(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *name,
                            struct sl_json_doc **doc, struct sl_gcs_object *out, silt_error *err);

/* ---- gcs_write.c ---- */

/* Appends the resource of an object that is to be: its name, and the checksum that the service shall find, or NULL. */
silt_status sl_gcs_put_resource(struct sl_buf *out, struct sl_str key, const char *crc32c, silt_error *err);
/* Compares the resource that an upload was answered with, with what was sent; SILT_EIO. */
silt_status sl_gcs_check_stored(const struct sl_gcs *gcs, const struct sl_exchange *exchange, const char *crc32c,
                                int64_t size, silt_error *err);
/* As put_if_absent. */
silt_status sl_gcs_create(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *name,
                          struct sl_str bytes, silt_put_outcome *outcome, silt_error *err);

/* ---- slots ---- */

silt_status sl_gcs_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);
silt_status sl_gcs_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                               silt_read_request *requests, size_t n, silt_error *err);
silt_status sl_gcs_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                        silt_error *err);
silt_status sl_gcs_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);
silt_status sl_gcs_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);
silt_status sl_gcs_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err);
silt_status sl_gcs_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err);
silt_status sl_gcs_remove(void *impl, const silt_call *call, const char *path, silt_error *err);
silt_status sl_gcs_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                silt_error *err);
silt_status sl_gcs_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                 size_t *unit, silt_error *err);
silt_status sl_gcs_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                 silt_error *err);
void sl_gcs_upload_abort(void *impl, void *upload);
silt_status sl_gcs_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);

#endif
