/* Z85: the text of bytes in descriptors. */
#include "kernel/dv/z85.h"

#include <string.h>

#include "test_env.h"

static struct test_env t;

static void known_text_becomes_its_bytes(void **state)
{
    (void)state;
    uint8_t bytes[8];
    const uint8_t expected[] = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
    assert_true(sl_z85_decode(SL_STR("HelloWorld"), bytes));
    assert_memory_equal(bytes, expected, sizeof(expected));
}

static void known_bytes_become_their_text(void **state)
{
    (void)state;
    struct sl_buf text;
    const uint8_t bytes[] = {0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
    sl_buf_init(&text, &t.env);
    sl_z85_encode(&text, bytes, sizeof(bytes));
    assert_string_equal(sl_buf_cstr(&text), "HelloWorld");
    sl_buf_release(&text);
}

static void every_byte_comes_back(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    uint8_t back[1024];
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    }
    sl_z85_encode(&text, bytes, sizeof(bytes));
    assert_int_equal(text.len, sizeof(bytes) / 4 * 5);
    assert_true(sl_z85_decode(sl_buf_view(&text), back));
    assert_memory_equal(bytes, back, sizeof(bytes));
    sl_buf_release(&text);
}

static void odd_bytes_are_filled_up_with_zeroes(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 2, 3, 4, 5};
    const uint8_t expected[] = {1, 2, 3, 4, 5, 0, 0, 0};
    uint8_t back[8];
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    sl_z85_encode(&text, bytes, sizeof(bytes));
    assert_true(sl_z85_decode(sl_buf_view(&text), back));
    assert_memory_equal(back, expected, sizeof(expected));
    sl_buf_release(&text);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[8];
    assert_false(sl_z85_decode(SL_STR("Hell"), bytes));   /* no whole group */
    assert_false(sl_z85_decode(SL_STR("Hel\"o"), bytes)); /* no digit */
    assert_false(sl_z85_decode(SL_STR("Hel\xC3\xA9"), bytes));
    assert_false(sl_z85_decode(sl_str_make("Hel\0o", 5), bytes));
    assert_true(sl_z85_decode(SL_STR("%nSc0"), bytes)); /* 2^32 - 1 */
    assert_false(sl_z85_decode(SL_STR("%nSc1"), bytes));
    assert_false(sl_z85_decode(SL_STR("#####"), bytes));
    assert_true(sl_z85_decode(SL_STR(""), bytes));
}

static void a_short_last_group_is_marked_in_front(void **state)
{
    (void)state;
    uint8_t bytes[8];
    size_t n = 0;
    const uint8_t two[] = {0x86, 0x4F, 0xD2, 0x6F, 0x03, 0x00};
    assert_true(sl_z85_decode_short(SL_STR("Hello##093"), bytes, &n));
    assert_int_equal(n, 6);
    assert_memory_equal(bytes, two, sizeof(two));
    assert_true(sl_z85_decode_short(SL_STR("#00093"), bytes, &n) == false); /* no whole group */
    assert_true(sl_z85_decode_short(SL_STR("#rr90"), bytes, &n));
    assert_int_equal(n, 3);
    assert_true(sl_z85_decode_short(SL_STR("###30"), bytes, &n));
    assert_int_equal(n, 1);
    assert_int_equal(bytes[0], 255);
    assert_true(sl_z85_decode_short(SL_STR("HelloWorld"), bytes, &n));
    assert_int_equal(n, 8);
    assert_true(sl_z85_decode_short(SL_STR(""), bytes, &n));
    assert_int_equal(n, 0);
}

static void a_short_group_that_cannot_be_is_refused(void **state)
{
    (void)state;
    uint8_t bytes[8];
    size_t n = 0;
    assert_false(sl_z85_decode_short(SL_STR("####0"), bytes, &n)); /* of no byte */
    assert_false(sl_z85_decode_short(SL_STR("#####"), bytes, &n));
    assert_false(sl_z85_decode_short(SL_STR("###31"), bytes, &n)); /* 256 */
    assert_false(sl_z85_decode_short(SL_STR("##963"), bytes, &n)); /* above 65,535 */
    assert_false(sl_z85_decode_short(SL_STR("#rr91"), bytes, &n)); /* 2^24 */
    assert_false(sl_z85_decode_short(SL_STR("##0\"3"), bytes, &n));
    assert_false(sl_z85_decode_short(SL_STR("##093Hello"), bytes, &n)); /* not the last */
    assert_false(sl_z85_decode(SL_STR("##093"), bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_text_becomes_its_bytes),
        cmocka_unit_test(known_bytes_become_their_text),
        cmocka_unit_test(every_byte_comes_back),
        cmocka_unit_test(odd_bytes_are_filled_up_with_zeroes),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(a_short_last_group_is_marked_in_front),
        cmocka_unit_test(a_short_group_that_cannot_be_is_refused),
    };
    test_env_init(&t);
    const int failed = cmocka_run_group_tests_name("z85", tests, NULL, NULL);
    test_env_check(&t);
    return failed;
}
