/* Parts one after the other, several at once; see part_stream.h. */
#include "storage/remote/part_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define MIN_LIMIT ((size_t)64 * 1024 * 1024) /* a server may ignore a range of a small file */

struct sl_part_stream {
    const struct sl_part_source *source;
    const silt_read_stream *taker;
    silt_read_request *requests;
    struct sl_exchange *exchanges; /* one for each */
    struct sl_part *parts;         /* the same */
    char *owns;                    /* the same, own_size bytes each */
    bool failed;                   /* some part has */
    silt_status status;            /* why a part could not be asked for */
    silt_error error;
};

static void begin_attempt(struct sl_part *part)
{
    sl_range_flow_begin(&part->flow, part->request);
    part->flow.bare = part->stream->source->class->finish != NULL;
}

int64_t sl_part_came(struct sl_part *part)
{
    if (part->attempt + 1 != part->exchange->attempts) { /* this answer had no body, but one before it */
        begin_attempt(part);
    }
    return part->flow.taken;
}

static silt_status check(const struct sl_part *part, silt_error *err)
{
    const struct sl_part_class *class = part->stream->source->class;
    return class->check != NULL ? class->check(part, err) : SILT_OK;
}

/* The body of an attempt, as it comes. What it fails of is not better the next time. */
static silt_status take_bytes(void *user, const void *data, size_t n, silt_error *err)
{
    struct sl_part *part = user;
    const silt_read_stream *taker = part->stream->taker;
    const char *bytes = data;
    int64_t at = 0;
    silt_status status = SILT_OK;
    if (part->attempt != part->exchange->attempts) {
        part->attempt = part->exchange->attempts;
        begin_attempt(part);
    }
    if (!part->flow.opened) {
        status = check(part, err);
    }
    if (status == SILT_OK) {
        status = sl_range_flow_take(&part->flow, &part->exchange->request, &bytes, &n, &at, err);
    }
    if (status == SILT_OK && n > 0) {
        status = taker->on_bytes(taker->ctx, part->request, at, bytes, n, err);
    }
    part->exchange->request.final = status != SILT_OK;
    return status;
}

static silt_status prepare_part(struct sl_part *part, silt_error *err)
{
    const struct sl_part_source *source = part->stream->source;
    const silt_read_request *request = part->request;
    part->range = sl_range_put(request, part->range_text) ? part->range_text : NULL;
    part->max_answer = (uint64_t)request->length > MIN_LIMIT ? (size_t)request->length : MIN_LIMIT;
    begin_attempt(part);
    SL_TRY(source->class->begin(source->store, part, err));
    part->exchange->request.sink = take_bytes;
    part->exchange->request.user = part;
    return SILT_OK;
}

static bool next_part(void *ctx, struct sl_exchange *exchange)
{
    struct sl_part_stream *stream = ctx;
    const struct sl_part_class *class = stream->source->class;
    const size_t i = (size_t)(exchange - stream->exchanges);
    struct sl_part *part = &stream->parts[i];
    if (stream->status != SILT_OK || !stream->taker->next(stream->taker->ctx, &stream->requests[i])) {
        return false;
    }
    *part = (struct sl_part){.stream = stream,
                             .request = &stream->requests[i],
                             .exchange = exchange,
                             .own = stream->owns + i * class->own_size};
    memset(part->own, 0, class->own_size);
    *exchange = (struct sl_exchange){0};
    stream->status = prepare_part(part, &stream->error);
    part->request->status = stream->status;
    if (stream->status != SILT_OK) {
        class->end(part);
    }
    return stream->status == SILT_OK;
}

/* By what the headers say of the range. */
static silt_status judge_range(struct sl_part *part, silt_error *err)
{
    struct sl_exchange *exchange = part->exchange;
    const int code = exchange->request.code;
    if (exchange->status == SILT_OK && code == 416) { /* the file ends before the range, if it says no other */
        return sl_range_take(part->stream->source->context->env, &exchange->request, part->request, err);
    }
    if (exchange->status != SILT_OK || (code != 200 && code != 206)) {
        return part->stream->source->class->fail(part, err);
    }
    SL_TRY(check(part, err));
    (void)sl_part_came(part);
    return sl_range_flow_end(&part->flow, &exchange->request, err);
}

static silt_status end_part(struct sl_part *part, silt_error *err)
{
    const struct sl_part_class *class = part->stream->source->class;
    const silt_read_stream *taker = part->stream->taker;
    SL_TRY(class->finish != NULL ? class->finish(part, err) : judge_range(part, err));
    return taker->on_part(taker->ctx, part->request, err);
}

static silt_status part_done(void *ctx, struct sl_exchange *exchange, silt_error *err)
{
    struct sl_part_stream *stream = ctx;
    struct sl_part *part = &stream->parts[exchange - stream->exchanges];
    const silt_status status = end_part(part, err);
    sl_exchange_release(exchange);
    stream->source->class->end(part);
    if (status != SILT_OK && !stream->failed) { /* the others go with it and are not to blame */
        part->request->status = status;
        stream->failed = true;
    }
    return status;
}

silt_status sl_part_stream_run(const struct sl_part_source *source, const silt_call *call,
                               const silt_read_stream *stream, silt_read_request *requests, size_t n, silt_error *err)
{
    const silt_env *env = source->context->env;
    struct sl_part_stream run = {.source = source, .taker = stream, .requests = requests, .error = SILT_ERROR_INIT};
    const struct sl_exchange_feed feed = {.ctx = &run, .next = next_part, .on_done = part_done};
    silt_status status = SILT_OK;
    run.parts = sl_alloc_array(env, n, sizeof(*run.parts));
    run.owns = sl_alloc_array(env, n, source->class->own_size);
    run.exchanges = sl_alloc_array(env, n, sizeof(*run.exchanges));
    if (run.parts == NULL || run.owns == NULL || run.exchanges == NULL) {
        status = sl_fail_nomem(err);
    } else {
        status = sl_exchange_run_feed(source->context->http, env, NULL, call, run.exchanges, n, &feed, err);
    }
    if (status == SILT_OK && run.status != SILT_OK) {
        status = sl_error_take(err, &run.error);
    }
    sl_release(env, run.parts, n * sizeof(*run.parts));
    sl_release(env, run.owns, n * source->class->own_size);
    sl_release(env, run.exchanges, n * sizeof(*run.exchanges));
    return status;
}
