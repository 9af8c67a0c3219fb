/* Numbered parameters in parts of a statement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "silt/env.h"
#include "sql/marks.h"

static void the_highest_number_counts_and_names_do_not(void **state)
{
    (void)state;
    assert_int_equal(sl_marks_highest(SL_STR("")), 0);
    assert_int_equal(sl_marks_highest(SL_STR("a + $name")), 0);
    assert_int_equal(sl_marks_highest(SL_STR("$2, $11, $3")), 11);
    assert_int_equal(sl_marks_highest(SL_STR("'$9' -- $8\n/* $7 */ \"$6\" $1")), 1);
    assert_int_equal(sl_marks_highest(SL_STR("$$ $5 $$")), 0); /* a text in dollars */
    assert_int_equal(sl_marks_highest(SL_STR("$99999999999999999999 $99999999")), 0);
}

static void conditions_name_all_numbers_up_to_it(void **state)
{
    (void)state;
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_marks_put(&buf, 0);
    assert_int_equal(buf.len, 0);
    sl_marks_put(&buf, 2);
    assert_string_equal(sl_buf_cstr(&buf), " WHERE ($1 IS NULL OR true) AND ($2 IS NULL OR true)");
    sl_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_number_counts_and_names_do_not),
        cmocka_unit_test(conditions_name_all_numbers_up_to_it),
    };
    return cmocka_run_group_tests_name("marks", tests, NULL, NULL);
}
