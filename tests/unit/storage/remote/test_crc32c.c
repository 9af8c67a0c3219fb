/* CRC-32C by the examples of RFC 3720, B.4, and the service's way to write it. */
#include "storage/remote/crc32c.h"

#include <string.h>

#include "test_env.h"

static void checksums_agree_with_the_standard(void **state)
{
    (void)state;
    unsigned char bytes[32];
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(sl_crc32c(0, bytes, sizeof(bytes)), 0x8A9136AA);
    memset(bytes, 0xFF, sizeof(bytes));
    assert_int_equal(sl_crc32c(0, bytes, sizeof(bytes)), 0x62A8AB43);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)i;
    }
    assert_int_equal(sl_crc32c(0, bytes, sizeof(bytes)), 0x46DD794E);
    assert_int_equal(sl_crc32c(0, "123456789", 9), 0xE3069283);
    assert_int_equal(sl_crc32c(0, NULL, 0), 0);
}

static void a_checksum_goes_on_from_its_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i <= 9; i++) {
        assert_int_equal(sl_crc32c(sl_crc32c(0, "123456789", i), &"123456789"[i], 9 - i), 0xE3069283);
    }
}

static void its_text_is_base64_of_its_bytes(void **state)
{
    (void)state;
    char text[SL_CRC32C_TEXT_SIZE];
    sl_crc32c_text(0xE3069283, text);
    assert_string_equal(text, "4waSgw==");
    sl_crc32c_text(0, text);
    assert_string_equal(text, "AAAAAA==");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_agree_with_the_standard),
        cmocka_unit_test(a_checksum_goes_on_from_its_parts),
        cmocka_unit_test(its_text_is_base64_of_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
