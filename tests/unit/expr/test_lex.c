/* Tokens of expressions. */
#include "model_fixture.h"

#include "expr/lex.h"

/* All tokens as "kind:text", separated by blanks. */
static const char *tokens(struct model *m, const char *text)
{
    static const char kinds[] = {'E', 'W', 'Q', 'S', 'N', 'O'};
    struct sl_lexer lexer;
    struct sl_buf out = model_buf(m);
    assert_int_equal(sl_lexer_init(&lexer, &m->arena, sl_str_from(text), &m->err), SILT_OK);
    while (lexer.token.kind != SL_TOKEN_END) {
        sl_buf_printf(&out, "%s%c:%.*s", out.len > 0 ? " " : "", kinds[lexer.token.kind], SL_FMT(lexer.token.text));
        assert_int_equal(sl_lexer_next(&lexer), SILT_OK);
    }
    return model_text(m, &out);
}

static void numbers_end_where_sparks_do(void **state)
{
    struct model *m = *state;
    assert_string_equal(tokens(m, "1 1.5 .5 5. 1e3 1.5E-3 7L 1.5BD 2f"),
                        "N:1 N:1.5 N:.5 N:5. N:1e3 N:1.5E-3 N:7L N:1.5BD N:2f");
    assert_string_equal(tokens(m, "1a 2020_x 1e e1"), "W:1a W:2020_x W:1e W:e1");
    assert_string_equal(tokens(m, "a.1 a .1 s.1e3.b"), "W:a O:. W:1 W:a N:.1 W:s O:. W:1e3 O:. W:b");
}

static void operators_are_taken_whole(void **state)
{
    struct model *m = *state;
    assert_string_equal(tokens(m, "<=><=<>!===::||"), "O:<=> O:<= O:<> O:!= O:== O::: O:||");
    assert_string_equal(tokens(m, "a<-1"), "W:a O:< O:- N:1");
}

static void strings_and_names_are_decoded(void **state)
{
    struct model *m = *state;
    assert_string_equal(tokens(m, "'a''b' \"a\"\"b\" 'a\\'b' `a``b` R'\\n' ''"), "S:a'b S:a\"b S:a'b Q:a`b S:\\n S:");
    assert_string_equal(tokens(m, "'\\101\\_\\%\\x'"), "S:A\\_\\%x");
}

static void positions_are_those_of_the_input(void **state)
{
    struct model *m = *state;
    struct sl_lexer lexer;
    struct sl_token next;
    assert_int_equal(sl_lexer_init(&lexer, &m->arena, SL_STR("  a = /* x */ 'b'"), &m->err), SILT_OK);
    assert_int_equal(lexer.token.begin, 2);
    assert_int_equal(sl_lexer_peek(&lexer, &next), SILT_OK);
    assert_int_equal(next.begin, 4);
    assert_true(sl_token_is_word(&lexer.token, "A"));
    assert_int_equal(sl_lexer_next(&lexer), SILT_OK);
    assert_true(sl_token_is_symbol(&lexer.token, "="));
    assert_int_equal(sl_lexer_next(&lexer), SILT_OK);
    assert_int_equal(lexer.token.begin, 14);
    assert_int_equal(lexer.token.end, 17);
    assert_int_equal(sl_lexer_seek(&lexer, 2), SILT_OK);
    assert_true(sl_token_is_word(&lexer.token, "a"));
}

static void a_nul_byte_is_refused_since_texts_end_there(void **state)
{
    struct model *m = *state;
    struct sl_lexer lexer;
    assert_int_equal(sl_lexer_init(&lexer, &m->arena, SL_STR("`a\0b` = 1"), &m->err), SILT_ESYNTAX);
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    struct model *m = *state;
    struct sl_lexer lexer;
    assert_int_equal(sl_lexer_init(&lexer, &m->arena, SL_STR("a = '\xff'"), &m->err), SILT_ESYNTAX);
}

/* Many strings in a long text must not each take memory for the rest of it. */
static void memory_grows_with_the_text_only(void **state)
{
    struct model *m = *state;
    struct sl_buf text = model_buf(m);
    for (int i = 0; i < 20000; i++) {
        sl_buf_put_c(&text, "'abc',");
    }
    struct sl_arena arena;
    struct sl_lexer lexer;
    sl_arena_init(&arena, &m->test.env);
    assert_int_equal(sl_lexer_init(&lexer, &arena, sl_buf_view(&text), &m->err), SILT_OK);
    while (lexer.token.kind != SL_TOKEN_END) {
        assert_int_equal(sl_lexer_next(&lexer), SILT_OK);
    }
    assert_true(arena.total_bytes < 40 * text.len);
    sl_arena_release(&arena);
    sl_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(numbers_end_where_sparks_do),      MODEL_TEST(operators_are_taken_whole),
        MODEL_TEST(strings_and_names_are_decoded),    MODEL_TEST(positions_are_those_of_the_input),
        MODEL_TEST(text_that_is_not_utf8_is_refused), MODEL_TEST(a_nul_byte_is_refused_since_texts_end_there),
        MODEL_TEST(memory_grows_with_the_text_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
