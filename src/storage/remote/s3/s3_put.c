/*
 * Writing of small objects, and removal of one. A conditional create is told by what the server answered, and where it did not, or not at once,
 * by whether an attempt before may have had its effect. Any thread.
 */
#include <string.h>

#include "base/error.h"
#include "storage/remote/s3/s3_int.h"

silt_status sl_s3_md5_text(const silt_env *env, const void *bytes, size_t n, struct sl_s3_md5 *out, silt_error *err)
{
    uint8_t md5[SL_MD5_SIZE];
    struct sl_buf text;
    out->text[0] = '\0';
    SL_TRY(sl_md5(sl_str_make(bytes, n), md5, err));
    sl_buf_init(&text, env);
    sl_base64_put(&text, sl_str_make((const char *)md5, sizeof(md5)));
    const silt_status status = sl_buf_status(&text, err);
    if (status == SILT_OK && text.len < sizeof(out->text)) {
        memcpy(out->text, sl_buf_cstr(&text), text.len + 1);
    }
    sl_buf_release(&text);
    return status;
}

static void add(struct sl_s3_ask *ask, const char *name, const char *value)
{
    ask->extra[ask->n_extra++] = (struct sl_http_header){name, value};
}

/* A PUT of an object; what it points to is the caller's. */
static struct sl_s3_ask ask_to_put(const struct sl_s3_place *place, struct sl_str body, const struct sl_s3_md5 *md5)
{
    struct sl_s3_ask ask = {.bucket = place->bucket,
                            .method = "PUT",
                            .key = place->key,
                            .body = body.ptr,
                            .body_len = body.len,
                            .creates = true,
                            .content = true};
    add(&ask, "Content-MD5", md5->text);
    return ask;
}

static silt_status locate_object(struct sl_s3_store *store, const char *path, struct sl_s3_place *place,
                                 silt_error *err)
{
    SL_TRY(sl_s3_locate(store, path, place, err));
    if (place->key.len == 0 || sl_str_ends_with(place->key, SL_STR("/"))) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    return SILT_OK;
}

silt_status sl_s3_judge_create(const struct sl_s3_ask *ask, const struct sl_exchange *exchange,
                               silt_put_outcome *outcome, silt_error *err)
{
    *outcome = SILT_PUT_AMBIGUOUS;
    if (sl_s3_answered(exchange, 200)) {
        *outcome = SILT_PUT_DONE;
        return SILT_OK;
    }
    if (sl_s3_answered(exchange, 412)) {
        *outcome = exchange->unclear ? SILT_PUT_AMBIGUOUS : SILT_PUT_EXISTS;
        return SILT_OK;
    }
    silt_status status = sl_s3_fail(ask, exchange, err);
    const bool odd = exchange->status == SILT_OK && exchange->request.code / 100 == 2; /* done, or not: S3 says 200 */
    if (odd || sl_exchange_is_unclear(exchange)) {
        return SILT_OK; /* err tells why */
    }
    if (sl_s3_answered(exchange, 501)) {
        status = sl_fail(err, SILT_EUNSUPPORTED, SL_CONDITIONS_CODE,
                         "the server of bucket %s does not know conditional creates", ask->bucket->name);
        sl_error_hint(err, "commits need PUT with If-None-Match: *");
    }
    return status;
}

silt_status sl_s3_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    *outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(locate_object(store, path, &place, err));
    SL_TRY(sl_s3_prove(store, call, &place, err));
    SL_TRY(sl_s3_md5_text(store->env, data, data_len, &md5, err));
    struct sl_s3_ask ask = ask_to_put(&place, sl_str_make(data, data_len), &md5);
    add(&ask, "If-None-Match", "*");
    silt_status status = sl_s3_run(store, call, &ask, &exchange, 1, err);
    if (status == SILT_OK || exchange.status != SILT_OK) {
        status = sl_s3_judge_create(&ask, &exchange, outcome, err);
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

silt_status sl_s3_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                      silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    SL_TRY(locate_object(store, path, &place, err));
    SL_TRY(sl_s3_md5_text(store->env, data, data_len, &md5, err));
    struct sl_s3_ask ask = ask_to_put(&place, sl_str_make(data, data_len), &md5);
    const silt_status status = sl_s3_run_for(store, call, &ask, &exchange, 200, err);
    sl_s3_release(&ask, &exchange);
    return status;
}

silt_status sl_s3_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_exchange exchange = {0};
    SL_TRY(locate_object(store, path, &place, err));
    struct sl_s3_ask ask = {.bucket = place.bucket, .method = "DELETE", .key = place.key};
    silt_status status = sl_s3_run(store, call, &ask, &exchange, 1, err);
    const bool missing = sl_s3_answered(&exchange, 404) && strcmp(ask.said.code, "NoSuchBucket") != 0;
    if (status == SILT_OK && !missing && !sl_s3_answered(&exchange, 204) && !sl_s3_answered(&exchange, 200)) {
        status = sl_s3_fail(&ask, &exchange, err);
    }
    sl_s3_release(&ask, &exchange);
    return status;
}
