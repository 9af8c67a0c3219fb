/*
 * Actions from Arrow batches: a checkpoint's schema, nulls on every level, arrays that are not well-formed.
 */
#include "log_fixture.h"

#include <string.h>

#include "base/arrow.h"
#include "kernel/action/action_arrow.h"
#include "schema/type.h"

static void a_schema_has_what_is_asked_for(void **state)
{
    struct log_fixture *f = *state;
    silt_schema *schema = NULL;
    assert_int_equal(sl_checkpoint_schema(&f->test.env, SL_COLUMN_ADD | SL_COLUMN_PROTOCOL, false, &schema, &f->err),
                     SILT_OK);
    assert_int_equal(silt_schema_field_count(schema), 2);
    const silt_type *add = silt_field_type(silt_schema_find(schema, "add"));
    assert_null(sl_type_find(add, SL_STR("stats"), NULL));
    assert_non_null(sl_type_find(add, SL_STR("deletionVector"), NULL));
    silt_schema_unref(schema);
    assert_int_equal(sl_checkpoint_schema(&f->test.env, SL_COLUMN_ADD | SL_COLUMN_REMOVE, true, &schema, &f->err),
                     SILT_OK);
    assert_non_null(sl_type_find(silt_field_type(silt_schema_find(schema, "add")), SL_STR("stats"), NULL));
    assert_null(sl_type_find(silt_field_type(silt_schema_find(schema, "remove")), SL_STR("stats"), NULL));
    silt_schema_unref(schema);
}

/* ---- rows through the fixture's handler ---- */

#define ALL_KINDS                                                                                                  \
    "{\"metaData\":{\"id\":\"m\",\"name\":\"n\",\"format\":{\"provider\":\"parquet\",\"options\":{\"o\":\"1\"}},"  \
    "\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"p\\\",\\\"type\\\":"        \
    "\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[\"p\"],\"configuration\":{" \
    "\"b\":\"2\",\"a\":\"1\"},\"createdTime\":null}}"

static silt_status check_add(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    size_t *n = ctx;
    (*n)++;
    assert_int_equal(add->partition_values.n, 1);
    assert_true(sl_str_eq_c(add->partition_values.items[0].key, "p"));
    if (sl_str_eq_c(add->path, "a")) {
        assert_null(add->partition_values.items[0].value.ptr);
        assert_true(add->has_tags && add->tags.n == 1);
        assert_true(add->base_row_id == 4);
        assert_null(add->deletion_vector);
    } else {
        assert_true(sl_str_eq_c(add->partition_values.items[0].value, "7"));
        assert_false(add->has_tags);
        assert_true(add->base_row_id == SL_NO_I64);
    }
    return SILT_OK;
}

static void every_member_comes_through_a_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(
        f, 4, LOG_PROTOCOL, ALL_KINDS,
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":null},\"size\":1,\"modificationTime\":2,"
        "\"dataChange\":false,\"tags\":{\"t\":\"x\"},\"baseRowId\":4,\"deletionVector\":{\"storageType\":null}}}",
        "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":\"7\"},\"size\":1,\"modificationTime\":2}}",
        "{\"add\":{\"path\":null},\"remove\":null}",
        "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"{}\",\"removed\":false}}",
        "{\"txn\":{\"appId\":\"x\",\"version\":8,\"lastUpdated\":9}}", "{\"unknown\":{\"x\":1}}", NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    silt_metadata metadata = {.size = sizeof(metadata)};
    silt_snapshot_metadata(snapshot, &metadata);
    assert_string_equal(metadata.id, "m");
    assert_string_equal(metadata.name, "n");
    assert_null(metadata.description);
    assert_int_equal(metadata.created_time_ms, -1);
    assert_int_equal(silt_snapshot_partition_count(snapshot), 1);
    assert_string_equal(silt_snapshot_partition_column(snapshot, 0), "p");
    const char *key = NULL;
    const char *value = NULL;
    assert_int_equal(silt_snapshot_property_count(snapshot), 2);
    silt_snapshot_property(snapshot, 0, &key, &value);
    assert_string_equal(key, "a");
    assert_string_equal(value, "1");
    assert_string_equal(silt_snapshot_domain(snapshot, "d"), "{}");
    assert_null(silt_snapshot_domain(snapshot, "e"));
    assert_int_equal(silt_snapshot_app_version(snapshot, "x"), 8);
    assert_int_equal(silt_snapshot_app_version(snapshot, "y"), -1);
    size_t n = 0;
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, check_add, &n, &f->err), SILT_OK);
    assert_int_equal(n, 2);
    silt_snapshot_unref(snapshot);
}

static void a_row_without_a_required_member_is_corrupt(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 4, LOG_PROTOCOL, LOG_METADATA, "{\"txn\":{\"appId\":\"x\"}}", NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "txn without version");
}

static void a_required_group_must_be_there(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 4, LOG_PROTOCOL,
                   "{\"metaData\":{\"id\":\"m\",\"schemaString\":\"{}\",\"partitionColumns\":[],\"configuration\":{}}}",
                   NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "metaData without format");
}

static void the_number_that_stands_for_none_is_unusable(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(f, 4, LOG_PROTOCOL, LOG_METADATA, "{\"txn\":{\"appId\":\"x\",\"version\":-9223372036854775808}}",
                   NULL);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "unusable txn.version");
}

static silt_status count_action(void *ctx, const struct sl_action *action, silt_error *err)
{
    (void)action;
    (void)err;
    (*(size_t *)ctx)++;
    return SILT_OK;
}

static void malformed_arrays_are_refused(void **state)
{
    struct log_fixture *f = *state;
    silt_schema *schema = NULL;
    struct ArrowSchema arrow = {0};
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray batch = {0};
    assert_int_equal(sl_checkpoint_schema(&f->test.env, SL_COLUMN_APP_TXN, false, &schema, &f->err), SILT_OK);
    assert_int_equal(silt_schema_to_arrow(schema, &arrow, &f->err), SILT_OK);
    assert_int_equal(sl_arrow_builder_new(&f->test.env, &arrow, &builder, &f->err), SILT_OK);
    struct sl_arrow_builder *txn = sl_arrow_builder_child(builder, 0);
    assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(txn, 0), SL_STR("x"), &f->err), SILT_OK);
    assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(txn, 1), 1, &f->err), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(txn, 2), &f->err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(txn, &f->err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(builder, &f->err), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &batch, &f->err), SILT_OK);
    size_t n = 0;
    assert_int_equal(sl_actions_from_arrow(&f->test.env, &arrow, &batch, count_action, &n, &f->err), SILT_OK);
    assert_int_equal(n, 1);
    batch.length = 2; /* longer than its children */
    assert_int_equal(sl_actions_from_arrow(&f->test.env, &arrow, &batch, count_action, &n, &f->err), SILT_EENGINE);
    batch.length = 1;
    arrow.children[0]->children[1]->format = "g";
    assert_int_equal(sl_actions_from_arrow(&f->test.env, &arrow, &batch, count_action, &n, &f->err), SILT_EENGINE);
    assert_non_null(strstr(f->err.message, "txn.version"));
    arrow.children[0]->children[1]->format = "l";
    batch.children[0]->children[1]->length = 0;
    assert_int_equal(sl_actions_from_arrow(&f->test.env, &arrow, &batch, count_action, &n, &f->err), SILT_EENGINE);
    batch.children[0]->children[1]->length = 1;
    assert_int_equal(n, 1);
    sl_arrow_array_release(&batch);
    sl_arrow_builder_free(builder);
    sl_arrow_schema_release(&arrow);
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_schema_has_what_is_asked_for),
        LOG_TEST(every_member_comes_through_a_checkpoint),
        LOG_TEST(a_row_without_a_required_member_is_corrupt),
        LOG_TEST(a_required_group_must_be_there),
        LOG_TEST(the_number_that_stands_for_none_is_unusable),
        LOG_TEST(malformed_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
