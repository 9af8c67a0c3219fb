/*
 * Reading parts of objects one after the other, several at once, whose bytes are handed on as they come. Any thread; a stream has one.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/ranges.h"
#include "storage/remote/s3/s3_int.h"

#define MIN_LIMIT ((size_t)64 * 1024 * 1024) /* a server may ignore a range of a small object */

struct part {
    struct flow *flow;
    silt_read_request *request;
    struct sl_exchange *exchange;
    struct sl_s3_ask ask;
    char text[SL_RANGE_TEXT_SIZE];
    struct sl_range_flow range;
    uint32_t attempt; /* that `range` is of */
};

struct flow {
    struct sl_s3_store *store;
    const silt_read_stream *stream;
    silt_read_request *requests;
    struct sl_exchange *exchanges; /* one for each */
    struct part *parts;            /* the same */
    bool failed;                   /* some part has */
    silt_status status;            /* why a part could not be asked for */
    silt_error error;
};

/* The body of an attempt, as it comes. What it fails of is not better the next time. */
static silt_status take_bytes(void *user, const void *data, size_t n, silt_error *err)
{
    struct part *part = user;
    const silt_read_stream *stream = part->flow->stream;
    const char *bytes = data;
    int64_t at = 0;
    if (part->attempt != part->exchange->attempts) {
        part->attempt = part->exchange->attempts;
        sl_range_flow_begin(&part->range, part->request);
    }
    silt_status status = sl_range_flow_take(&part->range, &part->exchange->request, &bytes, &n, &at, err);
    if (status == SILT_OK && n > 0) {
        status = stream->on_bytes(stream->ctx, part->request, at, bytes, n, err);
    }
    part->exchange->request.final = status != SILT_OK;
    return status;
}

static silt_status prepare_part(struct part *part, silt_error *err)
{
    struct sl_s3_store *store = part->flow->store;
    const silt_read_request *request = part->request;
    struct sl_s3_place place;
    SL_TRY(sl_s3_locate(store, request->path, &place, err));
    if (place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    part->ask = (struct sl_s3_ask){.bucket = place.bucket,
                                   .method = "GET",
                                   .key = place.key,
                                   .content = true,
                                   .max_answer = (uint64_t)request->length > MIN_LIMIT ? (size_t)request->length
                                                                                       : MIN_LIMIT};
    if (sl_range_put(request, part->text)) {
        part->ask.extra[part->ask.n_extra++] = (struct sl_http_header){"Range", part->text};
    }
    sl_s3_arm(store, &part->ask, part->exchange);
    part->exchange->request.sink = take_bytes;
    part->exchange->request.user = part;
    sl_range_flow_begin(&part->range, part->request);
    part->attempt = 0;
    return SILT_OK;
}

static bool next_part(void *ctx, struct sl_exchange *exchange)
{
    struct flow *flow = ctx;
    const size_t i = (size_t)(exchange - flow->exchanges);
    struct part *part = &flow->parts[i];
    if (flow->status != SILT_OK || !flow->stream->next(flow->stream->ctx, &flow->requests[i])) {
        return false;
    }
    *part = (struct part){.flow = flow, .request = &flow->requests[i], .exchange = exchange};
    flow->status = prepare_part(part, &flow->error);
    part->request->status = flow->status;
    return flow->status == SILT_OK;
}

static silt_status end_part(struct part *part, silt_error *err)
{
    struct sl_exchange *exchange = part->exchange;
    const silt_read_stream *stream = part->flow->stream;
    if (sl_s3_answered(exchange, 416)) { /* the object ends before the range */
        part->request->data_len = 0;
        return stream->on_part(stream->ctx, part->request, err);
    }
    if (!sl_s3_answered(exchange, 200) && !sl_s3_answered(exchange, 206)) {
        return sl_s3_fail(&part->ask, exchange, err);
    }
    if (part->range.opened &&
        part->attempt + 1 != exchange->attempts) { /* this answer had no body, but one before it */
        sl_range_flow_begin(&part->range, part->request);
    }
    SL_TRY(sl_range_flow_end(&part->range, &exchange->request, err));
    return stream->on_part(stream->ctx, part->request, err);
}

static silt_status part_done(void *ctx, struct sl_exchange *exchange, silt_error *err)
{
    struct flow *flow = ctx;
    struct part *part = &flow->parts[exchange - flow->exchanges];
    const silt_status status = end_part(part, err);
    sl_s3_release(&part->ask, exchange);
    if (status != SILT_OK && !flow->failed) { /* the others go with it and are not to blame */
        part->request->status = status;
        flow->failed = true;
    }
    return status;
}

silt_status sl_s3_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                              silt_read_request *requests, size_t n, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct flow flow = {.store = store, .stream = stream, .requests = requests, .error = SILT_ERROR_INIT};
    const struct sl_exchange_feed feed = {.ctx = &flow, .next = next_part, .on_done = part_done};
    silt_status status = SILT_OK;
    flow.parts = sl_alloc_array(store->env, n, sizeof(*flow.parts));
    flow.exchanges = sl_alloc_array(store->env, n, sizeof(*flow.exchanges));
    if (flow.parts == NULL || flow.exchanges == NULL) {
        status = sl_fail_nomem(err);
    } else {
        status = sl_exchange_run_feed(store->context->http, store->env, NULL, call, flow.exchanges, n, &feed, err);
    }
    if (status == SILT_OK && flow.status != SILT_OK) {
        status = sl_error_take(err, &flow.error);
    }
    sl_release(store->env, flow.parts, n * sizeof(*flow.parts));
    sl_release(store->env, flow.exchanges, n * sizeof(*flow.exchanges));
    return status;
}
