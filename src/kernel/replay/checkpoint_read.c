/*
 * The Parquet files of a checkpoint as actions; see checkpoint_read.h. Any thread.
 */
#include "kernel/replay/checkpoint_read.h"

#include <inttypes.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"

#define LOCAL_PATH_MAX 4096

/* Not SILT_EUNSUPPORTED: an engine that cannot be loaded, or cannot read a codec, says nothing against the file. */
bool sl_checkpoint_is_bad(silt_status status)
{
    return status == SILT_ECORRUPT || status == SILT_EENGINE || status == SILT_ESCHEMA || status == SILT_ENOTFOUND;
}

static silt_status name_files(const struct sl_log_source *source, const struct sl_log_segment *segment,
                              struct sl_arena *arena, silt_parquet_file **out, silt_error *err)
{
    silt_parquet_file *files = sl_arena_alloc_array(arena, segment->n_checkpoint, sizeof(*files));
    char *buf = sl_arena_alloc(arena, LOCAL_PATH_MAX);
    if (files == NULL || buf == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < segment->n_checkpoint; i++) {
        const struct sl_str path = sl_log_path(arena, source->root, segment->checkpoint[i].name);
        if (path.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        files[i] = (silt_parquet_file){.path = path.ptr, .size_bytes = segment->checkpoint[i].size};
        if (silt_storage_local_path(source->storage, path.ptr, buf, LOCAL_PATH_MAX, NULL) == SILT_OK) {
            files[i].local_path = sl_arena_strdup(arena, sl_str_from(buf));
            if (files[i].local_path == NULL) {
                return sl_fail_nomem(err);
            }
        }
    }
    *out = files;
    return SILT_OK;
}

static silt_status read_batches(const silt_env *env, const silt_call *call, struct ArrowArrayStream *stream,
                                silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
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
            status = sl_actions_from_arrow(env, &schema, &batch, visit, ctx, err);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

silt_status sl_checkpoint_each(const struct sl_checkpoint_request *request, const silt_call *call,
                               silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                               void *ctx, silt_error *err)
{
    const struct sl_log_source *source = request->source;
    const struct sl_log_segment *segment = request->segment;
    const silt_env *env = silt_engine_env(source->engine);
    struct sl_arena arena;
    sl_arena_init(&arena, env);
    silt_schema *schema = NULL;
    silt_parquet_file *files = NULL;
    struct ArrowArrayStream stream = {0};
    silt_status status = sl_checkpoint_schema(env, request->columns, request->with_details, &schema, err);
    if (status == SILT_OK) {
        status = name_files(source, segment, &arena, &files, err);
    }
    if (status == SILT_OK) {
        const silt_parquet_read read = {.size = sizeof(read),
                                        .storage = source->storage,
                                        .files = files,
                                        .n_files = segment->n_checkpoint,
                                        .schema = schema};
        status = sl_parquet_read(source->engine, call, &read, &stream, err);
    }
    if (status == SILT_OK) {
        status = read_batches(env, call, &stream, visit, ctx, err);
    }
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, segment->checkpoint_version);
        sl_error_version(err, segment->checkpoint_version);
    }
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
    sl_arena_release(&arena);
    return status;
}
