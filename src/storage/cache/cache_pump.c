/*
 * Brings the slices of a fetch, ahead of who reads.
 *
 * Two threads have up to eight slices each under way, in order, those of a file that somebody waits for first; when one is there, the next is
 * asked for at once. Bytes go into the entry's file as they come, by way of a small block, and count as there when the whole slice came and was
 * recorded: what broke off leaves bytes in a hole, which nobody takes for data. The version is looked at before the first byte is
 * written, since others may read the same file.
 *
 * Whoever waits is woken when the last slice of its file is there, or when any has failed: a scan that lost a part is lost.
 */
#include "storage/cache/cache_fetch_int.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hasher.h"
#include "silt/version.h"

#define AT_ONCE 8
/*
 * The page cache takes memory in pieces as large as what is written. Pieces of up to eight pages come from a processor's own list of pages that were
 * let go of last; larger ones are mostly cold, which costs more than the calls that they save.
 */
#define BLOCK_BYTES (INT64_C(32) << 10)

/* A slice under way. */
struct lane {
    struct sl_hasher hasher; /* of what was written */
    const struct sl_fetch_slice *slice;
    char *block;
    size_t block_len;
    int64_t written; /* where the block belongs, in the file */
};

struct pump {
    struct sl_fetch *fetch;
    char *blocks;
    struct lane lanes[AT_ONCE];
    size_t n_idle;
    struct lane *idle[AT_ONCE];
    silt_status status; /* what a callback failed of */
    silt_error error;
};

/* ---- which slice is next ---- */

static const struct sl_fetch_slice *take_of_file(struct sl_fetch *fetch, struct sl_fetch_file_state *file)
{
    for (; file->n_taken < file->n_slices; file->n_taken++) {
        struct sl_fetch_slice *slice = &fetch->slices[file->first_slice + file->n_taken];
        if (!slice->taken) {
            slice->taken = true;
            return slice;
        }
    }
    return NULL;
}

/* NULL: none is left. */
static const struct sl_fetch_slice *choose(struct sl_fetch *fetch)
{
    const struct sl_fetch_slice *found = NULL;
    pthread_mutex_lock(&fetch->lock);
    if (fetch->status == SILT_OK && fetch->urgent != SL_FETCH_NO_FILE) {
        found = take_of_file(fetch, &fetch->files[fetch->urgent]);
        if (found == NULL) {
            fetch->urgent = SL_FETCH_NO_FILE;
        }
    }
    while (fetch->status == SILT_OK && found == NULL && fetch->next < fetch->n_slices) {
        struct sl_fetch_slice *slice = &fetch->slices[fetch->next++];
        found = slice->taken ? NULL : slice;
        slice->taken = true;
    }
    pthread_mutex_unlock(&fetch->lock);
    return found;
}

static bool next_slice(void *ctx, silt_read_request *request)
{
    struct pump *pump = ctx;
    if (pump->n_idle == 0) {
        return false;
    }
    const struct sl_fetch_slice *slice = choose(pump->fetch);
    if (slice == NULL) {
        return false;
    }
    struct lane *lane = pump->idle[--pump->n_idle];
    lane->slice = slice;
    request->path = pump->fetch->files[slice->file].path;
    request->offset = slice->range.begin;
    request->length = slice->range.end - slice->range.begin;
    request->user = lane;
    return true;
}

/* ---- bytes ---- */

static silt_status flush(const struct pump *pump, struct lane *lane, silt_error *err)
{
    if (lane->block_len == 0) {
        return SILT_OK;
    }
    const struct sl_cache_entry *entry = pump->fetch->files[lane->slice->file].entry;
    SL_TRY(sl_cache_entry_write(entry, lane->written, lane->block, lane->block_len, err));
    sl_hasher_add(&lane->hasher, lane->block, lane->block_len);
    lane->written += (int64_t)lane->block_len;
    lane->block_len = 0;
    return SILT_OK;
}

static silt_status put_bytes(const struct pump *pump, struct lane *lane, const char *bytes, size_t n, silt_error *err)
{
    while (n > 0) {
        /* Up to a multiple of the block's size in the file, so that whole pages are written. */
        const size_t room = (size_t)(BLOCK_BYTES - lane->written % BLOCK_BYTES) - lane->block_len;
        const size_t part = n < room ? n : room;
        memcpy(lane->block + lane->block_len, bytes, part);
        lane->block_len += part;
        bytes += part;
        n -= part;
        if (part == room) {
            SL_TRY(flush(pump, lane, err));
        }
    }
    return SILT_OK;
}

/* The store puts its own words around what a callback says; ours are kept as they are. */
static silt_status keep(struct pump *pump, silt_status status, silt_error *err)
{
    if (status != SILT_OK && pump->status == SILT_OK) {
        pump->status = status;
        pump->error = *err;
    }
    return status;
}

static silt_status take_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                              silt_error *err)
{
    struct pump *pump = ctx;
    struct lane *lane = request->user;
    if (at == 0) { /* the first attempt, or another */
        SL_TRY(keep(pump, sl_fetch_judge_tag(&pump->fetch->files[lane->slice->file], request, err), err));
        sl_hasher_begin(&lane->hasher);
        lane->block_len = 0;
        lane->written = lane->slice->range.begin;
    }
    return keep(pump, put_bytes(pump, lane, bytes, n, err), err);
}

static silt_status record(struct sl_fetch *fetch, struct lane *lane, silt_error *err)
{
    struct sl_fetch_file_state *file = &fetch->files[lane->slice->file];
    const struct sl_range range = lane->slice->range;
    pthread_mutex_lock(&fetch->lock);
    const silt_status status = sl_cache_entry_record(file->entry, range, sl_hasher_end(&lane->hasher), err);
    fetch->n_requests++;
    fetch->n_bytes += range.end - range.begin;
    if (status == SILT_OK && --file->n_open == 0) {
        pthread_cond_broadcast(&fetch->moved);
    }
    pthread_mutex_unlock(&fetch->lock);
    return status;
}

static silt_status end_slice(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct pump *pump = ctx;
    struct lane *lane = request->user;
    SL_TRY(keep(pump, sl_fetch_judge(request, lane->slice->range, err), err));
    SL_TRY(keep(pump, flush(pump, lane, err), err));
    SL_TRY(keep(pump, record(pump->fetch, lane, err), err));
    pump->idle[pump->n_idle++] = lane;
    return SILT_OK;
}

/* ---- the threads ---- */

static silt_status run(struct pump *pump, silt_error *err)
{
    struct sl_fetch *fetch = pump->fetch;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &fetch->stop};
    const silt_read_stream stream = {.size = sizeof(stream),
                                     .at_once = AT_ONCE,
                                     .ctx = pump,
                                     .next = next_slice,
                                     .on_bytes = take_bytes,
                                     .on_part = end_slice};
    pump->blocks = sl_alloc_array(fetch->env, AT_ONCE, (size_t)BLOCK_BYTES);
    if (pump->blocks == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < AT_ONCE; i++) {
        pump->lanes[i].block = pump->blocks + i * (size_t)BLOCK_BYTES;
        pump->idle[pump->n_idle++] = &pump->lanes[i];
    }
    const silt_status status = silt_storage_read_stream(fetch->storage, &call, &stream, err);
    sl_release(fetch->env, pump->blocks, AT_ONCE * (size_t)BLOCK_BYTES);
    return pump->status != SILT_OK ? sl_error_take(err, &pump->error) : sl_fetch_judge_missing(status, err);
}

static void *run_pump(void *arg)
{
    struct sl_fetch *fetch = arg;
    struct pump pump = {.fetch = fetch, .error = SILT_ERROR_INIT};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = run(&pump, &err);
    if (status != SILT_OK) {
        pthread_mutex_lock(&fetch->lock);
        if (fetch->status == SILT_OK) {
            fetch->status = status;
            fetch->error = err;
        }
        pthread_cond_broadcast(&fetch->moved);
        pthread_mutex_unlock(&fetch->lock);
    }
    return NULL;
}

silt_status sl_fetch_pump(struct sl_fetch *fetch, silt_error *err)
{
    for (size_t i = 0; i < SL_FETCH_THREADS && fetch->n_slices > i * AT_ONCE; i++) {
        if (pthread_create(&fetch->threads[fetch->n_threads], NULL, run_pump, fetch) != 0) {
            if (fetch->n_threads > 0) {
                break; /* one is enough */
            }
            return sl_fail(err, SILT_EENGINE, NULL, "no thread can be made to read remote files");
        }
        fetch->n_threads++;
    }
    return SILT_OK;
}
