/*
 * Distributions of version checksums: the bins are Delta's.
 */
#include "log_fixture.h"

#include "kernel/log/crc_histogram.h"

#define MB (INT64_C(1024) * 1024)

static void sizes_fall_into_deltas_bins(void **state)
{
    struct log_fixture *f = *state;
    struct sl_arena arena;
    struct sl_size_histogram h;
    sl_arena_init(&arena, &f->test.env);
    assert_true(sl_size_histogram_new(&arena, &h));
    assert_int_equal(h.n, 95);
    assert_int_equal(h.bounds[0], 0);
    assert_int_equal(h.bounds[1], 8192);
    assert_int_equal(h.bounds[10], 4 * MB);
    assert_int_equal(h.bounds[11], 8 * MB);
    assert_int_equal(h.bounds[94], 256 * 1024 * MB);
    for (size_t i = 1; i < h.n; i++) {
        assert_true(h.bounds[i] > h.bounds[i - 1]);
    }
    assert_true(sl_size_histogram_change(&h, 0, 1));
    assert_true(sl_size_histogram_change(&h, 8191, 1));
    assert_true(sl_size_histogram_change(&h, 8192, 1));
    assert_true(sl_size_histogram_change(&h, INT64_C(1) << 50, 1));
    assert_int_equal(h.files[0], 2);
    assert_int_equal(h.bytes[0], 8191);
    assert_int_equal(h.files[1], 1);
    assert_int_equal(h.files[94], 1);
    assert_true(sl_size_histogram_change(&h, 8192, -1));
    assert_int_equal(h.files[1], 0);
    sl_arena_release(&arena);
}

static void what_cannot_be_is_refused(void **state)
{
    struct log_fixture *f = *state;
    struct sl_arena arena;
    struct sl_size_histogram h;
    sl_arena_init(&arena, &f->test.env);
    assert_true(sl_size_histogram_new(&arena, &h));
    assert_false(sl_size_histogram_change(&h, -1, 1));
    assert_false(sl_size_histogram_change(&h, 5, -1));
    sl_arena_release(&arena);
}

static void deleted_records_fall_into_ten_bins(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        size_t bin;
    } cases[] = {{0, 0},          {1, 1},          {9, 1},        {10, 2},      {99, 2},
                 {100, 3},        {999999, 6},     {1000000, 7},  {9999999, 7}, {10000000, 8},
                 {2147483646, 8}, {2147483647, 9}, {INT64_MAX, 9}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(sl_deleted_bin(cases[i].n), cases[i].bin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(sizes_fall_into_deltas_bins),
        LOG_TEST(what_cannot_be_is_refused),
        LOG_TEST(deleted_records_fall_into_ten_bins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
