/* Ids and physical names that columns get: of new tables, on a switch to mode name, on a change of the schema. */
#include "model_fixture.h"

#include "schema/column_mapping.h"

#define PLAIN(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FIELD(name, type, meta) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{" meta "}}"
#define MAPPED(physical, id) "\"delta.columnMapping.physicalName\":\"" physical "\",\"delta.columnMapping.id\":" id
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define ARRAY(element) "{\"type\":\"array\",\"elementType\":" element ",\"containsNull\":true}"
#define MAP(key, value) "{\"type\":\"map\",\"keyType\":" key ",\"valueType\":" value ",\"valueContainsNull\":true}"
#define LONG "\"long\""

static silt_schema *schema_of(struct model *m, const char *json)
{
    silt_schema *schema = NULL;
    if (silt_schema_from_json(&m->test.env, json, strlen(json), &schema, &m->err) != SILT_OK) {
        fail_msg("%s", m->err.message);
    }
    return schema;
}

/* Assigns; before NULL: a new table. */
static silt_schema *assign(struct model *m, const char *json, const char *before, struct sl_mapping_assignment how,
                           int64_t *max_id)
{
    silt_schema *schema = schema_of(m, json);
    silt_schema *old = before != NULL ? schema_of(m, before) : NULL;
    silt_schema *out = NULL;
    how.before = old;
    if (sl_schema_assign_mapping(schema, &how, &out, max_id, &m->err) != SILT_OK) {
        fail_msg("%s", m->err.message);
    }
    silt_schema_unref(old);
    silt_schema_unref(schema);
    return out;
}

/* "name=physical#id" of each field of a struct, names that begin with "col-" and a UUID cut to that. */
static void put_fields(struct sl_buf *out, const struct silt_type *type)
{
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        const struct silt_field *field = &type->fields[i];
        struct sl_str name = sl_field_meta_text(field, SL_STR("delta.columnMapping.physicalName"));
        if (sl_str_starts_with(name, SL_STR("col-")) && name.len == 40) {
            name = SL_STR("col-*");
        }
        const struct sl_str id = sl_field_meta_text(field, SL_STR("delta.columnMapping.id"));
        sl_buf_printf(out, "%s%.*s=%.*s#%.*s", out->len > 0 ? " " : "", SL_FMT(field->name), SL_FMT(name), SL_FMT(id));
        put_fields(out, field->type);
    }
    if (type->kind == SILT_TYPE_MAP) {
        put_fields(out, type->key);
    }
    if (type->kind == SILT_TYPE_MAP || type->kind == SILT_TYPE_ARRAY) {
        put_fields(out, type->element);
    }
}

static void assert_fields(struct model *m, silt_schema *schema, const char *expected)
{
    struct sl_buf text = model_buf(m);
    put_fields(&text, &schema->root);
    assert_string_equal(model_text(m, &text), expected);
    silt_schema_unref(schema);
}

static void new_table_gets_random_names_and_ids_at_every_level(void **state)
{
    struct model *m = *state;
    int64_t max_id = 0;
    silt_schema *schema = assign(
        m,
        STRUCT(PLAIN("a", LONG) "," PLAIN("s", STRUCT(PLAIN("x", LONG))) "," PLAIN(
            "l", ARRAY(STRUCT(PLAIN("y", LONG)))) "," PLAIN("m",
                                                            MAP(STRUCT(PLAIN("k", LONG)), STRUCT(PLAIN("v", LONG))))),
        NULL, (struct sl_mapping_assignment){.max_id = 0}, &max_id);
    assert_int_equal(max_id, 8);
    assert_true(sl_schema_has_mapping(schema));
    silt_schema *physical = NULL;
    assert_int_equal(sl_schema_physical(schema, SL_MAPPING_ID, &physical, &m->err), SILT_OK);
    silt_schema_unref(physical);
    silt_schema *dropped = NULL;
    assert_int_equal(sl_schema_drop_mapping(schema, &dropped, &m->err), SILT_OK);
    assert_false(sl_schema_has_mapping(dropped));
    silt_schema_unref(dropped);
    assert_fields(m, schema, "a=col-*#1 s=col-*#2 x=col-*#3 l=col-*#4 y=col-*#5 m=col-*#6 k=col-*#7 v=col-*#8");
}

static void switching_on_makes_names_of_files_the_physical_ones(void **state)
{
    struct model *m = *state;
    int64_t max_id = 0;
    static const char json[] = STRUCT(PLAIN("a", LONG) "," PLAIN("s", STRUCT(PLAIN("x", LONG))));
    assert_fields(m, assign(m, json, json, (struct sl_mapping_assignment){.before_mode = SL_MAPPING_NONE}, &max_id),
                  "a=a#1 s=s#2 x=x#3");
    assert_int_equal(max_id, 3);
}

static void new_columns_get_ids_above_all_that_were_given(void **state)
{
    struct model *m = *state;
    static const char before[] = STRUCT(FIELD("a", LONG, MAPPED("p1", "1")) "," FIELD(
        "s", STRUCT(FIELD("x", LONG, MAPPED("p3", "3"))), MAPPED("p2", "2")));
    const struct sl_mapping_assignment how = {.before_mode = SL_MAPPING_NAME, .max_id = 7};
    int64_t max_id = 0;
    /* Columns that come without names and ids are those that stand at their place, whatever the case; a dropped one's id is not used again. */
    assert_fields(m,
                  assign(m, STRUCT(PLAIN("A", LONG) "," PLAIN("s", STRUCT(PLAIN("x", LONG) "," PLAIN("y", LONG)))),
                         before, how, &max_id),
                  "A=p1#1 s=p2#2 x=p3#3 y=col-*#8");
    assert_int_equal(max_id, 8);
    /* Given names and ids stay: a renamed column. */
    assert_fields(m, assign(m, STRUCT(FIELD("b", LONG, MAPPED("p1", "1"))), before, how, &max_id), "b=p1#1");
    /* Another type is another column; a wider one is the same. */
    assert_fields(m, assign(m, STRUCT(PLAIN("a", "\"string\"") "," PLAIN("s", LONG)), before, how, &max_id),
                  "a=col-*#8 s=col-*#9");
    assert_fields(
        m, assign(m, STRUCT(PLAIN("i", LONG)), STRUCT(FIELD("i", "\"integer\"", MAPPED("p", "4"))), how, &max_id),
        "i=p#4");
}

static void elements_keys_and_values_get_ids_when_asked_for(void **state)
{
    struct model *m = *state;
    struct sl_mapping_assignment how = {.nested_ids = true, .before_mode = SL_MAPPING_NAME};
    int64_t max_id = 0;
    silt_schema *schema = assign(m,
                                 STRUCT(FIELD("l", ARRAY(ARRAY(LONG)), MAPPED("p", "1")) "," FIELD(
                                     "m", MAP(LONG, STRUCT(PLAIN("v", ARRAY(LONG)))), MAPPED("q", "2"))),
                                 NULL, how, &max_id);
    const struct silt_field *l = &schema->root.fields[0];
    const struct silt_field *map = &schema->root.fields[1];
    assert_true(sl_str_eq_c(sl_field_meta_text(l, SL_STR("delta.columnMapping.nested.ids")),
                            "{\"p.element\":3,\"p.element.element\":4}"));
    assert_true(
        sl_str_eq_c(sl_field_meta_text(map, SL_STR("delta.columnMapping.nested.ids")), "{\"q.key\":5,\"q.value\":6}"));
    assert_int_equal(max_id, 8);
    /* They stay what they are when the schema is given anew. */
    how.max_id = max_id;
    silt_schema *again = NULL;
    how.before = schema;
    assert_int_equal(sl_schema_assign_mapping(schema, &how, &again, &max_id, &m->err), SILT_OK);
    assert_int_equal(max_id, 8);
    assert_string_equal(silt_schema_json(again), silt_schema_json(schema));
    silt_schema_unref(again);
    silt_schema_unref(schema);
}

static void ids_that_run_out_are_an_error(void **state)
{
    struct model *m = *state;
    silt_schema *schema = schema_of(m, STRUCT(PLAIN("a", LONG)));
    silt_schema *out = NULL;
    int64_t max_id = 0;
    const struct sl_mapping_assignment how = {.max_id = INT32_MAX};
    assert_int_equal(sl_schema_assign_mapping(schema, &how, &out, &max_id, &m->err), SILT_ELIMIT);
    assert_null(out);
    silt_schema_unref(schema);
}

static silt_status assign_once(struct model *m, silt_error *err)
{
    static const char json[] = STRUCT(PLAIN("l", ARRAY(STRUCT(PLAIN("x", LONG)))));
    silt_schema *schema = NULL;
    silt_schema *out = NULL;
    int64_t max_id = 0;
    const struct sl_mapping_assignment how = {.nested_ids = true};
    silt_status status = silt_schema_from_json(&m->test.env, json, sizeof json - 1, &schema, err);
    if (status == SILT_OK) {
        status = sl_schema_assign_mapping(schema, &how, &out, &max_id, err);
    }
    silt_schema_unref(out);
    silt_schema_unref(schema);
    return status;
}

static void lack_of_memory_leaves_nothing(void **state)
{
    (void)state;
    model_sweep(assign_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(new_table_gets_random_names_and_ids_at_every_level),
        MODEL_TEST(switching_on_makes_names_of_files_the_physical_ones),
        MODEL_TEST(new_columns_get_ids_above_all_that_were_given),
        MODEL_TEST(elements_keys_and_values_get_ids_when_asked_for),
        MODEL_TEST(ids_that_run_out_are_an_error),
        cmocka_unit_test(lack_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
