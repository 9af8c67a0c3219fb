/*
 * The S3 store's parts:
 *
 *   s3_store     the store, its buckets, paths, slots
 *   s3_bucket    what options say about a bucket: endpoint, style, region, encryption, credentials (pure but for the files of profiles)
 *   s3_ask       one request: URL, headers, signature; what to make of an answer; errors
 *   s3_parse     answers in XML (pure)
 *   s3_read, s3_stream, s3_list, s3_put, s3_upload, s3_adopt, s3_tree, s3_probe    the slots
 *   s3_examine   the way to a bucket, step by step
 *   s3_log       slots again: what is in a table's log may go by DynamoDB (dynamo.h), or others may do so
 *
 * A bucket's settings are made when it is first used and live as long as the store. Of them only the region and the proof change, each under the
 * store's lock.
 */
#ifndef SL_REMOTE_S3_S3_INT_H
#define SL_REMOTE_S3_S3_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "silt/storage.h"
#include "storage/remote/context.h"
#include "storage/remote/credentials.h"
#include "storage/remote/digest.h"
#include "storage/remote/exchange.h"
#include "storage/remote/s3/aws_credentials.h"
#include "storage/remote/s3/aws_error.h"
#include "storage/remote/s3/sigv4.h"

#define SL_S3_MAX_KEY 1024 /* bytes, by the service's rule */
#define SL_S3_MAX_EXTRA 6  /* headers that a slot adds to a request */
#define SL_S3_PROBE_NAME ".silt-probe-"
#define SL_S3_LOG_FOLDER "_delta_log"
#define SL_S3_TEMP_FOLDER ".tmp" /* in it: temporary files of those who commit by DynamoDB */
#define SL_S3_PART_SIZE ((size_t)8 * 1024 * 1024)

enum sl_s3_condition {
    SL_S3_CONDITION_PROVE = 0, /* conditional creates are proven before the first one */
    SL_S3_CONDITION_TRUST = 1, /* the server is known for them, or was proven, or the user says so */
    SL_S3_CONDITION_REFUSE = 2 /* the user says that the server has none */
};

struct sl_dynamo;

struct sl_s3_bucket {
    struct sl_s3_bucket *next;
    const char *name;
    /* Where. */
    bool tls;
    bool aws;                 /* AWS's own hosts: the host follows from the region */
    bool endpoint_of_profile; /* not of an option or a variable */
    bool path_style;          /* /bucket/key instead of a host for each bucket */
    const char *host;         /* with a port that is not the scheme's own; NULL: AWS's of the region */
    const char *base;         /* path before the bucket's, "" or "/x" */
    /* Who. */
    bool anonymous;
    bool unsigned_payload;
    struct sl_aws_chain chain;
    struct sl_credential_cache *credentials; /* NULL if anonymous */
    /* Headers: of all requests; of those that make an object; of those that touch an object's content. */
    struct sl_http_header every[1];
    struct sl_http_header creating[4];
    struct sl_http_header content[3];
    size_t n_every, n_creating, n_content;
    /* How versions are owned. */
    const struct sl_dynamo *dynamo; /* NULL: by conditional creates */
    bool dynamo_is_past;            /* the user says that nobody commits by DynamoDB any more */
    /* Under the store's lock: */
    const char *region; /* NULL: not known yet; the text lives in the store's arena */
    enum sl_s3_condition condition;
};

/* A table's log that was used. Never removed, so the pointer may be kept. */
struct sl_s3_log {
    struct sl_s3_log *next;
    struct sl_s3_bucket *bucket;
    struct sl_str key; /* of the folder, without a slash behind: "t/_delta_log" */
    /* Under the store's lock: nothing speaks against commits, as far as that is looked at once a session. */
    bool checked;
};

struct sl_s3_store {
    const struct sl_remote_context *context;
    const silt_env *env;
    pthread_mutex_t lock;
    pthread_mutex_t probe_lock; /* held while a bucket is proven: one proof at a time */
    struct sl_arena arena;      /* under lock; texts of buckets */
    struct sl_s3_bucket *buckets;
    struct sl_s3_log *logs; /* under lock */
};

/* A place: "s3://bucket/key". The key is as it is, not encoded; empty for the bucket itself. */
struct sl_s3_place {
    struct sl_s3_bucket *bucket;
    struct sl_str key; /* borrowed from the path */
};

/* ---- s3_store ---- */

/* Finds the bucket's settings or makes them. SILT_EINVALID for a path that is none. */
silt_status sl_s3_locate(struct sl_s3_store *store, const char *path, struct sl_s3_place *out, silt_error *err);

/* ---- s3_bucket ---- */

/* Fills a bucket whose name is set; texts go to the arena. The store's lock is held. */
silt_status sl_s3_bucket_configure(struct sl_s3_store *store, struct sl_s3_bucket *bucket, silt_error *err);

/* ---- s3_ask ---- */

/* One request. Zero it, fill the first part, run it, read ask.exchange, release it. */
struct sl_s3_ask {
    struct sl_s3_store *store;
    struct sl_s3_bucket *bucket;
    const char *method;
    struct sl_str key;
    const char *query; /* encoded; NULL: none */
    struct sl_http_header extra[SL_S3_MAX_EXTRA];
    size_t n_extra;
    const void *body; /* borrowed */
    size_t body_len;
    size_t max_answer;
    bool creates; /* headers of encryption */
    bool content; /* headers of a customer's key */

    /* Made by the attempts. */
    struct sl_buf url;
    struct sl_buf authorization;
    struct sl_http_header headers[24];
    size_t n_headers;
    char date[SL_SIGV4_DATE_SIZE];
    char hash[2 * SL_SHA256_SIZE + 1]; /* of the body, made once */
    char region[40];                   /* that the last attempt was for */
    struct sl_credential *used;        /* by the last attempt */
    bool moved;                        /* the last answer told another region: credentials are not to blame */
    struct sl_aws_error said;          /* by the last answer, if it was an error */
};

/* Makes both ready to be run, with others of any kind or by the functions below, which do it themselves. */
void sl_s3_arm(struct sl_s3_store *store, struct sl_s3_ask *ask, struct sl_exchange *exchange);
/* Fills exchanges[i] for asks[i] and runs them all; each is to be released, also after a failure. */
silt_status sl_s3_run(struct sl_s3_store *store, const silt_call *call, struct sl_s3_ask *asks,
                      struct sl_exchange *exchanges, size_t n, silt_error *err);
/* The same for one, which must be answered with `code`: everything else is a failure, as sl_s3_fail tells it. */
silt_status sl_s3_run_for(struct sl_s3_store *store, const silt_call *call, struct sl_s3_ask *ask,
                          struct sl_exchange *exchange, int code, silt_error *err);
void sl_s3_release(struct sl_s3_ask *ask, struct sl_exchange *exchange); /* safe on zeroed ones */

/* Appends the URL of the bucket, as requests to it begin. */
silt_status sl_s3_put_url(struct sl_s3_store *store, struct sl_s3_bucket *bucket, struct sl_buf *out, silt_error *err);

/* What went wrong, of a completed exchange that is no success: status and one line. */
silt_status sl_s3_fail(const struct sl_s3_ask *ask, const struct sl_exchange *exchange, silt_error *err);
/* Is this a completed exchange with this code? */
static inline bool sl_s3_answered(const struct sl_exchange *exchange, int code)
{
    return exchange->status == SILT_OK && exchange->request.code == code;
}

/* ---- s3_parse ---- */

struct sl_s3_object {
    struct sl_str key; /* in the arena, decoded */
    int64_t size_bytes;
    int64_t modified_ms;
};

struct sl_s3_page {
    struct sl_arena *arena;
    struct sl_vec objects; /* of struct sl_s3_object */
    size_t n_prefixes;     /* of folders that were told */
    bool has_temp;         /* one of them is SL_S3_TEMP_FOLDER */
    bool truncated;
    struct sl_str token; /* of the next page; absent if there is none */
};

/* SILT_EIO for an answer that does not hold together. */
silt_status sl_s3_parse_page(const silt_env *env, struct sl_str body, struct sl_s3_page *page, silt_error *err);
/* Text of the one element of that path, "InitiateMultipartUploadResult/UploadId"; absent if there is none. */
silt_status sl_s3_parse_text(struct sl_arena *arena, struct sl_str body, const char *path, struct sl_str *out,
                             silt_error *err);
/* The first key that could not be deleted, and why; absent if all were. */
silt_status sl_s3_parse_deleted(struct sl_arena *arena, struct sl_str body, struct sl_str *key, struct sl_str *code,
                                silt_error *err);

/* ---- s3_list ---- */

/* What the listing of a log tells of its folder of temporary files. */
enum sl_s3_temp {
    SL_S3_TEMP_UNKNOWN, /* it began behind it */
    SL_S3_TEMP_NONE,
    SL_S3_TEMP_THERE
};

struct sl_s3_listing {
    struct sl_s3_bucket *bucket;
    struct sl_str prefix;      /* of all keys; ends in '/' but for the whole bucket */
    struct sl_str start_after; /* exclusive; empty: from the first on */
    bool recursive;
    uint32_t max_keys; /* of a page; 0: the server's choice */
    bool *any;         /* set when there was something, be it a folder */
    bool *has_temp;    /* set when there was a folder of that name; NULL: not wanted */
};

/* Every object in ascending order, until on_object returns false. */
silt_status sl_s3_list_objects(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_listing *listing,
                               bool (*on_object)(void *ctx, const struct sl_s3_object *object), void *ctx,
                               silt_error *err);
/* Appends a key after which a listing begins that must not miss `first`: the greatest that is cheap to name. Pure. */
void sl_s3_put_before(struct sl_buf *out, struct sl_str first);

/* ---- slots ---- */

silt_status sl_s3_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                            void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);
silt_status sl_s3_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                              silt_read_request *requests, size_t n, silt_error *err);
/* temp: NULL, or of a log's folder. Where nothing is wanted before version 0, the listing begins at the folder's beginning to learn it. */
silt_status sl_s3_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                       enum sl_s3_temp *temp, bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx,
                       silt_error *err);
silt_status sl_s3_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err);
silt_status sl_s3_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                      silt_error *err);
silt_status sl_s3_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                       silt_error *err);
silt_status sl_s3_remove(void *impl, const silt_call *call, const char *path, silt_error *err);
silt_status sl_s3_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);
silt_status sl_s3_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                               silt_error *err);
silt_status sl_s3_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                size_t *unit, silt_error *err);
silt_status sl_s3_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                silt_error *err);
void sl_s3_upload_abort(void *impl, void *upload);
silt_status sl_s3_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);

/* ---- s3_log ---- */

silt_status sl_s3_log_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                           bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);
silt_status sl_s3_log_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                    size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_s3_log_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                          silt_error *err);
silt_status sl_s3_log_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);
silt_status sl_s3_log_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                    silt_error *err);
silt_status sl_s3_log_remove(void *impl, const silt_call *call, const char *path, silt_error *err);
silt_status sl_s3_log_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);

/* The version of a commit's file, -1 for any other name. Pure. */
int64_t sl_s3_commit_version(struct sl_str name);
bool sl_s3_log_is_checked(struct sl_s3_store *store, const struct sl_s3_log *log);
void sl_s3_log_set_checked(struct sl_s3_store *store, struct sl_s3_log *log);

/* ---- s3_upload, for others ---- */

/* As the slot upload_begin, of a file whose size is known, or -1. */
silt_status sl_s3_upload_new(struct sl_s3_store *store, const char *path, int64_t size, void **out, size_t *unit,
                             silt_error *err);
/* Where its file goes. Borrowed from the upload. */
struct sl_s3_place sl_s3_upload_place(const void *upload);

/* ---- s3_probe ---- */

/* Proves conditional creates before the first one in a bucket, if that is needed. key: of the file that is to be created. */
silt_status sl_s3_prove(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                        silt_error *err);

/* ---- s3_put, for others ---- */

/* What became of a conditional create that was run: an outcome, or a failure after which nothing was created. */
silt_status sl_s3_judge_create(const struct sl_s3_ask *ask, const struct sl_exchange *exchange,
                               silt_put_outcome *outcome, silt_error *err);
/* Content-MD5 of bytes in base64. */
struct sl_s3_md5 {
    char text[32];
};
silt_status sl_s3_md5_text(const silt_env *env, const void *bytes, size_t n, struct sl_s3_md5 *out, silt_error *err);

#endif
