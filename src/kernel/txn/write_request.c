/*
 * The request that data files are written with, and what becomes of the files: each written file is taken into the
 * transaction as an add with its statistics, and checked once more against NOT NULL by its counts, so that also writers that
 * are not fed through the checking stream cannot let a null through. Called by silt_txn_write and by the SQL layer.
 * PROTOCOL.md "Add File and Remove File", "Per-file Statistics".
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "base/uri.h"
#include "json/json.h"
#include "kernel/feature/feature.h"
#include "kernel/txn/stats_json.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"

/* More letters than this make no better names. */
#define MAX_PREFIX_FOLDER 32

static silt_status project(const silt_schema *schema, const size_t *columns, size_t n, silt_schema **out,
                           silt_error *err)
{
    silt_schema_unref(*out);
    *out = NULL;
    return sl_schema_project(schema, columns, n, out, err);
}

/* The columns that files hold, in physical and logical names. */
static silt_status make_data_schema(silt_txn *txn, const bool *is_partition, silt_error *err)
{
    const size_t n_fields = txn->schema->root.n_fields;
    size_t *columns = sl_arena_alloc_array(&txn->arena, n_fields + 1, sizeof(*columns));
    if (columns == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; i < n_fields; i++) {
        if (!is_partition[i]) {
            columns[n++] = i;
        }
    }
    SL_TRY(project(txn->physical, columns, n, &txn->writer.data_schema, err));
    return project(txn->schema, columns, n, &txn->writer.data_names, err);
}

static silt_status name_partition_columns(silt_txn *txn, bool *is_partition, silt_error *err)
{
    const struct sl_str_list *columns = &txn->metadata.partition_columns;
    const char **names = sl_arena_alloc_array(&txn->arena, columns->n + 1, sizeof(*names));
    if (names == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < columns->n; i++) {
        size_t index = 0;
        if (sl_type_find(&txn->schema->root, columns->items[i], &index) == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %.*s is not in the table's schema", SL_FMT(columns->items[i]));
        }
        names[i] = txn->physical->root.fields[index].name.ptr;
        is_partition[index] = true;
    }
    txn->writer.partition_columns = names;
    return SILT_OK;
}

static silt_status find_columns(silt_txn *txn, silt_error *err)
{
    bool *is_partition = sl_arena_alloc_array(&txn->arena, txn->schema->root.n_fields + 1, sizeof(*is_partition));
    if (is_partition == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(name_partition_columns(txn, is_partition, err));
    return make_data_schema(txn, is_partition, err);
}

static void select_clustering_column(const silt_txn *txn, const sl_json *column)
{
    struct sl_str path[SL_SCHEMA_MAX_DEPTH];
    size_t n = 0;
    struct sl_json_iter parts = sl_json_iterate(column);
    const sl_json *part = NULL;
    struct sl_str no_key;
    while (n < SL_SCHEMA_MAX_DEPTH && sl_json_next(&parts, &no_key, &part)) {
        if (!sl_json_to_str(part, &path[n++])) {
            return;
        }
    }
    sl_stats_columns_select(txn->writer.data_schema, path, n, txn->writer.selected);
}

/* PROTOCOL: Clustered Table: the domain has physical names, and writers collect statistics for all clustering columns, wherever they stand in the schema. */
static silt_status select_clustering_columns(silt_txn *txn, silt_error *err)
{
    const char *domain = txn->snapshot != NULL ? silt_snapshot_domain(txn->snapshot, "delta.clustering") : NULL;
    if (domain == NULL) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(txn->env, sl_str_from(domain), &doc, err));
    struct sl_json_iter columns = sl_json_iterate(sl_json_member(sl_json_root(doc), "clusteringColumns"));
    const sl_json *column = NULL;
    struct sl_str no_key;
    while (sl_json_next(&columns, &no_key, &column)) {
        select_clustering_column(txn, column);
    }
    sl_json_free(doc);
    return SILT_OK;
}

/*
 * As Delta Spark: files of a table with column mapping lie in folders of random names, since folders that are named after columns
 * would tell what the columns were called once.
 */
static size_t folder_length(const silt_txn *txn)
{
    const struct sl_kv_list *config = &txn->metadata.configuration;
    if (txn->physical == txn->schema && !sl_property_bool(config, "delta.randomizeFilePrefixes")) {
        return 0;
    }
    const int64_t length = sl_property_int(config, "delta.randomPrefixLength");
    return length > MAX_PREFIX_FOLDER ? (size_t)MAX_PREFIX_FOLDER : (size_t)length;
}

/* Whoever reads the files without the log needs them: PROTOCOL: Iceberg Compatibility V1, V2; Materialize Partition Columns. */
static bool keeps_partition_columns(const silt_txn *txn)
{
    const struct sl_kv_list *config = &txn->metadata.configuration;
    return sl_protocol_has_feature(&txn->protocol, "materializePartitionColumns") ||
           sl_property_bool(config, "delta.enableIcebergCompatV1") ||
           sl_property_bool(config, "delta.enableIcebergCompatV2") ||
           sl_property_bool(config, "delta.writePartitionColumnsToParquet");
}

static silt_status prepare_writer(silt_txn *txn, silt_error *err)
{
    if (txn->writer.ready) {
        return SILT_OK;
    }
    const struct sl_kv_list *config = &txn->metadata.configuration;
    SL_TRY(find_columns(txn, err));
    SL_TRY(sl_stats_columns(config, txn->writer.data_names, &txn->arena, &txn->writer.selected, &txn->writer.n_selected,
                            err));
    SL_TRY(select_clustering_columns(txn, err));
    const int64_t prefix = sl_property_int(config, "delta.dataSkippingStringPrefixLength");
    txn->writer.prefix_length = prefix > INT32_MAX ? (size_t)INT32_MAX : (size_t)prefix;
    struct sl_str codec = sl_arena_copy(&txn->arena, sl_property_text(config, "delta.parquet.compression.codec"));
    if (codec.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    txn->writer.codec = sl_str_eq_c(codec, "uncompressed") ? "none" : codec.ptr;
    txn->writer.prefix_folder = folder_length(txn);
    txn->writer.keep_partition_columns = keeps_partition_columns(txn);
    txn->writer.target_file_size = sl_property_bytes(config, "delta.targetFileSize");
    txn->writer.ready = true;
    return SILT_OK;
}

/* The leaf, in the name that users know, if every field on the path is NOT NULL: then a null there can only be a violation. */
static const struct silt_field *find_required(const struct sl_txn_writer *writer, const silt_column_stats *stats)
{
    const struct silt_type *type = &writer->data_schema->root;
    const struct silt_type *names = &writer->data_names->root;
    const struct silt_field *leaf = NULL;
    for (size_t level = 0; level < stats->path_len; level++) {
        size_t i = 0;
        while (i < type->n_fields && !sl_str_eq_c(type->fields[i].name, stats->path[level])) {
            i++;
        }
        if (i == type->n_fields || type->fields[i].nullable) {
            return NULL;
        }
        leaf = &names->fields[i];
        type = type->fields[i].type;
        names = leaf->type;
    }
    return leaf;
}

static silt_status check_counts(const silt_txn *txn, const silt_written_file *file, silt_error *err)
{
    for (size_t i = 0; i < file->n_stats; i++) {
        const silt_column_stats *stats = &file->stats[i];
        const struct silt_field *required = stats->null_count > 0 ? find_required(&txn->writer, stats) : NULL;
        if (required != NULL) {
            return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                           "NOT NULL constraint violated for column: %.*s (%lld rows)", SL_FMT(required->name),
                           (long long)stats->null_count);
        }
    }
    return SILT_OK;
}

/* Remembered first of all: whatever goes wrong later, the file must be removed again. */
static silt_status remember_file(silt_txn *txn, const silt_written_file *file, silt_error *err)
{
    struct sl_str *slot = sl_vec_push(&txn->written);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = sl_uri_join(&txn->arena, txn->root, sl_str_from(file->path));
    if (slot->ptr == NULL) {
        txn->written.len--;
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

static silt_status take_file(silt_txn *txn, const silt_written_file *file, silt_error *err)
{
    if (file->path == NULL || file->size_bytes < 0 || file->num_rows < 0) {
        return sl_fail(err, SILT_EENGINE, NULL, "the parquet handler reported a file without path, size or rows");
    }
    SL_TRY(remember_file(txn, file, err));
    SL_TRY(check_counts(txn, file, err));
    struct sl_add add = {.size = file->size_bytes,
                         .modification_time = file->modified_ms,
                         .data_change = true,
                         .base_row_id = SL_NO_I64,
                         .default_row_commit_version = SL_NO_I64};
    SL_TRY(sl_txn_log_path(txn, file->path, &add.path, err));
    SL_TRY(sl_txn_partition_values(txn, file->partition_values, file->n_partition_values, &add.partition_values, err));
    const struct sl_stats_plan plan = {txn->writer.data_schema, txn->writer.selected, txn->writer.n_selected,
                                       txn->writer.prefix_length};
    struct sl_buf stats;
    sl_buf_init(&stats, txn->env);
    silt_status status = sl_stats_json_write(&stats, &plan, file, err);
    if (status == SILT_OK) {
        add.stats = sl_arena_copy(&txn->arena, sl_buf_view(&stats));
        status = add.stats.ptr != NULL ? sl_txn_push_add(txn, &add, file->num_rows, err) : sl_fail_nomem(err);
    }
    sl_buf_release(&stats);
    return status;
}

/*
 * A file that may not be committed does not stop the handler, whose failure would then hide the reason: the fault is kept for
 * sl_txn_write_finish, and the files that still come are only remembered, so that they are removed.
 */
static bool on_file(void *ctx, const silt_written_file *file)
{
    silt_txn *txn = ctx;
    if (txn->fault != SILT_OK) {
        return file->path == NULL || remember_file(txn, file, NULL) == SILT_OK;
    }
    txn->fault_error = (silt_error)SILT_ERROR_INIT;
    txn->fault = take_file(txn, file, &txn->fault_error);
    return txn->fault != SILT_ENOMEM;
}

silt_status sl_txn_write_request(silt_txn *txn, silt_parquet_write *request, silt_error *err)
{
    *request = (silt_parquet_write){.size = sizeof(*request)};
    SL_TRY(sl_txn_check_open(txn, err));
    if (txn->schema->root.n_fields == 0) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA", "the table has no columns to write to");
    }
    SL_TRY(prepare_writer(txn, err));
    SL_TRY(sl_txn_mark_creation(txn, err));
    request->storage = txn->storage;
    request->dir = txn->root.ptr;
    request->path_prefix = "";
    request->schema = txn->physical;
    request->logical = txn->schema;
    request->random_prefix_length = txn->writer.prefix_folder;
    request->keep_partition_columns = txn->writer.keep_partition_columns;
    request->partition_columns = txn->writer.partition_columns;
    request->n_partition_columns = txn->metadata.partition_columns.n;
    request->codec = txn->writer.codec;
    request->target_file_size = txn->writer.target_file_size;
    request->on_file = on_file;
    request->on_file_ctx = txn;
    return SILT_OK;
}

silt_status sl_txn_write_finish(silt_txn *txn, silt_error *err)
{
    return sl_txn_check_open(txn, err);
}
