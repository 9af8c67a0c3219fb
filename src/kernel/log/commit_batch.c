/*
 * Batches of commits; see commit_batch.h. Each commit of a batch has its slot with an arena and an error record of its own,
 * so that slots are parsed by several threads without sharing anything.
 */
#include "kernel/log/commit_batch.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"

/* A batch ends at either bound, whichever comes first. */
#define BATCH_MAX_COMMITS 1024
#define BATCH_MAX_BYTES (INT64_C(32) * 1024 * 1024)

struct slot {
    struct sl_arena arena;
    struct sl_commit commit;
    const struct sl_log_file *file;
    silt_read_request *request; /* NULL: the commit is in memory */
    silt_status status;
    silt_error err;
};

struct batch {
    const struct sl_commits_request *request;
    silt_storage *storage;
    const silt_env *env;
    struct slot *slots;
    silt_read_request *requests; /* of the slots that are files of the store */
    size_t n_requests;
    size_t n;
    struct sl_arena paths;
};

static void keep_answer(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* looked at when the batch is complete */
}

static void parse_slot(void *arg, size_t index)
{
    struct batch *batch = arg;
    struct slot *slot = &batch->slots[index];
    silt_read_request *request = slot->request;
    if (request != NULL && request->status != SILT_OK) {
        slot->status = sl_fail(&slot->err, request->status,
                               request->status == SILT_ENOTFOUND ? "DELTA_LOG_FILE_NOT_FOUND" : NULL,
                               "cannot read commit %" PRId64 " (%s): %s", slot->file->version, request->path,
                               silt_status_name(request->status));
        sl_error_version(&slot->err, slot->file->version);
        return;
    }
    silt_status (*const parse)(const silt_env *, struct sl_arena *, int64_t, struct sl_str, struct sl_commit *,
                               silt_error *) = batch->request->info_only ? sl_commit_parse_info : sl_commit_parse;
    const struct sl_str bytes = request != NULL ? sl_str_make(request->data, request->data_len) : slot->file->content;
    slot->status = parse(batch->env, &slot->arena, slot->file->version, bytes, &slot->commit, &slot->err);
    slot->commit.modified_ms = slot->file->modified_ms;
    if (request != NULL) {
        if (slot->status != SILT_OK) {
            sl_error_path(&slot->err, request->path);
        }
        silt_read_request_release(batch->storage, request);
    }
}

static silt_status prepare(struct batch *batch, const struct sl_log_file *files, size_t n, silt_error *err)
{
    batch->slots = sl_alloc_zero(batch->env, n * sizeof(*batch->slots));
    batch->requests = sl_alloc_zero(batch->env, n * sizeof(*batch->requests));
    if (batch->slots == NULL || batch->requests == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        sl_arena_init(&batch->slots[i].arena, batch->env);
        batch->slots[i].file = &files[i];
        batch->slots[i].err = (silt_error)SILT_ERROR_INIT;
        if (files[i].content.ptr != NULL) {
            continue;
        }
        const struct sl_str path = sl_log_path(&batch->paths, batch->request->source->root, files[i].name);
        if (path.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        batch->slots[i].request = &batch->requests[batch->n_requests++];
        *batch->slots[i].request = (silt_read_request){.path = path.ptr, .offset = 0, .length = -1};
    }
    return SILT_OK;
}

static void release(struct batch *batch)
{
    for (size_t i = 0; i < batch->n_requests; i++) {
        silt_read_request_release(batch->storage, &batch->requests[i]);
    }
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->slots != NULL) {
            sl_arena_release(&batch->slots[i].arena);
        }
    }
    sl_release(batch->env, batch->slots, batch->n * sizeof(*batch->slots));
    sl_release(batch->env, batch->requests, batch->n * sizeof(*batch->requests));
    sl_arena_release(&batch->paths);
}

static silt_status visit_slots(struct batch *batch,
                               silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                    silt_error *err),
                               void *ctx, bool *stop, silt_error *err)
{
    for (size_t i = batch->n; i > 0 && !*stop; i--) {
        struct slot *slot = &batch->slots[i - 1];
        if (slot->status == SILT_ENOTFOUND && batch->request->missing == SL_MISSING_IS_PAST) {
            continue;
        }
        if (slot->status != SILT_OK) {
            if (err != NULL) {
                *err = slot->err;
            }
            return slot->status;
        }
        SL_TRY(visit(ctx, &slot->commit, stop, err));
    }
    return SILT_OK;
}

/* How many of the last n files make a batch. */
static size_t batch_size(const struct sl_log_file *files, size_t n)
{
    int64_t bytes = 0;
    size_t count = 0;
    while (count < n && count < BATCH_MAX_COMMITS) {
        const int64_t size = files[n - 1 - count].size;
        if (count > 0 && (size > BATCH_MAX_BYTES || bytes > BATCH_MAX_BYTES - size)) {
            break;
        }
        bytes += size > 0 && size <= BATCH_MAX_BYTES ? size : 0;
        count++;
    }
    return count;
}

silt_status sl_commits_each(const struct sl_commits_request *request, const silt_call *call,
                            silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                 silt_error *err),
                            void *ctx, silt_error *err)
{
    const struct sl_log_source *source = request->source;
    const silt_env *env = silt_engine_env(source->engine);
    bool stop = false;
    size_t left = request->n;
    silt_status status = SILT_OK;
    while (left > 0 && !stop && status == SILT_OK) {
        const size_t count = batch_size(request->files, left);
        struct batch batch = {.request = request, .storage = source->storage, .env = env, .n = count};
        sl_arena_init(&batch.paths, env);
        status = prepare(&batch, request->files + left - count, count, err);
        if (status == SILT_OK) {
            status = silt_storage_read_many(source->storage, call, batch.requests, batch.n_requests, keep_answer, NULL,
                                            err);
        }
        if (status == SILT_OK) {
            sl_parallel_for(sl_engine_executor(source->engine), count, parse_slot, &batch);
            status = visit_slots(&batch, visit, ctx, &stop, err);
        }
        release(&batch);
        left -= count;
        sl_call_progress(call, "reading log", (int64_t)(request->n - left), (int64_t)request->n);
    }
    return status;
}
