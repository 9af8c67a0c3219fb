/* Asking sets of rows, compared with a plain table of flags. */
#include <stdlib.h>
#include <string.h>

#include "dv_fixture.h"
#include "kernel/dv/dv.h"
#include "test_env.h"

#define N_ROWS 200000

static struct test_env t;
static struct sl_dv_set set;
static uint8_t flags[N_ROWS]; /* what the set must hold */

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    memset(flags, 0, sizeof(flags));
    set = (struct sl_dv_set){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_dv_set_release(&set);
    test_env_check(&t);
    return 0;
}

/* The set of the flags. */
static void make_set(int runs)
{
    static int64_t rows[N_ROWS];
    size_t n = 0;
    struct sl_buf payload;
    sl_buf_init(&payload, &t.env);
    for (int64_t i = 0; i < N_ROWS; i++) {
        if (flags[i] != 0) {
            rows[n++] = i;
        }
    }
    dv_payload(&payload, rows, n, runs);
    sl_dv_set_release(&set);
    assert_int_equal(sl_dv_parse(&t.env, sl_buf_view(&payload), &set, NULL), SILT_OK);
    sl_buf_release(&payload);
}

/* An array in the first block, bits in the second, long runs in the third, nothing behind. */
static void make_flags(unsigned seed)
{
    srand(seed);
    memset(flags, 0, sizeof(flags));
    for (int64_t i = 0; i < 1000; i++) {
        flags[rand() % 65536] = 1;
    }
    for (int64_t i = 65536; i < 131072; i++) {
        flags[i] = (uint8_t)(rand() % 3 != 0);
    }
    memset(flags + 70016, 1, 640);
    memset(flags + 80000, 0, 640);
    for (int64_t i = 131072; i < 190000; i += 1 + rand() % 3000) {
        const int64_t n = 1 + rand() % 1500;
        memset(flags + i, 1, (size_t)(i + n < 190000 ? n : 190000 - i));
    }
}

static void check_mark(int64_t first, size_t n, uint8_t value)
{
    static uint8_t marks[N_ROWS + 2];
    memset(marks, value == 0 ? 1 : 0, n);
    marks[n] = 0xAA;
    sl_dv_set_mark(&set, first, n, marks, value);
    assert_int_equal(marks[n], 0xAA);
    for (size_t i = 0; i < n; i++) {
        const int64_t row = first + (int64_t)i;
        const uint8_t expected = row < N_ROWS && flags[row] != 0 ? value : value == 0;
        if (marks[i] != expected) {
            fail_msg("row %lld of [%lld, +%zu)", (long long)row, (long long)first, n);
        }
    }
}

static void stretches_are_marked_as_in_a_plain_table(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 8; seed++) {
        make_flags(seed);
        make_set((int)(seed % 2));
        check_mark(0, N_ROWS, 0);
        check_mark(0, N_ROWS, 1);
        for (int i = 0; i < 300; i++) {
            const int64_t first = rand() % N_ROWS;
            const size_t max = i % 3 == 0 ? 70 : i % 3 == 1 ? 2048 : 100000;
            const size_t n = 1 + (size_t)rand() % max;
            check_mark(first, n < (size_t)(N_ROWS - first) ? n : (size_t)(N_ROWS - first), (uint8_t)(i % 2));
        }
    }
}

static void next_and_gap_are_as_in_a_plain_table(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++) {
        make_flags(seed);
        make_set((int)(seed % 2));
        int64_t next = INT64_MAX;
        int64_t gap = N_ROWS;
        for (int64_t row = N_ROWS - 1; row >= 0; row--) {
            next = flags[row] != 0 ? row : next;
            gap = flags[row] == 0 ? row : gap;
            assert_int_equal(sl_dv_set_next(&set, row), next);
            assert_int_equal(sl_dv_set_gap(&set, row), gap);
        }
    }
}

static void empty_set_has_no_rows(void **state)
{
    (void)state;
    make_set(0);
    check_mark(0, 5000, 0);
    assert_int_equal(sl_dv_set_next(&set, 0), INT64_MAX);
    assert_int_equal(sl_dv_set_gap(&set, 0), 0);
    assert_int_equal(sl_dv_set_gap(&set, INT64_MAX), INT64_MAX);
}

static void full_blocks_have_their_gap_behind(void **state)
{
    (void)state;
    memset(flags, 1, 3 * 65536);
    for (int runs = 0; runs < 2; runs++) {
        make_set(runs);
        assert_int_equal(sl_dv_set_gap(&set, 0), 3 * 65536);
        assert_int_equal(sl_dv_set_gap(&set, 65535), 3 * 65536);
        assert_int_equal(sl_dv_set_next(&set, 3 * 65536 - 1), 3 * 65536 - 1);
        assert_int_equal(sl_dv_set_next(&set, 3 * 65536), INT64_MAX);
        check_mark(0, N_ROWS, 0);
        check_mark(65000, 2048, 1);
    }
}

static void rows_far_out_are_found(void **state)
{
    (void)state;
    const int64_t rows[] = {5, (INT64_C(3) << 32) + 65536 + 7};
    uint8_t marks[20];
    struct sl_buf payload;
    sl_buf_init(&payload, &t.env);
    dv_payload(&payload, rows, 2, 0);
    assert_int_equal(sl_dv_parse(&t.env, sl_buf_view(&payload), &set, NULL), SILT_OK);
    sl_buf_release(&payload);
    assert_int_equal(sl_dv_set_next(&set, 6), rows[1]);
    assert_int_equal(sl_dv_set_gap(&set, rows[1]), rows[1] + 1);
    memset(marks, 1, sizeof(marks));
    sl_dv_set_mark(&set, rows[1] - 10, sizeof(marks), marks, 0);
    assert_int_equal(marks[10], 0);
    assert_int_equal(marks[9] + marks[11], 2);
    /* Stretches at the end of all numbers, and one that holds the whole set. */
    memset(marks, 1, sizeof(marks));
    sl_dv_set_mark(&set, INT64_MAX - 5, sizeof(marks), marks, 0);
    sl_dv_set_mark(&set, INT64_MAX, 1, marks, 0);
    sl_dv_set_mark(&set, 0, 0, marks, 0);
    assert_int_equal(marks[0] + marks[19], 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(stretches_are_marked_as_in_a_plain_table),
        TEST(next_and_gap_are_as_in_a_plain_table),
        TEST(empty_set_has_no_rows),
        TEST(full_blocks_have_their_gap_behind),
        TEST(rows_far_out_are_found),
    };
    return cmocka_run_group_tests_name("dv set", tests, NULL, NULL);
}
