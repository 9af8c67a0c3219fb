/*
 * Reads and stat. The Blob service knows no suffix ranges, so where a read counts from the end the file is looked at first; what is read is then the
 * version that was looked at, or nothing (If-Match). Where little of the end is wanted, looking at it is to read as much of its begin: small files
 * are there with one request.
 *
 * Called through the store's slots. Any thread.
 */
#include "storage/remote/azure/azure_int.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/ranges.h"

#define RANGE_SIZE 64
#define TAG_SIZE 128
#define MIN_ANSWER ((size_t)1 << 16) /* room for an error, however short the range is */
#define MAX_WHOLE ((size_t)1 << 40)  /* of a file that is read as a whole */

#define HOPEFUL_BYTES (INT64_C(64) << 10) /* as much of a file's end may be all of it */

/* One read on its way. */
struct reading {
    silt_read_request *wanted;
    struct sl_azure_place place;
    struct sl_azure_access *access;
    int64_t offset; /* from the begin */
    int64_t length; /* -1: up to the end */
    bool looks;     /* the file is looked at before */
    bool over;
    char range[RANGE_SIZE];
    char tag[TAG_SIZE]; /* of the version that was looked at; empty: any */
};

struct batch {
    struct sl_azure *azure;
    const silt_call *call;
    struct reading *readings;
    size_t n;
    struct sl_azure_request *requests; /* of one round */
    struct sl_exchange *exchanges;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
    silt_error *err;
};

/* ---- what answers say ---- */

bool sl_azure_is_folder(const struct sl_http_request *answer)
{
    return sl_str_eq_nocase(sl_http_header(answer, "x-ms-meta-hdi_isfolder"), SL_STR("true")) ||
           sl_str_eq_nocase(sl_http_header(answer, "x-ms-resource-type"), SL_STR("directory"));
}

static silt_status fail_answer(const char *what, silt_error *err)
{
    return sl_fail(err, SILT_EIO, NULL, "the service's answer cannot be used: %s", what);
}

/* What a HEAD tells. */
static silt_status take_properties(struct sl_azure_request *request, int64_t *size_bytes, int64_t *modified_ms,
                                   silt_error *err)
{
    const struct sl_http_request *answer = &request->exchange->request;
    int64_t seconds = 0;
    SL_TRY(sl_azure_judge(request, err));
    if (sl_azure_is_folder(answer)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "it is a folder");
    }
    if (!sl_http_header_i64(answer, "content-length", size_bytes) || *size_bytes < 0) {
        return fail_answer("it does not tell the size of the file", err);
    }
    if (!sl_http_date_parse(sl_http_header(answer, "last-modified"), &seconds)) {
        return fail_answer("it does not tell the time of the file", err);
    }
    *modified_ms = seconds * 1000;
    return SILT_OK;
}

/* The whole file came, be it that no range was asked for or that the server does not know ranges. */
static silt_status take_whole(struct sl_azure *azure, struct reading *reading, struct sl_http_request *answer,
                              silt_error *err)
{
    const int64_t size = (int64_t)answer->answer.len;
    const int64_t begin = reading->offset < size ? reading->offset : size;
    const int64_t rest = size - begin;
    const int64_t len = reading->length >= 0 && reading->length < rest ? reading->length : rest;
    reading->wanted->file_size = size;
    return sl_range_keep(azure->context->env, &answer->answer, (size_t)begin, (size_t)len, reading->wanted, err);
}

static silt_status take_part(struct sl_azure *azure, struct reading *reading, struct sl_http_request *answer,
                             silt_error *err)
{
    int64_t first = 0;
    int64_t last = 0;
    int64_t size = 0;
    if (sl_range_is_behind(answer, reading->offset, &reading->wanted->file_size)) {
        return SILT_OK;
    }
    if (!sl_http_content_range_parse(sl_http_header(answer, "content-range"), &first, &last, &size) ||
        first != reading->offset || last < first || size < 0) {
        return fail_answer("it is about another range than was asked for", err);
    }
    const int64_t rest = size - first;
    const int64_t wanted = reading->length >= 0 && reading->length < rest ? reading->length : rest;
    if (last - first + 1 != wanted || (int64_t)answer->answer.len != wanted) {
        return fail_answer("it has more or less bytes than were asked for", err);
    }
    reading->wanted->file_size = size;
    return sl_range_keep(azure->context->env, &answer->answer, 0, (size_t)wanted, reading->wanted, err);
}

static silt_status take_content(struct sl_azure *azure, struct sl_azure_request *request, silt_error *err)
{
    struct reading *reading = request->user;
    struct sl_http_request *answer = &request->exchange->request;
    /* Of a file that was looked at, only bytes that it has are asked for. */
    if (request->exchange->status == SILT_OK && answer->code == 416 && !reading->looks) {
        return sl_range_take_none(answer, reading->wanted, err);
    }
    if (request->exchange->status == SILT_OK && answer->code == 412 && reading->tag[0] != '\0') {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the file was replaced while it was read");
    }
    SL_TRY(sl_azure_judge(request, err));
    if (sl_azure_is_folder(answer)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "it is a folder");
    }
    sl_range_take_tag(answer, reading->wanted);
    return answer->code == 206 ? take_part(azure, reading, answer, err) : take_whole(azure, reading, answer, err);
}

/* ---- the two rounds ---- */

static void complete(struct batch *batch, struct reading *reading, silt_status status, const silt_error *err)
{
    reading->over = true;
    reading->wanted->status = status;
    if (status != SILT_OK) {
        *batch->err = *err;
    }
    batch->on_done(batch->ctx, reading->wanted);
}

/* Where the read begins, now that the size is known; true if nothing is left to be read. */
static bool settle_range(struct reading *reading, int64_t size)
{
    reading->wanted->file_size = size;
    if (reading->offset < 0) {
        reading->offset = reading->offset <= -size ? 0 : size + reading->offset;
    }
    return reading->length == 0 || reading->offset >= size;
}

static void keep_tag(struct reading *reading, const struct sl_http_request *answer)
{
    const struct sl_str tag = sl_http_header(answer, "etag");
    if (tag.len > 0 && tag.len < sizeof(reading->tag)) {
        memcpy(reading->tag, tag.ptr, tag.len);
    }
}

static bool is_hopeful(const struct reading *reading)
{
    return reading->offset < 0 && reading->offset >= -HOPEFUL_BYTES && reading->length != 0;
}

/* Of a file whose end is wanted the first bytes came, as many as are wanted of the end. *whole: there is nothing more to be read. */
static silt_status take_begin(struct sl_azure *azure, struct sl_azure_request *request, bool *whole, silt_error *err)
{
    struct reading *reading = request->user;
    struct sl_http_request *answer = &request->exchange->request;
    const int64_t asked = -reading->offset;
    int64_t first = 0;
    int64_t last = -1;
    int64_t size = 0;
    *whole = true;
    /* The range begins with the file, so there is no byte of it; some servers say so with an empty part. */
    if (request->exchange->status == SILT_OK && answer->code == 416) {
        return sl_range_take_none(answer, reading->wanted, err);
    }
    if (request->exchange->status == SILT_OK && answer->code == 206 && answer->answer.len == 0 &&
        sl_str_ends_with(sl_http_header(answer, "content-range"), SL_STR("/0"))) {
        reading->wanted->file_size = 0;
        return SILT_OK;
    }
    SL_TRY(sl_azure_judge(request, err));
    if (sl_azure_is_folder(answer)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "it is a folder");
    }
    if (answer->code != 206) {
        size = (int64_t)answer->answer.len;
    } else if (!sl_http_content_range_parse(sl_http_header(answer, "content-range"), &first, &last, &size) ||
               first != 0 || last + 1 != (asked < size ? asked : size) || (int64_t)answer->answer.len != last + 1) {
        return fail_answer("it is about another range than was asked for", err);
    }
    keep_tag(reading, answer);
    const bool over = settle_range(reading, size);
    if (answer->code == 206 && size > asked) {
        *whole = over;
        return SILT_OK;
    }
    sl_range_take_tag(answer, reading->wanted);
    return over ? SILT_OK : take_whole(azure, reading, answer, err);
}

static void begin_came(void *ctx, struct sl_exchange *exchange)
{
    struct batch *batch = ctx;
    struct sl_azure_request *request = exchange->user;
    silt_error error = SILT_ERROR_INIT;
    bool whole = false;
    const silt_status status = take_begin(batch->azure, request, &whole, &error);
    if (status != SILT_OK || whole) {
        complete(batch, request->user, status, &error);
    }
}

static void looked_at(void *ctx, struct sl_exchange *exchange)
{
    struct batch *batch = ctx;
    struct sl_azure_request *request = exchange->user;
    struct reading *reading = request->user;
    silt_error error = SILT_ERROR_INIT;
    int64_t size = 0;
    int64_t modified_ms = 0;
    if (is_hopeful(reading)) {
        begin_came(ctx, exchange);
        sl_exchange_release(exchange);
        return;
    }
    const silt_status status = take_properties(request, &size, &modified_ms, &error);
    if (status != SILT_OK) {
        complete(batch, reading, status, &error);
    } else if (settle_range(reading, size)) {
        complete(batch, reading, SILT_OK, NULL);
    } else {
        keep_tag(reading, &exchange->request);
    }
    sl_exchange_release(exchange);
}

static void content_came(void *ctx, struct sl_exchange *exchange)
{
    struct batch *batch = ctx;
    struct sl_azure_request *request = exchange->user;
    silt_error error = SILT_ERROR_INIT;
    const silt_status status = take_content(batch->azure, request, &error);
    complete(batch, request->user, status, &error);
    sl_exchange_release(exchange);
}

static void ask_for(struct batch *batch, struct reading *reading, struct sl_azure_request *request, bool look)
{
    const bool hopeful = look && is_hopeful(reading);
    sl_azure_request_init(request, batch->azure->context, reading->access, look && !hopeful ? "HEAD" : "GET",
                          reading->place.path);
    request->user = reading;
    request->max_answer = reading->length < 0                     ? MAX_WHOLE
                          : reading->length < (int64_t)MIN_ANSWER ? MIN_ANSWER
                                                                  : (size_t)reading->length;
    if (hopeful) {
        (void)snprintf(reading->range, sizeof(reading->range), "bytes=0-%lld", (long long)-reading->offset - 1);
        sl_azure_request_header(request, "x-ms-range", reading->range);
    }
    if (look) {
        return;
    }
    if (reading->length >= 0) {
        const int64_t last = reading->length - 1 > INT64_MAX - reading->offset ? INT64_MAX
                                                                               : reading->offset + reading->length - 1;
        (void)snprintf(reading->range, sizeof(reading->range), "bytes=%lld-%lld", (long long)reading->offset,
                       (long long)last);
    } else {
        (void)snprintf(reading->range, sizeof(reading->range), "bytes=%lld-", (long long)reading->offset);
    }
    if (reading->length >= 0 || reading->offset > 0) {
        sl_azure_request_header(request, "x-ms-range", reading->range);
    }
    if (reading->tag[0] != '\0') {
        sl_azure_request_header(request, "If-Match", reading->tag);
    }
}

static silt_status run_round(struct batch *batch, bool look, silt_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < batch->n; i++) {
        struct reading *reading = &batch->readings[i];
        if (!reading->over && (reading->looks || !look)) {
            ask_for(batch, reading, &batch->requests[n++], look);
        }
    }
    const silt_status status = sl_azure_ask_all(batch->requests, batch->exchanges, n, batch->call,
                                                look ? looked_at : content_came, batch, err);
    for (size_t i = 0; i < n; i++) {
        sl_azure_request_release(&batch->requests[i]);
    }
    return status;
}

static void begin(struct batch *batch, struct reading *reading, silt_read_request *wanted)
{
    silt_error error = SILT_ERROR_INIT;
    *reading = (struct reading){.wanted = wanted,
                                .offset = wanted->offset,
                                .length = wanted->length,
                                .looks = wanted->offset < 0 || wanted->length == 0};
    silt_status status = sl_azure_place_of_file(wanted->path, &reading->place, &error);
    if (status == SILT_OK) {
        status = sl_azure_reach(batch->azure, &reading->place, &reading->access, &error);
    }
    if (status != SILT_OK) {
        complete(batch, reading, status, &error);
    }
}

static silt_status run_batch(struct batch *batch, silt_read_request *requests, silt_error *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        begin(batch, &batch->readings[i], &requests[i]);
    }
    silt_error error = SILT_ERROR_INIT;
    silt_status status = run_round(batch, true, &error);
    if (status == SILT_OK) {
        status = run_round(batch, false, &error);
    }
    for (size_t i = 0; i < batch->n; i++) {
        if (!batch->readings[i].over) {
            complete(batch, &batch->readings[i], status, &error);
        }
    }
    if (status != SILT_OK) {
        *err = error;
    }
    return status;
}

silt_status sl_azure_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                               void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct sl_azure *azure = impl;
    const silt_env *env = azure->context->env;
    struct batch batch = {.azure = azure, .call = call, .n = n, .on_done = on_done, .ctx = ctx, .err = err};
    batch.readings = sl_alloc_array(env, n, sizeof(*batch.readings));
    batch.requests = sl_alloc_array(env, n, sizeof(*batch.requests));
    batch.exchanges = sl_alloc_array(env, n, sizeof(*batch.exchanges));
    silt_status status = SILT_OK;
    if (batch.readings != NULL && batch.requests != NULL && batch.exchanges != NULL) {
        status = run_batch(&batch, requests, err);
    } else {
        status = sl_fail_nomem(err);
        for (size_t i = 0; i < n; i++) {
            requests[i].status = status;
            on_done(ctx, &requests[i]);
        }
    }
    sl_release(env, batch.readings, n * sizeof(*batch.readings));
    sl_release(env, batch.requests, n * sizeof(*batch.requests));
    sl_release(env, batch.exchanges, n * sizeof(*batch.exchanges));
    return status;
}

silt_status sl_azure_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                          int64_t *modified_ms, silt_error *err)
{
    struct sl_azure *azure = impl;
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    SL_TRY(sl_azure_place_of_file(path, &place, err));
    SL_TRY(sl_azure_reach(azure, &place, &access, err));
    sl_azure_request_init(&request, azure->context, access, "HEAD", place.path);
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    if (status == SILT_OK) {
        status = take_properties(&request, size_bytes, modified_ms, err);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}
