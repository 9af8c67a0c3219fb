/*
 * Dispatch of reads, and the memory that they hand out. Every request of a batch is completed exactly once, whatever
 * the store does: callers keep state for each request and must not wait for ever or be called twice.
 *
 * Called by the kernel, by engines and by stores that wrap stores. Any thread.
 */
#include "kernel/engine/storage_int.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Batches up to this size are tracked without allocating. */
#define INLINE_BATCH 64

/* A batch on its way through the dispatch. */
struct batch {
    silt_storage *storage;
    silt_read_request *requests;
    size_t n;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
    unsigned char *completed; /* n flags */
    const char *breach;       /* what the store did wrong, NULL so far */
};

static void clear_answer(silt_read_request *request)
{
    request->status = SILT_EIO;
    request->data = NULL;
    request->data_len = 0;
    request->file_size = -1;
}

static const char *judge_answer(const silt_read_request *request)
{
    if (!sl_status_known(request->status)) {
        return "the status of a read is none that there is";
    }
    if (request->status != SILT_OK) {
        return NULL;
    }
    if ((request->data == NULL) != (request->data_len == 0)) {
        return "a read gave bytes without a length, or a length without bytes";
    }
    if (request->length >= 0 && (uint64_t)request->data_len > (uint64_t)request->length) {
        return "a read gave more than was asked for";
    }
    if (request->file_size < -1) {
        return "a read gave a negative file size";
    }
    return NULL;
}

/* The place of a request in the batch; n for a pointer that is none of ours. */
static size_t find_request(const struct batch *batch, const silt_read_request *request)
{
    uintptr_t at = (uintptr_t)request;
    uintptr_t begin = (uintptr_t)batch->requests;
    if (at < begin || at >= begin + batch->n * sizeof(*request) || (at - begin) % sizeof(*request) != 0) {
        return batch->n;
    }
    return (at - begin) / sizeof(*request);
}

static void complete_request(void *ctx, silt_read_request *request)
{
    struct batch *batch = ctx;
    size_t index = find_request(batch, request);
    if (index == batch->n) {
        batch->breach = "a request that was not made was completed";
        return;
    }
    if (batch->completed[index] != 0) {
        batch->breach = "a request was completed twice";
        return;
    }
    batch->completed[index] = 1;
    const char *breach = judge_answer(request);
    if (breach != NULL) {
        batch->breach = breach;
        request->status = SILT_EIO;
    }
    if (request->status != SILT_OK) {
        silt_read_request_release(batch->storage, request);
    }
    batch->on_done(batch->ctx, request);
}

/* Completes what the store, or the lack of one, left open. */
static void complete_rest(struct batch *batch, silt_status status)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->completed == NULL || batch->completed[i] == 0) {
            clear_answer(&batch->requests[i]);
            batch->requests[i].status = status;
            batch->on_done(batch->ctx, &batch->requests[i]);
        }
    }
}

static silt_status check_requests(const struct batch *batch, const silt_call *call, silt_error *err)
{
    if (batch->n == 0) {
        return sl_storage_begin(batch->storage, call, "-", err);
    }
    for (size_t i = 0; i < batch->n; i++) {
        SL_TRY(sl_storage_begin(batch->storage, i == 0 ? call : NULL, batch->requests[i].path, err));
        if (batch->requests[i].length < -1) {
            return sl_fail(err, SILT_EINVALID, NULL, "a read asks for %lld bytes",
                           (long long)batch->requests[i].length);
        }
    }
    return SILT_OK;
}

static size_t count_open(const struct batch *batch)
{
    size_t open = 0;
    for (size_t i = 0; i < batch->n; i++) {
        open += batch->completed[i] == 0 ? 1 : 0;
    }
    return open;
}

/* What the messages about a batch call it. */
static const char *name_batch(const struct batch *batch)
{
    return batch->n > 0 ? batch->requests[0].path : "nothing";
}

silt_status silt_storage_read_many(silt_storage *storage, const silt_call *call, silt_read_request *requests,
                                   size_t n, void (*on_done)(void *ctx, silt_read_request *request), void *ctx,
                                   silt_error *err)
{
    if (on_done == NULL || (requests == NULL && n > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "read_many needs requests and a callback");
    }
    struct batch batch = {.storage = storage, .requests = requests, .n = n, .on_done = on_done, .ctx = ctx};
    unsigned char inline_flags[INLINE_BATCH] = {0};
    silt_status status = check_requests(&batch, call, err);
    if (status == SILT_OK && n > INLINE_BATCH) {
        batch.completed = sl_alloc_zero(storage->env, n);
        status = batch.completed == NULL ? sl_fail_nomem(err) : SILT_OK;
    } else {
        batch.completed = inline_flags;
    }
    if (status != SILT_OK) {
        batch.completed = NULL;
        complete_rest(&batch, status);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        clear_answer(&requests[i]);
    }
    /* Paths are the caller's and may be gone once its requests are done. */
    const char *name = n > 0 ? NULL : name_batch(&batch);
    char first[SILT_ERROR_PATH_SIZE];
    if (n > 0) {
        (void)snprintf(first, sizeof(first), "%s", name_batch(&batch));
        name = first;
    }
    silt_error found = SILT_ERROR_INIT;
    status = storage->slots.read_many(storage->impl, call, requests, n, complete_request, &batch, &found);
    if (count_open(&batch) > 0) {
        complete_rest(&batch, status != SILT_OK && sl_status_known(status) ? status : SILT_EIO);
        if (status == SILT_OK) {
            batch.breach = "a request was not completed";
        }
    }
    if (batch.breach != NULL) {
        status = sl_storage_breach(storage, batch.breach, &found);
    }
    if (n > INLINE_BATCH) {
        sl_release(storage->env, batch.completed, n);
    }
    return sl_storage_finish(status, "reading", name, &found, err);
}
