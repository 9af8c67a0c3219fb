/*
 * A transaction's schema and what stands behind it: column mapping gives every column a physical name and an id, by which files,
 * statistics and partition values know it. Called whenever schema or properties change; one owner.
 * PROTOCOL.md "Writer Requirements for Column Mapping".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "schema/column_mapping.h"
#include "schema/type.h"

#define MODE "delta.columnMapping.mode"
#define MAX_ID "delta.columnMapping.maxColumnId"

/* What a schema and a configuration become together. */
struct shape {
    silt_schema *schema;
    silt_schema *physical;
    struct sl_kv_list configuration;
};

static enum sl_mapping_mode mode_of(const struct sl_kv_list *configuration)
{
    enum sl_mapping_mode mode = SL_MAPPING_NONE;
    bool found = false;
    (void)sl_mapping_mode_parse(sl_kv_get(configuration, SL_STR(MODE), &found), &mode); /* checked when it was set */
    return mode;
}

static const char *mode_name(enum sl_mapping_mode mode)
{
    return mode == SL_MAPPING_NONE ? "none" : mode == SL_MAPPING_NAME ? "name" : "id";
}

/* Files that are there are found by names or ids; only names that become physical ones can be told of files without ids. */
static silt_status check_mode_change(const silt_txn *txn, enum sl_mapping_mode before, enum sl_mapping_mode after,
                                     silt_error *err)
{
    if (txn->snapshot == NULL || before == after) {
        return SILT_OK;
    }
    if (before != SL_MAPPING_NONE || after != SL_MAPPING_NAME) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
                       "changing column mapping mode from '%s' to '%s' is not supported; an existing table can go from "
                       "'none' to 'name' only",
                       mode_name(before), mode_name(after));
    }
    if (sl_schema_has_mapping(txn->schema)) {
        return sl_fail(
            err, SILT_EUNSUPPORTED,
            "DELTA_ENABLING_COLUMN_MAPPING_DISALLOWED_WHEN_COLUMN_MAPPING_METADATA_ALREADY_EXISTS",
            "column mapping cannot be enabled: the schema holds ids and physical names of an earlier mapping");
    }
    return SILT_OK;
}

silt_status sl_txn_with_key(struct sl_arena *arena, const struct sl_kv_list *list, struct sl_kv pair,
                            struct sl_kv_list *out, bool *found, silt_error *err)
{
    struct sl_kv *items = sl_arena_alloc_array(arena, list->n + 1, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    bool seen = false;
    for (size_t i = 0; i < list->n; i++) {
        const bool same = sl_str_eq(list->items[i].key, pair.key);
        seen = seen || same;
        if (!same) {
            items[n++] = list->items[i];
        } else if (pair.value.ptr != NULL) {
            items[n++] = pair;
        }
    }
    if (!seen && pair.value.ptr != NULL) {
        items[n++] = pair;
    }
    *out = (struct sl_kv_list){items, n};
    if (found != NULL) {
        *found = seen;
    }
    return SILT_OK;
}

static silt_status assign_mapping(silt_txn *txn, const silt_schema *schema, enum sl_mapping_mode before,
                                  struct shape *shape, silt_error *err)
{
    const bool continues = txn->snapshot != NULL || before != SL_MAPPING_NONE;
    const struct sl_mapping_assignment how = {
        .before = continues && txn->physical != NULL ? txn->schema : NULL,
        .before_mode = before,
        .max_id = txn->max_column_id,
        .nested_ids = sl_property_bool(&shape->configuration, "delta.enableIcebergCompatV2") ||
                      sl_property_bool(&shape->configuration, "delta.enableIcebergCompatV3"),
    };
    int64_t max_id = 0;
    SL_TRY(sl_schema_assign_mapping(schema, &how, &shape->schema, &max_id, err));
    txn->max_column_id = max_id;
    const char *text = sl_arena_printf(&txn->arena, "%lld", (long long)max_id);
    if (text == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_kv_list given = shape->configuration;
    return sl_txn_with_key(&txn->arena, &given, (struct sl_kv){SL_STR(MAX_ID), sl_str_from(text)},
                           &shape->configuration, NULL, err);
}

static silt_status make_shape(silt_txn *txn, const silt_schema *schema, struct shape *shape, silt_error *err)
{
    const enum sl_mapping_mode before = mode_of(&txn->metadata.configuration);
    const enum sl_mapping_mode after = mode_of(&shape->configuration);
    SL_TRY(check_mode_change(txn, before, after, err));
    if (after != SL_MAPPING_NONE) {
        SL_TRY(sl_schema_validate_mapped(schema, err));
        SL_TRY(assign_mapping(txn, schema, before, shape, err));
        return sl_schema_physical(shape->schema, after, &shape->physical, err);
    }
    SL_TRY(sl_schema_validate(schema, err));
    /* As Delta Spark: names and ids that came with the columns of another table are not taken over, those that were there stay. */
    const bool keeps = txn->snapshot != NULL && sl_schema_has_mapping(txn->schema);
    if (keeps) {
        shape->schema = silt_schema_ref(schema);
    } else {
        SL_TRY(sl_schema_drop_mapping(schema, &shape->schema, err));
    }
    shape->physical = silt_schema_ref(shape->schema);
    return SILT_OK;
}

silt_status sl_txn_take_schema(silt_txn *txn, const silt_schema *schema, const struct sl_kv_list *configuration,
                               silt_error *err)
{
    struct shape shape = {.configuration = *configuration};
    silt_status status = make_shape(txn, schema, &shape, err);
    const char *json = status == SILT_OK ? silt_schema_json(shape.schema) : NULL;
    if (status == SILT_OK && json == NULL) {
        status = sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        silt_schema_unref(shape.schema);
        silt_schema_unref(shape.physical);
        return status;
    }
    silt_schema_unref(txn->schema);
    silt_schema_unref(txn->physical);
    txn->schema = shape.schema;
    txn->physical = shape.physical;
    txn->metadata.schema_string = sl_str_from(json);
    txn->metadata.configuration = shape.configuration;
    return SILT_OK;
}
