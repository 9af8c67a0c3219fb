/* The SQL lexer: tokens, quotes, comments, and statements cut out of a text. */
#include "sql/lexer.h"

#include "silt/session.h"
#include "test_env.h"

/* Kinds of all tokens of a text as letters: W word, B backtick, D double quote, S string, N number, P parameter, O operator, X bad. */
static void expect_kinds(const char *text, const char *kinds)
{
    static const char letters[] = "EWBDSNPOX";
    struct sl_lexer lexer = {.text = sl_str_from(text)};
    char seen[64] = {0};
    for (size_t i = 0; i + 1 < sizeof(seen); i++) {
        const struct sl_token token = sl_lex(&lexer);
        if (token.kind == SL_TOK_END) {
            break;
        }
        seen[i] = letters[token.kind];
    }
    assert_string_equal(seen, kinds);
}

static void each_kind_of_token_is_told_apart(void **state)
{
    (void)state;
    expect_kinds("select `a b`, \"c\" from t where x = 'it''s' and y >= $1 or z <=> ?", "WBODWWWWOSWWOPWWOP");
    expect_kinds("1 1.5 .5 5. 1e5 1E-3 1_000 0x", "NNNNNNNNW");
    expect_kinds("a.b::INT -> b => 1", "WOWOWOWON");
    expect_kinds("E'a\\'b' 'a\\'", "SS");
    expect_kinds("$$it's$$ $tag$ $$ $tag$ $name", "SSP");
    expect_kinds("", "");
    expect_kinds("t@v3", "WOW");
    expect_kinds("\xC3\xA9t\xC3\xA9 = 1", "WON");
}

static void comments_are_skipped_and_nest(void **state)
{
    (void)state;
    expect_kinds("a -- b c 'd\n e /* f /* g */ h */ i", "WWW");
    expect_kinds("a /* never closed", "W");
    expect_kinds("a - - b", "WOOW");
}

static void an_open_quote_is_bad_to_the_end(void **state)
{
    (void)state;
    expect_kinds("a 'b c", "WX");
    expect_kinds("a `b", "WX");
    expect_kinds("a $$b", "WX");
    struct sl_lexer lexer = {.text = SL_STR("'x")};
    const struct sl_token bad = sl_lex(&lexer);
    assert_int_equal(bad.end, 2);
    assert_int_equal(sl_lex(&lexer).kind, SL_TOK_END);
    assert_int_equal(sl_lex(&lexer).kind, SL_TOK_END);
}

static void statements_are_cut_at_semicolons_outside_of_quotes(void **state)
{
    (void)state;
    const struct sl_str text = SL_STR(" ; select ';' ; -- x;\n\n insert /* ; */ into t ;; ");
    size_t pos = 0;
    size_t begin = 0;
    size_t end = 0;
    assert_true(sl_sql_split(text, &pos, &begin, &end));
    assert_true(sl_str_eq_c(sl_str_sub(text, begin, end), "select ';'"));
    assert_true(sl_sql_split(text, &pos, &begin, &end));
    assert_true(sl_str_eq_c(sl_str_sub(text, begin, end), "insert /* ; */ into t"));
    assert_false(sl_sql_split(text, &pos, &begin, &end));
    assert_false(sl_sql_split(text, &pos, &begin, &end));
}

static bool complete(const char *text)
{
    return silt_sql_is_complete(text, strlen(text));
}

static void a_text_is_complete_behind_its_semicolon(void **state)
{
    (void)state;
    assert_true(complete(""));
    assert_true(complete("  -- only a comment"));
    assert_true(complete("select 1;"));
    assert_true(complete("select 1; -- done"));
    assert_false(complete("select 1"));
    assert_false(complete("select ';"));
    assert_false(complete("select 1; select"));
    assert_false(complete("/* open"));
    assert_false(complete("select `a;"));
}

static struct sl_str content(struct sl_arena *arena, const char *text, bool as_name)
{
    struct sl_lexer lexer = {.text = sl_str_from(text)};
    const struct sl_token token = sl_lex(&lexer);
    return as_name ? sl_token_name(arena, &token) : sl_token_string(arena, &token);
}

static void quotes_are_taken_off(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arena arena;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    assert_true(sl_str_eq_c(content(&arena, "`a``b`", true), "a`b"));
    assert_true(sl_str_eq_c(content(&arena, "\"a\"\"b\"", true), "a\"b"));
    assert_true(sl_str_eq_c(content(&arena, "plain", true), "plain"));
    assert_true(sl_str_eq_c(content(&arena, "'it''s'", false), "it's"));
    assert_true(sl_str_eq_c(content(&arena, "'a\\nb\\u0041\\%'", false), "a\nbA\\%"));
    assert_true(sl_str_eq_c(content(&arena, "E'a\\'b'", false), "a'b"));
    assert_true(sl_str_eq_c(content(&arena, "$q$it's$q$", false), "it's"));
    assert_true(sl_str_eq_c(content(&arena, "''", false), ""));
    sl_arena_release(&arena);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_token_is_told_apart),
        cmocka_unit_test(comments_are_skipped_and_nest),
        cmocka_unit_test(an_open_quote_is_bad_to_the_end),
        cmocka_unit_test(statements_are_cut_at_semicolons_outside_of_quotes),
        cmocka_unit_test(a_text_is_complete_behind_its_semicolon),
        cmocka_unit_test(quotes_are_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
