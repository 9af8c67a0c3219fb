/*
 * What came early, by path, and the store before the table's; see early.h. A read is served when all of its bytes are here; of the requests of
 * one call, the others go on to the inner store together.
 */
#include "kernel/log/early.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "silt/version.h"

/* How long the end of a file tells which version of it there is. */
#define VALID_US (INT64_C(10) * 1000000)

/* The end of one file. */
struct entry {
    silt_read_request answer; /* data: owned; a status that is a failure: there is none */
    int64_t begin;            /* of the data in the file */
};

struct sl_early {
    const silt_env *env;
    silt_storage *inner; /* a reference */
    silt_storage *self;  /* the store whose implementation this is; its count is ours */
    struct sl_arena paths;
    struct sl_map by_path;
    struct sl_vec entries; /* of struct entry; the map has places in it */
    int64_t brought_us;
    silt_error failure; /* of the last file that failed */
};

/* ---- filling ---- */

struct bringing {
    struct sl_early *early;
    const struct sl_early_want *wants;
    silt_read_request *requests;
    silt_status status;
};

static bool wants_whole(const struct sl_early_want *want)
{
    return want->size_bytes >= 0 && want->end_bytes >= want->size_bytes;
}

static silt_status keep(struct sl_early *early, const struct sl_early_want *want, silt_read_request *request)
{
    const struct sl_str path = sl_arena_copy(&early->paths, sl_str_from(want->path));
    struct entry *entry = path.ptr != NULL ? sl_vec_push(&early->entries) : NULL;
    bool inserted = false;
    struct sl_map_entry *place = entry != NULL ? sl_map_put(&early->by_path, path, &inserted) : NULL;
    if (place == NULL) {
        early->entries.len -= entry != NULL ? 1 : 0;
        silt_read_request_release(early->self, request);
        return SILT_ENOMEM;
    }
    if (!inserted) {
        early->entries.len--; /* asked for twice: the first answer stays */
        silt_read_request_release(early->self, request);
        return SILT_OK;
    }
    *entry = (struct entry){.answer = *request};
    entry->begin = request->status == SILT_OK ? request->file_size - (int64_t)request->data_len : 0;
    place->value.u64 = early->entries.len - 1;
    return SILT_OK;
}

static void take(void *ctx, silt_read_request *request)
{
    struct bringing *bringing = ctx;
    const struct sl_early_want *want = &bringing->wants[request - bringing->requests];
    const bool whole = wants_whole(want);
    if (request->status == SILT_OK && request->file_size < 0 && whole) {
        /* That many are there at least; compared with the listing below. */
        request->file_size = (int64_t)request->data_len;
    }
    const bool fits = request->status == SILT_OK && request->file_size >= (int64_t)request->data_len &&
                      (want->size_bytes < 0 || request->file_size == want->size_bytes) &&
                      (!whole || (int64_t)request->data_len == want->size_bytes);
    if (fits || (request->status != SILT_OK && request->status != SILT_ENOTFOUND)) {
        const silt_status status = keep(bringing->early, want, request);
        bringing->status = bringing->status == SILT_OK ? status : bringing->status;
    } else {
        silt_read_request_release(bringing->early->self, request);
    }
}

silt_status sl_early_bring(struct sl_early *early, const silt_call *call, const struct sl_early_want *wants, size_t n,
                           silt_error *err)
{
    silt_read_request *requests = sl_alloc_array(early->env, n > 0 ? n : 1, sizeof(*requests));
    if (requests == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const bool whole = wants_whole(&wants[i]);
        requests[i] = (silt_read_request){.path = wants[i].path,
                                          .offset = whole ? 0 : -wants[i].end_bytes,
                                          .length = whole ? -1 : wants[i].end_bytes};
    }
    struct bringing bringing = {.early = early, .wants = wants, .requests = requests};
    silt_error found = SILT_ERROR_INIT;
    silt_status status = silt_storage_read_many(early->inner, call, requests, n, take, &bringing, &found);
    early->brought_us = sl_monotonic_us(early->env);
    early->failure = found.status != SILT_OK ? found : early->failure;
    sl_release(early->env, requests, (n > 0 ? n : 1) * sizeof(*requests));
    status = status == SILT_OK ? bringing.status : status;
    if (status != SILT_OK && err != NULL) {
        *err = found;
        return status == SILT_ENOMEM ? sl_fail_nomem(err) : status;
    }
    return status;
}

/* ---- looking ---- */

static bool is_whole(const struct entry *entry)
{
    return entry->begin == 0 && (int64_t)entry->answer.data_len == entry->answer.file_size;
}

static const struct entry *find(const struct sl_early *early, struct sl_str path)
{
    const struct sl_map_entry *place = sl_map_find(&early->by_path, path);
    const struct entry *entry = place != NULL ? sl_vec_at(&early->entries, (size_t)place->value.u64) : NULL;
    if (entry != NULL && entry->answer.status == SILT_OK && !is_whole(entry) &&
        sl_monotonic_us(early->env) - early->brought_us > VALID_US) {
        return NULL;
    }
    return entry;
}

bool sl_early_knows(const struct sl_early *early, struct sl_str path, int64_t *size_bytes, bool *has_tag)
{
    const struct entry *entry = find(early, path);
    if (entry == NULL || entry->answer.status != SILT_OK) {
        return false;
    }
    *size_bytes = entry->answer.file_size;
    *has_tag = entry->answer.tag[0] != '\0';
    return true;
}

/* ---- the store's slots ---- */

/* What of the file a request means, cut to the file. */
static void range_of(const silt_read_request *request, int64_t size, int64_t *begin, int64_t *end)
{
    *begin = request->offset < 0 ? size + request->offset : request->offset;
    *begin = *begin < 0 ? 0 : *begin > size ? size : *begin;
    *end = request->length < 0 || request->length > size - *begin ? size : *begin + request->length;
}

/* False: the bytes are not here. */
static bool serve(const struct sl_early *early, silt_read_request *request, silt_error *err)
{
    const struct entry *entry = find(early, sl_str_from(request->path));
    int64_t begin = 0;
    int64_t end = 0;
    if (entry == NULL) {
        return false;
    }
    if (entry->answer.status != SILT_OK) {
        request->status = entry->answer.status;
        if (early->failure.status == request->status) {
            *err = early->failure;
        }
        return true;
    }
    range_of(request, entry->answer.file_size, &begin, &end);
    if (begin < entry->begin || end > entry->begin + (int64_t)entry->answer.data_len) {
        return false;
    }
    const size_t n = (size_t)(end - begin);
    request->data = n > 0 ? sl_alloc(early->env, n) : NULL;
    request->status = n > 0 && request->data == NULL ? SILT_ENOMEM : SILT_OK;
    if (request->data != NULL) {
        memcpy(request->data, (const char *)entry->answer.data + (begin - entry->begin), n);
        request->data_len = n;
    }
    request->file_size = entry->answer.file_size;
    memcpy(request->tag, entry->answer.tag, sizeof(request->tag));
    return true;
}

/* Requests that go on to the inner store, and whose they are. */
struct passing {
    silt_read_request *copies;
    silt_read_request **originals;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
};

static void hand_back(void *ctx, silt_read_request *copy)
{
    const struct passing *passing = ctx;
    silt_read_request *original = passing->originals[copy - passing->copies];
    *original = *copy;
    passing->on_done(passing->ctx, original);
}

static silt_status read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    const struct sl_early *early = impl;
    struct passing passing = {.on_done = on_done, .ctx = ctx};
    passing.copies = sl_alloc_array(early->env, n, sizeof(*passing.copies));
    passing.originals = sl_alloc_array(early->env, n, sizeof(silt_read_request *));
    silt_status status = passing.copies != NULL && passing.originals != NULL ? SILT_OK : sl_fail_nomem(err);
    size_t n_open = 0;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        if (serve(early, &requests[i], err)) {
            on_done(ctx, &requests[i]);
        } else {
            passing.originals[n_open] = &requests[i];
            passing.copies[n_open++] = requests[i];
        }
    }
    if (n_open > 0 && status == SILT_OK) {
        status = silt_storage_read_many(early->inner, call, passing.copies, n_open, hand_back, &passing, err);
    }
    sl_release(early->env, passing.copies, n * sizeof(*passing.copies));
    sl_release(early->env, passing.originals, n * sizeof(silt_read_request *));
    return status;
}

static silt_status list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct sl_early *early = impl;
    return silt_storage_list(early->inner, call, dir, options, on_entry, ctx, err);
}

static silt_status put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_early *early = impl;
    return silt_storage_put_if_absent(early->inner, call, path, data, data_len, outcome, err);
}

static silt_status put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    const struct sl_early *early = impl;
    return silt_storage_put(early->inner, call, path, data, data_len, err);
}

static silt_status stat_file(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    const struct sl_early *early = impl;
    return silt_storage_stat(early->inner, call, path, size_bytes, modified_ms, err);
}

static silt_status remove_file(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    const struct sl_early *early = impl;
    return silt_storage_remove(early->inner, call, path, err);
}

static void close_early(void *impl)
{
    struct sl_early *early = impl;
    for (size_t i = 0; i < early->entries.len; i++) {
        const struct entry *entry = sl_vec_at(&early->entries, i);
        silt_storage_free(early->inner, entry->answer.data, entry->answer.data_len);
    }
    sl_vec_release(&early->entries);
    sl_map_release(&early->by_path);
    sl_arena_release(&early->paths);
    silt_storage_unref(early->inner);
    sl_release(early->env, early, sizeof(*early));
}

/* Nothing is written through it; what reads a log needs no more. */
static const silt_storage_vtable SLOTS = {.size = sizeof(silt_storage_vtable),
                                          .abi_version = SILT_ABI_VERSION,
                                          .name = "early",
                                          .close = close_early,
                                          .read_many = read_many,
                                          .list = list,
                                          .put_if_absent = put_if_absent,
                                          .put = put,
                                          .stat = stat_file,
                                          .remove = remove_file};

silt_status sl_early_new(const silt_env *env, silt_storage *inner, struct sl_early **out, silt_error *err)
{
    *out = NULL;
    struct sl_early *early = sl_alloc_zero(env, sizeof(*early));
    if (early == NULL) {
        return sl_fail_nomem(err);
    }
    early->env = env;
    early->failure = (silt_error)SILT_ERROR_INIT;
    early->inner = silt_storage_ref(inner);
    sl_arena_init(&early->paths, env);
    sl_map_init(&early->by_path, env);
    sl_vec_init(&early->entries, env, sizeof(struct entry));
    const silt_status status = silt_storage_new(env, &SLOTS, early, &early->self, err);
    if (status != SILT_OK) {
        close_early(early);
        return status;
    }
    *out = early;
    return SILT_OK;
}

struct sl_early *sl_early_ref(struct sl_early *early)
{
    if (early != NULL) {
        (void)silt_storage_ref(early->self);
    }
    return early;
}

void sl_early_unref(struct sl_early *early)
{
    if (early != NULL) {
        silt_storage_unref(early->self);
    }
}

silt_storage *sl_early_storage(struct sl_early *early)
{
    return early->self;
}
