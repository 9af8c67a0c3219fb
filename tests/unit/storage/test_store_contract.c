/*
 * The contract of a log store (silt/storage.h), tried on every kind of store. Its races are in test_store_race.c.
 */
#include "storage_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- writing ---- */

static void a_taken_name_keeps_its_bytes(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "one.json");
    assert_int_equal(store_put_new(fixture->store, path, "first"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(fixture->store, path, "second"), SILT_PUT_EXISTS);
    store_expect(fixture->store, path, "first");
    store_put(fixture->store, path, "third");
    store_expect(fixture->store, path, "third");
    assert_int_equal(store_put_new(fixture->store, path, "fourth"), SILT_PUT_EXISTS);
}

static void a_hint_takes_a_free_name_only(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(store_put_new(fixture->store, store_path(fixture, "one.json"), "first"), SILT_PUT_DONE);
    const char *path = store_path(fixture, "hint");
    assert_int_equal(silt_storage_put_hint(fixture->store, NULL, path, "one", 3, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(silt_storage_put_hint(fixture->store, NULL, path, "two", 3, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    store_expect(fixture->store, path, "one");
    assert_int_equal(silt_storage_put_hint(fixture->store, NULL, path, NULL, 3, &outcome, &err), SILT_EINVALID);
}

static void a_file_beside_others_takes_a_free_name_only(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(store_put_new(fixture->store, store_path(fixture, "log/0.json"), "first"), SILT_PUT_DONE);
    const char *path = store_path(fixture, "log/1.json");
    assert_int_equal(silt_storage_put_beside(fixture->store, NULL, path, "one", 3, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(silt_storage_put_beside(fixture->store, NULL, path, "two", 3, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_EXISTS);
    store_expect(fixture->store, path, "one");
    assert_int_equal(silt_storage_put_beside(fixture->store, NULL, path, NULL, 3, &outcome, &err), SILT_EINVALID);
}

/* A store without folders has nothing to miss. */
static void a_file_beside_others_makes_no_folder(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "gone/log/1.json");
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_storage_put_beside(fixture->store, NULL, path, "one", 3, &outcome, &err);
    if (status == SILT_OK) {
        assert_int_equal(outcome, SILT_PUT_DONE);
        store_expect(fixture->store, path, "one");
        return;
    }
    assert_int_equal(status, SILT_ENOTFOUND);
    store_expect_missing(fixture->store, path);
    assert_string_equal(store_list(fixture->store, store_path(fixture, "gone"), NULL, true), "ENOTFOUND");
}

static void a_removed_name_is_free_again(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "one.json");
    assert_int_equal(store_put_new(fixture->store, path, "first"), SILT_PUT_DONE);
    assert_int_equal(silt_storage_remove(fixture->store, NULL, path, NULL), SILT_OK);
    store_expect_missing(fixture->store, path);
    assert_int_equal(silt_storage_remove(fixture->store, NULL, path, NULL), SILT_OK);
    assert_int_equal(store_put_new(fixture->store, path, "second"), SILT_PUT_DONE);
    store_expect(fixture->store, path, "second");
}

/* ---- listing ---- */

static void every_write_is_in_the_next_listing(void **state)
{
    const struct store_fixture *fixture = *state;
    char expected[4096] = "";
    for (unsigned i = 0; i < 30; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%020u.json", i);
        assert_int_equal(store_put_new(fixture->store, store_path(fixture, name), "x"), SILT_PUT_DONE);
        strncat(expected, name, sizeof(expected) - strlen(expected) - 1);
        strncat(expected, "\n", sizeof(expected) - strlen(expected) - 1);
        assert_string_equal(store_list(fixture->store, fixture->root, NULL, false), expected);
    }
}

static void names_come_in_byte_order_from_the_start(void **state)
{
    const struct store_fixture *fixture = *state;
    static const char *const names[] = {"b", "a", "B", "a0", "a-b", "\xc3\xbc", "00", "_x", ".hidden", "~", "sub/x"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        store_put(fixture->store, store_path(fixture, names[i]), names[i]);
    }
    silt_storage *store = fixture->store;
    assert_string_equal(store_list(store, fixture->root, NULL, false),
                        ".hidden\n00\nB\n_x\na\na-b\na0\nb\n~\n\xc3\xbc\n");
}

static void a_listing_starts_at_the_wanted_name(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_storage *store = fixture->store;
    store_put(store, store_path(fixture, "a"), "1");
    store_put(store, store_path(fixture, "b"), "2");
    store_put(store, store_path(fixture, "d"), "3");
    assert_string_equal(store_list(store, fixture->root, "b", false), "b\nd\n");
    assert_string_equal(store_list(store, fixture->root, "c", false), "d\n");
    assert_string_equal(store_list(store, fixture->root, "", false), "a\nb\nd\n");
    assert_string_equal(store_list(store, fixture->root, "e", false), "");
    assert_string_equal(store_list(store, store_path(fixture, ""), "d", false), "d\n"); /* slash at the end */
}

static void a_recursive_listing_is_in_byte_order_too(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_storage *store = fixture->store;
    static const char *const names[] = {"p/z", "p/a/1", "p-q", "p0", "top", "p/a-/1", "p/a0", "k/1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        store_put(store, store_path(fixture, names[i]), "x");
    }
    assert_string_equal(store_list(store, fixture->root, NULL, true), "k/1\np-q\np/a-/1\np/a/1\np/a0\np/z\np0\ntop\n");
    assert_string_equal(store_list(store, fixture->root, "p/a/1", true), "p/a/1\np/a0\np/z\np0\ntop\n");
    assert_string_equal(store_list(store, fixture->root, "p/b", true), "p/z\np0\ntop\n");
    assert_string_equal(store_list(store, fixture->root, "p", true), "p-q\np/a-/1\np/a/1\np/a0\np/z\np0\ntop\n");
    assert_string_equal(store_list(store, fixture->root, NULL, false), "p-q\np0\ntop\n");
}

static void a_missing_folder_is_not_found(void **state)
{
    const struct store_fixture *fixture = *state;
    assert_string_equal(store_list(fixture->store, fixture->root, NULL, false), "ENOTFOUND");
    store_put(fixture->store, store_path(fixture, "file"), "x");
    assert_string_equal(store_list(fixture->store, store_path(fixture, "none"), NULL, true), "ENOTFOUND");
    assert_string_equal(store_list(fixture->store, store_path(fixture, "file"), NULL, false), "ENOTFOUND");
    assert_string_equal(store_list(fixture->store, store_path(fixture, "file/below"), NULL, false), "ENOTFOUND");
}

struct stopping {
    const struct store_fixture *fixture;
    unsigned left;
};

static bool read_and_stop(void *ctx, const silt_file_entry *entry)
{
    struct stopping *stopping = ctx;
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%.*s", stopping->fixture->root, (int)entry->name_len, entry->name);
    store_expect(stopping->fixture->store, path, "x"); /* a callback may use the store */
    assert_int_equal(entry->size_bytes, 1);
    return --stopping->left > 0;
}

static void a_listing_stops_when_told(void **state)
{
    const struct store_fixture *fixture = *state;
    struct stopping stopping = {.fixture = fixture, .left = 2};
    store_put(fixture->store, store_path(fixture, "a"), "x");
    store_put(fixture->store, store_path(fixture, "b"), "x");
    store_put(fixture->store, store_path(fixture, "c"), "not the expected text");
    assert_int_equal(silt_storage_list(fixture->store, NULL, fixture->root, NULL, read_and_stop, &stopping, NULL),
                     SILT_OK);
    assert_int_equal(stopping.left, 0);
}

/* ---- names ---- */

static void any_name_is_taken_as_it_is(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_storage *store = fixture->store;
    char long_name[201];
    char longest_name[256];
    memset(long_name, 'n', 200);
    long_name[200] = '\0';
    memset(longest_name, 'm', 255);
    longest_name[255] = '\0';
    const char *const names[] = {"a b",         "%",        "%25",         "%2F",       "x%20y",
                                 "a+b",         "p=1",      "w?x",         "y#z",       "\xc3\xbc.parquet",
                                 "c:d",         "q\"uo'te", "back\\slash", "new\nline", "tab\there",
                                 "\xff\xfe",    "*",        " lead",       "trail ",    "...",
                                 "a&b;c|d`e$f", long_name,  longest_name};
    const size_t n = sizeof(names) / sizeof(names[0]);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(store_put_new(store, store_path(fixture, names[i]), names[i]), SILT_PUT_DONE);
    }
    for (size_t i = 0; i < n; i++) {
        const char *path = store_path(fixture, names[i]);
        int64_t size = 0;
        store_expect(store, path, names[i]);
        assert_int_equal(silt_storage_stat(store, NULL, path, &size, NULL, NULL), SILT_OK);
        assert_int_equal(size, strlen(names[i]));
        char line[300];
        (void)snprintf(line, sizeof(line), "%s\n", names[i]);
        assert_non_null(strstr(store_list(store, fixture->root, NULL, false), line));
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(silt_storage_remove(store, NULL, store_path(fixture, names[i]), NULL), SILT_OK);
        store_expect_missing(store, store_path(fixture, names[i]));
    }
}

static void a_path_with_a_slash_at_its_end_is_no_file(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    const char *path = store_path(fixture, "folder/");
    assert_int_equal(silt_storage_put(fixture->store, NULL, path, "x", 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put_if_absent(fixture->store, NULL, path, "x", 1, &outcome, &err), SILT_EINVALID);
    assert_string_equal(store_list(fixture->store, fixture->root, NULL, true), "ENOTFOUND");
}

/* ---- reading ---- */

struct range_case {
    int64_t offset;
    int64_t length;
    const char *text;
};

static void count_done(void *ctx, silt_read_request *request)
{
    size_t *done = ctx;
    (*done)++;
    assert_ptr_equal(request->user, done);
}

static void ranges_are_cut_to_the_file(void **state)
{
    const struct store_fixture *fixture = *state;
    static const struct range_case cases[] = {
        {0, -1, "0123456789"},
        {2, 3, "234"},
        {9, 1, "9"},
        {9, 5, "9"},
        {10, 5, ""},
        {11, -1, ""},
        {INT64_MAX, -1, ""},
        {INT64_MAX, INT64_MAX, ""},
        {-1, -1, "9"},
        {-4, 2, "67"},
        {-10, -1, "0123456789"},
        {-11, 1, "0"},
        {INT64_MIN, 2, "01"},
        {-1, INT64_MAX, "9"},
        {0, 0, ""},
        {3, INT64_MAX, "3456789"},
    };
    enum {
        N = sizeof(cases) / sizeof(cases[0])
    };
    const char *path = store_path(fixture, "digits");
    store_put(fixture->store, path, "0123456789");
    silt_read_request requests[N];
    size_t done = 0;
    for (size_t i = 0; i < N; i++) {
        requests[i] = (silt_read_request){
            .path = path, .offset = cases[i].offset, .length = cases[i].length, .user = &done};
    }
    assert_int_equal(silt_storage_read_many(fixture->store, NULL, requests, N, count_done, &done, NULL), SILT_OK);
    assert_int_equal(done, N);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(requests[i].status, SILT_OK);
        assert_int_equal(requests[i].file_size, 10);
        assert_int_equal(requests[i].data_len, strlen(cases[i].text));
        if (requests[i].data_len > 0) {
            assert_memory_equal(requests[i].data, cases[i].text, requests[i].data_len);
        } else {
            assert_null(requests[i].data);
        }
        silt_read_request_release(fixture->store, &requests[i]);
        assert_null(requests[i].data);
    }
}

static void a_missing_file_fails_only_its_own_request(void **state)
{
    const struct store_fixture *fixture = *state;
    size_t done = 0;
    store_put(fixture->store, store_path(fixture, "a"), "x");
    store_put(fixture->store, store_path(fixture, "dir/b"), "y");
    silt_read_request requests[4] = {{.path = store_path(fixture, "none"), .length = -1, .user = &done},
                                     {.path = store_path(fixture, "a"), .length = -1, .user = &done},
                                     {.path = store_path(fixture, "dir"), .length = -1, .user = &done},
                                     {.path = store_path(fixture, "a/b"), .length = -1, .user = &done}};
    assert_int_equal(silt_storage_read_many(fixture->store, NULL, requests, 4, count_done, &done, NULL), SILT_OK);
    assert_int_equal(done, 4);
    assert_int_equal(requests[0].status, SILT_ENOTFOUND);
    assert_int_equal(requests[1].status, SILT_OK);
    assert_int_equal(requests[2].status, SILT_ENOTFOUND);
    assert_int_equal(requests[3].status, SILT_ENOTFOUND);
    silt_read_request_release(fixture->store, &requests[1]);
}

static void empty_and_large_files_come_back_whole(void **state)
{
    const struct store_fixture *fixture = *state;
    const size_t size = (size_t)20 << 20;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    uint32_t *words = malloc(size);
    assert_non_null(words);
    for (uint32_t i = 0; i < size / sizeof(*words); i++) {
        words[i] = i * 2654435761U;
    }
    const char *large = store_path(fixture, "large");
    const char *empty = store_path(fixture, "empty");
    assert_int_equal(silt_storage_put_if_absent(fixture->store, NULL, large, words, size, &outcome, NULL), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(silt_storage_put_if_absent(fixture->store, NULL, empty, NULL, 0, &outcome, NULL), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(silt_storage_read(fixture->store, NULL, large, &data, &len, NULL), SILT_OK);
    assert_int_equal(len, size);
    assert_memory_equal(data, words, size);
    silt_storage_free(fixture->store, data, len);
    assert_int_equal(silt_storage_read(fixture->store, NULL, empty, &data, &len, NULL), SILT_OK);
    assert_int_equal(len, 0);
    silt_storage_free(fixture->store, data, len);
    free(words);
}

static void stat_tells_size_and_time(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "f");
    int64_t size = 0;
    int64_t modified = 0;
    const int64_t now_ms = (int64_t)time(NULL) * 1000;
    store_put(fixture->store, path, "12345");
    assert_int_equal(silt_storage_stat(fixture->store, NULL, path, &size, &modified, NULL), SILT_OK);
    assert_int_equal(size, 5);
    assert_true(modified > now_ms - 60000 && modified < now_ms + 60000);
    store_expect_missing(fixture->store, store_path(fixture, "none"));
    store_expect_missing(fixture->store, fixture->root);
}

/* ---- calls that are over ---- */

static void a_cancelled_call_does_nothing_and_completes_its_reads(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_storage *store = fixture->store;
    const volatile int cancel = 1;
    const silt_call call = {.size = sizeof(call), .cancel = &cancel};
    const char *path = store_path(fixture, "f");
    silt_put_outcome outcome = SILT_PUT_DONE;
    size_t done = 0;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_storage_put_if_absent(store, &call, path, "x", 1, &outcome, &err), SILT_ECANCELLED);
    assert_int_equal(silt_storage_put(store, &call, path, "x", 1, &err), SILT_ECANCELLED);
    store_expect_missing(store, path);
    store_put(store, path, "x");
    silt_read_request request = {.path = path, .length = -1, .user = &done};
    assert_int_equal(silt_storage_read_many(store, &call, &request, 1, count_done, &done, &err), SILT_ECANCELLED);
    assert_int_equal(done, 1);
    assert_int_equal(request.status, SILT_ECANCELLED);
    const silt_call late = {.size = sizeof(late), .deadline_us = 1};
    assert_int_equal(silt_storage_remove(store, &late, path, &err), SILT_EDEADLINE);
    store_expect(store, path, "x");
}

/* ---- optional slots ---- */

static void make_local_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void an_adopted_file_moves_to_a_free_name_only(void **state)
{
    const struct store_fixture *fixture = *state;
    char local[4096];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(local, sizeof(local), "%s/scratch.parquet", fixture->local_dir);
    make_local_file(local, "data");
    const char *path = store_path(fixture, "p=1/part.parquet");
    assert_int_equal(silt_storage_adopt(fixture->store, NULL, local, path, &err), SILT_OK);
    store_expect(fixture->store, path, "data");
    assert_int_not_equal(access(local, F_OK), 0);
    make_local_file(local, "other");
    assert_int_equal(silt_storage_adopt(fixture->store, NULL, local, path, &err), SILT_EEXISTS);
    store_expect(fixture->store, path, "data");
    assert_int_equal(access(local, F_OK), 0);
    assert_int_equal(unlink(local), 0);
    assert_int_equal(silt_storage_adopt(fixture->store, NULL, local, store_path(fixture, "q"), &err), SILT_ENOTFOUND);
}

static void a_tree_is_removed_and_nothing_beside_it(void **state)
{
    const struct store_fixture *fixture = *state;
    silt_storage *store = fixture->store;
    store_put(store, store_path(fixture, "t/a"), "x");
    store_put(store, store_path(fixture, "t/b/c/d"), "x");
    store_put(store, store_path(fixture, "t0"), "kept");
    assert_int_equal(silt_storage_remove_tree(store, NULL, store_path(fixture, "t"), NULL), SILT_OK);
    assert_string_equal(store_list(store, fixture->root, NULL, true), "t0\n");
    assert_string_equal(store_list(store, store_path(fixture, "t"), NULL, true), "ENOTFOUND");
    assert_int_equal(silt_storage_remove_tree(store, NULL, store_path(fixture, "t"), NULL), SILT_OK);
}

static void a_local_path_can_be_opened_where_there_is_one(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "100% a#b?.parquet");
    char local[4096] = "x";
    silt_error err = SILT_ERROR_INIT;
    store_put(fixture->store, path, "data");
    silt_status status = silt_storage_local_path(fixture->store, path, local, sizeof(local), &err);
    if (strncmp(fixture->root, "memory:", 7) == 0) {
        assert_int_equal(status, SILT_EUNSUPPORTED);
        assert_string_equal(local, "");
        return;
    }
    assert_int_equal(status, SILT_OK);
    assert_int_equal(access(local, R_OK), 0);
    char small[8];
    assert_int_equal(silt_storage_local_path(fixture->store, path, small, sizeof(small), &err), SILT_EINVALID);
}

/* ---- errors ---- */

static void an_error_names_operation_and_file_once(void **state)
{
    const struct store_fixture *fixture = *state;
    const char *path = store_path(fixture, "none.json");
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    char start[4096];
    assert_int_equal(silt_storage_read(fixture->store, NULL, path, &data, &len, &err), SILT_ENOTFOUND);
    (void)snprintf(start, sizeof(start), "reading %s: ", path);
    assert_int_equal(strncmp(err.message, start, strlen(start)), 0);
    assert_null(strstr(err.message + 1, "reading"));
    assert_null(strstr(err.message + strlen(start), "none.json"));
    assert_string_equal(err.path, path);
    assert_int_equal(err.status, SILT_ENOTFOUND);
    assert_string_equal(err.code_name, "SILT_NOT_FOUND");
}

static const struct store_test tests[] = {
    {"a_taken_name_keeps_its_bytes", a_taken_name_keeps_its_bytes},
    {"a_hint_takes_a_free_name_only", a_hint_takes_a_free_name_only},
    {"a_file_beside_others_takes_a_free_name_only", a_file_beside_others_takes_a_free_name_only},
    {"a_file_beside_others_makes_no_folder", a_file_beside_others_makes_no_folder},
    {"a_removed_name_is_free_again", a_removed_name_is_free_again},
    {"every_write_is_in_the_next_listing", every_write_is_in_the_next_listing},
    {"names_come_in_byte_order_from_the_start", names_come_in_byte_order_from_the_start},
    {"a_listing_starts_at_the_wanted_name", a_listing_starts_at_the_wanted_name},
    {"a_recursive_listing_is_in_byte_order_too", a_recursive_listing_is_in_byte_order_too},
    {"a_missing_folder_is_not_found", a_missing_folder_is_not_found},
    {"a_listing_stops_when_told", a_listing_stops_when_told},
    {"any_name_is_taken_as_it_is", any_name_is_taken_as_it_is},
    {"a_path_with_a_slash_at_its_end_is_no_file", a_path_with_a_slash_at_its_end_is_no_file},
    {"ranges_are_cut_to_the_file", ranges_are_cut_to_the_file},
    {"a_missing_file_fails_only_its_own_request", a_missing_file_fails_only_its_own_request},
    {"empty_and_large_files_come_back_whole", empty_and_large_files_come_back_whole},
    {"stat_tells_size_and_time", stat_tells_size_and_time},
    {"a_cancelled_call_does_nothing_and_completes_its_reads", a_cancelled_call_does_nothing_and_completes_its_reads},
    {"an_adopted_file_moves_to_a_free_name_only", an_adopted_file_moves_to_a_free_name_only},
    {"a_tree_is_removed_and_nothing_beside_it", a_tree_is_removed_and_nothing_beside_it},
    {"a_local_path_can_be_opened_where_there_is_one", a_local_path_can_be_opened_where_there_is_one},
    {"an_error_names_operation_and_file_once", an_error_names_operation_and_file_once},
};

int main(void)
{
    return run_store_tests("store contract", tests, sizeof(tests) / sizeof(tests[0]));
}
