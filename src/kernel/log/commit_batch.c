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
#include "kernel/log/commit_stream.h"
#include "kernel/log/log_size.h"

/* A batch ends at either bound, whichever comes first. */
#define BATCH_MAX_COMMITS 1024
#define BATCH_MAX_BYTES (INT64_C(8) * 1024 * 1024)
/* Below this, waking threads costs more than they save. */
#define PARALLEL_MIN_BYTES (INT64_C(1) * 1024 * 1024)
/* Commits from this size on are read alone: by several threads, in parts where the visitor takes them. */
#define LARGE_COMMIT (INT64_C(8) * 1024 * 1024)
/* The commitInfo mostly comes first: so much of a commit is read for it. */
#define INFO_BYTES (INT64_C(64) * 1024)

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
    const silt_call *call;
    const silt_executor *executor; /* for the inside of a commit; NULL where commits are the items */
    uint64_t seed;
};

struct visitor {
    silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err);
    void *ctx;
    const struct sl_log_file *file; /* of a commit in parts */
    bool any;                       /* something of it was visited */
};

static void keep_answer(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request; /* looked at when the batch is complete */
}

/* A catalog need not know how long the file of a commit is that it staged, and says 0: none is empty. */
static int64_t known_size(const struct sl_log_file *file)
{
    const bool untold = file->size == 0 && sl_str_starts_with(file->name, SL_STR(SL_LOG_STAGED_DIR "/"));
    return untold ? SL_SIZE_UNKNOWN : file->size;
}

/* The rest of a commit whose beginning holds no commitInfo. */
static silt_status read_all(struct batch *batch, struct slot *slot)
{
    silt_read_request *request = slot->request;
    const char *path = request->path;
    silt_read_request_release(batch->storage, request);
    *request = (silt_read_request){.path = path, .offset = 0, .length = -1};
    SL_TRY(silt_storage_read_many(batch->storage, batch->call, request, 1, keep_answer, NULL, &slot->err));
    return request->status == SILT_OK ? sl_log_size_check(request, known_size(slot->file), &slot->err)
                                      : request->status;
}

static silt_status parse_info(struct batch *batch, struct slot *slot, struct sl_str bytes)
{
    const int64_t version = slot->file->version;
    const silt_read_request *request = slot->request;
    if (request == NULL || bytes.len < (size_t)INFO_BYTES) {
        return sl_commit_parse_info(batch->env, &slot->arena, version, bytes, &slot->commit, &slot->err);
    }
    /* A line that is cut is none: what it holds is seen when all is read. */
    struct sl_str whole_lines = bytes;
    while (whole_lines.len > 0 && whole_lines.ptr[whole_lines.len - 1] != '\n') {
        whole_lines.len--;
    }
    SL_TRY(sl_commit_parse_info(batch->env, &slot->arena, version, whole_lines, &slot->commit, &slot->err));
    if (slot->commit.commit_info != NULL) {
        return SILT_OK;
    }
    SL_TRY(read_all(batch, slot));
    bytes = sl_str_make(request->data, request->data_len);
    return sl_commit_parse_info(batch->env, &slot->arena, version, bytes, &slot->commit, &slot->err);
}

/* What the store answered is the commit that was listed. */
static silt_status check_answer(struct slot *slot)
{
    const silt_read_request *request = slot->request;
    if (request == NULL) {
        return SILT_OK;
    }
    if (request->status != SILT_OK) {
        (void)sl_fail(&slot->err, request->status,
                      request->status == SILT_ENOTFOUND ? "DELTA_LOG_FILE_NOT_FOUND" : NULL,
                      "cannot read commit %" PRId64 " (%s): %s", slot->file->version, request->path,
                      silt_status_name(request->status));
        sl_error_version(&slot->err, slot->file->version);
        return request->status;
    }
    const silt_status status = sl_log_size_check(request, known_size(slot->file), &slot->err);
    if (status != SILT_OK) {
        sl_error_version(&slot->err, slot->file->version);
    }
    return status;
}

static void parse_slot(void *arg, size_t index)
{
    struct batch *batch = arg;
    struct slot *slot = &batch->slots[index];
    const silt_read_request *request = slot->request;
    slot->status = check_answer(slot);
    if (slot->status != SILT_OK) {
        return;
    }
    const struct sl_str bytes = request != NULL ? sl_str_make(request->data, request->data_len) : slot->file->content;
    if (batch->request->info_only) {
        slot->status = parse_info(batch, slot, bytes);
    } else {
        const struct sl_commit_bytes input = {batch->env, batch->executor, slot->file->version, bytes, batch->seed};
        slot->status = sl_commit_parse_in_place(&input, &slot->arena, &slot->commit, &slot->err);
    }
    slot->commit.modified_ms = slot->file->modified_ms;
    if (request != NULL && slot->status != SILT_OK) {
        sl_error_path(&slot->err, request->path);
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
        const int64_t length = batch->request->info_only ? INFO_BYTES : -1;
        *batch->slots[i].request = (silt_read_request){.path = path.ptr, .offset = 0, .length = length};
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

static silt_status visit_slots(struct batch *batch, const struct visitor *visitor, bool *stop, silt_error *err)
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
        SL_TRY(visitor->visit(visitor->ctx, &slot->commit, stop, err));
    }
    return SILT_OK;
}

static bool is_large(const struct sl_commits_request *request, const struct sl_log_file *file)
{
    return !request->info_only && file->content.ptr == NULL && file->size >= LARGE_COMMIT;
}

/* How many of the last n files make a batch, and their size. */
static size_t batch_size(const struct sl_commits_request *request, size_t n, int64_t *bytes)
{
    size_t count = 0;
    *bytes = 0;
    while (count < n && count < BATCH_MAX_COMMITS) {
        const struct sl_log_file *file = &request->files[n - 1 - count];
        const int64_t size = request->info_only && file->size > INFO_BYTES ? INFO_BYTES : file->size;
        if (count > 0 && (is_large(request, file) || *bytes > BATCH_MAX_BYTES - size)) {
            break;
        }
        count++;
        if (is_large(request, file)) {
            break;
        }
        *bytes += size > 0 ? size : 0;
    }
    return count;
}

static silt_status visit_part(void *ctx, const struct sl_stream_part *part, bool *stop, silt_error *err)
{
    struct visitor *visitor = ctx;
    const struct sl_commit commit = {.version = visitor->file->version,
                                     .modified_ms = visitor->file->modified_ms,
                                     .actions = part->actions,
                                     .n_actions = part->n,
                                     .commit_info = part->commit_info,
                                     .has_more = !part->is_last};
    visitor->any = true;
    return visitor->visit(visitor->ctx, &commit, stop, err);
}

static silt_status stream_commit(const struct sl_commits_request *request, const struct sl_log_file *file,
                                 const silt_call *call, struct visitor *visitor, bool *stop, silt_error *err)
{
    const silt_env *env = silt_engine_env(request->source->engine);
    struct sl_arena arena;
    sl_arena_init(&arena, env);
    const struct sl_str path = sl_log_path(&arena, request->source->root, file->name);
    const char *title = sl_arena_printf(&arena, "commit %" PRId64, file->version);
    silt_status status = SILT_OK;
    if (path.ptr == NULL || title == NULL) {
        status = sl_fail_nomem(err);
    } else {
        const struct sl_stream_request stream = {.source = request->source,
                                                 .path = path.ptr,
                                                 .title = title,
                                                 .version = file->version,
                                                 .size_bytes = known_size(file),
                                                 .is_commit = true,
                                                 .visit = visit_part,
                                                 .ctx = visitor};
        visitor->file = file;
        visitor->any = false;
        status = sl_stream_actions(&stream, call, stop, err);
    }
    if (status == SILT_ENOTFOUND && request->missing == SL_MISSING_IS_PAST && !visitor->any) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_arena_release(&arena);
    return status;
}

static silt_status visit_batch(struct batch *batch, const struct sl_log_file *files, int64_t bytes,
                               const struct visitor *visitor, bool *stop, silt_error *err)
{
    const silt_executor *executor = sl_engine_executor(batch->request->source->engine);
    sl_arena_init(&batch->paths, batch->env);
    silt_status status = prepare(batch, files, batch->n, err);
    if (status == SILT_OK && batch->n_requests > 0) {
        status = silt_storage_read_many(batch->storage, batch->call, batch->requests, batch->n_requests, keep_answer,
                                        NULL, err);
    }
    if (status == SILT_OK) {
        batch->executor = batch->n == 1 ? executor : NULL;
        sl_parallel_for(batch->n > 1 && bytes >= PARALLEL_MIN_BYTES ? executor : NULL, batch->n, parse_slot, batch);
        status = visit_slots(batch, visitor, stop, err);
    }
    release(batch);
    return status;
}

silt_status sl_commits_each(const struct sl_commits_request *request, const silt_call *call,
                            silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                 silt_error *err),
                            void *ctx, silt_error *err)
{
    const silt_env *env = silt_engine_env(request->source->engine);
    struct visitor visitor = {.visit = visit, .ctx = ctx};
    bool stop = false;
    size_t left = request->n;
    uint64_t seed = 0;
    silt_status status = left > 0 && !request->info_only ? sl_commit_seed(env, &seed, err) : SILT_OK;
    while (left > 0 && !stop && status == SILT_OK) {
        int64_t bytes = 0;
        const size_t count = batch_size(request, left, &bytes);
        const struct sl_log_file *files = request->files + left - count;
        if (request->in_parts && is_large(request, files)) {
            status = stream_commit(request, files, call, &visitor, &stop, err);
        } else {
            struct batch batch = {.request = request,
                                  .storage = request->source->storage,
                                  .env = env,
                                  .call = call,
                                  .seed = seed,
                                  .n = count};
            status = visit_batch(&batch, files, bytes, &visitor, &stop, err);
        }
        left -= count;
        sl_call_progress(call, "reading log", (int64_t)(request->n - left), (int64_t)request->n);
    }
    return status;
}
