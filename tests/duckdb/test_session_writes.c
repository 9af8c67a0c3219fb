/* INSERT in all its forms: what is replaced, what of the schema changes, and what is refused without a trace. */
#include "count_files.h"
#include "hand_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* id 1..6 in partitions a, a, b, b, null, null; a file each partition and insert. */
static void make_parts(struct session_fixture *s)
{
    session_expect_done(s, "CREATE TABLE t (id BIGINT, p STRING, v STRING) USING delta PARTITIONED BY (p)");
    session_expect_done(s,
                        "INSERT INTO t VALUES (1, 'a', 'one'), (2, 'a', 'two'), (3, 'b', 'three'), (4, 'b', 'four')");
    session_expect_done(s, "INSERT INTO t VALUES (5, NULL, 'five'), (6, NULL, NULL)");
}

/* Fails, and neither a version nor a file is new. */
static void expect_refused(struct session_fixture *s, const char *sql, silt_status status, const char *code)
{
    const int before = count_files(s->dir);
    session_expect_fault(s, sql, status, code, -1);
    assert_int_equal(count_files(s->dir), before);
}

static int64_t newest(struct session_fixture *s)
{
    int64_t version = -1;
    assert_int_equal(session_try(s, "DESCRIBE HISTORY t LIMIT 1"), SILT_OK);
    version = strtoll(sl_buf_cstr(&s->out), NULL, 10);
    return version;
}

static void replace_where_takes_out_partitions_unread(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p = 'a' SELECT 10, 'a', 'ten'", "1|1\n");
    assert_int_equal(s->version, 3);
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "3\n4\n5\n6\n10\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p IS NULL VALUES (11, NULL, 'x'), (12, '', 'y')", "2|2\n");
    session_expect_rows(s, "SELECT id FROM t WHERE p IS NULL ORDER BY id", "11\n12\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p = 'z' VALUES (13, 'z', 'new')", "1|1\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p IN ('a', 'z') SELECT * FROM t WHERE false", "0|0\n");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "3\n4\n11\n12\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE true VALUES (1, 'q', 'all')", "1|1\n");
    session_expect_rows(s, "SELECT id FROM t", "1\n");
}

static void replace_where_keeps_the_other_rows_of_files(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE id = 2 OR v = 'four' SELECT 2, 'c', 'TWO'", "1|1\n");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a|one\n2|c|TWO\n3|b|three\n5|NULL|five\n6|NULL|NULL\n");
    /* v of row 6 is null, so the condition is too: the row stays. */
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE v <> 'one' SELECT 7, 'a', 'seven'", "1|1\n");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a|one\n6|NULL|NULL\n7|a|seven\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE v IS NULL OR id < 2 SELECT id - 6, p, v FROM t WHERE id = 7",
                        "1|1\n");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "1|a|seven\n7|a|seven\n");
}

static void replace_where_tells_what_it_did(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "INSERT INTO t REPLACE WHERE id >= 4 AND id <= 5 VALUES (4, 'b', 'x')");
    session_expect_rows(
        s,
        session_with_dir(s, "SELECT o.operation, o.operationParameters.mode, o.operationParameters.predicate, "
                            "o.operationMetrics.numFiles, o.operationMetrics.numOutputRows, "
                            "o.operationMetrics.numCopiedRows, o.operationMetrics.numDeletedRows, "
                            "o.operationMetrics.numRemovedFiles, o.isBlindAppend "
                            "FROM (SELECT commitInfo AS o FROM read_json('%D/t/_delta_log/00000000000000000003.json')) "
                            "WHERE o IS NOT NULL"),
        "WRITE|Overwrite|id >= 4 AND id <= 5|3|3|2|2|2|false\n");
}

static void rows_outside_of_the_condition_are_refused(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    static const char *const texts[] = {
        "INSERT INTO t REPLACE WHERE p = 'a' VALUES (1, 'a', 'x'), (2, 'b', 'x')",
        "INSERT INTO t REPLACE WHERE p = 'a' VALUES (1, NULL, 'x')",
        "INSERT INTO t REPLACE WHERE p <> 'a' VALUES (1, '', 'x')",
        "INSERT INTO t REPLACE WHERE id > 3 VALUES (4, 'a', 'x'), (3, 'a', 'x')",
        "INSERT INTO t REPLACE WHERE id > 3 VALUES (NULL, 'a', 'x')",
        "INSERT INTO t REPLACE WHERE id > 3 AND v LIKE 'f%' SELECT 4, 'a', 'seven'",
        "INSERT INTO t REPLACE WHERE false VALUES (4, 'a', 'x')",
    };
    const int64_t version = newest(s);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        expect_refused(s, texts[i], SILT_ECONSTRAINT, "DELTA_REPLACE_WHERE_MISMATCH");
    }
    assert_int_equal(newest(s), version);
    session_expect_rows(s, "SELECT count(*), sum(id) FROM t", "6|21\n");
}

static void conditions_that_are_none_are_refused(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    expect_refused(s, "INSERT INTO t REPLACE WHERE nope = 1 VALUES (1, 'a', 'x')", SILT_ESCHEMA,
                   "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id VALUES (1, 'a', 'x')", SILT_EINVALID,
                   "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id = VALUES (1, 'a', 'x')", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR");
    expect_refused(s, "INSERT INTO t REPLACE WHERE upper(p) = 'A' VALUES (1, 'a', 'x')", SILT_EUNSUPPORTED,
                   "DELTA_UNSUPPORTED_EXPRESSION");
    session_expect_rows(s, "SELECT count(*) FROM t", "6\n");
}

static void tables_with_change_data_replace_whole_files_only(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT, p STRING) USING delta PARTITIONED BY (p) "
                           "TBLPROPERTIES (delta.enableChangeDataFeed = true)");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b')");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id = 1 VALUES (1, 'c')", SILT_EUNSUPPORTED,
                   "SILT_UNSUPPORTED_REPLACE_WHERE");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE id >= 3 VALUES (4, 'c')", "1|1\n");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p = 'a' VALUES (5, 'a')", "1|1\n");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "4|c\n5|a\n");
}

static void append_only_tables_replace_nothing(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES (delta.appendOnly = true)");
    session_expect_done(s, "INSERT INTO t VALUES (1)");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id = 1 VALUES (1)", SILT_ECONSTRAINT,
                   "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    expect_refused(s, "INSERT OVERWRITE t VALUES (1)", SILT_ECONSTRAINT, "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    expect_refused(s, "TRUNCATE TABLE t", SILT_ECONSTRAINT, "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    session_expect_rows(s, "SELECT * FROM t", "1\n");
}

static void partition_gives_values_and_says_what_is_overwritten(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT, d DATE, n INT, p STRING) USING delta PARTITIONED BY (d, n)");
    session_expect_done(s, "INSERT INTO t PARTITION (d = '2026-01-01', n = 1) VALUES (1, 'x'), (2, 'y')");
    session_expect_done(s, "INSERT INTO t PARTITION (n = 2, d) SELECT 3, DATE '2026-01-02', 'z'");
    session_expect_done(s, "INSERT INTO t PARTITION (d = NULL, n = 1) BY NAME SELECT 'w' AS p, 4 AS id");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id",
                        "1|2026-01-01|1|x\n2|2026-01-01|1|y\n3|2026-01-02|2|z\n4|NULL|1|w\n");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (n = 1, d = DATE '2026-01-01') VALUES (5, 'v')");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "3\n4\n5\n");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (d = NULL, n) VALUES (6, 7, 'u')");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "3\n5\n6\n");
    expect_refused(s, "INSERT INTO t PARTITION (id = 1) VALUES (DATE '2026-01-01', 1, 'x')", SILT_ESCHEMA,
                   "NON_PARTITION_COLUMN");
    expect_refused(s, "INSERT INTO t PARTITION (n = 'x') VALUES (1, DATE '2026-01-01', 'x')", SILT_ESCHEMA,
                   "DELTA_PARTITION_COLUMN_CAST_FAILED");
    expect_refused(s, "INSERT INTO t PARTITION (n = 1, d = '2026-01-01') VALUES (1, 1, 'x')", SILT_ESCHEMA,
                   "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS");
    expect_refused(s, "INSERT INTO t PARTITION (n = 1, n = 2) VALUES (1, DATE '2026-01-01', 'x')", SILT_ESCHEMA,
                   "COLUMN_ALREADY_EXISTS");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (d, n) VALUES (8, NULL, NULL, 't')");
    session_expect_rows(s, "SELECT id FROM t", "8\n");
}

/* Their types come from the table, and what is wrong with them is that they are NULL, not that they are not there. */
static void untyped_nulls_are_refused_where_a_value_must_be(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id INT NOT NULL, d DATE, r STRUCT<x: INT>) USING delta");
    expect_refused(s, "INSERT INTO t VALUES (NULL, NULL, NULL)", SILT_ECONSTRAINT,
                   "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    expect_refused(s, "INSERT INTO t SELECT NULL, NULL, {'x': 1}", SILT_ECONSTRAINT,
                   "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    session_expect_done(s, "INSERT INTO t VALUES (1, NULL, NULL)");
    session_expect_rows(s, "SELECT * FROM t", "1|NULL|NULL\n");
}

/* Everyone else would read a day far in the future, or none. */
static void infinite_days_and_times_are_refused_as_partition_values(void **state)
{
    static const char *const types[][2] = {
        {"DATE", "DATE"}, {"TIMESTAMP", "TIMESTAMPTZ"}, {"TIMESTAMP_NTZ", "TIMESTAMP"}};
    struct session_fixture *s = *state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        session_expect_done(
            s, session_format(s, "CREATE TABLE t%zu (id BIGINT, p %s) USING delta PARTITIONED BY (p)", i, types[i][0]));
        for (int sign = 0; sign < 2; sign++) {
            const char *minus = sign == 1 ? "-" : "";
            expect_refused(s, session_format(s, "INSERT INTO t%zu VALUES (1, '%sinfinity'::%s)", i, minus, types[i][1]),
                           SILT_ESCHEMA, "CAST_OVERFLOW");
            expect_refused(s,
                           session_format(s, "INSERT INTO t%zu SELECT i, '%sinfinity'::%s FROM range(2000) r(i)", i,
                                          minus, types[i][1]),
                           SILT_ESCHEMA, "CAST_OVERFLOW");
        }
        session_expect_rows(s, session_format(s, "SELECT count(*) FROM t%zu", i), "0\n");
    }
}

static void dynamic_overwrite_replaces_partitions_that_receive_rows(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "SET spark.sql.sources.partitionOverwriteMode = dynamic");
    session_expect_done(s, "INSERT OVERWRITE t VALUES (10, 'a', 'x'), (11, NULL, 'y'), (12, 'c', 'z')");
    session_expect_rows(s, "SELECT * FROM t ORDER BY id", "3|b|three\n4|b|four\n10|a|x\n11|NULL|y\n12|c|z\n");
    session_expect_done(s, "INSERT OVERWRITE t SELECT * FROM t WHERE false");
    session_expect_rows(s, "SELECT count(*) FROM t", "5\n");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (p = 'b') VALUES (13, 'w')");
    session_expect_rows(s, "SELECT id FROM t WHERE p = 'b'", "13\n");
    session_expect_done(s,
                        "INSERT INTO t REPLACE WHERE p IS NOT NULL VALUES (14, 'a', 'v')"); /* the clause goes first */
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "11\n14\n");
    session_expect_done(s, "SET silt.write.replaceWhere = p = 'a'");
    expect_refused(s, "INSERT OVERWRITE t VALUES (15, 'a', 'x')", SILT_EINVALID,
                   "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE");
    session_expect_done(s, "SET silt.write.partitionOverwriteMode = STATIC");
    session_expect_done(s, "INSERT OVERWRITE t VALUES (15, 'a', 'x')");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "11\n15\n");
    expect_refused(s, "INSERT OVERWRITE t VALUES (15, 'b', 'x')", SILT_ECONSTRAINT, "DELTA_REPLACE_WHERE_MISMATCH");
    expect_refused(s, "INSERT OVERWRITE t PARTITION (p = 'a') VALUES (15, 'x')", SILT_EINVALID,
                   "DELTA_REPLACE_WHERE_IN_OVERWRITE");
    session_expect_done(s, "RESET silt.write.replaceWhere; INSERT OVERWRITE t VALUES (16, 'b', 'x')");
    session_expect_rows(s, "SELECT id FROM t", "16\n");
}

static void dynamic_overwrite_of_a_plain_table_replaces_all(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta; INSERT INTO t VALUES (1); "
                           "SET silt.write.partitionOverwriteMode = dynamic; INSERT OVERWRITE t VALUES (2)");
    session_expect_rows(s, "SELECT * FROM t", "2\n");
}

static void evolution_adds_columns_at_every_level(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT, s STRUCT<a: INT NOT NULL>, l ARRAY<STRUCT<x: INT>>, "
                           "m MAP<STRING, STRUCT<k: INT>>) USING delta");
    session_expect_done(s, "INSERT INTO t SELECT 1, {'a': 1}, [{'x': 1}], MAP {'q': {'k': 1}}");
    static const char *const query = "SELECT 2, {'b': 'two', 'A': 2}, [{'y': 2.5, 'x': 2}, NULL], "
                                     "MAP {'q': {'k': 2, 'z': true}}, 'new' AS extra";
    expect_refused(s, sl_arena_printf(&s->arena, "INSERT INTO t %s", query), SILT_ESCHEMA,
                   "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS");
    session_expect_done(s, sl_arena_printf(&s->arena, "INSERT WITH SCHEMA EVOLUTION INTO t %s", query));
    session_expect_done(s, "SET spark.databricks.delta.schema.autoMerge.enabled = true");
    session_expect_done(s, "INSERT INTO t BY NAME SELECT DATE '2026-01-01' AS d, 3 AS id");
    expect_refused(s, "INSERT INTO t BY NAME SELECT 4 AS id, {'b': 'no a'} AS s", SILT_ESCHEMA,
                   "DELTA_FAILED_TO_MERGE_FIELDS");
    expect_refused(s, "INSERT INTO t BY NAME SELECT 4 AS id, NULL AS e", SILT_ESCHEMA,
                   "DELTA_UNSUPPORTED_NULL_TYPE_IN_NEW_COLUMN");
    expect_refused(s, "INSERT INTO t BY NAME SELECT 4 AS id, [1] AS s", SILT_ESCHEMA, "DELTA_FAILED_TO_MERGE_FIELDS");
    session_expect_done(s, "INSERT INTO t BY NAME SELECT 4 AS id, NULL AS s, NULL AS l, NULL AS m");
    session_expect_rows(s, "SELECT id, to_json(s), extra, d FROM t ORDER BY id",
                        "1|{\"a\":1,\"b\":null}|NULL|NULL\n2|{\"a\":2,\"b\":\"two\"}|new|NULL\n3|NULL|NULL|2026-01-01\n"
                        "4|NULL|NULL|NULL\n");
    session_expect_rows(s, "SELECT l[1].x, l[1].y, len(l), m['q'].z FROM t ORDER BY id",
                        "1|NULL|1|NULL\n2|2.5|2|true\nNULL|NULL|NULL|NULL\nNULL|NULL|NULL|NULL\n");
}

static void evolution_goes_with_what_is_replaced(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "SET silt.write.mergeSchema = true");
    session_expect_done(s, "INSERT INTO t BY NAME REPLACE WHERE id = 1 SELECT 1 AS id, 'a' AS p, 9 AS w");
    session_expect_rows(s, "SELECT * FROM t WHERE p = 'a' ORDER BY id", "1|a|NULL|9\n2|a|two|NULL\n");
    session_expect_done(s, "INSERT OVERWRITE t BY NAME SELECT 7 AS id, 8 AS x");
    session_expect_rows(s, "SELECT * FROM t", "7|NULL|NULL|NULL|8\n");
    session_expect_done(s, "RESET silt.write.mergeSchema; SET silt.write.mergeSchema = false");
    expect_refused(s, "INSERT INTO t BY NAME SELECT 7 AS id, 8 AS y", SILT_ESCHEMA,
                   "UNRESOLVED_COLUMN.WITH_SUGGESTION");
}

static void an_overwrite_can_bring_another_schema(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "SET silt.write.overwriteSchema = true; INSERT OVERWRITE t SELECT 'x' AS name, 1 AS p");
    session_expect_rows(s, "SELECT * FROM t", "x|1\n");
    session_expect_done(s, "INSERT INTO t VALUES ('y', 2)"); /* only an overwrite brings one */
    session_expect_done(s, "SET silt.write.partitionBy = 'b, A'; INSERT OVERWRITE t SELECT 1 AS a, 2 AS b, 3 AS c");
    assert_true(count_files(session_with_dir(s, "%D/t/b=2/a=1")) == 1);
    session_expect_done(s, "SET silt.write.partitionBy = ''; INSERT OVERWRITE t SELECT 1 AS a, 2 AS b");
    session_expect_rows(s, "SELECT * FROM t", "1|2\n");
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 2", "6\n");
    expect_refused(s, "INSERT OVERWRITE t SELECT 1 AS a, 2 AS A", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND");
    expect_refused(s, "INSERT OVERWRITE t SELECT NULL AS a", SILT_ESCHEMA, "DELTA_UNSUPPORTED_NULL_TYPE_IN_NEW_COLUMN");
    session_expect_done(s, "SET silt.write.partitionBy = 'nope'");
    expect_refused(s, "INSERT OVERWRITE t SELECT 1 AS a", SILT_ESCHEMA, "DELTA_PARTITION_COLUMN_NOT_FOUND");
    session_expect_done(s, "SET silt.write.partitionOverwriteMode = dynamic");
    expect_refused(s, "INSERT OVERWRITE t SELECT 1 AS a", SILT_EINVALID,
                   "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE");
}

/* Midnight of the first of January in Tokyo is 15:00 of the day before. */
static void conditions_are_of_the_sessions_zone(void **state)
{
    static const char *const bounds[] = {"TIMESTAMP '2020-01-01 00:00:00'",
                                         "'2020-01-01 00:00:00'",
                                         "DATE '2020-01-01'",
                                         "'2020-01-01'",
                                         "CAST('2020-01-01' AS TIMESTAMP)",
                                         "TIMESTAMP_NTZ '2020-01-01 00:00:00'",
                                         "TIMESTAMP '2019-12-31 15:00:00Z'",
                                         "'2019-12-31T15:00:00+00:00'"};
    static const char *const columns[] = {"ts", "p"};
    struct session_fixture *s = *state;
    session_expect_done(s, "SET TIME ZONE 'Asia/Tokyo'; CREATE TABLE t (a INT, ts TIMESTAMP, p TIMESTAMP) USING delta "
                           "PARTITIONED BY (p)");
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        for (size_t k = 0; k < 2; k++) {
            session_expect_done(s,
                                "INSERT OVERWRITE t SELECT i, x, x FROM (SELECT i, TIMESTAMPTZ '2019-12-31 14:00:00Z' "
                                "+ to_hours(i) AS x FROM range(3) r(i))");
            session_expect_rows(s,
                                session_format(s,
                                               "INSERT INTO t REPLACE WHERE %s >= %s SELECT a + 10, ts, p FROM t "
                                               "WHERE ts >= TIMESTAMPTZ '2019-12-31 15:00:00Z'",
                                               columns[k], bounds[i]),
                                "2|2\n");
            session_expect_rows(s, "SELECT a FROM t ORDER BY a", "0\n11\n12\n");
        }
    }
    session_expect_done(s, "INSERT INTO t PARTITION (p = TIMESTAMP '2020-01-01 00:00:00') SELECT 20, NULL");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (p = '2020-01-01 00:00:00') SELECT 21, NULL");
    session_expect_rows(s, "SELECT a FROM t WHERE p = TIMESTAMPTZ '2019-12-31 15:00:00Z'", "21\n");
    session_expect_done(s, "INSERT OVERWRITE t PARTITION (p = DATE '2020-01-01') SELECT 22, NULL");
    session_expect_rows(s, "SELECT a FROM t WHERE p = TIMESTAMPTZ '2019-12-31 15:00:00Z'", "22\n");
    session_expect_done(s, "CREATE TABLE d (a INT, d DATE) USING delta PARTITIONED BY (d)");
    expect_refused(s, "INSERT INTO d PARTITION (d = TIMESTAMP '2020-01-01 00:00:00') SELECT 1", SILT_ESCHEMA,
                   "DELTA_PARTITION_COLUMN_CAST_FAILED");
    session_expect_done(s,
                        "CREATE TABLE n (a INT, ntz TIMESTAMP_NTZ) USING delta; INSERT INTO n VALUES (1, TIMESTAMP_NTZ "
                        "'2020-01-01 00:00:00')");
    expect_refused(s, "INSERT INTO n REPLACE WHERE ntz >= TIMESTAMP '2020-01-01 00:00:00' VALUES (2, NULL)",
                   SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION");
    session_expect_done(s,
                        "INSERT INTO n REPLACE WHERE ntz >= '2020-01-01 00:00:00' VALUES (2, TIMESTAMP_NTZ '2021-01-01 "
                        "00:00:00')");
    session_expect_rows(s, "SELECT a FROM n", "2\n");
}

/* Values as another writer left them, who was in Tokyo as well. */
static void partitions_of_a_wall_clock_are_replaced_in_the_sessions_zone(void **state)
{
    static const char *const statements[] = {"INSERT OVERWRITE h VALUES (2, TIMESTAMPTZ '2020-01-01 00:00:00')",
                                             "INSERT OVERWRITE h PARTITION (p = '2020-01-01 00:00:00') SELECT 2",
                                             "INSERT INTO h REPLACE WHERE p = '2020-01-01' VALUES (2, '2020-01-01')"};
    struct session_fixture *s = *state;
    session_expect_done(s, "SET TIME ZONE 'Asia/Tokyo'; SET spark.sql.sources.partitionOverwriteMode = dynamic");
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        hand_create(s, "h", HAND_FIELD("a", "integer") "," HAND_FIELD("p", "timestamp"), "\"p\"");
        hand_parquet(s, "h/here.parquet", "SELECT 1::INTEGER AS a");
        hand_parquet(s, "h/there.parquet", "SELECT 9::INTEGER AS a");
        hand_commit(s, "h", 1, hand_add(s, "here.parquet", "{\"p\":\"2020-01-01 00:00:00\"}", NULL),
                    hand_add(s, "there.parquet", "{\"p\":\"2020-01-01T00:00:00.000000Z\"}", NULL), NULL);
        session_expect_done(s, statements[i]);
        session_expect_rows(s, "SELECT a FROM h ORDER BY a", "2\n9\n");
        hand_remove(s, "h");
    }
}

static void zeroes_of_either_sign_are_one_partition(void **state)
{
    static const char *const types[] = {"DOUBLE", "FLOAT"};
    struct session_fixture *s = *state;
    for (size_t i = 0; i < 2; i++) {
        session_expect_done(
            s, session_format(s, "CREATE TABLE t%zu (a INT, p %s) USING delta PARTITIONED BY (p)", i, types[i]));
        session_expect_done(
            s, session_format(s, "INSERT INTO t%zu VALUES (1, 0), (2, '-0.0'::DOUBLE), (3, 'NaN'), (4, 1)", i));
        session_expect_done(s, "SET spark.sql.sources.partitionOverwriteMode = dynamic");
        session_expect_done(s, session_format(s, "INSERT OVERWRITE t%zu VALUES (5, '-0.0'::DOUBLE), (6, 'NaN')", i));
        session_expect_rows(s, session_format(s, "SELECT a FROM t%zu ORDER BY a", i), "4\n5\n6\n");
        session_expect_done(s, session_format(s, "INSERT OVERWRITE t%zu VALUES (7, 0)", i));
        session_expect_rows(s, session_format(s, "SELECT a FROM t%zu ORDER BY a", i), "4\n6\n7\n");
        session_expect_done(s, "RESET spark.sql.sources.partitionOverwriteMode");
        session_expect_done(s, session_format(s, "INSERT INTO t%zu REPLACE WHERE p = 0 VALUES (8, '-0.0'::DOUBLE)", i));
        session_expect_done(s, session_format(s, "INSERT INTO t%zu REPLACE WHERE p = 0 VALUES (9, 0)", i));
        session_expect_done(s, session_format(s, "INSERT INTO t%zu REPLACE WHERE p IN (-0.0, 1) VALUES (10, 0)", i));
        session_expect_rows(s, session_format(s, "SELECT a FROM t%zu ORDER BY a", i), "6\n10\n");
    }
}

#define HALF_GIVEN "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS.MISSING_SESSION_CONFS"

static void a_write_that_is_recorded_is_skipped(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta; SET spark.databricks.delta.write.txnAppId = job");
    session_expect_done(s, "SET spark.databricks.delta.write.txnVersion = 5");
    session_expect_rows(s, "INSERT INTO t VALUES (1)", "1|1\n");
    const int before = count_files(s->dir);
    session_expect_rows(s, "INSERT INTO t VALUES (1)", "0|0\n");
    assert_true(s->skipped);
    assert_int_equal(s->version, -1);
    session_expect_rows(s, "INSERT OVERWRITE t VALUES (2)", "0|0\n");
    session_expect_done(s, "TRUNCATE TABLE t");
    assert_true(s->skipped);
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE id > 0 VALUES (2)", "0|0\n");
    assert_true(s->skipped);
    session_expect_rows(s, "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 2 AS id, 3 AS more", "0|0\n");
    assert_true(s->skipped);
    session_expect_done(s, "SET silt.write.partitionOverwriteMode = dynamic");
    session_expect_rows(s, "INSERT OVERWRITE t VALUES (2)", "0|0\n");
    assert_true(s->skipped);
    session_expect_done(s, "RESET silt.write.partitionOverwriteMode");
    session_expect_done(s, "SET silt.write.txnVersion = 4");
    session_expect_rows(s, "INSERT INTO t VALUES (1)", "0|0\n");
    assert_int_equal(count_files(s->dir), before);
    session_expect_done(s, "SET silt.write.txnVersion = 6; SET silt.write.txnVersion.autoReset = true");
    session_expect_rows(s, "INSERT INTO t VALUES (2)", "1|1\n");
    assert_false(s->skipped);
    expect_refused(s, "INSERT INTO t VALUES (3)", SILT_EINVALID, HALF_GIVEN); /* the version is forgotten */
    session_expect_done(s, "SET silt.write.txnVersion = 6");
    session_expect_rows(s, "INSERT INTO t VALUES (3)", "0|0\n");
    session_expect_done(s, "SET silt.write.txnVersion = 7");
    session_expect_rows(s, "INSERT INTO t VALUES (4)", "1|1\n");
    session_expect_rows(s, "SELECT id FROM t ORDER BY id", "1\n2\n4\n");
}

static void an_application_id_and_its_version_belong_together(void **state)
{
    static const char *const settings[] = {"SET spark.databricks.delta.write.txnAppId = job",
                                           "RESET silt.write.txnAppId; SET silt.write.txnVersion = 1"};
    static const char *const statements[] = {
        "INSERT INTO t VALUES (1)", "INSERT OVERWRITE t VALUES (1)",    "INSERT INTO t REPLACE WHERE id > 0 VALUES (1)",
        "TRUNCATE TABLE t",         "CREATE TABLE u AS SELECT 1 AS id", "CREATE OR REPLACE TABLE t AS SELECT 1 AS id"};
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta; INSERT INTO t VALUES (0)");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        session_expect_done(s, settings[i]);
        for (size_t k = 0; k < sizeof(statements) / sizeof(statements[0]); k++) {
            expect_refused(s, statements[k], SILT_EINVALID, HALF_GIVEN);
        }
    }
    /* As in Delta Spark: what writes no rows does not look. */
    session_expect_done(s, "CREATE TABLE v (id BIGINT) USING delta; CREATE TABLE IF NOT EXISTS t AS SELECT 2 AS id");
    session_expect_rows(s, "SELECT id FROM t", "0\n");
    session_expect_done(s, "RESET silt.write.txnVersion; INSERT INTO t VALUES (1)");
}

static void truncate_removes_every_row(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "TRUNCATE TABLE t");
    assert_int_equal(s->version, 3);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
    session_expect_done(s, "TRUNCATE TABLE t"); /* nothing to remove, no version */
    assert_int_equal(s->version, -1);
    assert_int_equal(newest(s), 3);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 2", "6\n");
    session_expect_fault(s, "TRUNCATE TABLE nope", SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", -1);
}

static void replacing_a_table_is_one_version(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE OR REPLACE TABLE t (id BIGINT NOT NULL, p STRING) USING delta PARTITIONED BY (p) "
                           "COMMENT 'first' TBLPROPERTIES (delta.checkpointInterval = 7, mine = 'x')");
    assert_int_equal(s->version, 0);
    session_expect_done(s, "INSERT INTO t VALUES (1, 'a'), (2, 'b')");
    session_expect_rows(s,
                        "CREATE OR REPLACE TABLE t PARTITIONED BY (two) TBLPROPERTIES (other = 'y') "
                        "AS SELECT p AS name, id * 2 AS two FROM t",
                        "2|2\n");
    assert_int_equal(s->version, 2);
    session_expect_rows(s, "SELECT * FROM t ORDER BY two", "a|2\nb|4\n");
    session_expect_done(s, "REPLACE TABLE t (z DATE NOT NULL, w TIMESTAMP_NTZ) USING delta");
    assert_int_equal(s->version, 3);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
    session_expect_done(s, "INSERT INTO t VALUES (DATE '2026-01-01', NULL)");
    session_expect_rows(s, "SELECT id FROM t VERSION AS OF 1 ORDER BY id", "1\n2\n");
    session_expect_rows(s, "SELECT z FROM t", "2026-01-01\n");
    session_expect_done(s, "REPLACE TABLE t AS SELECT 5 AS five");
    session_expect_rows(s, "SELECT * FROM t", "5\n");
}

static void a_replacement_keeps_how_the_table_is_kept(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT) USING delta TBLPROPERTIES (delta.enableRowTracking = true, "
                           "delta.checkpointPolicy = 'v2', delta.appendOnly = false, mine = 1)");
    session_expect_done(s, "INSERT INTO t VALUES (1), (2); CREATE OR REPLACE TABLE t (a INT) "
                           "TBLPROPERTIES (delta.checkpointPolicy = 'classic')");
    session_expect_done(s, "INSERT INTO t VALUES (3)");
    session_expect_rows(s, "SELECT a, _metadata.row_id FROM t", "3|2\n");
    session_expect_done(s, "SHOW TBLPROPERTIES t");
    const char *properties = sl_buf_cstr(&s->out);
    assert_non_null(strstr(properties, "delta.enableRowTracking|true"));
    assert_non_null(strstr(properties, "delta.checkpointPolicy|classic"));
    assert_null(strstr(properties, "mine"));
    assert_null(strstr(properties, "appendOnly|false"));
}

static void tables_with_row_ids_replace_whole_files_only(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT, p STRING) USING delta PARTITIONED BY (p) "
                           "TBLPROPERTIES (delta.enableRowTracking = true)");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b')");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id = 1 VALUES (1, 'c')", SILT_EUNSUPPORTED,
                   "SILT_UNSUPPORTED_REPLACE_WHERE");
    session_expect_rows(s, "INSERT INTO t REPLACE WHERE p = 'a' VALUES (5, 'a')", "1|1\n");
    session_expect_rows(s, "SELECT id, _metadata.row_id FROM t ORDER BY id", "3|2\n5|3\n");
}

static void columns_behind_other_names_are_replaced_and_evolve(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (id BIGINT, `a b` STRING, s STRUCT<`x y`: INT>) USING delta "
                           "PARTITIONED BY (`a b`) TBLPROPERTIES (delta.columnMapping.mode = 'name')");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'p', {'x y': 1}), (2, 'p', {'x y': 2}), (3, 'q', {'x y': 3})");
    session_expect_done(s, "INSERT INTO t REPLACE WHERE id = 2 VALUES (2, 'r', {'x y': 22})");
    session_expect_done(s, "INSERT INTO t REPLACE WHERE `a b` = 'q' VALUES (33, 'q', NULL)");
    session_expect_done(s, "INSERT INTO t REPLACE WHERE s.`x y` = 22 VALUES (2, 'r', {'x y': 22})");
    expect_refused(s, "INSERT INTO t REPLACE WHERE id = 2 VALUES (3, 'r', NULL)", SILT_ECONSTRAINT,
                   "DELTA_REPLACE_WHERE_MISMATCH");
    session_expect_done(s, "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME "
                           "SELECT 4 AS id, 'p' AS `a b`, {'x y': 4, 'new z': 'zz'} AS s, 1.5 AS `n w`");
    session_expect_done(s, "SET silt.write.partitionOverwriteMode = dynamic; "
                           "INSERT OVERWRITE t BY NAME SELECT 5 AS id, 'r' AS `a b`");
    session_expect_rows(s, "SELECT id, `a b`, s.`x y`, s.`new z`, `n w` FROM t ORDER BY id",
                        "1|p|1|NULL|NULL\n4|p|4|zz|1.5\n5|r|NULL|NULL|NULL\n33|q|NULL|NULL|NULL\n");
    session_expect_done(s, "CREATE OR REPLACE TABLE t (id INT); INSERT INTO t VALUES (1)");
    session_expect_rows(s, "SELECT * FROM t", "1\n");
}

static void evolution_widens_types_where_the_table_may(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(
        s, "CREATE TABLE t (id SMALLINT, s STRUCT<n: INT>) USING delta; INSERT INTO t VALUES (1, {'n': 1})");
    expect_refused(s, "INSERT WITH SCHEMA EVOLUTION INTO t SELECT 300000, {'n': 1}", SILT_ESCHEMA,
                   "CAST_INVALID_INPUT");
    session_expect_done(s, "CREATE OR REPLACE TABLE t (id SMALLINT, s STRUCT<n: INT>) USING delta "
                           "TBLPROPERTIES (delta.enableTypeWidening = true); INSERT INTO t VALUES (1, {'n': 1})");
    session_expect_done(s, "INSERT WITH SCHEMA EVOLUTION INTO t SELECT 3000000000, {'n': 5000000000}");
    session_expect_rows(s, "SELECT id, s.n FROM t ORDER BY id", "1|1\n3000000000|5000000000\n");
    session_expect_done(s, "INSERT WITH SCHEMA EVOLUTION INTO t REPLACE WHERE id = 1 SELECT 1, {'n': 7}");
    session_expect_rows(s, "SELECT id, s.n FROM t ORDER BY id", "1|7\n3000000000|5000000000\n");
}

static void a_replacement_that_fails_leaves_the_table(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    expect_refused(s, "CREATE OR REPLACE TABLE t (a INT, A INT)", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND");
    expect_refused(s, "CREATE OR REPLACE TABLE t (a INT) TBLPROPERTIES (delta.nope = 1)", SILT_EINVALID,
                   "DELTA_UNKNOWN_CONFIGURATION");
    expect_refused(s, "CREATE OR REPLACE TABLE t PARTITIONED BY (b) AS SELECT 1 AS a", SILT_ESCHEMA,
                   "DELTA_PARTITION_COLUMN_NOT_FOUND");
    expect_refused(s, "CREATE OR REPLACE TABLE t AS SELECT CAST('x' AS INT) AS a", SILT_ESCHEMA, "CAST_INVALID_INPUT");
    expect_refused(s, "CREATE OR REPLACE TABLE t IF NOT EXISTS (a INT)", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR");
    session_expect_fault(s, "REPLACE TABLE nope (a INT)", SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", -1);
    assert_int_equal(count_files(session_with_dir(s, "%D/nope")), -1);
    session_expect_rows(s, "SELECT count(*), sum(id) FROM t", "6|21\n");
}

static void a_replacement_is_done_once(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "SET silt.write.txnAppId = job; SET silt.write.txnVersion = 1");
    session_expect_done(
        s, "CREATE TABLE IF NOT EXISTS u (a INT)"); /* has no rows, and leaves the version to who brings some */
    session_expect_rows(s, "INSERT INTO u VALUES (1)", "1|1\n");
    session_expect_rows(s, "CREATE OR REPLACE TABLE t AS SELECT 1 AS a", "1|1\n");
    session_expect_rows(s, "CREATE OR REPLACE TABLE t AS SELECT 2 AS a", "0|0\n");
    assert_true(s->skipped);
    session_expect_done(s, "CREATE OR REPLACE TABLE t (b INT)");
    assert_true(s->skipped);
    session_expect_rows(s, "SELECT a FROM t", "1\n");
}

static void drop_removes_the_folder_of_a_table_of_the_warehouse(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "CREATE TABLE s.inner_table (a INT)");
    session_expect_done(s, "DROP TABLE t");
    assert_int_equal(count_files(session_with_dir(s, "%D/t")), -1);
    session_expect_fault(s, "DROP TABLE t", SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", -1);
    session_expect_done(
        s, "DROP TABLE IF EXISTS t; CREATE TABLE t (a INT); INSERT INTO t VALUES (1); DROP TABLE s.inner_table");
    session_expect_rows(s, "SELECT * FROM t", "1\n");
}

static void drop_touches_nothing_that_is_not_the_tables(void **state)
{
    struct session_fixture *s = *state;
    make_parts(s);
    session_expect_done(s, "CREATE TABLE t.within (a INT)");
    session_expect_done(s, session_with_dir(s, "COPY (SELECT 1 AS a) TO '%D/plain.parquet'"));
    expect_refused(s, "DROP TABLE t", SILT_EINVALID, "SILT_TABLE_WITHIN_TABLE");
    expect_refused(s, session_with_dir(s, "DROP TABLE delta.`%D/t`"), SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT");
    expect_refused(s, "DROP TABLE t VERSION AS OF 1", SILT_EINVALID, "DELTA_TIME_TRAVEL_INVALID_WRITE");
    session_expect_done(s, "DROP TABLE t.within");
    assert_int_equal(rename(sl_arena_strdup(&s->arena, sl_str_from(session_with_dir(s, "%D/t"))),
                            sl_arena_strdup(&s->arena, sl_str_from(session_with_dir(s, "%D/real")))),
                     0);
    assert_int_equal(symlink("real", session_with_dir(s, "%D/t")), 0);
    expect_refused(s, "DROP TABLE t", SILT_EINVALID, "SILT_INVALID_ARGUMENT");
    session_expect_rows(s, "SELECT count(*) FROM real", "6\n");
    assert_int_equal(symlink(s->dir, session_with_dir(s, "%D/real/out")), 0);
    session_expect_done(s, "DROP TABLE real");
    session_expect_rows(s, session_with_dir(s, "SELECT * FROM '%D/plain.parquet'"), "1\n");
}

static void options_take_only_what_they_can_be(void **state)
{
    struct session_fixture *s = *state;
    static const char *const texts[] = {
        "SET silt.write.mergeSchema = yes",
        "SET silt.write.txnVersion = -1",
        "SET silt.write.txnVersion = 1.5",
        "SET spark.sql.sources.partitionOverwriteMode = some",
        "SET silt.write.overwriteSchema = 1",
        "SET spark.databricks.delta.maxCommitAttempts = 0",
        "SET silt.write.txnVersion.autoReset = on",
        "SET silt.write.commitTimeLimit = 0",
        "SET silt.threads = 0",
        "SET silt.threads = 1.5",
        "SET silt.threads = abc",
        "SET threads = 1025",
        "SET worker_threads = 100000",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        session_expect_fault(s, texts[i], SILT_EINVALID, "INVALID_CONF_VALUE.TYPE_MISMATCH", 0);
    }
    static const char *const of_the_plane[] = {
        "SET silt.memory_limit = 'much'", "SET silt.memory_limit = '1XB'",  "SET max_memory = ''",
        "SET memory_limit = '100'",       "SET default_order = 'sideways'", "SET preserve_insertion_order = maybe",
    };
    for (size_t i = 0; i < sizeof(of_the_plane) / sizeof(of_the_plane[0]); i++) {
        session_expect_fault(s, of_the_plane[i], SILT_EINVALID, "INVALID_CONF_VALUE.REQUIREMENT", 0);
    }
    session_expect_fault(s, "SET no_such_setting = 1", SILT_ESYNTAX, "UNRESOLVED_NAME", -1);
    session_expect_done(s, "SET silt.threads = 3");
    session_expect_done(s, "SET worker_threads = 2");
    session_expect_rows(s, "SET silt.threads", "silt.threads|2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(replace_where_takes_out_partitions_unread),
        SESSION_TEST(replace_where_keeps_the_other_rows_of_files),
        SESSION_TEST(replace_where_tells_what_it_did),
        SESSION_TEST(rows_outside_of_the_condition_are_refused),
        SESSION_TEST(conditions_that_are_none_are_refused),
        SESSION_TEST(tables_with_change_data_replace_whole_files_only),
        SESSION_TEST(append_only_tables_replace_nothing),
        SESSION_TEST(partition_gives_values_and_says_what_is_overwritten),
        SESSION_TEST(untyped_nulls_are_refused_where_a_value_must_be),
        SESSION_TEST(infinite_days_and_times_are_refused_as_partition_values),
        SESSION_TEST(dynamic_overwrite_replaces_partitions_that_receive_rows),
        SESSION_TEST(dynamic_overwrite_of_a_plain_table_replaces_all),
        SESSION_TEST(evolution_adds_columns_at_every_level),
        SESSION_TEST(evolution_goes_with_what_is_replaced),
        SESSION_TEST(an_overwrite_can_bring_another_schema),
        SESSION_TEST(conditions_are_of_the_sessions_zone),
        SESSION_TEST(partitions_of_a_wall_clock_are_replaced_in_the_sessions_zone),
        SESSION_TEST(zeroes_of_either_sign_are_one_partition),
        SESSION_TEST(a_write_that_is_recorded_is_skipped),
        SESSION_TEST(an_application_id_and_its_version_belong_together),
        SESSION_TEST(truncate_removes_every_row),
        SESSION_TEST(replacing_a_table_is_one_version),
        SESSION_TEST(a_replacement_keeps_how_the_table_is_kept),
        SESSION_TEST(tables_with_row_ids_replace_whole_files_only),
        SESSION_TEST(columns_behind_other_names_are_replaced_and_evolve),
        SESSION_TEST(evolution_widens_types_where_the_table_may),
        SESSION_TEST(a_replacement_that_fails_leaves_the_table),
        SESSION_TEST(a_replacement_is_done_once),
        SESSION_TEST(drop_removes_the_folder_of_a_table_of_the_warehouse),
        SESSION_TEST(drop_touches_nothing_that_is_not_the_tables),
        SESSION_TEST(options_take_only_what_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
