/*
 * Writing files of the local store: short writes, full disks, places that cannot be written, running out of memory.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct rig {
    struct test_env test;
    struct sl_local_calls calls;
    silt_storage *store;
    char *dir;
    char path[4096];
};

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&rig.test);
    rig.calls = *sl_local_system_calls();
    rig.dir = make_temp_dir();
    (void)snprintf(rig.path, sizeof(rig.path), "%s/file", rig.dir);
    assert_int_equal(sl_local_new_with(&rig.test.env, NULL, &rig.calls, &rig.store, &err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->store);
    remove_temp_dir(rig->dir);
    test_env_check(&rig->test);
    return 0;
}

static unsigned write_calls;

static ssize_t write_little(int fd, const void *data, size_t size)
{
    write_calls++;
    if (write_calls % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    return write(fd, data, size < 7 ? size : 7);
}

static ssize_t write_until_full(int fd, const void *data, size_t size)
{
    write_calls++;
    if (write_calls > 1) {
        errno = ENOSPC;
        return -1;
    }
    return write(fd, data, size / 2);
}

static void short_and_interrupted_writes_go_on(void **state)
{
    struct rig *rig = *state;
    rig->calls.write = write_little;
    write_calls = 0;
    const char *text = "a text that takes more than one write, more than two, and more than three";
    assert_int_equal(store_put_new(rig->store, rig->path, text), SILT_PUT_DONE);
    store_expect(rig->store, rig->path, text);
    assert_true(write_calls > 10);
}

static int count_sync(int fd)
{
    write_calls++;
    return fsync(fd);
}

static void a_hint_does_not_wait_for_the_disk(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = count_sync;
    write_calls = 0;
    assert_int_equal(silt_storage_put_hint(rig->store, NULL, rig->path, "text", 4, &outcome, &err), SILT_OK);
    assert_int_equal(write_calls, 0);
    store_expect(rig->store, rig->path, "text");
    assert_int_equal(silt_storage_remove(rig->store, NULL, rig->path, &err), SILT_OK);
    assert_int_equal(store_put_new(rig->store, rig->path, "text"), SILT_PUT_DONE);
    assert_true(write_calls > 0);
}

static void a_file_beside_others_is_durable_and_makes_no_folder(void **state)
{
    struct rig *rig = *state;
    char path[4200];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = count_sync;
    write_calls = 0;
    assert_int_equal(silt_storage_put_beside(rig->store, NULL, rig->path, "text", 4, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(write_calls, 2); /* its bytes, and its name */
    store_expect(rig->store, rig->path, "text");
    (void)snprintf(path, sizeof(path), "%s/log/1.json", rig->dir);
    for (int named = 0; named < 2; named++) {
        assert_int_equal(silt_storage_put_beside(rig->store, NULL, path, "text", 4, &outcome, &err), SILT_ENOTFOUND);
        assert_int_equal(count_names(rig->dir, NULL, 0), 1);
        rig->calls.link_unnamed = NULL;
    }
}

static void a_full_disk_is_told_and_nothing_is_left(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.write = write_until_full;
    write_calls = 0;
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "0123456789", 10, &err), SILT_ENOSPACE);
    assert_int_equal(err.sys_code, ENOSPC);
    write_calls = 0;
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, rig->path, "0123456789", 10, &outcome, &err),
                     SILT_ENOSPACE);
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

static void a_file_above_the_size_limit_is_told_and_nothing_is_left(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct rlimit before;
    static char block[100000];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    silt_status status = silt_storage_put(rig->store, NULL, rig->path, block, sizeof(block), &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(status, SILT_ENOSPACE);
    assert_int_equal(err.sys_code, EFBIG);
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

static void a_failed_put_keeps_the_old_file(void **state)
{
    struct rig *rig = *state;
    store_put(rig->store, rig->path, "old");
    rig->calls.write = write_until_full;
    write_calls = 0;
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "new text", 8, NULL), SILT_ENOSPACE);
    store_expect(rig->store, rig->path, "old");
    assert_int_equal(count_names(rig->dir, NULL, 0), 1);
}

static void a_path_through_a_file_is_refused(void **state)
{
    struct rig *rig = *state;
    char below[4200];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    store_put(rig->store, rig->path, "x");
    (void)snprintf(below, sizeof(below), "%s/below/file", rig->path);
    assert_int_equal(silt_storage_put(rig->store, NULL, below, "x", 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, below, "x", 1, &outcome, &err), SILT_EINVALID);
    assert_int_equal(err.sys_code, ENOTDIR);
}

static void a_folder_is_not_replaced_by_a_file(void **state)
{
    struct rig *rig = *state;
    char below[4200];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(below, sizeof(below), "%s/below", rig->path);
    store_put(rig->store, below, "x");
    silt_put_outcome outcome = SILT_PUT_DONE;
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "x", 1, &err), SILT_ECORRUPT);
    assert_string_equal(err.code_name, "SILT_NAME_TAKEN");
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, rig->path, "x", 1, &outcome, &err), SILT_ECORRUPT);
    assert_int_equal(silt_storage_remove(rig->store, NULL, rig->path, &err), SILT_EINVALID);
    assert_int_equal(count_names(rig->dir, NULL, 0), 1);
}

/* /proc refuses new files even to root. */
static void a_place_that_takes_no_files_is_refused(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    if (access("/proc/self", F_OK) != 0) {
        skip();
    }
    silt_status status = silt_storage_put_if_absent(rig->store, NULL, "/proc/silt/x", "x", 1, &outcome, &err);
    assert_true(status == SILT_ENOTFOUND || status == SILT_EACCESS);
    assert_non_null(strstr(err.message, "/proc/silt/x"));
}

static void hidden_names_cannot_be_written(void **state)
{
    struct rig *rig = *state;
    char path[4200];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "%s/.silt.lock", rig->dir);
    assert_int_equal(silt_storage_put(rig->store, NULL, path, "x", 1, &err), SILT_EINVALID);
    (void)snprintf(path, sizeof(path), "%s/.a.01234567-89ab-4cde-8f01-23456789abcd.tmp", rig->dir);
    assert_int_equal(silt_storage_put(rig->store, NULL, path, "x", 1, &err), SILT_EINVALID);
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

static void without_random_bytes_nothing_is_written(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    rig->test.random_status = SILT_EIO;
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "x", 1, &err), SILT_EIO);
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

static bool accept_entry(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    return entry->name_len > 0;
}

/* A commit, a read and a listing with every allocation failing in turn. */
static void out_of_memory_is_reported_everywhere(void **state)
{
    struct rig *rig = *state;
    bool ran_out = true;
    for (size_t n = 1; ran_out; n++) {
        silt_storage *store = NULL;
        silt_error err = SILT_ERROR_INIT;
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        void *data = NULL;
        size_t len = 0;
        test_env_fail_at(&rig->test, n);
        silt_status status = silt_storage_local_new(&rig->test.env, NULL, &store, &err);
        if (status == SILT_OK) {
            status = silt_storage_put_if_absent(store, NULL, rig->path, "text", 4, &outcome, &err);
        }
        if (status == SILT_OK) {
            status = silt_storage_read(store, NULL, rig->path, &data, &len, &err);
            silt_storage_free(store, data, len);
        }
        if (status == SILT_OK) {
            status = silt_storage_list(store, NULL, rig->dir, NULL, accept_entry, NULL, &err);
        }
        silt_storage_unref(store);
        ran_out = status == SILT_ENOMEM;
        assert_true(ran_out || status == SILT_OK);
        assert_true(n < 100);
    }
    test_env_fail_at(&rig->test, 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(short_and_interrupted_writes_go_on),      TEST(a_hint_does_not_wait_for_the_disk),
        TEST(a_full_disk_is_told_and_nothing_is_left), TEST(a_file_above_the_size_limit_is_told_and_nothing_is_left),
        TEST(a_failed_put_keeps_the_old_file),         TEST(a_path_through_a_file_is_refused),
        TEST(a_folder_is_not_replaced_by_a_file),      TEST(a_place_that_takes_no_files_is_refused),
        TEST(hidden_names_cannot_be_written),          TEST(without_random_bytes_nothing_is_written),
        TEST(out_of_memory_is_reported_everywhere),    TEST(a_file_beside_others_is_durable_and_makes_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
