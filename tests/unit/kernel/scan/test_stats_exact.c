/* Counts and extremes from statistics: answered when exact, and only then. */
#include "kernel/scan/stats_reader.h"

#include <string.h>

#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;

static const struct sl_str x_path[] = {{"x", 1}};

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

enum answer {
    NO_ANSWER,
    NO_VALUE,
    VALUE
};

static enum answer extreme(silt_type_kind kind, const char *json, int64_t deleted, bool is_max, silt_value *out)
{
    const struct silt_type type = {.kind = kind, .precision = 20, .scale = 0};
    const struct sl_skip_column column = {.path = x_path, .path_len = 1, .type = &type, .physical_path = x_path};
    struct sl_claims claims;
    struct sl_bounds bounds;
    assert_int_equal(sl_stats_claims_from_json(sl_str_from(json), &column, 1, &arena, &claims, &bounds, NULL), SILT_OK);
    const struct sl_column_claims of = {&claims, &column, &bounds, deleted};
    return !sl_stats_extreme(&of, is_max, out) ? NO_ANSWER : out->is_null ? NO_VALUE : VALUE;
}

static enum answer both(silt_type_kind kind, const char *json, int64_t deleted)
{
    silt_value min;
    silt_value max;
    const enum answer answer = extreme(kind, json, deleted, false, &min);
    assert_int_equal(answer, extreme(kind, json, deleted, true, &max));
    return answer;
}

static void live_rows_are_those_that_no_vector_removes(void **state)
{
    (void)state;
    int64_t rows = -1;
    assert_true(sl_stats_live_rows(&(struct sl_claims){.has_rows = true, .rows = 10}, 4, &rows));
    assert_int_equal(rows, 6);
    assert_true(sl_stats_live_rows(&(struct sl_claims){.has_rows = true, .rows = 0}, 0, &rows));
    assert_int_equal(rows, 0);
    assert_false(sl_stats_live_rows(&(struct sl_claims){.has_rows = false}, 0, &rows));
    assert_false(sl_stats_live_rows(&(struct sl_claims){.has_rows = true, .rows = 3}, 4, &rows));
    assert_false(sl_stats_live_rows(&(struct sl_claims){.has_rows = true, .rows = 3}, -1, &rows));
}

static void exact_bounds_are_the_extremes(void **state)
{
    (void)state;
    silt_value value;
    static const char numbers[] =
        "{\"numRecords\":9,\"minValues\":{\"x\":3},\"maxValues\":{\"x\":7},\"nullCount\":{\"x\":1}}";
    assert_int_equal(extreme(SILT_TYPE_LONG, numbers, 0, false, &value), VALUE);
    assert_int_equal(value.as.i64, 3);
    assert_int_equal(extreme(SILT_TYPE_LONG, numbers, 0, true, &value), VALUE);
    assert_int_equal(value.as.i64, 7);
    assert_int_equal(both(SILT_TYPE_DECIMAL, numbers, 0), VALUE);
    assert_int_equal(
        both(SILT_TYPE_DATE, "{\"minValues\":{\"x\":\"2020-01-01\"},\"maxValues\":{\"x\":\"2020-01-02\"}}", 0), VALUE);
    assert_int_equal(both(SILT_TYPE_TIMESTAMP,
                          "{\"minValues\":{\"x\":\"2020-01-01T00:00:00.000001Z\"},"
                          "\"maxValues\":{\"x\":\"2020-01-01T00:00:00.123456Z\"}}",
                          0),
                     VALUE);
}

static void bounds_that_may_be_cut_or_wide_are_no_answer(void **state)
{
    (void)state;
    static const char wide[] =
        "{\"numRecords\":9,\"tightBounds\":false,\"minValues\":{\"x\":3},\"maxValues\":{\"x\":7}}";
    static const char unsaid[] = "{\"numRecords\":9,\"minValues\":{\"x\":3},\"maxValues\":{\"x\":7}}";
    static const char tight[] =
        "{\"numRecords\":9,\"tightBounds\":true,\"minValues\":{\"x\":3},\"maxValues\":{\"x\":7}}";
    assert_int_equal(both(SILT_TYPE_LONG, wide, 0), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_LONG, unsaid, 4), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_LONG, tight, 4), VALUE);
    assert_int_equal(both(SILT_TYPE_LONG, "{\"numRecords\":9}", 0), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_STRING, "{\"minValues\":{\"x\":\"a\"},\"maxValues\":{\"x\":\"b\"}}", 0), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_DOUBLE, tight, 0), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_TIMESTAMP,
                          "{\"minValues\":{\"x\":\"2020-01-01T00:00:00.001Z\"},"
                          "\"maxValues\":{\"x\":\"2020-01-01T00:00:00.123Z\"}}",
                          0),
                     NO_ANSWER);
    assert_int_equal(
        both(SILT_TYPE_DATE, "{\"minValues\":{\"x\":\"1500-01-01\"},\"maxValues\":{\"x\":\"1500-01-02\"}}", 0),
        NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_DECIMAL, "{\"minValues\":{\"x\":1e18},\"maxValues\":{\"x\":1e18}}", 0), NO_ANSWER);
    assert_int_equal(both(SILT_TYPE_LONG, "{\"minValues\":{\"x\":9},\"maxValues\":{\"x\":7}}", 0), NO_ANSWER);
}

static void files_without_values_have_no_extremes(void **state)
{
    (void)state;
    assert_int_equal(both(SILT_TYPE_LONG, "{\"numRecords\":9,\"nullCount\":{\"x\":9}}", 0), NO_VALUE);
    assert_int_equal(both(SILT_TYPE_LONG, "{\"numRecords\":0}", 0), NO_VALUE);
    assert_int_equal(both(SILT_TYPE_LONG, "{\"numRecords\":9,\"tightBounds\":true}", 9), NO_VALUE);
    assert_int_equal(both(SILT_TYPE_LONG, "{\"numRecords\":9,\"nullCount\":{\"x\":8}}", 0), NO_ANSWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(live_rows_are_those_that_no_vector_removes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(exact_bounds_are_the_extremes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_that_may_be_cut_or_wide_are_no_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_without_values_have_no_extremes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
