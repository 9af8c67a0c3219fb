/*
 * Taking over a local file: a small one as from memory, a large one in a resumable upload. Its session takes chunks one after the other and
 * can be asked how many bytes it has, so that a lost answer costs at most one chunk. The session is a URL that is a secret: it is asked
 * without a token and never printed.
 *
 * The same sessions take files whose bytes come one after the other. Of these only the bytes at hand can be sent again, so that a session that is
 * forgotten ends the upload.
 *
 * An upload ends in the service's condition that the name is free. When it cannot be told who took it, the object is compared with the file.
 *
 * Any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/crc32c.h"
#include "storage/remote/gcs/gcs_int.h"
#include "storage/remote/url.h"

#define CHUNK ((size_t)8 << 20) /* a multiple of 256 KiB, as the service demands */
#define MAX_SESSIONS 3          /* the service may forget one */
#define MAX_ROUNDS 10           /* chunks in a row after which the session has no more than before */
#define PAUSE_US 100000         /* after the first of them; doubles */
#define CANCEL_US 5000000       /* the time that is given to calling a session off */

struct upload {
    struct sl_gcs *gcs;
    const silt_call *call;
    const struct sl_gcs_name *name;
    int fd;
    int64_t size; /* -1: not known yet */
    char crc32c[SL_CRC32C_TEXT_SIZE];
    char *chunk;       /* CHUNK bytes of the file; NULL: the bytes at hand are sent */
    const char *bytes; /* at hand: [base, end) */
    int64_t base, end;
    struct sl_buf session;
    unsigned n_sessions; /* begun */
    int64_t stored;      /* bytes that the session has */
    int64_t told;        /* what it last said */
    bool unclear;        /* the last bytes went out and no answer came */
    bool finished;       /* the object is there, and ours */
    bool begin_anew;     /* the session is gone */
};

/* ---- the local file ---- */

static silt_status read_at(const struct upload *upload, int64_t offset, size_t n, silt_error *err)
{
    size_t got = upload->chunk != NULL ? 0 : n;
    while (got < n) {
        const ssize_t part = pread(upload->fd, upload->chunk + got, n - got, (off_t)(offset + (int64_t)got));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part <= 0) {
            return part < 0 ? sl_fail_errno(err, errno, "read the file to be uploaded", NULL)
                            : sl_fail(err, SILT_EIO, NULL, "the file to be uploaded became shorter");
        }
        got += (size_t)part;
    }
    return SILT_OK;
}

static silt_status open_file(struct upload *upload, const char *local, silt_error *err)
{
    struct stat found = {0};
    upload->fd = open(local, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (upload->fd < 0 || fstat(upload->fd, &found) != 0) {
        return sl_fail_errno(err, errno, "open", local);
    }
    if (!S_ISREG(found.st_mode)) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s is not a regular file", local);
    }
    upload->size = (int64_t)found.st_size;
    upload->end = upload->size;
    upload->chunk = sl_alloc(upload->gcs->env, CHUNK);
    return upload->chunk != NULL ? SILT_OK : sl_fail_nomem(err);
}

static size_t next_part(const struct upload *upload, int64_t offset)
{
    const int64_t left = upload->end - offset;
    return left < (int64_t)CHUNK ? (size_t)left : CHUNK;
}

static silt_status sum_up(struct upload *upload, silt_error *err)
{
    uint32_t crc = 0;
    for (int64_t offset = 0; offset < upload->size;) {
        const size_t n = next_part(upload, offset);
        SL_TRY(sl_call_check(upload->gcs->env, upload->call, err));
        SL_TRY(read_at(upload, offset, n, err));
        crc = sl_crc32c(crc, upload->chunk, n);
        offset += (int64_t)n;
    }
    sl_crc32c_text(crc, upload->crc32c);
    return SILT_OK;
}

/* ---- whose is what is there ---- */

/* The object that took the name: ours if it has the file's bytes. SILT_EEXISTS if not. */
static silt_status compare_object(const struct upload *upload, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_object object;
    SL_TRY(sl_gcs_describe(upload->gcs, upload->call, upload->name, &doc, &object, err));
    const bool same = object.size_bytes == upload->size && sl_str_eq_c(object.crc32c, upload->crc32c);
    sl_json_free(doc);
    return same ? SILT_OK : sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
}

/* ---- the session ---- */

static silt_status take_session(struct upload *upload, const struct sl_exchange *exchange, silt_error *err)
{
    const struct sl_str url = sl_http_header(&exchange->request, "location");
    const struct sl_str base = sl_str_from(upload->gcs->base_url);
    const bool tls = sl_str_starts_with(url, SL_STR("https://")) || !sl_str_starts_with(base, SL_STR("https://"));
    if (url.ptr == NULL || !sl_url_is_usable(url) || !tls) {
        return sl_fail(err, SILT_EIO, NULL, "the service began an upload without saying where it goes on");
    }
    sl_buf_clear(&upload->session);
    sl_buf_put_str(&upload->session, url);
    upload->stored = 0;
    upload->told = 0;
    upload->begin_anew = false;
    return sl_buf_status(&upload->session, err);
}

/* "…" and the size of the whole, "*" while it is not known. */
static const char *put_total(const struct upload *upload, const char *before, char *out, size_t out_size)
{
    if (upload->size >= 0) {
        (void)snprintf(out, out_size, "%s%lld", before, (long long)upload->size);
    } else {
        (void)snprintf(out, out_size, "%s*", before);
    }
    return out;
}

static silt_status begin_session(struct upload *upload, silt_error *err)
{
    struct sl_gcs *gcs = upload->gcs;
    struct sl_gcs_request request;
    struct sl_buf resource;
    char size[32];
    if (upload->n_sessions++ == MAX_SESSIONS) {
        return sl_fail(err, SILT_EIO, NULL, "the service forgot %d sessions of an upload", MAX_SESSIONS);
    }
    (void)put_total(upload, "", size, sizeof(size));
    sl_gcs_request_init(&request, gcs, "POST");
    sl_buf_init(&resource, gcs->env);
    sl_gcs_put_upload_url(&request.url, gcs->base_url, upload->name->bucket);
    sl_gcs_put_parameter(&request.url, "uploadType", SL_STR("resumable"));
    sl_gcs_put_parameter(&request.url, "ifGenerationMatch", SL_STR("0"));
    sl_gcs_put_parameter(&request.url, "name", upload->name->key);
    sl_gcs_request_header(&request, "Content-Type", "application/json; charset=UTF-8");
    sl_gcs_request_header(&request, "X-Upload-Content-Type", "application/octet-stream");
    if (upload->size >= 0) {
        sl_gcs_request_header(&request, "X-Upload-Content-Length", size);
    }
    silt_status status = sl_gcs_put_resource(&resource, upload->name->key, upload->size >= 0 ? upload->crc32c : NULL,
                                             err);
    if (status == SILT_OK) {
        request.body = resource.data;
        request.body_len = resource.len;
        status = sl_gcs_run(&request, upload->call, err);
    }
    if (status == SILT_OK && request.exchange.request.code != 200 && request.exchange.request.code != 201) {
        status = sl_gcs_fail(gcs, &request.exchange, upload->name, err);
    }
    if (status == SILT_OK) {
        status = take_session(upload, &request.exchange, err);
    }
    sl_gcs_request_release(&request);
    sl_buf_release(&resource);
    return status;
}

/* What the session answers, be it to a chunk or to a question. `sent`: bytes up to which it can have something. */
static silt_status hear(struct upload *upload, const struct sl_exchange *exchange, int64_t sent, silt_error *err)
{
    const int code = exchange->request.code;
    if (code == 308) {
        if (!sl_gcs_read_progress(sl_http_header(&exchange->request, "range"), sent, &upload->stored)) {
            return sl_fail(err, SILT_EIO, NULL, "the service has bytes of an upload that it was not sent");
        }
        upload->unclear = false;
        return SILT_OK;
    }
    if (code == 200 || code == 201) {
        upload->finished = true;
        return sl_gcs_check_stored(upload->gcs, exchange, upload->crc32c, upload->size, err);
    }
    if (code == 404 || code == 410) { /* the session is over: it ended well, or was forgotten */
        upload->begin_anew = true;
        return SILT_OK;
    }
    if (code == 412 && upload->unclear) {
        SL_TRY(compare_object(upload, err));
        upload->finished = true;
        return SILT_OK;
    }
    return sl_gcs_fail(upload->gcs, exchange, upload->name, err);
}

/* Sends n bytes (n 0: asks what the session has). */
static silt_status tell(struct upload *upload, int64_t offset, size_t n, silt_error *err)
{
    char before[64];
    char range[96];
    char hash[SL_CRC32C_TEXT_SIZE + 8];
    struct sl_gcs_request request;
    if (n > 0) {
        (void)snprintf(before, sizeof(before), "bytes %lld-%lld/", (long long)offset,
                       (long long)(offset + (int64_t)n - 1));
    } else {
        (void)snprintf(before, sizeof(before), "bytes */");
    }
    sl_gcs_request_init(&request, upload->gcs, "PUT");
    sl_buf_put_str(&request.url, sl_buf_view(&upload->session));
    sl_gcs_request_header(&request, "Content-Range", put_total(upload, before, range, sizeof(range)));
    const bool last = offset + (int64_t)n == upload->size || n == 0;
    if (upload->chunk == NULL && upload->size >= 0 && last) { /* the session was begun without it */
        (void)snprintf(hash, sizeof(hash), "crc32c=%s", upload->crc32c);
        sl_gcs_request_header(&request, "X-Goog-Hash", hash);
    }
    request.no_token = true;
    request.once = n > 0;
    const char *body = upload->chunk != NULL ? upload->chunk : upload->bytes + (offset - upload->base);
    request.body = n > 0 ? body : NULL;
    request.body_len = n;
    silt_status status = sl_gcs_run(&request, upload->call, err);
    const struct sl_exchange *exchange = &request.exchange;
    const bool lost = sl_exchange_judge(&request.exchange) == SL_VERDICT_RETRY;
    if (n > 0 && lost && status != SILT_ECANCELLED && status != SILT_EDEADLINE) {
        upload->unclear = true; /* the session is to be asked */
        status = SILT_OK;
    } else if (status == SILT_OK) {
        status = hear(upload, exchange, n > 0 ? offset + (int64_t)n : upload->end, err);
    }
    sl_gcs_request_release(&request);
    return status;
}

/* One chunk, and if its answer is lost the question after it. */
static silt_status send_chunk(struct upload *upload, silt_error *err)
{
    const int64_t offset = upload->stored;
    const size_t n = next_part(upload, offset);
    SL_TRY(read_at(upload, offset, n, err));
    SL_TRY(tell(upload, offset, n, err));
    return upload->unclear ? tell(upload, 0, 0, err) : SILT_OK;
}

/* A session that is gone after its last bytes went out may have ended well. */
static silt_status start_over(struct upload *upload, silt_error *err)
{
    if (upload->base > 0) {
        return sl_fail(err, SILT_EIO, NULL, "the service forgot an upload after %lld bytes", (long long)upload->base);
    }
    if (upload->unclear && upload->size >= 0) {
        silt_error found = SILT_ERROR_INIT;
        const silt_status status = compare_object(upload, &found);
        if (status != SILT_ENOTFOUND) {
            upload->finished = status == SILT_OK;
            *err = status != SILT_OK ? found : *err;
            return status;
        }
        upload->unclear = false;
    }
    return begin_session(upload, err);
}

/* All bytes up to the end, which finishes the object if the size is known. */
static silt_status send_all(struct upload *upload, silt_error *err)
{
    silt_status status = upload->session.len == 0 ? begin_session(upload, err) : SILT_OK;
    unsigned n_rounds = 0;
    while (status == SILT_OK && !upload->finished && (upload->size >= 0 || upload->stored < upload->end)) {
        status = send_chunk(upload, err);
        if (status != SILT_OK || upload->finished) {
            break;
        }
        n_rounds = upload->stored > upload->told ? 0 : n_rounds + 1;
        upload->told = upload->stored;
        if (n_rounds >= MAX_ROUNDS) {
            return sl_fail(err, SILT_EIO, NULL, "an upload came to nothing after %d attempts at byte %lld of %lld",
                           MAX_ROUNDS, (long long)upload->stored, (long long)upload->size);
        }
        if (n_rounds > 0) {
            status = sl_call_sleep(upload->gcs->env, upload->call, (int64_t)PAUSE_US << (n_rounds - 1), err);
        }
        if (status == SILT_OK && upload->begin_anew) {
            status = start_over(upload, err);
        }
    }
    return status;
}

/* By best effort: the service forgets a session after a week. */
static void call_off(struct upload *upload)
{
    struct sl_gcs_request request;
    const silt_env *env = upload->gcs->env;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .deadline_us = sl_monotonic_us(env) + CANCEL_US};
    sl_gcs_request_init(&request, upload->gcs, "DELETE");
    sl_buf_put_str(&request.url, sl_buf_view(&upload->session));
    request.no_token = true;
    request.once = true;
    sl_ignore(sl_gcs_run(&request, &call, NULL)); /* nothing is lost */
    sl_gcs_request_release(&request);
}

/* ---- the slot ---- */

static silt_status send_small(struct upload *upload, struct sl_str bytes, silt_error *err)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_gcs_create(upload->gcs, upload->call, upload->name, bytes, &outcome, err));
    if (outcome == SILT_PUT_AMBIGUOUS) {
        silt_error found = SILT_ERROR_INIT;
        const silt_status status = compare_object(upload, &found);
        if (status == SILT_ENOTFOUND) {
            return sl_fail(err, SILT_EIO, NULL, "it is not known whether the file will be there");
        }
        *err = status != SILT_OK ? found : *err;
        return status;
    }
    return outcome == SILT_PUT_DONE ? SILT_OK : sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
}

silt_status sl_gcs_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name name;
    SL_TRY(sl_gcs_begin(gcs, path, false, &name, err));
    struct upload upload = {.gcs = gcs, .call = call, .name = &name, .fd = -1};
    sl_buf_init(&upload.session, gcs->env);
    silt_status status = open_file(&upload, local, err);
    if (status == SILT_OK) {
        status = sum_up(&upload, err); /* leaves a small file in the chunk */
    }
    if (status == SILT_OK) {
        status = upload.size <= (int64_t)CHUNK
                     ? send_small(&upload, sl_str_make(upload.chunk, (size_t)upload.size), err)
                     : send_all(&upload, err);
    }
    if (status != SILT_OK && upload.session.len > 0 && !upload.finished) {
        call_off(&upload);
    }
    if (status == SILT_OK && unlink(local) != 0) {
        sl_log(gcs->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", local, errno);
    }
    if (upload.fd >= 0) {
        (void)close(upload.fd); /* read only: there is nothing to lose */
    }
    sl_release(gcs->env, upload.chunk, CHUNK);
    sl_buf_release(&upload.session);
    return status;
}

/* ---- uploads whose bytes come one after the other ---- */

struct stream {
    struct upload upload;
    struct sl_gcs_name name;
    uint32_t crc;
    struct sl_arena arena; /* the path */
};

static void free_stream(struct stream *stream)
{
    const silt_env *env = stream->upload.gcs->env;
    sl_buf_release(&stream->upload.session);
    sl_arena_release(&stream->arena);
    sl_release(env, stream, sizeof(*stream));
}

silt_status sl_gcs_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct stream *stream = sl_alloc_zero(gcs->env, sizeof(*stream));
    (void)call;
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    sl_arena_init(&stream->arena, gcs->env);
    stream->upload = (struct upload){.gcs = gcs, .name = &stream->name, .fd = -1, .size = -1};
    sl_buf_init(&stream->upload.session, gcs->env);
    const char *copy = sl_arena_strdup(&stream->arena, sl_str_from(path));
    const silt_status status = copy != NULL ? sl_gcs_begin(gcs, copy, false, &stream->name, err) : sl_fail_nomem(err);
    if (status != SILT_OK) {
        free_stream(stream);
        return status;
    }
    *upload = stream;
    *unit = CHUNK;
    return SILT_OK;
}

static void take_bytes(struct stream *stream, const silt_call *call, const void *data, size_t data_len)
{
    struct upload *upload = &stream->upload;
    upload->call = call;
    upload->bytes = data;
    upload->base = upload->end;
    upload->end += (int64_t)data_len;
    stream->crc = sl_crc32c(stream->crc, data, data_len);
}

silt_status sl_gcs_upload_append(void *impl, const silt_call *call, void *user, const void *data, size_t data_len,
                                 size_t *unit, silt_error *err)
{
    struct stream *stream = user;
    (void)impl;
    (void)unit;
    take_bytes(stream, call, data, data_len);
    return send_all(&stream->upload, err);
}

static void end_stream(struct stream *stream)
{
    if (stream->upload.session.len > 0 && !stream->upload.finished) {
        call_off(&stream->upload);
    }
    free_stream(stream);
}

/* The last bytes, of an object of more than one chunk. */
static silt_status send_last(struct upload *upload, const silt_call *call, silt_error *err)
{
    silt_status status = upload->base == upload->end ? tell(upload, 0, 0, err) : send_all(upload, err);
    if (status == SILT_OK && !upload->finished) {
        status = sl_fail(err, SILT_EIO, NULL, "the service has all bytes of an upload and does not end it");
    }
    if (status != SILT_OK && upload->finished) { /* it is there, and is not what was sent */
        struct sl_gcs_request request;
        sl_gcs_request_init(&request, upload->gcs, "DELETE");
        sl_gcs_put_object_url(&request.url, upload->gcs->base_url, upload->name);
        sl_ignore(sl_gcs_run(&request, call, NULL)); /* the failure stands */
        sl_gcs_request_release(&request);
    }
    return status;
}

silt_status sl_gcs_upload_finish(void *impl, const silt_call *call, void *user, const void *data, size_t data_len,
                                 silt_error *err)
{
    struct stream *stream = user;
    struct upload *upload = &stream->upload;
    (void)impl;
    take_bytes(stream, call, data, data_len);
    sl_crc32c_text(stream->crc, upload->crc32c);
    upload->size = upload->end;
    const bool small = upload->session.len == 0 && data_len <= CHUNK;
    const silt_status status = small ? send_small(upload, sl_str_make(data, data_len), err)
                                     : send_last(upload, call, err);
    upload->finished = upload->finished || small;
    end_stream(stream);
    return status;
}

void sl_gcs_upload_abort(void *impl, void *user)
{
    (void)impl;
    end_stream(user);
}
