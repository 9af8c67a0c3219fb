/*
 * Changes of a table's properties and schema within a transaction, and the protocol that they need. A change is judged when it
 * is made; whether live files bear a new schema is judged before the commit, when it is known whether they all go.
 * PROTOCOL.md "Change Metadata", "Consistency Between Table Metadata and Data Files".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"
#include "schema/type.h"

silt_status sl_txn_check_metadata(silt_txn *txn, silt_error *err)
{
    const struct sl_metadata *before = txn->snapshot != NULL ? sl_snapshot_get_metadata(txn->snapshot) : NULL;
    return sl_metadata_check_change(&txn->arena, before != NULL ? &before->configuration : NULL, &txn->metadata,
                                    txn->schema, err);
}

silt_status sl_txn_plan_protocol(silt_txn *txn, silt_error *err)
{
    struct sl_protocol planned;
    bool changed = false;
    SL_TRY(sl_txn_check_metadata(txn, err));
    SL_TRY(sl_protocol_for_change(&txn->arena, &txn->protocol, &txn->settings, &txn->metadata, txn->schema, &planned,
                                  &changed, err));
    SL_TRY(sl_txn_gate(txn, &planned, err));
    txn->protocol = planned;
    txn->protocol_changed = txn->protocol_changed || changed;
    return SILT_OK;
}

/* What a change that is refused is taken back to. */
struct saved {
    silt_schema *schema; /* references */
    silt_schema *physical;
    struct sl_str schema_string;
    struct sl_kv_list configuration;
    struct sl_kv_list settings;
};

static struct saved save(const silt_txn *txn)
{
    return (struct saved){silt_schema_ref(txn->schema), silt_schema_ref(txn->physical), txn->metadata.schema_string,
                          txn->metadata.configuration, txn->settings};
}

/* Ends a change: keeps it, or takes it back when it failed. */
static silt_status settle(silt_txn *txn, struct saved *saved, silt_status status)
{
    if (status == SILT_OK) {
        silt_schema_unref(saved->schema);
        silt_schema_unref(saved->physical);
        txn->writer.ready = false;
        return SILT_OK;
    }
    silt_schema_unref(txn->schema);
    silt_schema_unref(txn->physical);
    txn->schema = saved->schema;
    txn->physical = saved->physical;
    txn->metadata.schema_string = saved->schema_string;
    txn->metadata.configuration = saved->configuration;
    txn->settings = saved->settings;
    return status;
}

static silt_status set_protocol_setting(silt_txn *txn, struct sl_kv pair, silt_error *err)
{
    if (pair.value.ptr == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "%.*s is a setting of the protocol and cannot be unset",
                       SL_FMT(pair.key));
    }
    struct saved saved = save(txn);
    silt_status status = sl_txn_with_key(&txn->arena, &saved.settings, pair, &txn->settings, NULL, err);
    if (status == SILT_OK) {
        status = sl_txn_plan_protocol(txn, err);
    }
    return settle(txn, &saved, status);
}

/* Properties by which names and ids of columns are given. */
static bool shapes_schema(struct sl_str key)
{
    return sl_str_eq_c(key, "delta.columnMapping.mode") || sl_str_starts_with(key, SL_STR("delta.enableIcebergCompat"));
}

static silt_status change_property(silt_txn *txn, struct sl_kv pair, silt_error *err)
{
    const struct sl_kv_list before = txn->metadata.configuration;
    struct sl_kv_list after;
    bool found = false;
    SL_TRY(sl_txn_with_key(&txn->arena, &before, pair, &after, &found, err));
    if (pair.value.ptr == NULL && !found) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_UNSET_NON_EXISTENT_PROPERTY", "table property %.*s is not set",
                       SL_FMT(pair.key));
    }
    if (shapes_schema(pair.key) && txn->adds.len > 0) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "%.*s must be set before files are added to the transaction: it may give columns other names",
                       SL_FMT(pair.key));
    }
    if (shapes_schema(pair.key)) {
        SL_TRY(sl_txn_take_schema(txn, txn->schema, &after, err));
    } else {
        txn->metadata.configuration = after;
    }
    return sl_txn_plan_protocol(txn, err);
}

silt_status silt_txn_set_property(silt_txn *txn, const char *key, const char *value, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (key == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a table property needs a key");
    }
    if (value != NULL) {
        SL_TRY(sl_property_validate(sl_str_from(key), sl_str_from(value), err));
    } else {
        SL_TRY(sl_property_check_owner(sl_str_from(key), err));
    }
    struct sl_kv pair;
    SL_TRY(sl_txn_text(txn, key, &pair.key, err));
    SL_TRY(sl_txn_text(txn, value, &pair.value, err));
    pair.key = sl_property_canonical(&txn->arena, pair.key);
    if (pair.key.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    pair.value = sl_property_canonical_value(pair.key, pair.value);
    if (sl_property_is_protocol(pair.key)) {
        return set_protocol_setting(txn, pair, err);
    }
    struct saved saved = save(txn);
    const silt_schema *schema_before = saved.schema;
    SL_TRY(settle(txn, &saved, change_property(txn, pair, err)));
    txn->metadata_changed = true;
    txn->schema_changed = txn->schema_changed || txn->schema != schema_before;
    return SILT_OK;
}

silt_status silt_txn_set_schema(silt_txn *txn, const silt_schema *schema, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (schema == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "no schema given");
    }
    if (txn->adds.len > 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the schema must be set before files are added to the transaction");
    }
    SL_TRY(sl_schema_validate_partitioning(schema, txn->metadata.partition_columns.items,
                                           txn->metadata.partition_columns.n, err));
    struct saved saved = save(txn);
    const struct sl_kv_list configuration = txn->metadata.configuration;
    silt_status status = sl_txn_take_schema(txn, schema, &configuration, err);
    if (status == SILT_OK) {
        status = sl_txn_plan_protocol(txn, err);
    }
    SL_TRY(settle(txn, &saved, status));
    txn->metadata_changed = true;
    txn->schema_changed = true;
    return SILT_OK;
}
