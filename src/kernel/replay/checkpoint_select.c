/*
 * Reading parts of a checkpoint's file; see checkpoint_select.h. Places are counted where all rows come, and asked for where they are
 * chosen, so that a handler which gives more rows than it was asked for does no harm. Any thread; a call works on its own.
 */
#include "kernel/replay/checkpoint_select.h"

#include <inttypes.h>
#include <string.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"

static silt_status find_places(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                               struct sl_checkpoint_rows *out, silt_error *err)
{
    const int64_t last = batch->n_children - 1;
    const struct ArrowArray *column = last >= 0 && schema->n_children == batch->n_children ? batch->children[last]
                                                                                           : NULL;
    const struct ArrowSchema *title = column != NULL ? schema->children[last] : NULL;
    const bool good = column != NULL && title->name != NULL && strcmp(title->name, "_silt_row_index") == 0 &&
                      title->format != NULL && strcmp(title->format, "l") == 0 && column->n_buffers == 2 &&
                      column->length >= batch->length && column->offset >= 0 && column->null_count <= 0 &&
                      (batch->length == 0 || column->buffers[1] != NULL);
    if (!good) {
        return sl_fail(err, SILT_EENGINE, NULL, "rows of a checkpoint came without their places");
    }
    out->places = (const int64_t *)column->buffers[1] + column->offset;
    return SILT_OK;
}

struct reading {
    const silt_env *env;
    struct ArrowArrayStream stream;
    bool with_places;
    silt_status (*visit)(void *ctx, const struct sl_checkpoint_rows *rows, bool *stop, silt_error *err);
    void *ctx;
};

static silt_status visit_batches(struct reading *reading, const silt_call *call, silt_error *err)
{
    struct ArrowSchema schema = {0};
    SL_TRY(sl_arrow_stream_schema(&reading->stream, &schema, err));
    silt_status status = SILT_OK;
    int64_t first = 0;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_call_check(reading->env, call, err);
        if (status == SILT_OK) {
            status = sl_arrow_stream_next(&reading->stream, &batch, &done, err);
        }
        if (status == SILT_OK && !done) {
            struct sl_checkpoint_rows rows = {.schema = &schema, .batch = &batch, .first = first};
            status = reading->with_places ? find_places(&schema, &batch, &rows, err) : SILT_OK;
            if (status == SILT_OK) {
                status = reading->visit(reading->ctx, &rows, &done, err);
            }
            first += batch.length;
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

silt_status sl_checkpoint_select(const struct sl_checkpoint_select *select, const silt_call *call,
                                 silt_status (*visit)(void *ctx, const struct sl_checkpoint_rows *rows, bool *stop,
                                                      silt_error *err),
                                 void *ctx, silt_error *err)
{
    const struct sl_log_source *source = select->files->source;
    const struct sl_checkpoint *checkpoint = select->files->checkpoint;
    struct reading reading = {.env = silt_engine_env(source->engine), .visit = visit, .ctx = ctx};
    reading.with_places = select->n_rows > 0 || select->n_ranges > 0 || select->texts != NULL;
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = source->storage,
                                    .files = &checkpoint->parquet[select->file],
                                    .n_files = 1,
                                    .schema = select->schema,
                                    .with_row_index = reading.with_places,
                                    .rows = select->rows,
                                    .n_rows = select->n_rows,
                                    .ranges = select->ranges,
                                    .n_ranges = select->n_ranges,
                                    .texts = select->texts,
                                    .lax_structs = true}; /* an add has a path, else it is none */
    silt_status status = sl_parquet_read(source->engine, call, &read, &reading.stream, err);
    if (status == SILT_OK) {
        status = visit_batches(&reading, call, err);
    }
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, checkpoint->version);
        sl_error_version(err, checkpoint->version);
    }
    sl_arrow_stream_release(&reading.stream);
    return status;
}
