/* Payloads that silt writes: what CRoaring writes for the same rows, and what silt reads back. */
#include <stdlib.h>
#include <string.h>

#include "dv_fixture.h"
#include "kernel/dv/dv.h"
#include "test_env.h"

static struct test_env t;
static struct sl_dv_builder *builder;
static struct sl_buf payload;
static struct sl_buf expected;
static silt_error err;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_buf_init(&payload, &t.env);
    sl_buf_init(&expected, &t.env);
    err = (silt_error)SILT_ERROR_INIT;
    return sl_dv_builder_new(&t.env, &builder, &err) == SILT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    sl_dv_builder_free(builder);
    sl_buf_release(&payload);
    sl_buf_release(&expected);
    test_env_check(&t);
    return 0;
}

static void add_each(const int64_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sl_dv_builder_add(builder, rows[i], 1, &err), SILT_OK);
    }
    assert_int_equal(sl_dv_builder_cardinality(builder), n);
}

/* Forms of one size may differ, so that bytes are not compared. */
static void expect_as_croaring(const int64_t *rows, size_t n)
{
    static int64_t back[160000];
    sl_buf_clear(&payload);
    sl_buf_clear(&expected);
    add_each(rows, n);
    assert_int_equal(sl_dv_serialize(builder, &payload, &err), SILT_OK);
    dv_payload(&expected, rows, n, 1);
    assert_int_equal(payload.len, expected.len);
    assert_int_equal(dv_payload_rows(&payload, back, 160000), n);
    assert_memory_equal(rows, back, n * sizeof(*rows));
}

static void rows_become_a_payload_that_croaring_reads_and_makes_no_smaller(void **state)
{
    (void)state;
    static int64_t rows[30000];
    for (unsigned seed = 1; seed <= 12; seed++) {
        srand(seed);
        size_t n = 0;
        int64_t row = rand() % 100;
        while (n < 2500 * seed) {
            rows[n++] = row;
            const int shape = rand() % 2000;
            row += shape == 0 ? (INT64_C(1) << 32) : shape < 5 ? 70000 : shape < 1000 ? 1 + rand() % 20 : 1;
        }
        expect_as_croaring(rows, n);
    }
}

static void no_rows_become_an_empty_set(void **state)
{
    (void)state;
    const int64_t none = 0;
    expect_as_croaring(&none, 0);
    assert_int_equal(payload.len, 12);
}

static void stretches_are_the_same_as_their_rows(void **state)
{
    (void)state;
    static int64_t rows[150000];
    for (int64_t i = 0; i < 150000; i++) {
        rows[i] = 60000 + i;
    }
    struct sl_buf each;
    sl_buf_init(&each, &t.env);
    add_each(rows, 150000);
    assert_int_equal(sl_dv_serialize(builder, &each, &err), SILT_OK);
    assert_int_equal(sl_dv_builder_add(builder, 60000, 100000, &err), SILT_OK);
    assert_int_equal(sl_dv_builder_add(builder, 159999, 1, &err), SILT_OK); /* once more */
    assert_int_equal(sl_dv_builder_add(builder, 160000, 0, &err), SILT_OK);
    assert_int_equal(sl_dv_builder_add(builder, 160000, 50000, &err), SILT_OK);
    assert_int_equal(sl_dv_builder_cardinality(builder), 150000);
    assert_int_equal(sl_dv_serialize(builder, &payload, &err), SILT_OK);
    assert_int_equal(payload.len, each.len);
    assert_memory_equal(payload.data, each.data, each.len);
    sl_buf_release(&each);
}

static void rows_that_do_not_ascend_are_refused(void **state)
{
    (void)state;
    assert_int_equal(sl_dv_builder_add(builder, 5, 3, &err), SILT_OK);
    assert_int_equal(sl_dv_builder_add(builder, 6, 1, &err), SILT_EINVALID);
    assert_int_equal(sl_dv_builder_add(builder, -1, 1, &err), SILT_EINVALID);
    assert_int_equal(sl_dv_builder_add(builder, INT64_MAX, 1, &err), SILT_EINVALID);
    assert_int_equal(sl_dv_builder_add(builder, INT64_C(0x7FFFFFFF) << 32, 1, &err), SILT_EINVALID);
    assert_int_equal(sl_dv_builder_cardinality(builder), 3);
}

static void frames_are_read_back_from_one_file(void **state)
{
    (void)state;
    struct sl_buf file;
    sl_buf_init(&file, &t.env);
    int64_t offsets[3];
    int64_t sizes[3];
    for (int64_t i = 0; i < 3; i++) {
        sl_buf_clear(&payload);
        assert_int_equal(sl_dv_builder_add(builder, i * 10, 5, &err), SILT_OK);
        assert_int_equal(sl_dv_serialize(builder, &payload, &err), SILT_OK);
        assert_int_equal(sl_dv_put_frame(&file, sl_buf_view(&payload), &offsets[i], &err), SILT_OK);
        sizes[i] = (int64_t)payload.len;
    }
    assert_int_equal(offsets[0], 1);
    assert_int_equal(sl_dv_check_version(sl_buf_view(&file), &err), SILT_OK);
    for (int64_t i = 0; i < 3; i++) {
        struct sl_dv_set set;
        const silt_deletion_vector dv = {.storage_type = 'u',
                                         .path = "/t/dv.bin",
                                         .offset = offsets[i],
                                         .size_in_bytes = sizes[i],
                                         .cardinality = 5};
        const struct sl_str frame = sl_str_sub(sl_buf_view(&file), (size_t)dv.offset, file.len);
        assert_int_equal(sl_dv_open(&t.env, &dv, frame, 25, &set, &err), SILT_OK);
        assert_int_equal(sl_dv_set_next(&set, 0), i * 10);
        sl_dv_set_release(&set);
    }
    sl_buf_release(&file);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    for (size_t i = 1;; i++) {
        struct sl_dv_builder *made = NULL;
        test_env_fail_at(&t, i);
        silt_status status = sl_dv_builder_new(&t.env, &made, &err);
        for (int64_t row = 0; row < 40 && status == SILT_OK; row++) {
            status = sl_dv_builder_add(made, row << 16, 1, &err);
        }
        if (status == SILT_OK) {
            status = sl_dv_serialize(made, &payload, &err);
        }
        test_env_fail_at(&t, 0);
        sl_dv_builder_free(made);
        sl_buf_release(&payload);
        sl_buf_init(&payload, &t.env);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(rows_become_a_payload_that_croaring_reads_and_makes_no_smaller),
        TEST(no_rows_become_an_empty_set),
        TEST(stretches_are_the_same_as_their_rows),
        TEST(rows_that_do_not_ascend_are_refused),
        TEST(frames_are_read_back_from_one_file),
        TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("dv build", tests, NULL, NULL);
}
