/* Signature Version 4: the examples of the AWS documentation, and one of our own that an implementation in Python signed. */
#include "storage/remote/s3/sigv4.h"

#include <stdio.h>
#include <string.h>

#include "test_env.h"

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define EXAMPLE_HOST "examplebucket.s3.amazonaws.com"
#define EXAMPLE_DATE "20130524T000000Z"

static const struct sl_sigv4_key example_key = {.access_key = "AKIAIOSFODNN7EXAMPLE",
                                                .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                                .region = "us-east-1",
                                                .service = "s3"};

static void check(const struct sl_sigv4_key *key, const struct sl_sigv4_request *request, const char *expected)
{
    struct test_env t;
    test_env_init(&t);
    struct sl_buf out;
    sl_buf_init(&out, &t.env);
    assert_int_equal(sl_sigv4_sign(&t.env, key, request, &out, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), expected);
    sl_buf_release(&out);
    test_env_check(&t);
}

static void range_of_an_object_is_signed(void **state)
{
    (void)state;
    const struct sl_http_header headers[] = {
        {"Range", "bytes=0-9"}, {"x-amz-content-sha256", EMPTY_HASH}, {"x-amz-date", EXAMPLE_DATE}};
    const struct sl_sigv4_request request = {.method = "GET",
                                             .host = SL_STR(EXAMPLE_HOST),
                                             .path = SL_STR("/test.txt"),
                                             .headers = headers,
                                             .n_headers = 3,
                                             .payload_hash = EMPTY_HASH,
                                             .date = EXAMPLE_DATE};
    check(&example_key, &request,
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void put_of_an_object_is_signed(void **state)
{
    (void)state;
    const char *hash = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    const struct sl_http_header headers[] = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                             {"x-amz-date", EXAMPLE_DATE},
                                             {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
                                             {"x-amz-content-sha256", hash}};
    const struct sl_sigv4_request request = {.method = "PUT",
                                             .host = SL_STR(EXAMPLE_HOST),
                                             .path = SL_STR("/test%24file.text"),
                                             .headers = headers,
                                             .n_headers = 4,
                                             .payload_hash = hash,
                                             .date = EXAMPLE_DATE};
    check(&example_key, &request,
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
          "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
          "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

static void check_query(const char *query, const char *signature)
{
    char expected[256];
    const struct sl_http_header headers[] = {{"x-amz-content-sha256", EMPTY_HASH}, {"x-amz-date", EXAMPLE_DATE}};
    const struct sl_sigv4_request request = {.method = "GET",
                                             .host = SL_STR(EXAMPLE_HOST),
                                             .query = sl_str_from(query),
                                             .headers = headers,
                                             .n_headers = 2,
                                             .payload_hash = EMPTY_HASH,
                                             .date = EXAMPLE_DATE};
    (void)snprintf(expected, sizeof(expected),
                   "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                   "SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=%s",
                   signature);
    check(&example_key, &request, expected);
}

static void parameters_are_signed_in_order(void **state)
{
    (void)state;
    check_query("lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    check_query("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    check_query("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    check_query("prefix=J&max-keys=2", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void another_service_and_the_root_are_signed(void **state)
{
    (void)state;
    const struct sl_sigv4_key key = {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service"};
    const struct sl_http_header headers[] = {{"X-Amz-Date", "20150830T123600Z"}};
    const struct sl_sigv4_request request = {.method = "GET",
                                             .host = SL_STR("example.amazonaws.com"),
                                             .headers = headers,
                                             .n_headers = 1,
                                             .payload_hash = EMPTY_HASH,
                                             .date = "20150830T123600Z"};
    check(&key, &request,
          "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
          "SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

/* Escapes, spaces in values, an unsigned body, a session token, a parameter twice. */
static void odd_parts_are_signed_as_they_are_sent(void **state)
{
    (void)state;
    const struct sl_sigv4_key key = {"AK", "se/cr+et", "eu-central-1", "s3"};
    const struct sl_http_header headers[] = {{"x-amz-date", "20261130T235959Z"},
                                             {"X-Amz-Security-Token", "to=ken//"},
                                             {"x-amz-content-sha256", SL_SIGV4_UNSIGNED},
                                             {"x-custom", "  a   b "}};
    const struct sl_sigv4_request request = {.method = "PUT",
                                             .host = SL_STR("127.0.0.1:7070"),
                                             .path = SL_STR("/b/t%20%C3%BC/%25-_.~%21%2B"),
                                             .query = SL_STR("z=1&a&list-type=2&a=%20"),
                                             .headers = headers,
                                             .n_headers = 4,
                                             .payload_hash = SL_SIGV4_UNSIGNED,
                                             .date = "20261130T235959Z"};
    check(&key, &request,
          "AWS4-HMAC-SHA256 Credential=AK/20261130/eu-central-1/s3/aws4_request, "
          "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token;x-custom, "
          "Signature=137fa00464a8df36fe6345f91674874ced9d7a946ae8e97d10c2c5d3549fd833");
}

static void too_many_parts_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_http_header headers[SL_SIGV4_MAX_HEADERS];
    for (size_t i = 0; i < SL_SIGV4_MAX_HEADERS; i++) {
        headers[i] = (struct sl_http_header){"x-a", "1"};
    }
    struct sl_sigv4_request request = {.method = "GET",
                                       .host = SL_STR("h"),
                                       .headers = headers,
                                       .n_headers = SL_SIGV4_MAX_HEADERS,
                                       .payload_hash = EMPTY_HASH,
                                       .date = EXAMPLE_DATE};
    struct sl_buf out;
    sl_buf_init(&out, &t.env);
    assert_int_equal(sl_sigv4_sign(&t.env, &example_key, &request, &out, NULL), SILT_ELIMIT);
    request.n_headers = SL_SIGV4_MAX_HEADERS - 1;
    assert_int_equal(sl_sigv4_sign(&t.env, &example_key, &request, &out, NULL), SILT_OK);
    request.query = SL_STR("a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a&a");
    assert_int_equal(sl_sigv4_sign(&t.env, &example_key, &request, &out, NULL), SILT_ELIMIT);
    sl_buf_release(&out);
    test_env_check(&t);
}

static void names_are_encoded(void **state)
{
    (void)state;
    struct sl_buf out;
    sl_buf_init(&out, silt_env_default());
    sl_sigv4_encode(&out, SL_STR("aZ09-._~ /%+\xc3\xbc"));
    assert_string_equal(sl_buf_cstr(&out), "aZ09-._~%20%2F%25%2B%C3%BC");
    sl_buf_clear(&out);
    sl_sigv4_encode_path(&out, SL_STR("/t a/_delta_log/0.json"));
    assert_string_equal(sl_buf_cstr(&out), "/t%20a/_delta_log/0.json");
    sl_buf_release(&out);
}

static void times_are_written(void **state)
{
    (void)state;
    char out[SL_SIGV4_DATE_SIZE];
    assert_int_equal(sl_sigv4_date(INT64_C(1369353600000000), out, NULL), SILT_OK);
    assert_string_equal(out, EXAMPLE_DATE);
    assert_int_equal(sl_sigv4_date(INT64_C(1798761599999999), out, NULL), SILT_OK);
    assert_string_equal(out, "20261231T235959Z");
    assert_int_equal(sl_sigv4_date(INT64_MAX, out, NULL), SILT_EINVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_of_an_object_is_signed),
        cmocka_unit_test(put_of_an_object_is_signed),
        cmocka_unit_test(parameters_are_signed_in_order),
        cmocka_unit_test(another_service_and_the_root_are_signed),
        cmocka_unit_test(odd_parts_are_signed_as_they_are_sent),
        cmocka_unit_test(too_many_parts_are_refused),
        cmocka_unit_test(names_are_encoded),
        cmocka_unit_test(times_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
