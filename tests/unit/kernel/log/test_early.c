/*
 * Parts of files that are asked for together: reads that they hold ask the store for nothing, all others are as without them.
 */
#include "log_fixture.h"

#include <string.h>

#include "kernel/log/early.h"

#define COMMIT LOG_ROOT "/_delta_log/00000000000000000001.json"
#define CHECKPOINT LOG_ROOT "/_delta_log/00000000000000000001.checkpoint.parquet"
#define ABSENT LOG_ROOT "/_delta_log/00000000000000000002.json"

static void keep_answer(void *ctx, silt_read_request *request)
{
    (*(size_t *)ctx)++;
    (void)request;
}

/* Reads one range; NULL for a failure. Text of the bytes, in the fixture. */
static const char *read_range(struct log_fixture *f, struct sl_early *early, const char *path, int64_t offset,
                              int64_t length)
{
    size_t n_done = 0;
    silt_read_request request = {.path = path, .offset = offset, .length = length};
    assert_int_equal(silt_storage_read_many(sl_early_storage(early), NULL, &request, 1, keep_answer, &n_done, &f->err),
                     SILT_OK);
    assert_int_equal(n_done, 1);
    if (request.status != SILT_OK) {
        return NULL;
    }
    assert_in_range(request.data_len, 0, sizeof(f->files) - 1);
    if (request.data_len > 0) {
        memcpy(f->files, request.data, request.data_len);
    }
    f->files[request.data_len] = '\0';
    silt_read_request_release(sl_early_storage(early), &request);
    return f->files;
}

static struct sl_early *bring(struct log_fixture *f, const struct sl_early_want *wants, size_t n)
{
    struct sl_early *early = NULL;
    assert_int_equal(sl_early_new(&f->test.env, f->traced, &early, &f->err), SILT_OK);
    f->n_reads = 0;
    assert_int_equal(sl_early_bring(early, NULL, wants, n, &f->err), SILT_OK);
    assert_int_equal(f->n_reads, n);
    f->n_reads = 0;
    return early;
}

static void what_came_is_not_asked_for_again(void **state)
{
    struct log_fixture *f = *state;
    log_put(f, "00000000000000000001.json", "a commit");
    log_put(f, "00000000000000000001.checkpoint.parquet", "0123456789");
    const struct sl_early_want wants[] = {{COMMIT, 8, 8}, {CHECKPOINT, 10, 4}};
    struct sl_early *early = bring(f, wants, 2);
    assert_string_equal(read_range(f, early, COMMIT, 0, -1), "a commit");
    assert_string_equal(read_range(f, early, COMMIT, 2, 3), "com");
    assert_string_equal(read_range(f, early, COMMIT, -3, -1), "mit");
    assert_string_equal(read_range(f, early, COMMIT, -100, 100), "a commit");
    assert_string_equal(read_range(f, early, COMMIT, 20, -1), "");
    assert_string_equal(read_range(f, early, CHECKPOINT, -4, 4), "6789");
    assert_string_equal(read_range(f, early, CHECKPOINT, 7, 2), "78");
    assert_int_equal(f->n_reads, 0);
    assert_string_equal(read_range(f, early, CHECKPOINT, 5, 2), "56");
    assert_string_equal(read_range(f, early, CHECKPOINT, 0, -1), "0123456789");
    assert_int_equal(f->n_reads, 2);
    sl_early_unref(early);
}

static void reads_are_split_and_each_is_answered_once(void **state)
{
    struct log_fixture *f = *state;
    log_put(f, "00000000000000000001.json", "a commit");
    log_put(f, "00000000000000000001.checkpoint.parquet", "0123456789");
    const struct sl_early_want want = {COMMIT, 8, 8};
    struct sl_early *early = bring(f, &want, 1);
    silt_read_request requests[] = {{.path = CHECKPOINT, .offset = 1, .length = 2},
                                    {.path = COMMIT, .offset = 0, .length = -1},
                                    {.path = ABSENT, .offset = 0, .length = -1}};
    size_t n_done = 0;
    assert_int_equal(silt_storage_read_many(sl_early_storage(early), NULL, requests, 3, keep_answer, &n_done, &f->err),
                     SILT_OK);
    assert_int_equal(n_done, 3);
    assert_int_equal(requests[0].data_len, 2);
    assert_memory_equal(requests[0].data, "12", 2);
    assert_int_equal(requests[1].file_size, 8);
    assert_int_equal(requests[2].status, SILT_ENOTFOUND);
    for (size_t i = 0; i < 3; i++) {
        silt_read_request_release(sl_early_storage(early), &requests[i]);
    }
    sl_early_unref(early);
}

/* Another size than was listed, or nothing: as if it had not been asked for. */
static void what_is_not_as_listed_does_not_count(void **state)
{
    struct log_fixture *f = *state;
    int64_t size = 0;
    bool has_tag = false;
    log_put(f, "00000000000000000001.json", "a commit");
    log_put(f, "00000000000000000001.checkpoint.parquet", "0123456789");
    const struct sl_early_want wants[] = {{COMMIT, 7, 7}, {CHECKPOINT, 11, 4}, {ABSENT, 3, 3}};
    struct sl_early *early = bring(f, wants, 3);
    assert_false(sl_early_knows(early, SL_STR(COMMIT), &size, &has_tag));
    assert_false(sl_early_knows(early, SL_STR(CHECKPOINT), &size, &has_tag));
    assert_false(sl_early_knows(early, SL_STR(ABSENT), &size, &has_tag));
    assert_string_equal(read_range(f, early, COMMIT, 0, -1), "a commit");
    assert_null(read_range(f, early, ABSENT, 0, -1));
    sl_early_unref(early);
}

/* The end of a file says for some seconds which version of it there is; what is whole needs nothing else. */
static void ends_are_asked_for_again_after_a_while(void **state)
{
    struct log_fixture *f = *state;
    int64_t size = 0;
    bool has_tag = true;
    log_put(f, "00000000000000000001.json", "a commit");
    log_put(f, "00000000000000000001.checkpoint.parquet", "0123456789");
    const struct sl_early_want wants[] = {{COMMIT, 8, 100}, {CHECKPOINT, -1, 4}};
    struct sl_early *early = bring(f, wants, 2);
    assert_true(sl_early_knows(early, SL_STR(CHECKPOINT), &size, &has_tag));
    assert_int_equal(size, 10);
    f->test.monotonic_us += 60 * 1000000;
    assert_false(sl_early_knows(early, SL_STR(CHECKPOINT), &size, &has_tag));
    log_put(f, "00000000000000000001.checkpoint.parquet", "abcdefghij");
    assert_string_equal(read_range(f, early, CHECKPOINT, -4, 4), "ghij");
    assert_string_equal(read_range(f, early, COMMIT, 0, -1), "a commit");
    assert_int_equal(f->n_reads, 1);
    sl_early_unref(early);
}

static void a_failure_of_the_store_is_told_once(void **state)
{
    struct log_fixture *f = *state;
    struct sl_early *early = NULL;
    log_put(f, "00000000000000000001.json", "a commit");
    const int cancelled = 1;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancelled};
    const struct sl_early_want want = {COMMIT, 8, 8};
    assert_int_equal(sl_early_new(&f->test.env, f->traced, &early, &f->err), SILT_OK);
    assert_int_equal(sl_early_bring(early, &call, &want, 1, &f->err), SILT_ECANCELLED);
    sl_early_unref(early);
    f->fail_operation = "read";
    f->fail_path = "00000000000000000001.json";
    silt_error_reset(&f->err);
    assert_int_equal(sl_early_new(&f->test.env, f->traced, &early, &f->err), SILT_OK);
    assert_int_equal(sl_early_bring(early, NULL, &want, 1, &f->err), SILT_OK);
    f->fail_operation = NULL;
    f->n_reads = 0;
    assert_null(read_range(f, early, COMMIT, 0, -1)); /* the store is not asked once more, and waited for */
    assert_int_equal(f->n_reads, 0);
    sl_early_unref(early);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(what_came_is_not_asked_for_again), LOG_TEST(reads_are_split_and_each_is_answered_once),
        LOG_TEST(what_is_not_as_listed_does_not_count), LOG_TEST(ends_are_asked_for_again_after_a_while),
        LOG_TEST(a_failure_of_the_store_is_told_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
