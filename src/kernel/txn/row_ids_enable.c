/*
 * Enabling row tracking in a transaction: what the table's metadata must say from then on. Called before the commit, when the files that are
 * there were found to have ids (txn_enable.c).
 * PROTOCOL.md "Writer Requirements for Row Tracking".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "base/uuid.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"

#define ENABLED "delta.enableRowTracking"

/* Names that no column has, nor ever will. */
static silt_status set_name(silt_txn *txn, const char *key, const char *prefix, silt_error *err)
{
    const struct sl_kv_list *before = &txn->metadata.configuration;
    bool found = false;
    if (sl_kv_get(before, sl_str_from(key), &found).ptr != NULL || found) {
        return SILT_OK;
    }
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(txn->env, uuid, err));
    struct sl_kv *items = sl_arena_alloc_array(&txn->arena, before->n + 1, sizeof(*items));
    const char *name = sl_arena_printf(&txn->arena, "%s%s", prefix, uuid);
    if (items == NULL || name == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < before->n; i++) {
        items[i] = before->items[i];
    }
    items[before->n] = (struct sl_kv){sl_str_from(key), sl_str_from(name)};
    txn->metadata.configuration = (struct sl_kv_list){items, before->n + 1};
    return SILT_OK;
}

silt_status sl_txn_enable_row_tracking(silt_txn *txn, silt_error *err)
{
    const bool was = txn->snapshot != NULL &&
                     sl_property_bool(&sl_snapshot_get_metadata(txn->snapshot)->configuration, ENABLED);
    if (!txn->metadata_changed || !sl_property_bool(&txn->metadata.configuration, ENABLED)) {
        return SILT_OK;
    }
    if (!was && sl_property_bool(&txn->metadata.configuration, "delta.rowTrackingSuspended")) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "row tracking cannot be enabled while delta.rowTrackingSuspended is true");
    }
    if (txn->snapshot != NULL && !sl_protocol_has_feature(sl_snapshot_protocol(txn->snapshot), "rowTracking")) {
        txn->reads_table = true; /* what others add until then has no ids */
    }
    /* Also where it was enabled: a table that takes another's place begins without names. */
    SL_TRY(set_name(txn, "delta.rowTracking.materializedRowIdColumnName", "_row-id-col-", err));
    return set_name(txn, "delta.rowTracking.materializedRowCommitVersionColumnName", "_row-commit-version-col-", err);
}
