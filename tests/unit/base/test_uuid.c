/* Random UUIDs. */
#include "base/uuid.h"

#include <string.h>

#include "test_env.h"

static void uuid_has_version_and_variant(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    for (int i = 0; i < 100; i++) {
        char text[SL_UUID_TEXT_SIZE];
        assert_int_equal(sl_uuid_make(&t.env, text, NULL), SILT_OK);
        assert_int_equal(strlen(text), 36);
        assert_int_equal(strspn(text, "0123456789abcdef-"), 36);
        assert_true(text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-');
        assert_int_equal(text[14], '4');
        assert_non_null(strchr("89ab", text[19]));
    }
}

static void uuids_differ(void **state)
{
    (void)state;
    char a[SL_UUID_TEXT_SIZE];
    char b[SL_UUID_TEXT_SIZE];
    assert_int_equal(sl_uuid_make(silt_env_default(), a, NULL), SILT_OK);
    assert_int_equal(sl_uuid_make(silt_env_default(), b, NULL), SILT_OK);
    assert_string_not_equal(a, b);
}

static void missing_random_bytes_fail(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    t.random_status = SILT_EIO;
    silt_error err = SILT_ERROR_INIT;
    char text[SL_UUID_TEXT_SIZE];
    assert_int_equal(sl_uuid_make(&t.env, text, &err), SILT_EIO);
    assert_int_equal(err.status, SILT_EIO);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuid_has_version_and_variant),
        cmocka_unit_test(uuids_differ),
        cmocka_unit_test(missing_random_bytes_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
