/* The parts of a SELECT that concern "_metadata", in parse trees as the data plane serialises them. */
#include "sql/select_parts.h"

#include "test_env.h"

struct parts_test {
    struct test_env t;
    struct sl_arena arena;
    struct sl_json_doc *doc;
    struct sl_vec refs;
    struct sl_select_parts parts;
};

static bool begin(struct parts_test *p, const char *select)
{
    silt_error err = SILT_ERROR_INIT;
    sl_arena_init(&p->arena, &p->t.env);
    sl_vec_init(&p->refs, &p->t.env, sizeof(struct sl_table_ref));
    sl_select_parts_init(&p->parts, &p->refs, &p->t.env);
    p->doc = NULL;
    return sl_json_parse(&p->t.env, sl_str_from(select), &p->doc, &err) == SILT_OK &&
           sl_refs_collect(&p->arena, sl_json_root(p->doc), &p->refs, &err) == SILT_OK &&
           sl_select_parts_read(&p->parts, sl_json_root(p->doc));
}

static void end(struct parts_test *p)
{
    sl_select_parts_release(&p->parts);
    sl_json_free(p->doc);
    sl_vec_release(&p->refs);
    sl_arena_release(&p->arena);
}

static void read_parts(struct parts_test *p, const char *select)
{
    test_env_init(&p->t);
    assert_true(begin(p, select));
}

static void read_end(struct parts_test *p)
{
    end(p);
    test_env_check(&p->t);
}

static const struct sl_metadata_use *use(const struct parts_test *p, size_t i)
{
    return sl_vec_at(&p->parts.uses, i);
}

static const struct sl_select_leaf *leaf(const struct parts_test *p, size_t i)
{
    return sl_vec_at(&p->parts.leaves, i);
}

#define COLUMN(names) "{\"class\":\"COLUMN_REF\",\"type\":\"COLUMN_REF\",\"column_names\":[" names "]}"
#define TABLE(name) "{\"type\":\"BASE_TABLE\",\"query_location\":1,\"table_name\":\"" name "\"}"
#define STAR "{\"class\":\"STAR\",\"type\":\"STAR\"}"
#define SELECT(list, from) "{\"type\":\"SELECT_NODE\",\"select_list\":[" list "],\"from_table\":" from "}"
#define QUERY(select) "{\"class\":\"SUBQUERY\",\"type\":\"SUBQUERY\",\"subquery\":{\"node\":" select "}}"
#define JOIN(kind, type, left, right) \
    "{\"type\":\"JOIN\",\"ref_type\":\"" kind "\",\"join_type\":\"" type "\",\"left\":" left ",\"right\":" right "}"
#define ROW_INDEX COLUMN("\"_metadata\",\"row_index\"")

static void uses_are_told_with_table_and_field(void **state)
{
    (void)state;
    struct parts_test p;
    read_parts(&p, SELECT(ROW_INDEX "," COLUMN("\"t\",\"_METADATA\",\"file_name\"") "," COLUMN(
                              "\"_metadata\"") "," COLUMN("\"id\"") "," COLUMN("\"a\",\"b\",\"_metadata\""),
                          TABLE("t")));
    assert_int_equal(p.parts.uses.len, 3);
    size_t alone = 0;
    size_t behind = 0;
    for (size_t i = 0; i < 3; i++) {
        alone += use(&p, i)->table.ptr == NULL && sl_str_eq_c(use(&p, i)->field, "row_index") ? 1u : 0u;
        behind += sl_str_eq_c(use(&p, i)->table, "t") && sl_str_eq_c(use(&p, i)->field, "file_name") ? 1u : 0u;
    }
    assert_int_equal(alone, 1);
    assert_int_equal(behind, 1);
    assert_true(sl_select_names(SL_STR("T"), leaf(&p, 0)->ref));
    assert_true(sl_select_names((struct sl_str){NULL, 0}, leaf(&p, 0)->ref));
    assert_false(sl_select_names(SL_STR("u"), leaf(&p, 0)->ref));
    read_end(&p);
}

static void a_select_without_uses_is_left_alone(void **state)
{
    (void)state;
    struct parts_test p;
    read_parts(&p, SELECT(STAR, TABLE("t")));
    assert_int_equal(p.parts.leaves.len, 0);
    assert_int_equal(p.parts.stars.len, 0);
    read_end(&p);
}

static void stars_are_those_of_the_select_itself(void **state)
{
    (void)state;
    struct parts_test p;
    read_parts(&p, SELECT(ROW_INDEX "," STAR ",{\"type\":\"FUNCTION\",\"children\":[" STAR
                                    "]}," QUERY(SELECT(STAR, TABLE("u"))),
                          "{\"type\":\"SUBQUERY\",\"subquery\":{\"node\":" SELECT(STAR, TABLE("v")) "}}"));
    assert_int_equal(p.parts.stars.len, 2);
    read_end(&p);
}

static void a_name_alone_in_a_query_with_tables_means_those(void **state)
{
    (void)state;
    struct parts_test p;
    read_parts(&p, SELECT(QUERY(SELECT(ROW_INDEX, TABLE("u"))), TABLE("t")));
    assert_int_equal(p.parts.uses.len, 0);
    read_end(&p);
    read_parts(&p,
               SELECT(QUERY(SELECT(ROW_INDEX, "{\"type\":\"EMPTY\"}")), TABLE("t"))); /* (SELECT _metadata.row_index) */
    assert_int_equal(p.parts.uses.len, 1);
    read_end(&p);
    read_parts(&p, SELECT(QUERY(SELECT(COLUMN("\"t\",\"_metadata\",\"row_index\""), TABLE("u"))), TABLE("t")));
    assert_int_equal(p.parts.uses.len, 1); /* behind a name it may be any */
    read_end(&p);
}

static void leaves_of_joins_are_found_with_what_stars_do_not_show(void **state)
{
    (void)state;
    struct parts_test p;
    read_parts(&p, SELECT(ROW_INDEX,
                          JOIN("REGULAR", "SEMI", JOIN("NATURAL", "INNER", TABLE("a"), "{\"type\":\"TABLE_FUNCTION\"}"),
                               JOIN("REGULAR", "LEFT", TABLE("b"), TABLE("c")))));
    assert_int_equal(p.parts.leaves.len, 4);
    assert_true(sl_str_eq_c(leaf(&p, 0)->ref->table, "a"));
    assert_false(leaf(&p, 0)->hidden);
    assert_null(leaf(&p, 1)->ref); /* no table of ours */
    assert_true(sl_str_eq_c(leaf(&p, 2)->ref->table, "b"));
    assert_true(leaf(&p, 2)->hidden);
    assert_true(leaf(&p, 3)->hidden);
    assert_int_equal(p.parts.joins.len, 1);
    read_end(&p);
}

static void want_of_memory_is_told(void **state)
{
    (void)state;
    struct parts_test p;
    bool good = false;
    test_env_init(&p.t);
    for (size_t n = 1; !good; n++) {
        test_env_fail_at(&p.t, n);
        good = begin(&p, SELECT(ROW_INDEX "," STAR, JOIN("NATURAL", "INNER", TABLE("a"), TABLE("b"))));
        assert_true(good || n < 200);
        end(&p);
        assert_int_equal(p.t.live_blocks, 0);
    }
    test_env_check(&p.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uses_are_told_with_table_and_field),
        cmocka_unit_test(a_select_without_uses_is_left_alone),
        cmocka_unit_test(stars_are_those_of_the_select_itself),
        cmocka_unit_test(a_name_alone_in_a_query_with_tables_means_those),
        cmocka_unit_test(leaves_of_joins_are_found_with_what_stars_do_not_show),
        cmocka_unit_test(want_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("select_parts", tests, NULL, NULL);
}
