/*
 * Refresh: only the tail is read, and the result is what loading afresh gives.
 */
#include "log_fixture.h"

#include <string.h>

static silt_snapshot *refresh(struct log_fixture *f, silt_snapshot *snapshot)
{
    silt_snapshot *newer = NULL;
    const silt_status status = silt_snapshot_refresh(snapshot, NULL, &newer, &f->err);
    if (status != SILT_OK) {
        print_error("refresh failed: [%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    return newer;
}

static void nothing_new_is_the_same_snapshot(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    const size_t reads = f->n_reads;
    silt_snapshot *same = refresh(f, snapshot);
    assert_ptr_equal(same, snapshot);
    assert_int_equal(f->n_reads, reads);
    silt_snapshot_unref(same);
    silt_snapshot_unref(snapshot);
}

static void only_new_commits_are_read(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"),
               "{\"txn\":{\"appId\":\"x\",\"version\":1}}", "{\"txn\":{\"appId\":\"y\",\"version\":5}}", NULL);
    silt_snapshot *first = log_open(f, -1);
    log_commit(f, 1, LOG_REMOVE("a"), LOG_ADD("c"), "{\"txn\":{\"appId\":\"x\",\"version\":2}}", NULL);
    log_commit(f, 2, LOG_ADD("d"), NULL);
    const size_t reads = f->n_reads;
    silt_snapshot *second = refresh(f, first);
    assert_int_equal(f->n_reads, reads + 2);
    assert_int_equal(silt_snapshot_version(second), 2);
    assert_string_equal(log_files(f, second), "b c d");
    assert_string_equal(log_files(f, first), "a b");
    assert_int_equal(silt_snapshot_app_version(second, "x"), 2);
    assert_int_equal(silt_snapshot_app_version(second, "y"), 5);
    assert_int_equal(f->n_reads, reads + 2);
    silt_snapshot_unref(first);
    assert_string_equal(log_files(f, second), "b c d");
    silt_snapshot_unref(second);
}

static void refreshes_follow_each_other(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1); /* the checkpoint's files are not loaded */
    log_commit(f, 1, LOG_REMOVE("a"), LOG_ADD("c"), NULL);
    silt_snapshot *one = refresh(f, snapshot);
    log_commit(f, 2, LOG_REMOVE("c"), LOG_ADD("a"), NULL);
    silt_snapshot *two = refresh(f, one);
    log_commit(f, 3, LOG_ADD("e"), LOG_REMOVE("b"), NULL);
    silt_snapshot *three = refresh(f, two);
    assert_int_equal(f->n_parquet_reads, 1);
    assert_string_equal(log_files(f, three), "a e");
    assert_string_equal(log_files(f, two), "a b");
    assert_string_equal(log_files(f, one), "b c");
    log_commit(f, 4, LOG_REMOVE("e"), NULL);
    silt_snapshot *four = refresh(f, three); /* from a loaded one */
    const size_t reads = f->n_parquet_reads;
    assert_string_equal(log_files(f, four), "a");
    assert_int_equal(f->n_parquet_reads, reads);
    silt_snapshot_unref(snapshot);
    silt_snapshot_unref(one);
    silt_snapshot_unref(two);
    silt_snapshot_unref(three);
    silt_snapshot_unref(four);
}

static silt_status count_stats(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    *(size_t *)ctx += add->stats.ptr != NULL ? 1 : 0;
    return SILT_OK;
}

static void statistics_survive_a_refresh(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_commit(f, 0, LOG_ADD("a"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b"); /* loaded without statistics */
    log_commit(f, 1, LOG_ADD("c"), NULL);
    silt_snapshot *newer = refresh(f, snapshot);
    size_t n = 0;
    assert_int_equal(sl_snapshot_each_file(newer, NULL, SL_FILES_STATS, count_stats, &n, &f->err), SILT_OK);
    assert_int_equal(n, 3);
    silt_snapshot_unref(snapshot);
    silt_snapshot_unref(newer);
}

static void a_new_schema_is_taken(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_commit(f, 1,
               "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":"
               "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{\"k\":\"v\"}}}",
               NULL);
    silt_snapshot *newer = refresh(f, snapshot);
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(newer)), 0);
    assert_string_equal(silt_snapshot_property_get(newer, "k"), "v");
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(snapshot)), 1);
    silt_snapshot_unref(snapshot);
    silt_snapshot_unref(newer);
    log_commit(f, 2, "{\"protocol\":{\"minReaderVersion\":99,\"minWriterVersion\":7}}", NULL);
    snapshot = log_open(f, 1);
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &newer, &f->err), SILT_EUNSUPPORTED);
    assert_null(newer);
    silt_snapshot_unref(snapshot);
}

static void a_replaced_log_is_loaded_afresh(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_remove(f, "00000000000000000001.json");
    log_set_time_ms(f, INT64_C(1900000000000));
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("z"), NULL);
    silt_snapshot *other = refresh(f, snapshot);
    assert_int_equal(silt_snapshot_version(other), 0);
    assert_string_equal(log_files(f, other), "z");
    silt_snapshot_unref(other);
    log_commit(f, 1, LOG_ADD("y"), LOG_ADD("x"), NULL);
    other = refresh(f, snapshot);
    assert_string_equal(log_files(f, other), "x y z");
    silt_snapshot_unref(other);
    silt_snapshot_unref(snapshot);
}

static void commits_that_were_cleaned_up_lead_to_the_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("n"), NULL);
    log_commit(f, 3, LOG_ADD("n"), NULL);
    log_commit(f, 4, LOG_ADD("o"), NULL);
    log_remove(f, "00000000000000000000.json");
    silt_snapshot *newer = refresh(f, snapshot);
    assert_int_equal(silt_snapshot_version(newer), 4);
    assert_string_equal(log_files(f, newer), "n o");
    silt_snapshot_unref(newer);
    silt_snapshot_unref(snapshot);
}

static silt_status count_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)add;
    (void)stop;
    (void)err;
    (*(size_t *)ctx)++;
    return SILT_OK;
}

/* A snapshot that was refreshed for long rests on commits of the day on which it was opened. */
static void commits_that_expire_below_a_refreshed_snapshot_are_gone_around(void **state)
{
    struct log_fixture *f = *state;
    size_t n_files = 0;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    silt_snapshot *old = log_open(f, -1);
    log_commit(f, 2, LOG_ADD("c"), NULL);
    silt_snapshot *snapshot = refresh(f, old);
    silt_snapshot_unref(old);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), LOG_ADD("c"), NULL);
    log_remove(f, "00000000000000000000.json");
    log_remove(f, "00000000000000000001.json");
    log_remove(f, "00000000000000000000.checkpoint.parquet");
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, count_file, &n_files, &f->err), SILT_OK);
    assert_int_equal(n_files, 3);
    silt_snapshot_unref(snapshot);
}

static void commits_that_are_gone_without_another_way_are_told(void **state)
{
    struct log_fixture *f = *state;
    size_t n_files = 0;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    silt_snapshot *old = log_open(f, -1);
    log_commit(f, 2, LOG_ADD("c"), NULL);
    silt_snapshot *snapshot = refresh(f, old);
    silt_snapshot_unref(old);
    log_remove(f, "00000000000000000002.json");
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, count_file, &n_files, &f->err),
                     SILT_ENOTFOUND);
    assert_int_equal(n_files, 0);
    silt_snapshot_unref(snapshot);
}

/* What was asked for with the checkpoint is still there for who wants statistics later. */
static void commits_that_are_gone_after_they_came_do_no_harm(void **state)
{
    struct log_fixture *f = *state;
    size_t n_files = 0;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_remove(f, "00000000000000000001.json");
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, count_file, &n_files, &f->err), SILT_OK);
    assert_int_equal(n_files, 2);
    silt_snapshot_unref(snapshot);
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("p=1/b"), NULL);
    log_commit(f, 0, LOG_ADD("a"), LOG_ADD("p=1/b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_commit(f, 1, LOG_ADD("c"), LOG_REMOVE("a"), "{\"txn\":{\"appId\":\"x\",\"version\":1}}", NULL);
    silt_snapshot *between = refresh(f, snapshot); /* not loaded: its tail is joined */
    log_commit(f, 2, LOG_ADD("d%20e"), LOG_REMOVE("c"), NULL);
    for (size_t n = 1;; n++) {
        silt_snapshot *newer = NULL;
        int64_t files = 0;
        test_env_fail_at(&f->test, n);
        silt_status status = silt_snapshot_refresh(between, NULL, &newer, &f->err);
        if (status == SILT_OK) {
            status = silt_snapshot_totals(newer, NULL, &files, NULL, &f->err);
        }
        const bool reached = f->test.n_requests >= n;
        test_env_fail_at(&f->test, 0);
        silt_snapshot_unref(newer);
        if (!reached) {
            assert_int_equal(status, SILT_OK);
            assert_int_equal(files, 2);
            break;
        }
        if (status != SILT_OK && status != SILT_ENOMEM) {
            print_error("request %zu: [%s] %s\n", n, f->err.code_name, f->err.message);
        }
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
    }
    silt_snapshot_unref(between);
    silt_snapshot_unref(snapshot);
}

static silt_status count_tombstone(void *ctx, const struct sl_remove *gone, bool *stop, silt_error *err)
{
    (void)gone;
    (void)stop;
    (void)err;
    (*(int *)ctx)++;
    return SILT_OK;
}

/* Its old checkpoint and commits are cleaned up while it lives; the log has another way then. */
static void a_snapshot_that_grew_finds_a_way_of_that_day(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    silt_snapshot *old = log_open(f, -1);
    assert_string_equal(log_files(f, old), "a b");
    log_commit(f, 1, LOG_REMOVE("a"), LOG_ADD("c"), NULL);
    silt_snapshot *grown = NULL;
    assert_int_equal(silt_snapshot_refresh(old, NULL, &grown, &f->err), SILT_OK);
    silt_snapshot_unref(old);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_remove(f, "00000000000000000000.json");
    assert_string_equal(log_files(f, grown), "b c");
    int n = 0;
    assert_int_equal(sl_snapshot_each_tombstone(grown, NULL, count_tombstone, &n, &f->err), SILT_OK);
    assert_int_equal(n, 1);
    silt_snapshot_unref(grown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(nothing_new_is_the_same_snapshot),
        LOG_TEST(only_new_commits_are_read),
        LOG_TEST(refreshes_follow_each_other),
        LOG_TEST(statistics_survive_a_refresh),
        LOG_TEST(a_new_schema_is_taken),
        LOG_TEST(a_replaced_log_is_loaded_afresh),
        LOG_TEST(commits_that_were_cleaned_up_lead_to_the_checkpoint),
        LOG_TEST(commits_that_expire_below_a_refreshed_snapshot_are_gone_around),
        LOG_TEST(commits_that_are_gone_without_another_way_are_told),
        LOG_TEST(commits_that_are_gone_after_they_came_do_no_harm),
        LOG_TEST(every_failed_allocation_is_reported),
        LOG_TEST(a_snapshot_that_grew_finds_a_way_of_that_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
