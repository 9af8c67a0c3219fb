/* What options make of a bucket: endpoint, style, region, encryption, conditions; and which paths are none. No server is asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/remote/s3/s3.h"
#include "storage/remote/s3/s3_int.h"
#include "temp_dir.h"
#include "test_env.h"

struct fixture {
    struct test_env t;
    struct sl_remote_options *options;
    struct sl_remote_context context;
    const silt_storage_vtable *vtable;
    void *impl;
    struct sl_s3_place place;
    silt_error err;
};

static void clear_environment(void)
{
    static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_PROFILE"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unsetenv(names[i]);
    }
    (void)setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    (void)setenv("AWS_CONFIG_FILE", "/dev/null", 1);
}

static silt_status locate(struct fixture *f, const char *path, const silt_store_option *options, size_t n)
{
    clear_environment();
    test_env_init(&f->t);
    f->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(sl_options_new(&f->t.env, options, n, &f->options, &f->err), SILT_OK);
    f->context = (struct sl_remote_context){.env = &f->t.env, .options = f->options};
    assert_int_equal(sl_s3_open(&f->context, &f->vtable, &f->impl, &f->err), SILT_OK);
    return sl_s3_locate(f->impl, path, &f->place, &f->err);
}

static void tear_down(struct fixture *f)
{
    f->vtable->close(f->impl);
    sl_options_free(f->options);
    test_env_check(&f->t);
}

static void a_profile_names_an_endpoint(void **state)
{
    (void)state;
    char dir[256];
    char path[300];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    (void)snprintf(path, sizeof(path), "%s/config", dir);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs("[profile lab]\nendpoint_url = http://store.example:9000\nregion = lab-1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    const silt_store_option options[] = {{.name = "aws_config_file", .value = path},
                                         {.name = "aws_profile", .value = "lab"},
                                         {.name = "aws_endpoint_url", .value = "http://given.example"}};
    struct fixture f;
    assert_int_equal(locate(&f, "s3://b/k", options, 2), SILT_OK);
    assert_string_equal(f.place.bucket->host, "store.example:9000");
    assert_string_equal(f.place.bucket->region, "lab-1");
    assert_true(f.place.bucket->path_style && !f.place.bucket->aws && !f.place.bucket->tls);
    tear_down(&f);
    assert_int_equal(locate(&f, "s3://b/k", options, 3), SILT_OK);
    assert_string_equal(f.place.bucket->host, "given.example");
    tear_down(&f);
    (void)temp_dir_remove(dir);
}

/* "bucket.127.0.0.1" is the name of nothing. */
static void an_address_has_no_host_for_each_bucket(void **state)
{
    (void)state;
    static const char *const endpoints[][2] = {{"http://127.0.0.1:9000", "no"},
                                               {"http://10.0.0.1", "no"},
                                               {"http://[::1]:9000", "no"},
                                               {"http://localhost:9000", ""},
                                               {"http://10.example", ""}};
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
        const silt_store_option options[] = {{.name = "aws_endpoint_url", .value = endpoints[i][0]},
                                             {.name = "aws_virtual_hosted_style_request", .value = "true"}};
        struct fixture f;
        assert_int_equal(locate(&f, "s3://b/k", options, 2), endpoints[i][1][0] != '\0' ? SILT_EINVALID : SILT_OK);
        tear_down(&f);
    }
}

static void a_path_is_bucket_and_key(void **state)
{
    (void)state;
    static const char *const paths[][3] = {{"s3://b/k", "b", "k"},
                                           {"s3a://my-bucket.x/a/b c%20", "my-bucket.x", "a/b c%20"},
                                           {"s3n://b", "b", ""},
                                           {"s3://b/", "b", ""},
                                           {"s3://b//k", "b", "/k"}};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct fixture f;
        assert_int_equal(locate(&f, paths[i][0], NULL, 0), SILT_OK);
        assert_string_equal(f.place.bucket->name, paths[i][1]);
        assert_true(sl_str_eq_c(f.place.key, paths[i][2]));
        tear_down(&f);
    }
}

static void other_paths_are_refused(void **state)
{
    (void)state;
    static const char *const paths[] = {"b/k",         "s3:/b/k",   "s3:///k", "s3://a b/k", "s3://u@b/k",
                                        "s3://b:80/k", "s3://-b/k", "s3://..", "s3://b%2f/k"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct fixture f;
        assert_int_equal(locate(&f, paths[i], NULL, 0), SILT_EINVALID);
        tear_down(&f);
    }
    struct fixture f;
    char path[SL_S3_MAX_KEY + 8];
    memset(path, 'k', sizeof(path));
    memcpy(path, "s3://b/", 7);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(strlen(path), SL_S3_MAX_KEY + 7);
    assert_int_equal(locate(&f, path, NULL, 0), SILT_OK);
    tear_down(&f);
    char longer[SL_S3_MAX_KEY + 9];
    memset(longer, 'k', sizeof(longer));
    memcpy(longer, "s3://b/", 7);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(locate(&f, longer, NULL, 0), SILT_EINVALID);
    tear_down(&f);
    assert_int_equal(locate(&f, "s3://b--use1-az4--x-s3/k", NULL, 0), SILT_EUNSUPPORTED);
    tear_down(&f);
}

/* endpoint, host, base, TLS, AWS, path style, region. */
static void an_endpoint_is_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *endpoint, *host, *base;
        bool tls, aws, path_style;
        const char *region;
    } cases[] = {
        {"http://127.0.0.1:9000", "127.0.0.1:9000", "", false, false, true, NULL},
        {"https://minio.example:443/", "minio.example", "", true, false, true, NULL},
        {"http://minio.example:80/s3/", "minio.example", "/s3", false, false, true, NULL},
        {"minio.example:9000", "minio.example:9000", "", true, false, true, NULL},
        {"https://s3.eu-west-1.amazonaws.com", NULL, "", true, true, false, "eu-west-1"},
        {"https://s3.amazonaws.com", NULL, "", true, true, false, NULL},
        {"https://s3-fips.us-gov-west-1.amazonaws.com", "s3-fips.us-gov-west-1.amazonaws.com", "", true, true, false,
         "us-gov-west-1"},
        {"https://vpce-1.s3.eu-west-1.vpce.amazonaws.com", "vpce-1.s3.eu-west-1.vpce.amazonaws.com", "", true, true,
         false, NULL},
        {"https://amazonaws.com.example", "amazonaws.com.example", "", true, false, true, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        const silt_store_option option = {"aws_endpoint", cases[i].endpoint};
        assert_int_equal(locate(&f, "s3://b/k", &option, 1), SILT_OK);
        const struct sl_s3_bucket *bucket = f.place.bucket;
        assert_true(bucket->host == NULL ? cases[i].host == NULL
                                         : cases[i].host != NULL && strcmp(bucket->host, cases[i].host) == 0);
        assert_string_equal(bucket->base, cases[i].base);
        assert_int_equal(bucket->tls, cases[i].tls);
        assert_int_equal(bucket->aws, cases[i].aws);
        assert_int_equal(bucket->path_style, cases[i].path_style);
        assert_true(bucket->region == NULL ? cases[i].region == NULL
                                           : cases[i].region != NULL && strcmp(bucket->region, cases[i].region) == 0);
        assert_int_equal(bucket->condition, cases[i].aws ? SL_S3_CONDITION_TRUST : SL_S3_CONDITION_PROVE);
        tear_down(&f);
    }
}

static void check_refused(const silt_store_option *options, size_t n)
{
    struct fixture f;
    assert_int_equal(locate(&f, "s3://b/k", options, n), SILT_EINVALID);
    assert_null(strstr(f.err.message, "S3cret"));
    tear_down(&f);
}

static void unusable_values_are_refused(void **state)
{
    (void)state;
    static const silt_store_option options[] = {{"aws_endpoint", "ftp://x"},
                                                {"aws_endpoint", "http://"},
                                                {"aws_endpoint", "http://u:S3cret@x"},
                                                {"aws_endpoint", "http://x/a b"},
                                                {"aws_endpoint", "http://x?y"},
                                                {"aws_region", "a b"},
                                                {"aws_server_side_encryption", "x"},
                                                {"aws_server_side_encryption", "sse-c"},
                                                {"aws_sse_customer_key_base64", "S3cret"},
                                                {"aws_sse_customer_key_base64", "S3cret=="},
                                                {"aws_conditional_put", "maybe"},
                                                {"aws_s3_locking_provider", "redis"},
                                                {"aws_skip_signature", "x"},
                                                {"aws_request_payer", "somebody"},
                                                {"fs.s3a.aws.credentials.provider", "org.example.Mine"}};
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        check_refused(&options[i], 1);
    }
    const silt_store_option forbidden[] = {{"aws_endpoint", "http://x"}, {"allow_http", "false"}};
    check_refused(forbidden, 2);
    const silt_store_option plain[] = {{"aws_endpoint", "http://x"},
                                       {"aws_sse_customer_key_base64", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}};
    check_refused(plain, 2);
}

static void check_header(const struct sl_http_header *headers, size_t n, const char *name, const char *value)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(headers[i].name, name) == 0) {
            assert_string_equal(headers[i].value, value);
            return;
        }
    }
    fail_msg("no header %s", name);
}

static void encryption_becomes_headers(void **state)
{
    (void)state;
    struct fixture f;
    const silt_store_option kms[] = {{"aws_server_side_encryption", "aws:kms"},
                                     {"aws_sse_kms_key_id", "arn:aws:kms:k"},
                                     {"aws_sse_bucket_key_enabled", "true"}};
    assert_int_equal(locate(&f, "s3://b/k", kms, 3), SILT_OK);
    const struct sl_s3_bucket *bucket = f.place.bucket;
    check_header(bucket->creating, bucket->n_creating, "x-amz-server-side-encryption", "aws:kms");
    check_header(bucket->creating, bucket->n_creating, "x-amz-server-side-encryption-aws-kms-key-id", "arn:aws:kms:k");
    check_header(bucket->creating, bucket->n_creating, "x-amz-server-side-encryption-bucket-key-enabled", "true");
    assert_int_equal(bucket->n_content, 0);
    tear_down(&f);
    const silt_store_option customer = {"aws_sse_customer_key_base64", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="};
    assert_int_equal(locate(&f, "s3://b/k", &customer, 1), SILT_OK);
    bucket = f.place.bucket;
    check_header(bucket->content, bucket->n_content, "x-amz-server-side-encryption-customer-algorithm", "AES256");
    check_header(bucket->content, bucket->n_content, "x-amz-server-side-encryption-customer-key", customer.value);
    check_header(bucket->content, bucket->n_content, "x-amz-server-side-encryption-customer-key-MD5",
                 "KYvwGXoFFJ42a2u2GDWhwQ==");
    assert_int_equal(bucket->n_creating, 0);
    tear_down(&f);
    const silt_store_option hadoop[] = {{"fs.s3a.encryption.algorithm", "SSE-S3"},
                                        {"fs.s3a.requester.pays.enabled", "true"}};
    assert_int_equal(locate(&f, "s3://b/k", hadoop, 2), SILT_OK);
    check_header(f.place.bucket->creating, f.place.bucket->n_creating, "x-amz-server-side-encryption", "AES256");
    check_header(f.place.bucket->every, f.place.bucket->n_every, "x-amz-request-payer", "requester");
    tear_down(&f);
}

static void a_bucket_has_options_of_its_own(void **state)
{
    (void)state;
    struct fixture f;
    const silt_store_option options[] = {{"fs.s3a.bucket.one.endpoint", "http://one"},
                                         {"fs.s3a.endpoint", "http://all"},
                                         {"fs.s3a.path.style.access", "true"},
                                         {"aws_region", "r"}};
    assert_int_equal(locate(&f, "s3://one/k", options, 4), SILT_OK);
    struct sl_s3_bucket *one = f.place.bucket;
    assert_string_equal(one->host, "one");
    assert_string_equal(one->region, "r");
    assert_int_equal(sl_s3_locate(f.impl, "s3://two/k", &f.place, &f.err), SILT_OK);
    assert_string_equal(f.place.bucket->host, "all");
    assert_int_equal(sl_s3_locate(f.impl, "s3://one/other", &f.place, &f.err), SILT_OK);
    assert_ptr_equal(f.place.bucket, one);
    tear_down(&f);
}

static void virtual_hosts_can_be_chosen(void **state)
{
    (void)state;
    struct fixture f;
    const silt_store_option options[] = {{"aws_endpoint", "http://h"}, {"aws_virtual_hosted_style_request", "true"}};
    assert_int_equal(locate(&f, "s3://b/k", options, 2), SILT_OK);
    assert_false(f.place.bucket->path_style);
    tear_down(&f);
    assert_int_equal(locate(&f, "s3://with.dots/k", NULL, 0), SILT_OK); /* no certificate of AWS covers them */
    assert_true(f.place.bucket->path_style);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_profile_names_an_endpoint), cmocka_unit_test(an_address_has_no_host_for_each_bucket),
        cmocka_unit_test(a_path_is_bucket_and_key),    cmocka_unit_test(other_paths_are_refused),
        cmocka_unit_test(an_endpoint_is_taken_apart),  cmocka_unit_test(unusable_values_are_refused),
        cmocka_unit_test(encryption_becomes_headers),  cmocka_unit_test(a_bucket_has_options_of_its_own),
        cmocka_unit_test(virtual_hosts_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
