/* What a commit file says because of its version: in-commit timestamps, their enablement, row ids; and again after lost races. */
#include "txn_fixture.h"

#include <stdio.h>
#include <string.h>

#define WALL_MS 1577836800000 /* where the fixture's clock stands */

static const silt_property timed = {"delta.enableInCommitTimestamps", "true"};
static const silt_property tracked = {"delta.enableRowTracking", "true"};

static const char *first_line(struct txn_fixture *f, int64_t version)
{
    char *text = (char *)txn_log(f, version);
    char *end = strchr(text, '\n');
    assert_non_null(end);
    *end = '\0';
    return text;
}

static void expect_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("%s is not in %s", part, text);
    }
}

static void expect_not_in(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) {
        fail_msg("%s is in %s", part, text);
    }
}

static void set(struct txn_fixture *f, silt_txn *txn, const char *key, const char *value)
{
    assert_int_equal(silt_txn_set_property(txn, key, value, &f->err), SILT_OK);
}

static void set_alone(struct txn_fixture *f, const char *key, const char *value)
{
    silt_txn *txn = txn_begin(f);
    set(f, txn, key, value);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void created_table_has_times_from_its_first_version(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &timed);
    expect_in(first_line(f, 0), "{\"commitInfo\":{\"inCommitTimestamp\":1577836800000,\"timestamp\":");
    expect_in(txn_log(f, 0), "\"delta.enableInCommitTimestamps\":\"true\"");
    expect_not_in(f->text, "inCommitTimestampEnablement");
    assert_true(f->result.in_commit_timestamp_ms == WALL_MS);
}

static void times_rise_when_the_clock_does_not(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &timed);
    txn_append(f, "a", NULL);
    expect_in(first_line(f, 1), "\"inCommitTimestamp\":1577836800001,");
    f->test.wall_us -= 1000000;
    txn_append(f, "b", NULL);
    expect_in(first_line(f, 2), "\"inCommitTimestamp\":1577836800002,");
    f->test.wall_us += 5000000;
    txn_append(f, "c", NULL);
    expect_in(first_line(f, 3), "\"inCommitTimestamp\":1577836804000,");
}

static void time_comes_after_those_of_winners(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &timed);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "late", NULL), SILT_OK);
    txn_append(f, "a", NULL);
    txn_append(f, "b", NULL);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.version, 3);
    assert_int_equal(f->result.winners, 2);
    assert_int_equal(f->result.rebased, SILT_REBASED_TIMESTAMP);
    assert_true(f->result.in_commit_timestamp_ms == WALL_MS + 3);
    expect_in(first_line(f, 3), "\"inCommitTimestamp\":1577836800003,");
    expect_in(f->text, "\"readVersion\":0");
}

static void enablement_is_recorded_with_the_version_that_was_won(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    expect_not_in(first_line(f, 1), "inCommitTimestamp");
    silt_txn *txn = txn_begin(f);
    set(f, txn, "delta.enableInCommitTimestamps", "true");
    f->test.wall_us += 7000000; /* the winner's file is of then, and the clock goes back */
    txn_append(f, "b", NULL);
    f->test.wall_us -= 7000000;
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.version, 3);
    assert_true(f->result.in_commit_timestamp_ms == WALL_MS + 7001);
    expect_in(first_line(f, 3), "{\"commitInfo\":{\"inCommitTimestamp\":1577836807001,");
    expect_in(txn_log(f, 3), "\"delta.inCommitTimestampEnablementVersion\":\"3\"");
    expect_in(f->text, "\"delta.inCommitTimestampEnablementTimestamp\":\"1577836807001\"");
    expect_in(f->text, "\"writerFeatures\":[\"appendOnly\",\"invariants\",\"inCommitTimestamp\"]");
}

static void later_changes_of_metadata_keep_the_record(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    set_alone(f, "delta.enableInCommitTimestamps", "true");
    set_alone(f, "a.b", "c");
    expect_in(txn_log(f, 2), "\"delta.inCommitTimestampEnablementVersion\":\"1\"");
    set_alone(f, "delta.enableInCommitTimestamps", "false");
    expect_not_in(first_line(f, 3), "inCommitTimestamp");
    txn_append(f, "a", NULL);
    expect_not_in(first_line(f, 4), "inCommitTimestamp");
    set_alone(f, "delta.enableInCommitTimestamps", "true");
    expect_in(txn_log(f, 5), "\"delta.inCommitTimestampEnablementVersion\":\"5\"");
    expect_not_in(f->text, "\"delta.inCommitTimestampEnablementVersion\":\"1\"");
}

static void replace_with(struct txn_fixture *f, const char *value)
{
    const silt_property times = {"delta.enableInCommitTimestamps", value};
    const silt_create_options options = {
        .size = sizeof(options), .schema = txn_schema(f, TXN_SCHEMA), .properties = &times, .n_properties = 1};
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin_replace(f->table, NULL, &options, "REPLACE TABLE", &txn, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    silt_schema_unref((silt_schema *)options.schema);
}

static void a_replacement_that_has_times_keeps_the_record(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    set_alone(f, "delta.enableInCommitTimestamps", "true");
    replace_with(f, "true");
    expect_in(txn_log(f, 2), "\"delta.inCommitTimestampEnablementVersion\":\"1\"");
    replace_with(f, "false");
    expect_not_in(txn_log(f, 3), "inCommitTimestampEnablement");
}

/* ---- row tracking ---- */

#define MARK(n) \
    "\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":" #n "}\",\"removed\":false"

static void rows_get_ids_in_the_order_of_commits(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &tracked);
    expect_in(txn_log(f, 0), "\"delta.rowTracking.materializedRowIdColumnName\":\"_row-id-col-");
    expect_in(f->text, "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_row-commit-version-col-");
    expect_not_in(f->text, "rowIdHighWaterMark");
    txn_append(f, "a", NULL);
    expect_in(txn_log(f, 1), "\"baseRowId\":0,\"defaultRowCommitVersion\":1");
    expect_in(f->text, MARK(1));
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "b", NULL), SILT_OK);
    assert_int_equal(txn_add(f, txn, "c", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    expect_in(txn_log(f, 2), "\"baseRowId\":2,\"defaultRowCommitVersion\":2");
    expect_in(f->text, "\"baseRowId\":4,\"defaultRowCommitVersion\":2");
    expect_in(f->text, MARK(5));
}

static void ids_are_given_anew_after_a_winner_took_them(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &tracked);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "late", NULL), SILT_OK);
    txn_append(f, "a", NULL);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rebased, SILT_REBASED_ROW_IDS);
    expect_in(txn_log(f, 2), "\"baseRowId\":2,\"defaultRowCommitVersion\":2");
    expect_in(f->text, MARK(3));
}

static void put_commit(struct txn_fixture *f, int64_t version, const char *lines)
{
    char path[128];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    (void)snprintf(path, sizeof(path), TXN_ROOT "/_delta_log/%020lld.json", (long long)version);
    assert_int_equal(silt_storage_put_if_absent(f->mini.store, NULL, path, lines, strlen(lines), &outcome, NULL),
                     SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
}

/* The same ids twice would be one row for two. */
static void mark_below_ids_of_the_table_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &tracked);
    txn_append(f, "a", NULL);
    txn_append(f, "b", NULL);
    put_commit(f, 3, "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n{\"domainMetadata\":{" MARK(2) "}}\n");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "c", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "SILT_ROW_IDS_ABOVE_HIGH_WATER_MARK");
    assert_non_null(strstr(f->err.message, "says that 2 is the highest"));
    assert_int_equal(txn_count_files(f), 2);
    put_commit(f, 4, "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n{\"domainMetadata\":{" MARK(3) "}}\n");
    txn_append(f, "c", NULL);
    expect_in(txn_log(f, 5), "\"baseRowId\":4,\"defaultRowCommitVersion\":5");
}

static void support_alone_asks_for_ids(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property supported = {"delta.feature.rowTracking", "supported"};
    txn_create(f, TXN_SCHEMA, NULL, &supported);
    txn_append(f, "a", NULL);
    expect_in(txn_log(f, 1), "\"baseRowId\":0,\"defaultRowCommitVersion\":1");
    set_alone(f, "delta.rowTrackingSuspended", "true");
    txn_append(f, "b", NULL);
    expect_not_in(txn_log(f, 3), "baseRowId");
    expect_not_in(f->text, "rowIdHighWaterMark");
}

static void support_that_a_winner_announced_counts(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "late", NULL), SILT_OK);
    set_alone(f, "delta.feature.rowTracking", "supported");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rebased, SILT_REBASED_PROTOCOL | SILT_REBASED_ROW_IDS);
    expect_in(txn_log(f, 2), "\"baseRowId\":0,\"defaultRowCommitVersion\":2");
}

static void file_without_a_count_of_rows_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &tracked);
    silt_txn *txn = txn_begin(f);
    const silt_add_file file = {
        .size = sizeof(file), .path = "a", .size_bytes = 1, .modified_ms = 1, .data_change = true};
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS");
    silt_txn_free(txn);
}

static void tracking_of_a_table_with_files_needs_a_backfill(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    silt_txn *txn = txn_begin(f);
    set(f, txn, "delta.enableRowTracking", "true");
    assert_int_equal(txn_end(f, txn), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "SILT_ROW_TRACKING_NEEDS_BACKFILL");
}

static void removed_file_repeats_the_ids_of_a_backfill_that_won(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    set_alone(f, "delta.feature.rowTracking", "supported");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/a", true, &f->err), SILT_OK);
    static const char backfill[] =
        "{\"commitInfo\":{\"operation\":\"ROW TRACKING BACKFILL\",\"isBlindAppend\":false,\"readVersion\":2}}\n"
        "{\"domainMetadata\":{\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":8}\",\"removed\":false}}\n"
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":10,\"modificationTime\":1,\"dataChange\":false,"
        "\"stats\":\"{\\\"numRecords\\\":2}\",\"baseRowId\":7,\"defaultRowCommitVersion\":3}}\n";
    assert_int_equal(silt_storage_put(f->mini.store, NULL, TXN_ROOT "/_delta_log/00000000000000000003.json", backfill,
                                      sizeof(backfill) - 1, &f->err),
                     SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rebased, SILT_REBASED_FILES);
    expect_in(txn_log(f, 4), "\"remove\":{\"path\":\"a\"");
    expect_in(f->text, "\"baseRowId\":7,\"defaultRowCommitVersion\":3");
    assert_int_equal(txn_count_files(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(created_table_has_times_from_its_first_version),
        TEST(times_rise_when_the_clock_does_not),
        TEST(time_comes_after_those_of_winners),
        TEST(enablement_is_recorded_with_the_version_that_was_won),
        TEST(later_changes_of_metadata_keep_the_record),
        TEST(a_replacement_that_has_times_keeps_the_record),
        TEST(rows_get_ids_in_the_order_of_commits),
        TEST(ids_are_given_anew_after_a_winner_took_them),
        TEST(mark_below_ids_of_the_table_is_refused),
        TEST(support_alone_asks_for_ids),
        TEST(support_that_a_winner_announced_counts),
        TEST(file_without_a_count_of_rows_is_refused),
        TEST(tracking_of_a_table_with_files_needs_a_backfill),
        TEST(removed_file_repeats_the_ids_of_a_backfill_that_won),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
