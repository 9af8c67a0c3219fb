/*
 * Brings parts of remote files into local ones: opening, the ends and what else is wanted at once, and the cutting of what is brought ahead of
 * the reader (cache_pump.c) into slices.
 *
 * Bytes come and are copied outside of the lock but for the write into the entry, which the page cache takes.
 */
#include "storage/cache/cache_fetch_int.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"

#define TAIL_BYTES (INT64_C(32) << 10)
/* Two requests cost about as much as this many bytes. */
#define GAP_BYTES (INT64_C(16) << 10)
#define TAILS_AT_ONCE 256

/* ---- reads ---- */

/* One batch of reads of parts; on_part is told of each that came. */
struct batch {
    struct sl_fetch *fetch;
    silt_status (*on_part)(struct sl_fetch *fetch, const struct sl_fetch_part *part, const silt_read_request *answer,
                           silt_error *err);
    const struct sl_fetch_part *parts;
    const silt_read_request *requests;
    silt_status status; /* the first failure */
    silt_error *err;
};

silt_status sl_fetch_judge(const silt_read_request *request, struct sl_range range, silt_error *err)
{
    const int64_t wanted = range.end - range.begin;
    if (range.begin >= 0 && (int64_t)request->data_len != wanted) {
        return sl_fail(err, SILT_EIO, NULL, "%zu bytes came of %s at %lld, expected %lld", request->data_len,
                       request->path, (long long)range.begin, (long long)wanted);
    }
    return SILT_OK;
}

silt_status sl_fetch_judge_missing(silt_status status, silt_error *err)
{
    if (status == SILT_ENOTFOUND && err != NULL && !sl_error_is(err, SL_BUCKET_NOT_FOUND)) {
        const silt_error found = *err;
        (void)sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "%s", found.message);
        sl_error_path(err, found.path);
        if (found.hint[0] != '\0') {
            sl_error_hint(err, "%s", found.hint);
        }
        err->sys_code = found.sys_code;
    }
    return status;
}

static void part_done(void *ctx, silt_read_request *request)
{
    struct batch *batch = ctx;
    const struct sl_fetch_part *part = &batch->parts[request - batch->requests];
    silt_error err = SILT_ERROR_INIT;
    silt_status status = request->status == SILT_OK ? sl_fetch_judge(request, part->range, &err) : request->status;
    if (status == SILT_OK) {
        pthread_mutex_lock(&batch->fetch->lock);
        batch->fetch->n_requests++;
        batch->fetch->n_bytes += (int64_t)request->data_len;
        status = batch->on_part(batch->fetch, part, request, &err);
        pthread_mutex_unlock(&batch->fetch->lock);
    }
    silt_read_request_release(batch->fetch->storage, request);
    if (status != SILT_OK && batch->status == SILT_OK) {
        batch->status = status;
        if (err.status != SILT_OK && batch->err != NULL) {
            *batch->err = err;
        }
    }
}

static silt_status run_batch(struct batch *batch, const silt_call *call, size_t n)
{
    const silt_env *env = batch->fetch->env;
    silt_error whole = SILT_ERROR_INIT;
    silt_read_request *requests = sl_alloc_array(env, n, sizeof(*requests));
    if (requests == NULL) {
        return sl_fail_nomem(batch->err);
    }
    memset(requests, 0, n * sizeof(*requests));
    for (size_t i = 0; i < n; i++) {
        const struct sl_fetch_part *part = &batch->parts[i];
        requests[i].path = batch->fetch->files[part->file].path;
        requests[i].offset = part->range.begin;
        requests[i].length = part->range.begin < 0 ? -1 : part->range.end - part->range.begin;
    }
    batch->requests = requests;
    const silt_status status = silt_storage_read_many(batch->fetch->storage, call, requests, n, part_done, batch,
                                                      &whole);
    sl_release(env, requests, n * sizeof(*requests));
    if (status == SILT_OK && batch->status == SILT_OK) {
        return SILT_OK;
    }
    if (batch->err != NULL && batch->err->status == SILT_OK) {
        *batch->err = whole;
    }
    return sl_fetch_judge_missing(batch->status != SILT_OK ? batch->status : status, batch->err);
}

/* ---- opening ---- */

/* Says once why. */
static void do_without(struct sl_fetch *fetch, const silt_error *why)
{
    if (!fetch->told) {
        sl_log(fetch->env, SILT_LOG_WARN, "remote files are not cached: %s", why->message);
    }
    fetch->told = true;
}

/* Whether parts of a file with this tag can be kept. */
static bool need_cache(struct sl_fetch *fetch, const char *tag)
{
    if (tag[0] == '\0' || fetch->cache_refused) {
        return false;
    }
    silt_error err = SILT_ERROR_INIT;
    if (fetch->cache == NULL && sl_cache_open(fetch->env, fetch->cache_dir, 0, &fetch->cache, &err) != SILT_OK) {
        fetch->cache_refused = true;
        do_without(fetch, &err);
    }
    return fetch->cache != NULL;
}

/* Opens the local file in a folder and writes the end into it. Nothing is open after a failure. */
static silt_status enter_tail(struct sl_cache *folder, struct sl_fetch_file_state *file,
                              const silt_read_request *answer, silt_error *err)
{
    struct sl_cache_entry *entry = NULL;
    silt_status status = sl_cache_entry_open(folder, file->path, file->tag[0] == '\0', &entry, err);
    if (status == SILT_OK) {
        status = sl_cache_entry_confirm(entry, file->tag, answer->file_size, err);
    }
    if (status == SILT_OK && answer->data_len > 0) {
        status = sl_cache_entry_put(entry, answer->file_size - (int64_t)answer->data_len, answer->data,
                                    answer->data_len, err);
    }
    if (status != SILT_OK) {
        sl_cache_entry_close(entry);
        return status;
    }
    file->entry = entry;
    return SILT_OK;
}

/* Takes a file out of the cache, whose folder has no room for it. Its local path is another then. */
static silt_status leave_cache(struct sl_fetch *fetch, struct sl_fetch_file_state *file, const silt_error *why,
                               silt_error *err)
{
    struct sl_cache_entry *entry = NULL;
    do_without(fetch, why);
    SL_TRY(sl_cache_entry_open(fetch->scratch, file->path, true, &entry, err));
    silt_status status = sl_cache_entry_confirm(entry, file->tag, sl_cache_entry_size(file->entry), err);
    if (status == SILT_OK) {
        status = sl_cache_entry_copy(file->entry, entry, err);
    }
    if (status != SILT_OK) {
        sl_cache_entry_close(entry);
        return status;
    }
    sl_cache_entry_close(file->entry);
    file->entry = entry;
    file->left = true;
    return SILT_OK;
}

static bool is_cached(const struct sl_fetch_file_state *file)
{
    return file->tag[0] != '\0' && !file->left && !sl_cache_entry_is_temporary(file->entry);
}

static silt_status take_tail(struct sl_fetch *fetch, const struct sl_fetch_part *part, const silt_read_request *answer,
                             silt_error *err)
{
    struct sl_fetch_file_state *file = &fetch->files[part->file];
    if (answer->file_size < (int64_t)answer->data_len) {
        return sl_fail(err, SILT_EIO, NULL, "the store did not say how long %s is", file->path);
    }
    if (file->said_size >= 0 && answer->file_size != file->said_size) {
        file->told_size = answer->file_size;
        return sl_fail(err, SILT_ECORRUPT, NULL, "%s has %lld bytes, expected %lld", file->path,
                       (long long)answer->file_size, (long long)file->said_size);
    }
    memcpy(file->tag, answer->tag, sizeof(file->tag));
    if (need_cache(fetch, answer->tag)) {
        silt_error found = SILT_ERROR_INIT;
        if (enter_tail(fetch->cache, file, answer, &found) == SILT_OK) {
            return SILT_OK;
        }
        do_without(fetch, &found);
    }
    return enter_tail(fetch->scratch, file, answer, err);
}

/* How much of a file comes with the opening. */
static int64_t tail_bytes(const struct sl_fetch_file_state *file)
{
    return file->said_size > TAIL_BYTES && file->said_size <= SL_FETCH_WHOLE_BYTES ? file->said_size : TAIL_BYTES;
}

/*
 * A file that is not as long as it is said to be is damaged, unless the store says of the file itself that it is: then its answer was none of
 * the file's end (an end that came as if it were the whole, a range that was refused as if the file were empty).
 */
static silt_status judge_sizes(struct sl_fetch *fetch, const silt_call *call, const struct sl_fetch_part *parts,
                               size_t n, silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct sl_fetch_file_state *file = &fetch->files[parts[i].file];
        int64_t size = -1;
        int64_t modified_ms = 0;
        if (file->told_size < 0 ||
            silt_storage_stat(fetch->storage, call, file->path, &size, &modified_ms, NULL) != SILT_OK ||
            size != file->said_size) {
            continue;
        }
        return sl_fail(err, SILT_EIO, NULL, "the store gave %lld bytes as all of %s, which has %lld bytes",
                       (long long)file->told_size, file->path, (long long)size);
    }
    return SILT_ECORRUPT;
}

static silt_status read_tails(struct sl_fetch *fetch, const silt_call *call, silt_error *err)
{
    struct sl_fetch_part parts[TAILS_AT_ONCE];
    for (size_t from = 0; from < fetch->n_files; from += TAILS_AT_ONCE) {
        const size_t n = fetch->n_files - from < TAILS_AT_ONCE ? fetch->n_files - from : TAILS_AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            const int64_t n_bytes = tail_bytes(&fetch->files[from + i]);
            parts[i] = (struct sl_fetch_part){.file = from + i, .range = {-n_bytes, 0}};
        }
        struct batch batch = {.fetch = fetch, .on_part = take_tail, .parts = parts, .err = err};
        const silt_status status = run_batch(&batch, call, n);
        if (status != SILT_OK) {
            return status == SILT_ECORRUPT ? judge_sizes(fetch, call, parts, n, err) : status;
        }
    }
    return SILT_OK;
}

silt_status sl_fetch_open(const struct sl_fetch_request *request, const silt_call *call, struct sl_fetch **out,
                          silt_error *err)
{
    *out = NULL;
    const silt_env *env = request->env;
    struct sl_fetch *fetch = sl_alloc_zero(env, sizeof(*fetch));
    if (fetch == NULL) {
        return sl_fail_nomem(err);
    }
    fetch->env = env;
    fetch->cache_dir = request->cache_dir;
    fetch->storage = silt_storage_ref(request->storage);
    fetch->urgent = SL_FETCH_NO_FILE;
    pthread_mutex_init(&fetch->lock, NULL);
    pthread_cond_init(&fetch->moved, NULL);
    silt_status status = sl_cache_open(env, request->scratch_dir, INT64_MAX, &fetch->scratch, err);
    if (status == SILT_OK) {
        fetch->files = sl_alloc_array(env, request->n_files > 0 ? request->n_files : 1, sizeof(*fetch->files));
        status = fetch->files != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    for (size_t i = 0; i < request->n_files && status == SILT_OK; i++) {
        fetch->files[i] = (struct sl_fetch_file_state){
            .path = request->files[i].path, .said_size = request->files[i].size_bytes, .told_size = -1};
        sl_vec_init(&fetch->files[i].wanted, env, sizeof(struct sl_range));
        fetch->n_files++;
    }
    if (status == SILT_OK) {
        status = read_tails(fetch, call, err);
    }
    if (status != SILT_OK) {
        sl_fetch_close(fetch);
        return status;
    }
    *out = fetch;
    return SILT_OK;
}

void sl_fetch_close(struct sl_fetch *fetch)
{
    if (fetch == NULL) {
        return;
    }
    const silt_env *env = fetch->env;
    __atomic_store_n(&fetch->stop, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < fetch->n_threads; i++) {
        (void)pthread_join(fetch->threads[i], NULL);
    }
    for (size_t i = 0; i < fetch->n_files; i++) {
        sl_cache_entry_close(fetch->files[i].entry);
        sl_vec_release(&fetch->files[i].wanted);
    }
    if (fetch->files != NULL) {
        sl_release(env, fetch->files, (fetch->n_files > 0 ? fetch->n_files : 1) * sizeof(*fetch->files));
    }
    sl_release(env, fetch->slices, fetch->n_slices * sizeof(*fetch->slices));
    sl_cache_close(fetch->scratch);
    silt_storage_unref(fetch->storage);
    pthread_cond_destroy(&fetch->moved);
    pthread_mutex_destroy(&fetch->lock);
    if (fetch->cache != NULL && fetch->n_bytes > 0) {
        sl_cache_shrink(fetch->cache);
    }
    sl_cache_close(fetch->cache);
    sl_release(env, fetch, sizeof(*fetch));
}

const char *sl_fetch_path(const struct sl_fetch *fetch, size_t file)
{
    return sl_cache_entry_path(fetch->files[file].entry);
}

int64_t sl_fetch_size(const struct sl_fetch *fetch, size_t file)
{
    return sl_cache_entry_size(fetch->files[file].entry);
}

void sl_fetch_counts(struct sl_fetch *fetch, int64_t *requests, int64_t *bytes)
{
    pthread_mutex_lock(&fetch->lock);
    *requests = fetch->n_requests;
    *bytes = fetch->n_bytes;
    pthread_mutex_unlock(&fetch->lock);
}

void sl_fetch_withdraw(struct sl_fetch *fetch)
{
    pthread_mutex_lock(&fetch->lock);
    for (size_t i = 0; i < fetch->n_files; i++) {
        if (fetch->files[i].entry != NULL) {
            sl_cache_entry_withdraw(fetch->files[i].entry);
        }
    }
    pthread_mutex_unlock(&fetch->lock);
}

/* ---- what is wanted ---- */

silt_status sl_fetch_want(struct sl_fetch *fetch, const struct sl_fetch_part *parts, size_t n, silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct sl_fetch_file_state *file = &fetch->files[parts[i].file];
        SL_TRY(sl_cache_entry_missing(file->entry, parts[i].range, &file->wanted, err));
    }
    return SILT_OK;
}

/* Where the slice that begins there ends: at a multiple of the size, so that whole pages are written. */
static int64_t slice_end(struct sl_range range, int64_t at)
{
    const int64_t left = SL_FETCH_SLICE_BYTES - at % SL_FETCH_SLICE_BYTES;
    return range.end - at < left ? range.end : at + left;
}

static size_t slices_of(struct sl_range range)
{
    return (size_t)((range.end - 1) / SL_FETCH_SLICE_BYTES - range.begin / SL_FETCH_SLICE_BYTES + 1);
}

/* Whether the folder of the cache has room for what is wanted of a file. */
static silt_status reserve(const struct sl_fetch_file_state *file, silt_error *err)
{
    for (size_t k = 0; k < file->wanted.len; k++) {
        SL_TRY(sl_cache_entry_reserve(file->entry, *(const struct sl_range *)sl_vec_at(&file->wanted, k), err));
    }
    return SILT_OK;
}

/* Files for which the cache has no room go to the scratch folder while nobody has opened them yet. */
static silt_status make_room(struct sl_fetch *fetch, silt_error *err)
{
    bool shrunk = false;
    for (size_t i = 0; i < fetch->n_files; i++) {
        struct sl_fetch_file_state *file = &fetch->files[i];
        silt_error found = SILT_ERROR_INIT;
        if (!is_cached(file) || reserve(file, &found) == SILT_OK) {
            continue;
        }
        if (!shrunk) {
            sl_cache_shrink(fetch->cache);
            shrunk = true;
        }
        silt_error_reset(&found);
        if (reserve(file, &found) != SILT_OK) {
            SL_TRY(leave_cache(fetch, file, &found, err));
        }
    }
    return SILT_OK;
}

/* Cuts what is wanted into slices, in the order of the files. */
static silt_status cut_slices(struct sl_fetch *fetch, silt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < fetch->n_files; i++) {
        struct sl_vec *wanted = &fetch->files[i].wanted;
        sl_ranges_close_gaps(wanted, GAP_BYTES);
        for (size_t k = 0; k < wanted->len; k++) {
            n += slices_of(*(struct sl_range *)sl_vec_at(wanted, k));
        }
    }
    if (n == 0) {
        return SILT_OK;
    }
    fetch->slices = sl_alloc_array(fetch->env, n, sizeof(*fetch->slices));
    if (fetch->slices == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < fetch->n_files; i++) {
        struct sl_fetch_file_state *file = &fetch->files[i];
        file->first_slice = fetch->n_slices;
        for (size_t k = 0; k < file->wanted.len; k++) {
            const struct sl_range range = *(struct sl_range *)sl_vec_at(&file->wanted, k);
            for (int64_t at = range.begin; at < range.end; at = slice_end(range, at)) {
                fetch->slices[fetch->n_slices++] = (struct sl_fetch_slice){.file = i,
                                                                           .range = {at, slice_end(range, at)}};
            }
        }
        file->n_open = file->n_slices = fetch->n_slices - file->first_slice;
        file->wanted.len = 0;
    }
    return SILT_OK;
}

/* ---- parts ---- */

/* Parts of two versions make a file that never was, and would be kept under the name of the first. */
silt_status sl_fetch_judge_tag(const struct sl_fetch_file_state *file, const silt_read_request *answer, silt_error *err)
{
    if (file->tag[0] != '\0' && strcmp(file->tag, answer->tag) != 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "%s was replaced while it was read", file->path);
    }
    return SILT_OK;
}

static silt_status take_part(struct sl_fetch *fetch, const struct sl_fetch_part *part, const silt_read_request *answer,
                             silt_error *err)
{
    struct sl_fetch_file_state *file = &fetch->files[part->file];
    SL_TRY(sl_fetch_judge_tag(file, answer, err));
    silt_error found = SILT_ERROR_INIT;
    silt_status status = sl_cache_entry_put(file->entry, part->range.begin, answer->data, answer->data_len, &found);
    if (status != SILT_OK && is_cached(file)) { /* nobody has opened it yet */
        SL_TRY(leave_cache(fetch, file, &found, err));
        return sl_cache_entry_put(file->entry, part->range.begin, answer->data, answer->data_len, err);
    }
    return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
}

silt_status sl_fetch_start(struct sl_fetch *fetch, silt_error *err)
{
    SL_TRY(make_room(fetch, err));
    SL_TRY(cut_slices(fetch, err));
    return sl_fetch_pump(fetch, err);
}

silt_status sl_fetch_now(struct sl_fetch *fetch, const silt_call *call, const struct sl_fetch_part *parts, size_t n,
                         silt_error *err)
{
    struct sl_vec missing;
    silt_status status = SILT_OK;
    sl_vec_init(&missing, fetch->env, sizeof(struct sl_range));
    struct sl_vec wanted;
    sl_vec_init(&wanted, fetch->env, sizeof(struct sl_fetch_part));
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        missing.len = 0;
        status = sl_cache_entry_missing(fetch->files[parts[i].file].entry, parts[i].range, &missing, err);
        for (size_t k = 0; k < missing.len && status == SILT_OK; k++) {
            struct sl_fetch_part *part = sl_vec_push(&wanted);
            status = part != NULL ? SILT_OK : sl_fail_nomem(err);
            if (part != NULL) {
                *part = (struct sl_fetch_part){.file = parts[i].file,
                                               .range = *(struct sl_range *)sl_vec_at(&missing, k)};
            }
        }
    }
    if (status == SILT_OK && wanted.len > 0) {
        struct batch batch = {.fetch = fetch, .on_part = take_part, .parts = wanted.data, .err = err};
        status = run_batch(&batch, call, wanted.len);
    }
    sl_vec_release(&wanted);
    sl_vec_release(&missing);
    return status;
}

/* A moment from now on the clock of condition variables. */
static struct timespec soon(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 50 * 1000 * 1000;
    if (at.tv_nsec >= 1000 * 1000 * 1000) {
        at.tv_nsec -= 1000 * 1000 * 1000;
        at.tv_sec++;
    }
    return at;
}

silt_status sl_fetch_wait(struct sl_fetch *fetch, const silt_call *call, size_t file, silt_error *err)
{
    silt_status status = SILT_OK;
    if (file >= fetch->n_files) {
        return sl_fail(err, SILT_EINVALID, NULL, "file %zu is none of the %zu that are fetched", file, fetch->n_files);
    }
    pthread_mutex_lock(&fetch->lock);
    while (fetch->status == SILT_OK && status == SILT_OK && fetch->files[file].n_open > 0) {
        const struct timespec until = soon(); /* a cancellation must be noticed */
        fetch->urgent = fetch->urgent == SL_FETCH_NO_FILE ? file : fetch->urgent;
        (void)pthread_cond_timedwait(&fetch->moved, &fetch->lock, &until);
        status = sl_call_check(fetch->env, call, err);
    }
    if (status == SILT_OK && fetch->files[file].n_open > 0) {
        status = fetch->status;
        if (err != NULL) {
            *err = fetch->error;
        }
    }
    pthread_mutex_unlock(&fetch->lock);
    return status;
}
