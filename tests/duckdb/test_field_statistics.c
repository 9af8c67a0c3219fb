/* Statistics of files: what is written, and that what other writers left never hides a row. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

/* A table t of one column v of this type. */
static void make(struct session_fixture *s, const char *type)
{
    const char *field = sl_arena_printf(&s->arena, "{\"name\":\"v\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}",
                                        type);
    hand_create(s, "t", field, "");
}

/* A file of the rows of a query, with these statistics, as one line. */
static const char *file(struct session_fixture *s, const char *name, const char *query, const char *stats)
{
    hand_parquet(s, sl_arena_printf(&s->arena, "t/%s", name), query);
    return hand_add(s, name, "{}", stats);
}

static void expect_logged(struct session_fixture *s, const char *table, int64_t version, const char *text)
{
    if (strstr(hand_log(s, table, version), text) == NULL) {
        fail_msg("%s is not in %s", text, hand_log(s, table, version));
    }
}

static void offsets_with_seconds_and_nonsense_never_fail_a_table(void **state)
{
    struct session_fixture *s = *state;
    make(s, "timestamp");
    hand_commit(s, "t", 1,
                file(s, "a.parquet", "SELECT TIMESTAMPTZ '0202-10-20 23:06:32Z' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"0202-10-21T00:00:00.000+00:53:28\"},"
                     "\"maxValues\":{\"v\":\"0202-10-21T00:00:00.000+00:53:28\"},\"nullCount\":{\"v\":0}}"),
                file(s, "b.parquet", "SELECT TIMESTAMPTZ '0202-10-20 23:07:00Z' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"0202-10-21T00:00:00.000+00:53\"},"
                     "\"maxValues\":{\"v\":\"0202-10-21T00:00:00.000+00:53\"},\"nullCount\":{\"v\":0}}"),
                file(s, "c.parquet", "SELECT TIMESTAMPTZ '2020-01-01 00:00:00Z' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"yesterday\"},\"maxValues\":{\"v\":17},\"nullCount\":"
                     "{\"v\":\"0\"}}"),
                NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "3\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = TIMESTAMPTZ '0202-10-20 23:06:32Z'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = TIMESTAMPTZ '0202-10-20 23:07:00Z'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v > TIMESTAMPTZ '1990-01-01 00:00:00Z'", "1\n");
}

static void decimals_are_written_exactly(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE d (a DECIMAL(1,0), b DECIMAL(4,0), c DECIMAL(18,0), d DECIMAL(38,6), "
                           "e DECIMAL(38,18))");
    session_expect_done(s, "INSERT INTO d VALUES (1, 1234, 999999999999999999, "
                           "99999999999999999999999999999999.999999, 0.000000000000000001)");
    expect_logged(s, "d", 1,
                  "\\\"maxValues\\\":{\\\"a\\\":1,\\\"b\\\":1234,\\\"c\\\":999999999999999999,"
                  "\\\"d\\\":99999999999999999999999999999999.999999,\\\"e\\\":0.000000000000000001}");
    session_expect_done(s, "INSERT INTO d VALUES (-1, -1234, -999999999999999999, "
                           "-99999999999999999999999999999999.999999, -0.000000000000000001)");
    expect_logged(s, "d", 2, "\\\"c\\\":-999999999999999999,\\\"d\\\":-99999999999999999999999999999999.999999");
    session_expect_rows(s,
                        "SELECT b FROM d WHERE a = 1 AND b = 1234 AND c = 999999999999999999 AND "
                        "d = 99999999999999999999999999999999.999999 AND e = 0.000000000000000001",
                        "1234\n");
    session_expect_rows(s, "SELECT b FROM d WHERE c = -999999999999999999", "-1234\n");
    session_expect_rows(s, "SELECT b FROM d WHERE e < 0", "-1234\n");
    session_expect_rows(s, "SELECT b FROM d WHERE d > 99999999999999999999999999999999", "1234\n");
}

static void decimals_of_other_writers_are_read_from_their_text(void **state)
{
    struct session_fixture *s = *state;
    make(s, "decimal(38,3)");
    hand_commit(s, "t", 1,
                file(s, "a.parquet", "SELECT 1::DECIMAL(38,3) AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":1.0},\"maxValues\":{\"v\":1.0}}"),
                file(s, "b.parquet", "SELECT 1000::DECIMAL(38,3) AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":1e3},\"maxValues\":{\"v\":1E+3}}"),
                file(s, "c.parquet", "SELECT 12345678901234567890.123::DECIMAL(38,3) AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":12345678901234567890.123},"
                     "\"maxValues\":{\"v\":12345678901234567890.123}}"),
                file(s, "d.parquet", "SELECT 7::DECIMAL(38,3) AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":1e99},\"maxValues\":{\"v\":\"what\"}}"),
                NULL);
    session_expect_rows(s, "SELECT v::VARCHAR FROM t WHERE v = 1", "1.000\n");
    session_expect_rows(s, "SELECT v::VARCHAR FROM t WHERE v = 1000", "1000.000\n");
    session_expect_rows(s, "SELECT v::VARCHAR FROM t WHERE v = 12345678901234567890.123", "12345678901234567890.123\n");
    session_expect_rows(s, "SELECT v::VARCHAR FROM t WHERE v = 7", "7.000\n");
}

static void infinities_and_zeros_are_written_so_that_no_row_is_lost(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE f (v DOUBLE, w FLOAT)");
    session_expect_done(s, "INSERT INTO f VALUES ('inf', 'inf'), ('-inf', '-inf'), ('1', '1')");
    session_expect_done(s, "INSERT INTO f VALUES ('inf', 'inf')");
    session_expect_done(s, "INSERT INTO f VALUES (-0.0, -0.0)");
    session_expect_done(s, "INSERT INTO f VALUES (0.0, 0.0)");
    session_expect_done(s, "INSERT INTO f VALUES ('nan', 'nan'), ('2', '2')");
    for (int64_t version = 1; version <= 5; version++) {
        const char *log = hand_log(s, "f", version);
        assert_null(strstr(log, "Infinity"));
        assert_null(strstr(log, "inf"));
        assert_null(strstr(log, "NaN"));
        assert_null(strstr(log, "nan"));
    }
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v > 5 AND NOT isnan(v)", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE w > 5 AND NOT isnan(w)", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v < -5", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v = 0.0::DOUBLE", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v = -0.0::DOUBLE", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v = 'nan'::DOUBLE", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v > 2", "3\n");
    session_expect_rows(s, "SELECT count(*) FROM f WHERE v >= 0.0::DOUBLE AND v <= 0.0::DOUBLE", "2\n");
}

static void tokens_that_are_no_json_give_no_bounds(void **state)
{
    struct session_fixture *s = *state;
    make(s, "double");
    hand_commit(
        s, "t", 1,
        file(s, "a.parquet", "SELECT 'inf'::DOUBLE AS v",
             "{\"numRecords\":1,\"minValues\":{\"v\":1.0},\"maxValues\":{\"v\":Infinity},\"nullCount\":{\"v\":0}}"),
        file(s, "b.parquet", "SELECT 'nan'::DOUBLE AS v",
             "{\"numRecords\":1,\"minValues\":{\"v\":NaN},\"maxValues\":{\"v\":NaN},\"nullCount\":{\"v\":0}}"),
        file(s, "c.parquet", "SELECT unnest(['inf'::DOUBLE, '-inf'::DOUBLE]) AS v",
             "{\"numRecords\":2,\"minValues\":{\"v\":\"-Infinity\"},\"maxValues\":{\"v\":\"Infinity\"}}"),
        file(s, "d.parquet", "SELECT unnest(['nan'::DOUBLE, 1]) AS v",
             "{\"numRecords\":2,\"minValues\":{\"v\":\"NaN\"},\"maxValues\":{\"v\":\"NaN\"}}"),
        NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "6\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v > 5", "4\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v < -5", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = 1", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE isnan(v)", "2\n");
}

/* 40 required columns of which 32 have statistics. */
static void columns_past_the_limit_are_filtered_without_statistics(void **state)
{
    struct session_fixture *s = *state;
    struct sl_buf sql;
    sl_buf_init(&sql, silt_env_default());
    sl_buf_put_c(&sql, "CREATE TABLE w (p INT NOT NULL");
    for (int i = 1; i <= 40; i++) {
        sl_buf_printf(&sql, ", c%d INT NOT NULL", i);
    }
    sl_buf_put_c(&sql, ") PARTITIONED BY (p); INSERT INTO w SELECT i");
    for (int i = 1; i <= 40; i++) {
        sl_buf_printf(&sql, ", i + %d", i);
    }
    sl_buf_put_c(&sql, " FROM range(5) r(i)");
    session_expect_done(s, sl_buf_cstr(&sql));
    sl_buf_release(&sql);
    expect_logged(s, "w", 1, "\\\"c32\\\":");
    assert_null(strstr(hand_log(s, "w", 1), "\\\"c33\\\":"));
    session_expect_rows(s, "SELECT c1 FROM w WHERE c33 = 35", "3\n");
    session_expect_rows(s, "SELECT c1 FROM w WHERE c40 > 42 AND p <> 4", "4\n");
    session_expect_rows(s, "SELECT c1 FROM w WHERE p = 2", "3\n");
    session_expect_rows(s, "SELECT count(*) FROM w WHERE c33 IS NULL", "0\n");
    session_expect_rows(s, "SELECT count(*) FROM w WHERE p IS NOT NULL", "5\n");
}

static void leaves_of_structs_count_for_the_limit(void **state)
{
    struct session_fixture *s = *state;
    struct sl_buf sql;
    sl_buf_init(&sql, silt_env_default());
    sl_buf_put_c(&sql, "CREATE TABLE n (s STRUCT<");
    for (int i = 1; i <= 31; i++) {
        sl_buf_printf(&sql, "%sm%d: INT", i > 1 ? ", " : "", i);
    }
    sl_buf_put_c(&sql, ">, a INT, b INT); INSERT INTO n SELECT {");
    for (int i = 1; i <= 31; i++) {
        sl_buf_printf(&sql, "%s'm%d': %d", i > 1 ? ", " : "", i, i);
    }
    sl_buf_put_c(&sql, "}, 77, 78");
    session_expect_done(s, sl_buf_cstr(&sql));
    sl_buf_release(&sql);
    expect_logged(s, "n", 1, "\\\"m31\\\":31");
    expect_logged(s, "n", 1, "\\\"a\\\":77");
    assert_null(strstr(hand_log(s, "n", 1), "\\\"b\\\":78"));
}

static void every_part_of_statistics_is_optional(void **state)
{
    struct session_fixture *s = *state;
    static const char *const stats[] = {
        NULL,
        "",
        "{}",
        "null",
        "[]",
        "not json",
        "{\"numRecords\":2}",
        "{\"numRecords\":2,\"minValues\":{\"v\":1},\"maxValues\":{\"v\":2}}",
        "{\"numRecords\":2,\"minValues\":{\"v\":1},\"nullCount\":{\"v\":0}}",
        "{\"numRecords\":2,\"minValues\":{\"v\":null},\"maxValues\":{\"v\":null},\"nullCount\":{\"v\":null}}",
        "{\"numRecords\":null,\"minValues\":null,\"maxValues\":null,\"nullCount\":null}",
        "{\"minValues\":{\"v\":1},\"maxValues\":{\"v\":2},\"nullCount\":{\"v\":0},\"numRecords\":\"2\"}",
        "{\"numRecords\":2,\"minValues\":{\"v\":9},\"maxValues\":{\"v\":1}}",
        "{\"numRecords\":2,\"minValues\":{\"v\":{\"x\":1}},\"maxValues\":{\"v\":[2]},\"nullCount\":{\"v\":99}}",
        "{\"numRecords\":2,\"minValues\":[1],\"maxValues\":\"2\",\"nullCount\":5}",
        "{\"numRecords\":-3,\"nullCount\":{\"v\":-3}}",
    };
    const size_t n = sizeof(stats) / sizeof(stats[0]);
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    hand_create(s, "t", HAND_REQUIRED("v", "integer"), "");
    for (size_t i = 0; i < n; i++) {
        const char *name = sl_arena_printf(&s->arena, "%zu.parquet", i);
        sl_buf_printf(&text, "%s\n", file(s, name, "SELECT unnest([1, 2])::INT AS v", stats[i]));
    }
    hand_put(s, "t/_delta_log/00000000000000000001.json", sl_buf_cstr(&text));
    sl_buf_release(&text);
    const char *rows = sl_arena_printf(&s->arena, "%zu\n", n);
    const char *twice = sl_arena_printf(&s->arena, "%zu\n", 2 * n);
    session_expect_rows(s, "SELECT count(*) FROM t", twice);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = 1", rows);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v >= 2", rows);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v IS NOT NULL", twice);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v IS NULL", "0\n");
    session_expect_rows(s, "SELECT min(v) * 10 + max(v) FROM t", "12\n");
}

/* Files 1..3, 4..6 without statistics, 7..9, and one of nulls. */
static void make_numbers(struct session_fixture *s)
{
    make(s, "integer");
    hand_commit(s, "t", 1,
                file(s, "a.parquet", "SELECT unnest([1, 2, 3])::INT AS v",
                     "{\"numRecords\":3,\"minValues\":{\"v\":1},\"maxValues\":{\"v\":3},\"nullCount\":{\"v\":0}}"),
                file(s, "b.parquet", "SELECT unnest([4, 5, 6])::INT AS v", NULL),
                file(s, "c.parquet", "SELECT unnest([7, 8, 9])::INT AS v",
                     "{\"numRecords\":3,\"minValues\":{\"v\":7},\"maxValues\":{\"v\":9},\"nullCount\":{\"v\":0}}"),
                file(s, "d.parquet", "SELECT NULL::INT AS v FROM range(2)",
                     "{\"numRecords\":2,\"minValues\":{},\"maxValues\":{},\"nullCount\":{\"v\":2}}"),
                NULL);
}

static void predicates_drop_a_file_only_when_certainly_false(void **state)
{
    struct session_fixture *s = *state;
    static const char *const cases[][2] = {
        {"v < 2 AND v IS NOT NULL", "1"},
        {"v IS NULL", "NULL,NULL"},
        {"v IS NOT NULL", "1,2,3,4,5,6,7,8,9"},
        {"v <=> NULL", "NULL,NULL"},
        {"v <=> 5", "5"},
        {"NOT (v <=> 5)", "1,2,3,4,6,7,8,9,NULL,NULL"},
        {"NOT (v < 5)", "5,6,7,8,9"},
        {"v <> 5", "1,2,3,4,6,7,8,9"},
        {"NOT (v <> 5)", "5"},
        {"v IN (1, 5, NULL)", "1,5"},
        {"v NOT IN (1, 5, NULL)", ""},
        {"v NOT IN (1, 5)", "2,3,4,6,7,8,9"},
        {"v < 2 AND abs(v) < 9", "1"},
        {"v < 2 OR abs(v) = 9", "1,9"},
        {"NOT (v < 8 AND abs(v) < 100)", "8,9"},
        {"NOT (v < 8 OR abs(v) > 100)", "8,9"},
        {"(v < 2 OR v IS NULL) AND coalesce(v, 0) = 0", "NULL,NULL"},
        {"v = 1 OR v = 5 OR v = 9", "1,5,9"},
        {"v BETWEEN 3 AND 7", "3,4,5,6,7"},
        {"v NOT BETWEEN 3 AND 7", "1,2,8,9"},
        {"(v > 6) IS NOT TRUE", "1,2,3,4,5,6,NULL,NULL"},
        {"(v > 6) IS NULL", "NULL,NULL"},
        {"v > NULL", ""},
        {"v > NULL OR v = 9", "9"},
        {"v = v", "1,2,3,4,5,6,7,8,9"},
        {"5 > v AND 2 < v", "3,4"},
        {"v = 5.0", "5"},
        {"v < 1.5", "1"},
        {"v = 5.5", ""},
        {"v > 1e20", ""},
        {"v < 99999999999", "1,2,3,4,5,6,7,8,9"},
        {"CASE WHEN v > 8 THEN true ELSE v = 1 END", "1,9"},
        {"v::VARCHAR LIKE '9%'", "9"},
        {"v % 4 = 0", "4,8"},
        {"true", "1,2,3,4,5,6,7,8,9,NULL,NULL"},
        {"false OR v = 2", "2"},
        {"NOT NOT (v = 2)", "2"},
    };
    make_numbers(s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        session_expect_rows(
            s,
            session_format(s,
                           "SELECT coalesce(string_agg(coalesce(v::VARCHAR, 'NULL'), ',' ORDER BY v NULLS LAST), '') "
                           "FROM t WHERE %s",
                           cases[i][0]),
            sl_arena_printf(&s->arena, "%s\n", cases[i][1]));
    }
}

static void counts_and_extremes_do_not_trust_statistics(void **state)
{
    struct session_fixture *s = *state;
    make(s, "string");
    hand_commit(
        s, "t", 1,
        file(s, "a.parquet", "SELECT unnest(['abcdefghijklmnopqrstuvwxyzabcdefghij', 'b']) AS v",
             "{\"numRecords\":999,\"minValues\":{\"v\":\"a\"},\"maxValues\":{\"v\":\"zz\"},\"tightBounds\":false}"),
        file(s, "b.parquet", "SELECT 'c' AS v", NULL),
        file(s, "e.parquet", "SELECT 'c' AS v WHERE false", "{\"numRecords\":0}"), NULL);
    session_expect_rows(s, "SELECT count(*), count(v), max(v), length(min(v)) FROM t", "3|3|c|36\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v > 'b'", "1\n");
}

static void the_list_of_columns_with_statistics_is_quoted_sql(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(
        s, "t", 0, HAND_PROTOCOL,
        hand_metadata(
            s,
            HAND_FIELD("x", "integer") "," HAND_FIELD("y", "integer") "," HAND_FIELD("z.z", "integer") "," HAND_FIELD("q`q", "integer") "," HAND_FIELD(
                "no",
                "integer") ","
                           "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[" HAND_FIELD("f", "integer") "," HAND_FIELD(
                               "g",
                               "boolean") "]},\"nullable\":true,\"metadata\":{}},"
                                          "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"integer\","
                                          "\"containsNull\":true},\"nullable\":true,\"metadata\":{}}",
            "", "\"delta.dataSkippingStatsColumns\":\"x,`y`, `z.z`,`q``q`,s,l\""),
        NULL);
    session_expect_done(s, "INSERT INTO t SELECT 1, 2, 3, 4, 5, {'f': 6, 'g': true}, [7]");
    expect_logged(s, "t", 1,
                  "\\\"minValues\\\":{\\\"x\\\":1,\\\"y\\\":2,\\\"z.z\\\":3,\\\"q`q\\\":4,\\\"s\\\":{\\\"f\\\":6}}");
    expect_logged(s, "t", 1,
                  "\\\"nullCount\\\":{\\\"x\\\":0,\\\"y\\\":0,\\\"z.z\\\":0,\\\"q`q\\\":0,\\\"s\\\":{\\\"f\\\":0,"
                  "\\\"g\\\":0}");
    session_expect_rows(s, "SELECT no FROM t WHERE \"z.z\" = 3 AND `q``q` = 4 AND s.f = 6 AND no = 5", "5\n");
}

static void a_dot_in_a_name_is_no_path(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (`a.b` INT, a STRUCT<b: INT>, `p.q` STRING) PARTITIONED BY (`p.q`)");
    session_expect_done(s, "INSERT INTO t VALUES (1, {'b': 10}, 'x'), (2, {'b': 20}, 'y')");
    expect_logged(s, "t", 1, "\\\"a.b\\\":1,\\\"a\\\":{\\\"b\\\":10}");
    session_expect_rows(s, "SELECT `a.b`, a.b, t.a.b FROM t WHERE `a.b` = 1", "1|10|10\n");
    session_expect_rows(s, "SELECT \"a.b\" FROM t WHERE a.b = 20 AND `p.q` = 'y'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE t.`a.b` > 5 OR a.b > 15", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE `a.b` > 5", "0\n");
}

static void names_that_parquet_cannot_have_need_column_mapping(void **state)
{
    struct session_fixture *s = *state;
    static const char bad[] = " ,;{}()=";
    for (size_t i = 0; i < sizeof(bad) - 1; i++) {
        session_expect_fault(s, session_format(s, "CREATE TABLE t (`a%cb` INT)", bad[i]), SILT_ESCHEMA,
                             "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", -1);
    }
    session_expect_fault(s, "CREATE TABLE t (s STRUCT<`a b`: INT>)", SILT_ESCHEMA,
                         "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", -1);
    session_expect_fault(s, "CREATE TABLE t AS SELECT 1 AS \"Extract Year\"", SILT_ESCHEMA,
                         "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", -1);
    /* What stands in a table already is read. */
    hand_create(s, "t", HAND_FIELD("Extract Year", "integer") "," HAND_FIELD("q\\\"q", "integer"), "");
    hand_commit(s, "t", 1,
                file(s, "a.parquet", "SELECT 2020::INT AS \"Extract Year\", 5::INT AS \"q\"\"q\"",
                     "{\"numRecords\":1,\"minValues\":{\"Extract Year\":2020},\"maxValues\":{\"Extract Year\":2020}}"),
                NULL);
    session_expect_rows(s, "SELECT `Extract Year`, \"q\"\"q\" FROM t WHERE `Extract Year` = 2020 AND `q\"q` = 5",
                        "2020|5\n");
}

static void instants_of_any_unit_are_read_and_kept(void **state)
{
    struct session_fixture *s = *state;
    make(s, "timestamp");
    hand_commit(s, "t", 1,
                file(s, "ms.parquet", "SELECT TIMESTAMP_MS '2020-01-01 00:00:00.123' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"},"
                     "\"maxValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"}}"),
                file(s, "us.parquet", "SELECT TIMESTAMPTZ '2020-01-01 00:00:00.123456Z' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"},"
                     "\"maxValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"}}"),
                file(s, "ns.parquet", "SELECT TIMESTAMP_NS '2020-01-01 00:00:00.123456000' AS v",
                     "{\"numRecords\":1,\"minValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"},"
                     "\"maxValues\":{\"v\":\"2020-01-01T00:00:00.123Z\"}}"),
                NULL);
    session_expect_rows(s, "SELECT epoch_us(v) - 1577836800000000 FROM t ORDER BY 1", "123000\n123456\n123456\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = TIMESTAMPTZ '2020-01-01 00:00:00.123456Z'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v > TIMESTAMPTZ '2020-01-01 00:00:00.123Z'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v = TIMESTAMPTZ '2020-01-01 00:00:00.123Z'", "1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(offsets_with_seconds_and_nonsense_never_fail_a_table),
        SESSION_TEST(decimals_are_written_exactly),
        SESSION_TEST(decimals_of_other_writers_are_read_from_their_text),
        SESSION_TEST(infinities_and_zeros_are_written_so_that_no_row_is_lost),
        SESSION_TEST(tokens_that_are_no_json_give_no_bounds),
        SESSION_TEST(columns_past_the_limit_are_filtered_without_statistics),
        SESSION_TEST(leaves_of_structs_count_for_the_limit),
        SESSION_TEST(every_part_of_statistics_is_optional),
        SESSION_TEST(predicates_drop_a_file_only_when_certainly_false),
        SESSION_TEST(counts_and_extremes_do_not_trust_statistics),
        SESSION_TEST(the_list_of_columns_with_statistics_is_quoted_sql),
        SESSION_TEST(a_dot_in_a_name_is_no_path),
        SESSION_TEST(names_that_parquet_cannot_have_need_column_mapping),
        SESSION_TEST(instants_of_any_unit_are_read_and_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
