/* Columns and rows of change data that users found wrong: names that leak, schemas that change, files that go as a whole. */
#include "hand_table.h"

#include <string.h>

#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}"
#define MAPPED_PROTOCOL "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}"
#define RECORDED "\"delta.enableChangeDataFeed\":\"true\""
#define BY_NAME RECORDED ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"3\""
#define FIELDS HAND_FIELD("id", "long") "," HAND_FIELD("name", "string")
#define REMOVE(path) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":7,\"dataChange\":true,\"partitionValues\":{}}}"
#define MAPPED(name, type, physical, id)                                                                          \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":" id \
    ",\"delta.columnMapping.physicalName\":\"" physical "\"}}"
#define CHANGES(from) \
    "SELECT * EXCLUDE (_commit_timestamp) FROM table_changes('t', " from ") ORDER BY _commit_version, 1"

static void the_type_of_a_change_in_data_files_is_no_column_of_the_table(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::BIGINT AS id, 'insert' AS _change_type, 'a' AS name");
    hand_parquet(s, "t/b.parquet", "SELECT 2::BIGINT AS id, 'b' AS name, NULL::VARCHAR AS _change_type");
    hand_parquet(s, "t/c.parquet", "SELECT 3::BIGINT AS id, 'c' AS name");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), hand_add(s, "b.parquet", "{}", NULL),
                hand_add(s, "c.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a\n2|b\n3|c\n");
    session_expect_rows(s, "SELECT COLUMNS(*) FROM t WHERE id = 1", "1|a\n");
    session_expect_done(s, "CREATE TABLE copy USING delta AS SELECT * FROM t");
    session_expect_rows(s, "SELECT * FROM copy ORDER BY id", "1|a\n2|b\n3|c\n");
}

static void a_range_over_an_added_column_has_nulls_before_it(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, HAND_FIELD("id", "long"), "", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::BIGINT AS id");
    hand_parquet(s, "t/b.parquet", "SELECT 'b' AS name, 2::BIGINT AS id");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    hand_commit(s, "t", 2, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    hand_commit(s, "t", 3, hand_add(s, "b.parquet", "{}", NULL), NULL);
    session_expect_rows(s, CHANGES("0"), "1|NULL|insert|1\n2|b|insert|3\n");
}

static void a_range_over_drop_and_rename_never_mixes_columns(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, MAPPED_PROTOCOL,
                hand_metadata(s, MAPPED("a", "long", "c1", "1") "," MAPPED("b", "long", "c2", "2"), "", BY_NAME), NULL);
    hand_parquet(s, "t/x.parquet", "SELECT 1::BIGINT AS c1, 10::BIGINT AS c2");
    hand_parquet(s, "t/y.parquet", "SELECT 2::BIGINT AS c1");
    hand_commit(s, "t", 1, hand_add(s, "x.parquet", "{}", NULL), NULL);
    /* b is dropped, a takes its name */
    hand_commit(s, "t", 2, hand_metadata(s, MAPPED("b", "long", "c1", "1"), "", BY_NAME), NULL);
    hand_commit(s, "t", 3, hand_add(s, "y.parquet", "{}", NULL), NULL);
    session_expect_rows(s, CHANGES("0"), "1|insert|1\n2|insert|3\n");
    session_expect_rows(s, "SELECT a, b, _commit_version FROM table_changes('t', 0, 1)", "1|10|1\n");
}

static void a_range_in_which_recording_was_off_is_refused(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    hand_commit(s, "t", 1, hand_metadata(s, FIELDS, "", "\"delta.enableChangeDataFeed\":\"false\""), NULL);
    hand_commit(s, "t", 2, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    session_expect_fault(s, CHANGES("0"), SILT_EUNSUPPORTED, "DELTA_MISSING_CHANGE_DATA", -1);
    assert_non_null(strstr(s->err.message, "not recorded in version 1"));
    session_expect_rows(s, CHANGES("2"), "");
}

static void files_that_go_as_a_whole_are_deletes(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::BIGINT AS id, 'a' AS name");
    hand_parquet(s, "t/b.parquet", "SELECT 2::BIGINT AS id, 'b' AS name, 'update_preimage' AS _change_type");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    hand_commit(s, "t", 2, REMOVE("a.parquet"), hand_add(s, "b.parquet", "{}", NULL), NULL); /* an overwrite */
    hand_commit(s, "t", 3, REMOVE("b.parquet"), NULL);
    session_expect_rows(s, CHANGES("2"), "1|a|delete|2\n2|b|insert|2\n2|b|delete|3\n");
}

static void a_type_that_cannot_be_told_is_refused_with_its_version(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, FIELDS, "", RECORDED), NULL);
    hand_commit(s, "t", 1, hand_metadata(s, HAND_FIELD("id", "string"), "", RECORDED), NULL);
    session_expect_fault(s, CHANGES("0"), SILT_ESCHEMA, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE", -1);
    assert_int_equal(s->err.version, 0);
    session_expect_rows(s, CHANGES("1"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(the_type_of_a_change_in_data_files_is_no_column_of_the_table),
        SESSION_TEST(a_range_over_an_added_column_has_nulls_before_it),
        SESSION_TEST(a_range_over_drop_and_rename_never_mixes_columns),
        SESSION_TEST(a_range_in_which_recording_was_off_is_refused),
        SESSION_TEST(files_that_go_as_a_whole_are_deletes),
        SESSION_TEST(a_type_that_cannot_be_told_is_refused_with_its_version),
    };
    return cmocka_run_group_tests_name("field reports: columns of change data", tests, NULL, NULL);
}
