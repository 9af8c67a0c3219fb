/*
 * The short way to drop a file agrees with the long one: whatever it drops, the long way drops too, and it leaves what is odd.
 */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/scan/data_skip.h"
#include "kernel/scan/plan_quick.h"
#include "silt/silt.h"

#define N_FILES 20000

struct fixture {
    silt_schema *schema;
    struct sl_arena arena;
};

static int open_fixture(void **state)
{
    static const char json[] = "{\"type\":\"struct\",\"fields\":["
                               "{\"name\":\"n\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"i\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"d\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}}]}";
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    sl_arena_init(&f->arena, silt_env_default());
    assert_int_equal(silt_schema_from_json(silt_env_default(), json, strlen(json), &f->schema, NULL), SILT_OK);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    silt_schema_unref(f->schema);
    sl_arena_release(&f->arena);
    free(f);
    return 0;
}

static uint64_t random_state = 99;

static int64_t random_below(int64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* Numbers round the constants of the filters, and odd ones. */
static int64_t some_number(silt_type_kind kind)
{
    const int64_t middle = kind == SILT_TYPE_TIMESTAMP ? INT64_C(1577836800000000)
                           : kind == SILT_TYPE_DATE    ? 18262
                                                       : 100;
    const int64_t step = kind == SILT_TYPE_TIMESTAMP ? 500 : 1;
    switch (random_below(20)) {
    case 0: return kind == SILT_TYPE_INTEGER || kind == SILT_TYPE_DATE ? INT32_MIN : INT64_MIN;
    case 1: return kind == SILT_TYPE_INTEGER || kind == SILT_TYPE_DATE ? INT32_MAX : INT64_MAX;
    case 2: return kind == SILT_TYPE_TIMESTAMP ? INT64_C(-20000000000000000) : -200000;
    default: return middle + (random_below(21) - 10) * step;
    }
}

static struct sl_bounds some_bounds(silt_type_kind kind)
{
    struct sl_bounds b = {.has_min = random_below(12) > 0, .has_max = random_below(12) > 0};
    int64_t low = some_number(kind);
    int64_t high = some_number(kind);
    if (low > high && random_below(5) > 0) {
        const int64_t other = low;
        low = high;
        high = other;
    }
    b.min = sl_value_i64(kind, low);
    b.max = sl_value_i64(kind, high);
    b.has_null_count = random_below(3) > 0;
    b.null_count = random_below(4);
    return b;
}

static const char *const filters[] = {"n < 100",
                                      "n <= 95",
                                      "n = 101",
                                      "n > 104",
                                      "105 <= n",
                                      "n BETWEEN 99 AND 101",
                                      "n BETWEEN 101 AND 99",
                                      "n < -9223372036854775808",
                                      "n > 9223372036854775807",
                                      "i = 100",
                                      "i < 97",
                                      "d = DATE '2020-01-01'",
                                      "d < DATE '2019-12-30'",
                                      "d > DATE '1500-01-01'",
                                      "t < TIMESTAMP '2020-01-01 00:00:00Z'",
                                      "t = TIMESTAMP '2020-01-01 00:00:00.001Z'",
                                      "t >= TIMESTAMP '2020-01-01 00:00:00.002Z'",
                                      "n < 100 AND i > 99"};

static void nothing_is_dropped_that_the_long_way_keeps(void **state)
{
    struct fixture *f = *state;
    const enum sl_truth truths[2] = {SL_UNKNOWN, SL_UNKNOWN};
    const struct sl_partition_tuple tuple = {.truths = truths};
    size_t dropped = 0;
    size_t droppable = 0;
    for (size_t at = 0; at < sizeof(filters) / sizeof(filters[0]); at++) {
        silt_expr *parsed = NULL;
        silt_expr *filter = NULL;
        struct sl_scan_filter facts;
        struct sl_plan_quick quick;
        assert_int_equal(silt_expr_parse(silt_env_default(), filters[at], strlen(filters[at]), NULL, &parsed, NULL),
                         SILT_OK);
        assert_int_equal(sl_expr_resolve(parsed, f->schema, &filter, NULL), SILT_OK);
        assert_int_equal(sl_scan_filter_make(&f->arena, filter, f->schema, NULL, 0, &facts, NULL), SILT_OK);
        assert_int_equal(sl_plan_quick_init(&quick, &f->arena, &facts, NULL), SILT_OK);
        for (int i = 0; i < N_FILES; i++) {
            struct sl_bounds bounds[2];
            const struct sl_claims claims = {.has_rows = random_below(8) > 0, .rows = random_below(5) - 1};
            for (size_t c = 0; c < facts.n_columns; c++) {
                bounds[c] = some_bounds(facts.columns[c].type->kind);
            }
            const bool drops = sl_plan_quick_drops(&quick, truths, &claims, bounds);
            assert_int_equal(sl_stats_believe(&claims, facts.columns, facts.n_columns, &f->arena, bounds, NULL),
                             SILT_OK);
            const bool keeps = sl_data_skip_may_match(&facts, &tuple, bounds, &f->arena);
            assert_false(drops && keeps);
            dropped += drops;
            droppable += !keeps;
        }
        silt_expr_unref(parsed);
        silt_expr_unref(filter);
    }
    assert_in_range(dropped * 10, droppable * 4, droppable * 10); /* it is of use */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_dropped_that_the_long_way_keeps, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
