/* Protocols of new and changed tables. */
#include "kernel/feature/feature.h"

#include <stdio.h>

#include "test_env.h"

static const char plain_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
static const char ntz_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"t\",\"type\":\"timestamp_ntz\",\"nullable\":true,\"metadata\":{}}]}";

static const char variant_schema[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"v\",\"type\":\"variant\",\"nullable\":true,\"metadata\":{}}]}";

struct fixture {
    struct test_env env;
    struct sl_arena arena;
    struct sl_protocol protocol;
    struct sl_kv_list kept;
    silt_error err;
};

static void open_fixture(struct fixture *f)
{
    test_env_init(&f->env);
    sl_arena_init(&f->arena, &f->env.env);
    f->err = (silt_error)SILT_ERROR_INIT;
}

static void close_fixture(struct fixture *f)
{
    sl_arena_release(&f->arena);
    test_env_check(&f->env);
}

/* properties: key, value, … NULL */
static silt_status plan(struct fixture *f, const char *schema_json, const char *const *properties)
{
    struct sl_kv items[8];
    size_t n = 0;
    for (size_t i = 0; properties != NULL && properties[i] != NULL; i += 2) {
        items[n++] = (struct sl_kv){sl_str_from(properties[i]), sl_str_from(properties[i + 1])};
    }
    const struct sl_kv_list list = {items, n};
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&f->env.env, schema_json, strlen(schema_json), &schema, NULL), SILT_OK);
    const silt_status status = sl_protocol_for_new_table(&f->arena, schema, &list, &f->protocol, &f->kept, &f->err);
    silt_schema_unref(schema);
    return status;
}

/* "3,7 r:timestampNtz w:appendOnly,invariants,timestampNtz" */
static const char *show(const struct sl_protocol *p)
{
    static char text[512];
    size_t len = (size_t)snprintf(text, sizeof(text), "%d,%d", (int)p->min_reader_version, (int)p->min_writer_version);
    const struct sl_str_list *lists[] = {&p->reader_features, &p->writer_features};
    const bool has[] = {p->has_reader_features, p->has_writer_features};
    for (size_t l = 0; l < 2; l++) {
        if (has[l]) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, " %c:", l == 0 ? 'r' : 'w');
        }
        for (size_t i = 0; has[l] && i < lists[l]->n; i++) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.*s", i > 0 ? "," : "",
                                    SL_FMT(lists[l]->items[i]));
        }
    }
    return text;
}

static void expect_plan(const char *schema, const char *const *properties, const char *expected)
{
    struct fixture f;
    open_fixture(&f);
    const silt_status status = plan(&f, schema, properties);
    if (status != SILT_OK) {
        fail_msg("refused: %s", f.err.message);
    }
    assert_string_equal(show(&f.protocol), expected);
    close_fixture(&f);
}

static void expect_refusal(const char *schema, const char *const *properties, silt_status status, const char *code)
{
    struct fixture f;
    open_fixture(&f);
    assert_int_equal(plan(&f, schema, properties), status);
    assert_string_equal(f.err.code_name, code);
    close_fixture(&f);
}

static void plain_table_is_1_2(void **state)
{
    (void)state;
    expect_plan(plain_schema, NULL, "1,2");
    expect_plan(plain_schema, (const char *[]){"delta.appendOnly", "true", NULL}, "1,2");
    expect_plan(plain_schema, (const char *[]){"delta.ignoreProtocolDefaults", "true", NULL}, "1,1");
}

static void timestamp_ntz_lists_the_old_features_too(void **state)
{
    (void)state;
    expect_plan(ntz_schema, NULL, "3,7 r:timestampNtz w:appendOnly,invariants,timestampNtz");
}

static void change_data_feed_needs_writer_features(void **state)
{
    (void)state;
    expect_plan(plain_schema, (const char *[]){"delta.enableChangeDataFeed", "true", NULL},
                "1,7 w:appendOnly,invariants,changeDataFeed");
}

static void explicit_versions_are_brought_to_the_weakest_equal_form(void **state)
{
    (void)state;
    expect_plan(plain_schema, (const char *[]){"delta.minWriterVersion", "4", NULL}, "1,4");
    expect_plan(plain_schema, (const char *[]){"delta.minReaderVersion", "2", "delta.minWriterVersion", "5", NULL},
                "2,5");
    expect_plan(plain_schema, (const char *[]){"delta.minReaderVersion", "2", "delta.minWriterVersion", "3", NULL},
                "1,3");
}

static void named_features_are_listed(void **state)
{
    (void)state;
    expect_plan(plain_schema, (const char *[]){"delta.feature.vacuumProtocolCheck", "supported", NULL},
                "3,7 r:vacuumProtocolCheck w:appendOnly,invariants,vacuumProtocolCheck");
    expect_plan(plain_schema, (const char *[]){"delta.feature.DOMAINMETADATA", "enabled", NULL},
                "1,7 w:appendOnly,invariants,domainMetadata");
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    expect_refusal(plain_schema, (const char *[]){"delta.enableIcebergCompatV3", "true", NULL}, SILT_EUNSUPPORTED,
                   "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    expect_refusal(plain_schema, (const char *[]){"delta.constraints.c", "id > 0", NULL}, SILT_EUNSUPPORTED,
                   "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    expect_refusal(plain_schema, (const char *[]){"delta.feature.geospatial", "supported", NULL}, SILT_EUNSUPPORTED,
                   "DELTA_UNSUPPORTED_FEATURES_FOR_READ");
    expect_refusal(plain_schema, (const char *[]){"delta.feature.nonsense", "supported", NULL}, SILT_EUNSUPPORTED,
                   "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG");
    expect_refusal(plain_schema, (const char *[]){"delta.feature.appendOnly", "maybe", NULL}, SILT_EINVALID,
                   "DELTA_UNSUPPORTED_FEATURE_STATUS");
    expect_refusal(plain_schema, (const char *[]){"delta.minReaderVersion", "3", "delta.minWriterVersion", "5", NULL},
                   SILT_EINVALID, "DELTA_READ_FEATURE_PROTOCOL_REQUIRES_WRITE");
    expect_refusal(plain_schema, (const char *[]){"delta.minReaderVersion", "x", NULL}, SILT_EINVALID,
                   "DELTA_PROTOCOL_PROPERTY_NOT_INT");
}

static void protocol_settings_are_not_kept_and_keys_are_in_their_own_spelling(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    const char *const properties[] = {
        "delta.minReaderVersion", "1", "DELTA.APPENDONLY", "true", "my.key", "v", "delta.appendOnly", "false", NULL};
    assert_int_equal(plan(&f, plain_schema, properties), SILT_OK);
    assert_int_equal(f.kept.n, 2);
    assert_true(sl_str_eq_c(f.kept.items[0].key, "delta.appendOnly"));
    assert_true(sl_str_eq_c(f.kept.items[0].value, "false"));
    assert_true(sl_str_eq_c(f.kept.items[1].key, "my.key"));
    close_fixture(&f);
}

static void properties_bring_their_features_and_what_those_need(void **state)
{
    (void)state;
    expect_plan(plain_schema, (const char *[]){"delta.enableDeletionVectors", "true", NULL},
                "3,7 r:deletionVectors w:appendOnly,invariants,deletionVectors");
    expect_plan(plain_schema, (const char *[]){"delta.columnMapping.mode", "name", NULL},
                "2,7 w:appendOnly,invariants,columnMapping");
    expect_plan(plain_schema, (const char *[]){"delta.checkpointPolicy", "v2", NULL},
                "3,7 r:v2Checkpoint w:appendOnly,invariants,v2Checkpoint");
    expect_plan(plain_schema, (const char *[]){"delta.enableTypeWidening", "true", NULL},
                "3,7 r:typeWidening w:appendOnly,invariants,typeWidening");
    expect_plan(
        plain_schema,
        (const char *[]){"delta.enableTypeWidening", "true", "delta.feature.typeWidening-preview", "supported", NULL},
        "3,7 r:typeWidening-preview w:appendOnly,invariants,typeWidening-preview");
    expect_plan(variant_schema, NULL, "3,7 r:variantType w:appendOnly,invariants,variantType");
    expect_plan(plain_schema, (const char *[]){"delta.enableVariantShredding", "true", NULL},
                "3,7 r:variantType,variantShredding w:appendOnly,invariants,variantType,variantShredding");
    expect_plan(plain_schema, (const char *[]){"delta.enableMaterializePartitionColumnsFeature", "true", NULL},
                "1,7 w:appendOnly,invariants,materializePartitionColumns");
    expect_plan(plain_schema, (const char *[]){"delta.feature.checkpointProtection", "supported", NULL},
                "1,7 w:appendOnly,invariants,checkpointProtection");
}

static void iceberg_compatibility_brings_column_mapping(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    assert_int_equal(plan(&f, plain_schema, (const char *[]){"delta.enableIcebergCompatV2", "true", NULL}), SILT_OK);
    assert_string_equal(show(&f.protocol), "2,7 w:appendOnly,invariants,columnMapping,icebergCompatV2");
    assert_int_equal(f.kept.n, 2);
    assert_true(sl_str_eq_c(f.kept.items[1].key, "delta.columnMapping.mode"));
    assert_true(sl_str_eq_c(f.kept.items[1].value, "name"));
    close_fixture(&f);
}

static void change(const struct sl_protocol *current, const char *schema_json, const char *key, const char *value,
                   const char *expected)
{
    struct fixture f;
    open_fixture(&f);
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&f.env.env, schema_json, strlen(schema_json), &schema, NULL), SILT_OK);
    const struct sl_kv pair = {sl_str_from(key), sl_str_from(value)};
    const struct sl_metadata metadata = {.configuration = {&pair, key != NULL ? 1 : 0}};
    const struct sl_kv_list none = {NULL, 0};
    bool changed = false;
    assert_int_equal(sl_protocol_for_change(&f.arena, current, &none, &metadata, schema, &f.protocol, &changed, &f.err),
                     SILT_OK);
    assert_int_equal(changed, expected != NULL);
    if (expected != NULL) {
        assert_string_equal(show(&f.protocol), expected);
    }
    silt_schema_unref(schema);
    close_fixture(&f);
}

static void upgrades_list_everything_that_held_before(void **state)
{
    (void)state;
    const struct sl_protocol old = {.min_reader_version = 1, .min_writer_version = 3};
    change(&old, plain_schema, NULL, NULL, NULL);
    change(&old, plain_schema, "delta.enableChangeDataFeed", "true",
           "1,7 w:appendOnly,invariants,checkConstraints,changeDataFeed");
    change(&old, variant_schema, NULL, NULL, "3,7 r:variantType w:appendOnly,invariants,checkConstraints,variantType");
    change(&old, plain_schema, "delta.columnMapping.mode", "name",
           "2,7 w:appendOnly,invariants,checkConstraints,columnMapping");
    const struct sl_protocol newer = {.min_reader_version = 1, .min_writer_version = 4};
    change(&newer, plain_schema, "delta.enableChangeDataFeed", "true", NULL); /* implied already */
}

/* As Delta Spark: not by a change of schema alone. */
static void some_features_are_switched_on_by_name_only(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&f.env.env, ntz_schema, strlen(ntz_schema), &schema, NULL), SILT_OK);
    const struct sl_protocol old = {.min_reader_version = 1, .min_writer_version = 2};
    const struct sl_metadata metadata = {.configuration = {NULL, 0}};
    const struct sl_kv pair = {SL_STR("delta.feature.timestampNtz"), SL_STR("supported")};
    struct sl_kv_list settings = {&pair, 0};
    bool changed = false;
    assert_int_equal(
        sl_protocol_for_change(&f.arena, &old, &settings, &metadata, schema, &f.protocol, &changed, &f.err),
        SILT_EUNSUPPORTED);
    assert_string_equal(f.err.code_name, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT");
    assert_false(changed);
    settings.n = 1;
    assert_int_equal(
        sl_protocol_for_change(&f.arena, &old, &settings, &metadata, schema, &f.protocol, &changed, &f.err), SILT_OK);
    assert_string_equal(show(&f.protocol), "3,7 r:timestampNtz w:appendOnly,invariants,timestampNtz");
    silt_schema_unref(schema);
    close_fixture(&f);
}

static void versions_never_go_down(void **state)
{
    (void)state;
    const struct sl_protocol old = {
        .min_reader_version = 3, .min_writer_version = 7, .has_reader_features = true, .has_writer_features = true};
    change(&old, plain_schema, "delta.appendOnly", "true", "3,7 r: w:appendOnly");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_table_is_1_2),
        cmocka_unit_test(timestamp_ntz_lists_the_old_features_too),
        cmocka_unit_test(change_data_feed_needs_writer_features),
        cmocka_unit_test(explicit_versions_are_brought_to_the_weakest_equal_form),
        cmocka_unit_test(named_features_are_listed),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(protocol_settings_are_not_kept_and_keys_are_in_their_own_spelling),
        cmocka_unit_test(properties_bring_their_features_and_what_those_need),
        cmocka_unit_test(iceberg_compatibility_brings_column_mapping),
        cmocka_unit_test(some_features_are_switched_on_by_name_only),
        cmocka_unit_test(versions_never_go_down),
        cmocka_unit_test(upgrades_list_everything_that_held_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
