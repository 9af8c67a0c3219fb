/*
 * Names of the local store: URIs to system paths, hidden names, folders above a file.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

struct path_case {
    const char *given;
    const char *path; /* NULL: refused */
};

static void uris_and_absolute_paths_are_understood(void **state)
{
    static const struct path_case cases[] = {
        {"/a/b", "/a/b"},
        {"file:///a/b", "/a/b"},
        {"file:/a/b", "/a/b"},
        {"FILE:///a/b", "/a/b"},
        {"file://localhost/a/b", "/a/b"},
        {"/a%20b/c+d?e#f", "/a%20b/c+d?e#f"},
        {"file:///a%25", "/a%25"},
        {"/a:b/c", "/a:b/c"},
        {"file://host/a", NULL},
        {"file:a", NULL},
        {"file://", NULL},
        {"a/b", NULL},
        {"./a", NULL},
        {"s3://bucket/key", NULL},
        {"/a/", NULL},
        {"/", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[SL_LOCAL_PATH_SIZE];
        silt_error err = SILT_ERROR_INIT;
        silt_status status = sl_local_file_path(cases[i].given, out, &err);
        assert_int_equal(status, cases[i].path != NULL ? SILT_OK : SILT_EINVALID);
        if (cases[i].path != NULL) {
            assert_string_equal(out, cases[i].path);
        }
    }
}

static void a_path_longer_than_the_systems_is_refused(void **state)
{
    static char path[SL_LOCAL_PATH_SIZE + 10];
    char out[SL_LOCAL_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    assert_int_equal(sl_local_file_path(path, out, &err), SILT_EINVALID);
    path[SL_LOCAL_PATH_SIZE] = '\0';
    assert_int_equal(sl_local_file_path(path, out, &err), SILT_EINVALID);
    path[SL_LOCAL_PATH_SIZE - 1] = '\0';
    assert_int_equal(sl_local_file_path(path, out, &err), SILT_OK);
}

static void folders_lose_their_last_slashes(void **state)
{
    char out[SL_LOCAL_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    assert_int_equal(sl_local_dir_path("file:///a/b//", out, &err), SILT_OK);
    assert_string_equal(out, "/a/b");
    assert_int_equal(sl_local_dir_path("/", out, &err), SILT_OK);
    assert_string_equal(out, "/");
    sl_local_parent("/a/b", out);
    assert_string_equal(out, "/a");
    sl_local_parent("/a", out);
    assert_string_equal(out, "/");
}

static void only_our_own_names_are_hidden(void **state)
{
    (void)state;
    assert_true(sl_local_is_hidden(".silt.lock"));
    assert_true(sl_local_is_hidden(".0.json.01234567-89ab-4cde-8f01-23456789abcd.tmp"));
    assert_true(sl_local_is_hidden(".01234567-89ab-4cde-8f01-23456789abcd.tmp"));
    assert_false(sl_local_is_hidden("0.json.01234567-89ab-4cde-8f01-23456789abcd.tmp"));
    assert_false(sl_local_is_hidden(".0.json.01234567-89ab-4cde-8f01-23456789abcg.tmp"));
    assert_false(sl_local_is_hidden(".0.json.01234567089ab-4cde-8f01-23456789abcd.tmp"));
    assert_false(sl_local_is_hidden(".x01234567-89ab-4cde-8f01-23456789abcd.tmp"));
    assert_false(sl_local_is_hidden(".0.json.crc"));
    assert_false(sl_local_is_hidden(".tmp"));
    assert_false(sl_local_is_hidden("."));
}

static void temp_names_are_hidden_new_and_short_enough(void **state)
{
    struct test_env test;
    char final[512];
    char first[SL_LOCAL_PATH_SIZE];
    char second[SL_LOCAL_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    test_env_init(&test);
    const struct sl_local local = {.env = &test.env, .calls = sl_local_system_calls()};
    static const int lengths[] = {1, 20, 212, 213, 214, 255};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memset(final, 'n', sizeof(final));
        memcpy(final, "/d/", 3);
        final[3 + lengths[i]] = '\0';
        assert_int_equal(sl_local_temp_path(&local, final, first, &err), SILT_OK);
        assert_int_equal(sl_local_temp_path(&local, final, second, &err), SILT_OK);
        assert_int_equal(strncmp(first, "/d/.", 4), 0);
        assert_true(sl_local_is_hidden(first + 3));
        assert_true(strlen(first + 3) <= 255);
        assert_string_not_equal(first, second);
    }
    test_env_check(&test);
}

static void missing_folders_are_made(void **state)
{
    struct test_env test;
    char path[4096];
    silt_error err = SILT_ERROR_INIT;
    char *dir = make_temp_dir();
    (void)state;
    test_env_init(&test);
    const struct sl_local local = {.env = &test.env, .calls = sl_local_system_calls()};
    (void)snprintf(path, sizeof(path), "%s/a//b/c/file", dir);
    assert_int_equal(sl_local_make_parents(&local, path, &err), SILT_OK);
    assert_int_equal(sl_local_make_parents(&local, path, &err), SILT_OK);
    (void)snprintf(path, sizeof(path), "%s/a/b/c", dir);
    assert_int_equal(count_names(path, NULL, 0), 0);
    (void)snprintf(path, sizeof(path), "%s/a/b", dir);
    assert_int_equal(count_names(path, NULL, 0), 1);
    remove_temp_dir(dir);
    test_env_check(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uris_and_absolute_paths_are_understood),
        cmocka_unit_test(a_path_longer_than_the_systems_is_refused),
        cmocka_unit_test(folders_lose_their_last_slashes),
        cmocka_unit_test(only_our_own_names_are_hidden),
        cmocka_unit_test(temp_names_are_hidden_new_and_short_enough),
        cmocka_unit_test(missing_folders_are_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
