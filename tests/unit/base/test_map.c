/* Hash maps. */
#include "base/map.h"

#include <stdio.h>
#include <string.h>

#include "test_env.h"

#define N_KEYS 5000

static char key_texts[N_KEYS][16];

static struct sl_str key_of(size_t i)
{
    (void)snprintf(key_texts[i], sizeof(key_texts[i]), "key-%zu", i);
    return sl_str_from(key_texts[i]);
}

static void every_inserted_key_is_found_in_order(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_map map;
    sl_map_init(&map, &t.env);
    assert_null(sl_map_find(&map, SL_STR("x")));
    for (size_t i = 0; i < N_KEYS; i++) {
        bool inserted = false;
        struct sl_map_entry *entry = sl_map_put(&map, key_of(i), &inserted);
        assert_true(inserted);
        assert_int_equal(entry->value.u64, 0);
        entry->value.u64 = i;
        sl_map_put(&map, key_of(i / 2), &inserted);
        assert_false(inserted);
    }
    assert_int_equal(map.live, N_KEYS);
    for (size_t i = 0; i < N_KEYS; i++) {
        assert_int_equal(sl_map_find(&map, key_of(i))->value.u64, i);
        assert_true(sl_str_eq(map.entries[i].key, key_of(i)));
    }
    assert_null(sl_map_find(&map, SL_STR("key-5000")));
    sl_map_release(&map);
    test_env_check(&t);
}

static void removed_key_is_gone_and_can_come_back(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_map map;
    sl_map_init(&map, &t.env);
    for (size_t i = 0; i < N_KEYS; i++) {
        sl_map_put(&map, key_of(i), NULL)->value.u64 = i;
    }
    for (size_t i = 0; i < N_KEYS; i += 2) {
        assert_true(sl_map_remove(&map, key_of(i)));
        assert_false(sl_map_remove(&map, key_of(i)));
    }
    assert_int_equal(map.live, N_KEYS / 2);
    for (size_t i = 0; i < N_KEYS; i++) {
        assert_int_equal(sl_map_find(&map, key_of(i)) != NULL, i % 2 == 1);
    }
    bool inserted = false;
    struct sl_map_entry *entry = sl_map_put(&map, key_of(4), &inserted);
    assert_true(inserted);
    assert_int_equal(entry->value.u64, 0);
    assert_ptr_equal(sl_map_find(&map, key_of(4)), entry);
    sl_map_release(&map);
    test_env_check(&t);
}

static void adding_and_removing_for_long_does_not_grow_the_map(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_map map;
    sl_map_init(&map, &t.env);
    for (size_t round = 0; round < 100; round++) {
        for (size_t i = 0; i < 50; i++) {
            sl_map_put(&map, key_of(i), NULL);
        }
        for (size_t i = 0; i < 50; i++) {
            assert_true(sl_map_remove(&map, key_of(i)));
        }
    }
    assert_true(map.cap <= 128);
    sl_map_release(&map);
    test_env_check(&t);
}

static void keys_are_bytes_and_may_be_empty(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_map map;
    sl_map_init(&map, &t.env);
    sl_map_put(&map, (struct sl_str){NULL, 0}, NULL)->value.i64 = -1;
    sl_map_put(&map, SL_STR("a\0b"), NULL)->value.i64 = -2;
    assert_int_equal(sl_map_find(&map, SL_STR(""))->value.i64, -1);
    assert_int_equal(sl_map_find(&map, SL_STR("a\0b"))->value.i64, -2);
    assert_null(sl_map_find(&map, SL_STR("a")));
    sl_map_release(&map);
    test_env_check(&t);
}

static void insertion_without_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct test_env t;
        test_env_init(&t);
        struct sl_map map;
        sl_map_init(&map, &t.env);
        for (size_t i = 0; i < 8; i++) {
            assert_non_null(sl_map_put(&map, key_of(i), NULL));
        }
        test_env_fail_at(&t, n);
        bool inserted = true;
        assert_null(sl_map_put(&map, key_of(8), &inserted));
        assert_false(inserted);
        assert_int_equal(map.live, 8);
        assert_non_null(sl_map_find(&map, key_of(7)));
        assert_non_null(sl_map_put(&map, key_of(8), &inserted));
        sl_map_release(&map);
        test_env_check(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_inserted_key_is_found_in_order),
        cmocka_unit_test(removed_key_is_gone_and_can_come_back),
        cmocka_unit_test(adding_and_removing_for_long_does_not_grow_the_map),
        cmocka_unit_test(keys_are_bytes_and_may_be_empty),
        cmocka_unit_test(insertion_without_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
