/* Table references in parse trees as the data plane serialises them, and the conditions above each. */
#include "sql/refs.h"

#include <stdio.h>

#include "test_env.h"

struct refs_test {
    struct test_env t;
    struct sl_arena arena;
    struct sl_json_doc *doc;
    struct sl_vec refs;
};

static void collect(struct refs_test *r, const char *json)
{
    silt_error err = SILT_ERROR_INIT;
    test_env_init(&r->t);
    sl_arena_init(&r->arena, &r->t.env);
    sl_vec_init(&r->refs, &r->t.env, sizeof(struct sl_table_ref));
    assert_int_equal(sl_json_parse(&r->t.env, sl_str_from(json), &r->doc, &err), SILT_OK);
    assert_int_equal(sl_refs_collect(&r->arena, sl_json_root(r->doc), &r->refs, &err), SILT_OK);
}

static void collect_end(struct refs_test *r)
{
    sl_json_free(r->doc);
    sl_vec_release(&r->refs);
    sl_arena_release(&r->arena);
    test_env_check(&r->t);
}

static const struct sl_table_ref *find_ref(const struct refs_test *r, const char *table)
{
    for (size_t i = 0; i < r->refs.len; i++) {
        const struct sl_table_ref *ref = sl_vec_at(&r->refs, i);
        if (sl_str_eq_c(ref->table, table)) {
            return ref;
        }
    }
    fail_msg("no reference to %s", table);
    return NULL;
}

#define BASE(name, at) "{\"type\":\"BASE_TABLE\",\"query_location\":" at ",\"table_name\":\"" name "\"}"
#define COND "{\"class\":\"COMPARISON\",\"type\":\"COMPARE_EQUAL\"}"

static void a_reference_has_its_place_and_names(void **state)
{
    (void)state;
    struct refs_test r;
    collect(
        &r,
        "{\"statements\":[{\"node\":{\"type\":\"SELECT_NODE\",\"from_table\":{\"type\":\"BASE_TABLE\",\"alias\":\"x\","
        "\"query_location\":19,\"schema_name\":\"delta\",\"table_name\":\"/p\",\"at_clause\":{\"unit\":\"VERSION\"}}}}]}");
    assert_int_equal(r.refs.len, 1);
    const struct sl_table_ref *ref = sl_vec_at(&r.refs, 0);
    assert_true(sl_str_eq_c(ref->schema, "delta"));
    assert_true(sl_str_eq_c(ref->alias, "x"));
    assert_int_equal(ref->location, 19);
    assert_non_null(ref->at_clause);
    assert_null(ref->catalog.ptr);
    collect_end(&r);
}

static void names_of_ctes_are_left_out_in_their_scope_only(void **state)
{
    (void)state;
    struct refs_test r;
    /* WITH t AS (FROM t), u AS (FROM t) FROM t JOIN u: only the first, inner t is a table */
    collect(
        &r,
        "{\"type\":\"SELECT_NODE\",\"cte_map\":{\"map\":["
        "{\"key\":\"t\",\"value\":{\"query\":{\"node\":{\"type\":\"SELECT_NODE\",\"from_table\":" BASE(
            "t", "11") "}}}},"
                       "{\"key\":\"u\",\"value\":{\"query\":{\"node\":{\"type\":\"SELECT_NODE\",\"from_table\":" BASE(
                           "T", "22") "}}}}]},"
                                      "\"from_table\":{\"type\":\"JOIN\",\"left\":" BASE("t", "33") ",\"right\":" BASE(
                                          "u", "44") "}}");
    assert_int_equal(r.refs.len, 1);
    assert_int_equal(find_ref(&r, "t")->location, 11);
    collect_end(&r);
}

static void a_recursive_cte_sees_itself(void **state)
{
    (void)state;
    struct refs_test r;
    collect(&r, "{\"type\":\"RECURSIVE_CTE_NODE\",\"cte_name\":\"r\",\"left\":{\"from_table\":" BASE(
                    "base", "1") "},"
                                 "\"right\":{\"from_table\":" BASE("r", "2") "}}");
    assert_int_equal(r.refs.len, 1);
    (void)find_ref(&r, "base");
    collect_end(&r);
}

static void conditions_reach_a_lone_table(void **state)
{
    (void)state;
    struct refs_test r;
    collect(&r,
            "{\"type\":\"SELECT_NODE\",\"from_table\":" BASE(
                "t", "1") ",\"where_clause\":{\"type\":\"CONJUNCTION_AND\","
                          "\"children\":[" COND ",{\"type\":\"CONJUNCTION_AND\",\"children\":[" COND "," COND "]}]}}");
    const struct sl_table_ref *ref = find_ref(&r, "t");
    assert_int_equal(ref->n_conjuncts, 3);
    assert_true(ref->only_item);
    collect_end(&r);
}

static void expect_prunable(const char *join_type, const char *ref_type, bool left, bool right)
{
    struct refs_test r;
    char json[1024];
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"SELECT_NODE\",\"where_clause\":" COND
                   ",\"from_table\":{\"type\":\"JOIN\",\"join_type\":\"%s\","
                   "\"ref_type\":\"%s\",\"left\":" BASE("a", "1") ",\"right\":" BASE("b", "2") "}}",
                   join_type, ref_type);
    collect(&r, json);
    assert_int_equal(find_ref(&r, "a")->n_conjuncts, left ? 1 : 0);
    assert_int_equal(find_ref(&r, "b")->n_conjuncts, right ? 1 : 0);
    assert_false(find_ref(&r, "a")->only_item);
    collect_end(&r);
}

static void outer_joins_keep_their_null_supplying_side(void **state)
{
    (void)state;
    expect_prunable("INNER", "REGULAR", true, true);
    expect_prunable("INNER", "CROSS", true, true);
    expect_prunable("LEFT", "REGULAR", true, false);
    expect_prunable("RIGHT", "REGULAR", false, true);
    expect_prunable("OUTER", "REGULAR", false, false);
    expect_prunable("SEMI", "REGULAR", true, false);
    expect_prunable("ANTI", "REGULAR", true, false);
    expect_prunable("INNER", "POSITIONAL", false, false);
    expect_prunable("INNER", "ASOF", false, false);
    expect_prunable("SOMETHING", "NEW", false, false);
}

static void a_sampled_table_is_not_pruned(void **state)
{
    (void)state;
    struct refs_test r;
    collect(&r, "{\"type\":\"SELECT_NODE\",\"where_clause\":" COND
                ",\"from_table\":{\"type\":\"BASE_TABLE\",\"table_name\":\"t\","
                "\"sample\":{\"sample_size\":1}}}");
    assert_int_equal(find_ref(&r, "t")->n_conjuncts, 0);
    assert_int_equal(find_ref(&r, "t")->location, SIZE_MAX);
    collect_end(&r);
}

/* t AS x(b, a): the names in the conditions are not the table's. */
static void a_table_with_renamed_columns_is_not_pruned(void **state)
{
    (void)state;
    struct refs_test r;
    collect(&r, "{\"type\":\"SELECT_NODE\",\"where_clause\":" COND
                ",\"from_table\":{\"type\":\"BASE_TABLE\",\"table_name\":\"t\","
                "\"sample\":null,\"column_name_alias\":[\"b\",\"a\"]}}");
    assert_int_equal(find_ref(&r, "t")->n_conjuncts, 0);
    collect_end(&r);
    collect(&r, "{\"type\":\"SELECT_NODE\",\"where_clause\":" COND
                ",\"from_table\":{\"type\":\"BASE_TABLE\",\"table_name\":\"t\","
                "\"sample\":null,\"column_name_alias\":[]}}");
    assert_int_equal(find_ref(&r, "t")->n_conjuncts, 1);
    collect_end(&r);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    const char *json = "{\"type\":\"SELECT_NODE\",\"from_table\":" BASE("t", "1") ",\"where_clause\":" COND "}";
    for (size_t n = 1; n < 100; n++) {
        struct test_env t;
        struct sl_arena arena;
        struct sl_json_doc *doc = NULL;
        struct sl_vec refs;
        silt_error err = SILT_ERROR_INIT;
        test_env_init(&t);
        sl_arena_init(&arena, &t.env);
        sl_vec_init(&refs, &t.env, sizeof(struct sl_table_ref));
        assert_int_equal(sl_json_parse(&t.env, sl_str_from(json), &doc, &err), SILT_OK);
        test_env_fail_at(&t, n);
        const silt_status status = sl_refs_collect(&arena, sl_json_root(doc), &refs, &err);
        sl_json_free(doc);
        sl_vec_release(&refs);
        sl_arena_release(&arena);
        test_env_check(&t);
        if (status == SILT_OK) {
            assert_true(n > 1);
            return;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    fail_msg("the walk never succeeds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_has_its_place_and_names),
        cmocka_unit_test(names_of_ctes_are_left_out_in_their_scope_only),
        cmocka_unit_test(a_recursive_cte_sees_itself),
        cmocka_unit_test(conditions_reach_a_lone_table),
        cmocka_unit_test(outer_joins_keep_their_null_supplying_side),
        cmocka_unit_test(a_sampled_table_is_not_pruned),
        cmocka_unit_test(a_table_with_renamed_columns_is_not_pruned),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
