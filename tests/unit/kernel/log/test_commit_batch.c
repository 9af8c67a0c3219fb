/*
 * Commits of a log from the newest to the oldest, whole or only their commitInfo.
 */
#include "kernel/log/commit_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_fixture.h"

#define MAX_SEEN 64

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

/* With the size that it has. */
static void add_stored(struct log_fixture *f, struct files *files, int64_t version, const char *name)
{
    char path[256];
    int64_t size = 0;
    int64_t modified_ms = 0;
    (void)snprintf(path, sizeof(path), "%s/_delta_log/%s", LOG_ROOT, name);
    assert_int_equal(silt_storage_stat(f->store, NULL, path, &size, &modified_ms, &f->err), SILT_OK);
    add_file(files, version, name, size);
}

/* A commit that is so large that it is read alone: an add, and much of nothing. */
static void put_large(struct log_fixture *f, const char *name, const char *line)
{
    const size_t size = (size_t)9 * 1024 * 1024;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, '\n', size);
    text[size] = '\0';
    memcpy(text, line, strlen(line));
    log_put(f, name, text);
    free(text);
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
    put_large(f, "00000000000000000001.json", LOG_ADD("a"));
    add_stored(f, &files, 0, "00000000000000000000.json");
    add_stored(f, &files, 1, "00000000000000000001.json");
    add_file(&files, 2, "inline", 100);
    files.items[2].content = SL_STR("{\"commitInfo\":{}}\n" LOG_ADD("b"));
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        struct seen seen = {.n = 0};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.in_parts = in_parts != 0}, &seen), SILT_OK);
        /* A commit in parts has several, of which the last has no actions. */
        assert_true(in_parts != 0 ? seen.n > 3 : seen.n == 3);
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
        add_stored(f, &files, 1, "00000000000000000001.json");
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
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        put_info_at(f, "00000000000000000003.json", places[i]);
        files.n = 0;
        add_stored(f, &files, 3, "00000000000000000003.json");
        struct seen seen = {.n = 0};
        assert_int_equal(each(f, &files, (struct sl_commits_request){.info_only = true}, &seen), SILT_OK);
        assert_int_equal(seen.n, 1);
        assert_true(seen.has_info[0]);
    }
    log_put(f, "00000000000000000003.json", LOG_ADD("commitInfo") "\n{\"commitInfo\":torn");
    files.n = 0;
    add_stored(f, &files, 3, "00000000000000000003.json");
    struct seen seen = {.n = 0};
    assert_int_equal(each(f, &files, (struct sl_commits_request){.info_only = true}, &seen), SILT_OK);
    assert_false(seen.has_info[0]);
}

/* Cut at the end of a line, a commit looks like a whole one: only the listing tells. */
static void a_commit_of_another_size_than_listed_is_none(void **state)
{
    struct log_fixture *f = *state;
    static const char name[] = "00000000000000000001.json";
    for (int i = 0; i < 8; i++) {
        struct files files = {.n = 0};
        struct seen seen = {.n = 0};
        const struct sl_commits_request request = {.in_parts = i % 2 != 0, .info_only = i % 4 >= 2};
        i < 4 ? log_put(f, name, LOG_ADD("a") "\n" LOG_ADD("b") "\n") : put_large(f, name, LOG_ADD("a"));
        add_stored(f, &files, 1, name);
        log_put(f, name, i < 6 ? LOG_ADD("a") "\n" : "");
        assert_int_equal(each(f, &files, request, &seen), SILT_EIO);
        assert_non_null(strstr(f->err.message, name));
        assert_non_null(strstr(f->err.message, "listed with"));
        assert_int_equal(f->err.version, 1);
        log_put(f, name, LOG_ADD("a") "\n" LOG_ADD("b") "\n"); /* longer than 100 */
        files.items[0].size = 100;
        seen.n = 0;
        assert_int_equal(each(f, &files, request, &seen), SILT_EIO);
        files.items[0].size = -1; /* nobody told */
        seen.n = 0;
        assert_int_equal(each(f, &files, request, &seen), SILT_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(commits_come_from_the_newest_to_the_oldest),
        LOG_TEST(a_commit_that_is_gone_fails_or_is_past),
        LOG_TEST(a_commit_info_is_found_wherever_it_stands),
        LOG_TEST(a_commit_of_another_size_than_listed_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
