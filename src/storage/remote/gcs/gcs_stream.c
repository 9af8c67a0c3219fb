/* Parts of objects whose bytes are handed on as they come. Any thread; a stream has one. */
#include "base/error.h"
#include "storage/remote/gcs/gcs_int.h"
#include "storage/remote/part_stream.h"

struct own {
    struct sl_gcs_request request;
    struct sl_gcs_name name;
    bool made; /* request */
};

static silt_status begin(void *store, struct sl_part *part, silt_error *err)
{
    struct sl_gcs *gcs = store;
    struct own *own = part->own;
    SL_TRY(sl_gcs_begin(gcs, part->request->path, false, &own->name, err));
    sl_gcs_request_init(&own->request, gcs, "GET");
    own->made = true;
    own->request.max_answer = part->max_answer;
    sl_gcs_put_object_url(&own->request.url, gcs->base_url, &own->name);
    sl_gcs_put_parameter(&own->request.url, "alt", SL_STR("media"));
    if (part->range != NULL) {
        sl_gcs_request_header(&own->request, "Range", part->range);
    }
    sl_gcs_arm(&own->request, part->exchange);
    return SILT_OK;
}

static silt_status fail(const struct sl_part *part, silt_error *err)
{
    const struct own *own = part->own;
    return sl_gcs_fail(own->request.gcs, part->exchange, &own->name, err);
}

static void end(struct sl_part *part)
{
    struct own *own = part->own;
    if (own->made) {
        sl_gcs_request_release(&own->request);
        own->made = false;
    }
}

static const struct sl_part_class parts = {.own_size = sizeof(struct own), .begin = begin, .fail = fail, .end = end};

silt_status sl_gcs_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                               silt_read_request *requests, size_t n, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    const struct sl_part_source source = {.class = &parts, .store = gcs, .context = gcs->context};
    return sl_part_stream_run(&source, call, stream, requests, n, err);
}
