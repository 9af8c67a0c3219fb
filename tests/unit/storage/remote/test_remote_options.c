/* Options of remote stores: names, scopes, the environment, kinds of values. */
#include "storage/remote/remote_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_env.h"

struct fixture {
    struct test_env t;
    struct sl_remote_options *options;
    silt_error err;
};

static void set_up(struct fixture *f, const silt_store_option *options, size_t n)
{
    static const char *const variables[] = {"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        (void)unsetenv(variables[i]);
    }
    test_env_init(&f->t);
    f->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(sl_options_new(&f->t.env, options, n, &f->options, &f->err), SILT_OK);
}

static void tear_down(struct fixture *f)
{
    sl_options_free(f->options);
    test_env_check(&f->t);
}

static void check(const struct fixture *f, enum sl_option option, const char *scope, const char *expected)
{
    const char *value = sl_option_get(f->options, option, scope);
    if (expected == NULL) {
        assert_null(value);
    } else {
        assert_non_null(value);
        assert_string_equal(value, expected);
    }
}

static void every_name_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum sl_option option;
    } names[] = {{"AWS_REGION", SL_OPTION_S3_REGION},
                 {"aws_region", SL_OPTION_S3_REGION},
                 {"region", SL_OPTION_S3_REGION},
                 {"fs.s3a.endpoint.region", SL_OPTION_S3_REGION},
                 {"spark.hadoop.fs.s3a.access.key", SL_OPTION_S3_ACCESS_KEY},
                 {"AWS_SECRET_ACCESS_KEY", SL_OPTION_S3_SECRET_KEY},
                 {"azure_storage_account_key", SL_OPTION_AZURE_ACCOUNT_KEY},
                 {"fs.azure.account.key", SL_OPTION_AZURE_ACCOUNT_KEY},
                 {"google_service_account", SL_OPTION_GCS_ACCOUNT_FILE},
                 {"token", SL_OPTION_S3_SESSION_TOKEN},
                 {"token", SL_OPTION_AZURE_TOKEN}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct fixture f;
        set_up(&f, &(silt_store_option){names[i].name, "v"}, 1);
        check(&f, names[i].option, NULL, "v");
        tear_down(&f);
    }
}

static void scope_goes_before_all(void **state)
{
    (void)state;
    const silt_store_option options[] = {
        {"fs.s3a.bucket.my.bucket.endpoint", "http://one"},
        {"aws_endpoint", "http://all"},
        {"fs.s3a.bucket.b.endpoint.region", "r1"},
        {"fs.azure.account.key.acct.dfs.core.windows.net", "K1"},
    };
    struct fixture f;
    set_up(&f, options, 4);
    check(&f, SL_OPTION_S3_ENDPOINT, "my.bucket", "http://one");
    check(&f, SL_OPTION_S3_ENDPOINT, "my", "http://all");
    check(&f, SL_OPTION_S3_ENDPOINT, NULL, "http://all");
    check(&f, SL_OPTION_S3_REGION, "b", "r1");
    check(&f, SL_OPTION_S3_REGION, "c", NULL);
    check(&f, SL_OPTION_AZURE_ACCOUNT_KEY, "acct", "K1");
    check(&f, SL_OPTION_AZURE_ACCOUNT_KEY, "acct.dfs.core.windows.net", "K1");
    check(&f, SL_OPTION_AZURE_ACCOUNT_KEY, "acc", NULL);
    tear_down(&f);
}

static void environment_stands_in(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f, &(silt_store_option){"aws_endpoint_url", "http://given"}, 1);
    check(&f, SL_OPTION_S3_REGION, NULL, NULL);
    assert_int_equal(setenv("AWS_DEFAULT_REGION", "two", 1), 0);
    check(&f, SL_OPTION_S3_REGION, "b", "two");
    assert_int_equal(setenv("AWS_REGION", "one", 1), 0);
    check(&f, SL_OPTION_S3_REGION, NULL, "one");
    assert_int_equal(setenv("AWS_REGION", "", 1), 0);
    check(&f, SL_OPTION_S3_REGION, NULL, "two");
    assert_int_equal(setenv("AWS_ENDPOINT_URL", "http://variable", 1), 0);
    check(&f, SL_OPTION_S3_ENDPOINT, NULL, "http://given");
    assert_null(sl_option_given(f.options, SL_OPTION_S3_REGION, NULL));
    tear_down(&f);
}

static void unknown_name_is_refused_with_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *hint;
    } names[] = {{"aws_regin", "did you mean aws_region?"},
                 {"AWS_ENDPIONT_URL", "did you mean aws_endpoint_url?"},
                 {"fs.s3a.path.style.acess", "did you mean fs.s3a.path.style.access?"},
                 {"aws_secret", "did you mean aws_secret_access_key?"},
                 {"AWS_SECRET_ACCESS", "did you mean aws_secret_access_key?"},
                 {"aws_access", "did you mean aws_access_key_id?"},
                 {"aws_secret_key", "did you mean aws_secret_access_key?"},
                 {"azure_storage_account", "did you mean azure_storage_account_name?"},
                 {"fs.s3a.access", "did you mean fs.s3a.access.key?"},
                 {"fs.s3a.bucket.b.nothing.at.all", ""},
                 {"fs.s3a.access.key.b", ""},
                 {"xyz", ""},
                 {"", ""}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        silt_error err = SILT_ERROR_INIT;
        struct sl_remote_options *options = NULL;
        const silt_store_option option = {names[i].name, "S3cretValue"};
        assert_int_equal(sl_options_new(&t.env, &option, 1, &options, &err), SILT_EINVALID);
        assert_null(options);
        if (names[i].hint[0] != '\0') {
            assert_string_equal(err.hint, names[i].hint);
        }
        assert_null(strstr(err.message, "S3cret"));
        test_env_check(&t);
    }
}

static void one_name_twice_must_agree(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_remote_options *options = NULL;
    const silt_store_option same[] = {{"AWS_REGION", "a"}, {"aws_region", "a"}};
    assert_int_equal(sl_options_new(&t.env, same, 2, &options, NULL), SILT_OK);
    sl_options_free(options);
    const silt_store_option other[] = {{"AWS_REGION", "a"}, {"aws_region", "b"}};
    assert_int_equal(sl_options_new(&t.env, other, 2, &options, NULL), SILT_EINVALID);
    const silt_store_option secret[] = {{"AWS_SECRET_ACCESS_KEY", "s1"}, {"aws_secret_access_key", "s2"}};
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_options_new(&t.env, secret, 2, &options, &err), SILT_EINVALID);
    assert_null(strstr(err.message, "s1"));
    test_env_check(&t);
}

static void kinds_of_values_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } times[] = {{"30s", 30000000}, {"500ms", 500000}, {"2 minutes", 120000000}, {"5", 5000000}, {"1h", 3600000000}};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct fixture f;
        int64_t us = 0;
        set_up(&f, &(silt_store_option){"timeout", times[i].text}, 1);
        assert_int_equal(sl_option_duration(f.options, SL_OPTION_IDLE_TIMEOUT, NULL, &us, &f.err), SILT_OK);
        assert_int_equal(us, times[i].us);
        tear_down(&f);
    }
    static const char *const wrong[] = {" ", "x", "-1s", "1.5s", "0", "9223372036854775807h", "5 parsecs"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct fixture f;
        int64_t us = 7;
        set_up(&f, &(silt_store_option){"timeout", wrong[i]}, 1);
        assert_int_equal(sl_option_duration(f.options, SL_OPTION_IDLE_TIMEOUT, NULL, &us, &f.err), SILT_EINVALID);
        tear_down(&f);
    }
    struct fixture f;
    bool flag = true;
    const silt_store_option options[] = {{"allow_http", "FALSE"}, {"aws_skip_signature", "maybe"}};
    set_up(&f, options, 2);
    assert_int_equal(sl_option_bool(f.options, SL_OPTION_ALLOW_HTTP, NULL, &flag, &f.err), SILT_OK);
    assert_false(flag);
    assert_int_equal(sl_option_bool(f.options, SL_OPTION_S3_ANONYMOUS, NULL, &flag, &f.err), SILT_EINVALID);
    assert_string_equal(f.err.message, "option aws_skip_signature is 'maybe', expected true or false");
    tear_down(&f);
}

static void secrets_are_not_told(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_option_unusable(SL_OPTION_S3_SECRET_KEY, "hidden", "a key", &err), SILT_EINVALID);
    assert_string_equal(err.message, "option aws_secret_access_key cannot be used, expected a key");
    (void)sl_option_unusable(SL_OPTION_S3_ENDPOINT, "http:/u:hush@host/a?hush", "a URL", &err);
    assert_string_equal(err.message, "option aws_endpoint_url_s3 is 'http:/…@host/a?…', expected a URL");
}

struct seen {
    char text[512];
    size_t len;
};

static void note(void *ctx, const struct sl_option_source *source)
{
    struct seen *seen = ctx;
    const int n = snprintf(seen->text + seen->len, sizeof(seen->text) - seen->len, "%s%s%s=%s%s ",
                           source->is_variable ? "$" : "", sl_option_is_of(source->option, "S3_") ? "" : "!",
                           source->name, source->is_secret ? "?" : source->value,
                           source->option == SL_OPTION_UNUSED ? " unused" : "");
    seen->len += n > 0 ? (size_t)n : 0;
}

static void all_that_is_set_is_told_with_its_place(void **state)
{
    (void)state;
    struct fixture f;
    struct seen seen = {.len = 0};
    struct sl_buf source;
    set_up(&f,
           (const silt_store_option[]){{"Spark.hadoop.fs.s3a.endpoint", "http://x"},
                                       {"aws_secret_access_key", "s"},
                                       {"azure_storage_account_name", "a"},
                                       {"fs.s3a.fast.upload", "true"},
                                       {"aws_region", ""}},
           5);
    (void)clearenv(); /* the machine may have some of its own */
    (void)setenv("AWS_REGION", "r", 1);
    sl_options_each(f.options, note, &seen);
    assert_string_equal(seen.text, "fs.s3a.fast.upload=true unused aws_secret_access_key=? $AWS_REGION=r "
                                   "spark.hadoop.fs.s3a.endpoint=http://x !azure_storage_account_name=a ");
    sl_buf_init(&source, &f.t.env);
    sl_option_put_source(f.options, SL_OPTION_S3_ENDPOINT, NULL, &source);
    sl_buf_put_char(&source, '|');
    sl_option_put_source(f.options, SL_OPTION_S3_REGION, NULL, &source);
    sl_buf_put_char(&source, '|');
    sl_option_put_source(f.options, SL_OPTION_S3_ROLE, NULL, &source);
    assert_string_equal(sl_buf_cstr(&source), "option spark.hadoop.fs.s3a.endpoint|variable AWS_REGION|");
    sl_buf_release(&source);
    (void)unsetenv("AWS_REGION");
    tear_down(&f);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const silt_store_option options[] = {{"aws_region", "a"}, {"fs.s3a.bucket.b.endpoint", "http://x"}};
    for (size_t n = 1; n < 8; n++) {
        struct test_env t;
        test_env_init(&t);
        test_env_fail_at(&t, n);
        struct sl_remote_options *made = NULL;
        const silt_status status = sl_options_new(&t.env, options, 2, &made, NULL);
        assert_true(status == SILT_OK || made == NULL);
        assert_true(status == SILT_OK ? t.n_requests < n : true);
        sl_options_free(made);
        test_env_check(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_known),
        cmocka_unit_test(scope_goes_before_all),
        cmocka_unit_test(environment_stands_in),
        cmocka_unit_test(unknown_name_is_refused_with_the_nearest),
        cmocka_unit_test(one_name_twice_must_agree),
        cmocka_unit_test(kinds_of_values_are_read),
        cmocka_unit_test(secrets_are_not_told),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(all_that_is_set_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
