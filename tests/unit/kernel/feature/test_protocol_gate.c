/* The gate: what may be read, what may be written, and what the refusal says. Covers feature_use.c as well. */
#include "kernel/feature/feature.h"

#include <stdio.h>

#include "kernel/feature/feature_int.h"
#include "test_env.h"

static const char plain_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
static const char invariant_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\","
    "\"nullable\":true,\"metadata\":{\"delta.invariants\":\"{}\"}}]},\"nullable\":true,\"metadata\":{}}]}";
static const char variant_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"v\",\"type\":{\"type\":\"array\",\"elementType\":\"variant\","
    "\"containsNull\":true},\"nullable\":true,\"metadata\":{}}]}";

#define MAX_FEATURES 4

/* A protocol (3,7) of the given features; those for readers first. */
struct listed {
    struct sl_str names[MAX_FEATURES];
    struct sl_protocol protocol;
};

static void list(struct listed *out, const char *reader, const char *writer)
{
    size_t readers = 0;
    size_t n = 0;
    if (reader != NULL) {
        out->names[n++] = sl_str_from(reader);
        readers = 1;
    }
    if (writer != NULL) {
        out->names[n++] = sl_str_from(writer);
    }
    out->protocol = (struct sl_protocol){.min_reader_version = 3,
                                         .min_writer_version = 7,
                                         .has_reader_features = true,
                                         .has_writer_features = true,
                                         .reader_features = {out->names, readers},
                                         .writer_features = {out->names, n}};
}

struct verdict {
    silt_status read;
    silt_status write;
    silt_error err; /* of the last refusal */
};

static struct verdict judge(const struct sl_protocol *protocol, const char *schema_json, const char *key,
                            const char *value)
{
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(silt_env_default(), schema_json, strlen(schema_json), &schema, NULL),
                     SILT_OK);
    const struct sl_kv pair = {sl_str_from(key), sl_str_from(value)};
    struct sl_metadata metadata = {.configuration = {&pair, key != NULL ? 1 : 0}};
    struct verdict out = {.err = SILT_ERROR_INIT};
    out.read = sl_gate_read(protocol, &metadata, schema, &out.err);
    out.write = sl_gate_write(protocol, &metadata, schema, &out.err);
    silt_schema_unref(schema);
    return out;
}

static void old_tables_without_special_features_are_open(void **state)
{
    (void)state;
    for (int64_t writer = 1; writer <= 6; writer++) {
        const struct sl_protocol p = {.min_reader_version = writer >= 5 ? 2 : 1, .min_writer_version = writer};
        const struct verdict v = judge(&p, plain_schema, NULL, NULL);
        assert_int_equal(v.read, SILT_OK);
        assert_int_equal(v.write, SILT_OK);
    }
}

static void column_mapping_is_open_in_every_mode(void **state)
{
    (void)state;
    static const char *const modes[] = {"none", "name", "id"};
    const struct sl_protocol p = {.min_reader_version = 2, .min_writer_version = 5};
    struct listed l;
    list(&l, "columnMapping", NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(judge(&p, plain_schema, "delta.columnMapping.mode", modes[i]).write, SILT_OK);
        assert_int_equal(judge(&l.protocol, plain_schema, "delta.columnMapping.mode", modes[i]).write, SILT_OK);
    }
}

static void column_mapping_without_its_protocol_is_refused_all_the_same(void **state)
{
    (void)state;
    const struct sl_protocol p = {.min_reader_version = 1, .min_writer_version = 2};
    const struct verdict v = judge(&p, plain_schema, "delta.columnMapping.mode", "name");
    assert_int_equal(v.read, SILT_EUNSUPPORTED);
    assert_non_null(strstr(v.err.message, "columnMapping is in use (table property delta.columnMapping.mode)"));
    assert_int_equal(judge(&p, plain_schema, "delta.columnMapping.mode", "none").read, SILT_OK);
}

static void constraints_and_invariants_stop_writers_only(void **state)
{
    (void)state;
    const struct sl_protocol p = {.min_reader_version = 1, .min_writer_version = 3};
    struct verdict v = judge(&p, plain_schema, "delta.constraints.positive", "id > 0");
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_string_equal(v.err.code_name, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    assert_non_null(strstr(v.err.message, "delta.constraints.positive"));
    v = judge(&p, invariant_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_non_null(strstr(v.err.message, "column x has delta.invariants"));
}

static void constraints_stop_writers_also_where_the_protocol_forgot_them(void **state)
{
    (void)state;
    const struct sl_protocol p = {.min_reader_version = 1, .min_writer_version = 1};
    struct verdict v = judge(&p, plain_schema, "delta.constraints.positive", "id > 0");
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_non_null(strstr(v.err.message, "checkConstraints (table property delta.constraints.positive)"));
    v = judge(&p, invariant_schema, NULL, NULL);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_int_equal(judge(&p, plain_schema, NULL, NULL).write, SILT_OK);
}

/* A column that holds the key in its metadata. */
static struct verdict judge_column(const char *feature, const char *key)
{
    char json[256];
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"long\",\"nullable\":true,"
                   "\"metadata\":{\"%s\":\"1\"}}]}",
                   key);
    struct listed l;
    list(&l, NULL, feature);
    return judge(&l.protocol, json, NULL, NULL);
}

static void columns_that_need_evaluation_stop_writers_only_when_they_are_there(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"invariants", "delta.invariants"},
                                           {"generatedColumns", "delta.generationExpression"},
                                           {"identityColumns", "delta.identity.step"},
                                           {"allowColumnDefaults", "CURRENT_DEFAULT"},
                                           {"collations", "__COLLATIONS"},
                                           {"collations-preview", "__COLLATIONS"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct verdict v = judge_column(cases[i][0], cases[i][1]);
        assert_int_equal(v.read, SILT_OK);
        assert_int_equal(v.write, SILT_EUNSUPPORTED);
        assert_string_equal(v.err.code_name, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
        assert_non_null(strstr(v.err.message, cases[i][0]));
        assert_non_null(strstr(v.err.message, "column c has"));
        assert_int_equal(judge_column(cases[i][0], "comment").write, SILT_OK);
    }
}

static void rules_of_iceberg_compatibility_are_checked(void **state)
{
    (void)state;
    struct listed l;
    list(&l, "columnMapping", "icebergCompatV1");
    struct verdict v = judge(&l.protocol, plain_schema, "delta.enableIcebergCompatV1", "true");
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_string_equal(v.err.code_name, "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
}

/* Several properties at once. */
static silt_status check_rules(const char *reader_feature, const char *schema_json, const char *const *properties,
                               silt_error *err)
{
    struct sl_kv items[4];
    size_t n = 0;
    for (; properties[2 * n] != NULL; n++) {
        items[n] = (struct sl_kv){sl_str_from(properties[2 * n]), sl_str_from(properties[2 * n + 1])};
    }
    struct listed l;
    list(&l, reader_feature, "icebergCompatV2");
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(silt_env_default(), schema_json, strlen(schema_json), &schema, NULL),
                     SILT_OK);
    const struct sl_kv_list config = {items, n};
    *err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = sl_feature_check_rules(&l.protocol, &config, schema, err);
    silt_schema_unref(schema);
    return status;
}

#define NAMED "delta.columnMapping.mode", "name"
#define V1 "delta.enableIcebergCompatV1", "true"
#define V2 "delta.enableIcebergCompatV2", "true"

static void each_broken_rule_has_its_class(void **state)
{
    (void)state;
    static const char array_schema[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":{\"type\":\"array\",\"elementType\":\"long\","
        "\"containsNull\":true},\"nullable\":true,\"metadata\":{}}]}";
    static const char widened_schema[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{"
        "\"delta.typeChanges\":[{\"fromType\":\"integer\",\"toType\":\"long\"}]}}]}";
    const struct {
        const char *feature;
        const char *schema;
        const char *const properties[8];
        const char *class; /* NULL: fine */
    } cases[] = {
        {"columnMapping", plain_schema, {V1, NAMED}, NULL},
        {"columnMapping", plain_schema, {V2, "delta.columnMapping.mode", "id"}, NULL},
        {"columnMapping", plain_schema, {V2}, "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY"},
        {"columnMapping", plain_schema, {V1, V2, NAMED}, "DELTA_ICEBERG_COMPAT_VIOLATION.VERSION_MUTUAL_EXCLUSIVE"},
        {"deletionVectors",
         plain_schema,
         {V1, NAMED},
         "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_SHOULD_BE_DISABLED"},
        {"deletionVectors", plain_schema, {V2, NAMED}, NULL},
        {"deletionVectors",
         plain_schema,
         {V2, NAMED, "delta.enableDeletionVectors", "true"},
         "DELTA_ICEBERG_COMPAT_VIOLATION.DELETION_VECTORS_SHOULD_BE_DISABLED"},
        {"columnMapping", array_schema, {V1, NAMED}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE"},
        {"columnMapping", array_schema, {V2, NAMED}, "DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT"},
        {"columnMapping", variant_schema, {V1, NAMED}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE"},
        {"columnMapping", widened_schema, {V2, NAMED}, "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING"},
        {"columnMapping",
         plain_schema,
         {"delta.enableRowTracking", "true", "delta.rowTrackingSuspended", "true"},
         "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        silt_error err;
        const silt_status status = check_rules(cases[i].feature, cases[i].schema, cases[i].properties, &err);
        if (cases[i].class == NULL ? status != SILT_OK : strcmp(err.code_name, cases[i].class) != 0) {
            fail_msg("case %zu: %s %s", i, err.code_name, err.message);
        }
    }
}

static void unknown_feature_is_named(void **state)
{
    (void)state;
    struct listed l;
    list(&l, "quantumFiles", NULL);
    const struct verdict v = judge(&l.protocol, plain_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_EUNSUPPORTED);
    assert_non_null(strstr(v.err.message, "quantumFiles"));
    list(&l, NULL, "quantumWrites");
    const struct verdict w = judge(&l.protocol, plain_schema, NULL, NULL);
    assert_int_equal(w.read, SILT_OK);
    assert_int_equal(w.write, SILT_EUNSUPPORTED);
    assert_non_null(strstr(w.err.message, "quantumWrites"));
}

static void unbuilt_features_block_even_unused_where_files_may_show_them(void **state)
{
    (void)state;
    static const char *const reader_features[] = {"adaptiveMetadata", "catalogManaged", "catalogOwned-preview"};
    for (size_t i = 0; i < sizeof(reader_features) / sizeof(reader_features[0]); i++) {
        struct listed l;
        list(&l, reader_features[i], NULL);
        assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).read, SILT_EUNSUPPORTED);
    }
    struct listed l;
    list(&l, NULL, "coordinatedCommits-preview");
    const struct verdict v = judge(&l.protocol, plain_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
}

static void supported_features_pass(void **state)
{
    (void)state;
    struct listed l;
    list(&l, "timestampNtz", "domainMetadata");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    list(&l, NULL, "rowTracking");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    list(&l, NULL, "inCommitTimestamp");
    assert_int_equal(judge(&l.protocol, plain_schema, "delta.enableInCommitTimestamps", "true").write, SILT_OK);
    list(&l, "vacuumProtocolCheck", "clustering");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    list(&l, "variantType", "checkpointProtection");
    assert_int_equal(judge(&l.protocol, variant_schema, NULL, NULL).write, SILT_OK);
    list(&l, "deletionVectors", "materializePartitionColumns");
    assert_int_equal(judge(&l.protocol, plain_schema, "delta.enableDeletionVectors", "true").write, SILT_OK);
    list(&l, "typeWidening", NULL);
    assert_int_equal(judge(&l.protocol, plain_schema, "delta.enableTypeWidening", "true").write, SILT_OK);
    list(&l, "v2Checkpoint", NULL);
    assert_int_equal(judge(&l.protocol, plain_schema, "delta.checkpointPolicy", "v2").write, SILT_OK);
}

static void variant_is_found_inside_arrays(void **state)
{
    (void)state;
    silt_schema *schema = NULL;
    const struct sl_kv_list none = {NULL, 0};
    char detail[SL_FEATURE_DETAIL_SIZE];
    assert_int_equal(silt_schema_from_json(silt_env_default(), variant_schema, strlen(variant_schema), &schema, NULL),
                     SILT_OK);
    assert_true(sl_feature_in_use(sl_feature_index(SL_STR("variantType")), &none, schema, detail));
    assert_string_equal(detail, "column v holds type variant");
    silt_schema_unref(schema);
}

static void future_writer_version_keeps_writers_out_but_not_readers(void **state)
{
    (void)state;
    const struct sl_protocol p = {.min_reader_version = 1, .min_writer_version = 8, .has_writer_features = true};
    const struct verdict v = judge(&p, plain_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_string_equal(v.err.code_name, "DELTA_INVALID_PROTOCOL_VERSION");
}

static void long_lists_of_obstacles_are_cut_not_overrun(void **state)
{
    (void)state;
    enum {
        MANY = 60
    };
    struct sl_str names[MANY];
    for (size_t i = 0; i < MANY; i++) {
        names[i] = SL_STR("aFeatureWithAVeryLongNameThatNobodyKnowsAndThatGoesOnAndOnAndOnForever");
    }
    const struct sl_protocol p = {.min_reader_version = 3,
                                  .min_writer_version = 7,
                                  .has_reader_features = true,
                                  .has_writer_features = true,
                                  .reader_features = {names, MANY},
                                  .writer_features = {names, MANY}};
    assert_int_equal(judge(&p, plain_schema, NULL, NULL).read, SILT_EUNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_tables_without_special_features_are_open),
        cmocka_unit_test(column_mapping_is_open_in_every_mode),
        cmocka_unit_test(column_mapping_without_its_protocol_is_refused_all_the_same),
        cmocka_unit_test(constraints_and_invariants_stop_writers_only),
        cmocka_unit_test(constraints_stop_writers_also_where_the_protocol_forgot_them),
        cmocka_unit_test(columns_that_need_evaluation_stop_writers_only_when_they_are_there),
        cmocka_unit_test(rules_of_iceberg_compatibility_are_checked),
        cmocka_unit_test(each_broken_rule_has_its_class),
        cmocka_unit_test(unknown_feature_is_named),
        cmocka_unit_test(unbuilt_features_block_even_unused_where_files_may_show_them),
        cmocka_unit_test(supported_features_pass),
        cmocka_unit_test(variant_is_found_inside_arrays),
        cmocka_unit_test(future_writer_version_keeps_writers_out_but_not_readers),
        cmocka_unit_test(long_lists_of_obstacles_are_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
