/* The check of a log: gaps, commits that break rules, and everything that must agree with the commits. */
#include "fsck_findings.h"
#include "log_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>

#define ICT_PROTOCOL                                                                                          \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"inCommitTimestamp\"," \
    "\"rowTracking\",\"domainMetadata\"]}}"
#define METADATA(properties)                                                                                \
    "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"   \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","    \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{" properties \
    "},\"createdTime\":1}}"
#define INFO(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\"}}"
#define ADD_IDS(path, rows, base)                                                                               \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":" \
    "true,\"stats\":\"{\\\"numRecords\\\":" rows "}\",\"baseRowId\":" base ",\"defaultRowCommitVersion\":1}}"
#define VECTOR(id) "{\"storageType\":\"i\",\"pathOrInlineDv\":\"" id "\",\"sizeInBytes\":1,\"cardinality\":1}"
#define ADD_VECTOR(path, id)                                                                                    \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":" \
    "true,\"deletionVector\":" VECTOR(id) "}}"
#define CRC(files, bytes)                                                                                             \
    "{\"tableSizeBytes\":" bytes ",\"numFiles\":" files ",\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{"         \
    "\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"                            \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","              \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}," \
    "\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}"

static void check(struct log_fixture *f, const char *lines)
{
    struct fsck_findings found = {0};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    fsck_run(&found, f->table, &options);
    fsck_expect(&found, lines);
    fsck_release(&found);
}

static void make(struct log_fixture *f)
{
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    log_commit(f, 1, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), LOG_ADD("c"), NULL);
}

static void sound_log_has_no_findings(void **state)
{
    struct log_fixture *f = *state;
    struct fsck_findings found = {0};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    make(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_put(f, "00000000000000000002.crc", CRC("2", "20"));
    log_commit(f, 3, LOG_ADD("d"), NULL);
    fsck_run(&found, f->table, &options);
    fsck_expect(&found, "");
    assert_true(found.report.readable);
    assert_int_equal(found.report.version, 3);
    assert_int_equal(found.report.commits, 4);
    assert_int_equal(found.report.checkpoints, 1);
    assert_int_equal(found.report.checksums, 1);
    assert_int_equal(found.report.faults + found.report.notes, 0);
    fsck_release(&found);
}

static void no_log_is_no_table(void **state)
{
    struct log_fixture *f = *state;
    struct fsck_findings found = {0};
    fsck_run(&found, f->table, NULL);
    assert_int_equal(found.status, SILT_ENOTTABLE);
    fsck_release(&found);
}

static void gap_is_told_and_the_rest_is_checked_from_the_next_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_remove(f, "00000000000000000001.json");
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_commit(f, 3, LOG_REMOVE("x"), NULL);
    check(f, "fault log 1 - -: - for -\n"
             "note commit 3 - x: - for -\n");
}

static void log_that_cannot_be_rebuilt_is_not_readable(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_remove(f, "00000000000000000001.json");
    check(f, "fault log 2 - -: - for -\n"
             "fault log 1 - -: - for -\n"
             "fault log 2 - -: - for -\n");
}

static void log_without_its_beginning_is_checked_from_its_oldest_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_remove(f, "00000000000000000000.json");
    log_remove(f, "00000000000000000001.json");
    log_commit(f, 3, LOG_REMOVE("b"), NULL);
    log_put(f, "00000000000000000003.crc", CRC("1", "10"));
    check(f, "");
}

/* What a clean-up deletes while the log is walked, once commit 0 was read. */
static void clean_up(void *ctx, const silt_progress *progress)
{
    struct log_fixture *f = ctx;
    (void)progress;
    log_remove(f, "00000000000000000000.json");
    log_remove(f, "00000000000000000001.json");
}

static void log_that_is_cleaned_up_meanwhile_is_checked_as_it_is_then(void **state)
{
    struct log_fixture *f = *state;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = clean_up, .progress_ctx = f};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    struct fsck_findings found = {.call = &call};
    make(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_commit(f, 3, LOG_REMOVE("x"), NULL);
    fsck_run(&found, f->table, &options);
    fsck_expect(&found, "note commit 3 - x: - for -\n");
    assert_int_equal(found.report.commits, 2);
    assert_int_equal(found.report.faults, 0);
    assert_int_equal(found.report.notes, 1);
    fsck_release(&found);
}

/* One file of the log is gone, and none goes meanwhile. */
static void lose_one(void *ctx, const silt_progress *progress)
{
    struct log_fixture *f = ctx;
    (void)progress;
    log_remove(f, "00000000000000000001.json");
}

static void gap_that_comes_meanwhile_is_told(void **state)
{
    struct log_fixture *f = *state;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = lose_one, .progress_ctx = f};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    struct fsck_findings found = {.call = &call};
    make(f);
    fsck_run(&found, f->table, &options);
    fsck_expect(&found, "fault log 2 - -: - for -\n"
                        "fault log 1 - -: - for -\n"
                        "fault log 2 - -: - for -\n");
    fsck_release(&found);
}

static void commit_that_cannot_be_parsed_is_told(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_commit(f, 3, "{\"add\":{\"path\":", NULL);
    check(f, "fault log 3 - -: - for -\n"
             "fault commit 3 - 00000000000000000003.json: - for -\n"
             "fault log 3 - -: - for -\n");
}

static void commit_that_is_empty_is_told_wherever_it_lies(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "00000000000000000001.json", "");
    log_put(f, "00000000000000000003.json", " \n\n");
    log_commit(f, 4, LOG_ADD("d"), NULL);
    log_put(f, "00000000000000000005.json", "");
    check(f, "fault commit 1 - 00000000000000000001.json: - for -\n"
             "note commit 2 - a: - for -\n"
             "fault commit 3 - 00000000000000000003.json: - for -\n"
             "fault commit 5 - 00000000000000000005.json: - for -\n");
}

static void empty_commit_of_the_oldest_checkpoint_is_told(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_remove(f, "00000000000000000000.json");
    log_remove(f, "00000000000000000001.json");
    log_put(f, "00000000000000000002.json", "");
    check(f, "fault commit 2 - 00000000000000000002.json: - for -\n");
}

static void every_commit_file_is_counted_after_a_clean_up(void **state)
{
    struct log_fixture *f = *state;
    struct fsck_findings found = {0};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    make(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_remove(f, "00000000000000000000.json");
    log_remove(f, "00000000000000000001.json");
    log_commit(f, 3, LOG_ADD("d"), NULL);
    fsck_run(&found, f->table, &options);
    assert_int_equal(found.report.commits, 2);
    fsck_release(&found);
}

static void first_commit_must_have_protocol_and_metadata(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_METADATA, NULL);
    log_commit(f, 1, LOG_PROTOCOL, NULL);
    check(f, "fault commit 0 - 00000000000000000000.json: - for -\n");
}

static void files_are_added_and_removed_as_they_should(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_commit(f, 3, LOG_REMOVE("nowhere"), LOG_REMOVE("a"), LOG_ADD("b"), NULL);
    check(f, "note commit 3 - nowhere: - for -\n"
             "note commit 3 - a: - for -\n"
             "note commit 3 - b: - for -\n");
}

static void file_that_is_live_with_two_vectors_is_told(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0,
               "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"],"
               "\"writerFeatures\":[\"deletionVectors\"]}}",
               LOG_METADATA, NULL);
    log_commit(f, 1, ADD_VECTOR("a", "one"), LOG_ADD("b"), NULL);
    /* The order of actions in a commit does not matter. */
    log_commit(f, 2, ADD_VECTOR("b", "one"), LOG_REMOVE("b"), NULL);
    log_commit(f, 3, ADD_VECTOR("a", "two"), NULL);
    check(f, "fault commit 3 - a: - for -\n");
    log_commit(f, 3, LOG_REMOVE("b"), NULL);
    check(f, "fault commit 3 - b: - for -\n");
}

static void append_only_table_that_loses_data_is_told(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, METADATA("\"delta.appendOnly\":\"true\""), NULL);
    log_commit(f, 1, LOG_ADD("a"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), NULL);
    check(f, "fault commit 2 - a: - for -\n");
}

static void in_commit_timestamps_must_be_there_and_increase(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, INFO("100"), ICT_PROTOCOL, METADATA("\"delta.enableInCommitTimestamps\":\"true\""), NULL);
    log_commit(f, 1, INFO("101"), LOG_ADD("a"), NULL);
    log_commit(f, 2, INFO("101"), LOG_ADD("b"), NULL);
    log_commit(f, 3, LOG_ADD("c"), INFO("200"), NULL);
    check(f, "fault commit 2 - 00000000000000000002.json: 101 for more than 101\n"
             "fault commit 3 - 00000000000000000003.json: - for -\n");
}

/* A file that the checkpoint names twice is its fault alone: whoever reads the table by it takes the file once. */
static void checkpoint_that_differs_is_told_file_by_file(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("never"), LOG_ADD("a"), LOG_ADD("b"), NULL);
    check(f, "fault checkpoint 2 - never: - for -\n"
             "fault checkpoint 2 - a: - for -\n"
             "fault checkpoint 2 - b: - for -\n"
             "fault checkpoint 2 - c: - for -\n"
             "fault log 2 - never: - for -\n"
             "fault log 2 - a: - for -\n"
             "fault log 2 - c: - for -\n");
}

static void checkpoint_with_other_statistics_is_told_unless_only_the_words_differ(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
#define OTHER(path, stats)                                                                                      \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":" \
    "false,\"stats\":\"{" stats "}\"}}"
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, OTHER("b", " \\\"numRecords\\\" : 1, \\\"minValues\\\":null"),
                   OTHER("c", "\\\"numRecords\\\":2"), LOG_REMOVE("a"), NULL);
    check(f, "fault checkpoint 2 - c: - for -\n");
}

static void checkpoint_must_keep_young_tombstones(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_set_time_ms(f, 6);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), NULL);
    check(f, "fault checkpoint 2 - a: - for -\n");
    log_set_time_ms(f, INT64_C(8) * 24 * 3600 * 1000);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), NULL);
    check(f, "");
}

static void checkpoint_with_another_state_is_told(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_checkpoint(f, 2, LOG_PROTOCOL, METADATA("\"delta.appendOnly\":\"false\""), LOG_ADD("b"), LOG_ADD("c"),
                   LOG_REMOVE("a"), NULL);
    check(f, "fault checkpoint 2 - 00000000000000000002.checkpoint.parquet: - for -\n");
}

static void torn_checkpoints_and_hints_are_told(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "00000000000000000002.checkpoint.0000000002.0000000003.parquet", LOG_PROTOCOL "\n");
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5,\"parts\":3}");
    check(f, "fault last-checkpoint -1 - _last_checkpoint: - for -\n"
             "note checkpoint 2 - 00000000000000000002.checkpoint.0000000002.0000000003.parquet: - for -\n");
    log_put(f, "_last_checkpoint", "{\"version\":");
    log_remove(f, "00000000000000000002.checkpoint.0000000002.0000000003.parquet");
    log_checkpoint(f, 1, LOG_PROTOCOL, NULL);
    check(f, "fault last-checkpoint -1 - _last_checkpoint: - for -\n"
             "fault checkpoint 1 - 00000000000000000001.checkpoint.parquet: - for -\n");
}

static void hint_that_is_missing_or_stale_is_a_note(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    check(f, "note last-checkpoint -1 - -: - for -\n");
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":1,\"size\":4}");
    check(f, "note last-checkpoint -1 - _last_checkpoint: 1 for 2\n");
}

static void checksum_that_is_wrong_is_told_by_its_members(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "00000000000000000001.crc", CRC("3", "20"));
    log_put(f, "00000000000000000002.crc", CRC("2", "21"));
    check(f, "fault checksum 1 - 00000000000000000001.crc: 3 for 2\n"
             "fault checksum 2 - 00000000000000000002.crc: 21 for 20\n");
    log_put(f, "00000000000000000001.crc", "{");
    log_remove(f, "00000000000000000002.crc");
    check(f, "fault checksum 1 - 00000000000000000001.crc: - for -\n");
}

static void compacted_file_that_differs_from_its_commits_is_told(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "00000000000000000001.00000000000000000002.compacted.json",
            LOG_ADD("b") "\n" LOG_ADD("c") "\n" LOG_REMOVE("a") "\n");
    check(f, "");
    log_put(f, "00000000000000000001.00000000000000000002.compacted.json", LOG_ADD("b") "\n" LOG_ADD("a") "\n");
    check(f, "fault compacted 1 - a: - for -\n"
             "fault compacted 1 - c: - for -\n"
             "fault log 2 - a: - for -\n"
             "fault log 2 - c: - for -\n");
}

static void row_ids_that_overlap_are_told(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, ICT_PROTOCOL,
               METADATA("\"delta.enableRowTracking\":\"true\","
                        "\"delta.rowTracking.materializedRowIdColumnName\":\"_row_id\","
                        "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_row_v\""),
               NULL);
    log_commit(
        f, 1, ADD_IDS("a", "10", "0"), ADD_IDS("b", "10", "9"), ADD_IDS("c", "5", "19"), LOG_ADD("d"),
        "{\"domainMetadata\":{\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":22}"
        "\",\"removed\":false}}",
        NULL);
    check(f, "fault row-id 1 - c: - for -\n"
             "fault row-id 1 - d: - for -\n"
             "fault row-id 1 - b: - for -\n");
}

static void findings_beyond_a_limit_are_counted_only(void **state)
{
    struct log_fixture *f = *state;
    struct fsck_findings found = {0};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true, .max_findings = 1};
    make(f);
    log_commit(f, 3, LOG_REMOVE("x"), LOG_REMOVE("y"), LOG_REMOVE("z"), NULL);
    fsck_run(&found, f->table, &options);
    fsck_expect(&found, "note commit 3 - x: - for -\n");
    assert_int_equal(found.report.notes, 3);
    assert_int_equal(found.report.untold, 2);
    fsck_release(&found);
}

static bool want_no_more(void *ctx, const silt_fsck_finding *finding)
{
    (void)finding;
    ++*(int *)ctx;
    return false;
}

static void callback_ends_the_check(void **state)
{
    struct log_fixture *f = *state;
    int n = 0;
    silt_fsck_report report = {.size = sizeof(report)};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    make(f);
    log_commit(f, 3, LOG_REMOVE("x"), LOG_REMOVE("y"), NULL);
    assert_int_equal(silt_table_fsck(f->table, NULL, &options, want_no_more, &n, &report, &f->err), SILT_ECANCELLED);
    assert_int_equal(n, 1);
    assert_int_equal(report.notes, 2); /* the log was walked before anything was told */
}

static void cancelled_check_ends(void **state)
{
    struct log_fixture *f = *state;
    int n = 0;
    const volatile int cancel = 1;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    silt_fsck_report report = {.size = sizeof(report)};
    make(f);
    assert_int_equal(silt_table_fsck(f->table, &call, NULL, want_no_more, &n, &report, &f->err), SILT_ECANCELLED);
    assert_int_equal(n, 0);
}

/* Checks with request n of memory failing; false when none failed. */
static bool check_without_memory(struct log_fixture *f, size_t n)
{
    struct fsck_findings found = {0};
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    test_env_fail_at(&f->test, n);
    fsck_run(&found, f->table, &options);
    const bool failed = f->test.n_requests >= n;
    test_env_fail_at(&f->test, 0);
    if (found.status != SILT_OK && found.status != SILT_ENOMEM) {
        fail_msg("request %zu: %s", n, found.err.message);
    }
    fsck_release(&found);
    return failed;
}

static void check_survives_want_of_memory_at_every_request(void **state)
{
    struct log_fixture *f = *state;
    make(f);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":5}");
    log_put(f, "00000000000000000002.crc", CRC("3", "20"));
    log_put(f, "00000000000000000001.00000000000000000002.compacted.json", LOG_ADD("b") "\n" LOG_ADD("a") "\n");
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("never"), LOG_ADD("c"), LOG_REMOVE("a"), NULL);
    log_commit(f, 3, LOG_REMOVE("x"), LOG_ADD("d"), NULL);
    for (size_t n = 1; check_without_memory(f, n); n++) {
        assert_true(n < 100000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(sound_log_has_no_findings),
        LOG_TEST(no_log_is_no_table),
        LOG_TEST(gap_is_told_and_the_rest_is_checked_from_the_next_checkpoint),
        LOG_TEST(log_that_cannot_be_rebuilt_is_not_readable),
        LOG_TEST(log_without_its_beginning_is_checked_from_its_oldest_checkpoint),
        LOG_TEST(log_that_is_cleaned_up_meanwhile_is_checked_as_it_is_then),
        LOG_TEST(gap_that_comes_meanwhile_is_told),
        LOG_TEST(commit_that_cannot_be_parsed_is_told),
        LOG_TEST(commit_that_is_empty_is_told_wherever_it_lies),
        LOG_TEST(empty_commit_of_the_oldest_checkpoint_is_told),
        LOG_TEST(every_commit_file_is_counted_after_a_clean_up),
        LOG_TEST(first_commit_must_have_protocol_and_metadata),
        LOG_TEST(files_are_added_and_removed_as_they_should),
        LOG_TEST(file_that_is_live_with_two_vectors_is_told),
        LOG_TEST(append_only_table_that_loses_data_is_told),
        LOG_TEST(in_commit_timestamps_must_be_there_and_increase),
        LOG_TEST(checkpoint_that_differs_is_told_file_by_file),
        LOG_TEST(checkpoint_with_other_statistics_is_told_unless_only_the_words_differ),
        LOG_TEST(checkpoint_must_keep_young_tombstones),
        LOG_TEST(checkpoint_with_another_state_is_told),
        LOG_TEST(torn_checkpoints_and_hints_are_told),
        LOG_TEST(hint_that_is_missing_or_stale_is_a_note),
        LOG_TEST(checksum_that_is_wrong_is_told_by_its_members),
        LOG_TEST(compacted_file_that_differs_from_its_commits_is_told),
        LOG_TEST(row_ids_that_overlap_are_told),
        LOG_TEST(findings_beyond_a_limit_are_counted_only),
        LOG_TEST(callback_ends_the_check),
        LOG_TEST(cancelled_check_ends),
        LOG_TEST(check_survives_want_of_memory_at_every_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
