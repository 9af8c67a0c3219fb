/*
 * silt_aside_<n>(file_index, file_row_number, 'id:column'): the values of a column that is read aside (duck_aside.h).
 *
 * A scan asks for the rows of a file mostly in their order, several threads each in a part of their own. So each call takes a stream over
 * the column, one that stands before its rows or a new one, moves it on and leaves it for the next call. A stream is a query on a
 * connection of its own.
 */
#include "duck_aside.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "duck_function.h"

/* Streams that wait for their next call; more are closed, the one that waits longest first. */
#define MAX_IDLE 16
/* A stream that would have to pass over more rows is left where it is. */
#define MAX_SKIP (INT64_C(8) * 122880)

struct sl_aside_stream {
    struct sl_aside_stream *next; /* idle ones; guarded by the aside's lock */
    size_t file;
    size_t column;
    struct sl_duck_conn conn;
    duckdb_result result;
    duckdb_data_chunk chunk; /* NULL before the first */
    int64_t first;           /* row of the file that is the chunk's first */
    int64_t n;               /* rows of the chunk */
};

static struct sl_duck_aside *aside_of(const struct sl_duck_bound *bound)
{
    return (struct sl_duck_aside *)bound->object;
}

/* ---- streams ---- */

static void close_stream(struct sl_aside_stream *stream)
{
    const silt_env *env = stream->conn.dp->env;
    duckdb_destroy_data_chunk(&stream->chunk);
    duckdb_destroy_result(&stream->result);
    sl_duck_disconnect(&stream->conn);
    sl_release(env, stream, sizeof(*stream));
}

void sl_aside_close_streams(struct sl_duck_aside *aside)
{
    while (aside->idle != NULL) {
        struct sl_aside_stream *stream = aside->idle;
        aside->idle = stream->next;
        close_stream(stream);
    }
}

/* The copy of a file, made if there is none yet: others wait for it. */
static silt_status need_copy(struct sl_duck_aside *aside, size_t file, const char **copy, silt_error *err)
{
    pthread_mutex_lock(&aside->lock);
    struct sl_aside_file *entry = &aside->files[file];
    silt_status status = SILT_OK;
    if (aside->dir == NULL) {
        status = sl_duck_make_dir(aside->dp, &aside->arena, aside->dp->temp_dir, "silt-aside-", &aside->dir, err);
    }
    if (status == SILT_OK && entry->copy == NULL) {
        const char *name = sl_arena_printf(&aside->arena, "%s/%zu.parquet", aside->dir, file);
        status = name == NULL
                     ? sl_fail_nomem(err)
                     : sl_unmark_file(aside->dp->env, entry->local, name,
                                      (const struct sl_aside_column *)aside->columns.data, aside->columns.len, err);
        entry->copy = status == SILT_OK ? name : NULL;
    }
    *copy = entry->copy;
    pthread_mutex_unlock(&aside->lock);
    return status;
}

static silt_status start_stream(struct sl_aside_stream *stream, const struct sl_aside_column *column, const char *copy,
                                int64_t row, silt_error *err)
{
    struct sl_buf sql;
    sl_buf_init(&sql, stream->conn.dp->env);
    sl_buf_put_c(&sql, "SELECT file_row_number, \"silt value\" FROM read_parquet(");
    sl_duck_put_path(&sql, copy);
    sl_buf_put_c(&sql, ", schema = map{");
    sl_duck_put_text(&sql, column->stored);
    sl_buf_put_c(&sql, ": {name: 'silt value', type: ");
    sl_duck_put_text(&sql, column->declared);
    sl_buf_printf(&sql, ", default_value: NULL}}) WHERE file_row_number >= %lld", (long long)row);
    silt_status status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .streaming = true, .in_utc = true};
        status = sl_duck_run(&stream->conn, NULL, &run, &stream->result, err);
    }
    sl_buf_release(&sql);
    return status;
}

static silt_status open_stream(const struct sl_duck_bound *bound, size_t file, int64_t row,
                               struct sl_aside_stream **out, silt_error *err)
{
    struct sl_duck_aside *aside = aside_of(bound);
    const char *copy = NULL;
    *out = NULL;
    SL_TRY(need_copy(aside, file, &copy, err));
    struct sl_aside_stream *stream = sl_alloc_zero(aside->dp->env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->file = file;
    stream->column = bound->place;
    silt_status status = sl_duck_connect(aside->dp, &stream->conn, err);
    if (status != SILT_OK) {
        sl_release(aside->dp->env, stream, sizeof(*stream));
        return status;
    }
    const struct sl_aside_column *columns = aside->columns.data;
    status = start_stream(stream, &columns[bound->place], copy, row, err);
    if (status != SILT_OK) {
        close_stream(stream);
        return status;
    }
    *out = stream;
    return SILT_OK;
}

/* Out of the idle ones the one that is nearest before the row, so that a thread gets its own again. NULL: none. */
static struct sl_aside_stream *take_idle(const struct sl_duck_bound *bound, size_t file, int64_t row)
{
    struct sl_duck_aside *aside = aside_of(bound);
    pthread_mutex_lock(&aside->lock);
    struct sl_aside_stream **best = NULL;
    for (struct sl_aside_stream **link = &aside->idle; *link != NULL; link = &(*link)->next) {
        const struct sl_aside_stream *stream = *link;
        const bool fits = stream->file == file && stream->column == bound->place && stream->first <= row &&
                          row - stream->first < MAX_SKIP;
        if (fits && (best == NULL || stream->first > (*best)->first)) {
            best = link;
        }
    }
    struct sl_aside_stream *stream = best != NULL ? *best : NULL;
    if (stream != NULL) {
        *best = stream->next;
    }
    pthread_mutex_unlock(&aside->lock);
    return stream;
}

static void give_back(struct sl_duck_aside *aside, struct sl_aside_stream *stream)
{
    struct sl_aside_stream *extra = NULL;
    pthread_mutex_lock(&aside->lock);
    stream->next = aside->idle;
    aside->idle = stream;
    struct sl_aside_stream **link = &aside->idle;
    for (size_t n = 0; *link != NULL && n < MAX_IDLE; n++) {
        link = &(*link)->next;
    }
    extra = *link;
    *link = NULL;
    pthread_mutex_unlock(&aside->lock);
    if (extra != NULL) {
        close_stream(extra); /* there is never more than one too many */
    }
}

/* Moves the stream on until its chunk holds the row. */
static silt_status move_to(struct sl_aside_stream *stream, int64_t row, silt_error *err)
{
    while (stream->chunk == NULL || row >= stream->first + stream->n) {
        duckdb_destroy_data_chunk(&stream->chunk);
        SL_TRY(sl_duck_fetch(&stream->conn, NULL, &stream->result, &stream->chunk, err));
        if (stream->chunk == NULL) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB gives fewer rows of a column than of its file");
        }
        const int64_t *rows = duckdb_vector_get_data(duckdb_data_chunk_get_vector(stream->chunk, 0));
        stream->n = (int64_t)duckdb_data_chunk_get_size(stream->chunk);
        stream->first = rows[0];
        if (rows[stream->n - 1] - rows[0] != stream->n - 1) {
            return sl_fail(err, SILT_EENGINE, NULL, "DuckDB gives the rows of a file in another order");
        }
    }
    return row >= stream->first ? SILT_OK
                                : sl_fail(err, SILT_EENGINE, NULL, "DuckDB gives the rows of a file in another order");
}

/* ---- values ---- */

struct request {
    const struct sl_duck_bound *bound;
    const uint64_t *files;
    const int64_t *rows;
    idx_t n;
    duckdb_selection_vector selection;
};

/* Copies the values of the rows from `at` on that are in the stream's chunk, in their order. Returns their number. */
static idx_t copy_values(const struct request *request, const struct sl_aside_stream *stream, idx_t at,
                         duckdb_vector output)
{
    sel_t *selection = duckdb_selection_vector_get_data_ptr(request->selection);
    idx_t n = 0;
    while (at + n < request->n && request->files[at + n] == stream->file && request->rows[at + n] >= stream->first &&
           request->rows[at + n] < stream->first + stream->n) {
        selection[n] = (sel_t)(request->rows[at + n] - stream->first);
        n++;
    }
    duckdb_vector_copy_sel(duckdb_data_chunk_get_vector(stream->chunk, 1), output, request->selection, n, 0, at);
    return n;
}

static silt_status fill(const struct request *request, duckdb_vector output, silt_error *err)
{
    for (idx_t at = 0; at < request->n;) {
        const size_t file = (size_t)request->files[at];
        const int64_t row = request->rows[at];
        if (file >= aside_of(request->bound)->n_files) {
            return sl_fail(err, SILT_EENGINE, NULL, "file index is outside of the scan");
        }
        struct sl_aside_stream *stream = take_idle(request->bound, file, row);
        if (stream == NULL) {
            SL_TRY(open_stream(request->bound, file, row, &stream, err));
        }
        const silt_status status = move_to(stream, row, err);
        if (status != SILT_OK) {
            close_stream(stream);
            return status;
        }
        at += copy_values(request, stream, at, output);
        give_back(aside_of(request->bound), stream);
    }
    return SILT_OK;
}

static void give_values(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    silt_error err = SILT_ERROR_INIT;
    const struct request request = {
        .bound = duckdb_scalar_function_get_bind_data(info),
        .files = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0)),
        .rows = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1)),
        .n = duckdb_data_chunk_get_size(input),
        .selection = duckdb_create_selection_vector(duckdb_data_chunk_get_size(input)),
    };
    const silt_status status = request.selection == NULL || request.bound == NULL ? sl_fail_nomem(&err)
                                                                                  : fill(&request, output, &err);
    if (status != SILT_OK) {
        duckdb_scalar_function_set_error(info, err.message);
    }
    if (request.selection != NULL) {
        duckdb_destroy_selection_vector(request.selection);
    }
}

static void bind_values(duckdb_bind_info info)
{
    (void)sl_duck_bind_argument(info, &sl_aside_class, 2); /* or an error is set */
}

/* ---- registration ---- */

bool sl_aside_register_type(struct sl_dataplane *dp, duckdb_connection handle, const struct sl_aside_type *type)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "silt_aside_%u", type->number); /* fits */
    struct sl_buf sql;
    sl_buf_init(&sql, dp->env);
    sl_buf_put_c(&sql, "SELECT NULL::");
    sl_buf_put_str(&sql, type->declared);
    duckdb_prepared_statement stmt = NULL;
    bool fine = sql.status == SILT_OK && duckdb_prepare(handle, sl_buf_cstr(&sql), &stmt) == DuckDBSuccess;
    if (fine) {
        duckdb_logical_type result = duckdb_prepared_statement_column_logical_type(stmt, 0);
        const struct sl_duck_function function = {
            .name = name,
            .arguments = {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_VARCHAR},
            .n_arguments = 3,
            .result_type = result,
            .extra = dp,
            .bind = bind_values,
            .run = give_values};
        fine = sl_duck_function_register(handle, &function);
        duckdb_destroy_logical_type(&result);
    }
    duckdb_destroy_prepare(&stmt);
    sl_buf_release(&sql);
    return fine;
}
