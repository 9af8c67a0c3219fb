/*
 * Dispatch of streams of parts. What a store hands on is compared with what it was asked for, as in storage_read.c: bytes follow each
 * other, and are never more than the part has. Stores that have no such slot are read in batches.
 *
 * Any thread.
 */
#include "kernel/engine/storage_int.h"
#include "kernel/engine/storage_wrap.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* A stream on its way through the dispatch. */
struct flow {
    silt_storage *storage;
    const silt_read_stream *stream;
    size_t n;
    silt_read_request *requests;
    int64_t came[SL_MAX_AT_ONCE]; /* bytes of the attempt at hand; -1: the request is free */
    silt_status status;           /* what the caller did wrong, or the batch at hand met */
    silt_error error;
    const char *breach; /* what the store did wrong, NULL so far */
};

static bool find(struct flow *flow, const silt_read_request *request, size_t *index)
{
    const uintptr_t begin = (uintptr_t)flow->requests;
    const uintptr_t at = (uintptr_t)request;
    if (at < begin || at >= begin + flow->n * sizeof(*request) || (at - begin) % sizeof(*request) != 0) {
        flow->breach = "a stream was given a request that is none of its own";
        return false;
    }
    *index = (at - begin) / sizeof(*request);
    return true;
}

/* ---- what the store calls ---- */

static bool next_part(void *ctx, silt_read_request *request)
{
    struct flow *flow = ctx;
    size_t i = 0;
    if (flow->status != SILT_OK || !find(flow, request, &i)) {
        return false;
    }
    if (flow->came[i] >= 0) {
        flow->breach = "a request of a stream was filled before its part was there";
        return false;
    }
    *request = (silt_read_request){.status = SILT_OK, .file_size = -1};
    if (!flow->stream->next(flow->stream->ctx, request)) {
        return false;
    }
    if (request->path == NULL || request->offset < 0 || request->length <= 0) {
        flow->status = sl_fail(&flow->error, SILT_EINVALID, NULL,
                               "a part of a stream needs a path, an offset and a length");
        return false;
    }
    flow->came[i] = 0;
    return true;
}

static silt_status breach(struct flow *flow, const char *what, silt_error *err)
{
    flow->breach = what;
    return sl_storage_breach(flow->storage, what, err);
}

static silt_status pass_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                              silt_error *err)
{
    struct flow *flow = ctx;
    size_t i = 0;
    if (!find(flow, request, &i) || flow->came[i] < 0) {
        return breach(flow, "a stream gave bytes that belong to no part", err);
    }
    if (at != 0 && at != flow->came[i]) {
        return breach(flow, "a stream left bytes out", err);
    }
    if (at < 0 || (uint64_t)n > (uint64_t)(request->length - at)) {
        return breach(flow, "a stream gave more of a part than was asked for", err);
    }
    if (memchr(request->tag, '\0', sizeof(request->tag)) == NULL) {
        return breach(flow, "a read gave a tag without an end", err);
    }
    flow->came[i] = at + (int64_t)n;
    return n > 0 ? flow->stream->on_bytes(flow->stream->ctx, request, at, bytes, n, err) : SILT_OK;
}

static silt_status pass_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct flow *flow = ctx;
    size_t i = 0;
    if (!find(flow, request, &i) || flow->came[i] < 0) {
        return breach(flow, "a stream ended a part that was not begun", err);
    }
    if ((uint64_t)request->data_len != (uint64_t)flow->came[i] || request->file_size < -1) {
        return breach(flow, "a stream told a wrong length", err);
    }
    const silt_status status = flow->stream->on_part(flow->stream->ctx, request, err);
    if (status == SILT_OK) {
        flow->came[i] = -1;
    }
    return status;
}

/* ---- in batches ---- */

static void take_answer(void *ctx, silt_read_request *request)
{
    struct flow *flow = ctx;
    silt_error err = SILT_ERROR_INIT;
    if (flow->status == SILT_OK && request->status == SILT_OK) {
        silt_status status = pass_bytes(flow, request, 0, request->data, request->data_len, &err);
        if (status == SILT_OK) {
            status = pass_part(flow, request, &err);
        }
        if (status != SILT_OK) {
            request->status = flow->status = status;
            flow->error = err;
        }
    }
    silt_read_request_release(flow->storage, request);
}

static silt_status read_batch(struct flow *flow, const silt_call *call, size_t n, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_status status = silt_storage_read_many(flow->storage, call, flow->requests, n, take_answer, flow, &found);
    if (flow->status != SILT_OK) {
        return SILT_OK; /* told by whoever looks at flow->status */
    }
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        status = flow->requests[i].status;
    }
    return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
}

static silt_status read_batches(struct flow *flow, const silt_call *call, silt_error *err)
{
    for (;;) {
        size_t n = 0;
        while (n < flow->n && next_part(flow, &flow->requests[n])) {
            n++;
        }
        if (n == 0 || flow->status != SILT_OK) {
            return SILT_OK;
        }
        SL_TRY(read_batch(flow, call, n, err));
    }
}

/* ---- the dispatch ---- */

/* For messages: of the part that failed, else of one that was under way. */
static const char *path_of(const struct flow *flow)
{
    const char *path = "-";
    for (size_t i = 0; i < flow->n; i++) {
        if (flow->requests[i].path != NULL && flow->requests[i].status != SILT_OK) {
            return flow->requests[i].path;
        }
        path = flow->came[i] >= 0 ? flow->requests[i].path : path;
    }
    return path;
}

static silt_status judge_end(struct flow *flow, silt_status returned, silt_error *found)
{
    if (flow->status != SILT_OK) {
        return sl_error_take(found, &flow->error);
    }
    for (size_t i = 0; i < flow->n && returned == SILT_OK && flow->breach == NULL; i++) {
        flow->breach = flow->came[i] < 0 ? NULL : "a part of a stream was left out";
    }
    return flow->breach != NULL ? sl_storage_breach(flow->storage, flow->breach, found) : returned;
}

static bool is_usable(const silt_read_stream *stream)
{
    return stream != NULL && stream->size >= sizeof(*stream) && stream->next != NULL && stream->on_bytes != NULL &&
           stream->on_part != NULL && stream->at_once > 0 && stream->at_once <= SL_MAX_AT_ONCE;
}

silt_status sl_storage_pass_stream(silt_storage *storage, const silt_call *call, const silt_read_stream *stream,
                                   silt_read_request *requests, size_t n, silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, "-", err));
    struct flow flow = {.storage = storage, .stream = stream, .requests = requests, .n = n, .error = SILT_ERROR_INIT};
    memset(flow.came, -1, sizeof(flow.came));
    memset(requests, 0, n * sizeof(*requests));
    const silt_read_stream passing = {.size = sizeof(passing),
                                      .at_once = (uint32_t)n,
                                      .ctx = &flow,
                                      .next = next_part,
                                      .on_bytes = pass_bytes,
                                      .on_part = pass_part};
    silt_error found = SILT_ERROR_INIT;
    const silt_status returned = storage->slots.read_stream != NULL
                                     ? storage->slots.read_stream(storage->impl, call, &passing, requests, n, &found)
                                     : read_batches(&flow, call, &found);
    return sl_storage_finish(judge_end(&flow, returned, &found), "reading", path_of(&flow), &found, err);
}

silt_status silt_storage_read_stream(silt_storage *storage, const silt_call *call, const silt_read_stream *stream,
                                     silt_error *err)
{
    silt_read_request requests[SL_MAX_AT_ONCE];
    if (!is_usable(stream)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a stream needs its callbacks, and 1 to %d parts at once",
                       SL_MAX_AT_ONCE);
    }
    return sl_storage_pass_stream(storage, call, stream, requests, stream->at_once, err);
}
