/* Folders that the local store made go with their last file, and whoever is about to put one there makes them anew. */
#include "storage_fixture.h"
#include "test_env.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROUNDS 300

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

static const char *in_dir(struct rig *rig, const char *name)
{
    (void)snprintf(rig->path, sizeof(rig->path), "%s/%s", rig->dir, name);
    return rig->path;
}

static bool is_there(struct rig *rig, const char *name)
{
    struct stat found;
    return lstat(in_dir(rig, name), &found) == 0;
}

static void put(struct rig *rig, const char *name)
{
    assert_int_equal(silt_storage_put(rig->store, NULL, in_dir(rig, name), "x", 1, NULL), SILT_OK);
}

static void take(struct rig *rig, const char *name)
{
    assert_int_equal(silt_storage_remove(rig->store, NULL, in_dir(rig, name), NULL), SILT_OK);
}

static void folders_go_with_their_last_file(void **state)
{
    struct rig *rig = *state;
    put(rig, "t/p=1/q=1/a");
    put(rig, "t/p=1/q=2/b");
    take(rig, "t/p=1/q=1/a");
    assert_false(is_there(rig, "t/p=1/q=1"));
    assert_true(is_there(rig, "t/p=1/q=2/b"));
    put(rig, "t/p=1/q=1/a");
    take(rig, "t/p=1/q=1/a");
    take(rig, "t/p=1/q=2/b");
    assert_false(is_there(rig, "t"));
    assert_true(is_there(rig, "."));
    take(rig, "t/p=1/q=2/b"); /* what is not there is no error */
}

static void folders_that_were_there_stay(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(mkdir(in_dir(rig, "t"), 0777), 0);
    assert_int_equal(mkdir(in_dir(rig, "t/p=1"), 0777), 0);
    put(rig, "t/p=1/q=1/a");
    take(rig, "t/p=1/q=1/a");
    assert_false(is_there(rig, "t/p=1/q=1"));
    assert_true(is_there(rig, "t/p=1"));
}

static void a_folder_with_something_of_others_stays(void **state)
{
    struct rig *rig = *state;
    put(rig, "t/a");
    FILE *file = fopen(in_dir(rig, "t/theirs"), "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    take(rig, "t/a");
    assert_true(is_there(rig, "t/theirs"));
    assert_int_equal(unlink(in_dir(rig, "t/theirs")), 0);
    put(rig, "t/a");
    take(rig, "t/a"); /* still one of ours */
    assert_false(is_there(rig, "t"));
}

static int n_links;

/* The folder goes just before the name is given. */
static int link_into_nothing(const char *from, const char *to)
{
    char dir[4096];
    if (n_links++ == 0) {
        (void)snprintf(dir, sizeof(dir), "%.*s", (int)(strrchr(to, '/') - to), to);
        assert_int_equal(rmdir(dir), 0);
    }
    return link(from, to);
}

static void a_folder_that_goes_meanwhile_is_made_anew(void **state)
{
    struct rig *rig = *state;
    char from[4096];
    put(rig, "source");
    (void)snprintf(from, sizeof(from), "%s/source", rig->dir);
    rig->calls.link = link_into_nothing;
    n_links = 0;
    assert_int_equal(silt_storage_adopt(rig->store, NULL, from, in_dir(rig, "t/p=1/a"), NULL), SILT_OK);
    assert_int_equal(n_links, 2);
    assert_true(is_there(rig, "t/p=1/a"));
    /* The file itself is missed only once. */
    assert_int_equal(silt_storage_adopt(rig->store, NULL, from, in_dir(rig, "t/p=1/b"), NULL), SILT_ENOTFOUND);
}

static void *write_and_take_back(void *arg)
{
    struct rig *rig = arg;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/t/p=1/q=1/%p", rig->dir, (void *)&store);
    if (silt_storage_local_new(silt_env_default(), NULL, &store, &err) != SILT_OK) {
        return "no store";
    }
    const char *fault = NULL;
    for (int i = 0; i < ROUNDS && fault == NULL; i++) {
        if (silt_storage_put(store, NULL, path, "x", 1, &err) != SILT_OK) {
            print_error("%s\n", err.message);
            fault = "not written";
        } else if (silt_storage_remove(store, NULL, path, &err) != SILT_OK) {
            fault = "not removed";
        }
    }
    silt_storage_unref(store);
    return (void *)fault;
}

static void writers_do_not_miss_folders_that_others_remove(void **state)
{
    struct rig *rig = *state;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_take_back, rig), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *fault = NULL;
        assert_int_equal(pthread_join(threads[i], &fault), 0);
        assert_null(fault);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folders_go_with_their_last_file),
        TEST(folders_that_were_there_stay),
        TEST(a_folder_with_something_of_others_stays),
        TEST(a_folder_that_goes_meanwhile_is_made_anew),
        TEST(writers_do_not_miss_folders_that_others_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
