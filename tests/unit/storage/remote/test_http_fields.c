/*
 * Header fields of HTTP and their values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "storage/remote/http_fields.h"

static void fields_are_found_by_name(void **state)
{
    struct sl_str block = SL_STR(
        "ETag:\"a\"\r\nX-A: one\r\nx-a:\t two \r\n X-A: folded\r\nX-Empty:\r\nX-A-B: other\r\n");
    (void)state;
    struct sl_str rest = block;
    assert_true(sl_str_eq_c(sl_http_field_next(&rest, "X-a"), "one"));
    assert_true(sl_str_eq_c(sl_http_field_next(&rest, "X-a"), "two"));
    assert_null(sl_http_field_next(&rest, "X-a").ptr);
    rest = block;
    assert_true(sl_str_eq_c(sl_http_field_next(&rest, "etag"), "\"a\""));
    rest = block;
    const struct sl_str empty = sl_http_field_next(&rest, "x-empty");
    assert_non_null(empty.ptr);
    assert_int_equal(empty.len, 0);
    rest = (struct sl_str){NULL, 0};
    assert_null(sl_http_field_next(&rest, "x").ptr);
}

static void expect_date(const char *text, int64_t seconds)
{
    int64_t found = -1;
    assert_true(sl_http_date_parse(sl_str_from(text), &found));
    assert_int_equal(found, seconds);
}

static void dates_have_three_forms(void **state)
{
    (void)state;
    expect_date("Sun, 06 Nov 1994 08:49:37 GMT", 784111777);
    expect_date("Sunday, 06-Nov-94 08:49:37 GMT", 784111777);
    expect_date("Sun Nov  6 08:49:37 1994", 784111777);
    expect_date("Wed Nov 16 08:49:37 1994", 784975777);
    expect_date("Thu, 01 Jan 1970 00:00:00 GMT", 0);
    expect_date("Sat, 29 Feb 2020 23:59:60 GMT", 1583020799);
    expect_date("Fri, 31-Dec-69 23:59:59 GMT", 3155759999);
}

static void other_texts_are_no_dates(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"",
                                        "2020-01-01T00:00:00Z",
                                        "Sun, 06 Nov 1994 08:49:37",
                                        "Sun, 06 Nov 1994 08:49:37 CET",
                                        "Sun, 06 Nov 1994 08:49:37 GMT ",
                                        "Sun, 31 Feb 2020 00:00:00 GMT",
                                        "Sun, 06 Nov 1994 24:00:00 GMT",
                                        "Sun, 06 Nov 1969 00:00:00 GMT",
                                        "Sun, 06 nov 1994 08:49:37 GMT",
                                        "Sun,06 Nov 1994 08:49:37 GMT",
                                        "Sun Nov 6 08:49:37 1994"};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        int64_t seconds = -1;
        assert_false(sl_http_date_parse(sl_str_from(TEXTS[i]), &seconds));
        assert_int_equal(seconds, 0);
    }
}

static void ranges_hold_together(void **state)
{
    (void)state;
    int64_t first = 0;
    int64_t last = 0;
    int64_t size = 0;
    assert_true(sl_http_content_range_parse(SL_STR("bytes 10-19/100"), &first, &last, &size));
    assert_true(first == 10 && last == 19 && size == 100);
    assert_true(sl_http_content_range_parse(SL_STR("bytes 10-19/*"), &first, &last, &size));
    assert_true(first == 10 && last == 19 && size == -1);
    assert_true(sl_http_content_range_parse(SL_STR("bytes */100"), &first, &last, &size));
    assert_true(first == -1 && last == -1 && size == 100);
    static const char *const TEXTS[] = {"",
                                        "bytes",
                                        "bytes ",
                                        "bytes 1-2",
                                        "bytes 2-1/9",
                                        "bytes 1-9/9",
                                        "bytes */*",
                                        "bytes -1-2/9",
                                        "bytes +1-2/9",
                                        "bytes 1-2/-1",
                                        "bytes 1-2-3/9",
                                        "bytes=1-2/9",
                                        "octets 1-2/9",
                                        "bytes 1-2/9 ",
                                        "bytes 1-99999999999999999999/*"};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        assert_false(sl_http_content_range_parse(sl_str_from(TEXTS[i]), &first, &last, &size));
        assert_true(first == -1 && last == -1 && size == -1);
    }
}

static void retry_after_is_seconds_or_a_date(void **state)
{
    (void)state;
    int64_t wait_us = 0;
    const int64_t now_us = INT64_C(784111777000000);
    assert_true(sl_http_retry_after_parse(SL_STR("120"), now_us, &wait_us));
    assert_int_equal(wait_us, 120000000);
    assert_true(sl_http_retry_after_parse(SL_STR("9223372036854775807"), now_us, &wait_us));
    assert_int_equal(wait_us, INT64_MAX);
    assert_true(sl_http_retry_after_parse(SL_STR("Sun, 06 Nov 1994 08:49:40 GMT"), now_us, &wait_us));
    assert_int_equal(wait_us, 3000000);
    assert_true(sl_http_retry_after_parse(SL_STR("Sun, 06 Nov 1994 08:49:30 GMT"), now_us, &wait_us));
    assert_int_equal(wait_us, 0);
    assert_false(sl_http_retry_after_parse(SL_STR("-1"), now_us, &wait_us));
    assert_false(sl_http_retry_after_parse(SL_STR("1.5"), now_us, &wait_us));
    assert_false(sl_http_retry_after_parse(SL_STR(""), now_us, &wait_us));
}

static void expect_framing(const char *block, enum sl_http_framing framing, int64_t length)
{
    int64_t found = 0;
    assert_int_equal(sl_http_framing_of(sl_str_from(block), &found), framing);
    assert_int_equal(found, length);
}

static void framing_has_one_length_or_none(void **state)
{
    (void)state;
    expect_framing("", SL_HTTP_FRAMING_NONE, -1);
    expect_framing("Content-Length: 0\r\n", SL_HTTP_FRAMING_LENGTH, 0);
    expect_framing("Content-Length: 7\r\ncontent-length: 7\r\n", SL_HTTP_FRAMING_LENGTH, 7);
    expect_framing("Content-Length: 7\r\nContent-Length: 8\r\n", SL_HTTP_FRAMING_BROKEN, -1);
    expect_framing("Content-Length: 7, 7\r\n", SL_HTTP_FRAMING_BROKEN, -1);
    expect_framing("Content-Length: +7\r\n", SL_HTTP_FRAMING_BROKEN, -1);
    expect_framing("Content-Length:\r\n", SL_HTTP_FRAMING_BROKEN, -1);
    expect_framing("Content-Length: 7\r\nTransfer-Encoding: chunked\r\n", SL_HTTP_FRAMING_CHUNKS, -1);
    expect_framing("Transfer-Encoding: gzip\r\nTransfer-Encoding: Chunked\r\n", SL_HTTP_FRAMING_CHUNKS, -1);
    expect_framing("Transfer-Encoding: chunked, gzip\r\n", SL_HTTP_FRAMING_NONE, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_found_by_name),         cmocka_unit_test(dates_have_three_forms),
        cmocka_unit_test(other_texts_are_no_dates),         cmocka_unit_test(ranges_hold_together),
        cmocka_unit_test(retry_after_is_seconds_or_a_date), cmocka_unit_test(framing_has_one_length_or_none),
    };
    return cmocka_run_group_tests_name("storage/remote/http_fields", tests, NULL, NULL);
}
