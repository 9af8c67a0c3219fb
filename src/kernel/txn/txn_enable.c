/*
 * Iceberg compatibility that a transaction switches on, or meets, in a table with files: whether those bear it. Called once, before the
 * commit, when it is known what the transaction removes. PROTOCOL.md "Iceberg Compatibility V1", "Iceberg Compatibility V2".
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

silt_status sl_txn_check_enablement(silt_txn *txn, const silt_call *call, silt_error *err)
{
    const struct sl_kv_list *config = &txn->metadata.configuration;
    if (txn->snapshot == NULL || !txn->metadata_changed) {
        return SILT_OK;
    }
    const bool compat = sl_property_bool(config, "delta.enableIcebergCompatV1") ||
                        sl_property_bool(config, "delta.enableIcebergCompatV2");
    SL_TRY(compat ? check_partitioning(txn, err) : SILT_OK);
    const bool switched_on = turns_on(txn, "delta.enableIcebergCompatV1") ||
                             turns_on(txn, "delta.enableIcebergCompatV2");
    if (txn->removed_all || !switched_on) {
        return SILT_OK;
    }
    int64_t files = 0;
    int64_t bytes = 0;
    SL_TRY(silt_snapshot_totals(txn->snapshot, call, &files, &bytes, err));
    return files == 0 ? SILT_OK
                      : sl_fail(err, SILT_EUNSUPPORTED, "DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT",
                                "icebergCompat cannot be enabled: the files of the table were written without it");
}
