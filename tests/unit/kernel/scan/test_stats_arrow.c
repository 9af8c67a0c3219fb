/* Typed statistics and partition values of checkpoints, in every type that writers store them in. */
#include "kernel/scan/stats_arrow.h"

#include <math.h>
#include <string.h>

#include "base/arrow.h"
#include "schema/value.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;

static const struct sl_str x_path[] = {{"x", 1}};
static const struct sl_str a_path[] = {{"s", 1}, {"a", 1}};

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

static void keep(struct ArrowSchema *schema)
{
    schema->release = NULL; /* lives in the arena */
}

static struct ArrowSchema *node(const char *name, const char *format, int64_t n_children)
{
    struct ArrowSchema *schema = sl_arena_alloc_zero(&arena, sizeof(*schema));
    assert_non_null(schema);
    *schema = (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .n_children = n_children, .release = keep};
    schema->children = sl_arena_alloc_array(&arena, (size_t)n_children + 1, sizeof(struct ArrowSchema *));
    assert_non_null(schema->children);
    return schema;
}

/* {numRecords, nullCount.x, minValues.x, maxValues.x}, bounds of one format. */
static struct ArrowSchema *stats_schema(const char *format)
{
    struct ArrowSchema *top = node("stats_parsed", "+s", 4);
    top->children[0] = node("numRecords", "l", 0);
    top->children[1] = node("nullCount", "+s", 1);
    top->children[1]->children[0] = node("x", "l", 0);
    top->children[2] = node("minValues", "+s", 1);
    top->children[2]->children[0] = node("x", format, 0);
    top->children[3] = node("maxValues", "+s", 1);
    top->children[3]->children[0] = node("x", format, 0);
    return top;
}

static void append(struct sl_arrow_builder *builder, const silt_value *v)
{
    silt_status status = SILT_OK;
    if (v->is_null) {
        status = sl_arrow_append_null(builder, NULL);
    } else if (v->kind == SILT_TYPE_FLOAT || v->kind == SILT_TYPE_DOUBLE) {
        status = sl_arrow_append_f64(builder, v->as.f64, NULL);
    } else if (v->kind == SILT_TYPE_STRING || v->kind == SILT_TYPE_BINARY) {
        status = sl_arrow_append_bytes(builder, sl_value_get_str(v), NULL);
    } else if (v->kind == SILT_TYPE_DECIMAL) {
        status = sl_arrow_append_decimal(builder, v->as.decimal.hi, v->as.decimal.lo, NULL);
    } else {
        status = sl_arrow_append_i64(builder, v->as.i64, NULL);
    }
    assert_int_equal(status, SILT_OK);
}

static void append_bound(struct sl_arrow_builder *part, const silt_value *v)
{
    append(sl_arrow_builder_child(part, 0), v);
    assert_int_equal(sl_arrow_append_nested(part, NULL), SILT_OK);
}

/* Claims of one row {10, 1, value, value}, preceded by a null row that an offset hides. */
static bool read_format(const char *format, const silt_value *value, const struct silt_type *type,
                        struct sl_bounds *out)
{
    const struct sl_skip_column column = {.path = x_path, .path_len = 1, .type = type, .physical_path = x_path};
    /* The builder makes no milliseconds; they lie as integers do. */
    const bool is_ms = strcmp(format, "tsm:UTC") == 0;
    struct ArrowSchema *schema = stats_schema(is_ms ? "l" : format);
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray batch;
    struct sl_claims claims;
    struct sl_stats_arrow stats;
    const silt_value one = sl_value_i64(SILT_TYPE_LONG, 1);
    assert_int_equal(sl_arrow_builder_new(&t.env, schema, &builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(builder, 0), 10, NULL), SILT_OK);
    append_bound(sl_arrow_builder_child(builder, 1), &one);
    append_bound(sl_arrow_builder_child(builder, 2), value);
    append_bound(sl_arrow_builder_child(builder, 3), value);
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &batch, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    schema = stats_schema(format);
    assert_int_equal(sl_stats_arrow_bind(&stats, &arena, schema, &column, 1, NULL), SILT_OK);
    assert_true(sl_stats_arrow_set(&stats, &batch));
    assert_false(sl_stats_arrow_claims(&stats, 0, &claims, out));
    assert_false(out->has_min || claims.has_rows);
    batch.offset = 1;
    batch.length = 1;
    assert_true(sl_stats_arrow_claims(&stats, 0, &claims, out));
    assert_true(claims.has_rows && claims.rows == 10);
    assert_true(out->has_null_count && out->null_count == 1);
    assert_int_equal(out->has_min, out->has_max);
    if (out->has_min && (type->kind == SILT_TYPE_STRING || type->kind == SILT_TYPE_BINARY)) {
        assert_true(sl_value_copy(&arena, &out->min, &out->min)); /* outlives the batch */
    }
    assert_int_equal(sl_stats_arrow_covers(&stats, 0),
                     out->has_min || isnan(value->kind == SILT_TYPE_DOUBLE ? value->as.f64 : 0));
    assert_int_equal(sl_stats_believe(&claims, &column, 1, &arena, out, NULL), SILT_OK);
    batch.offset = 0;
    batch.length = 2;
    batch.release(&batch);
    return out->has_min;
}

static struct silt_type type_of(silt_type_kind kind)
{
    return (struct silt_type){.kind = kind};
}

static void integers_of_any_width_bound_wider_columns(void **state)
{
    (void)state;
    static const char *const formats[] = {"c", "s", "i", "l"};
    const silt_value five = sl_value_i64(SILT_TYPE_LONG, 5);
    const silt_type_kind kinds[] = {SILT_TYPE_BYTE, SILT_TYPE_SHORT, SILT_TYPE_INTEGER, SILT_TYPE_LONG};
    struct sl_bounds b;
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 4; k++) {
            const struct silt_type type = type_of(kinds[k]);
            assert_true(read_format(formats[i], &five, &type, &b));
            assert_int_equal(b.min.kind, kinds[k]);
            assert_int_equal(b.min.as.i64, 5);
        }
        const struct silt_type decimal = {.kind = SILT_TYPE_DECIMAL, .precision = 20, .scale = 2};
        const struct silt_type wide = type_of(SILT_TYPE_DOUBLE);
        assert_true(read_format(formats[i], &five, &decimal, &b));
        assert_true(sl_value_get_i128(&b.min) == 500);
        assert_true(read_format(formats[i], &five, &wide, &b));
        assert_int_equal(b.min.kind, SILT_TYPE_DOUBLE);
    }
    const struct silt_type date = type_of(SILT_TYPE_DATE);
    const struct silt_type text = type_of(SILT_TYPE_STRING);
    assert_false(read_format("l", &five, &text, &b));
    assert_false(read_format("i", &five, &date, &b));
}

static void timestamps_without_unit_bound_nothing(void **state)
{
    (void)state;
    const silt_value value = sl_value_i64(SILT_TYPE_LONG, INT64_C(1577836800000000));
    const struct silt_type zoned = type_of(SILT_TYPE_TIMESTAMP);
    const struct silt_type plain = type_of(SILT_TYPE_TIMESTAMP_NTZ);
    struct sl_bounds b;
    assert_false(read_format("l", &value, &zoned, &b));
    assert_false(read_format("l", &value, &plain, &b));
}

static void int96_and_annotated_timestamps_are_instants(void **state)
{
    (void)state;
    const int64_t us = INT64_C(1577836800000000);
    const silt_value value = sl_value_i64(SILT_TYPE_LONG, us);
    const silt_value milliseconds = sl_value_i64(SILT_TYPE_LONG, us / 1000);
    const struct silt_type zoned = type_of(SILT_TYPE_TIMESTAMP);
    const struct silt_type plain = type_of(SILT_TYPE_TIMESTAMP_NTZ);
    struct sl_bounds b;
    assert_true(read_format("tsu:UTC", &value, &zoned, &b));
    assert_int_equal(b.min.as.i64, us - 999);
    assert_int_equal(b.max.as.i64, us + 999);
    assert_true(read_format("tsu:", &value, &zoned, &b)); /* what readers make of INT96 */
    assert_true(read_format("tsm:UTC", &milliseconds, &zoned, &b));
    assert_int_equal(b.max.as.i64, us + 999);
    assert_true(read_format("tsu:", &value, &plain, &b));
    assert_false(read_format("tsu:UTC", &value, &plain, &b));
}

static void a_date_bounds_the_wall_clock_that_it_became_and_no_instant(void **state)
{
    (void)state;
    const silt_value day = sl_value_i64(SILT_TYPE_DATE, 18262);
    const struct silt_type zoned = type_of(SILT_TYPE_TIMESTAMP);
    const struct silt_type plain = type_of(SILT_TYPE_TIMESTAMP_NTZ);
    const struct silt_type date = type_of(SILT_TYPE_DATE);
    struct sl_bounds b;
    assert_true(read_format("tdD", &day, &plain, &b));
    assert_int_equal(b.max.as.i64, 18262 * INT64_C(86400000000) + 999);
    assert_true(read_format("tdD", &day, &date, &b));
    assert_false(read_format("tdD", &day, &zoned, &b));
}

static void decimals_bound_wider_ones_exactly(void **state)
{
    (void)state;
    const silt_value value = sl_value_decimal(125, 5, 2);
    const struct silt_type wide = {.kind = SILT_TYPE_DECIMAL, .precision = 10, .scale = 4};
    struct sl_bounds b;
    assert_true(read_format("d:5,2", &value, &wide, &b));
    assert_true(sl_value_get_i128(&b.min) == 12500);
    const struct silt_type text = type_of(SILT_TYPE_STRING);
    assert_false(read_format("d:5,2", &value, &text, &b));
}

static void floats_bound_doubles_and_doubles_bound_floats(void **state)
{
    (void)state;
    const silt_value tenth = sl_value_f64(SILT_TYPE_FLOAT, (double)0.1F);
    const silt_value written = sl_value_f64(SILT_TYPE_DOUBLE, 0.1);
    const silt_value nan_value = sl_value_f64(SILT_TYPE_DOUBLE, (double)NAN);
    const struct silt_type wide = type_of(SILT_TYPE_DOUBLE);
    const struct silt_type narrow = type_of(SILT_TYPE_FLOAT);
    struct sl_bounds b;
    assert_true(read_format("f", &tenth, &wide, &b));
    assert_true(b.min.as.f64 <= (double)0.1F && b.max.as.f64 >= (double)0.1F);
    assert_true(read_format("g", &written, &narrow, &b));
    assert_true(b.min.as.f64 <= 0.1 && b.max.as.f64 >= (double)0.1F);
    assert_false(read_format("g", &nan_value, &wide, &b));
}

static void text_is_read_in_every_layout(void **state)
{
    (void)state;
    const silt_value value = sl_value_bytes(SILT_TYPE_STRING, SL_STR("abc"));
    const struct silt_type type = type_of(SILT_TYPE_STRING);
    const struct silt_type binary = type_of(SILT_TYPE_BINARY);
    static const char *const formats[] = {"u", "z"};
    struct sl_bounds b;
    for (size_t i = 0; i < 2; i++) {
        assert_true(read_format(formats[i], &value, &type, &b));
        assert_true(sl_str_eq_c(sl_value_get_str(&b.min), "abc"));
        assert_false(read_format(formats[i], &value, &binary, &b));
    }
}

static void missing_and_nested_columns_claim_what_is_there(void **state)
{
    (void)state;
    const struct silt_type type = type_of(SILT_TYPE_LONG);
    const struct sl_skip_column columns[] = {{.path = a_path, .path_len = 2, .type = &type, .physical_path = a_path},
                                             {.path = x_path, .path_len = 1, .type = &type, .physical_path = x_path}};
    struct ArrowSchema *schema = node("stats_parsed", "+s", 2);
    schema->children[0] = node("minValues", "+s", 1);
    schema->children[0]->children[0] = node("s", "+s", 1);
    schema->children[0]->children[0]->children[0] = node("a", "i", 0);
    schema->children[1] = node("tightBounds", "b", 0);
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray batch;
    assert_int_equal(sl_arrow_builder_new(&t.env, schema, &builder, NULL), SILT_OK);
    struct sl_arrow_builder *min = sl_arrow_builder_child(builder, 0);
    struct sl_arrow_builder *s = sl_arrow_builder_child(min, 0);
    for (int64_t row = 0; row < 3; row++) {
        assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(s, 0), 7 + row, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(s, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(min, NULL), SILT_OK);
        assert_int_equal(row == 0 ? sl_arrow_append_null(sl_arrow_builder_child(builder, 1), NULL)
                                  : sl_arrow_append_i64(sl_arrow_builder_child(builder, 1), row - 1, NULL),
                         SILT_OK);
        assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_builder_finish(builder, &batch, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    struct sl_stats_arrow stats;
    struct sl_claims claims;
    struct sl_bounds bounds[2];
    static const enum sl_tightness expected[] = {SL_TIGHT_UNSAID, SL_WIDE, SL_TIGHT};
    assert_int_equal(sl_stats_arrow_bind(&stats, &arena, schema, columns, 2, NULL), SILT_OK);
    assert_false(sl_stats_arrow_covers(&stats, 0) || sl_stats_arrow_covers(&stats, 1));
    assert_true(sl_stats_arrow_set(&stats, &batch));
    for (int64_t row = 0; row < 3; row++) {
        assert_true(sl_stats_arrow_claims(&stats, row, &claims, bounds));
        assert_true(bounds[0].has_min && bounds[0].min.as.i64 == 7 + row);
        assert_false(bounds[0].has_max || bounds[0].has_null_count || bounds[1].has_min || claims.has_rows);
        assert_int_equal(claims.tightness, expected[row]);
    }
    assert_false(sl_stats_arrow_claims(&stats, 3, &claims, bounds) && bounds[0].has_min);
    /* An array that is not of the schema. */
    struct ArrowArray wrong = {.length = 3, .n_buffers = 1};
    assert_false(sl_stats_arrow_set(&stats, &wrong));
    assert_false(sl_stats_arrow_claims(&stats, 0, &claims, bounds) && bounds[0].has_min);
    batch.release(&batch);
}

/* ---- partition values ---- */

static bool read_partition(const char *format, const silt_value *value, silt_type_kind kind, silt_value *out)
{
    const struct silt_type type = {.kind = kind, .precision = 10, .scale = 2};
    const struct sl_partition_column column = {.name = {"p", 1}, .type = &type, .physical = {"p", 1}};
    struct ArrowSchema *schema = node("partitionValues_parsed", "+s", 1);
    schema->children[0] = node("p", format, 0);
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray batch;
    struct sl_partition_arrow values;
    assert_int_equal(sl_arrow_builder_new(&t.env, schema, &builder, NULL), SILT_OK);
    append(sl_arrow_builder_child(builder, 0), value);
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &batch, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    assert_int_equal(sl_partition_arrow_bind(&values, &arena, schema, &column, 1, NULL), SILT_OK);
    assert_true(sl_partition_arrow_set(&values, &batch));
    const bool known = sl_partition_arrow_get(&values, 0, 0, out);
    if (known) {
        assert_true(sl_value_copy(&arena, out, out));
    }
    batch.release(&batch);
    return known;
}

static void partition_values_are_known_where_their_text_says_the_same(void **state)
{
    (void)state;
    silt_value out;
    const silt_value five = sl_value_i64(SILT_TYPE_LONG, 5);
    const silt_value text = sl_value_bytes(SILT_TYPE_STRING, SL_STR("a"));
    const silt_value empty = sl_value_bytes(SILT_TYPE_STRING, SL_STR(""));
    const silt_value none = sl_value_null(SILT_TYPE_LONG);
    const silt_value tenth = sl_value_f64(SILT_TYPE_FLOAT, (double)0.1F);
    const silt_value decimal = sl_value_decimal(125, 5, 1);
    assert_true(read_partition("i", &five, SILT_TYPE_LONG, &out) && out.as.i64 == 5);
    assert_true(read_partition("u", &text, SILT_TYPE_STRING, &out));
    assert_true(read_partition("tdD", &five, SILT_TYPE_DATE, &out));
    assert_true(read_partition("tsu:", &five, SILT_TYPE_TIMESTAMP_NTZ, &out));
    assert_true(read_partition("d:5,1", &decimal, SILT_TYPE_DECIMAL, &out));
    assert_true(sl_value_get_i128(&out) == 1250);
    /* An empty text, nulls and instants are for the text to tell. */
    assert_false(read_partition("u", &empty, SILT_TYPE_STRING, &out));
    assert_false(read_partition("i", &none, SILT_TYPE_LONG, &out));
    assert_false(read_partition("tsu:UTC", &five, SILT_TYPE_TIMESTAMP, &out));
    assert_false(read_partition("z", &text, SILT_TYPE_BINARY, &out));
    assert_false(read_partition("f", &tenth, SILT_TYPE_DOUBLE, &out));
    assert_true(read_partition("f", &tenth, SILT_TYPE_FLOAT, &out));
    assert_false(read_partition("u", &text, SILT_TYPE_LONG, &out));
}

static void nothing_bound_knows_nothing(void **state)
{
    (void)state;
    const struct silt_type type = type_of(SILT_TYPE_LONG);
    const struct sl_partition_column column = {.name = {"p", 1}, .type = &type, .physical = {"p", 1}};
    struct sl_stats_arrow stats = {0};
    struct sl_partition_arrow values = {.columns = &column, .n = 1};
    struct sl_claims claims;
    struct sl_bounds bounds;
    silt_value out;
    struct ArrowArray array = {.length = 1};
    assert_false(sl_stats_arrow_set(&stats, &array) || sl_partition_arrow_set(&values, &array));
    assert_false(sl_stats_arrow_claims(&stats, 0, &claims, &bounds) || sl_stats_arrow_covers(&stats, 0));
    assert_false(sl_partition_arrow_get(&values, 0, 0, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(integers_of_any_width_bound_wider_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timestamps_without_unit_bound_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(int96_and_annotated_timestamps_are_instants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_date_bounds_the_wall_clock_that_it_became_and_no_instant, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decimals_bound_wider_ones_exactly, set_up, tear_down),
        cmocka_unit_test_setup_teardown(floats_bound_doubles_and_doubles_bound_floats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_is_read_in_every_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_and_nested_columns_claim_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partition_values_are_known_where_their_text_says_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_bound_knows_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
