/* table_changes and table_changes_by_path in SQL: their arguments, their place in queries, what data files and change files bring. */
#include "hand_table.h"
#include "hand_vector.h"
#include "mini_rows.h"

#include <stdio.h>
#include <string.h>

#define INFO(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\"}}"
#define TIMED                                                                                              \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"changeDataFeed\"," \
    "\"inCommitTimestamp\"]}}"
#define RECORDED "\"delta.enableChangeDataFeed\":\"true\""
#define TIMES RECORDED ",\"delta.enableInCommitTimestamps\":\"true\""
#define FIELDS HAND_FIELD("id", "long") "," HAND_FIELD("name", "string")
#define CDC(path) "{\"cdc\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":5,\"dataChange\":false}}"
#define REMOVE(path) \
    "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":7,\"dataChange\":true,\"partitionValues\":{}}}"
#define MAPPED(name, type, physical, id)                                                                          \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":" id \
    ",\"delta.columnMapping.physicalName\":\"" physical "\"}}"

/* Version 1 inserts 1 and 2, 2 updates 2, 3 deletes 1; versions are at 2020-01-01, a day apart. */
static void make_table(struct session_fixture *s)
{
    hand_commit(s, "t", 0, INFO("1577836800000"), TIMED, hand_metadata(s, FIELDS, "", TIMES), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT i AS id, chr(96 + i::INT) AS name FROM range(1, 3) r(i)");
    hand_parquet(s, "t/b.parquet", "SELECT 1::BIGINT AS id, 'a' AS name UNION ALL SELECT 2, 'B'");
    hand_parquet(s, "t/c.parquet", "SELECT 2::BIGINT AS id, 'B' AS name");
    hand_parquet(s, "t/_change_data/b.parquet",
                 "SELECT 2::BIGINT AS id, 'b' AS name, 'update_preimage' AS _change_type UNION ALL SELECT 2, 'B', "
                 "'update_postimage'");
    hand_parquet(s, "t/_change_data/c.parquet", "SELECT 1::BIGINT AS id, 'a' AS name, 'delete' AS _change_type");
    hand_commit(s, "t", 1, INFO("1577923200000"), hand_add(s, "a.parquet", "{}", NULL), NULL);
    hand_commit(s, "t", 2, INFO("1578009600000"), REMOVE("a.parquet"), hand_add(s, "b.parquet", "{}", NULL),
                CDC("_change_data/b.parquet"), NULL);
    hand_commit(s, "t", 3, INFO("1578096000000"), REMOVE("b.parquet"), hand_add(s, "c.parquet", "{}", NULL),
                CDC("_change_data/c.parquet"), NULL);
}

#define ALL_ROWS "1|a|insert|1\n2|b|insert|1\n2|B|update_postimage|2\n2|b|update_preimage|2\n1|a|delete|3\n"
#define WANTED "SELECT id, name, _change_type, _commit_version FROM "
#define ORDERED " ORDER BY _commit_version, _change_type, id"

/* ---- the table ---- */

static void the_table_is_named_as_behind_from(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(s, WANTED "table_changes('t', 0)" ORDERED, ALL_ROWS);
    session_expect_rows(s, WANTED "table_changes('`t`', 0, 3)" ORDERED, ALL_ROWS);
    session_expect_rows(s, WANTED "TABLE_CHANGES('t', 0, 3)" ORDERED, ALL_ROWS);
    session_expect_rows(s, session_with_dir(s, WANTED "table_changes('delta.`%D/t`', 0)" ORDERED), ALL_ROWS);
    session_expect_rows(s, session_with_dir(s, WANTED "table_changes('%D/t', 0)" ORDERED), ALL_ROWS);
    session_expect_rows(s, session_with_dir(s, WANTED "table_changes('file://%D/t', 0)" ORDERED), ALL_ROWS);
    session_expect_rows(s, session_with_dir(s, WANTED "table_changes_by_path('%D/t', 0)" ORDERED), ALL_ROWS);
    session_expect_rows(s, session_with_dir(s, WANTED "table_changes_by_path('file://%D/t', 0, 9)" ORDERED), ALL_ROWS);
}

static void a_table_that_is_not_there_is_told_where_the_call_stands(void **state)
{
    struct session_fixture *s = *state;
    session_expect_fault(s, "SELECT * FROM table_changes('nowhere', 0)", SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST",
                         14);
    session_expect_fault(s, session_with_dir(s, "SELECT * FROM table_changes_by_path('%D/nowhere', 0)"), SILT_ENOTTABLE,
                         "DELTA_PATH_DOES_NOT_EXIST", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('', 0)", SILT_EINVALID, "DELTA_CDC_NON_CONSTANT_ARGUMENT", -1);
    session_expect_fault(s, "SELECT * FROM table_changes(NULL, 0)", SILT_EINVALID, "DELTA_CDC_NON_CONSTANT_ARGUMENT",
                         -1);
}

/* ---- bounds ---- */

static void bounds_are_versions_of_any_spelling(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(s, WANTED "table_changes('t', 2, 2)" ORDERED,
                        "2|B|update_postimage|2\n2|b|update_preimage|2\n");
    session_expect_rows(s, WANTED "table_changes('t', 1 + 1, abs(-2))" ORDERED,
                        "2|B|update_postimage|2\n2|b|update_preimage|2\n");
    session_expect_rows(s, WANTED "table_changes('t', (SELECT max(i) FROM range(4) r(i)), 3::TINYINT)",
                        "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes('t' , 3 -- a comment, and a comma\n )", "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes(concat('', 't'), greatest(3, 1), 99)", "1|a|delete|3\n");
}

static void bounds_are_times_of_any_spelling(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(s, WANTED "table_changes('t', '2020-01-04')" ORDERED, "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes('t', '2020-01-03T00:00:00.000001Z', TIMESTAMP '2020-01-04 00:00')",
                        "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes('t', DATE '2020-01-04', 3)", "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes('t', '2019-01-01', '2020-01-02 12:00:00')" ORDERED,
                        "1|a|insert|1\n2|b|insert|1\n");
    session_expect_rows(s, WANTED "table_changes('t', '2020-01-04 02:00:00+02:00', '2020-01-04 00:00:00Z')",
                        "1|a|delete|3\n");
}

static void times_without_a_zone_are_of_the_sessions(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "SET TIME ZONE 'Asia/Tokyo'");
    session_expect_rows(s, WANTED "table_changes('t', '2020-01-04 09:00:00', '2020-01-04 09:00:00')", "1|a|delete|3\n");
    session_expect_rows(s, WANTED "table_changes('t', TIMESTAMP '2020-01-04 09:00:00')", "1|a|delete|3\n");
    session_expect_rows(s, "SELECT _commit_timestamp = TIMESTAMPTZ '2020-01-04 00:00:00Z' FROM table_changes('t', 3)",
                        "true\n");
    session_expect_fault(s, "SELECT * FROM table_changes('t', '2020-01-04 09:00:01')", SILT_ENOTFOUND,
                         "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", 14);
}

/* Runs with the parameters 't', 3 and 1. */
static void expect_rows_with_parameters(struct session_fixture *s, const char *sql, const char *rows)
{
    static const char *const formats[] = {"u", "l", "l"};
    static const char *const names[] = {"", "", ""};
    const silt_value values[] = {mini_text("t"), mini_long(3), mini_long(1)};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
    mini_rows_stream(&stream, names, formats, 3, values, 1);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &array), 0);
    stream.release(&stream);
    if (session_try_with(s, sql, &schema, &array) != SILT_OK) {
        fail_msg("%s: %s", sql, s->err.message);
    }
    assert_string_equal(sl_buf_cstr(&s->out), rows);
    array.release(&array);
    schema.release(&schema);
}

static void bounds_may_be_parameters(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    expect_rows_with_parameters(s, WANTED "table_changes($1, $2)", "1|a|delete|3\n");
    expect_rows_with_parameters(s, WANTED "table_changes(?, ?)", "1|a|delete|3\n");
    expect_rows_with_parameters(s, WANTED "table_changes(?, ?) WHERE id = ?", "1|a|delete|3\n");
    expect_rows_with_parameters(s, WANTED "table_changes(?1, ?3, ?2 - ?3) WHERE id = ?3" ORDERED, "1|a|insert|1\n");
    /* A mark that is taken out with its clause counts all the same. */
    expect_rows_with_parameters(s, "SELECT ?, id FROM t VERSION AS OF ? WHERE id > ?", "t|2\n");
    expect_rows_with_parameters(s, "SELECT count(*), ? FROM t FOR VERSION AS OF ? WHERE id > ?", "1|t\n");
}

static void bounds_that_are_none_are_refused(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_fault(s, "SELECT * FROM table_changes('t', NULL)", SILT_EINVALID,
                         "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 0, NULL)", SILT_EINVALID,
                         "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 'yesterday')", SILT_EINVALID,
                         "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', -1)", SILT_EINVALID, "DELTA_INVALID_CDC_RANGE", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 99999999999999999999)", SILT_EINVALID,
                         "DELTA_INVALID_CDC_RANGE", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 1.5)", SILT_EINVALID,
                         "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', true)", SILT_EINVALID,
                         "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 3, 1)", SILT_EINVALID, "DELTA_INVALID_CDC_RANGE", 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 4)", SILT_ENOTFOUND,
                         "DELTA_CDC_START_VERSION_AFTER_LATEST", 14);
}

static void wrong_numbers_and_kinds_of_arguments_are_refused(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    static const char code[] = "INCORRECT_NUMBER_OF_ARGUMENTS";
    session_expect_fault(s, "SELECT * FROM table_changes()", SILT_ESYNTAX, code, 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t')", SILT_ESYNTAX, code, 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', 0, 1, 2)", SILT_ESYNTAX, code, 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', start := 0)", SILT_ESYNTAX, code, 14);
    session_expect_fault(s, "SELECT * FROM table_changes('t', nosuch)", SILT_ESYNTAX, "UNRESOLVED_COLUMN", -1);
    session_expect_fault(s, "SELECT * FROM range(2) r(i), table_changes('t', i)", SILT_ESYNTAX, "UNRESOLVED_COLUMN",
                         -1);
}

/* ---- in queries ---- */

static void a_call_stands_wherever_a_table_does(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(
        s, "SELECT c.id, table_changes.name FROM table_changes('t', 3) JOIN table_changes('t', 3) c USING (id)",
        "1|a\n");
    session_expect_rows(s, "SELECT x.a FROM table_changes('t', 3) AS x(a, b)", "1\n");
    session_expect_rows(s, "WITH c AS (SELECT * FROM table_changes('t', 1, 1)) SELECT count(*) FROM c", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM (FROM table_changes('t', 0)) q", "5\n");
    session_expect_rows(s, "SELECT (SELECT count(*) FROM table_changes('t', 0))", "5\n");
    session_expect_rows(s, "SELECT id FROM t WHERE id IN (SELECT id FROM table_changes('t', 2, 2))", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t, table_changes('t', 0) c WHERE t.id = c.id", "3\n");
    session_expect_rows(s, WANTED "table_changes('t', 0) WHERE _change_type = 'delete'", "1|a|delete|3\n");
    session_expect_rows(s, "SELECT count(*) FROM table_changes('t', 0) WHERE _commit_version = 2 AND name > 'a'",
                        "1\n");
    session_expect_rows(s, "SELECT count(*) FROM table_changes('t', 0, 0)", "0\n");
    session_expect_rows(s,
                        "SELECT typeof(_change_type), typeof(_commit_version), typeof(_commit_timestamp) FROM "
                        "table_changes('t', 3)",
                        "VARCHAR|BIGINT|TIMESTAMP WITH TIME ZONE\n");
    session_expect_rows(s, "SELECT epoch_ms(_commit_timestamp) FROM table_changes('t', 3)", "1578096000000\n");
    session_expect_done(s, "EXPLAIN SELECT * FROM table_changes('t', 0)");
}

static void changes_can_be_inserted_into_a_table(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(
        s, "CREATE TABLE log USING delta AS SELECT id, _change_type AS what, _commit_version AS version FROM "
           "table_changes('t', 1, 2)");
    session_expect_done(s, "INSERT INTO log SELECT id, _change_type, _commit_version FROM table_changes('t', 3)");
    session_expect_rows(s, "SELECT * FROM log WHERE id = 1 ORDER BY version", "1|insert|1\n1|delete|3\n");
}

static void no_functions_of_the_name_elsewhere_are_taken(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_rows(s, "SELECT 'table_changes(''t'', 0)'", "table_changes('t', 0)\n");
    assert_int_not_equal(session_try(s, "SELECT table_changes('t', 0)"), SILT_OK);
}

/* ---- files ---- */

/* Writers of change data leave the column in data files; rows of the table do not have it. */
/* Its rows would be changes of no kind. Other versions are told. */
static void a_change_file_without_a_change_type_is_refused(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    hand_parquet(s, "t/_change_data/c.parquet", "SELECT 1::BIGINT AS id, 'a' AS name");
    const char *const queries[] = {WANTED "table_changes('t', 0)", "SELECT count(*) FROM table_changes('t', 3)",
                                   "SELECT id FROM table_changes('t', 2, 3)"};
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        session_expect_fault(s, queries[i], SILT_ECORRUPT, "SILT_CORRUPT", -1);
        assert_int_equal(s->err.version, 3);
        assert_non_null(strstr(s->err.path, "/t/_change_data/c.parquet"));
        assert_non_null(strstr(s->err.message, "version 3: file "));
        assert_non_null(strstr(s->err.message, "_change_data/c.parquet has no column _change_type"));
    }
    session_expect_rows(s, WANTED "table_changes('t', 1, 2)" ORDERED,
                        "1|a|insert|1\n2|b|insert|1\n2|B|update_postimage|2\n2|b|update_preimage|2\n");
    session_expect_rows(s, "SELECT * FROM t", "2|B\n");
}

static void a_change_type_in_data_files_does_not_show(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, INFO("1577836800000"), TIMED, hand_metadata(s, FIELDS, "", TIMES), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::BIGINT AS id, 'a' AS name, 'update_preimage' AS _change_type");
    hand_parquet(s, "t/b.parquet", "SELECT 2::BIGINT AS id, 'b' AS name, NULL::VARCHAR AS _change_type");
    hand_commit(s, "t", 1, INFO("1577923200000"), hand_add(s, "a.parquet", "{}", NULL),
                hand_add(s, "b.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a\n2|b\n");
    session_expect_rows(s, "SELECT column_name FROM (DESCRIBE SELECT * FROM t)", "id\nname\n");
    session_expect_rows(s, WANTED "table_changes('t', 1)" ORDERED, "1|a|insert|1\n2|b|insert|1\n");
    session_expect_rows(s, WANTED "table_changes('t', 1) WHERE _change_type = 'insert'" ORDERED,
                        "1|a|insert|1\n2|b|insert|1\n");
    session_expect_fault(s, "SELECT _change_type FROM t", SILT_ESYNTAX, "UNRESOLVED_COLUMN", -1);
}

static void make_mapped(struct session_fixture *s, const char *mode)
{
    static const char fields[] = MAPPED("id", "long", "col-1", "1") "," MAPPED("label", "string", "col-2", "2");
    hand_commit(s, "t", 0, "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}",
                hand_metadata(s, fields, "", session_format(s, RECORDED ",\"delta.columnMapping.mode\":\"%s\"", mode)),
                NULL);
}

static void mapped_by_name_change_files_have_physical_names(void **state)
{
    struct session_fixture *s = *state;
    make_mapped(s, "name");
    hand_parquet(s, "t/c.parquet", "SELECT 7::BIGINT AS \"col-1\", 'x' AS \"col-2\", 'delete' AS _change_type");
    hand_parquet(s, "t/d.parquet", "SELECT 8::BIGINT AS \"col-1\", 'y' AS \"col-2\", 'nonsense' AS _change_type");
    hand_commit(s, "t", 1, CDC("c.parquet"), NULL);
    hand_commit(s, "t", 2, hand_add(s, "d.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT id, label, _change_type, _commit_version FROM table_changes('t', 0) ORDER BY 1",
                        "7|x|delete|1\n8|y|insert|2\n");
}

/* "_change_type" is no column of the table, so that it has no id: it goes by its name. */
static void mapped_by_id_the_change_type_goes_by_its_name(void **state)
{
    struct session_fixture *s = *state;
    make_mapped(s, "id");
    hand_put(s, "t/here", "");
    session_expect_done(s,
                        session_with_dir(s, "COPY (SELECT 7::BIGINT AS other, 'x' AS \"col-1\", 'update_preimage' AS "
                                            "_change_type) TO '%D/t/c.parquet' (FIELD_IDS {other: 1, \"col-1\": 2})"));
    session_expect_done(s, session_with_dir(s, "COPY (SELECT 8::BIGINT AS p, 'y' AS q, 'nonsense' AS _change_type) TO "
                                               "'%D/t/d.parquet' (FIELD_IDS {p: 1, q: 2, _change_type: 9})"));
    hand_commit(s, "t", 1, CDC("c.parquet"), NULL);
    hand_commit(s, "t", 2, hand_add(s, "d.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT id, label, _change_type, _commit_version FROM table_changes('t', 0) ORDER BY 1",
                        "7|x|update_preimage|1\n8|y|insert|2\n");
    session_expect_rows(s, "SELECT id FROM table_changes('t', 0) WHERE _change_type = 'update_preimage'", "7\n");
}

static void vectors_give_their_difference(void **state)
{
    struct session_fixture *s = *state;
    const int64_t some[] = {0, 3};
    const int64_t one[] = {3};
    hand_commit(s, "t", 0,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"],"
                "\"writerFeatures\":[\"deletionVectors\",\"changeDataFeed\"]}}",
                hand_metadata(s, HAND_FIELD("id", "long"), "", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT i AS id FROM range(10, 15) r(i)");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    hand_commit(s, "t", 2, REMOVE("a.parquet"), hand_add_vector(s, "a.parquet", "{}", NULL, hand_inline(s, some, 2)),
                NULL);
    hand_commit(s, "t", 3, hand_remove_vector(s, "a.parquet", hand_inline(s, some, 2)),
                hand_add_vector(s, "a.parquet", "{}", NULL, hand_inline(s, one, 1)), NULL); /* RESTORE of a part */
    session_expect_rows(s, "SELECT id, _change_type, _commit_version FROM table_changes('t', 2)" ORDERED,
                        "10|delete|2\n13|delete|2\n10|insert|3\n");
    session_expect_rows(s, "SELECT count(*) FROM table_changes('t', 1)", "8\n");
}

static void columns_follow_the_last_version(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}",
                hand_metadata(s, HAND_FIELD("id", "integer"), "", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::INT AS id");
    hand_parquet(s, "t/b.parquet", "SELECT 2::BIGINT AS id, 'b' AS name");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    hand_commit(s, "t", 2, hand_metadata(s, FIELDS, "", RECORDED), hand_add(s, "b.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT * EXCLUDE (_commit_timestamp) FROM table_changes('t', 0)" ORDERED,
                        "1|NULL|insert|1\n2|b|insert|2\n");
    session_expect_rows(s, "SELECT * EXCLUDE (_commit_timestamp) FROM table_changes('t', 0, 1)", "1|insert|1\n");
    session_expect_rows(s, "SELECT typeof(id) FROM table_changes('t', 0) LIMIT 1", "BIGINT\n");
}

static void partition_values_are_told_with_their_rows(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}",
                hand_metadata(s, HAND_FIELD("id", "long") "," HAND_FIELD("p", "timestamp"), "\"p\"", RECORDED), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 1::BIGINT AS id");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{\"p\":\"2020-01-01 09:00:00\"}", NULL), NULL);
    hand_commit(s, "t", 2, REMOVE("a.parquet"), NULL);
    session_expect_rows(s, "SELECT epoch_ms(p) FROM table_changes('t', 1, 1)", "1577869200000\n");
    session_expect_done(s, "SET TIME ZONE 'Asia/Tokyo'");
    session_expect_rows(s, "SELECT epoch_ms(p) FROM table_changes('t', 1, 1)", "1577836800000\n");
    session_expect_rows(s, "SELECT p IS NULL FROM table_changes('t', 2)", "true\n"); /* the map is there, and empty */
}

static void tables_that_cannot_tell_are_refused(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE plain (id BIGINT) USING delta");
    session_expect_fault(s, "SELECT * FROM table_changes('plain', 0)", SILT_EUNSUPPORTED, "DELTA_MISSING_CHANGE_DATA",
                         14);
    hand_commit(s, "own", 0, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":4}}",
                hand_metadata(s, HAND_FIELD("_change_type", "string"), "", RECORDED), NULL);
    session_expect_fault(s, "SELECT * FROM table_changes('own', 0)", SILT_ESCHEMA,
                         "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", 14);
}

/* What silt itself writes. */
static void appends_and_overwrites_are_told(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE w (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES "
                           "('delta.enableChangeDataFeed' = 'true')");
    session_expect_done(s, "INSERT INTO w VALUES (1, 'x'), (2, NULL)");
    session_expect_done(s, "INSERT OVERWRITE w VALUES (3, 'y')");
    session_expect_rows(s, "SELECT id, p, _change_type, _commit_version FROM table_changes('w', 0)" ORDERED,
                        "1|x|insert|1\n2|NULL|insert|1\n1|x|delete|2\n2|NULL|delete|2\n3|y|insert|2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(the_table_is_named_as_behind_from),
        SESSION_TEST(a_table_that_is_not_there_is_told_where_the_call_stands),
        SESSION_TEST(bounds_are_versions_of_any_spelling),
        SESSION_TEST(bounds_are_times_of_any_spelling),
        SESSION_TEST(times_without_a_zone_are_of_the_sessions),
        SESSION_TEST(bounds_may_be_parameters),
        SESSION_TEST(bounds_that_are_none_are_refused),
        SESSION_TEST(wrong_numbers_and_kinds_of_arguments_are_refused),
        SESSION_TEST(a_call_stands_wherever_a_table_does),
        SESSION_TEST(changes_can_be_inserted_into_a_table),
        SESSION_TEST(no_functions_of_the_name_elsewhere_are_taken),
        SESSION_TEST(a_change_file_without_a_change_type_is_refused),
        SESSION_TEST(a_change_type_in_data_files_does_not_show),
        SESSION_TEST(mapped_by_name_change_files_have_physical_names),
        SESSION_TEST(mapped_by_id_the_change_type_goes_by_its_name),
        SESSION_TEST(vectors_give_their_difference),
        SESSION_TEST(columns_follow_the_last_version),
        SESSION_TEST(partition_values_are_told_with_their_rows),
        SESSION_TEST(tables_that_cannot_tell_are_refused),
        SESSION_TEST(appends_and_overwrites_are_told),
    };
    return cmocka_run_group_tests_name("changes in SQL", tests, NULL, NULL);
}
