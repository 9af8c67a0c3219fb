/*
 * What options and environment say about commits by DynamoDB, by the names of Delta Spark's S3DynamoDBLogStore and of delta-rs. Called once a
 * bucket, under the store's lock; no server is asked.
 */
#include <string.h>

#include "base/error.h"
#include "storage/remote/s3/dynamo_int.h"
#include "storage/remote/url.h"

#define CLASS ".S3DynamoDBLogStore"
#define DEFAULT_TABLE "delta_log"
#define DEFAULT_REGION "us-east-1"
#define DEFAULT_UNITS 5
#define DEFAULT_KEEP_S INT64_C(86400)
#define MAX_UNITS 1000000
#define MAX_KEEP_S (INT64_C(86400) * 36500)

struct setup {
    struct sl_s3_store *store;
    const struct sl_s3_bucket *bucket;
    const struct sl_remote_options *options;
    struct sl_dynamo *dynamo;
};

static const char *get(const struct setup *setup, enum sl_option option)
{
    return sl_option_get(setup->options, option, setup->bucket->name);
}

static bool is_word(const char *value, const char *word)
{
    return sl_str_eq_nocase(sl_str_trim(sl_str_from(value)), sl_str_from(word));
}

/* ---- is it chosen? ---- */

static silt_status choose(const struct setup *setup, bool *chosen, silt_error *err)
{
    const char *locking = get(setup, SL_OPTION_S3_LOCKING);
    const char *store = get(setup, SL_OPTION_DYNAMO_LOG_STORE);
    *chosen = false;
    if (locking != NULL && !is_word(locking, "none") && !is_word(locking, "dynamodb")) {
        return sl_option_unusable(SL_OPTION_S3_LOCKING, locking, "dynamodb or none", err);
    }
    if (store != NULL && sl_str_ends_with(sl_str_from(store), SL_STR(CLASS))) {
        *chosen = true;
    } else if (store != NULL && !sl_str_ends_with(sl_str_from(store), SL_STR(".S3SingleDriverLogStore"))) {
        return sl_option_unusable(SL_OPTION_DYNAMO_LOG_STORE, store, "io.delta.storage" CLASS, err);
    }
    if (locking == NULL) {
        return SILT_OK;
    }
    if (*chosen && is_word(locking, "none")) {
        return sl_fail(err, SILT_EINVALID, NULL, "option %s chooses DynamoDB, %s=none does not",
                       sl_option_name(SL_OPTION_DYNAMO_LOG_STORE), sl_option_name(SL_OPTION_S3_LOCKING));
    }
    *chosen = *chosen || is_word(locking, "dynamodb");
    return SILT_OK;
}

/* A table that is named is meant: to commit beside it would be to lose commits. */
static silt_status check_unused(const struct setup *setup, silt_error *err)
{
    const char *table = sl_option_given(setup->options, SL_OPTION_DYNAMO_TABLE, setup->bucket->name);
    const char *locking = get(setup, SL_OPTION_S3_LOCKING);
    if (table == NULL || locking != NULL) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, NULL,
                                       "option %s names a table of DynamoDB, but nothing says that commits go by it",
                                       sl_option_name(SL_OPTION_DYNAMO_TABLE));
    sl_error_hint(err, "set %s=dynamodb, or to none", sl_option_name(SL_OPTION_S3_LOCKING));
    return status;
}

/* ---- values ---- */

static bool is_table_name(const char *text)
{
    const size_t n = strlen(text);
    for (const char *at = text; *at != '\0'; at++) {
        const char lower = (char)(*at | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || sl_is_digit(*at) || strchr("-_.", *at) != NULL)) {
            return false;
        }
    }
    return n >= 3 && n <= 255;
}

static bool is_region_name(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const char lower = (char)(*at | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || sl_is_digit(*at) || *at == '-')) {
            return false;
        }
    }
    return text[0] != '\0' && strlen(text) < 40;
}

/* Copied: values from the environment do not stay. */
static silt_status copy(const struct setup *setup, const char *text, const char **out, silt_error *err)
{
    *out = sl_arena_strdup(&setup->store->arena, sl_str_from(text));
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status take_number(const struct setup *setup, enum sl_option option, int64_t min, int64_t max, int64_t *out,
                               silt_error *err)
{
    const char *value = get(setup, option);
    if (value == NULL) {
        return SILT_OK;
    }
    if (!sl_str_to_i64(sl_str_trim(sl_str_from(value)), out) || *out < min || *out > max) {
        return sl_option_unusable(option, value, "a number that is not negative", err);
    }
    return SILT_OK;
}

static silt_status set_table(const struct setup *setup, silt_error *err)
{
    struct sl_dynamo *dynamo = setup->dynamo;
    const char *table = get(setup, SL_OPTION_DYNAMO_TABLE);
    const char *billing = get(setup, SL_OPTION_DYNAMO_BILLING);
    table = table != NULL ? table : DEFAULT_TABLE;
    if (!is_table_name(table)) {
        return sl_option_unusable(SL_OPTION_DYNAMO_TABLE, table, "the name of a table", err);
    }
    dynamo->read_units = DEFAULT_UNITS;
    dynamo->write_units = DEFAULT_UNITS;
    dynamo->keep_s = DEFAULT_KEEP_S;
    SL_TRY(take_number(setup, SL_OPTION_DYNAMO_RCU, 1, MAX_UNITS, &dynamo->read_units, err));
    SL_TRY(take_number(setup, SL_OPTION_DYNAMO_WCU, 1, MAX_UNITS, &dynamo->write_units, err));
    SL_TRY(take_number(setup, SL_OPTION_DYNAMO_TTL, 0, MAX_KEEP_S, &dynamo->keep_s, err));
    if (billing != NULL && is_word(billing, "PAY_PER_REQUEST")) {
        dynamo->read_units = 0;
    } else if (billing != NULL && !is_word(billing, "PROVISIONED")) {
        return sl_option_unusable(SL_OPTION_DYNAMO_BILLING, billing, "PROVISIONED or PAY_PER_REQUEST", err);
    }
    return copy(setup, table, &dynamo->table, err);
}

/*
 * Spark takes us-east-1 where nothing is said, delta-rs the region of everything else: writers that disagree would not see each other's
 * entries. So where the two differ, it has to be said.
 */
static silt_status set_region(const struct setup *setup, silt_error *err)
{
    const char *region = get(setup, SL_OPTION_DYNAMO_REGION);
    const char *usual = get(setup, SL_OPTION_S3_REGION);
    const bool local = get(setup, SL_OPTION_DYNAMO_ENDPOINT) != NULL;
    usual = usual != NULL ? usual : setup->bucket->region; /* of the profile */
    if (region == NULL && usual != NULL && !local && strcmp(usual, DEFAULT_REGION) != 0) {
        const silt_status status = sl_fail(err, SILT_EINVALID, NULL, "the region of the DynamoDB table %s is not given",
                                           setup->dynamo->table);
        sl_error_hint(err, "set %s: Spark takes " DEFAULT_REGION " unless told otherwise, delta-rs the usual region",
                      sl_option_name(SL_OPTION_DYNAMO_REGION));
        return status;
    }
    if (region == NULL) {
        region = usual != NULL ? usual : DEFAULT_REGION;
    }
    if (!is_region_name(region)) {
        return sl_option_unusable(SL_OPTION_DYNAMO_REGION, region, "the name of a region", err);
    }
    return copy(setup, region, &setup->dynamo->region, err);
}

static silt_status set_endpoint(const struct setup *setup, silt_error *err)
{
    struct sl_dynamo *dynamo = setup->dynamo;
    struct sl_arena *arena = &setup->store->arena;
    const char *value = get(setup, SL_OPTION_DYNAMO_ENDPOINT);
    bool allow_http = true;
    SL_TRY(sl_option_bool(setup->options, SL_OPTION_ALLOW_HTTP, setup->bucket->name, &allow_http, err));
    if (value == NULL && !setup->bucket->aws) {
        const silt_status status = sl_fail(err, SILT_EINVALID, NULL,
                                           "bucket %s is not on AWS, and it is not said where DynamoDB is",
                                           setup->bucket->name);
        sl_error_hint(err, "set %s", sl_option_name(SL_OPTION_DYNAMO_ENDPOINT));
        return status;
    }
    if (value == NULL) {
        dynamo->url = sl_arena_printf(arena, "https://dynamodb.%s.amazonaws.com%s/", dynamo->region,
                                      strncmp(dynamo->region, "cn-", 3) == 0 ? ".cn" : "");
        return dynamo->url != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    const struct sl_str url = sl_str_trim(sl_str_from(value));
    if (!sl_url_is_usable(url) || sl_str_find(url, SL_STR("?")) != SIZE_MAX ||
        sl_str_find(url, SL_STR("@")) != SIZE_MAX || (!allow_http && sl_str_starts_with(url, SL_STR("http://")))) {
        return sl_option_unusable(SL_OPTION_DYNAMO_ENDPOINT, value, "https://HOST, or http:// where it is allowed",
                                  err);
    }
    const bool closed = sl_str_ends_with(url, SL_STR("/"));
    dynamo->url = sl_arena_printf(arena, "%.*s%s", SL_FMT(url), closed ? "" : "/");
    return dynamo->url != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status set_scheme(const struct setup *setup, silt_error *err)
{
    const char *value = get(setup, SL_OPTION_DYNAMO_SCHEME);
    value = value != NULL ? value : "s3a";
    if (strcmp(value, "s3a") != 0 && strcmp(value, "s3") != 0 && strcmp(value, "s3n") != 0) {
        return sl_option_unusable(SL_OPTION_DYNAMO_SCHEME, value, "s3a, s3 or s3n", err);
    }
    return copy(setup, value, &setup->dynamo->scheme, err);
}

/* Spark names a class. Those that look where silt looks anyway are taken. */
static silt_status check_provider(const struct setup *setup, silt_error *err)
{
    static const char *const known[] = {".DefaultAWSCredentialsProviderChain", ".DefaultCredentialsProvider",
                                        ".EnvironmentVariableCredentialsProvider", ".ProfileCredentialsProvider"};
    const char *value = get(setup, SL_OPTION_DYNAMO_PROVIDER);
    for (size_t i = 0; value != NULL && i < sizeof(known) / sizeof(known[0]); i++) {
        value = sl_str_ends_with(sl_str_from(value), sl_str_from(known[i])) ? NULL : value;
    }
    if (value != NULL) {
        return sl_option_unusable(SL_OPTION_DYNAMO_PROVIDER, value, "DefaultAWSCredentialsProviderChain", err);
    }
    if (setup->bucket->anonymous) {
        return sl_fail(err, SILT_EINVALID, NULL, "DynamoDB needs credentials, and bucket %s is to be used without",
                       setup->bucket->name);
    }
    return SILT_OK;
}

/* delta-rs takes credentials of their own for DynamoDB. The bucket's are used here, so others are not passed over in silence. */
static silt_status check_keys(const struct setup *setup, silt_error *err)
{
    static const enum sl_option pairs[][2] = {{SL_OPTION_DYNAMO_ACCESS_KEY, SL_OPTION_S3_ACCESS_KEY},
                                              {SL_OPTION_DYNAMO_SECRET_KEY, SL_OPTION_S3_SECRET_KEY},
                                              {SL_OPTION_DYNAMO_SESSION_TOKEN, SL_OPTION_S3_SESSION_TOKEN}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const char *own = get(setup, pairs[i][0]);
        const char *usual = get(setup, pairs[i][1]);
        if (own == NULL || (usual != NULL && strcmp(own, usual) == 0)) {
            continue;
        }
        const silt_status status = sl_fail(err, SILT_EINVALID, NULL,
                                           "%s is another than %s: credentials for DynamoDB alone are not supported",
                                           sl_option_name(pairs[i][0]), sl_option_name(pairs[i][1]));
        sl_error_hint(err, "leave it out, and let the credentials of bucket %s use the table", setup->bucket->name);
        return status;
    }
    return SILT_OK;
}

silt_status sl_dynamo_configure(struct sl_s3_store *store, const struct sl_s3_bucket *bucket,
                                const struct sl_dynamo **out, silt_error *err)
{
    struct setup setup = {store, bucket, store->context->options, NULL};
    const char *condition = get(&setup, SL_OPTION_S3_CONDITIONAL_PUT);
    bool chosen = false;
    *out = NULL;
    SL_TRY(choose(&setup, &chosen, err));
    if (!chosen) {
        return check_unused(&setup, err);
    }
    setup.dynamo = sl_arena_alloc_zero(&store->arena, sizeof(*setup.dynamo));
    if (setup.dynamo == NULL) {
        return sl_fail_nomem(err);
    }
    setup.dynamo->context = store->context;
    setup.dynamo->credentials = bucket->credentials;
    setup.dynamo->plain_copy = condition != NULL && is_word(condition, "disabled");
    SL_TRY(check_provider(&setup, err));
    SL_TRY(check_keys(&setup, err));
    SL_TRY(set_table(&setup, err));
    SL_TRY(set_region(&setup, err));
    SL_TRY(set_endpoint(&setup, err));
    SL_TRY(set_scheme(&setup, err));
    *out = setup.dynamo;
    return SILT_OK;
}
