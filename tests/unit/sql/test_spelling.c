/* Spark's spellings made DuckDB's, time travel taken out, and the way back to the user's offsets. */
#include "sql/spelling.h"

#include "test_env.h"

struct spell_test {
    struct test_env t;
    struct sl_spelled spelled;
};

static void spell(struct spell_test *s, const char *text)
{
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&s->t);
    sl_spelled_init(&s->spelled, &s->t.env);
    assert_int_equal(sl_spell(sl_str_from(text), &s->spelled, &err), SILT_OK);
}

static void spell_end(struct spell_test *s)
{
    sl_spelled_release(&s->spelled);
    test_env_check(&s->t);
}

static void expect_spelled(const char *text, const char *expected)
{
    struct spell_test s;
    spell(&s, text);
    assert_string_equal(sl_buf_cstr(&s.spelled.text), expected);
    spell_end(&s);
}

static void names_and_operators_take_duckdbs_form(void **state)
{
    (void)state;
    expect_spelled("select `a\"b` from delta.`/p x`", "select \"a\"\"b\" from delta.\"/p x\"");
    expect_spelled("select `a``b`", "select \"a`b\"");
    expect_spelled("from delta.'/p'", "from delta.\"/p\"");
    expect_spelled("select a <=> b", "select a  IS NOT DISTINCT FROM  b");
    expect_spelled("select '`x` <=> y' -- `z`\n, 1", "select '`x` <=> y' -- `z`\n, 1");
}

static void stars_leave_columns_out(void **state)
{
    (void)state;
    expect_spelled("select * except (a), t.* EXCEPT(`b`, c) from t",
                   "select * EXCLUDE (a), t.* EXCLUDE(\"b\", c) from t");
    expect_spelled("select a from t except (select a from u)", "select a from t except (select a from u)");
    expect_spelled("select * from t except (select * from u)", "select * from t except (select * from u)");
}

static void binary_literals_are_binary(void **state)
{
    (void)state;
    expect_spelled("select X'41c3', x'', x'f', x 'f'",
                   "select CAST('\\x41\\xc3' AS BLOB), CAST('' AS BLOB), CAST('\\x0f' AS BLOB), x 'f'");
    struct test_env t;
    struct sl_spelled spelled;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&t);
    sl_spelled_init(&spelled, &t.env);
    assert_int_equal(sl_spell(SL_STR("select 1, X'4g'"), &spelled, &err), SILT_ESYNTAX);
    assert_int_equal(err.position, 10);
    sl_spelled_release(&spelled);
    test_env_check(&t);
}

static void a_column_called_at_is_a_name(void **state)
{
    (void)state;
    expect_spelled("select at, t.at from t where At < 3", "select \"at\", t.\"at\" from t where \"At\" < 3");
    expect_spelled("from t AT (VERSION => 3)", "from t AT (VERSION => 3)");
    expect_spelled("select at AT TIME ZONE 'UTC'", "select \"at\" AT TIME ZONE 'UTC'");
}

static void types_are_spelled_in_casts_only(void **state)
{
    (void)state;
    expect_spelled("select cast(a as byte), b::byte, (select 1 as byte), byte",
                   "select cast(a as TINYINT), b::TINYINT, (select 1 as byte), byte");
    expect_spelled("select try_cast((a) as timestamp_ntz)", "select try_cast((a) as TIMESTAMP)");
    expect_spelled("select current_timestamp(), current_date ( )", "select current_timestamp, current_date ");
}

static void a_table_in_place_of_a_query_becomes_one(void **state)
{
    (void)state;
    expect_spelled("summarize t", "summarize FROM t");
    expect_spelled("SUMMARIZE select 1", "SUMMARIZE select 1");
    expect_spelled("SUMMARIZE (from t)", "SUMMARIZE (from t)");
    expect_spelled("copy `a b`.t to 'x.csv' (header)", "copy (FROM \"a b\".t ) to 'x.csv' (header)");
    expect_spelled("COPY 't' TO 'x.csv'", "COPY (FROM 't' ) TO 'x.csv'");
    expect_spelled("COPY (from t) TO 'x.csv'", "COPY (from t) TO 'x.csv'");
    expect_spelled("COPY t (a) TO 'x.csv'", "COPY t (a) TO 'x.csv'");
    expect_spelled("COPY t FROM 'x.csv'", "COPY t FROM 'x.csv'");
    expect_spelled("COPY", "COPY");
    expect_spelled("COPY TO 'x'", "COPY TO 'x'");
}

static const struct sl_travel_note *only_note(const struct spell_test *s)
{
    assert_int_equal(s->spelled.travels.len, 1);
    return sl_vec_at(&s->spelled.travels, 0);
}

static void expect_travel(const char *text, const char *spelled, const char *table, const char *expr, bool is_version)
{
    struct spell_test s;
    spell(&s, text);
    assert_string_equal(sl_buf_cstr(&s.spelled.text), spelled);
    const struct sl_travel_note *note = only_note(&s);
    const struct sl_str rest = sl_str_sub(sl_buf_view(&s.spelled.text), note->table, s.spelled.text.len);
    assert_true(sl_str_starts_with(rest, sl_str_from(table)));
    assert_true(sl_str_eq_c(note->expr, expr));
    assert_int_equal(note->is_version, is_version);
    spell_end(&s);
}

static void time_travel_is_taken_out_and_tied_to_its_table(void **state)
{
    (void)state;
    expect_travel("from a, b.c version as of 3 x", "from a, b.c  x", "b.c", "3", true);
    expect_travel("copy t version as of 3 to 'x'", "copy (FROM t  ) to 'x'", "t", "3", true);
    expect_travel("from t FOR VERSION AS OF '3' where 1", "from t  where 1", "t", "'3'", true);
    expect_travel("from t for system_version as of $1", "from t ", "t", "$1", true);
    expect_travel("from `t` timestamp as of '2020-01-01' as u", "from \"t\"  as u", "\"t\"", "'2020-01-01'", false);
    expect_travel("from t timestamp as of date '2020-01-01' u", "from t  u", "t", "date '2020-01-01'", false);
    expect_travel("from t timestamp as of now() - interval 1 day u", "from t  u", "t", "now() - interval 1 day", false);
    expect_travel("from t timestamp as of now() - interval '1' day u", "from t  u", "t", "now() - interval '1' day",
                  false);
    expect_travel("from delta.`/p`@v12 u", "from delta.\"/p\" u", "delta", "v12", true);
    expect_travel("from t@20200131235959999", "from t", "t", "20200131235959999", false);
    expect_travel("from t version as of -1", "from t ", "t", "-1", true);
}

static void types_of_literals_are_spelled_too(void **state)
{
    (void)state;
    expect_spelled("select timestamp_ntz '2020-01-01' < a", "select TIMESTAMP '2020-01-01' < a");
    expect_spelled("select timestamp_ltz'2020-01-01'", "select TIMESTAMPTZ'2020-01-01'");
}

static void columns_called_like_the_clauses_stay(void **state)
{
    (void)state;
    expect_spelled("select version as of from t", "select version as of from t");
    expect_spelled("select a timestamp from t", "select a timestamp from t");
    expect_spelled("select x.timestamp_ntz 'title'", "select x.timestamp_ntz 'title'");
    expect_spelled("select a @v3", "select a @v3");
    expect_spelled("from t@x3", "from t@x3");
}

static void offsets_lead_back_to_the_source(void **state)
{
    (void)state;
    struct spell_test s;
    const char *text = "select `a`<=>b from t version as of 3 where xyz";
    spell(&s, text);
    const size_t spelled = sl_str_find(sl_buf_view(&s.spelled.text), SL_STR("xyz"));
    assert_int_equal(sl_offset_map_back(&s.spelled.map, spelled), (size_t)(strstr(text, "xyz") - text));
    assert_int_equal(sl_offset_map_back(&s.spelled.map, spelled + 2), (size_t)(strstr(text, "xyz") - text) + 2);
    const size_t distinct = sl_str_find(sl_buf_view(&s.spelled.text), SL_STR("DISTINCT"));
    assert_int_equal(sl_offset_map_back(&s.spelled.map, distinct), (size_t)(strstr(text, "<=>") - text));
    assert_int_equal(sl_offset_map_back(&s.spelled.map, 0), 0);
    spell_end(&s);
}

static void deep_brackets_are_harmless(void **state)
{
    (void)state;
    enum {
        DEPTH = 10000
    };
    struct spell_test s;
    static char text[2 * DEPTH + 1];
    memset(text, '(', DEPTH);
    memset(text + DEPTH, ')', DEPTH);
    spell(&s, text);
    assert_string_equal(sl_buf_cstr(&s.spelled.text), text);
    spell_end(&s);
}

static void question_marks_are_numbered_over_the_whole_statement(void **state)
{
    (void)state;
    struct spell_test s;
    expect_spelled("select ?, '?' /* ? */, ? from t", "select $1, '?' /* ? */, $2 from t");
    expect_spelled("select ?2, ?1, $3", "select $2, $1, $3");
    spell(&s, "select ? from t version as of ? where id = ?");
    assert_string_equal(sl_buf_cstr(&s.spelled.text), "select $1 from t  where id = $3");
    const struct sl_travel_note *note = sl_vec_at(&s.spelled.travels, 0);
    assert_true(sl_str_eq_c(note->expr, "?"));
    assert_int_equal(note->n_marks, 1); /* it is the second */
    spell_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_operators_take_duckdbs_form),
        cmocka_unit_test(binary_literals_are_binary),
        cmocka_unit_test(stars_leave_columns_out),
        cmocka_unit_test(a_column_called_at_is_a_name),
        cmocka_unit_test(a_table_in_place_of_a_query_becomes_one),
        cmocka_unit_test(types_are_spelled_in_casts_only),
        cmocka_unit_test(time_travel_is_taken_out_and_tied_to_its_table),
        cmocka_unit_test(types_of_literals_are_spelled_too),
        cmocka_unit_test(columns_called_like_the_clauses_stay),
        cmocka_unit_test(offsets_lead_back_to_the_source),
        cmocka_unit_test(question_marks_are_numbered_over_the_whole_statement),
        cmocka_unit_test(deep_brackets_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
