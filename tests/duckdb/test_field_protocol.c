/* Protocols and properties as other writers leave them, and what new tables get: who may read, who may write, append-only. */
#include "hand_table.h"

#include <string.h>

/* Table t of one row with this protocol and these properties. */
static void make(struct session_fixture *s, const char *protocol, const char *properties)
{
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS v");
    hand_commit(s, "t", 0, sl_arena_printf(&s->arena, "{\"protocol\":%s}", protocol),
                hand_metadata(s, HAND_FIELD("v", "integer"), "", properties), hand_add(s, "1.parquet", "{}", NULL),
                NULL);
}

static void expect_readable(struct session_fixture *s, const char *protocol, bool writable)
{
    make(s, protocol, "");
    session_expect_rows(s, "SELECT v FROM t", "1\n");
    const silt_status status = session_try(s, "INSERT INTO t VALUES (2)");
    if (writable != (status == SILT_OK)) {
        fail_msg("%s: writing gave %s: %s", protocol, silt_status_name(status), s->err.message);
    }
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 0", "1\n");
    hand_remove(s, "t/_delta_log/00000000000000000001.json");
}

static void unknown_reader_features_are_refused_by_name(void **state)
{
    struct session_fixture *s = *state;
    make(
        s,
        "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"adaptiveMetadata\",\"someFutureFeature\"],"
        "\"writerFeatures\":[\"adaptiveMetadata\",\"someFutureFeature\"]}",
        "");
    session_expect_fault(s, "SELECT * FROM t", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", -1);
    assert_non_null(strstr(s->err.message, "someFutureFeature"));
    assert_non_null(strstr(s->err.message, "adaptiveMetadata"));
    session_expect_fault(s, "SELECT count(*) FROM t", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (1)", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", -1);
    make(s, "{\"minReaderVersion\":4,\"minWriterVersion\":7,\"writerFeatures\":[]}", "");
    assert_int_equal(session_try(s, "SELECT * FROM t"), SILT_EUNSUPPORTED);
    assert_non_null(strstr(s->err.message, "4"));
}

static void the_protocol_of_the_version_that_is_read_counts(void **state)
{
    struct session_fixture *s = *state;
    make(s, "{\"minReaderVersion\":1,\"minWriterVersion\":2}", "");
    hand_commit(s, "t", 1,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"later\"],"
                "\"writerFeatures\":[\"later\"]}}",
                NULL);
    session_expect_rows(s, "SELECT v FROM t VERSION AS OF 0", "1\n");
    session_expect_fault(s, "SELECT v FROM t", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", -1);
    session_expect_done(s, "DESCRIBE HISTORY t");
}

static void what_writers_must_know_blocks_writing_only(void **state)
{
    struct session_fixture *s = *state;
    expect_readable(s, "{\"minReaderVersion\":1,\"minWriterVersion\":8}", false);
    expect_readable(s, "{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"someWriterFeature\"]}",
                    false);
    assert_int_equal(session_try(s, "INSERT INTO t VALUES (2)"), SILT_EUNSUPPORTED);
    assert_non_null(strstr(s->err.message, "someWriterFeature"));
    expect_readable(s, "{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"appendOnly\"]}", true);
    expect_readable(s, "{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":[\"columnMapping\"]}", true);
    expect_readable(s, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[],\"writerFeatures\":[]}",
                    true);
    expect_readable(s, "{\"minReaderVersion\":1,\"minWriterVersion\":2,\"readerFeatures\":[],\"writerFeatures\":[]}",
                    true);
    expect_readable(s, "{\"minReaderVersion\":2,\"minWriterVersion\":6}", true);
    expect_readable(s, "{\"minReaderVersion\":2,\"minWriterVersion\":5}", true);
    expect_readable(s, "{\"minReaderVersion\":1,\"minWriterVersion\":1}", true);
}

static void lists_that_contradict_are_refused_by_name(void **state)
{
    struct session_fixture *s = *state;
    make(s,
         "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
         "\"writerFeatures\":[\"appendOnly\"]}",
         "");
    assert_int_not_equal(session_try(s, "SELECT * FROM t"), SILT_OK);
    assert_non_null(strstr(s->err.message, "timestampNtz"));
    make(s, "{\"minReaderVersion\":3,\"minWriterVersion\":7,\"writerFeatures\":[]}", "");
    assert_int_not_equal(session_try(s, "SELECT * FROM t"), SILT_OK);
    make(s, "{\"minReaderVersion\":1,\"minWriterVersion\":2,\"writerFeatures\":[\"appendOnly\"]}", "");
    assert_int_not_equal(session_try(s, "SELECT * FROM t"), SILT_OK);
}

static void new_tables_list_what_they_use(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE a (v INT NOT NULL)");
    assert_non_null(strstr(hand_log(s, "a", 0), "\"minReaderVersion\":1,\"minWriterVersion\":2}"));
    session_expect_done(s, "CREATE TABLE b (v INT NOT NULL, n ARRAY<STRUCT<t: TIMESTAMP_NTZ>>) "
                           "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')");
    const char *log = hand_log(s, "b", 0);
    assert_non_null(strstr(log, "\"minReaderVersion\":3,\"minWriterVersion\":7"));
    assert_non_null(strstr(log, "\"readerFeatures\":[\"timestampNtz\"]"));
    assert_non_null(
        strstr(log, "\"writerFeatures\":[\"appendOnly\",\"invariants\",\"changeDataFeed\",\"timestampNtz\"]"));
    session_expect_fault(s, "CREATE TABLE c (v INT) TBLPROPERTIES ('delta.enableIcebergCompatV3' = 'true')",
                         SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", -1);
    assert_int_equal(session_try(s, "CREATE TABLE c (v INT) TBLPROPERTIES ('delta.feature.nope' = 'supported')"),
                     SILT_EUNSUPPORTED);
}

static void append_only_binds_when_the_protocol_says_so(void **state)
{
    struct session_fixture *s = *state;
    static const char *const protocols[][2] = {
        {"{\"minReaderVersion\":1,\"minWriterVersion\":2}", "bound"},
        {"{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"appendOnly\"]}", "bound"},
        {"{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"invariants\"]}", "free"},
        {"{\"minReaderVersion\":1,\"minWriterVersion\":1}", "free"},
    };
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
        make(s, protocols[i][0], "\"delta.appendOnly\":\"true\"");
        if (strcmp(protocols[i][1], "bound") == 0) {
            session_expect_fault(s, "INSERT OVERWRITE t VALUES (5)", SILT_ECONSTRAINT,
                                 "DELTA_CANNOT_MODIFY_APPEND_ONLY", -1);
            session_expect_done(s, "INSERT INTO t VALUES (2)");
        } else {
            session_expect_done(s, "INSERT OVERWRITE t VALUES (5)");
        }
        assert_int_equal(s->version, 1);
        hand_remove(s, "t");
    }
}

static void intervals_that_make_no_sense_are_errors(void **state)
{
    struct session_fixture *s = *state;
    static const char *const good[] = {"interval 1 day", "interval 2 weeks", "INTERVAL 36 hours", "1 days",
                                       "interval 1 day 2 hours"};
    static const char *const bad[] = {"interval", "soon",      "interval one day", "1 month", "interval 1 fortnight",
                                      "-1 days",  "interval 1"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        session_expect_done(
            s,
            session_format(s, "CREATE TABLE g%zu (v INT) TBLPROPERTIES ('delta.deletedFileRetentionDuration' = '%s')",
                           i, good[i]));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        session_expect_fault(
            s, session_format(s, "CREATE TABLE b (v INT) TBLPROPERTIES ('delta.logRetentionDuration' = '%s')", bad[i]),
            SILT_EINVALID, "DELTA_INVALID_INTERVAL", -1);
    }
}

static void a_table_without_columns_can_be_looked_at(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, HAND_PROTOCOL, hand_metadata(s, "", "", ""), NULL);
    session_expect_done(s, "DESCRIBE HISTORY t");
    session_expect_done(s, "DESCRIBE DETAIL t");
    session_expect_done(s, "DESCRIBE t");
    session_expect_fault(s, "SELECT * FROM t", SILT_ESCHEMA, "DELTA_READ_TABLE_WITHOUT_COLUMNS", 14);
    session_expect_fault(s, "SELECT count(*) FROM t", SILT_ESCHEMA, "DELTA_READ_TABLE_WITHOUT_COLUMNS", -1);
    assert_int_equal(session_try(s, "INSERT INTO t VALUES (1)"), SILT_ESCHEMA);
    assert_int_not_equal(session_try(s, "INSERT INTO t BY NAME SELECT 1 AS a"), SILT_OK);
}

static void partition_columns_must_be_in_the_schema(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer"), "\"absent\"");
    assert_int_not_equal(session_try(s, "SELECT * FROM t"), SILT_OK);
    assert_non_null(strstr(s->err.message, "absent"));
    session_expect_fault(s, "CREATE TABLE u (v INT) PARTITIONED BY (absent)", SILT_ESCHEMA,
                         "DELTA_PARTITION_COLUMN_NOT_FOUND", -1);
    assert_int_not_equal(session_try(s, "CREATE TABLE u (v INT) PARTITIONED BY (v)"), SILT_OK);
    assert_int_not_equal(session_try(s, "CREATE TABLE u (v INT, p INT) PARTITIONED BY (p, P)"), SILT_OK);
    assert_int_not_equal(session_try(s, "CREATE TABLE u (v INT, p ARRAY<INT>) PARTITIONED BY (p)"), SILT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(unknown_reader_features_are_refused_by_name),
        SESSION_TEST(the_protocol_of_the_version_that_is_read_counts),
        SESSION_TEST(what_writers_must_know_blocks_writing_only),
        SESSION_TEST(lists_that_contradict_are_refused_by_name),
        SESSION_TEST(new_tables_list_what_they_use),
        SESSION_TEST(append_only_binds_when_the_protocol_says_so),
        SESSION_TEST(intervals_that_make_no_sense_are_errors),
        SESSION_TEST(a_table_without_columns_can_be_looked_at),
        SESSION_TEST(partition_columns_must_be_in_the_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
