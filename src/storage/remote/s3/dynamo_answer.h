/*
 * Answers of DynamoDB's API (JSON 1.0), as far as the commit protocol asks: entries of commits, pages of them, the state of a table,
 * faults. A server may answer anything: kinds, sizes and names are checked, and that an entry is of the table that was asked for. Pure; any
 * thread.
 */
#ifndef SL_REMOTE_S3_DYNAMO_ANSWER_H
#define SL_REMOTE_S3_DYNAMO_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

#define SL_DYNAMO_MAX_NAME 255 /* bytes of a file's name */
#define SL_DYNAMO_MAX_TEMP 512 /* bytes of a temporary file's path within the log's folder */

/* One commit of one table: E(N, T(N), complete). */
struct sl_dynamo_entry {
    struct sl_str table_path; /* as its writer spells the table */
    struct sl_str file_name;  /* in the log's folder */
    struct sl_str temp_path;  /* relative to the log's folder */
    bool complete;
    int64_t expire_time_s; /* 0: none */
};

/* The names of an item's attributes, and the two that a boolean is written as. */
#define SL_DYNAMO_TABLE_PATH "tablePath"
#define SL_DYNAMO_FILE_NAME "fileName"
#define SL_DYNAMO_TEMP_PATH "tempPath"
#define SL_DYNAMO_COMPLETE "complete"
#define SL_DYNAMO_EXPIRE_TIME "expireTime"

/*
 * Answer to GetItem; texts go to the arena. *found is false when there is no such item. An entry of another table or file is SILT_EIO, one
 * that no writer makes SILT_ECORRUPT.
 */
silt_status sl_dynamo_read_item(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                struct sl_str file_name, struct sl_dynamo_entry *out, bool *found, silt_error *err);

/* Answer to a Query with limit 1: its one item, if there is any. */
silt_status sl_dynamo_read_newest(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                  struct sl_dynamo_entry *out, bool *found, silt_error *err);

/*
 * Answer to a Query for names: on_name for each, ascending and behind `after` (empty: from the first). *last is the name behind which the next
 * page begins, absent when there is none.
 */
silt_status sl_dynamo_read_names(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                 struct sl_str after, silt_status (*on_name)(void *ctx, struct sl_str name), void *ctx,
                                 struct sl_str *last, silt_error *err);

enum sl_dynamo_table_state {
    SL_DYNAMO_TABLE_READY,    /* ACTIVE, UPDATING */
    SL_DYNAMO_TABLE_CREATING, /* not yet */
    SL_DYNAMO_TABLE_OTHER     /* DELETING, ARCHIVED, … */
};

/* Answer to DescribeTable. SILT_EUNSUPPORTED for a table with other keys than the protocol's. */
silt_status sl_dynamo_read_table(const silt_env *env, struct sl_str body, enum sl_dynamo_table_state *out,
                                 silt_error *err);

#define SL_DYNAMO_FAULT_SIZE 64

/* The kind of a fault, "ResourceNotFoundException", freed of its namespace and of odd characters; empty if the body tells none. */
void sl_dynamo_read_fault(const silt_env *env, struct sl_str body, char out[SL_DYNAMO_FAULT_SIZE]);

/* Is it a name of one file, and a path that stays below the folder? */
bool sl_dynamo_is_name(struct sl_str name);
bool sl_dynamo_is_inner(struct sl_str path);

#endif
