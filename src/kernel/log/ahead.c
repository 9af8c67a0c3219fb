/*
 * Commits that are read before they are listed; see ahead.h. Only their beginning is asked for, so that a huge one costs little that the
 * listing then makes worthless.
 */
#include "kernel/log/ahead.h"

#include "base/error.h"
#include "kernel/engine/engine.h"

/* Commits up to this size are read ahead. */
#define AHEAD_BYTES (INT64_C(1) << 20)

static void keep_answer(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* looked at when the listing is known */
}

void sl_ahead_read(struct sl_ahead *ahead, const struct sl_log_source *source, const silt_call *call, int64_t version,
                   size_t n)
{
    *ahead = (struct sl_ahead){.first_version = version};
    if (version > INT64_MAX - SL_AHEAD_COMMITS) {
        return;
    }
    ahead->first_version++;
    sl_arena_init(&ahead->paths, silt_engine_env(source->engine));
    ahead->storage = source->storage;
    while (ahead->n < n && ahead->n < SL_AHEAD_COMMITS) {
        const struct sl_str path = sl_log_commit_path(&ahead->paths, source->root, version + 1 + (int64_t)ahead->n);
        if (path.ptr == NULL) {
            break; /* whoever needs memory next says so */
        }
        ahead->requests[ahead->n++] = (silt_read_request){
            .path = path.ptr, .offset = 0, .length = AHEAD_BYTES, .status = SILT_ENOTFOUND};
    }
    silt_error ignored = SILT_ERROR_INIT;
    const silt_call quiet = {.size = sizeof(quiet),
                             .abi_version = call != NULL ? call->abi_version : 0,
                             .deadline_us = call != NULL ? call->deadline_us : 0,
                             .cancel = call != NULL ? call->cancel : NULL};
    if (ahead->n == 0 || silt_storage_read_many(source->storage, call != NULL ? &quiet : NULL, ahead->requests,
                                                ahead->n, keep_answer, NULL, &ignored) != SILT_OK) {
        sl_ahead_release(ahead);
    }
}

struct sl_str sl_ahead_find(const struct sl_ahead *ahead, const struct sl_log_file *file)
{
    const struct sl_str absent = {NULL, 0};
    if (ahead->storage == NULL || file->kind != SL_LOG_COMMIT || file->content.ptr != NULL ||
        file->version < ahead->first_version || file->version >= ahead->first_version + (int64_t)ahead->n) {
        return absent;
    }
    const silt_read_request *request = &ahead->requests[file->version - ahead->first_version];
    if (request->status != SILT_OK || request->data == NULL || (int64_t)request->data_len != file->size) {
        return absent;
    }
    return sl_str_make(request->data, request->data_len);
}

void sl_ahead_release(struct sl_ahead *ahead)
{
    if (ahead->storage == NULL) {
        return;
    }
    for (size_t i = 0; i < ahead->n; i++) {
        silt_read_request_release(ahead->storage, &ahead->requests[i]);
    }
    sl_arena_release(&ahead->paths);
    ahead->storage = NULL;
}
