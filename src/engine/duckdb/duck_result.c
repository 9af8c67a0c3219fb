/*
 * Results as Arrow: a reader is a connection with a running or finished result; a stream is a reader behind the Arrow callbacks.
 * One owner.
 *
 * Types come out as DuckDB maps them with plain UTF-8 (not views) and 32-bit offsets. Timestamps with zone always say UTC,
 * whatever the session's zone: the values are instants.
 */
#include "duck.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "duck_variant.h"

const silt_call *sl_duck_reader_call(const struct sl_duck_reader *reader)
{
    return reader->has_call ? &reader->call : NULL;
}

static void keep_call(struct sl_duck_reader *reader, const silt_call *call)
{
    if (call == NULL) {
        return;
    }
    reader->call = *call;
    /* Progress is told while the statement runs; the callback's owner may be gone when the stream is pulled. */
    reader->call.progress = NULL;
    reader->call.progress_ctx = NULL;
    reader->has_call = true;
}

silt_status sl_duck_reader_open(struct sl_dataplane *dp, const silt_call *call, const struct sl_duck_run *run,
                                struct sl_duck_reader *out, silt_error *err)
{
    *out = (struct sl_duck_reader){0};
    SL_TRY(sl_duck_connect(dp, &out->conn, err));
    keep_call(out, call);
    struct sl_duck_run handed_out = *run;
    handed_out.hands_out = true;
    const silt_status status = sl_duck_run(&out->conn, call, &handed_out, &out->result, err);
    if (status != SILT_OK) {
        sl_duck_reader_close(out);
        return status;
    }
    out->arrow = duckdb_result_get_arrow_options(&out->result);
    return SILT_OK;
}

void sl_duck_reader_close(struct sl_duck_reader *reader)
{
    if (reader->arrow != NULL) {
        duckdb_destroy_arrow_options(&reader->arrow);
    }
    duckdb_destroy_prepare(&reader->titled);
    duckdb_destroy_result(&reader->result);
    sl_duck_disconnect(&reader->conn);
    *reader = (struct sl_duck_reader){0};
}

static silt_status fail_arrow(struct sl_duck_reader *reader, duckdb_error_data data, silt_error *err)
{
    const silt_status status = sl_duck_fail(&reader->conn, NULL, (struct sl_str){NULL, 0},
                                            duckdb_error_data_message(data), err);
    duckdb_destroy_error_data(&data);
    return status;
}

/* Format texts belong to DuckDB; those of other zones are replaced by a static one. Depth is bounded by the query's types. */
static void name_utc(struct ArrowSchema *schema)
{
    if (schema->format != NULL && strncmp(schema->format, "tsu:", 4) == 0 && schema->format[4] != '\0') {
        schema->format = "tsu:UTC";
    }
    for (int64_t i = 0; i < schema->n_children; i++) {
        name_utc(schema->children[i]);
    }
}

static const char *copy_title(struct sl_duck_reader *reader, struct sl_arena *arena, idx_t column)
{
    const char *title = duckdb_prepared_statement_column_name(reader->titled, column);
    const char *copy = title != NULL ? sl_arena_strdup(arena, sl_str_from(title)) : NULL;
    duckdb_free((void *)(uintptr_t)title); /* ours, though it is told as const */
    return copy;
}

silt_status sl_duck_reader_schema(struct sl_duck_reader *reader, struct ArrowSchema *out, silt_error *err)
{
    *out = (struct ArrowSchema){0};
    const idx_t n = duckdb_column_count(&reader->result);
    const silt_env *env = reader->conn.dp->env;
    struct sl_arena arena;
    sl_arena_init(&arena, env);
    silt_status status = SILT_OK;
    const char **names = sl_arena_alloc_array(&arena, n, sizeof(*names));
    duckdb_logical_type *types = sl_arena_alloc_array(&arena, n, sizeof(*types));
    if (names == NULL || types == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (idx_t i = 0; i < n; i++) {
        names[i] = reader->titled != NULL ? copy_title(reader, &arena, i) : duckdb_column_name(&reader->result, i);
        if (names[i] == NULL) {
            status = sl_fail_nomem(err);
            goto out;
        }
    }
    for (idx_t i = 0; i < n; i++) {
        types[i] = duckdb_column_logical_type(&reader->result, i);
    }
    duckdb_error_data data = duckdb_to_arrow_schema(reader->arrow, types, names, n, out);
    if (data != NULL && duckdb_error_data_has_error(data)) {
        status = fail_arrow(reader, data, err);
    } else {
        name_utc(out);
        for (idx_t i = 0; i < n && (int64_t)i < out->n_children; i++) {
            sl_variant_name_extension(out->children[i], types[i]);
        }
    }
    for (idx_t i = 0; i < n; i++) {
        duckdb_destroy_logical_type(&types[i]);
    }
out:
    sl_arena_release(&arena);
    return status;
}

silt_status sl_duck_reader_next(struct sl_duck_reader *reader, struct ArrowArray *batch, silt_error *err)
{
    *batch = (struct ArrowArray){0};
    duckdb_data_chunk chunk = NULL;
    SL_TRY(sl_duck_fetch(&reader->conn, sl_duck_reader_call(reader), &reader->result, &chunk, err));
    if (chunk == NULL) {
        return SILT_OK;
    }
    silt_status status = SILT_OK;
    duckdb_error_data data = duckdb_data_chunk_to_arrow(reader->arrow, chunk, batch);
    if (data != NULL && duckdb_error_data_has_error(data)) {
        status = fail_arrow(reader, data, err);
    }
    duckdb_destroy_data_chunk(&chunk);
    return status;
}

static silt_status stream_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    return sl_duck_reader_schema(ctx, out, err);
}

static silt_status stream_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    return sl_duck_reader_next(ctx, batch, err);
}

static void stream_close(void *ctx)
{
    struct sl_duck_reader *reader = ctx;
    const silt_env *env = reader->conn.dp->env;
    sl_duck_reader_close(reader);
    sl_release(env, reader, sizeof(*reader));
}

silt_status sl_duck_reader_stream(struct sl_duck_reader *reader, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {stream_schema, stream_next, stream_close};
    const silt_env *env = reader->conn.dp->env;
    struct sl_duck_reader *moved = sl_alloc(env, sizeof(*moved));
    if (moved == NULL) {
        sl_duck_reader_close(reader);
        return sl_fail_nomem(err);
    }
    *moved = *reader;
    *reader = (struct sl_duck_reader){0};
    return sl_arrow_stream_new(env, &source, moved, out, err);
}
