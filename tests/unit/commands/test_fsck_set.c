/* The set of logical files of the check: identity, totals, what counts as the same content and the same statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "commands/fsck_set.h"
#include "test_env.h"

#define ROOT SL_STR("/t")

static int set_up(void **state)
{
    static struct sl_fsck_set set;
    assert_int_equal(sl_fsck_set_init(&set, silt_env_default(), ROOT, NULL), SILT_OK);
    *state = &set;
    return 0;
}

static int tear_down(void **state)
{
    sl_fsck_set_release(*state);
    return 0;
}

static struct sl_add add_of(const char *path, int64_t size)
{
    return (struct sl_add){.path = sl_str_from(path),
                           .size = size,
                           .modification_time = 1,
                           .base_row_id = SL_NO_I64,
                           .default_row_commit_version = SL_NO_I64};
}

static const struct sl_dv_descriptor VECTOR = {.storage_type = {"i", 1},
                                               .path_or_inline_dv = {"abc", 3},
                                               .offset = SL_NO_I64,
                                               .size_in_bytes = 4,
                                               .cardinality = 3};

static void put(struct sl_fsck_set *set, const struct sl_add *add, int64_t version, struct sl_fsck_file *before)
{
    assert_int_equal(sl_fsck_set_add(set, add, version, before, NULL), SILT_OK);
}

static void totals_follow_adds_and_removes(void **state)
{
    struct sl_fsck_set *set = *state;
    struct sl_fsck_file before;
    struct sl_add a = add_of("a", 10);
    struct sl_add b = add_of("b", 7);
    b.deletion_vector = &VECTOR;
    put(set, &a, 1, &before);
    assert_int_equal(before.version, -1);
    put(set, &b, 1, &before);
    a.size = 12;
    put(set, &a, 2, &before);
    assert_int_equal(before.version, 1);
    assert_true(before.is_live);
    assert_int_equal(set->n_live, 2);
    assert_int_equal(set->bytes, 19);
    assert_int_equal(set->n_vectors, 1);
    assert_int_equal(set->n_deleted, 3);
    const struct sl_remove gone = {.path = SL_STR("b"), .deletion_timestamp = 5, .deletion_vector = &VECTOR};
    assert_int_equal(sl_fsck_set_remove(set, &gone, 3, &before, NULL), SILT_OK);
    assert_true(before.is_live);
    assert_int_equal(set->n_live, 1);
    assert_int_equal(set->bytes, 12);
    assert_int_equal(set->n_vectors, 0);
    assert_int_equal(set->n, 2);
}

static void one_path_with_two_vectors_is_two_files(void **state)
{
    struct sl_fsck_set *set = *state;
    struct sl_fsck_file before;
    struct sl_add plain = add_of("a", 10);
    struct sl_add other = plain;
    other.deletion_vector = &VECTOR;
    put(set, &plain, 1, &before);
    assert_null(sl_fsck_set_other(set, before.id));
    put(set, &other, 1, &before);
    assert_int_equal(set->n_live, 2);
    assert_non_null(sl_fsck_set_other(set, before.id));
}

static void spellings_of_a_path_are_one_file(void **state)
{
    struct sl_fsck_set *set = *state;
    struct sl_add a = add_of("p/x%20y", 10);
    struct sl_add b = add_of("file:/t/p/x%20y", 10);
    put(set, &a, 1, NULL);
    put(set, &b, 2, NULL);
    assert_int_equal(set->n, 1);
    assert_int_equal(set->n_live, 1);
}

static void thousands_of_files_are_found_again(void **state)
{
    struct sl_fsck_set *set = *state;
    char path[32];
    for (int i = 0; i < 5000; i++) {
        (void)snprintf(path, sizeof(path), "d%d/f%d", i % 7, i);
        const struct sl_add add = add_of(path, i);
        put(set, &add, i, NULL);
    }
    for (int i = 0; i < 5000; i++) {
        struct sl_fsck_id id;
        (void)snprintf(path, sizeof(path), "d%d/f%d", i % 7, i);
        assert_true(sl_fsck_id_make(set, sl_str_from(path), NULL, &id));
        const struct sl_fsck_file *file = sl_fsck_set_find(set, id);
        assert_non_null(file);
        assert_int_equal(file->version, i);
    }
    assert_int_equal(set->n_live, 5000);
    sl_fsck_set_clear(set);
    assert_int_equal(set->n_live, 0);
}

static void content_does_not_depend_on_the_order_of_partition_values(void **state)
{
    struct sl_fsck_set *set = *state;
    const struct sl_kv one[] = {{SL_STR("a"), SL_STR("1")}, {SL_STR("b"), SL_STR("2")}, {SL_STR("c"), {NULL, 0}}};
    const struct sl_kv two[] = {{SL_STR("b"), SL_STR("2")}, {SL_STR("c"), SL_STR("")}, {SL_STR("a"), SL_STR("1")}};
    const struct sl_kv three[] = {{SL_STR("b"), SL_STR("1")}, {SL_STR("a"), SL_STR("2")}};
    struct sl_add add = add_of("a", 10);
    add.partition_values = (struct sl_kv_list){one, 3};
    const uint64_t content = sl_fsck_content(set, &add);
    add.partition_values = (struct sl_kv_list){two, 3};
    assert_true(sl_fsck_content(set, &add) == content);
    add.partition_values = (struct sl_kv_list){three, 2};
    assert_false(sl_fsck_content(set, &add) == content);
    add = add_of("a", 11);
    assert_false(sl_fsck_content(set, &add) == content);
}

static uint32_t statistics(const struct sl_fsck_set *set, const char *text)
{
    uint32_t hash = 0;
    assert_int_equal(sl_fsck_statistics(set, sl_str_from(text), &hash, NULL), SILT_OK);
    return hash;
}

static void statistics_are_compared_by_what_they_say(void **state)
{
    struct sl_fsck_set *set = *state;
    const uint32_t one = statistics(set, "{\"numRecords\":3,\"minValues\":{\"a\":1,\"b\":\"x y\"}}");
    assert_true(one == statistics(set, "{ \"minValues\" : {\"b\":\"x y\", \"a\":1.0, \"c\":null}, \"numRecords\":3 }"));
    assert_false(one == statistics(set, "{\"numRecords\":3,\"minValues\":{\"a\":\"x y\",\"b\":1}}"));
    assert_false(one == statistics(set, "{\"numRecords\":3,\"maxValues\":{\"a\":1,\"b\":\"x y\"}}"));
    assert_false(one == statistics(set, "{\"numRecords\":3,\"minValues\":{\"a\":1,\"b\":\"xy\"}}"));
    assert_false(statistics(set, "{\"a\":true}") == statistics(set, "{\"a\":false}"));
    assert_int_equal(statistics(set, ""), 0);
    assert_int_not_equal(statistics(set, "no json"), 0);
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SET_TEST(totals_follow_adds_and_removes),
        SET_TEST(one_path_with_two_vectors_is_two_files),
        SET_TEST(spellings_of_a_path_are_one_file),
        SET_TEST(thousands_of_files_are_found_again),
        SET_TEST(content_does_not_depend_on_the_order_of_partition_values),
        SET_TEST(statistics_are_compared_by_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
