/* Parts of files whose bytes are handed on as they come. Any thread; a stream has one. */
#include "base/error.h"
#include "storage/remote/azure/azure_int.h"
#include "storage/remote/part_stream.h"

struct own {
    struct sl_azure_request request;
    bool made;
};

static silt_status begin(void *store, struct sl_part *part, silt_error *err)
{
    struct sl_azure *azure = store;
    struct own *own = part->own;
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    SL_TRY(sl_azure_place_of_file(part->request->path, &place, err));
    SL_TRY(sl_azure_reach(azure, &place, &access, err));
    sl_azure_request_init(&own->request, azure->context, access, "GET", place.path);
    own->made = true;
    own->request.max_answer = part->max_answer;
    if (part->range != NULL) {
        sl_azure_request_header(&own->request, "x-ms-range", part->range);
    }
    sl_azure_arm(&own->request, part->exchange);
    return SILT_OK;
}

static silt_status check(const struct sl_part *part, silt_error *err)
{
    return sl_azure_is_folder(&part->exchange->request) ? sl_fail(err, SILT_ENOTFOUND, NULL, "it is a folder")
                                                        : SILT_OK;
}

static silt_status fail(const struct sl_part *part, silt_error *err)
{
    struct own *own = part->own;
    const silt_status status = sl_azure_judge(&own->request, err);
    return status != SILT_OK
               ? status
               : sl_fail(err, SILT_EIO, NULL, "the service answered a read with HTTP %d", part->exchange->request.code);
}

static void end(struct sl_part *part)
{
    struct own *own = part->own;
    if (own->made) {
        sl_azure_request_release(&own->request);
        own->made = false;
    }
}

static const struct sl_part_class parts = {
    .own_size = sizeof(struct own), .begin = begin, .check = check, .fail = fail, .end = end};

silt_status sl_azure_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                 silt_read_request *requests, size_t n, silt_error *err)
{
    struct sl_azure *azure = impl;
    const struct sl_part_source source = {.class = &parts, .store = azure, .context = azure->context};
    return sl_part_stream_run(&source, call, stream, requests, n, err);
}
