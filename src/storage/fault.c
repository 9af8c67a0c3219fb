/*
 * A store that fails on demand, for tests: before an operation of the inner store, or after it, as when an answer is
 * lost. Each request of a batch of reads is an operation of its own.
 *
 * Any thread; decide is called on the thread that called the store.
 */
#include "silt/storage.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"
#include "silt/version.h"
#include "storage/decorator.h"

struct fault {
    struct sl_decorator base;
    silt_fault_action (*decide)(void *ctx, uint64_t number, const char *operation, const char *path);
    void *ctx;
    atomic_uint_least64_t next_number;
};

static silt_fault_action decide(struct fault *fault, const char *operation, const char *path)
{
    uint64_t number = atomic_fetch_add_explicit(&fault->next_number, 1, memory_order_relaxed);
    return fault->decide(fault->ctx, number, operation, path);
}

static silt_status inject(silt_error *err, silt_fault_action action)
{
    return sl_fail(err, SILT_EIO, NULL, "injected fault %s the operation",
                   action == SILT_FAULT_BEFORE ? "before" : "after");
}

/* What came of an operation that was let through. */
static silt_status lose_answer(silt_status status, silt_fault_action action, silt_error *err)
{
    return status == SILT_OK && action == SILT_FAULT_AFTER ? inject(err, action) : status;
}

/* ---- reads ---- */

/* How much of the answer is handed on. */
static size_t shorten(const char *bytes, size_t n, silt_fault_action action)
{
    if (action == SILT_FAULT_EMPTY || n == 0) {
        return 0;
    }
    size_t end = n - 1; /* the last line's own end does not count */
    while (end > 0 && bytes[end - 1] != '\n') {
        end--;
    }
    return end;
}

static bool is_short(silt_fault_action action)
{
    return action == SILT_FAULT_SHORT || action == SILT_FAULT_EMPTY;
}

/* A block keeps the size that it is freed with. */
static void cut_answer(const struct fault *fault, silt_read_request *request, silt_fault_action action, silt_error *err)
{
    const size_t n = shorten(request->data, request->data_len, action);
    void *block = n > 0 ? sl_resize(fault->base.env, request->data, request->data_len, n) : NULL;
    if (n > 0 && block == NULL) {
        silt_read_request_release(fault->base.inner, request);
        request->status = sl_fail_nomem(err);
        return;
    }
    if (n == 0) {
        silt_read_request_release(fault->base.inner, request);
    } else {
        request->data = block;
        request->data_len = n;
    }
    request->file_size = request->offset >= 0 ? request->offset + (int64_t)n : -1;
}

struct faulty_batch {
    struct fault *fault;
    silt_read_request *requests;
    const silt_fault_action *actions;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
    silt_error *err; /* told of what is injected */
};

static void fault_done(void *ctx, silt_read_request *request)
{
    const struct faulty_batch *batch = ctx;
    const silt_fault_action action = batch->actions[request - batch->requests];
    if (request->status == SILT_OK && is_short(action)) {
        cut_answer(batch->fault, request, action, batch->err);
    } else if (request->status == SILT_OK && action == SILT_FAULT_AFTER) {
        silt_read_request_release(batch->fault->base.inner, request);
        request->file_size = -1;
        request->status = inject(batch->err, SILT_FAULT_AFTER);
    }
    batch->on_done(batch->ctx, request);
}

/* Hands on runs of requests that are let through, and fails the others between them. */
static silt_status run_batch(struct faulty_batch *batch, const silt_call *call, size_t n, silt_error *err)
{
    silt_status whole = SILT_OK;
    size_t i = 0;
    while (i < n) {
        if (batch->actions[i] == SILT_FAULT_BEFORE) {
            batch->requests[i].status = inject(err, SILT_FAULT_BEFORE);
            batch->on_done(batch->ctx, &batch->requests[i]);
            i++;
            continue;
        }
        size_t end = i + 1;
        while (end < n && batch->actions[end] != SILT_FAULT_BEFORE) {
            end++;
        }
        silt_status status = silt_storage_read_many(batch->fault->base.inner, call, batch->requests + i, end - i,
                                                    fault_done, batch, err);
        whole = status != SILT_OK ? status : whole;
        i = end;
    }
    return whole;
}

static silt_status fault_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action *actions = sl_alloc_array(fault->base.env, n, sizeof(*actions));
    if (actions == NULL) {
        return sl_fail_nomem(err); /* the dispatch completes the requests */
    }
    for (size_t i = 0; i < n; i++) {
        actions[i] = decide(fault, "read", requests[i].path);
    }
    struct faulty_batch batch = {
        .fault = fault, .requests = requests, .actions = actions, .on_done = on_done, .ctx = ctx, .err = err};
    silt_status status = run_batch(&batch, call, n, err);
    sl_release(fault->base.env, actions, n * sizeof(*actions));
    return status;
}

/* ---- streams: each part is a read; one that fails, or would be cut, ends the stream ---- */

struct faulty_stream {
    struct fault *fault;
    const silt_read_stream *stream;
    const silt_read_request *requests;
    silt_fault_action actions[SL_MAX_AT_ONCE]; /* for the part under way, of each request */
    bool refused;                              /* a part was not let through */
};

static bool fault_next(void *ctx, silt_read_request *request)
{
    struct faulty_stream *faulty = ctx;
    if (faulty->refused || !faulty->stream->next(faulty->stream->ctx, request)) {
        return false;
    }
    const silt_fault_action action = decide(faulty->fault, "read", request->path);
    faulty->actions[request - faulty->requests] = action;
    if (action == SILT_FAULT_BEFORE || is_short(action)) {
        request->status = SILT_EIO;
        faulty->refused = true;
    }
    return !faulty->refused;
}

static silt_status fault_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                               silt_error *err)
{
    const struct faulty_stream *faulty = ctx;
    return faulty->stream->on_bytes(faulty->stream->ctx, request, at, bytes, n, err);
}

/* Its bytes were handed on, but not that they are all. */
static silt_status fault_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    const struct faulty_stream *faulty = ctx;
    if (faulty->actions[request - faulty->requests] == SILT_FAULT_AFTER) {
        return inject(err, SILT_FAULT_AFTER);
    }
    return faulty->stream->on_part(faulty->stream->ctx, request, err);
}

static silt_status fault_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                     silt_read_request *requests, size_t n, silt_error *err)
{
    struct faulty_stream faulty = {.fault = impl, .stream = stream, .requests = requests};
    const silt_read_stream passing = {.size = sizeof(passing),
                                      .at_once = (uint32_t)n,
                                      .ctx = &faulty,
                                      .next = fault_next,
                                      .on_bytes = fault_bytes,
                                      .on_part = fault_part};
    SL_TRY(sl_storage_pass_stream(faulty.fault->base.inner, call, &passing, requests, n, err));
    return faulty.refused ? inject(err, SILT_FAULT_BEFORE) : SILT_OK;
}

/* ---- the other slots ---- */

static silt_status fault_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "list", dir);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    silt_status status = silt_storage_list(fault->base.inner, call, dir, options, on_entry, ctx, err);
    return lose_answer(status, action, err);
}

static silt_status fault_list_folders(void *impl, const silt_call *call, const char *dir,
                                      bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                      silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "list", dir);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    silt_status status = silt_storage_list_folders(fault->base.inner, call, dir, on_folder, ctx, err);
    return lose_answer(status, action, err);
}

static void forget_outcome(silt_status status, silt_fault_action action, silt_put_outcome *outcome, silt_error *err)
{
    if (status == SILT_OK && action == SILT_FAULT_AFTER) {
        (void)inject(err, action); /* tells why the outcome is not known */
        *outcome = SILT_PUT_AMBIGUOUS;
    }
}

static silt_status fault_creation(void *impl, const silt_call *call, const struct sl_creation *creation,
                                  silt_put_outcome *outcome, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, creation->operation, creation->path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    silt_status status = creation->put(fault->base.inner, call, creation->path, creation->data, creation->data_len,
                                       outcome, err);
    forget_outcome(status, action, outcome, err);
    return status;
}

static silt_status fault_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "put", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_put(fault->base.inner, call, path, data, data_len, err), action, err);
}

static silt_status fault_put_fresh(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "put_fresh", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_put_fresh(fault->base.inner, call, path, data, data_len, err), action, err);
}

static silt_status fault_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "stat", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_stat(fault->base.inner, call, path, size_bytes, modified_ms, err), action, err);
}

static silt_status fault_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "remove", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_remove(fault->base.inner, call, path, err), action, err);
}

static silt_status fault_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "adopt", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_adopt(fault->base.inner, call, local, path, err), action, err);
}

static silt_status fault_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "remove_tree", dir);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(silt_storage_remove_tree(fault->base.inner, call, dir, err), action, err);
}

static silt_status fault_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                      silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "upload_begin", path);
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    SL_TRY(sl_decorator_upload_begin(impl, call, path, upload, unit, err));
    if (action == SILT_FAULT_AFTER) {
        silt_upload_abort(*upload);
        return inject(err, action);
    }
    return SILT_OK;
}

static silt_status fault_upload_append(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, size_t *unit, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "upload_append", silt_upload_path(upload));
    if (action == SILT_FAULT_BEFORE) {
        return inject(err, action);
    }
    return lose_answer(sl_decorator_upload_append(impl, call, upload, data, data_len, unit, err), action, err);
}

static silt_status fault_upload_finish(void *impl, const silt_call *call, void *upload, const void *data,
                                       size_t data_len, silt_error *err)
{
    struct fault *fault = impl;
    silt_fault_action action = decide(fault, "upload_finish", silt_upload_path(upload));
    if (action == SILT_FAULT_BEFORE) {
        silt_upload_abort(upload);
        return inject(err, action);
    }
    return lose_answer(silt_upload_finish(upload, call, data, data_len, err), action, err);
}

static const silt_storage_vtable fault_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "fault",
    .close = sl_decorator_close,
    .read_many = fault_read_many,
    .read_stream = fault_read_stream,
    .list = fault_list,
    .list_folders = fault_list_folders,
    .put_if_absent = sl_decorator_put_if_absent,
    .put_hint = sl_decorator_put_hint,
    .put_beside = sl_decorator_put_beside,
    .put = fault_put,
    .put_fresh = fault_put_fresh,
    .stat = fault_stat,
    .remove = fault_remove,
    .local_path = sl_decorator_local_path,
    .adopt = fault_adopt,
    .remove_tree = fault_remove_tree,
    .upload_begin = fault_upload_begin,
    .upload_append = fault_upload_append,
    .upload_finish = fault_upload_finish,
    .upload_abort = sl_decorator_upload_abort,
};

silt_status silt_storage_fault_new(const silt_env *env, silt_storage *inner,
                                   silt_fault_action (*decide_action)(void *ctx, uint64_t number, const char *operation,
                                                                      const char *path),
                                   void *ctx, silt_storage **out, silt_error *err)
{
    if (decide_action == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a fault injector needs a function that decides");
    }
    struct fault fault = {.decide = decide_action, .ctx = ctx};
    atomic_init(&fault.next_number, 0);
    const struct sl_decorator_spec spec = {
        .slots = &fault_slots, .impl = &fault, .size = sizeof(fault), .create = fault_creation};
    return sl_decorator_new(env, inner, &spec, out, err);
}
