/* Columns of one value, as consumers of Arrow see them. */
#include <string.h>

#include "base/arrow.h"
#include "kernel/scan/batch.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_env_check(&t);
    return 0;
}

/* Makes a column of 19 rows and reads each row back. */
static void assert_round_trip(const struct silt_type *type, const silt_value *value)
{
    char format[32];
    sl_type_arrow_format(type, format, sizeof(format));
    struct ArrowSchema schema = {.format = format, .name = "p"};
    struct ArrowArray array = {0};
    assert_int_equal(sl_constant_column(&t.env, type, value, 19, &array, NULL), SILT_OK);
    assert_int_equal(array.length, 19);
    assert_int_equal(array.null_count, value->is_null ? 19 : 0);
    for (int64_t row = 0; row < array.length; row++) {
        silt_value back;
        assert_true(sl_value_from_arrow(&schema, &array, row, &back));
        assert_int_equal(back.is_null, value->is_null);
        int order = 1;
        assert_true(value->is_null || (sl_value_compare(value, &back, &order) && order == 0));
    }
    array.release(&array);
    assert_null(array.release);
}

static void every_flat_type_holds_its_value_in_each_row(void **state)
{
    (void)state;
    const silt_value values[] = {
        sl_value_bool(true),
        sl_value_bool(false),
        sl_value_i64(SILT_TYPE_BYTE, -128),
        sl_value_i64(SILT_TYPE_SHORT, 32767),
        sl_value_i64(SILT_TYPE_INTEGER, INT32_MIN),
        sl_value_i64(SILT_TYPE_LONG, INT64_MAX),
        sl_value_f64(SILT_TYPE_FLOAT, 0.5),
        sl_value_f64(SILT_TYPE_DOUBLE, -1e300),
        sl_value_i64(SILT_TYPE_DATE, -719162),
        sl_value_i64(SILT_TYPE_TIMESTAMP, 1234567890123456),
        sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, -1),
        sl_value_decimal(-sl_i128_pow10(37), 38, 4),
        sl_value_bytes(SILT_TYPE_STRING, SL_STR("p\xC3\xA9")),
        sl_value_bytes(SILT_TYPE_BINARY, SL_STR("\0\xFF")),
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct silt_type type = {.kind = values[i].kind, .precision = values[i].precision, .scale = values[i].scale};
        assert_round_trip(&type, &values[i]);
        silt_value null = sl_value_null(type.kind);
        assert_round_trip(&type, &null);
    }
}

static void void_column_has_no_buffers(void **state)
{
    (void)state;
    struct silt_type type = {.kind = SILT_TYPE_VOID};
    silt_value null = sl_value_null(SILT_TYPE_VOID);
    struct ArrowArray array = {0};
    assert_int_equal(sl_constant_column(&t.env, &type, &null, 5, &array, NULL), SILT_OK);
    assert_int_equal(array.n_buffers, 0);
    assert_int_equal(array.null_count, 5);
    array.release(&array);
}

static void no_rows_make_an_empty_column(void **state)
{
    (void)state;
    struct silt_type type = {.kind = SILT_TYPE_STRING};
    silt_value value = sl_value_bytes(SILT_TYPE_STRING, SL_STR("abc"));
    struct ArrowArray array = {0};
    assert_int_equal(sl_constant_column(&t.env, &type, &value, 0, &array, NULL), SILT_OK);
    assert_int_equal(array.length, 0);
    array.release(&array);
}

static void text_beyond_two_gigabytes_is_refused(void **state)
{
    (void)state;
    struct silt_type type = {.kind = SILT_TYPE_STRING};
    silt_value value = sl_value_bytes(SILT_TYPE_STRING, SL_STR("0123456789"));
    struct ArrowArray array = {0};
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_constant_column(&t.env, &type, &value, 300000000, &array, &err), SILT_ELIMIT);
    assert_null(array.release);
}

static void nested_type_and_foreign_kind_are_refused(void **state)
{
    (void)state;
    struct silt_type type = {.kind = SILT_TYPE_MAP};
    silt_value null = sl_value_null(SILT_TYPE_MAP);
    struct ArrowArray array = {0};
    assert_int_equal(sl_constant_column(&t.env, &type, &null, 1, &array, NULL), SILT_EUNSUPPORTED);
    struct silt_type text = {.kind = SILT_TYPE_STRING};
    silt_value number = sl_value_i64(SILT_TYPE_LONG, 1);
    assert_int_equal(sl_constant_column(&t.env, &text, &number, 1, &array, NULL), SILT_EINVALID);
}

static void lack_of_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    struct silt_type type = {.kind = SILT_TYPE_STRING};
    silt_value value = sl_value_bytes(SILT_TYPE_STRING, SL_STR("abc"));
    for (size_t n = 1; n < 10; n++) {
        struct ArrowArray array = {0};
        test_env_fail_at(&t, n);
        silt_status status = sl_constant_column(&t.env, &type, &value, 7, &array, NULL);
        test_env_fail_at(&t, 0);
        if (status == SILT_OK) {
            array.release(&array);
            return;
        }
        assert_int_equal(status, SILT_ENOMEM);
        assert_null(array.release);
    }
    fail_msg("a small column took too many requests of memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_flat_type_holds_its_value_in_each_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(void_column_has_no_buffers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_rows_make_an_empty_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_beyond_two_gigabytes_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_type_and_foreign_kind_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_leaves_nothing_behind, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
