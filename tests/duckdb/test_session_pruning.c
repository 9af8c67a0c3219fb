/*
 * Conditions of queries prune files: which files are left of a table whose files are known, and that the rows are those of a copy of the
 * table that nobody prunes. Random conditions are in test_pruning_property.c.
 */
#include "session_fixture.h"

#include <stdio.h>
#include <string.h>

#include "sql/session_int.h"

/*
 * File k of the first four has the rows v = 10k … 10k+3; texts begin with "a" to "d", days are v days after 2020-01-01, times their noon.
 * The fifth has nothing but nulls beside its ids. NaN is in the fourth.
 */
static void make_table(struct session_fixture *s)
{
    session_expect_done(s,
                        "CREATE TABLE t (id BIGINT, ti TINYINT, i INT, l BIGINT, f FLOAT, g DOUBLE, dec DECIMAL(10,2), "
                        "b BOOLEAN, s STRING, bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, "
                        "st STRUCT<x: INT, y: STRING>) USING delta");
    for (int k = 0; k < 4; k++) {
        session_expect_done(
            s, session_format(
                   s,
                   "INSERT INTO t SELECT v, v, v, v, CASE WHEN v = 33 THEN CAST('nan' AS DOUBLE) ELSE v + 0.5 END, "
                   "CASE WHEN v = 0 THEN CAST('-0.0' AS DOUBLE) ELSE v + 0.25 END, v + 0.10, %d %% 2 = 0, "
                   "chr(97 + %d) || v %% 10, encode(chr(97 + %d)), DATE '2020-01-01' + CAST(v AS INTEGER), "
                   "CAST(TIMESTAMP '2020-01-01 12:00:00' + to_days(CAST(v AS INTEGER)) AS TIMESTAMPTZ), "
                   "TIMESTAMP '2020-01-01 12:00:00' + to_days(CAST(v AS INTEGER)), "
                   "{'x': v, 'y': chr(97 + %d)} FROM range(%d, %d) r(v)",
                   k, k, k, k, 10 * k, 10 * k + 4));
    }
    session_expect_done(s, "INSERT INTO t (id) VALUES (40), (41)");
    session_expect_done(s, "CREATE TEMP TABLE plain AS FROM t");
}

static size_t files_left_with(struct session_fixture *s, const char *sql, const struct sl_dataplane_params *params)
{
    const struct sl_statement_text text = {sl_str_from(sql), 0};
    struct sl_prepared_query query = {0};
    size_t n = 0;
    s->err = (silt_error)SILT_ERROR_INIT;
    if (sl_query_prepare(s->session, NULL, &text, params, &query, &s->err) != SILT_OK) {
        fail_msg("%s: [%s] %s", sql, s->err.code_name, s->err.message);
    }
    for (size_t i = 0; i < query.n_scans; i++) {
        n += silt_scan_get_plan(query.kernel_scans[i])->n_files;
    }
    sl_query_release(&query);
    return n;
}

/* Files that the scans of a query are left with, all together. */
static size_t files_left(struct session_fixture *s, const char *sql)
{
    const struct sl_dataplane_params none = {0};
    return files_left_with(s, sql, &none);
}

struct expected {
    const char *condition;
    size_t n_files;
};

static void expect_files(struct session_fixture *s, const char *query, size_t n)
{
    const size_t left = files_left(s, query);
    if (left != n) {
        fail_msg("%s: %zu files are left, expected %zu", query, left, n);
    }
}

/* The files that are left of five, and the same rows as without pruning. */
static void expect_pruned(struct session_fixture *s, const struct expected *expected, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char query[1024];
        (void)snprintf(query, sizeof(query), "SELECT id FROM t WHERE %s ORDER BY id", expected[i].condition);
        expect_files(s, query, expected[i].n_files);
        (void)snprintf(query, sizeof(query), "SELECT id FROM plain AS t WHERE %s ORDER BY id", expected[i].condition);
        session_expect_done(s, query);
        const char *rows = sl_arena_strdup(&s->arena, sl_buf_view(&s->out));
        assert_non_null(rows);
        (void)snprintf(query, sizeof(query), "SELECT id FROM t WHERE %s ORDER BY id", expected[i].condition);
        session_expect_rows(s, query, rows);
    }
}
#define EXPECT_PRUNED(s, table) expect_pruned(s, table, sizeof(table) / sizeof((table)[0]))

static void comparisons_prune(void **state)
{
    static const struct expected table[] = {
        {"i = 12", 1},
        {"12 = i", 1},
        {"i < 10", 1},
        {"t.i >= 20", 2},
        {"i <> 12", 4},
        {"i IS DISTINCT FROM 12", 5},
        {"i IS NOT DISTINCT FROM 12", 1},
        {"i IS NOT DISTINCT FROM NULL", 1},
        {"i IS NULL", 1},
        {"i IS NOT NULL", 4},
        {"i = NULL", 0},
        {"NOT (i > 12)", 2},
        {"NOT (i IS NULL)", 4},
        {"i BETWEEN 11 AND 21", 2},
        {"i NOT BETWEEN 5 AND 100", 1},
        {"i NOT BETWEEN 11 AND 30", 3},
        {"i IN (1, 2, 31)", 2},
        {"i IN (1, NULL)", 1},
        {"i NOT IN (1, NULL)", 0},
        {"i IN (1, 30.5, 3e0)", 2},
        {"l = 9223372036854775808", 0},
        {"i = 1 OR i = 31", 2},
        {"(i = 1 AND hash(id) > 0) OR (i = 31 AND random() < 2)", 2},
        {"i = l AND i > 25", 1},
        {"ti > 127", 0},
        {"i > l + 1", 4},
        {"(i = 12) = true", 1},
        {"(i > 12) IS NOT DISTINCT FROM NULL", 1},
        {"false", 0},
        {"NULL", 0},
        {"true", 5},
    };
    make_table(*state);
    EXPECT_PRUNED(*state, table);
}

static void mixed_types_prune_as_the_data_plane_compares_them(void **state)
{
    static const struct expected table[] = {
        {"i = 12.0", 1},
        {"i = 12.5", 1}, /* between 10 and 13 */
        {"i < 9.5", 1},
        {"i > 2.5e1", 1},
        {"i = '12'", 1},
        {"i = '12.4'", 1},
        {"dec = 12.1", 1},
        {"dec > 25", 1},
        {"dec < 5e0", 1},
        {"dec = '12.10'", 1},
        {"f = 10.5", 2}, /* a file with NaN has no bounds */
        {"f < 5", 2},
        {"f > 20.1", 4},  /* NaN may be above any maximum */
        {"f = 'nan'", 4}, /* and so it may be equal to this one */
        {"f = CAST('nan' AS DOUBLE)", 4},
        {"g = 0", 1},
        {"g = -0.0", 1},
        {"g < 1.5", 1},
        {"g IN (0.25, 10.25)", 2},
        {"f BETWEEN 1.1 AND 2e0", 2},
        {"i = f", 4},
        {"ti::BIGINT = 12", 1},
        {"CAST(i AS DOUBLE) < 9.5", 1},
        {"CAST(i AS DECIMAL(12, 2)) < 9.5", 1},
        {"TRY_CAST(l AS TINYINT) = 12", 1},
        {"i + 5 = 16", 1},
        {"i - 5 < 0", 1},
        {"5 - i > 2", 1},
        {"-i < -25", 1},
        {"i + 1 = 1 + 12", 1},
        {"i = 6 * 2", 1},
        {"i = CAST(12 AS UTINYINT)", 1},
        {"f > CAST(25 AS FLOAT)", 4},
        {"s = 'b' || '1'", 1},
    };
    make_table(*state);
    EXPECT_PRUNED(*state, table);
}

static void texts_prune(void **state)
{
    static const struct expected table[] = {
        {"s = 'b1'", 1},
        {"s > 'c'", 2},
        {"s LIKE 'b%'", 1},
        {"s NOT LIKE 'b%'", 3},
        {"s ~~ 'b_'", 1},
        {"s LIKE 'b!%' ESCAPE '!'", 0},
        {"s NOT LIKE 'b!%' ESCAPE '!'", 4},
        {"s LIKE 'b\\%'", 0},
        {"s LIKE '%1'", 4},
        {"s ^@ 'c'", 1},
        {"starts_with(s, 'c2')", 1},
        {"prefix(s, 'd')", 1},
        {"NOT starts_with(s, 'b')", 3},
        {"s IN ('a1', 'd2')", 2},
        {"bin IS NULL", 1},
        {"b", 4}, /* booleans have null counts only */
        {"NOT b", 4},
        {"b IS TRUE", 4},
        {"b IS NOT TRUE", 5},
        {"b IS UNKNOWN", 1},
        {"b = 'true'", 4},
        {"b AND s > 'b'", 3},
        {"st.x = 12", 1},
        {"t.st.x = 12", 1},
        {"st['x'] = 12", 1},
        {"(st).x = 12", 1},
        {"struct_extract(st, 'x') = 12", 1},
        {"st.y LIKE 'b%'", 1},
    };
    make_table(*state);
    EXPECT_PRUNED(*state, table);
}

static void times_prune(void **state)
{
    static const struct expected table[] = {
        {"d = '2020-01-12'", 1},
        {"d = DATE '2020-01-12'", 1},
        {"d < DATE '2020-01-01' + INTERVAL 5 DAY", 1},
        {"d >= DATE '2020-03-01' - INTERVAL '1' MONTH", 1},
        {"d = DATE '2020-01-01' + 12", 1},
        {"d > make_date(2020, 1, 25)", 1},
        {"d BETWEEN '2020-01-12' AND DATE '2020-01-22' + INTERVAL 1 HOUR", 2},
        {"d < TIMESTAMP '2020-01-05 00:00:00'", 1},
        {"d < TIMESTAMPTZ '2020-01-05 00:00:00+00'", 1},
        {"d = 'January'", 0},
        {"ts < '2020-01-05'", 1},
        {"ts < '2020-01-05T10:00:00+02:00'", 1},
        {"ts < TIMESTAMP '2020-01-05 00:00:00'", 1},
        {"ts < DATE '2020-01-05'", 1},
        {"ts >= TIMESTAMPTZ '2020-01-30 12:00:00+00' + INTERVAL 1 DAY", 1},
        {"CAST(ts AS DATE) = '2020-01-12'", 1},
        {"ntz < '2020-01-05 12:00:00.5'", 1},
        {"ntz < TIMESTAMPTZ '2020-01-05 12:00:00+00'", 1},
        {"ntz::DATE = '2020-01-12'", 1},
        {"ts = ntz AND ts > '2020-01-26'", 1},
        {"date_trunc('month', TIMESTAMP '2020-02-15 00:00:00') < ntz", 1},
    };
    make_table(*state);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i].condition, "d = 'January'") != 0) {
            expect_pruned(*state, &table[i], 1);
        }
    }
    session_expect_fault(*state, "SELECT id FROM t WHERE d = 'January'", SILT_ESCHEMA, "CAST_INVALID_INPUT", -1);
}

static void times_prune_in_the_zone_of_the_session(void **state)
{
    static const struct expected table[] = {
        {"ts < '2020-01-05'", 1},
        {"ts >= '2020-01-11 22:00:00' AND ts < '2020-01-11 22:00:01'", 1}, /* noon in Greenwich */
        {"ts < DATE '2020-01-05'", 1},
        {"d < TIMESTAMPTZ '2020-01-05 00:00:00+00'", 1},
        {"CAST(ts AS DATE) = '2020-01-12'", 1},
        {"ntz < TIMESTAMPTZ '2020-01-05 12:00:00+00'", 1},
        {"d = '2020-01-12'", 1},
    };
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "SET timezone = 'Asia/Vladivostok'");
    EXPECT_PRUNED(s, table);
    session_expect_done(s, "SET timezone = 'UTC'; PRAGMA timezone = 'Asia/Vladivostok'");
    EXPECT_PRUNED(s, table);
}

static void a_column_that_is_not_this_tables_does_not_prune(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "CREATE TABLE u (id BIGINT, i INT, other INT) USING delta; "
                           "INSERT INTO u VALUES (1, 1, 12); INSERT INTO u VALUES (31, 31, 99)");
    expect_files(s, "SELECT * FROM t, u WHERE other = 12 AND t.id = u.id", 6);
    expect_files(s, "SELECT * FROM t x, u WHERE x.i = 12", 3);
    expect_files(s, "SELECT * FROM t JOIN u USING (i) WHERE i = 12", 7);
    expect_files(s, "SELECT * FROM t JOIN u ON t.id = u.id AND s = 'b1' AND other = 12", 2);
    expect_files(s, "SELECT * FROM t LEFT JOIN u ON t.id = u.id AND s = 'b1' AND other = 12", 6);
    expect_files(s, "SELECT * FROM t SEMI JOIN u ON t.id = u.id AND other = 12 WHERE s = 'b1'", 2);
    expect_files(s, "SELECT d, count(*) FROM t GROUP BY d HAVING d < '2020-01-05' AND count(*) > 0", 1);
    expect_files(s, "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.i = 31 AND t.s > 'z')", 6);
    expect_files(s, "SELECT * FROM t WHERE i = 12 USING SAMPLE 3 ROWS", 5);
    expect_files(s, "SELECT -i AS i FROM t WHERE i = 12", 1);
    session_expect_rows(s, "SELECT t.id FROM t JOIN u ON t.id = u.id AND s = 'a1' AND other = 12", "1\n");
    session_expect_rows(s, "SELECT count(*), count(u.id) FROM t LEFT JOIN u ON t.id = u.id AND s = 'a1'", "18|1\n");
    session_expect_rows(s, "SELECT count(*) FROM t ANTI JOIN u ON t.id = u.id AND s = 'a1' WHERE t.id < 10", "3\n");
    session_expect_rows(s, "SELECT d, count(*) FROM t GROUP BY d HAVING d < '2020-01-02' OR d IS NULL ORDER BY d",
                        "2020-01-01|1\nNULL|2\n");
}

static void what_the_user_changed_in_the_data_plane_counts(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    expect_files(s, "SELECT * FROM t WHERE starts_with(s, 'B')", 0);
    session_expect_done(s, "CREATE MACRO starts_with(a, b) AS lower(a)[1] = lower(b)[1]");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE starts_with(s, 'B')", "4\n");
    expect_files(s, "SELECT * FROM t WHERE s = 'b1'", 1);
    session_expect_done(s, "SET default_collation = 'nocase'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE s = 'B1'", "1\n");
}

static void metadata_prunes(void **state)
{
    struct session_fixture *s = *state;
    make_table(s);
    session_expect_done(s, "SELECT DISTINCT _metadata.file_name FROM t WHERE i = 12");
    const struct sl_str name = sl_arena_copy(&s->arena, sl_str_trim(sl_buf_view(&s->out)));
    assert_non_null(name.ptr);
    char query[512];
    (void)snprintf(query, sizeof(query), "SELECT count(*) FROM t WHERE _metadata.file_name = '%.*s'", SL_FMT(name));
    expect_files(s, query, 1);
    session_expect_rows(s, query, "4\n");
    (void)snprintf(query, sizeof(query), "SELECT count(*) FROM t WHERE _metadata.file_name <> '%.*s' AND i < 25",
                   SL_FMT(name));
    expect_files(s, query, 2);
    session_expect_rows(s, query, "8\n");
    (void)snprintf(query, sizeof(query), "SELECT count(*) FROM t WHERE t._metadata.file_path LIKE 'file:%%'");
    expect_files(s, query, 5);
    session_expect_rows(s, query, "18\n");
    expect_files(s, "SELECT * FROM t WHERE _metadata.file_path LIKE 'nowhere%'", 0);
    expect_files(s, "SELECT * FROM t WHERE _metadata.file_size < 10", 0);
    expect_files(s, "SELECT * FROM t WHERE _metadata.file_block_start > 0", 0);
    expect_files(s, "SELECT * FROM t WHERE _metadata.file_modification_time < '1999-01-01'", 0);
    expect_files(s, "SELECT * FROM t WHERE _metadata.row_index < 0 AND i = 12", 0);
    expect_files(s, "SELECT * FROM t WHERE _metadata.row_index = 1", 5);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE _metadata.row_index = 1 AND i > 5", "3\n");
}

static void partition_values_prune(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE p (id INT, city STRING, day DATE, bin BINARY) USING delta "
                           "PARTITIONED BY (city, day, bin); INSERT INTO p VALUES "
                           "(1, 'Oslo', DATE '2020-01-01', encode('a')), (2, 'Rome', DATE '2020-01-02', encode('b')), "
                           "(3, NULL, NULL, NULL)");
    expect_files(s, "SELECT * FROM p WHERE city LIKE 'O%'", 1);
    expect_files(s, "SELECT * FROM p WHERE city NOT LIKE '_slo'", 1);
    expect_files(s, "SELECT * FROM p WHERE day < DATE '2020-01-01' + INTERVAL 1 DAY", 1);
    expect_files(s, "SELECT * FROM p WHERE CAST(day AS TIMESTAMP) = '2020-01-02'", 1);
    expect_files(s, "SELECT * FROM p WHERE city IS NULL", 1);
    expect_files(s, "SELECT * FROM p WHERE bin = X'61'", 1);
    session_expect_rows(s, "SELECT id FROM p WHERE bin = X'61' OR day IS NULL ORDER BY id", "1\n3\n");
}

/* A row of values of SQL, as parameters. Release both. */
static void make_params(struct session_fixture *s, const char *values, struct ArrowSchema *schema,
                        struct ArrowArray *row)
{
    silt_execution *execution = NULL;
    silt_result result = {.size = sizeof(result)};
    bool done = false;
    const char *sql = session_format(s, "SELECT %s", values);
    assert_int_equal(silt_session_execute(s->session, sql, strlen(sql), NULL, NULL, &execution, &s->err), SILT_OK);
    assert_int_equal(silt_execution_next(execution, NULL, &result, &done, &s->err), SILT_OK);
    assert_int_equal(result.stream.get_schema(&result.stream, schema), 0);
    assert_int_equal(result.stream.get_next(&result.stream, row), 0);
    result.stream.release(&result.stream);
    silt_execution_free(execution);
}

static void parameters_prune_as_the_values_that_they_have(void **state)
{
    struct session_fixture *s = *state;
    static const struct {
        const char *values;
        const char *condition;
        size_t n_files;
        const char *ids;
    } table[] = {
        {"12", "i = $1", 1, "12\n"},
        {"CAST(12 AS DOUBLE)", "i = ?", 1, "12\n"},
        {"12.4", "i < $1 AND i > 5", 1, "10\n11\n12\n"},
        {"CAST(12.5 AS DOUBLE)", "i = $1", 1, ""},
        {"CAST(1.5 AS FLOAT)", "f = $1", 2, "1\n"},
        {"'b1'", "s = $1", 1, "11\n"},
        {"'b'", "s LIKE $1 || '%'", 1, "10\n11\n12\n13\n"},
        {"DATE '2020-01-12'", "d = $1", 1, "11\n"},
        {"'2020-01-12'", "d = $1", 1, "11\n"},
        {"5, 6", "i + $1 = $2", 1, "1\n"},
        {"5, 6", "i = $2 + 6 AND l <> $1", 1, "12\n"},
        {"TIMESTAMPTZ '2020-01-12 12:00:00+00'", "ts = $1", 1, "11\n"},
        {"TIMESTAMP '2020-01-12 12:00:00'", "ts = $1 AND ntz = $1", 1, "11\n"},
        {"NULL", "i = $1", 0, ""},
        {"true", "b = $1 AND i > 15", 2, "20\n21\n22\n23\n"},
    };
    make_table(s);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct ArrowSchema schema = {0};
        struct ArrowArray row = {0};
        char query[512];
        make_params(s, table[i].values, &schema, &row);
        const struct sl_dataplane_params params = {&schema, &row};
        (void)snprintf(query, sizeof(query), "SELECT id FROM t WHERE %s ORDER BY id", table[i].condition);
        const size_t left = files_left_with(s, query, &params);
        if (left != table[i].n_files) {
            fail_msg("%s with %s: %zu files are left, expected %zu", query, table[i].values, left, table[i].n_files);
        }
        if (session_try_with(s, query, &schema, &row) != SILT_OK || strcmp(sl_buf_cstr(&s->out), table[i].ids) != 0) {
            fail_msg("%s with %s: %s gave\n%s", query, table[i].values, s->err.message, sl_buf_cstr(&s->out));
        }
        row.release(&row);
        schema.release(&schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(comparisons_prune),
        SESSION_TEST(mixed_types_prune_as_the_data_plane_compares_them),
        SESSION_TEST(texts_prune),
        SESSION_TEST(times_prune),
        SESSION_TEST(times_prune_in_the_zone_of_the_session),
        SESSION_TEST(a_column_that_is_not_this_tables_does_not_prune),
        SESSION_TEST(what_the_user_changed_in_the_data_plane_counts),
        SESSION_TEST(metadata_prunes),
        SESSION_TEST(partition_values_prune),
        SESSION_TEST(parameters_prune_as_the_values_that_they_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
