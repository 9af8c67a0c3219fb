/*
 * A store that tells of every finished operation of another: for traces, and for tests that count round trips. Each
 * request of a batch of reads is an operation of its own, timed from the start of the batch.
 *
 * Any thread; the listener is called on the thread that called the store.
 */
#include "silt/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"
#include "silt/version.h"
#include "storage/decorator.h"

struct trace {
    struct sl_decorator base;
    void (*on_event)(void *ctx, const silt_trace_event *event);
    void *ctx;
};

/* Completes and tells of an event; started_us is in the environment's monotonic time. */
static silt_status tell(const struct trace *trace, int64_t started_us, silt_trace_event event)
{
    event.size = sizeof(event);
    event.duration_us = sl_monotonic_us(trace->base.env) - started_us;
    trace->on_event(trace->ctx, &event);
    return event.status;
}

struct traced_batch {
    const struct trace *trace;
    int64_t started_us;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
};

static void trace_done(void *ctx, silt_read_request *request)
{
    const struct traced_batch *batch = ctx;
    (void)tell(batch->trace, batch->started_us,
               (silt_trace_event){.operation = "read",
                                  .path = request->path,
                                  .status = request->status,
                                  .bytes = (int64_t)request->data_len});
    batch->on_done(batch->ctx, request);
}

static silt_status trace_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct trace *trace = impl;
    struct traced_batch batch = {
        .trace = trace, .started_us = sl_monotonic_us(trace->base.env), .on_done = on_done, .ctx = ctx};
    return silt_storage_read_many(trace->base.inner, call, requests, n, trace_done, &batch, err);
}

/* ---- streams: an event a part, when it is there or the stream fails ---- */

struct traced_stream {
    const struct trace *trace;
    const silt_read_stream *stream;
    const silt_read_request *requests;
    int64_t started_us[SL_MAX_AT_ONCE]; /* of the part under way, of each request */
    bool under_way[SL_MAX_AT_ONCE];
};

static bool trace_next(void *ctx, silt_read_request *request)
{
    struct traced_stream *traced = ctx;
    const size_t i = (size_t)(request - traced->requests);
    traced->under_way[i] = traced->stream->next(traced->stream->ctx, request);
    traced->started_us[i] = sl_monotonic_us(traced->trace->base.env);
    return traced->under_way[i];
}

static silt_status trace_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                               silt_error *err)
{
    const struct traced_stream *traced = ctx;
    return traced->stream->on_bytes(traced->stream->ctx, request, at, bytes, n, err);
}

static void tell_part(struct traced_stream *traced, const silt_read_request *request, silt_status status)
{
    const size_t i = (size_t)(request - traced->requests);
    traced->under_way[i] = false;
    (void)tell(traced->trace, traced->started_us[i],
               (silt_trace_event){.operation = "read",
                                  .path = request->path,
                                  .status = status,
                                  .bytes = status == SILT_OK ? (int64_t)request->data_len : 0});
}

static silt_status trace_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct traced_stream *traced = ctx;
    tell_part(traced, request, SILT_OK);
    return traced->stream->on_part(traced->stream->ctx, request, err);
}

static silt_status trace_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                     silt_read_request *requests, size_t n, silt_error *err)
{
    const struct trace *trace = impl;
    struct traced_stream traced = {.trace = trace, .stream = stream, .requests = requests};
    const silt_read_stream passing = {.size = sizeof(passing),
                                      .at_once = (uint32_t)n,
                                      .ctx = &traced,
                                      .next = trace_next,
                                      .on_bytes = trace_bytes,
                                      .on_part = trace_part};
    const silt_status status = sl_storage_pass_stream(trace->base.inner, call, &passing, requests, n, err);
    for (size_t i = 0; i < n; i++) {
        if (traced.under_way[i]) {
            tell_part(&traced, &requests[i], status);
        }
    }
    return status;
}

static silt_status trace_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_list(trace->base.inner, call, dir, options, on_entry, ctx, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "list", .path = dir, .status = status});
}

static silt_status trace_list_folders(void *impl, const silt_call *call, const char *dir,
                                      bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                      silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_list_folders(trace->base.inner, call, dir, on_folder, ctx, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "list", .path = dir, .status = status});
}

static silt_status trace_creation(void *impl, const silt_call *call, const struct sl_creation *creation,
                                  silt_put_outcome *outcome, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = creation->put(trace->base.inner, call, creation->path, creation->data, creation->data_len,
                                       outcome, err);
    return tell(trace, started_us,
                (silt_trace_event){.operation = creation->operation,
                                   .path = creation->path,
                                   .status = status,
                                   .outcome = *outcome,
                                   .bytes = (int64_t)creation->data_len});
}

static silt_status trace_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_put(trace->base.inner, call, path, data, data_len, err);
    return tell(trace, started_us,
                (silt_trace_event){.operation = "put", .path = path, .status = status, .bytes = (int64_t)data_len});
}

static silt_status trace_put_fresh(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_put_fresh(trace->base.inner, call, path, data, data_len, err);
    return tell(
        trace, started_us,
        (silt_trace_event){.operation = "put_fresh", .path = path, .status = status, .bytes = (int64_t)data_len});
}

static silt_status trace_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_stat(trace->base.inner, call, path, size_bytes, modified_ms, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "stat", .path = path, .status = status});
}

static silt_status trace_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_remove(trace->base.inner, call, path, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "remove", .path = path, .status = status});
}

static silt_status trace_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_adopt(trace->base.inner, call, local, path, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "adopt", .path = path, .status = status});
}

static silt_status trace_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = silt_storage_remove_tree(trace->base.inner, call, dir, err);
    return tell(trace, started_us, (silt_trace_event){.operation = "remove_tree", .path = dir, .status = status});
}

static silt_status trace_upload_append(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, size_t *unit, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    silt_status status = sl_decorator_upload_append(impl, call, upload, data, data_len, unit, err);
    return tell(trace, started_us,
                (silt_trace_event){.operation = "upload_append",
                                   .path = silt_upload_path(upload),
                                   .status = status,
                                   .bytes = (int64_t)data_len});
}

static silt_status trace_upload_finish(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, silt_error *err)
{
    const struct trace *trace = impl;
    int64_t started_us = sl_monotonic_us(trace->base.env);
    char *path = sl_strdup_len(trace->base.env, silt_upload_path(upload), strlen(silt_upload_path(upload)));
    silt_status status = silt_upload_finish(upload, call, data, data_len, err);
    status = tell(trace, started_us,
                  (silt_trace_event){.operation = "upload_finish",
                                     .path = path != NULL ? path : "",
                                     .status = status,
                                     .bytes = (int64_t)data_len});
    sl_strfree(trace->base.env, path);
    return status;
}

static const silt_storage_vtable trace_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "trace",
    .close = sl_decorator_close,
    .read_many = trace_read_many,
    .read_stream = trace_read_stream,
    .list = trace_list,
    .list_folders = trace_list_folders,
    .put_if_absent = sl_decorator_put_if_absent,
    .put_hint = sl_decorator_put_hint,
    .put_beside = sl_decorator_put_beside,
    .put = trace_put,
    .put_fresh = trace_put_fresh,
    .stat = trace_stat,
    .remove = trace_remove,
    .local_path = sl_decorator_local_path,
    .adopt = trace_adopt,
    .remove_tree = trace_remove_tree,
    .upload_begin = sl_decorator_upload_begin,
    .upload_append = trace_upload_append,
    .upload_finish = trace_upload_finish,
    .upload_abort = sl_decorator_upload_abort,
};

silt_status silt_storage_trace_new(const silt_env *env, silt_storage *inner,
                                   void (*on_event)(void *ctx, const silt_trace_event *event), void *ctx,
                                   silt_storage **out, silt_error *err)
{
    if (on_event == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a trace needs a listener");
    }
    const struct trace trace = {.on_event = on_event, .ctx = ctx};
    const struct sl_decorator_spec spec = {
        .slots = &trace_slots, .impl = &trace, .size = sizeof(trace), .create = trace_creation};
    return sl_decorator_new(env, inner, &spec, out, err);
}
