/* Statistics of a file as bounds: what is believed of them, and what is not. */
#include "kernel/scan/file_stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type integer_type = {.kind = SILT_TYPE_INTEGER};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type collated_type = {.kind = SILT_TYPE_STRING, .json = {"string collate UNICODE_CI", 25}};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};
static const struct silt_type double_type = {.kind = SILT_TYPE_DOUBLE};
static const struct silt_type binary_type = {.kind = SILT_TYPE_BINARY};
static const struct silt_type decimal_type = {.kind = SILT_TYPE_DECIMAL, .precision = 4, .scale = 2};
static const struct sl_str x_path[] = {{"x", 1}};
static const struct sl_str nested_path[] = {{"s", 1}, {"a.b", 3}};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

static struct sl_bounds read_column(const char *json, const struct sl_skip_column *column)
{
    struct sl_bounds bounds;
    memset(&bounds, 0xAB, sizeof(bounds));
    assert_int_equal(sl_stats_bounds_from_json(&t.env, sl_str_from(json), column, 1, &arena, &bounds, NULL), SILT_OK);
    return bounds;
}

static struct sl_bounds read_x(const char *json, const struct silt_type *type)
{
    struct sl_skip_column column = {.path = x_path, .path_len = 1, .type = type, .physical_path = x_path};
    return read_column(json, &column);
}

static void assert_no_bounds(const char *json, const struct silt_type *type)
{
    struct sl_bounds b = read_x(json, type);
    if (b.has_min || b.has_max || b.has_null_count) {
        fail_msg("bounds were taken from %s", json);
    }
}

static void complete_statistics_give_all_bounds(void **state)
{
    (void)state;
    struct sl_bounds b = read_x(
        "{\"numRecords\":10,\"minValues\":{\"x\":-3},\"maxValues\":{\"x\":7},\"nullCount\":{\"x\":2}}", &long_type);
    assert_true(b.has_row_count && b.has_null_count && b.has_min && b.has_max);
    assert_int_equal(b.row_count, 10);
    assert_int_equal(b.null_count, 2);
    assert_int_equal(b.min.as.i64, -3);
    assert_int_equal(b.max.as.i64, 7);
}

static void each_part_may_be_missing(void **state)
{
    (void)state;
    assert_no_bounds("{}", &long_type);
    assert_no_bounds("{\"numRecords\":3}", &long_type);
    assert_true(read_x("{\"numRecords\":3}", &long_type).has_row_count);
    assert_no_bounds("{\"minValues\":{\"x\":null},\"maxValues\":{},\"nullCount\":{\"y\":1}}", &long_type);
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":1}}", &long_type);
    assert_true(b.has_min);
    assert_false(b.has_max);
    assert_false(b.has_row_count);
    struct sl_bounds none = read_column(
        "", &(struct sl_skip_column){.path = x_path, .path_len = 1, .type = &long_type, .physical_path = x_path});
    assert_false(none.has_min || none.has_row_count);
}

static void hostile_statistics_give_no_bounds_and_no_error(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "null",
        "[]",
        "3",
        "\"x\"",
        "{",
        "{\"minValues\":",
        "not json at all",
        "{\"numRecords\":NaN}",
        "{\"minValues\":[1],\"maxValues\":3,\"nullCount\":\"x\"}",
        "{\"minValues\":{\"x\":{\"x\":1}},\"maxValues\":{\"x\":[1]},\"nullCount\":{\"x\":{}}}",
        "{\"minValues\":{\"x\":true},\"maxValues\":{\"x\":\"seven\"},\"nullCount\":{\"x\":-1}}",
        "{\"minValues\":{\"x\":1e400},\"maxValues\":{\"x\":99999999999999999999},\"nullCount\":{\"x\":1.5}}",
        "{\"numRecords\":2,\"nullCount\":{\"x\":3}}",
        "{\"minValues\":{\"x\":Infinity},\"maxValues\":{\"x\":-Infinity}}",
        "{\"minValues\":{\"x\":1},\"maxValues\":{\"x\":2}} trailing",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_no_bounds(texts[i], &long_type);
    }
}

static void counts_that_make_no_sense_are_ignored(void **state)
{
    (void)state;
    assert_false(read_x("{\"numRecords\":-1}", &long_type).has_row_count);
    assert_false(read_x("{\"numRecords\":\"4\"}", &long_type).has_row_count);
    assert_false(read_x("{\"numRecords\":9223372036854775808}", &long_type).has_row_count);
    assert_true(read_x("{\"numRecords\":0,\"nullCount\":{\"x\":0}}", &long_type).has_null_count);
}

static void very_deep_statistics_are_no_error(void **state)
{
    (void)state;
    enum {
        DEPTH = 100000
    };
    char *text = malloc(DEPTH + 64);
    assert_non_null(text);
    strcpy(text, "{\"numRecords\":5,\"minValues\":");
    size_t len = strlen(text);
    memset(text + len, '[', DEPTH);
    text[len + DEPTH] = '\0';
    assert_no_bounds(text, &long_type);
    free(text);
}

static void long_text_that_was_cut_is_no_upper_bound_as_it_stands(void **state)
{
    (void)state;
    /* 32 characters without a tie-breaker: the value may have gone on. */
    struct sl_bounds b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}", &text_type);
    assert_true(b.has_max);
    int order = 0;
    silt_value longer = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xF4\x8F\xBF\xBFz"));
    assert_true(sl_value_compare(&longer, &b.max, &order));
    assert_true(order < 0);
    silt_value next = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    assert_true(sl_value_compare(&next, &b.max, &order));
    assert_true(order > 0);
}

static void short_text_is_taken_as_it_stands(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"maxValues\":{\"x\":\"short\"}}", &text_type);
    assert_true(b.has_max);
    assert_true(sl_str_eq(sl_value_get_str(&b.max), SL_STR("short")));
}

static void tie_breaker_of_a_writer_is_believed(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\u007f\"}}", &text_type);
    assert_int_equal(b.max.as.bytes.len, 33);
    b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\udbff\\udfff\"}}", &text_type);
    assert_int_equal(b.max.as.bytes.len, 36);
    /* At 32 characters it may be text that was cut there by chance. */
    b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\u007f\"}}", &text_type);
    assert_int_equal(b.max.as.bytes.len, 33);
}

static void replacement_character_as_tie_breaker_is_not_believed(void **state)
{
    (void)state;
    /* An old writer cut a pair in two: 31 characters, half of U+1F600 as '?', and the tie-breaker U+FFFD. */
    struct sl_bounds b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?\xEF\xBF\xBD\"}}", &text_type);
    assert_true(b.has_max);
    silt_value real = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xF0\x9F\x98\x80"));
    int order = 0;
    assert_true(sl_value_compare(&real, &b.max, &order));
    assert_true(order < 0);
}

static void timestamp_maximum_covers_what_milliseconds_cut_off(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"},"
                                "\"maxValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"}}",
                                &time_type);
    assert_true(b.has_min && b.has_max);
    assert_int_equal(b.max.as.i64 - b.min.as.i64, 999);
}

static void very_old_timestamps_with_odd_offsets_are_read_or_ignored(void **state)
{
    (void)state;
    struct sl_bounds four = read_x("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53:28\"}}", &time_type);
    assert_true(four.has_min);
    struct sl_bounds three = read_x("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53\"}}", &time_type);
    assert_true(three.has_min);
    assert_int_equal(three.min.as.i64 - four.min.as.i64, 28 * 1000000);
    assert_no_bounds("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+99:99:99\"}}", &time_type);
    assert_no_bounds("{\"minValues\":{\"x\":\"long ago\"},\"maxValues\":{\"x\":12}}", &time_type);
}

static void decimals_are_read_exactly_or_not_at_all(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":1.0},\"maxValues\":{\"x\":\"12.34\"}}", &decimal_type);
    assert_true(b.has_min && b.has_max);
    assert_int_equal(b.min.as.decimal.lo, 100);
    assert_int_equal(b.max.as.decimal.lo, 1234);
    assert_true(read_x("{\"minValues\":{\"x\":1e1}}", &decimal_type).has_min);
    assert_no_bounds("{\"minValues\":{\"x\":1e3}}", &decimal_type);
    assert_no_bounds("{\"maxValues\":{\"x\":12345678901234567890.123}}", &decimal_type);
}

static void infinite_bounds_in_text_are_bounds_and_bare_ones_void_the_file(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":\"-Infinity\"},\"maxValues\":{\"x\":\"Infinity\"}}",
                                &double_type);
    assert_true(b.has_min && b.has_max);
    assert_no_bounds("{\"numRecords\":3,\"minValues\":{\"x\":1.0},\"maxValues\":{\"x\":Infinity}}", &double_type);
    b = read_x("{\"minValues\":{\"x\":1.0},\"maxValues\":{\"x\":\"NaN\"}}", &double_type);
    assert_true(b.has_min);
    assert_false(b.has_max);
}

static void bounds_in_the_wrong_order_are_dropped(void **state)
{
    (void)state;
    assert_no_bounds("{\"minValues\":{\"x\":5},\"maxValues\":{\"x\":4}}", &long_type);
    assert_no_bounds("{\"minValues\":{\"x\":\"b\"},\"maxValues\":{\"x\":\"a\"}}", &text_type);
    /* The order is judged before a maximum is widened. */
    assert_no_bounds("{\"minValues\":{\"x\":\"2020-01-01T00:00:00.002Z\"},"
                     "\"maxValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"}}",
                     &time_type);
}

static void text_under_a_collation_and_binary_have_no_bounds(void **state)
{
    (void)state;
    assert_no_bounds("{\"minValues\":{\"x\":\"a\"},\"maxValues\":{\"x\":\"b\"}}", &collated_type);
    assert_no_bounds("{\"minValues\":{\"x\":\"a\"},\"maxValues\":{\"x\":\"b\"}}", &binary_type);
    assert_true(read_x("{\"numRecords\":2,\"nullCount\":{\"x\":2}}", &collated_type).has_null_count);
}

static void wide_bounds_keep_only_telling_null_counts(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"tightBounds\":false,\"numRecords\":10,\"nullCount\":{\"x\":4}}", &long_type);
    assert_false(b.has_null_count);
    b = read_x("{\"tightBounds\":false,\"numRecords\":10,\"nullCount\":{\"x\":0}}", &long_type);
    assert_true(b.has_null_count);
    b = read_x("{\"tightBounds\":false,\"numRecords\":10,\"nullCount\":{\"x\":10}}", &long_type);
    assert_true(b.has_null_count);
    b = read_x("{\"tightBounds\":\"maybe\",\"numRecords\":10,\"nullCount\":{\"x\":4}}", &long_type);
    assert_false(b.has_null_count);
    b = read_x("{\"tightBounds\":null,\"numRecords\":10,\"nullCount\":{\"x\":4}}", &long_type);
    assert_true(b.has_null_count);
}

static void nested_columns_are_found_by_parts_and_names_with_dots_are_one_part(void **state)
{
    (void)state;
    struct sl_skip_column column = {
        .path = nested_path, .path_len = 2, .type = &integer_type, .physical_path = nested_path};
    struct sl_bounds b = read_column("{\"minValues\":{\"s\":{\"a.b\":4,\"a\":{\"b\":9}}},\"maxValues\":{\"s.a.b\":1}}",
                                     &column);
    assert_true(b.has_min);
    assert_int_equal(b.min.as.i64, 4);
    assert_false(b.has_max);
    b = read_column("{\"minValues\":{\"s\":4}}", &column);
    assert_false(b.has_min);
}

static void lack_of_memory_is_reported_at_every_request(void **state)
{
    (void)state;
    const char *json =
        "{\"numRecords\":3,\"minValues\":{\"x\":\"a\"},\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}";
    struct sl_skip_column column = {.path = x_path, .path_len = 1, .type = &text_type, .physical_path = x_path};
    for (size_t n = 1; n < 100; n++) {
        struct sl_arena own;
        sl_arena_init(&own, &t.env);
        struct sl_bounds b;
        test_env_fail_at(&t, n);
        silt_status status = sl_stats_bounds_from_json(&t.env, sl_str_from(json), &column, 1, &own, &b, NULL);
        size_t requests = t.n_requests;
        test_env_fail_at(&t, 0);
        sl_arena_release(&own);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        if (requests < n) {
            assert_true(b.has_min && b.has_max);
            return;
        }
    }
    fail_msg("reading statistics never came to an end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(complete_statistics_give_all_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_part_may_be_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_statistics_give_no_bounds_and_no_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_that_make_no_sense_are_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_deep_statistics_are_no_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_text_that_was_cut_is_no_upper_bound_as_it_stands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_text_is_taken_as_it_stands, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tie_breaker_of_a_writer_is_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replacement_character_as_tie_breaker_is_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timestamp_maximum_covers_what_milliseconds_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_old_timestamps_with_odd_offsets_are_read_or_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decimals_are_read_exactly_or_not_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(infinite_bounds_in_text_are_bounds_and_bare_ones_void_the_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bounds_in_the_wrong_order_are_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_under_a_collation_and_binary_have_no_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wide_bounds_keep_only_telling_null_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_columns_are_found_by_parts_and_names_with_dots_are_one_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_is_reported_at_every_request, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
