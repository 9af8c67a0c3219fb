/* Thrift's compact protocol as it is written: read again by the reader, and the short and long forms of its heads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/thrift_write.h"

static void fields_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct sl_buf buf;
    struct sl_thrift_out out;
    struct sl_thrift_field field = {0};
    struct sl_thrift in;
    sl_buf_init(&buf, silt_env_default());
    sl_thrift_out_init(&out, &buf);
    sl_thrift_put_i32(&out, 1, -2);
    sl_thrift_put_bool(&out, 3, true);
    sl_thrift_put_bytes(&out, 4, SL_STR("ab"));
    sl_thrift_put_i64(&out, 200, INT64_MIN);
    sl_thrift_put_bool(&out, 201, false);
    sl_thrift_put_i8(&out, 202, -3);
    sl_thrift_end(&out);
    assert_int_equal(sl_buf_status(&buf, NULL), SILT_OK);
    sl_thrift_init(&in, buf.data, buf.len);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 1);
    assert_int_equal(sl_thrift_int(&in), -2);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 3);
    assert_int_equal(field.type, SL_THRIFT_TRUE);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 4);
    assert_true(sl_str_eq_c(sl_thrift_bytes(&in), "ab"));
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 200);
    assert_true(sl_thrift_int(&in) == INT64_MIN);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 201);
    assert_int_equal(field.type, SL_THRIFT_FALSE);
    assert_true(sl_thrift_next(&in, &field));
    assert_int_equal(field.id, 202);
    sl_thrift_skip(&in, field.type);
    assert_false(sl_thrift_next(&in, &field));
    assert_false(in.bad);
    assert_ptr_equal(in.at, in.end);
    sl_buf_release(&buf);
}

static void structs_and_lists_nest(void **state)
{
    (void)state;
    struct sl_buf buf;
    struct sl_thrift_out out;
    sl_buf_init(&buf, silt_env_default());
    sl_thrift_out_init(&out, &buf);
    sl_thrift_begin(&out, 2);
    sl_thrift_put_list(&out, 1, SL_THRIFT_STRUCT, 1);
    sl_thrift_item_begin(&out);
    sl_thrift_put_i32(&out, 1, 1);
    sl_thrift_end(&out);
    sl_thrift_put_i32(&out, 2, 0);
    sl_thrift_end(&out);
    sl_thrift_put_list(&out, 3, SL_THRIFT_I32, 2);
    sl_thrift_item_i32(&out, 1);
    sl_thrift_item_i32(&out, -1);
    sl_thrift_end(&out);
    static const char expected[] = "\x2c\x19\x1c\x15\x02\x00\x15\x00\x00\x19\x25\x02\x01\x00";
    assert_int_equal(buf.len, sizeof(expected) - 1);
    assert_memory_equal(buf.data, expected, buf.len);
    sl_buf_release(&buf);
}

static void a_long_list_has_a_long_head(void **state)
{
    (void)state;
    struct sl_buf buf;
    struct sl_thrift_out out;
    struct sl_thrift_field field = {0};
    struct sl_thrift in;
    uint8_t type = 0;
    sl_buf_init(&buf, silt_env_default());
    for (size_t n = 14; n < 300; n += 143) {
        sl_buf_clear(&buf);
        sl_thrift_out_init(&out, &buf);
        sl_thrift_put_list(&out, 1, SL_THRIFT_BINARY, n);
        for (size_t i = 0; i < n; i++) {
            sl_thrift_item_bytes(&out, SL_STR("x"));
        }
        sl_thrift_end(&out);
        field = (struct sl_thrift_field){0};
        sl_thrift_init(&in, buf.data, buf.len);
        assert_true(sl_thrift_next(&in, &field));
        assert_int_equal(sl_thrift_list(&in, &type), n);
        assert_int_equal(type, SL_THRIFT_BINARY);
    }
    sl_buf_release(&buf);
}

static void too_deep_a_struct_spoils_the_buffer(void **state)
{
    (void)state;
    struct sl_buf buf;
    struct sl_thrift_out out;
    sl_buf_init(&buf, silt_env_default());
    sl_thrift_out_init(&out, &buf);
    for (int i = 0; i < SL_THRIFT_OUT_DEPTH + 1; i++) {
        sl_thrift_begin(&out, 1);
    }
    assert_int_equal(sl_buf_status(&buf, NULL), SILT_ELIMIT);
    sl_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_as_they_were_written),
        cmocka_unit_test(structs_and_lists_nest),
        cmocka_unit_test(a_long_list_has_a_long_head),
        cmocka_unit_test(too_deep_a_struct_spoils_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
