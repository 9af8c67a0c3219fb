/* The text of AWS's profiles. */
#include "storage/remote/s3/aws_profile.h"

#include "test_env.h"

static const char credentials_text[] = "# keys\n"
                                       "[default]\n"
                                       "aws_access_key_id = AKDEFAULT\r\n"
                                       "aws_secret_access_key=a=b/c+d==\n"
                                       "\n"
                                       "[ other ] ; a comment\n"
                                       "AWS_ACCESS_KEY_ID = AKOTHER # another\n"
                                       "; aws_secret_access_key = no\n"
                                       "  aws_secret_access_key = nested\n"
                                       "[profile odd]\n"
                                       "x = 1\n";
static const char config_text[] = "[default]\n"
                                  "region = eu-west-1\n"
                                  "aws_access_key_id = never\n"
                                  "[profile other]\n"
                                  "region=us-east-2\n"
                                  "[other]\n"
                                  "role_arn = not-this\n"
                                  "[profile\tlast]\n"
                                  "role_arn = arn\n"
                                  "empty =\n"
                                  "noequals\n"
                                  "=x\n";

static void check(const struct sl_aws_files *files, const char *profile, const char *key, const char *expected)
{
    const struct sl_str value = sl_aws_profile_get(files, sl_str_from(profile), key);
    if (expected == NULL) {
        assert_int_equal(value.len, 0);
    } else {
        assert_true(sl_str_eq_c(value, expected));
    }
}

static void settings_are_found(void **state)
{
    (void)state;
    struct sl_aws_files files;
    sl_buf_init(&files.credentials, silt_env_default());
    sl_buf_init(&files.config, silt_env_default());
    sl_buf_put_c(&files.credentials, credentials_text);
    sl_buf_put_c(&files.config, config_text);
    check(&files, "default", "aws_access_key_id", "AKDEFAULT");
    check(&files, "default", "aws_secret_access_key", "a=b/c+d==");
    check(&files, "default", "region", "eu-west-1");
    check(&files, "other", "aws_access_key_id", "AKOTHER");
    check(&files, "other", "aws_secret_access_key", NULL);
    check(&files, "other", "region", "us-east-2");
    check(&files, "other", "role_arn", NULL);
    check(&files, "last", "role_arn", "arn");
    check(&files, "last", "empty", NULL);
    check(&files, "nobody", "region", NULL);
    assert_true(sl_aws_profile_exists(&files, SL_STR("last")));
    assert_true(sl_aws_profile_exists(&files, SL_STR("profile odd"))); /* in the file of credentials that is its name */
    assert_false(sl_aws_profile_exists(&files, SL_STR("odd")));
    assert_false(sl_aws_profile_exists(&files, SL_STR("nobody")));
    sl_aws_files_release(&files);
}

static void an_endpoint_is_the_services_own_or_that_of_all(void **state)
{
    (void)state;
    static const char text[] = "[default]\n"
                               "endpoint_url = http://all # of any service\n"
                               "[profile both]\n"
                               "services = lab\n"
                               "endpoint_url = http://all\n"
                               "[profile dynamo]\n"
                               "services = other\n"
                               "[services lab]\n"
                               "dynamodb =\n"
                               "  endpoint_url = http://dynamo\n"
                               "s3 =\n"
                               "  signature_version = s3v4\n"
                               "\tendpoint_url = http://s3\n"
                               "[services other]\n"
                               "s3 =\n"
                               "dynamodb =\n"
                               "  endpoint_url = http://dynamo\n"
                               "[profile none]\n";
    static const char *const expected[][2] = {
        {"default", "http://all"}, {"both", "http://s3"}, {"dynamo", ""}, {"none", ""}, {"nobody", ""}};
    struct sl_aws_files files;
    sl_buf_init(&files.credentials, silt_env_default());
    sl_buf_init(&files.config, silt_env_default());
    sl_buf_put_c(&files.config, text);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct sl_str found = sl_aws_profile_endpoint(&files, sl_str_from(expected[i][0]));
        assert_true(found.len == 0 ? expected[i][1][0] == '\0' : sl_str_eq_c(found, expected[i][1]));
    }
    sl_aws_files_release(&files);
}

static void odd_texts_have_no_settings(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "\n\n", "[", "[default", "]default[", "region = x\n[default]", "[default]\n\0=", "="};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sl_aws_files files;
        sl_buf_init(&files.credentials, silt_env_default());
        sl_buf_init(&files.config, silt_env_default());
        sl_buf_put_c(&files.credentials, texts[i]);
        sl_buf_put_c(&files.config, texts[i]);
        check(&files, "default", "region", NULL);
        sl_aws_files_release(&files);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_found),
        cmocka_unit_test(an_endpoint_is_the_services_own_or_that_of_all),
        cmocka_unit_test(odd_texts_have_no_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
