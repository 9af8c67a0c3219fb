/* Which conditions of a SELECT reach its tables: those of joins and groups; WHERE is in test_refs.c. */
#include "sql/conditions.h"

#include <stdio.h>

#include "test_env.h"

#define TABLE(name) "{\"type\":\"BASE_TABLE\",\"table_name\":\"" name "\"}"
#define COLUMN(name) "{\"class\":\"COLUMN_REF\",\"type\":\"COLUMN_REF\",\"column_names\":[" name "]}"
#define COND(left) "{\"class\":\"COMPARISON\",\"type\":\"COMPARE_EQUAL\",\"left\":" left "}"

struct found {
    const char *table;
    size_t n; /* conditions */
    bool bare_names;
};

/* The conditions of the tables, in whatever order they are found. */
static void expect(const char *select, const struct found *expected, size_t n)
{
    struct test_env t;
    struct sl_arena arena;
    struct sl_json_doc *doc = NULL;
    struct sl_vec out;
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    sl_vec_init(&out, &t.env, sizeof(struct sl_condition));
    assert_int_equal(sl_json_parse(&t.env, sl_str_from(select), &doc, &err), SILT_OK);
    assert_int_equal(sl_conditions_note(&arena, sl_json_root(doc), &out, &err), SILT_OK);
    size_t matched = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < out.len; k++) {
            const struct sl_condition *condition = sl_vec_at(&out, k);
            if (sl_str_eq_c(sl_json_member_text(condition->table, "table_name"), expected[i].table)) {
                assert_int_equal(condition->n, expected[i].n);
                assert_int_equal(condition->bare_names, expected[i].bare_names);
                matched++;
            }
        }
    }
    assert_int_equal(matched, n);
    assert_int_equal(out.len, n);
    sl_json_free(doc);
    sl_vec_release(&out);
    sl_arena_release(&arena);
    test_env_check(&t);
}

/* Numbers of conditions of a and b; 0: none is noted. */
static void expect_join(const char *join_type, const char *ref_type, bool has_where, size_t of_a, size_t of_b)
{
    char json[1024];
    struct found found[2];
    size_t n = 0;
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"SELECT_NODE\",%s\"from_table\":{\"type\":\"JOIN\",\"join_type\":\"%s\","
                   "\"ref_type\":\"%s\",\"left\":" TABLE("a") ",\"right\":" TABLE("b") ",\"condition\":" COND(
                       COLUMN("\"x\"")) "}}",
                   has_where ? "\"where_clause\":" COND(COLUMN("\"y\"")) "," : "", join_type, ref_type);
    if (of_a > 0) {
        found[n++] = (struct found){"a", of_a, true};
    }
    if (of_b > 0) {
        found[n++] = (struct found){"b", of_b, true};
    }
    expect(json, found, n);
}

static void the_condition_of_a_join_reaches_the_sides_whose_rows_it_drops(void **state)
{
    (void)state;
    expect_join("INNER", "REGULAR", false, 1, 1);
    expect_join("LEFT", "REGULAR", false, 0, 1);
    expect_join("RIGHT", "REGULAR", false, 1, 0);
    expect_join("OUTER", "REGULAR", false, 0, 0);
    expect_join("SEMI", "REGULAR", false, 1, 1);
    expect_join("ANTI", "REGULAR", false, 0, 1);
    expect_join("INNER", "ASOF", false, 0, 0);
    expect_join("LEFT", "ASOF", false, 0, 0);
}

static void the_conditions_of_joins_and_of_where_add_up(void **state)
{
    (void)state;
    expect_join("INNER", "REGULAR", true, 2, 2);
    expect_join("LEFT", "REGULAR", true, 1, 1);
    expect_join("SEMI", "REGULAR", true, 2, 1);
    expect_join("ANTI", "REGULAR", true, 1, 1);
}

/* (a LEFT JOIN b) JOIN c ON …: the outer condition may hold for rows of nulls in b's place. */
static void a_condition_stops_at_an_outer_join_below_it(void **state)
{
    (void)state;
    const struct found found[] = {{"a", 1, true}, {"c", 1, true}};
    expect("{\"type\":\"SELECT_NODE\",\"from_table\":{\"type\":\"JOIN\",\"join_type\":\"INNER\",\"left\":"
           "{\"type\":\"JOIN\",\"join_type\":\"LEFT\",\"left\":" TABLE("a") ",\"right\":" TABLE(
               "b") "},\"right\":" TABLE("c") ",\"condition\":" COND(COLUMN("\"x\"")) "}}",
           found, 2);
}

static void merged_columns_leave_no_bare_names(void **state)
{
    (void)state;
    const struct found found[] = {{"a", 1, false}, {"b", 1, false}};
    expect("{\"type\":\"SELECT_NODE\",\"where_clause\":" COND(
               COLUMN("\"y\"")) ",\"from_table\":{\"type\":\"JOIN\",\"join_type\":\"INNER\",\"using_columns\":[\"x\"],"
                                "\"left\":" TABLE("a") ",\"right\":" TABLE("b") "}}",
           found, 2);
    expect("{\"type\":\"SELECT_NODE\",\"where_clause\":" COND(
               COLUMN("\"y\"")) ",\"from_table\":{\"type\":\"JOIN\",\"join_type\":\"INNER\",\"ref_type\":\"NATURAL\","
                                "\"left\":" TABLE("a") ",\"right\":" TABLE("b") "}}",
           found, 2);
}

#define GROUPED(items, sets, having)                                                                                   \
    "{\"type\":\"SELECT_NODE\",\"from_table\":" TABLE("a") ",\"select_list\":[" items                                  \
                                                           "],\"group_expressions\":[" COLUMN("\"d\"") "," COLUMN(     \
                                                               "\"e\"") "],\"group_sets\":" sets ",\"having\":" having \
                                                                        "}"

static void having_is_a_condition_on_rows_where_it_names_group_keys_only(void **state)
{
    (void)state;
    const struct found one = {"a", 1, true};
    const struct found none = {"a", 0, true};
    expect(GROUPED(COLUMN("\"d\""), "[[0,1]]",
                   "{\"type\":\"CONJUNCTION_AND\",\"children\":[" COND(COLUMN("\"d\"")) "," COND(COLUMN("\"f\"")) "]}"),
           &one, 1);
    expect(GROUPED(COLUMN("\"d\""), "[[0,1]]", COND(COLUMN("\"t\",\"d\""))), &none, 1);
    /* ROLLUP: the key is null in some groups; an alias may hide the column. */
    expect(GROUPED(COLUMN("\"d\""), "[[0,1],[0]]", COND(COLUMN("\"d\""))), NULL, 0);
    expect(GROUPED("{\"class\":\"CONSTANT\",\"alias\":\"d\"}", "[[0,1]]", COND(COLUMN("\"d\""))), NULL, 0);
}

static void a_sampled_select_prunes_nothing(void **state)
{
    (void)state;
    expect("{\"type\":\"SELECT_NODE\",\"from_table\":" TABLE("a") ",\"where_clause\":" COND(
               COLUMN("\"d\"")) ",\"sample\":{\"sample_size\":1}}",
           NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_condition_of_a_join_reaches_the_sides_whose_rows_it_drops),
        cmocka_unit_test(the_conditions_of_joins_and_of_where_add_up),
        cmocka_unit_test(a_condition_stops_at_an_outer_join_below_it),
        cmocka_unit_test(merged_columns_leave_no_bare_names),
        cmocka_unit_test(having_is_a_condition_on_rows_where_it_names_group_keys_only),
        cmocka_unit_test(a_sampled_select_prunes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
