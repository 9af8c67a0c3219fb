/*
 * Entries of the range cache: what is kept, what is believed, what goes. Files are damaged, changed and removed in between.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/cache/cache.h"

#define URI "s3://bucket/t/part 0.parquet"

struct rig {
    struct test_env test;
    struct sl_cache *cache;
    char *dir;
};

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&rig.test);
    rig.dir = make_temp_dir();
    assert_int_equal(sl_cache_open(&rig.test.env, rig.dir, 1 << 20, &rig.cache, &err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    sl_cache_close(rig->cache);
    remove_temp_dir(rig->dir);
    test_env_check(&rig->test);
    return 0;
}

static struct sl_cache_entry *enter(struct rig *rig, const char *uri, const char *tag, int64_t size)
{
    struct sl_cache_entry *entry = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_cache_entry_open(rig->cache, uri, false, &entry, &err), SILT_OK);
    assert_int_equal(sl_cache_entry_confirm(entry, tag, size, &err), SILT_OK);
    return entry;
}

static void put(struct sl_cache_entry *entry, int64_t at, const char *text)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_cache_entry_put(entry, at, text, strlen(text), &err), SILT_OK);
}

/* What is missing of a range, as "begin-end begin-end". */
static const char *missing(struct rig *rig, struct sl_cache_entry *entry, int64_t begin, int64_t end)
{
    static char text[256];
    struct sl_vec set;
    silt_error err = SILT_ERROR_INIT;
    sl_vec_init(&set, &rig->test.env, sizeof(struct sl_range));
    assert_int_equal(sl_cache_entry_missing(entry, (struct sl_range){begin, end}, &set, &err), SILT_OK);
    text[0] = '\0';
    for (size_t i = 0; i < set.len; i++) {
        const struct sl_range range = *(struct sl_range *)sl_vec_at(&set, i);
        const size_t n = strlen(text);
        (void)snprintf(text + n, sizeof(text) - n, "%s%lld-%lld", i > 0 ? " " : "", (long long)range.begin,
                       (long long)range.end);
    }
    sl_vec_release(&set);
    return text;
}

static char read_byte(const char *path, off_t at)
{
    char byte = '?';
    const int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    close(fd);
    return byte;
}

static void damage(const char *path, off_t at)
{
    const int fd = open(path, O_RDWR);
    char byte = 0;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 0x20);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void put_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static char *map_of(const struct sl_cache_entry *entry)
{
    char *path = strdup(sl_cache_entry_path(entry));
    assert_non_null(path);
    memcpy(strrchr(path, '.'), ".map", 5);
    return path;
}

static void parts_are_kept_for_whoever_comes_next(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
    assert_int_equal(sl_cache_entry_size(entry), 100);
    assert_string_equal(missing(rig, entry, 0, 100), "0-100");
    put(entry, 10, "hello");
    put(entry, 90, "0123456789");
    assert_string_equal(missing(rig, entry, 0, 1000), "0-10 15-90");
    sl_cache_entry_close(entry);

    entry = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, entry, 0, 100), "0-10 15-90");
    assert_string_equal(missing(rig, entry, 11, 14), "");
    assert_int_equal(read_byte(sl_cache_entry_path(entry), 11), 'e');
    struct stat info;
    assert_int_equal(stat(sl_cache_entry_path(entry), &info), 0);
    assert_int_equal(info.st_size, 100);
    assert_int_equal(info.st_mode & 077, 0);
    sl_cache_entry_close(entry);
}

static void another_version_starts_anew(void **state)
{
    struct rig *rig = *state;
    static const struct {
        const char *tag;
        int64_t size;
    } others[] = {{"v2", 100}, {"v1", 101}, {"", 100}};
    for (size_t i = 0; i < 3; i++) {
        struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
        put(entry, 10, "hello");
        sl_cache_entry_close(entry);
        entry = enter(rig, URI, others[i].tag, others[i].size);
        assert_string_equal(missing(rig, entry, 10, 15), "10-15");
        assert_int_equal(sl_cache_entry_size(entry), others[i].size);
        sl_cache_entry_close(entry);
    }
}

static void a_version_in_use_stays_as_it_is(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *old = enter(rig, URI, "v1", 100);
    put(old, 10, "hello");
    struct sl_cache_entry *new = enter(rig, URI, "v2", 100);
    put(new, 10, "HELLO");
    assert_string_not_equal(sl_cache_entry_path(old), sl_cache_entry_path(new));
    assert_int_equal(read_byte(sl_cache_entry_path(old), 10), 'h');
    assert_int_equal(read_byte(sl_cache_entry_path(new), 10), 'H');
    char *path = strdup(sl_cache_entry_path(new));
    sl_cache_entry_close(new);
    assert_int_not_equal(access(path, F_OK), 0); /* temporary */
    free(path);
    sl_cache_entry_close(old);
}

static void bytes_that_changed_are_fetched_again(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
    put(entry, 10, "hello");
    put(entry, 50, "world");
    damage(sl_cache_entry_path(entry), 12);
    sl_cache_entry_close(entry);
    entry = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, entry, 10, 15), "10-15");
    assert_string_equal(missing(rig, entry, 50, 55), "");
    put(entry, 10, "hello");
    sl_cache_entry_close(entry);
    entry = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, entry, 10, 15), "");
    sl_cache_entry_close(entry);
}

/* Each byte of the map in turn: never more is believed than is true. */
/* The entries are those of two processes: each has files and locks of its own. */
static void what_was_withdrawn_is_fetched_again(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *ours = enter(rig, URI, "v1", 100);
    put(ours, 10, "wrong");
    put(ours, 50, "right");
    struct sl_cache_entry *theirs = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, theirs, 10, 15), "");
    sl_cache_entry_withdraw(ours);
    assert_string_equal(missing(rig, ours, 0, 100), "0-100");
    assert_string_equal(missing(rig, theirs, 10, 15), ""); /* who reads is not disturbed */
    assert_int_equal(read_byte(sl_cache_entry_path(theirs), 11), 'r');
    struct sl_cache_entry *late = enter(rig, URI, "v1", 100);
    assert_false(sl_cache_entry_is_temporary(late));
    assert_string_equal(missing(rig, late, 0, 100), "0-100");
    put(late, 10, "hello");
    put(theirs, 20, "world"); /* came after it */
    sl_cache_entry_close(late);
    sl_cache_entry_close(theirs);
    sl_cache_entry_close(ours);

    ours = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, ours, 0, 100), "0-10 15-20 25-100");
    assert_int_equal(read_byte(sl_cache_entry_path(ours), 11), 'e');
    sl_cache_entry_close(ours);
}

static void a_map_is_believed_where_it_is_sound(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
    put(entry, 10, "hello");
    put(entry, 50, "world");
    char *map = map_of(entry);
    struct stat info;
    assert_int_equal(stat(map, &info), 0);
    sl_cache_entry_close(entry);
    for (off_t at = 0; at < info.st_size; at++) {
        damage(map, at);
        entry = enter(rig, URI, "v1", 100);
        const char *gaps = missing(rig, entry, 0, 100);
        assert_true(strcmp(gaps, "0-100") == 0 || strcmp(gaps, "0-10 15-100") == 0 || strcmp(gaps, "0-50 55-100") == 0);
        sl_cache_entry_close(entry);
        struct stat now;
        assert_int_equal(stat(map, &now), 0);
        if (now.st_size == info.st_size) {
            damage(map, at); /* back */
        } else {             /* it was begun anew */
            entry = enter(rig, URI, "v1", 100);
            put(entry, 10, "hello");
            put(entry, 50, "world");
            sl_cache_entry_close(entry);
        }
    }
    free(map);
}

static void a_record_that_was_cut_does_not_spoil_those_behind_it(void **state)
{
    struct rig *rig = *state;
    struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
    char map[512];
    (void)snprintf(map, sizeof(map), "%s", sl_cache_entry_path(entry));
    memcpy(strrchr(map, '.'), ".map", 5);
    put(entry, 0, "aaaaaaaaaa");
    struct stat before;
    assert_int_equal(stat(map, &before), 0);
    put(entry, 20, "bbbbbbbbbb");
    assert_int_equal(truncate(map, before.st_size + 7), 0); /* as when the disk was full */
    put(entry, 40, "cccccccccc");
    sl_cache_entry_close(entry);
    entry = enter(rig, URI, "v1", 100);
    assert_string_equal(missing(rig, entry, 0, 50), "10-40");
    sl_cache_entry_close(entry);
}

static void a_cut_map_or_data_file_is_begun_anew(void **state)
{
    struct rig *rig = *state;
    for (int round = 0; round < 2; round++) {
        struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
        put(entry, 10, "hello");
        char *map = map_of(entry);
        assert_int_equal(truncate(round == 0 ? map : sl_cache_entry_path(entry), 20), 0);
        free(map);
        sl_cache_entry_close(entry);
        entry = enter(rig, URI, "v1", 100);
        assert_string_equal(missing(rig, entry, 0, 100), "0-100");
        sl_cache_entry_close(entry);
    }
}

static bool count_item(void *ctx, const struct sl_cache_item *item)
{
    int *n = ctx;
    assert_true(strncmp(item->uri, "s3://b/", 7) == 0);
    assert_int_equal(item->size_bytes, 500000);
    assert_true(item->cached_bytes >= 400000 && item->cached_bytes < 600000);
    ++*n;
    return true;
}

static void the_longest_unused_go_when_it_is_full(void **state)
{
    struct rig *rig = *state; /* of 1 MiB */
    silt_error err = SILT_ERROR_INIT;
    char *bytes = calloc(1, 450000);
    memset(bytes, 'x', 450000);
    char uri[32];
    for (int i = 0; i < 4; i++) {
        (void)snprintf(uri, sizeof(uri), "s3://b/%d", i);
        struct sl_cache_entry *entry = enter(rig, uri, "v1", 500000);
        assert_int_equal(sl_cache_entry_put(entry, 0, bytes, 450000, &err), SILT_OK);
        char *map = map_of(entry);
        sl_cache_entry_close(entry);
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        assert_int_equal(utimensat(AT_FDCWD, map, times, 0), 0);
        free(map);
    }
    struct sl_cache_entry *held = enter(rig, "s3://b/0", "v1", 500000); /* the oldest, in use */
    sl_cache_shrink(rig->cache);
    assert_string_equal(missing(rig, held, 0, 450000), "");
    int n = 0;
    assert_int_equal(sl_cache_list(rig->cache, count_item, &n, &err), SILT_OK);
    assert_int_equal(n, 2);
    struct sl_cache_entry *newest = enter(rig, "s3://b/3", "v1", 500000);
    assert_string_equal(missing(rig, newest, 0, 450000), "");
    sl_cache_entry_close(newest);

    int64_t removed = 0, busy = 0;
    assert_int_equal(sl_cache_clear(rig->cache, &removed, &busy, &err), SILT_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(busy, 1);
    assert_int_equal(read_byte(sl_cache_entry_path(held), 0), 'x');
    sl_cache_entry_close(held);
    assert_int_equal(sl_cache_clear(rig->cache, &removed, &busy, &err), SILT_OK);
    assert_int_equal(removed, 1);
    assert_int_equal(busy, 0);
    free(bytes);
}

static struct sl_cache_entry *enter_temporary(struct rig *rig)
{
    struct sl_cache_entry *entry = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_cache_entry_open(rig->cache, URI, true, &entry, &err), SILT_OK);
    assert_int_equal(sl_cache_entry_confirm(entry, "", 100, &err), SILT_OK);
    return entry;
}

/* A killed process cannot remove its temporary entry; here the files are put there again. */
static void what_a_killed_process_left_goes(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        struct sl_cache_entry *held = enter_temporary(rig);
        put(held, 10, "hello");
        struct sl_cache_entry *killed = enter_temporary(rig);
        char *data = strdup(sl_cache_entry_path(killed));
        char *map = map_of(killed);
        sl_cache_entry_close(killed);
        put_file(data, "left");
        put_file(map, "left");
        if (by_hand) {
            int64_t removed = 0, busy = 0;
            assert_int_equal(sl_cache_clear(rig->cache, &removed, &busy, &err), SILT_OK);
            assert_int_equal(removed, 1);
            assert_int_equal(busy, 1);
        } else {
            sl_cache_shrink(rig->cache);
        }
        assert_int_not_equal(access(data, F_OK), 0);
        assert_int_not_equal(access(map, F_OK), 0);
        assert_int_equal(read_byte(sl_cache_entry_path(held), 10), 'h');
        sl_cache_entry_close(held);
        free(data);
        free(map);
    }
}

static void strange_files_are_left_alone(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    char path[4200];
    char outside[4200];
    (void)snprintf(outside, sizeof(outside), "%s/mine", rig->dir);
    put_file(outside, "precious");
    (void)snprintf(path, sizeof(path), "%s/00000000000000000000000000000000.map", rig->dir);
    assert_int_equal(symlink(outside, path), 0);
    int64_t removed = 0, busy = 0;
    assert_int_equal(sl_cache_clear(rig->cache, &removed, &busy, &err), SILT_OK);
    assert_int_equal(access(outside, F_OK), 0);
    assert_int_equal(read_byte(outside, 0), 'p');
}

static void parts_outside_of_the_file_are_refused(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_cache_entry *entry = enter(rig, URI, "v1", 100);
    assert_int_equal(sl_cache_entry_put(entry, 98, "abc", 3, &err), SILT_EINVALID);
    assert_int_equal(sl_cache_entry_put(entry, -1, "abc", 3, &err), SILT_EINVALID);
    assert_int_equal(sl_cache_entry_put(entry, 0, "abc", 0, &err), SILT_EINVALID);
    assert_string_equal(missing(rig, entry, -5, 200), "0-100");
    sl_cache_entry_close(entry);
}

static void a_folder_of_others_or_without_a_path_is_refused(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_cache *cache = NULL;
    char path[4200];
    assert_int_equal(sl_cache_open(&rig->test.env, "relative", 0, &cache, &err), SILT_EINVALID);
    (void)snprintf(path, sizeof(path), "%s/file", rig->dir);
    put_file(path, "x");
    assert_int_equal(sl_cache_open(&rig->test.env, path, 0, &cache, &err), SILT_EACCESS);
    (void)snprintf(path, sizeof(path), "%s/a/b/c", rig->dir);
    assert_int_equal(sl_cache_open(&rig->test.env, path, 0, &cache, &err), SILT_OK);
    sl_cache_close(cache);
    setenv("SILT_CACHE_SIZE", "12Q", 1);
    assert_int_equal(sl_cache_open(&rig->test.env, path, 0, &cache, &err), SILT_EINVALID);
    unsetenv("SILT_CACHE_SIZE");
}

/* Every allocation fails once; what is left behind is sound. */
static void running_out_of_memory_is_an_answer(void **state)
{
    struct rig *rig = *state;
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status == SILT_ENOMEM && n < 200; n++) {
        struct sl_cache_entry *entry = NULL;
        struct sl_vec set;
        silt_error err = SILT_ERROR_INIT;
        char uri[32];
        (void)snprintf(uri, sizeof(uri), "s3://bucket/%zu", n);
        sl_vec_init(&set, &rig->test.env, sizeof(struct sl_range));
        test_env_fail_at(&rig->test, n);
        status = sl_cache_entry_open(rig->cache, uri, false, &entry, &err);
        if (status == SILT_OK) {
            status = sl_cache_entry_confirm(entry, "v1", 100, &err);
        }
        if (status == SILT_OK) {
            status = sl_cache_entry_put(entry, 10, "hello", 5, &err);
        }
        if (status == SILT_OK) {
            status = sl_cache_entry_missing(entry, (struct sl_range){0, 100}, &set, &err);
        }
        test_env_fail_at(&rig->test, 0);
        sl_vec_release(&set);
        sl_cache_entry_close(entry);
    }
    assert_int_equal(status, SILT_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts_are_kept_for_whoever_comes_next), TEST(another_version_starts_anew),
        TEST(a_version_in_use_stays_as_it_is),       TEST(bytes_that_changed_are_fetched_again),
        TEST(what_was_withdrawn_is_fetched_again),   TEST(a_record_that_was_cut_does_not_spoil_those_behind_it),
        TEST(a_map_is_believed_where_it_is_sound),   TEST(a_record_that_was_cut_does_not_spoil_those_behind_it),
        TEST(a_cut_map_or_data_file_is_begun_anew),  TEST(the_longest_unused_go_when_it_is_full),
        TEST(what_a_killed_process_left_goes),       TEST(strange_files_are_left_alone),
        TEST(parts_outside_of_the_file_are_refused), TEST(a_folder_of_others_or_without_a_path_is_refused),
        TEST(running_out_of_memory_is_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
