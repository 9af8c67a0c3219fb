/* What options make of commits by DynamoDB. No server is asked. */
#include <stdlib.h>
#include <string.h>

#include "storage/remote/s3/dynamo_int.h"
#include "storage/remote/s3/s3.h"
#include "test_env.h"

#define SPARK "spark.io.delta.storage.S3DynamoDBLogStore."

struct fixture {
    struct test_env t;
    struct sl_remote_options *options;
    struct sl_remote_context context;
    const silt_storage_vtable *vtable;
    void *impl;
    const struct sl_dynamo *dynamo; /* NULL: not chosen */
    silt_error err;
};

static silt_status open_with(struct fixture *f, const silt_store_option *options, size_t n)
{
    static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_PROFILE"};
    struct sl_s3_place place;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unsetenv(names[i]);
    }
    (void)setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    (void)setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    test_env_init(&f->t);
    f->err = (silt_error)SILT_ERROR_INIT;
    f->dynamo = NULL;
    assert_int_equal(sl_options_new(&f->t.env, options, n, &f->options, &f->err), SILT_OK);
    f->context = (struct sl_remote_context){.env = &f->t.env, .options = f->options};
    assert_int_equal(sl_s3_open(&f->context, &f->vtable, &f->impl, &f->err), SILT_OK);
    const silt_status status = sl_s3_locate(f->impl, "s3://b/k", &place, &f->err);
    if (status == SILT_OK) {
        f->dynamo = place.bucket->dynamo;
    }
    return status;
}

static void tear_down(struct fixture *f)
{
    f->vtable->close(f->impl);
    sl_options_free(f->options);
    test_env_check(&f->t);
}

#define OPEN(f, ...)                                         \
    open_with((f), (const silt_store_option[]){__VA_ARGS__}, \
              sizeof((const silt_store_option[]){__VA_ARGS__}) / sizeof(silt_store_option))

static void it_is_chosen_by_names_of_either(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(OPEN(&f, {"AWS_S3_LOCKING_PROVIDER", "dynamodb"}), SILT_OK);
    assert_string_equal(f.dynamo->table, "delta_log");
    assert_string_equal(f.dynamo->region, "us-east-1");
    assert_string_equal(f.dynamo->url, "https://dynamodb.us-east-1.amazonaws.com/");
    assert_string_equal(f.dynamo->scheme, "s3a");
    assert_int_equal(f.dynamo->read_units, 5);
    assert_int_equal(f.dynamo->write_units, 5);
    assert_int_equal(f.dynamo->keep_s, 86400);
    tear_down(&f);
    assert_int_equal(OPEN(&f, {"spark.delta.logStore.s3.impl", "io.delta.storage.S3DynamoDBLogStore"},
                          {SPARK "ddb.tableName", "mine"}, {SPARK "ddb.region", "eu-west-1"}, {SPARK "ddb.ttl", "60"},
                          {SPARK "provisionedThroughput.rcu", "12"}, {SPARK "provisionedThroughput.wcu", "13"},
                          {SPARK "credentials.provider", "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"},
                          {"silt_dynamo_scheme", "s3n"}, {"aws_region", "eu-central-1"}),
                     SILT_OK);
    assert_string_equal(f.dynamo->table, "mine");
    assert_string_equal(f.dynamo->url, "https://dynamodb.eu-west-1.amazonaws.com/");
    assert_int_equal(f.dynamo->read_units, 12);
    assert_int_equal(f.dynamo->write_units, 13);
    assert_int_equal(f.dynamo->keep_s, 60);
    assert_string_equal(f.dynamo->scheme, "s3n");
    tear_down(&f);
    assert_int_equal(OPEN(&f, {"aws_s3_locking_provider", "dynamodb"}, {"delta_dynamo_billing_mode", "pay_per_request"},
                          {"aws_endpoint", "http://h:1"}, {"aws_endpoint_url_dynamodb", "http://d:2"},
                          {"aws_region", "r"}),
                     SILT_OK);
    assert_string_equal(f.dynamo->url, "http://d:2/");
    assert_string_equal(f.dynamo->region, "r");
    assert_int_equal(f.dynamo->read_units, 0);
    tear_down(&f);
}

static void it_is_not_chosen_without_a_word(void **state)
{
    (void)state;
    struct fixture f;
    assert_int_equal(open_with(&f, NULL, 0), SILT_OK);
    assert_null(f.dynamo);
    tear_down(&f);
    assert_int_equal(OPEN(&f, {"aws_s3_locking_provider", "none"}, {"delta_dynamo_table_name", "mine"}), SILT_OK);
    assert_null(f.dynamo);
    tear_down(&f);
    assert_int_equal(OPEN(&f, {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3SingleDriverLogStore"}), SILT_OK);
    assert_null(f.dynamo);
    tear_down(&f);
}

static void check_refused(struct fixture *f, silt_status status, const char *text)
{
    assert_int_equal(status, SILT_EINVALID);
    if (strstr(f->err.message, text) == NULL && strstr(f->err.hint, text) == NULL) {
        fail_msg("'%s' (%s) does not say '%s'", f->err.message, f->err.hint, text);
    }
    tear_down(f);
}

#define CHOSEN                                \
    {                                         \
        "aws_s3_locking_provider", "dynamodb" \
    }

static void unusable_values_are_refused(void **state)
{
    (void)state;
    struct fixture f;
    check_refused(&f, OPEN(&f, {"aws_s3_locking_provider", "redis"}), "dynamodb or none");
    check_refused(&f, OPEN(&f, {"spark.delta.logStore.s3a.impl", "x.Y"}), "S3DynamoDBLogStore");
    check_refused(&f,
                  OPEN(&f, {"spark.delta.logStore.s3a.impl", "io.delta.storage.S3DynamoDBLogStore"},
                       {"aws_s3_locking_provider", "none"}),
                  "aws_s3_locking_provider=none");
    check_refused(&f, OPEN(&f, {"delta_dynamo_table_name", "mine"}), "nothing says that commits go by it");
    check_refused(&f, OPEN(&f, CHOSEN, {"delta_dynamo_table_name", "a/b"}), "the name of a table");
    check_refused(&f, OPEN(&f, CHOSEN, {SPARK "ddb.ttl", "-1"}), "not negative");
    check_refused(&f, OPEN(&f, CHOSEN, {SPARK "provisionedThroughput.rcu", "0"}), "rcu");
    check_refused(&f, OPEN(&f, CHOSEN, {SPARK "provisionedThroughput.wcu", "x"}), "wcu");
    check_refused(&f, OPEN(&f, CHOSEN, {"delta_dynamo_billing_mode", "free"}), "PAY_PER_REQUEST");
    check_refused(&f, OPEN(&f, CHOSEN, {"silt_dynamo_scheme", "gs"}), "s3a, s3 or s3n");
    check_refused(&f, OPEN(&f, CHOSEN, {SPARK "credentials.provider", "com.example.Mine"}),
                  "DefaultAWSCredentialsProviderChain");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_skip_signature", "true"}), "needs credentials");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_region_dynamodb", "a b"}), "the name of a region");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_endpoint_url_dynamodb", "ftp://x"}), "aws_endpoint_url_dynamodb");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_endpoint_url_dynamodb", "http://u:p@x"}), "is 'http://…@x', expected");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_endpoint_url_dynamodb", "http://x"}, {"allow_http", "false"}),
                  "where it is allowed");
}

/* As users of delta-rs have them in their environment. */
static void names_of_delta_rs_are_known(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const variables[][2] = {{"AWS_S3_LOCKING_PROVIDER", "dynamodb"},
                                               {"DELTA_DYNAMO_TABLE_NAME", "theirs"},
                                               {"AWS_ENDPOINT_URL_DYNAMODB", "http://d:3"},
                                               {"AWS_REGION_DYNAMODB", "eu-west-2"},
                                               {"DELTA_DYNAMO_BILLING_MODE", "PAY_PER_REQUEST"}};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        (void)setenv(variables[i][0], variables[i][1], 1);
    }
    assert_int_equal(OPEN(&f, {"delta_dynamo_max_elapsed_request_time", "10"}), SILT_OK);
    assert_string_equal(f.dynamo->table, "theirs");
    assert_string_equal(f.dynamo->url, "http://d:3/");
    assert_string_equal(f.dynamo->region, "eu-west-2");
    assert_int_equal(f.dynamo->read_units, 0);
    tear_down(&f);
    /* Credentials of its own are not; those of the bucket, said twice, are no other ones. */
    (void)setenv("AWS_SECRET_ACCESS_KEY_DYNAMODB", "theirsecret", 1);
    check_refused(&f, OPEN(&f, {"aws_secret_access_key", "oursecret"}), "aws_secret_access_key_dynamodb is another");
    assert_null(strstr(f.err.message, "theirsecret"));
    assert_int_equal(OPEN(&f, {"aws_secret_access_key", "theirsecret"}), SILT_OK);
    tear_down(&f);
    (void)unsetenv("AWS_SECRET_ACCESS_KEY_DYNAMODB");
    check_refused(&f, OPEN(&f, {"aws_access_key_id", "a"}, {"AWS_ACCESS_KEY_ID_DYNAMODB", "b"}), "not supported");
    check_refused(&f, OPEN(&f, {"AWS_SESSION_TOKEN_DYNAMODB", "b"}), "not supported");
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        (void)unsetenv(variables[i][0]);
    }
}

/* Spark and delta-rs would take different regions: a guess could be the other one. */
static void what_others_take_differently_must_be_said(void **state)
{
    (void)state;
    struct fixture f;
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_region", "eu-west-1"}), "aws_region_dynamodb");
    check_refused(&f, OPEN(&f, CHOSEN, {"aws_endpoint", "http://h"}), "aws_endpoint_url_dynamodb");
    assert_int_equal(OPEN(&f, CHOSEN, {"aws_region", "us-east-1"}), SILT_OK);
    assert_non_null(f.dynamo);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_chosen_by_names_of_either),
        cmocka_unit_test(it_is_not_chosen_without_a_word),
        cmocka_unit_test(unusable_values_are_refused),
        cmocka_unit_test(names_of_delta_rs_are_known),
        cmocka_unit_test(what_others_take_differently_must_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
