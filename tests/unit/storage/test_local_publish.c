/*
 * Who owns a name on a local file system: with calls that are missing, lose answers or fail. System calls are played by
 * functions that note nothing but what the test at hand needs, in static variables.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char LOG[] = "_delta_log";

struct rig {
    struct test_env test;
    struct sl_local_calls calls;
    silt_local_options options;
    silt_storage *store;
    char *dir;
    char path[4096]; /* of the file that tests write */
};

static void open_rig(struct rig *rig)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_local_new_with(&rig->test.env, &rig->options, &rig->calls, &rig->store, &err), SILT_OK);
}

static int set_up(void **state)
{
    static struct rig rig;
    test_env_init(&rig.test);
    rig.calls = *sl_local_system_calls();
    rig.calls.link_unnamed = NULL; /* files with a temp name, unless a test says otherwise */
    rig.options = (silt_local_options){.size = sizeof(rig.options)};
    rig.store = NULL;
    rig.dir = make_temp_dir();
    (void)snprintf(rig.path, sizeof(rig.path), "%s/%s/00000000000000000000.json", rig.dir, LOG);
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

/* Only the wanted file, if any, is in the log folder: no temp file was left. */
static void expect_names(const struct rig *rig, size_t n)
{
    char folder[4096];
    char name[256] = "";
    (void)snprintf(folder, sizeof(folder), "%s/%s", rig->dir, LOG);
    assert_int_equal(count_names(folder, name, sizeof(name)), n);
    if (n == 1) {
        assert_string_equal(name, strrchr(rig->path, '/') + 1);
    }
}

static silt_status try_put(struct rig *rig, silt_put_outcome *outcome, silt_error *err)
{
    silt_error_reset(err);
    return silt_storage_put_if_absent(rig->store, NULL, rig->path, "ours", 4, outcome, err);
}

/* ---- played system calls ---- */

static int fail_link_eio(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EIO;
    return -1;
}

static int fail_link_nospace(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = ENOSPC;
    return -1;
}

/* NFS: the first answer was lost, the repeated request finds the name taken, by itself. */
static int link_answers_exists(const char *from, const char *to)
{
    if (link(from, to) == 0) {
        errno = EEXIST;
    }
    return -1;
}

static int link_answers_timeout(const char *from, const char *to)
{
    if (link(from, to) == 0) {
        errno = ETIMEDOUT;
    }
    return -1;
}

/* The link is there, under a name that the client does not see yet. */
static int link_elsewhere(const char *from, const char *to)
{
    char other[4096];
    (void)snprintf(other, sizeof(other), "%s.unseen", to);
    if (link(from, other) == 0) {
        errno = EIO;
    }
    return -1;
}

static int rename_answers_eio(const char *from, const char *to)
{
    if (rename(from, to) == 0) {
        errno = EIO;
    }
    return -1;
}

static int another_wins(const char *from, const char *to)
{
    (void)from;
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "theirs", 6), 6);
    assert_int_equal(close(fd), 0);
    errno = EEXIST;
    return -1;
}

static int refuse_rename(const char *from, const char *to)
{
    (void)from;
    (void)to;
    errno = EACCES;
    return -1;
}

static unsigned syncs_until_failure;

static int fail_sync(int fd)
{
    (void)fd;
    if (syncs_until_failure > 0) {
        syncs_until_failure--;
        return 0;
    }
    errno = EIO;
    return -1;
}

static unsigned interrupts_left;

static int interrupted_sync(int fd)
{
    if (interrupts_left > 0) {
        interrupts_left--;
        errno = EINTR;
        return -1;
    }
    return fsync(fd);
}

static int folders_cannot_sync(int fd)
{
    (void)fd;
    errno = EINVAL;
    return -1;
}

static int sync_ok_for_files(int fd)
{
    struct stat info = {0};
    assert_int_equal(fstat(fd, &info), 0);
    return S_ISDIR(info.st_mode) ? folders_cannot_sync(fd) : 0;
}

/* ---- tests ---- */

static void without_link_the_name_is_given_by_rename(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    expect_names(rig, 1);
}

static void without_link_and_rename_a_commit_is_refused(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    rig->calls.rename_noreplace = no_rename;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "neither link(2) nor renameat2"));
    assert_non_null(strstr(err.hint, "lock file"));
    expect_names(rig, 0);
    store_put(rig->store, rig->path, "unconditional"); /* needs no exclusion */
    store_expect(rig->store, rig->path, "unconditional");
}

static void the_lock_file_is_honoured_and_hidden(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    rig->calls.rename_noreplace = no_rename;
    rig->options.allow_lock_file = true;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    store_expect(rig->store, rig->path, "ours");
    char folder[4096];
    (void)snprintf(folder, sizeof(folder), "%s/%s", rig->dir, LOG);
    assert_string_equal(store_list(rig->store, folder, NULL, false), "00000000000000000000.json\n");
    expect_names(rig, 2); /* the file, and the lock file, which stays */
}

static void waiting_for_the_lock_ends_at_the_deadline(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    rig->calls.rename_noreplace = no_rename;
    rig->options.allow_lock_file = true;
    open_rig(rig);
    char lock[4096];
    char folder[4096];
    (void)snprintf(folder, sizeof(folder), "%s/%s/x", rig->dir, LOG);
    store_put(rig->store, folder, "x"); /* makes the folder */
    assert_int_equal(sl_local_lock_path(rig->path, lock, &err), SILT_OK);
    int fd = open(lock, O_RDWR | O_CREAT, 0666);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    const silt_call call = {.size = sizeof(call), .deadline_us = rig->test.monotonic_us + 2000000};
    assert_int_equal(silt_storage_put_if_absent(rig->store, &call, rig->path, "ours", 4, &outcome, &err),
                     SILT_EDEADLINE);
    assert_true(rig->test.slept_us >= 1900000);
    store_expect_missing(rig->store, rig->path);
    expect_names(rig, 2); /* x and the lock file */
    assert_int_equal(close(fd), 0);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
}

static void a_lost_answer_is_found_by_the_inode(void **state)
{
    struct rig *rig = *state;
    int (*const ways[])(const char *, const char *) = {link_answers_exists, link_answers_timeout};
    for (size_t i = 0; i < 2; i++) {
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        silt_error err = SILT_ERROR_INIT;
        rig->calls.link = ways[i];
        open_rig(rig);
        assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE);
        expect_names(rig, 1);
        assert_int_equal(silt_storage_remove(rig->store, NULL, rig->path, &err), SILT_OK);
        silt_storage_unref(rig->store);
        rig->store = NULL;
    }
}

static void a_lost_answer_is_found_by_the_link_count(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = link_elsewhere;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
}

static void a_lost_answer_of_rename_is_found_too(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    rig->calls.rename_noreplace = rename_answers_eio;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    expect_names(rig, 1);
}

static void an_unclear_failure_is_ambiguous(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = fail_link_eio;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(err.status, SILT_EIO); /* tells why */
    expect_names(rig, 0);
}

static void a_definite_failure_leaves_nothing(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = fail_link_nospace;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_ENOSPACE);
    assert_int_equal(err.sys_code, ENOSPC);
    expect_names(rig, 0);
}

static void a_denied_rename_is_not_taken_for_a_missing_one(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = no_link;
    rig->calls.rename_noreplace = refuse_rename;
    rig->options.allow_lock_file = true;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_EACCESS);
    expect_names(rig, 0);
}

static void a_race_lost_at_the_last_moment_is_told(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.link = another_wins;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    store_expect(rig->store, rig->path, "theirs");
    expect_names(rig, 1);
}

static void bytes_that_are_not_durable_are_not_named(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = fail_sync;
    syncs_until_failure = 1; /* the new folder's */
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_EIO);
    expect_names(rig, 0);
}

static void a_name_that_is_not_durable_is_ambiguous(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = fail_sync;
    syncs_until_failure = 2; /* the new folder's and the file's */
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_non_null(strstr(err.message, "durable"));
    expect_names(rig, 1);
    syncs_until_failure = 1;
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "x", 1, &err), SILT_EIO);
}

static void an_interrupted_fsync_is_repeated(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = interrupted_sync;
    interrupts_left = 3;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(interrupts_left, 0);
}

static void a_file_system_without_fsync_of_folders_will_do(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig->calls.sync = sync_ok_for_files;
    open_rig(rig);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
}

/* What is no file and leads to none is refused: there will never be bytes to compare with. */
static void a_name_that_no_file_has_is_refused(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    char other[4096];
    open_rig(rig);
    store_put(rig->store, rig->path, "theirs"); /* makes the folder */
    assert_int_equal(unlink(rig->path), 0);
    assert_int_equal(mkdir(rig->path, 0777), 0);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_ECORRUPT);
    assert_string_equal(err.code_name, "SILT_NAME_TAKEN");
    assert_non_null(strstr(err.message, "taken by a folder"));
    silt_error_reset(&err);
    assert_int_equal(silt_storage_put(rig->store, NULL, rig->path, "x", 1, &err), SILT_ECORRUPT);
    assert_string_equal(err.code_name, "SILT_NAME_TAKEN");
    (void)snprintf(other, sizeof(other), "%s/local", rig->dir);
    store_put(rig->store, other, "moved");
    silt_error_reset(&err);
    assert_int_equal(silt_storage_adopt(rig->store, NULL, other, rig->path, &err), SILT_ECORRUPT);
    store_expect(rig->store, other, "moved");
    assert_int_equal(rmdir(rig->path), 0);
    assert_int_equal(symlink("/nowhere/at/all", rig->path), 0);
    assert_int_equal(try_put(rig, &outcome, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "symbolic link that leads to no file"));
    assert_int_equal(unlink(rig->path), 0);
    assert_int_equal(symlink(other, rig->path), 0); /* as readers take it: a file */
    assert_int_equal(try_put(rig, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    store_expect(rig->store, rig->path, "moved");
    expect_names(rig, 1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(without_link_the_name_is_given_by_rename),
        TEST(without_link_and_rename_a_commit_is_refused),
        TEST(the_lock_file_is_honoured_and_hidden),
        TEST(waiting_for_the_lock_ends_at_the_deadline),
        TEST(a_lost_answer_is_found_by_the_inode),
        TEST(a_lost_answer_is_found_by_the_link_count),
        TEST(a_lost_answer_of_rename_is_found_too),
        TEST(an_unclear_failure_is_ambiguous),
        TEST(a_definite_failure_leaves_nothing),
        TEST(a_denied_rename_is_not_taken_for_a_missing_one),
        TEST(a_race_lost_at_the_last_moment_is_told),
        TEST(bytes_that_are_not_durable_are_not_named),
        TEST(a_name_that_is_not_durable_is_ambiguous),
        TEST(an_interrupted_fsync_is_repeated),
        TEST(a_file_system_without_fsync_of_folders_will_do),
        TEST(a_name_that_no_file_has_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
