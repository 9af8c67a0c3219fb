/* Sets of byte ranges, against a plain array of flags. */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "storage/cache/cache_ranges.h"

#define SPACE 64

struct model {
    bool there[SPACE];
};

static void add_both(struct sl_vec *set, struct model *model, int64_t begin, int64_t end)
{
    assert_true(sl_ranges_add(set, (struct sl_range){begin, end}));
    for (int64_t i = begin; i < end; i++) {
        model->there[i] = true;
    }
}

static void expect_same(const struct sl_vec *set, const struct model *model)
{
    int64_t last = -2;
    struct model seen = {0};
    int64_t bytes = 0;
    for (size_t i = 0; i < set->len; i++) {
        const struct sl_range range = *(struct sl_range *)sl_vec_at(set, i);
        assert_true(range.begin < range.end);
        assert_true(range.begin > last); /* apart: what touches is one */
        last = range.end;
        bytes += range.end - range.begin;
        memset(seen.there + range.begin, 1, (size_t)(range.end - range.begin));
    }
    assert_memory_equal(&seen, model, sizeof(seen));
    assert_int_equal(sl_ranges_bytes(set), bytes);
}

static void expect_answers(const struct sl_vec *set, const struct model *model, const silt_env *env)
{
    for (int64_t begin = 0; begin < SPACE; begin += 3) {
        for (int64_t end = begin; end <= SPACE; end += 5) {
            struct sl_vec missing;
            struct model filled = *model;
            sl_vec_init(&missing, env, sizeof(struct sl_range));
            assert_true(sl_ranges_missing(set, (struct sl_range){begin, end}, &missing));
            bool all = true;
            for (int64_t i = begin; i < end; i++) {
                all = all && model->there[i];
            }
            assert_int_equal(sl_ranges_cover(set, (struct sl_range){begin, end}), all);
            assert_int_equal(missing.len == 0, all);
            for (size_t i = 0; i < missing.len; i++) {
                const struct sl_range range = *(struct sl_range *)sl_vec_at(&missing, i);
                assert_true(range.begin >= begin && range.end <= end);
                for (int64_t k = range.begin; k < range.end; k++) {
                    assert_false(filled.there[k]);
                    filled.there[k] = true;
                }
            }
            for (int64_t i = begin; i < end; i++) {
                assert_true(filled.there[i]);
            }
            sl_vec_release(&missing);
        }
    }
}

static void sets_hold_what_was_added(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    uint64_t random = 7;
    for (int round = 0; round < 300; round++) {
        struct sl_vec set;
        struct model model = {0};
        sl_vec_init(&set, &t.env, sizeof(struct sl_range));
        for (int i = 0; i < 12; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            const int64_t begin = (int64_t)(random >> 33) % SPACE;
            const int64_t n = (int64_t)(random >> 50) % 9;
            add_both(&set, &model, begin, begin + n > SPACE ? SPACE : begin + n);
            expect_same(&set, &model);
        }
        if (round % 20 == 0) {
            expect_answers(&set, &model, &t.env);
        }
        sl_vec_release(&set);
    }
    test_env_check(&t);
}

static void gaps_are_closed_up_to_a_width(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_vec set;
    sl_vec_init(&set, &t.env, sizeof(struct sl_range));
    sl_ranges_close_gaps(&set, 10);
    assert_int_equal(set.len, 0);
    static const struct sl_range ranges[] = {{0, 10}, {20, 30}, {41, 50}, {51, 52}};
    for (size_t i = 0; i < 4; i++) {
        assert_true(sl_ranges_add(&set, ranges[i]));
    }
    sl_ranges_close_gaps(&set, 10);
    assert_int_equal(set.len, 2);
    assert_int_equal(((struct sl_range *)set.data)[0].end, 30);
    assert_int_equal(((struct sl_range *)set.data)[1].begin, 41);
    assert_int_equal(((struct sl_range *)set.data)[1].end, 52);
    sl_vec_release(&set);
    test_env_check(&t);
}

static void without_memory_a_set_stays_as_it_was(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_vec set;
    sl_vec_init(&set, &t.env, sizeof(struct sl_range));
    for (int64_t i = 0; i < 200; i++) {
        const size_t before = set.len;
        test_env_fail_at(&t, 1);
        const bool added = sl_ranges_add(&set, (struct sl_range){i * 2, i * 2 + 1});
        assert_int_equal(set.len, before + (added ? 1 : 0));
        test_env_fail_at(&t, 0);
        if (!added) {
            assert_true(sl_ranges_add(&set, (struct sl_range){i * 2, i * 2 + 1}));
        }
    }
    assert_int_equal(set.len, 200);
    sl_vec_release(&set);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_hold_what_was_added),
        cmocka_unit_test(gaps_are_closed_up_to_a_width),
        cmocka_unit_test(without_memory_a_set_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
