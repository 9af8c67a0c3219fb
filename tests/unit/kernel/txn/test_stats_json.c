/* Statistics of written files as JSON. */
#include "kernel/txn/stats_json.h"

#include <math.h>

#include "schema/value.h"
#include "test_env.h"

/* Leaves: l, d, t, ts, b, s.x, s.y, arr */
static const char schema_json[] =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"l\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"t\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ts\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"b\",\"type\":\"binary\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"x\",\"type\":\"decimal(20,2)\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"y\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"arr\",\"type\":{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true},"
    "\"nullable\":true,\"metadata\":{}}]}";
enum {
    LEAVES = 8
};

static struct test_env t;
static silt_schema *schema;
static bool selected[LEAVES];

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    for (size_t i = 0; i < LEAVES; i++) {
        selected[i] = true;
    }
    return silt_schema_from_json(&t.env, schema_json, strlen(schema_json), &schema, NULL) == SILT_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_schema_unref(schema);
    test_env_check(&t);
    return 0;
}

static silt_column_stats column(const char *const *path, size_t path_len, silt_value min, silt_value max)
{
    return (silt_column_stats){.path = path,
                               .path_len = path_len,
                               .null_count = 0,
                               .has_min = !min.is_null,
                               .has_max = !max.is_null,
                               .min = min,
                               .max = max};
}

static void expect_with(size_t prefix, const silt_column_stats *stats, size_t n, const char *json)
{
    const struct sl_stats_plan plan = {schema, selected, LEAVES, prefix};
    const silt_written_file file = {.size = sizeof(file), .num_rows = 7, .stats = stats, .n_stats = n};
    struct sl_buf out;
    sl_buf_init(&out, &t.env);
    assert_int_equal(sl_stats_json_write(&out, &plan, &file, NULL), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), json);
    sl_buf_release(&out);
}

static void expect(const silt_column_stats *stats, size_t n, const char *json)
{
    expect_with(32, stats, n, json);
}

static const char *const l_path[] = {"l"};
static const char *const d_path[] = {"d"};
static const char *const t_path[] = {"t"};
static const char *const ts_path[] = {"ts"};
static const char *const b_path[] = {"b"};
static const char *const x_path[] = {"s", "x"};
static const char *const y_path[] = {"s", "y"};

static silt_value text(const char *v)
{
    return sl_value_bytes(SILT_TYPE_STRING, sl_str_from(v));
}

static void counts_and_bounds_are_nested_as_the_schema(void **state)
{
    (void)state;
    const silt_column_stats stats[] = {
        column(l_path, 1, sl_value_i64(SILT_TYPE_LONG, -5), sl_value_i64(SILT_TYPE_LONG, INT64_MAX)),
        column(x_path, 2, sl_value_decimal(sl_i128_make(0, 100), 20, 2),
               sl_value_decimal((sl_i128)999999999999999999, 20, 2)),
    };
    expect(stats, 2,
           "{\"numRecords\":7,\"minValues\":{\"l\":-5,\"s\":{\"x\":1.00}},"
           "\"maxValues\":{\"l\":9223372036854775807,\"s\":{\"x\":9999999999999999.99}},"
           "\"nullCount\":{\"l\":0,\"s\":{\"x\":0}}}");
}

static void file_without_column_statistics_has_its_row_count(void **state)
{
    (void)state;
    expect(NULL, 0, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{},\"nullCount\":{}}");
}

static void statistics_may_come_in_any_order_and_for_unknown_columns(void **state)
{
    (void)state;
    static const char *const other[] = {"other"};
    const silt_column_stats stats[] = {
        column(y_path, 2, sl_value_null(SILT_TYPE_BOOLEAN), sl_value_null(SILT_TYPE_BOOLEAN)),
        column(other, 1, sl_value_i64(SILT_TYPE_LONG, 1), sl_value_i64(SILT_TYPE_LONG, 1)),
        column(l_path, 1, sl_value_i64(SILT_TYPE_LONG, 1), sl_value_i64(SILT_TYPE_LONG, 2)),
    };
    expect(
        stats, 3,
        "{\"numRecords\":7,\"minValues\":{\"l\":1},\"maxValues\":{\"l\":2},\"nullCount\":{\"l\":0,\"s\":{\"y\":0}}}");
}

static void columns_that_are_not_selected_are_left_out(void **state)
{
    (void)state;
    selected[0] = false;
    const silt_column_stats stats[] = {
        column(l_path, 1, sl_value_i64(SILT_TYPE_LONG, 1), sl_value_i64(SILT_TYPE_LONG, 2))};
    expect(stats, 1, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{},\"nullCount\":{}}");
}

static void not_a_number_and_infinity_give_no_bound(void **state)
{
    (void)state;
    silt_column_stats stats = column(d_path, 1, sl_value_f64(SILT_TYPE_DOUBLE, -HUGE_VAL),
                                     sl_value_f64(SILT_TYPE_DOUBLE, 1.5));
    expect(&stats, 1, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{\"d\":1.5},\"nullCount\":{\"d\":0}}");
    stats.max = sl_value_f64(SILT_TYPE_DOUBLE, NAN);
    expect(&stats, 1, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"d\":0}}");
}

static void zeros_cover_both_signs(void **state)
{
    (void)state;
    const silt_column_stats stats = column(d_path, 1, sl_value_f64(SILT_TYPE_DOUBLE, 0.0),
                                           sl_value_f64(SILT_TYPE_DOUBLE, -0.0));
    expect(&stats, 1,
           "{\"numRecords\":7,\"minValues\":{\"d\":-0.0},\"maxValues\":{\"d\":0.0},\"nullCount\":{\"d\":0}}");
}

static void timestamps_are_cut_down_to_milliseconds(void **state)
{
    (void)state;
    const silt_column_stats stats = column(ts_path, 1, sl_value_i64(SILT_TYPE_TIMESTAMP, -1),
                                           sl_value_i64(SILT_TYPE_TIMESTAMP, 1999));
    expect(&stats, 1,
           "{\"numRecords\":7,\"minValues\":{\"ts\":\"1969-12-31T23:59:59.999Z\"},"
           "\"maxValues\":{\"ts\":\"1970-01-01T00:00:00.001Z\"},\"nullCount\":{\"ts\":0}}");
}

static void the_first_times_have_no_millisecond_before_them_and_no_bound(void **state)
{
    (void)state;
    const silt_column_stats stats = column(ts_path, 1, sl_value_i64(SILT_TYPE_TIMESTAMP, INT64_MIN),
                                           sl_value_i64(SILT_TYPE_TIMESTAMP, 1999));
    expect(&stats, 1,
           "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{\"ts\":\"1970-01-01T00:00:00.001Z\"},"
           "\"nullCount\":{\"ts\":0}}");
}

static void binary_and_boolean_have_counts_only(void **state)
{
    (void)state;
    const silt_column_stats stats[] = {
        column(b_path, 1, sl_value_bytes(SILT_TYPE_BINARY, SL_STR("a")), sl_value_bytes(SILT_TYPE_BINARY, SL_STR("b"))),
        column(y_path, 2, sl_value_bool(false), sl_value_bool(true))};
    expect(stats, 2, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"b\":0,\"s\":{\"y\":0}}}");
}

static void unknown_null_count_is_left_out(void **state)
{
    (void)state;
    silt_column_stats stats = column(l_path, 1, sl_value_i64(SILT_TYPE_LONG, 1), sl_value_i64(SILT_TYPE_LONG, 2));
    stats.null_count = -1;
    expect(&stats, 1, "{\"numRecords\":7,\"minValues\":{\"l\":1},\"maxValues\":{\"l\":2},\"nullCount\":{}}");
}

static void long_text_is_cut_and_closed(void **state)
{
    (void)state;
    const silt_column_stats stats = column(t_path, 1, text("abcdef"), text("uvwxyz"));
    expect_with(
        3, &stats, 1,
        "{\"numRecords\":7,\"minValues\":{\"t\":\"abc\"},\"maxValues\":{\"t\":\"uvw\x7F\"},\"nullCount\":{\"t\":0}}");
    expect_with(
        6, &stats, 1,
        "{\"numRecords\":7,\"minValues\":{\"t\":\"abcdef\"},\"maxValues\":{\"t\":\"uvwxyz\"},\"nullCount\":{\"t\":0}}");
    expect_with(0, &stats, 1, "{\"numRecords\":7,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"t\":0}}");
}

static void expect_max(const char *from, size_t prefix, const char *expected)
{
    struct sl_buf out;
    sl_buf_init(&out, &t.env);
    const bool found = sl_stats_cut_max(&out, sl_str_from(from), prefix);
    assert_int_equal(found, expected != NULL);
    if (found) {
        assert_string_equal(sl_buf_cstr(&out), expected);
        assert_true(strcmp(sl_buf_cstr(&out), from) >= 0);
    }
    sl_buf_release(&out);
}

static void maximum_is_above_what_was_cut_off(void **state)
{
    (void)state;
    expect_max("ab\x7F", 2, "ab\xF4\x8F\xBF\xBF");                  /* DEL is not above DEL */
    expect_max("ab\xC3\xA9z", 2, "ab\xF4\x8F\xBF\xBF");             /* nor above a letter beyond ASCII */
    expect_max("a\xF0\x9F\x98\x80zz", 2, "a\xF0\x9F\x98\x80\x7F");  /* characters are never halved */
    expect_max("ab\xF4\x8F\xBF\xBF!", 2, "ab\xF4\x8F\xBF\xBF\x7F"); /* the greatest one is kept, the next closes */
    expect_max("ab\xF4\x8F\xBF\xBF", 2, "ab\xF4\x8F\xBF\xBF");      /* nothing more to cut */
    expect_max("a\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBF\xF4\x8F\xBF\xBF", 1, NULL); /* too many of them */
    expect_max("ab\xFFzz", 2, NULL);                                          /* no UTF-8 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_and_bounds_are_nested_as_the_schema, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_without_column_statistics_has_its_row_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statistics_may_come_in_any_order_and_for_unknown_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_that_are_not_selected_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_a_number_and_infinity_give_no_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(zeros_cover_both_signs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timestamps_are_cut_down_to_milliseconds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_times_have_no_millisecond_before_them_and_no_bound, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(binary_and_boolean_have_counts_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unknown_null_count_is_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_text_is_cut_and_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(maximum_is_above_what_was_cut_off, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
