/*
 * The files that a transaction adds and removes. Paths and partition values are brought to their logged form here and
 * nowhere else. PROTOCOL.md "Add File and Remove File", "Partition Value Serialization", "Append-only Tables".
 */
#include "kernel/txn/txn_int.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/stats_check.h"
#include "kernel/txn/txn_write.h"
#include "schema/value.h"

silt_status sl_txn_log_path(silt_txn *txn, const char *path, struct sl_str *out, silt_error *err)
{
    const struct sl_str text = sl_str_from(path);
    if (text.len == 0 || !sl_utf8_valid(text)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a file's path must be UTF-8 text and not empty");
    }
    if (text.ptr[0] == '/' || text.ptr[text.len - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "path %s must be relative to the table and name a file", path);
    }
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != '/') {
            continue;
        }
        const struct sl_str segment = sl_str_sub(text, begin, i);
        if (segment.len == 0 || sl_str_eq_c(segment, ".") || sl_str_eq_c(segment, "..")) {
            return sl_fail(err, SILT_EINVALID, NULL, "path %s must not hold empty, '.' or '..' segments", path);
        }
        begin = i + 1;
    }
    if (sl_str_starts_with(text, SL_STR("_delta_log/"))) {
        return sl_fail(err, SILT_EINVALID, NULL, "path %s lies within the log; data files must not", path);
    }
    struct sl_buf encoded;
    sl_buf_init(&encoded, txn->env);
    sl_uri_encode_path(&encoded, text);
    silt_status status = sl_buf_status(&encoded, err);
    if (status == SILT_OK) {
        *out = sl_arena_copy(&txn->arena, sl_buf_view(&encoded));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&encoded);
    return status;
}

/* A path that may lead anywhere. One within the table has one spelling only, or a file could be in it twice. */
static silt_status outside_path(silt_txn *txn, const char *path, struct sl_str *out, silt_error *err)
{
    const struct sl_str text = sl_str_from(path);
    struct sl_str normal = {NULL, 0};
    if (!sl_utf8_valid(text) || text.len == 0 || (text.ptr[0] != '/' && sl_uri_scheme(text).ptr == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "path %s outside of the table must be absolute, in UTF-8", path);
    }
    SL_TRY(sl_uri_normalize(&txn->arena, text, &normal, err));
    if (sl_str_starts_with(normal, txn->root) && normal.len > txn->root.len && normal.ptr[txn->root.len] == '/') {
        const char *within = sl_arena_strdup(&txn->arena, sl_str_sub(normal, txn->root.len + 1, normal.len));
        return within != NULL ? sl_txn_log_path(txn, within, out, err) : sl_fail_nomem(err);
    }
    struct sl_buf uri;
    sl_buf_init(&uri, txn->env);
    sl_uri_print(&uri, normal);
    silt_status status = sl_buf_status(&uri, err);
    if (status == SILT_OK) {
        *out = sl_arena_copy(&txn->arena, sl_buf_view(&uri));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&uri);
    return status;
}

static silt_status format_partition(silt_txn *txn, const struct silt_field *field, const silt_value *value,
                                    struct sl_str *out, silt_error *err)
{
    *out = sl_str_make(NULL, 0);
    /* The empty text means null in the log, whatever the type. */
    const bool empty = !value->is_null && (value->kind == SILT_TYPE_STRING || value->kind == SILT_TYPE_BINARY) &&
                       value->as.bytes.len == 0;
    if ((value->is_null || empty) && !field->nullable) {
        return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                       "NOT NULL constraint violated for column: %.*s%s", SL_FMT(field->name),
                       empty ? " (an empty partition value reads as null)" : "");
    }
    if (value->is_null || empty) {
        return SILT_OK;
    }
    silt_value typed;
    if (!sl_value_cast(&txn->arena, value, field->type, &typed)) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_PARTITION_COLUMN_CAST_FAILED",
                       "the value of partition column %.*s does not fit its type", SL_FMT(field->name));
    }
    struct sl_buf text;
    sl_buf_init(&text, txn->env);
    silt_status status = sl_partition_value_format(&text, &typed, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&text, err);
    }
    if (status == SILT_OK) {
        *out = sl_arena_copy(&txn->arena, sl_buf_view(&text));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&text);
    return status;
}

silt_status sl_txn_partition_values(silt_txn *txn, const silt_value *values, size_t n, struct sl_kv_list *out,
                                    silt_error *err)
{
    const struct sl_str_list *columns = &txn->metadata.partition_columns;
    if (n != columns->n || (n > 0 && values == NULL)) {
        return sl_fail(err, SILT_EINVALID, "DELTA_INVALID_PARTITIONING_SCHEMA",
                       "%zu partition values were given, the table has %zu partition columns", n, columns->n);
    }
    struct sl_kv *items = sl_arena_alloc_array(&txn->arena, n + 1, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&txn->schema->root, columns->items[i], &index);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %.*s is not in the table's schema", SL_FMT(columns->items[i]));
        }
        items[i].key =
            txn->physical->root.fields[index].name; /* PROTOCOL: Column Mapping: in the log by physical names */
        SL_TRY(format_partition(txn, field, &values[i], &items[i].value, err));
    }
    *out = (struct sl_kv_list){items, n};
    return SILT_OK;
}

/* One action a file: a commit with two that reconcile with each other is no valid commit. */
static silt_status claim_path(silt_txn *txn, struct sl_str path, silt_error *err)
{
    bool inserted = false;
    if (sl_map_put(&txn->paths, path, &inserted) == NULL) {
        return sl_fail_nomem(err);
    }
    if (!inserted) {
        return sl_fail(err, SILT_EINVALID, "DELTA_DUPLICATE_ACTIONS_FOUND",
                       "file %.*s is added or removed twice in one transaction", SL_FMT(path));
    }
    return SILT_OK;
}

/* PROTOCOL: Writer Requirements for Row Tracking: an id for each row of a file is known only with their number. */
static silt_status check_counted(const silt_txn *txn, const struct sl_add *add, int64_t rows, silt_error *err)
{
    if (rows >= 0 || !sl_protocol_has_feature(&txn->protocol, "rowTracking") ||
        sl_property_bool(&txn->metadata.configuration, "delta.rowTrackingSuspended")) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_ECONSTRAINT, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS",
                   "the table has row tracking: the statistics of %.*s must have numRecords", SL_FMT(add->path));
}

silt_status sl_txn_push_add(silt_txn *txn, const struct sl_add *add, int64_t rows, silt_error *err)
{
    int64_t bytes = 0;
    SL_TRY(check_counted(txn, add, rows, err));
    if (!sl_add_i64(txn->bytes_added, add->size, &bytes)) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the sizes of the files that are added come to more than 64 bits hold");
    }
    SL_TRY(claim_path(txn, add->path, err));
    int64_t *count = sl_vec_push(&txn->add_rows);
    struct sl_action *slot = count != NULL ? sl_vec_push(&txn->adds) : NULL;
    if (slot == NULL) {
        txn->add_rows.len = txn->adds.len;
        return sl_fail_nomem(err);
    }
    *count = rows >= 0 ? rows : SL_NO_I64;
    slot->kind = SL_ACTION_ADD;
    slot->u.add = *add;
    if (rows < 0 || txn->rows_added < 0 || !sl_add_i64(txn->rows_added, rows, &txn->rows_added)) {
        txn->rows_added = -1;
    }
    txn->bytes_added = bytes;
    return SILT_OK;
}

/* NOT NULL anywhere but in a partition column, whose value is in the log. */
static bool has_not_null(const struct silt_type *type)
{
    for (size_t i = 0; type->kind == SILT_TYPE_STRUCT && i < type->n_fields; i++) {
        if (!type->fields[i].nullable || has_not_null(type->fields[i].type)) {
            return true;
        }
    }
    return (type->kind == SILT_TYPE_ARRAY || type->kind == SILT_TYPE_MAP) && has_not_null(type->element);
}

/* PROTOCOL: Iceberg Compatibility V1, V2: every file that is added has numRecords. */
static bool needs_row_counts(const silt_txn *txn)
{
    return sl_property_bool(&txn->metadata.configuration, "delta.enableIcebergCompatV1") ||
           sl_property_bool(&txn->metadata.configuration, "delta.enableIcebergCompatV2");
}

/* Callers that were compiled against an older header have not all members. */
static bool reaches(const silt_add_file *file, size_t end)
{
    return file->size >= end;
}

static bool is_fresh(const silt_add_file *file)
{
    return reaches(file, offsetof(silt_add_file, fresh_name) + sizeof(file->fresh_name)) && file->fresh_name;
}

static bool is_outside(const silt_add_file *file)
{
    return reaches(file, offsetof(silt_add_file, outside) + sizeof(file->outside)) && file->outside;
}

silt_status silt_txn_add_file(silt_txn *txn, const silt_add_file *file, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (file == NULL || !reaches(file, offsetof(silt_add_file, checks_held) + sizeof(file->checks_held)) ||
        file->path == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a file that is added needs a path, and its members a size");
    }
    if (file->size_bytes < 0 || file->modified_ms < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "size and modification time of %s must not be negative", file->path);
    }
    if (txn->schema->root.n_fields == 0) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA", "the table has no columns to write to");
    }
    if (!file->checks_held && has_not_null(&txn->schema->root)) {
        return sl_fail(err, SILT_ECONSTRAINT, NULL,
                       "the table has NOT NULL columns: whoever adds %s must check them on every row and say so",
                       file->path);
    }
    struct sl_add add = {.size = file->size_bytes,
                         .modification_time = file->modified_ms,
                         .data_change = file->data_change,
                         .base_row_id = SL_NO_I64,
                         .default_row_commit_version = SL_NO_I64};
    int64_t rows = -1;
    const struct sl_stats_subject subject = {txn->physical, file->path};
    SL_TRY(sl_stats_check(txn->env, &subject, sl_str_from(file->stats), &rows, err));
    if (rows < 0 && needs_row_counts(txn)) {
        return sl_fail(err, SILT_ECONSTRAINT, NULL,
                       "the table is kept compatible with Iceberg: the statistics of %s must tell numRecords",
                       file->path);
    }
    SL_TRY(sl_txn_text(txn, file->stats, &add.stats, err));
    if (is_outside(file)) {
        SL_TRY(outside_path(txn, file->path, &add.path, err));
    } else {
        SL_TRY(sl_txn_log_path(txn, file->path, &add.path, err));
    }
    SL_TRY(sl_txn_partition_values(txn, file->partition_values, file->n_partition_values, &add.partition_values, err));
    if (is_fresh(file)) {
        return sl_txn_push_add(txn, &add, rows, err);
    }
    if (!sl_vec_reserve(&txn->named, 1)) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_txn_push_add(txn, &add, rows, err));
    *(size_t *)sl_vec_push(&txn->named) = txn->adds.len - 1; /* there is room */
    return SILT_OK;
}

silt_status sl_txn_check_removable(const silt_txn *txn, bool data_change, silt_error *err)
{
    if (txn->snapshot == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a table that is being created has no files to remove");
    }
    if (data_change && sl_protocol_has_feature(&txn->protocol, "appendOnly") &&
        sl_property_bool(&txn->metadata.configuration, "delta.appendOnly")) {
        const silt_status status = sl_fail(err, SILT_ECONSTRAINT, "DELTA_CANNOT_MODIFY_APPEND_ONLY",
                                           "the table is append-only: rows cannot be removed or changed");
        sl_error_hint(err, "set the table property delta.appendOnly to false to permit it");
        return status;
    }
    return SILT_OK;
}

/* add must live as long as the transaction. */
static silt_status push_remove(silt_txn *txn, const struct sl_add *add, bool data_change, silt_error *err)
{
    SL_TRY(claim_path(txn, add->path, err));
    struct sl_action *slot = sl_vec_push(&txn->removes);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    slot->kind = SL_ACTION_REMOVE;
    sl_remove_from_add(add, sl_now_ms(txn->env), data_change, &slot->u.remove);
    if (!sl_add_i64(txn->bytes_removed, add->size, &txn->bytes_removed)) {
        txn->bytes_removed = INT64_MAX; /* a number for history, no more */
    }
    return SILT_OK;
}

static silt_status note_live(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    silt_txn *txn = ctx;
    (void)stop; /* all files are wanted */
    struct sl_str path;
    struct sl_add *copy = sl_arena_alloc_zero(&txn->arena, sizeof(*copy));
    if (copy == NULL || !sl_add_copy(&txn->arena, add, copy)) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_snapshot_file_path(txn->snapshot, &txn->arena, copy->path, &path, err));
    bool inserted = false;
    struct sl_map_entry *entry = sl_map_put(&txn->live, path, &inserted);
    if (entry == NULL) {
        return sl_fail_nomem(err);
    }
    entry->value.ptr = copy;
    return SILT_OK;
}

silt_status sl_txn_find_live(silt_txn *txn, const silt_call *call, const char *path, const struct sl_add **out,
                             silt_error *err)
{
    *out = NULL;
    if (txn->snapshot == NULL) {
        return SILT_OK;
    }
    if (!txn->live_loaded) {
        SL_TRY(sl_snapshot_each_file(txn->snapshot, call, SL_FILES_ALL, note_live, txn, err));
        txn->live_loaded = true;
    }
    const struct sl_map_entry *entry = sl_map_find(&txn->live, sl_str_from(path));
    *out = entry != NULL ? entry->value.ptr : NULL;
    return SILT_OK;
}

/* The adds whose names their maker does not vouch for. */
struct named_adds {
    silt_txn *txn;
    struct sl_map paths; /* absolute; the value is the place in txn->adds */
    struct sl_arena arena;
    struct sl_arena scratch;
};

/*
 * A live file is added again to say something else of it, statistics say: it keeps what belongs to its rows. PROTOCOL: "Writer Requirements
 * for Row Tracking"; without its vector it would be another logical file, beside the one that is there.
 */
static silt_status readd(silt_txn *txn, const struct sl_add *live, struct sl_add *add, silt_error *err)
{
    struct sl_add copy;
    if (!sl_add_copy(&txn->arena, live, &copy)) {
        return sl_fail_nomem(err);
    }
    add->base_row_id = copy.base_row_id;
    add->default_row_commit_version = copy.default_row_commit_version;
    add->deletion_vector = copy.deletion_vector;
    add->tags = copy.tags;
    add->has_tags = copy.has_tags;
    add->clustering_provider = copy.clustering_provider;
    txn->readds = true;
    return SILT_OK;
}

static silt_status compare_live(void *ctx, const struct sl_add *live, bool *stop, silt_error *err)
{
    struct named_adds *named = ctx;
    struct sl_str path;
    (void)stop; /* one that may not be live ends it with an error */
    sl_arena_reset(&named->scratch);
    SL_TRY(sl_snapshot_file_path(named->txn->snapshot, &named->scratch, live->path, &path, err));
    const struct sl_map_entry *entry = sl_map_find(&named->paths, path);
    if (entry == NULL) {
        return SILT_OK;
    }
    struct sl_add *add = &sl_txn_action_at(&named->txn->adds, entry->value.u64)->u.add;
    if (!add->data_change) {
        return readd(named->txn, live, add, err);
    }
    return sl_fail(err, SILT_EINVALID, "DELTA_DUPLICATE_ACTIONS_FOUND",
                   "file %.*s is added with a change of data, but it is live at version %lld already", SL_FMT(path),
                   (long long)named->txn->read_version);
}

static silt_status name_adds(struct named_adds *named, unsigned *want, silt_error *err)
{
    silt_txn *txn = named->txn;
    *want = 0;
    for (size_t i = 0; i < txn->named.len; i++) {
        const size_t place = *(const size_t *)sl_vec_at(&txn->named, i);
        const struct sl_add *add = &sl_txn_action_at(&txn->adds, place)->u.add;
        struct sl_str path;
        bool inserted = false;
        SL_TRY(sl_snapshot_file_path(txn->snapshot, &named->arena, add->path, &path, err));
        struct sl_map_entry *entry = sl_map_put(&named->paths, path, &inserted);
        if (entry == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = place;
        *want |= add->data_change ? 0U : (unsigned)SL_FILES_ALL;
    }
    return SILT_OK;
}

silt_status sl_txn_check_adds(silt_txn *txn, const silt_call *call, silt_error *err)
{
    if (txn->named.len == 0 || txn->snapshot == NULL) {
        return SILT_OK;
    }
    struct named_adds named = {.txn = txn};
    unsigned want = 0;
    sl_map_init(&named.paths, txn->env);
    sl_arena_init(&named.arena, txn->env);
    sl_arena_init(&named.scratch, txn->env);
    silt_status status = name_adds(&named, &want, err);
    if (status == SILT_OK) {
        status = sl_snapshot_each_file(txn->snapshot, call, want, compare_live, &named, err);
    }
    sl_arena_release(&named.scratch);
    sl_arena_release(&named.arena);
    sl_map_release(&named.paths);
    return status;
}

silt_status silt_txn_remove_file(silt_txn *txn, const silt_call *call, const char *path, bool data_change,
                                 silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    SL_TRY(sl_txn_check_removable(txn, data_change, err));
    if (path == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a file that is removed needs a path");
    }
    const struct sl_add *add = NULL;
    SL_TRY(sl_txn_find_live(txn, call, path, &add, err));
    if (add == NULL) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "%s is no live file of the table at version %lld",
                       path, (long long)txn->read_version);
    }
    return push_remove(txn, add, data_change, err);
}

silt_status sl_txn_remove_add(silt_txn *txn, const struct sl_add *add, bool data_change, silt_error *err)
{
    struct sl_add *copy = sl_arena_alloc_zero(&txn->arena, sizeof(*copy));
    if (copy == NULL || !sl_add_copy(&txn->arena, add, copy)) {
        return sl_fail_nomem(err);
    }
    return push_remove(txn, copy, data_change, err);
}

static silt_status remove_one(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop; /* all files go */
    return sl_txn_remove_add(ctx, add, true, err);
}

bool sl_txn_is_partition_column(const silt_txn *txn, struct sl_str name)
{
    for (size_t i = 0; i < txn->metadata.partition_columns.n; i++) {
        if (sl_str_eq_nocase(txn->metadata.partition_columns.items[i], name)) {
            return true;
        }
    }
    return false;
}

size_t sl_txn_removed_files(const silt_txn *txn)
{
    return txn->removes.len;
}

silt_status silt_txn_remove_all(silt_txn *txn, const silt_call *call, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    SL_TRY(sl_txn_check_removable(txn, true, err));
    txn->reads_table = true;
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_snapshot_each_file(txn->snapshot, call, SL_FILES_ALL, remove_one, txn, &found);
    if (status != SILT_OK) {
        /* Some files are removed and some not: such a transaction must never be committed. */
        txn->fault = status;
        txn->fault_error = found;
        return sl_txn_check_open(txn, err);
    }
    txn->removed_all = true;
    return SILT_OK;
}
