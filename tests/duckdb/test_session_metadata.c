/* The column "_metadata" in queries: where it can be named, and that stars and joins are as if it were not there. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

/* t: 1 a, 2 b; u: 1 x, 2 y; own has a column "_metadata" of its own. Each has one file. */
static void make_tables(struct session_fixture *s)
{
    hand_create(s, "t", HAND_FIELD("id", "long") "," HAND_FIELD("name", "string"), "");
    hand_parquet(s, "t/t.parquet", "SELECT 1::BIGINT AS id, 'a' AS name UNION ALL SELECT 2, 'b' ORDER BY 1");
    hand_commit(s, "t", 1, hand_add(s, "t.parquet", "{}", NULL), NULL);
    hand_create(s, "u", HAND_FIELD("id", "long") "," HAND_FIELD("v", "string"), "");
    hand_parquet(s, "u/u.parquet", "SELECT 1::BIGINT AS id, 'x' AS v UNION ALL SELECT 2, 'y' ORDER BY 1");
    hand_commit(s, "u", 1, hand_add(s, "u.parquet", "{}", NULL), NULL);
    hand_create(s, "own", HAND_FIELD("id", "long") "," HAND_FIELD("_metadata", "string"), "");
    hand_parquet(s, "own/own.parquet", "SELECT 1::BIGINT AS id, 'mine' AS _metadata");
    hand_commit(s, "own", 1, hand_add(s, "own.parquet", "{}", NULL), NULL);
}

struct expected {
    const char *sql;
    const char *rows;
};

static void expect_all(struct session_fixture *s, const struct expected *cases, size_t n)
{
    make_tables(s);
    for (size_t i = 0; i < n; i++) {
        session_expect_rows(s, cases[i].sql, cases[i].rows);
    }
}
#define EXPECT_ALL(s, cases) expect_all(s, cases, sizeof(cases) / sizeof((cases)[0]))

static void every_star_leaves_it_out(void **state)
{
    static const struct expected cases[] = {
        {"SELECT *, _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT * FROM t WHERE _metadata.row_index = 1", "2|b\n"},
        {"SELECT t.*, _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT x.*, x._metadata.row_index FROM t AS x(a, b)", "1|a|0\n2|b|1\n"},
        {"SELECT *, _metadata.row_index FROM t AS \"odd \"\"name\"", "1|a|0\n2|b|1\n"},
        {"SELECT * EXCLUDE id, _metadata.row_index FROM t", "a|0\nb|1\n"},
        {"SELECT * EXCLUDE t.id, _metadata.row_index FROM t", "a|0\nb|1\n"},
        {"SELECT * EXCLUDE (id), _metadata.row_index FROM t", "a|0\nb|1\n"},
        {"SELECT * EXCLUDE (_metadata), _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT * REPLACE (id * 10 AS id), _metadata.row_index FROM t", "10|a|0\n20|b|1\n"},
        {"SELECT * RENAME (id AS i), _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT * LIKE '%a%', _metadata.row_index FROM t", "a|0\nb|1\n"},
        {"SELECT DISTINCT * FROM t WHERE _metadata.row_index = 0", "1|a\n"},
        {"FROM t WHERE _metadata.row_index = 1", "2|b\n"},
        {"FROM t SELECT *, _metadata.row_index", "1|a|0\n2|b|1\n"},
        {"SELECT count(*), max(_metadata.row_index) FROM t", "2|1\n"},
        {"SELECT * FROM t TABLESAMPLE 100% WHERE _metadata.row_index = 0", "1|a\n"},
        {"SELECT *, _metadata.row_index FROM t VERSION AS OF 1", "1|a|0\n2|b|1\n"},
        {"SELECT *, _metadata.row_index FROM t@v1 WHERE id > 1", "2|b|1\n"},
        {"SELECT * FROM t WHERE COLUMNS(*) IS NOT NULL AND _metadata.row_index = 1", "2|b\n"},
    };
    EXPECT_ALL(*state, cases);
}

static void a_star_of_its_own_shows_its_fields(void **state)
{
    static const struct expected cases[] = {
        {"SELECT row_index FROM (SELECT _metadata.* FROM t)", "0\n1\n"},
        {"SELECT id, row_index, file_size > 0 FROM (SELECT *, _metadata.* FROM t)", "1|0|true\n2|1|true\n"},
        {"SELECT row_index FROM (SELECT t._metadata.* FROM t)", "0\n1\n"},
        {"SELECT row_index, id FROM (SELECT `x`._METADATA.*, id FROM t AS x WHERE id = 2)", "1|2\n"},
        {"SELECT row_index, e FROM (SELECT x._metadata.*, y.id AS e FROM t x, t y WHERE x.id = 2)", "1|1\n1|2\n"},
        {"SELECT * EXCLUDE (file_path, file_size, file_modification_time, file_block_length) FROM "
         "(SELECT _metadata.* EXCLUDE (file_name) FROM t WHERE id = 2)",
         "0|1\n"},
        {"SELECT count(*) FROM (SELECT _metadata.* FROM t VERSION AS OF 1)", "2\n"},
    };
    EXPECT_ALL(*state, cases);
}

static void columns_of_a_pattern_leave_it_out(void **state)
{
    static const struct expected cases[] = {
        {"SELECT COLUMNS(*), _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT COLUMNS(t.*), _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT COLUMNS(* EXCLUDE (id)), _metadata.row_index FROM t", "a|0\nb|1\n"},
        {"SELECT min(COLUMNS(*)), max(_metadata.row_index) FROM t", "1|a|1\n"},
        {"SELECT COLUMNS('i.*'), _metadata.row_index * 2 FROM t", "1|0\n2|2\n"},
        {"SELECT COLUMNS('.*'), _metadata.row_index FROM t", "1|a|0\n2|b|1\n"},
        {"SELECT COLUMNS('(i)(.*)') AS '\\2\\1', _metadata.row_index FROM t", "1|0\n2|1\n"},
        {"SELECT COLUMNS(lambda c: c LIKE '%d' OR c LIKE '%data'), _metadata.row_index FROM t", "1|0\n2|1\n"},
        {"SELECT COLUMNS(['id']), _metadata.row_index FROM t", "1|0\n2|1\n"},
    };
    struct session_fixture *s = *state;
    EXPECT_ALL(s, cases);
    session_expect_fault(s, "SELECT COLUMNS('(.*)') AS 'x\\1', _metadata.row_index FROM t", SILT_EUNSUPPORTED,
                         "UNSUPPORTED_FEATURE", -1);
    session_expect_fault(s, "SELECT COLUMNS('_m|id'), t._metadata.row_index FROM t, own", SILT_EUNSUPPORTED,
                         "UNSUPPORTED_FEATURE", -1);
    session_expect_fault(s, "SELECT COLUMNS('i' || 'd'), _metadata.row_index FROM t", SILT_EUNSUPPORTED,
                         "UNSUPPORTED_FEATURE", -1);
}

static void joins_are_as_without_it(void **state)
{
    static const struct expected cases[] = {
        {"SELECT * FROM t JOIN u USING (id) WHERE t._metadata.row_index = 0", "1|a|x\n"},
        {"SELECT *, t._metadata.row_index, u._metadata.file_name FROM t JOIN u USING (id) ORDER BY 1",
         "1|a|x|0|u.parquet\n2|b|y|1|u.parquet\n"},
        {"SELECT * FROM t, u WHERE t.id = u.id AND t._metadata.row_index = u._metadata.row_index ORDER BY 1",
         "1|a|1|x\n2|b|2|y\n"},
        {"SELECT t.*, u._metadata.file_name FROM t JOIN u USING (id) ORDER BY 1", "1|a|u.parquet\n2|b|u.parquet\n"},
        {"SELECT * FROM t a, t b WHERE a._metadata.row_index = 0 AND b._metadata.row_index = 1", "1|a|2|b\n"},
        {"SELECT * FROM t LEFT JOIN u ON t._metadata.row_index = u._metadata.row_index + 1 ORDER BY 1",
         "1|a|NULL|NULL\n2|b|1|x\n"},
        {"SELECT * FROM t SEMI JOIN u ON t._metadata.row_index = u._metadata.row_index + 1", "2|b\n"},
        {"SELECT * FROM t POSITIONAL JOIN u WHERE t._metadata.row_index = 0", "1|a|1|x\n"},
        {"SELECT *, _metadata.row_index FROM range(1) r(i), t", "0|1|a|0\n0|2|b|1\n"},
        {"SELECT * FROM t, LATERAL (SELECT t._metadata.row_index + 5 AS q) l ORDER BY 1", "1|a|5\n2|b|6\n"},
    };
    struct session_fixture *s = *state;
    EXPECT_ALL(s, cases);
    session_expect_fault(s, "SELECT _metadata.row_index FROM t, u", SILT_ESYNTAX, "UNRESOLVED_EXPRESSION", 7);
}

static void natural_joins_do_not_join_by_it(void **state)
{
    static const struct expected cases[] = {
        {"SELECT *, t._metadata.file_name FROM t NATURAL JOIN u ORDER BY 1", "1|a|x|t.parquet\n2|b|y|t.parquet\n"},
        {"SELECT * FROM t NATURAL LEFT JOIN u WHERE u._metadata.row_index = 1", "2|b|y\n"},
        {"SELECT (SELECT max(_metadata.row_index) FROM t), * FROM t NATURAL JOIN u WHERE id = 1", "1|1|a|x\n"},
    };
    static const char *const refused[] = {
        "SELECT * FROM t NATURAL JOIN u WHERE t._metadata.row_index = u._metadata.row_index",
        "SELECT * FROM t NATURAL JOIN own WHERE t._metadata.row_index = 0",
        "SELECT * FROM (SELECT id, 1 AS _metadata FROM u) q NATURAL JOIN t WHERE t._metadata.row_index = 0",
    };
    struct session_fixture *s = *state;
    EXPECT_ALL(s, cases);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        session_expect_fault(s, refused[i], SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", -1);
        assert_non_null(strstr(s->err.hint, "USING"));
    }
}

static void queries_inside_of_queries_have_their_own(void **state)
{
    static const struct expected cases[] = {
        {"SELECT * FROM (SELECT *, _metadata.row_index AS r FROM t) WHERE r = 1", "2|b|1\n"},
        {"WITH c AS (SELECT *, _metadata.row_index AS r FROM t) SELECT * FROM c JOIN u USING (id) ORDER BY 1",
         "1|a|0|x\n2|b|1|y\n"},
        {"SELECT m.row_index FROM (SELECT _metadata AS m FROM t) ORDER BY 1", "0\n1\n"},
        {"SELECT row_index FROM (SELECT unnest(_metadata) FROM t) ORDER BY 1", "0\n1\n"},
        {"SELECT * FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.id = u.id AND _metadata.row_index = 0)", "1|x\n"},
        {"SELECT * FROM t WHERE id IN (SELECT id FROM u WHERE _metadata.row_index = 1)", "2|b\n"},
        {"SELECT id FROM t WHERE 1 = (SELECT count(*) FROM u WHERE u._metadata.row_index < t._metadata.row_index)",
         "2\n"},
        {"SELECT *, (SELECT _metadata.row_index) FROM t ORDER BY 1", "1|a|0\n2|b|1\n"},
        {"SELECT *, _metadata.row_index FROM t UNION ALL SELECT *, 7 FROM t WHERE id = 1", "1|a|0\n2|b|1\n1|a|7\n"},
        {"SELECT * FROM (SELECT *, _metadata.row_index AS r FROM t UNION BY NAME SELECT * FROM u) ORDER BY ALL",
         "1|a|0|NULL\n1|NULL|NULL|x\n2|b|1|NULL\n2|NULL|NULL|y\n"},
    };
    EXPECT_ALL(*state, cases);
}

static void clauses_over_all_columns_work(void **state)
{
    static const struct expected cases[] = {
        {"SELECT _metadata.file_name, count(*) FROM t GROUP BY ALL", "t.parquet|2\n"},
        {"SELECT name, _metadata.row_index, count(*) FROM t GROUP BY ALL ORDER BY ALL DESC", "b|1|1\na|0|1\n"},
        {"SELECT *, _metadata.row_index FROM t ORDER BY ALL", "1|a|0\n2|b|1\n"},
        {"SELECT * FROM t ORDER BY _metadata.row_index DESC", "2|b\n1|a\n"},
        {"SELECT * FROM t QUALIFY row_number() OVER (ORDER BY _metadata.row_index DESC) = 1", "2|b\n"},
        {"SELECT column_name FROM (DESCRIBE SELECT *, _metadata.row_index FROM t)", "id\nname\nrow_index\n"},
    };
    EXPECT_ALL(*state, cases);
}

static void columns_of_that_name_that_others_bring_stay(void **state)
{
    static const struct expected cases[] = {
        {"SELECT * FROM own", "1|mine\n"},
        {"SELECT *, _metadata FROM own", "1|mine|mine\n"},
        {"SELECT * FROM own, t WHERE t._metadata.row_index = 0", "1|mine|1|a\n"},
        {"SELECT * FROM t, own WHERE t._metadata.row_index = 0", "1|a|1|mine\n"},
        {"SELECT * FROM t, (VALUES (9)) q(_metadata) WHERE t._metadata.row_index = 0", "1|a|9\n"},
        {"SELECT * FROM t, (SELECT _metadata.row_index AS _metadata FROM u) q WHERE t._metadata.row_index = 0 AND "
         "q._metadata = 1",
         "1|a|1\n"},
        {"SELECT * FROM (VALUES (9)) q(_metadata)", "9\n"},
        {"SELECT q._metadata.a FROM (SELECT {'a': 5} AS _metadata) q", "5\n"},
    };
    EXPECT_ALL(*state, cases);
}

static void rows_with_it_can_be_written(void **state)
{
    struct session_fixture *s = *state;
    make_tables(s);
    session_expect_done(s, "CREATE TABLE w USING delta AS SELECT *, _metadata.row_index AS r FROM t");
    session_expect_done(s, "INSERT INTO w SELECT *, _metadata.row_index + 10 FROM t WHERE id = 2");
    session_expect_rows(s, "SELECT * FROM w ORDER BY r", "1|a|0\n2|b|1\n2|b|11\n");
    session_expect_done(s, "CREATE TABLE m USING delta AS SELECT id, _metadata FROM t");
    session_expect_rows(s, "SELECT id, _metadata.file_name FROM m ORDER BY 1", "1|t.parquet\n2|t.parquet\n");
    session_expect_done(s, session_with_dir(s, "COPY (SELECT *, _metadata.row_index FROM t) TO '%D/o.csv'"));
    session_expect_done(s, "EXPLAIN SELECT *, _metadata.row_index FROM t");
}

static void fields_that_are_not_there_are_named(void **state)
{
    struct session_fixture *s = *state;
    make_tables(s);
    session_expect_fault(s, "SELECT id, _metadata.file_nme FROM t", SILT_ESCHEMA, "FIELD_NOT_FOUND", 11);
    assert_string_equal(s->err.hint, "did you mean _metadata.file_name?");
    session_expect_fault(s, "SELECT * FROM t WHERE t._metadata.rowindex = 1", SILT_ESCHEMA, "FIELD_NOT_FOUND", 22);
    assert_string_equal(s->err.hint, "did you mean _metadata.row_index?");
    session_expect_fault(s, "SELECT _metadata.something_else FROM t", SILT_ESCHEMA, "FIELD_NOT_FOUND", 7);
    assert_string_equal(s->err.hint, "");
    session_expect_fault(s, "SELECT _metadata.row_id FROM t", SILT_ESCHEMA, "FIELD_NOT_FOUND", 7);
    assert_non_null(strstr(s->err.message, "_metadata.row_id needs row tracking"));
    session_expect_fault(s, "SELECT x._metadata.row_commit_version FROM t x", SILT_ESCHEMA, "FIELD_NOT_FOUND", 7);
    assert_int_not_equal(session_try(s, "SELECT _metadata.row_index FROM range(3)"), SILT_OK);
}

static void row_ids_are_told_where_rows_are_tracked(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "r", 0,
                "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\","
                "\"domainMetadata\"]}}",
                hand_metadata(s, HAND_FIELD("id", "long"), "",
                              "\"delta.enableRowTracking\":\"true\","
                              "\"delta.rowTracking.materializedRowIdColumnName\":\"_rid\","
                              "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_rcv\""),
                "{\"add\":{\"path\":\"r.parquet\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,"
                "\"dataChange\":true,\"baseRowId\":100,\"defaultRowCommitVersion\":3}}",
                NULL);
    hand_parquet(s, "r/r.parquet", "SELECT 1::BIGINT AS id UNION ALL SELECT 2 ORDER BY 1");
    session_expect_rows(s, "SELECT *, _metadata.row_id, _metadata.row_commit_version FROM r ORDER BY 1",
                        "1|100|3\n2|101|3\n");
    session_expect_rows(s, "SELECT id FROM r WHERE _metadata.row_id = 101", "2\n");
    session_expect_fault(s, "SELECT _metadata.row_idd FROM r", SILT_ESCHEMA, "FIELD_NOT_FOUND", 7);
    assert_string_equal(s->err.hint, "did you mean _metadata.row_id?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(every_star_leaves_it_out),
        SESSION_TEST(a_star_of_its_own_shows_its_fields),
        SESSION_TEST(columns_of_a_pattern_leave_it_out),
        SESSION_TEST(joins_are_as_without_it),
        SESSION_TEST(natural_joins_do_not_join_by_it),
        SESSION_TEST(queries_inside_of_queries_have_their_own),
        SESSION_TEST(clauses_over_all_columns_work),
        SESSION_TEST(columns_of_that_name_that_others_bring_stay),
        SESSION_TEST(rows_with_it_can_be_written),
        SESSION_TEST(fields_that_are_not_there_are_named),
        SESSION_TEST(row_ids_are_told_where_rows_are_tracked),
    };
    return cmocka_run_group_tests_name("_metadata in SQL", tests, NULL, NULL);
}
