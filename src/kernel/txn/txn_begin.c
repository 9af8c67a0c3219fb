/*
 * Beginning a transaction on a table that exists. The gate decides here, before any work is done, whether silt may write the
 * table at all. PROTOCOL.md "Requirements for Writers".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

silt_status silt_txn_begin_at(silt_table *table, silt_snapshot *snapshot, const char *operation, silt_txn **out,
                              silt_error *err)
{
    *out = NULL;
    if (snapshot == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction begins at a snapshot; none was given");
    }
    silt_txn *txn = NULL;
    SL_TRY(sl_txn_new(table, operation, &txn, err));
    silt_status status = SILT_OK;
    if (!sl_str_eq(sl_snapshot_root(snapshot), txn->root)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "the snapshot is of another table, %.*s",
                         SL_FMT(sl_snapshot_root(snapshot)));
        goto out;
    }
    if (sl_table_is_catalog(table)) {
        status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                         "%s was opened through a catalog: only its catalog can commit to it", silt_table_uri(table));
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
    status = sl_gate_write(&txn->protocol, &txn->metadata, txn->schema, err);
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
    *out = NULL;
    if (table == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction needs a table");
    }
    silt_snapshot *snapshot = NULL;
    SL_TRY(silt_table_latest_snapshot(table, call, &snapshot, err));
    silt_status status = sl_snapshot_settle(&snapshot, call, err);
    if (status == SILT_OK) {
        status = silt_txn_begin_at(table, snapshot, operation, out, err);
    }
    silt_snapshot_unref(snapshot);
    return status;
}
