/*
 * From a query to Parquet files in the staging folder, by DuckDB's COPY.
 *
 * A write without partition columns is one streaming COPY into one file: DuckDB encodes it with all threads and keeps the order of
 * the rows. Only when the plan promises much more than one file's worth, and the query does not end in ORDER BY, COPY makes
 * several files by itself (FILE_SIZE_BYTES), which loses the order of rows but writes nothing twice. Whatever still comes out too
 * large is split afterwards (duck_split.c). With partition columns COPY makes a folder for each combination of values; the values
 * are grouped by their text in the log's spelling and come back from RETURN_STATS, not from the names of folders.
 */
#include "duck_write.h"

#include "duck_pace.h"

#include <stdio.h>

#include "base/error.h"
#include "schema/value.h"

#define SOURCE_COLUMN "silt_c" /* and a number: a name that no query has */
#define DEFAULT_ROW_GROUP_ROWS 122880
/* Below this target a row group may be larger than a file should be: then the exact split afterwards is better. */
#define LEAST_SIZE_FOR_COPY ((int64_t)16 << 20)

static const struct sl_duck_codec CODECS[] = {
    {"zstd", "zstd", ".zstd"},     {"snappy", "snappy", ".snappy"},      {"gzip", "gzip", ".gz"},
    {"lz4", "lz4_raw", ".lz4raw"}, {"lz4_raw", "lz4_raw", ".lz4raw"},    {"brotli", "brotli", ".br"},
    {"none", "uncompressed", ""},  {"uncompressed", "uncompressed", ""},
};

silt_status sl_duck_find_codec(const char *name, const struct sl_duck_codec **out, silt_error *err)
{
    *out = NULL;
    const char *wanted = name != NULL && name[0] != '\0' ? name : "zstd";
    for (size_t i = 0; i < sizeof(CODECS) / sizeof(CODECS[0]); i++) {
        if (sl_str_eq_nocase(sl_str_from(wanted), sl_str_from(CODECS[i].name))) {
            *out = &CODECS[i];
            return SILT_OK;
        }
    }
    return sl_fail(err, SILT_EINVALID, NULL,
                   "compression codec %s is not known, expected zstd, snappy, gzip, lz4, brotli or none", wanted);
}

silt_status sl_duck_put_copy_options(const struct sl_duck_writing *w, struct sl_buf *sql, int64_t max_rows,
                                     silt_error *err)
{
    const silt_parquet_write *request = w->request;
    const struct sl_duck_codec *codec = NULL;
    SL_TRY(sl_duck_find_codec(request->codec, &codec, err));
    int64_t rows = request->row_group_rows > 0 ? request->row_group_rows : DEFAULT_ROW_GROUP_ROWS;
    if (max_rows > 0 && max_rows < rows) {
        rows = max_rows;
    }
    sl_buf_printf(sql, " (FORMAT parquet, PARQUET_VERSION v1, RETURN_STATS, COMPRESSION %s, ROW_GROUP_SIZE %lld",
                  codec->option, (long long)rows);
    if (sl_str_eq_c(sl_str_from(codec->option), "zstd")) {
        sl_buf_put_c(sql, ", COMPRESSION_LEVEL 3");
    }
    /* DuckDB takes such filters of bytes amiss when it reads (duck_footer_bounds.c). It writes them for all columns or for none. */
    if (sl_type_holds(&request->schema->root, SILT_TYPE_BINARY)) {
        sl_buf_put_c(sql, ", WRITE_BLOOM_FILTER false");
    }
    return sl_duck_put_field_ids(sql, request->schema, w->is_absent, err);
}

/* ---- what COPY answered ---- */

/* The text of key "silt_p<i>" in row `row` of the map column `partition_keys`; absent for NULL. */
static struct sl_str partition_text(duckdb_vector map, idx_t row, size_t column)
{
    duckdb_vector entries = duckdb_list_vector_get_child(map);
    duckdb_vector keys = duckdb_struct_vector_get_child(entries, 0);
    duckdb_vector values = duckdb_struct_vector_get_child(entries, 1);
    const duckdb_list_entry list = ((duckdb_list_entry *)duckdb_vector_get_data(map))[row];
    duckdb_string_t *key_cells = duckdb_vector_get_data(keys);
    duckdb_string_t *value_cells = duckdb_vector_get_data(values);
    uint64_t *validity = duckdb_vector_get_validity(values);
    char wanted[32];
    const int n = snprintf(wanted, sizeof(wanted), "silt_p%zu", column);
    const struct sl_str name = sl_str_make(wanted, n > 0 ? (size_t)n : 0);
    for (idx_t i = list.offset; i < list.offset + list.length; i++) {
        const struct sl_str key = sl_str_make(duckdb_string_t_data(&key_cells[i]),
                                              duckdb_string_t_length(key_cells[i]));
        if (sl_str_eq(key, name) && (validity == NULL || duckdb_validity_row_is_valid(validity, i))) {
            return sl_str_make(duckdb_string_t_data(&value_cells[i]), duckdb_string_t_length(value_cells[i]));
        }
    }
    return (struct sl_str){NULL, 0};
}

static silt_status take_partition(struct sl_duck_writing *w, duckdb_vector keys, idx_t row, struct sl_duck_staged *file,
                                  silt_error *err)
{
    const size_t n = w->request->n_partition_columns;
    file->partition_values = sl_arena_alloc_array(&w->arena, n, sizeof(*file->partition_values));
    file->partition_texts = sl_arena_alloc_array(&w->arena, n, sizeof(*file->partition_texts));
    if (file->partition_values == NULL || file->partition_texts == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct silt_field *field = &w->request->schema->root.fields[w->partition_index[i]];
        const struct sl_str key = partition_text(keys, row, i);
        if (key.ptr != NULL) {
            const struct sl_str text = sl_duck_texts_find(&w->texts, key);
            if (text.ptr == NULL) {
                return sl_fail(err, SILT_EENGINE, NULL,
                               "DuckDB's COPY gave back a partition value that was not written");
            }
            file->partition_texts[i] = sl_arena_copy(&w->arena, text);
            if (file->partition_texts[i].ptr == NULL) {
                return sl_fail_nomem(err);
            }
        }
        SL_TRY(sl_partition_value_parse(&w->arena, file->partition_texts[i], field->type, &file->partition_values[i],
                                        NULL, err));
        if (file->partition_values[i].is_null && !field->nullable) {
            return sl_fail(err, SILT_ECONSTRAINT, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
                           "NOT NULL constraint violated for column: %.*s", SL_FMT(field->name));
        }
    }
    return SILT_OK;
}

/* Columns of RETURN_STATS: filename, count, file_size_bytes, footer_size_bytes, column_statistics, partition_keys. */
static silt_status take_files(struct sl_duck_writing *w, duckdb_data_chunk chunk, silt_error *err)
{
    const idx_t n = duckdb_data_chunk_get_size(chunk);
    const uint64_t *counts = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 1));
    const uint64_t *sizes = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 2));
    for (idx_t row = 0; row < n; row++) {
        if (counts[row] == 0) {
            continue; /* an empty result: its file stays behind in the staging folder */
        }
        struct sl_duck_staged *file = sl_vec_push(&w->files);
        if (file == NULL) {
            return sl_fail_nomem(err);
        }
        file->local = sl_arena_strdup(&w->arena, sl_duck_cell_str(chunk, 0, row));
        file->num_rows = (int64_t)counts[row];
        file->size_bytes = (int64_t)sizes[row];
        if (file->local == NULL) {
            return sl_fail_nomem(err);
        }
        if (w->request->n_partition_columns > 0 && !w->splitting) {
            SL_TRY(take_partition(w, duckdb_data_chunk_get_vector(chunk, 5), row, file, err));
        }
    }
    return SILT_OK;
}

silt_status sl_duck_run_copy(struct sl_duck_writing *w, const struct sl_duck_run *run, silt_error *err)
{
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    silt_status status = sl_duck_run(&w->conn, w->call, run, &result, err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(&w->conn, w->call, &result, &chunk, err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        status = duckdb_data_chunk_get_column_count(chunk) < 6
                     ? sl_fail(err, SILT_EENGINE, NULL, "DuckDB's COPY did not tell which files it wrote")
                     : take_files(w, chunk, err);
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return status;
}

/* ---- the text of the COPY ---- */

/* Types of the source's columns: the query planned for no rows. */
static silt_status describe(struct sl_duck_writing *w, const struct sl_duck_write_source *source, duckdb_result *result,
                            silt_error *err)
{
    const char *const head = "SELECT * FROM (";
    struct sl_buf sql;
    sl_buf_init(&sql, w->conn.dp->env);
    sl_buf_put_c(&sql, head);
    sl_buf_put_str(&sql, source->sql);
    sl_buf_put_c(&sql, "\n) LIMIT 0");
    silt_status status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .params = source->params};
        status = sl_duck_run(&w->conn, w->call, &run, result, err);
        if (status != SILT_OK && err != NULL && err->position >= 0) {
            const int32_t at = err->position - (int32_t)strlen(head);
            err->position = at >= 0 && (size_t)at <= source->sql.len ? at : -1;
        }
    }
    sl_buf_release(&sql);
    if (status == SILT_OK && duckdb_column_count(result) != w->request->schema->root.n_fields) {
        status = sl_fail(err, SILT_ESCHEMA, "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
                         "the query has %llu columns, but %zu are to be written",
                         (unsigned long long)duckdb_column_count(result), w->request->schema->root.n_fields);
    }
    return status;
}

/* A nested column that must not be null is checked row by row; flat ones by their statistics, for nothing. */
static void put_guarded(struct sl_buf *sql, const struct silt_field *field, struct sl_str value)
{
    if (field->nullable || !sl_type_is_nested(field->type)) {
        sl_buf_put_str(sql, value);
        return;
    }
    sl_buf_put_c(sql, "CASE WHEN ");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, " IS NULL THEN error('[DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for "
                      "column: ' || ");
    sl_duck_put_text(sql, field->name);
    sl_buf_put_c(sql, ") ELSE ");
    sl_buf_put_str(sql, value);
    sl_buf_put_c(sql, " END");
}

static silt_status put_cast(struct sl_duck_writing *w, struct sl_buf *value, size_t index, duckdb_logical_type from,
                            silt_error *err)
{
    char name[24];
    const int n = snprintf(name, sizeof(name), SOURCE_COLUMN "%zu", index);
    SL_TRY(sl_duck_put_cast(value, sl_str_make(name, n > 0 ? (size_t)n : 0), from, &w->logical->root.fields[index],
                            &w->request->schema->root.fields[index], err));
    return sl_buf_status(value, err);
}

/* A column as the file holds it. */
static silt_status put_stored(struct sl_duck_writing *w, struct sl_buf *sql, size_t index, duckdb_logical_type from,
                              silt_error *err)
{
    struct sl_buf value;
    sl_buf_init(&value, sql->env);
    const silt_status status = put_cast(w, &value, index, from, err);
    if (status == SILT_OK) {
        put_guarded(sql, &w->logical->root.fields[index], sl_buf_view(&value));
        sl_buf_put_c(sql, " AS ");
        sl_duck_put_ident(sql, w->request->schema->root.fields[index].name);
    }
    sl_buf_release(&value);
    return status;
}

/* What COPY groups the rows of a partition column by: its values as the log spells them. */
static silt_status put_key(struct sl_duck_writing *w, struct sl_buf *sql, size_t part, duckdb_logical_type from,
                           silt_error *err)
{
    const size_t index = w->partition_index[part];
    const silt_type_kind kind = w->request->schema->root.fields[index].type->kind;
    /* PROTOCOL: Partition Value Serialization: an empty string is written as null. */
    const bool text = kind == SILT_TYPE_STRING || kind == SILT_TYPE_BINARY;
    struct sl_buf value;
    sl_buf_init(&value, sql->env);
    const silt_status status = put_cast(w, &value, index, from, err);
    if (status == SILT_OK) {
        sl_buf_put_c(sql, text ? "NULLIF(silt_partition_text(" : "silt_partition_text(");
        sl_buf_put_str(sql, sl_buf_view(&value));
        sl_buf_printf(sql, ", %llu::UBIGINT)", (unsigned long long)w->texts.id);
        sl_buf_put_c(sql, text ? ", '') AS " : " AS ");
        sl_buf_printf(sql, "silt_p%zu", part);
    }
    sl_buf_release(&value);
    return status;
}

/* The columns: those of the file, partition columns after all others (PROTOCOL: Iceberg Compatibility V1), then the keys. */
static silt_status put_columns(struct sl_duck_writing *w, duckdb_result *columns, struct sl_buf *sql, silt_error *err)
{
    const struct silt_type *root = &w->request->schema->root;
    const size_t n_parts = w->request->n_partition_columns;
    size_t n = 0;
    for (size_t step = 0; step < root->n_fields + 2 * n_parts; step++) {
        const bool is_data = step < root->n_fields;
        const size_t part = is_data ? 0 : (step - root->n_fields) % n_parts;
        const bool is_key = step >= root->n_fields + n_parts;
        const size_t i = is_data ? step : w->partition_index[part];
        /* A void column is always null: one that is not in the file reads as that. */
        if (root->fields[i].type->kind == SILT_TYPE_VOID || (is_data && w->is_partition[i]) ||
            (!is_data && !is_key && w->is_absent[i])) {
            continue;
        }
        sl_buf_put_c(sql, n > 0 ? ", " : "");
        duckdb_logical_type type = duckdb_column_logical_type(columns, i);
        const silt_status status = is_key ? put_key(w, sql, part, type, err) : put_stored(w, sql, i, type, err);
        duckdb_destroy_logical_type(&type);
        SL_TRY(status);
        n++;
    }
    return n > 0 ? SILT_OK
                 : sl_fail(err, SILT_ESCHEMA, NULL, "rows without a column that has a type cannot be written");
}

/* "(SELECT … FROM (source) AS silt_source(silt_c0, …)) TO 'name'"; *offset tells where the source's text begins. */
static silt_status put_select(struct sl_duck_writing *w, const struct sl_duck_write_source *source,
                              duckdb_result *columns, struct sl_buf *sql, size_t *offset, silt_error *err)
{
    sl_buf_put_c(sql, "COPY (SELECT ");
    SL_TRY(put_columns(w, columns, sql, err));
    sl_buf_put_c(sql, " FROM (");
    *offset = sql->len;
    sl_buf_put_str(sql, source->sql);
    sl_buf_put_c(sql, "\n) AS silt_source(");
    for (size_t i = 0; i < w->request->schema->root.n_fields; i++) {
        sl_buf_printf(sql, "%s" SOURCE_COLUMN "%zu", i > 0 ? ", " : "", i);
    }
    sl_buf_put_char(sql, ')');
    sl_duck_pace_put(sl_duck_send_pace(w), sql);
    sl_buf_put_c(sql, ") TO ");
    return SILT_OK;
}

static silt_status put_target(struct sl_duck_writing *w, struct sl_buf *sql, bool several, silt_error *err)
{
    const silt_parquet_write *request = w->request;
    const bool folder = several || request->n_partition_columns > 0;
    const char *target = sl_arena_printf(&w->arena, folder ? "%s/d" : "%s/one.parquet", w->stage);
    if (target == NULL) {
        return sl_fail_nomem(err);
    }
    sl_duck_put_text(sql, sl_str_from(target));
    SL_TRY(sl_duck_put_copy_options(w, sql, 0, err));
    if (request->n_partition_columns > 0) {
        sl_buf_put_c(sql, ", PARTITION_BY (");
        for (size_t i = 0; i < request->n_partition_columns; i++) {
            sl_buf_printf(sql, i == 0 ? "silt_p%zu" : ", silt_p%zu", i);
        }
        sl_buf_put_char(sql, ')');
    } else if (several) {
        sl_buf_printf(sql, ", FILE_SIZE_BYTES %lld", (long long)request->target_file_size);
    }
    sl_buf_put_char(sql, ')');
    return SILT_OK;
}

/* A cast that failed names the column that it is from; ours are made up, and the table's has the name that says something. */
static void name_column(const struct sl_duck_writing *w, silt_error *err)
{
    static const char words[] = " when casting from source column " SOURCE_COLUMN;
    const struct silt_type *root = &w->request->schema->root;
    const struct sl_str message = sl_str_from(err->message);
    const size_t at = sl_str_find(message, SL_STR(words));
    int64_t index = 0;
    if (at == SIZE_MAX || !sl_str_to_i64(sl_str_sub(message, at + sizeof(words) - 1, message.len), &index) ||
        index < 0 || (uint64_t)index >= root->n_fields) {
        return;
    }
    err->message[at] = '\0';
    sl_error_context(err, "column %.*s", SL_FMT(w->logical->root.fields[index].name));
}

static silt_status run_copy(struct sl_duck_writing *w, const struct sl_duck_write_source *source,
                            duckdb_result *columns, bool several, silt_error *err)
{
    struct sl_buf sql;
    sl_buf_init(&sql, w->conn.dp->env);
    size_t offset = 0;
    silt_status status = put_select(w, source, columns, &sql, &offset, err);
    if (status == SILT_OK) {
        status = put_target(w, &sql, several, err);
    }
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .params = source->params};
        status = sl_duck_run_copy(w, &run, err);
        if (status != SILT_OK && err != NULL) {
            name_column(w, err);
        }
        if (status != SILT_OK && err != NULL && err->position >= 0) {
            const size_t at = (size_t)err->position;
            const bool inside = at >= offset && at - offset <= source->sql.len;
            err->position = inside ? (int32_t)(at - offset) : -1;
        }
    }
    sl_buf_release(&sql);
    return status;
}

/*
 * Whether COPY is to make several files by itself, and how files go to a store that is not here. Rows that come one after the other keep their
 * order in several files. Partitions have no size that is known before, and neither may rows in an order of their own be scattered
 * over files: both are split afterwards, which needs them here. Else a file that is larger than it was to be is no harm, and a disk that
 * is full would be.
 */
static silt_status choose_course(struct sl_duck_writing *w, const struct sl_duck_write_source *source, bool *several,
                                 silt_error *err)
{
    struct sl_duck_promise promise = {0};
    const bool limited = w->request->target_file_size >= LEAST_SIZE_FOR_COPY;
    const bool partitioned = w->request->n_partition_columns > 0;
    const bool rolls = limited && !partitioned && w->far && source->serial;
    if (limited && !partitioned && !rolls) {
        SL_TRY(sl_duck_plan(w, source, &promise, err));
    }
    *several = rolls || (promise.large && !promise.sorted);
    const bool split = sl_duck_split_limit(w->request) != INT64_MAX;
    w->mode = SL_DUCK_SENT_GIVEN;
    if (split && (partitioned || !limited)) {
        w->mode = SL_DUCK_SENT_KEPT;
    }
    if (!w->far || (promise.large && promise.sorted)) {
        w->mode = SL_DUCK_SENT_WHOLE;
    }
    return SILT_OK;
}

silt_status sl_duck_copy(struct sl_duck_writing *w, const struct sl_duck_write_source *source, silt_error *err)
{
    duckdb_result columns = {0};
    bool several = false;
    silt_status status = describe(w, source, &columns, err);
    if (status == SILT_OK) {
        status = choose_course(w, source, &several, err);
    }
    if (status == SILT_OK) {
        status = sl_duck_send_begin(w, err);
    }
    if (status == SILT_OK) {
        status = run_copy(w, source, &columns, several, err);
        status = sl_duck_send_end(w, status, err);
    }
    duckdb_destroy_result(&columns);
    return status;
}
