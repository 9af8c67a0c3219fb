/*
 * Commits on S3 by the protocol of Delta Spark's S3DynamoDBLogStore, so that silt and Spark may write one table at the same time.
 *
 * Version N of a table belongs to whoever puts the entry E(N) into a table of DynamoDB first; its bytes are in a temporary file T(N) in the log's
 * folder by then, and are copied to N.json afterwards, by the writer or by whoever finds the entry incomplete. That entry is what
 * commits: one that went in counts, whether its copy was made or not. So whoever lists the log looks at the newest entry first, and finishes it
 * if it has to.
 *
 *   dynamo_options  what options say: table, region, endpoint, spelling
 *   dynamo_request, dynamo_answer    bodies in JSON (pure)
 *   dynamo_ask      one request: headers, signature, what to make of an answer
 *   dynamo_table    a table that is not there is made
 *   dynamo_finish   the copy of a temporary file, and the entry made complete
 *   dynamo_commit   a commit
 *   dynamo_log      what others call: commits, listings, removal of whole tables
 *
 * Where a bucket is not told to use this, s3_log.c looks for the temporary files of those who do. Any thread.
 */
#ifndef SL_REMOTE_S3_DYNAMO_H
#define SL_REMOTE_S3_DYNAMO_H

#include "silt/storage.h"
#include "storage/remote/s3/s3_int.h"

/* Leaves *out NULL when options do not choose DynamoDB for the bucket, whose name, endpoint and identity are set. The store's lock is held. */
silt_status sl_dynamo_configure(struct sl_s3_store *store, const struct sl_s3_bucket *bucket,
                                const struct sl_dynamo **out, silt_error *err);

/*
 * The slots, for a bucket with DynamoDB. log: of the table; name: of the commit's file in it.
 * put: as put_if_absent. When the entry went in but N.json could not be written, it is DONE: the next who lists the log writes it.
 */
silt_status sl_dynamo_put(struct sl_s3_store *store, const silt_call *call, struct sl_s3_log *log, struct sl_str name,
                          struct sl_str bytes, silt_put_outcome *outcome, silt_error *err);
/* Before a listing of the log: finishes the newest commit, if its writer has not. */
silt_status sl_dynamo_prepare_list(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                                   silt_error *err);
/* Before the file of a commit is removed: its entry, else the version could not be given away again. */
silt_status sl_dynamo_forget_one(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                                 struct sl_str name, silt_error *err);
/* Before a table's files are removed: its entries, so that another may be made in its place. */
silt_status sl_dynamo_forget(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                             silt_error *err);

#endif
