/*
 * Listing, reading, adopting and removing on a local file system: links, special files, deep folders, other devices.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rig {
    struct test_env test;
    struct sl_local_calls calls;
    silt_storage *store;
    char *dir;
};

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    const silt_local_options options = {.size = sizeof(options), .no_sync = true};
    test_env_init(&rig.test);
    rig.calls = *sl_local_system_calls();
    rig.dir = make_temp_dir();
    assert_int_equal(sl_local_new_with(&rig.test.env, &options, &rig.calls, &rig.store, &err), SILT_OK);
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

static const char *in_dir(const struct rig *rig, const char *name)
{
    static char paths[8][4096];
    static unsigned next;
    char *path = paths[next++ % 8];
    int printed = snprintf(path, sizeof(paths[0]), "%s/%s", rig->dir, name);
    assert_true(printed > 0 && (size_t)printed < sizeof(paths[0]));
    return path;
}

static void links_to_files_are_shown_and_links_to_folders_not(void **state)
{
    const struct rig *rig = *state;
    store_put(rig->store, in_dir(rig, "table/file"), "12345");
    store_put(rig->store, in_dir(rig, "outside/file"), "x");
    assert_int_equal(symlink(in_dir(rig, "table/file"), in_dir(rig, "table/link")), 0);
    assert_int_equal(symlink(in_dir(rig, "outside"), in_dir(rig, "table/folder")), 0);
    assert_int_equal(symlink("nowhere", in_dir(rig, "table/dangling")), 0);
    assert_int_equal(symlink(in_dir(rig, "table"), in_dir(rig, "table/loop")), 0);
    assert_int_equal(mkfifo(in_dir(rig, "table/pipe"), 0600), 0);
    assert_string_equal(store_list(rig->store, in_dir(rig, "table"), NULL, true), "file\nlink\n");
    store_expect(rig->store, in_dir(rig, "table/link"), "12345");
}

static void a_fifo_is_no_file(void **state)
{
    const struct rig *rig = *state;
    assert_int_equal(mkfifo(in_dir(rig, "pipe"), 0600), 0);
    store_expect_missing(rig->store, in_dir(rig, "pipe")); /* and nobody waits for a writer */
}

static void temp_files_of_a_crash_are_not_shown(void **state)
{
    const struct rig *rig = *state;
    int fd = open(in_dir(rig, ".0.json.01234567-89ab-4cde-8f01-23456789abcd.tmp"), O_WRONLY | O_CREAT, 0666);
    assert_int_equal(close(fd), 0);
    assert_string_equal(store_list(rig->store, rig->dir, NULL, true), "");
    store_put(rig->store, in_dir(rig, "0.json"), "x");
    assert_string_equal(store_list(rig->store, rig->dir, NULL, true), "0.json\n");
}

static void make_deep(const struct rig *rig, unsigned depth)
{
    char path[4096];
    int len = snprintf(path, sizeof(path), "%s", rig->dir);
    for (unsigned i = 0; i < depth; i++) {
        len += snprintf(path + len, sizeof(path) - (size_t)len, "/d");
        assert_int_equal(mkdir(path, 0777), 0);
    }
}

static void folders_nested_too_deep_are_refused(void **state)
{
    const struct rig *rig = *state;
    make_deep(rig, SL_LOCAL_MAX_DEPTH);
    assert_string_equal(store_list(rig->store, rig->dir, NULL, true), "");
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "d"), NULL), SILT_OK);
    make_deep(rig, SL_LOCAL_MAX_DEPTH + 2);
    assert_string_equal(store_list(rig->store, rig->dir, NULL, true), "ELIMIT");
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "d"), NULL), SILT_ELIMIT);
}

static void removing_a_tree_stops_at_links(void **state)
{
    const struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    store_put(rig->store, in_dir(rig, "outside/file"), "kept");
    store_put(rig->store, in_dir(rig, "t/sub/file"), "x");
    assert_int_equal(symlink(in_dir(rig, "outside"), in_dir(rig, "t/sub/link")), 0);
    assert_int_equal(symlink(in_dir(rig, "outside"), in_dir(rig, "top")), 0);
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "top"), &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "symbolic link"));
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "t"), &err), SILT_OK);
    store_expect(rig->store, in_dir(rig, "outside/file"), "kept");
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "outside/file"), &err), SILT_EINVALID);
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, "file:///", &err), SILT_EINVALID);
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "t/sub"), &err), SILT_OK);
}

/* Whoever looks sees all of it or nothing, also when the removal stops in its midst. */
static void a_tree_is_gone_at_once(void **state)
{
    const struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    make_deep(rig, SL_LOCAL_MAX_DEPTH + 2);
    store_put(rig->store, in_dir(rig, "d/file"), "x");
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "d"), &err), SILT_ELIMIT);
    assert_int_not_equal(access(in_dir(rig, "d"), F_OK), 0);
}

/* A call that is cancelled by the second look at it. */
static volatile int cancelled;

static bool cancel_on_entry(void *ctx, const silt_file_entry *entry)
{
    unsigned *shown = ctx;
    (void)entry;
    (*shown)++;
    cancelled = 1;
    return true;
}

static void a_listing_can_be_cancelled_in_its_midst(void **state)
{
    const struct rig *rig = *state;
    const silt_call call = {.size = sizeof(call), .cancel = &cancelled};
    unsigned shown = 0;
    cancelled = 0;
    store_put(rig->store, in_dir(rig, "a"), "x");
    store_put(rig->store, in_dir(rig, "b"), "x");
    assert_int_equal(silt_storage_list(rig->store, &call, rig->dir, NULL, cancel_on_entry, &shown, NULL),
                     SILT_ECANCELLED);
    assert_int_equal(shown, 1);
}

static void cancel_on_done(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
    cancelled = 1;
}

static void a_batch_of_reads_can_be_cancelled_in_its_midst(void **state)
{
    const struct rig *rig = *state;
    const silt_call call = {.size = sizeof(call), .cancel = &cancelled};
    cancelled = 0;
    store_put(rig->store, in_dir(rig, "a"), "x");
    silt_read_request requests[2] = {{.path = in_dir(rig, "a"), .length = -1},
                                     {.path = in_dir(rig, "a"), .length = -1}};
    assert_int_equal(silt_storage_read_many(rig->store, &call, requests, 2, cancel_on_done, NULL, NULL),
                     SILT_ECANCELLED);
    assert_int_equal(requests[0].status, SILT_OK);
    assert_int_equal(requests[1].status, SILT_ECANCELLED);
    silt_read_request_release(rig->store, &requests[0]);
}

static int other_device(const char *from, const char *to)
{
    if (strstr(from, "scratch") != NULL) {
        errno = EXDEV;
        return -1;
    }
    return link(from, to);
}

static void make_scratch(const struct rig *rig, size_t size)
{
    char *block = calloc(1, size);
    assert_non_null(block);
    memset(block, 'b', size);
    FILE *file = fopen(in_dir(rig, "scratch"), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(block, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(block);
}

static void a_file_of_another_device_is_copied(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    int64_t size = 0;
    rig->calls.link = other_device;
    make_scratch(rig, 3000000);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, in_dir(rig, "scratch"), in_dir(rig, "t/x"), &err), SILT_OK);
    assert_int_equal(silt_storage_stat(rig->store, NULL, in_dir(rig, "t/x"), &size, NULL, &err), SILT_OK);
    assert_int_equal(size, 3000000);
    assert_int_not_equal(access(in_dir(rig, "scratch"), F_OK), 0);
    make_scratch(rig, 10);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, in_dir(rig, "scratch"), in_dir(rig, "t/x"), &err),
                     SILT_EEXISTS);
    assert_int_equal(access(in_dir(rig, "scratch"), F_OK), 0);
    assert_int_equal(count_names(in_dir(rig, "t"), NULL, 0), 1);
}

static int rename_errno;

static int refuse_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = rename_errno;
    return -1;
}

/* As on an overlay, and of a mount point. */
static void a_tree_that_cannot_be_renamed_stays_whole(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    store_put(rig->store, in_dir(rig, "t/_delta_log/0.json"), "x");
    store_put(rig->store, in_dir(rig, "t/a"), "x");
    rig->calls.rename_folder = refuse_rename;
    for (int i = 0; i < 2; i++) {
        rename_errno = i == 0 ? EXDEV : EBUSY;
        assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "t"), &err), SILT_EUNSUPPORTED);
        assert_non_null(strstr(err.message, i == 0 ? "cannot rename it" : "mount point"));
        assert_non_null(strstr(err.hint, i == 0 ? "redirect_dir=on" : "while nobody uses it"));
        assert_int_equal(err.sys_code, rename_errno);
        assert_string_equal(store_list(rig->store, in_dir(rig, "t"), NULL, true), "_delta_log/0.json\na\n");
    }
    rename_errno = EACCES;
    assert_int_equal(silt_storage_remove_tree(rig->store, NULL, in_dir(rig, "t"), &err), SILT_EACCESS);
}

static void only_regular_files_are_adopted(void **state)
{
    const struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    store_put(rig->store, in_dir(rig, "file"), "x");
    assert_int_equal(symlink(in_dir(rig, "file"), in_dir(rig, "link")), 0);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, in_dir(rig, "link"), in_dir(rig, "t/x"), &err), SILT_EIO);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, rig->dir, in_dir(rig, "t/x"), &err), SILT_EINVALID);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, "relative", in_dir(rig, "t/x"), &err), SILT_EINVALID);
}

static void a_file_moved_onto_itself_is_kept(void **state)
{
    const struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    char twice[4100];
    store_put(rig->store, in_dir(rig, "file"), "kept");
    (void)snprintf(twice, sizeof(twice), "/%s", in_dir(rig, "file"));
    assert_int_equal(silt_storage_adopt(rig->store, NULL, in_dir(rig, "file"), in_dir(rig, "file"), &err),
                     SILT_EEXISTS);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, twice, in_dir(rig, "file"), &err), SILT_EEXISTS);
    store_expect(rig->store, in_dir(rig, "file"), "kept");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(links_to_files_are_shown_and_links_to_folders_not),
        TEST(a_fifo_is_no_file),
        TEST(temp_files_of_a_crash_are_not_shown),
        TEST(folders_nested_too_deep_are_refused),
        TEST(removing_a_tree_stops_at_links),
        TEST(a_tree_is_gone_at_once),
        TEST(a_listing_can_be_cancelled_in_its_midst),
        TEST(a_batch_of_reads_can_be_cancelled_in_its_midst),
        TEST(a_file_of_another_device_is_copied),
        TEST(a_tree_that_cannot_be_renamed_stays_whole),
        TEST(only_regular_files_are_adopted),
        TEST(a_file_moved_onto_itself_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
