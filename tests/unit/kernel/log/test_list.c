/*
 * Listing a log from a store whose listings lack files that came while they were made.
 */
#include "kernel/log/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "silt/silt.h"
#include "storage/decorator.h"
#include "test_env.h"

#define ROOT "memory://store/t"

/* ---- a store that leaves some names out of its listings ---- */

struct forgetful {
    struct sl_decorator base;
    const char *forgotten; /* names, each with a blank after it */
};

struct listing {
    const struct forgetful *store;
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
};

static bool hand_on(void *ctx, const silt_file_entry *entry)
{
    const struct listing *listing = ctx;
    char name[128];
    (void)snprintf(name, sizeof(name), "%.*s ", (int)entry->name_len, entry->name);
    return strstr(listing->store->forgotten, name) != NULL || listing->on_entry(listing->ctx, entry);
}

static silt_status list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct forgetful *store = impl;
    struct listing listing = {store, on_entry, ctx};
    return silt_storage_list(store->base.inner, call, dir, options, hand_on, &listing, err);
}

static silt_status read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct forgetful *store = impl;
    return silt_storage_read_many(store->base.inner, call, requests, n, on_done, ctx, err);
}

static silt_status put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    const struct forgetful *store = impl;
    return silt_storage_put_if_absent(store->base.inner, call, path, data, data_len, outcome, err);
}

static silt_status put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    const struct forgetful *store = impl;
    return silt_storage_put(store->base.inner, call, path, data, data_len, err);
}

static silt_status look(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                        silt_error *err)
{
    const struct forgetful *store = impl;
    return silt_storage_stat(store->base.inner, call, path, size_bytes, modified_ms, err);
}

static silt_status take_away(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct forgetful *store = impl;
    return silt_storage_remove(store->base.inner, call, path, err);
}

static const silt_storage_vtable slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "forgetful",
    .close = sl_decorator_close,
    .read_many = read_many,
    .list = list,
    .put_if_absent = put_if_absent,
    .put = put,
    .stat = look,
    .remove = take_away,
};

/* ---- tests ---- */

/* Puts the files (names with a blank after each), and lists; what is found is compared. */
static void check(const char *files, const char *forgotten, int64_t from_version, const char *expected)
{
    struct test_env test;
    silt_storage *memory = NULL;
    silt_storage *storage = NULL;
    struct sl_arena arena;
    struct sl_vec found;
    bool exists = false;
    char text[2048] = "";
    const struct forgetful forgetful = {.forgotten = forgotten};
    const struct sl_decorator_spec spec = {.slots = &slots, .impl = &forgetful, .size = sizeof(forgetful)};
    test_env_init(&test);
    assert_int_equal(silt_storage_memory_new(&test.env, &memory, NULL), SILT_OK);
    assert_int_equal(sl_decorator_new(&test.env, memory, &spec, &storage, NULL), SILT_OK);
    for (const char *at = files; *at != '\0'; at = strchr(at, ' ') + 1) {
        char path[256];
        (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%.*s", (int)strcspn(at, " "), at);
        assert_int_equal(silt_storage_put(memory, NULL, path, "{}", 2, NULL), SILT_OK);
    }
    sl_arena_init(&arena, &test.env);
    sl_vec_init(&found, &test.env, sizeof(struct sl_log_file));
    assert_int_equal(sl_log_list(storage, NULL, sl_str_from(ROOT), from_version, &arena, &found, &exists, NULL),
                     SILT_OK);
    assert_true(exists);
    for (size_t i = 0; i < found.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&found, i);
        const size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%.*s ", SL_FMT(file->name));
        assert_int_equal(file->size, 2);
        assert_true(file->modified_ms > 0);
    }
    assert_string_equal(text, expected);
    sl_vec_release(&found);
    sl_arena_release(&arena);
    silt_storage_unref(storage);
    silt_storage_unref(memory);
    test_env_check(&test);
}

#define C(n) "0000000000000000000" n ".json "
#define CRC(n) "0000000000000000000" n ".crc "

static void commits_that_a_listing_lacks_are_found_by_name(void **state)
{
    (void)state;
    check(C("0") C("1") C("2") C("3"), C("2"), 0, C("0") C("1") C("2") C("3"));
    check(C("0") C("1") C("2") C("3") C("4") C("5"), C("1") C("2") C("4"), 0,
          C("0") C("1") C("2") C("3") C("4") C("5"));
    check(CRC("1") C("1") CRC("2") C("2") CRC("3") C("3"), C("2"), 1, CRC("1") C("1") CRC("2") C("2") CRC("3") C("3"));
}

static void commits_after_the_last_one_that_is_listed_wait_for_the_next_listing(void **state)
{
    (void)state;
    check(C("0") C("1") C("2"), C("2"), 0, C("0") C("1"));
}

static void commits_that_are_not_there_stay_missing(void **state)
{
    (void)state;
    check(C("0") C("1") C("4") C("5"), "", 0, C("0") C("1") C("4") C("5"));
    check(C("0") C("2") C("4") C("5"), C("4"), 0, C("0") C("2") C("5"));
    check(C("3") C("4"), "", 0, C("3") C("4"));
}

/* Puts the files and looks ahead of a version; what is found is compared. */
static void check_ahead(const char *files, int64_t from_version, size_t most, bool expect_told, const char *expected)
{
    struct test_env test;
    silt_storage *storage = NULL;
    struct sl_arena arena;
    struct sl_vec found;
    bool told = !expect_told;
    char text[2048] = "";
    test_env_init(&test);
    assert_int_equal(silt_storage_memory_new(&test.env, &storage, NULL), SILT_OK);
    for (const char *at = files; *at != '\0'; at = strchr(at, ' ') + 1) {
        char path[256];
        (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%.*s", (int)strcspn(at, " "), at);
        assert_int_equal(silt_storage_put(storage, NULL, path, "{}", 2, NULL), SILT_OK);
    }
    sl_arena_init(&arena, &test.env);
    sl_vec_init(&found, &test.env, sizeof(struct sl_log_file));
    assert_int_equal(
        sl_log_look_ahead(storage, NULL, sl_str_from(ROOT), from_version, most, &arena, &found, &told, NULL), SILT_OK);
    assert_int_equal(told, expect_told);
    for (size_t i = 0; i < found.len && told; i++) {
        const struct sl_log_file *file = sl_vec_at(&found, i);
        const size_t len = strlen(text);
        (void)snprintf(text + len, sizeof(text) - len, "%.*s ", SL_FMT(file->name));
        assert_int_equal(file->kind, SL_LOG_COMMIT);
        assert_int_equal(file->size, 2);
        assert_true(file->modified_ms > 0);
    }
    assert_string_equal(text, expected);
    sl_vec_release(&found);
    sl_arena_release(&arena);
    silt_storage_unref(storage);
    test_env_check(&test);
}

static void commits_are_found_by_name_from_a_known_one_on(void **state)
{
    (void)state;
    check_ahead(C("0") C("1") C("2") CRC("2"), 1, 5, true, C("1") C("2"));
    check_ahead(C("0") C("1"), 1, 5, true, C("1"));
}

static void only_a_listing_tells_when_the_known_one_is_gone_or_many_came(void **state)
{
    (void)state;
    check_ahead(C("2") C("3"), 1, 5, false, "");
    check_ahead(C("1") C("2") C("3") C("4"), 1, 3, false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_that_a_listing_lacks_are_found_by_name),
        cmocka_unit_test(commits_after_the_last_one_that_is_listed_wait_for_the_next_listing),
        cmocka_unit_test(commits_that_are_not_there_stay_missing),
        cmocka_unit_test(commits_are_found_by_name_from_a_known_one_on),
        cmocka_unit_test(only_a_listing_tells_when_the_known_one_is_gone_or_many_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
