/* Names on HDFS and what WebHDFS is asked. */
#include "storage/remote/hdfs/hdfs_names.h"

#include <string.h>

#include "test_env.h"

static void a_location_is_a_host_and_a_path(void **state)
{
    (void)state;
    struct sl_hdfs_name name;
    assert_int_equal(sl_hdfs_file_name("hdfs://nn:8020/t/_delta_log/0.json", &name, NULL), SILT_OK);
    assert_true(sl_str_eq_c(name.authority, "nn:8020"));
    assert_true(sl_str_eq_c(name.path, "t/_delta_log/0.json"));
    assert_int_equal(sl_hdfs_folder_name("hdfs:///t//", &name, NULL), SILT_OK);
    assert_int_equal(name.authority.len, 0);
    assert_true(sl_str_eq_c(name.path, "t"));
    assert_int_equal(sl_hdfs_folder_name("webhdfs://[::1]:9870/", &name, NULL), SILT_OK);
    assert_int_equal(name.path.len, 0);
}

static void names_that_hdfs_cannot_hold_are_refused(void **state)
{
    (void)state;
    struct sl_hdfs_name name;
    static const char *const bad[] = {"hdfs://nn",       "hdfs://nn/",     "hdfs://nn/a/",     "hdfs://nn/a:b",
                                      "hdfs://nn/a:b/c", "hdfs://nn/a//b", "hdfs://nn/a/../b", "hdfs://nn/./b",
                                      "hdfs://nn/\xff",  "hdfs://u@nn/x",  "hdfs://nn?x/y",    "/tmp/x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(sl_hdfs_file_name(bad[i], &name, &err), SILT_EINVALID);
    }
    assert_int_equal(sl_hdfs_folder_name("hdfs://nn/a:b/", &name, NULL), SILT_EINVALID);
    assert_int_equal(sl_hdfs_folder_name("hdfs://nn//a", &name, NULL), SILT_EINVALID);
}

static void a_path_keeps_its_slashes(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf out;
    sl_buf_init(&out, &t.env);
    sl_hdfs_put_operation(&out, SL_STR("a b/p=1%2F?#+"), "OPEN");
    sl_hdfs_put_parameter(&out, "offset", SL_STR("5"));
    sl_hdfs_put_parameter(&out, "startafter", SL_STR("x&y/"));
    assert_string_equal(sl_buf_cstr(&out),
                        "/webhdfs/v1/a%20b/p%3D1%252F%3F%23%2B?op=OPEN&offset=5&startafter=x%26y%2F");
    sl_buf_release(&out);
    test_env_check(&t);
}

static void temporary_names_are_known_and_others_are_not(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    char name[SL_HDFS_TEMP_SIZE];
    assert_int_equal(sl_hdfs_make_temp(&t.env, name, NULL), SILT_OK);
    assert_true(sl_hdfs_is_temp(sl_str_from(name)));
    assert_false(sl_hdfs_is_temp(SL_STR(".silt-x")));
    assert_false(sl_hdfs_is_temp(SL_STR(".silt-notes.tmp")));
    assert_false(sl_hdfs_is_temp(sl_str_from(name + 1)));
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_is_a_host_and_a_path),
        cmocka_unit_test(names_that_hdfs_cannot_hold_are_refused),
        cmocka_unit_test(a_path_keeps_its_slashes),
        cmocka_unit_test(temporary_names_are_known_and_others_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
