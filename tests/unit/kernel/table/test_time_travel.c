/*
 * Snapshots by time: file times that do not grow, in-commit timestamps, times before and after all versions.
 */
#include "log_fixture.h"

#include <string.h>

static int64_t version_at(struct log_fixture *f, int64_t ms)
{
    silt_snapshot *snapshot = NULL;
    silt_error_reset(&f->err);
    const silt_status status = silt_table_snapshot_at_timestamp(f->table, NULL, ms * 1000, &snapshot, &f->err);
    if (status != SILT_OK) {
        print_error("[%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    const int64_t version = silt_snapshot_version(snapshot);
    silt_snapshot_unref(snapshot);
    return version;
}

static void expect_refused(struct log_fixture *f, int64_t ms, const char *code_name)
{
    silt_snapshot *snapshot = NULL;
    silt_error_reset(&f->err);
    assert_int_equal(silt_table_snapshot_at_timestamp(f->table, NULL, ms * 1000, &snapshot, &f->err), SILT_ENOTFOUND);
    assert_null(snapshot);
    assert_string_equal(f->err.code_name, code_name);
}

static void commit_at(struct log_fixture *f, int64_t version, int64_t ms, const char *line)
{
    log_set_time_ms(f, ms);
    log_commit(f, version, version == 0 ? LOG_PROTOCOL : line, version == 0 ? LOG_METADATA : NULL, NULL);
}

static void the_last_version_not_after_the_time_is_taken(void **state)
{
    struct log_fixture *f = *state;
    commit_at(f, 0, 1000, NULL);
    commit_at(f, 1, 2000, LOG_ADD("a"));
    commit_at(f, 2, 3000, LOG_ADD("b"));
    assert_int_equal(version_at(f, 1000), 0);
    assert_int_equal(version_at(f, 1999), 0);
    assert_int_equal(version_at(f, 2000), 1);
    assert_int_equal(version_at(f, 3000), 2);
    expect_refused(f, 999, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    expect_refused(f, 3001, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_snapshot_at_timestamp(f->table, NULL, 3000999, &snapshot, &f->err), SILT_OK);
    silt_snapshot_unref(snapshot); /* times of versions have milliseconds only */
}

static void file_times_are_made_to_grow(void **state)
{
    struct log_fixture *f = *state;
    commit_at(f, 0, 5000, NULL);
    commit_at(f, 1, 4000, LOG_ADD("a"));
    commit_at(f, 2, 5000, LOG_ADD("b"));
    assert_int_equal(version_at(f, 5000), 0);
    assert_int_equal(version_at(f, 5001), 1);
    assert_int_equal(version_at(f, 5002), 2);
    expect_refused(f, 4999, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    expect_refused(f, 5003, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
}

static void versions_that_cannot_be_rebuilt_are_not_found(void **state)
{
    struct log_fixture *f = *state;
    commit_at(f, 2, 1000, LOG_ADD("a"));
    commit_at(f, 3, 2000, LOG_ADD("b"));
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), NULL);
    commit_at(f, 4, 3000, LOG_ADD("c"));
    expect_refused(f, 1500, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    assert_int_equal(version_at(f, 2500), 3);
}

#define ICT_PROTOCOL \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"inCommitTimestamp\"]}}"
#define ICT_METADATA(more)                                                                                              \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\"" \
    ",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{\"delta.enableInCommitTimestamps\":\"true\"" more \
    "}}}"
#define ICT(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\"}}"

static void in_commit_timestamps_count_where_there_are_any(void **state)
{
    struct log_fixture *f = *state;
    log_set_time_ms(f, 900000); /* of the files: tells nothing */
    log_commit(f, 0, ICT("1000"), ICT_PROTOCOL, ICT_METADATA(""), NULL);
    log_commit(f, 1, ICT("2000"), LOG_ADD("a"), NULL);
    log_commit(f, 2, ICT("3000"), LOG_ADD("b"), NULL);
    assert_int_equal(version_at(f, 1999), 0);
    assert_int_equal(version_at(f, 2000), 1);
    assert_int_equal(version_at(f, 3000), 2);
    expect_refused(f, 999, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    expect_refused(f, 3001, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_timestamp_ms(snapshot), 3000);
    silt_snapshot_unref(snapshot);
    log_checkpoint(f, 2, ICT_PROTOCOL, ICT_METADATA(""), LOG_ADD("b"), NULL);
    snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_timestamp_ms(snapshot), 3000);
    silt_snapshot_unref(snapshot);
}

static void versions_before_the_enablement_go_by_file_times(void **state)
{
    struct log_fixture *f = *state;
    commit_at(f, 0, 1000, NULL);
    commit_at(f, 1, 2000, LOG_ADD("a"));
    log_set_time_ms(f, 900000);
    log_commit(f, 2, ICT("3000"), ICT_PROTOCOL,
               ICT_METADATA(",\"delta.inCommitTimestampEnablementVersion\":\"2\","
                            "\"delta.inCommitTimestampEnablementTimestamp\":\"3000\""),
               NULL);
    log_commit(f, 3, ICT("4000"), LOG_ADD("b"), NULL);
    assert_int_equal(version_at(f, 1500), 0);
    assert_int_equal(version_at(f, 2999), 1);
    assert_int_equal(version_at(f, 3000), 2);
    assert_int_equal(version_at(f, 4000), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_last_version_not_after_the_time_is_taken),
        LOG_TEST(file_times_are_made_to_grow),
        LOG_TEST(versions_that_cannot_be_rebuilt_are_not_found),
        LOG_TEST(in_commit_timestamps_count_where_there_are_any),
        LOG_TEST(versions_before_the_enablement_go_by_file_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
