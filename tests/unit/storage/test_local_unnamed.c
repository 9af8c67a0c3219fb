/*
 * Files that get a name when they are whole: what is asked of the system, lost answers, lost races, and systems that lack them.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct rig {
    struct test_env test;
    struct sl_local_calls calls;
    silt_storage *store;
    char *dir;
    char path[4096];
};

/* What was called, one letter each: w, s (of a file), d (of a folder), n (naming without a name before), l (link). */
static char called[64];

static void note(char call)
{
    const size_t len = strlen(called);
    assert_true(len + 1 < sizeof(called));
    called[len] = call;
    called[len + 1] = '\0';
}

static ssize_t noted_write(int fd, const void *data, size_t size)
{
    note('w');
    return write(fd, data, size);
}

static int noted_sync(int fd)
{
    struct stat info = {0};
    assert_int_equal(fstat(fd, &info), 0);
    note(S_ISDIR(info.st_mode) ? 'd' : 's');
    return fsync(fd);
}

static int noted_link(const char *from, const char *to)
{
    note('l');
    return link(from, to);
}

static int noted_naming(int fd, const char *to)
{
    note('n');
    return sl_local_system_calls()->link_unnamed(fd, to);
}

static int naming_fails(int fd, const char *to)
{
    (void)fd;
    (void)to;
    note('n');
    errno = ENOENT; /* as without /proc */
    return -1;
}

static int naming_is_unclear(int fd, const char *to)
{
    (void)fd;
    (void)to;
    errno = EIO;
    return -1;
}

static int naming_loses_the_answer(int fd, const char *to)
{
    if (sl_local_system_calls()->link_unnamed(fd, to) == 0) {
        errno = ETIMEDOUT;
    }
    return -1;
}

static int naming_answers_exists(int fd, const char *to)
{
    if (sl_local_system_calls()->link_unnamed(fd, to) == 0) {
        errno = EEXIST;
    }
    return -1;
}

static int another_wins(int fd, const char *to)
{
    const int theirs = open(to, O_WRONLY | O_CREAT | O_EXCL, 0666);
    assert_true(theirs >= 0);
    assert_int_equal(write(theirs, "theirs", 6), 6);
    assert_int_equal(close(theirs), 0);
    return noted_naming(fd, to);
}

static int failing_sync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&rig.test);
    rig.dir = make_temp_dir();
    (void)snprintf(rig.path, sizeof(rig.path), "%s/00000000000000000001.json", rig.dir);
    rig.calls = (struct sl_local_calls){.link = noted_link,
                                        .rename_noreplace = sl_local_system_calls()->rename_noreplace,
                                        .write = noted_write,
                                        .sync = noted_sync,
                                        .link_unnamed = noted_naming};
    assert_int_equal(sl_local_new_with(&rig.test.env, NULL, &rig.calls, &rig.store, &err), SILT_OK);
    called[0] = '\0';
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

/* Not every file system has them. */
static void need_unnamed_files(const struct rig *rig)
{
    const int fd = open(rig->dir, O_TMPFILE | O_WRONLY, 0666);
    if (fd < 0) {
        skip();
    }
    assert_int_equal(close(fd), 0);
}

static const char *next_version(struct rig *rig)
{
    (void)snprintf(rig->path, sizeof(rig->path), "%s/00000000000000000002.json", rig->dir);
    return rig->path;
}

static void a_commit_is_durable_before_it_has_its_name(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_DONE);
    assert_string_equal(called, "wsnd");
    store_expect(rig->store, rig->path, "ours");
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    assert_string_equal(called, "wsnd"); /* a name that is taken costs nothing */
}

static void a_lost_race_is_not_written_again(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = another_wins;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    store_expect(rig->store, rig->path, "theirs");
    assert_int_equal(count_names(rig->dir, NULL, 0), 1);
    rig->calls.link_unnamed = noted_naming;
    called[0] = '\0';
    assert_int_equal(store_put_new(rig->store, next_version(rig), "ours"), SILT_PUT_DONE);
    assert_string_equal(called, "nd");
    store_expect(rig->store, rig->path, "ours");
    assert_int_equal(count_names(rig->dir, NULL, 0), 2);
}

/* Times of commits without one of their own are those of their files, and rise. */
static void a_file_that_was_kept_has_the_time_of_its_naming(void **state)
{
    struct rig *rig = *state;
    const struct timespec pause = {.tv_nsec = 20000000};
    int64_t size = 0;
    int64_t theirs_ms = 0;
    int64_t ours_ms = 0;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = another_wins;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    (void)nanosleep(&pause, NULL);
    store_put(rig->store, rig->path, "theirs, later");
    assert_int_equal(silt_storage_stat(rig->store, NULL, rig->path, &size, &theirs_ms, NULL), SILT_OK);
    rig->calls.link_unnamed = noted_naming;
    assert_int_equal(store_put_new(rig->store, next_version(rig), "ours"), SILT_PUT_DONE);
    assert_int_equal(silt_storage_stat(rig->store, NULL, rig->path, &size, &ours_ms, NULL), SILT_OK);
    assert_true(ours_ms >= theirs_ms);
}

static void other_bytes_are_written(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = another_wins;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    rig->calls.link_unnamed = noted_naming;
    called[0] = '\0';
    assert_int_equal(store_put_new(rig->store, next_version(rig), "OURS"), SILT_PUT_DONE);
    assert_string_equal(called, "wsnd");
    store_expect(rig->store, rig->path, "OURS");
}

static void another_folder_is_written(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = another_wins;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    rig->calls.link_unnamed = noted_naming;
    (void)snprintf(rig->path, sizeof(rig->path), "%s/t", rig->dir);
    assert_int_equal(mkdir(rig->path, 0777), 0);
    (void)snprintf(rig->path, sizeof(rig->path), "%s/t/00000000000000000001.json", rig->dir);
    called[0] = '\0';
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_DONE);
    assert_string_equal(called, "wsnd");
}

static void what_lost_a_race_goes_with_the_store(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = another_wins;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_EXISTS);
    const int before = open("/dev/null", O_RDONLY);
    assert_int_equal(close(before), 0);
    silt_storage_unref(rig->store);
    rig->store = NULL;
    const int after = open("/dev/null", O_RDONLY);
    assert_int_equal(close(after), 0);
    assert_true(after < before); /* its descriptor is free again */
}

static void a_lost_answer_is_found_by_the_links(void **state)
{
    struct rig *rig = *state;
    int (*const ways[])(int, const char *) = {naming_loses_the_answer, naming_answers_exists};
    need_unnamed_files(rig);
    for (size_t i = 0; i < 2; i++) {
        silt_error err = SILT_ERROR_INIT;
        rig->calls.link_unnamed = ways[i];
        assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_DONE);
        store_expect(rig->store, rig->path, "ours");
        assert_int_equal(silt_storage_remove(rig->store, NULL, rig->path, &err), SILT_OK);
    }
}

static void an_unclear_failure_is_ambiguous(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = naming_is_unclear;
    assert_int_equal(silt_storage_put_if_absent(rig->store, NULL, rig->path, "ours", 4, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(err.status, SILT_EIO);
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

static void where_they_cannot_be_named_a_temp_file_is_written(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    rig->calls.link_unnamed = naming_fails;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_DONE);
    assert_string_equal(called, "wsnwsld");
    store_expect(rig->store, rig->path, "ours");
    assert_int_equal(count_names(rig->dir, NULL, 0), 1);
}

static void where_there_are_none_a_temp_file_is_written(void **state)
{
    struct rig *rig = *state;
    rig->calls.link_unnamed = NULL;
    assert_int_equal(store_put_new(rig->store, rig->path, "ours"), SILT_PUT_DONE);
    assert_string_equal(called, "wsld");
    assert_int_equal(silt_storage_put_fresh(rig->store, NULL, next_version(rig), "data", 4, NULL), SILT_OK);
    store_expect(rig->store, rig->path, "data");
}

static void a_fresh_file_is_named_and_durable_when_it_is_answered(void **state)
{
    struct rig *rig = *state;
    need_unnamed_files(rig);
    assert_int_equal(silt_storage_put_fresh(rig->store, NULL, rig->path, "data", 4, NULL), SILT_OK);
    assert_string_equal(called, "wnsd");
    store_expect(rig->store, rig->path, "data");
    /* One that is there after all is replaced, as by put. */
    assert_int_equal(silt_storage_put_fresh(rig->store, NULL, rig->path, "more", 4, NULL), SILT_OK);
    store_expect(rig->store, rig->path, "more");
    assert_int_equal(count_names(rig->dir, NULL, 0), 1);
}

static void a_fresh_file_that_is_not_durable_is_taken_back(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    need_unnamed_files(rig);
    rig->calls.sync = failing_sync;
    assert_int_equal(silt_storage_put_fresh(rig->store, NULL, rig->path, "data", 4, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "durable"));
    assert_int_equal(count_names(rig->dir, NULL, 0), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_commit_is_durable_before_it_has_its_name),
        TEST(a_lost_race_is_not_written_again),
        TEST(a_file_that_was_kept_has_the_time_of_its_naming),
        TEST(other_bytes_are_written),
        TEST(another_folder_is_written),
        TEST(what_lost_a_race_goes_with_the_store),
        TEST(a_lost_answer_is_found_by_the_links),
        TEST(an_unclear_failure_is_ambiguous),
        TEST(where_they_cannot_be_named_a_temp_file_is_written),
        TEST(where_there_are_none_a_temp_file_is_written),
        TEST(a_fresh_file_is_named_and_durable_when_it_is_answered),
        TEST(a_fresh_file_that_is_not_durable_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
