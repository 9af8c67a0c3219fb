/*
 * Features that a transaction switches on in a table with files: whether those files bear it. Called once, before the commit, when it is
 * known what the transaction removes. PROTOCOL.md "Row Tracking", "Iceberg Compatibility V1", "Iceberg Compatibility V2".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"

static bool turns_on(const silt_txn *txn, const char *property)
{
    return sl_property_bool(&txn->metadata.configuration, property) &&
           !sl_property_bool(&sl_snapshot_get_metadata(txn->snapshot)->configuration, property);
}

/* PROTOCOL: replacing a partitioned table with a differently-named partition spec must be blocked. */
static silt_status check_partitioning(const silt_txn *txn, silt_error *err)
{
    const struct sl_str_list *before = &sl_snapshot_get_metadata(txn->snapshot)->partition_columns;
    const struct sl_str_list *after = &txn->metadata.partition_columns;
    bool same = before->n == after->n || before->n == 0;
    for (size_t i = 0; same && i < before->n; i++) {
        same = sl_str_eq(before->items[i], after->items[i]);
    }
    return same ? SILT_OK
                : sl_fail(err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.REPLACE_TABLE_CHANGE_PARTITION_NAMES",
                          "icebergCompat is enabled: the names of the partition columns cannot change");
}

static silt_status note_without_ids(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    bool *found = ctx;
    (void)err; /* nothing can go wrong */
    *found = add->base_row_id == SL_NO_I64;
    *stop = *found;
    return SILT_OK;
}

/* Files get ids when they are added under a protocol that has the feature; others would need a backfill. */
static silt_status check_row_ids(const silt_txn *txn, const silt_call *call, silt_error *err)
{
    bool found = false;
    SL_TRY(sl_snapshot_each_file(txn->snapshot, call, SL_FILES_ALL, note_without_ids, &found, err));
    if (!found) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(
        err, SILT_EUNSUPPORTED, "SILT_ROW_TRACKING_NEEDS_BACKFILL",
        "delta.enableRowTracking cannot be set to true: files of the table have no row ids");
    sl_error_hint(err, "enable it when the table is created or empty, or with an engine that does the backfill");
    return status;
}

/* No file of the table, so none that others add until the commit either. */
static silt_status check_compat_files(silt_txn *txn, const silt_call *call, silt_error *err)
{
    int64_t files = 0;
    int64_t bytes = 0;
    txn->reads_table = true;
    SL_TRY(silt_snapshot_totals(txn->snapshot, call, &files, &bytes, err));
    return files == 0 ? SILT_OK
                      : sl_fail(err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT",
                                "icebergCompat cannot be enabled: the files of the table were written without it");
}

silt_status sl_txn_check_enablement(silt_txn *txn, const silt_call *call, silt_error *err)
{
    const struct sl_kv_list *config = &txn->metadata.configuration;
    if (txn->snapshot == NULL || !txn->metadata_changed) {
        return SILT_OK;
    }
    if (sl_property_bool(config, "delta.enableIcebergCompatV1") ||
        sl_property_bool(config, "delta.enableIcebergCompatV2")) {
        SL_TRY(check_partitioning(txn, err));
    }
    if (txn->removed_all) {
        return SILT_OK;
    }
    if (turns_on(txn, "delta.enableIcebergCompatV1") || turns_on(txn, "delta.enableIcebergCompatV2")) {
        SL_TRY(check_compat_files(txn, call, err));
    }
    return turns_on(txn, "delta.enableRowTracking") ? check_row_ids(txn, call, err) : SILT_OK;
}
