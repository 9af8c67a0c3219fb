/*
 * Dispatch of reads, and the memory that they hand out. Every request of a batch is completed exactly once, whatever
 * the store does: callers keep state for each request and must not wait for ever or be called twice.
 *
 * Called by the kernel, by engines and by stores that wrap stores. Any thread.
 */
#include "kernel/engine/storage_int.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/engine/storage_wrap.h"

/* Batches up to this size are tracked without allocating. */
#define INLINE_BATCH 64
#define KEPT_PATH 512

/* A batch on its way through the dispatch. */
struct batch {
    silt_storage *storage;
    silt_read_request *requests;
    size_t n;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
    unsigned char *completed; /* n flags */
    const char *breach;       /* what the store did wrong, NULL so far */
    char path[KEPT_PATH];     /* for messages: of the last request that failed, else of the first */
};

/* Its tail where it is long, which is more than messages show, so that a context is the same of all of it and of this. */
static void keep_path(struct batch *batch, const char *path)
{
    const size_t len = strlen(path);
    (void)snprintf(batch->path, sizeof(batch->path), "%s", path + (len < KEPT_PATH ? 0 : len - (KEPT_PATH - 1)));
}

static void clear_answer(silt_read_request *request)
{
    request->status = SILT_EIO;
    request->data = NULL;
    request->data_len = 0;
    request->file_size = -1;
    request->tag[0] = '\0';
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
    if (memchr(request->tag, '\0', sizeof(request->tag)) == NULL) {
        return "a read gave a tag without an end";
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
        keep_path(batch, request->path);
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

/* Runs the slot and completes what it left open. */
static silt_status run_batch(struct batch *batch, const silt_call *call, silt_error *found)
{
    const silt_storage *storage = batch->storage;
    silt_status status = storage->slots.read_many(storage->impl, call, batch->requests, batch->n, complete_request,
                                                  batch, found);
    if (count_open(batch) > 0) {
        if (status == SILT_OK) {
            batch->breach = "a request was not completed";
        }
        complete_rest(batch, status != SILT_OK && sl_status_known(status) ? status : SILT_EIO);
    }
    return batch->breach != NULL ? sl_storage_breach(storage, batch->breach, found) : status;
}

silt_status silt_storage_read_many(silt_storage *storage, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    if (on_done == NULL || (requests == NULL && n > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "read_many needs requests and a callback");
    }
    struct batch batch = {.storage = storage, .requests = requests, .n = n, .on_done = on_done, .ctx = ctx};
    silt_status status = check_requests(&batch, call, err);
    if (n == 0) {
        return status; /* nothing to hand on: stores may rely on at least one request */
    }
    unsigned char inline_flags[INLINE_BATCH] = {0};
    if (status == SILT_OK) {
        batch.completed = n <= INLINE_BATCH ? inline_flags : sl_alloc_zero(storage->env, n);
        status = batch.completed == NULL ? sl_fail_nomem(err) : SILT_OK;
    }
    if (status != SILT_OK) {
        complete_rest(&batch, status);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        clear_answer(&requests[i]);
    }
    /* Requests and their paths are the caller's and may be gone once they are done. */
    keep_path(&batch, requests[0].path);
    silt_error found = SILT_ERROR_INIT;
    status = run_batch(&batch, call, &found);
    if (n > INLINE_BATCH) {
        sl_release(storage->env, batch.completed, n);
    }
    return sl_storage_finish(status, "reading", batch.path, &found, err);
}

static void keep_request(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* its owner looks at it afterwards */
}

/* requests[0] brings the file; a second one, of nothing, tells its size. */
static silt_status read_whole(silt_storage *storage, const silt_call *call, silt_read_request *requests, size_t n,
                              silt_error *err)
{
    SL_TRY(silt_storage_read_many(storage, call, requests, n, keep_request, NULL, err));
    for (size_t i = 0; i < n; i++) {
        const silt_read_request *told = &requests[i];
        SL_TRY(requests[i].status);
        if (told->file_size >= 0 && (uint64_t)told->file_size != (uint64_t)requests[0].data_len) {
            return sl_fail(err, SILT_EIO, NULL, "got %zu bytes of a file of %lld", requests[0].data_len,
                           (long long)told->file_size);
        }
    }
    return SILT_OK;
}

static silt_status read_file(silt_storage *storage, const silt_call *call, const char *path, size_t n_requests,
                             void **data, size_t *data_len, silt_error *err)
{
    if (data == NULL || data_len == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "read needs out parameters");
    }
    *data = NULL;
    *data_len = 0;
    silt_read_request requests[2] = {{.path = path, .length = -1}, {.path = path, .length = 0}};
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = read_whole(storage, call, requests, n_requests, &found);
    silt_read_request_release(storage, &requests[1]);
    if (status != SILT_OK) {
        silt_read_request_release(storage, &requests[0]);
        if (path == NULL || storage == NULL) {
            return sl_fail(err, status, NULL, "%s", found.message);
        }
        return sl_storage_finish(status, "reading", path, &found, err);
    }
    *data = requests[0].data;
    *data_len = requests[0].data_len;
    return SILT_OK;
}

silt_status silt_storage_read(silt_storage *storage, const silt_call *call, const char *path, void **data,
                              size_t *data_len, silt_error *err)
{
    return read_file(storage, call, path, 1, data, data_len, err);
}

silt_status sl_storage_read_first(silt_storage *storage, const silt_call *call, struct sl_str location,
                                  const char *path, void **data, size_t *data_len, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = read_file(storage, call, path, 1, data, data_len, &found);
    if (status == SILT_EINVALID && storage != NULL && path != NULL) {
        return sl_storage_finish_location(status, path, location, &found, err);
    }
    return status != SILT_OK ? sl_error_take(err, &found) : SILT_OK;
}

silt_status sl_storage_read_sized(silt_storage *storage, const silt_call *call, const char *path, void **data,
                                  size_t *data_len, silt_error *err)
{
    return read_file(storage, call, path, 2, data, data_len, err);
}

void silt_storage_free(silt_storage *storage, void *data, size_t data_len)
{
    if (storage != NULL && data != NULL) {
        sl_release(storage->env, data, data_len);
    }
}

void silt_read_request_release(silt_storage *storage, silt_read_request *request)
{
    if (request == NULL) {
        return;
    }
    silt_storage_free(storage, request->data, request->data_len);
    request->data = NULL;
    request->data_len = 0;
}
