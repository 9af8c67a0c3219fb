/* Thrift's compact protocol: what is read, and that foreign bytes never lead outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/thrift.h"

static struct sl_thrift of(const char *bytes, size_t n)
{
    struct sl_thrift in;
    sl_thrift_init(&in, bytes, n);
    return in;
}

#define OF(literal) of(literal, sizeof(literal) - 1)

static void fields_come_with_their_ids_and_types(void **state)
{
    (void)state;
    /* 1: i32 -2, 3: true, 4: "ab", 200: i64 150, 201: false */
    struct sl_thrift in = OF("\x15\x03\x21\x18\x02"
                             "ab\x06\x90\x03\xac\x02\x12\x00");
    struct sl_thrift_field field = {0};
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(1, field.id);
    assert_int_equal(SL_THRIFT_I32, field.type);
    assert_int_equal(-2, sl_thrift_int(&in));
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(3, field.id);
    assert_int_equal(SL_THRIFT_TRUE, field.type);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(4, field.id);
    assert_true(sl_str_eq_c(sl_thrift_bytes(&in), "ab"));
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(200, field.id);
    assert_int_equal(150, sl_thrift_int(&in));
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(201, field.id);
    assert_int_equal(SL_THRIFT_FALSE, field.type);
    assert_false(sl_thrift_next(&in, &field));
    assert_false(in.bad);
}

static void values_of_every_type_are_stepped_over(void **state)
{
    (void)state;
    /* byte, double, list of 2 booleans, list of 16 i32, map of 1 text → i32, empty map, struct in struct; then 8: i32 7 */
    struct sl_thrift in = OF(
        "\x13\x7f\x17"
        "12345678\x19\x21\x01\x02\x19\xf5\x10\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02"
        "\x02\x1b\x01\x85\x01x\x02\x1b\x00\x1c\x1c\x15\x02\x00\x00\x15\x0e\x00");
    struct sl_thrift_field field = {0};
    for (int i = 1; i < 8; i++) {
        assert_true(sl_thrift_next(&in, &field));
        assert_int_equal(i, field.id);
        sl_thrift_skip(&in, field.type);
    }
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(7, sl_thrift_int(&in));
    assert_false(sl_thrift_next(&in, &field));
    assert_false(in.bad);
}

static void lengths_beyond_the_end_are_faults(void **state)
{
    (void)state;
    uint8_t type = 0;
    struct sl_thrift text = OF("\x05"
                               "abcd");
    assert_int_equal(0, sl_thrift_bytes(&text).len);
    assert_true(text.bad);
    struct sl_thrift list = OF("\xf5\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
    assert_int_equal(0, sl_thrift_list(&list, &type));
    assert_true(list.bad);
    struct sl_thrift varint = OF("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    (void)sl_thrift_int(&varint);
    assert_true(varint.bad);
    struct sl_thrift map = OF("\xff\xff\x03\x55");
    sl_thrift_skip(&map, SL_THRIFT_MAP);
    assert_true(map.bad);
    struct sl_thrift id = OF("\x05\x01\x02");
    struct sl_thrift_field field = {0};
    assert_false(sl_thrift_next(&id, &field));
    assert_true(id.bad);
    struct sl_thrift nothing = of(NULL, 0);
    assert_int_equal(0, sl_thrift_int(&nothing));
    assert_true(nothing.bad);
}

static void nesting_is_limited(void **state)
{
    (void)state;
    char bytes[200];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 0x1c;
    }
    struct sl_thrift in = of(bytes, sizeof(bytes));
    sl_thrift_skip(&in, SL_THRIFT_STRUCT);
    assert_true(in.bad);
}

/* Every prefix and every changed byte of a struct is read to an end. */
static void broken_structs_come_to_an_end(void **state)
{
    (void)state;
    static const char whole[] = "\x15\x03\x21\x18\x02"
                                "ab\x19\x21\x01\x02\x1b\x01\x85\x01x\x02\x1c\x15\x02\x00\x00";
    for (size_t n = 0; n < sizeof(whole); n++) {
        for (int byte = 0; byte < 256; byte++) {
            char bytes[sizeof(whole)];
            for (size_t i = 0; i < sizeof(whole); i++) {
                bytes[i] = i == n ? (char)byte : whole[i];
            }
            struct sl_thrift in = of(bytes, byte == 0 ? n : sizeof(whole) - 1);
            sl_thrift_skip(&in, SL_THRIFT_STRUCT);
            assert_true(in.at <= in.end);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_with_their_ids_and_types), cmocka_unit_test(values_of_every_type_are_stepped_over),
        cmocka_unit_test(lengths_beyond_the_end_are_faults),    cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(broken_structs_come_to_an_end),
    };
    return cmocka_run_group_tests_name("thrift", tests, NULL, NULL);
}
