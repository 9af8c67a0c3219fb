/* Parts of objects whose bytes are handed on as they come. Any thread; a stream has one. */
#include "base/error.h"
#include "storage/remote/part_stream.h"
#include "storage/remote/s3/s3_int.h"

static silt_status begin(void *store, struct sl_part *part, silt_error *err)
{
    struct sl_s3_ask *ask = part->own;
    struct sl_s3_place place;
    SL_TRY(sl_s3_locate(store, part->request->path, &place, err));
    if (place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    *ask = (struct sl_s3_ask){
        .bucket = place.bucket, .method = "GET", .key = place.key, .content = true, .max_answer = part->max_answer};
    if (part->range != NULL) {
        ask->extra[ask->n_extra++] = (struct sl_http_header){"Range", part->range};
    }
    sl_s3_arm(store, ask, part->exchange);
    return SILT_OK;
}

static silt_status fail(const struct sl_part *part, silt_error *err)
{
    return sl_s3_fail(part->own, part->exchange, err);
}

static void end(struct sl_part *part)
{
    struct sl_s3_ask *ask = part->own;
    if (ask->store != NULL) { /* it was armed */
        sl_s3_release(ask, part->exchange);
    }
}

static const struct sl_part_class parts = {
    .own_size = sizeof(struct sl_s3_ask), .begin = begin, .fail = fail, .end = end};

silt_status sl_s3_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                              silt_read_request *requests, size_t n, silt_error *err)
{
    struct sl_s3_store *store = impl;
    const struct sl_part_source source = {.class = &parts, .store = store, .context = store->context};
    return sl_part_stream_run(&source, call, stream, requests, n, err);
}
