/* Where AWS credentials come from, before a server that plays the token service, a container's endpoint and an instance's metadata. */
#include "storage/remote/s3/aws_credentials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s3_fixture.h"
#include "storage/remote/s3/aws_metadata.h"
#include "temp_dir.h"
#include "test_env.h"

#define JSON                                                                                                \
    "body={\"AccessKeyId\":\"AKJSON\"%2C\"SecretAccessKey\":\"" S3_FIXTURE_SECRET "\"%2C\"Token\":\"T\"%2C" \
    "\"Expiration\":\"2030-01-01T00:00:00Z\"}"
#define STS                                                                                                                        \
    "body=<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKROLE</AccessKeyId><SecretAccessKey>" S3_FIXTURE_SECRET \
    "</SecretAccessKey><SessionToken>ST</SessionToken><Expiration>2030-01-01T00:00:00Z"                                            \
    "</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"
#define NO_KEYS "aws_access_key_id", "", "aws_secret_access_key", ""

struct world {
    struct stub_store s3;
    char dir[256];
    char file[300];
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    assert_non_null(w);
    s3_fixture_start(&w->s3);
    assert_true(temp_dir_make(w->dir, sizeof(w->dir)));
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    assert_null(strstr(w->s3.err.message, S3_FIXTURE_SECRET));
    assert_null(strstr(stub_store_log(&w->s3), S3_FIXTURE_SECRET));
    assert_true(temp_dir_remove(w->dir));
    stub_store_stop(&w->s3);
    free(w);
    return 0;
}

/* A file in the world's folder; its path lasts until the next. */
static const char *write_file(struct world *w, const char *name, const char *text)
{
    (void)snprintf(w->file, sizeof(w->file), "%s/%s", w->dir, name);
    FILE *file = fopen(w->file, "wb");
    assert_non_null(file);
    assert_int_equal(fputs(text, file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
    return w->file;
}

static silt_status fetch(struct world *w, const char *const *options, struct sl_credential **out)
{
    struct sl_aws_chain chain = {.context = &w->s3.context, .bucket = "b"};
    s3_fixture_options(&w->s3, options);
    w->s3.err = (silt_error)SILT_ERROR_INIT;
    return sl_aws_credentials_fetch(&chain, NULL, out, &w->s3.err);
}

static void check(struct world *w, const char *const *options, const char *id, const char *token)
{
    struct sl_credential *got = NULL;
    assert_int_equal(fetch(w, options, &got), SILT_OK);
    assert_string_equal(got->id, id);
    assert_string_equal(got->secret, S3_FIXTURE_SECRET);
    if (token == NULL) {
        assert_null(got->token);
    } else {
        assert_string_equal(got->token, token);
    }
    assert_int_equal(got->expires_us != 0, token != NULL && strcmp(token, "given") != 0);
    sl_credential_unref(got);
}

static void check_failure(struct world *w, const char *const *options, silt_status status, const char *text)
{
    struct sl_credential *got = NULL;
    assert_int_equal(fetch(w, options, &got), status);
    assert_null(got);
    assert_non_null(strstr(w->s3.err.message, text));
}

static void options_go_before_the_environment(void **state)
{
    struct world *w = *state;
    (void)setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", S3_FIXTURE_SECRET, 1);
    (void)setenv("AWS_SESSION_TOKEN", "given", 1);
    check(w, NULL, "AKTEST", NULL); /* not with the token of the environment's key */
    check(w, WORDS("aws_session_token", "given"), "AKTEST", "given");
    check(w, WORDS(NO_KEYS), "AKENV", "given");
    check_failure(w, WORDS("aws_secret_access_key", ""), SILT_EACCESS, "is set without aws_secret_access_key");
}

static void a_profile_gives_keys(void **state)
{
    struct world *w = *state;
    (void)setenv("AWS_SHARED_CREDENTIALS_FILE",
                 write_file(w, "credentials",
                            "[default]\naws_access_key_id=AKDEF\naws_secret_access_key=" S3_FIXTURE_SECRET
                            "\n[p]\naws_access_key_id=AKP\naws_secret_access_key=" S3_FIXTURE_SECRET
                            "\naws_session_token=given\n[half]\naws_access_key_id=AKHALF\n"
                            "[sso]\nsso_session=x\n"),
                 1);
    check(w, WORDS(NO_KEYS), "AKDEF", NULL);
    check(w, WORDS(NO_KEYS, "aws_profile", "p"), "AKP", "given");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "half"), SILT_EACCESS, "half a pair");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "none"), SILT_EACCESS, "there is no AWS profile none");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "sso"), SILT_EUNSUPPORTED, "sso_session");
    assert_non_null(strstr(w->s3.err.hint, "export-credentials"));
    (void)setenv("AWS_ACCESS_KEY_ID", "AKENV", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", S3_FIXTURE_SECRET, 1);
    check(w, WORDS(NO_KEYS), "AKENV", NULL);
    check(w, WORDS(NO_KEYS, "aws_profile", "p"), "AKP", "given"); /* asked for by name */
}

#define PRINTED(members)                                                                                   \
    "credential_process=printf '%s' '{\"AccessKeyId\":\"AKPROC\",\"SecretAccessKey\":\"" S3_FIXTURE_SECRET \
    "\"" members "}'\n"

static void a_program_gives_credentials(void **state)
{
    struct world *w = *state;
    (void)setenv(
        "AWS_CONFIG_FILE",
        write_file(
            w, "config",
            "[default]\n" PRINTED(",\"Version\":1,\"SessionToken\":\"ST\",\"Expiration\":\"2030-01-01T00:00:00Z\"") "[profile plain]\n" PRINTED(",\"Version\":1") "[profile two]\n" PRINTED(
                ",\"Version\":2") "[profile half]\ncredential_process=echo '{\"Version\":1,\"AccessKeyId\":\"A\"}'\n"
                                  "[profile never]\n" PRINTED(
                                      ",\"Version\":1,\"Expiration\":\"soon\"") "[profile broken]\ncredential_process=echo " S3_FIXTURE_SECRET
                                                                                "\n"
                                                                                "[profile failing]\ncredential_process=echo " S3_FIXTURE_SECRET
                                                                                " >&2; exit 7\n"
                                                                                "[profile r]\nrole_arn=arn:r\nsource_profile=plain\n"),
        1);
    check(w, WORDS(NO_KEYS), "AKPROC", "ST");
    check(w, WORDS(NO_KEYS, "aws_profile", "plain"), "AKPROC", NULL);
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "two"), SILT_EACCESS,
                  "profile two: it printed no credentials of version 1");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "half"), SILT_EACCESS, "no SecretAccessKey");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "never"), SILT_EACCESS, "that is no time");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "broken"), SILT_EACCESS, "no JSON");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "failing"), SILT_EACCESS, "it ended with 7");
    stub_store_script(&w->s3, "POST", "/sts", WORDS(STS));
    check(w, WORDS(NO_KEYS, "aws_profile", "r", "aws_endpoint_url_sts", "STUB/sts"), "AKROLE", "ST");
}

static void a_profile_takes_on_roles(void **state)
{
    struct world *w = *state;
    (void)setenv("AWS_CONFIG_FILE",
                 write_file(w, "config",
                            "[default]\naws_access_key_id=AKDEF\naws_secret_access_key=" S3_FIXTURE_SECRET
                            "\n[profile r]\nrole_arn=arn:r\nsource_profile=q\nexternal_id=x\n"
                            "[profile q]\nrole_arn=arn:q\nsource_profile=default\n"
                            "[profile ring]\nrole_arn=a\nsource_profile=ring2\n[profile ring2]\nrole_arn=a\n"
                            "source_profile=ring\n[profile lost]\nrole_arn=a\nsource_profile=nobody\n"
                            "[profile machine]\nrole_arn=a\ncredential_source=Ec2InstanceMetadata\n"),
                 1);
    stub_store_script(&w->s3, "POST", "/sts", WORDS(STS, STS));
    check(w, WORDS(NO_KEYS, "aws_profile", "r", "aws_endpoint_url_sts", "STUB/sts"), "AKROLE", "ST");
    assert_int_equal(stub_server_count(&w->s3.stub, "/sts"), 2);
    const char *log = stub_store_log(&w->s3);
    assert_non_null(strstr(log, "Credential=AKDEF/"));
    assert_non_null(strstr(log, "Credential=AKROLE/")); /* the second role is taken on by the first */
    assert_non_null(strstr(log, "/us-east-1/sts/aws4_request"));
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "ring"), SILT_EACCESS, "more than 5 roles");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "lost"), SILT_EACCESS, "there is no AWS profile nobody");
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "machine"), SILT_EUNSUPPORTED, "credential_source");
    stub_store_script(&w->s3, "POST", "/sts",
                      WORDS("code=403,body=<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>"));
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "q", "aws_endpoint_url_sts", "STUB/sts"), SILT_EACCESS,
                  "refused role arn:q: HTTP 403 AccessDenied");
    stub_store_script(&w->s3, "POST", "/sts", WORDS("body=<AssumeRoleResponse/>"));
    check_failure(w, WORDS(NO_KEYS, "aws_profile", "q", "aws_endpoint_url_sts", "STUB/sts"), SILT_EIO,
                  "has no credentials");
}

static void a_role_in_options_is_taken_on(void **state)
{
    struct world *w = *state;
    stub_store_script(&w->s3, "POST", "/sts", WORDS(STS));
    check(w, WORDS("aws_role_arn", "arn:aws:iam::1:role/x", "aws_endpoint_url_sts", "STUB/sts"), "AKROLE", "ST");
    assert_non_null(strstr(stub_store_log(&w->s3), "Credential=AKTEST/"));
}

static void a_web_identity_is_exchanged(void **state)
{
    struct world *w = *state;
    char file[300];
    (void)snprintf(file, sizeof(file), "%s", write_file(w, "token", "eyJ.token\n"));
    stub_store_script(&w->s3, "POST", "/sts", WORDS("code=500", STS));
    check(
        w,
        WORDS(NO_KEYS, "aws_role_arn", "arn", "aws_web_identity_token_file", file, "aws_endpoint_url_sts", "STUB/sts"),
        "AKROLE", "ST");
    assert_null(strstr(stub_store_log(&w->s3), "Authorization")); /* the token speaks for itself */
    check_failure(w, WORDS(NO_KEYS, "aws_web_identity_token_file", file), SILT_EACCESS, "is set without aws_role_arn");
    check_failure(w, WORDS(NO_KEYS, "aws_role_arn", "arn", "aws_web_identity_token_file", "/nothing"), SILT_ENOTFOUND,
                  "/nothing");
}

static void a_container_gives_credentials(void **state)
{
    struct world *w = *state;
    char file[300];
    (void)snprintf(file, sizeof(file), "%s", write_file(w, "token", "tok en\n"));
    stub_store_script(&w->s3, "GET", "/creds", WORDS("code=503", JSON));
    check(w,
          WORDS(NO_KEYS, "aws_container_credentials_full_uri", "STUB/creds", "aws_container_authorization_token_file",
                file),
          "AKJSON", "T");
    assert_non_null(strstr(stub_store_log(&w->s3), "[\"Authorization\", \"tok en\"]"));
    check_failure(w, WORDS(NO_KEYS, "aws_container_credentials_full_uri", "http://example.com/x"), SILT_EINVALID,
                  "aws_container_credentials_full_uri");
    stub_store_script(&w->s3, "GET", "/creds", WORDS("code=403"));
    check_failure(w, WORDS(NO_KEYS, "aws_container_credentials_full_uri", "STUB/creds"), SILT_EACCESS, "HTTP 403");
}

static void an_instance_gives_credentials(void **state)
{
    struct world *w = *state;
    (void)unsetenv("AWS_EC2_METADATA_DISABLED");
    stub_store_script(&w->s3, "PUT", "/latest/api/token", WORDS("body=TOKEN", "body=TOKEN", "code=403"));
    stub_store_script(&w->s3, "GET", "/latest/meta-data/iam/security-credentials/my-role", WORDS(JSON));
    stub_store_script(&w->s3, "GET", "/latest/meta-data/iam/security-credentials/", WORDS("body=my-role", "body=a b"));
    check(w, WORDS(NO_KEYS, "aws_metadata_endpoint", "STUB"), "AKJSON", "T");
    const char *log = stub_store_log(&w->s3);
    assert_non_null(strstr(log, "[\"X-aws-ec2-metadata-token-ttl-seconds\", \"21600\"]"));
    assert_non_null(strstr(log, "[\"X-aws-ec2-metadata-token\", \"TOKEN\"]"));
    check_failure(w, WORDS(NO_KEYS, "aws_metadata_endpoint", "STUB"), SILT_EACCESS, "no AWS credentials were found");
    check_failure(w, WORDS(NO_KEYS, "aws_metadata_endpoint", "STUB"), SILT_EACCESS, "no AWS credentials were found");
    check_failure(w, WORDS(NO_KEYS, "aws_metadata_endpoint", "http://127.0.0.1:1"), SILT_EACCESS,
                  "no AWS credentials were found");
    assert_non_null(strstr(w->s3.err.hint, "AWS_ACCESS_KEY_ID"));
}

static void hosts_of_containers_are_few(void **state)
{
    (void)state;
    static const char *const good[] = {"http://127.0.0.1/x",     "http://localhost:80/x",    "http://[::1]:1/x",
                                       "http://169.254.170.2/x", "http://169.254.170.23/v1", "https://example.com/x"};
    static const char *const bad[] = {"http://example.com/x",
                                      "http://127.0.0.1.example.com",
                                      "http://127.0.0.1@example.com/",
                                      "http://169.254.170.234/x",
                                      "ftp://127.0.0.1/x",
                                      "127.0.0.1",
                                      "",
                                      "https://a@b/"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(sl_aws_container_url_allowed(sl_str_from(good[i])));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_aws_container_url_allowed(sl_str_from(bad[i])));
    }
}

static void answers_without_credentials_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "[]",
                                        "{}",
                                        "{\"AccessKeyId\":\"a\"}",
                                        "{\"AccessKeyId\":1,\"SecretAccessKey\":\"b\"}",
                                        "{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\",\"Expiration\":\"soon\"}",
                                        "{\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\\u0000c\"}"};
    struct test_env t;
    test_env_init(&t);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sl_credential *got = NULL;
        silt_error err = SILT_ERROR_INIT;
        assert_int_not_equal(sl_aws_credential_parse(&t.env, sl_str_from(texts[i]), &got, &err), SILT_OK);
        assert_null(got);
    }
    test_env_check(&t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(options_go_before_the_environment),
        TEST(a_profile_gives_keys),
        TEST(a_program_gives_credentials),
        TEST(a_profile_takes_on_roles),
        TEST(a_role_in_options_is_taken_on),
        TEST(a_web_identity_is_exchanged),
        TEST(a_container_gives_credentials),
        TEST(an_instance_gives_credentials),
        cmocka_unit_test(hosts_of_containers_are_few),
        cmocka_unit_test(answers_without_credentials_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
