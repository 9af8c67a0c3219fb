/* Azure's Shared Key: signatures that an implementation in Python made from the documentation's rules. */
#include "storage/remote/azure/azure_sign.h"

#include <string.h>

#include "storage/remote/digest.h"
#include "test_env.h"

#define KEY "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
#define DATE                                         \
    {                                                \
        "x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT" \
    }
#define VERSION                      \
    {                                \
        "x-ms-version", "2026-02-06" \
    }

static void check(const struct sl_azure_signable *signable, const char *text, const char *value)
{
    struct test_env t;
    struct sl_buf key;
    struct sl_buf out;
    test_env_init(&t);
    sl_buf_init(&key, &t.env);
    sl_buf_init(&out, &t.env);
    assert_int_equal(sl_base64_decode(&key, sl_str_from(KEY), NULL), SILT_OK);
    assert_int_equal(sl_azure_text_to_sign(signable, &out, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), text);
    sl_buf_clear(&out);
    assert_int_equal(sl_azure_sign(&t.env, sl_buf_view(&key), signable, &out, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), value);
    sl_buf_release(&key);
    sl_buf_release(&out);
    test_env_check(&t);
}

static void conditional_put_is_signed(void **state)
{
    (void)state;
    const struct sl_http_header headers[] = {DATE,
                                             VERSION,
                                             {"x-ms-blob-type", "BlockBlob"},
                                             {"Content-Type", "application/octet-stream"},
                                             {"If-None-Match", "*"}};
    const struct sl_azure_signable signable = {.method = "PUT",
                                               .account = "myaccount",
                                               .path = SL_STR("/t/a%20b/%2525%C3%BC.json"),
                                               .headers = headers,
                                               .n_headers = 5,
                                               .body_len = 11};
    check(&signable,
          "PUT\n\n\n11\n\napplication/octet-stream\n\n\n\n*\n\n\nx-ms-blob-type:BlockBlob\n"
          "x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2026-02-06\n/myaccount/t/a%20b/%2525%C3%BC.json",
          "SharedKey myaccount:Dbm8SRHGxk2hny+tNQIiNHgg5zDr28bKN2hR96mU/Vs=");
}

static void parameters_are_signed_in_the_order_of_their_names(void **state)
{
    (void)state;
    const struct sl_http_header headers[] = {VERSION, DATE};
    const struct sl_http_header parameters[] = {{"restype", "container"},
                                                {"comp", "list"},
                                                {"startFrom", "a b/0=&"},
                                                {"prefix", "a b/"},
                                                {"include", "metadata"}};
    const struct sl_azure_signable signable = {.method = "GET",
                                               .account = "devstoreaccount1",
                                               .path = SL_STR("/devstoreaccount1/c"),
                                               .parameters = parameters,
                                               .n_parameters = 5,
                                               .headers = headers,
                                               .n_headers = 2};
    check(&signable,
          "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2026-02-06\n"
          "/devstoreaccount1/devstoreaccount1/c\ncomp:list\ninclude:metadata\nprefix:a b/\nrestype:container\n"
          "startfrom:a b/0=&",
          "SharedKey devstoreaccount1:z0CErhB3O1YdDxKaw6jJNGOktd9MAnjiKzkBG4kuWrk=");
}

static void a_range_of_one_version_is_signed(void **state)
{
    (void)state;
    const struct sl_http_header headers[] = {DATE, VERSION, {"x-ms-range", "bytes=0-9"}, {"If-Match", "\"0x8D\""}};
    const struct sl_azure_signable signable = {
        .method = "GET", .account = "myaccount", .path = SL_STR("/t/x"), .headers = headers, .n_headers = 4};
    check(&signable,
          "GET\n\n\n\n\n\n\n\n\"0x8D\"\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-range:bytes=0-9\n"
          "x-ms-version:2026-02-06\n/myaccount/t/x",
          "SharedKey myaccount:Df6HGjFRGPZ60uyhaLZputT9rrozGDX7F0mjBlHm36U=");
}

static void too_many_headers_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_buf out;
    struct sl_http_header headers[SL_AZURE_MAX_HEADERS + 1];
    test_env_init(&t);
    sl_buf_init(&out, &t.env);
    for (size_t i = 0; i <= SL_AZURE_MAX_HEADERS; i++) {
        headers[i] = (struct sl_http_header){"x-ms-a", "b"};
    }
    const struct sl_azure_signable signable = {
        .method = "GET", .account = "a", .headers = headers, .n_headers = SL_AZURE_MAX_HEADERS + 1};
    assert_int_equal(sl_azure_text_to_sign(&signable, &out, NULL), SILT_ELIMIT);
    sl_buf_release(&out);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditional_put_is_signed),
        cmocka_unit_test(parameters_are_signed_in_the_order_of_their_names),
        cmocka_unit_test(a_range_of_one_version_is_signed),
        cmocka_unit_test(too_many_headers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
