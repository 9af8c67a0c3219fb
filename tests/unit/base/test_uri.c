/* Locations and the encoding of log paths. */
#include "base/uri.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test_env.h"

struct fixture {
    struct test_env t;
    struct sl_arena arena;
    silt_error err;
};

static void set_up(struct fixture *f)
{
    test_env_init(&f->t);
    sl_arena_init(&f->arena, &f->t.env);
    f->err = (silt_error)SILT_ERROR_INIT;
}

static void tear_down(struct fixture *f)
{
    sl_arena_release(&f->arena);
    test_env_check(&f->t);
}

static void check_scheme(const char *uri, const char *expected)
{
    const struct sl_str scheme = sl_uri_scheme(sl_str_from(uri));
    if (expected == NULL) {
        assert_null(scheme.ptr);
    } else {
        assert_true(sl_str_eq_c(scheme, expected));
    }
}

static void scheme_is_found_only_before_a_colon_and_slash(void **state)
{
    (void)state;
    check_scheme("s3://b/k", "s3");
    check_scheme("S3A://b/k", "s3a");
    check_scheme("file:/x", "file");
    check_scheme("x-y.z+1://a", "x-y.z+1");
    check_scheme("/a/b", NULL);
    check_scheme("a:b", NULL);
    check_scheme("c:/x", NULL);
    check_scheme("3s://x", NULL);
    check_scheme("", NULL);
    check_scheme("col=12:/x", NULL);
    check_scheme("s3:", NULL);
}

static void check_encode(struct sl_str path, const char *expected)
{
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_uri_encode_path(&buf, path);
    assert_string_equal(sl_buf_cstr(&buf), expected);
    sl_buf_release(&buf);
}

static void paths_are_encoded_byte_by_byte(void **state)
{
    (void)state;
    check_encode(SL_STR("a/b-c_d.e~f"), "a/b-c_d.e~f");
    check_encode(SL_STR("p=a b/x"), "p=a%20b/x");
    check_encode(SL_STR("p=a%20b"), "p=a%2520b");
    check_encode(SL_STR("p=\xC3\xA4#?[]"), "p=%C3%A4%23%3F%5B%5D");
    check_encode(SL_STR("a:b/c:d"), "a%3Ab/c:d");
    check_encode(SL_STR("a\0b\"\\^`{|}<>"), "a%00b%22%5C%5E%60%7B%7C%7D%3C%3E");
    check_encode(SL_STR("!*'();@&+$,"), "!*'();@&+$,");
}

static void decoding_undoes_encoding_once(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    struct sl_str out;
    assert_int_equal(sl_uri_decode(&f.arena, SL_STR("p=a%2520b+c%c3%A4"), &out, &f.err), SILT_OK);
    assert_true(sl_str_eq(out, SL_STR("p=a%20b+c\xC3\xA4")));
    char all[255];
    for (int i = 0; i < 255; i++) {
        all[i] = (char)(i + 1);
    }
    struct sl_buf buf;
    sl_buf_init(&buf, &f.t.env);
    sl_uri_encode_path(&buf, sl_str_make(all, sizeof(all)));
    assert_int_equal(sl_uri_decode(&f.arena, sl_buf_view(&buf), &out, &f.err), SILT_OK);
    assert_true(sl_str_eq(out, sl_str_make(all, sizeof(all))));
    sl_buf_release(&buf);
    tear_down(&f);
}

static void broken_escapes_are_corrupt(void **state)
{
    (void)state;
    static const char *const bad[] = {"%", "a%2", "%zz", "%2g", "a%00b", "%%20"};
    struct fixture f;
    set_up(&f);
    struct sl_str out;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(sl_uri_decode(&f.arena, sl_str_from(bad[i]), &out, &f.err), SILT_ECORRUPT);
        assert_null(out.ptr);
    }
    assert_int_equal(sl_uri_decode(&f.arena, SL_STR("a\0b"), &out, &f.err), SILT_ECORRUPT);
    tear_down(&f);
}

static void log_paths_resolve_against_the_table(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"/t", "a.parquet", "/t/a.parquet"},
        {"/t/", "a/b", "/t/a/b"},
        {"/t", "p=a%20b/x", "/t/p=a b/x"},
        {"s3://b/t", "p=%252F/x", "s3://b/t/p=%2F/x"},
        {"/t", "/abs/x", "/abs/x"},
        {"s3://b/t", "/abs/x", "s3://b/abs/x"},
        {"memory:///t", "/abs/x", "memory:///abs/x"},
        {"/t", "file:/abs/x%20y", "/abs/x y"},
        {"/t", "file:///abs/x", "/abs/x"},
        {"/t", "FILE://localhost/abs/x", "/abs/x"},
        {"/t", "file://host/abs/x", "file://host/abs/x"},
        {"/t", "s3://c/x%20y", "s3://c/x y"},
        {"/t", "a:b", "/t/a:b"},
        {"/t", "..a/.b./x", "/t/..a/.b./x"},
    };
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sl_str out;
        const struct sl_str path = sl_str_from(cases[i][1]);
        assert_int_equal(sl_uri_resolve(&f.arena, sl_str_from(cases[i][0]), path, &out, &f.err), SILT_OK);
        assert_string_equal(out.ptr, cases[i][2]);
        assert_int_equal(out.len, strlen(cases[i][2]));
    }
    tear_down(&f);
}

static void log_paths_are_text_and_cannot_climb_out_of_the_table(void **state)
{
    (void)state;
    static const char *const bad[] = {"",         "..",         "../x", "a/../x",   "a/..",   "./x",   "a/./x",
                                      "%2e%2e/x", "a%2F..%2Fx", ".",    "a/%2E%2e", "%FF%FE", "a\xc3", "%c3%28"};
    struct fixture f;
    set_up(&f);
    struct sl_str out;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(sl_uri_resolve(&f.arena, SL_STR("/t"), sl_str_from(bad[i]), &out, &f.err), SILT_ECORRUPT);
        assert_null(out.ptr);
    }
    tear_down(&f);
}

static void join_puts_one_slash(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    assert_string_equal(sl_uri_join(&f.arena, SL_STR("/a"), SL_STR("b")).ptr, "/a/b");
    assert_string_equal(sl_uri_join(&f.arena, SL_STR("/a/"), SL_STR("b")).ptr, "/a/b");
    assert_string_equal(sl_uri_join(&f.arena, SL_STR("/a"), SL_STR("/b")).ptr, "/a/b");
    assert_string_equal(sl_uri_join(&f.arena, SL_STR("/a/"), SL_STR("/b")).ptr, "/a/b");
    assert_string_equal(sl_uri_join(&f.arena, SL_STR("/"), SL_STR("b")).ptr, "/b");
    test_env_fail_at(&f.t, 1);
    char large[5000];
    memset(large, 'x', sizeof(large));
    assert_null(sl_uri_join(&f.arena, SL_STR("/a"), sl_str_make(large, sizeof(large))).ptr);
    tear_down(&f);
}

static void typed_locations_are_normalised(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/a/b/", "/a/b"},
        {"/a//b/./c/../d", "/a/b/d"},
        {"/", "/"},
        {"/../..", "/"},
        {"/a/..", "/"},
        {"file:/a/b/", "/a/b"},
        {"file:///a/%20", "/a/%20"},
        {"S3://Bucket/Key/", "s3://Bucket/Key"},
        {"s3://b", "s3://b"},
        {"s3://b/", "s3://b"},
        {"s3:/a//", "s3:/a"},
        {"memory:///t/", "memory:///t"},
        {"XY://b/", "xy://b"},
        {"s3://b/a/../c", "s3://b/a/../c"},
    };
    struct fixture f;
    set_up(&f);
    struct sl_str out;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(sl_uri_normalize(&f.arena, sl_str_from(cases[i][0]), &out, &f.err), SILT_OK);
        assert_string_equal(out.ptr, cases[i][1]);
        assert_int_equal(out.len, strlen(cases[i][1]));
    }
    char *cwd = getcwd(NULL, 0);
    assert_non_null(cwd);
    assert_int_equal(sl_uri_normalize(&f.arena, SL_STR("x/./y/"), &out, &f.err), SILT_OK);
    assert_true(sl_str_starts_with(out, sl_str_from(cwd)));
    assert_true(sl_str_ends_with(out, SL_STR("/x/y")));
    free(cwd);
    assert_int_equal(sl_uri_normalize(&f.arena, SL_STR(""), &out, &f.err), SILT_EINVALID);
    const char *const placeless[] = {"s3:/",  "s3://",   "S3:///",   "gs://", "abfss://",
                                     "az://", "hdfs://", "hdfs:///", "x9://"};
    for (size_t i = 0; i < sizeof(placeless) / sizeof(placeless[0]); i++) {
        assert_int_equal(sl_uri_normalize(&f.arena, sl_str_from(placeless[i]), &out, &f.err), SILT_EINVALID);
        assert_non_null(strstr(f.err.message, "names no bucket"));
        assert_null(out.ptr);
    }
    assert_int_equal(sl_uri_normalize(&f.arena, SL_STR("memory:///"), &out, &f.err), SILT_OK);
    assert_int_equal(sl_uri_normalize(&f.arena, SL_STR("hdfs:///t"), &out, &f.err), SILT_OK);
    assert_int_equal(sl_uri_normalize(&f.arena, SL_STR("/a\0b"), &out, &f.err), SILT_EINVALID);
    tear_down(&f);
}

static void a_printed_location_is_read_back(void **state)
{
    (void)state;
    static const char *const locations[] = {"/t/a b", "//t/a%20b", "///t", "/"};
    struct fixture f;
    set_up(&f);
    for (size_t i = 0; i < sizeof(locations) / sizeof(locations[0]); i++) {
        struct sl_buf text;
        struct sl_str out;
        sl_buf_init(&text, f.arena.env);
        sl_uri_print(&text, sl_str_from(locations[i]));
        assert_int_equal(sl_uri_resolve(&f.arena, SL_STR("/x"), sl_buf_view(&text), &out, &f.err), SILT_OK);
        assert_string_equal(out.ptr, locations[i]);
        sl_buf_release(&text);
    }
    tear_down(&f);
}

static void names_and_folders_are_split_at_the_last_slash(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"/a/b", "/a", "b"},         {"/a", "/", "a"},         {"a", "", "a"},    {"s3://b/k/x", "s3://b/k", "x"},
        {"s3://b/k", "s3://b", "k"}, {"s3://b", "s3://b", ""}, {"/a/", "/a", ""}, {"/", "/", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(sl_str_eq_c(sl_uri_dirname(sl_str_from(cases[i][0])), cases[i][1]));
        assert_true(sl_str_eq_c(sl_uri_basename(sl_str_from(cases[i][0])), cases[i][2]));
    }
}

static void hive_escapes_what_spark_escapes(void **state)
{
    (void)state;
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_uri_hive_escape(&buf, SL_STR("a b\x01\x1F\x7F\"#%'*/:=?\\{[]^}ä<>|&"));
    assert_string_equal(sl_buf_cstr(&buf), "a b%01%1F%7F%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E}ä<>|&");
    sl_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheme_is_found_only_before_a_colon_and_slash),
        cmocka_unit_test(paths_are_encoded_byte_by_byte),
        cmocka_unit_test(decoding_undoes_encoding_once),
        cmocka_unit_test(broken_escapes_are_corrupt),
        cmocka_unit_test(log_paths_resolve_against_the_table),
        cmocka_unit_test(log_paths_are_text_and_cannot_climb_out_of_the_table),
        cmocka_unit_test(join_puts_one_slash),
        cmocka_unit_test(typed_locations_are_normalised),
        cmocka_unit_test(a_printed_location_is_read_back),
        cmocka_unit_test(names_and_folders_are_split_at_the_last_slash),
        cmocka_unit_test(hive_escapes_what_spark_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
