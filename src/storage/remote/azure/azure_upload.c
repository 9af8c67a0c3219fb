/*
 * Uploads: in one request, or in blocks that are sent side by side and then made a file by one request, which carries the condition. Blocks that were
 * sent and not used vanish after a week; their names are of this upload alone, so that nobody else's are taken.
 *
 * Any thread.
 */
#include "storage/remote/azure/azure_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "silt/version.h"
#include "storage/remote/digest.h"

#define SINGLE_LIMIT (4 * SL_AZURE_BLOCK)
#define MAX_BLOCKS 50000
#define SIDE_BY_SIDE 4
#define DROP_US 15000000 /* the time that is given to calling an upload off */
#define MARK_HEADER "x-ms-meta-silt_mark"

/* Reads a part of an open file whole. */
static silt_status read_part(int fd, char *data, size_t size, size_t offset, silt_error *err)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(fd, data + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return sl_fail_errno(err, errno, "read the file to be sent", NULL);
        }
        if (got == 0) {
            return sl_fail(err, SILT_EIO, NULL, "the file to be sent became shorter");
        }
        done += (size_t)got;
    }
    return SILT_OK;
}

/* The last request of an upload: what its answer says. */
static silt_status finish(const struct sl_azure_upload *upload, struct sl_azure_request *request, const silt_call *call,
                          silt_put_outcome *outcome, silt_error *err)
{
    struct sl_exchange exchange = {0};
    if (upload->conditional) {
        sl_azure_request_header(request, "If-None-Match", "*");
    }
    if (upload->mark != NULL) {
        sl_azure_request_header(request, MARK_HEADER, upload->mark);
    }
    silt_status status = sl_azure_ask(request, call, &exchange, err);
    if (upload->conditional) {
        status = sl_azure_outcome(request, status, outcome, err);
    } else {
        status = status == SILT_OK ? sl_azure_judge(request, err) : status;
        *outcome = status == SILT_OK ? SILT_PUT_DONE : SILT_PUT_AMBIGUOUS;
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(request);
    return status;
}

static silt_status send_single(const struct sl_azure_upload *upload, const void *data, const silt_call *call,
                               silt_put_outcome *outcome, silt_error *err)
{
    struct sl_azure_request request;
    sl_azure_request_init(&request, upload->azure->context, upload->access, "PUT", upload->path);
    sl_azure_request_header(&request, "x-ms-blob-type", "BlockBlob");
    sl_azure_request_header(&request, "Content-Type", "application/octet-stream");
    request.body = data;
    request.body_len = upload->content.size;
    return finish(upload, &request, call, outcome, err);
}

/* ---- blocks ---- */

struct blocks {
    const struct sl_azure_upload *upload;
    size_t block; /* bytes */
    size_t first; /* number of the first */
    size_t n;
    char prefix[17]; /* of their names */
};

/* All names of a file's blocks have one length. */
static void put_block_name(const struct blocks *blocks, size_t index, struct sl_buf *out)
{
    char plain[40]; /* as long as the compiler thinks that a number may be */
    (void)snprintf(plain, sizeof(plain), "%s-%06zu", blocks->prefix, blocks->first + index);
    sl_base64_put(out, sl_str_from(plain));
}

/* Some blocks that are sent together. */
struct row {
    struct sl_azure_request requests[SIDE_BY_SIDE];
    struct sl_exchange exchanges[SIDE_BY_SIDE];
    struct sl_buf names[SIDE_BY_SIDE];
    char *data; /* of a file: room for the blocks */
};

static silt_status fill_row(const struct blocks *blocks, struct row *row, size_t first, size_t n, silt_error *err)
{
    const struct sl_azure_content *content = &blocks->upload->content;
    for (size_t i = 0; i < n; i++) {
        struct sl_azure_request *request = &row->requests[i];
        const size_t offset = (first + i) * blocks->block;
        const size_t rest = content->size - offset;
        sl_buf_clear(&row->names[i]);
        put_block_name(blocks, first + i, &row->names[i]);
        SL_TRY(sl_buf_status(&row->names[i], err));
        sl_azure_request_init(request, blocks->upload->azure->context, blocks->upload->access, "PUT",
                              blocks->upload->path);
        sl_azure_request_parameter(request, "comp", "block");
        sl_azure_request_parameter(request, "blockid", sl_buf_cstr(&row->names[i]));
        request->body_len = rest < blocks->block ? rest : blocks->block;
        if (content->data != NULL) {
            request->body = (const char *)content->data + offset;
        } else {
            char *room = row->data + i * blocks->block;
            SL_TRY(read_part(content->fd, room, request->body_len, offset, err));
            request->body = room;
        }
    }
    return SILT_OK;
}

static silt_status send_row(const struct blocks *blocks, struct row *row, size_t first, const silt_call *call,
                            silt_error *err)
{
    const size_t left = blocks->n - first;
    const size_t n = left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE;
    memset(row->requests, 0, sizeof(row->requests));
    memset(row->exchanges, 0, sizeof(row->exchanges));
    silt_status status = fill_row(blocks, row, first, n, err);
    if (status == SILT_OK) {
        status = sl_azure_ask_all(row->requests, row->exchanges, n, call, NULL, NULL, err);
    }
    for (size_t i = 0; i < n; i++) {
        if (status == SILT_OK) {
            status = sl_azure_judge(&row->requests[i], err);
        }
        sl_exchange_release(&row->exchanges[i]);
        sl_azure_request_release(&row->requests[i]);
    }
    return status;
}

static silt_status send_blocks(const struct blocks *blocks, const silt_call *call, silt_error *err)
{
    const silt_env *env = blocks->upload->azure->context->env;
    const size_t room = blocks->upload->content.data == NULL ? SIDE_BY_SIDE * blocks->block : 0;
    struct row *row = sl_alloc_zero(env, sizeof(*row));
    if (row == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = SILT_OK;
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        sl_buf_init(&row->names[i], env);
    }
    if (room > 0) {
        row->data = sl_alloc(env, room);
        status = row->data != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    for (size_t first = 0; status == SILT_OK && first < blocks->n; first += SIDE_BY_SIDE) {
        status = send_row(blocks, row, first, call, err);
        sl_call_progress(call, "sending", (int64_t)first, (int64_t)blocks->n);
    }
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        sl_buf_release(&row->names[i]);
    }
    sl_release(env, row->data, room);
    sl_release(env, row, sizeof(*row));
    return status;
}

static silt_status join_blocks(const struct blocks *blocks, const silt_call *call, silt_put_outcome *outcome,
                               silt_error *err)
{
    const struct sl_azure_upload *upload = blocks->upload;
    struct sl_azure_request request;
    struct sl_buf list;
    sl_buf_init(&list, upload->azure->context->env);
    sl_buf_put_c(&list, "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>");
    for (size_t i = 0; i < blocks->n; i++) {
        sl_buf_put_c(&list, "<Uncommitted>");
        put_block_name(blocks, i, &list);
        sl_buf_put_c(&list, "</Uncommitted>");
    }
    sl_buf_put_c(&list, "</BlockList>");
    silt_status status = sl_buf_status(&list, err);
    if (status == SILT_OK) {
        sl_azure_request_init(&request, upload->azure->context, upload->access, "PUT", upload->path);
        sl_azure_request_parameter(&request, "comp", "blocklist");
        sl_azure_request_header(&request, "Content-Type", "application/xml");
        sl_azure_request_header(&request, "x-ms-blob-content-type", "application/octet-stream");
        request.body = list.data;
        request.body_len = list.len;
        status = finish(upload, &request, call, outcome, err);
    }
    sl_buf_release(&list);
    return status;
}

static silt_status send_in_blocks(const struct sl_azure_upload *upload, const silt_call *call,
                                  silt_put_outcome *outcome, silt_error *err)
{
    const silt_env *env = upload->azure->context->env;
    struct blocks blocks = {.upload = upload, .block = SL_AZURE_BLOCK};
    uint8_t random[8];
    const size_t least = upload->content.size / MAX_BLOCKS + 1;
    blocks.block = blocks.block < least ? least : blocks.block;
    blocks.n = (upload->content.size - 1) / blocks.block + 1;
    SL_TRY(env->random_bytes(env->ctx, random, sizeof(random)));
    sl_hex_put(random, sizeof(random), blocks.prefix);
    /* Until the blocks are joined, nothing is there. */
    SL_TRY(send_blocks(&blocks, call, err));
    return join_blocks(&blocks, call, outcome, err);
}

/* A file that fits into one request is read first. */
static silt_status send_small_file(const struct sl_azure_upload *upload, const silt_call *call,
                                   silt_put_outcome *outcome, silt_error *err)
{
    const silt_env *env = upload->azure->context->env;
    char *data = sl_alloc(env, upload->content.size);
    if (data == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = read_part(upload->content.fd, data, upload->content.size, 0, err);
    if (status == SILT_OK) {
        status = send_single(upload, data, call, outcome, err);
    }
    sl_release(env, data, upload->content.size);
    return status;
}

silt_status sl_azure_upload(const struct sl_azure_upload *upload, const silt_call *call, silt_put_outcome *outcome,
                            silt_error *err)
{
    *outcome = SILT_PUT_AMBIGUOUS;
    if (upload->content.size > SINGLE_LIMIT) {
        return send_in_blocks(upload, call, outcome, err);
    }
    if (upload->content.data != NULL || upload->content.size == 0) {
        return send_single(upload, upload->content.data, call, outcome, err);
    }
    return send_small_file(upload, call, outcome, err);
}

/* ---- adopt ---- */

/* After an ambiguous answer: is the file that is there the one that was sent? */
static silt_status look_for_mark(const struct sl_azure_upload *upload, const silt_call *call, bool *ours,
                                 silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    *ours = false;
    sl_azure_request_init(&request, upload->azure->context, upload->access, "HEAD", upload->path);
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    if (status == SILT_OK) {
        status = sl_azure_judge(&request, err);
    }
    if (status == SILT_OK) {
        *ours = sl_str_eq_c(sl_http_header(&exchange.request, MARK_HEADER), upload->mark);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}

static silt_status judge_move(const struct sl_azure_upload *upload, silt_put_outcome outcome, const silt_call *call,
                              silt_error *err)
{
    bool ours = outcome == SILT_PUT_DONE;
    if (outcome == SILT_PUT_AMBIGUOUS) {
        silt_error reason = SILT_ERROR_INIT;
        const silt_status status = look_for_mark(upload, call, &ours, &reason);
        if (status != SILT_OK) {
            return sl_fail(err, SILT_EIO, NULL, "it is not known whether the file is there: %s", reason.message);
        }
    }
    return ours ? SILT_OK : sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
}

static silt_status open_source(const char *local, int *fd, size_t *size, silt_error *err)
{
    struct stat found = {0};
    *fd = open(local, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0) {
        return sl_fail_errno(err, errno, "open", local);
    }
    silt_status status = SILT_OK;
    if (fstat(*fd, &found) != 0) {
        status = sl_fail_errno(err, errno, "look at", local);
    } else if (!S_ISREG(found.st_mode)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "%s is not a regular file", local);
    }
    if (status != SILT_OK) {
        (void)close(*fd); /* read only: there is nothing to lose */
        *fd = -1;
    }
    *size = (size_t)found.st_size;
    return status;
}

silt_status sl_azure_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct sl_azure *azure = impl;
    struct sl_azure_place place;
    struct sl_azure_upload upload = {.azure = azure, .content = {.fd = -1}, .conditional = true};
    char mark[SL_UUID_TEXT_SIZE];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_azure_place_of_file(path, &place, err));
    if (sl_azure_is_hidden(place.path)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name is one of the store's own temporary names");
    }
    SL_TRY(sl_azure_reach(azure, &place, &upload.access, err));
    SL_TRY(sl_uuid_make(azure->context->env, mark, err));
    SL_TRY(open_source(local, &upload.content.fd, &upload.content.size, err));
    upload.path = place.path;
    upload.mark = mark;
    silt_status status = sl_azure_upload(&upload, call, &outcome, err);
    if (status == SILT_OK) {
        status = judge_move(&upload, outcome, call, err);
    }
    (void)close(upload.content.fd); /* read only: there is nothing to lose */
    if (status == SILT_OK && unlink(local) != 0) {
        sl_log(azure->context->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", local, errno);
    }
    return status;
}

/* ---- uploads whose bytes come one after the other ---- */

struct stream {
    struct sl_azure_upload upload;
    struct blocks blocks; /* those of the bytes at hand */
    size_t n_sent;
    char mark[SL_UUID_TEXT_SIZE];
    struct sl_arena arena; /* the path */
};

static void free_stream(struct stream *stream)
{
    const silt_env *env = stream->upload.azure->context->env;
    sl_arena_release(&stream->arena);
    sl_release(env, stream, sizeof(*stream));
}

static silt_status fill_stream(struct stream *stream, const char *path, silt_error *err)
{
    struct sl_azure *azure = stream->upload.azure;
    const silt_env *env = azure->context->env;
    struct sl_azure_place place;
    uint8_t random[8];
    const char *copy = sl_arena_strdup(&stream->arena, sl_str_from(path));
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_azure_place_of_file(copy, &place, err));
    if (sl_azure_is_hidden(place.path)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name is one of the store's own temporary names");
    }
    SL_TRY(sl_azure_reach(azure, &place, &stream->upload.access, err));
    SL_TRY(sl_uuid_make(env, stream->mark, err));
    SL_TRY(env->random_bytes(env->ctx, random, sizeof(random)));
    sl_hex_put(random, sizeof(random), stream->blocks.prefix);
    stream->upload.path = place.path;
    stream->upload.mark = stream->mark;
    stream->upload.conditional = true;
    stream->upload.content.fd = -1;
    stream->blocks.upload = &stream->upload;
    stream->blocks.block = SL_AZURE_BLOCK;
    return SILT_OK;
}

silt_status sl_azure_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                  silt_error *err)
{
    struct sl_azure *azure = impl;
    struct stream *stream = sl_alloc_zero(azure->context->env, sizeof(*stream));
    (void)call;
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->upload.azure = azure;
    sl_arena_init(&stream->arena, azure->context->env);
    const silt_status status = fill_stream(stream, path, err);
    if (status != SILT_OK) {
        free_stream(stream);
        return status;
    }
    *upload = stream;
    *unit = SL_AZURE_BLOCK;
    return SILT_OK;
}

static silt_status send_more(struct stream *stream, const silt_call *call, const void *data, size_t data_len,
                             silt_error *err)
{
    struct blocks *blocks = &stream->blocks;
    if (data_len == 0) {
        return SILT_OK;
    }
    stream->upload.content = (struct sl_azure_content){.data = data, .size = data_len, .fd = -1};
    blocks->first = stream->n_sent;
    blocks->n = (data_len - 1) / blocks->block + 1;
    stream->n_sent += blocks->n;
    if (stream->n_sent > MAX_BLOCKS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a file has more than %d blocks", MAX_BLOCKS);
    }
    return send_blocks(blocks, call, err);
}

silt_status sl_azure_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                   size_t *unit, silt_error *err)
{
    (void)impl;
    (void)unit;
    return send_more(upload, call, data, data_len, err);
}

/*
 * The service drops blocks that no list names when a list is put, else after a week: so a file of no block is made, if the name is free, and
 * removed again.
 */
static void drop_blocks(struct stream *stream)
{
    const silt_env *env = stream->upload.azure->context->env;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .deadline_us = sl_monotonic_us(env) + DROP_US};
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    if (stream->n_sent == 0) {
        return;
    }
    stream->blocks.n = 0;
    if (join_blocks(&stream->blocks, &call, &outcome, &err) != SILT_OK || outcome != SILT_PUT_DONE) {
        return;
    }
    sl_azure_request_init(&request, stream->upload.azure->context, stream->upload.access, "DELETE",
                          stream->upload.path);
    sl_ignore(sl_azure_ask(&request, &call, &exchange, &err)); /* what stays is empty, and nobody's */
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
}

static silt_status end_stream(struct stream *stream, const silt_call *call, const void *data, size_t data_len,
                              silt_error *err)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    if (stream->n_sent == 0 && data_len <= SL_AZURE_BLOCK) {
        stream->upload.content = (struct sl_azure_content){.data = data, .size = data_len, .fd = -1};
        SL_TRY(send_single(&stream->upload, data, call, &outcome, err));
    } else {
        SL_TRY(send_more(stream, call, data, data_len, err));
        stream->blocks.first = 0;
        stream->blocks.n = stream->n_sent;
        SL_TRY(join_blocks(&stream->blocks, call, &outcome, err));
        stream->n_sent = outcome == SILT_PUT_DONE ? 0 : stream->n_sent;
    }
    return judge_move(&stream->upload, outcome, call, err);
}

silt_status sl_azure_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                   silt_error *err)
{
    struct stream *stream = upload;
    (void)impl;
    const silt_status status = end_stream(stream, call, data, data_len, err);
    if (status != SILT_OK) {
        drop_blocks(stream);
    }
    free_stream(stream);
    return status;
}

void sl_azure_upload_abort(void *impl, void *upload)
{
    (void)impl;
    drop_blocks(upload);
    free_stream(upload);
}
