/* Values that must fit their columns, nulls inside of nested values, and files that were written under another schema. */
#include "hand_table.h"

#include <string.h>

#define HAND_NESTED(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define STRUCT_OF(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define ARRAY_OF(type) "{\"type\":\"array\",\"elementType\":" type ",\"containsNull\":true}"
#define MAP_OF(type) "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":" type ",\"valueContainsNull\":true}"

static void what_does_not_fit_is_an_error_and_changes_nothing(void **state)
{
    struct session_fixture *s = *state;
    static const char *const bad[] = {
        "(i) SELECT 1099511627776::BIGINT",
        "(i) SELECT 'abc'",
        "(i) SELECT '1099511627776'",
        "(i) SELECT 1e10::DOUBLE",
        "(i) SELECT 'nan'::DOUBLE",
        "(d) SELECT '2024-13-01'",
        "(d) SELECT 'abc'",
        "(m) SELECT 1234567.8",
        "(m) SELECT 1000",
        "(m) SELECT '1234.5'",
        "(m) SELECT 1e9::DOUBLE",
        "(b) SELECT 300",
        "(b) SELECT -129",
        "(b) SELECT 1e3::FLOAT",
        "(f) SELECT 1e300::DOUBLE",
        "(o) SELECT 'perhaps'",
        "(s) SELECT {'x': 1099511627776::BIGINT}",
        "(s) SELECT {'x': 'abc'}",
        "(l) SELECT [1, 1099511627776]",
        "(k) SELECT MAP {'a': 1099511627776}",
        "(p) SELECT 1099511627776::BIGINT",
        "(p) SELECT 'abc'",
    };
    session_expect_done(s, "CREATE TABLE t (i INT, d DATE, m DECIMAL(5,2), b BYTE, f FLOAT, o BOOLEAN, "
                           "s STRUCT<x: INT>, l ARRAY<INT>, k MAP<STRING, INT>, p INT) PARTITIONED BY (p)");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *sql = session_format(s, "INSERT INTO t %s", bad[i]);
        const silt_status status = session_try(s, sql);
        if (status != SILT_ESCHEMA && status != SILT_ECONSTRAINT && status != SILT_EINVALID) {
            fail_msg("%s: %s [%s] %s", sql, silt_status_name(status), s->err.code_name, s->err.message);
        }
    }
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
    assert_int_equal(session_try(s, "SELECT * FROM t VERSION AS OF 1"), SILT_ENOTFOUND);
    /* One bad row among many good ones. */
    assert_int_not_equal(session_try(s, "INSERT INTO t (b) SELECT i FROM range(0, 10000) r(i)"), SILT_OK);
    assert_int_not_equal(session_try(s, "INSERT OVERWRITE t (b) SELECT 300"), SILT_OK);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
}

static void what_fits_is_stored_exactly(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (i INT, g BIGINT, m DECIMAL(5,2), t STRING, f DOUBLE, u TIMESTAMP)");
    session_expect_done(s, "INSERT INTO t SELECT 5::BIGINT, 7::TINYINT, 999.99, 42, 3::INT, DATE '2020-01-01'");
    session_expect_done(s, "INSERT INTO t SELECT 5.0::DOUBLE, -1, 1.5::DOUBLE, 1.25, 1.5, '2020-01-01 00:00:00Z'");
    session_expect_rows(s, "SELECT i, g, m, t, f, epoch(u)::BIGINT FROM t ORDER BY g",
                        "5|-1|1.50|1.25|1.5|1577836800\n5|7|999.99|42|3.0|1577836800\n");
}

static void a_null_below_a_column_is_refused_where_it_must_not_be(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s,
                        "CREATE TABLE t (k INT, s STRUCT<x: INT NOT NULL, y: INT>, l ARRAY<STRUCT<x: INT NOT NULL>>)");
    session_expect_fault(s, "INSERT INTO t VALUES (1, {'x': NULL, 'y': 1}, NULL)", SILT_ECONSTRAINT,
                         "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", -1);
    session_expect_fault(s, "INSERT INTO t VALUES (1, NULL, [{'x': 1}, {'x': NULL}])", SILT_ECONSTRAINT,
                         "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", -1);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
    session_expect_done(s, "INSERT INTO t VALUES (1, NULL, NULL), (2, {'x': 1, 'y': NULL}, [NULL, {'x': 3}])");
    session_expect_done(s, "INSERT INTO t SELECT * FROM t; INSERT INTO t (k) VALUES (3)");
    session_expect_rows(s, "SELECT k, s.x, l[2].x, count(*) FROM t GROUP BY ALL ORDER BY ALL",
                        "1|NULL|NULL|2\n2|1|3|2\n3|NULL|NULL|1\n");
}

static void infinite_times_are_refused(void **state)
{
    struct session_fixture *s = *state;
    static const char *const bad[] = {
        "(d) SELECT 'infinity'::DATE",
        "(d) SELECT '-infinity'::DATE",
        "(u) SELECT 'infinity'::TIMESTAMPTZ",
        "(n) SELECT '-infinity'::TIMESTAMP",
        "(n) SELECT 'infinity'",
        "(u) SELECT unnest([NULL, '2020-01-01', 'infinity'])::TIMESTAMPTZ",
        "(s) SELECT {'x': 'infinity'::TIMESTAMPTZ}",
        "(l) SELECT ['2020-01-01'::DATE, 'infinity'::DATE]",
        "(m) SELECT MAP {'a': '-infinity'::TIMESTAMPTZ}",
    };
    session_expect_done(s, "CREATE TABLE t (t STRING, d DATE, u TIMESTAMP, n TIMESTAMP_NTZ, s STRUCT<x: TIMESTAMP>, "
                           "l ARRAY<DATE>, m MAP<STRING, TIMESTAMP>)");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        session_expect_fault(s, session_format(s, "INSERT INTO t %s", bad[i]), SILT_ECONSTRAINT, "CAST_OVERFLOW", -1);
    }
    session_expect_done(s, "INSERT INTO t (t, l) SELECT 'infinity', ['2020-01-01'::DATE]");
    session_expect_done(s, "CREATE TABLE p (v INT, d DATE) PARTITIONED BY (d)");
    assert_int_not_equal(session_try(s, "INSERT INTO p SELECT 1, 'infinity'::DATE"), SILT_OK);
    session_expect_rows(s, "SELECT count(*) FROM t", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM p", "0\n");
}

static void texts_fit_their_declared_length(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (k INT, v VARCHAR(3), c CHAR(2), p VARCHAR(2)) PARTITIONED BY (p)");
    assert_non_null(strstr(hand_log(s, "t", 0), "\\\"__CHAR_VARCHAR_TYPE_STRING\\\":\\\"varchar(3)\\\""));
    session_expect_done(s, "INSERT INTO t VALUES (1, 'abc', 'x', 'pp'), (2, NULL, NULL, NULL), (3, 'éüö', '', 'p')");
    session_expect_done(s, "INSERT INTO t VALUES (4, 'ab    ', 'yz   ', 'pp '); INSERT INTO t VALUES (5, 12, 3, 4)");
    session_expect_rows(s, "SELECT k, '<' || v || '>', '<' || c || '>', p FROM t ORDER BY k",
                        "1|<abc>|<x >|pp\n2|NULL|NULL|NULL\n3|<éüö>|<  >|p\n4|<ab >|<yz>|pp\n5|<12>|<3 >|4\n");
    session_expect_fault(s, "INSERT INTO t (v) VALUES ('abcd')", SILT_ECONSTRAINT, "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
                         -1);
    session_expect_fault(s, "INSERT INTO t (c) VALUES ('abc')", SILT_ECONSTRAINT, "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
                         -1);
    session_expect_fault(s, "INSERT INTO t (p) VALUES ('abc')", SILT_ECONSTRAINT, "DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
                         -1);
    session_expect_rows(s, "SELECT count(*) FROM t", "5\n");
    session_expect_done(s, "CREATE TABLE n (k INT, l ARRAY<VARCHAR(3)>)");
    session_expect_fault(s, "INSERT INTO n VALUES (1, ['a'])", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", -1);
}

static void null_structs_stay_null(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (k INT, s STRUCT<a: BIGINT, b: STRING>, l ARRAY<STRUCT<a: BIGINT>>, "
                           "m MAP<STRING, STRUCT<a: BIGINT>>)");
    session_expect_done(s, "INSERT INTO t VALUES (1, NULL, NULL, NULL), "
                           "(2, {'a': NULL, 'b': NULL}, [NULL, {'a': NULL}], MAP {'x': NULL, 'y': {'a': NULL}}), "
                           "(3, {'a': 1, 'b': NULL}, [], MAP {})");
    session_expect_done(s, "INSERT INTO t SELECT k + 10, s, l, m FROM t");
    /* Members of other types are cast one by one. */
    session_expect_done(s, "INSERT INTO t SELECT 21, NULL::STRUCT(a INT, b VARCHAR), [NULL, {'a': 1::INT}], NULL");
    session_expect_rows(
        s,
        "SELECT k, s IS NULL, s.a IS NULL, l IS NULL, list_transform(l, x -> x IS NULL)::VARCHAR, m IS NULL, "
        "(m['x']) IS NULL, (m['y']) IS NULL, (m['y']).a IS NULL FROM t ORDER BY k",
        "1|true|true|true|NULL|true|true|true|true\n2|false|true|false|[true, false]|false|true|false|true\n"
        "3|false|false|false|[]|false|true|true|true\n11|true|true|true|NULL|true|true|true|true\n"
        "12|false|true|false|[true, false]|false|true|false|true\n13|false|false|false|[]|false|true|true|true\n"
        "21|true|true|false|[true, false]|true|true|true|true\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s IS NULL ORDER BY k", "1\n11\n21\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s.a IS NULL ORDER BY k", "1\n2\n11\n12\n21\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s IS NOT NULL AND s.a IS NULL ORDER BY k", "2\n12\n");
}

static void null_structs_stay_null_under_a_wider_schema(void **state)
{
    struct session_fixture *s = *state;
    hand_create(
        s, "t",
        HAND_FIELD("k", "integer") "," HAND_NESTED(
            "s",
            STRUCT_OF(HAND_FIELD("a", "long") "," HAND_FIELD("c", "string") "," HAND_FIELD(
                "b",
                "string"))) "," HAND_NESTED("l",
                                            ARRAY_OF(STRUCT_OF(HAND_FIELD("a", "long") "," HAND_FIELD(
                                                "c",
                                                "string")))) "," HAND_NESTED("m",
                                                                             MAP_OF(STRUCT_OF(HAND_FIELD("c", "string") "," HAND_FIELD(
                                                                                 "a",
                                                                                 "long")))) "," HAND_NESTED("n",
                                                                                                            STRUCT_OF(HAND_NESTED(
                                                                                                                "o",
                                                                                                                STRUCT_OF(HAND_FIELD(
                                                                                                                    "p",
                                                                                                                    "integer"))))),
        "");
    hand_parquet(s, "t/old.parquet",
                 "SELECT * FROM (VALUES (1::INT, NULL::STRUCT(b VARCHAR, a BIGINT), [NULL, {'a': 7::BIGINT}], "
                 "MAP {'x': NULL, 'y': {'a': 8::BIGINT}}), (2, {'b': 'bee', 'a': NULL}, NULL, NULL), "
                 "(3, {'b': NULL, 'a': NULL}, [], NULL)) v(k, s, l, m)");
    hand_commit(s, "t", 1, hand_add(s, "old.parquet", "{}", NULL), NULL);
    session_expect_rows(
        s,
        "SELECT k, s IS NULL, s.a, s.b, s.c, l::VARCHAR, m['x'] IS NULL, (m['y']).a, (m['y']).c, n IS NULL "
        "FROM t ORDER BY k",
        "1|true|NULL|NULL|NULL|[NULL, {'a': 7, 'c': NULL}]|true|8|NULL|true\n"
        "2|false|NULL|bee|NULL|NULL|true|NULL|NULL|true\n3|false|NULL|NULL|NULL|[]|true|NULL|NULL|true\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s IS NULL", "1\n");
    session_expect_rows(s, "SELECT k FROM t WHERE s.c IS NULL AND s.b = 'bee'", "2\n");
    session_expect_rows(s, "SELECT k FROM t WHERE n.o.p IS NULL ORDER BY k", "1\n2\n3\n");
}

static void files_of_other_shapes_are_read_under_the_tables_schema(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t",
                HAND_FIELD("a", "integer") "," HAND_FIELD("c", "string") "," HAND_NESTED(
                    "s", STRUCT_OF(HAND_FIELD("a", "integer") "," HAND_FIELD("b", "integer"))),
                "");
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS a, {'a': 10::INT} AS s");
    hand_parquet(s, "t/2.parquet", "SELECT {'b': 21::INT, 'a': 20::INT} AS s, 'two' AS c, 2::INT AS a");
    hand_parquet(s, "t/3.parquet",
                 "SELECT 'later' AS z, 3::INT AS a, 'insert' AS _change_type, 5 AS _commit_version, "
                 "{'a': 30::INT, 'b': 31::INT, 'x': 5} AS s, 'three' AS c");
    hand_parquet(s, "t/4.parquet", "SELECT 4::INT AS a, 'four' AS c WHERE false");
    hand_parquet(s, "t/5.parquet", "SELECT 'nothing of it' AS other");
    hand_parquet(s, "t/6.parquet", "SELECT 6::INT AS A, 'six' AS C");
    hand_commit(s, "t", 1, hand_add(s, "1.parquet", "{}", NULL), hand_add(s, "2.parquet", "{}", NULL),
                hand_add(s, "3.parquet", "{}", NULL), hand_add(s, "4.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT a, c, s.a, s.b FROM t ORDER BY a", "1|NULL|10|NULL\n2|two|20|21\n3|three|30|31\n");
    session_expect_rows(s, "SELECT a FROM t WHERE c IS NULL", "1\n");
    session_expect_rows(s, "SELECT a FROM t WHERE s.b IS NULL", "1\n");
    session_expect_rows(s, "SELECT a FROM t WHERE s.b > 25", "3\n");
    session_expect_rows(s, "SELECT count(*), count(c) FROM t", "3|2\n");
    session_expect_done(s, "DESCRIBE SELECT * FROM t");
    assert_null(strstr(sl_buf_cstr(&s->out), "_change_type"));
    hand_commit(s, "t", 2, hand_add(s, "5.parquet", "{}", NULL), hand_add(s, "6.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT count(*), count(a) FROM t", "5|4\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a IS NULL", "1\n");
}

static void empty_tables_have_their_whole_schema(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("a", "integer") "," HAND_FIELD("p", "string"), "");
    session_expect_rows(s, "SELECT * FROM t", "");
    session_expect_rows(s, "SELECT count(*), max(a) FROM t WHERE p = 'x'", "0|NULL\n");
    session_expect_rows(s, "DESCRIBE SELECT * FROM t", "a|INTEGER|YES|NULL|NULL|NULL\np|VARCHAR|YES|NULL|NULL|NULL\n");
    hand_create(s, "u", HAND_FIELD("a", "integer") "," HAND_FIELD("p", "string"), "\"p\"");
    session_expect_rows(s, "SELECT p, a FROM u WHERE p = 'x'", "");
    session_expect_rows(s, "SELECT count(p) FROM u", "0\n");
    session_expect_rows(s, "INSERT INTO u SELECT 1, 'x' WHERE false", "0|0\n");
    session_expect_rows(s, "SELECT count(*) FROM u", "0\n");
    session_expect_rows(s, "INSERT OVERWRITE u SELECT * FROM u", "0|0\n");
}

static void a_schema_that_changed_is_taken_anew(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("a", "integer") "," HAND_FIELD("b", "integer"), "");
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS a, 2::INT AS b");
    hand_commit(s, "t", 1, hand_add(s, "1.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT * FROM t", "1|2\n");
    hand_commit(s, "t", 2, hand_metadata(s, HAND_FIELD("a", "integer"), "", ""), NULL);
    session_expect_rows(s, "SELECT * FROM t", "1\n");
    session_expect_rows(s, "SELECT * FROM t VERSION AS OF 1", "1|2\n");
    session_expect_fault(s, "SELECT b FROM t", SILT_ESYNTAX, "UNRESOLVED_COLUMN", 7);
    session_expect_fault(s, "INSERT INTO t VALUES (1, 2)", SILT_ESCHEMA,
                         "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(what_does_not_fit_is_an_error_and_changes_nothing),
        SESSION_TEST(what_fits_is_stored_exactly),
        SESSION_TEST(a_null_below_a_column_is_refused_where_it_must_not_be),
        SESSION_TEST(infinite_times_are_refused),
        SESSION_TEST(texts_fit_their_declared_length),
        SESSION_TEST(null_structs_stay_null),
        SESSION_TEST(null_structs_stay_null_under_a_wider_schema),
        SESSION_TEST(files_of_other_shapes_are_read_under_the_tables_schema),
        SESSION_TEST(empty_tables_have_their_whole_schema),
        SESSION_TEST(a_schema_that_changed_is_taken_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
