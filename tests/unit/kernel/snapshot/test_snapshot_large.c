/*
 * Snapshots of logs whose commits are so large that they come in parts.
 */
#include <string.h>

#include "base/buf.h"
#include "log_fixture.h"

#define N_FILES 33000
#define PATH LOG_ROOT "/_delta_log/00000000000000000000.json"

/* Version 0 with N_FILES files, its head at the end. */
static void put_large(struct log_fixture *f, const char *head, const char *last)
{
    struct sl_buf text;
    sl_buf_init(&text, &f->test.env);
    for (size_t i = 0; i < N_FILES; i++) {
        sl_buf_printf(
            &text,
            "{\"add\":{\"path\":\"part-%zu-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.snappy.parquet\",\"size\":10,"
            "\"partitionValues\":{},\"modificationTime\":1700000000000,\"dataChange\":true,\"stats\":\"{"
            "\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"id\\\":1},\\\"maxValues\\\":{\\\"id\\\":1},"
            "\\\"nullCount\\\":{\\\"id\\\":0}}\"}}\n",
            i);
    }
    sl_buf_put_c(&text, head);
    sl_buf_put_c(&text, last);
    assert_true(text.len > (size_t)8 * 1024 * 1024);
    assert_int_equal(silt_storage_put(f->store, NULL, PATH, text.data, text.len, &f->err), SILT_OK);
    sl_buf_release(&text);
}

static void all_files_of_a_large_commit_are_there(void **state)
{
    struct log_fixture *f = *state;
    put_large(f, LOG_PROTOCOL "\n" LOG_METADATA "\n{\"commitInfo\":{\"operation\":\"X\"}}\n", "");
    log_commit(f, 1, LOG_REMOVE("part-7-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.snappy.parquet"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    int64_t n = 0;
    int64_t size = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, &size, &f->err), SILT_OK);
    assert_int_equal(n, N_FILES);
    assert_int_equal(size, N_FILES * 10);
    silt_snapshot_unref(snapshot);
}

static void a_fault_in_a_large_commit_is_told_with_its_line(void **state)
{
    struct log_fixture *f = *state;
    put_large(f, LOG_PROTOCOL "\n" LOG_METADATA "\n", "{\"add\":{\"path\":\"torn");
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "commit 0, line 33003: invalid JSON");
    put_large(f, LOG_PROTOCOL "\n" LOG_METADATA "\n",
              LOG_REMOVE("part-29-5fba94ed-9794-4965-ba6e-6ee3c0d22af9.c000.snappy.parquet"));
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND", "commit 0, line 33003: file part-29-");
    put_large(f, LOG_PROTOCOL "\n", "");
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "metaData");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(all_files_of_a_large_commit_are_there),
        LOG_TEST(a_fault_in_a_large_commit_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
