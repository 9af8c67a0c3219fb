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

struct pair {
    struct sl_key_maker makers[2];
    struct sl_file_key a, b;
};

static struct pair pair_of(struct test_env *t, const char *root, const char *a, const char *b)
{
    struct pair pair;
    sl_key_maker_init(&pair.makers[0], &t->env, sl_str_from(root), NULL);
    sl_key_maker_init(&pair.makers[1], &t->env, sl_str_from(root), NULL);
    assert_true(sl_key_make(&pair.makers[0], sl_str_from(a), NULL, &pair.a));
    assert_true(sl_key_make(&pair.makers[1], sl_str_from(b), NULL, &pair.b));
    return pair;
}

static void pair_release(struct pair *pair)
{
    sl_key_maker_release(&pair->makers[0]);
    sl_key_maker_release(&pair->makers[1]);
}

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
        {"/", "x/a%20b", "/x/a b", true},
        {"/", "x/a", "x/%61", true},
        {"s3://b/t", "a", "s3://b/t/a", true},
        {"s3://b/t", "a", "s3://c/t/a", false},
        {"/t", "broken%zz", "broken%zz", true},
        {"/t", "broken%zz", "broken", false},
    };
    struct test_env t;
    test_env_init(&t);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pair pair = pair_of(&t, cases[i].root, cases[i].a, cases[i].b);
        if (sl_file_key_eq(&pair.a, &pair.b) != cases[i].same) {
            print_error("%s and %s\n", cases[i].a, cases[i].b);
        }
        assert_int_equal(sl_file_key_eq(&pair.a, &pair.b), cases[i].same);
        assert_int_equal(pair.a.hash == pair.b.hash, cases[i].same);
        pair_release(&pair);
    }
    test_env_check(&t);
}

static void a_folder_in_use_does_not_change_the_key(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    static const char *const paths[] = {"p=1/a",     "p%3D1/b", "/t/p=1/c", "x%2Fy/d", "x/y/d",
                                        "p=1/a%2Fb", "",        "p=1/",     "a:b"};
    struct sl_key_maker one;
    sl_key_maker_init(&one, &t.env, SL_STR("/t"), NULL);
    for (size_t i = 0; i < 81; i++) {
        /* After any other path, and made by a fresh maker: the same. */
        struct sl_file_key key;
        struct sl_file_key fresh;
        struct sl_key_maker other;
        const struct sl_str path = sl_str_from(paths[i % 9]);
        sl_key_maker_init(&other, &t.env, SL_STR("/t"), NULL);
        assert_true(sl_key_make(&one, sl_str_from(paths[i / 9]), NULL, &key));
        assert_true(sl_key_make(&one, path, NULL, &key));
        assert_true(sl_key_make(&other, path, NULL, &fresh));
        assert_true(sl_file_key_eq(&key, &fresh) && key.hash == fresh.hash);
        sl_key_maker_release(&other);
    }
    sl_key_maker_release(&one);
    test_env_check(&t);
}

static void a_vector_makes_another_key(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    static const int64_t offsets[] = {1, 2, SL_NO_I64};
    struct sl_key_maker makers[4];
    struct sl_file_key keys[4];
    for (size_t i = 0; i < 4; i++) {
        const struct sl_dv_descriptor dv = {
            .storage_type = SL_STR("u"), .path_or_inline_dv = SL_STR("x"), .offset = offsets[i % 3]};
        sl_key_maker_init(&makers[i], &t.env, SL_STR("/t"), NULL);
        assert_true(sl_key_make(&makers[i], SL_STR("a"), i < 3 ? &dv : NULL, &keys[i]));
        for (size_t j = 0; j < i; j++) {
            assert_false(sl_file_key_eq(&keys[i], &keys[j]));
        }
    }
    assert_true(sl_str_eq_c(keys[0].vector, "ux@1"));
    for (size_t i = 0; i < 4; i++) {
        sl_key_maker_release(&makers[i]);
    }
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spellings_of_a_file_share_a_key),
                                       cmocka_unit_test(a_folder_in_use_does_not_change_the_key),
                                       cmocka_unit_test(a_vector_makes_another_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
