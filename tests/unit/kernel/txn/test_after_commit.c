/*
 * What follows a commit: a version checksum where it can be derived, by reading next to nothing; notes instead of failures.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/snapshot/crc_verify.h"
#include "kernel/snapshot/load.h"
#include "kernel/txn/after_commit.h"
#include "kernel/txn/after_crc.h"

#define REMOVE(path) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":5,\"dataChange\":true,\"size\":10}}"

#define BY(id) "{\"commitInfo\":{\"operation\":\"WRITE\",\"txnId\":\"" id "\"}}"

/* As if the version, which is in the log, had been committed by silt onto `base`. */
static void after(struct log_fixture *f, silt_snapshot *base, int64_t version)
{
    char path[128];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%020" PRId64 ".json", version);
    assert_int_equal(silt_storage_read(f->store, NULL, path, &data, &len, &f->err), SILT_OK);
    const struct sl_committed committed = {
        .table = f->table, .base = base, .version = version, .bytes = sl_str_make(data, len)};
    assert_int_equal(sl_after_commit(&committed, NULL), SL_LOG_STANDS);
    silt_storage_free(f->store, data, len);
}

static bool has_crc(struct log_fixture *f, int64_t version)
{
    char path[128];
    int64_t size = 0;
    int64_t time = 0;
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%020" PRId64 ".crc", version);
    return silt_storage_stat(f->store, NULL, path, &size, &time, NULL) == SILT_OK;
}

static void remove_crc(struct log_fixture *f, int64_t version)
{
    char path[128];
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%020" PRId64 ".crc", version);
    assert_int_equal(silt_storage_remove(f->store, NULL, path, &f->err), SILT_OK);
}

static void fail_on_fault(void *ctx, const char *member, const char *message)
{
    (void)ctx;
    print_error("%s: %s\n", member, message);
    fail();
}

static void expect_crc(struct log_fixture *f, int64_t version)
{
    char name[32];
    assert_true(has_crc(f, version));
    silt_snapshot *snapshot = log_open(f, version);
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".crc", version);
    const struct sl_log_file file = sl_log_name_parse(sl_str_from(name));
    assert_int_equal(sl_crc_verify(snapshot, NULL, &file, fail_on_fault, NULL, &f->err), SILT_OK);
    silt_snapshot_unref(snapshot);
}

static void expect_sound_or_none(struct log_fixture *f, int64_t version)
{
    if (has_crc(f, version)) {
        expect_crc(f, version);
    }
}

static void make_table(struct log_fixture *f)
{
    log_commit(f, 0, BY("made"), LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    after(f, NULL, 0);
}

static void checksums_begin_with_the_table(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    expect_crc(f, 0);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    f->n_reads = 0;
    f->n_lists = 0;
    after(f, base, 1);
    assert_int_equal(f->n_reads, 0); /* the checksum before was put through this table object */
    assert_int_equal(f->n_lists, 0);
    expect_crc(f, 1);
    silt_snapshot_unref(base);
    assert_int_equal(f->test.n_logs, 0);
}

static void commits_of_winners_are_caught_up_with(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, REMOVE("a"), NULL);
    log_commit(f, 3, LOG_ADD("c"), NULL);
    after(f, base, 3);
    expect_crc(f, 3);
    assert_false(has_crc(f, 2));
    after(f, base, 2); /* the slower winner's comes later */
    expect_crc(f, 2);
    silt_snapshot_unref(base);
    assert_int_equal(f->test.n_logs, 0);
}

static void a_log_without_checksums_stays_without(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    after(f, base, 1);
    assert_false(has_crc(f, 1));
    silt_snapshot_unref(base);
    assert_int_equal(f->test.n_logs, 0);
}

static void one_of_another_writer_stays(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_put(f, "00000000000000000001.crc", "theirs");
    after(f, base, 1);
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(
        silt_storage_read(f->store, NULL, LOG_ROOT "/_delta_log/00000000000000000001.crc", &data, &len, &f->err),
        SILT_OK);
    assert_int_equal(len, 6);
    silt_storage_free(f->store, data, len);
    silt_snapshot_unref(base);
}

/* Somebody took version 1 away, and left its checksum. */
static silt_snapshot *leave_a_stale_one(struct log_fixture *f)
{
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, BY("old"), LOG_ADD("b"), LOG_ADD("c"), NULL);
    after(f, base, 1);
    expect_crc(f, 1);
    log_commit(f, 1, BY("new"), LOG_ADD("d"), NULL);
    return base;
}

static void one_of_a_commit_that_is_gone_is_replaced(void **state)
{
    struct log_fixture *f = *state;
    silt_snapshot *base = leave_a_stale_one(f);
    after(f, base, 1);
    expect_crc(f, 1);
    f->n_reads = 0;
    after(f, base, 1); /* now it is ours, and stays */
    assert_int_equal(f->n_reads, 2);
    expect_crc(f, 1);
    silt_snapshot_unref(base);
    assert_int_equal(f->test.n_logs, 0);
}

/* Somebody put another commit of as many files and bytes in the place of ours, after its checksum was put through this table object. */
static void what_was_kept_of_a_commit_that_is_gone_is_not_used(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, BY("old"), LOG_ADD("b"), NULL);
    after(f, base, 1);
    log_commit(f, 1, BY("new"), LOG_ADD("c"), "{\"txn\":{\"appId\":\"job\",\"version\":5}}", NULL);
    silt_snapshot *grown = log_open(f, 1);
    assert_int_equal(silt_snapshot_version(grown), 1);
    log_commit(f, 2, BY("next"), LOG_ADD("d"), NULL);
    after(f, grown, 2);
    silt_snapshot *last = NULL;
    assert_int_equal(silt_snapshot_refresh(grown, NULL, &last, &f->err), SILT_OK);
    log_commit(f, 3, BY("last"), LOG_ADD("e"), NULL);
    after(f, last, 3);
    expect_sound_or_none(f, 2);
    expect_sound_or_none(f, 3);
    silt_snapshot_unref(last);
    silt_snapshot_unref(grown);
    silt_snapshot_unref(base);
}

/* Likewise, while the transaction rested on the version before: its winner is not the commit that the checksum is of. */
static void nor_where_a_winner_took_its_place(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, BY("old"), LOG_ADD("b"), NULL);
    after(f, base, 1);
    remove_crc(f, 1);
    log_commit(f, 1, BY("new"), LOG_ADD("c"), "{\"txn\":{\"appId\":\"job\",\"version\":5}}", NULL);
    log_commit(f, 2, BY("next"), LOG_ADD("d"), NULL);
    after(f, base, 2);
    expect_crc(f, 2);
    silt_snapshot_unref(base);
}

static void a_checkpoint_replaces_one_of_a_commit_that_is_gone(void **state)
{
    struct log_fixture *f = *state;
    silt_snapshot *base = leave_a_stale_one(f);
    silt_snapshot *snapshot = log_open(f, 1);
    assert_int_equal(sl_after_crc_restart(f->table, snapshot, NULL, NULL, &f->err), SILT_OK);
    expect_crc(f, 1);
    silt_snapshot_unref(snapshot);
    silt_snapshot_unref(base);
}

#define LYING_CRC                                                                                                              \
    "{\"tableSizeBytes\":70,\"numFiles\":7,\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{\"id\":\"m1\",\"format\":"        \
    "{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":" \
    "\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],"             \
    "\"configuration\":{},\"createdTime\":1},\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}"

/* The transaction has the files in memory: a sum that is wrong is not carried from checksum to checksum. */
static void totals_that_lie_are_counted_anew(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    sl_table_keep_crc(f->table, NULL);
    log_put(f, "00000000000000000000.crc", LYING_CRC);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    after(f, base, 1);
    assert_int_equal(f->test.n_logs, 1);
    assert_non_null(strstr(f->test.last_log, "counts 7 files of 70 bytes where there are 1 of 10"));
    expect_crc(f, 1);
    silt_snapshot_unref(base);
}

/* Whoever could not know better has carried it on: the next checkpoint counts. */
static void a_checkpoint_replaces_one_that_counts_wrong(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, "00000000000000000000.crc", LYING_CRC);
    silt_snapshot *snapshot = log_open(f, 0);
    const struct sl_checkpoint_result same = {.written = true, .n_adds = 7, .adds_bytes = 70};
    const struct sl_checkpoint_result unknown = {.written = true, .n_adds = 1, .adds_bytes = -1};
    const struct sl_checkpoint_result other = {.written = true, .n_adds = 7, .adds_bytes = 10};
    assert_int_equal(sl_after_crc_restart(f->table, snapshot, NULL, &same, &f->err), SILT_OK);
    assert_int_equal(sl_after_crc_restart(f->table, snapshot, NULL, &unknown, &f->err), SILT_OK);
    assert_int_equal(f->test.n_logs, 0);
    assert_int_equal(sl_after_crc_restart(f->table, snapshot, NULL, &other, &f->err), SILT_OK);
    assert_int_equal(f->test.n_logs, 1);
    expect_crc(f, 0);
    silt_snapshot_unref(snapshot);
}

static void a_broken_one_before_is_passed_over(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, "00000000000000000000.crc", "{");
    sl_table_keep_crc(f->table, NULL);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    f->n_reads = 0;
    after(f, base, 1);
    assert_int_equal(f->n_reads, 1);
    assert_false(has_crc(f, 1));
    silt_snapshot_unref(base);
}

/* The fixture's engine writes no Parquet. */
static void a_checkpoint_that_fails_costs_one_note(void **state)
{
    static const char metadata[] =
        "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
        "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":"
        "{\"delta.checkpointInterval\":\"2\"}}}";
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, metadata, NULL);
    after(f, NULL, 0);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    after(f, base, 1);
    assert_int_equal(f->test.n_logs, 0);
    log_commit(f, 2, LOG_ADD("c"), NULL);
    after(f, base, 2);
    assert_int_equal(f->test.n_logs, 1);
    assert_non_null(strstr(f->test.last_log, "version 2 is committed, but the checkpoint that is due was not written"));
    expect_crc(f, 2);
    silt_snapshot_unref(base);
}

/* Memory may run out anywhere: nothing fails, and at most a note is written. */
static void failed_allocations_leave_the_commit_alone(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *base = log_open(f, 0);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    size_t n_failed = 0;
    for (size_t n = 1; n < 100; n++) {
        static const char bytes[] = LOG_ADD("b") "\n";
        const struct sl_committed committed = {
            .table = f->table, .base = base, .version = 1, .bytes = sl_str_make(bytes, sizeof(bytes) - 1)};
        remove_crc(f, 1);
        f->test.n_logs = 0;
        test_env_fail_at(&f->test, n);
        assert_int_equal(sl_after_commit(&committed, NULL), SL_LOG_STANDS);
        test_env_fail_at(&f->test, 0);
        n_failed += has_crc(f, 1) ? 0 : 1;
        assert_int_equal(f->test.n_logs, has_crc(f, 1) ? 0 : 1);
    }
    assert_true(n_failed > 3);
    expect_crc(f, 1);
    silt_snapshot_unref(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(checksums_begin_with_the_table),
        LOG_TEST(commits_of_winners_are_caught_up_with),
        LOG_TEST(a_log_without_checksums_stays_without),
        LOG_TEST(one_of_another_writer_stays),
        LOG_TEST(one_of_a_commit_that_is_gone_is_replaced),
        LOG_TEST(what_was_kept_of_a_commit_that_is_gone_is_not_used),
        LOG_TEST(nor_where_a_winner_took_its_place),
        LOG_TEST(a_checkpoint_replaces_one_of_a_commit_that_is_gone),
        LOG_TEST(totals_that_lie_are_counted_anew),
        LOG_TEST(a_checkpoint_replaces_one_that_counts_wrong),
        LOG_TEST(a_broken_one_before_is_passed_over),
        LOG_TEST(failed_allocations_leave_the_commit_alone),
        LOG_TEST(a_checkpoint_that_fails_costs_one_note),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
