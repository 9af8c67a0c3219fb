/* Requests to DynamoDB; see dynamo_request.h. Pure; any thread. */
#include "storage/remote/s3/dynamo_request.h"

#include <inttypes.h>
#include <stdio.h>

#include "json/writer.h"

static void begin(struct sl_json_writer *w, struct sl_buf *out, const char *table)
{
    sl_json_writer_init(w, out);
    sl_json_begin_object(w);
    sl_json_key_c(w, "TableName");
    sl_json_put_c(w, table);
}

static void put_member(struct sl_json_writer *w, const char *name, const char *value)
{
    sl_json_key_c(w, name);
    sl_json_put_c(w, value);
}

static void put_flag(struct sl_json_writer *w, const char *name, bool value)
{
    sl_json_key_c(w, name);
    sl_json_put_bool(w, value);
}

/* "name": {"S": text} */
static void put_text(struct sl_json_writer *w, const char *name, struct sl_str text)
{
    sl_json_key_c(w, name);
    sl_json_begin_object(w);
    sl_json_key_c(w, "S");
    sl_json_put_str(w, text);
    sl_json_end_object(w);
}

/* Numbers are written as text. */
static void put_number(struct sl_json_writer *w, const char *name, int64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof(text), "%" PRId64, number);
    sl_json_key_c(w, name);
    sl_json_begin_object(w);
    put_member(w, "N", text);
    sl_json_end_object(w);
}

static void put_key(struct sl_json_writer *w, const char *name, struct sl_str table_path, struct sl_str file_name)
{
    sl_json_key_c(w, name);
    sl_json_begin_object(w);
    put_text(w, SL_DYNAMO_TABLE_PATH, table_path);
    put_text(w, SL_DYNAMO_FILE_NAME, file_name);
    sl_json_end_object(w);
}

void sl_dynamo_write_put(struct sl_buf *out, const char *table, const struct sl_dynamo_entry *entry,
                         enum sl_dynamo_condition condition)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    sl_json_key_c(&w, "Item");
    sl_json_begin_object(&w);
    put_text(&w, SL_DYNAMO_TABLE_PATH, entry->table_path);
    put_text(&w, SL_DYNAMO_FILE_NAME, entry->file_name);
    put_text(&w, SL_DYNAMO_TEMP_PATH, entry->temp_path);
    put_text(&w, SL_DYNAMO_COMPLETE, entry->complete ? SL_STR("true") : SL_STR("false"));
    if (entry->expire_time_s != 0) {
        put_number(&w, SL_DYNAMO_EXPIRE_TIME, entry->expire_time_s);
    }
    sl_json_end_object(&w);
    if (condition == SL_DYNAMO_IF_ABSENT) {
        put_member(&w, "ConditionExpression", "attribute_not_exists(" SL_DYNAMO_FILE_NAME ")");
    } else {
        put_member(&w, "ConditionExpression", SL_DYNAMO_TEMP_PATH " = :t");
        sl_json_key_c(&w, "ExpressionAttributeValues");
        sl_json_begin_object(&w);
        put_text(&w, ":t", entry->temp_path);
        sl_json_end_object(&w);
    }
    sl_json_end_object(&w);
}

void sl_dynamo_write_get(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str file_name)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    put_key(&w, "Key", table_path, file_name);
    put_flag(&w, "ConsistentRead", true);
    sl_json_end_object(&w);
}

void sl_dynamo_write_delete(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str file_name)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    put_key(&w, "Key", table_path, file_name);
    sl_json_end_object(&w);
}

static void put_query(struct sl_json_writer *w, struct sl_str table_path)
{
    put_flag(w, "ConsistentRead", true);
    put_member(w, "KeyConditionExpression", SL_DYNAMO_TABLE_PATH " = :p");
    sl_json_key_c(w, "ExpressionAttributeValues");
    sl_json_begin_object(w);
    put_text(w, ":p", table_path);
    sl_json_end_object(w);
}

void sl_dynamo_write_newest(struct sl_buf *out, const char *table, struct sl_str table_path)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    put_query(&w, table_path);
    put_flag(&w, "ScanIndexForward", false);
    sl_json_key_c(&w, "Limit");
    sl_json_put_i64(&w, 1);
    sl_json_end_object(&w);
}

void sl_dynamo_write_names(struct sl_buf *out, const char *table, struct sl_str table_path, struct sl_str after)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    put_query(&w, table_path);
    put_member(&w, "ProjectionExpression", SL_DYNAMO_TABLE_PATH ", " SL_DYNAMO_FILE_NAME);
    if (after.len > 0) {
        put_key(&w, "ExclusiveStartKey", table_path, after);
    }
    sl_json_end_object(&w);
}

static void put_pair(struct sl_json_writer *w, const char *kind, const char *name, const char *value)
{
    sl_json_begin_object(w);
    put_member(w, "AttributeName", name);
    put_member(w, kind, value);
    sl_json_end_object(w);
}

void sl_dynamo_write_create(struct sl_buf *out, const char *table, int64_t read_units, int64_t write_units)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    sl_json_key_c(&w, "AttributeDefinitions");
    sl_json_begin_array(&w);
    put_pair(&w, "AttributeType", SL_DYNAMO_TABLE_PATH, "S");
    put_pair(&w, "AttributeType", SL_DYNAMO_FILE_NAME, "S");
    sl_json_end_array(&w);
    sl_json_key_c(&w, "KeySchema");
    sl_json_begin_array(&w);
    put_pair(&w, "KeyType", SL_DYNAMO_TABLE_PATH, "HASH");
    put_pair(&w, "KeyType", SL_DYNAMO_FILE_NAME, "RANGE");
    sl_json_end_array(&w);
    if (read_units == 0) {
        put_member(&w, "BillingMode", "PAY_PER_REQUEST");
    } else {
        sl_json_key_c(&w, "ProvisionedThroughput");
        sl_json_begin_object(&w);
        sl_json_key_c(&w, "ReadCapacityUnits");
        sl_json_put_i64(&w, read_units);
        sl_json_key_c(&w, "WriteCapacityUnits");
        sl_json_put_i64(&w, write_units);
        sl_json_end_object(&w);
    }
    sl_json_end_object(&w);
}

void sl_dynamo_write_describe(struct sl_buf *out, const char *table)
{
    struct sl_json_writer w;
    begin(&w, out, table);
    sl_json_end_object(&w);
}
