/* Sessions: Delta's statements, queries over several tables, versions and files, and what is refused. */
#include "session_fixture.h"

#include <stdio.h>
#include <string.h>

static void make_orders(struct session_fixture *s)
{
    session_expect_done(
        s, "CREATE TABLE orders (id BIGINT NOT NULL, city STRING, price DECIMAL(10,2), day DATE) USING delta "
           "PARTITIONED BY (city)");
    session_expect_rows(s, "INSERT INTO orders VALUES (1, 'Oslo', 1.50, DATE '2026-01-01'), (2, 'Rome', 2.25, NULL)",
                        "2|2\n");
    assert_int_equal(s->kind, SILT_RESULT_METRICS);
    assert_int_equal(s->version, 1);
    session_expect_rows(s, "INSERT INTO orders VALUES (3, 'Oslo', 7, DATE '2026-01-03')", "1|1\n");
}

static void every_spelling_of_time_travel_reads_the_version(void **state)
{
    struct session_fixture *s = *state;
    static const char *const forms[] = {
        "orders VERSION AS OF 1",
        "orders FOR VERSION AS OF 1",
        "orders FOR SYSTEM_VERSION AS OF '1'",
        "orders@v1",
        "orders AT (VERSION => 1)",
        "orders o AT (VERSION => 1)",
        "orders VERSION AS OF 1 AS o",
        "`orders` VERSION AS OF 1 o",
        "delta.`%D/orders` VERSION AS OF 1",
        "delta.`%D/orders@v1`",
        "delta.'%D/orders'@v1",
        "'%D/orders' VERSION AS OF 1",
        "\"%D/orders@v1\"",
        "delta.`file://%D/orders@v1`",
    };
    make_orders(s);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        char sql[512];
        (void)snprintf(sql, sizeof(sql), "SELECT count(*), sum(id) FROM %s", session_with_dir(s, forms[i]));
        session_expect_rows(s, sql, "2|3\n");
    }
    session_expect_fault(s, "SELECT * FROM orders TIMESTAMP AS OF '1999-01-01'", SILT_ENOTFOUND,
                         "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", 14);
    session_expect_fault(s, "SELECT * FROM orders TIMESTAMP AS OF '2999-01-01'", SILT_ENOTFOUND,
                         "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", 14);
    session_expect_fault(s, "SELECT 1 FROM orders VERSION AS OF 9", SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND", 14);
    session_expect_fault(s, "SELECT 1 FROM orders VERSION AS OF -1", SILT_EINVALID, "DELTA_VERSION_INVALID", 14);
    for (const char *const *part = (const char *const[]){"1.5", "'1.5'", "0.4", "1e0", "true", NULL}; *part != NULL;
         part++) {
        session_expect_fault(s, sl_arena_printf(&s->arena, "SELECT 1 FROM orders AT (VERSION => %s)", *part),
                             SILT_EINVALID, "DELTA_INVALID_TIME_TRAVEL_SPEC", 14);
    }
    session_expect_fault(s, "SELECT 1 FROM (SELECT 1) x VERSION AS OF 1", SILT_EINVALID,
                         "DELTA_INVALID_TIME_TRAVEL_SPEC", 27);
}

static void tables_versions_and_files_join_in_one_query(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_done(s, session_with_dir(s, "COPY (SELECT 1 AS id, 'one' AS word) TO '%D/w.parquet'; "
                                               "COPY (SELECT 'Oslo' AS city, 'NOR' AS land) TO '%D/c.csv'"));
    session_expect_rows(s,
                        session_with_dir(s, "WITH old AS (SELECT * FROM orders VERSION AS OF 1) "
                                            "SELECT n.id, n.price, w.word, c.land, old.id FROM orders n "
                                            "LEFT JOIN old USING (id) LEFT JOIN '%D/w.parquet' w ON w.id = n.id "
                                            "JOIN '%D/c.csv' c ON c.city = n.city WHERE n.price > 1 ORDER BY n.id"),
                        "1|1.50|one|NOR|1\n3|7.00|NULL|NOR|NULL\n");
}

static void an_outer_join_does_not_prune_its_inner_side(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_rows(
        s, "SELECT a.id, b.id FROM orders a LEFT JOIN orders b ON a.id = b.id WHERE b.city IS NULL OR b.id = 9", "");
    session_expect_rows(s,
                        "SELECT count(*) FROM orders a LEFT JOIN (SELECT * FROM orders WHERE id = 99) b ON a.id = b.id "
                        "WHERE b.id IS NULL",
                        "3\n");
}

static void insert_maps_columns_and_checks_them(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_rows(s, "INSERT INTO orders (price, id) SELECT 3, 4", "1|1\n");
    session_expect_rows(s, "INSERT INTO orders BY NAME SELECT 5 AS ID, 'Bonn' AS City", "1|1\n");
    session_expect_rows(s, "INSERT INTO orders VALUES (6, '', NULL, NULL)", "1|1\n");
    session_expect_rows(s, "SELECT id, city, price FROM orders WHERE id > 3 ORDER BY id",
                        "4|NULL|3.00\n5|Bonn|NULL\n6|NULL|NULL\n");
    session_expect_rows(s, "INSERT INTO orders SELECT id + 100, city, price, day FROM orders WHERE id < 3", "2|2\n");
    session_expect_rows(s, "SELECT isBlindAppend FROM (SELECT 1) x, (SELECT 2 AS isBlindAppend) y", "2\n");
    session_expect_fault(s, "INSERT INTO orders VALUES (1)", SILT_ESCHEMA,
                         "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", -1);
    session_expect_fault(s, "INSERT INTO orders (id, nope) VALUES (1, 2)", SILT_ESCHEMA,
                         "UNRESOLVED_COLUMN.WITH_SUGGESTION", -1);
    session_expect_fault(s, "INSERT INTO orders (city) VALUES ('x')", SILT_ECONSTRAINT,
                         "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", -1);
    session_expect_rows(s, "SELECT count(*) FROM orders", "8\n");
}

static void a_value_that_does_not_fit_changes_nothing(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    assert_int_not_equal(session_try(s, "INSERT INTO orders VALUES (NULL, 'x', 1, NULL)"), SILT_OK);
    assert_int_not_equal(session_try(s, "INSERT INTO orders VALUES (1, 'x', 123456789.5, NULL)"), SILT_OK);
    assert_int_not_equal(session_try(s, "INSERT INTO orders SELECT 9223372036854775808, 'x', 1, NULL"), SILT_OK);
    assert_int_not_equal(session_try(s, "INSERT INTO orders VALUES (1, 'x', 1, 'no date')"), SILT_OK);
    assert_int_not_equal(session_try(s, "INSERT INTO orders VALUES (1, 'x', 1, 5)"), SILT_OK);
    session_expect_rows(s, "SELECT count(*), max(id) FROM orders", "3|3\n");
    session_expect_rows(s, "SELECT version FROM (SELECT 2 AS version)", "2\n");
    session_expect_fault(s, "SELECT * FROM orders VERSION AS OF 3", SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND", 14);
}

static void an_overwrite_replaces_all_rows(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_rows(s, "INSERT OVERWRITE orders SELECT id * 10, 'Wien', price, day FROM orders WHERE id < 3",
                        "2|2\n");
    session_expect_rows(s, "SELECT id, city FROM orders ORDER BY id", "10|Wien\n20|Wien\n");
    session_expect_rows(s, "SELECT count(*) FROM orders@v2", "3\n");
}

static void create_as_takes_the_querys_types(void **state)
{
    struct session_fixture *s = *state;
    session_expect_rows(s,
                        "CREATE TABLE t PARTITIONED BY (k) AS SELECT i AS n, i % 3 AS k, i / 2.0 AS h, [i] AS l, "
                        "{'a': i} AS s FROM range(9) r(i)",
                        "9|9\n");
    session_expect_rows(s, "SELECT k, count(*), sum(n), sum(s.a), sum(l[1]) FROM t GROUP BY k ORDER BY k",
                        "0|3|9|9|9\n1|3|12|12|12\n2|3|15|15|15\n");
    session_expect_fault(s, "CREATE TABLE t AS SELECT 1 AS a", SILT_EEXISTS, "DELTA_TABLE_ALREADY_EXISTS", -1);
    session_expect_done(s, "CREATE TABLE IF NOT EXISTS t AS SELECT 1 AS a");
    session_expect_rows(s, "SELECT count(*) FROM t", "9\n");
    session_expect_fault(s, "CREATE TABLE u (a INT, A STRING)", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    session_expect_fault(s, "SELECT * FROM u", SILT_ESYNTAX, "TABLE_OR_VIEW_NOT_FOUND", 14);
}

static void errors_point_into_the_users_text(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_fault(s, "SELECT 1;\nSELECT idd FROM orders", SILT_ESYNTAX, "UNRESOLVED_COLUMN", 17);
    session_expect_fault(s, "SELECT 1 FROM `orders` VERSION AS OF 1 WHERE nope = 1", SILT_ESYNTAX, "UNRESOLVED_COLUMN",
                         45);
    session_expect_fault(s, "SELEC 1", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", 0);
    session_expect_fault(s, "SELECT 1; CREATE TABLE x (a", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", 27);
    session_expect_fault(s, "SELECT * FROM delta.`/nope/x`", SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", 14);
}

static void what_is_not_built_is_refused_by_name(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_fault(s, "DELETE FROM orders", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT", -1);
    session_expect_fault(s, "CREATE VIEW v AS SELECT * FROM orders", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", -1);
    session_expect_rows(s, "SELECT count(*) FROM orders", "3\n");
}

static void temporary_tables_live_as_long_as_the_session(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_done(s, "CREATE TEMP TABLE recent AS SELECT * FROM orders WHERE id > 1");
    session_expect_rows(s, "SELECT count(*) FROM recent JOIN orders USING (id)", "2\n");
    session_expect_done(s, "CREATE VIEW v AS SELECT 42 AS x");
    session_expect_rows(s, "SELECT x FROM v", "42\n");
    session_expect_done(s, "DROP TABLE recent");
    session_expect_fault(s, "SELECT * FROM recent", SILT_ESYNTAX, "TABLE_OR_VIEW_NOT_FOUND", 14);
}

static void what_is_no_query_is_refused_in_words_of_ours(void **state)
{
    struct session_fixture *s = *state;
    static const char *const texts[] = {
        "WITH c AS (SELECT 1 AS x) INSERT INTO t SELECT * FROM c",
        "WITH c AS (SELECT 1 AS x) DELETE FROM t",
        "PIVOT t ON x USING count(*)",
    };
    session_expect_done(s, "CREATE TABLE t (x INT); INSERT INTO t VALUES (1)");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        session_expect_fault(s, texts[i], SILT_ESYNTAX, "UNSUPPORTED_FEATURE", -1);
        assert_string_equal(s->err.message, "only a query can stand here, and a PIVOT only with IN (…)");
    }
    session_expect_fault(s, "DESCRIBE HISTORY t LIMIT 0", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", 25);
    session_expect_rows(s, "SELECT x FROM t", "1\n");
}

static void rows_do_not_pass_by_a_temporary_table_of_the_name(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (x INT); CREATE TEMP TABLE t AS SELECT 1 AS x");
    session_expect_fault(s, "INSERT INTO t VALUES (2)", SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT", -1);
    session_expect_done(s, session_with_dir(s, "INSERT INTO delta.`%D/t` VALUES (3)"));
    session_expect_rows(s, "SELECT x FROM t", "1\n");
    session_expect_done(s, "DROP TABLE t; INSERT INTO t VALUES (4)");
    session_expect_rows(s, "SELECT x FROM t ORDER BY x", "3\n4\n");
}

static void options_are_set_shown_and_reset(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "SET spark.databricks.delta.properties.defaults.appendOnly = true");
    session_expect_done(s, "CREATE TABLE a (x INT)");
    session_expect_rows(s, "SHOW TBLPROPERTIES a ('delta.appendOnly')", "delta.appendOnly|true\n");
    session_expect_done(s, "RESET spark.databricks.delta.properties.defaults.appendOnly");
    session_expect_done(s, "CREATE TABLE b (x INT)");
    session_expect_rows(s, "SHOW TBLPROPERTIES b",
                        "delta.minReaderVersion|1\ndelta.minWriterVersion|2\n"
                        "delta.feature.appendOnly|supported\ndelta.feature.invariants|supported\n");
    session_expect_done(s, "SET spark.databricks.delta.commitInfo.userMetadata = hello; INSERT INTO b VALUES (1)");
    session_expect_done(s, "DESCRIBE HISTORY b LIMIT 1");
    assert_non_null(strstr(sl_buf_cstr(&s->out), "|hello|"));
    session_expect_fault(s, "SET spark.nothing = 1", SILT_EINVALID, "DELTA_UNKNOWN_CONFIGURATION", 0);
    session_expect_fault(s, "INSERT OVERWRITE a VALUES (1)", SILT_ECONSTRAINT, "DELTA_CANNOT_MODIFY_APPEND_ONLY", -1);
}

static void times_are_read_in_the_sessions_zone(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a TIMESTAMP); SET TIME ZONE 'Europe/Vilnius'");
    session_expect_done(s, "INSERT INTO t VALUES (TIMESTAMP '2020-06-01 03:00:00')");
    session_expect_rows(s, "SELECT epoch_us(a) FROM t WHERE a = '2020-06-01 03:00:00'", "1590969600000000\n");
    session_expect_done(s, "SET TIME ZONE 'UTC'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = '2020-06-01 00:00:00'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = '2020-06-01 03:00:00'", "0\n");
}

static void a_collation_of_the_session_prunes_no_file(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a STRING); INSERT INTO t VALUES ('abc'); INSERT INTO t VALUES ('ABC')");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = 'Abc'", "0\n");
    session_expect_done(s, "SET default_collation = 'nocase'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = 'Abc'", "2\n");
    session_expect_done(s, "PRAGMA default_collation = ''");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = 'abc'", "1\n");
    session_expect_done(s, "PRAGMA default_collation = nocase");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a = 'abc'", "2\n");
}

static void a_subquery_is_titled_by_its_own_text(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)");
    session_expect_rows(s,
                        "SELECT column_name FROM (DESCRIBE SELECT (SELECT max(a) FROM t VERSION AS OF 1), "
                        "a, exists(FROM t), ((SELECT 1 FROM t LIMIT 1)) AS b, (SELECT 5) FROM t) LIMIT 2",
                        "(SELECT max(a) FROM t )\na\n");
    session_expect_rows(s, "SELECT (SELECT max(u.a) FROM t u WHERE u.a < t.a) FROM t ORDER BY a", "NULL\n1\n");
    session_expect_rows(s, "SELECT * FROM (SELECT ((SELECT max(a) FROM t)), (SELECT min(a) FROM t))", "2|1\n");
    session_expect_rows(s, "SELECT (SELECT max(a) FROM t) + 1, (SELECT min(a) FROM t) x, (SELECT 7)", "3|1|7\n");
    session_expect_rows(s, "SELECT 1 WHERE 2 IN (SELECT (SELECT max(a) FROM t) UNION SELECT 9)", "1\n");
}

static void renamed_columns_are_compared_under_their_new_names(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 10); INSERT INTO t VALUES (2, 20)");
    session_expect_rows(s, "SELECT x.b FROM t AS x(b, a) WHERE a > 5 ORDER BY ALL", "1\n2\n");
}

static void parameters_are_bound_by_number(void **state)
{
    struct session_fixture *s = *state;
    int64_t id = 3;
    const void *id_buffers[] = {NULL, &id};
    struct ArrowArray id_array = {.length = 1, .n_buffers = 2, .buffers = id_buffers};
    struct ArrowArray *children[] = {&id_array};
    const void *row_buffers[] = {NULL};
    struct ArrowArray row = {
        .length = 1, .n_buffers = 1, .buffers = row_buffers, .n_children = 1, .children = children};
    struct ArrowSchema id_schema = {.format = "l", .name = "", .flags = ARROW_FLAG_NULLABLE};
    struct ArrowSchema *schema_children[] = {&id_schema};
    struct ArrowSchema schema = {.format = "+s", .name = "", .n_children = 1, .children = schema_children};

    make_orders(s);
    assert_int_equal(session_try_with(s, "SELECT city FROM orders WHERE id = $1", &schema, &row), SILT_OK);
    assert_string_equal(sl_buf_cstr(&s->out), "Oslo\n");
    id = 2;
    assert_int_equal(session_try_with(s, "SELECT count(*) FROM orders VERSION AS OF $1", &schema, &row), SILT_OK);
    assert_string_equal(sl_buf_cstr(&s->out), "3\n");
    assert_int_equal(session_try_with(s, "INSERT INTO orders (id) VALUES ($1 + 40)", &schema, &row), SILT_OK);
    session_expect_rows(s, "SELECT id FROM orders WHERE id > 40", "42\n");
}

static void numbers_above_all_doubles_are_infinite(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (g DOUBLE, x STRING); INSERT INTO t VALUES (1e0, 'a'), ('inf', 'Infinity'), "
                           "('-inf', '\"Infinity'), ('nan', 'd'); INSERT INTO t VALUES (2, 'e')");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE g < 1e400", "3\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE g > -1e400 AND g BETWEEN 1e999 AND 9e9999", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE g IN (1e400, 2) OR g = -1e400", "3\n");
    session_expect_rows(s, "SELECT 1e400 AS \"Infinity\", 'say \"Infinity\\' AS b FROM t WHERE x = '\"Infinity'",
                        "Infinity|say \"Infinity\\\n");
    session_expect_done(s, "CREATE TABLE u AS SELECT 1e400 AS x");
    session_expect_rows(s, "SELECT x FROM u", "Infinity\n");
}

static void descriptions_have_sparks_columns(void **state)
{
    struct session_fixture *s = *state;
    make_orders(s);
    session_expect_rows(s, "DESCRIBE orders",
                        "id|bigint|NULL\ncity|string|NULL\nprice|decimal(10,2)|NULL\nday|date|NULL\n"
                        "# Partition Information||\n# col_name|data_type|comment\ncity|string|NULL\n");
    session_expect_rows(s, "SHOW COLUMNS IN orders", "id\ncity\nprice\nday\n");
    session_expect_done(s, "DESCRIBE HISTORY orders");
    assert_non_null(strstr(sl_buf_cstr(&s->out), "2|"));
    session_expect_fault(s, "DESCRIBE HISTORY nope", SILT_ENOTTABLE, "DELTA_PATH_DOES_NOT_EXIST", -1);
    session_expect_rows(s, "DESCRIBE SELECT 1 AS a", "a|INTEGER|YES|NULL|NULL|NULL\n");
}

static void a_sessions_engine_opens_its_tables(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    session_expect_done(s, "CREATE TABLE t (a INT)");
    silt_engine *engine = silt_session_engine(s->session);
    assert_non_null(engine);
    assert_int_equal(silt_table_for_path(engine, session_with_dir(s, "%D/t"), &table, &s->err), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    assert_int_equal(silt_snapshot_version(snapshot), 0);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(every_spelling_of_time_travel_reads_the_version),
        SESSION_TEST(tables_versions_and_files_join_in_one_query),
        SESSION_TEST(an_outer_join_does_not_prune_its_inner_side),
        SESSION_TEST(insert_maps_columns_and_checks_them),
        SESSION_TEST(a_value_that_does_not_fit_changes_nothing),
        SESSION_TEST(an_overwrite_replaces_all_rows),
        SESSION_TEST(create_as_takes_the_querys_types),
        SESSION_TEST(errors_point_into_the_users_text),
        SESSION_TEST(what_is_not_built_is_refused_by_name),
        SESSION_TEST(temporary_tables_live_as_long_as_the_session),
        SESSION_TEST(what_is_no_query_is_refused_in_words_of_ours),
        SESSION_TEST(rows_do_not_pass_by_a_temporary_table_of_the_name),
        SESSION_TEST(options_are_set_shown_and_reset),
        SESSION_TEST(times_are_read_in_the_sessions_zone),
        SESSION_TEST(a_collation_of_the_session_prunes_no_file),
        SESSION_TEST(a_subquery_is_titled_by_its_own_text),
        SESSION_TEST(renamed_columns_are_compared_under_their_new_names),
        SESSION_TEST(parameters_are_bound_by_number),
        SESSION_TEST(numbers_above_all_doubles_are_infinite),
        SESSION_TEST(descriptions_have_sparks_columns),
        SESSION_TEST(a_sessions_engine_opens_its_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
