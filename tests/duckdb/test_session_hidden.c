/* Columns below IS DISTINCT FROM and OR: the data plane must not leave out row groups by them. */
#include "hand_table.h"

/* Three files with one row group each: nulls throughout, values, both. */
static void make_table(struct session_fixture *s)
{
    session_expect_done(
        s, "CREATE TABLE t (id BIGINT, i INT, b BOOLEAN, s STRING, dec DECIMAL(20, 3), d DATE, ts TIMESTAMP, "
           "bin BINARY, g DOUBLE, st STRUCT<i: INT, s: STRING>, l ARRAY<INT>) "
           "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')");
    for (int file = 0; file < 3; file++) {
        static const char *const is_value[] = {"false", "true", "r % 2 = 0"};
        session_expect_done(
            s, session_format(
                   s,
                   "INSERT INTO t SELECT r, v, CASE WHEN v >= 0 THEN r %% 2 = 0 END, 's' || v, v, "
                   "DATE '2020-01-01' + v, TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_days(v), encode('s' || v), v, "
                   "{'i': v, 's': CASE WHEN v >= 0 THEN 's' END}, CASE WHEN v >= 0 THEN [v] END "
                   "FROM (SELECT r, CASE WHEN %s THEN (r %% 5)::INTEGER END AS v FROM range(%d, %d) x(r))",
                   is_value[file], file * 10, file * 10 + 10));
    }
}

static void nulls_are_distinct_below_or(void **state)
{
    static const char *const conditions[][2] = {
        /* nulls: 10 in the first file, 5 in the third */
        {"i = 1 OR i IS DISTINCT FROM 1", "30\n"},
        {"i = 3 OR i IS DISTINCT FROM 1", "27\n"},
        {"1 IS DISTINCT FROM i OR i = 3", "27\n"},
        {"NOT (i IS NOT DISTINCT FROM 1) OR i > 2", "27\n"},
        {"NOT (i IS NOT DISTINCT FROM 1 AND i < 2)", "27\n"},
        {"(i <> 1 AND i IS DISTINCT FROM 1) OR (i IS DISTINCT FROM 2 AND i IS DISTINCT FROM 1)", "27\n"},
        {"b IS NOT TRUE OR b = true", "30\n"},
        {"b IS NOT FALSE OR b", "25\n"},
        {"(b IS TRUE) = false OR b = true", "30\n"},
        {"s = 's3' OR s IS DISTINCT FROM 's1'", "27\n"},
        {"dec = 3 OR dec IS DISTINCT FROM 1", "27\n"},
        {"d = DATE '2020-01-04' OR d IS DISTINCT FROM DATE '2020-01-02'", "27\n"},
        {"ts = '2020-01-04 00:00:00+00' OR ts IS DISTINCT FROM '2020-01-02 00:00:00+00'", "27\n"},
        {"bin = 's3'::BLOB OR bin IS DISTINCT FROM 's1'::BLOB", "27\n"},
        {"g = 3 OR g IS DISTINCT FROM 1", "27\n"},
        {"st.i = 3 OR st.i IS DISTINCT FROM 1", "27\n"},
        {"t.st['i'] = 3 OR t.st['i'] IS DISTINCT FROM 1", "27\n"},
        {"st = {'i': 3, 's': 's'} OR st IS DISTINCT FROM {'i': 1, 's': 's'}", "27\n"},
        {"l = [3] OR l IS DISTINCT FROM [1]", "27\n"},
        {"l[1] = 3 OR l[1] IS DISTINCT FROM 1", "27\n"},
        {"I = 3 OR \"I\" IS DISTINCT FROM 1", "27\n"},
    };
    struct session_fixture *s = *state;
    make_table(s);
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        session_expect_rows(s, session_format(s, "SELECT count(*) FROM t WHERE %s", conditions[i][0]),
                            conditions[i][1]);
    }
}

static void other_names_of_a_column_hide_it_too(void **state)
{
    static const char *const queries[] = {
        "SELECT count(*) FROM t AS x WHERE x.i = 3 OR x.i IS DISTINCT FROM 1",
        "SELECT count(*) FROM (SELECT i AS z FROM t) WHERE z = 3 OR z IS DISTINCT FROM 1",
        "SELECT count(*) FROM (SELECT y AS z FROM (SELECT i AS y FROM t)) WHERE z = 3 OR z IS DISTINCT FROM 1",
        "SELECT count(*) FROM (SELECT i, 1 AS one FROM t) WHERE i = 3 OR i IS DISTINCT FROM one",
        "SELECT count(*) FROM t AS x(id, z) WHERE z = 3 OR z IS DISTINCT FROM 1",
        "WITH c(z) AS (SELECT i FROM t) SELECT count(*) FROM c WHERE z = 3 OR z IS DISTINCT FROM 1",
        "SELECT count(*) FROM (SELECT * RENAME (i AS z) FROM t) WHERE z = 3 OR z IS DISTINCT FROM 1",
        "SELECT count(*) FROM (SELECT 1 AS z WHERE false UNION ALL SELECT i FROM t) WHERE z = 3 OR z IS DISTINCT FROM 1",
        "SELECT count(*) FROM t WHERE i = 3 OR i IS DISTINCT FROM (SELECT 1)",
        "SELECT count(*) FROM t GROUP BY () HAVING count(CASE WHEN i = 3 OR i IS DISTINCT FROM 1 THEN 1 END) = 27",
        "SELECT count(*) FILTER (i = 3 OR i IS DISTINCT FROM 1) FROM t",
        "FROM t SELECT count(*) WHERE i = 3 OR (i <=> 1) IS FALSE",
        "SELECT count(*) FROM t, (VALUES (1)) v(k) WHERE i = 3 OR i IS DISTINCT FROM k",
        "SELECT count(*) FROM table_changes('t', 1) WHERE i = 3 OR i IS DISTINCT FROM 1",
    };
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "CREATE MACRO other(x) AS x = 3 OR x IS DISTINCT FROM 1");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE other(i)", "27\n");
    session_expect_done(s, "DROP MACRO other");
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        const char *const expected = strstr(queries[i], "HAVING") != NULL ? "30\n" : "27\n";
        session_expect_rows(s, queries[i], expected);
    }
}

static void queries_without_such_comparisons_read_tables_as_they_are(void **state)
{
    static const struct {
        const char *query;
        bool hides;
    } cases[] = {
        {"SELECT * FROM t WHERE i = 3 OR i IS NULL", false},
        {"SELECT * FROM t WHERE i IS DISTINCT FROM 3", false},
        {"SELECT * FROM t x JOIN t y ON x.id = y.id WHERE x.i IS DISTINCT FROM y.i OR x.s IS DISTINCT FROM y.s", false},
        {"SELECT * FROM t WHERE i IS NOT DISTINCT FROM 3 OR i = 1", false},
        {"SELECT * FROM t WHERE i IS DISTINCT FROM 3 OR i = 3", true},
    };
    struct session_fixture *s = *state;
    make_table(s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(session_try(s, session_format(s, "EXPLAIN %s", cases[i].query)), SILT_OK);
        assert_int_equal(strstr(sl_buf_cstr(&s->out), "greatest") != NULL, cases[i].hides);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(nulls_are_distinct_below_or),
        SESSION_TEST(other_names_of_a_column_hide_it_too),
        SESSION_TEST(queries_without_such_comparisons_read_tables_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
