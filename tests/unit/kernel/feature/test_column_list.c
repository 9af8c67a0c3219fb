/* Lists of column names in table properties. */
#include "kernel/feature/column_list.h"

#include "test_env.h"

static void names_are_read_one_by_one_with_their_parts(void **state)
{
    (void)state;
    struct sl_column_list list = {.text = SL_STR(" a , s.`o``d.d` ")};
    bool more = false;
    assert_true(sl_column_list_next(&list, &more));
    assert_true(more);
    assert_int_equal(list.n_parts, 1);
    assert_true(sl_str_eq_c(list.parts[0], "a"));
    assert_true(sl_column_list_next(&list, &more));
    assert_false(more);
    assert_int_equal(list.n_parts, 2);
    assert_true(sl_str_eq_c(list.parts[0], "s"));
    assert_true(sl_str_eq_c(list.parts[1], "o`d.d"));
}

static void what_is_no_list_of_names_is_told(void **state)
{
    (void)state;
    static const char *const bad[] = {"", " ", "a..b", "a-b", "``", "`a", "a,", ",a", "a b", "a.", "`a`b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(sl_column_list_valid(sl_str_from(bad[i])));
    }
    assert_true(sl_column_list_valid(SL_STR("\xC3\xA9,`a,b`")));
}

static void names_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    char deep[2 * SL_COLUMN_LIST_MAX_PARTS + 1];
    char wide[SL_COLUMN_LIST_PART_SIZE + 3];
    for (size_t i = 0; i < sizeof(deep); i++) {
        deep[i] = i % 2 == 0 ? 'a' : '.';
    }
    assert_true(sl_column_list_valid(sl_str_make(deep, sizeof(deep) - 2)));
    assert_false(sl_column_list_valid(sl_str_make(deep, sizeof(deep))));
    memset(wide, 'x', sizeof(wide));
    wide[0] = '`';
    wide[sizeof(wide) - 1] = '`';
    assert_false(sl_column_list_valid(sl_str_make(wide, sizeof(wide))));
    wide[sizeof(wide) - 2] = '`';
    assert_true(sl_column_list_valid(sl_str_make(wide, sizeof(wide) - 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_read_one_by_one_with_their_parts),
        cmocka_unit_test(what_is_no_list_of_names_is_told),
        cmocka_unit_test(names_beyond_the_limits_are_refused),
    };
    return cmocka_run_group_tests_name("column_list", tests, NULL, NULL);
}
