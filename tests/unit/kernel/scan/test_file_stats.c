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
static const struct silt_type date_type = {.kind = SILT_TYPE_DATE};
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
    assert_int_equal(sl_stats_bounds_from_json(sl_str_from(json), column, 1, &arena, &bounds, NULL), SILT_OK);
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

static void tie_breaker_of_a_writer_bounds_as_well_as_a_bare_prefix(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"maxValues\":{\"x\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\u007f\"}}", &text_type);
    silt_value cut = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaazzzz"));
    silt_value beyond = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    int order = 0;
    assert_true(b.has_max && sl_value_compare(&cut, &b.max, &order));
    assert_true(order < 0);
    assert_true(sl_value_compare(&beyond, &b.max, &order));
    assert_true(order > 0);
    /* A table may keep fewer characters: then the tie-breaker alone tells. */
    b = read_x("{\"maxValues\":{\"x\":\"aaaa\\u007f\"}}", &text_type);
    cut = sl_value_bytes(SILT_TYPE_STRING, SL_STR("aaaazz"));
    assert_true(sl_value_compare(&cut, &b.max, &order));
    assert_true(order < 0);
    /* 64 bytes of characters of three bytes each are fewer than 32 characters. */
    b = read_x(
        "{\"maxValues\":{\"x\":\"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
        "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\"}}",
        &text_type);
    assert_int_equal(b.max.as.bytes.len, 34);
}

static void replacement_character_ends_no_bound(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":\"ab\xEF\xBF\xBD\"},\"maxValues\":{\"x\":\"ab\xEF\xBF\xBD\"}}",
                                &text_type);
    silt_value accented = sl_value_bytes(SILT_TYPE_STRING, SL_STR("ab\xC3\xA9"));
    silt_value smile = sl_value_bytes(SILT_TYPE_STRING, SL_STR("ab\xF0\x9F\x98\x80"));
    int order = 0;
    assert_true(b.has_min && b.has_max);
    assert_true(sl_value_compare(&b.min, &accented, &order));
    assert_true(order < 0);
    assert_true(sl_value_compare(&smile, &b.max, &order));
    assert_true(order < 0);
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

static void timestamps_cover_what_milliseconds_cut_off(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"},"
                                "\"maxValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"}}",
                                &time_type);
    assert_true(b.has_min && b.has_max);
    assert_int_equal(b.max.as.i64 - INT64_C(1577836800001000), 999);
    assert_int_equal(b.min.as.i64 - INT64_C(1577836800001000), -999);
    /* Six digits were not cut. */
    b = read_x(
        "{\"minValues\":{\"x\":\"2020-01-01T00:00:00.001001Z\"},\"maxValues\":{\"x\":\"2020-01-01T00:00:00.001001Z\"}}",
        &time_type);
    assert_int_equal(b.max.as.i64, INT64_C(1577836800001001));
    assert_int_equal(b.min.as.i64, INT64_C(1577836800001001));
    assert_no_bounds("{\"maxValues\":{\"x\":\"294247-01-10T04:00:54.775Z\"}}", &time_type);
}

static void very_old_timestamps_with_odd_offsets_are_read_or_ignored(void **state)
{
    (void)state;
    /* 0202-10-21T00:00:00+00:53:28, give or take 14 days of calendar and what milliseconds cut off. */
    const int64_t instant = INT64_C(-55767401608000000);
    const int64_t slack = 14 * INT64_C(86400000000) + 999;
    struct sl_bounds four = read_x("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53:28\"},"
                                   "\"maxValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53:28\"}}",
                                   &time_type);
    assert_true(four.has_min && four.has_max);
    assert_int_equal(four.min.as.i64, instant - slack);
    assert_int_equal(four.max.as.i64, instant + slack);
    struct sl_bounds three = read_x("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53\"},"
                                    "\"maxValues\":{\"x\":\"0202-10-21T00:00:00.000+00:53\"}}",
                                    &time_type);
    assert_true(three.has_min && three.min.as.i64 <= four.min.as.i64);
    assert_true(three.has_max && three.max.as.i64 >= four.max.as.i64);
    /* Younger ones, too: the offset was cut, not the calendar. */
    three = read_x("{\"minValues\":{\"x\":\"1850-01-01T00:00:00.000+00:53\"}}", &time_type);
    four = read_x("{\"minValues\":{\"x\":\"1850-01-01T00:00:00.000+00:53:28\"}}", &time_type);
    assert_true(three.min.as.i64 <= four.min.as.i64);
    assert_no_bounds("{\"minValues\":{\"x\":\"0202-10-21T00:00:00.000+99:99:99\"}}", &time_type);
    assert_no_bounds("{\"minValues\":{\"x\":\"long ago\"},\"maxValues\":{\"x\":12}}", &time_type);
}

static void days_of_the_hybrid_calendar_are_covered(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":\"1582-10-15\"},\"maxValues\":{\"x\":\"1582-10-15\"}}",
                                &date_type);
    assert_int_equal(b.min.as.i64, -141427);
    assert_int_equal(b.max.as.i64, -141427);
    b = read_x("{\"minValues\":{\"x\":\"1582-10-04\"},\"maxValues\":{\"x\":\"1582-10-04\"}}", &date_type);
    assert_true(b.min.as.i64 < -141438 - 10 && b.max.as.i64 > -141438 + 10);
    b = read_x("{\"minValues\":{\"x\":\"0001-01-01\"},\"maxValues\":{\"x\":\"2020-01-01\"}}", &date_type);
    assert_true(b.has_min && b.has_max);
    assert_no_bounds("{\"minValues\":{\"x\":\"0000-12-31\"}}", &date_type);
    assert_no_bounds("{\"minValues\":{\"x\":\"-0044-03-15T00:00:00Z\"}}", &time_type);
}

static void decimals_that_a_double_rounded_still_bound(void **state)
{
    (void)state;
    static const struct silt_type wide = {.kind = SILT_TYPE_DECIMAL, .precision = 20, .scale = 0};
    struct sl_bounds b = read_x("{\"minValues\":{\"x\":1e18},\"maxValues\":{\"x\":1e18}}", &wide);
    const silt_value low = sl_value_decimal(999999999999999999, 20, 0);
    const silt_value high = sl_value_decimal(1000000000000000063, 20, 0);
    int order = 0;
    assert_true(b.has_min && sl_value_compare(&b.min, &low, &order));
    assert_true(order <= 0);
    assert_true(b.has_max && sl_value_compare(&high, &b.max, &order));
    assert_true(order <= 0);
    b = read_x("{\"minValues\":{\"x\":-1e18}}", &wide);
    assert_true(b.has_min && sl_value_get_i128(&b.min) < -INT64_C(1000000000000000000));
    /* What has all its digits, or few, is exact. */
    b = read_x("{\"minValues\":{\"x\":1234567890123456789},\"maxValues\":{\"x\":1234567890123456789}}", &wide);
    assert_true(sl_value_get_i128(&b.min) == INT64_C(1234567890123456789));
    b = read_x("{\"minValues\":{\"x\":5},\"maxValues\":{\"x\":999999999999999}}", &wide);
    assert_true(sl_value_get_i128(&b.max) == INT64_C(999999999999999));
}

static void text_of_a_float_bounds_the_double_that_it_became(void **state)
{
    (void)state;
    static const struct silt_type float_type = {.kind = SILT_TYPE_FLOAT};
    static const struct silt_type *const earlier[] = {&float_type};
    const char *json = "{\"minValues\":{\"x\":0.1},\"maxValues\":{\"x\":0.1}}";
    struct sl_skip_column column = {.path = x_path,
                                    .path_len = 1,
                                    .type = &double_type,
                                    .physical_path = x_path,
                                    .earlier = earlier,
                                    .n_earlier = 1};
    struct sl_bounds b = read_column(json, &column);
    assert_true(b.has_min && b.min.as.f64 <= 0.1);
    assert_true(b.has_max && b.max.as.f64 >= (double)0.1F);
    /* Without that history a double is a double. */
    b = read_x(json, &double_type);
    assert_true(b.max.as.f64 <= 0.1 && b.min.as.f64 >= 0.1);
    b = read_x(json, &float_type);
    assert_true(b.max.as.f64 <= (double)0.1F && b.max.as.f64 >= (double)0.1F);
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

static void nulls_of_structs_are_not_counted_by_every_writer(void **state)
{
    (void)state;
    struct sl_skip_column column = {
        .path = nested_path, .path_len = 2, .type = &integer_type, .physical_path = nested_path};
    assert_false(read_column("{\"numRecords\":5,\"nullCount\":{\"s\":{\"a.b\":0}}}", &column).has_null_count);
    assert_true(read_column("{\"numRecords\":5,\"nullCount\":{\"s\":{\"a.b\":5}}}", &column).has_null_count);
    assert_true(read_x("{\"numRecords\":5,\"nullCount\":{\"x\":0}}", &long_type).has_null_count);
}

static void counts_that_contradict_bounds_are_not_believed(void **state)
{
    (void)state;
    struct sl_bounds b = read_x("{\"numRecords\":5,\"minValues\":{\"x\":1},\"nullCount\":{\"x\":5}}", &long_type);
    assert_true(b.has_min);
    assert_false(b.has_null_count);
    /* No rows, but values: nothing of it can be believed. */
    b = read_x("{\"numRecords\":0,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":1},\"nullCount\":{\"x\":0}}",
               &long_type);
    assert_false(b.has_min || b.has_max || b.has_null_count || b.has_row_count);
    b = read_x("{\"numRecords\":0,\"nullCount\":{\"x\":0}}", &long_type);
    assert_true(b.has_row_count && b.has_null_count);
}

static void flag_of_a_collation_takes_bounds_away(void **state)
{
    (void)state;
    struct sl_skip_column column = {
        .path = x_path, .path_len = 1, .type = &text_type, .physical_path = x_path, .collated = true};
    struct sl_bounds b = read_column(
        "{\"numRecords\":2,\"minValues\":{\"x\":\"a\"},\"maxValues\":{\"x\":\"b\"},\"nullCount\":{\"x\":0}}", &column);
    assert_false(b.has_min || b.has_max);
    assert_true(b.has_null_count);
}

static void columns_are_found_by_physical_names(void **state)
{
    (void)state;
    static const struct sl_str physical[] = {{"col-1", 5}};
    struct sl_skip_column column = {.path = x_path, .path_len = 1, .type = &long_type, .physical_path = physical};
    struct sl_bounds b = read_column("{\"minValues\":{\"x\":1,\"col-1\":7}}", &column);
    assert_true(b.has_min);
    assert_int_equal(b.min.as.i64, 7);
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
        silt_status status = sl_stats_bounds_from_json(sl_str_from(json), &column, 1, &own, &b, NULL);
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
        cmocka_unit_test_setup_teardown(tie_breaker_of_a_writer_bounds_as_well_as_a_bare_prefix, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replacement_character_ends_no_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replacement_character_as_tie_breaker_is_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timestamps_cover_what_milliseconds_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_old_timestamps_with_odd_offsets_are_read_or_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(days_of_the_hybrid_calendar_are_covered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decimals_that_a_double_rounded_still_bound, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_of_a_float_bounds_the_double_that_it_became, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decimals_are_read_exactly_or_not_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(infinite_bounds_in_text_are_bounds_and_bare_ones_void_the_file, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(bounds_in_the_wrong_order_are_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_under_a_collation_and_binary_have_no_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wide_bounds_keep_only_telling_null_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_columns_are_found_by_parts_and_names_with_dots_are_one_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nulls_of_structs_are_not_counted_by_every_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_that_contradict_bounds_are_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flag_of_a_collation_takes_bounds_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_are_found_by_physical_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lack_of_memory_is_reported_at_every_request, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
