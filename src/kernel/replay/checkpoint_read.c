/*
 * The rows of a checkpoint as actions; see checkpoint_read.h. Any thread.
 */
#include "kernel/replay/checkpoint_read.h"

#include <inttypes.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/action/action_reader.h"
#include "kernel/engine/engine.h"
#include "kernel/log/log_size.h"

/* Memory of parsed lines is given back when it has grown to this. */
#define LINE_ARENA_MAX ((size_t)256 * 1024)
/* Between two looks at the call. */
#define LINES_PER_CHECK 1024

#define FILE_COLUMNS ((unsigned)SL_COLUMN_ADD | (unsigned)SL_COLUMN_REMOVE)

/* Not SILT_EUNSUPPORTED: an engine that cannot be loaded, or cannot read a codec, says nothing against the file. */
bool sl_checkpoint_is_bad(silt_status status)
{
    return status == SILT_ECORRUPT || status == SILT_EENGINE || status == SILT_ESCHEMA || status == SILT_ENOTFOUND ||
           status == SILT_ELIMIT;
}

struct visitor {
    silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err);
    void *ctx;
};

/* ---- Parquet ---- */

static silt_status read_batches(const silt_env *env, const silt_call *call, struct ArrowArrayStream *stream,
                                const struct visitor *visitor, silt_error *err)
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
            status = sl_actions_from_arrow(env, &schema, &batch, visitor->visit, visitor->ctx, err);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    return status;
}

/* A required member of every column that is not about files: a row without it says nothing. */
static const struct {
    unsigned column;
    const char *member;
} marks[] = {
    {SL_COLUMN_PROTOCOL, "protocol.minReaderVersion"},
    {SL_COLUMN_METADATA, "metaData.id"},
    {SL_COLUMN_APP_TXN, "txn.appId"},
    {SL_COLUMN_DOMAIN, "domainMetadata.domain"},
    {SL_COLUMN_SIDECAR, "sidecar.path"},
    {SL_COLUMN_CHECKPOINT_METADATA, "checkpointMetadata.version"},
};
#define N_MARKS (sizeof(marks) / sizeof(marks[0]))

static size_t find_marks(unsigned columns, const char *members[N_MARKS])
{
    size_t n = 0;
    for (size_t i = 0; i < N_MARKS; i++) {
        if ((columns & marks[i].column) != 0) {
            members[n++] = marks[i].member;
        }
    }
    return n;
}

static silt_status each_in_parquet(const struct sl_checkpoint_request *request, const silt_call *call,
                                   const struct visitor *visitor, silt_error *err)
{
    const struct sl_log_source *source = request->source;
    const silt_env *env = silt_engine_env(source->engine);
    silt_schema *schema = NULL;
    struct ArrowArrayStream stream = {0};
    const char *members[N_MARKS];
    silt_status status = request->parsed != NULL
                             ? sl_checkpoint_schema_parsed(env, request->columns, request->parsed,
                                                           request->parsed_bounds, &schema, err)
                             : sl_checkpoint_schema(env, request->columns, request->with_details, &schema, err);
    if (status == SILT_OK) {
        /* Of a checkpoint's rows nearly all are files: to ask which are, costs more than it saves. */
        const bool few = (request->columns & FILE_COLUMNS) == 0;
        const silt_parquet_read read = {.size = sizeof(read),
                                        .storage = source->storage,
                                        .files = request->checkpoint->parquet,
                                        .n_files = request->checkpoint->n_parquet,
                                        .schema = schema,
                                        .any_of = members,
                                        .n_any_of = few ? find_marks(request->columns, members) : 0};
        status = sl_parquet_read(source->engine, call, &read, &stream, err);
    }
    if (status == SILT_OK) {
        status = read_batches(env, call, &stream, visitor, err);
    }
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
    return status;
}

/* ---- JSON ---- */

/* A line that is certainly a file action, as every writer puts it, and not cut off. */
static bool is_file_line(struct sl_str line)
{
    return (sl_str_starts_with(line, SL_STR("{\"add\":")) || sl_str_starts_with(line, SL_STR("{\"remove\":"))) &&
           sl_str_ends_with(line, SL_STR("}}"));
}

static struct sl_str behind_line(struct sl_str rest)
{
    const char *end = memchr(rest.ptr, '\n', rest.len);
    return sl_str_sub(rest, end != NULL ? (size_t)(end - rest.ptr) + 1 : rest.len, rest.len);
}

static silt_status read_line(struct sl_action_reader *reader, struct sl_str *rest, size_t *line, unsigned columns,
                             const struct visitor *visitor, silt_error *err)
{
    if ((columns & FILE_COLUMNS) == 0 && is_file_line(*rest)) {
        *rest = behind_line(*rest);
        (*line)++;
        return SILT_OK;
    }
    struct sl_action action;
    bool done = false;
    SL_TRY(sl_action_reader_next(reader, rest, line, &action, &done, err));
    const bool wanted = !done && action.kind != SL_ACTION_UNKNOWN && (columns >> action.kind & 1U) != 0;
    return wanted ? visitor->visit(visitor->ctx, &action, err) : SILT_OK;
}

static silt_status each_line(const silt_env *env, const silt_call *call, struct sl_str bytes, unsigned columns,
                             const struct visitor *visitor, silt_error *err)
{
    struct sl_arena arena;
    struct sl_action_reader reader;
    sl_arena_init(&arena, env);
    sl_action_reader_init(&reader, env, &arena);
    silt_status status = SILT_OK;
    struct sl_str rest = bytes;
    size_t line = 0;
    for (size_t n = 1; rest.len > 0 && status == SILT_OK; n++) {
        status = n % LINES_PER_CHECK == 0 ? sl_call_check(env, call, err) : SILT_OK;
        if (status == SILT_OK) {
            status = read_line(&reader, &rest, &line, columns, visitor, err);
            if (status == SILT_ECORRUPT) {
                sl_error_context(err, "line %zu", line);
            }
        }
        if (arena.total_bytes > LINE_ARENA_MAX) {
            sl_arena_release(&arena);
            sl_action_reader_renew(&reader);
        }
    }
    sl_arena_release(&arena);
    return status;
}

static silt_status each_in_json(const struct sl_checkpoint_request *request, const silt_call *call,
                                const struct visitor *visitor, silt_error *err)
{
    const struct sl_log_source *source = request->source;
    const char *path = request->checkpoint->json_path.ptr;
    void *data = NULL;
    size_t len = 0;
    SL_TRY(silt_storage_read(source->storage, call, path, &data, &len, err));
    silt_status status = sl_log_size_compare(path, request->checkpoint->json_size, (int64_t)len, err);
    if (status == SILT_OK) {
        status = each_line(silt_engine_env(source->engine), call, sl_str_make(data, len), request->columns, visitor,
                           err);
    }
    silt_storage_free(source->storage, data, len);
    if (status != SILT_OK) {
        sl_error_path(err, path);
    }
    return status;
}

silt_status sl_checkpoint_each(const struct sl_checkpoint_request *request, const silt_call *call,
                               silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                               void *ctx, silt_error *err)
{
    const struct sl_checkpoint *checkpoint = request->checkpoint;
    const struct visitor visitor = {visit, ctx};
    silt_status status = SILT_OK;
    if (checkpoint->json_path.ptr != NULL) {
        status = each_in_json(request, call, &visitor, err);
    }
    if (status == SILT_OK && checkpoint->n_parquet > 0) {
        status = each_in_parquet(request, call, &visitor, err);
    }
    if (status != SILT_OK) {
        sl_error_context(err, "checkpoint of version %" PRId64, checkpoint->version);
        sl_error_version(err, checkpoint->version);
    }
    return status;
}

silt_status sl_checkpoint_each_json(const struct sl_log_source *source, const struct sl_checkpoint *checkpoint,
                                    const silt_call *call,
                                    silt_status (*visit)(void *ctx, const struct sl_action *action, silt_error *err),
                                    void *ctx, silt_error *err)
{
    if (checkpoint->json_path.ptr == NULL) {
        return SILT_OK;
    }
    struct sl_checkpoint top = *checkpoint;
    top.n_parquet = 0;
    const struct sl_checkpoint_request request = {
        .source = source, .checkpoint = &top, .columns = FILE_COLUMNS, .with_details = true};
    return sl_checkpoint_each(&request, call, visit, ctx, err);
}
