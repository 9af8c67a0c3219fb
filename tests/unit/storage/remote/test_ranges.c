/* Ranges by HTTP: what is asked for, and answers that are not it. */
#include "storage/remote/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "test_env.h"

static const char *text_of(int64_t offset, int64_t length)
{
    static char text[SL_RANGE_TEXT_SIZE];
    const silt_read_request read = {.offset = offset, .length = length};
    return sl_range_put(&read, text) ? text : "whole";
}

static void a_read_becomes_a_range(void **state)
{
    (void)state;
    assert_string_equal(text_of(0, -1), "whole");
    assert_string_equal(text_of(5, -1), "bytes=5-");
    assert_string_equal(text_of(0, 10), "bytes=0-9");
    assert_string_equal(text_of(7, 0), "bytes=7-7");
    assert_string_equal(text_of(-8, -1), "bytes=-8");
    assert_string_equal(text_of(-8, 3), "bytes=-8");
    assert_string_equal(text_of(INT64_MIN, -1), "bytes=-9223372036854775807");
    assert_string_equal(text_of(INT64_MAX, INT64_MAX), "bytes=9223372036854775807-");
}

struct answer {
    int code;
    const char *range; /* Content-Range; NULL: none */
    const char *body;
};

/* The status; when it is SILT_OK, the bytes are compared. */
static silt_status take(int64_t offset, int64_t length, struct answer answer, const char *expected, int64_t size)
{
    struct test_env t;
    test_env_init(&t);
    struct sl_http_request request = {.code = answer.code};
    sl_buf_init(&request.answer, &t.env);
    sl_buf_init(&request.headers_raw, &t.env);
    sl_buf_put_c(&request.answer, answer.body);
    if (answer.range != NULL) {
        sl_buf_printf(&request.headers_raw, "Content-Range: %s\r\n", answer.range);
    }
    silt_read_request read = {.offset = offset, .length = length, .file_size = -1};
    const silt_status status = sl_range_take(&t.env, &request, &read, NULL);
    if (status == SILT_OK) {
        assert_int_equal(read.data_len, strlen(expected));
        assert_true((read.data == NULL) == (read.data_len == 0));
        assert_memory_equal(read.data_len > 0 ? read.data : "", expected, read.data_len);
        assert_int_equal(read.file_size, size);
        sl_release(&t.env, read.data, read.data_len);
    } else {
        assert_null(read.data);
    }
    sl_buf_release(&request.answer);
    sl_buf_release(&request.headers_raw);
    test_env_check(&t);
    return status;
}

static void good_answers_are_cut_to_what_was_wanted(void **state)
{
    (void)state;
    assert_int_equal(take(0, -1, (struct answer){200, NULL, "hello"}, "hello", 5), SILT_OK);
    assert_int_equal(take(0, -1, (struct answer){200, NULL, ""}, "", 0), SILT_OK);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-3/5", "ell"}, "ell", 5), SILT_OK);
    assert_int_equal(take(3, 9, (struct answer){206, "bytes 3-4/5", "lo"}, "lo", 5), SILT_OK);
    assert_int_equal(take(3, -1, (struct answer){206, "bytes 3-4/5", "lo"}, "lo", 5), SILT_OK);
    assert_int_equal(take(-2, -1, (struct answer){206, "bytes 3-4/5", "lo"}, "lo", 5), SILT_OK);
    assert_int_equal(take(-9, -1, (struct answer){206, "bytes 0-4/5", "hello"}, "hello", 5), SILT_OK);
    assert_int_equal(take(-3, 2, (struct answer){206, "bytes 2-4/5", "llo"}, "ll", 5), SILT_OK);
    assert_int_equal(take(2, 0, (struct answer){206, "bytes 2-2/5", "l"}, "", 5), SILT_OK);
    /* A server that does not know ranges. */
    assert_int_equal(take(1, 3, (struct answer){200, NULL, "hello"}, "ell", 5), SILT_OK);
    assert_int_equal(take(-2, -1, (struct answer){200, NULL, "hello"}, "lo", 5), SILT_OK);
    assert_int_equal(take(9, 2, (struct answer){200, NULL, "hello"}, "", 5), SILT_OK);
}

static void beyond_the_end_there_is_nothing(void **state)
{
    (void)state;
    assert_int_equal(take(5, 3, (struct answer){416, "bytes */5", "<html>"}, "", 5), SILT_OK);
    assert_int_equal(take(5, 3, (struct answer){416, NULL, ""}, "", -1), SILT_OK);
    assert_int_equal(take(-4, -1, (struct answer){416, "bytes */0", ""}, "", 0), SILT_OK);
    assert_int_equal(take(-4, -1, (struct answer){206, "bytes 0--1/0", ""}, "", 0), SILT_OK);
    assert_int_equal(take(4, 3, (struct answer){416, "bytes */5", ""}, "", 5), SILT_EIO);
    assert_int_equal(take(-4, 3, (struct answer){416, "bytes */5", ""}, "", 5), SILT_EIO);
    assert_int_equal(take(0, 3, (struct answer){416, "bytes */0", ""}, "", 0), SILT_OK);
}

/* Every file but an empty one has such bytes. */
static void what_every_file_has_is_not_refused(void **state)
{
    (void)state;
    assert_int_equal(take(0, -1, (struct answer){416, NULL, ""}, "", 0), SILT_EIO);
    assert_int_equal(take(0, -1, (struct answer){416, "bytes */0", ""}, "", 0), SILT_EIO);
    assert_int_equal(take(0, 3, (struct answer){416, NULL, ""}, "", 0), SILT_EIO);
    assert_int_equal(take(0, 3, (struct answer){416, "bytes */5", ""}, "", 0), SILT_EIO);
    assert_int_equal(take(-3, -1, (struct answer){416, NULL, ""}, "", 0), SILT_EIO);
    assert_int_equal(take(-3, -1, (struct answer){416, "words", ""}, "", 0), SILT_EIO);
}

static void an_answer_that_is_not_the_range_is_no_data(void **state)
{
    (void)state;
    assert_int_equal(take(1, 3, (struct answer){206, NULL, "ell"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 0-2/5", "hel"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-3/5", "el"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-2/5", "el"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-2/*", "el"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, -1, (struct answer){206, "bytes 1-3/5", "ell"}, "", 0), SILT_EIO);
    assert_int_equal(take(-3, -1, (struct answer){206, "bytes 1-3/5", "ell"}, "", 0), SILT_EIO);
    assert_int_equal(take(-3, -1, (struct answer){206, "bytes 2-4/*", "llo"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "words", "ell"}, "", 0), SILT_EIO);
    /* More than was asked for, though the range is in it. */
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-4/5", "ello"}, "", 0), SILT_EIO);
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 0-3/5", "hell"}, "", 0), SILT_EIO);
    assert_int_equal(take(-3, 2, (struct answer){206, "bytes 2-3/5", "ll"}, "", 0), SILT_EIO);
    assert_int_equal(take(2, 0, (struct answer){206, "bytes 2-3/5", "ll"}, "", 0), SILT_EIO);
    assert_int_equal(take(5, 3, (struct answer){206, "bytes 4-4/5", "o"}, "", 0), SILT_EIO);
    /* The file's size is not told. */
    assert_int_equal(take(1, 3, (struct answer){206, "bytes 1-3/*", "ell"}, "", 0), SILT_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_becomes_a_range),
        cmocka_unit_test(good_answers_are_cut_to_what_was_wanted),
        cmocka_unit_test(beyond_the_end_there_is_nothing),
        cmocka_unit_test(what_every_file_has_is_not_refused),
        cmocka_unit_test(an_answer_that_is_not_the_range_is_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
