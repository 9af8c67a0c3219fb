/*
 * What a commit holds only once: names, and files by hashes that may be equal by chance.
 */
#include "kernel/log/commit_rules.h"

#include <string.h>

#include "base/error.h"
#include "test_env.h"

struct fixture {
    struct test_env test;
    struct sl_commit_rules rules;
    silt_error err;
    size_t n_compared;
    uint64_t same_place; /* the one that repeats another */
    silt_status status;  /* what comparing answers */
};

static int setup(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.err = SILT_ERROR_INIT};
    test_env_init(&fixture.test);
    sl_commit_rules_init(&fixture.rules, &fixture.test.env);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    sl_commit_rules_release(&f->rules);
    test_env_check(&f->test);
    return 0;
}

static silt_status compare(void *ctx, uint64_t first, uint64_t second, bool *is_same, silt_error *err)
{
    (void)err;
    struct fixture *f = ctx;
    assert_true(first < second);
    f->n_compared++;
    *is_same = second == f->same_place;
    return f->status;
}

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static void add_marks(struct fixture *f, size_t n, size_t equal_every)
{
    for (size_t i = 0; i < n; i++) {
        const size_t of = equal_every > 0 && i % equal_every == equal_every - 1 ? i / 2 : i;
        const struct sl_file_mark mark = {mix(of), i * 10};
        assert_int_equal(sl_commit_rules_add_marks(&f->rules, &mark, 1, &f->err), SILT_OK);
    }
}

static bool find(struct fixture *f, uint64_t *second)
{
    const struct sl_file_twins twins = {compare, f};
    bool found = false;
    f->n_compared = 0;
    assert_int_equal(sl_commit_rules_find_twice(&f->rules, &twins, &found, second, &f->err), SILT_OK);
    return found;
}

static void different_hashes_are_never_compared(void **state)
{
    struct fixture *f = *state;
    uint64_t second = 0;
    assert_false(find(f, &second));
    add_marks(f, 1, 0);
    assert_false(find(f, &second));
    add_marks(f, 0, 0);
    f->rules.marks.len = 0;
    add_marks(f, 30000, 0);
    assert_false(find(f, &second));
    assert_int_equal(f->n_compared, 0);
}

static void equal_hashes_are_compared_exactly(void **state)
{
    struct fixture *f = *state;
    uint64_t second = 0;
    static const size_t sizes[] = {2, 40, 3000, 50000};
    for (size_t i = 0; i < 4; i++) {
        f->rules.marks.len = 0;
        f->same_place = UINT64_MAX;
        add_marks(f, sizes[i], 7);
        assert_false(find(f, &second));
        assert_true(sizes[i] < 7 || f->n_compared > sizes[i] / 15);
    }
    f->same_place = 6 * 10 + 7 * 10 * 100;
    assert_true(find(f, &second));
    assert_true(second == f->same_place);
}

static void all_files_in_one_part_are_still_told_apart(void **state)
{
    struct fixture *f = *state;
    uint64_t second = 0;
    for (size_t i = 0; i < 20000; i++) {
        const struct sl_file_mark mark = {mix(i) >> 16, i}; /* their highest bits are all zero */
        assert_int_equal(sl_commit_rules_add_marks(&f->rules, &mark, 1, &f->err), SILT_OK);
    }
    assert_false(find(f, &second));
}

static void a_failure_to_compare_is_passed_on(void **state)
{
    struct fixture *f = *state;
    const struct sl_file_twins twins = {compare, f};
    bool found = true;
    uint64_t second = 0;
    add_marks(f, 20, 7);
    f->status = SILT_EIO;
    assert_int_equal(sl_commit_rules_find_twice(&f->rules, &twins, &found, &second, &f->err), SILT_EIO);
    assert_false(found);
}

static void every_failed_allocation_is_reported(void **state)
{
    struct fixture *f = *state;
    const struct sl_file_twins twins = {compare, f};
    add_marks(f, 10000, 0);
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status != SILT_OK; n++) {
        assert_true(n < 100);
        bool found = false;
        uint64_t second = 0;
        test_env_fail_at(&f->test, n);
        status = sl_commit_rules_find_twice(&f->rules, &twins, &found, &second, &f->err);
        test_env_fail_at(&f->test, 0);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
    }
}

static void files_are_told_apart_by_path_and_vector(void **state)
{
    (void)state;
    const struct sl_dv_descriptor a = {.storage_type = SL_STR("u"), .path_or_inline_dv = SL_STR("v"), .offset = 1};
    struct sl_dv_descriptor b = a;
    struct sl_action add = {.kind = SL_ACTION_ADD, .u.add = {.path = SL_STR("f"), .deletion_vector = &a}};
    struct sl_action remove = {.kind = SL_ACTION_REMOVE, .u.remove = {.path = SL_STR("f"), .deletion_vector = &b}};
    const struct sl_action other = {.kind = SL_ACTION_CDC};
    uint64_t hashes[2] = {0, 0};
    assert_true(sl_file_hash(&add, 5, &hashes[0]) && sl_file_hash(&remove, 5, &hashes[1]));
    assert_true(hashes[0] == hashes[1] && sl_same_file(&add, &remove));
    assert_true(sl_file_hash(&add, 6, &hashes[1]) && hashes[0] != hashes[1]);
    b.offset = 2;
    assert_false(sl_same_file(&add, &remove));
    remove.u.remove.deletion_vector = NULL;
    assert_false(sl_same_file(&add, &remove));
    add.u.add.deletion_vector = NULL;
    assert_true(sl_same_file(&add, &remove));
    assert_false(sl_file_hash(&other, 5, &hashes[0]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(different_hashes_are_never_compared),        TEST(equal_hashes_are_compared_exactly),
        TEST(all_files_in_one_part_are_still_told_apart), TEST(a_failure_to_compare_is_passed_on),
        TEST(every_failed_allocation_is_reported),        TEST(files_are_told_apart_by_path_and_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
