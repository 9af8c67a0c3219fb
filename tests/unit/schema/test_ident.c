/* Quoting of identifiers. */
#include "model_fixture.h"

#include "schema/ident.h"

static void only_names_that_need_it_are_quoted(void **state)
{
    struct model *m = *state;
    static const char *const cases[][2] = {
        {"id", "id"},         {"_x1", "_x1"},   {"date", "date"},  {"1a", "`1a`"},
        {"a b", "`a b`"},     {"a.b", "`a.b`"}, {"a`b", "`a``b`"}, {"Select", "`Select`"},
        {"größe", "`größe`"}, {"", "``"},       {"x", "x"},        {"null", "`null`"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_buf out = model_buf(m);
        sl_ident_print(&out, sl_str_from(cases[i][0]));
        assert_string_equal(model_text(m, &out), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(only_names_that_need_it_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
