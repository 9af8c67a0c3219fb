/*
 * The generic reading path (PROTOCOL.md "Partition Value Serialization", "Column Mapping" apart): asks the engine's Parquet handler for
 * the stored columns of the surviving files together with the place of each batch's file, and assembles logical batches from them.
 * Columns move, only partition columns are made.
 *
 * Called by silt_scan_read. A stream is pulled by one thread.
 */
#include "kernel/scan/logical_rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/batch.h"
#include "schema/value.h"

struct rows {
    const silt_env *env;
    silt_scan *scan;               /* a reference; its store is read from */
    struct ArrowArrayStream files; /* stored columns, then the file's place */
    struct ArrowSchema schema;     /* of the plan's columns */
    struct ArrowSchema stored;     /* of `files` */
    size_t n_stored;               /* stored columns, the file's place apart */
};

static void close_rows(void *ctx)
{
    struct rows *rows = ctx;
    sl_arrow_stream_release(&rows->files); /* before the scan, which keeps its store alive */
    sl_arrow_schema_release(&rows->schema);
    sl_arrow_schema_release(&rows->stored);
    silt_scan_unref(rows->scan);
    sl_release(rows->env, rows, sizeof(*rows));
}

static silt_status rows_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct rows *rows = ctx;
    return sl_arrow_schema_copy(rows->env, &rows->schema, out, err);
}

/* ---- batches ---- */

/* Which file a batch is from: the handler's last column, the same in every row. */
static silt_status find_file(const struct rows *rows, const struct ArrowArray *batch, const silt_plan_file **out,
                             silt_error *err)
{
    const silt_scan_plan *plan = &rows->scan->plan;
    const struct ArrowSchema *schema = rows->stored.children[rows->n_stored];
    const struct ArrowArray *places = batch->children[rows->n_stored];
    silt_value value;
    if (places->release == NULL || places->length <= batch->offset ||
        !sl_value_from_arrow(schema, places, batch->offset, &value) || value.is_null || value.as.i64 < 0 ||
        (uint64_t)value.as.i64 >= plan->n_files) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave a batch without the place of its file");
    }
    *out = &plan->files[value.as.i64];
    return SILT_OK;
}

static silt_status assemble(const struct rows *rows, struct ArrowArray *batch, struct ArrowArray *out, silt_error *err)
{
    const silt_scan_plan *plan = &rows->scan->plan;
    const struct silt_type *root = &rows->scan->plan_schema->root;
    if (batch->n_children != rows->stored.n_children) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave a batch of %lld columns, expected %lld",
                       (long long)batch->n_children, (long long)rows->stored.n_children);
    }
    const silt_plan_file *file = NULL;
    SL_TRY(find_file(rows, batch, &file, err));
    SL_TRY(sl_batch_new(rows->env, root->n_fields, batch->length, out, err));
    size_t stored = 0;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < root->n_fields && status == SILT_OK; i++) {
        const silt_plan_column column = plan->columns[i];
        if (column.source == SILT_FROM_PARTITION) {
            status = sl_constant_column(rows->env, root->fields[i].type, &file->partition_values[column.index],
                                        batch->length, out->children[i], err);
        } else {
            status = sl_batch_take_child(batch, stored++, out->children[i], err);
        }
    }
    if (status != SILT_OK) {
        sl_error_path(err, file->path);
        sl_arrow_array_release(out);
    }
    return status;
}

static silt_status rows_next(void *ctx, struct ArrowArray *out, silt_error *err)
{
    struct rows *rows = ctx;
    memset(out, 0, sizeof(*out));
    for (;;) {
        struct ArrowArray batch = {0};
        bool done = false;
        SL_TRY(sl_arrow_stream_next(&rows->files, &batch, &done, err));
        if (done) {
            return SILT_OK;
        }
        silt_status status = batch.length > 0 ? assemble(rows, &batch, out, err) : SILT_OK;
        bool empty = batch.length == 0;
        sl_arrow_array_release(&batch);
        if (!empty) {
            return status;
        }
    }
}

/* ---- opening ---- */

static silt_status stored_schema(const silt_scan *scan, silt_schema **out, silt_error *err)
{
    size_t n = scan->plan_schema->root.n_fields;
    size_t *columns = sl_alloc_array(scan->env, n + 1, sizeof(*columns));
    if (columns == NULL) {
        return sl_fail_nomem(err);
    }
    size_t stored = 0;
    for (size_t i = 0; i < n; i++) {
        if (scan->plan.columns[i].source == SILT_FROM_FILE) {
            columns[stored++] = i;
        }
    }
    silt_status status = sl_schema_project(scan->plan_schema, columns, stored, out, err);
    sl_release(scan->env, columns, (n + 1) * sizeof(*columns));
    return status;
}

static silt_status read_files(silt_scan *scan, const silt_call *call, const silt_schema *schema,
                              struct ArrowArrayStream *out, silt_error *err)
{
    const silt_scan_plan *plan = &scan->plan;
    silt_parquet_file *files = sl_alloc_array(scan->env, plan->n_files + 1, sizeof(*files));
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        files[i] = (silt_parquet_file){plan->files[i].path, plan->files[i].local_path, plan->files[i].size_bytes};
    }
    silt_parquet_read request = {
        .size = sizeof(silt_parquet_read),
        .storage = plan->storage,
        .files = files,
        .n_files = plan->n_files,
        .schema = schema,
        .with_file_index = true, /* also carries the row count where no column is stored */
        .predicate = scan->file_filter,
    };
    silt_status status = sl_parquet_read(sl_snapshot_engine(scan->snapshot), call, &request, out, err);
    sl_release(scan->env, files, (plan->n_files + 1) * sizeof(*files));
    return status;
}

/* The handler promises exactly the types that were asked for; a breach would be read as wrong values. */
static silt_status check_stored(struct rows *rows, silt_error *err)
{
    const silt_scan *scan = rows->scan;
    SL_TRY(sl_arrow_stream_schema(&rows->files, &rows->stored, err));
    if (rows->stored.n_children != (int64_t)rows->n_stored + 1 ||
        strcmp(rows->stored.children[rows->n_stored]->format, "l") != 0) {
        return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave %lld columns, expected %zu and the file's place",
                       (long long)rows->stored.n_children, rows->n_stored);
    }
    size_t stored = 0;
    for (size_t i = 0; i < scan->plan_schema->root.n_fields; i++) {
        if (scan->plan.columns[i].source != SILT_FROM_FILE) {
            continue;
        }
        const struct ArrowSchema *given = rows->stored.children[stored++];
        if (!sl_batch_same_layout(given, rows->schema.children[i])) {
            return sl_fail(err, SILT_EENGINE, NULL, "parquet handler gave column %s as %s, expected %s",
                           rows->schema.children[i]->name, given->format, rows->schema.children[i]->format);
        }
    }
    return SILT_OK;
}

silt_status sl_logical_rows(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {rows_schema, rows_next, close_rows};
    memset(out, 0, sizeof(*out));
    silt_schema *schema = NULL;
    struct rows *rows = sl_alloc_zero(scan->env, sizeof(*rows));
    if (rows == NULL) {
        return sl_fail_nomem(err);
    }
    rows->env = scan->env;
    rows->scan = silt_scan_ref(scan);
    silt_status status = silt_schema_to_arrow(scan->plan_schema, &rows->schema, err);
    if (status == SILT_OK) {
        status = stored_schema(scan, &schema, err);
    }
    if (status == SILT_OK) {
        rows->n_stored = schema->root.n_fields;
        status = read_files(scan, call, schema, &rows->files, err);
    }
    if (status == SILT_OK) {
        status = check_stored(rows, err);
    }
    silt_schema_unref(schema);
    if (status != SILT_OK) {
        close_rows(rows);
        return status;
    }
    return sl_arrow_stream_new(scan->env, &source, rows, out, err);
}
