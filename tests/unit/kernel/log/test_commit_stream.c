/*
 * Files of actions in windows: the same actions as from the whole, wherever windows cut lines; faults with their lines.
 */
#include "kernel/log/commit_stream.h"

#include <stdio.h>
#include <string.h>

#include "action_random.h"
#include "base/error.h"
#include "json_random.h"
#include "log_fixture.h"

#define NAME "00000000000000000007.json"
#define PATH LOG_ROOT "/_delta_log/" NAME

struct seen {
    const struct sl_commit *expected; /* compared with, unless NULL */
    size_t n;
    size_t n_parts;
    size_t n_infos;
    size_t stop_at; /* actions; 0: never */
    bool is_last;
};

static silt_status look(void *ctx, const struct sl_stream_part *part, bool *stop, silt_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    assert_false(seen->is_last);
    seen->n_parts++;
    for (size_t i = 0; i < part->n; i++, seen->n++) {
        if (seen->expected != NULL) {
            assert_true(seen->n < seen->expected->n_actions);
            const char *difference = action_difference(&part->actions[i], &seen->expected->actions[seen->n]);
            if (difference != NULL) {
                fail_msg("%s of action %zu differs", difference, seen->n);
            }
        }
    }
    seen->n_infos += part->commit_info != NULL ? 1 : 0;
    seen->is_last = part->is_last;
    *stop = seen->stop_at > 0 && seen->n >= seen->stop_at;
    return SILT_OK;
}

static silt_status stream(struct log_fixture *f, bool is_commit, int64_t window_bytes, struct seen *seen)
{
    const struct sl_log_source source = {f->engine, f->traced, SL_STR(LOG_ROOT)};
    const struct sl_stream_request request = {.source = &source,
                                              .path = PATH,
                                              .title = "commit 7",
                                              .version = 7,
                                              .size_bytes = -1,
                                              .is_commit = is_commit,
                                              .window_bytes = window_bytes,
                                              .visit = look,
                                              .ctx = seen};
    bool stop = false;
    silt_error_reset(&f->err);
    const silt_status status = sl_stream_actions(&request, NULL, &stop, &f->err);
    assert_int_equal(stop, seen->stop_at > 0 && seen->n >= seen->stop_at);
    return status;
}

static void put(struct log_fixture *f, const struct sl_buf *text)
{
    assert_int_equal(silt_storage_put(f->store, NULL, PATH, text->data, text->len, &f->err), SILT_OK);
}

static void put_add(struct sl_buf *text, const char *path, size_t number)
{
    sl_buf_printf(
        text,
        "{\"add\":{\"path\":\"%s%zu\",\"partitionValues\":{\"p\":\"\\u00e9\"},\"size\":%zu,\"modificationTime\":1,"
        "\"dataChange\":true}}",
        path, number, number);
}

static void every_cut_gives_the_same_actions(void **state)
{
    struct log_fixture *f = *state;
    static const char *const ends[] = {"\n", "\r\n", "\n\n", " \n \t\n"};
    struct sl_buf text;
    struct sl_arena arena;
    struct sl_commit whole;
    uint64_t seed = 99;
    sl_buf_init(&text, &f->test.env);
    for (size_t round = 0; round < 6; round++) {
        sl_buf_clear(&text);
        for (size_t i = 0; i < 12; i++) {
            if (json_random_below(&seed, 5) == 0) {
                sl_buf_printf(&text, "{\"commitInfo\":{\"operation\":\"%zu\"}}", i);
            } else {
                put_add(&text, round == 0 ? "" : "a/rather/long/path/of/a/file/", i);
            }
            if (i < 11 || round % 2 == 0) {
                sl_buf_put_c(&text, ends[json_random_below(&seed, 4)]);
            }
        }
        put(f, &text);
        sl_arena_init(&arena, &f->test.env);
        assert_int_equal(sl_commit_parse(&f->test.env, &arena, 7, sl_buf_view(&text), &whole, &f->err), SILT_OK);
        for (int64_t window = 1; window <= (int64_t)text.len + 1; window += window < 300 ? 1 : 37) {
            struct seen seen = {.expected = &whole};
            assert_int_equal(stream(f, true, window, &seen), SILT_OK);
            assert_int_equal(seen.n, whole.n_actions);
            assert_int_equal(seen.n_infos, whole.commit_info != NULL ? 1 : 0);
            assert_true(seen.is_last);
        }
        sl_arena_release(&arena);
    }
    sl_buf_release(&text);
}

static void expect_failure(struct log_fixture *f, int64_t window_bytes, silt_status status, const char *in_message)
{
    struct seen seen = {.n = 0};
    assert_int_equal(stream(f, true, window_bytes, &seen), status);
    assert_false(seen.is_last);
    if (strstr(f->err.message, in_message) == NULL) {
        fail_msg("told: %s", f->err.message);
    }
    assert_int_equal(f->err.version, 7);
}

static void faults_name_their_line_wherever_it_is(void **state)
{
    struct log_fixture *f = *state;
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    for (size_t i = 0; i < 40; i++) {
        put_add(&text, "x", i);
        sl_buf_put_c(&text, i == 20 ? "\n\n" : "\n");
    }
    const size_t sound = text.len;
    put_add(&text, "x", 30);
    sl_buf_put_c(&text, "\n{}\n");
    put(f, &text);
    for (int64_t window = 64; window < 8000; window = window * 3 / 2) {
        expect_failure(f, window, SILT_ECORRUPT, "commit 7, line 42: file x30 has more than one action in the commit");
    }
    struct seen seen = {.n = 0};
    assert_int_equal(stream(f, false, 500, &seen), SILT_OK); /* a checkpoint knows no such rule */
    assert_int_equal(seen.n, 42);
    text.len = sound;
    sl_buf_put_c(&text, "{\"add\":{\"path\":\"y\"}}\n");
    put(f, &text);
    for (int64_t window = 64; window < 8000; window = window * 3 / 2) {
        expect_failure(f, window, SILT_ECORRUPT, "commit 7, line 42: add lacks the required member");
    }
    text.len = sound;
    sl_buf_put_c(&text, "{\"txn\":{\"appId\":\"a\",\"version\":1}}\n\n{\"txn\":{\"appId\":\"a\",\"version\":1}}");
    put(f, &text);
    for (int64_t window = 64; window < 8000; window = window * 3 / 2) {
        expect_failure(f, window, SILT_ECORRUPT, "commit 7, line 44: txn a has more than one action");
    }
    sl_buf_release(&text);
}

static void a_visitor_may_have_enough(void **state)
{
    struct log_fixture *f = *state;
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    for (size_t i = 0; i < 100; i++) {
        put_add(&text, "x", i);
        sl_buf_put_char(&text, '\n');
    }
    sl_buf_put_c(&text, "torn");
    put(f, &text);
    struct seen seen = {.stop_at = 10};
    assert_int_equal(stream(f, true, 300, &seen), SILT_OK);
    assert_true(seen.n >= 10 && seen.n < 20);
    assert_false(seen.is_last);
    sl_buf_release(&text);
}

static void an_empty_file_and_a_missing_one_are_told_apart(void **state)
{
    struct log_fixture *f = *state;
    struct seen seen = {.n = 0};
    assert_int_equal(stream(f, true, 0, &seen), SILT_ENOTFOUND);
    assert_string_equal(f->err.code_name, "DELTA_LOG_FILE_NOT_FOUND");
    assert_int_equal(seen.n_parts, 0);
    log_put(f, NAME, "");
    assert_int_equal(stream(f, true, 0, &seen), SILT_OK);
    assert_true(seen.is_last && seen.n == 0);
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    for (size_t i = 0; i < 30; i++) {
        put_add(&text, "x", i);
        sl_buf_put_char(&text, '\n');
    }
    put(f, &text);
    sl_buf_release(&text);
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status != SILT_OK; n++) {
        assert_true(n < 10000);
        struct seen seen = {.n = 0};
        test_env_fail_at(&f->test, n);
        status = stream(f, true, 400, &seen);
        test_env_fail_at(&f->test, 0);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
    }
}

/* ---- by threads, through the batch reader ---- */

struct tally {
    size_t n;
    size_t n_visits;
    bool ended;
};

static silt_status tally_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct tally *tally = ctx;
    tally->n_visits++;
    tally->n += commit->n_actions;
    tally->ended = !commit->has_more;
    return SILT_OK;
}

static silt_status read_large(silt_engine *engine, silt_storage *store, size_t size, bool in_parts, struct tally *tally,
                              silt_error *err)
{
    const struct sl_log_source source = {engine, store, SL_STR(LOG_ROOT)};
    const struct sl_log_file file = {.kind = SL_LOG_COMMIT, .version = 7, .name = SL_STR(NAME), .size = (int64_t)size};
    const struct sl_commits_request request = {.source = &source, .files = &file, .n = 1, .in_parts = in_parts};
    *tally = (struct tally){.n = 0};
    silt_error_reset(err);
    return sl_commits_each(&request, NULL, tally_commit, tally, err);
}

static void threads_share_a_large_commit(void **state)
{
    (void)state;
    const silt_env *env = silt_env_default();
    const silt_default_engine_options options = {.size = sizeof(options), .env = env, .threads = 4};
    silt_engine *engine = NULL;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_engine_default_new(&options, &engine, &err), SILT_OK);
    assert_int_equal(silt_storage_memory_new(env, &store, &err), SILT_OK);
    struct sl_buf text;
    sl_buf_init(&text, env);
    size_t n = 0;
    for (; text.len < (size_t)9 * 1024 * 1024; n++) {
        put_add(&text, "some/folder/of/the/table/part-00000-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.parquet", n);
        sl_buf_put_char(&text, '\n');
    }
    struct tally tally;
    assert_int_equal(silt_storage_put(store, NULL, PATH, text.data, text.len, &err), SILT_OK);
    assert_int_equal(read_large(engine, store, text.len, true, &tally, &err), SILT_OK);
    assert_true(tally.ended && tally.n == n && tally.n_visits > 10);
    assert_int_equal(read_large(engine, store, text.len, false, &tally, &err), SILT_OK);
    assert_true(tally.ended && tally.n == n && tally.n_visits == 1);
    put_add(&text, "some/folder/of/the/table/part-00000-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.parquet", 4);
    assert_int_equal(silt_storage_put(store, NULL, PATH, text.data, text.len, &err), SILT_OK);
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "commit 7, line %zu: file some/folder", n + 1);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(read_large(engine, store, text.len, i == 0, &tally, &err), SILT_ECORRUPT);
        assert_non_null(strstr(err.message, expected));
        assert_int_equal(err.version, 7);
        assert_false(i == 0 && tally.ended);
    }
    sl_buf_release(&text);
    silt_storage_unref(store);
    silt_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(every_cut_gives_the_same_actions),    LOG_TEST(faults_name_their_line_wherever_it_is),
        LOG_TEST(a_visitor_may_have_enough),           LOG_TEST(an_empty_file_and_a_missing_one_are_told_apart),
        LOG_TEST(every_failed_allocation_is_reported), cmocka_unit_test(threads_share_a_large_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
