/*
 * Reading: ranges, all at once, and what HEAD says of an object. A range that came is compared with the one that was asked for. Any thread.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/ranges.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/s3/s3_int.h"

#define MAX_OBJECT ((size_t)1 << 40)         /* of one answer; S3's objects end at 5 TiB, memory before */
#define MIN_LIMIT ((size_t)64 * 1024 * 1024) /* a server may ignore a range of a small object */

struct read {
    silt_read_request *request;
    char range[SL_RANGE_TEXT_SIZE]; /* the Range header's value, if ranged */
    bool ranged;
};

/* ---- asking ---- */

static silt_status prepare_read(struct sl_s3_store *store, struct read *read, struct sl_s3_ask *ask, silt_error *err)
{
    struct sl_s3_place place;
    SL_TRY(sl_s3_locate(store, read->request->path, &place, err));
    if (place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    const int64_t length = read->request->length;
    /* Nothing is wanted but to know whether it is there. */
    ask->method = length == 0 ? "HEAD" : "GET";
    ask->bucket = place.bucket;
    ask->key = place.key;
    ask->content = true;
    ask->max_answer = MAX_OBJECT;
    if (length != 0) {
        read->ranged = sl_range_put(read->request, read->range);
        if (read->ranged) {
            ask->extra[ask->n_extra++] = (struct sl_http_header){"Range", read->range};
        }
        if (length > 0 && (uint64_t)length < MAX_OBJECT && read->request->offset >= 0) {
            ask->max_answer = (size_t)length > MIN_LIMIT ? (size_t)length : MIN_LIMIT;
        }
    }
    return SILT_OK;
}

/* ---- answers ---- */

/* Some servers refuse a range of an empty object without a word of its size: HEAD tells it. */
static silt_status take_none(struct sl_s3_store *store, const silt_call *call, const struct read *read,
                             const struct sl_http_request *answer, silt_error *err)
{
    int64_t modified_ms = 0;
    if (!read->ranged || read->request->offset > 0 || sl_http_header(answer, "content-range").ptr != NULL) {
        return sl_range_take_none(answer, read->request, err);
    }
    SL_TRY(sl_s3_stat(store, call, read->request->path, &read->request->file_size, &modified_ms, err));
    return read->request->file_size == 0
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "the server has no byte %lld of an object of %lld",
                         (long long)read->request->offset, (long long)read->request->file_size);
}

static silt_status finish_read(struct sl_s3_store *store, const silt_call *call, struct read *read,
                               struct sl_s3_ask *ask, struct sl_exchange *exchange, silt_error *err)
{
    silt_read_request *request = read->request;
    struct sl_http_request *answer = &exchange->request;
    if (request->length == 0 && sl_s3_answered(exchange, 200)) {
        int64_t size = -1;
        request->file_size = sl_http_header_i64(answer, "content-length", &size) ? size : -1;
        return SILT_OK;
    }
    if (sl_s3_answered(exchange, 416)) {
        return take_none(store, call, read, answer, err);
    }
    if (sl_s3_answered(exchange, 200) || (sl_s3_answered(exchange, 206) && read->ranged)) {
        return sl_range_take(store->env, answer, request, err);
    }
    return sl_s3_fail(ask, exchange, err);
}

/* Requests whose path is none are completed at once; the others stand at the front of the arrays. */
static size_t prepare_all(struct sl_s3_store *store, silt_read_request *requests, size_t n, struct read *reads,
                          struct sl_s3_ask *asks, silt_error *err)
{
    size_t ready = 0;
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SILT_OK;
        requests[i].data = NULL;
        requests[i].data_len = 0;
        requests[i].file_size = -1;
        reads[ready] = (struct read){.request = &requests[i]};
        asks[ready] = (struct sl_s3_ask){0};
        requests[i].status = prepare_read(store, &reads[ready], &asks[ready], err);
        ready += requests[i].status == SILT_OK ? 1 : 0;
    }
    return ready;
}

silt_status sl_s3_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                            void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct sl_s3_store *store = impl;
    if (n == 0) {
        return SILT_OK;
    }
    struct read *reads = sl_alloc_array(store->env, n, sizeof(*reads));
    struct sl_s3_ask *asks = sl_alloc_array(store->env, n, sizeof(*asks));
    struct sl_exchange *exchanges = sl_alloc_array(store->env, n, sizeof(*exchanges));
    silt_status status = SILT_OK;
    size_t ready = 0;
    if (reads == NULL || asks == NULL || exchanges == NULL) {
        status = sl_fail_nomem(err);
    } else {
        ready = prepare_all(store, requests, n, reads, asks, err);
        status = sl_s3_run(store, call, asks, exchanges, ready, err);
    }
    for (size_t i = 0; i < ready; i++) {
        silt_read_request *request = reads[i].request;
        request->status = status != SILT_OK && exchanges[i].status != SILT_OK
                              ? status
                              : finish_read(store, call, &reads[i], &asks[i], &exchanges[i], err);
        sl_s3_release(&asks[i], &exchanges[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (asks == NULL || reads == NULL || exchanges == NULL) {
            requests[i].status = status;
        }
        on_done(ctx, &requests[i]);
    }
    sl_release(store->env, reads, n * sizeof(*reads));
    sl_release(store->env, asks, n * sizeof(*asks));
    sl_release(store->env, exchanges, n * sizeof(*exchanges));
    return status;
}

silt_status sl_s3_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                       silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_exchange exchange = {0};
    int64_t seconds = 0;
    int64_t size = 0;
    SL_TRY(sl_s3_locate(store, path, &place, err));
    struct sl_s3_ask ask = {.bucket = place.bucket, .method = "HEAD", .key = place.key, .content = true};
    silt_status status = sl_s3_run_for(store, call, &ask, &exchange, 200, err);
    if (status == SILT_OK && (!sl_http_header_i64(&exchange.request, "content-length", &size) || size < 0 ||
                              !sl_http_date_parse(sl_http_header(&exchange.request, "last-modified"), &seconds))) {
        status = sl_fail(err, SILT_EIO, NULL, "the server tells no size or no time of the object");
    }
    if (status == SILT_OK) {
        *size_bytes = size;
        *modified_ms = seconds * 1000;
    }
    sl_s3_release(&ask, &exchange);
    return status;
}
