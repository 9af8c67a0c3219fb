/*
 * Sets of decided keys: what is put is found, nothing else is, whatever the hash.
 */
#include "test_env.h"

#include <stdio.h>

#include "kernel/replay/file_build.h"
#include "kernel/replay/key_set.h"

#define N_KEYS 3000

static uint64_t sixteen_values(const void *bytes, size_t len, uint64_t seed)
{
    return sl_key_hash_xxh3(bytes, len, seed) & 15;
}

static bool has(struct sl_key_set *set, const struct sl_file_set *files, struct test_env *t, sl_key_hash *hash, int i)
{
    struct sl_key_maker maker;
    struct sl_key_maker scratch;
    struct sl_file_key key;
    char path[32];
    bool found = false;
    sl_key_maker_init(&maker, &t->env, SL_STR("/t"), hash);
    sl_key_maker_init(&scratch, &t->env, SL_STR("/t"), hash);
    (void)snprintf(path, sizeof(path), "d%d/f%d", i % 7, i);
    assert_true(sl_key_make(&maker, sl_str_from(path), NULL, &key));
    const struct sl_key_probe probe = {.keys = set, .files = files, .maker = &scratch};
    assert_true(sl_key_set_find(&probe, &key, &found));
    sl_key_maker_release(&maker);
    sl_key_maker_release(&scratch);
    return found;
}

static silt_status count(void *ctx, const struct sl_file_key *key, silt_error *err)
{
    (void)err;
    assert_true(key->name.len > 0);
    (*(int *)ctx)++;
    return SILT_OK;
}

/* Every third number is a file of the set, every third a key alone, the rest is not there. */
static void check(sl_key_hash *hash, int n)
{
    struct test_env t;
    test_env_init(&t);
    silt_error err = SILT_ERROR_INIT;
    struct sl_file_set_builder builder;
    struct sl_key_set set;
    struct sl_key_maker maker;
    const struct sl_file_set_options options = {.env = &t.env, .root = SL_STR("/t"), .hash = hash};
    assert_int_equal(sl_file_set_begin(&builder, &options, &err), SILT_OK);
    sl_key_set_init(&set, &t.env);
    sl_key_maker_init(&maker, &t.env, SL_STR("/t"), hash);
    int n_put = 0;
    for (int i = 0; i < n; i++) {
        struct sl_file_key key;
        char path[32];
        (void)snprintf(path, sizeof(path), "d%d/f%d", i % 7, i);
        assert_true(sl_key_make(&maker, sl_str_from(path), NULL, &key));
        if (i % 3 == 0) {
            const struct sl_add add = {.path = sl_str_from(path), .base_row_id = SL_NO_I64};
            sl_file_pos pos = SL_FILE_NOWHERE;
            assert_int_equal(sl_file_set_add(&builder, &add, &pos, &err), SILT_OK);
            assert_true(sl_key_set_put_file(&set, &key, pos));
        } else if (i % 3 == 1) {
            assert_true(sl_key_set_put(&set, &key));
        }
        n_put += i % 3 != 2 ? 1 : 0;
    }
    for (int i = 0; i < n; i++) {
        assert_int_equal(has(&set, builder.set, &t, hash, i), i % 3 != 2);
    }
    int n_seen = 0;
    struct sl_key_set moved;
    sl_key_set_move(&moved, &set);
    assert_false(has(&set, builder.set, &t, hash, 0));
    const struct sl_key_probe probe = {.keys = &moved, .files = builder.set, .maker = &maker};
    assert_int_equal(sl_key_set_each(&probe, count, &n_seen, &err), SILT_OK);
    assert_int_equal(n_seen, n_put);
    assert_true(sl_key_set_resident(&moved) > 0);
    sl_key_set_release(&moved);
    sl_key_set_release(&set);
    sl_key_maker_release(&maker);
    sl_file_set_abandon(&builder);
    test_env_check(&t);
}

static void what_was_put_is_found(void **state)
{
    (void)state;
    check(NULL, N_KEYS);
}

static void equal_hashes_are_told_apart(void **state)
{
    (void)state;
    check(sixteen_values, N_KEYS / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_put_is_found),
                                       cmocka_unit_test(equal_hashes_are_told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
