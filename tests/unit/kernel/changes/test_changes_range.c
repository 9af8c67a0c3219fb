/* Which versions a range has: bounds by number and by time, commits that are gone, times of commits. */
#include <stdio.h>
#include <string.h>

#include "changes_fixture.h"
#include "log_fixture.h"
#include "mini_rows.h"

#define INFO(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\"}}"
#define PROTOCOL_TIMES                                                                                     \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"changeDataFeed\"," \
    "\"inCommitTimestamp\"]}}"

#define LOG_RECORDED                                                                                      \
    "{\"metaData\":{\"id\":\"m1\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":" \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\","  \
    "\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":"           \
    "{\"delta.enableChangeDataFeed\":\"true\"},\"createdTime\":1}}"

/* Versions 0 to 3 at seconds 1 to 4; versions 1 to 3 add a row each. */
static void make_table(struct changes_fixture *f)
{
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_file(f, "y", 2, 1);
    changes_file(f, "z", 3, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_ADD("y"), NULL);
    changes_commit(f, 3, CHANGES_ADD("z"), NULL);
}

/* Versions "from-to", or the class of the error. */
static const char *range_of(struct changes_fixture *f, const silt_changes_options *options)
{
    silt_changes *changes = NULL;
    if (changes_try(f, options, &changes) != SILT_OK) {
        return f->err.code_name;
    }
    (void)snprintf(f->rows, sizeof(f->rows), "%d-%d", (int)silt_changes_from_version(changes),
                   (int)silt_changes_to_version(changes));
    silt_changes_unref(changes);
    return f->rows;
}

static const char *by_version(struct changes_fixture *f, int64_t from, int64_t to)
{
    const silt_changes_options options = changes_range(from, to);
    return range_of(f, &options);
}

static const char *by_time(struct changes_fixture *f, int64_t from_us, int64_t to_us)
{
    silt_changes_options options = changes_range(SILT_CHANGES_BY_TIME, SILT_CHANGES_BY_TIME);
    options.from_timestamp_us = from_us;
    options.to_timestamp_us = to_us;
    return range_of(f, &options);
}

static void versions_are_the_ends_and_both_are_in_the_range(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    assert_string_equal(by_version(f, 0, 3), "0-3");
    assert_string_equal(by_version(f, 1, 2), "1-2");
    assert_string_equal(by_version(f, 2, 2), "2-2");
    assert_string_equal(by_version(f, 2, SILT_CHANGES_LATEST), "2-3");
    changes_expect(f, 1, 2, "1,a,insert,1,2000000;2,a,insert,2,3000000;");
}

static void an_end_beyond_the_newest_version_means_the_newest(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    assert_string_equal(by_version(f, 1, 4), "1-3");
    assert_string_equal(by_version(f, 3, INT64_MAX), "3-3");
}

static void a_start_beyond_the_newest_version_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    silt_changes_options options = changes_range(4, SILT_CHANGES_LATEST);
    changes_expect_failure(f, &options, SILT_ENOTFOUND, "DELTA_CDC_START_VERSION_AFTER_LATEST",
                           "newest version of the table is 3");
    options = changes_range(INT64_MAX, 2);
    changes_expect_failure(f, &options, SILT_ENOTFOUND, "DELTA_CDC_START_VERSION_AFTER_LATEST", "newest");
}

static void an_end_before_the_start_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    silt_changes_options options = changes_range(3, 1);
    changes_expect_failure(f, &options, SILT_EINVALID, "DELTA_INVALID_CDC_RANGE", "from version 3 to 1");
    /* An end by time that lies before a start by version. */
    options = changes_range(2, SILT_CHANGES_BY_TIME);
    options.to_timestamp_us = 2000000;
    changes_expect_failure(f, &options, SILT_EINVALID, "DELTA_INVALID_CDC_RANGE", "from version 2 to 1");
    /* Both between the same two versions. */
    assert_string_equal(by_time(f, 2200000, 2800000), "DELTA_INVALID_CDC_RANGE");
}

static void a_start_by_time_is_the_first_version_at_or_after_it(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    assert_string_equal(by_time(f, 2000000, 4000000), "1-3");
    assert_string_equal(by_time(f, 2000001, 4000000), "2-3"); /* a microsecond late is late */
    assert_string_equal(by_time(f, 1999999, 4000000), "1-3");
    assert_string_equal(by_time(f, 0, 4000000), "0-3"); /* before the table was */
    assert_string_equal(by_time(f, INT64_MIN, 4000000), "0-3");
    assert_string_equal(by_time(f, 4000000, 4000000), "3-3");
}

static void an_end_by_time_is_the_last_version_at_or_before_it(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    assert_string_equal(by_time(f, 0, 3000000), "0-2");
    assert_string_equal(by_time(f, 0, 3999999), "0-2");
    assert_string_equal(by_time(f, 0, 1000000), "0-0");
}

static void times_outside_of_the_tables_life_are_refused(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    assert_string_equal(by_time(f, 0, 999999), "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION");
    assert_string_equal(by_time(f, 0, 4001000), "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
    assert_string_equal(by_time(f, 4001000, 4001000), "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
    assert_string_equal(by_time(f, 4000001, 4000001), "DELTA_CDC_START_VERSION_AFTER_LATEST");
}

static void versions_and_times_can_be_mixed(void **state)
{
    struct changes_fixture *f = *state;
    make_table(f);
    silt_changes_options options = changes_range(1, SILT_CHANGES_BY_TIME);
    options.to_timestamp_us = 3500000;
    assert_string_equal(range_of(f, &options), "1-2");
    options = changes_range(SILT_CHANGES_BY_TIME, 9);
    options.from_timestamp_us = 3500000;
    assert_string_equal(range_of(f, &options), "3-3");
}

/* Commits 0 to 3, of which 0 was cleaned up after a checkpoint of version 1. */
static void commits_that_were_cleaned_up_are_named(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 1, CHANGES_PROTOCOL, LOG_RECORDED, LOG_ADD("x"), NULL);
    log_commit(f, 1, LOG_ADD("x"), NULL);
    log_set_time_ms(f, 1600000000000);
    log_commit(f, 2, LOG_ADD("y"), NULL);
    log_commit(f, 3, LOG_ADD("z"), NULL);
    silt_changes *changes = NULL;
    silt_changes_options options = changes_range(1, SILT_CHANGES_LATEST);
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_OK);
    assert_int_equal(silt_changes_plan(changes, 0)->n_files, 3);
    silt_changes_unref(changes);
    options = changes_range(0, 3);
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_ENOTFOUND);
    assert_null(changes);
    /* A time before all that is left: rows of version 0 cannot be told, so they are not left out in silence. */
    options.from_version = SILT_CHANGES_BY_TIME;
    options.from_timestamp_us = 0;
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "version 0"));
}

/* A checkpoint stands for the state of a version, not for its changes. */
static void a_commit_that_is_gone_behind_a_checkpoint_is_missed(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, CHANGES_PROTOCOL, LOG_RECORDED, NULL);
    log_checkpoint(f, 1, CHANGES_PROTOCOL, LOG_RECORDED, LOG_ADD("x"), NULL);
    log_commit(f, 2, LOG_ADD("y"), NULL);
    silt_changes *changes = NULL;
    silt_changes_options options = changes_range(2, 2);
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_OK);
    silt_changes_unref(changes);
    options = changes_range(0, 2);
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_ENOTFOUND);
    assert_string_equal(f->err.code_name, "DELTA_VERSION_NOT_FOUND");
    assert_non_null(strstr(f->err.message, "commit of version 1"));
    assert_int_equal(f->err.version, 1);
    options = changes_range(1, 2);
    assert_int_equal(silt_table_changes(f->table, NULL, &options, &changes, &f->err), SILT_ENOTFOUND);
}

static void times_of_files_are_made_to_grow_over_the_whole_log(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f); /* at second 1 */
    changes_file(f, "x", 1, 1);
    changes_commit_at(f, 1, 5000, CHANGES_ADD("x"), NULL);
    changes_commit_at(f, 2, 3000, CHANGES_REMOVE("x"), NULL); /* a clock that went back */
    changes_expect(f, 2, 2, "1,a,delete,2,5001000;");
    assert_string_equal(by_time(f, 5000000, 5001000), "1-2");
}

static void in_commit_timestamps_go_before_times_of_files(void **state)
{
    struct changes_fixture *f = *state;
    changes_commit(f, 0, INFO("70000"), PROTOCOL_TIMES,
                   changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "",
                                    CHANGES_ON ",\"delta.enableInCommitTimestamps\":\"true\""),
                   NULL);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, INFO("71000"), CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, INFO("72000"), CHANGES_REMOVE("x"), NULL);
    changes_expect(f, 0, 2, "1,a,insert,1,71000000;1,a,delete,2,72000000;");
    assert_string_equal(by_time(f, 70500000, 71500000), "1-1");
    assert_string_equal(by_time(f, 1000000, 71000000), "0-1");
}

static void in_commit_timestamps_count_from_where_they_begin(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, INFO("70000"), PROTOCOL_TIMES,
                   changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "",
                                    CHANGES_ON ",\"delta.enableInCommitTimestamps\":\"true\","
                                               "\"delta.inCommitTimestampEnablementVersion\":\"2\","
                                               "\"delta.inCommitTimestampEnablementTimestamp\":\"70000\""),
                   NULL);
    changes_commit(f, 3, INFO("71000"), CHANGES_REMOVE("x"), NULL);
    changes_expect(f, 0, 3, "1,a,insert,1,2000000;1,a,delete,3,71000000;");
    assert_string_equal(by_time(f, 2000000, 70000000), "1-2");
    assert_string_equal(by_time(f, 3000000, 71000000), "2-3");
}

/* Staged and inline commits of a catalog are commits of the range. */
static void commits_of_a_catalog_are_read_where_it_has_them(void **state)
{
    struct changes_fixture *f = *state;
    static const char inline2[] = INFO("72000") "\n" CHANGES_REMOVE("x") "\n";
    changes_commit(
        f, 0, INFO("70000"),
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"catalogManaged\"],"
        "\"writerFeatures\":[\"catalogManaged\",\"inCommitTimestamp\",\"changeDataFeed\"]}}",
        changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "",
                         CHANGES_ON ",\"delta.enableInCommitTimestamps\":\"true\""),
        NULL);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, INFO("71000"), CHANGES_ADD("x"), NULL);
    const silt_catalog_commit tail[] = {
        {.size = sizeof(tail[0]), .version = 2, .content = inline2, .content_len = sizeof(inline2) - 1}};
    const silt_catalog_state catalog = {.size = sizeof(catalog), .latest_version = 2, .commits = tail, .n_commits = 1};
    const silt_changes_options options = changes_range(0, SILT_CHANGES_LATEST);
    silt_table *table = NULL;
    silt_changes *changes = NULL;
    struct ArrowArrayStream rows;
    assert_int_equal(silt_table_for_catalog(f->mini.engine, CHANGES_ROOT, &catalog, &table, &f->err), SILT_OK);
    if (silt_table_changes(table, NULL, &options, &changes, &f->err) != SILT_OK) {
        fail_msg("%s", f->err.message);
    }
    silt_table_unref(table);
    assert_int_equal(silt_changes_read(changes, NULL, &rows, &f->err), SILT_OK);
    silt_changes_unref(changes);
    assert_int_equal(mini_rows_text(&rows, f->rows, sizeof(f->rows)), 2);
    assert_string_equal(f->rows, "1,a,insert,1,71000000;1,a,delete,2,72000000;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(versions_are_the_ends_and_both_are_in_the_range),
        CHANGES_TEST(an_end_beyond_the_newest_version_means_the_newest),
        CHANGES_TEST(a_start_beyond_the_newest_version_is_refused),
        CHANGES_TEST(an_end_before_the_start_is_refused),
        CHANGES_TEST(a_start_by_time_is_the_first_version_at_or_after_it),
        CHANGES_TEST(an_end_by_time_is_the_last_version_at_or_before_it),
        CHANGES_TEST(times_outside_of_the_tables_life_are_refused),
        CHANGES_TEST(versions_and_times_can_be_mixed),
        LOG_TEST(commits_that_were_cleaned_up_are_named),
        LOG_TEST(a_commit_that_is_gone_behind_a_checkpoint_is_missed),
        CHANGES_TEST(times_of_files_are_made_to_grow_over_the_whole_log),
        CHANGES_TEST(in_commit_timestamps_go_before_times_of_files),
        CHANGES_TEST(in_commit_timestamps_count_from_where_they_begin),
        CHANGES_TEST(commits_of_a_catalog_are_read_where_it_has_them),
    };
    return cmocka_run_group_tests_name("changes_range", tests, NULL, NULL);
}
