/*
 * From protocol and metadata to a snapshot that may be handed out: the gate, the schema, partition columns, properties,
 * features, the version's time. PROTOCOL.md "Requirements for Readers", "In-Commit Timestamps". Called once for each
 * snapshot, before it is shared.
 */
#include "kernel/snapshot/snapshot_int.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/feature/property_value.h"
#include "schema/type_change.h"

static silt_status not_recovered(const silt_snapshot *snapshot, const char *what, silt_error *err)
{
    const int64_t version = snapshot->segment.version;
    const silt_status status = sl_fail(err, SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR",
                                       "the %s of version %" PRId64 " could not be recovered: no %s action in its log",
                                       what, version, what);
    sl_error_hint(err, "were files of _delta_log deleted by hand?");
    sl_error_version(err, version);
    return status;
}

static silt_status pass_gate(const silt_snapshot *snapshot, const silt_schema *schema, silt_error *err)
{
    const struct sl_replay_state *state = &snapshot->state;
    return sl_table_is_catalog(snapshot->table)
               ? sl_gate_read_by_catalog(&state->protocol, &state->metadata, schema, err)
               : sl_gate_read(&state->protocol, &state->metadata, schema, err);
}

/*
 * A schema that does not parse may be one of a feature that silt lacks: then the feature is what the user must hear of,
 * and the gate can judge by the protocol with an empty schema.
 */
static silt_status explain_schema(const silt_snapshot *snapshot, const silt_error *found, silt_error *err)
{
    static const char empty[] = "{\"type\":\"struct\",\"fields\":[]}";
    silt_schema *schema = NULL;
    SL_TRY(silt_schema_from_json(snapshot->env, empty, sizeof(empty) - 1, &schema, err));
    const silt_status status = pass_gate(snapshot, schema, err);
    silt_schema_unref(schema);
    if (status != SILT_OK) {
        return status;
    }
    if (err != NULL) {
        *err = *found;
        sl_error_context(err, "schema of version %" PRId64, snapshot->segment.version);
        sl_error_version(err, snapshot->segment.version);
    }
    return found->status;
}

static silt_status parse_schema(silt_snapshot *snapshot, silt_error *err)
{
    const struct sl_str json = snapshot->state.metadata.schema_string;
    if (json.ptr == NULL) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "metaData of version %" PRId64 " lacks the required member schemaString",
                       snapshot->segment.version);
    }
    silt_error found = SILT_ERROR_INIT;
    silt_status status = silt_schema_from_json(snapshot->env, json.ptr, json.len, &snapshot->schema, &found);
    if (status == SILT_OK) {
        status = sl_schema_validate_unique(snapshot->schema, &found);
    }
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    return status == SILT_OK ? SILT_OK : explain_schema(snapshot, &found, err);
}

/*
 * PROTOCOL: the property counts only where the protocol has the feature. The gate refuses a mode that the protocol does not announce,
 * so that what is left of one under mode none is all that there is to overlook here.
 */
static silt_status map_columns(silt_snapshot *snapshot, silt_error *err)
{
    bool found = false;
    const struct sl_str mode = sl_kv_get(&snapshot->state.metadata.configuration, SL_STR("delta.columnMapping.mode"),
                                         &found);
    if (!sl_mapping_mode_parse(mode, &snapshot->mapping)) {
        return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                       "table property delta.columnMapping.mode is %.*s: none, name and id are supported",
                       SL_FMT(mode));
    }
    silt_status status = sl_schema_check_type_changes(snapshot->schema, err);
    if (status == SILT_OK) {
        status = sl_schema_physical(snapshot->schema, snapshot->mapping, &snapshot->physical, err);
    }
    if (status != SILT_OK && status != SILT_ENOMEM) {
        sl_error_context(err, "schema of version %" PRId64, snapshot->segment.version);
        sl_error_version(err, snapshot->segment.version);
    }
    return status;
}

/*
 * As in Delta Spark the name must be the schema's letter by letter: under which of two spellings the files have their values nobody could
 * tell, and a column would be null in other engines.
 */
static silt_status check_partition_column(const silt_snapshot *snapshot, size_t i, silt_error *err)
{
    const struct sl_str_list *columns = &snapshot->state.metadata.partition_columns;
    const struct sl_str name = columns->items[i];
    const struct silt_field *field = sl_type_find(&snapshot->schema->root, name, NULL);
    const long long version = (long long)snapshot->segment.version;
    if (field == NULL) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_MISSING_PARTITION_COLUMN",
                       "partition column %.*s is not in the schema of version %lld", SL_FMT(name), version);
    }
    if (!sl_str_eq(field->name, name)) {
        return sl_fail(err, SILT_ECORRUPT, "DELTA_MISSING_PARTITION_COLUMN",
                       "partition column %.*s is not in the schema of version %lld, which has %.*s: names in "
                       "partitionColumns must have the schema's case",
                       SL_FMT(name), version, SL_FMT(field->name));
    }
    for (size_t k = 0; k < i; k++) {
        if (sl_str_eq(columns->items[k], name)) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_DUPLICATE_COLUMNS_FOUND",
                           "version %lld has partition column %.*s twice in partitionColumns", version, SL_FMT(name));
        }
    }
    return SILT_OK;
}

static silt_status check_metadata(const silt_snapshot *snapshot, silt_error *err)
{
    const struct sl_metadata *metadata = &snapshot->state.metadata;
    if (!sl_str_eq_nocase(metadata->format_provider, SL_STR("parquet"))) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "files of the table are of format %.*s: only parquet is supported",
                       SL_FMT(metadata->format_provider));
    }
    for (size_t i = 0; i < metadata->partition_columns.n; i++) {
        SL_TRY(check_partition_column(snapshot, i, err));
    }
    return SILT_OK;
}

static int compare_keys(const void *a, const void *b)
{
    return sl_str_compare(((const struct sl_kv *)a)->key, ((const struct sl_kv *)b)->key);
}

static int compare_texts(const void *a, const void *b)
{
    return sl_str_compare(*(const struct sl_str *)a, *(const struct sl_str *)b);
}

static silt_status sort_properties(silt_snapshot *snapshot, silt_error *err)
{
    const struct sl_kv_list *from = &snapshot->state.metadata.configuration;
    if (from->n == 0) {
        return SILT_OK;
    }
    struct sl_kv *items = sl_arena_alloc_array(&snapshot->arena, from->n, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < from->n; i++) {
        items[i] = from->items[i];
    }
    qsort(items, from->n, sizeof(*items), compare_keys);
    snapshot->properties = (struct sl_kv_list){items, from->n};
    return SILT_OK;
}

/* Features that versions below (3, 7) imply; sl_protocol_has_feature knows by which. */
static const char *const legacy_features[] = {"appendOnly",       "invariants",    "checkConstraints", "changeDataFeed",
                                              "generatedColumns", "columnMapping", "identityColumns"};
#define N_LEGACY (sizeof(legacy_features) / sizeof(legacy_features[0]))

static silt_status list_features(silt_snapshot *snapshot, silt_error *err)
{
    const struct sl_protocol *protocol = &snapshot->state.protocol;
    const size_t most = protocol->reader_features.n + protocol->writer_features.n + N_LEGACY;
    struct sl_str *items = sl_arena_alloc_array(&snapshot->arena, most, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < protocol->reader_features.n; i++) {
        items[n++] = protocol->reader_features.items[i];
    }
    for (size_t i = 0; i < protocol->writer_features.n; i++) {
        items[n++] = protocol->writer_features.items[i];
    }
    for (size_t i = 0; i < N_LEGACY; i++) {
        if (sl_protocol_has_feature(protocol, legacy_features[i])) {
            items[n++] = sl_str_from(legacy_features[i]);
        }
    }
    qsort(items, n, sizeof(*items), compare_texts);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || !sl_str_eq(items[kept - 1], items[i])) {
            items[kept++] = items[i];
        }
    }
    snapshot->features = (struct sl_str_list){items, kept};
    return SILT_OK;
}

static silt_status note_time(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    if (commit->commit_info != NULL) {
        *(int64_t *)ctx = commit->commit_info->in_commit_timestamp;
    }
    return SILT_OK;
}

/* The commit of the version was not among those replayed when a checkpoint or a compacted file covers it. */
static silt_status read_in_commit_timestamp(silt_snapshot *snapshot, const silt_call *call, silt_error *err)
{
    const struct sl_log_source source = sl_snapshot_source(snapshot);
    const struct sl_commits_request request = {.source = &source,
                                               .files = &snapshot->segment.commit_file,
                                               .n = 1,
                                               .missing = SL_MISSING_IS_PAST,
                                               .info_only = true};
    return sl_commits_each(&request, call, note_time, &snapshot->in_commit_timestamp, err);
}

static silt_status find_timestamp(silt_snapshot *snapshot, const silt_call *call, silt_error *err)
{
    const struct sl_log_segment *segment = &snapshot->segment;
    snapshot->timestamp_ms = segment->has_commit_file    ? segment->commit_file.modified_ms
                             : segment->n_checkpoint > 0 ? segment->checkpoint[0].modified_ms
                                                         : 0;
    if (!sl_protocol_has_feature(&snapshot->state.protocol, "inCommitTimestamp") ||
        !sl_property_bool(&snapshot->state.metadata.configuration, "delta.enableInCommitTimestamps")) {
        return SILT_OK;
    }
    if (snapshot->in_commit_timestamp == SL_NO_I64 && segment->has_commit_file) {
        SL_TRY(read_in_commit_timestamp(snapshot, call, err));
    }
    if (snapshot->in_commit_timestamp != SL_NO_I64) {
        snapshot->timestamp_ms = snapshot->in_commit_timestamp;
    }
    return SILT_OK;
}

static void expire_txns(silt_snapshot *snapshot)
{
    const struct sl_str text = sl_property_text(&snapshot->state.metadata.configuration,
                                                "delta.setTransactionRetentionDuration");
    int64_t micros = 0;
    if (text.ptr != NULL && sl_property_parse_interval(text, &micros) && micros >= 0) {
        snapshot->txns_expired_ms = sl_now_ms(snapshot->env) - micros / 1000;
    }
}

silt_status sl_snapshot_complete(silt_snapshot *snapshot, const silt_call *call, silt_error *err)
{
    const struct sl_replay_state *state = &snapshot->state;
    if (!state->has_protocol) {
        return not_recovered(snapshot, "protocol", err);
    }
    if (!state->has_metadata) {
        return not_recovered(snapshot, "metaData", err);
    }
    SL_TRY(sl_protocol_validate(&state->protocol, err));
    SL_TRY(parse_schema(snapshot, err));
    SL_TRY(pass_gate(snapshot, snapshot->schema, err));
    SL_TRY(map_columns(snapshot, err));
    SL_TRY(check_metadata(snapshot, err));
    SL_TRY(sort_properties(snapshot, err));
    SL_TRY(list_features(snapshot, err));
    expire_txns(snapshot);
    return find_timestamp(snapshot, call, err);
}
