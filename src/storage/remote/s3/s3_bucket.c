/*
 * What options, environment and profile say about a bucket. Called once a bucket, under the store's lock; no server is asked.
 */
#include <string.h>

#include "base/error.h"
#include "storage/remote/s3/dynamo.h"
#include "storage/remote/s3/aws_profile.h"
#include "storage/remote/s3/s3_int.h"

#define CUSTOMER_KEY_SIZE 32

struct setup {
    struct sl_s3_store *store;
    struct sl_s3_bucket *bucket;
    const struct sl_remote_options *options;
};

static const char *get(const struct setup *setup, enum sl_option option)
{
    return sl_option_get(setup->options, option, setup->bucket->name);
}

static silt_status get_bool(const struct setup *setup, enum sl_option option, bool *out, silt_error *err)
{
    return sl_option_bool(setup->options, option, setup->bucket->name, out, err);
}

static silt_status copy(const struct setup *setup, struct sl_str text, const char **out, silt_error *err)
{
    *out = sl_arena_strdup(&setup->store->arena, text);
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* ---- where ---- */

/* "s3.eu-west-1.amazonaws.com" and its like; *region is absent where the host names none. */
static bool is_aws_host(struct sl_str host, struct sl_str *region)
{
    *region = (struct sl_str){0};
    const size_t domain = sl_str_find(host, SL_STR(".amazonaws.com"));
    const struct sl_str rest = domain == SIZE_MAX ? host : sl_str_sub(host, domain, host.len);
    if (domain == SIZE_MAX || (!sl_str_eq_c(rest, ".amazonaws.com") && !sl_str_eq_c(rest, ".amazonaws.com.cn"))) {
        return false;
    }
    const struct sl_str left = sl_str_sub(host, 0, domain);
    const size_t dot = sl_str_find(left, SL_STR("."));
    if (dot != SIZE_MAX && sl_str_starts_with(left, SL_STR("s3"))) {
        const struct sl_str last = sl_str_sub(left, dot + 1, left.len);
        if (sl_str_find(last, SL_STR(".")) == SIZE_MAX) {
            *region = last;
        }
    }
    return true;
}

/* Letters, digits and what else belongs into a host with its port: nothing that could end it. */
static bool is_host(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        const char lower = (char)(c | 0x20);
        if (!((lower >= 'a' && lower <= 'z') || sl_is_digit(c) || (c != '\0' && strchr(".-_:[]", c) != NULL))) {
            return false;
        }
    }
    return text.len > 0 && text.ptr[text.len - 1] != ':';
}

static bool is_path(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~' || strchr("?#@", text.ptr[i]) != NULL) {
            return false;
        }
    }
    return true;
}

static silt_status split_endpoint(const struct setup *setup, const char *value, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    struct sl_str text = sl_str_trim(sl_str_from(value));
    bool allow_http = true;
    bucket->tls = true;
    SL_TRY(get_bool(setup, SL_OPTION_S3_TLS, &bucket->tls, err));
    SL_TRY(get_bool(setup, SL_OPTION_ALLOW_HTTP, &allow_http, err));
    const size_t scheme = sl_str_find(text, SL_STR("://"));
    if (scheme != SIZE_MAX) {
        bucket->tls = sl_str_eq_nocase(sl_str_sub(text, 0, scheme), SL_STR("https"));
        if (!bucket->tls && !sl_str_eq_nocase(sl_str_sub(text, 0, scheme), SL_STR("http"))) {
            return sl_option_unusable(SL_OPTION_S3_ENDPOINT, value, "http://HOST or https://HOST", err);
        }
        text = sl_str_sub(text, scheme + 3, text.len);
    }
    if (!bucket->tls && !allow_http) {
        return sl_fail(err, SILT_EINVALID, NULL, "the endpoint of bucket %s is plain HTTP, which %s forbids",
                       bucket->name, sl_option_name(SL_OPTION_ALLOW_HTTP));
    }
    while (sl_str_ends_with(text, SL_STR("/"))) {
        text = sl_str_sub(text, 0, text.len - 1);
    }
    const size_t slash = sl_str_find(text, SL_STR("/"));
    struct sl_str host = sl_str_sub(text, 0, slash == SIZE_MAX ? text.len : slash);
    const struct sl_str port = bucket->tls ? SL_STR(":443") : SL_STR(":80"); /* is not sent, and so not signed */
    host = sl_str_ends_with(host, port) ? sl_str_sub(host, 0, host.len - port.len) : host;
    const struct sl_str base = slash == SIZE_MAX ? SL_STR("") : sl_str_sub(text, slash, text.len);
    if (!is_host(host) || !is_path(base)) {
        return sl_option_unusable(SL_OPTION_S3_ENDPOINT, value, "http://HOST or https://HOST", err);
    }
    SL_TRY(copy(setup, host, &bucket->host, err));
    return copy(setup, base, &bucket->base, err);
}

/* "10.0.0.1:9000", "[::1]" */
static bool is_address(const char *host)
{
    return host[0] == '[' || host[strspn(host, "0123456789.")] == ':' || host[strspn(host, "0123456789.")] == '\0';
}

/* An option's or a variable's, else the profile's. NULL: AWS's own. */
static silt_status find_endpoint(const struct setup *setup, const char **out, silt_error *err)
{
    *out = get(setup, SL_OPTION_S3_ENDPOINT);
    if (*out != NULL && (*out)[0] != '\0') {
        return SILT_OK;
    }
    *out = NULL;
    struct sl_aws_files files = {0};
    silt_status status = sl_aws_files_read(setup->store->context, &files, err);
    if (status == SILT_OK) {
        const struct sl_str profile = sl_str_from(sl_aws_profile_name(setup->store->context));
        const struct sl_str found = sl_aws_profile_endpoint(&files, profile);
        setup->bucket->endpoint_of_profile = found.len > 0;
        status = found.len > 0 ? copy(setup, found, out, err) : SILT_OK;
    }
    sl_aws_files_release(&files);
    return status;
}

static silt_status set_endpoint(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    const char *value = NULL;
    struct sl_str region = {0};
    SL_TRY(find_endpoint(setup, &value, err));
    bucket->base = "";
    bucket->tls = true;
    bucket->aws = true;
    if (value != NULL) {
        SL_TRY(split_endpoint(setup, value, err));
        bucket->aws = is_aws_host(sl_str_from(bucket->host), &region);
        const struct sl_str host = sl_str_from(bucket->host);
        if (bucket->aws && bucket->base[0] == '\0' && sl_str_starts_with(host, SL_STR("s3.")) &&
            (region.ptr != NULL || sl_str_eq_c(host, "s3.amazonaws.com"))) {
            bucket->host = NULL; /* follows from the region */
        }
        if (region.ptr != NULL) {
            SL_TRY(copy(setup, region, &bucket->region, err));
        }
    }
    /* A host for each bucket is AWS's way; its certificates do not cover names with dots. */
    bool virtual_host = bucket->aws && strchr(bucket->name, '.') == NULL;
    bool path_style = false;
    SL_TRY(get_bool(setup, SL_OPTION_S3_VIRTUAL_HOST, &virtual_host, err));
    SL_TRY(get_bool(setup, SL_OPTION_S3_PATH_STYLE, &path_style, err));
    bucket->path_style = !virtual_host || path_style;
    if (!bucket->path_style && bucket->host != NULL && is_address(bucket->host)) {
        return sl_option_unusable(SL_OPTION_S3_VIRTUAL_HOST, "true", "false for an endpoint that is an address", err);
    }
    return SILT_OK;
}

static silt_status set_region(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    const char *region = get(setup, SL_OPTION_S3_REGION);
    if (region != NULL && region[0] != '\0') {
        if (!is_host(sl_str_from(region)) || strlen(region) >= sizeof(((struct sl_s3_ask *)NULL)->region)) {
            return sl_option_unusable(SL_OPTION_S3_REGION, region, "the name of a region", err);
        }
        return copy(setup, sl_str_from(region), &bucket->region, err);
    }
    if (bucket->region != NULL || !(bucket->aws || bucket->endpoint_of_profile) || bucket->anonymous) {
        return SILT_OK;
    }
    struct sl_aws_files files = {0};
    silt_status status = sl_aws_files_read(setup->store->context, &files, err);
    if (status == SILT_OK) {
        const struct sl_str found = sl_aws_profile_get(&files, sl_str_from(sl_aws_profile_name(setup->store->context)),
                                                       "region");
        if (is_host(found) && found.len < sizeof(((struct sl_s3_ask *)NULL)->region)) {
            status = copy(setup, found, &bucket->region, err);
        }
    }
    sl_aws_files_release(&files);
    return status;
}

/* ---- encryption ---- */

static void add_creating(struct sl_s3_bucket *bucket, const char *name, const char *value)
{
    bucket->creating[bucket->n_creating++] = (struct sl_http_header){name, value};
}

static silt_status set_customer_key(const struct setup *setup, const char *key, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    uint8_t md5[SL_MD5_SIZE];
    const char *value = NULL;
    const char *digest = NULL;
    struct sl_buf raw;
    struct sl_buf text;
    if (!bucket->tls) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s needs https", sl_option_name(SL_OPTION_S3_CUSTOMER_KEY));
    }
    sl_buf_init(&raw, setup->store->env);
    sl_buf_init(&text, setup->store->env);
    silt_status status = sl_base64_decode(&raw, sl_str_trim(sl_str_from(key)), NULL);
    if (status == SILT_EINVALID || (status == SILT_OK && raw.len != CUSTOMER_KEY_SIZE)) {
        status = sl_option_unusable(SL_OPTION_S3_CUSTOMER_KEY, key, "32 bytes in base64", err);
    }
    if (status == SILT_OK) {
        status = sl_md5(sl_buf_view(&raw), md5, err);
    }
    if (status == SILT_OK) {
        sl_base64_put(&text, sl_str_make((const char *)md5, sizeof(md5)));
        status = sl_buf_status(&text, err);
    }
    if (status == SILT_OK) {
        status = copy(setup, sl_str_trim(sl_str_from(key)), &value, err);
    }
    if (status == SILT_OK) {
        status = copy(setup, sl_buf_view(&text), &digest, err);
    }
    sl_buf_release(&raw);
    sl_buf_release(&text);
    SL_TRY(status);
    bucket->content[0] = (struct sl_http_header){"x-amz-server-side-encryption-customer-algorithm", "AES256"};
    bucket->content[1] = (struct sl_http_header){"x-amz-server-side-encryption-customer-key", value};
    bucket->content[2] = (struct sl_http_header){"x-amz-server-side-encryption-customer-key-MD5", digest};
    bucket->n_content = 3;
    return SILT_OK;
}

static bool is_line(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            return false;
        }
    }
    return true;
}

static silt_status set_kms(const struct setup *setup, const char *kind, const char *key, silt_error *err)
{
    bool bucket_key = false;
    add_creating(setup->bucket, "x-amz-server-side-encryption", kind);
    if (key != NULL) {
        const char *value = NULL;
        if (!is_line(key)) {
            return sl_option_unusable(SL_OPTION_S3_KMS_KEY, "?", "one line", err);
        }
        SL_TRY(copy(setup, sl_str_from(key), &value, err));
        add_creating(setup->bucket, "x-amz-server-side-encryption-aws-kms-key-id", value);
    }
    SL_TRY(get_bool(setup, SL_OPTION_S3_BUCKET_KEY, &bucket_key, err));
    if (bucket_key) {
        add_creating(setup->bucket, "x-amz-server-side-encryption-bucket-key-enabled", "true");
    }
    return SILT_OK;
}

static silt_status set_encryption(const struct setup *setup, silt_error *err)
{
    const char *kind = get(setup, SL_OPTION_S3_ENCRYPTION);
    const char *hadoop_key = get(setup, SL_OPTION_S3_HADOOP_KEY);
    const char *kms_key = get(setup, SL_OPTION_S3_KMS_KEY);
    const char *customer_key = get(setup, SL_OPTION_S3_CUSTOMER_KEY);
    const struct sl_str text = sl_str_from(kind);
    if (kind == NULL || kind[0] == '\0') {
        if (customer_key != NULL) {
            return set_customer_key(setup, customer_key, err);
        }
        return kms_key != NULL ? set_kms(setup, "aws:kms", kms_key, err) : SILT_OK;
    }
    if (sl_str_eq_nocase(text, SL_STR("AES256")) || sl_str_eq_nocase(text, SL_STR("SSE-S3"))) {
        add_creating(setup->bucket, "x-amz-server-side-encryption", "AES256");
        return SILT_OK;
    }
    kms_key = kms_key != NULL ? kms_key : hadoop_key;
    if (sl_str_eq_nocase(text, SL_STR("aws:kms")) || sl_str_eq_nocase(text, SL_STR("SSE-KMS"))) {
        return set_kms(setup, "aws:kms", kms_key, err);
    }
    if (sl_str_eq_nocase(text, SL_STR("aws:kms:dsse")) || sl_str_eq_nocase(text, SL_STR("DSSE-KMS"))) {
        return set_kms(setup, "aws:kms:dsse", kms_key, err);
    }
    customer_key = customer_key != NULL ? customer_key : hadoop_key;
    if (sl_str_eq_nocase(text, SL_STR("SSE-C")) && customer_key != NULL) {
        return set_customer_key(setup, customer_key, err);
    }
    return sl_option_unusable(SL_OPTION_S3_ENCRYPTION, kind, "AES256, aws:kms, aws:kms:dsse, or sse-c with a key", err);
}

/* ---- who ---- */

/* Hadoop names classes; those that mean what silt does anyway are taken. */
static silt_status check_provider(const struct setup *setup, silt_error *err)
{
    const char *value = get(setup, SL_OPTION_S3_PROVIDER);
    if (value == NULL) {
        return SILT_OK;
    }
    const struct sl_str text = sl_str_trim(sl_str_from(value));
    if (sl_str_ends_with(text, SL_STR(".AnonymousAWSCredentialsProvider"))) {
        setup->bucket->anonymous = true;
        return SILT_OK;
    }
    if (sl_str_ends_with(text, SL_STR(".SimpleAWSCredentialsProvider")) ||
        sl_str_ends_with(text, SL_STR(".TemporaryAWSCredentialsProvider")) ||
        sl_str_ends_with(text, SL_STR(".DefaultCredentialsProvider")) ||
        sl_str_ends_with(text, SL_STR(".DefaultAWSCredentialsProviderChain"))) {
        return SILT_OK;
    }
    return sl_option_unusable(SL_OPTION_S3_PROVIDER, value,
                              "Hadoop's Simple-, Temporary- or AnonymousAWSCredentialsProvider", err);
}

static silt_status set_identity(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    bool payer = false;
    const char *payer_text = get(setup, SL_OPTION_S3_REQUEST_PAYER);
    SL_TRY(check_provider(setup, err));
    SL_TRY(get_bool(setup, SL_OPTION_S3_ANONYMOUS, &bucket->anonymous, err));
    SL_TRY(get_bool(setup, SL_OPTION_S3_UNSIGNED_PAYLOAD, &bucket->unsigned_payload, err));
    if (payer_text != NULL && sl_str_eq_nocase(sl_str_from(payer_text), SL_STR("requester"))) {
        payer = true;
    } else {
        SL_TRY(get_bool(setup, SL_OPTION_S3_REQUEST_PAYER, &payer, err));
    }
    if (payer) {
        bucket->every[bucket->n_every++] = (struct sl_http_header){"x-amz-request-payer", "requester"};
    }
    return SILT_OK;
}

static silt_status set_condition(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    const char *value = get(setup, SL_OPTION_S3_CONDITIONAL_PUT);
    const struct sl_str text = sl_str_from(value);
    bucket->condition = bucket->aws ? SL_S3_CONDITION_TRUST : SL_S3_CONDITION_PROVE;
    if (value == NULL || value[0] == '\0' || sl_str_eq_nocase(text, SL_STR("etag"))) {
        return SILT_OK;
    }
    if (sl_str_eq_nocase(text, SL_STR("trust"))) {
        bucket->condition = SL_S3_CONDITION_TRUST;
        return SILT_OK;
    }
    if (sl_str_eq_nocase(text, SL_STR("disabled"))) {
        bucket->condition = SL_S3_CONDITION_REFUSE;
        return SILT_OK;
    }
    return sl_option_unusable(SL_OPTION_S3_CONDITIONAL_PUT, value, "etag, trust or disabled", err);
}

/* After all else is known. With DynamoDB, conditions only guard what is sure anyway: they need no proof. */
static silt_status set_owner(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    SL_TRY(get_bool(setup, SL_OPTION_DYNAMO_PAST, &bucket->dynamo_is_past, err));
    SL_TRY(sl_dynamo_configure(setup->store, bucket, &bucket->dynamo, err));
    bucket->condition = bucket->dynamo != NULL ? SL_S3_CONDITION_TRUST : bucket->condition;
    return SILT_OK;
}

static silt_status set_credentials(const struct setup *setup, silt_error *err)
{
    struct sl_s3_bucket *bucket = setup->bucket;
    if (bucket->anonymous) {
        return SILT_OK;
    }
    bucket->chain = (struct sl_aws_chain){.context = setup->store->context, .bucket = bucket->name};
    const struct sl_credential_source source = {.ctx = &bucket->chain, .fetch = sl_aws_credentials_fetch};
    return sl_credential_cache_new(setup->store->env, &source, &bucket->credentials, err);
}

silt_status sl_s3_bucket_configure(struct sl_s3_store *store, struct sl_s3_bucket *bucket, silt_error *err)
{
    const struct setup setup = {store, bucket, store->context->options};
    SL_TRY(set_endpoint(&setup, err));
    SL_TRY(set_identity(&setup, err));
    SL_TRY(set_region(&setup, err));
    SL_TRY(set_encryption(&setup, err));
    SL_TRY(set_condition(&setup, err));
    SL_TRY(set_credentials(&setup, err));
    const silt_status status = set_owner(&setup, err);
    if (status != SILT_OK) {
        sl_credential_cache_free(bucket->credentials);
        bucket->credentials = NULL;
    }
    return status;
}
