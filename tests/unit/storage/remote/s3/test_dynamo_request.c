/* Requests to DynamoDB as text. */
#include "storage/remote/s3/dynamo_request.h"

#include <string.h>

#include "test_env.h"

#define PATH "s3a://b/t"

static void check(struct sl_buf *out, const char *expected)
{
    assert_int_equal(sl_buf_status(out, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(out), expected);
    sl_buf_clear(out);
}

static void requests_read_as_the_service_wants_them(void **state)
{
    (void)state;
    struct sl_buf out;
    sl_buf_init(&out, silt_env_default());
    struct sl_dynamo_entry entry = {
        .table_path = SL_STR(PATH), .file_name = SL_STR("1.json"), .temp_path = SL_STR(".tmp/\"")};
    sl_dynamo_write_put(&out, "d", &entry, SL_DYNAMO_IF_ABSENT);
    check(&out, "{\"TableName\":\"d\",\"Item\":{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"1.json\"},"
                "\"tempPath\":{\"S\":\".tmp/\\\"\"},\"complete\":{\"S\":\"false\"}},"
                "\"ConditionExpression\":\"attribute_not_exists(fileName)\"}");
    entry.complete = true;
    entry.expire_time_s = 1767323045;
    sl_dynamo_write_put(&out, "d", &entry, SL_DYNAMO_IF_SAME);
    check(&out,
          "{\"TableName\":\"d\",\"Item\":{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"1.json\"},"
          "\"tempPath\":{\"S\":\".tmp/\\\"\"},\"complete\":{\"S\":\"true\"},\"expireTime\":{\"N\":\"1767323045\"}},"
          "\"ConditionExpression\":\"tempPath = :t\",\"ExpressionAttributeValues\":{\":t\":{\"S\":\".tmp/\\\"\"}}}");
    sl_dynamo_write_get(&out, "d", SL_STR(PATH), SL_STR("1.json"));
    check(&out, "{\"TableName\":\"d\",\"Key\":{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"1.json\"}},"
                "\"ConsistentRead\":true}");
    sl_dynamo_write_newest(&out, "d", SL_STR(PATH));
    check(&out, "{\"TableName\":\"d\",\"ConsistentRead\":true,\"KeyConditionExpression\":\"tablePath = :p\","
                "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"s3a://b/t\"}},\"ScanIndexForward\":false,\"Limit\":1}");
    sl_dynamo_write_names(&out, "d", SL_STR(PATH), SL_STR("1.json"));
    check(
        &out,
        "{\"TableName\":\"d\",\"ConsistentRead\":true,\"KeyConditionExpression\":\"tablePath = :p\","
        "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"s3a://b/t\"}},\"ProjectionExpression\":\"tablePath, fileName\","
        "\"ExclusiveStartKey\":{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"1.json\"}}}");
    sl_dynamo_write_describe(&out, "d");
    check(&out, "{\"TableName\":\"d\"}");
    sl_dynamo_write_create(&out, "d", 0, 5);
    assert_non_null(strstr(sl_buf_cstr(&out), ",\"BillingMode\":\"PAY_PER_REQUEST\"}"));
    sl_buf_clear(&out);
    sl_dynamo_write_create(&out, "d", 7, 5);
    check(&out,
          "{\"TableName\":\"d\",\"AttributeDefinitions\":[{\"AttributeName\":\"tablePath\",\"AttributeType\":\"S\"},"
          "{\"AttributeName\":\"fileName\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"tablePath\","
          "\"KeyType\":\"HASH\"},{\"AttributeName\":\"fileName\",\"KeyType\":\"RANGE\"}],"
          "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":7,\"WriteCapacityUnits\":5}}");
    sl_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_read_as_the_service_wants_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
