/* Statistics that a JSON handler parsed give the same bounds as the kernel's own reader. */
#include "kernel/scan/stats_batch.h"

#include <string.h>

#include "base/arrow.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;

static const struct silt_type integer_type = {.kind = SILT_TYPE_INTEGER};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct sl_str x_path[] = {{"x", 1}};
static const struct sl_str a_path[] = {{"s", 1}, {"a", 1}};
static const struct sl_str b_path[] = {{"s", 1}, {"b", 1}};
static const struct sl_skip_column columns[] = {
    {.path = x_path, .path_len = 1, .type = &integer_type, .physical_path = x_path},
    {.path = a_path, .path_len = 2, .type = &text_type, .physical_path = a_path},
    {.path = b_path, .path_len = 2, .type = &integer_type, .physical_path = b_path},
};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

static void shape_has_one_struct_for_columns_of_one_parent(void **state)
{
    (void)state;
    struct sl_stats_shape shape;
    assert_int_equal(sl_stats_shape_make(&arena, columns, 3, &shape, NULL), SILT_OK);
    assert_int_equal(shape.schema->root.n_fields, 5);
    const struct silt_type *min = shape.schema->root.fields[3].type;
    assert_int_equal(min->n_fields, 2);
    assert_true(sl_str_eq_c(min->fields[1].name, "s"));
    assert_int_equal(min->fields[1].type->n_fields, 2);
    assert_int_equal(min->fields[1].type->fields[0].type->kind, SILT_TYPE_STRING);
    assert_int_equal(shape.schema->root.fields[2].type->fields[1].type->fields[0].type->kind, SILT_TYPE_LONG);
    sl_stats_shape_release(&shape);
}

static struct sl_arrow_builder *child(struct sl_arrow_builder *builder, size_t a, size_t b)
{
    return sl_arrow_builder_child(sl_arrow_builder_child(builder, a), b);
}

/* {"numRecords":number,"minValues":{"x":number,"s":{"a":"k"}}}, or a null row for a negative number. */
static void append_row(struct sl_arrow_builder *builder, int64_t number)
{
    if (number < 0) {
        assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
        return;
    }
    assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(builder, 0), number, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(builder, 1), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(builder, 2), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_i64(child(builder, 3, 0), number, NULL), SILT_OK);
    struct sl_arrow_builder *s = child(builder, 3, 1);
    assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(s, 0), SL_STR("k"), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(s, 1), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(s, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(sl_arrow_builder_child(builder, 3), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(builder, 4), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
}

static void rows_are_read_by_path_with_offsets_and_nulls(void **state)
{
    (void)state;
    struct sl_stats_shape shape;
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray batch;
    assert_int_equal(sl_stats_shape_make(&arena, columns, 3, &shape, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_new(&t.env, &shape.arrow, &builder, NULL), SILT_OK);
    append_row(builder, 5);
    append_row(builder, -1);
    append_row(builder, 7);
    assert_int_equal(sl_arrow_builder_finish(builder, &batch, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    batch.offset = 1;
    batch.length = 2;
    struct sl_bounds bounds[3];
    struct sl_stats_row row = {&shape, &batch, 0};
    struct sl_stats_source source = {sl_stats_row_get, &row};
    sl_stats_bounds(&source, columns, 3, &arena, bounds);
    assert_false(bounds[0].has_row_count || bounds[0].has_min);
    row.row = 1;
    sl_stats_bounds(&source, columns, 3, &arena, bounds);
    assert_int_equal(bounds[0].row_count, 7);
    assert_int_equal(bounds[0].min.as.i64, 7);
    assert_true(bounds[1].has_min);
    assert_true(sl_str_eq_c(sl_value_get_str(&bounds[1].min), "k"));
    assert_false(bounds[2].has_min || bounds[0].has_max || bounds[0].has_null_count);
    batch.offset = 0;
    batch.length = 3;
    batch.release(&batch);
    sl_stats_shape_release(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shape_has_one_struct_for_columns_of_one_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_are_read_by_path_with_offsets_and_nulls, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
