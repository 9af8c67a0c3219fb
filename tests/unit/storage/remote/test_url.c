/* Locations, percent-encoding, origins, foreign words. */
#include "storage/remote/url.h"

#include "test_env.h"

static void a_location_falls_into_its_parts(void **state)
{
    (void)state;
    struct sl_location out;
    assert_true(sl_location_split(SL_STR("gs://bucket/a/b c%/d"), &out));
    assert_true(sl_str_eq_c(out.scheme, "gs"));
    assert_true(sl_str_eq_c(out.authority, "bucket"));
    assert_true(sl_str_eq_c(out.path, "a/b c%/d"));
    assert_true(sl_location_split(SL_STR("hdfs:///x"), &out));
    assert_int_equal(out.authority.len, 0);
    assert_true(sl_str_eq_c(out.path, "x"));
    assert_true(sl_location_split(SL_STR("gs://bucket"), &out));
    assert_int_equal(out.path.len, 0);
    assert_false(sl_location_split(SL_STR("/tmp/x"), &out));
    assert_false(sl_location_split(SL_STR("gs://a\0b/c"), &out));
}

static void all_but_unreserved_bytes_are_encoded(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    sl_url_encode(&buf, SL_STR("a/B-0_.~ %+?#&=:\xc3\xbc"), "");
    assert_string_equal(sl_buf_cstr(&buf), "a%2FB-0_.~%20%25%2B%3F%23%26%3D%3A%C3%BC");
    sl_buf_clear(&buf);
    sl_url_encode(&buf, sl_str_make("a/\0", 3), "/");
    assert_string_equal(sl_buf_cstr(&buf), "a/%00");
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void an_origin_is_taken_from_urls_only(void **state)
{
    (void)state;
    assert_true(sl_str_eq_c(sl_url_origin(SL_STR("https://h:8/p?q=http://x")), "https://h:8"));
    assert_true(sl_str_eq_c(sl_url_origin(SL_STR("http://h")), "http://h"));
    static const char *const others[] = {"ftp://h/",      "http://", "http:///x",   "http://u:p@h/",
                                         "http://h\\@x/", "h/x",     "http://a b/", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_null(sl_url_origin(sl_str_from(others[i])).ptr);
        assert_false(sl_url_is_usable(sl_str_from(others[i])));
    }
    assert_true(sl_url_is_usable(SL_STR("http://h/a%20b?x=y")));
    assert_false(sl_url_is_usable(SL_STR("http://h/a b")));
    assert_false(sl_url_is_usable(SL_STR("http://h/\xc3\xbc")));
    assert_false(sl_url_is_usable(SL_STR("http://h/\r\nX: y")));
}

static void only_tls_and_this_machine_are_private(void **state)
{
    (void)state;
    static const char *const good[] = {"https://h/", "http://127.0.0.1:80/", "http://localhost/x", "http://[::1]:9/"};
    static const char *const bad[] = {"http://h/",          "http://127.0.0.1.evil/", "http://localhost.evil/",
                                      "http://127.evil:1/", "http://[::1].evil/",     "ftp://localhost/"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(sl_url_is_private(sl_str_from(good[i])));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_url_is_private(sl_str_from(bad[i])));
    }
}

static void foreign_words_become_one_short_line(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    sl_buf_init(&buf, &t.env);
    sl_url_put_foreign(&buf, SL_STR(" a\r\nb\x1b[31m\xc3\xbc "), 100);
    assert_string_equal(sl_buf_cstr(&buf), "a  b?[31m??");
    sl_buf_clear(&buf);
    sl_url_put_foreign(&buf, SL_STR("abcdef"), 3);
    assert_string_equal(sl_buf_cstr(&buf), "abc");
    sl_buf_release(&buf);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_falls_into_its_parts),     cmocka_unit_test(all_but_unreserved_bytes_are_encoded),
        cmocka_unit_test(an_origin_is_taken_from_urls_only),   cmocka_unit_test(only_tls_and_this_machine_are_private),
        cmocka_unit_test(foreign_words_become_one_short_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
