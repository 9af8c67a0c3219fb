/* Frames of deletion vectors in their files, inline texts, and what descriptors claim of them. */
#include <string.h>

#include "dv_fixture.h"
#include "kernel/dv/dv.h"
#include "test_env.h"

static const int64_t ROWS[] = {0, 3, 9};

static struct test_env t;
static struct sl_buf payload;
static struct sl_buf file; /* holds the payload at `dv.offset` */
static struct sl_buf text;
static silt_deletion_vector dv;
static struct sl_dv_set set;
static silt_error err;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_buf_init(&payload, &t.env);
    sl_buf_init(&file, &t.env);
    sl_buf_init(&text, &t.env);
    set = (struct sl_dv_set){0};
    err = (silt_error)SILT_ERROR_INIT;
    dv_payload(&payload, ROWS, 3, 0);
    dv = (silt_deletion_vector){.storage_type = 'u', .path = "/t/dv.bin", .cardinality = 3};
    dv.offset = dv_frame(&file, &payload);
    dv.size_in_bytes = (int64_t)payload.len;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_dv_set_release(&set);
    sl_buf_release(&payload);
    sl_buf_release(&file);
    sl_buf_release(&text);
    test_env_check(&t);
    return 0;
}

static silt_status open_set(int64_t num_records)
{
    sl_dv_set_release(&set);
    const struct sl_str frame = sl_str_sub(sl_buf_view(&file), (size_t)dv.offset, file.len);
    return sl_dv_open(&t.env, &dv, frame, num_records, &set, &err);
}

static void expect_refused(const char *code_name, const char *in_message)
{
    assert_int_equal(open_set(10), SILT_ECORRUPT);
    assert_string_equal(err.code_name, code_name);
    if (strstr(err.message, in_message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", in_message, err.message);
    }
    assert_null(set.bytes);
}

static void make_inline(void)
{
    sl_buf_clear(&text);
    dv_text(&text, &payload);
    dv = (silt_deletion_vector){.storage_type = 'i',
                                .inline_data = sl_buf_cstr(&text),
                                .size_in_bytes = (int64_t)payload.len,
                                .cardinality = 3};
}

static void framed_vector_is_read(void **state)
{
    (void)state;
    assert_int_equal(open_set(10), SILT_OK);
    assert_int_equal(set.cardinality, 3);
    assert_int_equal(set.last, 9);
    assert_int_equal(sl_dv_set_next(&set, 1), 3);
}

static void inline_vector_is_read(void **state)
{
    (void)state;
    assert_int_not_equal(payload.len % 4, 0); /* so that the text is filled up */
    make_inline();
    assert_int_equal(open_set(10), SILT_OK);
    assert_int_equal(set.last, 9);
}

static void flipped_byte_of_the_payload_is_found(void **state)
{
    (void)state;
    for (size_t i = 5; i < 5 + payload.len; i++) {
        file.data[i] = (char)(file.data[i] ^ 0x10);
        expect_refused("DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", "its CRC-32 is");
        file.data[i] = (char)(file.data[i] ^ 0x10);
    }
    file.data[file.len - 1] = (char)(file.data[file.len - 1] ^ 1);
    expect_refused("DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", "the file says");
}

static void other_size_than_the_descriptors_is_found(void **state)
{
    (void)state;
    dv.size_in_bytes++;
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "it has 38 bytes, its descriptor says 39");
    dv.size_in_bytes = -1;
    assert_int_equal(open_set(10), SILT_ECORRUPT);
    dv.size_in_bytes = INT64_MAX;
    assert_int_equal(open_set(10), SILT_ECORRUPT);
}

static void offset_that_is_off_is_found(void **state)
{
    (void)state;
    dv.offset = 0;
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "its descriptor says 38");
    dv.offset = 2;
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "its descriptor says 38");
}

static void file_that_ends_early_is_found(void **state)
{
    (void)state;
    for (size_t len = file.len - 1; len >= 1; len--) {
        file.len = len;
        expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "the file ends");
    }
}

static void other_cardinality_is_found(void **state)
{
    (void)state;
    dv.cardinality = 4;
    expect_refused("DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", "it has 3 rows, its descriptor says 4");
    dv.cardinality = 0;
    expect_refused("DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", "it has 3 rows, its descriptor says 0");
    make_inline();
    dv.cardinality = 2;
    expect_refused("DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", "it has 3 rows, its descriptor says 2");
}

static void row_beyond_the_file_is_found(void **state)
{
    (void)state;
    assert_int_equal(open_set(10), SILT_OK);
    assert_int_equal(open_set(-1), SILT_OK);
    assert_int_equal(open_set(9), SILT_ECORRUPT);
    assert_string_equal(err.code_name, "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX");
    assert_non_null(strstr(err.message, "row 9 of a file with 9 rows"));
    assert_int_equal(open_set(0), SILT_ECORRUPT);
}

static void empty_vectors_are_read(void **state)
{
    (void)state;
    sl_buf_clear(&payload);
    sl_buf_clear(&file);
    dv_payload(&payload, NULL, 0, 0);
    dv.offset = dv_frame(&file, &payload);
    dv.size_in_bytes = (int64_t)payload.len;
    dv.cardinality = 0;
    assert_int_equal(open_set(0), SILT_OK);
    assert_int_equal(set.last, -1);
    dv = (silt_deletion_vector){.storage_type = 'i', .inline_data = ""};
    assert_int_equal(open_set(10), SILT_OK);
    assert_int_equal(set.cardinality, 0);
    dv.cardinality = 1;
    assert_int_equal(open_set(10), SILT_ECORRUPT);
}

static void inline_text_that_is_off_is_found(void **state)
{
    (void)state;
    make_inline();
    dv.size_in_bytes = (int64_t)payload.len + 3;
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "it has 40 bytes, its descriptor says 41");
    dv.size_in_bytes = (int64_t)payload.len - 2;
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "its descriptor says 36");
    dv.size_in_bytes = (int64_t)payload.len;
    text.data[7] = '"';
    assert_int_equal(open_set(10), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "not Z85"));
    dv.inline_data = "";
    expect_refused("DELTA_DELETION_VECTOR_SIZE_MISMATCH", "it has 0 bytes");
}

static void version_byte_is_checked(void **state)
{
    (void)state;
    assert_int_equal(sl_dv_check_version(SL_STR("\1"), &err), SILT_OK);
    assert_int_equal(sl_dv_check_version(SL_STR("\2"), &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "format version 2, expected 1"));
    assert_int_equal(sl_dv_check_version((struct sl_str){NULL, 0}, &err), SILT_ECORRUPT);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    make_inline();
    for (size_t i = 1;; i++) {
        test_env_fail_at(&t, i);
        const silt_status status = open_set(10);
        test_env_fail_at(&t, 0);
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
        TEST(framed_vector_is_read),
        TEST(inline_vector_is_read),
        TEST(flipped_byte_of_the_payload_is_found),
        TEST(other_size_than_the_descriptors_is_found),
        TEST(offset_that_is_off_is_found),
        TEST(file_that_ends_early_is_found),
        TEST(other_cardinality_is_found),
        TEST(row_beyond_the_file_is_found),
        TEST(empty_vectors_are_read),
        TEST(inline_text_that_is_off_is_found),
        TEST(version_byte_is_checked),
        TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("dv frame", tests, NULL, NULL);
}
