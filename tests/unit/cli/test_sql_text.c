/* Composing SQL: quoting, lists of names, telling one statement from several. */
#include "cli/sql_text.h"

#include "test_env.h"

static void names_and_texts_double_their_quotes(void **state)
{
    struct test_env test;
    struct sl_buf buf;
    (void)state;
    test_env_init(&test);
    sl_buf_init(&buf, &test.env);
    sl_sql_put_name(&buf, SL_STR("a`b\"c"));
    sl_buf_put_char(&buf, ' ');
    sl_sql_put_string(&buf, SL_STR("it's"));
    assert_string_equal(sl_buf_cstr(&buf), "`a``b\"c` 'it''s'");
    sl_buf_release(&buf);
    test_env_check(&test);
}

static void lists_of_names_are_quoted_one_by_one(void **state)
{
    struct test_env test;
    struct sl_buf buf;
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    test_env_init(&test);
    sl_buf_init(&buf, &test.env);
    assert_int_equal(sl_sql_put_names(&buf, "columns", "a, b c ,d", &err), SILT_OK);
    assert_string_equal(sl_buf_cstr(&buf), "`a`, `b c`, `d`");
    assert_int_equal(sl_sql_put_names(&buf, "columns", "a,,b", &err), SILT_EINVALID);
    assert_string_equal(err.message, "--columns has an empty name in it: a,,b");
    assert_int_equal(sl_sql_put_names(&buf, "columns", "", &err), SILT_EINVALID);
    sl_buf_release(&buf);
    test_env_check(&test);
}

static void one_statement_is_told_from_several(void **state)
{
    static const struct {
        const char *text;
        const char *single; /* NULL: not one */
    } cases[] = {
        {"SELECT 1", "SELECT 1"},
        {"  SELECT 1 ;\n", "SELECT 1"},
        {"SELECT ';' ; -- done; really", "SELECT ';'"},
        {"SELECT 1 -- a; b", "SELECT 1 -- a; b"},
        {"/* ; */ SELECT 1", "/* ; */ SELECT 1"},
        {"SELECT \"a;b\", `c;d`, $$e;f$$", "SELECT \"a;b\", `c;d`, $$e;f$$"},
        {"SELECT 1; SELECT 2", NULL},
        {"SELECT (1; SELECT 2)", NULL},
        {"", NULL},
        {" ; -- nothing", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sl_str single;
        const silt_status status = sl_sql_single(sl_str_from(cases[i].text), &single, NULL);
        if (cases[i].single == NULL) {
            assert_int_equal(status, SILT_EINVALID);
        } else {
            assert_int_equal(status, SILT_OK);
            assert_true(sl_str_eq_c(single, cases[i].single));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_texts_double_their_quotes),
        cmocka_unit_test(lists_of_names_are_quoted_one_by_one),
        cmocka_unit_test(one_statement_is_told_from_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
