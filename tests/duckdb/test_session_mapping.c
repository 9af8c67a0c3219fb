/* Writing under physical names: messages speak of the columns that users know, files hold ids, also those that are split afterwards. */
#include "hand_table.h"

#include <string.h>

#define MAPPED "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"

static void faults_name_the_columns_that_users_know(void **state)
{
    struct session_fixture *s = *state;
    /* NOT NULL within a column is judged on Arrow rows, the rest by what files turn out to hold. */
    session_expect_done(s, "CREATE TABLE t (a INT NOT NULL, s STRUCT<x: INT NOT NULL> NOT NULL) " MAPPED);
    session_expect_done(
        s, "CREATE TABLE u (a INT NOT NULL, s STRUCT<x: INT> NOT NULL, d DATE, l ARRAY<DATE>, c CHAR(2)) " MAPPED);
    static const struct {
        const char *insert;
        const char *in_message;
    } cases[] = {
        {"t VALUES (NULL::INT, {'x': 1})", "column: a"},
        {"t VALUES (1, NULL::STRUCT(x INT))", "column: s"},
        {"t VALUES (1, {'x': NULL::INT})", "column: s.x"},
        {"u VALUES (NULL::INT, {'x': 1}, NULL, NULL, NULL)", "column: a"},
        {"u VALUES (1, NULL::STRUCT(x INT), NULL, NULL, NULL)", "column: s"},
        {"u VALUES ('q', {'x': 1}, NULL, NULL, NULL)", "column a"},
        {"u VALUES (1, {'x': 'q'}, NULL, NULL, NULL)", "column s"},
        {"u VALUES (1, {'x': 1}, 'infinity'::DATE, NULL, NULL)", "column d"},
        {"u VALUES (1, {'x': 1}, NULL, ['infinity'::DATE], NULL)", "column l"},
        {"u VALUES (1, {'x': 1}, NULL, NULL, 'xyz')", "column c"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_not_equal(session_try(s, session_format(s, "INSERT INTO %s", cases[i].insert)), SILT_OK);
        if (strstr(s->err.message, cases[i].in_message) == NULL || strstr(s->err.message, "col-") != NULL) {
            fail_msg("case %zu: %s", i, s->err.message);
        }
    }
    session_expect_rows(s, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)", "0|0\n");
}

static void ids_are_in_files_that_were_split(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a BIGINT, s STRUCT<x: STRING>) TBLPROPERTIES ("
                           "'delta.columnMapping.mode' = 'id', 'delta.targetFileSize' = '64kb')");
    session_expect_done(s, "INSERT INTO t SELECT range, {'x': md5(range::VARCHAR)} FROM range(20000)");
    session_expect_rows(s, "SELECT count(*), sum(a), count(DISTINCT s.x) FROM t", "20000|199990000|20000\n");
    session_expect_rows(
        s,
        session_with_dir(
            s,
            "SELECT count(DISTINCT file_name) > 2, string_agg(DISTINCT field_id::VARCHAR, ',' ORDER BY field_id::VARCHAR) "
            "FROM parquet_schema('%D/t/*/*.parquet') WHERE field_id IS NOT NULL"),
        "true|1,2,3\n");
}

static void files_lie_in_folders_of_random_names(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(
        s, "CREATE TABLE t (a INT, p INT) PARTITIONED BY (p) TBLPROPERTIES ('delta.randomizeFilePrefixes' = 'true', "
           "'delta.randomPrefixLength' = '7')");
    session_expect_done(s, "INSERT INTO t SELECT range, range % 5 FROM range(10)");
    session_expect_rows(s,
                        session_with_dir(s, "SELECT count(*), count(DISTINCT parse_path(file)[-2]) > 1, "
                                            "bool_and(regexp_full_match(parse_path(file)[-2], '[0-9A-Za-z]{7}')) "
                                            "FROM glob('%D/t/*/*.parquet')"),
                        "5|true|true\n");
    session_expect_rows(s, "SELECT p, count(*) FROM t GROUP BY p ORDER BY p", "0|2\n1|2\n2|2\n3|2\n4|2\n");
}

static void tables_are_made_of_queries_with_variants(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t AS SELECT 1 AS a, {'v': 5::VARIANT} AS s, NULL::VARIANT AS n");
    assert_non_null(strstr(hand_log(s, "t", 0), "\"readerFeatures\":[\"variantType\"]"));
    session_expect_rows(s, "SELECT a, s.v::INT, n IS NULL FROM t", "1|5|true\n");
}

static void schemas_evolve_under_mapping(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a INT, s STRUCT<x: INT>) " MAPPED);
    session_expect_done(s, "INSERT INTO t VALUES (1, {'x': 2})");
    session_expect_done(
        s, "INSERT WITH SCHEMA EVOLUTION INTO t BY NAME SELECT 3 AS a, {'x': 4, 'y z': 'new'} AS s, 5 AS \"b c\"");
    session_expect_rows(s, "SELECT a, s.x, s.\"y z\", \"b c\" FROM t ORDER BY a", "1|2|NULL|NULL\n3|4|new|5\n");
    assert_non_null(strstr(hand_log(s, "t", 2), "\"delta.columnMapping.maxColumnId\":\"5\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(faults_name_the_columns_that_users_know),
        SESSION_TEST(ids_are_in_files_that_were_split),
        SESSION_TEST(files_lie_in_folders_of_random_names),
        SESSION_TEST(tables_are_made_of_queries_with_variants),
        SESSION_TEST(schemas_evolve_under_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
