/* Schema evolution: what a merge adds and keeps, which types it widens, and which changes live files bear. */
#include "model_fixture.h"

#include <stdio.h>

#include "schema/schema_merge.h"

/* "a int, b struct<x: int>" as a schema. */
static silt_schema *schema_of(struct model *m, const char *columns)
{
    char text[1024];
    const struct silt_type *type = NULL;
    silt_schema *schema = NULL;
    (void)snprintf(text, sizeof text, "struct<%s>", columns);
    if (sl_type_parse(&m->arena, sl_str_from(text), &type, &m->err) != SILT_OK ||
        sl_schema_from_fields(&m->test.env, type->fields, type->n_fields, &schema, &m->err) != SILT_OK) {
        fail_msg("%s: %s", columns, m->err.message);
    }
    return schema;
}

static void expect_merge(struct model *m, const char *table, const char *data, bool widen, const char *expected)
{
    silt_schema *left = schema_of(m, table);
    silt_schema *right = schema_of(m, data);
    silt_schema *merged = NULL;
    struct sl_buf text;
    bool changed = false;
    assert_int_equal(sl_schema_merge(left, right, widen, &merged, &changed, &m->err), SILT_OK);
    sl_buf_init(&text, &m->test.env);
    sl_type_print(&text, &merged->root);
    assert_string_equal(sl_buf_cstr(&text), expected);
    assert_int_equal(changed, merged != left);
    if (changed) {
        assert_int_equal(sl_schema_check_evolution(left, merged, widen, &m->err), SILT_OK);
    }
    sl_buf_release(&text);
    silt_schema_unref(merged);
    silt_schema_unref(right);
    silt_schema_unref(left);
}

static void new_fields_are_appended_at_every_level(void **state)
{
    struct model *m = *state;
    expect_merge(m, "a: int", "a: int", false, "struct<a:int>");
    expect_merge(m, "a: int, b: int", "B: int, c: string, A: int", false, "struct<a:int,b:int,c:string>");
    expect_merge(m, "s: struct<x: int, t: struct<y: int>>", "s: struct<z: date, t: struct<w: int>>", false,
                 "struct<s:struct<x:int,t:struct<y:int,w:int>,z:date>>");
    expect_merge(m, "l: array<struct<x: int>>", "l: array<struct<y: int>>", false,
                 "struct<l:array<struct<x:int,y:int>>>");
    expect_merge(m, "m: map<struct<k: int>, struct<x: int>>", "m: map<struct<k: int, j: int>, struct<y: int>>", false,
                 "struct<m:map<struct<k:int,j:int>,struct<x:int,y:int>>>");
}

static void types_stay_unless_they_may_widen(void **state)
{
    struct model *m = *state;
    expect_merge(m, "a: int", "a: bigint", false, "struct<a:int>");
    expect_merge(m, "a: int", "a: bigint", true, "struct<a:bigint>");
    expect_merge(m, "a: bigint", "a: int", true, "struct<a:bigint>");
    expect_merge(m, "a: float", "a: double", true, "struct<a:double>");
    expect_merge(m, "a: int", "a: double", true, "struct<a:int>"); /* another family */
    expect_merge(m, "a: int", "a: decimal(20,0)", true, "struct<a:int>");
    expect_merge(m, "a: decimal(10,2)", "a: decimal(12,2)", true, "struct<a:decimal(12,2)>");
    expect_merge(m, "a: decimal(10,2)", "a: decimal(10,4)", true, "struct<a:decimal(10,2)>");
    expect_merge(m, "a: date", "a: timestamp_ntz", true, "struct<a:timestamp_ntz>");
    expect_merge(m, "a: int", "a: array<int>", true, "struct<a:int>");
    expect_merge(m, "a: array<int>", "a: array<bigint>", true, "struct<a:array<bigint>>");
}

static void widening_is_recorded_where_the_column_is(void **state)
{
    struct model *m = *state;
    silt_schema *table = schema_of(m, "a: smallint, s: struct<m: map<string, array<int>>>");
    silt_schema *data = schema_of(m, "a: int, s: struct<m: map<string, array<bigint>>>");
    silt_schema *more = schema_of(m, "a: bigint");
    silt_schema *merged = NULL;
    silt_schema *again = NULL;
    bool changed = false;
    assert_int_equal(sl_schema_merge(table, data, true, &merged, &changed, &m->err), SILT_OK);
    assert_int_equal(sl_schema_merge(merged, more, true, &again, &changed, &m->err), SILT_OK);
    assert_string_equal(
        silt_field_metadata(silt_schema_field(again, 0), "delta.typeChanges"),
        "[{\"fromType\":\"short\",\"toType\":\"integer\"},{\"fromType\":\"integer\",\"toType\":\"long\"}]");
    const silt_field *inner = silt_type_field(silt_field_type(silt_schema_field(again, 1)), 0);
    assert_string_equal(silt_field_metadata(inner, "delta.typeChanges"),
                        "[{\"fromType\":\"integer\",\"toType\":\"long\",\"fieldPath\":\"value.element\"}]");
    silt_schema_unref(again);
    silt_schema_unref(merged);
    silt_schema_unref(more);
    silt_schema_unref(data);
    silt_schema_unref(table);
}

static void two_columns_of_one_name_are_refused(void **state)
{
    struct model *m = *state;
    silt_schema *table = schema_of(m, "a: int");
    silt_schema *data = schema_of(m, "b: int, B: int");
    silt_schema *merged = NULL;
    bool changed = false;
    assert_int_equal(sl_schema_merge(table, data, true, &merged, &changed, &m->err), SILT_ESCHEMA);
    assert_null(merged);
    silt_schema_unref(data);
    silt_schema_unref(table);
}

static void expect_change(struct model *m, const char *before, const char *after, bool widen, const char *code)
{
    silt_schema *old = schema_of(m, before);
    silt_schema *new = schema_of(m, after);
    silt_error_reset(&m->err);
    const silt_status status = sl_schema_check_evolution(old, new, widen, &m->err);
    assert_int_equal(status, code == NULL ? SILT_OK : SILT_ESCHEMA);
    assert_string_equal(m->err.code_name, code == NULL ? "" : code);
    silt_schema_unref(new);
    silt_schema_unref(old);
}

static void changes_that_live_files_do_not_bear_are_refused(void **state)
{
    struct model *m = *state;
    expect_change(m, "a: int, b: int", "b: int, a: int", false, NULL);
    expect_change(m, "a: int NOT NULL", "a: int", false, NULL);
    expect_change(m, "a: int", "a: int NOT NULL", false, "DELTA_NEW_NOT_NULL_VIOLATION");
    expect_change(m, "a: int", "a: int, b: int NOT NULL", false, "DELTA_NEW_NOT_NULL_VIOLATION");
    expect_change(m, "a: int, b: int", "a: int", false, "DELTA_METADATA_MISMATCH");
    expect_change(m, "a: int", "A: int", false, "DELTA_METADATA_MISMATCH");
    expect_change(m, "a: int", "a: bigint", false, "DELTA_MERGE_INCOMPATIBLE_DATATYPE");
    expect_change(m, "a: int", "a: bigint", true, NULL);
    expect_change(m, "a: bigint", "a: int", true, "DELTA_MERGE_INCOMPATIBLE_DATATYPE");
    expect_change(m, "a: int", "a: decimal(10,0)", true, NULL);
    expect_change(m, "s: struct<x: int>", "s: struct<x: int, y: int>", false, NULL);
    expect_change(m, "s: struct<x: int>", "s: struct<x: int, y: int NOT NULL>", false, "DELTA_NEW_NOT_NULL_VIOLATION");
    expect_change(m, "s: struct<x: int>", "s: array<int>", true, "DELTA_MERGE_INCOMPATIBLE_DATATYPE");
    expect_change(m, "l: array<struct<x: int>>", "l: array<struct<y: int>>", false, "DELTA_METADATA_MISMATCH");
    expect_change(m, "m: map<int, int>", "m: map<bigint, int>", false, "DELTA_MERGE_INCOMPATIBLE_DATATYPE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_fields_are_appended_at_every_level, model_setup, model_teardown),
        cmocka_unit_test_setup_teardown(types_stay_unless_they_may_widen, model_setup, model_teardown),
        cmocka_unit_test_setup_teardown(widening_is_recorded_where_the_column_is, model_setup, model_teardown),
        cmocka_unit_test_setup_teardown(two_columns_of_one_name_are_refused, model_setup, model_teardown),
        cmocka_unit_test_setup_teardown(changes_that_live_files_do_not_bear_are_refused, model_setup, model_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
