/*
 * What depends on the file of a row: partition values, and the struct "_metadata". Values of files are functions of file_index
 * (duck_part.c), so that filters on them prune files; the rest is made of file_row_number and the stored columns of row tracking.
 *
 * PROTOCOL: Row Tracking: a row's id is the stored one, else the base row id of its file plus its place in the file.
 */
#include "duck_scan.h"

#include "base/error.h"
#include "base/uri.h"
#include "schema/value.h"

/* Values of files behind _metadata. */
enum of_file {
    FILE_PATH,
    FILE_NAME,
    FILE_SIZE,
    FILE_TIME,
    BASE_ROW_ID,
    ROW_COMMIT_VERSION,
    N_OF_FILE
};

static const struct silt_type TYPES[N_OF_FILE] = {
    [FILE_PATH] = {.kind = SILT_TYPE_STRING}, [FILE_NAME] = {.kind = SILT_TYPE_STRING},
    [FILE_SIZE] = {.kind = SILT_TYPE_LONG},   [FILE_TIME] = {.kind = SILT_TYPE_TIMESTAMP},
    [BASE_ROW_ID] = {.kind = SILT_TYPE_LONG}, [ROW_COMMIT_VERSION] = {.kind = SILT_TYPE_LONG},
};

/* Fields of the struct: what they are made of. */
enum made_of {
    OF_FILE,      /* the value of the file */
    OF_ZERO,      /* 0 */
    OF_ROW,       /* file_row_number */
    OF_ROW_ID,    /* stored, else file's + file_row_number */
    OF_ROW_COMMIT /* stored, else the file's */
};

static const struct {
    const char *name;
    enum made_of made_of;
    enum of_file value;
} FIELDS[] = {
    {"file_path", OF_FILE, FILE_PATH},
    {"file_name", OF_FILE, FILE_NAME},
    {"file_size", OF_FILE, FILE_SIZE},
    {"file_block_start", OF_ZERO, N_OF_FILE},
    {"file_block_length", OF_FILE, FILE_SIZE},
    {"file_modification_time", OF_FILE, FILE_TIME},
    {"row_index", OF_ROW, N_OF_FILE},
    {"base_row_id", OF_FILE, BASE_ROW_ID},
    {"default_row_commit_version", OF_FILE, ROW_COMMIT_VERSION},
    {"row_id", OF_ROW_ID, BASE_ROW_ID},
    {"row_commit_version", OF_ROW_COMMIT, ROW_COMMIT_VERSION},
};

static size_t find_field(struct sl_str name)
{
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++) {
        if (sl_str_eq_nocase(name, sl_str_from(FIELDS[i].name))) {
            return i;
        }
    }
    return SIZE_MAX;
}

static const struct silt_type *metadata_type(const silt_scan_plan *plan)
{
    for (size_t i = 0; i < plan->logical->root.n_fields; i++) {
        if (plan->columns[i].source == SILT_FROM_METADATA) {
            return plan->logical->root.fields[i].type;
        }
    }
    return NULL;
}

/* ---- values of files ---- */

static silt_status text_value(struct sl_scan_work *work, const silt_plan_file *file, bool whole, silt_value *out,
                              silt_error *err)
{
    struct sl_buf uri;
    sl_buf_init(&uri, work->arena.env);
    sl_uri_print(&uri, sl_str_from(file->path));
    silt_status status = sl_buf_status(&uri, err);
    if (status == SILT_OK) {
        struct sl_str text = sl_buf_view(&uri);
        while (!whole && sl_str_find(text, SL_STR("/")) != SIZE_MAX) {
            text = sl_str_sub(text, sl_str_find(text, SL_STR("/")) + 1, text.len);
        }
        text = sl_arena_copy(&work->arena, text);
        *out = sl_value_bytes(SILT_TYPE_STRING, text);
        status = text.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&uri);
    return status;
}

static silt_value long_or_null(int64_t value)
{
    return value >= 0 ? sl_value_i64(SILT_TYPE_LONG, value) : sl_value_null(SILT_TYPE_LONG);
}

static silt_status file_value(struct sl_scan_work *work, const silt_plan_file *file, enum of_file which,
                              silt_value *out, silt_error *err)
{
    switch (which) {
    case FILE_PATH: return text_value(work, file, true, out, err);
    case FILE_NAME: return text_value(work, file, false, out, err);
    case FILE_SIZE: *out = long_or_null(file->size_bytes); return SILT_OK;
    case BASE_ROW_ID: *out = long_or_null(file->base_row_id); return SILT_OK;
    case ROW_COMMIT_VERSION: *out = long_or_null(file->row_commit_version); return SILT_OK;
    default: break;
    }
    int64_t us = 0;
    *out = sl_value_null(SILT_TYPE_TIMESTAMP);
    if (!__builtin_mul_overflow(file->modified_ms, INT64_C(1000), &us)) {
        *out = sl_value_i64(SILT_TYPE_TIMESTAMP, us);
    }
    return SILT_OK;
}

/* ---- all that depends on files ---- */

/* Which values of files the struct needs. */
static void find_needed(const struct silt_type *meta, bool *needed)
{
    for (size_t i = 0; meta != NULL && i < meta->n_fields; i++) {
        const size_t field = find_field(meta->fields[i].name);
        if (field != SIZE_MAX && FIELDS[field].value != N_OF_FILE) {
            needed[FIELDS[field].value] = true;
        }
    }
}

static silt_status fill_row(struct sl_scan_work *work, const silt_plan_file *file, const bool *needed, silt_value *row,
                            silt_error *err)
{
    const size_t n_partition = work->plan.n_partition_columns;
    if (n_partition > 0) {
        memcpy(row, file->partition_values, n_partition * sizeof(*row));
    }
    silt_value *next = row + n_partition;
    for (int i = 0; i < N_OF_FILE; i++) {
        if (needed[i]) {
            SL_TRY(file_value(work, file, (enum of_file)i, next++, err));
        }
    }
    return SILT_OK;
}

silt_status sl_scan_make_parts(struct sl_scan_work *work, silt_error *err)
{
    const silt_scan_plan *plan = &work->plan;
    bool needed[N_OF_FILE] = {false};
    find_needed(metadata_type(plan), needed);
    size_t n = plan->n_partition_columns;
    const struct silt_type **types = sl_arena_alloc_array(&work->arena, n + N_OF_FILE, sizeof(*types));
    const silt_value **values = sl_arena_alloc_array(&work->arena, plan->n_files, sizeof(*values));
    if (types == NULL || values == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->logical->root.n_fields; i++) {
        if (plan->columns[i].source == SILT_FROM_PARTITION) {
            types[plan->columns[i].index] = plan->logical->root.fields[i].type;
        }
    }
    for (int i = 0; i < N_OF_FILE; i++) {
        if (needed[i]) {
            types[n++] = &TYPES[i];
        }
    }
    if (n == 0) {
        return SILT_OK;
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        silt_value *row = sl_arena_alloc_array(&work->arena, n, sizeof(*row));
        if (row == NULL) {
            return sl_fail_nomem(err);
        }
        SL_TRY(fill_row(work, &plan->files[i], needed, row, err));
        values[i] = row;
    }
    const struct sl_duck_parts_input input = {
        .values = values, .n_files = plan->n_files, .n_columns = n, .types = types};
    return sl_duck_parts_new(work->conn->dp, &input, &work->parts, err);
}

/* ---- the struct ---- */

static silt_status put_file_value(struct sl_scan_work *work, struct sl_buf *sql, const bool *needed, enum of_file which,
                                  silt_error *err)
{
    size_t column = work->plan.n_partition_columns;
    for (int i = 0; i < (int)which; i++) {
        column += needed[i] ? 1 : 0;
    }
    return sl_duck_parts_put(work->conn, sql, work->parts, column, &TYPES[which], err);
}

/* The stored value where there is one; *open tells whether a ')' must follow what stands in for it. */
static bool put_stored(struct sl_buf *sql, const struct sl_scan_group *group, size_t stored)
{
    if (stored == SIZE_MAX) {
        return false;
    }
    sl_buf_put_c(sql, "coalesce(");
    sl_buf_put_str(sql, sl_scan_value(group, stored));
    sl_buf_put_c(sql, ", ");
    return true;
}

static silt_status put_field(struct sl_scan_work *work, struct sl_buf *sql, size_t field, const bool *needed,
                             const struct sl_scan_group *group, silt_error *err)
{
    bool open = false;
    switch (FIELDS[field].made_of) {
    case OF_ZERO: sl_buf_put_c(sql, "0::BIGINT"); return SILT_OK;
    case OF_ROW: sl_buf_put_c(sql, "file_row_number"); return SILT_OK;
    case OF_ROW_ID: open = put_stored(sql, group, work->meta->row_id); break;
    case OF_ROW_COMMIT: open = put_stored(sql, group, work->meta->row_commit_version); break;
    default: break;
    }
    SL_TRY(put_file_value(work, sql, needed, FIELDS[field].value, err));
    sl_buf_put_c(sql, FIELDS[field].made_of == OF_ROW_ID ? " + file_row_number" : "");
    sl_buf_put_c(sql, open ? ")" : "");
    return SILT_OK;
}

silt_status sl_scan_put_metadata(struct sl_scan_work *work, struct sl_buf *sql, const struct silt_type *type,
                                 const struct sl_scan_group *group, silt_error *err)
{
    bool needed[N_OF_FILE] = {false};
    find_needed(type, needed);
    sl_buf_put_c(sql, "struct_pack(");
    for (size_t i = 0; i < type->n_fields; i++) {
        const size_t field = find_field(type->fields[i].name);
        if (field == SIZE_MAX) {
            return sl_fail(err, SILT_EINVALID, NULL, "_metadata has no field %.*s", SL_FMT(type->fields[i].name));
        }
        sl_buf_put_c(sql, i == 0 ? "" : ", ");
        sl_duck_put_ident(sql, type->fields[i].name);
        sl_buf_put_c(sql, " := ");
        SL_TRY(put_field(work, sql, field, needed, group, err));
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}
