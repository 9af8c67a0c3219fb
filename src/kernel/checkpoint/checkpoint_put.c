/*
 * Writing the files of a checkpoint; see checkpoint_put.h. A file gets its name when it is whole. A checkpoint of several files counts
 * only when all are there: readers ignore parts of which some are missing, and sidecars that no top file names.
 */
#include "kernel/checkpoint/checkpoint_put.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "kernel/action/action_arrow.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/replay/checkpoint_read.h"

#define CODEC "zstd"
/* Small enough to skip much of a large checkpoint, large enough to compress well. */
#define ROW_GROUP_ROWS 20480

struct sl_str sl_checkpoint_classic_path(struct sl_arena *arena, struct sl_str root, int64_t version)
{
    const char *path = sl_arena_printf(arena, "%.*s/" SL_LOG_DIR "/%020" PRId64 ".checkpoint.parquet", SL_FMT(root),
                                       version);
    return path != NULL ? sl_str_from(path) : (struct sl_str){NULL, 0};
}

/* ---- Parquet files ---- */

/* The next rows of a stream, at most max_rows, as a file. */
static silt_status put_file(struct sl_checkpoint_putting *p, struct sl_checkpoint_stream *stream, int64_t max_rows,
                            silt_parquet_write_file *file, silt_error *err)
{
    const struct sl_log_source *source = &p->content->source;
    struct ArrowArrayStream rows = {0};
    file->size = sizeof(*file);
    file->storage = source->storage;
    file->dir = source->root.ptr;
    file->codec = CODEC;
    file->row_group_rows = ROW_GROUP_ROWS;
    SL_TRY(sl_checkpoint_stream_draw(stream, max_rows, &rows, err));
    const silt_status status = sl_parquet_write_file(source->engine, p->call, file, &rows, err);
    p->bad_checkpoint = p->bad_checkpoint || sl_checkpoint_stream_is_bad(stream);
    return status;
}

static void count_bytes(struct sl_checkpoint_putting *p, int64_t bytes)
{
    int64_t *sum = &p->result->adds_bytes;
    if (bytes < 0 || *sum < 0 || !sl_add_i64(*sum, bytes, sum)) {
        *sum = -1;
    }
}

static void count(struct sl_checkpoint_putting *p, const struct sl_checkpoint_stream *stream)
{
    p->result->n_actions += sl_checkpoint_stream_rows(stream);
    p->result->n_adds += sl_checkpoint_stream_adds(stream);
    count_bytes(p, sl_checkpoint_stream_add_bytes(stream));
}

static void count_file(struct sl_checkpoint_putting *p, int64_t size_bytes)
{
    p->result->size_bytes += size_bytes;
    p->result->n_files++;
}

/* What every checkpoint has, and kinds of which there is an action. */
static unsigned columns_of(const struct sl_checkpoint_putting *p)
{
    unsigned columns = SL_COLUMN_ADD;
    columns |= p->content->has_removes ? (unsigned)SL_COLUMN_REMOVE : 0U;
    for (size_t i = 0; i < p->state.len; i++) {
        columns |= 1U << ((const struct sl_action *)sl_vec_at(&p->state, i))->kind;
    }
    return columns;
}

static silt_status open_stream(struct sl_checkpoint_putting *p, const struct sl_checkpoint_stream_request *how,
                               struct sl_checkpoint_stream **out, silt_error *err)
{
    struct sl_checkpoint_stream_request request = *how;
    request.content = p->content;
    request.layout = &p->layout;
    request.order = p->order;
    request.call = p->call;
    const silt_status status = sl_checkpoint_stream_open(&request, out, err);
    p->bad_checkpoint = p->bad_checkpoint || (*out != NULL && sl_checkpoint_stream_is_bad(*out));
    return status;
}

static void keep_schema(struct sl_checkpoint_putting *p, const struct sl_checkpoint_stream *stream)
{
    silt_schema_unref(p->schema);
    p->schema = silt_schema_ref(sl_checkpoint_stream_schema(stream));
    p->hint.schema = p->schema;
}

static silt_status note_made(struct sl_checkpoint_putting *p, const char *path, silt_error *err)
{
    const char **slot = sl_vec_push(&p->made);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = path;
    return SILT_OK;
}

/* One file of the rows that are asked for, under the layout that is set. */
static silt_status put_stream(struct sl_checkpoint_putting *p, const struct sl_checkpoint_stream_request *request,
                              silt_parquet_write_file *file, silt_error *err)
{
    struct sl_checkpoint_stream *stream = NULL;
    if (file->path == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = open_stream(p, request, &stream, err);
    if (status == SILT_OK) {
        status = put_file(p, stream, INT64_MAX, file, err);
    }
    if (status == SILT_OK) {
        count(p, stream);
        count_file(p, file->size_bytes);
        keep_schema(p, stream);
        status = note_made(p, file->path, err);
    }
    sl_checkpoint_stream_close(stream);
    return status;
}

/* ---- V1 ---- */

silt_status sl_checkpoint_is_there(silt_storage *storage, const silt_call *call, const char *path, bool *there,
                                   silt_error *err)
{
    int64_t size = 0;
    int64_t modified_ms = 0;
    *there = false;
    silt_status status = silt_storage_stat(storage, call, path, &size, &modified_ms, err);
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    SL_TRY(status);
    *there = size > 0;
    return *there ? SILT_OK : silt_storage_remove(storage, call, path, err);
}

static silt_status put_classic(struct sl_checkpoint_putting *p, silt_error *err)
{
    const struct sl_checkpoint_state state = {p->state.data, p->state.len};
    const struct sl_checkpoint_stream_request request = {.state = &state, .files = true};
    const struct sl_str path = sl_checkpoint_classic_path(&p->arena, p->content->source.root, p->version);
    silt_parquet_write_file file = {.path = path.ptr};
    p->layout.columns = columns_of(p);
    return put_stream(p, &request, &file, err);
}

static const char *part_path(struct sl_checkpoint_putting *p, int32_t part)
{
    return sl_arena_printf(&p->arena,
                           "%.*s/" SL_LOG_DIR "/%020" PRId64 ".checkpoint.%010" PRId32 ".%010" PRId32 ".parquet",
                           SL_FMT(p->content->source.root), p->version, part + 1, p->n_parts);
}

/* Actions that are about no file have the hash of null. */
static silt_status put_part(struct sl_checkpoint_putting *p, const struct sl_part_share *share, const char *path,
                            silt_error *err)
{
    static const struct sl_str no_path = {NULL, 0};
    const struct sl_checkpoint_state state = {p->state.data, p->state.len};
    const bool has_state = sl_checkpoint_part_of(no_path, NULL, false, p->n_parts) == share->part;
    const struct sl_checkpoint_stream_request request = {
        .state = has_state ? &state : NULL, .files = true, .share = share};
    silt_parquet_write_file file = {.path = path};
    return put_stream(p, &request, &file, err);
}

/*
 * A part that is there already comes from another writer or an earlier attempt. What it holds is the same, since the protocol says which
 * actions are in which part; but how many bytes the whole has is then not known. It is looked for first, since one without bytes makes
 * room for ours, and a stream can be drawn once.
 */
static silt_status put_part_once(struct sl_checkpoint_putting *p, const struct sl_part_share *share, bool *all_ours,
                                 silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    bool there = false;
    const char *path = part_path(p, share->part);
    if (path == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_checkpoint_is_there(p->content->source.storage, p->call, path, &there, err));
    silt_status status = there ? SILT_OK : put_part(p, share, path, &found);
    if (status == SILT_EEXISTS) {
        there = true;
        status = SILT_OK;
    }
    *all_ours = *all_ours && !there;
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

static silt_status put_parts(struct sl_checkpoint_putting *p, silt_error *err)
{
    const struct sl_spread_options options = {.content = p->content,
                                              .layout = &p->layout,
                                              .call = p->call,
                                              .n_parts = p->n_parts,
                                              .max_bytes = (size_t)p->plan->held_bytes};
    struct sl_spread spread;
    bool all_ours = true;
    p->layout.columns = columns_of(p);
    silt_status status = sl_spread_begin(&spread, &options, err);
    for (int32_t part = 0; status == SILT_OK && part < p->n_parts; part++) {
        struct sl_part_share share;
        status = sl_spread_part(&spread, part, &share, err);
        if (status == SILT_OK) {
            status = put_part_once(p, &share, &all_ours, err);
        }
    }
    p->bad_checkpoint = p->bad_checkpoint || spread.is_bad;
    sl_spread_release(&spread);
    SL_TRY(status);
    p->hint.parts = p->n_parts;
    p->result->written = p->result->n_files > 0;
    if (!all_ours) {
        p->hint.version = -1;
    }
    return SILT_OK;
}

/* ---- V2 ---- */

static silt_status put_sidecar(struct sl_checkpoint_putting *p, struct sl_checkpoint_stream *stream, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(p->content->env, uuid, err));
    const char *name = sl_arena_printf(&p->arena, "%s.parquet", uuid);
    const char *path = sl_arena_printf(&p->arena, "%.*s/" SL_LOG_DIR "/_sidecars/%s.parquet",
                                       SL_FMT(p->content->source.root), uuid);
    struct sl_sidecar *sidecar = sl_vec_push(&p->sidecars);
    silt_parquet_write_file file = {.path = path};
    if (name == NULL || path == NULL || sidecar == NULL) {
        return sl_fail_nomem(err);
    }
    sidecar->path = sl_str_from(name);
    SL_TRY(put_file(p, stream, p->plan->files_per_sidecar, &file, err));
    sidecar->size_in_bytes = file.size_bytes;
    sidecar->modification_time = file.modified_ms;
    count_file(p, file.size_bytes);
    return SILT_OK;
}

static silt_status put_sidecars(struct sl_checkpoint_putting *p, silt_error *err)
{
    const struct sl_checkpoint_stream_request request = {.files = true};
    struct sl_checkpoint_stream *stream = NULL;
    bool more = true;
    p->layout.columns = SL_COLUMN_ADD;
    p->layout.columns |= p->content->has_removes ? (unsigned)SL_COLUMN_REMOVE : 0U;
    silt_status status = open_stream(p, &request, &stream, err);
    while (status == SILT_OK && more) {
        status = sl_checkpoint_stream_more(stream, &more, err);
        p->bad_checkpoint = p->bad_checkpoint || sl_checkpoint_stream_is_bad(stream);
        if (status == SILT_OK && more) {
            status = put_sidecar(p, stream, err);
        }
    }
    if (status == SILT_OK) {
        count(p, stream);
        keep_schema(p, stream); /* for the tags */
    }
    sl_checkpoint_stream_close(stream);
    return status;
}

static bool put_tag(struct sl_arena *arena, struct sl_kv *tag, const char *key, int64_t value)
{
    const char *text = sl_arena_printf(arena, "%" PRId64, value);
    *tag = (struct sl_kv){.key = sl_str_from(key), .value = text != NULL ? sl_str_from(text) : SL_STR("")};
    return text != NULL;
}

/* PROTOCOL: Checkpoint Metadata, its tags; then the sidecars. */
static silt_status add_v2_state(struct sl_checkpoint_putting *p, silt_error *err)
{
    struct sl_kv *tags = sl_arena_alloc_array(&p->arena, 4, sizeof(*tags));
    int64_t bytes = 0;
    for (size_t i = 0; i < p->sidecars.len; i++) {
        bytes += ((const struct sl_sidecar *)sl_vec_at(&p->sidecars, i))->size_in_bytes;
    }
    if (tags == NULL || !put_tag(&p->arena, &tags[0], "sidecarNumActions", p->result->n_actions) ||
        !put_tag(&p->arena, &tags[1], "sidecarSizeInBytes", bytes) ||
        !put_tag(&p->arena, &tags[2], "numOfAddFiles", p->result->n_adds)) {
        return sl_fail_nomem(err);
    }
    struct sl_action *metadata = sl_vec_push(&p->state);
    if (metadata == NULL) {
        return sl_fail_nomem(err);
    }
    metadata->kind = SL_ACTION_CHECKPOINT_METADATA;
    metadata->u.checkpoint_metadata = (struct sl_checkpoint_metadata){
        .version = p->version, .has_tags = p->sidecars.len > 0, .tags = {tags, 3}};
    for (size_t i = 0; i < p->sidecars.len; i++) {
        struct sl_action *action = sl_vec_push(&p->state);
        if (action == NULL) {
            return sl_fail_nomem(err);
        }
        action->kind = SL_ACTION_SIDECAR;
        action->u.sidecar = *(const struct sl_sidecar *)sl_vec_at(&p->sidecars, i);
    }
    return SILT_OK;
}

static silt_status put_top_parquet(struct sl_checkpoint_putting *p, const char *path, silt_error *err)
{
    const struct sl_checkpoint_state state = {p->state.data, p->state.len};
    const struct sl_checkpoint_stream_request request = {.state = &state};
    silt_parquet_write_file file = {.path = path};
    /* All columns: Delta Spark looks for the types of add here, though no row has one. */
    p->layout.columns = SL_COLUMNS_STATE | SL_COLUMN_ADD | SL_COLUMN_REMOVE;
    SL_TRY(put_stream(p, &request, &file, err));
    p->hint.v2_size_bytes = file.size_bytes;
    p->hint.v2_modified_ms = file.modified_ms;
    return SILT_OK;
}

/* ---- V2, a top file in JSON ---- */

struct lines {
    struct sl_checkpoint_putting *putting;
    struct sl_buf *out;
};

static silt_status put_line(struct lines *lines, const struct sl_action *action, silt_error *err)
{
    lines->putting->result->n_actions++;
    if (action->kind == SL_ACTION_ADD) {
        lines->putting->result->n_adds++;
        count_bytes(lines->putting, action->u.add.size);
    }
    return sl_action_write(lines->out, action, err);
}

static silt_status put_row_as_line(void *ctx, const struct sl_action *row, silt_error *err)
{
    struct sl_action action = *row;
    if (action.kind == SL_ACTION_ADD) {
        action.u.add.data_change = false;
    }
    return put_line(ctx, &action, err);
}

/* The file actions, which are read as rows and written as lines. */
static silt_status put_file_lines(struct sl_checkpoint_putting *p, struct sl_buf *out, silt_error *err)
{
    const struct sl_checkpoint_stream_request request = {.files = true};
    struct sl_checkpoint_stream *stream = NULL;
    struct ArrowArrayStream rows = {0};
    struct ArrowSchema schema = {0};
    struct lines lines = {.putting = p, .out = out};
    bool done = false;
    p->layout.columns = SL_COLUMN_ADD | SL_COLUMN_REMOVE;
    p->layout.stats_json = true;
    p->layout.stats_struct = false;
    p->layout.partition = NULL;
    p->layout.wide = true;
    silt_status status = open_stream(p, &request, &stream, err);
    if (status == SILT_OK) {
        status = sl_checkpoint_stream_draw(stream, INT64_MAX, &rows, err);
    }
    if (status == SILT_OK) {
        status = sl_arrow_stream_schema(&rows, &schema, err);
    }
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(&rows, &batch, &done, err);
        if (status == SILT_OK && !done) {
            status = sl_actions_from_arrow(p->content->env, &schema, &batch, put_row_as_line, &lines, err);
        }
        sl_arrow_array_release(&batch);
    }
    p->bad_checkpoint = p->bad_checkpoint || (stream != NULL && sl_checkpoint_stream_is_bad(stream));
    sl_arrow_schema_release(&schema);
    sl_arrow_stream_release(&rows);
    sl_checkpoint_stream_close(stream);
    return status;
}

static silt_status put_top_json(struct sl_checkpoint_putting *p, const char *path, silt_error *err)
{
    const struct sl_log_source *source = &p->content->source;
    struct sl_buf text;
    struct lines lines = {.putting = p, .out = &text};
    silt_status status = SILT_OK;
    sl_buf_init(&text, p->content->env);
    for (size_t i = 0; i < p->state.len && status == SILT_OK; i++) {
        status = put_line(&lines, sl_vec_at(&p->state, i), err);
    }
    if (status == SILT_OK && p->plan->files_per_sidecar == 0) {
        status = put_file_lines(p, &text, err);
    }
    if (status == SILT_OK) {
        status = sl_buf_status(&text, err);
    }
    if (status == SILT_OK) {
        status = silt_storage_put(source->storage, p->call, path, text.data, text.len, err);
    }
    if (status == SILT_OK) {
        count_file(p, (int64_t)text.len);
        status = note_made(p, path, err);
        p->hint.v2_size_bytes = (int64_t)text.len;
        p->hint.v2_modified_ms = sl_now_ms(p->content->env);
        p->hint.schema = NULL;
    }
    sl_buf_release(&text);
    return status;
}

/* Without the call: what was cancelled is cleaned up, too. */
static void remove_file(struct sl_checkpoint_putting *p, const char *path)
{
    silt_error err = SILT_ERROR_INIT;
    if (path == NULL || silt_storage_remove(p->content->source.storage, NULL, path, &err) != SILT_OK) {
        sl_log(p->content->env, SILT_LOG_WARN, "a file of a failed checkpoint stays behind: %s", err.message);
    }
}

/*
 * What no top file names is of no use to anybody. Not after a top file was to be written: its outcome may not be known, and a checkpoint
 * without its sidecars is worse than sidecars without a checkpoint, which a clean-up of the log removes.
 */
static void remove_sidecars(struct sl_checkpoint_putting *p)
{
    for (size_t i = 0; i < p->sidecars.len; i++) {
        const struct sl_sidecar *sidecar = sl_vec_at(&p->sidecars, i);
        remove_file(p, sl_arena_printf(&p->arena, "%.*s/" SL_LOG_DIR "/_sidecars/%.*s", SL_FMT(p->content->source.root),
                                       SL_FMT(sidecar->path)));
    }
}

void sl_checkpoint_take_back(struct sl_checkpoint_putting *putting)
{
    for (size_t i = 0; i < putting->made.len; i++) {
        remove_file(putting, *(const char *const *)sl_vec_at(&putting->made, i));
    }
    remove_sidecars(putting);
}

static silt_status put_v2(struct sl_checkpoint_putting *p, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(p->content->env, uuid, err));
    const char *name = sl_arena_printf(&p->arena, "%020" PRId64 ".checkpoint.%s.%s", p->version, uuid,
                                       p->plan->json_top ? "json" : "parquet");
    const struct sl_str path = name != NULL ? sl_log_path(&p->arena, p->content->source.root, sl_str_from(name))
                                            : (struct sl_str){NULL, 0};
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = p->plan->files_per_sidecar > 0 ? put_sidecars(p, err) : SILT_OK;
    if (status == SILT_OK) {
        status = add_v2_state(p, err);
    }
    if (status != SILT_OK) {
        remove_sidecars(p);
    } else {
        status = p->plan->json_top ? put_top_json(p, path.ptr, err) : put_top_parquet(p, path.ptr, err);
    }
    p->hint.v2_path = sl_str_from(name);
    p->hint.sidecars = p->sidecars.data;
    p->hint.n_sidecars = p->sidecars.len;
    return status;
}

silt_status sl_checkpoint_put(struct sl_checkpoint_putting *putting, silt_error *err)
{
    struct sl_checkpoint_result *result = putting->result;
    putting->hint = (struct sl_hint_content){.version = putting->version};
    result->n_actions = 0;
    result->n_adds = 0;
    result->adds_bytes = 0;
    result->written = true;
    const silt_status status = putting->plan->is_v2      ? put_v2(putting, err)
                               : putting->plan->in_parts ? put_parts(putting, err)
                                                         : put_classic(putting, err);
    SL_TRY(status);
    putting->hint.size = result->n_actions;
    putting->hint.n_adds = result->n_adds;
    putting->hint.size_in_bytes = result->size_bytes;
    return SILT_OK;
}
