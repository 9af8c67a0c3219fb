/* The table of features and the validity of protocol actions. */
#include "kernel/feature/feature.h"

#include "kernel/feature/feature_int.h"
#include "test_env.h"

static const struct sl_str append_only[] = {{"appendOnly", 10}};
static const struct sl_str vectors[] = {{"deletionVectors", 15}};

static struct sl_protocol versions(int64_t reader, int64_t writer)
{
    return (struct sl_protocol){.min_reader_version = reader, .min_writer_version = writer};
}

static void expect(const struct sl_protocol *protocol, silt_status status)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_protocol_validate(protocol, &err), status);
    assert_int_equal(err.status, status);
}

static void known_features_are_found_by_exact_name(void **state)
{
    (void)state;
    assert_non_null(sl_feature_find(SL_STR("deletionVectors")));
    assert_null(sl_feature_find(SL_STR("deletionvectors")));
    assert_null(sl_feature_find(SL_STR("")));
    assert_int_not_equal(sl_feature_index_nocase(SL_STR("APPENDONLY")), SIZE_MAX);
    assert_true(sl_feature_find(SL_STR("timestampNtz"))->reader_writer);
    assert_false(sl_feature_find(SL_STR("rowTracking"))->reader_writer);
}

/* Every feature of the protocol, of its proposals, of Delta Spark and of Delta Kernel, and what it asks of readers. */
static void every_published_feature_is_known_by_name(void **state)
{
    (void)state;
    static const char *const of_writers[] = {"appendOnly",
                                             "invariants",
                                             "checkConstraints",
                                             "changeDataFeed",
                                             "generatedColumns",
                                             "identityColumns",
                                             "allowColumnDefaults",
                                             "domainMetadata",
                                             "clustering",
                                             "inCommitTimestamp",
                                             "icebergCompatV1",
                                             "icebergCompatV2",
                                             "icebergCompatV3",
                                             "rowTracking",
                                             "materializePartitionColumns",
                                             "checkpointProtection",
                                             "coordinatedCommits-preview",
                                             "redirectWriterOnly-preview",
                                             "collations",
                                             "collations-preview",
                                             "columnMappingUsageTracking",
                                             "icebergWriterCompatV1",
                                             "icebergWriterCompatV3"};
    static const char *const of_both[] = {"columnMapping",
                                          "timestampNtz",
                                          "vacuumProtocolCheck",
                                          "variantType",
                                          "variantType-preview",
                                          "variantShredding",
                                          "variantShredding-preview",
                                          "deletionVectors",
                                          "typeWidening",
                                          "typeWidening-preview",
                                          "v2Checkpoint",
                                          "catalogManaged",
                                          "catalogOwned-preview",
                                          "redirectReaderWriter-preview",
                                          "geospatial",
                                          "geospatial-dev",
                                          "adaptiveMetadata-preview",
                                          "adaptiveMetadata",
                                          "timestampNanos"};
    const size_t n_writers = sizeof(of_writers) / sizeof(of_writers[0]);
    const size_t n_both = sizeof(of_both) / sizeof(of_both[0]);
    for (size_t i = 0; i < n_writers; i++) {
        const struct sl_feature *feature = sl_feature_find(sl_str_from(of_writers[i]));
        if (feature == NULL || feature->reader_writer || feature->read != SL_FEATURE_IGNORABLE) {
            fail_msg("%s", of_writers[i]);
        }
    }
    for (size_t i = 0; i < n_both; i++) {
        const struct sl_feature *feature = sl_feature_find(sl_str_from(of_both[i]));
        if (feature == NULL || !feature->reader_writer || feature->read == SL_FEATURE_IGNORABLE) {
            fail_msg("%s", of_both[i]);
        }
    }
    assert_int_equal(n_writers + n_both, sl_feature_count());
}

static void legacy_versions_imply_their_features(void **state)
{
    (void)state;
    const struct sl_protocol p = versions(1, 4);
    assert_true(sl_protocol_has_feature(&p, "appendOnly"));
    assert_true(sl_protocol_has_feature(&p, "checkConstraints"));
    assert_true(sl_protocol_has_feature(&p, "changeDataFeed"));
    assert_false(sl_protocol_has_feature(&p, "identityColumns"));
    const struct sl_protocol writer_only = versions(1, 5);
    assert_false(sl_protocol_has_feature(&writer_only, "columnMapping")); /* needs reader version 2 too */
    const struct sl_protocol both = versions(2, 5);
    assert_true(sl_protocol_has_feature(&both, "columnMapping"));
}

static void writer_version_7_implies_nothing(void **state)
{
    (void)state;
    struct sl_protocol p = versions(1, 7);
    p.has_writer_features = true;
    assert_false(sl_protocol_has_feature(&p, "invariants"));
    p.writer_features = (struct sl_str_list){append_only, 1};
    assert_true(sl_protocol_has_feature(&p, "appendOnly"));
    assert_false(sl_protocol_has_feature(&p, "invariants"));
}

static void protocol_with_wrong_lists_is_refused(void **state)
{
    (void)state;
    struct sl_protocol p = versions(3, 7);
    expect(&p, SILT_ECORRUPT); /* no lists */
    p.has_reader_features = true;
    expect(&p, SILT_ECORRUPT); /* no writer list */
    p.has_writer_features = true;
    expect(&p, SILT_OK);
    p.reader_features = (struct sl_str_list){vectors, 1};
    expect(&p, SILT_ECORRUPT); /* a reader feature that writers do not have */
    p.writer_features = (struct sl_str_list){vectors, 1};
    expect(&p, SILT_OK);
}

static void lists_on_old_versions_are_tolerated_only_when_empty(void **state)
{
    (void)state;
    struct sl_protocol p = versions(1, 2);
    p.has_reader_features = true;
    p.has_writer_features = true;
    expect(&p, SILT_OK);
    p.writer_features = (struct sl_str_list){append_only, 1};
    expect(&p, SILT_ECORRUPT);
    p = versions(2, 7);
    p.has_writer_features = true;
    p.writer_features = (struct sl_str_list){append_only, 1};
    expect(&p, SILT_OK); /* legal: no reader list at reader version 2 */
}

static void version_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    struct sl_protocol p = versions(0, 1);
    expect(&p, SILT_ECORRUPT);
    p = versions(1, 0);
    expect(&p, SILT_ECORRUPT);
    p = versions(3, 6);
    expect(&p, SILT_ECORRUPT);
    p = versions(4, 7);
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_protocol_validate(&p, &err), SILT_EUNSUPPORTED);
    assert_string_equal(err.code_name, "DELTA_INVALID_PROTOCOL_VERSION");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_features_are_found_by_exact_name),
        cmocka_unit_test(every_published_feature_is_known_by_name),
        cmocka_unit_test(legacy_versions_imply_their_features),
        cmocka_unit_test(writer_version_7_implies_nothing),
        cmocka_unit_test(protocol_with_wrong_lists_is_refused),
        cmocka_unit_test(lists_on_old_versions_are_tolerated_only_when_empty),
        cmocka_unit_test(version_numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
