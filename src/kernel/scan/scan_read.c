/*
 * silt_scan_read: the rows of a scan. An engine that can run a whole scan is given the plan; for any other the kernel reads
 * the files, puts partition columns in (logical_rows.c) and filters through the engine's expression handler. Columns that only the
 * filter needed are dropped at the end.
 *
 * A stream is pulled by one thread and holds the scan.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/batch.h"
#include "kernel/scan/logical_rows.h"
#include "kernel/scan/scan_culprit.h"

/* The outermost stream: keeps the scan alive and drops the columns after the projected ones. */
struct reader {
    const silt_env *env;
    silt_scan *scan;
    struct ArrowArrayStream rows; /* of the plan's columns, filtered */
    silt_call call;               /* a copy; has_call tells if it counts */
    bool has_call;
    bool begun; /* rows were asked for */
    bool drops; /* there are columns to drop, or fields of "_metadata" */
};

static void close_reader(void *ctx)
{
    struct reader *reader = ctx;
    sl_arrow_stream_release(&reader->rows);
    silt_scan_unref(reader->scan);
    sl_release(reader->env, reader, sizeof(*reader));
}

static silt_status reader_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct reader *reader = ctx;
    if (reader->drops) {
        return silt_schema_to_arrow(reader->scan->schema, out, err);
    }
    return sl_arrow_stream_schema(&reader->rows, out, err);
}

/* Leaves only those fields of "_metadata" that were asked for; the struct itself is never null. */
static silt_status narrow_metadata(const struct reader *reader, struct ArrowArray *batch, silt_error *err)
{
    const silt_scan *scan = reader->scan;
    if (scan->metadata_column >= scan->n_projected) {
        return SILT_OK;
    }
    struct ArrowArray whole = {0};
    sl_arrow_array_move(&whole, batch->children[scan->metadata_column]);
    return sl_batch_keep_first(reader->env, &whole, scan->n_metadata_projected, batch->children[scan->metadata_column],
                               err);
}

static silt_status filtered_rows(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    silt_engine *engine = sl_snapshot_engine(scan->snapshot);
    if (sl_engine_has_scan(engine)) {
        return sl_parquet_scan(engine, call, &scan->plan, out, err);
    }
    if (scan->remaining == NULL) {
        return sl_logical_rows(scan, call, out, err);
    }
    if (!sl_engine_has_expression(engine)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "rows cannot be filtered by %s: the engine has no expression handler; take the plan instead",
                       silt_expr_text(scan->remaining));
    }
    struct ArrowArrayStream rows = {0};
    SL_TRY(sl_logical_rows(scan, call, &rows, err));
    return sl_expression_filter(engine, call, &rows, scan->remaining, out, err);
}

/* What cannot be decoded gets the name of its file. */
static silt_status open_rows(struct reader *reader, silt_error *err)
{
    const silt_call *call = reader->has_call ? &reader->call : NULL;
    const silt_status status = filtered_rows(reader->scan, call, &reader->rows, err);
    if (status != SILT_OK) {
        sl_scan_name_culprit(reader->scan, call, NULL, err);
    }
    return status;
}

static silt_status pull(struct reader *reader, struct ArrowArray *batch, bool *done, silt_error *err)
{
    const silt_status status = sl_arrow_stream_next(&reader->rows, batch, done, err);
    if (status != SILT_OK) {
        sl_scan_name_culprit(reader->scan, reader->has_call ? &reader->call : NULL, NULL, err);
    }
    return status;
}

/* Bytes that a store sent damaged are read once more, as long as no row was handed on. */
static silt_status next_rows(struct reader *reader, struct ArrowArray *batch, bool *done, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const bool may_repeat = !reader->begun;
    reader->begun = true;
    const silt_status status = pull(reader, batch, done, &found);
    if (status == SILT_OK || !may_repeat || !sl_scan_is_mended(&found)) {
        return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
    }
    sl_arrow_stream_release(&reader->rows);
    SL_TRY(open_rows(reader, err));
    return pull(reader, batch, done, err);
}

static silt_status reader_next(void *ctx, struct ArrowArray *out, silt_error *err)
{
    struct reader *reader = ctx;
    memset(out, 0, sizeof(*out));
    struct ArrowArray batch = {0};
    bool done = false;
    SL_TRY(next_rows(reader, &batch, &done, err));
    if (done) {
        return SILT_OK;
    }
    if (!reader->drops) {
        sl_arrow_array_move(out, &batch);
        return SILT_OK;
    }
    SL_TRY(sl_batch_keep_first(reader->env, &batch, reader->scan->n_projected, out, err));
    const silt_status status = narrow_metadata(reader, out, err);
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

/* Columns of a stream whose schema we replace must be what that schema says. */
static silt_status check_layout(struct ArrowArrayStream *rows, const silt_schema *schema, silt_error *err)
{
    struct ArrowSchema given = {0};
    struct ArrowSchema wanted = {0};
    silt_status status = sl_arrow_stream_schema(rows, &given, err);
    if (status == SILT_OK) {
        status = silt_schema_to_arrow(schema, &wanted, err);
    }
    if (status == SILT_OK && !sl_batch_same_layout(&given, &wanted)) {
        status = sl_fail(err, SILT_EENGINE, NULL, "the engine returned rows of other columns than the plan's");
    }
    sl_arrow_schema_release(&given);
    sl_arrow_schema_release(&wanted);
    return status;
}

static silt_status empty_rows(const silt_scan *scan, struct ArrowArrayStream *out, silt_error *err)
{
    struct ArrowSchema schema = {0};
    SL_TRY(silt_schema_to_arrow(scan->schema, &schema, err));
    return sl_arrow_stream_from_batches(scan->env, &schema, NULL, 0, out, err);
}

silt_status silt_scan_read(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {reader_schema, reader_next, close_reader};
    if (scan == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan and a place for the stream are required");
    }
    memset(out, 0, sizeof(*out));
    if (scan->plan_schema->root.n_fields == 0) {
        return sl_fail(err, SILT_ESCHEMA, "DELTA_READ_TABLE_WITHOUT_COLUMNS", "table %s has no columns to read",
                       scan->plan.table);
    }
    if (scan->files.len == 0) {
        return empty_rows(scan, out, err); /* no engine needs to be woken for this */
    }
    struct reader *reader = sl_alloc_zero(scan->env, sizeof(*reader));
    if (reader == NULL) {
        return sl_fail_nomem(err);
    }
    reader->env = scan->env;
    reader->scan = silt_scan_ref(scan);
    reader->has_call = call != NULL;
    if (call != NULL) {
        reader->call = *call;
        reader->call.progress = NULL; /* its owner may be gone when the stream is pulled */
    }
    reader->drops = scan->schema != scan->plan_schema;
    silt_error found = SILT_ERROR_INIT;
    silt_status status = open_rows(reader, &found);
    if (status != SILT_OK && sl_scan_is_mended(&found)) {
        silt_error_reset(&found);
        status = open_rows(reader, &found);
    }
    if (status != SILT_OK) {
        close_reader(reader);
        return sl_error_take(err, &found);
    }
    if (reader->drops) {
        status = check_layout(&reader->rows, scan->plan_schema, err);
    }
    if (status != SILT_OK) {
        close_reader(reader);
        return status;
    }
    return sl_arrow_stream_new(scan->env, &source, reader, out, err);
}
