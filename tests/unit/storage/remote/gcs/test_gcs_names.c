/* Buckets, keys and the URLs of the JSON API. */
#include "storage/remote/gcs/gcs_names.h"

#include <string.h>

#include "test_env.h"

static void a_location_is_a_bucket_and_a_key(void **state)
{
    (void)state;
    struct sl_gcs_name name;
    assert_int_equal(sl_gcs_file_name("gs://my-bucket/t/_delta_log/0.json", &name, NULL), SILT_OK);
    assert_true(sl_str_eq_c(name.bucket, "my-bucket"));
    assert_true(sl_str_eq_c(name.key, "t/_delta_log/0.json"));
    assert_int_equal(sl_gcs_folder_name("gs://my-bucket/t//", &name, NULL), SILT_OK);
    assert_true(sl_str_eq_c(name.key, "t"));
    assert_int_equal(sl_gcs_folder_name("gs://my-bucket", &name, NULL), SILT_OK);
    assert_int_equal(name.key.len, 0);
}

static void what_cannot_be_an_object_is_refused(void **state)
{
    (void)state;
    struct sl_gcs_name name;
    static const char *const bad[] = {"gs://my-bucket",    "gs://my-bucket/",     "gs://my-bucket/t/", "gs://B-UPPER/x",
                                      "gs://ab/x",         "gs://a b c/x",        "gs:///x",           "/tmp/x",
                                      "gs://my-bucket/..", "gs://my-bucket/a\nb", "gs://my?bucket/x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(sl_gcs_file_name(bad[i], &name, NULL), SILT_EINVALID);
    }
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_gcs_file_name("gs:///x", &name, &err), SILT_EINVALID);
    assert_string_equal(err.message, "the location names no bucket, expected gs://BUCKET/PATH");
    char longest[1200] = "gs://my-bucket/";
    memset(longest + 15, 'x', 1024);
    assert_int_equal(sl_gcs_file_name(longest, &name, NULL), SILT_OK);
    longest[15 + 1024] = 'x';
    assert_int_equal(sl_gcs_file_name(longest, &name, NULL), SILT_EINVALID);
}

static void a_key_is_one_segment_of_its_url(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf url;
    struct sl_gcs_name name;
    sl_buf_init(&url, &t.env);
    assert_int_equal(sl_gcs_file_name("gs://bkt/a b/../p=1%2F?#x", &name, NULL), SILT_OK);
    sl_gcs_put_object_url(&url, "https://h", &name);
    sl_gcs_put_parameter(&url, "alt", SL_STR("media"));
    sl_gcs_put_parameter(&url, "x", SL_STR("a&b/"));
    assert_string_equal(sl_buf_cstr(&url),
                        "https://h/storage/v1/b/bkt/o/a%20b%2F..%2Fp%3D1%252F%3F%23x?alt=media&x=a%26b%2F");
    sl_buf_clear(&url);
    sl_gcs_put_upload_url(&url, "https://h", name.bucket);
    assert_string_equal(sl_buf_cstr(&url), "https://h/upload/storage/v1/b/bkt/o");
    sl_buf_clear(&url);
    sl_gcs_put_list_url(&url, "https://h", name.bucket);
    assert_string_equal(sl_buf_cstr(&url), "https://h/storage/v1/b/bkt/o");
    sl_buf_release(&url);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_location_is_a_bucket_and_a_key),
        cmocka_unit_test(what_cannot_be_an_object_is_refused),
        cmocka_unit_test(a_key_is_one_segment_of_its_url),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
