/* Digests and base64, by the examples of their standards (FIPS 180-4, RFC 1321, RFC 4231, RFC 4648). */
#include "storage/remote/digest.h"

#include <string.h>

#include "test_env.h"

static void check_hex(const uint8_t *bytes, size_t n, const char *expected)
{
    char text[2 * SL_SHA256_SIZE + 1];
    sl_hex_put(bytes, n, text);
    assert_string_equal(text, expected);
}

static void digests_agree_with_their_standards(void **state)
{
    (void)state;
    uint8_t out[SL_SHA256_SIZE];
    assert_int_equal(sl_sha256(SL_STR("abc"), out, NULL), SILT_OK);
    check_hex(out, SL_SHA256_SIZE, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(sl_sha256((struct sl_str){0}, out, NULL), SILT_OK);
    check_hex(out, SL_SHA256_SIZE, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_int_equal(sl_md5(SL_STR("message digest"), out, NULL), SILT_OK);
    check_hex(out, SL_MD5_SIZE, "f96b697d7cb7938d525a2f31aaf161d0");
    assert_int_equal(sl_hmac_sha256(SL_STR("Jefe"), SL_STR("what do ya want for nothing?"), out, NULL), SILT_OK);
    check_hex(out, SL_SHA256_SIZE, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void base64_is_written_and_read(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xfe\xfd", "//79"},
                                           {"\xfb\xf0", "+/A="}};
    struct test_env t;
    test_env_init(&t);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct sl_buf buf;
        sl_buf_init(&buf, &t.env);
        sl_base64_put(&buf, sl_str_from(pairs[i][0]));
        assert_string_equal(sl_buf_cstr(&buf), pairs[i][1]);
        sl_buf_clear(&buf);
        assert_int_equal(sl_base64_decode(&buf, sl_str_from(pairs[i][1]), NULL), SILT_OK);
        assert_string_equal(sl_buf_cstr(&buf), pairs[i][0]);
        sl_buf_release(&buf);
    }
    test_env_check(&t);
}

static void text_that_is_not_base64_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9v\n", "Zm 9", "Z=9v", "Zm9\xff"};
    struct test_env t;
    test_env_init(&t);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sl_buf buf;
        sl_buf_init(&buf, &t.env);
        assert_int_equal(sl_base64_decode(&buf, sl_str_from(texts[i]), NULL), SILT_EINVALID);
        sl_buf_release(&buf);
    }
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_agree_with_their_standards),
        cmocka_unit_test(base64_is_written_and_read),
        cmocka_unit_test(text_that_is_not_base64_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
