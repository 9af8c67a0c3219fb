/*
 * Commits of a log from the newest to the oldest, whole or only their commitInfo.
 */
#include "kernel/log/commit_batch.h"

#include <string.h>

#include "log_fixture.h"

#define MAX_SEEN 8

struct seen {
    size_t n;
    int64_t versions[MAX_SEEN];
    size_t n_actions[MAX_SEEN];
    bool has_info[MAX_SEEN];
    size_t stop_at;
};

static silt_status look(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    assert_true(seen->n < MAX_SEEN);
    seen->versions[seen->n] = commit->version;
    seen->n_actions[seen->n] = commit->n_actions;
    seen->has_info[seen->n] = commit->commit_info != NULL;
    seen->n++;
    *stop = seen->n == seen->stop_at;
    return SILT_OK;
}

struct files {
    struct sl_log_file items[MAX_SEEN];
    size_t n;
};

static void add_file(struct files *files, int64_t version, const char *name, int64_t size)
{
    files->items[files->n++] = (struct sl_log_file){
        .kind = SL_LOG_COMMIT, .version = version, .name = sl_str_from(name), .size = size, .modified_ms = version};
}

static silt_status each(struct log_fixture *f, const struct files *files, struct sl_commits_request request,
                        struct seen *seen)
{
    const struct sl_log_source source = {f->engine, f->traced, SL_STR(LOG_ROOT)};
    request.source = &source;
    request.files = files->items;
    request.n = files->n;
    silt_error_reset(&f->err);
    return sl_commits_each(&request, NULL, look, seen, &f->err);
}

static void commits_come_from_the_newest_to_the_oldest(void **state)
{
    struct log_fixture *f = *state;
    struct files files = {.n = 0};
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    log_commit(f, 1, LOG_ADD("a"), NULL);
    add_file(&files, 0, "00000000000000000000.json", 100);
    add_file(&files, 1, "00000000000000000001.json", INT64_C(9) * 1024 * 1024); /* said to be large: read alone */
    add_file(&files, 2, "inline", 100);
    files.items[2].content = SL_STR("{\"commitInfo\":{}}\n" LOG_ADD("b"));
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        struct seen seen = {.n = 0};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.in_parts = in_parts != 0}, &seen), SILT_OK);
        /* A commit in parts ends with one that has no actions. */
        assert_int_equal(seen.n, in_parts != 0 ? 4 : 3);
        assert_true(seen.versions[0] == 2 && seen.n_actions[0] == 2 && seen.has_info[0]);
        assert_true(seen.versions[1] == 1 && seen.n_actions[1] == 1 && !seen.has_info[1]);
        assert_true(seen.versions[seen.n - 1] == 0 && seen.n_actions[seen.n - 1] == 2);
        seen = (struct seen){.stop_at = 2};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.in_parts = in_parts != 0}, &seen), SILT_OK);
        assert_int_equal(seen.n, 2);
    }
}

static void a_commit_that_is_gone_fails_or_is_past(void **state)
{
    struct log_fixture *f = *state;
    struct files files = {.n = 0};
    log_commit(f, 1, LOG_ADD("a"), NULL);
    for (int large = 0; large < 2; large++) {
        files.n = 0;
        add_file(&files, 0, "00000000000000000000.json", large * INT64_C(9) * 1024 * 1024);
        add_file(&files, 1, "00000000000000000001.json", 100);
        struct seen seen = {.n = 0};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.in_parts = true}, &seen), SILT_ENOTFOUND);
        assert_int_equal(f->err.version, 0);
        assert_int_equal(seen.n, 1);
        seen = (struct seen){.n = 0};
        assert_int_equal(
            each(f, &files, (struct sl_commits_request){.in_parts = true, .missing = SL_MISSING_IS_PAST}, &seen),
            SILT_OK);
        assert_int_equal(seen.n, 1);
    }
}

/* A commit whose commitInfo begins at a byte. */
static void put_info_at(struct log_fixture *f, const char *name, size_t at)
{
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    while (text.len + 400 < at) {
        sl_buf_put_c(&text, LOG_ADD("a file whose name has an I in it") "\n");
    }
    while (text.len < at) {
        sl_buf_put_c(&text, text.len + 1 < at ? " " : "\n");
    }
    sl_buf_put_c(&text, "{\"commitInfo\":{\"operation\":\"WRITE\",\"x\":\"some text to have some length\"}}\n");
    sl_buf_put_c(&text, LOG_ADD("b"));
    log_put(f, name, sl_buf_cstr(&text));
    sl_buf_release(&text);
}

static void a_commit_info_is_found_wherever_it_stands(void **state)
{
    struct log_fixture *f = *state;
    static const size_t places[] = {0, 1000, 65536 - 100, 65536 - 80, 65536 - 30, 65536, 65537, 200000};
    struct files files = {.n = 0};
    add_file(&files, 3, "00000000000000000003.json", 1);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        put_info_at(f, "00000000000000000003.json", places[i]);
        struct seen seen = {.n = 0};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.info_only = true}, &seen), SILT_OK);
        assert_int_equal(seen.n, 1);
        assert_true(seen.has_info[0]);
    }
    log_put(f, "00000000000000000003.json", LOG_ADD("commitInfo") "\n{\"commitInfo\":torn");
    struct seen seen = {.n = 0};
    assert_int_equal(each(f, &files, (struct sl_commits_request){.info_only = true}, &seen), SILT_OK);
    assert_false(seen.has_info[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(commits_come_from_the_newest_to_the_oldest),
        LOG_TEST(a_commit_that_is_gone_fails_or_is_past),
        LOG_TEST(a_commit_info_is_found_wherever_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
