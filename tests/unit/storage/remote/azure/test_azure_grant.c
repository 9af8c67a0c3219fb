/* How tokens are asked for, and what is made of answers. No secret may get into an error. */
#include "storage/remote/azure/azure_grant.h"

#include <string.h>

#include "test_env.h"

#define NOW_S INT64_C(1577836800) /* where the test's clock starts */

struct rig {
    struct test_env test;
    struct sl_arena arena;
    struct sl_buf token;
    int64_t expires_us;
    silt_error err;
};

static int set_up(void **state)
{
    static struct rig rig;
    test_env_init(&rig.test);
    sl_arena_init(&rig.arena, &rig.test.env);
    sl_buf_init(&rig.token, &rig.test.env);
    rig.expires_us = 0;
    rig.err = (silt_error)SILT_ERROR_INIT;
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    sl_arena_release(&rig->arena);
    sl_buf_release(&rig->token);
    test_env_check(&rig->test);
    return 0;
}

/* ---- asking ---- */

static struct sl_http_request ask(struct rig *rig, const struct sl_azure_grant *grant, const char *assertion)
{
    struct sl_http_request request = {0};
    assert_int_equal(sl_azure_grant_request(grant, sl_str_from(assertion), &rig->arena, &request, &rig->err), SILT_OK);
    return request;
}

static void client_secret_is_sent_as_a_form(void **state)
{
    struct rig *rig = *state;
    struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_SECRET,
                                   .client_id = "id",
                                   .secret = "a&b=c+~",
                                   .url = "https://login.example/t/oauth2/v2.0/token"};
    struct sl_http_request request = ask(rig, &grant, NULL);
    assert_string_equal(request.method, "POST");
    assert_string_equal(request.url, grant.url);
    assert_string_equal(request.body,
                        "grant_type=client_credentials&client_id=id&scope=https%3A%2F%2Fstorage.azure.com%2F.default"
                        "&client_secret=a%26b%3Dc%2B~");
    assert_int_equal(request.body_len, strlen(request.body));
    grant.url = "https://login.example/t/oauth2/token";
    request = ask(rig, &grant, NULL);
    assert_non_null(strstr(request.body, "&resource=https%3A%2F%2Fstorage.azure.com%2F&"));
}

static void federated_token_is_the_assertion(void **state)
{
    struct rig *rig = *state;
    const struct sl_azure_grant grant = {
        .kind = SL_AZURE_GRANT_FEDERATED, .client_id = "id", .url = "https://login.example/t/oauth2/v2.0/token"};
    const struct sl_http_request request = ask(rig, &grant, "jwt");
    assert_non_null(
        strstr(request.body, "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"));
    assert_non_null(strstr(request.body, "&client_assertion=jwt"));
}

static void managed_identity_is_asked_as_a_machine_or_as_an_app(void **state)
{
    struct rig *rig = *state;
    struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_MACHINE, .url = SL_AZURE_METADATA, .client_id = "id"};
    struct sl_http_request request = ask(rig, &grant, NULL);
    assert_string_equal(request.method, "GET");
    assert_string_equal(request.url, SL_AZURE_METADATA
                        "?api-version=2018-02-01&resource=https%3A%2F%2Fstorage.azure.com&client_id=id");
    assert_string_equal(request.headers[0].name, "Metadata");
    grant.identity_header = "h";
    grant.resource_id = "/r";
    grant.url = "http://127.0.0.1/msi/token";
    request = ask(rig, &grant, NULL);
    assert_string_equal(request.url, "http://127.0.0.1/msi/token?api-version=2019-08-01"
                                     "&resource=https%3A%2F%2Fstorage.azure.com&mi_res_id=%2Fr");
    assert_string_equal(request.headers[0].name, "X-IDENTITY-HEADER");
    assert_string_equal(request.headers[0].value, "h");
}

/* ---- answers ---- */

static silt_status answer(struct rig *rig, int code, const char *body)
{
    const struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_SECRET};
    struct sl_http_request request = {.code = code};
    sl_buf_init(&request.answer, &rig->test.env);
    sl_buf_put_c(&request.answer, body);
    sl_buf_clear(&rig->token);
    const silt_status status = sl_azure_grant_answer(&grant, &request, &rig->test.env, &rig->token, &rig->expires_us,
                                                     &rig->err);
    sl_buf_release(&request.answer);
    return status;
}

static void expect_token(struct rig *rig, const char *body, int64_t lives_s)
{
    assert_int_equal(answer(rig, 200, body), SILT_OK);
    assert_string_equal(sl_buf_cstr(&rig->token), "tok");
    assert_int_equal(rig->expires_us, (NOW_S + lives_s) * 1000000);
}

static void expiry_comes_in_several_forms(void **state)
{
    struct rig *rig = *state;
    expect_token(rig, "{\"access_token\":\"tok\",\"expires_in\":3599}", 3599);
    expect_token(rig, "{\"access_token\":\"tok\",\"expires_in\":\"3599\"}", 3599);
    expect_token(rig, "{\"access_token\":\"tok\",\"expires_on\":\"1577836900\",\"expires_in\":\"1\"}", 100);
    expect_token(rig, "{\"access_token\":\"tok\"}", 600);
    expect_token(rig, "{\"access_token\":\"tok\",\"expires_in\":-5}", 0);
    expect_token(rig, "{\"access_token\":\"tok\",\"expires_in\":9223372036854775807}", 2592000);
}

static void answers_without_a_token_are_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const bodies[] = {
        "", "x", "{}", "[]", "{\"access_token\":\"\"}", "{\"access_token\":1}", "{\"access_token\":\"a\\r\\nX: y\"}"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        if (answer(rig, 200, bodies[i]) != SILT_EIO) {
            fail_msg("%s was taken", bodies[i]);
        }
    }
}

static void a_refusal_tells_the_code_and_not_the_text(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(
        answer(rig, 401,
               "{\"error\":\"invalid_client\",\"error_description\":\"AADSTS7000215: Invalid client secret "
               "hush-hush provided.\"}"),
        SILT_EACCESS);
    assert_non_null(strstr(rig->err.message, "HTTP 401 invalid_client AADSTS7000215"));
    assert_null(strstr(rig->err.message, "hush"));
    assert_int_equal(answer(rig, 400, "hush-hush"), SILT_EACCESS);
    assert_null(strstr(rig->err.message, "hush"));
    assert_int_equal(answer(rig, 400, "{\"error\":\"hush hush\"}"), SILT_EACCESS);
    assert_null(strstr(rig->err.message, "hush"));
    assert_int_equal(answer(rig, 503, ""), SILT_EIO);
}

static void the_cli_prints_a_token(void **state)
{
    struct rig *rig = *state;
    const char *text =
        "{\"accessToken\":\"tok\",\"expiresOn\":\"2020-01-01 01:00:00.000000\",\"expires_on\":1577836900}";
    assert_int_equal(sl_azure_cli_answer(sl_str_from(text), &rig->test.env, &rig->token, &rig->expires_us, &rig->err),
                     SILT_OK);
    assert_string_equal(sl_buf_cstr(&rig->token), "tok");
    assert_int_equal(rig->expires_us, INT64_C(1577836900000000));
    assert_int_equal(
        sl_azure_cli_answer(SL_STR("Please log in"), &rig->test.env, &rig->token, &rig->expires_us, &rig->err),
        SILT_EIO);
}

#define ENTRY(key, secret, realm, target, expires)                                        \
    "\"" key "\":{\"secret\":\"" secret "\",\"realm\":\"" realm "\",\"target\":\"" target \
    "\",\"expires_on\":\"" expires "\"}"
#define STORAGE "https://storage.azure.com//.default https://storage.azure.com//user_impersonation"

static bool cached(struct rig *rig, const char *text, const char *tenant)
{
    bool found = true;
    sl_buf_clear(&rig->token);
    assert_int_equal(
        sl_azure_cli_cache(sl_str_from(text), tenant, &rig->test.env, &rig->token, &rig->expires_us, &found, &rig->err),
        SILT_OK);
    return found;
}

static void the_cli_cache_serves_one_clear_token(void **state)
{
    struct rig *rig = *state;
    assert_true(cached(rig,
                       "{\"AccessToken\":{" ENTRY("a", "tok", "t1", STORAGE, "1577840000") "," ENTRY(
                           "b", "no", "t1", "https://management.core.windows.net//.default", "1577840000") "}}",
                       NULL));
    assert_string_equal(sl_buf_cstr(&rig->token), "tok");
    assert_int_equal(rig->expires_us, INT64_C(1577840000000000));
    const char *two = "{\"AccessToken\":{" ENTRY("a", "one", "t1", STORAGE,
                                                 "1577840000") "," ENTRY("b", "two", "t2", STORAGE, "1577840000") "}}";
    assert_false(cached(rig, two, NULL));
    assert_true(cached(rig, two, "T2"));
    assert_string_equal(sl_buf_cstr(&rig->token), "two");
    assert_false(cached(rig, two, "t3"));
    assert_false(cached(rig, "{\"AccessToken\":{" ENTRY("a", "old", "t1", STORAGE, "1577836810") "}}", NULL));
    assert_false(cached(rig, "not json", NULL));
    assert_false(cached(rig, "{}", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(client_secret_is_sent_as_a_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(federated_token_is_the_assertion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(managed_identity_is_asked_as_a_machine_or_as_an_app, set_up, tear_down),
        cmocka_unit_test_setup_teardown(expiry_comes_in_several_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_without_a_token_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_tells_the_code_and_not_the_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cli_prints_a_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cli_cache_serves_one_clear_token, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
