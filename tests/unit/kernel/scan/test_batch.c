/* Assembling struct arrays from columns of other batches. */
#include "kernel/scan/batch.h"

#include <string.h>

#include "base/arrow.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_env_check(&t);
    return 0;
}

static struct ArrowSchema long_schema = {.format = "l", .name = "x"};

static void make_numbers(int64_t first, int64_t n, struct ArrowArray *out)
{
    struct sl_arrow_builder *builder = NULL;
    assert_int_equal(sl_arrow_builder_new(&t.env, &long_schema, &builder, NULL), SILT_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(sl_arrow_append_i64(builder, first + i, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_builder_finish(builder, out, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
}

/* Two columns, 0.. and 100.., of n rows. */
static void make_batch(int64_t n, struct ArrowArray *out)
{
    assert_int_equal(sl_batch_new(&t.env, 2, n, out, NULL), SILT_OK);
    make_numbers(0, n, out->children[0]);
    make_numbers(100, n, out->children[1]);
}

static int64_t number_at(const struct ArrowArray *array, int64_t row)
{
    silt_value value;
    assert_true(sl_value_from_arrow(&long_schema, array, row, &value));
    return value.as.i64;
}

static void first_columns_are_kept_and_the_rest_is_released(void **state)
{
    (void)state;
    struct ArrowArray batch;
    struct ArrowArray kept;
    make_batch(4, &batch);
    assert_int_equal(sl_batch_keep_first(&t.env, &batch, 1, &kept, NULL), SILT_OK);
    assert_null(batch.release);
    assert_int_equal(kept.n_children, 1);
    assert_int_equal(number_at(kept.children[0], 3), 3);
    kept.release(&kept);
}

static void no_columns_still_carry_the_number_of_rows(void **state)
{
    (void)state;
    struct ArrowArray batch;
    struct ArrowArray kept;
    make_batch(4, &batch);
    assert_int_equal(sl_batch_keep_first(&t.env, &batch, 0, &kept, NULL), SILT_OK);
    assert_int_equal(kept.n_children, 0);
    assert_int_equal(kept.length, 4);
    kept.release(&kept);
}

static void offset_of_the_batch_moves_to_its_column(void **state)
{
    (void)state;
    struct ArrowArray batch;
    struct ArrowArray column;
    make_batch(6, &batch);
    batch.offset = 2;
    batch.length = 3;
    assert_int_equal(sl_batch_take_child(&batch, 1, &column, NULL), SILT_OK);
    assert_int_equal(column.length, 3);
    assert_int_equal(number_at(&column, 0), 102);
    assert_int_equal(number_at(&column, 2), 104);
    column.release(&column);
    batch.release(&batch);
}

static void columns_that_are_absent_or_too_short_are_reported(void **state)
{
    (void)state;
    struct ArrowArray batch;
    struct ArrowArray column;
    make_batch(3, &batch);
    assert_int_equal(sl_batch_take_child(&batch, 2, &column, NULL), SILT_EENGINE);
    batch.length = 4;
    assert_int_equal(sl_batch_take_child(&batch, 0, &column, NULL), SILT_EENGINE);
    batch.length = INT64_MAX;
    batch.offset = INT64_MAX;
    assert_int_equal(sl_batch_take_child(&batch, 0, &column, NULL), SILT_EENGINE);
    batch.length = 3;
    batch.offset = 0;
    assert_int_equal(sl_batch_take_child(&batch, 0, &column, NULL), SILT_OK);
    column.release(&column);
    assert_int_equal(sl_batch_take_child(&batch, 0, &column, NULL), SILT_EENGINE);
    batch.release(&batch);
}

static void layouts_are_compared_at_every_level(void **state)
{
    (void)state;
    struct ArrowSchema text = {.format = "u"};
    struct ArrowSchema large = {.format = "U"};
    struct ArrowSchema *one[] = {&text};
    struct ArrowSchema *other[] = {&large};
    struct ArrowSchema list = {.format = "+l", .name = "a", .n_children = 1, .children = one};
    struct ArrowSchema same = {.format = "+l", .name = "b", .flags = 2, .n_children = 1, .children = one};
    struct ArrowSchema differs = {.format = "+l", .n_children = 1, .children = other};
    struct ArrowSchema dictionary = {.format = "u", .dictionary = &large};
    assert_true(sl_batch_same_layout(&list, &same));
    assert_false(sl_batch_same_layout(&list, &differs));
    assert_false(sl_batch_same_layout(&list, &text));
    assert_false(sl_batch_same_layout(&text, &dictionary));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_columns_are_kept_and_the_rest_is_released, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_columns_still_carry_the_number_of_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offset_of_the_batch_moves_to_its_column, set_up, tear_down),
        cmocka_unit_test_setup_teardown(columns_that_are_absent_or_too_short_are_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(layouts_are_compared_at_every_level, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
