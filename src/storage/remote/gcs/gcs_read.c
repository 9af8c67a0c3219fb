/* Reading of objects: ranges, many at once, and what the service says of one. Any thread. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/gcs/gcs_int.h"
#include "storage/remote/ranges.h"

/* One read on its way. */
struct reading {
    silt_read_request *read;
    struct sl_gcs_name name;
    char range[SL_RANGE_TEXT_SIZE];
};

struct batch {
    struct sl_gcs *gcs;
    struct reading *readings;
    struct sl_gcs_request *requests; /* of readings that have a request, in order */
    struct sl_exchange *exchanges;
    size_t n; /* requests */
    void (*on_done)(void *ctx, silt_read_request *read);
    void *ctx;
    silt_error failure; /* of the last read that failed */
};

static void complete(struct batch *batch, silt_read_request *read, silt_status status, const silt_error *err)
{
    read->status = status;
    if (status != SILT_OK) {
        batch->failure = *err;
    }
    batch->on_done(batch->ctx, read);
}

static void answered(void *ctx, struct sl_exchange *exchange)
{
    struct batch *batch = ctx;
    const struct sl_gcs_request *request = exchange->user;
    const struct reading *reading = request->user;
    const int code = exchange->request.code;
    silt_error err = SILT_ERROR_INIT;
    const bool good = exchange->status == SILT_OK && (code == 200 || code == 206 || code == 416);
    const silt_status status = good ? sl_range_take(batch->gcs->env, &exchange->request, reading->read, &err)
                                    : sl_gcs_fail(batch->gcs, exchange, &reading->name, &err);
    sl_exchange_release(exchange);
    complete(batch, reading->read, status, &err);
}

static void add_request(struct batch *batch, struct reading *reading)
{
    struct sl_gcs_request *request = &batch->requests[batch->n++];
    sl_gcs_request_init(request, batch->gcs, "GET");
    request->user = reading;
    request->max_answer = sl_range_max_answer(reading->read);
    sl_gcs_put_object_url(&request->url, batch->gcs->base_url, &reading->name);
    sl_gcs_put_parameter(&request->url, "alt", SL_STR("media"));
    if (sl_range_put(reading->read, reading->range)) {
        sl_gcs_request_header(request, "Range", reading->range);
    }
}

/* Those whose name is none are completed at once. */
static void add_requests(struct batch *batch, silt_read_request *reads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        silt_error err = SILT_ERROR_INIT;
        struct reading *reading = &batch->readings[i];
        reading->read = &reads[i];
        reads[i].file_size = -1;
        const silt_status status = sl_gcs_begin(batch->gcs, reads[i].path, false, &reading->name, &err);
        if (status == SILT_OK) {
            add_request(batch, reading);
        } else {
            complete(batch, &reads[i], status, &err);
        }
    }
}

silt_status sl_gcs_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct batch batch = {.gcs = gcs, .on_done = on_done, .ctx = ctx, .failure = SILT_ERROR_INIT};
    silt_status status = SILT_OK;
    batch.readings = sl_alloc_array(gcs->env, n, sizeof(*batch.readings));
    batch.requests = sl_alloc_array(gcs->env, n, sizeof(*batch.requests));
    batch.exchanges = sl_alloc_array(gcs->env, n, sizeof(*batch.exchanges));
    if (batch.readings == NULL || batch.requests == NULL || batch.exchanges == NULL) {
        status = sl_fail_nomem(err);
        for (size_t i = 0; i < n; i++) {
            complete(&batch, &requests[i], status, err);
        }
        goto out;
    }
    add_requests(&batch, requests, n);
    if (batch.n > 0) {
        status = sl_gcs_run_many(batch.requests, batch.n, call, batch.exchanges, answered, &batch, err);
    }
    if (status == SILT_OK && batch.failure.status != SILT_OK) {
        *err = batch.failure;
    }
out:
    for (size_t i = 0; i < batch.n; i++) {
        sl_exchange_release(&batch.exchanges[i]);
        sl_gcs_request_release(&batch.requests[i]);
    }
    sl_release(gcs->env, batch.exchanges, n * sizeof(*batch.exchanges));
    sl_release(gcs->env, batch.requests, n * sizeof(*batch.requests));
    sl_release(gcs->env, batch.readings, n * sizeof(*batch.readings));
    return status;
}

silt_status sl_gcs_describe(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *name,
                            struct sl_json_doc **doc, struct sl_gcs_object *out, silt_error *err)
{
    struct sl_gcs_request request;
    *doc = NULL;
    sl_gcs_request_init(&request, gcs, "GET");
    sl_gcs_put_object_url(&request.url, gcs->base_url, name);
    sl_gcs_put_parameter(&request.url, "fields", SL_STR("size,updated,generation,crc32c"));
    silt_status status = sl_gcs_run(&request, call, err);
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_gcs_fail(gcs, &request.exchange, name, err);
    }
    if (status == SILT_OK) {
        status = sl_gcs_parse(gcs->env, sl_buf_view(&request.exchange.request.answer), doc, err);
    }
    if (status == SILT_OK) {
        status = sl_gcs_read_object(sl_json_root(*doc), out, err);
    }
    if (status == SILT_OK && out->size_bytes < 0) {
        status = sl_fail(err, SILT_EIO, NULL, "the service described an object without its size");
    }
    sl_gcs_request_release(&request);
    if (status != SILT_OK) {
        sl_json_free(*doc);
        *doc = NULL;
    }
    return status;
}

silt_status sl_gcs_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                        silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name;
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_object object;
    SL_TRY(sl_gcs_begin(gcs, path, false, &name, err));
    SL_TRY(sl_gcs_describe(gcs, call, &name, &doc, &object, err));
    *size_bytes = object.size_bytes;
    *modified_ms = object.updated_ms;
    sl_json_free(doc);
    return SILT_OK;
}
