/*
 * Checkpoints' file actions in batches; see checkpoint_files.h. Any thread; a call works on its own.
 */
#include "kernel/replay/checkpoint_files.h"

#include <inttypes.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"

static silt_status each_batch(const silt_env *env, const silt_call *call, struct ArrowArrayStream *stream,
                              silt_status (*visit)(void *ctx, const struct ArrowSchema *schema,
                                                   const struct ArrowArray *batch, silt_error *err),
                              void *ctx, silt_error *err)
{
    struct ArrowSchema schema = {0};
    SL_TRY(sl_arrow_stream_schema(stream, &schema, err));
    silt_status status = SILT_OK;
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_call_check(env, call, err);
        if (status == SILT_OK) {
            status = sl_arrow_stream_next(stream, &batch, &done, err);
        }
        if (status == SILT_OK && !done) {
            status = visit(ctx, &schema, &batch, err);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

silt_status sl_checkpoint_each_batch(const struct sl_checkpoint_files *files, const silt_schema *schema,
                                     const silt_call *call,
                                     silt_status (*visit)(void *ctx, const struct ArrowSchema *schema,
                                                          const struct ArrowArray *batch, silt_error *err),
                                     void *ctx, silt_error *err)
{
    const struct sl_log_source *source = files->source;
    const struct sl_checkpoint *checkpoint = files->checkpoint;
    if (checkpoint->n_parquet == 0) {
        return SILT_OK;
    }
    struct ArrowArrayStream stream = {0};
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = source->storage,
                                    .files = checkpoint->parquet,
                                    .n_files = checkpoint->n_parquet,
                                    .schema = schema,
                                    .lax_structs = true}; /* an add has a path, else it is none */
    silt_status status = sl_parquet_read(source->engine, call, &read, &stream, err);
    if (status == SILT_OK) {
        status = each_batch(silt_engine_env(source->engine), call, &stream, visit, ctx, err);
    }
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, checkpoint->version);
        sl_error_version(err, checkpoint->version);
    }
    sl_arrow_stream_release(&stream);
    return status;
}

/* ---- typed statistics ---- */

/* Ends the reading early; what the context says tells it apart from a failure. */
#define STOPPED SILT_ECANCELLED

/* The only child of a struct, when it is well-formed. */
static const struct ArrowArray *only_child(const struct ArrowArray *array)
{
    return array->n_children == 1 && array->children[0]->offset == 0 && array->children[0]->length >= array->length
               ? array->children[0]
               : NULL;
}

static silt_status find_parsed(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                               silt_error *err)
{
    (void)schema; /* what was asked for: add.stats_parsed.numRecords */
    bool *found = ctx;
    const struct ArrowArray *counts = array;
    for (int level = 0; level < 3 && counts != NULL; level++) {
        counts = counts->offset == 0 ? only_child(counts) : NULL;
    }
    if (counts == NULL || counts->n_buffers != 2) {
        return sl_fail(err, SILT_EENGINE, NULL,
                       "checkpoint column add.stats_parsed came as an arrow array that is not well-formed");
    }
    for (int64_t row = 0; row < array->length && counts->null_count != counts->length; row++) {
        if (!sl_arrow_is_null(counts, row)) {
            *found = true;
            return STOPPED;
        }
    }
    return SILT_OK;
}

silt_status sl_checkpoint_has_parsed(const struct sl_checkpoint_files *files, const silt_call *call, bool *found,
                                     silt_error *err)
{
    static const char json[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"add\",\"nullable\":true,\"metadata\":{},"
        "\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"stats_parsed\",\"nullable\":true,"
        "\"metadata\":{},\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"numRecords\",\"type\":"
        "\"long\",\"nullable\":true,\"metadata\":{}}]}}]}}]}";
    silt_schema *schema = NULL;
    *found = false;
    SL_TRY(silt_schema_from_json(silt_engine_env(files->source->engine), json, sizeof(json) - 1, &schema, err));
    silt_status status = sl_checkpoint_each_batch(files, schema, call, find_parsed, found, err);
    if (status == STOPPED && *found) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    silt_schema_unref(schema);
    return status;
}

/* ---- into a file set ---- */

struct putting {
    struct sl_add_batch batch;
    const struct sl_key_probe *decided;
    struct sl_key_maker keys;
    struct sl_file_set_builder *builder;
    struct sl_checkpoint_counts *counts;
};

static silt_status put_batch(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                             silt_error *err)
{
    struct putting *putting = ctx;
    struct sl_add_batch *batch = &putting->batch;
    SL_TRY(sl_add_batch_bind(batch, schema, array, err));
    putting->counts->n_rows += batch->n;
    for (int64_t row = 0; row < batch->n; row++) {
        struct sl_file_row file;
        bool found = false;
        SL_TRY(sl_add_batch_row(batch, row, &file, &found, err));
        if (batch->lacks_vector) {
            return STOPPED;
        }
        if (found) {
            putting->counts->n_adds++;
            SL_TRY(sl_file_set_add_row(putting->builder, &file, &putting->keys, putting->decided, err));
        }
    }
    return SILT_OK;
}

silt_status sl_checkpoint_put_files(const struct sl_checkpoint_put *put, const silt_call *call, bool *lacks_vectors,
                                    silt_error *err)
{
    const silt_env *env = silt_engine_env(put->files->source->engine);
    const struct sl_file_set *set = put->builder->set;
    struct putting putting = {
        .builder = put->builder, .decided = put->decided->keys->n > 0 ? put->decided : NULL, .counts = put->counts};
    sl_add_batch_init(&putting.batch, env);
    sl_key_maker_init(&putting.keys, env, set->root, set->hash);
    silt_schema *schema = NULL;
    silt_status status = sl_add_batch_schema(env, put->members, &schema, err);
    if (status == SILT_OK) {
        status = sl_checkpoint_each_batch(put->files, schema, call, put_batch, &putting, err);
    }
    *lacks_vectors = status == STOPPED && putting.batch.lacks_vector;
    if (*lacks_vectors) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    silt_schema_unref(schema);
    sl_add_batch_release(&putting.batch);
    sl_key_maker_release(&putting.keys);
    return status;
}
