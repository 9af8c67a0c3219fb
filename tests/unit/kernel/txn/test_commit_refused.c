/*
 * Commits that a store refuses, or says it has no place for, although they are there: whoever stands between here and the store may not know.
 * Believed, such an answer takes the data files of a commit that stands.
 */
#include "kernel/txn/commit_loop.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "silt/version.h"
#include "test_env.h"

#define ROOT "memory://t"
#define COMMIT ROOT "/_delta_log/00000000000000000001.json"
#define FIRST ROOT "/_delta_log/00000000000000000000.json"
#define OURS "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"txnId\":\"ours\"}}\n"

/* A store in memory that answers creates with a failure. */
struct liar {
    silt_storage *memory;
    silt_status answer;
    bool does_it;
    bool is_gone; /* its folder, as it says */
};

static struct fixture {
    struct test_env env;
    struct liar liar;
    silt_storage *store;
    struct sl_arena arena;
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_action action;
    int64_t rows;
    struct sl_rebase rebase;
    struct sl_commit_place place;
    struct sl_buf bytes;
    struct sl_commit_end end;
    silt_error err;
} f;

static void close_nothing(void *impl)
{
    (void)impl;
}

static silt_status read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct liar *liar = impl;
    return silt_storage_read_many(liar->memory, call, requests, n, on_done, ctx, err);
}

static silt_status list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct liar *liar = impl;
    return liar->is_gone ? sl_fail(err, SILT_ENOTFOUND, NULL, "no such folder")
                         : silt_storage_list(liar->memory, call, dir, options, on_entry, ctx, err);
}

static silt_status put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    const struct liar *liar = impl;
    if (liar->does_it) {
        const silt_status status = silt_storage_put_if_absent(liar->memory, call, path, data, data_len, outcome, err);
        assert_int_equal(status, SILT_OK);
        assert_int_equal(*outcome, SILT_PUT_DONE);
        *outcome = SILT_PUT_AMBIGUOUS;
    }
    return sl_fail(err, liar->answer, NULL, "as it was told");
}

static silt_status put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    const struct liar *liar = impl;
    return silt_storage_put(liar->memory, call, path, data, data_len, err);
}

static silt_status stat_file(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    const struct liar *liar = impl;
    return silt_storage_stat(liar->memory, call, path, size_bytes, modified_ms, err);
}

static silt_status remove_file(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct liar *liar = impl;
    return silt_storage_remove(liar->memory, call, path, err);
}

static const silt_storage_vtable SLOTS = {.size = sizeof(silt_storage_vtable),
                                          .abi_version = SILT_ABI_VERSION,
                                          .name = "liar",
                                          .close = close_nothing,
                                          .read_many = read_many,
                                          .list = list,
                                          .put_if_absent = put_if_absent,
                                          .put = put,
                                          .stat = stat_file,
                                          .remove = remove_file};

static silt_status render(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err)
{
    (void)ctx;
    (void)rebase;
    sl_buf_clear(out);
    sl_buf_put_c(out, OURS);
    return sl_buf_status(out, err);
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    f.err = (silt_error)SILT_ERROR_INIT;
    const silt_env *env = &f.env.env;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(silt_storage_memory_new(env, &f.liar.memory, NULL), SILT_OK);
    assert_int_equal(silt_storage_put_if_absent(f.liar.memory, NULL, FIRST, "{}\n", 3, &outcome, NULL), SILT_OK);
    assert_int_equal(silt_storage_new(env, &SLOTS, &f.liar, &f.store, NULL), SILT_OK);
    sl_arena_init(&f.arena, env);
    sl_buf_init(&f.bytes, env);
    f.protocol = (struct sl_protocol){.min_reader_version = 1, .min_writer_version = 2};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_buf_release(&f.bytes);
    sl_arena_release(&f.arena);
    silt_storage_unref(f.store);
    silt_storage_unref(f.liar.memory);
    test_env_check(&f.env);
    return 0;
}

static silt_status run(silt_status answer, bool does_it)
{
    static const struct sl_str_list no_partitions = {NULL, 0};
    const silt_env *env = &f.env.env;
    f.liar.answer = answer;
    f.liar.does_it = does_it;
    f.place = (struct sl_commit_place){.env = env, .storage = f.store, .root = SL_STR(ROOT), .rests = true};
    f.rebase = (struct sl_rebase){.arena = &f.arena,
                                  .version = 1,
                                  .floor_ms = 100,
                                  .row_id_high_water = -1,
                                  .protocol = &f.protocol,
                                  .metadata = &f.metadata,
                                  .actions = &f.action,
                                  .rows = &f.rows};
    const struct sl_commit_job job = {.env = env,
                                      .place = &f.place,
                                      .render = render,
                                      .txn_id = "ours",
                                      .rebase = &f.rebase,
                                      .facts = {.is_blind_append = true, .partition_columns = &no_partitions},
                                      .max_attempts = 10,
                                      .resolve_us = 1000000};
    sl_buf_clear(&f.bytes);
    silt_error_reset(&f.err);
    return sl_commit_run(&job, NULL, &f.bytes, &f.end, &f.err);
}

static const silt_status answers[] = {SILT_EIO, SILT_EACCESS, SILT_ENOTFOUND, SILT_EUNSUPPORTED};

static void what_is_there_is_committed_whatever_the_answer_was(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        assert_int_equal(run(answers[i], true), SILT_OK);
        assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
        assert_int_equal(f.end.version, 1);
        assert_int_equal(silt_storage_remove(f.liar.memory, NULL, COMMIT, NULL), SILT_OK);
    }
}

static void what_is_not_there_was_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        /* The log is there, so a place that is not found is the store's fault and no table that was dropped. */
        const silt_status expected = answers[i] == SILT_ENOTFOUND ? SILT_EIO : answers[i];
        assert_int_equal(run(answers[i], false), expected);
        assert_int_equal(f.end.outcome, SILT_COMMIT_CONFLICT);
        assert_int_equal(f.end.conflict, SILT_CONFLICT_NONE);
        assert_non_null(strstr(f.err.message, "as it was told"));
    }
}

static void a_log_that_is_gone_was_dropped(void **state)
{
    (void)state;
    f.liar.is_gone = true;
    assert_int_equal(run(SILT_ENOTFOUND, false), SILT_ECONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_there_is_committed_whatever_the_answer_was),
        TEST(what_is_not_there_was_refused),
        TEST(a_log_that_is_gone_was_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
