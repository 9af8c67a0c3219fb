/*
 * Keys of logical files: one file, however it is spelled, has one key.
 */
#include "test_env.h"

#include "kernel/replay/file_key.h"

struct spelling {
    const char *root;
    const char *a;
    const char *b;
    bool same;
};

static void spellings_of_a_file_share_a_key(void **state)
{
    (void)state;
    static const struct spelling cases[] = {
        {"/t", "a", "a", true},
        {"/t", "a", "b", false},
        {"/t", "a%20b", "a b", true},
        {"/t", "a+b", "a b", false},
        {"/t", "a%2520b", "a%20b", false},
        {"/t", "/x/y", "file:/x/y", true},
        {"/t", "/x/y", "file:///x/y", true},
        {"/t", "/x/p@%23h", "file:/x/p@%23h", true},
        {"/t", "a", "/t/a", true},
        {"/t", "a", "file:///t/a", true},
        {"/t", "a", "/tt/a", false},
        {"/t", "p%3D1/a", "p=1/a", true},
        {"s3://b/t", "a", "s3://b/t/a", true},
        {"s3://b/t", "a", "s3://c/t/a", false},
        {"/t", "broken%zz", "broken%zz", true},
        {"/t", "broken%zz", "broken", false},
    };
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct sl_str root = sl_str_from(cases[i].root);
        const struct sl_str a = sl_file_key(&arena, root, sl_str_from(cases[i].a), NULL);
        const struct sl_str b = sl_file_key(&arena, root, sl_str_from(cases[i].b), NULL);
        if (sl_str_eq(a, b) != cases[i].same) {
            print_error("%s and %s: %.*s and %.*s\n", cases[i].a, cases[i].b, SL_FMT(a), SL_FMT(b));
        }
        assert_int_equal(sl_str_eq(a, b), cases[i].same);
    }
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void a_vector_makes_another_key(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    struct sl_dv_descriptor dv = {.storage_type = SL_STR("u"), .path_or_inline_dv = SL_STR("x"), .offset = 1};
    const struct sl_str none = sl_file_key(&arena, SL_STR("/t"), SL_STR("a"), NULL);
    const struct sl_str first = sl_file_key(&arena, SL_STR("/t"), SL_STR("a"), &dv);
    dv.offset = 2;
    const struct sl_str second = sl_file_key(&arena, SL_STR("/t"), SL_STR("a"), &dv);
    dv.offset = SL_NO_I64;
    const struct sl_str third = sl_file_key(&arena, SL_STR("/t"), SL_STR("a"), &dv);
    assert_false(sl_str_eq(none, first));
    assert_false(sl_str_eq(first, second));
    assert_false(sl_str_eq(second, third));
    sl_arena_release(&arena);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_a_file_share_a_key),
                                       cmocka_unit_test(a_vector_makes_another_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
