/* The gate: what may be read, what may be written, and what the refusal says. Covers feature_use.c as well. */
#include "kernel/feature/feature.h"

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

static void column_mapping_is_read_and_stops_writers_only_when_in_use(void **state)
{
    (void)state;
    const struct sl_protocol p = {.min_reader_version = 2, .min_writer_version = 5};
    assert_int_equal(judge(&p, plain_schema, "delta.columnMapping.mode", "none").write, SILT_OK);
    const struct verdict v = judge(&p, plain_schema, "delta.columnMapping.mode", "name");
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_string_equal(v.err.code_name, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    assert_non_null(strstr(v.err.message, "columnMapping (table property delta.columnMapping.mode)"));
    struct listed l;
    list(&l, "columnMapping", NULL);
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    assert_int_equal(judge(&l.protocol, plain_schema, "delta.columnMapping.mode", "id").read, SILT_OK);
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
    list(&l, NULL, "rowTracking");
    const struct verdict v = judge(&l.protocol, plain_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
}

static void in_commit_timestamps_block_writing_only_while_enabled(void **state)
{
    (void)state;
    struct listed l;
    list(&l, NULL, "inCommitTimestamp");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    const struct verdict v = judge(&l.protocol, plain_schema, "delta.enableInCommitTimestamps", "true");
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
}

static void supported_features_pass(void **state)
{
    (void)state;
    struct listed l;
    list(&l, "timestampNtz", "domainMetadata");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
    list(&l, "vacuumProtocolCheck", "clustering");
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).write, SILT_OK);
}

static void variant_is_found_inside_arrays(void **state)
{
    (void)state;
    struct listed l;
    list(&l, "variantType", NULL);
    assert_int_equal(judge(&l.protocol, plain_schema, NULL, NULL).read, SILT_OK);
    const struct verdict v = judge(&l.protocol, variant_schema, NULL, NULL);
    assert_int_equal(v.read, SILT_OK);
    assert_int_equal(v.write, SILT_EUNSUPPORTED);
    assert_non_null(strstr(v.err.message, "column v holds type variant"));
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
        cmocka_unit_test(column_mapping_is_read_and_stops_writers_only_when_in_use),
        cmocka_unit_test(column_mapping_without_its_protocol_is_refused_all_the_same),
        cmocka_unit_test(constraints_and_invariants_stop_writers_only),
        cmocka_unit_test(unknown_feature_is_named),
        cmocka_unit_test(unbuilt_features_block_even_unused_where_files_may_show_them),
        cmocka_unit_test(in_commit_timestamps_block_writing_only_while_enabled),
        cmocka_unit_test(supported_features_pass),
        cmocka_unit_test(variant_is_found_inside_arrays),
        cmocka_unit_test(future_writer_version_keeps_writers_out_but_not_readers),
        cmocka_unit_test(long_lists_of_obstacles_are_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
