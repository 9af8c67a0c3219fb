/*
 * Compact sets of files: what goes in comes out, and how little it takes.
 */
#include "test_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/replay/file_build.h"
#include "kernel/replay/file_set.h"

static struct sl_add make_add(const char *path)
{
    return (struct sl_add){.path = sl_str_from(path),
                           .size = 1000,
                           .modification_time = INT64_C(1700000000000),
                           .data_change = true,
                           .base_row_id = SL_NO_I64,
                           .default_row_commit_version = SL_NO_I64};
}

static silt_status begin(struct sl_file_set_builder *builder, struct test_env *t, size_t max_details, silt_error *err)
{
    const struct sl_file_set_options options = {
        .env = &t->env, .root = SL_STR("/t"), .want_details = max_details > 0, .max_details = max_details};
    return sl_file_set_begin(builder, &options, err);
}

static struct sl_file_set *finish(struct sl_file_set_builder *builder)
{
    struct sl_file_set *set = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_file_set_finish(builder, &set, &err), SILT_OK);
    return set;
}

static struct sl_file_set *set_of(struct test_env *t, const struct sl_add *adds, size_t n, size_t max_details)
{
    struct sl_file_set_builder builder;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(begin(&builder, t, max_details, &err), SILT_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sl_file_set_add(&builder, &adds[i], NULL, &err), SILT_OK);
    }
    return finish(&builder);
}

static bool next(struct sl_file_cursor *cursor, struct sl_add *add)
{
    bool done = false;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_file_cursor_next(cursor, add, &done, &err), SILT_OK);
    return !done;
}

static void everything_comes_out_as_it_went_in(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    const struct sl_kv values[] = {{SL_STR("p"), SL_STR("1")}, {SL_STR("q"), {NULL, 0}}};
    const struct sl_kv tags[] = {{SL_STR("t"), SL_STR("x")}};
    const struct sl_dv_descriptor dv = {.storage_type = SL_STR("u"),
                                        .path_or_inline_dv = SL_STR("ab"),
                                        .offset = SL_NO_I64,
                                        .size_in_bytes = 4,
                                        .cardinality = 3};
    struct sl_add adds[3] = {make_add("p=1/q/a"), make_add("b"), make_add("p=1/q/c")};
    adds[0].partition_values = (struct sl_kv_list){values, 2};
    adds[0].stats = SL_STR("{}");
    adds[0].tags = (struct sl_kv_list){tags, 1};
    adds[0].has_tags = true;
    adds[1].deletion_vector = &dv;
    adds[1].base_row_id = 0;
    adds[1].default_row_commit_version = INT64_MAX;
    adds[1].size = 0;
    adds[1].modification_time = -5;
    adds[1].data_change = false;
    adds[2].partition_values = (struct sl_kv_list){values, 2};
    adds[2].clustering_provider = SL_STR("liquid");
    struct sl_file_set *set = set_of(&t, adds, 3, 1000);
    assert_int_equal(set->n_files, 3);
    assert_int_equal(set->total_size, 2000);
    assert_int_equal(set->groups.len, 2);
    struct sl_file_cursor cursor;
    sl_file_cursor_init(&cursor, set, true);
    struct sl_add add;
    assert_true(next(&cursor, &add));
    assert_true(sl_str_eq_c(add.path, "p=1/q/a"));
    assert_int_equal(add.partition_values.n, 2);
    assert_null(add.partition_values.items[1].value.ptr);
    assert_true(sl_str_eq_c(add.stats, "{}"));
    assert_true(add.has_tags && add.tags.n == 1);
    assert_true(add.base_row_id == SL_NO_I64 && add.deletion_vector == NULL && add.data_change);
    assert_true(next(&cursor, &add));
    assert_true(sl_str_eq_c(add.path, "b"));
    assert_int_equal(add.modification_time, -5);
    assert_true(add.deletion_vector->offset == SL_NO_I64 && add.deletion_vector->cardinality == 3);
    assert_true(add.base_row_id == 0 && add.default_row_commit_version == INT64_MAX && !add.data_change);
    assert_null(add.stats.ptr);
    assert_false(add.has_tags);
    assert_true(next(&cursor, &add));
    assert_true(sl_str_eq_c(add.clustering_provider, "liquid"));
    assert_false(next(&cursor, &add));
    sl_file_cursor_release(&cursor);
    sl_file_set_unref(set);
    test_env_check(&t);
}

static void details_are_given_up_beyond_their_limit(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_add adds[2] = {make_add("a"), make_add("b")};
    adds[0].stats = SL_STR("0123456789");
    adds[1].stats = SL_STR("0123456789");
    struct sl_file_set *set = set_of(&t, adds, 2, 15);
    assert_false(set->has_details);
    assert_int_equal(set->n_files, 2);
    struct sl_file_cursor cursor;
    sl_file_cursor_init(&cursor, set, true);
    struct sl_add add;
    assert_true(next(&cursor, &add));
    assert_null(add.stats.ptr);
    sl_file_cursor_release(&cursor);
    sl_file_set_unref(set);
    test_env_check(&t);
}

static size_t bytes_a_file(const char *path_format, bool partitioned)
{
    enum {
        N_FILES = 100000
    };
    struct test_env t;
    test_env_init(&t);
    struct sl_file_set_builder builder;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(begin(&builder, &t, 0, &err), SILT_OK);
    for (int i = 0; i < N_FILES; i++) {
        char path[160];
        char day[16];
        (void)snprintf(path, sizeof(path), path_format, i % 365, i);
        (void)snprintf(day, sizeof(day), "day-%03d", i % 365);
        const struct sl_kv value = {SL_STR("day"), sl_str_from(day)};
        struct sl_add add = make_add(path);
        add.size = INT64_C(134217728) + i;
        if (partitioned) {
            add.partition_values = (struct sl_kv_list){&value, 1};
        }
        assert_int_equal(sl_file_set_add(&builder, &add, NULL, &err), SILT_OK);
    }
    struct sl_file_set *set = finish(&builder);
    const size_t resident = sl_file_set_resident(set, false);
    assert_true(t.live_bytes <= resident); /* nothing is held that is not counted */
    sl_file_set_unref(set);
    test_env_check(&t);
    return resident / N_FILES;
}

static void a_hundred_thousand_files_take_little_memory(void **state)
{
    (void)state;
    const size_t flat = bytes_a_file("part-%05d-3935a07c-416b-4344-ad97-%012d.c000.snappy.parquet", false);
    const size_t split = bytes_a_file("day=day-%03d/part-00000-3935a07c-416b-4344-ad97-%012d.c000.snappy.parquet",
                                      true);
    print_message("bytes a file: %zu flat, %zu partitioned\n", flat, split);
    assert_true(flat <= 120);
    assert_true(split <= 120);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_file_set_builder builder;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(begin(&builder, &t, 0, &err), SILT_OK);
    struct sl_add add = make_add("a");
    add.size = INT64_MAX;
    assert_int_equal(sl_file_set_add(&builder, &add, NULL, &err), SILT_OK);
    assert_int_equal(sl_file_set_add(&builder, &add, NULL, &err), SILT_ECORRUPT);
    sl_file_set_abandon(&builder);
    test_env_check(&t);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    const struct sl_kv values[] = {{SL_STR("p"), SL_STR("1")}};
    struct sl_add add = make_add("p=1/a");
    add.partition_values = (struct sl_kv_list){values, 1};
    add.stats = SL_STR("{}");
    for (size_t n = 1;; n++) {
        struct sl_file_set_builder builder = {0};
        silt_error err = SILT_ERROR_INIT;
        test_env_fail_at(&t, n);
        silt_status status = begin(&builder, &t, 1000, &err);
        if (status == SILT_OK) {
            status = sl_file_set_add(&builder, &add, NULL, &err);
        }
        struct sl_file_set *set = NULL;
        if (status == SILT_OK) {
            status = sl_file_set_finish(&builder, &set, &err);
        }
        const bool reached = t.n_requests >= n;
        test_env_fail_at(&t, 0);
        sl_file_set_unref(set);
        sl_file_set_abandon(&builder);
        assert_int_equal(status, reached ? SILT_ENOMEM : SILT_OK);
        if (!reached) {
            break;
        }
    }
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_out_as_it_went_in),
        cmocka_unit_test(details_are_given_up_beyond_their_limit),
        cmocka_unit_test(a_hundred_thousand_files_take_little_memory),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
