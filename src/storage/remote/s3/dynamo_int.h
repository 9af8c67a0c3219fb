/* The parts of DynamoDB's protocol, see dynamo.h, whose opening comment is the map. */
#ifndef SL_REMOTE_S3_DYNAMO_INT_H
#define SL_REMOTE_S3_DYNAMO_INT_H

#include "storage/remote/s3/dynamo.h"
#include "storage/remote/s3/dynamo_answer.h"
#include "storage/remote/s3/dynamo_request.h"

#define SL_DYNAMO_MAX_COMMIT ((size_t)1 << 32) /* bytes of a commit file that is copied */

/* Of one bucket; immutable, in the store's arena. */
struct sl_dynamo {
    const struct sl_remote_context *context;
    const char *url;    /* "https://dynamodb.eu-west-1.amazonaws.com/" */
    const char *region; /* that requests are signed for */
    const char *table;
    const char *scheme;                      /* of the tables' paths in keys, "s3a" */
    int64_t read_units;                      /* of a table that is made; 0: on demand */
    int64_t write_units;                     /* likewise */
    int64_t keep_s;                          /* how long a complete entry stays */
    bool plain_copy;                         /* the server is said to have no conditional creates */
    struct sl_credential_cache *credentials; /* the bucket's */
};

/* ---- dynamo_ask ---- */

/* One request. Armed, it is run with others or alone; released afterwards. */
struct sl_dynamo_ask {
    const struct sl_dynamo *dynamo;
    struct sl_buf body;
    char target[64]; /* "DynamoDB_20120810.PutItem" */
    struct sl_buf authorization;
    struct sl_http_header headers[6];
    size_t n_headers;
    char date[SL_SIGV4_DATE_SIZE];
    char hash[2 * SL_SHA256_SIZE + 1];
    struct sl_credential *used;      /* by the last attempt */
    char said[SL_DYNAMO_FAULT_SIZE]; /* by the last answer, if it was a fault */
};

/* Makes both ready; then write the body. */
void sl_dynamo_arm(const struct sl_dynamo *dynamo, const char *operation, struct sl_dynamo_ask *ask,
                   struct sl_exchange *exchange);
/* Runs one that is armed; everything but 200 is a failure, as sl_dynamo_fail tells it. */
silt_status sl_dynamo_run(const silt_call *call, struct sl_dynamo_ask *ask, struct sl_exchange *exchange,
                          silt_error *err);
/* What went wrong, of a completed exchange that is no success. */
silt_status sl_dynamo_fail(const struct sl_dynamo_ask *ask, const struct sl_exchange *exchange, silt_error *err);
/* Is this a completed exchange with this fault? */
bool sl_dynamo_said(const struct sl_dynamo_ask *ask, const struct sl_exchange *exchange, const char *fault);
void sl_dynamo_release(struct sl_dynamo_ask *ask, struct sl_exchange *exchange); /* safe on zeroed ones */

#define SL_DYNAMO_NO_TABLE "ResourceNotFoundException"
#define SL_DYNAMO_CONDITION_FAILED "ConditionalCheckFailedException"

/* ---- dynamo_table ---- */

/* Makes the table unless it is there, and waits until it can be used. */
silt_status sl_dynamo_make_table(const struct sl_dynamo *dynamo, const silt_call *call, silt_error *err);

/* ---- dynamo_finish ---- */

/* The key of a table: "s3a://bucket/path", as Hadoop writes it. Absent when out of memory. */
struct sl_str sl_dynamo_table_path(struct sl_arena *arena, const char *scheme, const struct sl_s3_log *log);

/* A file in the log's folder. Its key is absent when out of memory. */
struct sl_s3_place sl_dynamo_place(struct sl_arena *arena, const struct sl_s3_log *log, struct sl_str name);

/* Reads an entry; a table that is not there has none. Texts go to the arena. */
silt_status sl_dynamo_get(const struct sl_dynamo *dynamo, const silt_call *call, struct sl_arena *arena,
                          const struct sl_dynamo_entry *key, struct sl_dynamo_entry *out, bool *found, silt_error *err);

/* Creates a file of the log whose entry is in. DONE also when the same bytes are there already; EXISTS: others are. */
silt_status sl_dynamo_copy(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                           struct sl_str bytes, silt_put_outcome *outcome, silt_error *err);

/* Marks an entry as complete. One that is not there any more, or of another temporary file, is left alone. */
silt_status sl_dynamo_complete(struct sl_s3_store *store, const silt_call *call, const struct sl_dynamo *dynamo,
                               const struct sl_dynamo_entry *entry, silt_error *err);

/* Finishes an entry: N.json is there afterwards, and the entry complete. */
silt_status sl_dynamo_finish(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                             const struct sl_dynamo_entry *entry, silt_error *err);

#endif
