/*
 * Snapshots opened through a version checksum: what it spares, what it answers, and what happens when it is wrong.
 */
#include "log_fixture.h"

#include <stdio.h>
#include <string.h>

#include "kernel/snapshot/crc_verify.h"

#define METADATA "\"metadata\":" META_BODY
#define META_BODY                                                                                        \
    "{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"              \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\"," \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}"
#define PROTOCOL "\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}"
#define STATE ",\"setTransactions\":[{\"appId\":\"app\",\"version\":9}],\"domainMetadata\":[]"
#define CRC(files, bytes, more)                                                                          \
    "{\"numFiles\":" files ",\"tableSizeBytes\":" bytes ",\"numMetadata\":1,\"numProtocol\":1," METADATA \
    "," PROTOCOL more "}"
#define TXN "{\"txn\":{\"appId\":\"app\",\"version\":9}}"

static const char crc2[] = "00000000000000000002.crc";
static const char crc3[] = "00000000000000000003.crc";

/* A checkpoint at 2 with a and b, commits 3 (adds c) and 4 (removes a). */
static void make_table(struct log_fixture *f)
{
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, TXN, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_ADD("b"), NULL);
    log_commit(f, 3, LOG_ADD("c"), NULL);
    log_commit(f, 4, LOG_REMOVE("a"), NULL);
}

static void protocol_and_metadata_need_no_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, crc3, CRC("3", "30", STATE));
    silt_snapshot *snapshot = log_open(f, 3);
    assert_int_equal(f->n_parquet_reads, 0);
    assert_int_equal(f->n_reads, 2); /* the hint that is not there, and the checksum */
    assert_int_equal(silt_snapshot_version(snapshot), 3);
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(snapshot)), 1);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 9);
    int64_t n = 0;
    int64_t bytes = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, &bytes, &f->err), SILT_OK);
    assert_int_equal(n, 3);
    assert_int_equal(bytes, 30);
    assert_int_equal(f->n_parquet_reads, 0);
    assert_string_equal(log_files(f, snapshot), "a b c"); /* now the checkpoint is read */
    assert_true(f->n_parquet_reads > 0);
    assert_int_equal(f->test.n_logs, 0);
    silt_snapshot_unref(snapshot);
}

static void an_older_one_is_helped_by_the_commits_after_it(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, crc3, CRC("3", "30", STATE));
    log_commit(f, 4, LOG_REMOVE("a"), "{\"txn\":{\"appId\":\"app\",\"version\":10}}", NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(f->n_parquet_reads, 0);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 10);
    int64_t n = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &f->err), SILT_OK); /* not its version's: counted */
    assert_int_equal(n, 2);
    assert_string_equal(log_files(f, snapshot), "b c");
    silt_snapshot_unref(snapshot);
}

static void one_before_the_checkpoint_or_after_the_version_is_not_used(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, "00000000000000000001.crc", CRC("7", "70", STATE));
    log_put(f, "00000000000000000004.crc", CRC("7", "70", STATE));
    silt_snapshot *snapshot = log_open(f, 3);
    assert_true(f->n_parquet_reads > 0);
    assert_string_equal(log_files(f, snapshot), "a b c");
    silt_snapshot_unref(snapshot);
}

/* What is not said there is only in the log. */
static void one_that_leaves_out_applications_is_not_enough(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, crc3, CRC("3", "30", ""));
    silt_snapshot *snapshot = log_open(f, 3);
    assert_true(f->n_parquet_reads > 0);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 9);
    assert_int_equal(f->test.n_logs, 0);
    silt_snapshot_unref(snapshot);
}

static void a_broken_one_costs_a_note(void **state)
{
    struct log_fixture *f = *state;
    static const char *const broken[] = {"", "{", "[]", CRC("-3", "30", STATE), "{\"numFiles\":3}"};
    make_table(f);
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        log_put(f, crc3, broken[i]);
        f->test.n_logs = 0;
        silt_snapshot *snapshot = log_open(f, 3);
        assert_int_equal(f->test.n_logs, 1);
        assert_non_null(strstr(f->test.last_log, crc3));
        assert_string_equal(log_files(f, snapshot), "a b c");
        silt_snapshot_unref(snapshot);
    }
}

static void wrong_totals_cost_a_note_when_the_files_are_known(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, crc3, CRC("4", "40", STATE));
    silt_snapshot *snapshot = log_open(f, 3);
    assert_string_equal(log_files(f, snapshot), "a b c");
    assert_int_equal(f->test.n_logs, 1);
    assert_non_null(strstr(f->test.last_log, "counts 4 files of 40 bytes where the log has 3 of 30"));
    int64_t n = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &f->err), SILT_OK);
    assert_int_equal(n, 3);
    silt_snapshot_unref(snapshot);
}

static void a_wrong_schema_never_reaches_rows(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, TXN, LOG_ADD("a"), NULL);
    log_commit(f, 2, LOG_ADD("a"), NULL);
    log_put(
        f, crc2,
        "{\"numFiles\":1,\"tableSizeBytes\":10,\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{\"id\":\"m1\","
        "\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\","
        "\"partitionColumns\":[],\"configuration\":{}}," PROTOCOL STATE "}");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(snapshot)), 0);
    /* Whoever asks for its files as they are is told. */
    int64_t n = 0;
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, NULL, &n, &f->err), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "metaData.schemaString differs"));
    silt_snapshot *same = silt_snapshot_ref(snapshot);
    assert_int_equal(sl_snapshot_settle(&same, NULL, &f->err), SILT_OK);
    assert_ptr_not_equal(same, snapshot);
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(same)), 1);
    assert_string_equal(log_files(f, same), "a");
    assert_true(f->test.n_logs > 0);
    silt_snapshot_unref(same);
    silt_snapshot_unref(snapshot);
    snapshot = log_open(f, -1); /* the table does without it from now on */
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(snapshot)), 1);
    silt_snapshot_unref(snapshot);
}

static void a_scan_is_built_on_the_log(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_put(
        f, crc2,
        "{\"numFiles\":1,\"tableSizeBytes\":10,\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{\"id\":\"m1\","
        "\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\","
        "\"partitionColumns\":[],\"configuration\":{}}," PROTOCOL ",\"setTransactions\":[],\"domainMetadata\":[]}");
    silt_snapshot *snapshot = log_open(f, -1);
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_build(builder, NULL, &scan, &f->err), SILT_OK);
    assert_int_equal(silt_schema_field_count(silt_scan_schema(scan)), 1);
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
}

static void the_schema_may_be_printed_otherwise(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, TXN, LOG_ADD("a"), NULL);
    log_put(
        f, crc2,
        "{\"numFiles\":1,\"tableSizeBytes\":10,\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{\"id\":\"m1\","
        "\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"fields\\\": [{\\\"metadata\\\":{},\\\"name\\\":"
        "\\\"id\\\",\\\"nullable\\\":true,\\\"type\\\":\\\"long\\\"}],\\\"type\\\":\\\"struct\\\"}\","
        "\"partitionColumns\":[],\"configuration\":{}}," PROTOCOL STATE "}");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a");
    assert_int_equal(f->test.n_logs, 0);
    silt_snapshot_unref(snapshot);
}

static void a_refresh_uses_the_newest_one(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, TXN, LOG_ADD("a"), NULL);
    log_commit(f, 2, LOG_ADD("a"), NULL);
    log_put(f, crc2, CRC("1", "10", STATE));
    silt_snapshot *snapshot = log_open(f, -1);
    log_commit(f, 3, LOG_ADD("b"), NULL);
    log_put(f, crc3, CRC("2", "20", STATE));
    silt_snapshot *newer = NULL;
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &newer, &f->err), SILT_OK);
    assert_int_equal(silt_snapshot_version(newer), 3);
    assert_int_equal(f->n_parquet_reads, 0);
    assert_string_equal(log_files(f, newer), "a b");
    silt_snapshot *again = NULL;
    log_put(f, "00000000000000000009.crc", "{}"); /* makes no version */
    assert_int_equal(silt_snapshot_refresh(newer, NULL, &again, &f->err), SILT_OK);
    assert_ptr_equal(again, newer);
    silt_snapshot_unref(again);
    silt_snapshot_unref(newer);
    silt_snapshot_unref(snapshot);
}

/* ---- verification ---- */

struct faults {
    size_t n;
    char members[512];
};

static void note_fault(void *ctx, const char *member, const char *message)
{
    struct faults *faults = ctx;
    assert_non_null(message);
    (void)snprintf(faults->members + strlen(faults->members), sizeof(faults->members) - strlen(faults->members), "%s%s",
                   faults->n > 0 ? " " : "", member);
    faults->n++;
}

static void expect_faults(struct log_fixture *f, const char *crc, const char *members)
{
    log_put(f, crc3, crc);
    silt_snapshot *snapshot = log_open(f, 3);
    struct sl_log_file file = sl_log_name_parse(sl_str_from(crc3));
    struct faults faults = {.n = 0};
    assert_int_equal(sl_crc_verify(snapshot, NULL, &file, note_fault, &faults, &f->err), SILT_OK);
    assert_string_equal(faults.members, members);
    silt_snapshot_unref(snapshot);
}

static void every_wrong_member_is_named(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_commit(f, 3, "{\"commitInfo\":{\"txnId\":\"t3\",\"inCommitTimestamp\":77}}", LOG_ADD("c"), NULL);
    expect_faults(f, CRC("3", "30", STATE ",\"txnId\":\"t3\",\"inCommitTimestampOpt\":77"), "");
    expect_faults(f, CRC("3", "30", ""), "");
    expect_faults(f, CRC("4", "31", STATE), "numFiles tableSizeBytes");
    expect_faults(f, CRC("3", "30", STATE ",\"txnId\":\"t4\",\"inCommitTimestampOpt\":78"),
                  "txnId inCommitTimestampOpt");
    expect_faults(f, CRC("3", "30", STATE ",\"numDeletionVectorsOpt\":1,\"numDeletedRecordsOpt\":5"),
                  "numDeletionVectorsOpt numDeletedRecordsOpt");
    expect_faults(f, CRC("3", "30", ",\"setTransactions\":[{\"appId\":\"app\",\"version\":8}],\"domainMetadata\":[]"),
                  "setTransactions");
    expect_faults(f,
                  CRC("3", "30", ",\"domainMetadata\":[{\"domain\":\"d\",\"configuration\":\"\",\"removed\":false}]"),
                  "domainMetadata");
    expect_faults(f, "nothing", "");
}

static void a_list_of_files_is_compared_too(void **state)
{
    struct log_fixture *f = *state;
#define ITEM(path) \
    "{\"path\":\"" path "\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":true}"
    make_table(f);
    expect_faults(f, CRC("3", "30", STATE ",\"allFiles\":[" ITEM("a") "," ITEM("b") "," ITEM("c") "]"), "");
    expect_faults(f, CRC("3", "30", STATE ",\"allFiles\":[" ITEM("a") "," ITEM("b") "," ITEM("x") "]"), "allFiles");
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_put(f, crc3, CRC("3", "30", STATE));
    for (size_t n = 1;; n++) {
        silt_snapshot *snapshot = NULL;
        test_env_fail_at(&f->test, n);
        silt_status status = silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err);
        if (status == SILT_OK) {
            status = sl_snapshot_settle(&snapshot, NULL, &f->err);
        }
        silt_snapshot_unref(snapshot);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(protocol_and_metadata_need_no_checkpoint),
        LOG_TEST(an_older_one_is_helped_by_the_commits_after_it),
        LOG_TEST(one_before_the_checkpoint_or_after_the_version_is_not_used),
        LOG_TEST(one_that_leaves_out_applications_is_not_enough),
        LOG_TEST(a_broken_one_costs_a_note),
        LOG_TEST(wrong_totals_cost_a_note_when_the_files_are_known),
        LOG_TEST(a_wrong_schema_never_reaches_rows),
        LOG_TEST(a_scan_is_built_on_the_log),
        LOG_TEST(the_schema_may_be_printed_otherwise),
        LOG_TEST(a_refresh_uses_the_newest_one),
        LOG_TEST(every_wrong_member_is_named),
        LOG_TEST(a_list_of_files_is_compared_too),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
