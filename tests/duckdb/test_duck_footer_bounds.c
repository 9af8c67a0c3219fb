/* Bounds and Bloom filters of Parquet files that say less than DuckDB takes them to say: no row is lost by them. */
#include <math.h>
#include <string.h>

#include "hand_table.h"
#include "parquet_fixture.h"

#define VIEW(value) sl_str_make((const char *)&(value), sizeof(value))

/* The file f.parquet of these columns in the table t; the table has the fields. */
static void make_table(struct session_fixture *s, const char *fields, const struct pq_column *columns, size_t n_columns,
                       size_t n_rows)
{
    hand_remove(s, "t");
    hand_create(s, "t", fields, "");
    hand_commit(s, "t", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
    pq_write(sl_arena_printf(&s->arena, "%s/t/f.parquet", s->dir), columns, n_columns, (int64_t)n_rows, NULL);
}

/* ---- NaN ---- */

static void nan_is_found_above_a_maximum_that_leaves_it_out(void **state)
{
    struct session_fixture *s = *state;
    const double doubles[] = {1, NAN, 2};
    const float floats[] = {1, NAN, 2};
    const struct pq_column columns[] = {
        {.name = "d",
         .type = PQ_DOUBLE,
         .values = doubles,
         .n_values = 3,
         .min = VIEW(doubles[0]),
         .max = VIEW(doubles[2])},
        {.name = "f",
         .type = PQ_FLOAT,
         .values = floats,
         .n_values = 3,
         .min = VIEW(floats[0]),
         .max = VIEW(floats[2])},
        {.name = "w",
         .type = PQ_FLOAT,
         .values = floats,
         .n_values = 3,
         .min = VIEW(floats[0]),
         .max = VIEW(floats[2])},
    };
    make_table(s, HAND_FIELD("d", "double") "," HAND_FIELD("f", "float") "," HAND_FIELD("w", "double"), columns, 3, 3);
    for (const char *const *name = (const char *const[]){"d", "f", "w", NULL}; *name != NULL; name++) {
        static const char *const conditions[][2] = {
            {"> 5", "1\n"},  {"= 'nan'", "1\n"},       {"<= 2", "2\n"},
            {">= 2", "2\n"}, {"IN ('nan', 7)", "1\n"}, {"< 1", "0\n"},
        };
        for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
            session_expect_rows(
                s, sl_arena_printf(&s->arena, "SELECT count(*) FROM t WHERE %s %s", *name, conditions[i][0]),
                conditions[i][1]);
        }
        session_expect_rows(s, sl_arena_printf(&s->arena, "SELECT isnan(max(%s)) FROM t", *name), "true\n");
        session_expect_rows(s, sl_arena_printf(&s->arena, "SELECT %s FROM t ORDER BY %s DESC LIMIT 1", *name, *name),
                            "NaN\n");
    }
}

static void nan_in_a_struct_is_found(void **state)
{
    struct session_fixture *s = *state;
    const double values[] = {1, NAN};
    const struct pq_column parts[] = {{.name = "x",
                                       .type = PQ_DOUBLE,
                                       .values = values,
                                       .n_values = 2,
                                       .min = VIEW(values[0]),
                                       .max = VIEW(values[0])}};
    const struct pq_column columns[] = {{.name = "a", .type = PQ_GROUP, .children = parts, .n_children = 1}};
    make_table(s,
               "{\"name\":\"a\",\"type\":{\"type\":\"struct\",\"fields\":[" HAND_FIELD(
                   "x", "double") "]},\"nullable\":true,\"metadata\":{}}",
               columns, 1, 2);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a.x > 5", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE a.x <> 1", "1\n");
}

/* ---- the zeros ---- */

static void zero_is_found_whatever_its_sign(void **state)
{
    struct session_fixture *s = *state;
    static const char *const zeros[] = {"0.0", "-0.0"};
    for (size_t i = 0; i < 2; i++) {
        hand_remove(s, "t");
        hand_create(s, "t", HAND_FIELD("d", "double") "," HAND_FIELD("f", "float"), "");
        /* Few values often: DuckDB writes a dictionary and a Bloom filter. */
        const char *file = sl_arena_printf(&s->arena, "t/f%zu.parquet", i);
        hand_parquet(s, file,
                     sl_arena_printf(&s->arena,
                                     "SELECT CASE WHEN i %% 2 = 0 THEN '%s' ELSE '5' END::DOUBLE AS d, d::FLOAT AS f "
                                     "FROM range(10000) r(i)",
                                     zeros[i]));
        hand_commit(s, "t", 1, hand_add(s, file + 2, "{}", NULL), NULL);
        session_expect_rows(s, "SELECT count(*) FROM t WHERE d = '0.0'::DOUBLE", "5000\n");
        session_expect_rows(s, "SELECT count(*) FROM t WHERE d = '-0.0'::DOUBLE", "5000\n");
        session_expect_rows(s, "SELECT count(*) FROM t WHERE f = '0.0'::FLOAT", "5000\n");
        session_expect_rows(s, "SELECT count(*) FROM t WHERE f = '-0.0'::FLOAT", "5000\n");
        session_expect_rows(s, "SELECT DISTINCT d::VARCHAR FROM t WHERE d < 1",
                            sl_arena_printf(&s->arena, "%s\n", zeros[i]));
        session_expect_rows(s, "SELECT count(*) FROM t WHERE d = 5", "5000\n");
    }
}

/* ---- text ---- */

static void text_is_found_beside_bounds_of_signed_bytes(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_str texts[] = {SL_STR("a"), SL_STR("\xc3\xa9"), SL_STR("b")};
    struct pq_column columns[] = {
        {.name = "t", .type = PQ_BYTES, .converted = PQ_UTF8, .texts = texts, .n_values = 3},
        {.name = "b", .type = PQ_BYTES, .texts = texts, .n_values = 3},
    };
    for (size_t i = 0; i < 2; i++) {
        columns[i].min = texts[1];
        columns[i].max = texts[2];
        columns[i].old_bounds = true;
    }
    make_table(s, HAND_FIELD("t", "string") "," HAND_FIELD("b", "binary"), columns, 2, 3);
    session_expect_rows(s, "SELECT count(*) FROM t WHERE t = 'a'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE t = '\xc3\xa9'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE t > 'b'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE b = '\\xC3\\xA9'::BLOB", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE b = 'a'::BLOB", "1\n");
}

/* ---- bytes ---- */

static void bytes_are_found_beside_a_bloom_filter(void **state)
{
    struct session_fixture *s = *state;
    static const char *const values[] = {"\\x00", "\\xFF\\x01", "a", "", "\\x5Cx00", "ab\\x00"};
    hand_remove(s, "t");
    hand_create(s, "t", HAND_FIELD("b", "binary") "," HAND_FIELD("n", "integer"), "");
    /* Few values often: DuckDB writes a dictionary and a Bloom filter. */
    hand_parquet(
        s, "t/f.parquet",
        "SELECT (['\\x00', '\\xFF\\x01', 'a', '', '\\x5Cx00', 'ab\\x00'])[1 + i % 6]::BLOB AS b, i::INTEGER AS n "
        "FROM range(6000) r(i)");
    hand_commit(s, "t", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        static const char *const queries[] = {
            "SELECT count(*) FROM t WHERE b = '%s'::BLOB",
            "SELECT count(*) FROM t WHERE b IN ('%s'::BLOB, 'no'::BLOB)",
            "SELECT count(*) FROM t WHERE b IN ('%s'::BLOB)",
            "SELECT count(*) FROM t WHERE b IS NOT DISTINCT FROM '%s'::BLOB",
            "SELECT count(*) FROM t JOIN (VALUES ('%s'::BLOB)) v(k) ON b = k",
            "SELECT count(*) FROM t WHERE b IN (SELECT '%s'::BLOB WHERE random() >= 0)",
            "SELECT count(*) FROM t WHERE b = '%s'::BLOB AND n >= 0",
        };
        for (size_t q = 0; q < sizeof(queries) / sizeof(queries[0]); q++) {
            session_expect_rows(s, session_format(s, queries[q], values[i]), "1000\n");
        }
    }
}

static void filters_of_other_columns_do_not_hide_bytes(void **state)
{
    struct session_fixture *s = *state;
    hand_remove(s, "t");
    hand_create(s, "t", HAND_FIELD("b", "binary") "," HAND_FIELD("x", "string"), "");
    /* All values of b are different: it gets no Bloom filter. */
    hand_parquet(s, "t/f.parquet",
                 "SELECT encode(lpad(i::VARCHAR, 6, '0')) AS b, (i % 3)::VARCHAR AS x FROM range(6000) r(i)");
    hand_commit(s, "t", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
    assert_int_equal(SILT_OK, session_try(s, "EXPLAIN SELECT x FROM t WHERE b = '005000'::BLOB"));
    assert_null(strstr(sl_buf_cstr(&s->out), "||"));
    session_expect_rows(s, "SELECT x FROM t WHERE b = '005000'::BLOB", "2\n");
}

static void tables_with_bytes_are_written_without_bloom_filters(void **state)
{
    static const struct {
        const char *columns;
        const char *row;
        const char *expected;
    } cases[] = {
        {"b BINARY, x STRING", "'a'::BLOB, 'x'", "0\n"},
        {"s STRUCT<b: BINARY>, x STRING", "{'b': 'a'::BLOB}, 'x'", "0\n"},
        {"l ARRAY<INT>, x STRING", "[1], 'x'", "1\n"},
    };
    struct session_fixture *s = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hand_remove(s, "w");
        session_expect_done(s, session_format(s, "CREATE TABLE w (%s) USING delta", cases[i].columns));
        session_expect_done(s, session_format(s, "INSERT INTO w SELECT %s FROM range(5000)", cases[i].row));
        session_expect_rows(s,
                            session_with_dir(s, "SELECT least(count(bloom_filter_offset), 1) "
                                                "FROM parquet_metadata('%D/w/*.parquet')"),
                            cases[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(nan_is_found_above_a_maximum_that_leaves_it_out),
        SESSION_TEST(nan_in_a_struct_is_found),
        SESSION_TEST(zero_is_found_whatever_its_sign),
        SESSION_TEST(text_is_found_beside_bounds_of_signed_bytes),
        SESSION_TEST(bytes_are_found_beside_a_bloom_filter),
        SESSION_TEST(filters_of_other_columns_do_not_hide_bytes),
        SESSION_TEST(tables_with_bytes_are_written_without_bloom_filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
