/* What is told of an examination: no secrets, and nothing when nobody listens. */
#include "storage/remote/remote_trace.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "test_env.h"

struct fixture {
    struct test_env t;
    struct sl_trace trace;
    struct sl_remote_context context;
    char told[1200];
};

static void keep(void *ctx, const silt_doctor_step *step)
{
    struct fixture *f = ctx;
    (void)snprintf(f->told, sizeof(f->told), "%d %s/%s: %s (%s)", (int)step->verdict, step->step, step->subject,
                   step->text, step->hint);
}

static void set_up(struct fixture *f)
{
    test_env_init(&f->t);
    f->trace = (struct sl_trace){keep, f};
    f->context = (struct sl_remote_context){.env = &f->t.env, .trace = &f->trace};
    f->told[0] = '\0';
}

static void values_lose_passwords_and_queries(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"eu-west-1", "eu-west-1"},
        {"http://host:1/base", "http://host:1/base"},
        {"http://me:hush@host:1/base", "http://…@host:1/base"},
        {"https://u@x:p@host", "https://…@host"},
        {"https://acct.blob/c?sv=1&sig=hush", "https://acct.blob/c?…"},
        {"me:hush@proxy:1", "…@proxy:1"},
        {"https://host/a@b", "https://host/a@b"},
        {"https://host#hush", "https://host?…"},
        {"http://[::1]:9/a", "http://[::1]:9/a"},
        {"arn:aws:iam::1:role/r", "arn:aws:iam::1:role/r"},
        {"h1:50070,h2:50070", "h1:50070,h2:50070"},
        {"/etc/ssl/ca.pem", "/etc/ssl/ca.pem"},
        {"", ""},
    };
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct sl_buf out;
        sl_buf_init(&out, &f.t.env);
        sl_trace_put_value(&out, pairs[i][0]);
        assert_string_equal(sl_buf_cstr(&out), pairs[i][1]);
        sl_buf_release(&out);
    }
    test_env_check(&f.t);
}

/* What is mistyped: where the password is, is anybody's guess, and more is left out than of a URL. */
static void values_that_are_no_urls_lose_more(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"http:/u:hush@host", "http:/…@host"},
        {"http:///u:hush@host", "http:///…@host"},
        {"http:u:hush@host", "…@host"},
        {"//u:hush@host:1", "//…@host:1"},
        {"/u:hush@host", "…@host"},
        {"u:hush@host", "…@host"},
        {"http://u:hu/sh@host/base", "http://…@host/base"},
        {"http://u:h@:1/ush@host", "http://…@host"},
        {"http://u:h?ush@host", "http://…?…"},
        {"u:h#ush@host", "…?…"},
        {"http://u:hush%40host", "http://…"},
        {"http://u:hush", "http://…"},
        {"http:/u:hush", "http:/…"},
        {"http:// u:hush@host", "http://…@host"},
        {"host#hush", "host?…"},
        {"@", "…@"},
        {"http://", "http://"},
    };
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct sl_buf out;
        sl_buf_init(&out, &f.t.env);
        sl_trace_put_value(&out, pairs[i][0]);
        assert_string_equal(sl_buf_cstr(&out), pairs[i][1]);
        sl_buf_release(&out);
    }
    test_env_check(&f.t);
}

static void check_credential(struct fixture *f, const char *id, const char *token, int64_t expires_us, const char *text)
{
    struct sl_credential *credential = NULL;
    const struct sl_str parts[3] = {sl_str_from(id), sl_str_from(id != NULL ? "hush" : NULL), sl_str_from(token)};
    assert_int_equal(sl_credential_new(&f->t.env, parts, expires_us, &credential, NULL), SILT_OK);
    sl_trace_credential(&f->context, "way", SILT_OK, credential, "", NULL);
    assert_string_equal(f->told, text);
    sl_credential_unref(credential);
}

static void credentials_are_told_by_their_ends(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.t.wall_us = INT64_C(1893456000000000); /* 2030 */
    check_credential(&f, "AKIAABCDEFGH3F", NULL, 0, "0 credentials/way: key AKIA…3F, no end known ()");
    check_credential(&f, "SHORT", "hush", 0, "0 credentials/way: key SH… with a session token, no end known ()");
    check_credential(&f, NULL, "hush", f.t.wall_us + 120000000,
                     "0 credentials/way: a token, good until 2030-01-01T00:02:00Z (2 min) ()");
    check_credential(&f, NULL, "hush", f.t.wall_us - 1000000,
                     "0 credentials/way: a token, expired at 2029-12-31T23:59:59Z ()");
    test_env_check(&f.t);
}

static void failures_and_absences_are_told(void **state)
{
    (void)state;
    struct fixture f;
    silt_error err = SILT_ERROR_INIT;
    set_up(&f);
    sl_trace_credential(&f.context, "way", SILT_OK, NULL, "not set", NULL);
    assert_string_equal(f.told, "2 credentials/way: not set ()");
    (void)sl_fail(&err, SILT_EACCESS, NULL, "refused");
    sl_error_hint(&err, "ask for more");
    sl_trace_credential(&f.context, "way", SILT_EACCESS, NULL, "", &err);
    assert_string_equal(f.told, "3 credentials/way: refused (ask for more)");
    f.context.trace = NULL;
    f.told[0] = '\0';
    sl_trace_note(&f.context, SILT_DOCTOR_OK, "a", "b", "c");
    sl_trace_failure(&f.context, "a", "b", &err);
    sl_trace_credential(&f.context, "way", SILT_OK, NULL, "not set", NULL);
    assert_string_equal(f.told, "");
    test_env_check(&f.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lose_passwords_and_queries),
        cmocka_unit_test(values_that_are_no_urls_lose_more),
        cmocka_unit_test(credentials_are_told_by_their_ends),
        cmocka_unit_test(failures_and_absences_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
