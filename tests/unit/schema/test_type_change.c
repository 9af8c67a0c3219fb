/* Changes of a column's type: the protocol's list, the check of a schema's records, and a field's history. */
#include "model_fixture.h"

#include <stdio.h>

#include "schema/type_change.h"

static silt_schema *schema_with(struct model *m, const char *type_json, const char *changes)
{
    char json[1024];
    silt_schema *schema = NULL;
    (void)snprintf(
        json, sizeof json,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":"
        "\"c\",\"type\":%s,\"nullable\":true,\"metadata\":{\"delta.typeChanges\":%s}}]},\"nullable\":true,"
        "\"metadata\":{}}]}",
        type_json, changes);
    if (silt_schema_from_json(&m->test.env, json, strlen(json), &schema, &m->err) != SILT_OK) {
        fail_msg("%s", m->err.message);
    }
    return schema;
}

static silt_status check(struct model *m, const char *type_json, const char *changes)
{
    silt_schema *schema = schema_with(m, type_json, changes);
    const silt_status status = sl_schema_check_type_changes(schema, &m->err);
    silt_schema_unref(schema);
    return status;
}

/* PROTOCOL: the whole list, and what is next to it. */
static void pairs_are_those_of_the_protocol(void **state)
{
    struct model *m = *state;
    static const char *const types[] = {
        "tinyint",       "smallint",      "int",           "bigint",        "float",         "double",
        "date",          "timestamp_ntz", "timestamp",     "string",        "boolean",       "binary",
        "decimal(9,0)",  "decimal(10,0)", "decimal(12,2)", "decimal(19,0)", "decimal(20,0)", "decimal(21,2)",
        "decimal(22,2)", "decimal(13,3)", "decimal(12,3)", "decimal(11,2)"};
    enum {
        N = sizeof types / sizeof types[0]
    };
    static const char *const widening[] = {"tinyint>smallint",
                                           "tinyint>int",
                                           "tinyint>bigint",
                                           "smallint>int",
                                           "smallint>bigint",
                                           "int>bigint",
                                           "float>double",
                                           "tinyint>double",
                                           "smallint>double",
                                           "int>double",
                                           "date>timestamp_ntz",
                                           "tinyint>decimal(10,0)",
                                           "tinyint>decimal(12,2)",
                                           "tinyint>decimal(19,0)",
                                           "tinyint>decimal(20,0)",
                                           "tinyint>decimal(21,2)",
                                           "tinyint>decimal(22,2)",
                                           "tinyint>decimal(13,3)",
                                           "smallint>decimal(10,0)",
                                           "smallint>decimal(12,2)",
                                           "smallint>decimal(19,0)",
                                           "smallint>decimal(20,0)",
                                           "smallint>decimal(21,2)",
                                           "smallint>decimal(22,2)",
                                           "smallint>decimal(13,3)",
                                           "int>decimal(10,0)",
                                           "int>decimal(12,2)",
                                           "int>decimal(19,0)",
                                           "int>decimal(20,0)",
                                           "int>decimal(21,2)",
                                           "int>decimal(22,2)",
                                           "int>decimal(13,3)",
                                           "bigint>decimal(20,0)",
                                           "bigint>decimal(22,2)",
                                           "decimal(9,0)>decimal(10,0)",
                                           "decimal(9,0)>decimal(12,2)",
                                           "decimal(9,0)>decimal(19,0)",
                                           "decimal(9,0)>decimal(20,0)",
                                           "decimal(9,0)>decimal(21,2)",
                                           "decimal(9,0)>decimal(22,2)",
                                           "decimal(9,0)>decimal(13,3)",
                                           "decimal(9,0)>decimal(12,3)",
                                           "decimal(9,0)>decimal(11,2)",
                                           "decimal(10,0)>decimal(12,2)",
                                           "decimal(10,0)>decimal(19,0)",
                                           "decimal(10,0)>decimal(20,0)",
                                           "decimal(10,0)>decimal(21,2)",
                                           "decimal(10,0)>decimal(22,2)",
                                           "decimal(10,0)>decimal(13,3)",
                                           "decimal(12,2)>decimal(21,2)",
                                           "decimal(12,2)>decimal(22,2)",
                                           "decimal(12,2)>decimal(13,3)",
                                           "decimal(19,0)>decimal(20,0)",
                                           "decimal(19,0)>decimal(21,2)",
                                           "decimal(19,0)>decimal(22,2)",
                                           "decimal(20,0)>decimal(22,2)",
                                           "decimal(21,2)>decimal(22,2)",
                                           "decimal(12,3)>decimal(13,3)",
                                           "decimal(11,2)>decimal(12,2)",
                                           "decimal(11,2)>decimal(21,2)",
                                           "decimal(11,2)>decimal(22,2)",
                                           "decimal(11,2)>decimal(13,3)",
                                           "decimal(11,2)>decimal(12,3)"};
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < N; k++) {
            char pair[64];
            (void)snprintf(pair, sizeof pair, "%s>%s", types[i], types[k]);
            bool expected = i == k;
            for (size_t w = 0; w < sizeof widening / sizeof widening[0]; w++) {
                expected = expected || strcmp(pair, widening[w]) == 0;
            }
            if (sl_type_widens(model_type(m, types[i]), model_type(m, types[k])) != expected) {
                fail_msg("%s", pair);
            }
        }
    }
    assert_false(sl_type_widens(model_type(m, "array<int>"), model_type(m, "array<bigint>")));
}

static void records_of_the_list_are_accepted_where_they_are(void **state)
{
    struct model *m = *state;
    assert_int_equal(
        check(m, "\"long\"",
              "[{\"fromType\":\"short\",\"toType\":\"integer\",\"tableVersion\":3},{\"fromType\":\"integer\","
              "\"toType\":\"long\"}]"),
        SILT_OK);
    assert_int_equal(
        check(m, "{\"type\":\"map\",\"keyType\":\"double\",\"valueType\":\"integer\",\"valueContainsNull\":true}",
              "[{\"fromType\":\"float\",\"toType\":\"double\",\"fieldPath\":\"key\"}]"),
        SILT_OK);
    assert_int_equal(check(m, "\"timestamp_ntz\"", "[{\"fromType\":\"date\",\"toType\":\"timestamp_ntz\"}]"), SILT_OK);
    assert_int_equal(check(m, "\"decimal(10,4)\"", "[{\"fromType\":\"decimal(6, 2)\",\"toType\":\"decimal(10,4)\"}]"),
                     SILT_OK);
    assert_int_equal(check(m, "\"long\"", "[]"), SILT_OK);
    /* Not a change of what is stored: Spark reads such a table too. */
    assert_int_equal(check(m, "\"string\"", "[{\"fromType\":\"varchar(5)\",\"toType\":\"string\"}]"), SILT_OK);
}

static void any_other_record_is_refused_with_column_and_types(void **state)
{
    struct model *m = *state;
    static const char *const changes[][3] = {
        {"[{\"fromType\":\"long\",\"toType\":\"integer\"}]", "long", "integer"},
        {"[{\"fromType\":\"integer\",\"toType\":\"string\"}]", "integer", "string"},
        {"[{\"fromType\":\"long\",\"toType\":\"double\"}]", "long", "double"},
        {"[{\"fromType\":\"date\",\"toType\":\"timestamp\"}]", "date", "timestamp"},
        {"[{\"fromType\":\"interval\",\"toType\":\"long\"}]", "interval", "long"},
        {"[{\"fromType\":\"short\",\"toType\":\"integer\"},{\"fromType\":\"integer\",\"toType\":\"float\"}]", "integer",
         "float"}};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_int_equal(check(m, "\"long\"", changes[i][0]), SILT_EUNSUPPORTED);
        assert_string_equal(m->err.code_name, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA");
        assert_non_null(strstr(m->err.message, "s.c"));
        assert_non_null(strstr(m->err.message, changes[i][1]));
        assert_non_null(strstr(m->err.message, changes[i][2]));
    }
    assert_int_equal(check(m, "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}",
                           "[{\"fromType\":\"string\",\"toType\":\"long\",\"fieldPath\":\"element\"}]"),
                     SILT_EUNSUPPORTED);
    assert_non_null(strstr(m->err.message, "s.c.element"));
    assert_int_equal(check(m, "\"long\"", "[{\"fromType\":{\"type\":\"struct\",\"fields\":[]},\"toType\":\"long\"}]"),
                     SILT_EUNSUPPORTED);
}

static void what_is_no_record_is_corrupt(void **state)
{
    struct model *m = *state;
    static const char *const changes[] = {
        "{}", "5", "[5]", "[{}]", "[{\"fromType\":\"short\"}]", "[{\"fromType\":null,\"toType\":\"long\"}]"};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        assert_int_equal(check(m, "\"long\"", changes[i]), SILT_ECORRUPT);
        assert_non_null(strstr(m->err.message, "s.c"));
    }
}

static void history_of_a_field_is_its_own_and_oldest_first(void **state)
{
    struct model *m = *state;
    silt_schema *schema = schema_with(
        m, "\"double\"",
        "[{\"fromType\":\"byte\",\"toType\":\"integer\"},{\"fromType\":\"float\",\"toType\":"
        "\"double\",\"fieldPath\":\"element\"},{\"fromType\":\"integer\",\"toType\":\"double\"}]");
    const struct silt_type *const *types = NULL;
    size_t n = 0;
    const silt_field *field = silt_type_field(silt_field_type(silt_schema_field(schema, 0)), 0);
    assert_int_equal(sl_field_earlier_types(&m->arena, field, &types, &n, &m->err), SILT_OK);
    assert_int_equal(n, 2);
    assert_int_equal(types[0]->kind, SILT_TYPE_BYTE);
    assert_int_equal(types[1]->kind, SILT_TYPE_INTEGER);
    assert_int_equal(sl_field_earlier_types(&m->arena, silt_schema_field(schema, 0), &types, &n, &m->err), SILT_OK);
    assert_int_equal(n, 0);
    silt_schema_unref(schema);
}

static silt_status check_once(struct model *m, silt_error *err)
{
    static const char json[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\",\"nullable\":true,\"metadata\":{"
        "\"delta.typeChanges\":[{\"fromType\":\"decimal(3,1)\",\"toType\":\"decimal(4,1)\"}]}}]}";
    silt_schema *schema = NULL;
    const struct silt_type *const *types = NULL;
    size_t n = 0;
    silt_status status = silt_schema_from_json(&m->test.env, json, sizeof json - 1, &schema, err);
    if (status == SILT_OK) {
        status = sl_schema_check_type_changes(schema, err);
    }
    if (status == SILT_OK) {
        status = sl_field_earlier_types(&m->arena, silt_schema_field(schema, 0), &types, &n, err);
    }
    silt_schema_unref(schema);
    return status;
}

static void lack_of_memory_leaves_nothing(void **state)
{
    (void)state;
    model_sweep(check_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(pairs_are_those_of_the_protocol),
        MODEL_TEST(records_of_the_list_are_accepted_where_they_are),
        MODEL_TEST(any_other_record_is_refused_with_column_and_types),
        MODEL_TEST(what_is_no_record_is_corrupt),
        MODEL_TEST(history_of_a_field_is_its_own_and_oldest_first),
        cmocka_unit_test(lack_of_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
