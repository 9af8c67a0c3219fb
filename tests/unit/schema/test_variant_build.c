/* Building variants: what was built reads back. */
#include "schema/variant_build.h"

#include <math.h>
#include <stdio.h>

#include "test_env.h"

#define NAMES ((struct sl_str){"\x01\x03\x00\x01\x02\x04xabb", 10})

struct fixture {
    struct test_env test;
    struct sl_buf out;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    test_env_init(&fixture.test);
    sl_buf_init(&fixture.out, &fixture.test.env);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    sl_buf_release(&fixture->out);
    test_env_check(&fixture->test);
    return 0;
}

static void check_json(struct fixture *fixture, const char *expected)
{
    struct sl_buf json;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&json, &fixture->test.env);
    if (sl_variant_put_json(&json, NAMES, sl_buf_view(&fixture->out), &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    assert_string_equal(sl_buf_cstr(&json), expected);
    sl_buf_release(&json);
    sl_buf_clear(&fixture->out);
}

static void scalars_read_back(void **state)
{
    struct fixture *fixture = *state;
    struct sl_buf *out = &fixture->out;
    sl_variant_put_null(out);
    check_json(fixture, "null");
    sl_variant_put_bool(out, true);
    check_json(fixture, "true");
    sl_variant_put_int(out, -1, 1);
    check_json(fixture, "-1");
    sl_variant_put_int(out, -300, 2);
    check_json(fixture, "-300");
    sl_variant_put_int(out, INT32_MIN, 4);
    check_json(fixture, "-2147483648");
    sl_variant_put_int(out, INT64_MAX, 8);
    check_json(fixture, "9223372036854775807");
    sl_variant_put_float(out, 0.1F);
    check_json(fixture, "0.1");
    sl_variant_put_double(out, -INFINITY);
    check_json(fixture, "\"-Infinity\"");
    sl_variant_put_decimal(out, -12345, 2, 4);
    check_json(fixture, "-123.45");
    sl_variant_put_decimal(out, 1, 18, 8);
    check_json(fixture, "0.000000000000000001");
    sl_variant_put_decimal(out, -(sl_i128_pow10(38) - 1), 0, 16);
    check_json(fixture, "-99999999999999999999999999999999999999");
    sl_variant_put_time(out, SL_VARIANT_DATE, -1);
    check_json(fixture, "\"1969-12-31\"");
    sl_variant_put_time(out, SL_VARIANT_TIMESTAMP, 1);
    check_json(fixture, "\"1970-01-01T00:00:00.000001Z\"");
    sl_variant_put_time(out, SL_VARIANT_TIMESTAMP_NTZ_NS, 1);
    check_json(fixture, "\"1970-01-01T00:00:00.000000001\"");
    sl_variant_put_binary(out, SL_STR("\xFF"));
    check_json(fixture, "\"/w==\"");
    sl_variant_put_uuid(out, SL_STR("0123456789abcdef"));
    check_json(fixture, "\"30313233-3435-3637-3839-616263646566\"");
}

static void texts_of_any_length_read_back(void **state)
{
    struct fixture *fixture = *state;
    char text[80];
    char json[83];
    for (size_t len = 62; len < 66; len++) {
        memset(text, 'y', len);
        (void)snprintf(json, sizeof(json), "\"%.*s\"", (int)len, text);
        sl_variant_put_text(&fixture->out, sl_str_make(text, len));
        check_json(fixture, json);
    }
}

static void members_of_an_object_are_sorted_by_name(void **state)
{
    struct fixture *fixture = *state;
    struct sl_buf *out = &fixture->out;
    sl_buf_put_c(out, "before");
    const size_t begin = out->len;
    struct sl_variant_member members[3] = {{SL_STR("x"), 0, out->len}};
    sl_variant_put_int(out, 1, 1);
    members[1] = (struct sl_variant_member){SL_STR("bb"), 2, out->len};
    const struct sl_variant_member items[2] = {{.at = out->len}, {.at = out->len + 1}};
    sl_variant_put_null(out);
    sl_variant_put_bool(out, false);
    sl_variant_close_array(out, members[1].at, items, 2);
    members[2] = (struct sl_variant_member){SL_STR("a"), 1, out->len};
    sl_variant_put_text(out, SL_STR("t"));
    sl_variant_close_object(out, begin, members, 3);
    memmove(out->data, out->data + begin, out->len - begin);
    out->len -= begin;
    check_json(fixture, "{\"a\":\"t\",\"bb\":[null,false],\"x\":1}");
}

static void many_and_long_members_get_wide_counts_and_offsets(void **state)
{
    struct fixture *fixture = *state;
    struct sl_buf *out = &fixture->out;
    static struct sl_variant_member members[400];
    static char text[1000];
    memset(text, 'z', sizeof(text));
    for (size_t i = 0; i < 400; i++) {
        members[i].at = out->len;
        sl_variant_put_text(out, sl_str_make(text, sizeof(text)));
    }
    sl_variant_close_array(out, 0, members, 400);
    struct sl_variant_value array;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_variant_read(sl_buf_view(out), &array, &err), SILT_OK);
    assert_int_equal(array.n, 400);
    assert_int_equal(array.offset_size, 3);
    assert_int_equal(array.len, out->len);
    assert_int_equal(sl_variant_check(NAMES, sl_buf_view(out), NULL, &err), SILT_OK);
}

static void empty_containers_are_closed(void **state)
{
    struct fixture *fixture = *state;
    sl_variant_close_array(&fixture->out, 0, NULL, 0);
    check_json(fixture, "[]");
    sl_variant_close_object(&fixture->out, 0, NULL, 0);
    check_json(fixture, "{}");
}

static void failures_stick_to_the_buffer(void **state)
{
    struct fixture *fixture = *state;
    fixture->out.max = 4;
    sl_variant_put_int(&fixture->out, 1, 8);
    sl_variant_close_array(&fixture->out, 0, NULL, 0);
    assert_int_equal(fixture->out.status, SILT_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scalars_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(texts_of_any_length_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_of_an_object_are_sorted_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_and_long_members_get_wide_counts_and_offsets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(empty_containers_are_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_stick_to_the_buffer, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
