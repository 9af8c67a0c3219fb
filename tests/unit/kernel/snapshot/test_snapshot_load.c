/*
 * Loading snapshots from logs in memory: reconciliation, checkpoints, hints, gaps, what is refused.
 */
#include "log_fixture.h"

#include <string.h>

static void commits_alone_make_a_snapshot(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), LOG_REMOVE("a"), NULL);
    log_commit(f, 2, LOG_ADD("c"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_version(snapshot), 2);
    assert_string_equal(log_files(f, snapshot), "b c");
    assert_int_equal(silt_schema_field_count(silt_snapshot_schema(snapshot)), 1);
    silt_snapshot_unref(snapshot);
    assert_int_equal(f->n_parquet_reads, 0);
}

static void an_earlier_version_can_be_read(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_REMOVE("a"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, 0);
    assert_string_equal(log_files(f, snapshot), "a");
    silt_snapshot_unref(snapshot);
    log_expect_failure(f, 2, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND", "0 to 1");
    log_expect_failure(f, INT64_MAX, SILT_EINVALID, "DELTA_VERSION_INVALID", "not a version");
}

static void a_removed_file_that_is_added_again_is_live(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("foo"), NULL);
    log_commit(f, 1, LOG_REMOVE("foo"), NULL);
    log_commit(f, 2, LOG_ADD("foo"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "foo");
    silt_snapshot_unref(snapshot);
}

static void spellings_of_one_path_are_one_file(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("/x/y%20z"), LOG_ADD("p%3D1/a"), LOG_ADD("b"), NULL);
    log_commit(f, 1, LOG_REMOVE("memory://tables/x/y%20z"), LOG_REMOVE("p=1/a"), LOG_REMOVE("memory://tables/t/b"),
               NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "");
    silt_snapshot_unref(snapshot);
}

static void a_plus_is_a_plus(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a+b"), LOG_ADD("a%20b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a%20b a+b");
    silt_snapshot_unref(snapshot);
}

static void a_checkpoint_spares_the_commits_before_it(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), LOG_REMOVE("z"),
                   "{\"txn\":{\"appId\":\"app\",\"version\":7}}", NULL);
    log_commit(f, 3, LOG_ADD("b"), NULL);
    log_commit(f, 4, LOG_REMOVE("a"), LOG_ADD("c"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(f->n_parquet_reads, 1); /* the small rows only */
    assert_int_equal(silt_snapshot_version(snapshot), 4);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 7);
    assert_string_equal(log_files(f, snapshot), "b c");
    assert_int_equal(f->n_parquet_reads, 2);
    int64_t n = 0;
    int64_t bytes = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, &bytes, &f->err), SILT_OK);
    assert_int_equal(n, 2);
    assert_int_equal(bytes, 20);
    assert_int_equal(f->n_parquet_reads, 2);
    silt_snapshot_unref(snapshot);
}

static void a_version_before_the_first_checkpoint_says_what_is_there(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 2, LOG_ADD("a"), NULL);
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 3, LOG_ADD("b"), NULL);
    log_commit(f, 4, LOG_ADD("c"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a c");
    silt_snapshot_unref(snapshot);
    log_expect_failure(f, 2, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND", "3 to 4");
}

static void a_gap_is_told_with_the_missing_versions(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 4, LOG_ADD("b"), NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_VERSIONS_NOT_CONTIGUOUS", "1, 2, 3 missing");
    silt_snapshot *snapshot = log_open(f, 0);
    silt_snapshot_unref(snapshot);
}

static void a_gap_after_a_checkpoint_is_told(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, NULL);
    log_commit(f, 5, LOG_ADD("a"), NULL);
    log_commit(f, 6, LOG_ADD("b"), NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_VERSIONS_NOT_CONTIGUOUS", "4 missing");
}

static void a_log_without_its_beginning_is_refused(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_TRUNCATED_TRANSACTION_LOG", "lacks the commit of version 0");
}

static void a_hint_shortens_the_listing(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 3, LOG_ADD("a"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":3,\"size\":3}");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(f->n_lists, 1);
    assert_string_equal(log_files(f, snapshot), "a");
    silt_snapshot_unref(snapshot);
}

/* Who asks next would wait for the same time-out again. */
static void a_store_that_fails_at_the_hint_is_not_asked_again(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    f->fail_operation = "read";
    f->fail_path = "_last_checkpoint";
    log_expect_failure(f, -1, SILT_EIO, NULL, "_last_checkpoint: injected fault");
    assert_int_equal(f->n_lists, 0);
    f->fail_operation = NULL;
    silt_snapshot_unref(log_open(f, -1)); /* that there is none is no fault */
}

static void a_stale_hint_is_ignored_when_the_commits_are_complete(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    const char *const hints[] = {"{\"version\":1,\"size\":3}",
                                 "{\"version\":9,\"size\":3}",
                                 "",
                                 "garbage",
                                 "{\"version\":-1}",
                                 "{\"version\":1,\"size\":3,\"parts\":0}",
                                 "[]"};
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        log_put(f, "_last_checkpoint", hints[i]);
        silt_snapshot *snapshot = log_open(f, -1);
        assert_string_equal(log_files(f, snapshot), "a b");
        silt_snapshot_unref(snapshot);
    }
}

static void a_stale_hint_does_not_hide_missing_commits(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 3, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 4, LOG_ADD("b"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":3,\"size\":3}");
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_TRUNCATED_TRANSACTION_LOG", "0, 1, 2");
}

static void the_newest_checkpoint_wins_whatever_the_hint_says(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), NULL);
    log_commit(f, 1, LOG_ADD("a"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), LOG_ADD("b"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":1,\"size\":3}");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "b");
    silt_snapshot_unref(snapshot);
}

static void a_broken_checkpoint_costs_a_warning_only(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_ADD("c"), NULL);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_put(f, "00000000000000000002.checkpoint.parquet", "torn");
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":3}");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b c");
    assert_true(f->test.n_logs > 0);
    silt_snapshot_unref(snapshot);
    log_put(f, "00000000000000000001.checkpoint.parquet", "");
    snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b c");
    silt_snapshot_unref(snapshot);
}

static void a_checkpoint_without_protocol_is_broken(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_checkpoint(f, 1, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b");
    silt_snapshot_unref(snapshot);
    log_remove(f, "00000000000000000000.json");
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "no protocol");
}

static void a_checkpoint_that_breaks_after_opening_is_gone_around(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), NULL);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    log_put(f, "00000000000000000001.checkpoint.parquet", "torn");
    assert_string_equal(log_files(f, snapshot), "b");
    silt_snapshot_unref(snapshot);
}

static void a_missing_engine_is_not_taken_for_a_broken_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    f->refusal = SILT_EUNSUPPORTED;
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, "SILT_ENGINE_NOT_FOUND", "refuses to read");
    assert_int_equal(f->test.n_logs, 0);
    f->refusal = SILT_OK;
    silt_snapshot *snapshot = log_open(f, -1);
    f->refusal = SILT_EUNSUPPORTED;
    int64_t n = 0;
    int64_t bytes = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, &bytes, &f->err), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "SILT_ENGINE_NOT_FOUND");
    assert_int_equal(f->test.n_logs, 0);
    silt_snapshot_unref(snapshot);
}

static void only_a_complete_set_of_parts_counts(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_put(f, "00000000000000000001.checkpoint.0000000001.0000000003.parquet", LOG_PROTOCOL);
    log_put(f, "00000000000000000001.checkpoint.0000000003.0000000003.parquet", LOG_ADD("x"));
    log_put(f, "00000000000000000001.checkpoint.0000000002.0000000002.parquet", LOG_ADD("y"));
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b");
    assert_int_equal(f->n_parquet_reads, 0);
    silt_snapshot_unref(snapshot);
    log_put(f, "00000000000000000001.checkpoint.0000000002.0000000003.parquet", LOG_METADATA);
    log_put(f, "00000000000000000001.checkpoint.0000000003.0000000003.parquet", LOG_ADD("a") "\n" LOG_ADD("b"));
    log_put(f, "00000000000000000001.checkpoint.0000000001.0000000003.parquet", LOG_PROTOCOL "\n");
    log_put(f, "00000000000000000001.checkpoint.0000000002.0000000003.parquet", LOG_METADATA "\n");
    snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b");
    assert_int_equal(f->n_parquet_reads, 2);
    silt_snapshot_unref(snapshot);
}

static void stray_names_are_no_commits(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    const char *const strays[] = {
        ".tmp/00000000000000000007.json", "3.json",
        "00000000000000000003.json.bak",  "00000000000000000007.d9c1b3c8-0a0f-4f9c-9b7e-3a4f5b6c7d8e.json",
        ".00000000000000000003.json.crc", "00000000000000000009.json/x",
        "_commit_d9c1b3c8.json.tmp",      "00000000000000000003.crc"};
    for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++) {
        log_put(f, strays[i], "x");
    }
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_version(snapshot), 0);
    silt_snapshot_unref(snapshot);
}

static void what_is_missing_from_the_state_is_named(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_METADATA, LOG_ADD("a"), NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "protocol of version 0");
    log_commit(f, 0, LOG_PROTOCOL, LOG_ADD("a"), NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "metaData of version 0");
}

static void no_log_is_no_table(void **state)
{
    struct log_fixture *f = *state;
    log_expect_failure(f, -1, SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", LOG_ROOT);
    assert_int_equal(silt_storage_put(f->store, NULL, LOG_ROOT "/part-0.parquet", "x", 1, &f->err), SILT_OK);
    log_expect_failure(f, -1, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", LOG_ROOT);
    log_put(f, "_last_checkpoint", "{\"version\":3,\"size\":3}");
    log_expect_failure(f, -1, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", LOG_ROOT);
}

static void a_torn_commit_is_refused_with_version_and_line(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    log_put(f, "00000000000000000001.json", LOG_ADD("a") "\n{\"add\":{\"path\":\"b\",\"part");
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "commit 1, line 2");
}

static void the_gate_comes_before_the_schema(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0,
               "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"newThing\"],"
               "\"writerFeatures\":[\"newThing\"]}}",
               "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":"
               "\\\"future\\\"}\",\"partitionColumns\":[],\"configuration\":{}}}",
               NULL);
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "newThing");
    log_commit(f, 0, "{\"protocol\":{\"minReaderVersion\":99,\"minWriterVersion\":7}}", LOG_METADATA, NULL);
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, NULL, "99");
}

static void metadata_that_does_not_hold_together_is_refused(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL,
               "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":"
               "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[\"p\"],\"configuration\":{}}}",
               NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_MISSING_PARTITION_COLUMN", "p");
    log_commit(f, 0, LOG_PROTOCOL,
               "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"orc\"},\"schemaString\":\"{\\\"type\\\":"
               "\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{}}}",
               NULL);
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, NULL, "orc");
    log_commit(f, 0, LOG_PROTOCOL,
               "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"partitionColumns\":[]}}", NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "schemaString");
}

#define METADATA_WITH(properties)                                                                                        \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\"," \
    "\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{" properties "}}}"

static void application_versions_expire_when_the_table_says_so(void **state)
{
    struct log_fixture *f = *state;
    const int64_t day = INT64_C(86400000);
    log_set_time_ms(f, 100 * day);
    log_commit(f, 0, LOG_PROTOCOL, METADATA_WITH("\"delta.setTransactionRetentionDuration\":\"interval 10 days\""),
               "{\"txn\":{\"appId\":\"old\",\"version\":1,\"lastUpdated\":7776000000}}",
               "{\"txn\":{\"appId\":\"young\",\"version\":2,\"lastUpdated\":7776000001}}",
               "{\"txn\":{\"appId\":\"ageless\",\"version\":3}}", NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_app_version(snapshot, "old"), -1); /* 90 days: 10 days ago to the millisecond */
    assert_int_equal(silt_snapshot_app_version(snapshot, "young"), 2);
    assert_int_equal(silt_snapshot_app_version(snapshot, "ageless"), 3);
    silt_snapshot_unref(snapshot);
    log_commit(f, 1, METADATA_WITH("\"delta.setTransactionRetentionDuration\":\"no interval\""), NULL);
    snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_app_version(snapshot, "old"), 1);
    silt_snapshot_unref(snapshot);
}

static void huge_versions_are_versions(void **state)
{
    struct log_fixture *f = *state;
    const int64_t version = INT64_C(9223372036854775800);
    log_checkpoint(f, version, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, version, LOG_ADD("a"), NULL);
    log_commit(f, version + 1, LOG_ADD("b"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_true(silt_snapshot_version(snapshot) == version + 1);
    assert_string_equal(log_files(f, snapshot), "a b");
    silt_snapshot_unref(snapshot);
}

static void sidecars_are_never_passed_over(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA,
                   "{\"sidecar\":{\"path\":\"s.parquet\",\"sizeInBytes\":1,\"modificationTime\":1}}", NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", "checkpointMetadata");
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("p=1/a"), LOG_ADD("b"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("b"), LOG_ADD("c%20d"), NULL);
    for (size_t n = 1;; n++) {
        silt_snapshot *snapshot = NULL;
        silt_error_reset(&f->err);
        test_env_fail_at(&f->test, n);
        silt_status status = silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err);
        int64_t files = 0;
        if (status == SILT_OK) {
            status = silt_snapshot_totals(snapshot, NULL, &files, NULL, &f->err);
        }
        const bool reached = f->test.n_requests >= n;
        test_env_fail_at(&f->test, 0);
        silt_snapshot_unref(snapshot);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(commits_alone_make_a_snapshot),
        LOG_TEST(an_earlier_version_can_be_read),
        LOG_TEST(a_removed_file_that_is_added_again_is_live),
        LOG_TEST(spellings_of_one_path_are_one_file),
        LOG_TEST(a_plus_is_a_plus),
        LOG_TEST(a_checkpoint_spares_the_commits_before_it),
        LOG_TEST(a_version_before_the_first_checkpoint_says_what_is_there),
        LOG_TEST(a_gap_is_told_with_the_missing_versions),
        LOG_TEST(a_gap_after_a_checkpoint_is_told),
        LOG_TEST(a_log_without_its_beginning_is_refused),
        LOG_TEST(a_hint_shortens_the_listing),
        LOG_TEST(a_store_that_fails_at_the_hint_is_not_asked_again),
        LOG_TEST(a_stale_hint_is_ignored_when_the_commits_are_complete),
        LOG_TEST(a_stale_hint_does_not_hide_missing_commits),
        LOG_TEST(the_newest_checkpoint_wins_whatever_the_hint_says),
        LOG_TEST(a_broken_checkpoint_costs_a_warning_only),
        LOG_TEST(a_checkpoint_without_protocol_is_broken),
        LOG_TEST(a_checkpoint_that_breaks_after_opening_is_gone_around),
        LOG_TEST(a_missing_engine_is_not_taken_for_a_broken_checkpoint),
        LOG_TEST(only_a_complete_set_of_parts_counts),
        LOG_TEST(stray_names_are_no_commits),
        LOG_TEST(what_is_missing_from_the_state_is_named),
        LOG_TEST(no_log_is_no_table),
        LOG_TEST(a_torn_commit_is_refused_with_version_and_line),
        LOG_TEST(the_gate_comes_before_the_schema),
        LOG_TEST(metadata_that_does_not_hold_together_is_refused),
        LOG_TEST(application_versions_expire_when_the_table_says_so),
        LOG_TEST(huge_versions_are_versions),
        LOG_TEST(sidecars_are_never_passed_over),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
