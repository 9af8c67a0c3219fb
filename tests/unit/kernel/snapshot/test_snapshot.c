/*
 * What a snapshot tells of its protocol, and how long it lives.
 */
#include "log_fixture.h"

#include <string.h>

static void the_protocol_is_told_as_it_stands(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_min_reader_version(snapshot), 1);
    assert_int_equal(silt_snapshot_min_writer_version(snapshot), 2);
    assert_null(silt_snapshot_feature(snapshot, silt_snapshot_feature_count(snapshot)));
    silt_snapshot_unref(snapshot);
}

static void features_of_readers_and_writers_are_listed_once(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0,
               "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
               "\"writerFeatures\":[\"timestampNtz\",\"domainMetadata\"]}}",
               LOG_METADATA, NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    const size_t n = silt_snapshot_feature_count(snapshot);
    size_t n_ntz = 0;
    size_t n_domain = 0;
    for (size_t i = 0; i < n; i++) {
        n_ntz += strcmp(silt_snapshot_feature(snapshot, i), "timestampNtz") == 0 ? 1 : 0;
        n_domain += strcmp(silt_snapshot_feature(snapshot, i), "domainMetadata") == 0 ? 1 : 0;
    }
    assert_int_equal(silt_snapshot_min_reader_version(snapshot), 3);
    assert_int_equal(silt_snapshot_min_writer_version(snapshot), 7);
    assert_int_equal(n, 2);
    assert_int_equal(n_ntz, 1);
    assert_int_equal(n_domain, 1);
    silt_snapshot_unref(snapshot);
}

static void a_snapshot_lives_as_long_as_its_last_reference(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    silt_snapshot *second = silt_snapshot_ref(snapshot);
    assert_ptr_equal(second, snapshot);
    silt_snapshot_unref(snapshot);
    assert_string_equal(log_files(f, second), "a");
    silt_snapshot_unref(second);
    silt_snapshot_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_protocol_is_told_as_it_stands),
        LOG_TEST(features_of_readers_and_writers_are_listed_once),
        LOG_TEST(a_snapshot_lives_as_long_as_its_last_reference),
    };
    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
