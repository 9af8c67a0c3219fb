/* Which columns of a parse tree are hidden from the data plane's push-down. */
#include "sql/hidden.h"

#include <string.h>

#include "test_env.h"

#define COLUMN(name) "{\"class\":\"COLUMN_REF\",\"type\":\"COLUMN_REF\",\"column_names\":[" name "]}"
#define ALIASED(name, alias) \
    "{\"class\":\"COLUMN_REF\",\"type\":\"COLUMN_REF\",\"alias\":\"" alias "\",\"column_names\":[" name "]}"
#define FIVE \
    "{\"class\":\"CONSTANT\",\"type\":\"VALUE_CONSTANT\",\"value\":{\"type\":{\"id\":\"INTEGER\"},\"value\":5}}"
#define YES \
    "{\"class\":\"CONSTANT\",\"type\":\"VALUE_CONSTANT\",\"value\":{\"type\":{\"id\":\"BOOLEAN\"},\"value\":true}}"
#define COMPARE(type, left, right) \
    "{\"class\":\"COMPARISON\",\"type\":\"COMPARE_" type "\",\"left\":" left ",\"right\":" right "}"
#define OR(a, b) "{\"class\":\"CONJUNCTION\",\"type\":\"CONJUNCTION_OR\",\"children\":[" a "," b "]}"
#define SELECT(list, where) "{\"type\":\"SELECT_NODE\",\"select_list\":[" list "],\"where_clause\":" where "}"
#define X_OR(condition) OR(COMPARE("EQUAL", COLUMN("\"x\""), FIVE), condition)
#define X_DISTINCT COMPARE("DISTINCT_FROM", COLUMN("\"x\""), FIVE)

static silt_status find(const silt_env *env, const char *json, char *names, size_t size, bool *all)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_json_doc *doc = NULL;
    struct sl_hidden hidden;
    size_t len = 0;
    sl_hidden_init(&hidden, env);
    names[0] = '\0';
    silt_status status = sl_json_parse(env, sl_str_from(json), &doc, &err);
    if (status == SILT_OK) {
        status = sl_hidden_find(sl_json_root(doc), &hidden, &err);
    }
    for (size_t i = 0; status == SILT_OK && i < hidden.names.len; i++) {
        const struct sl_str name = *(const struct sl_str *)sl_vec_at(&hidden.names, i);
        assert_true(len + name.len + 2 < size);
        memcpy(names + len, name.ptr, name.len);
        len += name.len;
        names[len++] = ' ';
        names[len] = '\0';
    }
    *all = hidden.all;
    sl_hidden_release(&hidden);
    sl_json_free(doc);
    return status;
}

static const struct {
    const char *json;
    const char *names;
    bool all;
} cases[] = {
    {SELECT("", X_OR(X_DISTINCT)), "x ", false},
    {SELECT("", X_OR(COMPARE("DISTINCT_FROM", FIVE, COLUMN("\"t\",\"x\"")))), "t x ", false},
    /* no OR */
    {SELECT("", X_DISTINCT), "", false},
    /* no constant */
    {SELECT("", X_OR(COMPARE("DISTINCT_FROM", COLUMN("\"x\""), COLUMN("\"y\"")))), "", false},
    /* a constant of the query's own */
    {SELECT(ALIASED("\"z\"", "y"), X_OR(COMPARE("DISTINCT_FROM", COLUMN("\"x\""), COLUMN("\"Y\"")))), "Y x z ", false},
    /* no negation, and one */
    {SELECT("", X_OR(COMPARE("NOT_DISTINCT_FROM", COLUMN("\"x\""), FIVE))), "", false},
    {SELECT(YES, X_OR(COMPARE("NOT_DISTINCT_FROM", COLUMN("\"x\""), FIVE))), "x ", false},
    /* aliases of aliases */
    {SELECT(ALIASED("\"b\"", "x") "," ALIASED("\"a\"", "b") "," ALIASED("\"c\"", "d"), X_OR(X_DISTINCT)), "x b a ",
     false},
    /* names that are not followed */
    {"[{\"type\":\"SET_OPERATION_NODE\"}," SELECT("", X_OR(X_DISTINCT)) "]", "x ", true},
    {"[{\"type\":\"BASE_TABLE\",\"column_name_alias\":[\"x\"]}," SELECT("", X_OR(X_DISTINCT)) "]", "x ", true},
    {"[{\"type\":\"SET_OPERATION_NODE\"}," SELECT("", X_DISTINCT) "]", "", false},
};

static void columns_of_wrong_comparisons_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_env t;
        char names[64];
        bool all = false;
        test_env_init(&t);
        assert_int_equal(find(&t.env, cases[i].json, names, sizeof(names), &all), SILT_OK);
        assert_string_equal(names, cases[i].names);
        assert_int_equal(all, cases[i].all);
        test_env_check(&t);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status != SILT_OK; n++) {
        struct test_env t;
        char names[64];
        bool all = false;
        test_env_init(&t);
        test_env_fail_at(&t, n);
        status = find(&t.env, cases[7].json, names, sizeof(names), &all);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        test_env_check(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_wrong_comparisons_are_found),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
