/*
 * The store in memory: what the contract suite does not see. Times, lifetimes, running out of memory.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

struct rig {
    struct test_env test;
    silt_storage *store;
};

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&rig.test);
    assert_int_equal(silt_storage_memory_new(&rig.test.env, &rig.store, &err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->store);
    test_env_check(&rig->test);
    return 0;
}

static void modification_times_come_from_the_environment(void **state)
{
    struct rig *rig = *state;
    int64_t modified = 0;
    store_put(rig->store, "memory://a", "1");
    assert_int_equal(silt_storage_stat(rig->store, NULL, "memory://a", NULL, &modified, NULL), SILT_OK);
    assert_int_equal(modified, INT64_C(1577836800000));
    rig->test.wall_us += 5000;
    store_put(rig->store, "memory://a", "2");
    assert_int_equal(silt_storage_stat(rig->store, NULL, "memory://a", NULL, &modified, NULL), SILT_OK);
    assert_int_equal(modified, INT64_C(1577836800005));
}

static void a_folder_lives_as_long_as_its_files(void **state)
{
    struct rig *rig = *state;
    store_put(rig->store, "memory://t/d/f", "1");
    assert_string_equal(store_list(rig->store, "memory://t", NULL, false), "");
    assert_string_equal(store_list(rig->store, "memory://t/", NULL, true), "d/f\n");
    assert_int_equal(silt_storage_remove(rig->store, NULL, "memory://t/d/f", NULL), SILT_OK);
    assert_string_equal(store_list(rig->store, "memory://t", NULL, false), "ENOTFOUND");
}

static void the_whole_store_can_be_listed(void **state)
{
    struct rig *rig = *state;
    store_put(rig->store, "memory://a/x", "1");
    store_put(rig->store, "memory://b", "1");
    assert_string_equal(store_list(rig->store, "memory://", NULL, true), "a/x\nb\n");
    assert_int_equal(silt_storage_put(rig->store, NULL, "memory://a//x", "1", 1, NULL), SILT_EINVALID);
}

static void content_lives_as_long_as_the_last_reference(void **state)
{
    struct rig *rig = *state;
    silt_storage *second = silt_storage_ref(rig->store);
    store_put(rig->store, "memory://a", "1");
    silt_storage_unref(rig->store);
    rig->store = second;
    store_expect(second, "memory://a", "1");
}

static void many_files_stay_sorted(void **state)
{
    struct rig *rig = *state;
    for (unsigned i = 0; i < 500; i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "memory://t/%03u", (i * 263) % 500);
        assert_int_equal(store_put_new(rig->store, path, ""), SILT_PUT_DONE);
    }
    const char *names = store_list(rig->store, "memory://t", NULL, false);
    for (unsigned i = 0; i < 500; i++) {
        char line[8];
        (void)snprintf(line, sizeof(line), "%03u\n", i);
        assert_int_equal(strncmp(names + (size_t)i * 4, line, 4), 0);
    }
}

static bool accept_entry(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    return entry->name_len > 0;
}

static silt_status run_all(silt_storage *store)
{
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    void *data = NULL;
    size_t len = 0;
    silt_status status = silt_storage_put_if_absent(store, NULL, "memory://t/new", "x", 1, &outcome, &err);
    if (status == SILT_OK) {
        status = silt_storage_put(store, NULL, "memory://t/a", "new text", 8, &err);
    }
    if (status == SILT_OK) {
        status = silt_storage_read(store, NULL, "memory://t/a", &data, &len, &err);
        silt_storage_free(store, data, len);
    }
    if (status == SILT_OK) {
        status = silt_storage_list(store, NULL, "memory://t", NULL, accept_entry, NULL, &err);
    }
    return status == SILT_OK ? silt_storage_remove_tree(store, NULL, "memory://t", &err) : status;
}

static void running_out_of_memory_changes_nothing_by_half(void **state)
{
    struct rig *rig = *state;
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status != SILT_OK; n++) {
        silt_storage *store = NULL;
        silt_error err = SILT_ERROR_INIT;
        test_env_fail_at(&rig->test, 0);
        assert_int_equal(silt_storage_memory_new(&rig->test.env, &store, &err), SILT_OK);
        store_put(store, "memory://t/a", "old");
        test_env_fail_at(&rig->test, n);
        status = run_all(store);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        silt_storage_unref(store);
        assert_true(n < 50);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(modification_times_come_from_the_environment),
        TEST(a_folder_lives_as_long_as_its_files),
        TEST(the_whole_store_can_be_listed),
        TEST(content_lives_as_long_as_the_last_reference),
        TEST(many_files_stay_sorted),
        TEST(running_out_of_memory_changes_nothing_by_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
