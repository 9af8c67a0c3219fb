/*
 * A store that repeats what failed with SILT_EIO in another: reads, listings, look-ups, puts and removals, all of
 * which may be done twice. A put_if_absent and an adopt are handed on as they are: only the commit protocol, which
 * reads back what is there, may repeat those.
 *
 * Delays double, with full jitter: each is a random part of what it could be, so that writers who failed together do
 * not come back together. The last failure is reported when attempts, time or the call's deadline run out.
 *
 * Any thread; the delay is spent on the thread that called the store.
 */
#include "silt/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "kernel/engine/storage_wrap.h"
#include "silt/version.h"
#include "storage/decorator.h"

#define DEFAULT_MAX_ATTEMPTS 10
#define DEFAULT_BASE_DELAY_US INT64_C(50000)
#define DEFAULT_MAX_DELAY_US INT64_C(10000000)
#define DEFAULT_MAX_TOTAL_US INT64_C(180000000)

struct retry {
    struct sl_decorator base;
    silt_retry_options options; /* no field is 0 */
};

/* One operation with its attempts. */
struct effort {
    const struct retry *retry;
    const silt_call *call;
    int64_t started_us;
    int64_t ceiling_us; /* of the next delay */
    uint32_t attempts;
};

static struct effort start_effort(const struct retry *retry, const silt_call *call)
{
    return (struct effort){.retry = retry,
                           .call = call,
                           .started_us = sl_monotonic_us(retry->base.env),
                           .ceiling_us = retry->options.base_delay_us < retry->options.max_delay_us
                                             ? retry->options.base_delay_us
                                             : retry->options.max_delay_us};
}

static int64_t choose_delay(const struct effort *effort)
{
    const silt_env *env = effort->retry->base.env;
    uint64_t chance = UINT64_MAX;
    if (env->random_bytes(env->ctx, &chance, sizeof(chance)) != SILT_OK) {
        return effort->ceiling_us; /* jitter is a courtesy */
    }
    return (int64_t)(chance % ((uint64_t)effort->ceiling_us + 1));
}

/*
 * After an attempt that ended with `status`: true when the next one is due, after the delay. False leaves the status
 * that counts in *status: the attempt's, or the call's when it was cancelled during the delay.
 */
static bool try_again(struct effort *effort, silt_status *status, silt_error *err)
{
    const silt_retry_options *options = &effort->retry->options;
    const silt_env *env = effort->retry->base.env;
    effort->attempts++;
    if (*status != SILT_EIO) {
        return false;
    }
    int64_t delay_us = choose_delay(effort);
    int64_t due_us = sl_monotonic_us(env) + delay_us;
    bool in_time = due_us - effort->started_us <= options->max_total_us;
    bool before_deadline = effort->call == NULL || effort->call->deadline_us == 0 || due_us < effort->call->deadline_us;
    if (effort->attempts >= options->max_attempts || !in_time || !before_deadline) {
        if (err != NULL && err->hint[0] == '\0') { /* what the store advises goes before it */
            sl_error_hint(err, "gave up after attempt %u%s", (unsigned)effort->attempts,
                          !before_deadline ? " because of the deadline" : "");
        }
        return false;
    }
    silt_status slept = sl_call_sleep(env, effort->call, delay_us, err);
    if (slept != SILT_OK) {
        *status = slept;
        return false;
    }
    effort->ceiling_us = effort->ceiling_us < options->max_delay_us / 2 ? effort->ceiling_us * 2
                                                                        : options->max_delay_us;
    return true;
}

/* ---- reads ---- */

struct retried_batch {
    const struct retry *retry;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
    struct sl_vec failed; /* of silt_read_request *: the caller's, to be tried again */
};

/* Holds a failed request of the caller's back; one that cannot be held is told as it is. */
static void hold_or_tell(struct retried_batch *batch, silt_read_request *request)
{
    if (request->status == SILT_EIO) {
        silt_read_request **held = sl_vec_push(&batch->failed);
        if (held != NULL) {
            *held = request;
            return;
        }
    }
    batch->on_done(batch->ctx, request);
}

static void first_done(void *ctx, silt_read_request *request)
{
    hold_or_tell(ctx, request);
}

/* `copy` stands for the caller's request in its `user`. */
static void copy_done(void *ctx, silt_read_request *copy)
{
    silt_read_request *request = copy->user;
    request->status = copy->status;
    request->data = copy->data;
    request->data_len = copy->data_len;
    request->file_size = copy->file_size;
    memcpy(request->tag, copy->tag, sizeof(request->tag));
    hold_or_tell(ctx, request);
}

/* Tries the requests held back once more; those that fail again are held back again. */
static silt_status repeat_reads(struct retried_batch *batch, const silt_call *call, silt_error *err)
{
    const silt_env *env = batch->retry->base.env;
    size_t n = batch->failed.len;
    silt_read_request *copies = sl_alloc_array(env, n, sizeof(*copies));
    if (copies == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        silt_read_request *request = *(silt_read_request **)sl_vec_at(&batch->failed, i);
        copies[i] = (silt_read_request){
            .path = request->path, .offset = request->offset, .length = request->length, .user = request};
    }
    batch->failed.len = 0;
    silt_status status = silt_storage_read_many(batch->retry->base.inner, call, copies, n, copy_done, batch, err);
    sl_release(env, copies, n * sizeof(*copies));
    return status;
}

static silt_status retry_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                   void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct retry *retry = impl;
    struct retried_batch batch = {.retry = retry, .on_done = on_done, .ctx = ctx};
    sl_vec_init(&batch.failed, retry->base.env, sizeof(silt_read_request *));
    struct effort effort = start_effort(retry, call);
    silt_status status = silt_storage_read_many(retry->base.inner, call, requests, n, first_done, &batch, err);
    for (;;) {
        silt_status attempt = status == SILT_OK && batch.failed.len > 0 ? SILT_EIO : status;
        if (batch.failed.len == 0 || !try_again(&effort, &attempt, err)) {
            status = status == SILT_OK && attempt != SILT_EIO ? attempt : status;
            break;
        }
        status = repeat_reads(&batch, call, err);
    }
    for (size_t i = 0; i < batch.failed.len; i++) {
        silt_read_request *request = *(silt_read_request **)sl_vec_at(&batch.failed, i);
        request->status = status != SILT_OK ? status : SILT_EIO;
        on_done(ctx, request);
    }
    sl_vec_release(&batch.failed);
    return status;
}

/* ---- streams: parts that were under way when one failed are begun anew ---- */

struct retried_stream {
    const silt_read_stream *stream;
    silt_read_request *told; /* the caller's */
    size_t n;
    bool under_way[SL_MAX_AT_ONCE]; /* of `told`: the caller waits for it */
    bool asked[SL_MAX_AT_ONCE];     /* likewise: it is asked for in the attempt at hand */
    bool progress;                  /* a part came in the attempt at hand */
    bool refused;                   /* by the caller: nothing is repeated */
};

/* Which of the caller's requests is next: one that is to be begun anew before one of which nothing is known. n: none. */
static size_t choose_part(struct retried_stream *retried)
{
    size_t idle = retried->n;
    for (size_t i = 0; i < retried->n; i++) {
        if (retried->under_way[i] && !retried->asked[i]) {
            return i;
        }
        idle = retried->under_way[i] ? idle : i;
    }
    if (idle < retried->n && retried->stream->next(retried->stream->ctx, &retried->told[idle])) {
        return idle;
    }
    return retried->n;
}

static bool retry_next(void *ctx, silt_read_request *request)
{
    struct retried_stream *retried = ctx;
    const size_t i = choose_part(retried);
    if (i == retried->n) {
        return false;
    }
    retried->under_way[i] = retried->asked[i] = true;
    request->path = retried->told[i].path;
    request->offset = retried->told[i].offset;
    request->length = retried->told[i].length;
    request->user = &retried->told[i];
    return true;
}

static silt_status retry_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                               silt_error *err)
{
    struct retried_stream *retried = ctx;
    silt_read_request *told = request->user;
    told->file_size = request->file_size;
    memcpy(told->tag, request->tag, sizeof(told->tag));
    const silt_status status = retried->stream->on_bytes(retried->stream->ctx, told, at, bytes, n, err);
    retried->refused = retried->refused || status != SILT_OK;
    return status;
}

static silt_status retry_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct retried_stream *retried = ctx;
    silt_read_request *told = request->user;
    told->data_len = request->data_len;
    told->file_size = request->file_size;
    memcpy(told->tag, request->tag, sizeof(told->tag));
    retried->under_way[told - retried->told] = false;
    retried->asked[told - retried->told] = false;
    retried->progress = true;
    const silt_status status = retried->stream->on_part(retried->stream->ctx, told, err);
    retried->refused = retried->refused || status != SILT_OK;
    return status;
}

static silt_status retry_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                     silt_read_request *requests, size_t n, silt_error *err)
{
    const struct retry *retry = impl;
    struct retried_stream retried = {.stream = stream, .told = requests, .n = n};
    const silt_read_stream passing = {.size = sizeof(passing),
                                      .at_once = (uint32_t)n,
                                      .ctx = &retried,
                                      .next = retry_next,
                                      .on_bytes = retry_bytes,
                                      .on_part = retry_part};
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        if (retried.progress) { /* as for reads one by one, attempts are those of one part */
            effort = start_effort(retry, call);
        }
        retried.progress = false;
        memset(retried.asked, 0, sizeof(retried.asked));
        status = silt_storage_read_stream(retry->base.inner, call, &passing, err);
    } while (!retried.refused && try_again(&effort, &status, err));
    return status;
}

/* ---- listings ---- */

struct retried_list {
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
    struct sl_buf last; /* the last name shown */
    bool any;
};

static bool show_once(void *ctx, const silt_file_entry *entry)
{
    struct retried_list *list = ctx;
    if (list->any && sl_str_compare(sl_str_make(entry->name, entry->name_len), sl_buf_view(&list->last)) <= 0) {
        return true;
    }
    sl_buf_clear(&list->last);
    sl_buf_put(&list->last, entry->name, entry->name_len);
    list->any = true;
    return sl_buf_status(&list->last, NULL) == SILT_OK && list->on_entry(list->ctx, entry);
}

static silt_status retry_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct retry *retry = impl;
    struct retried_list list = {.on_entry = on_entry, .ctx = ctx};
    sl_buf_init(&list.last, retry->base.env);
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        silt_list_options wanted = *options;
        char *start = NULL;
        if (list.any) {
            /* Goes on where it broke off: names that were shown must not come again. */
            start = sl_strdup_len(retry->base.env, list.last.data, list.last.len);
            if (start == NULL) {
                status = sl_fail_nomem(err);
                break;
            }
            wanted.start_from = start;
        }
        status = silt_storage_list(retry->base.inner, call, dir, &wanted, show_once, &list, err);
        sl_strfree(retry->base.env, start);
        if (status == SILT_OK) {
            status = sl_buf_status(&list.last, err);
        }
    } while (try_again(&effort, &status, err));
    sl_buf_release(&list.last);
    return status;
}

/* Folders come in no order: what was shown cannot be told from what was not, so that only a listing that showed nothing is repeated. */
struct retried_folders {
    bool (*on_folder)(void *ctx, const char *name, size_t name_len);
    void *ctx;
    bool any;
};

static bool note_folder(void *ctx, const char *name, size_t name_len)
{
    struct retried_folders *folders = ctx;
    folders->any = true;
    return folders->on_folder(folders->ctx, name, name_len);
}

static silt_status retry_list_folders(void *impl, const silt_call *call, const char *dir,
                                      bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                      silt_error *err)
{
    const struct retry *retry = impl;
    struct retried_folders folders = {.on_folder = on_folder, .ctx = ctx};
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_list_folders(retry->base.inner, call, dir, note_folder, &folders, err);
    } while (!folders.any && try_again(&effort, &status, err));
    return status;
}

/* ---- the other slots ---- */

static silt_status retry_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err)
{
    const struct retry *retry = impl;
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_put(retry->base.inner, call, path, data, data_len, err);
    } while (try_again(&effort, &status, err));
    return status;
}

static silt_status retry_put_fresh(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_error *err)
{
    const struct retry *retry = impl;
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_put_fresh(retry->base.inner, call, path, data, data_len, err);
    } while (try_again(&effort, &status, err));
    return status;
}

static silt_status retry_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                              int64_t *modified_ms, silt_error *err)
{
    const struct retry *retry = impl;
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_stat(retry->base.inner, call, path, size_bytes, modified_ms, err);
    } while (try_again(&effort, &status, err));
    return status;
}

static silt_status retry_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct retry *retry = impl;
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_remove(retry->base.inner, call, path, err);
    } while (try_again(&effort, &status, err));
    return status;
}

static silt_status retry_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    const struct retry *retry = impl;
    struct effort effort = start_effort(retry, call);
    silt_status status = SILT_OK;
    do {
        status = silt_storage_remove_tree(retry->base.inner, call, dir, err);
    } while (try_again(&effort, &status, err));
    return status;
}

static silt_status pass_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    const struct retry *retry = impl;
    return silt_storage_adopt(retry->base.inner, call, local, path, err);
}

static const silt_storage_vtable retry_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "retry",
    .close = sl_decorator_close,
    .read_many = retry_read_many,
    .read_stream = retry_read_stream,
    .list = retry_list,
    .list_folders = retry_list_folders,
    .put_if_absent = sl_decorator_put_if_absent,
    .put_hint = sl_decorator_put_hint,
    .put_beside = sl_decorator_put_beside,
    .put = retry_put,
    .put_fresh = retry_put_fresh,
    .stat = retry_stat,
    .remove = retry_remove,
    .local_path = sl_decorator_local_path,
    .adopt = pass_adopt,
    .remove_tree = retry_remove_tree,
    .upload_begin = sl_decorator_upload_begin,
    .upload_append = sl_decorator_upload_append,
    .upload_finish = sl_decorator_upload_finish,
    .upload_abort = sl_decorator_upload_abort,
};

silt_status silt_storage_retry_new(const silt_env *env, silt_storage *inner, const silt_retry_options *options,
                                   silt_storage **out, silt_error *err)
{
    struct retry retry = {.options = {.size = sizeof(retry.options)}};
    if (options != NULL) {
        if (options->size < sizeof(*options) || options->base_delay_us < 0 || options->max_delay_us < 0 ||
            options->max_total_us < 0) {
            return sl_fail(err, SILT_EINVALID, NULL, "options of a retrying store need size %zu and no negative times",
                           sizeof(*options));
        }
        retry.options = *options;
    }
    silt_retry_options *chosen = &retry.options;
    chosen->max_attempts = chosen->max_attempts != 0 ? chosen->max_attempts : DEFAULT_MAX_ATTEMPTS;
    chosen->base_delay_us = chosen->base_delay_us != 0 ? chosen->base_delay_us : DEFAULT_BASE_DELAY_US;
    chosen->max_delay_us = chosen->max_delay_us != 0 ? chosen->max_delay_us : DEFAULT_MAX_DELAY_US;
    chosen->max_total_us = chosen->max_total_us != 0 ? chosen->max_total_us : DEFAULT_MAX_TOTAL_US;
    const struct sl_decorator_spec spec = {.slots = &retry_slots, .impl = &retry, .size = sizeof(retry)};
    return sl_decorator_new(env, inner, &spec, out, err);
}
