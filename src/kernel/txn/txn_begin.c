/*
 * Beginning a transaction on a table that exists. The gate decides here, before any work is done, whether silt may write the
 * table at all. PROTOCOL.md "Requirements for Writers".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

silt_status sl_txn_gate(const silt_txn *txn, const struct sl_protocol *protocol, silt_error *err)
{
    return txn->by_catalog ? sl_gate_write_by_catalog(protocol, &txn->metadata, txn->schema, err)
                           : sl_gate_write(protocol, &txn->metadata, txn->schema, err);
}

/* PROTOCOL: Writer Requirements for Catalog-managed tables: by its catalog alone, and with in-commit timestamps. */
static silt_status choose_way(silt_txn *txn, silt_error *err)
{
    if (!sl_table_is_catalog(txn->table)) {
        return SILT_OK;
    }
    if (sl_table_committer(txn->table) == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "%s was opened through a catalog without a committer: it can only be read",
                       silt_table_uri(txn->table));
    }
    if (!sl_protocol_has_feature(&txn->protocol, "catalogManaged") &&
        !sl_protocol_has_feature(&txn->protocol, "catalogOwned-preview")) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "%s is not managed by its catalog: open it by its path to write to it",
                       silt_table_uri(txn->table));
    }
    if (!sl_protocol_has_feature(&txn->protocol, "inCommitTimestamp") ||
        !sl_property_bool(&txn->metadata.configuration, "delta.enableInCommitTimestamps")) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "%s is managed by a catalog, but does not have delta.enableInCommitTimestamps",
                       silt_table_uri(txn->table));
    }
    txn->by_catalog = true;
    return SILT_OK;
}

silt_status silt_txn_begin_at(silt_table *table, silt_snapshot *snapshot, const char *operation, silt_txn **out,
                              silt_error *err)
{
    if (snapshot == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction begins at a snapshot, and needs a place to go");
    }
    *out = NULL;
    silt_txn *txn = NULL;
    SL_TRY(sl_txn_new(table, operation, &txn, err));
    silt_status status = SILT_OK;
    if (!sl_str_eq(sl_snapshot_root(snapshot), txn->root)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "the snapshot is of another table, %.*s",
                         SL_FMT(sl_snapshot_root(snapshot)));
        goto out;
    }
    txn->snapshot = silt_snapshot_ref(snapshot);
    status = sl_snapshot_settle(&txn->snapshot, NULL, err);
    if (status != SILT_OK) {
        goto out;
    }
    snapshot = txn->snapshot;
    txn->read_version = silt_snapshot_version(snapshot);
    txn->protocol = *sl_snapshot_protocol(snapshot);
    txn->metadata = *sl_snapshot_get_metadata(snapshot);
    txn->schema = silt_schema_ref(silt_snapshot_schema(snapshot));
    txn->physical = silt_schema_ref(silt_snapshot_physical_schema(snapshot));
    txn->max_column_id = sl_property_int(&txn->metadata.configuration, "delta.columnMapping.maxColumnId");
    status = choose_way(txn, err);
    if (status == SILT_OK) {
        status = sl_txn_gate(txn, &txn->protocol, err);
    }
out:
    if (status != SILT_OK) {
        sl_error_path(err, silt_table_uri(table));
        silt_txn_free(txn);
        return status;
    }
    *out = txn;
    return SILT_OK;
}

silt_status silt_txn_begin(silt_table *table, const silt_call *call, const char *operation, silt_txn **out,
                           silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction needs a table, and a place to go");
    }
    *out = NULL;
    silt_snapshot *snapshot = NULL;
    SL_TRY(silt_table_latest_snapshot(table, call, &snapshot, err));
    silt_status status = sl_snapshot_settle(&snapshot, call, err);
    if (status == SILT_OK) {
        status = silt_txn_begin_at(table, snapshot, operation, out, err);
    }
    silt_snapshot_unref(snapshot);
    return status;
}
