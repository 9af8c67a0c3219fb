/* Delta schemas as Arrow schemas. */
#include "model_fixture.h"

#include <string.h>

#include "base/arrow.h"

static const struct ArrowSchema *child(const struct ArrowSchema *schema, int64_t i, const char *format,
                                       const char *name)
{
    assert_true(i < schema->n_children);
    const struct ArrowSchema *c = schema->children[i];
    assert_string_equal(c->format, format);
    assert_string_equal(c->name, name);
    return c;
}

/* Value of the only metadata key, as the C Data interface encodes it. */
static void check_metadata(const struct ArrowSchema *schema, int32_t index, const char *key, const char *value)
{
    int32_t n = 0;
    int32_t len = 0;
    const char *at = schema->metadata;
    assert_non_null(at);
    memcpy(&n, at, 4);
    at += 4;
    assert_true(index < n);
    for (int32_t i = 0; i < 2 * index; i++) {
        memcpy(&len, at, 4);
        at += 4 + len;
    }
    memcpy(&len, at, 4);
    assert_int_equal(len, strlen(key));
    assert_memory_equal(at + 4, key, (size_t)len);
    at += 4 + len;
    memcpy(&len, at, 4);
    assert_int_equal(len, strlen(value));
    assert_memory_equal(at + 4, value, (size_t)len);
}

static void flat_types_have_their_format(void **state)
{
    struct model *m = *state;
    static const char *const cases[][2] = {
        {"boolean", "b"},          {"tinyint", "c"},  {"smallint", "s"}, {"int", "i"},
        {"bigint", "l"},           {"float", "f"},    {"double", "g"},   {"decimal(38,18)", "d:38,18"},
        {"string", "u"},           {"binary", "z"},   {"date", "tdD"},   {"timestamp", "tsu:UTC"},
        {"timestamp_ntz", "tsu:"}, {"void", "n"},     {"variant", "+s"}, {"array<int>", "+l"},
        {"map<int,int>", "+m"},    {"struct<>", "+s"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char format[32];
        sl_type_arrow_format(model_type(m, cases[i][0]), format, sizeof format);
        assert_string_equal(format, cases[i][1]);
    }
}

static void nested_types_have_their_children(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(
        m, "id: bigint not null, s: struct<a: int>, l: array<string>, m: map<string, date>, v: variant");
    struct ArrowSchema arrow;
    assert_int_equal(silt_schema_to_arrow(schema, &arrow, &m->err), SILT_OK);
    silt_schema_unref(schema); /* the export stands alone */
    assert_string_equal(arrow.format, "+s");
    assert_int_equal(arrow.n_children, 5);
    assert_int_equal(child(&arrow, 0, "l", "id")->flags, 0);
    assert_int_equal(child(child(&arrow, 1, "+s", "s"), 0, "i", "a")->flags, ARROW_FLAG_NULLABLE);
    (void)child(child(&arrow, 2, "+l", "l"), 0, "u", "element");
    const struct ArrowSchema *entries = child(child(&arrow, 3, "+m", "m"), 0, "+s", "entries");
    assert_int_equal(entries->flags, 0);
    assert_int_equal(child(entries, 0, "u", "key")->flags, 0);
    assert_int_equal(child(entries, 1, "tdD", "value")->flags, ARROW_FLAG_NULLABLE);
    const struct ArrowSchema *variant = child(&arrow, 4, "+s", "v");
    check_metadata(variant, 0, "ARROW:extension:name", "arrow.parquet.variant");
    (void)child(variant, 0, "z", "metadata");
    (void)child(variant, 1, "z", "value");
    arrow.release(&arrow);
    assert_null(arrow.release);
}

static void field_ids_become_parquet_field_ids(void **state)
{
    struct model *m = *state;
    const char *json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":"
        "{\"delta.columnMapping.id\":12}},{\"name\":\"b\",\"type\":\"long\",\"nullable\":true,\"metadata\":"
        "{\"delta.columnMapping.id\":3,\"parquet.field.id\":4}},{\"name\":\"c\",\"type\":\"long\",\"nullable\":true,"
        "\"metadata\":{\"parquet.field.id\":\"x\"}}]}";
    silt_schema *schema = NULL;
    struct ArrowSchema arrow;
    assert_int_equal(silt_schema_from_json(&m->test.env, json, strlen(json), &schema, &m->err), SILT_OK);
    assert_int_equal(silt_schema_to_arrow(schema, &arrow, &m->err), SILT_OK);
    check_metadata(arrow.children[0], 0, "PARQUET:field_id", "12");
    check_metadata(arrow.children[1], 0, "PARQUET:field_id", "4");
    assert_null(arrow.children[2]->metadata);
    arrow.release(&arrow);
    silt_schema_unref(schema);
}

static void a_child_may_be_moved_out(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(m, "a: int, s: struct<b: int>");
    struct ArrowSchema arrow;
    struct ArrowSchema moved;
    assert_int_equal(silt_schema_to_arrow(schema, &arrow, &m->err), SILT_OK);
    sl_arrow_schema_move(&moved, arrow.children[1]);
    arrow.release(&arrow);
    assert_string_equal(moved.children[0]->name, "b");
    moved.release(&moved);
    silt_schema_unref(schema);
}

static void what_is_exported_is_imported_alike(void **state)
{
    struct model *m = *state;
    silt_schema *schema = model_schema(
        m, "a: int not null, b: decimal(20,5), s: struct<x: array<struct<y: timestamp not null>>, v: variant>, "
           "m: map<string, array<float>>, n: void, t: timestamp_ntz, z: binary");
    struct ArrowSchema arrow;
    silt_schema *back = NULL;
    assert_int_equal(silt_schema_to_arrow(schema, &arrow, &m->err), SILT_OK);
    assert_int_equal(silt_schema_from_arrow(&m->test.env, &arrow, &back, &m->err), SILT_OK);
    assert_string_equal(silt_schema_json(back), silt_schema_json(schema));
    arrow.release(&arrow);
    silt_schema_unref(back);
    silt_schema_unref(schema);
}

static silt_status export_once(struct model *m, silt_error *err)
{
    const char *json =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"m\",\"nullable\":true,\"metadata\":{\"parquet.field.id\":1},"
        "\"type\":{\"type\":\"map\",\"keyType\":\"long\",\"valueType\":\"variant\",\"valueContainsNull\":true}}]}";
    silt_schema *schema = NULL;
    struct ArrowSchema arrow = {0};
    silt_status status = silt_schema_from_json(&m->test.env, json, strlen(json), &schema, err);
    if (status == SILT_OK) {
        status = silt_schema_to_arrow(schema, &arrow, err);
        assert_true((arrow.release != NULL) == (status == SILT_OK));
    }
    sl_arrow_schema_release(&arrow);
    silt_schema_unref(schema);
    return status;
}

static void running_out_of_memory_is_reported(void **state)
{
    (void)state;
    model_sweep(export_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(flat_types_have_their_format),       MODEL_TEST(nested_types_have_their_children),
        MODEL_TEST(field_ids_become_parquet_field_ids), MODEL_TEST(a_child_may_be_moved_out),
        MODEL_TEST(what_is_exported_is_imported_alike), cmocka_unit_test(running_out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
