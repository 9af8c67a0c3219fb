/*
 * A merge of the older checkpoint's adds with those of the commits; see checkpoint_adds.h.
 *
 * The files of the commits are sorted in memory. The older checkpoint is taken for sorted until a row shows that it is not: from then on
 * rows are gathered to windows, which are sorted and handed out one by one.
 */
#include "kernel/checkpoint/checkpoint_adds.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/checkpoint/checkpoint_base.h"
#include "kernel/checkpoint/checkpoint_plan.h"
#include "kernel/checkpoint/checkpoint_window.h"
#include "kernel/scan/batch.h"

#define BATCH_ROWS 2048

/* A file of the commits. */
struct tail_file {
    struct sl_str key; /* in keys */
    sl_file_pos pos;
};

struct sl_add_stream {
    const silt_env *env;
    struct sl_add_stream_request request;
    struct sl_base base; /* the older checkpoint */
    bool base_done;
    bool is_bad;
    /* The commits. */
    struct sl_arena tail_keys;
    struct sl_vec tail; /* struct tail_file, sorted */
    size_t next_tail;
    struct sl_file_cursor cursor;
    struct sl_action_rows built; /* the column "add" of what comes from the commits */
    /* Of the batch at hand. */
    struct sl_vec picks; /* struct sl_arrow_pick; source 0: the older checkpoint, 1: built */
    bool picks_all;      /* every row of the batch, in its order */
    struct sl_buf last_key;
    bool has_last_key;
    struct sl_window window;
    bool is_windowed;
};

/* ---- opening ---- */

static int compare_tail(const struct tail_file *a, const struct tail_file *b)
{
    const int order = sl_order_compare(a->key, b->key);
    return order != 0 ? order : (a->pos > b->pos) - (a->pos < b->pos);
}

static int compare_tail_void(const void *a, const void *b)
{
    return compare_tail(a, b);
}

static silt_status add_tail_file(struct sl_add_stream *stream, const struct sl_add *add, sl_file_pos pos,
                                 silt_error *err)
{
    struct tail_file *file = sl_vec_push(&stream->tail);
    struct sl_str key = {NULL, 0};
    if (file == NULL) {
        return sl_fail_nomem(err);
    }
    file->pos = pos;
    if (stream->request.order == NULL) {
        return SILT_OK;
    }
    SL_TRY(sl_row_order_key(stream->request.order, &add->partition_values, add->stats, &key, err));
    file->key = sl_arena_copy(&stream->tail_keys, key);
    return file->key.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status list_tail(struct sl_add_stream *stream, silt_error *err)
{
    const struct sl_part_share *share = stream->request.share;
    struct sl_file_cursor cursor;
    silt_status status = SILT_OK;
    sl_file_pos pos = 0;
    size_t next = 0;
    sl_file_cursor_init(&cursor, stream->request.content->files, true);
    while (status == SILT_OK && (share != NULL ? next < share->n_files : sl_file_cursor_step(&cursor, &pos))) {
        struct sl_add add = {0};
        pos = share != NULL ? share->files[next++] : pos;
        status = sl_file_cursor_at(&cursor, pos, &add, err);
        if (status == SILT_OK) {
            status = add_tail_file(stream, &add, pos, err);
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

static silt_status sort_tail(struct sl_add_stream *stream, silt_error *err)
{
    SL_TRY(list_tail(stream, err));
    if (stream->tail.len > 1) {
        qsort(stream->tail.data, stream->tail.len, sizeof(struct tail_file), compare_tail_void);
    }
    return SILT_OK;
}

static silt_status open_stream(struct sl_add_stream *stream, silt_error *err)
{
    const struct sl_add_stream_request *request = &stream->request;
    const struct sl_part_share *share = request->share;
    struct sl_base_request base = {.content = request->content, .layout = request->layout, .call = request->call};
    if (share != NULL) {
        base.held = share->held;
        base.knows_parsed = share->knows_parsed;
        base.parsed = share->parsed;
    }
    SL_TRY(sort_tail(stream, err));
    SL_TRY(sl_base_open(&stream->base, &base, err));
    return sl_action_rows_init(&stream->built, stream->env, stream->base.schema.children[0], SL_ACTION_ADD, err);
}

silt_status sl_add_stream_open(const struct sl_add_stream_request *request, struct sl_add_stream **out, silt_error *err)
{
    const silt_env *env = request->content->env;
    *out = NULL;
    struct sl_add_stream *stream = sl_alloc_zero(env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->env = env;
    stream->request = *request;
    sl_arena_init(&stream->tail_keys, env);
    sl_vec_init(&stream->tail, env, sizeof(struct tail_file));
    sl_vec_init(&stream->picks, env, sizeof(struct sl_arrow_pick));
    sl_buf_init(&stream->last_key, env);
    sl_file_cursor_init(&stream->cursor, request->content->files, true);
    sl_window_init(&stream->window, env);
    *out = stream;
    return open_stream(stream, err);
}

void sl_add_stream_close(struct sl_add_stream *stream)
{
    if (stream == NULL) {
        return;
    }
    sl_window_release(&stream->window);
    sl_file_cursor_release(&stream->cursor);
    sl_action_rows_release(&stream->built);
    sl_buf_release(&stream->last_key);
    sl_vec_release(&stream->picks);
    sl_vec_release(&stream->tail);
    sl_arena_release(&stream->tail_keys);
    sl_base_release(&stream->base);
    sl_release(stream->env, stream, sizeof(*stream));
}

const struct ArrowSchema *sl_add_stream_schema(const struct sl_add_stream *stream)
{
    return &stream->base.schema;
}

enum sl_raw_parsed sl_add_stream_parsed(const struct sl_add_stream *stream)
{
    return stream->base.parsed;
}

bool sl_add_stream_is_bad(const struct sl_add_stream *stream)
{
    return stream->is_bad || stream->base.is_bad;
}

/* ---- one batch ---- */

static silt_status pick(struct sl_add_stream *stream, uint32_t source, uint32_t row, struct sl_str key, silt_error *err)
{
    struct sl_arrow_pick *picked = sl_vec_push(&stream->picks);
    if (picked == NULL) {
        return sl_fail_nomem(err);
    }
    *picked = (struct sl_arrow_pick){.source = source, .row = row};
    return stream->request.order != NULL ? sl_window_add_key(&stream->window, key, err) : SILT_OK;
}

static silt_status pick_tail(struct sl_add_stream *stream, silt_error *err)
{
    const struct tail_file *file = sl_vec_at(&stream->tail, stream->next_tail);
    struct sl_add add;
    SL_TRY(sl_file_cursor_at(&stream->cursor, file->pos, &add, err));
    SL_TRY(pick(stream, 1, (uint32_t)sl_action_rows_length(&stream->built), file->key, err));
    SL_TRY(sl_action_rows_put(&stream->built, &add, err));
    stream->next_tail++;
    stream->picks_all = false;
    return SILT_OK;
}

/* Files of the commits that stand before this key. */
static silt_status pick_before(struct sl_add_stream *stream, struct sl_str key, silt_error *err)
{
    while (stream->next_tail < stream->tail.len) {
        const struct tail_file *file = sl_vec_at(&stream->tail, stream->next_tail);
        if (sl_order_compare(file->key, key) >= 0) {
            break;
        }
        SL_TRY(pick_tail(stream, err));
    }
    return SILT_OK;
}

static silt_status note_key(struct sl_add_stream *stream, struct sl_str key, silt_error *err)
{
    const int order = stream->has_last_key ? sl_order_compare(sl_buf_view(&stream->last_key), key) : -1;
    if (order == 0) {
        return SILT_OK;
    }
    stream->is_windowed = stream->is_windowed || order > 0;
    sl_buf_clear(&stream->last_key);
    sl_buf_put_str(&stream->last_key, key);
    stream->has_last_key = true;
    return sl_buf_status(&stream->last_key, err);
}

/* Of another part? Rows that are held are of the one that is written. */
static bool is_of_other(const struct sl_add_stream *stream, const struct sl_file_row *file)
{
    const struct sl_part_share *share = stream->request.share;
    return share != NULL && share->held == NULL &&
           sl_checkpoint_part_of(file->path, file->deletion_vector, share->with_vectors, share->n_parts) != share->part;
}

static silt_status pick_row(struct sl_add_stream *stream, int64_t row, silt_error *err)
{
    struct sl_file_row file;
    struct sl_str key = {NULL, 0};
    bool alive = false;
    SL_TRY(sl_base_row(&stream->base, row, &file, &alive, err));
    if (!alive || is_of_other(stream, &file)) {
        stream->picks_all = false;
        return SILT_OK;
    }
    if (stream->request.order != NULL) {
        const struct sl_kv_list values = {file.values, file.n_values};
        struct sl_str stats = {NULL, 0};
        if (sl_row_order_needs_stats(stream->request.order) && !sl_add_batch_stats(&stream->base.rows, row, &stats)) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "checkpoint holds an unusable add.stats");
        }
        SL_TRY(sl_row_order_key(stream->request.order, &values, stats, &key, err));
        SL_TRY(note_key(stream, key, err));
        SL_TRY(pick_before(stream, key, err));
    }
    return pick(stream, 0, (uint32_t)row, key, err);
}

/* The rows that were picked; takes the batch in every case. */
static silt_status take_picked(struct sl_add_stream *stream, struct ArrowArray *batch, struct ArrowArray *out,
                               silt_error *err)
{
    struct ArrowArray built = {0};
    struct ArrowArray column = {0};
    struct ArrowArray *sources[2] = {batch, &built};
    silt_status status = SILT_OK;
    if (stream->picks_all) {
        sl_arrow_array_move(out, batch);
        return SILT_OK;
    }
    if (sl_action_rows_length(&stream->built) > 0) {
        status = sl_action_rows_take(&stream->built, &column, err);
        if (status == SILT_OK) {
            status = sl_action_rows_batch(stream->env, &stream->base.schema, 0, &column, &built, err);
        }
    }
    if (status == SILT_OK && batch->release == NULL) {
        sl_arrow_array_move(out, &built); /* at the end, all are of the commits and in order */
    } else if (status == SILT_OK) {
        status = sl_arrow_take(stream->env, &stream->base.schema, sources, stream->picks.data, stream->picks.len, out,
                               err);
    }
    sl_arrow_array_release(&built);
    sl_arrow_array_release(batch);
    return status;
}

static silt_status next_of_base(struct sl_add_stream *stream, struct ArrowArray *out, silt_error *err)
{
    struct ArrowArray batch = {0};
    SL_TRY(sl_base_next(&stream->base, &batch, &stream->base_done, err));
    if (stream->base_done) {
        return SILT_OK;
    }
    silt_status status = SILT_OK;
    stream->picks_all = stream->base.rows.n == batch.length;
    for (int64_t row = 0; status == SILT_OK && row < stream->base.rows.n; row++) {
        status = pick_row(stream, row, err);
    }
    if (status != SILT_OK) {
        stream->is_bad = sl_checkpoint_is_bad(status);
        sl_arrow_array_release(&batch);
        return status;
    }
    return take_picked(stream, &batch, out, err);
}

static silt_status next_of_tail(struct sl_add_stream *stream, struct ArrowArray *out, silt_error *err)
{
    struct ArrowArray none = {0};
    while (stream->next_tail < stream->tail.len && stream->picks.len < BATCH_ROWS) {
        SL_TRY(pick_tail(stream, err));
    }
    return stream->picks.len > 0 ? take_picked(stream, &none, out, err) : SILT_OK;
}

/* A batch as it comes, of no row perhaps; released at the end. */
static silt_status next_batch(struct sl_add_stream *stream, struct ArrowArray *out, silt_error *err)
{
    *out = (struct ArrowArray){0};
    stream->picks.len = 0;
    stream->picks_all = true;
    if (!stream->base_done) {
        const silt_status status = next_of_base(stream, out, err);
        if (status != SILT_OK || !stream->base_done) {
            return status;
        }
    }
    return next_of_tail(stream, out, err);
}

silt_status sl_add_stream_next(struct sl_add_stream *stream, struct ArrowArray *batch, silt_error *err)
{
    *batch = (struct ArrowArray){0};
    if (sl_window_is_taking(&stream->window)) {
        return sl_window_take(&stream->window, &stream->base.schema, batch, err);
    }
    for (;;) {
        SL_TRY(next_batch(stream, batch, err));
        if (batch->release == NULL) {
            return sl_window_take(&stream->window, &stream->base.schema, batch, err); /* the last one, if any is left */
        }
        if (!stream->is_windowed) {
            sl_window_forget_keys(&stream->window);
            if (batch->length > 0) {
                return SILT_OK;
            }
            sl_arrow_array_release(batch);
            continue;
        }
        SL_TRY(sl_window_add(&stream->window, batch, err));
        if (sl_window_is_full(&stream->window)) {
            return sl_window_take(&stream->window, &stream->base.schema, batch, err);
        }
    }
}
