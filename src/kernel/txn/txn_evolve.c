/*
 * Changes of a table's schema that come with the data of a transaction: columns that it adds, or another schema with a whole overwrite.
 * Called before rows are written. PROTOCOL.md "Change Metadata", "Type Widening".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"
#include "schema/schema_merge.h"
#include "schema/type.h"

static bool may_widen(const silt_txn *txn)
{
    return sl_protocol_has_feature(&txn->protocol, "typeWidening") &&
           sl_property_bool(&txn->metadata.configuration, "delta.enableTypeWidening");
}

silt_status silt_txn_merge_schema(silt_txn *txn, const silt_schema *schema, bool *changed, silt_error *err)
{
    silt_schema *merged = NULL;
    bool differs = false;
    SL_TRY(sl_txn_check_open(txn, err));
    if (schema == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "no schema given");
    }
    SL_TRY(sl_schema_merge(txn->schema, schema, may_widen(txn), &merged, &differs, err));
    silt_status status = SILT_OK;
    if (differs) {
        status = silt_txn_set_schema(txn, merged, err);
    }
    silt_schema_unref(merged);
    if (changed != NULL) {
        *changed = status == SILT_OK && differs;
    }
    return status;
}

/* The schema's spelling of the columns. */
static silt_status take_partitioning(silt_txn *txn, const silt_schema *schema, const char *const *columns, size_t n,
                                     struct sl_str_list *out, silt_error *err)
{
    struct sl_str *names = sl_arena_alloc_array(&txn->arena, n + 1, sizeof(*names));
    if (names == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (columns[i] == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "partition column %zu has no name", i);
        }
        const struct silt_field *field = sl_type_find(&schema->root, sl_str_from(columns[i]), NULL);
        SL_TRY(sl_txn_text(txn, field != NULL ? field->name.ptr : columns[i], &names[i], err));
    }
    *out = (struct sl_str_list){names, n};
    return sl_schema_validate_partitioning(schema, names, n, err);
}

silt_status silt_txn_overwrite_schema(silt_txn *txn, const silt_call *call, const silt_schema *schema,
                                      const char *const *partition_columns, size_t n, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (schema == NULL || (n > 0 && partition_columns == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a schema and its partition columns are required");
    }
    if (txn->snapshot != NULL && silt_snapshot_domain(txn->snapshot, "delta.clustering") != NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_OVERWRITE_SCHEMA",
                       "the schema of a clustered table cannot be overwritten: its clustering columns may go with it");
    }
    struct sl_str_list columns;
    SL_TRY(take_partitioning(txn, schema, partition_columns, n, &columns, err));
    const struct sl_str_list before = txn->metadata.partition_columns;
    txn->metadata.partition_columns = columns;
    silt_status status = silt_txn_set_schema(txn, schema, err);
    if (status != SILT_OK) {
        txn->metadata.partition_columns = before;
        return status;
    }
    return silt_txn_remove_all(txn, call, err);
}

silt_status sl_txn_check_schema_change(const silt_txn *txn, silt_error *err)
{
    if (!txn->schema_changed || txn->removed_all || txn->snapshot == NULL) {
        return SILT_OK;
    }
    return sl_schema_check_evolution(silt_snapshot_schema(txn->snapshot), txn->schema, may_widen(txn), err);
}
