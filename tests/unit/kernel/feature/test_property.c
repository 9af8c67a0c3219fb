/* Table properties: keys, values, defaults. */
#include "kernel/feature/feature.h"

#include "test_env.h"

static silt_error err;

static const char *check(const char *key, const char *value)
{
    silt_error_reset(&err);
    return sl_property_validate(sl_str_from(key), sl_str_from(value), &err) == SILT_OK ? "ok" : err.code_name;
}

static struct sl_kv_list config(const char *key, const char *value)
{
    static struct sl_kv pair;
    pair = (struct sl_kv){sl_str_from(key), sl_str_from(value)};
    return (struct sl_kv_list){&pair, 1};
}

static void known_keys_are_taken_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(check("delta.appendOnly", "true"), "ok");
    assert_string_equal(check("DELTA.APPENDONLY", "TRUE"), "ok");
    assert_string_equal(check("my.own", "anything"), "ok");
    assert_string_equal(check("silt.option", "x"), "DELTA_UNKNOWN_CONFIGURATION");
    assert_string_equal(check("delta.constraints.c", "a > 1"), "ok");
    assert_string_equal(check("delta.universalFormat.config.iceberg.x", "y"), "ok");
}

static void unknown_delta_key_is_refused_with_a_suggestion(void **state)
{
    (void)state;
    assert_string_equal(check("delta.appendOnyl", "true"), "DELTA_UNKNOWN_CONFIGURATION");
    assert_non_null(strstr(err.hint, "delta.appendOnly"));
    assert_string_equal(check("delta.somethingElseEntirely.at.all", "true"), "DELTA_UNKNOWN_CONFIGURATION");
    assert_string_equal(err.hint, "");
    assert_string_equal(check("delta.constraints.", "x"), "DELTA_UNKNOWN_CONFIGURATION");
}

static void values_of_a_wrong_kind_are_refused(void **state)
{
    (void)state;
    assert_string_equal(check("delta.appendOnly", "yes"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.checkpointInterval", "0"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.checkpointInterval", "ten"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.dataSkippingNumIndexedCols", "-1"), "ok");
    assert_string_equal(check("delta.dataSkippingNumIndexedCols", "-2"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.isolationLevel", "serializable"), "ok");
    assert_string_equal(check("delta.isolationLevel", "SnapshotIsolation"), "DELTA_INVALID_ISOLATION_LEVEL");
    assert_string_equal(check("delta.parquet.compression.codec", "lzma"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.targetFileSize", "128mb"), "ok");
    assert_string_equal(check("delta.targetFileSize", "big"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.targetFileSize", "0"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.dataSkippingStatsColumns", "a,`b c`,s.f"), "ok");
    assert_string_equal(check("delta.dataSkippingStatsColumns", "a,b c"), "DELTA_ILLEGAL_OPTION");
}

static void numbers_are_those_that_spark_can_read(void **state)
{
    (void)state;
    static const char *const ints[] = {"delta.checkpointInterval", "delta.randomPrefixLength",
                                       "delta.dataSkippingNumIndexedCols", "delta.dataSkippingStringPrefixLength"};
    for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
        assert_string_equal(check(ints[i], "2147483647"), "ok");
        assert_string_equal(check(ints[i], "2147483648"), "DELTA_ILLEGAL_OPTION");
        assert_string_equal(check(ints[i], "99999999999"), "DELTA_ILLEGAL_OPTION");
        assert_string_equal(check(ints[i], "99999999999999999999"), "DELTA_ILLEGAL_OPTION");
        assert_string_equal(check(ints[i], " 10"), "DELTA_ILLEGAL_OPTION");
    }
    assert_string_equal(check("delta.requireCheckpointProtectionBeforeVersion", "99999999999"), "ok");
    assert_string_equal(check("delta.minWriterVersion", "4294967298"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.appendOnly", "true "), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.checkpointPolicy", "v2"), "ok");
    assert_string_equal(check("delta.checkpointPolicy", "V2"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.parquet.format.version", "2.12.0"), "ok");
    assert_string_equal(check("delta.parquet.format.version", "1.0"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.parquet.format.version", "0.9.0"), "DELTA_ILLEGAL_OPTION");
    assert_string_equal(check("delta.parquet.format.version", "1.0.0.0"), "DELTA_ILLEGAL_OPTION");
    /* A number that another writer left is the default. */
    struct sl_kv_list c = config("delta.checkpointInterval", "99999999999");
    assert_int_equal(sl_property_int(&c, "delta.checkpointInterval"), 10);
}

static void what_writers_alone_set_cannot_be_given(void **state)
{
    (void)state;
    assert_string_equal(check("delta.columnMapping.maxColumnId", "5"), "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
    assert_string_equal(check("delta.inCommitTimestampEnablementVersion", "5"), "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
    assert_string_equal(check("DELTA.InCommitTimestampEnablementTimestamp", "5"), "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
    assert_string_equal(check("delta.rowTracking.materializedRowIdColumnName", "x"), "DELTA_UNKNOWN_CONFIGURATION");
    assert_string_equal(check("delta.rowTracking.materializedRowCommitVersionColumnName", "x"),
                        "DELTA_UNKNOWN_CONFIGURATION");
}

static void bad_intervals_are_errors_not_defaults(void **state)
{
    (void)state;
    assert_string_equal(check("delta.logRetentionDuration", "interval 1 day"), "ok");
    assert_string_equal(check("delta.logRetentionDuration", "2 weeks"), "ok");
    assert_string_equal(check("delta.logRetentionDuration", "1 days"), "ok");
    assert_string_equal(check("delta.logRetentionDuration", "1 month"), "DELTA_INVALID_INTERVAL");
    assert_string_equal(check("delta.logRetentionDuration", "-1 day"), "DELTA_INVALID_INTERVAL");
    assert_string_equal(check("delta.logRetentionDuration", "day"), "DELTA_INVALID_INTERVAL");
    assert_string_equal(check("delta.logRetentionDuration", "30"), "DELTA_INVALID_INTERVAL");
    assert_string_equal(check("delta.logRetentionDuration", "  "), "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY");
}

static void keys_are_stored_in_their_own_spelling(void **state)
{
    (void)state;
    struct sl_arena arena;
    sl_arena_init(&arena, silt_env_default());
    assert_true(sl_str_eq_c(sl_property_canonical(&arena, SL_STR("delta.APPENDonly")), "delta.appendOnly"));
    assert_true(
        sl_str_eq_c(sl_property_canonical(&arena, SL_STR("delta.feature.AppendOnly")), "delta.feature.appendonly"));
    assert_true(sl_str_eq_c(sl_property_canonical(&arena, SL_STR("My.Key")), "My.Key"));
    assert_true(
        sl_str_eq_c(sl_property_canonical(&arena, SL_STR("delta.constraints.MyCheck")), "delta.constraints.MyCheck"));
    sl_arena_release(&arena);
}

static bool stored(const char *key, const char *value, const char *expected)
{
    return sl_str_eq_c(sl_property_canonical_value(sl_str_from(key), sl_str_from(value)), expected);
}

/* Readers on delta-kernel-rs take "NAME" for no mode of column mapping and "TRUE" for false. */
static void values_are_stored_in_the_spelling_that_all_readers_know(void **state)
{
    (void)state;
    assert_true(stored("delta.columnMapping.mode", "NAME", "name"));
    assert_true(stored("delta.COLUMNmapping.mode", "Id", "id"));
    assert_true(stored("delta.isolationLevel", "SERIALIZABLE", "Serializable"));
    assert_true(stored("delta.appendOnly", "TRUE", "true"));
    assert_true(stored("delta.checkpoint.writeStatsAsJson", "False", "false"));
    assert_true(stored("delta.targetFileSize", "1GB", "1GB"));
    assert_true(stored("delta.logRetentionDuration", "Interval 1 DAY", "Interval 1 DAY"));
    assert_true(stored("delta.constraints.a", "TRUE", "TRUE"));
    assert_true(stored("my.flag", "TRUE", "TRUE"));
    assert_true(stored("delta.appendOnly", "", ""));
}

static void unset_and_unreadable_values_are_the_default(void **state)
{
    (void)state;
    const struct sl_kv_list none = {NULL, 0};
    assert_int_equal(sl_property_int(&none, "delta.checkpointInterval"), 10);
    assert_int_equal(sl_property_bytes(&none, "delta.targetFileSize"), 128 * 1024 * 1024);
    assert_int_equal(sl_property_interval_ms(&none, "delta.deletedFileRetentionDuration"), INT64_C(7) * 86400 * 1000);
    assert_true(sl_property_bool(&none, "delta.enableExpiredLogCleanup"));
    assert_true(sl_str_eq_c(sl_property_text(&none, "delta.parquet.compression.codec"), "zstd"));
    assert_true(sl_str_eq_c(sl_property_text(&none, "delta.isolationLevel"), "WriteSerializable"));
    assert_null(sl_property_text(&none, "delta.dataSkippingStatsColumns").ptr);
    struct sl_kv_list c = config("delta.checkpointInterval", "many");
    assert_int_equal(sl_property_int(&c, "delta.checkpointInterval"), 10);
    c = config("delta.isolationLevel", "chaos");
    assert_true(sl_str_eq_c(sl_property_text(&c, "delta.isolationLevel"), "WriteSerializable"));
}

static void set_values_are_read(void **state)
{
    (void)state;
    struct sl_kv_list c = config("delta.logRetentionDuration", "interval 1 day 2 hours");
    assert_int_equal(sl_property_interval_ms(&c, "delta.logRetentionDuration"), 26 * 3600 * 1000);
    c = config("delta.isolationLevel", "serializable");
    assert_true(sl_str_eq_c(sl_property_text(&c, "delta.isolationLevel"), "Serializable"));
    c = config("delta.enableChangeDataCapture", "true"); /* the older name */
    assert_true(sl_property_bool(&c, "delta.enableChangeDataFeed"));
    c = config("delta.targetFileSize", "1g");
    assert_int_equal(sl_property_bytes(&c, "delta.targetFileSize"), 1024 * 1024 * 1024);
    c = config("other", "text");
    assert_true(sl_str_eq_c(sl_property_text(&c, "other"), "text"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_keys_are_taken_in_any_case),
        cmocka_unit_test(unknown_delta_key_is_refused_with_a_suggestion),
        cmocka_unit_test(values_of_a_wrong_kind_are_refused),
        cmocka_unit_test(numbers_are_those_that_spark_can_read),
        cmocka_unit_test(what_writers_alone_set_cannot_be_given),
        cmocka_unit_test(bad_intervals_are_errors_not_defaults),
        cmocka_unit_test(keys_are_stored_in_their_own_spelling),
        cmocka_unit_test(values_are_stored_in_the_spelling_that_all_readers_know),
        cmocka_unit_test(unset_and_unreadable_values_are_the_default),
        cmocka_unit_test(set_values_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
