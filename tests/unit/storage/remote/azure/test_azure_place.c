/* URIs of Azure, and the texts of requests. */
#include "storage/remote/azure/azure_place.h"

#include <string.h>

#include "storage/remote/azure/azure_text.h"
#include "test_env.h"

static void expect_place(const char *uri, const char *container, const char *path, const char *account,
                         const char *suffix)
{
    struct sl_azure_place place;
    silt_error err = SILT_ERROR_INIT;
    if (sl_azure_place_parse(sl_str_from(uri), &place, &err) != SILT_OK) {
        fail_msg("%s: %s", uri, err.message);
    }
    assert_true(sl_str_eq_c(place.container, container));
    assert_true(sl_str_eq_c(place.path, path));
    assert_true(account == NULL ? place.account.ptr == NULL : sl_str_eq_c(place.account, account));
    assert_true(suffix == NULL ? place.suffix.ptr == NULL : sl_str_eq_c(place.suffix, suffix));
}

static void uris_name_container_account_and_path(void **state)
{
    (void)state;
    expect_place("abfss://c@acct.dfs.core.windows.net/a/b c", "c", "a/b c", "acct", "core.windows.net");
    expect_place("wasbs://c@acct.blob.core.windows.net/", "c", "", "acct", "core.windows.net");
    expect_place("wasb://c@acct.z12.blob.storage.azure.net/x", "c", "x", "acct", "storage.azure.net");
    expect_place("abfss://space@onelake.dfs.fabric.microsoft.com/l.Lakehouse/t", "space", "l.Lakehouse/t", "onelake",
                 "fabric.microsoft.com");
    expect_place("az://c/a/b", "c", "a/b", NULL, NULL);
    expect_place("azure://c", "c", "", NULL, NULL);
    expect_place("az://c/a@b", "c", "a@b", NULL, NULL);
    expect_place("az://$web/%20?#", "$web", "%20?#", NULL, NULL);
}

static void what_is_no_place_is_refused(void **state)
{
    (void)state;
    static const char *const uris[] = {"az:///x",
                                       "az://",
                                       "c/x",
                                       "abfss://@acct.dfs.core.windows.net/x",
                                       "abfss://c@/x",
                                       "abfss://c@acct/x",
                                       "abfss://c@acct.core.windows.net/x",
                                       "abfss://c@.dfs.core.windows.net/x",
                                       "abfss://c@acct.dfs./x",
                                       "abfss://c@acct.dfs.core..net/x",
                                       "abfss://c@acct.dfs.core.windows.net:99/x",
                                       "abfss://c@acct%2e.dfs.core.windows.net/x",
                                       "abfss://c@d@acct.dfs.core.windows.net/x"};
    for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
        struct sl_azure_place place;
        if (sl_azure_place_parse(sl_str_from(uris[i]), &place, NULL) != SILT_EINVALID) {
            fail_msg("%s was taken", uris[i]);
        }
    }
}

static void a_file_is_not_a_folder(void **state)
{
    (void)state;
    struct sl_azure_place place;
    assert_int_equal(sl_azure_place_of_file("az://c/a", &place, NULL), SILT_OK);
    assert_int_equal(sl_azure_place_of_file("az://c/a/", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/a//b", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c//b", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/a\\b", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/a/../b", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/.", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_file("az://c/.../a..b", &place, NULL), SILT_OK);
    assert_int_equal(sl_azure_place_of_folder("az://c/a/..", &place, NULL), SILT_EINVALID);
    assert_int_equal(sl_azure_place_of_folder("az://c/a/b//", &place, NULL), SILT_OK);
    assert_true(sl_str_eq_c(place.path, "a/b"));
}

static void credentials_go_to_known_domains_only(void **state)
{
    (void)state;
    assert_true(sl_azure_suffix_known(SL_STR("core.windows.net"), NULL));
    assert_true(sl_azure_suffix_known(SL_STR("core.usgovcloudapi.net"), NULL));
    assert_false(sl_azure_suffix_known(SL_STR("core.windows.net.example.com"), NULL));
    assert_false(sl_azure_suffix_known(SL_STR("example.com"), NULL));
    assert_false(sl_azure_suffix_known(SL_STR("example.com"), "example.org"));
    assert_true(sl_azure_suffix_known(SL_STR("example.com"), "Example.com"));
}

static void expect_sas(const char *given, const char *wanted)
{
    struct test_env t;
    struct sl_buf out;
    test_env_init(&t);
    sl_buf_init(&out, &t.env);
    const bool good = sl_azure_put_sas(&out, sl_str_from(given));
    assert_int_equal(good, wanted != NULL);
    if (good) {
        assert_string_equal(sl_buf_cstr(&out), wanted);
    }
    sl_buf_release(&out);
    test_env_check(&t);
}

static void a_signature_is_encoded_once(void **state)
{
    (void)state;
    expect_sas("sv=2021-12-02&sp=r l&sig=a+b/c=", "sv=2021-12-02&sp=r%20l&sig=a%2Bb%2Fc%3D");
    expect_sas("?sv=2021-12-02&&sig=a%2Bb%2Fc%3D ", "sv=2021-12-02&sig=a%2Bb%2Fc%3D");
    expect_sas("sv=1", NULL);
    expect_sas("", NULL);
    expect_sas("sig", NULL);
}

static void dates_and_codes_have_their_form(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_buf out;
    test_env_init(&t);
    sl_buf_init(&out, &t.env);
    sl_azure_put_date(&out, INT64_C(1435361952) * 1000000 + 999999);
    assert_string_equal(sl_buf_cstr(&out), "Fri, 26 Jun 2015 23:39:12 GMT");
    sl_buf_clear(&out);
    sl_azure_put_date(&out, 0);
    assert_string_equal(sl_buf_cstr(&out), "Thu, 01 Jan 1970 00:00:00 GMT");
    sl_buf_release(&out);
    assert_true(sl_str_eq_c(sl_azure_clean_code(SL_STR("BlobNotFound")), "BlobNotFound"));
    assert_null(sl_azure_clean_code(SL_STR("Blob Not\nFound")).ptr);
    assert_null(sl_azure_clean_code(SL_STR("")).ptr);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uris_name_container_account_and_path),
        cmocka_unit_test(what_is_no_place_is_refused),
        cmocka_unit_test(a_file_is_not_a_folder),
        cmocka_unit_test(credentials_go_to_known_domains_only),
        cmocka_unit_test(a_signature_is_encoded_once),
        cmocka_unit_test(dates_and_codes_have_their_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
