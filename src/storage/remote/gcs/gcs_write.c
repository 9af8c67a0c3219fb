/*
 * Writing of objects from memory. An upload carries the checksum of its bytes, with which the service compares what it got before the
 * object exists; the checksum of what it says it stored is compared again.
 *
 * Any thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "storage/remote/crc32c.h"
#include "storage/remote/gcs/gcs_int.h"

#define UPLOADED_FIELDS "size,generation,crc32c"

/* "multipart/related" (RFC 2387): the object's resource, then its bytes. The boundary is random, so the bytes do not hold it. */
static silt_status put_body(struct sl_str resource, struct sl_str bytes, const char *boundary, struct sl_buf *out,
                            silt_error *err)
{
    sl_buf_printf(out, "--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n", boundary);
    sl_buf_put_str(out, resource);
    sl_buf_printf(out, "\r\n--%s\r\nContent-Type: application/octet-stream\r\n\r\n", boundary);
    sl_buf_put_str(out, bytes);
    sl_buf_printf(out, "\r\n--%s--\r\n", boundary);
    return sl_buf_status(out, err);
}

silt_status sl_gcs_put_resource(struct sl_buf *out, struct sl_str key, const char *crc32c, silt_error *err)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "name");
    sl_json_put_str(&w, key);
    if (crc32c != NULL) {
        sl_json_key_c(&w, "crc32c");
        sl_json_put_c(&w, crc32c);
    }
    sl_json_end_object(&w);
    return sl_buf_status(out, err);
}

silt_status sl_gcs_check_stored(const struct sl_gcs *gcs, const struct sl_exchange *exchange, const char *crc32c,
                                int64_t size, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_object object;
    SL_TRY(sl_gcs_parse(gcs->env, sl_buf_view(&exchange->request.answer), &doc, err));
    silt_status status = sl_gcs_read_object(sl_json_root(doc), &object, err);
    const bool differs = (object.crc32c.ptr != NULL && !sl_str_eq_c(object.crc32c, crc32c)) ||
                         (object.size_bytes >= 0 && object.size_bytes != size);
    if (status == SILT_OK && differs) {
        status = sl_fail(err, SILT_EIO, NULL, "the service stored other bytes than it was sent (%lld, checksum %.*s)",
                         (long long)object.size_bytes, SL_FMT(object.crc32c));
    }
    sl_json_free(doc);
    return status;
}

static silt_status put_url(struct sl_gcs_request *request, const struct sl_gcs_name *name, bool if_absent,
                           silt_error *err)
{
    sl_gcs_put_upload_url(&request->url, request->gcs->base_url, name->bucket);
    sl_gcs_put_parameter(&request->url, "uploadType", SL_STR("multipart"));
    sl_gcs_put_parameter(&request->url, "fields", SL_STR(UPLOADED_FIELDS));
    if (if_absent) {
        sl_gcs_put_parameter(&request->url, "ifGenerationMatch", SL_STR("0"));
    }
    return sl_buf_status(&request->url, err);
}

/* Uploads and leaves the answer in `request`, which the caller releases whatever is returned. */
static silt_status upload(struct sl_gcs_request *request, const silt_call *call, const struct sl_gcs_name *name,
                          struct sl_str bytes, bool if_absent, silt_error *err)
{
    struct sl_gcs *gcs = request->gcs;
    char boundary[SL_UUID_TEXT_SIZE];
    char type[SL_UUID_TEXT_SIZE + 40];
    char crc32c[SL_CRC32C_TEXT_SIZE];
    struct sl_buf resource;
    struct sl_buf body;
    sl_buf_init(&resource, gcs->env);
    sl_buf_init(&body, gcs->env);
    sl_crc32c_text(sl_crc32c(0, bytes.ptr, bytes.len), crc32c);
    silt_status status = sl_uuid_make(gcs->env, boundary, err);
    if (status == SILT_OK) {
        status = sl_gcs_put_resource(&resource, name->key, crc32c, err);
    }
    if (status == SILT_OK) {
        status = put_body(sl_buf_view(&resource), bytes, boundary, &body, err);
    }
    if (status == SILT_OK) {
        status = put_url(request, name, if_absent, err);
    }
    if (status == SILT_OK) {
        (void)snprintf(type, sizeof(type), "multipart/related; boundary=%s", boundary);
        sl_gcs_request_header(request, "Content-Type", type);
        request->body = body.data;
        request->body_len = body.len;
        status = sl_gcs_run(request, call, err);
    }
    if (status == SILT_OK && request->exchange.request.code == 200) {
        status = sl_gcs_check_stored(gcs, &request->exchange, crc32c, (int64_t)bytes.len, err);
    }
    sl_buf_release(&body);
    sl_buf_release(&resource);
    return status;
}

silt_status sl_gcs_create(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *name,
                          struct sl_str bytes, silt_put_outcome *outcome, silt_error *err)
{
    struct sl_gcs_request request;
    *outcome = SILT_PUT_AMBIGUOUS;
    sl_gcs_request_init(&request, gcs, "POST");
    silt_status status = upload(&request, call, name, bytes, true, err);
    const struct sl_exchange *exchange = &request.exchange;
    const int code = exchange->status == SILT_OK ? exchange->request.code : 0;
    if (exchange->class == NULL) {
        /* Nothing was sent: the failure is one. */
    } else if (code == 200) {
        *outcome = status == SILT_OK ? SILT_PUT_DONE
                                     : SILT_PUT_AMBIGUOUS; /* it is there, but what it is we do not know */
        status = SILT_OK;
    } else if (code == 412) {
        *outcome = exchange->unclear ? SILT_PUT_AMBIGUOUS : SILT_PUT_EXISTS;
        status = SILT_OK;
    } else {
        status = sl_gcs_fail(gcs, exchange, name, err);
        status = sl_exchange_is_unclear(exchange) ? SILT_OK : status;
    }
    sl_gcs_request_release(&request);
    return status;
}

silt_status sl_gcs_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name;
    SL_TRY(sl_gcs_begin(gcs, path, false, &name, err));
    return sl_gcs_create(gcs, call, &name, sl_str_make(data, data_len), outcome, err);
}

silt_status sl_gcs_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name;
    struct sl_gcs_request request;
    SL_TRY(sl_gcs_begin(gcs, path, false, &name, err));
    sl_gcs_request_init(&request, gcs, "POST");
    silt_status status = upload(&request, call, &name, sl_str_make(data, data_len), false, err);
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_gcs_fail(gcs, &request.exchange, &name, err);
    }
    sl_gcs_request_release(&request);
    return status;
}

silt_status sl_gcs_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name;
    struct sl_gcs_request request;
    SL_TRY(sl_gcs_begin(gcs, path, false, &name, err));
    sl_gcs_request_init(&request, gcs, "DELETE");
    sl_gcs_put_object_url(&request.url, gcs->base_url, &name);
    silt_status status = sl_gcs_run(&request, call, err);
    const int code = request.exchange.request.code;
    if (status == SILT_OK && code != 204 && code != 200 && code != 404) {
        status = sl_gcs_fail(gcs, &request.exchange, &name, err);
    }
    sl_gcs_request_release(&request);
    return status;
}
