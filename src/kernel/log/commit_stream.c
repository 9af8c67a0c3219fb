/*
 * Windows over a file of actions; see commit_stream.h. A window is one range of the file. The line that its end cuts is joined with
 * what follows at the beginning of the next window. Three windows go round: one is read, one parsed, one visited, all at once as
 * items of the executor; what crosses from one to the next is done between these steps, by the caller's thread.
 */
#include "kernel/log/commit_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/log/commit_piece.h"
#include "kernel/log/commit_twins.h"
#include "kernel/log/log_size.h"

#define WINDOW_BYTES (INT64_C(4) * 1024 * 1024)
/* Pieces that a window is cut into, the joint line not counted. */
#define N_PIECES 8
#define MAX_PIECES (N_PIECES + 1)
#define N_WINDOWS 3

struct window {
    silt_read_request request;
    struct sl_buf joint; /* the line that the window before began */
    struct sl_piece pieces[MAX_PIECES];
    size_t n_pieces;
};

/* Where the lines of a piece were, to find them again. */
struct extent {
    uint64_t offset;
    size_t len;
    size_t first_line;
};

struct stream {
    const struct sl_stream_request *request;
    const silt_call *call;
    const silt_env *env;
    struct window windows[N_WINDOWS];
    struct window *reading, *parsing, *visiting; /* in this step; NULL: none */
    int64_t window_bytes;
    int64_t next_offset;
    bool at_end;
    struct sl_buf carry; /* the beginning of a line */
    uint64_t carry_offset;
    size_t n_lines; /* visited */
    bool has_info;
    struct sl_commit_rules rules;
    struct sl_vec extents;
    bool stop;
    silt_status read_status, visit_status;
    silt_error read_err, visit_err;
    silt_read_request again[2]; /* ranges that were read a second time */
};

static void keep_answer(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* looked at by who asked */
}

/* ---- reading ---- */

static silt_status read_range(struct stream *stream, silt_read_request *range, int64_t offset, int64_t len,
                              silt_error *err)
{
    silt_storage *storage = stream->request->source->storage;
    silt_read_request_release(storage, range);
    *range = (silt_read_request){.path = stream->request->path, .offset = offset, .length = len};
    SL_TRY(silt_storage_read_many(storage, stream->call, range, 1, keep_answer, NULL, err));
    if (range->status != SILT_OK) {
        sl_fail(err, range->status, range->status == SILT_ENOTFOUND ? "DELTA_LOG_FILE_NOT_FOUND" : NULL,
                "cannot read %s (%s): %s", stream->request->title, range->path, silt_status_name(range->status));
        sl_error_version(err, stream->request->version);
        return range->status;
    }
    const silt_status status = sl_log_size_check(range, stream->request->size_bytes, err);
    if (status != SILT_OK) {
        sl_error_version(err, stream->request->version);
    }
    return status;
}

static silt_status read_window(struct stream *stream, struct window *window, silt_error *err)
{
    silt_read_request *request = &window->request;
    SL_TRY(read_range(stream, request, stream->next_offset, stream->window_bytes, err));
    const int64_t end = stream->next_offset + (int64_t)request->data_len;
    const int64_t size = stream->request->size_bytes >= 0 ? stream->request->size_bytes : request->file_size;
    if (size >= 0) {
        stream->at_end = end >= size;
        if (!stream->at_end && request->data_len == 0) {
            return sl_fail(err, SILT_EIO, NULL, "%s ends at byte %lld of %lld", stream->request->title, (long long)end,
                           (long long)size);
        }
    } else {
        stream->at_end = (int64_t)request->data_len < stream->window_bytes;
    }
    stream->next_offset = end;
    return SILT_OK;
}

/* ---- cutting ---- */

static size_t last_line_end(struct sl_str bytes)
{
    size_t end = bytes.len;
    while (end > 0 && bytes.ptr[end - 1] != '\n') {
        end--;
    }
    return end;
}

static silt_status carry_on(struct stream *stream, struct sl_str bytes, uint64_t offset, silt_error *err)
{
    if (stream->carry.len == 0) {
        stream->carry_offset = offset;
    }
    if (bytes.len > SL_ACTION_MAX_LINE || stream->carry.len > SL_ACTION_MAX_LINE - bytes.len) {
        return sl_fail(err, SILT_ELIMIT, NULL, "%s: a line has more than %zu bytes", stream->request->title,
                       SL_ACTION_MAX_LINE);
    }
    sl_buf_put_str(&stream->carry, bytes);
    return sl_buf_status(&stream->carry, err);
}

static void add_piece(struct window *window, struct sl_str bytes, uint64_t offset)
{
    struct sl_piece *piece = &window->pieces[window->n_pieces++];
    piece->bytes = bytes;
    piece->offset = offset;
}

/* Joins what the window before left with the first line; *used is how much of the window that took. */
static silt_status join(struct stream *stream, struct window *window, struct sl_str bytes, size_t *used,
                        silt_error *err)
{
    const char *end = bytes.len > 0 ? memchr(bytes.ptr, '\n', bytes.len) : NULL;
    *used = end != NULL ? (size_t)(end - bytes.ptr) + 1 : bytes.len;
    SL_TRY(carry_on(stream, sl_str_sub(bytes, 0, *used), 0, err));
    if (end == NULL && !stream->at_end) {
        return SILT_OK; /* a long line: it goes on in the next window */
    }
    const struct sl_buf empty = window->joint;
    window->joint = stream->carry;
    stream->carry = empty;
    sl_buf_clear(&stream->carry);
    add_piece(window, sl_buf_view(&window->joint), stream->carry_offset);
    return SILT_OK;
}

static silt_status cut_window(struct stream *stream, struct window *window, silt_error *err)
{
    const struct sl_str bytes = sl_str_make(window->request.data, window->request.data_len);
    const uint64_t offset = (uint64_t)stream->next_offset - bytes.len;
    size_t begin = 0;
    window->n_pieces = 0;
    if (stream->carry.len > 0) {
        SL_TRY(join(stream, window, bytes, &begin, err));
    }
    const size_t end = stream->at_end ? bytes.len : begin + last_line_end(sl_str_sub(bytes, begin, bytes.len));
    const struct sl_str body = sl_str_sub(bytes, begin, end);
    size_t ends[MAX_PIECES];
    const size_t n = body.len > 0 ? sl_pieces_cut(body, (size_t)stream->window_bytes / N_PIECES, N_PIECES, ends) : 0;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i > 0 ? ends[i - 1] : 0;
        add_piece(window, sl_str_sub(body, from, ends[i]), offset + begin + from);
    }
    return end < bytes.len ? carry_on(stream, sl_str_sub(bytes, end, bytes.len), offset + end, err) : SILT_OK;
}

/* ---- visiting ---- */

static silt_status name_line(const struct stream *stream, silt_status status, size_t line, silt_error *err)
{
    if (line > 0) {
        sl_error_context(err, "%s, line %zu", stream->request->title, line);
    } else {
        sl_error_context(err, "%s", stream->request->title);
    }
    sl_error_version(err, stream->request->version);
    sl_error_path(err, stream->request->path);
    return status;
}

static silt_status visit_piece(struct stream *stream, struct sl_piece *piece, silt_error *err)
{
    piece->first_line = stream->n_lines;
    size_t line = stream->n_lines + piece->n_lines;
    if (piece->status != SILT_OK) {
        *err = piece->err;
        return name_line(stream, piece->status, line, err);
    }
    if (stream->request->is_commit) {
        struct extent *extent = sl_vec_push(&stream->extents);
        if (extent == NULL) {
            return sl_fail_nomem(err);
        }
        *extent = (struct extent){piece->offset, piece->bytes.len, piece->first_line};
        const silt_status status = sl_piece_check(piece, &stream->rules, &line, err);
        if (status != SILT_OK) {
            return name_line(stream, status, line, err);
        }
    }
    stream->n_lines += piece->n_lines;
    struct sl_stream_part part = {.actions = piece->actions, .n = piece->n};
    if (piece->first_info != SIZE_MAX && !stream->has_info) {
        stream->has_info = true;
        part.commit_info = &piece->actions[piece->first_info].u.commit_info;
    }
    return stream->request->visit(stream->request->ctx, &part, &stream->stop, err);
}

static void visit_window(struct stream *stream, struct window *window)
{
    for (size_t i = 0; i < window->n_pieces && stream->visit_status == SILT_OK && !stream->stop; i++) {
        stream->visit_status = visit_piece(stream, &window->pieces[i], &stream->visit_err);
    }
}

/* ---- the end ---- */

static silt_status load_again(void *ctx, uint64_t place, unsigned slot, struct sl_twin_lines *out, silt_error *err)
{
    struct stream *stream = ctx;
    const struct extent *extents = stream->extents.data;
    size_t low = 0;
    size_t high = stream->extents.len;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (extents[middle].offset <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    silt_read_request *range = &stream->again[slot];
    SL_TRY(read_range(stream, range, (int64_t)extents[low].offset, (int64_t)extents[low].len, err));
    if (range->data_len != extents[low].len) {
        return sl_fail(err, SILT_EIO, NULL, "%s is shorter than it was a moment ago", stream->request->title);
    }
    *out = (struct sl_twin_lines){sl_str_make(range->data, range->data_len), extents[low].offset,
                                  extents[low].first_line};
    return SILT_OK;
}

static silt_status finish(struct stream *stream, silt_error *err)
{
    if (stream->request->is_commit) {
        const struct sl_twin_source source = {.load = load_again, .ctx = stream};
        size_t line = 0;
        const silt_status status = sl_commit_twins_refuse(&stream->rules, &source, &line, err);
        if (status != SILT_OK) {
            return name_line(stream, status, line, err);
        }
    }
    const struct sl_stream_part last = {.is_last = true};
    return stream->request->visit(stream->request->ctx, &last, &stream->stop, err);
}

/* ---- steps ---- */

enum step_item {
    ITEM_VISIT,
    ITEM_READ,
    ITEM_FIRST_PIECE
};

static void run_item(void *arg, size_t index)
{
    struct stream *stream = arg;
    if (index == ITEM_VISIT) {
        if (stream->visiting != NULL) {
            visit_window(stream, stream->visiting);
        }
    } else if (index == ITEM_READ) {
        if (stream->reading != NULL) {
            stream->read_status = read_window(stream, stream->reading, &stream->read_err);
        }
    } else {
        sl_piece_read(&stream->parsing->pieces[index - ITEM_FIRST_PIECE]);
    }
}

static silt_status run_step(struct stream *stream, silt_error *err)
{
    const size_t n_pieces = stream->parsing != NULL ? stream->parsing->n_pieces : 0;
    sl_parallel_for(sl_engine_executor(stream->request->source->engine), ITEM_FIRST_PIECE + n_pieces, run_item, stream);
    if (stream->visit_status != SILT_OK) {
        if (err != NULL) {
            *err = stream->visit_err;
        }
        return stream->visit_status;
    }
    if (stream->read_status != SILT_OK) {
        if (err != NULL) {
            *err = stream->read_err;
        }
        return stream->read_status;
    }
    return stream->reading != NULL && !stream->stop ? cut_window(stream, stream->reading, err) : SILT_OK;
}

static silt_status run(struct stream *stream, silt_error *err)
{
    struct window *read_last = NULL;
    struct window *parsed_last = NULL;
    size_t turn = 0;
    do {
        stream->visiting = parsed_last;
        stream->parsing = read_last;
        stream->reading = stream->at_end ? NULL : &stream->windows[turn++ % N_WINDOWS];
        SL_TRY(run_step(stream, err));
        parsed_last = stream->parsing;
        read_last = stream->reading;
    } while (!stream->stop && (parsed_last != NULL || read_last != NULL));
    return stream->stop ? SILT_OK : finish(stream, err);
}

static silt_status begin(struct stream *stream, silt_error *err)
{
    uint64_t seed = 0;
    sl_buf_init(&stream->carry, stream->env);
    sl_commit_rules_init(&stream->rules, stream->env);
    sl_vec_init(&stream->extents, stream->env, sizeof(struct extent));
    stream->read_err = (silt_error)SILT_ERROR_INIT;
    stream->visit_err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = sl_commit_seed(stream->env, &seed, err);
    for (size_t i = 0; i < N_WINDOWS; i++) {
        sl_buf_init(&stream->windows[i].joint, stream->env);
        for (size_t k = 0; k < MAX_PIECES; k++) {
            sl_piece_init(&stream->windows[i].pieces[k], stream->env, seed);
        }
    }
    return status;
}

static void end(struct stream *stream)
{
    silt_storage *storage = stream->request->source->storage;
    for (size_t i = 0; i < N_WINDOWS; i++) {
        silt_read_request_release(storage, &stream->windows[i].request);
        sl_buf_release(&stream->windows[i].joint);
        for (size_t k = 0; k < MAX_PIECES; k++) {
            sl_piece_release(&stream->windows[i].pieces[k]);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        silt_read_request_release(storage, &stream->again[i]);
    }
    sl_buf_release(&stream->carry);
    sl_commit_rules_release(&stream->rules);
    sl_vec_release(&stream->extents);
}

silt_status sl_stream_actions(const struct sl_stream_request *request, const silt_call *call, bool *stop,
                              silt_error *err)
{
    const silt_env *env = silt_engine_env(request->source->engine);
    struct stream *stream = sl_alloc_zero(env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->request = request;
    stream->call = call;
    stream->env = env;
    stream->window_bytes = request->window_bytes > 0 ? request->window_bytes : WINDOW_BYTES;
    silt_status status = begin(stream, err);
    if (status == SILT_OK) {
        status = run(stream, err);
    }
    *stop = stream->stop;
    end(stream);
    sl_release(env, stream, sizeof(*stream));
    return status;
}
