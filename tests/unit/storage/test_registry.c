/*
 * The registry of stores by scheme, and the stores that every default engine has.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <string.h>

#include "storage/stores.h"

static int set_up(void **state)
{
    static struct test_env test;
    test_env_init(&test);
    *state = &test;
    return 0;
}

static int tear_down(void **state)
{
    test_env_check(*state);
    return 0;
}

static void default_stores_are_found_by_scheme(void **state)
{
    struct test_env *test = *state;
    silt_storage_registry *registry = NULL;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_stores_default(&test->env, &registry, &err), SILT_OK);
    static const char *const local[] = {"/a/b", "file:///a/b", "file:/a", "FILE:///a", "/a:b/c", "relative/path"};
    for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
        assert_int_equal(silt_storage_registry_find(registry, local[i], &store, &err), SILT_OK);
        assert_string_equal(silt_storage_name(store), "local");
    }
    assert_int_equal(silt_storage_registry_find(registry, "memory://a", &store, &err), SILT_OK);
    assert_string_equal(silt_storage_name(store), "memory");
    silt_storage_registry_free(registry);
}

static void an_unknown_scheme_is_named_with_those_that_are_known(void **state)
{
    struct test_env *test = *state;
    silt_storage_registry *registry = NULL;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_stores_default(&test->env, &registry, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_find(registry, "s3://bucket/key", &store, &err), SILT_EUNSUPPORTED);
    assert_null(store);
    assert_non_null(strstr(err.message, "\"s3\""));
    assert_non_null(strstr(err.message, "file, memory"));
    assert_null(strstr(err.message, "bucket"));
    assert_int_equal(silt_storage_registry_find(registry, "", &store, &err), SILT_EINVALID);
    silt_storage_registry_free(registry);
}

static void a_service_that_speaks_s3_is_told_by_which_name(void **state)
{
    struct test_env *test = *state;
    silt_storage_registry *registry = NULL;
    silt_storage *store = NULL;
    silt_storage *found = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_stores_default(&test->env, &registry, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_find(registry, "oss://bucket/key", &found, &err), SILT_EUNSUPPORTED);
    assert_string_equal(err.hint, ""); /* there is no s3:// either */
    assert_int_equal(silt_storage_memory_new(&test->env, &store, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(registry, "s3", store, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_find(registry, "oss://bucket/key", &found, &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.hint, "s3://bucket/key"));
    assert_int_equal(silt_storage_registry_find(registry, "ftp://host/key", &found, &err), SILT_EUNSUPPORTED);
    assert_string_equal(err.hint, "");
    silt_storage_unref(store);
    silt_storage_registry_free(registry);
}

static void a_scheme_is_taken_once(void **state)
{
    struct test_env *test = *state;
    silt_storage_registry *registry = NULL;
    silt_storage *store = NULL;
    silt_storage *found = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_storage_registry_new(&test->env, &registry, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_find(registry, "/a", &found, &err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_storage_memory_new(&test->env, &store, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(registry, "x-1", store, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(registry, "x-1", store, &err), SILT_EEXISTS);
    static const char *const bad[] = {"", "S3", "s3://", "1x", "a b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(silt_storage_registry_add(registry, bad[i], store, &err), SILT_EINVALID);
    }
    silt_storage_unref(store); /* the registry has its own reference */
    assert_int_equal(silt_storage_registry_find(registry, "x-1://b", &found, &err), SILT_OK);
    store_put(found, "x-1://b/c", "text");
    silt_storage_registry_free(registry);
    silt_storage_registry_free(NULL);
}

static void running_out_of_memory_leaves_nothing(void **state)
{
    struct test_env *test = *state;
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status != SILT_OK; n++) {
        silt_storage_registry *registry = NULL;
        silt_error err = SILT_ERROR_INIT;
        test_env_fail_at(test, n);
        status = sl_stores_default(&test->env, &registry, &err);
        assert_true(status == SILT_OK || (status == SILT_ENOMEM && registry == NULL));
        silt_storage_registry_free(registry);
        test_env_check(test);
        assert_true(n < 50);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(default_stores_are_found_by_scheme),
        TEST(an_unknown_scheme_is_named_with_those_that_are_known),
        TEST(a_service_that_speaks_s3_is_told_by_which_name),
        TEST(a_scheme_is_taken_once),
        TEST(running_out_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
