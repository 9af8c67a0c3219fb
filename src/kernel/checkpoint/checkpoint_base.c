/*
 * Reading the older checkpoint's adds; see checkpoint_base.h.
 */
#include "kernel/checkpoint/checkpoint_base.h"

#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/snapshot/checkpoint_word.h"

void sl_held_rows_init(struct sl_held_rows *held, const silt_env *env)
{
    *held = (struct sl_held_rows){0};
    sl_vec_init(&held->batches, env, sizeof(struct ArrowArray));
}

void sl_held_rows_release(struct sl_held_rows *held)
{
    for (size_t i = held->next; i < held->batches.len; i++) {
        sl_arrow_array_release(sl_vec_at(&held->batches, i));
    }
    sl_vec_release(&held->batches);
    *held = (struct sl_held_rows){.batches = held->batches};
}

/* ---- opening ---- */

static silt_status open_as(struct sl_base *base, enum sl_raw_parsed parsed, silt_error *err)
{
    const struct sl_checkpoint_content *content = base->request.content;
    const struct sl_checkpoint *checkpoint = &content->view->checkpoint;
    silt_schema_unref(base->raw);
    base->raw = NULL;
    base->parsed = parsed;
    SL_TRY(sl_checkpoint_raw_schema(base->env, base->request.layout, parsed, &base->raw, err));
    if (checkpoint->n_parquet == 0 || base->request.held != NULL) {
        return SILT_OK;
    }
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = content->source.storage,
                                    .files = checkpoint->parquet,
                                    .n_files = checkpoint->n_parquet,
                                    .schema = base->raw,
                                    .lax_structs = true}; /* an add has a path, else it is none */
    return sl_parquet_read(content->source.engine, base->request.call, &read, &base->stream, err);
}

/* Typed statistics in the types that the table has now, or without their bounds, or not at all. */
static silt_status open_files(struct sl_base *base, silt_error *err)
{
    const struct sl_checkpoint_content *content = base->request.content;
    const struct sl_checkpoint_files files = {.source = &content->source, .checkpoint = &content->view->checkpoint};
    bool has_parsed = false;
    if (base->request.knows_parsed) {
        return open_as(base, base->request.parsed, err);
    }
    SL_TRY(sl_checkpoint_has_parsed(&files, base->request.call, &has_parsed, err));
    if (!has_parsed) {
        return open_as(base, SL_RAW_TEXT, err);
    }
    for (int parsed = SL_RAW_PARSED; parsed <= SL_RAW_COUNTS; parsed++) {
        silt_error found = SILT_ERROR_INIT;
        const silt_status status = open_as(base, (enum sl_raw_parsed)parsed, &found);
        if (status != SILT_ESCHEMA) {
            if (status != SILT_OK && err != NULL) {
                *err = found;
            }
            return status;
        }
    }
    return open_as(base, SL_RAW_TEXT, err);
}

silt_status sl_base_open(struct sl_base *base, const struct sl_base_request *request, silt_error *err)
{
    const struct sl_checkpoint_content *content = request->content;
    *base = (struct sl_base){.env = content->env, .request = *request};
    sl_add_batch_init(&base->rows, base->env);
    sl_key_maker_init(&base->keys, base->env, content->source.root, NULL);
    sl_key_maker_init(&base->others, base->env, content->source.root, NULL);
    if (request->held == NULL) {
        sl_doubles_rewind(content->doubles);
    }
    const silt_status status = open_files(base, err);
    if (status != SILT_OK) {
        base->is_bad = sl_checkpoint_is_bad(status);
        sl_error_context(err, "checkpoint of version %" PRId64, content->view->checkpoint.version);
        return status;
    }
    return silt_schema_to_arrow(base->raw, &base->schema, err);
}

void sl_base_release(struct sl_base *base)
{
    sl_key_maker_release(&base->keys);
    sl_key_maker_release(&base->others);
    sl_add_batch_release(&base->rows);
    sl_arrow_stream_release(&base->stream);
    sl_arrow_schema_release(&base->schema);
    silt_schema_unref(base->raw);
    *base = (struct sl_base){0};
}

/* ---- the end ---- */

/* The older checkpoint may have lost its files; a new one without them would be believed by everybody. */
static silt_status check_files(const struct sl_base *base, silt_error *err)
{
    const struct sl_checkpoint_content *content = base->request.content;
    const struct sl_checkpoint_counts none = {.n_rows = -1};
    return base->n_adds == 0 && content->view->checkpoint.json_path.ptr == NULL
               ? sl_checkpoint_word_check(content->snapshot, content->view, base->request.call, &none, true, err)
               : SILT_OK;
}

static silt_status check_doubles(const struct sl_base *base, silt_error *err)
{
    const struct sl_checkpoint_content *content = base->request.content;
    if (content->doubles->is_settled) {
        return SILT_OK;
    }
    SL_TRY(sl_doubles_settle(content->doubles, err));
    return content->doubles->hashes.len == 0
               ? SILT_OK
               : sl_fail(err, SILT_ECONFLICT, NULL, "the checkpoint of version %" PRId64 " names files more than once",
                         content->view->checkpoint.version);
}

/* ---- rows ---- */

static silt_status next_held(struct sl_held_rows *held, struct ArrowArray *batch, bool *done)
{
    *done = held->next == held->batches.len;
    if (!*done) {
        sl_arrow_array_move(batch, sl_vec_at(&held->batches, held->next++));
    }
    return SILT_OK;
}

static silt_status next_read(struct sl_base *base, struct ArrowArray *batch, bool *done, silt_error *err)
{
    SL_TRY(sl_arrow_stream_next(&base->stream, batch, done, err));
    if (*done) {
        SL_TRY(check_files(base, err));
        return check_doubles(base, err);
    }
    return SILT_OK;
}

silt_status sl_base_next(struct sl_base *base, struct ArrowArray *batch, bool *done, silt_error *err)
{
    const struct sl_base_request *request = &base->request;
    *batch = (struct ArrowArray){0};
    *done = request->held == NULL && request->content->view->checkpoint.n_parquet == 0;
    if (*done) {
        return SILT_OK;
    }
    silt_status status = sl_call_check(base->env, request->call, err);
    if (status == SILT_OK) {
        status = request->held != NULL ? next_held(request->held, batch, done) : next_read(base, batch, done, err);
    }
    if (status == SILT_OK && !*done) {
        status = sl_add_batch_bind(&base->rows, &base->schema, batch, err);
    }
    if (status != SILT_OK) {
        base->is_bad = sl_checkpoint_is_bad(status);
        sl_arrow_array_release(batch);
    }
    return status;
}

/* By what the commits decided, or because the older checkpoint named it before. */
static silt_status is_gone(struct sl_base *base, const struct sl_file_row *file, bool *gone, silt_error *err)
{
    const struct sl_checkpoint_content *content = base->request.content;
    const struct sl_key_probe decided = {.keys = content->decided, .files = content->files, .maker = &base->others};
    struct sl_file_key key;
    *gone = false;
    if (decided.keys->n == 0 && sl_doubles_are_none(content->doubles)) {
        return SILT_OK;
    }
    if (!sl_key_make(&base->keys, file->path, file->deletion_vector, &key) || !sl_key_set_find(&decided, &key, gone)) {
        return sl_fail_nomem(err);
    }
    return *gone ? SILT_OK : sl_doubles_note(content->doubles, &key, gone, err);
}

silt_status sl_base_row(struct sl_base *base, int64_t row, struct sl_file_row *file, bool *alive, silt_error *err)
{
    bool gone = false;
    *file = (struct sl_file_row){0};
    silt_status status = sl_add_batch_row(&base->rows, row, file, alive, err);
    if (status == SILT_OK && *alive && base->request.held == NULL) {
        base->n_adds++;
        status = is_gone(base, file, &gone, err);
    }
    *alive = status == SILT_OK && *alive && !gone;
    base->is_bad = base->is_bad || sl_checkpoint_is_bad(status);
    return status;
}
