/*
 * The struct "_metadata" of the rows of a batch; see silt_plan_column for its fields. What is known of the file is the same in every row;
 * the rest is made of the rows' places and of stored columns. Called by logical_rows.c; no state.
 *
 * PROTOCOL: Row Tracking: a row's id is the stored one, else the base row id of its file plus its place in the file; its commit version
 * the stored one, else the file's default.
 */
#include "kernel/scan/metadata_rows.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/scan/batch.h"
#include "schema/value.h"

enum made_of {
    FILE_PATH,
    FILE_NAME,
    FILE_SIZE,
    ZERO,
    FILE_TIME,
    ROW_INDEX,
    BASE_ROW_ID,
    DEFAULT_COMMIT_VERSION,
    ROW_ID,
    ROW_COMMIT_VERSION,
    UNKNOWN
};

static const struct {
    const char *name;
    enum made_of made_of;
} FIELDS[] = {
    {"file_path", FILE_PATH},
    {"file_name", FILE_NAME},
    {"file_size", FILE_SIZE},
    {"file_block_start", ZERO},
    {"file_block_length", FILE_SIZE},
    {"file_modification_time", FILE_TIME},
    {"row_index", ROW_INDEX},
    {"base_row_id", BASE_ROW_ID},
    {"default_row_commit_version", DEFAULT_COMMIT_VERSION},
    {"row_id", ROW_ID},
    {"row_commit_version", ROW_COMMIT_VERSION},
};

static enum made_of made_of(struct sl_str name)
{
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        if (sl_str_eq_nocase(name, sl_str_from(FIELDS[i].name))) {
            return FIELDS[i].made_of;
        }
    }
    return UNKNOWN;
}

static bool has_field(const struct silt_type *type, enum made_of wanted)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        if (made_of(type->fields[i].name) == wanted) {
            return true;
        }
    }
    return false;
}

bool sl_metadata_needs_row_index(const struct silt_type *type)
{
    return has_field(type, ROW_INDEX) || has_field(type, ROW_ID);
}

bool sl_metadata_needs_row_ids(const struct silt_type *type)
{
    return has_field(type, ROW_ID);
}

bool sl_metadata_needs_row_commit_versions(const struct silt_type *type)
{
    return has_field(type, ROW_COMMIT_VERSION);
}

/* ---- values of the file ---- */

static silt_status put_text(const struct sl_metadata_rows *rows, const struct silt_type *type, bool whole,
                            struct ArrowArray *out, silt_error *err)
{
    struct sl_buf uri;
    sl_buf_init(&uri, rows->env);
    sl_uri_print(&uri, sl_str_from(rows->file->path));
    silt_status status = sl_buf_status(&uri, err);
    if (status == SILT_OK) {
        const struct sl_str text = whole ? sl_buf_view(&uri) : sl_uri_basename(sl_buf_view(&uri));
        const silt_value value = sl_value_bytes(SILT_TYPE_STRING, text);
        status = sl_constant_column(rows->env, type, &value, rows->n, out, err);
    }
    sl_buf_release(&uri);
    return status;
}

/* Negative: not known. */
static silt_status put_long(const struct sl_metadata_rows *rows, const struct silt_type *type, int64_t number,
                            struct ArrowArray *out, silt_error *err)
{
    const silt_value value = number >= 0 ? sl_value_i64(SILT_TYPE_LONG, number) : sl_value_null(SILT_TYPE_LONG);
    return sl_constant_column(rows->env, type, &value, rows->n, out, err);
}

static silt_status put_time(const struct sl_metadata_rows *rows, const struct silt_type *type, struct ArrowArray *out,
                            silt_error *err)
{
    int64_t us = 0;
    silt_value value = sl_value_null(SILT_TYPE_TIMESTAMP);
    if (sl_mul_i64(rows->file->modified_ms, 1000, &us)) {
        value = sl_value_i64(SILT_TYPE_TIMESTAMP, us);
    }
    return sl_constant_column(rows->env, type, &value, rows->n, out, err);
}

/* ---- values of rows ---- */

/* The stored number of a row; false if there is none. */
static bool stored_number(const struct ArrowArray *column, int64_t row, int64_t *out)
{
    if (column == NULL || sl_arrow_is_null(column, row)) {
        return false;
    }
    *out = ((const int64_t *)column->buffers[1])[column->offset + row];
    return true;
}

/* The number of a row of a field that differs from row to row; false for null. */
static bool row_number(const struct sl_metadata_rows *rows, enum made_of field, int64_t row, int64_t *out)
{
    switch (field) {
    case ROW_INDEX: *out = rows->row_index[row]; return true;
    case ROW_ID:
        return stored_number(rows->row_ids, row, out) ||
               (rows->file->base_row_id >= 0 && sl_add_i64(rows->file->base_row_id, rows->row_index[row], out));
    default:
        *out = rows->file->row_commit_version;
        return stored_number(rows->row_commit_versions, row, out) || *out >= 0;
    }
}

static silt_status put_numbers(const struct sl_metadata_rows *rows, enum made_of field, struct ArrowArray *out,
                               silt_error *err)
{
    int64_t *values = NULL;
    SL_TRY(sl_long_column(rows->env, rows->n, &values, out, err));
    for (int64_t i = 0; i < rows->n; i++) {
        if (!row_number(rows, field, i, &values[i])) {
            sl_long_column_set_null(out, i);
        }
    }
    return SILT_OK;
}

static silt_status put_field(const struct sl_metadata_rows *rows, const struct silt_field *field,
                             struct ArrowArray *out, silt_error *err)
{
    const enum made_of which = made_of(field->name);
    switch (which) {
    case FILE_PATH: return put_text(rows, field->type, true, out, err);
    case FILE_NAME: return put_text(rows, field->type, false, out, err);
    case FILE_SIZE: return put_long(rows, field->type, rows->file->size_bytes, out, err);
    case ZERO: return put_long(rows, field->type, 0, out, err);
    case FILE_TIME: return put_time(rows, field->type, out, err);
    case BASE_ROW_ID: return put_long(rows, field->type, rows->file->base_row_id, out, err);
    case DEFAULT_COMMIT_VERSION: return put_long(rows, field->type, rows->file->row_commit_version, out, err);
    case UNKNOWN: return sl_fail(err, SILT_EINVALID, NULL, "_metadata has no field %.*s", SL_FMT(field->name));
    default: return put_numbers(rows, which, out, err);
    }
}

silt_status sl_metadata_rows_make(const struct sl_metadata_rows *rows, struct ArrowArray *out, silt_error *err)
{
    SL_TRY(sl_batch_new(rows->env, rows->type->n_fields, rows->n, out, err));
    silt_status status = SILT_OK;
    for (size_t i = 0; i < rows->type->n_fields && status == SILT_OK; i++) {
        status = put_field(rows, &rows->type->fields[i], out->children[i], err);
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}
