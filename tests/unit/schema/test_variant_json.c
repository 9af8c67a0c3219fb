/* Variants as JSON. */
#include "schema/variant.h"
#include "silt/variant.h"

#include "test_env.h"

#define BYTES(...) \
    ((struct sl_str){(const char *)(const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__})})

#define NAMES BYTES(0x01, 2, 0, 1, 3, 'a', '"', 'c')

static void check(struct sl_str value, const char *expected)
{
    struct sl_buf out;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&out, silt_env_default());
    assert_int_equal(sl_variant_put_json(&out, NAMES, value, &err), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), expected);
    sl_buf_release(&out);
}

static void scalars_print_as_in_all_of_silts_json(void **state)
{
    (void)state;
    check(BYTES(0x00), "null");
    check(BYTES(0x04), "true");
    check(BYTES(0x08), "false");
    check(BYTES(0x0C, 0x80), "-128");
    check(BYTES(0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F), "9223372036854775807");
    check(BYTES(0x1C, 0, 0, 0, 0, 0, 0, 0, 0x80), "-0.0");
    check(BYTES(0x1C, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F), "\"NaN\"");
    check(BYTES(0x1C, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF), "\"-Infinity\"");
    check(BYTES(0x38, 0xCD, 0xCC, 0xCC, 0x3D), "0.1");
    check(BYTES(0x20, 3, 0x10, 0x27, 0, 0), "10.000");
    check(BYTES(0x2C, 0xFF, 0xFF, 0xFF, 0xFF), "\"1969-12-31\"");
    check(BYTES(0x3C, 2, 0, 0, 0, 0xFF, 0), "\"/wA=\"");
    check(BYTES(0x11, 'a', '"', 'b', '\n'), "\"a\\\"b\\n\"");
    check(BYTES(0x50, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
          "\"00010203-0405-0607-0809-0a0b0c0d0e0f\"");
}

static void times_print_as_iso(void **state)
{
    (void)state;
    check(BYTES(0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), "\"1969-12-31T23:59:59.999999Z\"");
    check(BYTES(0x34, 0x20, 0xA1, 0x07, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.5\"");
    check(BYTES(0x48, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF), "\"1969-12-31T23:59:59.999999999Z\"");
    check(BYTES(0x4C, 1, 0, 0, 0, 0, 0, 0, 0), "\"1970-01-01T00:00:00.000000001\"");
    check(BYTES(0x44, 0x01, 0, 0, 0, 0, 0, 0, 0), "\"00:00:00.000001\"");
    check(BYTES(0x34, 0, 0, 0, 0, 0, 0, 0, 0x80), "\"-290308-12-21T19:59:05.224192\"");
}

static void containers_nest(void **state)
{
    (void)state;
    check(BYTES(0x02, 0, 0), "{}");
    check(BYTES(0x03, 0, 0), "[]");
    /* {"a": [1, null], "\"c": "x"} */
    check(BYTES(0x02, 2, 0, 1, 0, 8, 10, 0x03, 2, 0, 2, 3, 0x0C, 1, 0x00, 0x05, 'x'),
          "{\"a\":[1,null],\"\\\"c\":\"x\"}");
}

static void the_public_function_tells_how_much_room_it_needs(void **state)
{
    const struct sl_str metadata = NAMES;
    const struct sl_str bytes = BYTES(0x11, 'a', 'b', 'c', 'd');
    const silt_variant variant = {metadata.ptr, metadata.len, bytes.ptr, bytes.len};
    char buf[8] = "........";
    size_t len = 0;
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    assert_int_equal(silt_variant_to_json(&variant, NULL, 0, &len, &err), SILT_OK);
    assert_int_equal(len, 6);
    assert_int_equal(silt_variant_to_json(&variant, buf, 3, &len, &err), SILT_OK);
    assert_memory_equal(buf, "\"ab.", 4);
    assert_int_equal(silt_variant_to_json(&variant, buf, sizeof(buf), &len, &err), SILT_OK);
    assert_string_equal(buf, "\"abcd\"");
    assert_int_equal(silt_variant_to_json(NULL, buf, sizeof(buf), &len, &err), SILT_EINVALID);
    assert_int_equal(silt_variant_to_json(&variant, NULL, 3, &len, &err), SILT_EINVALID);
    assert_int_equal(silt_variant_to_json(&variant, buf, sizeof(buf), NULL, &err), SILT_EINVALID);
}

static void malformed_bytes_are_an_error(void **state)
{
    const silt_variant variant = {"\x01", 1, "\x00", 1};
    size_t len = 7;
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    assert_int_equal(silt_variant_to_json(&variant, NULL, 0, &len, &err), SILT_ECORRUPT);
    assert_int_equal(len, 0);
    assert_string_equal(err.code_name, "MALFORMED_VARIANT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_print_as_in_all_of_silts_json),
        cmocka_unit_test(times_print_as_iso),
        cmocka_unit_test(containers_nest),
        cmocka_unit_test(the_public_function_tells_how_much_room_it_needs),
        cmocka_unit_test(malformed_bytes_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
