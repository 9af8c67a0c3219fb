/* Conditions of a parse tree as kernel predicates: what is taken, and what is left alone because it could mean something else. */
#include "sql/predicate.h"

#include "expr/expr.h"
#include "test_env.h"

#define COLUMN(name) "{\"class\":\"COLUMN_REF\",\"column_names\":[" name "]}"
#define CONST(id, value) \
    "{\"class\":\"CONSTANT\",\"value\":{\"type\":{\"id\":\"" id "\"},\"is_null\":false,\"value\":" value "}}"
#define DEC(value, width, scale)                                                                      \
    "{\"class\":\"CONSTANT\",\"value\":{\"type\":{\"id\":\"DECIMAL\",\"type_info\":{\"width\":" width \
    ",\"scale\":" scale "}},\"value\":" value "}}"
#define CAST(child, id) "{\"class\":\"CAST\",\"child\":" child ",\"cast_type\":{\"id\":\"" id "\"}}"
#define COMPARE(type, left, right) \
    "{\"class\":\"COMPARISON\",\"type\":\"COMPARE_" type "\",\"left\":" left ",\"right\":" right "}"

static const char *const schema_json =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"i\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ts\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"ntz\",\"type\":\"timestamp_ntz\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"f\",\"type\":\"float\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"g\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"b\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"dec\",\"type\":\"decimal(10,2)\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,"
    "\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}";

/* What the data plane is asked, and what it answers; it has no value for anything else. */
struct answer {
    const char *expr;
    silt_value value;
};

struct asked {
    const struct answer *answers;
    size_t n;
    size_t n_asked;
};

static silt_status answer(void *ctx, struct sl_str expr, struct sl_arena *arena, silt_value *out, bool *known,
                          silt_error *err)
{
    struct asked *asked = ctx;
    (void)err;
    asked->n_asked++;
    *known = false;
    for (size_t i = 0; i < asked->n && !*known; i++) {
        if (sl_str_eq_c(expr, asked->answers[i].expr)) {
            *known = sl_value_copy(arena, &asked->answers[i].value, out);
        }
    }
    if (!*known) {
        print_message("asked: %.*s\n", SL_FMT(expr));
    }
    return SILT_OK;
}

enum {
    ONLY_ITEM = 1,
    BARE_NAMES = 2,
    UTC = 4,
    MACROS = 8
};

/* expected NULL: no predicate. asked NULL: there is nobody to ask. */
static void expect_asked(const char *json, int flags, struct asked *asked, const char *expected)
{
    struct test_env t;
    silt_schema *schema = NULL;
    struct sl_json_doc *doc = NULL;
    silt_expr *expr = NULL;
    silt_expr *resolved = NULL;
    silt_error err = SILT_ERROR_INIT;
    const struct sl_table_ref ref = {
        .table = SL_STR("t"), .only_item = (flags & ONLY_ITEM) != 0, .bare_names = (flags & BARE_NAMES) != 0};
    struct sl_predicate_source source = {.env = &t.env,
                                         .ref = &ref,
                                         .utc = (flags & UTC) != 0,
                                         .may_call = (flags & MACROS) == 0,
                                         .ask = asked != NULL ? answer : NULL,
                                         .ask_ctx = asked,
                                         .asks_left = 4};

    test_env_init(&t);
    assert_int_equal(silt_schema_from_json(&t.env, schema_json, strlen(schema_json), &schema, &err), SILT_OK);
    assert_int_equal(sl_json_parse(&t.env, sl_str_from(json), &doc, &err), SILT_OK);
    source.schema = schema;
    assert_int_equal(sl_predicate_from_conjunct(&source, sl_json_root(doc), &expr, &err), SILT_OK);
    if (expected == NULL) {
        if (expr != NULL) {
            fail_msg("%s became %s", json, silt_expr_text(expr));
        }
    } else {
        assert_non_null(expr);
        assert_int_equal(sl_expr_resolve(expr, schema, &resolved, &err), SILT_OK); /* as the scan does */
        assert_string_equal(silt_expr_text(resolved), expected);
    }
    silt_expr_unref(resolved);
    silt_expr_unref(expr);
    sl_json_free(doc);
    silt_schema_unref(schema);
    test_env_check(&t);
}

static void expect(const char *json, bool only_item, bool utc, const char *expected)
{
    expect_asked(json, (only_item ? ONLY_ITEM : 0) | (utc ? UTC : 0), NULL, expected);
}

static void comparisons_are_taken_either_way_round(void **state)
{
    (void)state;
    expect(COMPARE("GREATERTHAN", COLUMN("\"i\""), CONST("INTEGER", "5")), true, true, "i > 5");
    expect(COMPARE("GREATERTHAN", CONST("INTEGER", "5"), COLUMN("\"i\"")), true, true, "i < 5");
    expect(COMPARE("NOT_DISTINCT_FROM", COLUMN("\"I\""), CONST("INTEGER", "5")), true, true, "i <=> 5");
    expect(COMPARE("EQUAL", COLUMN("\"t\",\"s\""), CONST("VARCHAR", "\"it's\"")), false, true, "s = 'it\\'s'");
    expect(COMPARE("EQUAL", COLUMN("\"st\",\"x\""), CONST("BIGINT", "7")), true, true, "st.x = 7L");
}

static void a_column_that_may_be_anothers_is_left_alone(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "5")), false, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"u\",\"i\""), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"nope\""), CONST("INTEGER", "5")), true, true, NULL);
}

static void texts_and_numbers_are_not_mixed(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", COLUMN("\"s\""), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("VARCHAR", "\"5\"")), true, true, NULL); /* nobody to ask */
    expect(COMPARE("EQUAL", COLUMN("\"b\""), CONST("INTEGER", "1")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"st\""), CONST("INTEGER", "1")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"d\""), CONST("INTEGER", "1")), true, true, NULL);
}

static void columns_are_cast_as_the_data_plane_casts_them(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", COLUMN("\"i\""), CONST("DOUBLE", "5.5")), true, true, "CAST(i AS DOUBLE) = 5.5D");
    expect(COMPARE("EQUAL", COLUMN("\"i\""), COLUMN("\"f\"")), true, true, "CAST(i AS FLOAT) = f");
    expect(COMPARE("EQUAL", COLUMN("\"f\""), CONST("DOUBLE", "0.5")), true, true, "f = 0.5D");
    expect(COMPARE("EQUAL", COLUMN("\"dec\""), CONST("DOUBLE", "0.5")), true, true, "dec = 0.5D");
    expect(COMPARE("LESSTHAN", COLUMN("\"d\""), CAST(CONST("VARCHAR", "\"2020-01-02 00:00:00\""), "TIMESTAMP")), true,
           false, "CAST(d AS TIMESTAMP_NTZ) < TIMESTAMP_NTZ '2020-01-02 00:00:00'");
}

static void numbers_that_are_exact_are_taken(void **state)
{
    (void)state;
    expect(COMPARE("LESSTHAN", COLUMN("\"dec\""), DEC("1234", "4", "2")), true, true, "dec < 12.34BD");
    expect(COMPARE("LESSTHAN", COLUMN("\"i\""), DEC("15", "2", "1")), true, true, "i < 1.5BD");
    expect(COMPARE("LESSTHAN", COLUMN("\"f\""), CONST("INTEGER", "3")), true, true, "f < 3.0D");
    expect(COMPARE("LESSTHAN", COLUMN("\"g\""), DEC("11", "2", "1")), true, true, "g < 1.1D");
    expect(COMPARE("LESSTHAN", COLUMN("\"i\""), CONST("HUGEINT", "{\"upper\":0,\"lower\":9223372036854775808}")), true,
           true, "i < 9223372036854775808BD");
    expect(COMPARE("EQUAL", COLUMN("\"b\""), CAST(CONST("VARCHAR", "\"t\""), "BOOLEAN")), true, true, "b = true");
}

static void what_rounds_is_asked_for(void **state)
{
    (void)state;
    const struct answer answers[] = {
        {"CAST((1.1) AS FLOAT)", {.kind = SILT_TYPE_FLOAT, .as.f64 = 0.5}},
        {"CAST(CAST('5' AS INTEGER) AS VARCHAR)", {.kind = SILT_TYPE_STRING, .as.bytes = {.ptr = "7", .len = 1}}},
        {"CAST('soon' AS DATE)", {.kind = SILT_TYPE_DATE, .as.i64 = 2147483647}},
    };
    struct asked asked = {answers, sizeof(answers) / sizeof(answers[0]), 0};
    expect_asked(COMPARE("EQUAL", COLUMN("\"f\""), DEC("11", "2", "1")), ONLY_ITEM, &asked, "f = 0.5D");
    expect_asked(COMPARE("EQUAL", COLUMN("\"i\""), CONST("VARCHAR", "\"5\"")), ONLY_ITEM, &asked, "i = 7");
    expect_asked(COMPARE("EQUAL", COLUMN("\"d\""), CONST("VARCHAR", "\"soon\"")), ONLY_ITEM, &asked, NULL);
    assert_int_equal(asked.n_asked, 3);
    /* Beside two exact types the text would take a type that is neither. */
    expect_asked("{\"class\":\"OPERATOR\",\"type\":\"COMPARE_IN\",\"children\":[" COLUMN("\"i\"") "," CONST(
                     "VARCHAR", "\"5\"") "," DEC("15", "2", "1") "]}",
                 ONLY_ITEM, &asked, NULL);
    assert_int_equal(asked.n_asked, 3);
}

#define CALL(name, args) "{\"class\":\"FUNCTION\",\"function_name\":\"" name "\",\"children\":[" args "]}"
#define DAY(text) CAST(CONST("VARCHAR", "\"" text "\""), "DATE")

static void constant_expressions_are_asked_for(void **state)
{
    (void)state;
    const char *next = COMPARE("LESSTHAN", COLUMN("\"d\""), CALL("+", DAY("2020-01-01") "," CONST("INTEGER", "1")));
    const char *clock = COMPARE("LESSTHAN", COLUMN("\"d\""), CALL("+", CALL("now", "") "," CONST("INTEGER", "1")));
    const struct answer answers[] = {
        {"typeof(\"+\"(CAST('2020-01-01' AS DATE), (1)))",
         {.kind = SILT_TYPE_STRING, .as.bytes = {.ptr = "DATE", .len = 4}}},
        {"CAST(\"+\"(CAST('2020-01-01' AS DATE), (1)) AS DATE)", {.kind = SILT_TYPE_DATE, .as.i64 = 18263}},
    };
    struct asked asked = {answers, 2, 0};
    expect_asked(next, ONLY_ITEM, &asked, "d < DATE '2020-01-02'");
    assert_int_equal(asked.n_asked, 2);
    expect_asked(clock, ONLY_ITEM, &asked, NULL);
    expect_asked(next, ONLY_ITEM | MACROS, &asked, NULL);
    expect_asked(next, 0, &asked, NULL); /* no column of this table: no question */
    assert_int_equal(asked.n_asked, 2);
}

static void times_depend_on_the_zone(void **state)
{
    (void)state;
    const char *ts = COMPARE("EQUAL", COLUMN("\"ts\""), CONST("VARCHAR", "\"2020-01-02 03:04:05\""));
    const char *day = COMPARE("EQUAL", COLUMN("\"d\""),
                              CAST(CAST(CONST("VARCHAR", "\"2020-01-02\""), "TIMESTAMP"), "TIMESTAMP WITH TIME ZONE"));
    expect(COMPARE("EQUAL", COLUMN("\"d\""), DAY("2020-01-02")), true, true, "d = DATE '2020-01-02'");
    expect(ts, true, true, "ts = TIMESTAMP '2020-01-02 03:04:05Z'");
    expect(ts, true, false, NULL);
    expect(day, true, false, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"ntz\""), CONST("VARCHAR", "\"2020-01-02 03:04:05Z\"")), true, true, NULL);
    expect(COMPARE("EQUAL", COLUMN("\"d\""), CONST("VARCHAR", "\"soon\"")), true, true, NULL);
}

static void casts_and_sums_of_columns_are_taken(void **state)
{
    (void)state;
    expect(COMPARE("EQUAL", CAST(COLUMN("\"i\""), "BIGINT"), CONST("INTEGER", "5")), true, true,
           "CAST(i AS BIGINT) = 5L");
    expect(COMPARE("EQUAL", CAST(COLUMN("\"s\""), "INTEGER"), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", CAST(COLUMN("\"g\""), "INTEGER"), CONST("INTEGER", "5")), true, true, NULL);
    expect(COMPARE("EQUAL", CAST(COLUMN("\"ntz\""), "DATE"), DAY("2020-01-01")), true, true,
           "CAST(ntz AS DATE) = DATE '2020-01-01'");
    expect(COMPARE("GREATERTHAN", CALL("-", COLUMN("\"i\"") "," CONST("INTEGER", "5")), CONST("INTEGER", "1")), true,
           true, "(i - 5L) > 1L");
    expect(COMPARE("GREATERTHAN", CALL("-", COLUMN("\"i\"")), CONST("INTEGER", "1")), true, true, "(0L - i) > 1L");
    expect(COMPARE("GREATERTHAN", CALL("+", COLUMN("\"i\"") "," DEC("15", "2", "1")), CONST("INTEGER", "1")), true,
           true, NULL);
    expect(COMPARE("GREATERTHAN", CALL("*", COLUMN("\"i\"") "," CONST("INTEGER", "5")), CONST("INTEGER", "1")), true,
           true, NULL);
}

static void fields_of_structs_are_found_by_every_spelling(void **state)
{
    (void)state;
#define FIELD_OF(class, type, extra)                                                                    \
    COMPARE("EQUAL",                                                                                    \
            "{\"class\":\"" class "\",\"type\":\"" type "\"," extra                                     \
                                  "\"children\":[" COLUMN("\"st\"") "," CONST("VARCHAR", "\"X\"") "]}", \
            CONST("INTEGER", "1"))
    expect(FIELD_OF("OPERATOR", "ARRAY_EXTRACT", ""), true, true, "st.x = 1L");
    expect(FIELD_OF("OPERATOR", "STRUCT_EXTRACT", ""), true, true, "st.x = 1L");
    expect(FIELD_OF("FUNCTION", "FUNCTION", "\"function_name\":\"struct_extract\","), true, true, "st.x = 1L");
    expect(COMPARE("EQUAL", COLUMN("\"t\",\"st\",\"x\""), CONST("INTEGER", "1")), false, true, "st.x = 1L");
}

static void a_name_alone_is_ours_where_no_other_can_have_it(void **state)
{
    (void)state;
    expect_asked(COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "5")), BARE_NAMES, NULL, "i = 5");
    expect_asked(COMPARE("EQUAL", COLUMN("\"st\",\"x\""), CONST("INTEGER", "5")), BARE_NAMES, NULL, NULL);
}

#define NOT(a) "{\"class\":\"OPERATOR\",\"type\":\"OPERATOR_NOT\",\"children\":[" a "]}"

static void truths_stand_for_themselves(void **state)
{
    (void)state;
    expect(COLUMN("\"b\""), true, true, "b");
    expect(NOT(COLUMN("\"b\"")), true, true, "NOT b");
    expect(COLUMN("\"i\""), true, true, NULL);
    expect(CAST(CONST("VARCHAR", "\"f\""), "BOOLEAN"), true, true, "false");
    expect(CAST(CONST("VARCHAR", "\"t\""), "BOOLEAN"), true, true, NULL); /* says nothing */
    expect(COMPARE("DISTINCT_FROM", CAST(COLUMN("\"b\""), "BOOLEAN"), CONST("BOOLEAN", "true")), true, true,
           "NOT (b <=> true)");
    expect(COMPARE("EQUAL", COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "1")), COLUMN("\"b\"")), true, true,
           "(i = 1) = b");
}

static void lists_ranges_and_null_tests_are_taken(void **state)
{
    (void)state;
    expect("{\"class\":\"OPERATOR\",\"type\":\"COMPARE_IN\",\"children\":[" COLUMN("\"i\"") "," CONST(
               "INTEGER", "1") "," CONST("INTEGER", "2") "]}",
           true, true, "i IN (1, 2)");
    expect("{\"class\":\"BETWEEN\",\"input\":" COLUMN("\"i\"") ",\"lower\":" CONST("INTEGER", "1") ",\"upper\":" CONST(
               "INTEGER", "2") "}",
           true, true, "i BETWEEN 1 AND 2");
    expect("{\"class\":\"OPERATOR\",\"type\":\"OPERATOR_IS_NULL\",\"children\":[" COLUMN("\"i\"") "]}", true, true,
           "i IS NULL");
}

#define JUNCTION(type, a, b) "{\"class\":\"CONJUNCTION\",\"type\":\"CONJUNCTION_" type "\",\"children\":[" a "," b "]}"
#define ONE COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "1"))
#define TWO COMPARE("EQUAL", COLUMN("\"i\""), CONST("INTEGER", "2"))
#define STRANGE CALL("random", "")

static void parts_are_left_out_where_that_keeps_more_rows(void **state)
{
    (void)state;
    expect(JUNCTION("OR", ONE, TWO), true, true, "(i = 1) OR (i = 2)");
    expect(JUNCTION("OR", ONE, STRANGE), true, true, NULL);
    expect(JUNCTION("AND", ONE, STRANGE), true, true, "i = 1");
    expect(JUNCTION("OR", JUNCTION("AND", ONE, STRANGE), JUNCTION("AND", STRANGE, TWO)), true, true,
           "(i = 1) OR (i = 2)");
    expect(NOT(JUNCTION("OR", ONE, STRANGE)), true, true, "NOT (i = 1)");
    expect(NOT(JUNCTION("AND", ONE, STRANGE)), true, true, NULL);
    expect(NOT(NOT(JUNCTION("AND", ONE, STRANGE))), true, true, "NOT (NOT (i = 1))");
    /* A value of its own has to be right in all of its outcomes. */
    expect(COMPARE("EQUAL", JUNCTION("AND", ONE, STRANGE), COLUMN("\"b\"")), true, true, NULL);
}

static void only_a_named_character_escapes_in_a_pattern(void **state)
{
    (void)state;
    expect(CALL("~~", COLUMN("\"s\"") "," CONST("VARCHAR", "\"ab%\"")), true, true, "s LIKE 'ab%'");
    expect(CALL("!~~", COLUMN("\"s\"") "," CONST("VARCHAR", "\"ab%\"")), true, true, "NOT (s LIKE 'ab%')");
    expect(CALL("~~", COLUMN("\"s\"") "," CONST("VARCHAR", "\"a\\\\%\"")), true, true, "s LIKE 'a\\\\\\\\%'");
    expect(CALL("like_escape", COLUMN("\"s\"") "," CONST("VARCHAR", "\"a!%!b%\"") "," CONST("VARCHAR", "\"!\"")), true,
           true, "s LIKE 'a\\\\%b%'");
    expect(CALL("like_escape", COLUMN("\"s\"") "," CONST("VARCHAR", "\"a!\"") "," CONST("VARCHAR", "\"!\"")), true,
           true, NULL);
    expect(CALL("starts_with", COLUMN("\"s\"") "," CONST("VARCHAR", "\"a%\"")), true, true, "s LIKE 'a\\\\%%'");
    expect(CALL("^@", COLUMN("\"i\"") "," CONST("VARCHAR", "\"a\"")), true, true, NULL);
}

static void conditions_without_end_are_left_alone(void **state)
{
    (void)state;
    struct sl_buf json;
    sl_buf_init(&json, silt_env_default());
    for (int i = 0; i < 200; i++) {
        sl_buf_put_c(&json, "{\"class\":\"OPERATOR\",\"type\":\"OPERATOR_NOT\",\"children\":[");
    }
    sl_buf_put_c(&json, ONE);
    for (int i = 0; i < 200; i++) {
        sl_buf_put_c(&json, "]}");
    }
    expect(sl_buf_cstr(&json), true, true, NULL);
    sl_buf_release(&json);
}

/* One try with the n-th allocation failing; true when it was not reached. */
static bool succeeds_without(size_t n, const char *json)
{
    struct test_env t;
    silt_schema *schema = NULL;
    struct sl_json_doc *doc = NULL;
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    const struct sl_table_ref ref = {.table = SL_STR("t"), .only_item = true};
    test_env_init(&t);
    struct sl_predicate_source source = {.env = &t.env, .ref = &ref, .utc = true, .may_call = true};
    assert_int_equal(silt_schema_from_json(&t.env, schema_json, strlen(schema_json), &schema, &err), SILT_OK);
    assert_int_equal(sl_json_parse(&t.env, sl_str_from(json), &doc, &err), SILT_OK);
    source.schema = schema;
    test_env_fail_at(&t, n);
    const silt_status status = sl_predicate_from_conjunct(&source, sl_json_root(doc), &expr, &err);
    assert_true(status == SILT_OK || (status == SILT_ENOMEM && expr == NULL));
    const bool good = status == SILT_OK && expr != NULL;
    silt_expr_unref(expr);
    sl_json_free(doc);
    silt_schema_unref(schema);
    test_env_check(&t);
    return good;
}

static void a_failed_allocation_is_reported_or_prunes_less(void **state)
{
    (void)state;
    const char *json = JUNCTION("OR", JUNCTION("AND", ONE, STRANGE),
                                CALL("starts_with", COLUMN("\"s\"") "," CONST("VARCHAR", "\"a%\"")));
    for (size_t n = 1; n < 100; n++) {
        if (succeeds_without(n, json)) {
            assert_true(n > 1);
            return;
        }
    }
    fail_msg("it never succeeds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_are_taken_either_way_round),
        cmocka_unit_test(a_column_that_may_be_anothers_is_left_alone),
        cmocka_unit_test(a_name_alone_is_ours_where_no_other_can_have_it),
        cmocka_unit_test(texts_and_numbers_are_not_mixed),
        cmocka_unit_test(columns_are_cast_as_the_data_plane_casts_them),
        cmocka_unit_test(numbers_that_are_exact_are_taken),
        cmocka_unit_test(what_rounds_is_asked_for),
        cmocka_unit_test(constant_expressions_are_asked_for),
        cmocka_unit_test(times_depend_on_the_zone),
        cmocka_unit_test(casts_and_sums_of_columns_are_taken),
        cmocka_unit_test(fields_of_structs_are_found_by_every_spelling),
        cmocka_unit_test(truths_stand_for_themselves),
        cmocka_unit_test(lists_ranges_and_null_tests_are_taken),
        cmocka_unit_test(parts_are_left_out_where_that_keeps_more_rows),
        cmocka_unit_test(only_a_named_character_escapes_in_a_pattern),
        cmocka_unit_test(conditions_without_end_are_left_alone),
        cmocka_unit_test(a_failed_allocation_is_reported_or_prunes_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
