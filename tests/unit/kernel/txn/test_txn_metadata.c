/* Properties and schemas that change within a transaction. */
#include "kernel/txn/txn_int.h"

#include "txn_fixture.h"

#define FIELD(name, type, nullable) \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":" nullable ",\"metadata\":{}}"
#define TABLE(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define BASE FIELD("id", "long", "true") "," FIELD("name", "string", "true") "," FIELD("p", "string", "true")

static silt_status set_schema(struct txn_fixture *f, silt_txn *txn, const char *json)
{
    silt_schema *schema = txn_schema(f, json);
    silt_error_reset(&f->err);
    const silt_status status = silt_txn_set_schema(txn, schema, &f->err);
    silt_schema_unref(schema);
    return status;
}

static void property_is_set_and_unset(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "DELTA.checkpointinterval", "20", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_property(txn, "mine", "1", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_property(txn, "mine", "2", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\"configuration\":{\"delta.checkpointInterval\":\"20\",\"mine\":\"2\"}"));
    assert_null(strstr(f->text, "{\"protocol\""));
    txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "other", NULL, &f->err), SILT_ENOTFOUND);
    assert_string_equal(f->err.code_name, "DELTA_UNSET_NON_EXISTENT_PROPERTY");
    assert_int_equal(silt_txn_set_property(txn, "mine", NULL, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 2), "\"configuration\":{\"delta.checkpointInterval\":\"20\"}"));
}

static void property_of_a_feature_brings_the_protocol_with_it(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "delta.enableChangeDataFeed", "true", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,"
                                          "\"writerFeatures\":[\"appendOnly\",\"invariants\",\"changeDataFeed\"]}}"));
    txn_append(f, "a", NULL); /* and the table stays writable */
}

static void feature_can_be_added_by_name(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "delta.feature.vacuumProtocolCheck", "supported", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_property(txn, "delta.feature.vacuumProtocolCheck", NULL, &f->err), SILT_EINVALID);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\"readerFeatures\":[\"vacuumProtocolCheck\"]"));
    assert_null(strstr(f->text, "delta.feature"));
}

static void refused_property_changes_nothing(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "delta.enableIcebergCompatV3", "true", &f->err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_txn_set_property(txn, "delta.constraints.c", "id > 0", &f->err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_txn_set_property(txn, "delta.feature.geospatial", "supported", &f->err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_txn_set_property(txn, "delta.nope", "1", &f->err), SILT_EINVALID);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_null(strstr(txn_log(f, 1), "metaData"));
    assert_null(strstr(f->text, "protocol"));
}

static const char *setting_fails(struct txn_fixture *f, const char *key, const char *value)
{
    silt_txn *txn = txn_begin(f);
    silt_error_reset(&f->err);
    const silt_status status = silt_txn_set_property(txn, key, value, &f->err);
    silt_txn_free(txn);
    return status == SILT_OK ? "ok" : f->err.code_name;
}

static const char *creation_fails(struct txn_fixture *f, const char *json, const char *key, const char *value)
{
    const silt_property property = {key, value};
    silt_txn *txn = NULL;
    silt_error_reset(&f->err);
    const silt_status status = txn_create_begin(f, json, "p", &property, &txn);
    silt_txn_free(txn);
    return status == SILT_OK ? "ok" : f->err.code_name;
}

static void columns_of_change_data_are_reserved(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const taken[] = {TABLE(BASE "," FIELD("_change_type", "string", "true")),
                                        TABLE(BASE "," FIELD("_COMMIT_version", "long", "true")),
                                        TABLE(BASE "," FIELD("_commit_timestamp", "timestamp", "true"))};
    const silt_property recorded = {"delta.enableChangeDataFeed", "true"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(creation_fails(f, taken[i], "delta.enableChangeDataFeed", "true"),
                            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS");
        assert_string_equal(creation_fails(f, taken[i], "delta.enableChangeDataCapture", "true"),
                            "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS");
        assert_string_equal(creation_fails(f, taken[i], "delta.enableChangeDataFeed", "false"), "ok");
    }
    txn_create(f, TXN_SCHEMA, "p", &recorded);
    for (size_t i = 0; i < 3; i++) {
        silt_txn *txn = txn_begin(f);
        assert_int_equal(set_schema(f, txn, taken[i]), SILT_ESCHEMA);
        assert_string_equal(f->err.code_name, "RESERVED_CDC_COLUMNS_ON_WRITE");
        assert_int_equal(silt_schema_field_count(silt_txn_schema(txn)), 3);
        assert_int_equal(silt_txn_set_property(txn, "delta.enableChangeDataFeed", "false", &f->err), SILT_OK);
        assert_int_equal(set_schema(f, txn, taken[i]), SILT_OK);
        assert_int_equal(silt_txn_set_property(txn, "delta.enableChangeDataFeed", "true", &f->err), SILT_ESCHEMA);
        silt_txn_free(txn);
    }
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, "delta.enableChangeDataFeed", "false", &f->err), SILT_OK);
    assert_int_equal(set_schema(f, txn, taken[0]), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_string_equal(setting_fails(f, "delta.enableChangeDataFeed", "true"),
                        "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS");
}

static void columns_of_statistics_must_be_able_to_have_them(void **state)
{
    struct txn_fixture *f = *state;
#define STATS "delta.dataSkippingStatsColumns"
    static const char *const schema = TABLE(BASE "," FIELD("flag", "boolean", "true") "," FIELD(
        "raw", "binary",
        "true") ","
                "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[" FIELD("x y", "long", "true") "," FIELD(
                    "b", "boolean",
                    "true") "]},\"nullable\":true,\"metadata\":{}},"
                            "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\","
                            "\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{}}");
    static const struct {
        const char *list;
        const char *code;
    } cases[] = {{"ID, name", "ok"},
                 {"s", "ok"},
                 {"s.`x y`,s.b", "ok"},
                 {"m.key", "ok"},
                 {"nope", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
                 {"id,s.nope", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
                 {"id.x", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
                 {"m.nope", "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"},
                 {"id,P", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"},
                 {"flag", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"},
                 {"raw", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"},
                 {"m", "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"},
                 {"id, `id`", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"},
                 {"s,s.b", "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"}};
    const silt_property by_name = {"delta.columnMapping.mode", "name"};
    txn_create(f, schema, "p", &by_name);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(setting_fails(f, STATS, cases[i].list), cases[i].code) != 0) {
            fail_msg("%s: %s", cases[i].list, f->err.message);
        }
    }
    /* A column that has them does not go by a change of schema. */
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_property(txn, STATS, "flag2", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_property(txn, STATS, "m.key,name", &f->err), SILT_OK);
    assert_int_equal(set_schema(f, txn, TABLE(FIELD("id", "long", "true") "," FIELD("p", "string", "true"))),
                     SILT_EINVALID);
    silt_txn_free(txn);
    assert_string_equal(creation_fails(f, TXN_SCHEMA, STATS, "p"),
                        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN");
    assert_string_equal(creation_fails(f, TXN_SCHEMA, STATS, "none"), "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA");
}

static void what_writers_alone_set_is_not_taken_away(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property by_name = {"delta.columnMapping.mode", "name"};
    txn_create(f, TXN_SCHEMA, NULL, &by_name);
    assert_string_equal(setting_fails(f, "delta.columnMapping.maxColumnId", NULL),
                        "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
    assert_string_equal(setting_fails(f, "DELTA.columnmapping.maxcolumnid", "9"), "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
}

static void nullable_column_can_be_added(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "a", "x");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set_schema(f, txn, TABLE(BASE "," FIELD("t", "timestamp_ntz", "true"))), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT");
    assert_int_equal(silt_schema_field_count(silt_txn_schema(txn)), 3);
    assert_int_equal(silt_txn_set_property(txn, "delta.feature.timestampNtz", "supported", &f->err), SILT_OK);
    assert_int_equal(set_schema(f, txn, TABLE(BASE "," FIELD("t", "timestamp_ntz", "true"))), SILT_OK);
    assert_int_equal(silt_schema_field_count(silt_txn_schema(txn)), 4);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 2), "\"readerFeatures\":[\"timestampNtz\"]"));
}

static void schema_must_bear_the_live_files(void **state)
{
    struct txn_fixture *f = *state;
    static const struct {
        const char *schema;
        silt_status status;
    } cases[] = {
        {TABLE(FIELD("id", "long", "true") "," FIELD("name", "string", "true")), SILT_ESCHEMA}, /* a column left out */
        {TABLE(BASE "," FIELD("n", "long", "false")), SILT_ESCHEMA},                            /* new and required */
        {TABLE(FIELD("ID", "long", "true") "," FIELD("name", "string", "true") "," FIELD("p", "string", "true")),
         SILT_ESCHEMA},
        {TABLE(FIELD("id", "string", "true") "," FIELD("name", "string", "true") "," FIELD("p", "string", "true")),
         SILT_ESCHEMA},
        {TABLE(FIELD("id", "long", "false") "," FIELD("name", "string", "true") "," FIELD("p", "string", "true")),
         SILT_ESCHEMA},
    };
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        silt_txn *txn = txn_begin(f);
        assert_int_equal(set_schema(f, txn, cases[i].schema), SILT_OK);
        if (txn_end(f, txn) != cases[i].status) {
            fail_msg("case %zu: %s", i, f->err.message);
        }
    }
    /* Without live files any schema will do. */
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_OK);
    assert_int_equal(set_schema(f, txn, TABLE(FIELD("z", "date", "false"))), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void invalid_schema_is_refused_at_once(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set_schema(f, txn, TABLE(FIELD("a", "long", "true") "," FIELD("A", "long", "true"))),
                     SILT_ESCHEMA);
    assert_int_equal(set_schema(f, txn, TABLE(FIELD("id", "long", "true"))),
                     SILT_ESCHEMA); /* the partition column went */
    assert_int_equal(silt_schema_field_count(silt_txn_schema(txn)), 3);
    assert_int_equal(txn_add(f, txn, "x", "v"), SILT_OK);
    assert_int_equal(set_schema(f, txn, TXN_SCHEMA), SILT_EINVALID); /* too late */
    silt_txn_free(txn);
}

#define SAYS "\"metadata\":{\"comment\":\"c\",\"mine\":{\"a\":[1,2.50]}}}"
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]},\"nullable\":true,"

/* Rows bring columns, not what others have said of those that are there. */
static void merged_columns_keep_what_was_said_of_them(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f,
               TABLE("{\"name\":\"id\",\"type\":\"long\",\"nullable\":true," SAYS ",{\"name\":\"s\",\"type\":" STRUCT(
                   "{\"name\":\"x\",\"type\":\"long\",\"nullable\":true," SAYS) SAYS),
               NULL, NULL);
    silt_schema *more = txn_schema(
        f, TABLE(FIELD("ID", "long", "true") ",{\"name\":\"s\",\"type\":" STRUCT(FIELD("y", "date", "true") "," FIELD(
               "x", "long", "true")) "\"metadata\":{}}," FIELD("n", "string", "true")));
    silt_txn *txn = txn_begin(f);
    bool changed = false;
    assert_int_equal(silt_txn_merge_schema(txn, more, &changed, &f->err), SILT_OK);
    assert_true(changed);
    const char *merged = silt_schema_json(silt_txn_schema(txn));
    assert_string_equal(
        merged, TABLE("{\"name\":\"id\",\"type\":\"long\",\"nullable\":true," SAYS ",{\"name\":\"s\",\"type\":" STRUCT(
                    "{\"name\":\"x\",\"type\":\"long\",\"nullable\":true," SAYS "," FIELD("y", "date", "true")) SAYS
                      "," FIELD("n", "string", "true")));
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\\\"mine\\\":{\\\"a\\\":[1,2.50]}"));
    silt_schema_unref(more);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(property_is_set_and_unset),
        TEST(property_of_a_feature_brings_the_protocol_with_it),
        TEST(feature_can_be_added_by_name),
        TEST(refused_property_changes_nothing),
        TEST(nullable_column_can_be_added),
        TEST(merged_columns_keep_what_was_said_of_them),
        TEST(schema_must_bear_the_live_files),
        TEST(invalid_schema_is_refused_at_once),
        TEST(columns_of_change_data_are_reserved),
        TEST(columns_of_statistics_must_be_able_to_have_them),
        TEST(what_writers_alone_set_is_not_taken_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
