/*
 * Beginning the transaction that puts a table in the place of another: one version in which all files go and the metadata is that of a new
 * table. As Delta Spark, the table's id is a new one, and the protocol keeps what it had. PROTOCOL.md "Change Metadata", "Protocol
 * Evolution".
 */
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/txn_int.h"
#include "kernel/txn/txn_write.h"

/*
 * Settings of the protocol among the properties, and every feature of the protocol that a new table would get: some are not given to
 * a table that is there unless they are asked for by name.
 */
static silt_status take_settings(silt_txn *txn, const silt_create_options *options, struct sl_kv_list *out,
                                 silt_error *err)
{
    const struct sl_str_list *features = &txn->protocol.writer_features;
    struct sl_kv *items = sl_arena_alloc_array(&txn->arena, options->n_properties + features->n + 1, sizeof(*items));
    size_t n = 0;
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < options->n_properties; i++) {
        struct sl_str key;
        SL_TRY(sl_txn_text(txn, options->properties[i].key, &key, err));
        key = sl_property_canonical(&txn->arena, key);
        if (key.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        if (sl_property_is_protocol(key)) {
            items[n].key = key;
            SL_TRY(sl_txn_text(txn, options->properties[i].value, &items[n++].value, err));
        }
    }
    for (size_t i = 0; txn->protocol.has_writer_features && i < features->n; i++) {
        const char *key = sl_arena_printf(&txn->arena, "delta.feature.%.*s", SL_FMT(features->items[i]));
        if (key == NULL) {
            return sl_fail_nomem(err);
        }
        items[n++] = (struct sl_kv){sl_property_canonical(&txn->arena, sl_str_from(key)), SL_STR("supported")};
        if (items[n - 1].key.ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    *out = (struct sl_kv_list){items, n};
    return SILT_OK;
}

/* What the files that go were written with says nothing about those that come: the metadata is made as for a new table. */
static silt_status take_metadata(silt_txn *txn, const silt_create_options *options, silt_error *err)
{
    silt_snapshot *snapshot = txn->snapshot;
    silt_schema_unref(txn->schema);
    silt_schema_unref(txn->physical);
    txn->schema = NULL;
    txn->physical = NULL;
    txn->metadata = (struct sl_metadata){.created_time = SL_NO_I64};
    txn->snapshot = NULL;
    const silt_status status = sl_txn_take_metadata(txn, options, err);
    txn->snapshot = snapshot;
    return status;
}

static bool is_given(const silt_create_options *options, const char *key)
{
    for (size_t i = 0; i < options->n_properties; i++) {
        const char *given = options->properties[i].key;
        if (given != NULL && sl_str_eq_nocase(sl_str_from(given), sl_str_from(key))) {
            return true;
        }
    }
    return false;
}

/* Since when commits have times is a fact of the log, and stays as long as they have them. */
static silt_status keep_enablement(silt_txn *txn, silt_error *err)
{
    static const char *const kept[] = {"delta.inCommitTimestampEnablementVersion",
                                       "delta.inCommitTimestampEnablementTimestamp"};
    if (!sl_property_bool(&txn->metadata.configuration, "delta.enableInCommitTimestamps")) {
        return SILT_OK;
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        bool found = false;
        const struct sl_kv_list given = txn->metadata.configuration;
        const struct sl_kv pair = {
            sl_str_from(kept[i]),
            sl_kv_get(&sl_snapshot_get_metadata(txn->snapshot)->configuration, sl_str_from(kept[i]), &found)};
        SL_TRY(sl_txn_with_key(&txn->arena, &given, pair, &txn->metadata.configuration, NULL, err));
    }
    return SILT_OK;
}

/* As Delta Spark: what only says how the table is kept stays, unless the new one says otherwise. */
static silt_status keep_properties(silt_txn *txn, const silt_create_options *options, silt_create_options *out,
                                   silt_error *err)
{
    static const char *const kept[] = {"delta.enableDeletionVectors", "delta.checkpointPolicy",
                                       "delta.enableRowTracking"};
    const size_t n_kept = sizeof(kept) / sizeof(kept[0]);
    silt_property *properties = sl_arena_alloc_array(&txn->arena, options->n_properties + n_kept, sizeof(*properties));
    if (properties == NULL) {
        return sl_fail_nomem(err);
    }
    *out = *options;
    out->properties = properties;
    for (size_t i = 0; i < options->n_properties; i++) {
        properties[i] = options->properties[i];
    }
    for (size_t i = 0; i < n_kept; i++) {
        bool found = false;
        const struct sl_str value = sl_kv_get(&txn->metadata.configuration, sl_str_from(kept[i]), &found);
        if (value.ptr != NULL && !is_given(options, kept[i])) {
            const char *text = sl_arena_strdup(&txn->arena, value);
            if (text == NULL) {
                return sl_fail_nomem(err);
            }
            properties[out->n_properties++] = (silt_property){kept[i], text};
        }
    }
    return SILT_OK;
}

/* As Delta Spark: the domain of clustering columns goes with the columns, all others stay. PROTOCOL: a tombstone repeats the configuration. */
static silt_status remove_clustering(silt_txn *txn, silt_error *err)
{
    const char *before = silt_snapshot_domain(txn->snapshot, "delta.clustering");
    if (before == NULL) {
        return SILT_OK;
    }
    struct sl_action action = {.kind = SL_ACTION_DOMAIN_METADATA};
    action.u.domain.domain = SL_STR("delta.clustering");
    action.u.domain.removed = true;
    SL_TRY(sl_txn_text(txn, before, &action.u.domain.configuration, err));
    struct sl_action *slot = sl_vec_push(&txn->domains);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = action;
    return SILT_OK;
}

static silt_status take_table(silt_txn *txn, const silt_call *call, const silt_create_options *options, silt_error *err)
{
    bool changed = false;
    if (options->n_partition_columns > 0 && sl_protocol_has_feature(&txn->protocol, "clustering")) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
                       "a clustered table cannot be replaced by a partitioned one");
    }
    SL_TRY(silt_txn_remove_all(txn, call, err));
    silt_create_options all;
    SL_TRY(remove_clustering(txn, err));
    SL_TRY(keep_properties(txn, options, &all, err));
    SL_TRY(take_metadata(txn, &all, err));
    SL_TRY(keep_enablement(txn, err));
    SL_TRY(sl_txn_check_metadata(txn, err));
    SL_TRY(take_settings(txn, &all, &txn->settings, err));
    SL_TRY(sl_protocol_for_change(&txn->arena, sl_snapshot_protocol(txn->snapshot), &txn->settings, &txn->metadata,
                                  txn->schema, &txn->protocol, &changed, err));
    SL_TRY(sl_txn_gate(txn, &txn->protocol, err));
    txn->protocol_changed = changed;
    txn->metadata_changed = true;
    txn->schema_changed = true;
    return SILT_OK;
}

/* Of a transaction that has begun; frees it when that fails. */
static silt_status replace_in(silt_txn *txn, const silt_call *call, const silt_create_options *options, silt_txn **out,
                              silt_error *err)
{
    const silt_status status = take_table(txn, call, options, err);
    if (status != SILT_OK) {
        sl_error_path(err, sl_txn_table_uri(txn));
        silt_txn_free(txn);
        return status;
    }
    *out = txn;
    return SILT_OK;
}

silt_status silt_txn_begin_replace(silt_table *table, const silt_call *call, const silt_create_options *options,
                                   const char *operation, silt_txn **out, silt_error *err)
{
    SL_TRY(sl_create_options_check(options, out, err));
    silt_txn *txn = NULL;
    SL_TRY(silt_txn_begin(table, call, operation, &txn, err));
    return replace_in(txn, call, options, out, err);
}

silt_status sl_txn_begin_replace_at(silt_table *table, silt_snapshot *snapshot, const silt_call *call,
                                    const struct sl_txn_replace_table *request, silt_txn **out, silt_error *err)
{
    SL_TRY(sl_create_options_check(request->options, out, err));
    silt_txn *txn = NULL;
    SL_TRY(silt_txn_begin_at(table, snapshot, request->operation, &txn, err));
    return replace_in(txn, call, request->options, out, err);
}
