/*
 * Uploads: of a file in one PUT when it is small, else in parts, a few of which are sent at once. Either way the object appears as a whole and
 * only if its name is free.
 *
 * Each upload writes a mark of its own beside the content. When the server says that the name is taken after an attempt without an
 * answer, the mark tells whether it was taken by that attempt. One owner an upload.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "silt/version.h"
#include "storage/remote/s3/s3_int.h"

#define PARTS_AT_ONCE 4
#define MAX_PARTS 10000  /* by the service's rule */
#define EQUAL_PARTS 5000 /* before they begin to grow: some servers want all parts but the last to be of one size */
#define PARTS_OF_A_SIZE 1000
#define ABORT_US 15000000 /* the time that is given to calling an upload off */
#define ABORT_AGAIN 4     /* times, while parts of it are left */
#define ABORT_WAIT_US 100000
#define MARK "x-amz-meta-silt-upload"

struct upload {
    struct sl_s3_store *store;
    struct sl_s3_place place;
    size_t part_size; /* of the first parts */
    size_t n_parts;   /* sent */
    char mark[SL_UUID_TEXT_SIZE];
    struct sl_arena arena; /* the path, the upload's id, the parts' tags */
    struct sl_str id;      /* of an upload in parts, encoded for a query; absent: none was begun */
    struct sl_vec tags;    /* const char *, of the parts that are there */
    bool broken;           /* the server may still be at work on a part that was given up */
    /* Of the slot that is entered: */
    const silt_call *call;
    silt_error *err;
};

/* ---- the end of it ---- */

/* Is the object that stands there this upload's? */
static silt_status look_for_mark(const struct upload *upload, bool *ours)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {
        .bucket = upload->place.bucket, .method = "HEAD", .key = upload->place.key, .content = true};
    *ours = false;
    const silt_status status = sl_s3_run_for(upload->store, upload->call, &ask, &exchange, 200, upload->err);
    if (status == SILT_OK) {
        *ours = sl_str_eq_c(sl_http_header(&exchange.request, MARK), upload->mark);
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

/* After a create that was run: was the object made? */
static silt_status judge(const struct upload *upload, const struct sl_s3_ask *ask, const struct sl_exchange *exchange)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    bool ours = false;
    SL_TRY(sl_s3_judge_create(ask, exchange, &outcome, upload->err));
    if (outcome == SILT_PUT_DONE) {
        return SILT_OK;
    }
    if (outcome == SILT_PUT_AMBIGUOUS) {
        const silt_status looked = look_for_mark(upload, &ours);
        if (looked == SILT_OK && ours) {
            silt_error_reset(upload->err);
            return SILT_OK;
        }
        if (looked == SILT_ENOTFOUND) {
            return sl_fail(upload->err, SILT_EIO, NULL, "it is not known whether the upload was taken");
        }
        SL_TRY(looked);
    }
    return sl_fail(upload->err, SILT_EEXISTS, NULL, "the name is taken in bucket %s", upload->place.bucket->name);
}

/* ---- in one piece ---- */

static silt_status put_whole(struct upload *upload, const void *data, size_t size)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    SL_TRY(sl_s3_md5_text(upload->store->env, data, size, &md5, upload->err));
    struct sl_s3_ask ask = {.bucket = upload->place.bucket,
                            .method = "PUT",
                            .key = upload->place.key,
                            .extra = {{"If-None-Match", "*"}, {"Content-MD5", md5.text}, {MARK, upload->mark}},
                            .n_extra = 3,
                            .body = data,
                            .body_len = size,
                            .creates = true,
                            .content = true};
    silt_status status = sl_s3_run(upload->store, upload->call, &ask, &exchange, 1, upload->err);
    if (status == SILT_OK) {
        status = judge(upload, &ask, &exchange);
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

/* ---- in parts ---- */

static silt_status begin_parts(struct upload *upload)
{
    struct sl_exchange exchange = {0};
    struct sl_str id = {0};
    struct sl_buf encoded;
    struct sl_s3_ask ask = {.bucket = upload->place.bucket,
                            .method = "POST",
                            .key = upload->place.key,
                            .query = "uploads=",
                            .extra = {{MARK, upload->mark}},
                            .n_extra = 1,
                            .creates = true,
                            .content = true};
    sl_buf_init(&encoded, upload->store->env);
    silt_status status = sl_s3_run_for(upload->store, upload->call, &ask, &exchange, 200, upload->err);
    if (status == SILT_OK) {
        status = sl_s3_parse_text(&upload->arena, sl_buf_view(&exchange.request.answer),
                                  "InitiateMultipartUploadResult/UploadId", &id, upload->err);
    }
    if (status == SILT_OK && id.len == 0) {
        status = sl_fail(upload->err, SILT_EIO, NULL, "the server began no upload");
    }
    if (status == SILT_OK) {
        sl_sigv4_encode(&encoded, id);
        status = sl_buf_status(&encoded, upload->err);
    }
    if (status == SILT_OK) {
        upload->id = sl_arena_copy(&upload->arena, sl_buf_view(&encoded));
        status = upload->id.ptr != NULL ? SILT_OK : sl_fail_nomem(upload->err);
    }
    sl_buf_release(&encoded);
    sl_s3_release(&ask, &exchange);
    return status;
}

/* One more part, of bytes that stay where they are until it is sent. */
static silt_status prepare_part(struct upload *upload, size_t number, struct sl_s3_md5 *md5, struct sl_s3_ask *ask)
{
    SL_TRY(sl_s3_md5_text(upload->store->env, ask->body, ask->body_len, md5, upload->err));
    ask->query = sl_arena_printf(&upload->arena, "partNumber=%zu&uploadId=%.*s", number, SL_FMT(upload->id));
    ask->bucket = upload->place.bucket;
    ask->method = "PUT";
    ask->key = upload->place.key;
    ask->extra[0] = (struct sl_http_header){"Content-MD5", md5->text};
    ask->n_extra = 1;
    ask->content = true;
    return ask->query != NULL ? SILT_OK : sl_fail_nomem(upload->err);
}

/* A part's tag goes into XML later: printable, and none of its signs. */
static silt_status take_tag(struct upload *upload, const struct sl_s3_ask *ask, const struct sl_exchange *exchange)
{
    if (!sl_s3_answered(exchange, 200)) {
        return sl_s3_fail(ask, exchange, upload->err);
    }
    const struct sl_str tag = sl_http_header(&exchange->request, "etag");
    bool sound = tag.len > 0 && tag.len < 256;
    for (size_t i = 0; i < tag.len && sound; i++) {
        sound = tag.ptr[i] > ' ' && tag.ptr[i] <= '~' && tag.ptr[i] != '<' && tag.ptr[i] != '&';
    }
    if (!sound) {
        return sl_fail(upload->err, SILT_EIO, NULL, "the server gave no tag for a part of an upload");
    }
    const char **place = sl_vec_push(&upload->tags);
    const char *copy = sl_arena_strdup(&upload->arena, tag);
    if (place == NULL || copy == NULL) {
        return sl_fail_nomem(upload->err);
    }
    *place = copy;
    return SILT_OK;
}

/* The size of the next part. */
static size_t next_part_size(const struct upload *upload)
{
    const size_t sent = upload->n_parts;
    return upload->part_size << (sent < EQUAL_PARTS ? 0 : (sent - EQUAL_PARTS) / PARTS_OF_A_SIZE + 1);
}

/* Sends some parts of the bytes, and tells how many bytes those were. asks and exchanges are arrays, as an exchange is known by its place. */
static silt_status send_some(struct upload *upload, struct sl_str bytes, size_t *sent)
{
    struct sl_s3_ask asks[PARTS_AT_ONCE] = {0};
    struct sl_exchange exchanges[PARTS_AT_ONCE] = {0};
    struct sl_s3_md5 md5s[PARTS_AT_ONCE];
    const size_t size = next_part_size(upload);
    silt_status status = SILT_OK;
    size_t n = 0;
    *sent = 0;
    for (; n < PARTS_AT_ONCE && *sent < bytes.len && status == SILT_OK; n++) {
        const size_t left = bytes.len - *sent;
        asks[n].body = bytes.ptr + *sent;
        asks[n].body_len = left < size ? left : size;
        *sent += asks[n].body_len;
        status = upload->n_parts < MAX_PARTS
                     ? prepare_part(upload, ++upload->n_parts, &md5s[n], &asks[n])
                     : sl_fail(upload->err, SILT_ELIMIT, NULL, "a file has more than %d parts", MAX_PARTS);
    }
    if (status == SILT_OK) {
        status = sl_s3_run(upload->store, upload->call, asks, exchanges, n, upload->err);
    }
    upload->broken |= status != SILT_OK;
    for (size_t i = 0; i < n; i++) {
        upload->broken |= exchanges[i].unclear;
        if (status == SILT_OK) {
            status = take_tag(upload, &asks[i], &exchanges[i]);
        }
        sl_s3_release(&asks[i], &exchanges[i]);
    }
    return status;
}

static silt_status send_parts(struct upload *upload, struct sl_str bytes)
{
    silt_status status = upload->id.ptr == NULL ? begin_parts(upload) : SILT_OK;
    while (bytes.len > 0 && status == SILT_OK) {
        size_t sent = 0;
        status = send_some(upload, bytes, &sent);
        bytes = sl_str_sub(bytes, sent, bytes.len);
    }
    return status;
}

static void put_tag(struct sl_buf *out, const char *tag)
{
    for (; *tag != '\0'; tag++) {
        if (*tag == '"') {
            sl_buf_put_c(out, "&quot;");
        } else {
            sl_buf_put_char(out, *tag);
        }
    }
}

/* "200 OK" may come before the work is done: the body tells. */
static silt_status check_completed(const struct upload *upload, const struct sl_exchange *exchange)
{
    struct sl_aws_error said;
    sl_aws_error_read(upload->store->env, sl_buf_view(&exchange->request.answer), &said);
    if (sl_s3_answered(exchange, 200) && said.code[0] != '\0') {
        return sl_fail(upload->err, SILT_EIO, NULL, "bucket %s: the upload was not completed: %s",
                       upload->place.bucket->name, said.code);
    }
    return SILT_OK;
}

static silt_status complete_parts(struct upload *upload)
{
    struct sl_exchange exchange = {0};
    struct sl_buf body;
    sl_buf_init(&body, upload->store->env);
    sl_buf_put_c(&body, "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
    for (size_t i = 0; i < upload->tags.len; i++) {
        sl_buf_printf(&body, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        put_tag(&body, *(const char **)sl_vec_at(&upload->tags, i));
        sl_buf_put_c(&body, "</ETag></Part>");
    }
    sl_buf_put_c(&body, "</CompleteMultipartUpload>");
    const char *query = sl_arena_printf(&upload->arena, "uploadId=%.*s", SL_FMT(upload->id));
    silt_status status = query != NULL ? sl_buf_status(&body, upload->err) : sl_fail_nomem(upload->err);
    struct sl_s3_ask ask = {.bucket = upload->place.bucket,
                            .method = "POST",
                            .key = upload->place.key,
                            .query = query,
                            .extra = {{"If-None-Match", "*"}, {"Content-Type", "application/xml"}},
                            .n_extra = 2,
                            .body = body.data,
                            .body_len = body.len,
                            .content = true};
    if (status == SILT_OK) {
        status = sl_s3_run(upload->store, upload->call, &ask, &exchange, 1, upload->err);
    }
    if (status == SILT_OK) {
        status = check_completed(upload, &exchange);
    }
    if (status == SILT_OK) {
        /* An upload that is gone after an attempt without an answer may have been completed by it. */
        const bool gone = sl_s3_answered(&exchange, 404) && exchange.unclear;
        bool ours = false;
        if (gone && look_for_mark(upload, &ours) == SILT_OK && ours) {
            status = SILT_OK;
        } else {
            status = judge(upload, &ask, &exchange);
        }
    }
    sl_s3_release(&ask, &exchange);
    sl_buf_release(&body);
    return status;
}

static void abort_once(const struct upload *upload, const silt_call *call, const char *query)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {
        .bucket = upload->place.bucket, .method = "DELETE", .key = upload->place.key, .query = query};
    sl_ignore(sl_s3_run(upload->store, call, &ask, &exchange, 1, NULL));
    sl_s3_release(&ask, &exchange);
}

/* Does the server list parts of the upload? No word from it counts as no. */
static bool has_parts(struct upload *upload, const silt_call *call, const char *query)
{
    struct sl_exchange exchange = {0};
    struct sl_str part = {0};
    struct sl_s3_ask ask = {.bucket = upload->place.bucket, .method = "GET", .key = upload->place.key, .query = query};
    silt_status status = sl_s3_run(upload->store, call, &ask, &exchange, 1, NULL);
    if (status == SILT_OK && sl_s3_answered(&exchange, 200)) {
        status = sl_s3_parse_text(&upload->arena, sl_buf_view(&exchange.request.answer),
                                  "ListPartsResult/Part/PartNumber", &part, NULL);
    }
    sl_s3_release(&ask, &exchange);
    return status == SILT_OK && part.len > 0;
}

/*
 * Parts that are not completed cost room until somebody aborts them. A part that was given up on its way may arrive after that, and be kept:
 * the service wants its parts listed then, and the upload aborted again.
 */
static void abort_parts(struct upload *upload)
{
    if (upload->id.ptr == NULL) {
        return;
    }
    const silt_env *env = upload->store->env;
    /* Not with the caller's deadline, which may be why it ends here; a failure leaves what buckets' rules clean up. */
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .deadline_us = sl_monotonic_us(env) + ABORT_US};
    const char *query = sl_arena_printf(&upload->arena, "uploadId=%.*s", SL_FMT(upload->id));
    const char *list = sl_arena_printf(&upload->arena, "max-parts=1&uploadId=%.*s", SL_FMT(upload->id));
    if (query == NULL || list == NULL) {
        return;
    }
    bool again = true;
    for (int i = 0; i < ABORT_AGAIN && again; i++) {
        abort_once(upload, &call, query);
        again = upload->broken && sl_call_sleep(env, &call, ABORT_WAIT_US << i, NULL) == SILT_OK &&
                has_parts(upload, &call, list);
    }
}

/* ---- the object ---- */

static void free_upload(struct upload *upload)
{
    const silt_env *env = upload->store->env;
    sl_vec_release(&upload->tags);
    sl_arena_release(&upload->arena);
    sl_release(env, upload, sizeof(*upload));
}

static silt_status fill(struct upload *upload, const char *path, int64_t size, silt_error *err)
{
    const char *copy = sl_arena_strdup(&upload->arena, sl_str_from(path));
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_s3_locate(upload->store, copy, &upload->place, err));
    if (upload->place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    upload->part_size = SL_S3_PART_SIZE;
    while (size > 0 && (uint64_t)size / upload->part_size >= EQUAL_PARTS) {
        upload->part_size *= 2;
    }
    return sl_uuid_make(upload->store->env, upload->mark, err);
}

silt_status sl_s3_upload_new(struct sl_s3_store *store, const char *path, int64_t size, void **out, size_t *unit,
                             silt_error *err)
{
    struct upload *upload = sl_alloc_zero(store->env, sizeof(*upload));
    if (upload == NULL) {
        return sl_fail_nomem(err);
    }
    upload->store = store;
    sl_arena_init(&upload->arena, store->env);
    sl_vec_init(&upload->tags, store->env, sizeof(const char *));
    const silt_status status = fill(upload, path, size, err);
    if (status != SILT_OK) {
        free_upload(upload);
        return status;
    }
    *out = upload;
    *unit = upload->part_size;
    return SILT_OK;
}

/* ---- slots ---- */

silt_status sl_s3_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                               silt_error *err)
{
    (void)call;
    return sl_s3_upload_new(impl, path, -1, upload, unit, err);
}

struct sl_s3_place sl_s3_upload_place(const void *upload)
{
    return ((const struct upload *)upload)->place;
}

silt_status sl_s3_upload_append(void *impl, const silt_call *call, void *user, const void *data, size_t data_len,
                                size_t *unit, silt_error *err)
{
    struct upload *upload = user;
    (void)impl;
    upload->call = call;
    upload->err = err;
    SL_TRY(send_parts(upload, sl_str_make(data, data_len)));
    *unit = next_part_size(upload);
    return SILT_OK;
}

silt_status sl_s3_upload_finish(void *impl, const silt_call *call, void *user, const void *data, size_t data_len,
                                silt_error *err)
{
    struct upload *upload = user;
    (void)impl;
    upload->call = call;
    upload->err = err;
    silt_status status = SILT_OK;
    if (upload->id.ptr == NULL && data_len <= upload->part_size) {
        status = put_whole(upload, data, data_len);
    } else {
        status = send_parts(upload, sl_str_make(data, data_len));
        if (status == SILT_OK) {
            status = complete_parts(upload);
        }
        if (status != SILT_OK) {
            abort_parts(upload);
        }
    }
    free_upload(upload);
    return status;
}

void sl_s3_upload_abort(void *impl, void *user)
{
    struct upload *upload = user;
    (void)impl;
    abort_parts(upload);
    free_upload(upload);
}
