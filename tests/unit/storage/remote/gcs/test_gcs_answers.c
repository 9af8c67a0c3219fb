/* Answers of the JSON API, good and hostile. */
#include "storage/remote/gcs/gcs_answers.h"

#include <string.h>

#include "test_env.h"

static silt_status read_object(const char *text, struct sl_gcs_object *out)
{
    struct test_env t;
    test_env_init(&t);
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_gcs_parse(&t.env, sl_str_from(text), &doc, NULL);
    if (status == SILT_OK) {
        status = sl_gcs_read_object(sl_json_root(doc), out, NULL);
    }
    sl_json_free(doc);
    test_env_check(&t);
    return status;
}

static void an_object_has_a_size_and_a_time(void **state)
{
    (void)state;
    struct sl_gcs_object object = {0};
    assert_int_equal(
        read_object("{\"size\":\"12\",\"updated\":\"2026-01-02T03:04:05.678Z\",\"generation\":\"17\"}", &object),
        SILT_OK);
    assert_int_equal(object.size_bytes, 12);
    assert_int_equal(object.generation, 17);
    assert_int_equal(object.updated_ms, INT64_C(1767323045678));
    assert_int_equal(read_object("{\"size\":3,\"updated\":\"2026-01-02T03:04:05.678901234Z\"}", &object), SILT_OK);
    assert_int_equal(object.updated_ms, INT64_C(1767323045678));
    assert_int_equal(read_object("{\"size\":3,\"updated\":\"2026-01-02T04:04:05+01:00\"}", &object), SILT_OK);
    assert_int_equal(object.updated_ms, INT64_C(1767323045000));
}

static void an_object_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"size\":\"x\"}",
        "{\"size\":{}}",
        "{\"size\":\"99999999999999999999\"}",
        "{\"size\":\"-7\"}",
        "{\"size\":-1}",
        "{\"size\":1,\"generation\":\"-1\"}",
        "{\"size\":1,\"updated\":\"yesterday\"}",
        "{\"size\":1,\"updated\":\"2026-01-02T03:04:05\"}",
        "{\"size\":1,\"updated\":\"2026-01-02T03:04:05.Z\"}",
        "{\"size\":1,\"updated\":\"....................................................................\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct sl_gcs_object object = {0};
        assert_int_equal(read_object(bad[i], &object), SILT_EIO);
    }
}

/* Counts the objects of a page; -1 for one that is refused. */
static int count_page(const char *text, size_t *n_prefixes, bool *more)
{
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_page page;
    struct sl_gcs_object object = {0};
    silt_status status = sl_gcs_parse(silt_env_default(), sl_str_from(text), &doc, NULL);
    if (status == SILT_OK) {
        status = sl_gcs_read_page(sl_json_root(doc), &page, NULL);
    }
    int n = 0;
    while (status == SILT_OK && sl_gcs_next_object(&page, &object, &status, NULL)) {
        n++;
    }
    *n_prefixes = status == SILT_OK ? page.n_prefixes : 0;
    *more = status == SILT_OK && page.next_token.ptr != NULL;
    sl_json_free(doc);
    return status == SILT_OK ? n : -1;
}

static void a_page_has_objects_prefixes_and_a_token(void **state)
{
    (void)state;
    size_t n_prefixes = 0;
    bool more = false;
    assert_int_equal(count_page("{\"items\":[{\"name\":\"a\",\"size\":\"1\"},{\"name\":\"b\",\"size\":\"2\"}],"
                                "\"prefixes\":[\"x/\"],\"nextPageToken\":\"t\"}",
                                &n_prefixes, &more),
                     2);
    assert_int_equal(n_prefixes, 1);
    assert_true(more);
    assert_int_equal(count_page("{\"kind\":\"storage#objects\"}", &n_prefixes, &more), 0);
    assert_false(more);
    assert_int_equal(count_page("{\"items\":null,\"nextPageToken\":\"\"}", &n_prefixes, &more), 0);
    assert_false(more);
}

static void a_page_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"items\":{}}",
                                      "{\"items\":\"x\"}",
                                      "{\"items\":[1]}",
                                      "{\"items\":[{\"size\":1}]}",
                                      "{\"items\":[{\"name\":\"a\"}]}",
                                      "{\"items\":[{\"name\":\"a\",\"size\":\"-5\"}]}",
                                      "{\"prefixes\":1}",
                                      "{\"nextPageToken\":7}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t n_prefixes = 0;
        bool more = false;
        assert_int_equal(count_page(bad[i], &n_prefixes, &more), -1);
    }
}

static void a_reason_is_short_and_clean(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"{\"error\":{\"code\":404,\"message\":\"No such object: b/k\",\"errors\":[{\"reason\":\"notFound\"}]}}",
         "notFound: No such object: b/k"},
        {"{\"error\":{\"message\":\"two\\nlines\"}}", "two lines"},
        {"{\"error\":\"invalid_grant\",\"error_description\":\"Token has been revoked.\"}",
         "invalid_grant: Token has been revoked."},
        {"No such object: b/k", "No such object: b/k"},
        {"<html>", ""},
        {"", ""},
        {"{}", ""}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        struct sl_buf out;
        sl_buf_init(&out, &t.env);
        sl_gcs_put_reason(&t.env, &out, sl_str_from(pairs[i][0]));
        assert_string_equal(sl_buf_cstr(&out), pairs[i][1]);
        sl_buf_release(&out);
        test_env_check(&t);
    }
}

static void progress_is_believed_within_what_was_sent(void **state)
{
    (void)state;
    int64_t stored = -1;
    assert_true(sl_gcs_read_progress((struct sl_str){0}, 100, &stored));
    assert_int_equal(stored, 0);
    assert_true(sl_gcs_read_progress(SL_STR("bytes=0-99"), 100, &stored));
    assert_int_equal(stored, 100);
    assert_true(sl_gcs_read_progress(SL_STR("0-49"), 100, &stored));
    assert_int_equal(stored, 50);
    assert_false(sl_gcs_read_progress(SL_STR("bytes=0-100"), 100, &stored));
    assert_false(sl_gcs_read_progress(SL_STR("bytes=1-50"), 100, &stored));
    assert_false(sl_gcs_read_progress(SL_STR("bytes=0-"), 100, &stored));
    assert_false(sl_gcs_read_progress(SL_STR("bytes=0--5"), 100, &stored));
    assert_false(sl_gcs_read_progress(SL_STR("bytes=0-99999999999999999999"), 100, &stored));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_has_a_size_and_a_time),
        cmocka_unit_test(an_object_that_is_none_is_refused),
        cmocka_unit_test(a_page_has_objects_prefixes_and_a_token),
        cmocka_unit_test(a_page_that_is_none_is_refused),
        cmocka_unit_test(a_reason_is_short_and_clean),
        cmocka_unit_test(progress_is_believed_within_what_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
