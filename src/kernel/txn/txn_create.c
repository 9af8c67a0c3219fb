/*
 * Beginning the transaction that creates a table: what the caller wants is validated in full before anything is written, so
 * that a refused table leaves no trace. PROTOCOL.md "Change Metadata", "Table Features for New and Existing Tables".
 */
#include "kernel/txn/txn_int.h"

#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/uuid.h"
#include "kernel/feature/feature.h"
#include "kernel/log/commit.h"
#include "kernel/snapshot/state.h"

/*
 * Says that a table was begun here, in an empty place, and its files are being written: whoever is killed between them and the
 * commit leaves files that would else stand against every retry. Begins with a dot, so that listings of the log pass it by.
 */
#define MARK SL_LOG_DIR "/.silt-create"
#define MARK_TEXT \
    "a table is being created here; files beside it that no commit names are left from an attempt that failed\n"

struct content {
    bool any;
    char name[128];
};

/* Hidden files and folders are not data: '.' and '_' mark them, as in Hive. */
static bool note_file(void *ctx, const silt_file_entry *entry)
{
    struct content *content = ctx;
    if (entry->name_len == 0 || entry->name[0] == '.' || entry->name[0] == '_') {
        return true;
    }
    content->any = true;
    const size_t len = entry->name_len < sizeof(content->name) - 1 ? entry->name_len : sizeof(content->name) - 1;
    memcpy(content->name, entry->name, len);
    content->name[len] = '\0';
    return false;
}

static silt_status mark_path(silt_txn *txn, struct sl_str *out, silt_error *err)
{
    *out = sl_uri_join(&txn->arena, txn->root, SL_STR(MARK));
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* The files there are those of an earlier attempt to create the table. */
static silt_status is_marked(silt_txn *txn, const silt_call *call, bool *out, silt_error *err)
{
    struct sl_str path;
    int64_t size_bytes = 0;
    int64_t modified_ms = 0;
    *out = false;
    SL_TRY(mark_path(txn, &path, err));
    silt_status status = silt_storage_stat(txn->storage, call, path.ptr, &size_bytes, &modified_ms, err);
    *out = status == SILT_OK;
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

silt_status sl_txn_mark_creation(silt_txn *txn, silt_error *err)
{
    if (!txn->exclusive || txn->marked) {
        return SILT_OK;
    }
    struct sl_str path;
    SL_TRY(mark_path(txn, &path, err));
    txn->marked = true; /* also when it fails: then it may be there */
    return silt_storage_put(txn->storage, NULL, path.ptr, MARK_TEXT, sizeof(MARK_TEXT) - 1, err);
}

void sl_txn_unmark_creation(silt_txn *txn)
{
    struct sl_str path;
    if (txn->marked && mark_path(txn, &path, NULL) == SILT_OK) {
        /* One that stays means nothing beside a table, and only that a retry may go on where there is none. */
        sl_ignore(silt_storage_remove(txn->storage, NULL, path.ptr, NULL));
    }
    txn->marked = false;
}

/* An error that was met while looking, with all that it says. */
static silt_status pass_on(const silt_error *found, silt_error *err)
{
    if (err != NULL) {
        *err = *found;
    }
    return found->status;
}

static silt_status check_no_table(silt_txn *txn, const silt_call *call, silt_error *err)
{
    silt_snapshot *snapshot = NULL;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = silt_table_latest_snapshot(txn->table, call, &snapshot, &found);
    if (status == SILT_OK) {
        silt_snapshot_unref(snapshot);
        return sl_fail(err, SILT_EEXISTS, "DELTA_TABLE_ALREADY_EXISTS", "a delta table is already at %s",
                       silt_table_uri(txn->table));
    }
    /* Of Delta's own classes, or for want of the data plane: a table was met, and cannot be opened. Others are about the store. */
    if (status == SILT_EUNSUPPORTED && (sl_str_starts_with(sl_str_from(found.code_name), SL_STR("DELTA_")) ||
                                        sl_error_is(&found, "SILT_ENGINE_NOT_FOUND"))) {
        return sl_fail(err, SILT_EEXISTS, "DELTA_TABLE_ALREADY_EXISTS", "a delta table is already at %s, and %s",
                       silt_table_uri(txn->table), found.message);
    }
    return status == SILT_ENOTTABLE ? SILT_OK : pass_on(&found, err);
}

/* A table must not adopt or hide files that are there for another reason. */
static silt_status check_location(silt_txn *txn, const silt_call *call, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    struct content content = {.any = false};
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    SL_TRY(check_no_table(txn, call, err));
    const silt_status status = silt_storage_list(txn->storage, call, txn->root.ptr, &options, note_file, &content,
                                                 &found);
    if (status != SILT_OK && (status != SILT_ENOTFOUND || sl_error_is(&found, SL_BUCKET_NOT_FOUND))) {
        return pass_on(&found, err);
    }
    bool marked = false;
    if (content.any) {
        SL_TRY(is_marked(txn, call, &marked, err));
    }
    if (content.any && !marked) {
        SL_TRY(check_no_table(txn, call, err)); /* they may be those of a table that was created just now */
        return sl_fail(err, SILT_EEXISTS, "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
                       "cannot create a table at %s: it is not empty (%s) and holds no delta table",
                       silt_table_uri(txn->table), content.name);
    }
    return SILT_OK;
}

/* The partition columns in the schema's spelling. */
static silt_status take_partitioning(silt_txn *txn, const silt_create_options *options, silt_error *err)
{
    struct sl_str *columns = sl_arena_alloc_array(&txn->arena, options->n_partition_columns + 1, sizeof(*columns));
    if (columns == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < options->n_partition_columns; i++) {
        const char *name = options->partition_columns[i];
        if (name == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "partition column %zu has no name", i);
        }
        const struct silt_field *field = sl_type_find(&txn->schema->root, sl_str_from(name), NULL);
        SL_TRY(sl_txn_text(txn, field != NULL ? field->name.ptr : name, &columns[i], err));
    }
    txn->metadata.partition_columns = (struct sl_str_list){columns, options->n_partition_columns};
    return sl_schema_validate_partitioning(txn->schema, columns, options->n_partition_columns, err);
}

static silt_status take_properties(silt_txn *txn, const silt_create_options *options, silt_error *err)
{
    struct sl_kv *items = sl_arena_alloc_array(&txn->arena, options->n_properties + 1, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < options->n_properties; i++) {
        if (options->properties[i].key == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "table property %zu has no key", i);
        }
        SL_TRY(sl_txn_text(txn, options->properties[i].key, &items[i].key, err));
        SL_TRY(sl_txn_text(txn, options->properties[i].value, &items[i].value, err));
    }
    const struct sl_kv_list properties = {items, options->n_properties};
    struct sl_kv_list kept;
    SL_TRY(sl_protocol_for_new_table(&txn->arena, options->schema, &properties, &txn->protocol, &kept, err));
    SL_TRY(sl_txn_take_schema(txn, options->schema, &kept, err));
    return sl_txn_gate(txn, &txn->protocol, err);
}

silt_status sl_txn_take_metadata(silt_txn *txn, const silt_create_options *options, silt_error *err)
{
    char id[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(txn->env, id, err));
    SL_TRY(sl_txn_text(txn, id, &txn->metadata.id, err));
    SL_TRY(sl_txn_text(txn, options->name, &txn->metadata.name, err));
    SL_TRY(sl_txn_text(txn, options->description, &txn->metadata.description, err));
    txn->metadata.format_provider = SL_STR("parquet");
    txn->metadata.created_time = sl_now_ms(txn->env);
    SL_TRY(sl_schema_validate_unique(options->schema, err));
    SL_TRY(take_properties(txn, options, err));
    return take_partitioning(txn, options, err);
}

silt_status sl_create_options_check(const silt_create_options *options, silt_txn **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a transaction needs a place to go");
    }
    *out = NULL;
    if (options == NULL || options->size < sizeof(*options) || options->schema == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a new table needs a schema");
    }
    if ((options->n_partition_columns > 0 && options->partition_columns == NULL) ||
        (options->n_properties > 0 && options->properties == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "a new table's partition columns or properties are counted but not given");
    }
    return SILT_OK;
}

silt_status silt_txn_begin_create(silt_table *table, const silt_call *call, const silt_create_options *options,
                                  const char *operation, silt_txn **out, silt_error *err)
{
    SL_TRY(sl_create_options_check(options, out, err));
    silt_txn *txn = NULL;
    SL_TRY(sl_txn_new(table, operation, &txn, err));
    txn->exclusive = true;
    txn->protocol_changed = true;
    txn->metadata_changed = true;
    silt_status status = sl_txn_take_metadata(txn, options, err);
    if (status == SILT_OK) {
        status = sl_txn_check_metadata(txn, err);
    }
    if (status == SILT_OK) {
        status = check_location(txn, call, err);
    }
    if (status != SILT_OK) {
        sl_error_path(err, silt_table_uri(table));
        silt_txn_free(txn);
        return status;
    }
    *out = txn;
    return SILT_OK;
}
