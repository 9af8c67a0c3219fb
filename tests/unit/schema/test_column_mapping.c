/* The physical schema of a mapped table: names, ids, nesting, and what is refused. */
#include "model_fixture.h"

#include "schema/column_mapping.h"

#define FIELD(name, type, meta) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{" meta "}}"
#define MAPPED(physical, id) "\"delta.columnMapping.physicalName\":\"" physical "\",\"delta.columnMapping.id\":" id
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define ARRAY(element) "{\"type\":\"array\",\"elementType\":" element ",\"containsNull\":true}"
#define MAP(key, value) "{\"type\":\"map\",\"keyType\":" key ",\"valueType\":" value ",\"valueContainsNull\":true}"

static silt_schema *schema_of(struct model *m, const char *json)
{
    silt_schema *schema = NULL;
    if (silt_schema_from_json(&m->test.env, json, strlen(json), &schema, &m->err) != SILT_OK) {
        fail_msg("%s", m->err.message);
    }
    return schema;
}

static void assert_mapped(struct model *m, const char *json, enum sl_mapping_mode mode, const char *expected)
{
    silt_schema *logical = schema_of(m, json);
    silt_schema *physical = NULL;
    if (sl_schema_physical(logical, mode, &physical, &m->err) != SILT_OK) {
        fail_msg("%s", m->err.message);
    }
    struct sl_buf text = model_buf(m);
    sl_type_print(&text, &physical->root);
    assert_string_equal(model_text(m, &text), expected);
    silt_schema_unref(physical);
    silt_schema_unref(logical);
}

static void assert_refused(struct model *m, const char *json, const char *in_message)
{
    static const enum sl_mapping_mode modes[] = {SL_MAPPING_NAME, SL_MAPPING_ID};
    silt_schema *logical = schema_of(m, json);
    for (size_t i = 0; i < 2; i++) {
        silt_schema *physical = NULL;
        assert_int_equal(sl_schema_physical(logical, modes[i], &physical, &m->err), SILT_ECORRUPT);
        assert_null(physical);
        if (strstr(m->err.message, in_message) == NULL) {
            fail_msg("%s", m->err.message);
        }
    }
    silt_schema_unref(logical);
}

static void names_are_replaced_at_every_level(void **state)
{
    assert_mapped(
        *state,
        STRUCT(FIELD("a.b", "\"integer\"", MAPPED("col_1", "1")) "," FIELD(
            "a", STRUCT(FIELD("b", "\"string\"", MAPPED("col_3", "3"))),
            MAPPED("col_2",
                   "2")) "," FIELD("l", ARRAY(STRUCT(FIELD("x y", "\"long\"", MAPPED("col_5", "5")))),
                                   MAPPED("col_4",
                                          "4")) "," FIELD("m",
                                                          MAP(STRUCT(FIELD("k", "\"long\"", MAPPED("col_7", "7"))),
                                                              STRUCT(FIELD("v", "\"long\"", MAPPED("col_8", "8")))),
                                                          MAPPED("col_6", "6"))),
        SL_MAPPING_NAME,
        "struct<col_1:int,col_2:struct<col_3:string>,col_4:array<struct<col_5:bigint>>,"
        "col_6:map<struct<col_7:bigint>,struct<col_8:bigint>>>");
}

/* What is left of a mapping that is no more means nothing. */
static void mode_none_is_the_schema_itself(void **state)
{
    struct model *m = *state;
    silt_schema *logical = schema_of(m, STRUCT(FIELD("a", "\"integer\"", MAPPED("col_1", "1"))));
    silt_schema *physical = NULL;
    assert_int_equal(sl_schema_physical(logical, SL_MAPPING_NONE, &physical, &m->err), SILT_OK);
    assert_ptr_equal(physical, logical);
    silt_schema_unref(physical);
    silt_schema_unref(logical);
}

static void ids_come_where_parquet_readers_look(void **state)
{
    struct model *m = *state;
    silt_schema *logical = schema_of(
        m, STRUCT(FIELD("a", ARRAY("\"integer\""),
                        MAPPED("col_1", "17") ",\"parquet.field.id\":99,\"comment\":\"c\","
                                              "\"delta.columnMapping.nested.ids\":{\"col_1.element\":18}")));
    silt_schema *physical = NULL;
    assert_int_equal(sl_schema_physical(logical, SL_MAPPING_ID, &physical, &m->err), SILT_OK);
    const silt_field *field = silt_schema_field(physical, 0);
    assert_string_equal(silt_field_metadata(field, "parquet.field.id"), "17");
    assert_string_equal(silt_field_metadata(field, "parquet.field.nested.ids"), "{\"col_1.element\":18}");
    assert_string_equal(silt_field_metadata(field, "comment"), "\"c\"");
    silt_schema_unref(physical);
    silt_schema_unref(logical);
}

static void equal_names_of_different_structs_are_no_fault(void **state)
{
    assert_mapped(*state,
                  STRUCT(FIELD("a", STRUCT(FIELD("x", "\"long\"", MAPPED("p", "2"))), MAPPED("a", "1")) "," FIELD(
                      "b", STRUCT(FIELD("x", "\"long\"", MAPPED("p", "4"))), MAPPED("b", "3"))),
                  SL_MAPPING_ID, "struct<a:struct<p:bigint>,b:struct<p:bigint>>");
}

static void what_is_missing_is_refused_with_the_column(void **state)
{
    struct model *m = *state;
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", "\"delta.columnMapping.id\":1")), "column a has no physical name");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", "\"delta.columnMapping.physicalName\":\"p\"")),
                   "column a has no id");
    assert_refused(m, STRUCT(FIELD("a", ARRAY(STRUCT(FIELD("x", "\"long\"", ""))), MAPPED("p", "1"))),
                   "column a.element.x has no physical name");
}

static void what_is_there_twice_is_refused(void **state)
{
    struct model *m = *state;
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p", "1")) "," FIELD("b", "\"long\"", MAPPED("p", "2"))),
                   "the physical name p");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p", "1")) "," FIELD("b", "\"long\"", MAPPED("q", "1"))),
                   "have the same id 1");
}

static void odd_metadata_is_refused(void **state)
{
    struct model *m = *state;
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("", "1"))), "physical name of column a");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p\\u0000q", "1"))), "physical name of column a has a NUL");
    assert_refused(
        m, STRUCT(FIELD("a", "\"long\"", "\"delta.columnMapping.physicalName\":5,\"delta.columnMapping.id\":1")),
        "physical name of column a");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p", "-1"))), "id -1 of column a");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p", "2147483648"))), "id 2147483648 of column a");
    assert_refused(m, STRUCT(FIELD("a", "\"long\"", MAPPED("p", "\"1\""))), "of column a must be a whole number");
}

static void modes_are_known_in_any_case(void **state)
{
    (void)state;
    enum sl_mapping_mode mode = SL_MAPPING_ID;
    assert_true(sl_mapping_mode_parse((struct sl_str){NULL, 0}, &mode));
    assert_int_equal(mode, SL_MAPPING_NONE);
    assert_true(sl_mapping_mode_parse(SL_STR("NAME"), &mode));
    assert_int_equal(mode, SL_MAPPING_NAME);
    assert_true(sl_mapping_mode_parse(SL_STR("id"), &mode));
    assert_int_equal(mode, SL_MAPPING_ID);
    assert_false(sl_mapping_mode_parse(SL_STR("both"), &mode));
}

static void a_path_of_one_part_with_a_dot_is_not_a_path_of_two(void **state)
{
    struct model *m = *state;
    silt_schema *logical = schema_of(
        m, STRUCT(FIELD("a.b", "\"integer\"", MAPPED("one", "1")) "," FIELD(
               "a", STRUCT(FIELD("b", "\"string\"", MAPPED("three", "3"))), MAPPED("two", "2"))));
    silt_schema *physical = NULL;
    assert_int_equal(sl_schema_physical(logical, SL_MAPPING_NAME, &physical, &m->err), SILT_OK);
    struct sl_str out[2];
    const struct sl_str one[] = {SL_STR("a.b")};
    const struct sl_str two[] = {SL_STR("a"), SL_STR("b")};
    assert_true(sl_schema_physical_path(logical, physical, one, 1, out));
    assert_true(sl_str_eq_c(out[0], "one"));
    assert_true(sl_schema_physical_path(logical, physical, two, 2, out));
    assert_true(sl_str_eq_c(out[0], "two") && sl_str_eq_c(out[1], "three"));
    assert_false(sl_schema_physical_path(logical, physical, &two[1], 1, out));
    silt_schema_unref(physical);
    silt_schema_unref(logical);
}

static silt_status map_once(struct model *m, silt_error *err)
{
    static const char json[] = STRUCT(
        FIELD("l", ARRAY(STRUCT(FIELD("x", "\"long\"", MAPPED("p", "2")))), MAPPED("q", "1")));
    silt_schema *logical = NULL;
    silt_schema *physical = NULL;
    silt_status status = silt_schema_from_json(&m->test.env, json, sizeof json - 1, &logical, err);
    if (status == SILT_OK) {
        status = sl_schema_physical(logical, SL_MAPPING_NAME, &physical, err);
    }
    silt_schema_unref(physical);
    silt_schema_unref(logical);
    return status;
}

static void lack_of_memory_leaves_nothing(void **state)
{
    (void)state;
    model_sweep(map_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(names_are_replaced_at_every_level),
        MODEL_TEST(mode_none_is_the_schema_itself),
        MODEL_TEST(ids_come_where_parquet_readers_look),
        MODEL_TEST(equal_names_of_different_structs_are_no_fault),
        MODEL_TEST(what_is_missing_is_refused_with_the_column),
        MODEL_TEST(what_is_there_twice_is_refused),
        MODEL_TEST(odd_metadata_is_refused),
        cmocka_unit_test(modes_are_known_in_any_case),
        MODEL_TEST(a_path_of_one_part_with_a_dot_is_not_a_path_of_two),
        cmocka_unit_test(lack_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
