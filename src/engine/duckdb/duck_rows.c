/*
 * An Arrow stream as a table that queries can read. DuckDB's own Arrow scan does it (duckdb_arrow_scan): it takes every Arrow
 * layout without copying and, unlike a table function through the C API, numbers its batches, so that COPY and streaming results
 * keep the order of rows with several threads.
 *
 * DuckDB pulls the stream from its own threads, one at a time, and may ask for the schema more than once; a stream in between
 * answers that from a copy, looks at the call's cancellation, and keeps the source's error, which DuckDB would only quote.
 */
#include "duck.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"

struct sl_duck_rows_source {
    const silt_env *env;
    silt_call call;
    bool has_call;
    struct ArrowSchema schema;
    struct ArrowArrayStream in;
    silt_error error;
    atomic_uint refs; /* the rows and the stream that DuckDB holds */
};

static void source_unref(struct sl_duck_rows_source *source)
{
    if (atomic_fetch_sub(&source->refs, 1) == 1) {
        sl_arrow_schema_release(&source->schema);
        sl_arrow_stream_release(&source->in);
        sl_release(source->env, source, sizeof(*source));
    }
}

static silt_status give_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct sl_duck_rows_source *source = ctx;
    return sl_arrow_schema_copy(source->env, &source->schema, out, err);
}

static silt_status give_batch(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct sl_duck_rows_source *source = ctx;
    *batch = (struct ArrowArray){0};
    silt_status status = sl_call_check(source->env, source->has_call ? &source->call : NULL, &source->error);
    bool done = false;
    if (status == SILT_OK) {
        status = sl_arrow_stream_next(&source->in, batch, &done, &source->error);
    }
    if (status != SILT_OK && err != NULL) {
        *err = source->error;
    }
    return status;
}

static void close_source(void *ctx)
{
    source_unref(ctx);
}

static silt_status open_source(const silt_env *env, const silt_call *call, struct ArrowArrayStream *in,
                               struct sl_duck_rows *rows, silt_error *err)
{
    static const struct sl_arrow_source functions = {give_schema, give_batch, close_source};
    struct sl_duck_rows_source *source = sl_alloc_zero(env, sizeof(*source));
    if (source == NULL) {
        sl_arrow_stream_release(in);
        return sl_fail_nomem(err);
    }
    source->env = env;
    source->error = (silt_error)SILT_ERROR_INIT;
    atomic_init(&source->refs, 1);
    if (call != NULL) {
        source->call = *call;
        source->has_call = true;
    }
    sl_arrow_stream_move(&source->in, in);
    rows->source = source;
    SL_TRY(sl_arrow_stream_schema(&source->in, &source->schema, err));
    atomic_fetch_add(&source->refs, 1);
    return sl_arrow_stream_new(env, &functions, source, &rows->outer, err);
}

silt_status sl_duck_rows_open(struct sl_duck_conn *conn, const silt_call *call, struct ArrowArrayStream *in,
                              struct sl_duck_rows *out, silt_error *err)
{
    *out = (struct sl_duck_rows){0};
    silt_status status = open_source(conn->dp->env, call, in, out, err);
    if (status == SILT_OK) {
        const int n = snprintf(out->name, sizeof(out->name), "silt_rows_%" PRIu64, sl_duck_next_id(conn->dp));
        if (n < 0 || (size_t)n >= sizeof(out->name) ||
            duckdb_arrow_scan(conn->handle, out->name, (duckdb_arrow_stream)&out->outer) != DuckDBSuccess) {
            out->name[0] = '\0';
            status = sl_fail(err, SILT_EENGINE, NULL,
                             "DuckDB cannot read rows of these Arrow types (a column may have an unknown format)");
        }
    }
    if (status != SILT_OK) {
        sl_duck_rows_close(conn, out);
    }
    return status;
}

void sl_duck_rows_close(struct sl_duck_conn *conn, struct sl_duck_rows *rows)
{
    if (rows->name[0] != '\0') {
        char sql[80];
        (void)snprintf(sql, sizeof(sql), "DROP VIEW IF EXISTS %s", rows->name); /* fits: the name has 40 bytes */
        /* A view that cannot be dropped (the database died) refers to a stream that is gone and is never used again. */
        (void)duckdb_query(conn->handle, sql, NULL);
    }
    sl_arrow_stream_release(&rows->outer);
    if (rows->source != NULL) {
        source_unref(rows->source);
    }
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
