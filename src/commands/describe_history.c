/*
 * DESCRIBE HISTORY: the log's commits as rows with the columns of Delta Spark.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "commands/describe.h"
#include "commands/row_set.h"

static const struct sl_row_column columns[] = {
    {"version", "bigint"},
    {"timestamp", "timestamp"},
    {"userId", "string"},
    {"userName", "string"},
    {"operation", "string"},
    {"operationParameters", "map<string,string>"},
    {"job", "struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>"},
    {"notebook", "struct<notebookId:string>"},
    {"clusterId", "string"},
    {"readVersion", "bigint"},
    {"isolationLevel", "string"},
    {"isBlindAppend", "boolean"},
    {"operationMetrics", "map<string,string>"},
    {"userMetadata", "string"},
    {"engineInfo", "string"},
};

static void put_i64_or_null(struct sl_row_set *rows, int64_t value)
{
    if (value < 0) {
        sl_row_null(rows);
    } else {
        sl_row_i64(rows, value);
    }
}

static bool add_entry(void *ctx, const silt_history_entry *entry)
{
    struct sl_row_set *rows = ctx;
    int64_t us = 0;

    sl_row_i64(rows, entry->version);
    if (sl_mul_i64(entry->timestamp_ms, 1000, &us)) {
        sl_row_i64(rows, us);
    } else {
        sl_row_null(rows); /* commitInfo is free-form: a time that does not fit is not shown */
    }
    sl_row_c(rows, entry->user_id);
    sl_row_c(rows, entry->user_name);
    sl_row_c(rows, entry->operation);
    sl_row_json(rows, entry->operation_parameters);
    sl_row_json(rows, entry->job);
    sl_row_json(rows, entry->notebook);
    sl_row_c(rows, entry->cluster_id);
    put_i64_or_null(rows, entry->read_version);
    sl_row_c(rows, entry->isolation_level);
    put_i64_or_null(rows, entry->is_blind_append);
    sl_row_json(rows, entry->operation_metrics);
    sl_row_c(rows, entry->user_metadata);
    sl_row_c(rows, entry->engine_info);
    sl_row_end(rows);
    return rows->status == SILT_OK;
}

silt_status sl_describe_history(silt_table *table, const silt_call *call, int64_t limit, struct ArrowArrayStream *out,
                                silt_error *err)
{
    struct sl_row_set rows;
    silt_status status = sl_row_set_init(&rows, silt_engine_env(silt_table_engine(table)), columns,
                                         sizeof(columns) / sizeof(columns[0]), err);
    if (status != SILT_OK) {
        return status;
    }
    status = silt_table_history(table, call, limit, add_entry, &rows, err);
    if (status != SILT_OK) {
        sl_row_set_release(&rows);
        return status;
    }
    return sl_row_set_finish(&rows, out);
}
