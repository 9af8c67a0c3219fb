/*
 * Bodies of requests to DynamoDB (JSON 1.0), as far as the commit protocol asks. Failures stick to the buffer. Pure; any thread.
 */
#ifndef SL_REMOTE_S3_DYNAMO_REQUEST_H
#define SL_REMOTE_S3_DYNAMO_REQUEST_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "storage/remote/s3/dynamo_answer.h"

enum sl_dynamo_condition {
    SL_DYNAMO_IF_ABSENT, /* nobody has put an entry for the file */
    SL_DYNAMO_IF_SAME    /* the entry that is there is of the same temporary file */
};

/* PutItem of an entry. */
void sl_dynamo_write_put(struct sl_buf *out, const char *table, const struct sl_dynamo_entry *entry,
                         enum sl_dynamo_condition condition);
/* GetItem, consistent; DeleteItem. */
void sl_dynamo_write_get(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str file_name);
void sl_dynamo_write_delete(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str file_name);
/* Query, consistent: the newest entry of a table. */
void sl_dynamo_write_newest(struct sl_buf *out, const char *table, struct sl_str table_path);
/* Query, consistent: the names of a table's entries, ascending, behind `after` (empty: from the first). */
void sl_dynamo_write_names(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str after);

/* CreateTable; units of 0: on demand. */
void sl_dynamo_write_create(struct sl_buf *out, const char *table, int64_t read_units, int64_t write_units);
void sl_dynamo_write_describe(struct sl_buf *out, const char *table);

#endif
