/* Which checkpoint is written, and what it keeps. */
#include "kernel/checkpoint/checkpoint_plan.h"

#include <string.h>

#include "test_env.h"

#define DAY INT64_C(86400000)
#define NOW (INT64_C(100) * DAY)

struct table {
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_checkpoint_options options;
    struct sl_checkpoint_plan plan;
    bool no_parquet;
    silt_error err;
};

static silt_status plan(struct table *t)
{
    const struct sl_checkpoint_plan_input input = {.protocol = &t->protocol,
                                                   .metadata = &t->metadata,
                                                   .options = &t->options,
                                                   .can_write_parquet = !t->no_parquet,
                                                   .now_ms = NOW};
    t->err = (silt_error)SILT_ERROR_INIT;
    return sl_checkpoint_plan(&input, &t->plan, &t->err);
}

static struct table with_features(const struct sl_str *features, size_t n)
{
    return (struct table){.protocol = {.min_reader_version = 3,
                                       .min_writer_version = 7,
                                       .has_reader_features = true,
                                       .has_writer_features = true,
                                       .reader_features = {features, n},
                                       .writer_features = {features, n}}};
}

static const struct sl_str V2[] = {{"v2Checkpoint", 12}};

static struct table classic(void)
{
    return (struct table){.protocol = {.min_reader_version = 1, .min_writer_version = 2}};
}

static void set(struct table *t, const struct sl_kv *properties, size_t n)
{
    t->metadata.configuration = (struct sl_kv_list){properties, n};
}

static void tables_without_the_feature_get_one_file(void **state)
{
    (void)state;
    const struct sl_kv policy = {SL_STR("delta.checkpointPolicy"), SL_STR("v2")};
    struct table t = classic();
    assert_int_equal(plan(&t), SILT_OK);
    assert_false(t.plan.is_v2);
    assert_false(t.plan.in_parts);
    set(&t, &policy, 1);
    assert_int_equal(plan(&t), SILT_OK);
    assert_false(t.plan.is_v2);
}

static void policy_says_v2_where_the_protocol_has_it(void **state)
{
    (void)state;
    const struct sl_kv policy = {SL_STR("delta.checkpointPolicy"), SL_STR("v2")};
    struct table t = with_features(V2, 1);
    assert_int_equal(plan(&t), SILT_OK);
    assert_false(t.plan.is_v2);
    set(&t, &policy, 1);
    assert_int_equal(plan(&t), SILT_OK);
    assert_true(t.plan.is_v2);
    assert_false(t.plan.json_top);
    assert_int_equal(t.plan.files_per_sidecar, INT64_MAX);
}

static void v2_is_refused_without_the_feature(void **state)
{
    (void)state;
    struct table t = classic();
    t.options.kind = SL_CHECKPOINT_V2;
    assert_int_equal(plan(&t), SILT_EUNSUPPORTED);
    assert_non_null(strstr(t.err.message, "v2Checkpoint"));
}

static void parts_are_refused_with_the_feature(void **state)
{
    (void)state;
    struct table t = with_features(V2, 1);
    t.options.rows_per_part = 10;
    assert_int_equal(plan(&t), SILT_EUNSUPPORTED);
    t.options.kind = SL_CHECKPOINT_V1;
    assert_int_equal(plan(&t), SILT_EUNSUPPORTED);
    t = classic();
    t.options.rows_per_part = 10;
    assert_int_equal(plan(&t), SILT_OK);
    assert_true(t.plan.in_parts);
}

static void options_of_v2_do_not_fit_v1(void **state)
{
    (void)state;
    struct table t = with_features(V2, 1);
    t.options.json_top = true;
    assert_int_equal(plan(&t), SILT_EINVALID);
    t.options = (struct sl_checkpoint_options){.files_per_sidecar = 5};
    assert_int_equal(plan(&t), SILT_EINVALID);
    t.options = (struct sl_checkpoint_options){.kind = SL_CHECKPOINT_V2, .no_sidecars = true};
    assert_int_equal(plan(&t), SILT_EINVALID);
    t.options = (struct sl_checkpoint_options){.rows_per_part = -1};
    assert_int_equal(plan(&t), SILT_EINVALID);
}

static void features_that_nobody_knows_are_refused(void **state)
{
    (void)state;
    const struct sl_str features[] = {SL_STR("v2Checkpoint"), SL_STR("checkpointsInGold")};
    struct table t = with_features(features, 2);
    assert_int_equal(plan(&t), SILT_EUNSUPPORTED);
    assert_non_null(strstr(t.err.message, "checkpointsInGold"));
}

static void without_a_writer_of_parquet_all_goes_into_json(void **state)
{
    (void)state;
    struct table t = with_features(V2, 1);
    t.no_parquet = true;
    assert_int_equal(plan(&t), SILT_EUNSUPPORTED);
    t.options.kind = SL_CHECKPOINT_V2;
    assert_int_equal(plan(&t), SILT_OK);
    assert_true(t.plan.json_top);
    assert_int_equal(t.plan.files_per_sidecar, 0);
}

static void statistics_go_by_their_properties(void **state)
{
    (void)state;
    const struct sl_kv properties[] = {{SL_STR("delta.checkpoint.writeStatsAsJson"), SL_STR("false")},
                                       {SL_STR("delta.checkpoint.writeStatsAsStruct"), SL_STR("false")}};
    struct table t = classic();
    assert_int_equal(plan(&t), SILT_OK);
    assert_true(t.plan.stats_json);
    assert_true(t.plan.stats_struct);
    set(&t, properties, 2);
    assert_int_equal(plan(&t), SILT_OK);
    assert_false(t.plan.stats_json);
    assert_false(t.plan.stats_struct);
}

static void tombstones_and_application_ids_expire(void **state)
{
    (void)state;
    const struct sl_kv properties[] = {{SL_STR("delta.deletedFileRetentionDuration"), SL_STR("interval 3 days")},
                                       {SL_STR("delta.setTransactionRetentionDuration"), SL_STR("interval 2 days")}};
    struct table t = classic();
    const struct sl_app_txn old = {.version = 1, .last_updated = NOW - 2 * DAY};
    const struct sl_app_txn young = {.version = 1, .last_updated = NOW - 2 * DAY + 1};
    const struct sl_app_txn undated = {.version = 1, .last_updated = SL_NO_I64};
    assert_int_equal(plan(&t), SILT_OK);
    assert_int_equal(t.plan.tombstones_after_ms, NOW - 7 * DAY);
    assert_true(sl_checkpoint_keeps_txn(&t.plan, &old));
    assert_true(sl_checkpoint_keeps_txn(&t.plan, &undated));
    set(&t, properties, 2);
    assert_int_equal(plan(&t), SILT_OK);
    assert_int_equal(t.plan.tombstones_after_ms, NOW - 3 * DAY);
    assert_false(sl_checkpoint_keeps_txn(&t.plan, &old));
    assert_true(sl_checkpoint_keeps_txn(&t.plan, &young));
    assert_false(sl_checkpoint_keeps_txn(&t.plan, &undated));
}

/* Numbers that Spark's pmod(hash(path), 1000003) and pmod(hash(path, dvId), 1000003) give. */
static void parts_are_those_of_sparks_hash(void **state)
{
    (void)state;
    const struct sl_dv_descriptor vector = {
        .storage_type = SL_STR("u"), .path_or_inline_dv = SL_STR("ab^-aqEH.-t@S}K{vb[*k^"), .offset = 4};
    const struct sl_dv_descriptor bare = {
        .storage_type = SL_STR("i"), .path_or_inline_dv = SL_STR("xyz"), .offset = SL_NO_I64};
    const struct sl_str none = {NULL, 0};
    assert_int_equal(sl_checkpoint_part_of(none, NULL, true, 1000003), 42);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("Spark"), NULL, true, INT32_MAX), 228093765);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("a.parquet"), NULL, true, 1000003), 408809);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("p=\xC3\xA9/b.parquet"), NULL, true, 1000003), 378934);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("a.parquet"), &vector, false, 1000003), 408809);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("a.parquet"), &vector, true, 1000003), 555920);
    assert_int_equal(sl_checkpoint_part_of(SL_STR("a.parquet"), &bare, true, 1000003), 113367);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_without_the_feature_get_one_file),
        cmocka_unit_test(policy_says_v2_where_the_protocol_has_it),
        cmocka_unit_test(v2_is_refused_without_the_feature),
        cmocka_unit_test(parts_are_refused_with_the_feature),
        cmocka_unit_test(options_of_v2_do_not_fit_v1),
        cmocka_unit_test(features_that_nobody_knows_are_refused),
        cmocka_unit_test(without_a_writer_of_parquet_all_goes_into_json),
        cmocka_unit_test(statistics_go_by_their_properties),
        cmocka_unit_test(tombstones_and_application_ids_expire),
        cmocka_unit_test(parts_are_those_of_sparks_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
