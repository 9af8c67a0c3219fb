/* Secrets in URLs are masked, and nothing else is touched. */
#include "base/mask.h"

#include <string.h>

#include "base/error.h"
#include "test_env.h"

static void check(const char *text, const char *expected)
{
    char room[512];
    const size_t len = strlen(text);
    assert_true(len < sizeof(room));
    memcpy(room, text, len + 1);
    room[sl_mask_secrets(room, len)] = '\0';
    assert_string_equal(room, expected);
    assert_int_equal(sl_mask_needed(sl_str_from(text)), strcmp(text, expected) != 0);
}

static void signatures_are_masked(void **state)
{
    (void)state;
    check("https://a.blob/c/t?sv=1&sig=a%2Bb%3D&se=2", "https://a.blob/c/t?sv=1&sig=*&se=2");
    check("no store for 'https://b/t?X-Amz-Credential=AK%2Fx&X-Amz-Signature=0af' (line 1)",
          "no store for 'https://b/t?X-Amz-Credential=*&X-Amz-Signature=*' (line 1)");
    check("?SIG=x", "?SIG=*");
    check("a%3Fsv%3D1%26sig%3Dab%252B%26se%3D2", "a%3Fsv%3D1%26sig%3D*%26se%3D2");
    check("/webhdfs/v1/t?op=OPEN&delegation=HAAE", "/webhdfs/v1/t?op=OPEN&delegation=*");
    check("?token=a;password=b", "?token=*;password=*");
    check("s3://bucket/t#sig=ab", "s3://bucket/t#sig=*");
    check("s3://bucket/t%23sig%3Dab", "s3://bucket/t%23sig%3D*");
}

static void users_with_passwords_are_masked(void **state)
{
    (void)state;
    check("proxy http://me:hush@host:1/x", "proxy http://*@host:1/x");
    check("s3://AK:se/cret@bucket/t", "s3://*@bucket/t");
    check("S3A://AK:se/c:r@bucket/t", "S3A://*@bucket/t");
    check("http://host:1/x@y", "http://host:1/x@y");
    check("s3://AK:secret@bucket/t", "s3://*@bucket/t");
    check("s3:///AK:secret@bucket/t", "s3://*@bucket/t");
    check("s3://secret@/t", "s3://*@/t");
    check("no 's3a://secret@'", "no 's3a://*@'");
}

static void all_else_stays(void **state)
{
    (void)state;
    check("", "");
    check("abfss://container@account.dfs.core.windows.net/t", "abfss://container@account.dfs.core.windows.net/t");
    check("s3://bucket//a:b@c", "s3://bucket//a:b@c");
    check("s3://user@bucket/t", "s3://user@bucket/t");
    check("file:///a:b@c", "file:///a:b@c");
    check("WHERE sig=5 AND token=7", "WHERE sig=5 AND token=7");
    check("?sig=", "?sig=");
    check("?sig=&x=1", "?sig=&x=1");
    check("&signed=1?design=2", "&signed=1?design=2");
    check("http://host:1/a@b", "http://host:1/a@b");
    check("://", "://");
    check("?%3", "?%3");
}

static void errors_are_masked(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    (void)sl_fail(&err, SILT_EIO, NULL, "reading %s failed", "az://c/t?sig=hush");
    assert_string_equal(err.message, "reading az://c/t?sig=* failed");
    sl_error_hint(&err, "see https://x/?sig=hush");
    assert_string_equal(err.hint, "see https://x/?sig=*");
    sl_error_context(&err, "at http://u:hush@h");
    assert_string_equal(err.message, "at http://*@h: reading az://c/t?sig=* failed");
    sl_error_path(&err, "az://c/t?sig=hush");
    assert_string_equal(err.path, "az://c/t?sig=*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_masked),
        cmocka_unit_test(users_with_passwords_are_masked),
        cmocka_unit_test(all_else_stays),
        cmocka_unit_test(errors_are_masked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
