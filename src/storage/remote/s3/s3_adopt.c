/*
 * Upload of a finished local file: in one PUT when it is small, else in parts, a few of which are read and sent at once. Either way the object
 * appears as a whole and only if its name is free.
 *
 * Each upload writes a mark of its own beside the content. When the server says that the name is taken after an attempt without an
 * answer, the mark tells whether it was taken by that attempt. Any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uuid.h"
#include "storage/remote/s3/s3_int.h"

#define PARTS_AT_ONCE 4
#define MAX_PARTS 10000 /* by the service's rule */
#define MARK "x-amz-meta-silt-upload"

struct upload {
    struct sl_s3_store *store;
    const silt_call *call;
    struct sl_s3_place place;
    const char *local;
    int fd;
    int64_t size;
    size_t part_size;
    size_t n_parts;
    char mark[SL_UUID_TEXT_SIZE];
    struct sl_arena arena; /* the upload's id, the parts' tags */
    struct sl_str id;      /* of an upload in parts, encoded for a query */
    const char **tags;     /* of the parts that are there */
    silt_error *err;
};

/* ---- the file ---- */

static silt_status read_file(const struct upload *upload, int64_t offset, char *out, size_t n)
{
    while (n > 0) {
        const ssize_t got = pread(upload->fd, out, n, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return sl_fail_errno(upload->err, errno, "reading", upload->local);
        }
        if (got == 0) {
            return sl_fail(upload->err, SILT_EIO, NULL, "%s became shorter while it was read", upload->local);
        }
        out += got;
        n -= (size_t)got;
        offset += got;
    }
    return SILT_OK;
}

static silt_status open_file(struct upload *upload)
{
    struct stat info;
    upload->fd = open(upload->local, O_RDONLY | O_CLOEXEC);
    if (upload->fd < 0 || fstat(upload->fd, &info) != 0) {
        return sl_fail_errno(upload->err, errno, "reading", upload->local);
    }
    if (!S_ISREG(info.st_mode)) {
        return sl_fail(upload->err, SILT_EINVALID, NULL, "%s is no file", upload->local);
    }
    upload->size = (int64_t)info.st_size;
    upload->part_size = SL_S3_PART_SIZE;
    while ((uint64_t)upload->size / upload->part_size >= MAX_PARTS) {
        upload->part_size *= 2;
    }
    upload->n_parts = (size_t)(((uint64_t)upload->size + upload->part_size - 1) / upload->part_size);
    return SILT_OK;
}

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

static silt_status put_whole(struct upload *upload)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    const size_t size = (size_t)upload->size;
    char *data = sl_alloc(upload->store->env, size);
    if (data == NULL) {
        return sl_fail_nomem(upload->err);
    }
    silt_status status = read_file(upload, 0, data, size);
    if (status == SILT_OK) {
        status = sl_s3_md5_text(upload->store->env, data, size, &md5, upload->err);
    }
    if (status == SILT_OK) {
        struct sl_s3_ask ask = {.bucket = upload->place.bucket,
                                .method = "PUT",
                                .key = upload->place.key,
                                .extra = {{"If-None-Match", "*"}, {"Content-MD5", md5.text}, {MARK, upload->mark}},
                                .n_extra = 3,
                                .body = data,
                                .body_len = size,
                                .creates = true,
                                .content = true};
        status = sl_s3_run(upload->store, upload->call, &ask, &exchange, 1, upload->err);
        if (status == SILT_OK) {
            status = judge(upload, &ask, &exchange);
        }
        sl_s3_release(&ask, &exchange);
    }
    sl_release(upload->store->env, data, size);
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
        upload->tags = sl_arena_alloc_array(&upload->arena, upload->n_parts, sizeof(*upload->tags));
        status = upload->id.ptr != NULL && upload->tags != NULL ? SILT_OK : sl_fail_nomem(upload->err);
    }
    sl_buf_release(&encoded);
    sl_s3_release(&ask, &exchange);
    return status;
}

struct part {
    char *data;
    size_t size;
    struct sl_s3_md5 md5;
    struct sl_s3_ask ask;
};

static silt_status prepare_part(struct upload *upload, size_t index, struct part *part)
{
    const int64_t offset = (int64_t)(index * upload->part_size);
    const int64_t left = upload->size - offset;
    part->size = left < (int64_t)upload->part_size ? (size_t)left : upload->part_size;
    SL_TRY(read_file(upload, offset, part->data, part->size));
    SL_TRY(sl_s3_md5_text(upload->store->env, part->data, part->size, &part->md5, upload->err));
    const char *query = sl_arena_printf(&upload->arena, "partNumber=%zu&uploadId=%.*s", index + 1, SL_FMT(upload->id));
    if (query == NULL) {
        return sl_fail_nomem(upload->err);
    }
    part->ask = (struct sl_s3_ask){.bucket = upload->place.bucket,
                                   .method = "PUT",
                                   .key = upload->place.key,
                                   .query = query,
                                   .extra = {{"Content-MD5", part->md5.text}},
                                   .n_extra = 1,
                                   .body = part->data,
                                   .body_len = part->size,
                                   .content = true};
    return SILT_OK;
}

/* A part's tag goes into XML later: printable, and none of its signs. */
static silt_status take_tag(struct upload *upload, size_t index, const struct sl_s3_ask *ask,
                            const struct sl_exchange *exchange)
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
    upload->tags[index] = sl_arena_strdup(&upload->arena, tag);
    return upload->tags[index] != NULL ? SILT_OK : sl_fail_nomem(upload->err);
}

/* Sends parts [begin, begin + n). asks and exchanges are arrays, as an exchange is known by its place. */
static silt_status send_some(struct upload *upload, size_t begin, size_t n, struct part *parts)
{
    struct sl_s3_ask asks[PARTS_AT_ONCE] = {0};
    struct sl_exchange exchanges[PARTS_AT_ONCE] = {0};
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        status = prepare_part(upload, begin + i, &parts[i]);
        asks[i] = parts[i].ask;
    }
    if (status == SILT_OK) {
        status = sl_s3_run(upload->store, upload->call, asks, exchanges, n, upload->err);
    }
    for (size_t i = 0; i < n; i++) {
        if (status == SILT_OK) {
            status = take_tag(upload, begin + i, &asks[i], &exchanges[i]);
        }
        sl_s3_release(&asks[i], &exchanges[i]);
    }
    return status;
}

static silt_status send_parts(struct upload *upload)
{
    const silt_env *env = upload->store->env;
    struct part parts[PARTS_AT_ONCE] = {0};
    silt_status status = SILT_OK;
    for (size_t i = 0; i < PARTS_AT_ONCE && i < upload->n_parts; i++) {
        parts[i].data = sl_alloc(env, upload->part_size);
        status = parts[i].data != NULL ? status : sl_fail_nomem(upload->err);
    }
    for (size_t begin = 0; begin < upload->n_parts && status == SILT_OK; begin += PARTS_AT_ONCE) {
        const size_t left = upload->n_parts - begin;
        status = send_some(upload, begin, left < PARTS_AT_ONCE ? left : PARTS_AT_ONCE, parts);
    }
    for (size_t i = 0; i < PARTS_AT_ONCE; i++) {
        sl_release(env, parts[i].data, upload->part_size);
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
    for (size_t i = 0; i < upload->n_parts; i++) {
        sl_buf_printf(&body, "<Part><PartNumber>%zu</PartNumber><ETag>", i + 1);
        put_tag(&body, upload->tags[i]);
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

/* Parts that are not completed cost room until somebody aborts them. */
static void abort_parts(struct upload *upload)
{
    struct sl_exchange exchange = {0};
    const char *query = sl_arena_printf(&upload->arena, "uploadId=%.*s", SL_FMT(upload->id));
    if (query == NULL) {
        return;
    }
    struct sl_s3_ask ask = {
        .bucket = upload->place.bucket, .method = "DELETE", .key = upload->place.key, .query = query};
    /* Not with the call's deadline, which may be why it ends here; a failure leaves what buckets' rules clean up. */
    sl_ignore(sl_s3_run(upload->store, NULL, &ask, &exchange, 1, NULL));
    sl_s3_release(&ask, &exchange);
}

static silt_status put_parts(struct upload *upload)
{
    SL_TRY(begin_parts(upload));
    silt_status status = send_parts(upload);
    if (status == SILT_OK) {
        status = complete_parts(upload);
    }
    if (status != SILT_OK) {
        abort_parts(upload);
    }
    return status;
}

silt_status sl_s3_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct upload upload = {.store = impl, .call = call, .local = local, .fd = -1, .err = err};
    SL_TRY(sl_s3_locate(upload.store, path, &upload.place, err));
    if (upload.place.key.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "expected s3://bucket/key");
    }
    SL_TRY(sl_uuid_make(upload.store->env, upload.mark, err));
    sl_arena_init(&upload.arena, upload.store->env);
    silt_status status = open_file(&upload);
    if (status == SILT_OK) {
        status = upload.size <= (int64_t)SL_S3_PART_SIZE ? put_whole(&upload) : put_parts(&upload);
    }
    if (upload.fd >= 0) {
        (void)close(upload.fd); /* it was only read */
    }
    if (status == SILT_OK && unlink(local) != 0 && errno != ENOENT) {
        status = sl_fail_errno(err, errno, "removing", local);
    }
    sl_arena_release(&upload.arena);
    return status;
}
