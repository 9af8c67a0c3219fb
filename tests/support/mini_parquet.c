/* The Parquet handler of the mini engine: "files" are tables of values in memory. */
#include "mini_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static silt_status fail(silt_error *err, silt_status status, const char *message, const char *what)
{
    err->status = status;
    (void)snprintf(err->code_name, sizeof(err->code_name), "MINI_ENGINE");
    (void)snprintf(err->message, sizeof(err->message), "%s %s", message, what);
    return status;
}

/* ---- reading ---- */

struct reader {
    struct mini_engine *mini;
    const silt_schema *schema;
    struct ArrowSchema arrow; /* of the schema's fields */
    bool with_file_index;
    bool with_row_index;
    char **paths;
    size_t n_paths;
    size_t path;
    size_t row;
    char message[256];
};

static const char *format_of(const struct reader *reader, size_t column)
{
    return reader->mini->lies_about_types ? "c" : reader->arrow.children[column]->format;
}

static int reader_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct reader *reader = stream->private_data;
    size_t n = silt_schema_field_count(reader->schema);
    size_t extra = (size_t)reader->with_file_index + (size_t)reader->with_row_index;
    mini_schema(out, n + extra);
    for (size_t i = 0; i < n; i++) {
        mini_schema_child(out, i, silt_field_name(silt_schema_field(reader->schema, i)), format_of(reader, i));
    }
    if (reader->with_file_index) {
        mini_schema_child(out, n++, "_silt_file_index", "l");
    }
    if (reader->with_row_index) {
        mini_schema_child(out, n, "_silt_row_index", "l");
    }
    return 0;
}

static const silt_value *find_column(const struct mini_file *file, const char *name)
{
    for (size_t i = 0; i < file->n_columns; i++) {
        if (strcmp(file->columns[i].name, name) == 0) {
            return file->columns[i].values;
        }
    }
    return NULL;
}

/* A batch of `rows`, which are places in the file. */
static bool make_batch(const struct reader *reader, const struct mini_file *file, const silt_value *rows, size_t n,
                       struct ArrowArray *out)
{
    size_t n_fields = silt_schema_field_count(reader->schema);
    size_t extra = (size_t)reader->with_file_index + (size_t)reader->with_row_index;
    silt_value places[MINI_BATCH_ROWS];
    silt_value cells[MINI_BATCH_ROWS];
    for (size_t i = 0; i < n; i++) {
        places[i] = mini_long((int64_t)reader->path);
    }
    mini_struct(out, n_fields + extra, (int64_t)n);
    bool good = true;
    for (size_t i = 0; i < n_fields && good; i++) {
        const silt_value *values = find_column(file, silt_field_name(silt_schema_field(reader->schema, i)));
        for (size_t row = 0; row < n && values != NULL; row++) {
            cells[row] = values[rows[row].as.i64];
        }
        good = mini_array(out->children[i], format_of(reader, i), values != NULL ? cells : NULL, n);
    }
    if (good && reader->with_file_index) {
        good = mini_array(out->children[n_fields++], "l", places, n);
    }
    if (good && reader->with_row_index) {
        good = mini_array(out->children[n_fields], "l", rows, n);
    }
    if (!good) {
        out->release(out);
    }
    return good;
}

static int reader_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct reader *reader = stream->private_data;
    memset(out, 0, sizeof(*out));
    while (reader->path < reader->n_paths) {
        const struct mini_file *file = mini_find(reader->mini, reader->paths[reader->path]);
        if (file == NULL) {
            (void)snprintf(reader->message, sizeof(reader->message), "no such file: %s", reader->paths[reader->path]);
            return ENOENT;
        }
        size_t left = file->n_rows - reader->row;
        if (left == 0) {
            reader->path++;
            reader->row = 0;
            continue;
        }
        silt_value rows[MINI_BATCH_ROWS];
        size_t n = 0;
        for (; left > 0 && n < MINI_BATCH_ROWS; left--, reader->row++) {
            if (!reader->mini->leaves_rows_out || reader->row % 3 != 1) {
                rows[n++] = mini_long((int64_t)reader->row);
            }
        }
        if (!make_batch(reader, file, rows, n, out)) {
            (void)snprintf(reader->message, sizeof(reader->message), "a type that the mini engine does not know");
            return EINVAL;
        }
        return 0;
    }
    return 0;
}

static const char *reader_error(struct ArrowArrayStream *stream)
{
    const struct reader *reader = stream->private_data;
    return reader->message[0] != '\0' ? reader->message : NULL;
}

static void reader_release(struct ArrowArrayStream *stream)
{
    struct reader *reader = stream->private_data;
    for (size_t i = 0; i < reader->n_paths; i++) {
        free(reader->paths[i]);
    }
    free(reader->paths);
    if (reader->arrow.release != NULL) {
        reader->arrow.release(&reader->arrow);
    }
    silt_schema_unref((silt_schema *)(uintptr_t)reader->schema);
    free(reader);
    stream->release = NULL;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    memcpy(copy, text, size);
    return copy;
}

static silt_status mini_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                             struct ArrowArrayStream *out, silt_error *err)
{
    (void)call;
    struct mini_engine *mini = impl;
    struct reader *reader = calloc(1, sizeof(*reader));
    *out = (struct ArrowArrayStream){reader_schema, reader_next, reader_error, reader_release, reader};
    reader->mini = mini;
    reader->schema = silt_schema_ref((silt_schema *)(uintptr_t)request->schema);
    reader->with_file_index = request->with_file_index;
    reader->with_row_index = request->with_row_index;
    reader->n_paths = request->n_files;
    reader->paths = calloc(request->n_files + 1, sizeof(char *));
    for (size_t i = 0; i < request->n_files; i++) {
        reader->paths[i] = copy_text(request->files[i].path);
    }
    mini->n_reads++;
    mini->n_files_read += request->n_files;
    mini->n_columns_asked = silt_schema_field_count(request->schema);
    mini->had_predicate = request->predicate != NULL;
    mini->matched_by_id = request->match_by_field_id;
    mini->had_row_index = request->with_row_index;
    silt_status status = silt_schema_to_arrow(request->schema, &reader->arrow, err);
    if (status != SILT_OK) {
        out->release(out);
    }
    return status;
}

/* ---- writing ---- */

#define MAX_ROWS 4096

/* All rows of the stream, column by column. */
struct rows {
    size_t n_columns;
    size_t n_rows;
    silt_value *values[MINI_MAX_COLUMNS];
};

static silt_status collect(struct ArrowArrayStream *stream, struct rows *rows, silt_error *err)
{
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema) != 0) {
        const char *message = stream->get_last_error(stream);
        return fail(err, SILT_EENGINE, "rows have no schema:", message != NULL ? message : "");
    }
    silt_status status = SILT_OK;
    if ((size_t)schema.n_children != rows->n_columns) {
        status = fail(err, SILT_ESCHEMA, "rows do not have the columns of", "the table");
    }
    while (status == SILT_OK) {
        struct ArrowArray batch;
        if (stream->get_next(stream, &batch) != 0) {
            const char *message = stream->get_last_error(stream);
            status = fail(err, SILT_EENGINE, "reading the rows failed:", message != NULL ? message : "");
            break;
        }
        if (batch.release == NULL) {
            break;
        }
        for (int64_t row = 0; row < batch.length && status == SILT_OK; row++) {
            for (size_t i = 0; i < rows->n_columns && rows->n_rows < MAX_ROWS; i++) {
                silt_value cell = mini_null();
                if (!mini_cell(schema.children[i], batch.children[i], row + batch.offset, &cell)) {
                    status = fail(err, SILT_EUNSUPPORTED,
                                  "a type that the mini engine does not know:", schema.children[i]->format);
                    break;
                }
                rows->values[i][rows->n_rows] = mini_copy_value(cell);
            }
            rows->n_rows += status == SILT_OK ? 1 : 0;
            status = status == SILT_OK && rows->n_rows == MAX_ROWS
                         ? fail(err, SILT_ELIMIT, "too many rows for the", "mini engine")
                         : status;
        }
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

/* Where a column stands among the partition columns, -1 if it is none. */
static int partition_place(const silt_parquet_write *request, size_t column)
{
    const char *name = silt_field_name(silt_schema_field(request->schema, column));
    for (size_t i = 0; i < request->n_partition_columns; i++) {
        if (strcmp(request->partition_columns[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool same_partition(const silt_parquet_write *request, const struct rows *rows, size_t a, size_t b)
{
    for (size_t i = 0; i < rows->n_columns; i++) {
        const silt_value *x = &rows->values[i][a];
        const silt_value *y = &rows->values[i][b];
        if (partition_place(request, i) >= 0 &&
            (x->is_null != y->is_null || (!x->is_null && mini_compare(x, y) != 0))) {
            return false;
        }
    }
    return true;
}

static silt_value with_kind(silt_value value, const silt_type *type)
{
    value.kind = silt_type_get_kind(type);
    return value;
}

static void find_bounds(const struct mini_column *column, size_t n_rows, const silt_type *type, silt_column_stats *out)
{
    for (size_t row = 0; row < n_rows; row++) {
        silt_value value = column->values[row];
        if (value.is_null) {
            out->null_count++;
            continue;
        }
        if (!out->has_min || mini_compare(&value, &out->min) < 0) {
            out->min = with_kind(value, type);
        }
        if (!out->has_max || mini_compare(&value, &out->max) > 0) {
            out->max = with_kind(value, type);
        }
        out->has_min = true;
        out->has_max = true;
    }
}

/* Writes the rows that share the partition of row `first` as one file and tells of it. */
static silt_status write_file(struct mini_engine *mini, const silt_parquet_write *request, const struct rows *rows,
                              const bool *member, size_t first, silt_error *err)
{
    char name[256];
    char path[1024];
    (void)snprintf(name, sizeof(name), "%spart-%zu.mini", request->path_prefix, mini->n_written++);
    (void)snprintf(path, sizeof(path), "%s/%s", request->dir, name);
    size_t count = 0;
    for (size_t row = 0; row < rows->n_rows; row++) {
        count += member[row] ? 1 : 0;
    }
    struct mini_file *file = mini_add(mini, path, rows->n_columns - request->n_partition_columns, count);
    silt_value partition[MINI_MAX_COLUMNS];
    silt_column_stats stats[MINI_MAX_COLUMNS] = {0};
    const char *names[MINI_MAX_COLUMNS];
    size_t stored = 0;
    for (size_t i = 0; i < rows->n_columns; i++) {
        const silt_field *field = silt_schema_field(request->schema, i);
        int place = partition_place(request, i);
        if (place >= 0) {
            partition[place] = with_kind(rows->values[i][first], silt_field_type(field));
            continue;
        }
        struct mini_column *column = &file->columns[stored];
        column->name = copy_text(silt_field_name(field));
        size_t at = 0;
        for (size_t row = 0; row < rows->n_rows; row++) {
            if (member[row]) {
                column->values[at++] = mini_copy_value(rows->values[i][row]);
            }
        }
        names[stored] = column->name;
        stats[stored].path = &names[stored];
        stats[stored].path_len = 1;
        find_bounds(column, count, silt_field_type(field), &stats[stored]);
        stored++;
    }
    silt_status status = silt_storage_put(request->storage, NULL, path, "MINI", 4, err);
    silt_written_file written = {.size = sizeof(written),
                                 .path = name,
                                 .size_bytes = 4,
                                 .modified_ms = 1577836800000,
                                 .num_rows = (int64_t)count,
                                 .partition_values = partition,
                                 .n_partition_values = request->n_partition_columns,
                                 .stats = stats,
                                 .n_stats = stored};
    if (status == SILT_OK && !request->on_file(request->on_file_ctx, &written)) {
        status = fail(err, SILT_ENOMEM, "out of", "memory");
    }
    return status;
}

static silt_status write_groups(struct mini_engine *mini, const silt_parquet_write *request, const struct rows *rows,
                                silt_error *err)
{
    bool *done = calloc(rows->n_rows + 1, sizeof(*done));
    bool *member = calloc(rows->n_rows + 1, sizeof(*member));
    silt_status status = SILT_OK;
    for (size_t first = 0; first < rows->n_rows && status == SILT_OK; first++) {
        if (done[first]) {
            continue;
        }
        for (size_t row = 0; row < rows->n_rows; row++) {
            member[row] = !done[row] && same_partition(request, rows, first, row);
        }
        status = write_file(mini, request, rows, member, first, err);
        for (size_t row = 0; row < rows->n_rows; row++) {
            done[row] = done[row] || member[row];
        }
    }
    free(done);
    free(member);
    return status;
}

static silt_status mini_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                              struct ArrowArrayStream *stream, silt_error *err)
{
    (void)call;
    struct rows rows = {.n_columns = silt_schema_field_count(request->schema)};
    for (size_t i = 0; i < rows.n_columns; i++) {
        rows.values[i] = calloc(MAX_ROWS, sizeof(silt_value));
    }
    silt_status status = collect(stream, &rows, err);
    stream->release(stream);
    if (status == SILT_OK) {
        status = write_groups(impl, request, &rows, err);
    }
    for (size_t i = 0; i < rows.n_columns; i++) {
        for (size_t row = 0; row < rows.n_rows; row++) {
            if (rows.values[i][row].kind == SILT_TYPE_STRING) {
                free((void *)(uintptr_t)rows.values[i][row].as.bytes.ptr);
            }
        }
        free(rows.values[i]);
    }
    return status;
}

static void mini_close(void *impl)
{
    (void)impl; /* the mini engine outlives its handlers */
}

const silt_parquet_handler_vtable mini_parquet = {
    .size = sizeof(silt_parquet_handler_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "mini",
    .close = mini_close,
    .read = mini_read,
    .write = mini_write,
};
