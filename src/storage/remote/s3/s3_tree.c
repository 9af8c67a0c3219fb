/*
 * Removal of a folder: all its objects, a thousand at a time. What cannot be written in XML is removed alone. Any thread.
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "storage/remote/s3/s3_int.h"

#define BATCH 1000

struct batch {
    struct sl_s3_store *store;
    const silt_call *call;
    struct sl_s3_bucket *bucket;
    struct sl_buf body;
    size_t n;
    silt_status status;
    silt_error *err;
};

static void begin_body(struct batch *batch)
{
    sl_buf_clear(&batch->body);
    sl_buf_put_c(&batch->body, "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>");
    batch->n = 0;
}

/* XML has no way to write most control characters, and a reader may change line breaks. */
static bool fits_xml(struct sl_str key)
{
    for (size_t i = 0; i < key.len; i++) {
        if ((unsigned char)key.ptr[i] < ' ' || key.ptr[i] == 0x7F) {
            return false;
        }
    }
    return sl_utf8_valid(key) && sl_str_find(key, SL_STR("\xEF\xBF\xBE")) == SIZE_MAX &&
           sl_str_find(key, SL_STR("\xEF\xBF\xBF")) == SIZE_MAX;
}

static void put_escaped(struct sl_buf *out, struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '<': sl_buf_put_c(out, "&lt;"); break;
        case '>': sl_buf_put_c(out, "&gt;"); break;
        case '&': sl_buf_put_c(out, "&amp;"); break;
        case '"': sl_buf_put_c(out, "&quot;"); break;
        default: sl_buf_put_char(out, text.ptr[i]);
        }
    }
}

/* A code of the server's, fit for a message. */
static silt_status fail_key(const struct batch *batch, struct sl_str key, struct sl_str code)
{
    const bool denied = sl_str_eq(code, SL_STR("AccessDenied"));
    return sl_fail(batch->err, denied ? SILT_EACCESS : SILT_EIO, NULL, "%.*s could not be removed from bucket %s: %s",
                   SL_FMT(key), batch->bucket->name, denied ? "AccessDenied" : "the server refused it");
}

static silt_status flush(struct batch *batch)
{
    if (batch->n == 0) {
        return SILT_OK;
    }
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    struct sl_str key;
    struct sl_str code;
    struct sl_arena arena;
    sl_buf_put_c(&batch->body, "</Delete>");
    SL_TRY(sl_buf_status(&batch->body, batch->err));
    SL_TRY(sl_s3_md5_text(batch->store->env, batch->body.data, batch->body.len, &md5, batch->err));
    sl_arena_init(&arena, batch->store->env);
    struct sl_s3_ask ask = {.bucket = batch->bucket,
                            .method = "POST",
                            .query = "delete=",
                            .extra = {{"Content-MD5", md5.text}, {"Content-Type", "application/xml"}},
                            .n_extra = 2,
                            .body = batch->body.data,
                            .body_len = batch->body.len};
    silt_status status = sl_s3_run_for(batch->store, batch->call, &ask, &exchange, 200, batch->err);
    if (status == SILT_OK) {
        status = sl_s3_parse_deleted(&arena, sl_buf_view(&exchange.request.answer), &key, &code, batch->err);
    }
    if (status == SILT_OK && key.ptr != NULL && !sl_str_eq(code, SL_STR("NoSuchKey"))) {
        status = fail_key(batch, key, code);
    }
    sl_s3_release(&ask, &exchange);
    sl_arena_release(&arena);
    begin_body(batch);
    return status;
}

static silt_status remove_alone(struct batch *batch, struct sl_str key)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = batch->bucket, .method = "DELETE", .key = key};
    const silt_status status = sl_s3_run_for(batch->store, batch->call, &ask, &exchange, 204, batch->err);
    sl_s3_release(&ask, &exchange);
    return status;
}

static bool take_object(void *ctx, const struct sl_s3_object *object)
{
    struct batch *batch = ctx;
    if (!fits_xml(object->key)) {
        batch->status = remove_alone(batch, object->key);
        return batch->status == SILT_OK;
    }
    sl_buf_put_c(&batch->body, "<Object><Key>");
    put_escaped(&batch->body, object->key);
    sl_buf_put_c(&batch->body, "</Key></Object>");
    batch->n++;
    if (batch->n == BATCH) {
        batch->status = flush(batch);
    }
    return batch->status == SILT_OK;
}

silt_status sl_s3_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_buf prefix;
    bool any = false;
    SL_TRY(sl_s3_locate(store, dir, &place, err));
    while (sl_str_ends_with(place.key, SL_STR("/"))) {
        place.key = sl_str_sub(place.key, 0, place.key.len - 1);
    }
    if (place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "a whole bucket is not removed: %s", place.bucket->name);
    }
    sl_buf_init(&prefix, store->env);
    sl_buf_put_str(&prefix, place.key);
    sl_buf_put_char(&prefix, '/');
    struct batch batch = {.store = store, .call = call, .bucket = place.bucket, .err = err};
    sl_buf_init(&batch.body, store->env);
    begin_body(&batch);
    const struct sl_s3_listing listing = {
        .bucket = place.bucket, .prefix = sl_buf_view(&prefix), .recursive = true, .any = &any};
    silt_status status = sl_buf_status(&prefix, err);
    if (status == SILT_OK) {
        status = sl_s3_list_objects(store, call, &listing, take_object, &batch, err);
    }
    if (status == SILT_OK) {
        status = batch.status != SILT_OK ? batch.status : flush(&batch);
    }
    sl_buf_release(&batch.body);
    sl_buf_release(&prefix);
    return status;
}
