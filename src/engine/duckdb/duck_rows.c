/*
 * An Arrow stream as a table that a query can read once: the table function silt_rows(id). A stream is registered with the
 * instance under an id, which the query's text names.
 *
 * Batches are given out without copying, in slices of DuckDB's vector size; order is kept. duckdb_arrow_scan is not used: it
 * promises DuckDB to apply filters and then does not. Types are learned from the first batch, so that every layout of Arrow
 * that DuckDB reads will do. DuckDB pulls from one of its threads at a time.
 */
#include "duck.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"

/* A batch whose slices are out; freed with the last of them. */
struct batch {
    atomic_uint refs;
    const silt_env *env;
    struct ArrowArray array;
};

/* What a slice's root owns. */
struct slice {
    struct batch *batch;
    struct sl_arena arena; /* of the structs and of bitmaps that had to be moved */
    const void *no_validity[1];
};

struct sl_duck_rows_source {
    atomic_uint refs;
    struct sl_dataplane *dp;
    struct sl_duck_rows_source *next; /* guarded by dp->lock */
    uint64_t id;
    silt_call call;
    bool has_call;
    struct ArrowSchema schema;
    struct ArrowArrayStream in;
    duckdb_arrow_converted_schema converted;
    duckdb_connection connection; /* of the write or filter that owns the rows */
    duckdb_logical_type *types;   /* [column], as DuckDB reads them */
    struct batch *batch;          /* the one that is given out now, NULL at the end */
    int64_t row;
    duckdb_data_chunk given; /* must live until the next call */
    silt_error error;
};

/* ---- batches and slices ---- */

static void batch_unref(struct batch *batch)
{
    if (batch != NULL && atomic_fetch_sub(&batch->refs, 1) == 1) {
        sl_arrow_array_release(&batch->array);
        sl_release(batch->env, batch, sizeof(*batch));
    }
}

static void release_column(struct ArrowArray *array)
{
    array->release = NULL; /* the root owns the memory */
}

static void release_slice(struct ArrowArray *array)
{
    struct slice *slice = array->private_data;
    struct batch *batch = slice->batch;
    const silt_env *env = batch->env;
    sl_arena_release(&slice->arena);
    sl_release(env, slice, sizeof(*slice));
    batch_unref(batch);
    array->release = NULL;
}

/* The bits [at, at + n) of a bitmap from its first bit on. */
static const void *move_bits(struct sl_arena *arena, const uint8_t *bits, int64_t at, int64_t n)
{
    if (at % 8 == 0) {
        return bits + at / 8;
    }
    uint8_t *moved = sl_arena_alloc_zero(arena, (size_t)n / 8 + 1);
    for (int64_t i = 0; moved != NULL && i < n; i++) {
        const bool is_set = (bits[(at + i) / 8] >> ((at + i) % 8) & 1) != 0;
        moved[i / 8] = (uint8_t)(moved[i / 8] | (is_set ? 1U << (i % 8) : 0U));
    }
    return moved;
}

static bool is_struct(const struct ArrowSchema *schema)
{
    return schema->format != NULL && strcmp(schema->format, "+s") == 0;
}

/*
 * Rows [row, row + n) of an array. Of structs in structs DuckDB minds the offset of the inner one only: structs begin at 0 here, and
 * what they began at is passed down to their members. As deep as the schema is, which DuckDB has read before.
 */
static silt_status place(struct sl_arena *arena, const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t row, int64_t n, struct ArrowArray *out, silt_error *err)
{
    *out = *array;
    out->release = release_column;
    out->length = n;
    out->null_count = out->null_count == 0 ? 0 : -1;
    out->offset = array->offset + row;
    if (!is_struct(schema) || array->n_children != schema->n_children) {
        return SILT_OK;
    }
    const size_t n_children = (size_t)array->n_children;
    const int64_t first = out->offset;
    struct ArrowArray *children = sl_arena_alloc_array(arena, n_children + 1, sizeof(*children));
    struct ArrowArray **pointers = sl_arena_alloc_array(arena, n_children + 1, sizeof(struct ArrowArray *));
    const void **buffers = sl_arena_alloc_zero(arena, sizeof(const void *));
    if (children == NULL || pointers == NULL || buffers == NULL) {
        return sl_fail_nomem(err);
    }
    if (array->n_buffers > 0 && array->buffers[0] != NULL) {
        buffers[0] = move_bits(arena, array->buffers[0], first, n);
        if (buffers[0] == NULL) {
            return sl_fail_nomem(err);
        }
    }
    for (size_t i = 0; i < n_children; i++) {
        pointers[i] = &children[i];
        SL_TRY(place(arena, schema->children[i], array->children[i], first, n, &children[i], err));
    }
    out->offset = 0;
    out->n_buffers = 1;
    out->buffers = buffers;
    out->children = pointers;
    return SILT_OK;
}

/* Rows [row, row + n) of the batch as an array of its own that keeps the batch alive. */
static silt_status make_slice(struct sl_duck_rows_source *source, int64_t row, int64_t n, struct ArrowArray *out,
                              silt_error *err)
{
    struct batch *batch = source->batch;
    const size_t columns = (size_t)batch->array.n_children;
    struct slice *slice = sl_alloc_zero(batch->env, sizeof(*slice));
    if (slice == NULL) {
        return sl_fail_nomem(err);
    }
    sl_arena_init(&slice->arena, batch->env);
    slice->batch = batch;
    atomic_fetch_add(&batch->refs, 1);
    *out = (struct ArrowArray){.length = n,
                               .n_buffers = 1,
                               .buffers = slice->no_validity,
                               .n_children = (int64_t)columns,
                               .release = release_slice,
                               .private_data = slice};
    struct ArrowArray *children = sl_arena_alloc_array(&slice->arena, columns + 1, sizeof(*children));
    out->children = sl_arena_alloc_array(&slice->arena, columns + 1, sizeof(struct ArrowArray *));
    silt_status status = children != NULL && out->children != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; i < columns && status == SILT_OK; i++) {
        out->children[i] = &children[i];
        status = place(&slice->arena, source->schema.children[i], batch->array.children[i], batch->array.offset + row,
                       n, &children[i], err);
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

static silt_status check_batch(const struct sl_duck_rows_source *source, const struct ArrowArray *array,
                               silt_error *err)
{
    bool fine = array->n_children == source->schema.n_children && array->length >= 0 && array->offset >= 0;
    for (int64_t i = 0; fine && i < array->n_children; i++) {
        fine = array->children[i] != NULL && array->children[i]->length >= array->length + array->offset;
    }
    return fine ? SILT_OK : sl_fail(err, SILT_EINVALID, NULL, "a batch of rows does not fit the stream's schema");
}

/* Moves to the next batch that has rows; source->batch is NULL at the end. */
static silt_status next_batch(struct sl_duck_rows_source *source, silt_error *err)
{
    const silt_env *env = source->dp->env;
    batch_unref(source->batch);
    source->batch = NULL;
    source->row = 0;
    for (;;) {
        struct ArrowArray array = {0};
        bool done = false;
        SL_TRY(sl_call_check(env, source->has_call ? &source->call : NULL, err));
        SL_TRY(sl_arrow_stream_next(&source->in, &array, &done, err));
        if (done) {
            return SILT_OK;
        }
        const silt_status status = check_batch(source, &array, err);
        struct batch *batch = status == SILT_OK && array.length > 0 ? sl_alloc_zero(env, sizeof(*batch)) : NULL;
        if (batch == NULL) {
            const bool empty = status == SILT_OK && array.length == 0;
            sl_arrow_array_release(&array);
            if (empty) {
                continue;
            }
            return status != SILT_OK ? status : sl_fail_nomem(err);
        }
        atomic_init(&batch->refs, 1);
        batch->env = env;
        sl_arrow_array_move(&batch->array, &array);
        source->batch = batch;
        return SILT_OK;
    }
}

/* The next slice as a chunk; *out is NULL at the end. Rows stay where they are if `peek`. */
static silt_status next_chunk(struct sl_duck_rows_source *source, bool peek, duckdb_data_chunk *out, silt_error *err)
{
    *out = NULL;
    if (source->batch != NULL && source->row >= source->batch->array.length) {
        SL_TRY(next_batch(source, err));
    }
    if (source->batch == NULL) {
        return SILT_OK;
    }
    const int64_t left = source->batch->array.length - source->row;
    const int64_t most = (int64_t)duckdb_vector_size();
    const int64_t n = left < most ? left : most;
    struct ArrowArray slice;
    SL_TRY(make_slice(source, source->row, n, &slice, err));
    duckdb_error_data fault = duckdb_data_chunk_from_arrow(source->connection, &slice, source->converted, out);
    if (fault != NULL && duckdb_error_data_has_error(fault)) {
        const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", "rows cannot be read: %s",
                                           duckdb_error_data_message(fault));
        duckdb_destroy_error_data(&fault);
        sl_arrow_array_release(&slice);
        return status;
    }
    source->row += peek ? 0 : n;
    return SILT_OK;
}

/* ---- the source ---- */

static void source_unref(struct sl_duck_rows_source *source)
{
    if (atomic_fetch_sub(&source->refs, 1) != 1) {
        return;
    }
    const silt_env *env = source->dp->env;
    const size_t n = source->schema.n_children > 0 ? (size_t)source->schema.n_children : 1;
    duckdb_destroy_data_chunk(&source->given);
    batch_unref(source->batch);
    for (size_t i = 0; source->types != NULL && i < n; i++) {
        duckdb_destroy_logical_type(&source->types[i]);
    }
    sl_release(env, source->types, n * sizeof(*source->types));
    duckdb_destroy_arrow_converted_schema(&source->converted);
    sl_arrow_schema_release(&source->schema);
    sl_arrow_stream_release(&source->in);
    sl_release(env, source, sizeof(*source));
}

/* Types of the columns, from a chunk of the first batch. */
static silt_status learn_types(struct sl_duck_rows_source *source, silt_error *err)
{
    const size_t n = source->schema.n_children > 0 ? (size_t)source->schema.n_children : 1;
    duckdb_data_chunk chunk = NULL;
    SL_TRY(next_batch(source, err));
    if (source->batch == NULL) {
        return SILT_OK;
    }
    source->types = sl_alloc_zero(source->dp->env, n * sizeof(*source->types));
    if (source->types == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(next_chunk(source, true, &chunk, err));
    for (int64_t i = 0; i < source->schema.n_children; i++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, (idx_t)i);
        source->types[i] = duckdb_vector_get_column_type(vector);
    }
    duckdb_destroy_data_chunk(&chunk);
    return SILT_OK;
}

static silt_status open_source(struct sl_duck_conn *conn, struct sl_duck_rows_source *source, silt_error *err)
{
    SL_TRY(sl_arrow_stream_schema(&source->in, &source->schema, err));
    duckdb_error_data fault = duckdb_schema_from_arrow(conn->handle, &source->schema, &source->converted);
    if (fault != NULL && duckdb_error_data_has_error(fault)) {
        const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", "rows cannot be read: %s",
                                           duckdb_error_data_message(fault));
        duckdb_destroy_error_data(&fault);
        return status;
    }
    return learn_types(source, err);
}

/* A stream without rows has no batch to learn from: its columns come from its schema. */
static silt_status put_empty(struct sl_duck_rows_source *source, struct sl_buf *table, silt_error *err)
{
    silt_schema *schema = NULL;
    SL_TRY(silt_schema_from_arrow(source->dp->env, &source->schema, &schema, err));
    silt_status status = SILT_OK;
    sl_buf_put_c(table, "(SELECT ");
    for (size_t i = 0; i < schema->root.n_fields && status == SILT_OK; i++) {
        sl_buf_put_c(table, i == 0 ? "NULL::" : ", NULL::");
        status = sl_duck_put_type(table, schema->root.fields[i].type, err);
        sl_buf_put_c(table, " AS ");
        sl_duck_put_ident(table, schema->root.fields[i].name);
    }
    sl_buf_put_c(table, schema->root.n_fields == 0 ? "NULL WHERE false)" : " WHERE false)");
    silt_schema_unref(schema);
    return status;
}

static void enlist(struct sl_duck_rows_source *source)
{
    struct sl_dataplane *dp = source->dp;
    source->id = sl_duck_next_id(dp);
    pthread_mutex_lock(&dp->lock);
    source->next = dp->rows;
    dp->rows = source;
    pthread_mutex_unlock(&dp->lock);
}

silt_status sl_duck_rows_open(struct sl_duck_conn *conn, const silt_call *call, struct ArrowArrayStream *in,
                              struct sl_duck_rows *out, silt_error *err)
{
    const silt_env *env = conn->dp->env;
    *out = (struct sl_duck_rows){0};
    sl_buf_init(&out->table, env);
    struct sl_duck_rows_source *source = sl_alloc_zero(env, sizeof(*source));
    if (source == NULL) {
        sl_arrow_stream_release(in);
        return sl_fail_nomem(err);
    }
    atomic_init(&source->refs, 1);
    source->dp = conn->dp;
    source->connection = conn->handle;
    source->error = (silt_error)SILT_ERROR_INIT;
    if (call != NULL) {
        source->call = *call;
        source->has_call = true;
    }
    sl_arrow_stream_move(&source->in, in);
    out->source = source;
    silt_status status = open_source(conn, source, err);
    enlist(source);
    if (status == SILT_OK && source->batch == NULL) {
        status = put_empty(source, &out->table, err);
    } else if (status == SILT_OK) {
        sl_buf_printf(&out->table, "silt_rows('%" PRIu64 "')", source->id);
    }
    if (status == SILT_OK) {
        status = sl_buf_status(&out->table, err);
    }
    if (status != SILT_OK) {
        sl_duck_rows_close(out);
    }
    return status;
}

void sl_duck_rows_close(struct sl_duck_rows *rows)
{
    if (rows->source != NULL) {
        struct sl_dataplane *dp = rows->source->dp;
        pthread_mutex_lock(&dp->lock);
        struct sl_duck_rows_source **link = &dp->rows;
        while (*link != NULL && *link != rows->source) {
            link = &(*link)->next;
        }
        if (*link == rows->source) {
            *link = rows->source->next;
        }
        pthread_mutex_unlock(&dp->lock);
        source_unref(rows->source);
    }
    sl_buf_release(&rows->table);
    *rows = (struct sl_duck_rows){0};
}

silt_status sl_duck_rows_error(const struct sl_duck_rows *rows, silt_status status, silt_error *err)
{
    if (status == SILT_OK || rows->source == NULL || rows->source->error.status == SILT_OK) {
        return status;
    }
    if (err != NULL) {
        const uint32_t size = err->size;
        *err = rows->source->error;
        err->size = size;
    }
    return rows->source->error.status;
}

/* ---- the table function ---- */

static void free_bound(void *data)
{
    source_unref(data);
}

static struct sl_duck_rows_source *find_source(struct sl_dataplane *dp, duckdb_bind_info info)
{
    uint64_t id = 0;
    duckdb_value value = duckdb_bind_get_parameter(info, 0);
    char *text = duckdb_is_null_value(value) ? NULL : duckdb_get_varchar(value);
    struct sl_duck_rows_source *source = NULL;
    if (text != NULL && sl_str_to_u64(sl_str_from(text), &id)) {
        pthread_mutex_lock(&dp->lock);
        source = dp->rows;
        while (source != NULL && source->id != id) {
            source = source->next;
        }
        if (source != NULL) {
            atomic_fetch_add(&source->refs, 1);
        }
        pthread_mutex_unlock(&dp->lock);
    }
    duckdb_free(text);
    duckdb_destroy_value(&value);
    return source;
}

static void bind_rows(duckdb_bind_info info)
{
    struct sl_duck_rows_source *source = find_source(duckdb_bind_get_extra_info(info), info);
    if (source == NULL) {
        duckdb_bind_set_error(info, "the rows that this query reads are gone");
        return;
    }
    duckdb_bind_set_bind_data(info, source, free_bound);
    for (int64_t i = 0; i < source->schema.n_children; i++) {
        const char *name = source->schema.children[i]->name;
        duckdb_bind_add_result_column(info, name != NULL ? name : "", source->types[i]);
    }
}

static void init_rows(duckdb_init_info info)
{
    duckdb_init_set_max_threads(info, 1);
}

static void give_rows(duckdb_function_info info, duckdb_data_chunk output)
{
    struct sl_duck_rows_source *source = duckdb_function_get_bind_data(info);
    duckdb_destroy_data_chunk(&source->given);
    if (next_chunk(source, false, &source->given, &source->error) != SILT_OK) {
        duckdb_function_set_error(info, source->error.message);
        return;
    }
    if (source->given == NULL) {
        duckdb_data_chunk_set_size(output, 0);
        return;
    }
    const idx_t n = duckdb_data_chunk_get_column_count(output);
    for (idx_t i = 0; i < n; i++) {
        duckdb_vector_reference_vector(duckdb_data_chunk_get_vector(output, i),
                                       duckdb_data_chunk_get_vector(source->given, i));
    }
    duckdb_data_chunk_set_size(output, duckdb_data_chunk_get_size(source->given));
}

bool sl_duck_rows_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_logical_type type = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_table_function_set_name(function, "silt_rows");
    duckdb_table_function_add_parameter(function, type);
    duckdb_table_function_set_extra_info(function, dp, NULL);
    duckdb_table_function_set_bind(function, bind_rows);
    duckdb_table_function_set_init(function, init_rows);
    duckdb_table_function_set_function(function, give_rows);
    const bool fine = duckdb_register_table_function(handle, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_table_function(&function);
    return fine;
}
