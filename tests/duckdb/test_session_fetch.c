/*
 * Queries of all shapes over a table in a store without local paths, of which only what the text names is brought: the answers are those of
 * the same table on the local file system. A column that is read without being brought would be an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql_fixture.h"
#include "temp_dir.h"

/* @ stands for the table. */
static const char *const QUERIES[] = {
    "SELECT count(*) FROM @",
    "SELECT count(*) FROM @ WHERE p = 1",
    "SELECT max(a) FROM @",
    "SELECT max(A) FROM @ WHERE \"B\" = 'v77'",
    "SELECT * FROM @ WHERE a = 77",
    "FROM @ WHERE a = 77",
    "FROM @ SELECT max(c)",
    "SELECT t FROM @ t WHERE t.a = 77",
    "SELECT t.* FROM @ AS t WHERE a = 77",
    "SELECT T.b FROM @ AS t WHERE t.a = 77",
    "SELECT x FROM @ AS t(x, y, z, d, s, p) WHERE x = 77",
    "SELECT max(y) FROM @ AS t(x, y)",
    "SELECT x.b FROM @ x JOIN @ y USING (c) WHERE x.a = 77",
    "SELECT count(*) FROM @ x NATURAL JOIN @ y WHERE x.a < 100",
    "SELECT count(*) FROM @ x JOIN @ y ON x.b = y.b AND y.a < 100",
    "SELECT count(*) FROM @ x SEMI JOIN @ y USING (a)",
    "SELECT count(*) FROM (SELECT a FROM @ WHERE a < 50) x POSITIONAL JOIN (SELECT c FROM @ WHERE a < 50) y",
    "WITH q AS (SELECT a, b AS w FROM @) SELECT max(w) FROM q",
    "WITH q AS (FROM @) SELECT max(b) FROM q WHERE a < 100",
    "WITH q AS (FROM @) SELECT q FROM q WHERE a = 5",
    "WITH q(m, n) AS (SELECT c, a FROM @) SELECT max(m) FROM q WHERE n < 10",
    "WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT max(b) FROM r JOIN @ ON a = n",
    "SELECT b FROM (SELECT * FROM @) WHERE a = 3",
    "SELECT b FROM (SELECT * FROM @) ORDER BY d, a LIMIT 3",
    "SELECT b, c FROM @ ORDER BY d, a LIMIT 3",
    "SELECT COLUMNS('a|b') FROM @ ORDER BY a LIMIT 2",
    "SELECT min(COLUMNS(*)) FROM (SELECT a, b FROM @)",
    "SELECT * EXCLUDE (b, c, s) FROM @ WHERE a = 9",
    "SELECT * REPLACE (a + 1 AS a) FROM @ WHERE a = 9",
    "SELECT (SELECT max(b) FROM @ i WHERE i.a = o.a) FROM @ o WHERE o.a < 3 ORDER BY 1",
    "SELECT count(*) FROM @ WHERE a IN (SELECT a + 1 FROM @ WHERE d < 0.5)",
    "SELECT exists(SELECT 1 FROM @ WHERE c = md5('5'))",
    "SELECT p, sum(a) FROM @ GROUP BY ALL ORDER BY ALL",
    "SELECT p, max(b) AS m FROM @ GROUP BY p HAVING max(c) > 'a' ORDER BY m",
    "SELECT #1 FROM (SELECT b, c FROM @ WHERE a = 8)",
    "SELECT s.x FROM @ WHERE a = 8",
    "SELECT s['x'] FROM @ WHERE s.y = 'v8'",
    "SELECT unnest(s) FROM @ WHERE a = 8",
    "SELECT struct_extract(s, 'y') FROM @ WHERE a = 8",
    "SELECT row_number() OVER (PARTITION BY p ORDER BY c) FROM @ ORDER BY a LIMIT 3",
    "SELECT a, lag(b) OVER (ORDER BY a) FROM @ QUALIFY a = 8",
    "SELECT list(b ORDER BY c) FROM @ WHERE a < 5",
    "SELECT list_transform([a], e -> e + 1) FROM @ WHERE a = 4",
    "SELECT any_value(b) FILTER (WHERE c = md5('5')) FROM @",
    "SELECT a FROM @ EXCEPT SELECT a FROM @ WHERE d >= 0",
    "SELECT a FROM @ WHERE a < 3 UNION SELECT length(b) FROM @ ORDER BY 1",
    "SELECT a FROM @ WHERE a < 3 UNION BY NAME SELECT b FROM @ WHERE a = 3 ORDER BY ALL",
    "SELECT DISTINCT ON (p) p, b FROM @ ORDER BY p, a",
    "SELECT count(*) FROM @ TABLESAMPLE 100%",
    "SELECT approx_count_distinct(b) > 1000 FROM @",
    "PIVOT (SELECT p, a FROM @ WHERE a < 30) ON p IN (0, 1, 2) USING sum(a)",
    "UNPIVOT (SELECT a, length(b) AS n FROM @ WHERE a < 3) ON a, n ORDER BY ALL",
    "SELECT k FROM (SELECT {'z': a, 'w': b} AS k FROM @) WHERE k.z = 6",
    "SELECT \"d\" < 2 FROM @ WHERE \"a\" = 1",
    "SELECT _metadata.file_size > 0, _metadata.row_index, b FROM @ WHERE a = 77",
    "SELECT count(DISTINCT _metadata.file_name) FROM @",
    "VALUES ((SELECT max(b) FROM @))",
    "SELECT count(*) FROM @ WHERE (d IS DISTINCT FROM 7 OR a < 0) AND b LIKE 'v1%'",
    "SELECT a, b FROM @ VERSION AS OF 1 WHERE a = 5",
    "SELECT x.a, z.e FROM @ x, LATERAL (SELECT x.b || '!' AS e) z WHERE x.a = 7",
    "SELECT ANY_VALUE(q.c) FROM @ AS q WHERE q.a = 7",
    "DESCRIBE SELECT * FROM @",
};

static char dir[512];

static char *spell(const char *query, const char *table)
{
    char *out = calloc(1, strlen(query) + 20 * strlen(table));
    for (; *query != '\0'; query++) {
        (void)(*query == '@' ? strcat(out, table) : strncat(out, query, 1));
    }
    return out;
}

static void fill(struct sql_fixture *sql, const char *table)
{
    assert_true(
        sql_run(sql,
                "CREATE TABLE %s (a BIGINT, b STRING, c STRING, d DOUBLE, s STRUCT<x: BIGINT, y: STRING>, p INT) USING "
                "delta PARTITIONED BY (p)",
                table));
    assert_true(
        sql_run(sql,
                "INSERT INTO %s SELECT range, 'v' || range, md5(range::VARCHAR), (hash(range) %% 1000)::DOUBLE / 1000, "
                "{'x': range, 'y': 'v' || range}, range %% 3 FROM range(60000)",
                table));
}

static void answers_are_those_of_a_local_table(void **state)
{
    (void)state;
    struct sql_fixture sql = {0};
    char local[600];
    const struct sql_options options = {.warehouse = dir};
    assert_true(sql_open(&sql, &options));
    (void)snprintf(local, sizeof(local), "'%s/t'", dir);
    fill(&sql, local);
    fill(&sql, "'memory://w/t'");
    for (size_t i = 0; i < sizeof(QUERIES) / sizeof(QUERIES[0]); i++) {
        char *here = spell(QUERIES[i], local);
        char *there = spell(QUERIES[i], "'memory://w/t'");
        const silt_status expected_status = sql_try(&sql, "%s", here);
        char *expected = strdup(sl_buf_cstr(&sql.text));
        assert_int_equal(expected_status, SILT_OK);
        const silt_status status = sql_try(&sql, "%s", there);
        if (status != SILT_OK || strcmp(sl_buf_cstr(&sql.text), expected) != 0) {
            fail_msg("%s: %s\n%s\nexpected\n%s", QUERIES[i], sql.err.message, sl_buf_cstr(&sql.text), expected);
        }
        free(expected);
        free(there);
        free(here);
    }
    sql_close(&sql);
}

static int set_up(void **state)
{
    (void)state;
    return temp_dir_make(dir, sizeof(dir)) ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    return temp_dir_remove(dir) ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_are_those_of_a_local_table, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
