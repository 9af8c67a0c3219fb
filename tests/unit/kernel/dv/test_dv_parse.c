/* Payloads of deletion vectors: what is read, and that nothing else is. */
#include <stdlib.h>
#include <string.h>

#include "dv_fixture.h"
#include "kernel/dv/dv.h"
#include "test_env.h"

static struct test_env t;
static struct sl_buf payload;
static struct sl_dv_set set;
static silt_error err;

/* Places in a payload of one bitmap. */
enum {
    AT_COUNT = 4,
    AT_KEY = 12,
    AT_COOKIE = 16,
    AT_BLOCKS = 20, /* of a bitmap without runs */
    AT_PAIRS = 24
};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_buf_init(&payload, &t.env);
    err = (silt_error)SILT_ERROR_INIT;
    set = (struct sl_dv_set){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_dv_set_release(&set);
    sl_buf_release(&payload);
    test_env_check(&t);
    return 0;
}

static silt_status parse(void)
{
    sl_dv_set_release(&set);
    return sl_dv_parse(&t.env, sl_buf_view(&payload), &set, &err);
}

static void expect_refused(const char *in_message)
{
    assert_int_equal(parse(), SILT_ECORRUPT);
    if (strstr(err.message, in_message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", in_message, err.message);
    }
    assert_null(set.bytes);
    assert_null(set.blocks);
}

/* Exactly these rows, which are ascending, by asking for one after the other. */
static void expect_rows(const int64_t *rows, size_t n)
{
    assert_int_equal(set.cardinality, n);
    assert_int_equal(set.last, n > 0 ? rows[n - 1] : -1);
    int64_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t row = sl_dv_set_next(&set, from);
        if (row != rows[i]) {
            fail_msg("row %zu is %lld, expected %lld", i, (long long)row, (long long)rows[i]);
        }
        from = row + 1;
    }
    assert_int_equal(sl_dv_set_next(&set, from), INT64_MAX);
}

static void the_protocols_example_is_read(void **state)
{
    (void)state;
    const int64_t rows[] = {3, 4, 7, 11, 18, 29};
    const silt_deletion_vector dv = {.storage_type = 'i',
                                     .inline_data = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
                                     .size_in_bytes = 40,
                                     .cardinality = 6};
    assert_int_equal(sl_dv_open(&t.env, &dv, (struct sl_str){NULL, 0}, 30, &set, &err), SILT_OK);
    expect_rows(rows, 6);
}

static void empty_set_is_read(void **state)
{
    (void)state;
    dv_payload(&payload, NULL, 0, 0);
    assert_int_equal(parse(), SILT_OK);
    expect_rows(NULL, 0);
}

static void bitmaps_without_rows_are_read(void **state)
{
    (void)state;
    /* Spark fills the place of a missing key with an empty bitmap. */
    const int64_t rows[] = {1, (INT64_C(2) << 32) + 5};
    dv_payload_native(&payload, rows, 2, 0);
    assert_int_equal(parse(), SILT_OK);
    expect_rows(rows, 2);
    sl_buf_clear(&payload);
    sl_buf_put(&payload, "\xD1\xD3\x39\x64\1\0\0\0\0\0\0\0\0\0\0\0\x3A\x30\0\0\0\0\0\0", 24);
    assert_int_equal(parse(), SILT_OK);
    expect_rows(NULL, 0);
}

static int compare_rows(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Rows of many shapes: scattered, dense, runs, over several bitmaps. Returns how many, ascending and each once. */
static size_t make_rows(unsigned seed, int64_t *rows, size_t max)
{
    size_t n = 0;
    srand(seed);
    while (n < max) {
        const int64_t base = ((int64_t)(rand() % 3) << 32) + ((int64_t)(rand() % 5) << 16) + rand() % 65536;
        const int shape = rand() % 3;
        const size_t count = 1 + (size_t)rand() % (shape == 0 ? 10 : 6000);
        for (size_t i = 0; i < count && n < max; i++) {
            rows[n++] = base + (shape == 1 ? (int64_t)i : (int64_t)(i * (size_t)(1 + rand() % 9)));
        }
    }
    qsort(rows, n, sizeof(*rows), compare_rows);
    size_t kept = 1;
    for (size_t i = 1; i < n; i++) {
        if (rows[i] != rows[kept - 1]) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static void what_croaring_writes_is_read(void **state)
{
    (void)state;
    static int64_t rows[40000];
    for (unsigned seed = 1; seed <= 20; seed++) {
        const size_t n = make_rows(seed, rows, seed % 4 == 0 ? 40000 : 50 * seed);
        for (int form = 0; form < 4; form++) {
            sl_buf_clear(&payload);
            if (form < 2) {
                dv_payload(&payload, rows, n, form);
            } else {
                dv_payload_native(&payload, rows, n, form - 2);
            }
            if (parse() != SILT_OK) {
                fail_msg("seed %u, form %d: %s", seed, form, err.message);
            }
            expect_rows(rows, n);
        }
    }
}

static void all_rows_of_a_block_are_read(void **state)
{
    (void)state;
    static int64_t rows[65536 + 2];
    for (int64_t i = 0; i < 65538; i++) {
        rows[i] = 65535 + i;
    }
    for (int runs = 0; runs < 2; runs++) {
        sl_buf_clear(&payload);
        dv_payload(&payload, rows, 65538, runs);
        assert_int_equal(parse(), SILT_OK);
        expect_rows(rows, 65538);
    }
}

static void every_shorter_payload_is_refused(void **state)
{
    (void)state;
    static int64_t rows[12000];
    const size_t n = make_rows(7, rows, 12000);
    for (int form = 0; form < 4; form++) {
        sl_buf_clear(&payload);
        if (form < 2) {
            dv_payload(&payload, rows, n, form);
        } else {
            dv_payload_native(&payload, rows, n, form - 2);
        }
        const size_t whole = payload.len;
        for (size_t len = 0; len < whole; len += len < 400 || len + 400 > whole ? 1 : 37) {
            payload.len = len;
            assert_int_equal(parse(), SILT_ECORRUPT);
        }
        payload.len = whole;
        assert_int_equal(parse(), SILT_OK);
    }
}

static void bytes_after_the_last_bitmap_are_refused(void **state)
{
    (void)state;
    const int64_t row = 9;
    dv_payload(&payload, &row, 1, 0);
    sl_buf_put_char(&payload, 0);
    expect_refused("1 bytes follow its last bitmap");
    sl_buf_clear(&payload);
    dv_payload_native(&payload, &row, 1, 0);
    sl_buf_put_char(&payload, 0);
    expect_refused("1 bytes follow its last bitmap");
    payload.len--;
    dv_set_u32(&payload, 8, 19);
    sl_buf_put_char(&payload, 0);
    expect_refused("followed by 1 bytes that are not its own");
}

static void another_magic_number_is_refused(void **state)
{
    (void)state;
    const int64_t row = 9;
    dv_payload(&payload, &row, 1, 0);
    dv_set_u32(&payload, 0, 1681511378);
    expect_refused("magic number is 1681511378");
}

static void numbers_that_claim_too_much_are_refused(void **state)
{
    (void)state;
    const int64_t row = 9;
    dv_payload(&payload, &row, 1, 0);
    dv_set_u32(&payload, AT_COUNT, 0xFFFFFFFF);
    expect_refused("more than 2147483647 bitmaps");
    dv_set_u32(&payload, AT_COUNT, 1);
    dv_set_u32(&payload, AT_COUNT + 4, 1);
    expect_refused("more than 2147483647 bitmaps");
    dv_set_u32(&payload, AT_COUNT + 4, 0);
    dv_set_u32(&payload, AT_COUNT, 2);
    expect_refused("end within a bitmap's key");
    dv_set_u32(&payload, AT_COUNT, 1);
    dv_set_u32(&payload, AT_BLOCKS, 65537);
    expect_refused("more than there can be");
    dv_set_u32(&payload, AT_BLOCKS, 2);
    expect_refused("end within a bitmap's header");
    dv_set_u32(&payload, AT_BLOCKS, 1);
    dv_set_u32(&payload, AT_COOKIE, 12345);
    expect_refused("begins with 12345");
    dv_set_u32(&payload, AT_COOKIE, 12346);
    dv_set_u32(&payload, AT_KEY, 0x7FFFFFFF);
    expect_refused("ascending from 0");
    dv_set_u32(&payload, AT_KEY, 0x80000000);
    expect_refused("ascending from 0");
}

static void keys_that_do_not_ascend_are_refused(void **state)
{
    (void)state;
    const int64_t rows[] = {9, INT64_C(1) << 32};
    dv_payload(&payload, rows, 2, 0);
    dv_set_u32(&payload, payload.len - 22, 0); /* of the second bitmap: its key and 18 bytes */
    expect_refused("keys of its bitmaps");
    const int64_t blocks[] = {9, 65536};
    sl_buf_clear(&payload);
    dv_payload(&payload, blocks, 2, 0);
    dv_set_u16(&payload, AT_PAIRS + 4, 0);
    expect_refused("keys of its blocks");
}

static void numbers_that_do_not_ascend_are_refused(void **state)
{
    (void)state;
    const int64_t rows[] = {9, 12, 15};
    dv_payload(&payload, rows, 3, 0);
    dv_set_u16(&payload, payload.len - 2, 12);
    expect_refused("numbers of block 0 are not ascending");
    dv_set_u16(&payload, payload.len - 2, 3);
    expect_refused("numbers of block 0 are not ascending");
}

static void block_elsewhere_than_its_offset_is_refused(void **state)
{
    (void)state;
    const int64_t row = 9;
    dv_payload(&payload, &row, 1, 0);
    dv_set_u32(&payload, payload.len - 6, 17);
    expect_refused("not where the header says");
}

static void bits_of_another_number_are_refused(void **state)
{
    (void)state;
    static int64_t rows[5000];
    for (int64_t i = 0; i < 5000; i++) {
        rows[i] = 2 * i;
    }
    dv_payload(&payload, rows, 5000, 0);
    assert_int_equal(parse(), SILT_OK);
    payload.data[payload.len - 1] = 1;
    expect_refused("has 5001 rows, its header says 5000");
}

static void runs_that_overlap_or_leave_their_block_are_refused(void **state)
{
    (void)state;
    static int64_t rows[2000];
    for (int64_t i = 0; i < 2000; i++) {
        rows[i] = i < 1000 ? i : i + 1000;
    }
    dv_payload(&payload, rows, 2000, 1);
    assert_int_equal(parse(), SILT_OK);
    assert_int_equal(set.blocks[0].kind, SL_DV_RUNS);
    dv_set_u16(&payload, payload.len - 4, 999);
    expect_refused("overlap or leave it");
    dv_set_u16(&payload, payload.len - 4, 65000);
    expect_refused("overlap or leave it");
    dv_set_u16(&payload, payload.len - 4, 2000);
    dv_set_u16(&payload, payload.len - 2, 1000);
    expect_refused("has 2001 rows, its header says 2000");
    dv_set_u16(&payload, payload.len - 2, 999);
    assert_int_equal(parse(), SILT_OK);
}

/* Whatever a changed byte makes of a payload: it is refused, or it is a sound set of another content. */
static void changed_bytes_never_make_an_unsound_set(void **state)
{
    (void)state;
    static int64_t rows[6000];
    const size_t n = make_rows(11, rows, 6000);
    dv_payload(&payload, rows, n, 1);
    for (size_t i = 0; i < payload.len; i += i < 300 ? 1 : 53) {
        for (unsigned bit = 0; bit < 8; bit++) {
            payload.data[i] = (char)(payload.data[i] ^ (1 << bit));
            if (parse() == SILT_OK) {
                int64_t count = 0;
                int64_t last = -1;
                for (int64_t row = sl_dv_set_next(&set, 0); row != INT64_MAX; row = sl_dv_set_next(&set, row + 1)) {
                    assert_true(row > last);
                    last = row;
                    count++;
                }
                assert_int_equal(count, set.cardinality);
                assert_int_equal(last, set.last);
            }
            payload.data[i] = (char)(payload.data[i] ^ (1 << bit));
        }
    }
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    static int64_t rows[100];
    for (int64_t i = 0; i < 100; i++) {
        rows[i] = i << 16;
    }
    dv_payload(&payload, rows, 100, 0);
    for (size_t i = 1;; i++) {
        test_env_fail_at(&t, i);
        const silt_status status = parse();
        test_env_fail_at(&t, 0);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
        assert_null(set.bytes);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_protocols_example_is_read),
        TEST(empty_set_is_read),
        TEST(bitmaps_without_rows_are_read),
        TEST(what_croaring_writes_is_read),
        TEST(all_rows_of_a_block_are_read),
        TEST(every_shorter_payload_is_refused),
        TEST(bytes_after_the_last_bitmap_are_refused),
        TEST(another_magic_number_is_refused),
        TEST(numbers_that_claim_too_much_are_refused),
        TEST(keys_that_do_not_ascend_are_refused),
        TEST(numbers_that_do_not_ascend_are_refused),
        TEST(block_elsewhere_than_its_offset_is_refused),
        TEST(bits_of_another_number_are_refused),
        TEST(runs_that_overlap_or_leave_their_block_are_refused),
        TEST(changed_bytes_never_make_an_unsound_set),
        TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("dv parse", tests, NULL, NULL);
}
