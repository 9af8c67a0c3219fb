/*
 * Rows of checkpoints; see checkpoint_stream.h. Every batch has values in one column; the others are null in it.
 */
#include "kernel/checkpoint/checkpoint_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/action/action_arrow.h"
#include "kernel/checkpoint/checkpoint_adds.h"
#include "kernel/checkpoint/checkpoint_derive.h"
#include "kernel/scan/shared_batch.h"

enum phase {
    PHASE_STATE,
    PHASE_ADDS,
    PHASE_REMOVES,
    PHASE_DONE
};

struct sl_checkpoint_stream {
    const silt_env *env;
    struct sl_checkpoint_stream_request request;
    silt_schema *schema;
    struct ArrowSchema arrow;
    enum phase phase;
    size_t next_action;
    struct sl_add_stream *adds;
    struct sl_add_deriver deriver;
    struct sl_shared_batch *batch; /* whose rows from `row` on were not drawn; NULL: none */
    int64_t row, n_rows;
    bool batch_is_adds;
    int64_t left; /* rows that the stream which is drawn may still have */
    int64_t drawn, drawn_adds;
    int64_t add_bytes; /* of the batches so far; -1: more than a number holds */
};

/* The place of a kind's column; SIZE_MAX: it is not written. */
static size_t column_of(const struct sl_checkpoint_stream *stream, enum sl_action_kind kind)
{
    const char *name = sl_shape_of(kind)->name;
    for (int64_t i = 0; i < stream->arrow.n_children; i++) {
        if (strcmp(stream->arrow.children[i]->name, name) == 0) {
            return (size_t)i;
        }
    }
    return SIZE_MAX;
}

/* ---- opening ---- */

static silt_status open_adds(struct sl_checkpoint_stream *stream, silt_error *err)
{
    const struct sl_checkpoint_stream_request *request = &stream->request;
    const struct sl_add_stream_request adds = {.content = request->content,
                                               .layout = request->layout,
                                               .order = request->order,
                                               .call = request->call,
                                               .share = request->share};
    const size_t column = column_of(stream, SL_ACTION_ADD);
    if (column == SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "a checkpoint with files needs the column add");
    }
    SL_TRY(sl_add_stream_open(&adds, &stream->adds, err));
    return sl_add_deriver_init(&stream->deriver, stream->env, request->layout, sl_add_stream_schema(stream->adds),
                               sl_add_stream_parsed(stream->adds), stream->arrow.children[column], err);
}

silt_status sl_checkpoint_stream_open(const struct sl_checkpoint_stream_request *request,
                                      struct sl_checkpoint_stream **out, silt_error *err)
{
    const silt_env *env = request->content->env;
    *out = NULL;
    struct sl_checkpoint_stream *stream = sl_alloc_zero(env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    *out = stream;
    stream->env = env;
    stream->request = *request;
    SL_TRY(sl_checkpoint_layout_schema(env, request->layout, &stream->schema, err));
    SL_TRY(silt_schema_to_arrow(stream->schema, &stream->arrow, err));
    return request->files ? open_adds(stream, err) : SILT_OK;
}

void sl_checkpoint_stream_close(struct sl_checkpoint_stream *stream)
{
    if (stream != NULL) {
        sl_shared_batch_unref(stream->batch);
        sl_add_deriver_release(&stream->deriver);
        sl_add_stream_close(stream->adds);
        sl_arrow_schema_release(&stream->arrow);
        silt_schema_unref(stream->schema);
        sl_release(stream->env, stream, sizeof(*stream));
    }
}

const silt_schema *sl_checkpoint_stream_schema(const struct sl_checkpoint_stream *stream)
{
    return stream->schema;
}

int64_t sl_checkpoint_stream_rows(const struct sl_checkpoint_stream *stream)
{
    return stream->drawn;
}

int64_t sl_checkpoint_stream_adds(const struct sl_checkpoint_stream *stream)
{
    return stream->drawn_adds;
}

int64_t sl_checkpoint_stream_add_bytes(const struct sl_checkpoint_stream *stream)
{
    return stream->add_bytes;
}

bool sl_checkpoint_stream_is_bad(const struct sl_checkpoint_stream *stream)
{
    return stream->adds != NULL && sl_add_stream_is_bad(stream->adds);
}

/* ---- batches ---- */

/* Actions of one kind that follow each other. */
static silt_status next_state(struct sl_checkpoint_stream *stream, struct ArrowArray *out, silt_error *err)
{
    const struct sl_checkpoint_state *state = stream->request.state;
    if (state == NULL || stream->next_action >= state->n) {
        return SILT_OK;
    }
    const enum sl_action_kind kind = state->actions[stream->next_action].kind;
    const size_t column = column_of(stream, kind);
    struct sl_action_rows rows;
    struct ArrowArray built = {0};
    if (column == SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "a checkpoint lacks the column %s", sl_shape_of(kind)->name);
    }
    SL_TRY(sl_action_rows_init(&rows, stream->env, stream->arrow.children[column], kind, err));
    silt_status status = SILT_OK;
    while (status == SILT_OK && stream->next_action < state->n && state->actions[stream->next_action].kind == kind) {
        status = sl_action_rows_put(&rows, sl_action_body_const(&state->actions[stream->next_action++]), err);
    }
    if (status == SILT_OK) {
        status = sl_action_rows_take(&rows, &built, err);
    }
    if (status == SILT_OK) {
        status = sl_action_rows_batch(stream->env, &stream->arrow, column, &built, out, err);
    }
    sl_action_rows_release(&rows);
    return status;
}

static void sum_sizes(struct sl_checkpoint_stream *stream, size_t column, const struct ArrowArray *batch)
{
    const struct ArrowSchema *types = stream->arrow.children[column];
    const struct ArrowArray *adds = batch->children[column];
    for (int64_t k = 0; k < types->n_children; k++) {
        if (strcmp(types->children[k]->name, "size") != 0) {
            continue;
        }
        const struct ArrowArray *sizes = adds->children[k];
        const int64_t *values = (const int64_t *)sizes->buffers[1] + sizes->offset + adds->offset + batch->offset;
        for (int64_t i = 0; i < batch->length && stream->add_bytes >= 0; i++) {
            if (!sl_add_i64(stream->add_bytes, values[i], &stream->add_bytes)) {
                stream->add_bytes = -1;
            }
        }
    }
}

static silt_status next_adds(struct sl_checkpoint_stream *stream, struct ArrowArray *out, silt_error *err)
{
    struct ArrowArray raw = {0};
    struct ArrowArray column = {0};
    if (stream->adds == NULL) {
        return SILT_OK;
    }
    SL_TRY(sl_add_stream_next(stream->adds, &raw, err));
    if (raw.release == NULL) {
        return SILT_OK;
    }
    const size_t at = column_of(stream, SL_ACTION_ADD);
    SL_TRY(sl_add_deriver_column(&stream->deriver, &raw, &column, err));
    SL_TRY(sl_action_rows_batch(stream->env, &stream->arrow, at, &column, out, err));
    sum_sizes(stream, at, out);
    return SILT_OK;
}

static silt_status next_removes(struct sl_checkpoint_stream *stream, struct ArrowArray *out, silt_error *err)
{
    const size_t column = column_of(stream, SL_ACTION_REMOVE);
    const size_t part = stream->request.share != NULL ? (size_t)stream->request.share->part : 0;
    struct sl_action_rows *rows = &stream->request.content->removes[part];
    struct ArrowArray built = {0};
    if (!stream->request.files || column == SIZE_MAX || sl_action_rows_length(rows) == 0) {
        return SILT_OK;
    }
    SL_TRY(sl_action_rows_take(rows, &built, err));
    sl_action_rows_release(rows);
    return sl_action_rows_batch(stream->env, &stream->arrow, column, &built, out, err);
}

/* Makes sure that there is a batch with rows, unless all are drawn. */
static silt_status need_batch(struct sl_checkpoint_stream *stream, silt_error *err)
{
    while (stream->batch == NULL && stream->phase != PHASE_DONE) {
        struct ArrowArray batch = {0};
        SL_TRY(stream->phase == PHASE_STATE  ? next_state(stream, &batch, err)
               : stream->phase == PHASE_ADDS ? next_adds(stream, &batch, err)
                                             : next_removes(stream, &batch, err));
        if (batch.release == NULL) {
            stream->phase++;
            continue;
        }
        stream->row = 0;
        stream->n_rows = batch.length;
        stream->batch_is_adds = stream->phase == PHASE_ADDS;
        if (batch.length == 0) {
            sl_arrow_array_release(&batch);
            continue;
        }
        SL_TRY(sl_shared_batch_new(stream->env, &batch, &stream->batch, err));
    }
    return SILT_OK;
}

silt_status sl_checkpoint_stream_more(struct sl_checkpoint_stream *stream, bool *more, silt_error *err)
{
    *more = false;
    SL_TRY(need_batch(stream, err));
    *more = stream->batch != NULL;
    return SILT_OK;
}

/* ---- drawing ---- */

static silt_status draw_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct sl_checkpoint_stream *stream = ctx;
    return sl_arrow_schema_copy(stream->env, &stream->arrow, out, err);
}

static silt_status draw_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct sl_checkpoint_stream *stream = ctx;
    *batch = (struct ArrowArray){0};
    if (stream->left <= 0) {
        return SILT_OK;
    }
    SL_TRY(need_batch(stream, err));
    if (stream->batch == NULL) {
        return SILT_OK;
    }
    const int64_t rest = stream->n_rows - stream->row;
    const int64_t n = rest < stream->left ? rest : stream->left;
    const bool is_whole = stream->row == 0 && n == stream->n_rows;
    if (!is_whole) {
        SL_TRY(sl_shared_batch_slice(stream->batch, stream->row, n, batch, err));
    }
    stream->row += n;
    stream->left -= n;
    stream->drawn += n;
    stream->drawn_adds += stream->batch_is_adds ? n : 0;
    if (is_whole) {
        sl_shared_batch_give(stream->batch, batch);
        stream->batch = NULL;
    } else if (stream->row == stream->n_rows) {
        sl_shared_batch_unref(stream->batch);
        stream->batch = NULL;
    }
    return SILT_OK;
}

static void draw_close(void *ctx)
{
    (void)ctx; /* the stream that is drawn from lives on */
}

silt_status sl_checkpoint_stream_draw(struct sl_checkpoint_stream *stream, int64_t max_rows,
                                      struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {draw_schema, draw_next, draw_close};
    stream->left = max_rows;
    return sl_arrow_stream_new(stream->env, &source, stream, out, err);
}
