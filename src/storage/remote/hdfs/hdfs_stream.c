/*
 * Parts of files whose bytes are handed on as they come. A part is one exchange that goes from step to step: the name node says where the bytes
 * are, a data node gives them, and where it gave fewer than were wanted the name node is asked for the file's size. A data node that fails
 * leads back to the name node.
 *
 * Any thread; a stream has one.
 */
#include <stdio.h>

#include "base/error.h"
#include "storage/remote/hdfs/hdfs_int.h"
#include "storage/remote/part_stream.h"

enum step {
    ASK_NAME_NODE = 0,
    ASK_DATA_NODE = 1,
    ASK_SIZE = 2
};

struct own {
    struct sl_hdfs_request request;
    struct sl_hdfs_name name;
    struct sl_buf location; /* of the data node */
    bool made;              /* both */
    enum step step;         /* of the next attempt */
    enum step asked;        /* of the last */
    int64_t came;           /* bytes, fewer than were wanted */
    silt_status (*sink)(void *user, const void *bytes, size_t n, silt_error *err);
};

static struct sl_part *part_of(const struct sl_exchange *exchange)
{
    return ((struct sl_hdfs_request *)exchange->user)->user;
}

/* ---- an attempt ---- */

static void put_open(struct own *own, const silt_read_request *read)
{
    char number[32];
    struct sl_buf *target = &own->request.target;
    sl_hdfs_put_operation(target, own->name.path, "OPEN");
    (void)snprintf(number, sizeof(number), "%lld", (long long)read->offset);
    sl_hdfs_put_parameter(target, "offset", sl_str_from(number));
    (void)snprintf(number, sizeof(number), "%lld", (long long)read->length);
    sl_hdfs_put_parameter(target, "length", sl_str_from(number));
}

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_part *part = part_of(exchange);
    struct own *own = part->own;
    own->sink = own->sink != NULL ? own->sink : exchange->request.sink;
    own->asked = own->step;
    own->request.direct = own->step == ASK_DATA_NODE;
    sl_buf_clear(&own->request.target);
    switch (own->step) {
    case ASK_NAME_NODE: put_open(own, part->request); break;
    case ASK_DATA_NODE: sl_buf_put_str(&own->request.target, sl_buf_view(&own->location)); break;
    case ASK_SIZE: sl_hdfs_put_operation(&own->request.target, own->name.path, "GETFILESTATUS"); break;
    }
    exchange->request.sink = own->step == ASK_SIZE ? NULL : own->sink;
    return sl_hdfs_prepare(exchange, call, renew, err);
}

/* ---- from step to step ---- */

static enum sl_verdict go_on(struct own *own, enum step step)
{
    own->step = step;
    return SL_VERDICT_NEXT;
}

/* Of an answer that counts. */
static enum sl_verdict judge_answer(struct sl_part *part, struct own *own)
{
    const struct sl_exchange *exchange = part->exchange;
    const int code = exchange->request.code;
    if (own->asked == ASK_NAME_NODE && code == 307 &&
        sl_hdfs_take_redirect(&own->request, exchange, &own->location, NULL) == SILT_OK) {
        return go_on(own, ASK_DATA_NODE);
    }
    if (code == 200) {
        own->came = sl_part_came(part);
        return own->came < part->request->length ? go_on(own, ASK_SIZE) : SL_VERDICT_DONE;
    }
    if (sl_hdfs_read_fault(own->request.hdfs->env, sl_buf_view(&exchange->request.answer), NULL) == SL_HDFS_RANGE) {
        own->came = 0;
        return go_on(own, ASK_SIZE);
    }
    return SL_VERDICT_DONE;
}

static enum sl_verdict judge(struct sl_exchange *exchange)
{
    struct sl_part *part = part_of(exchange);
    struct own *own = part->own;
    const enum sl_verdict verdict = sl_hdfs_judge(exchange);
    if (verdict == SL_VERDICT_RETRY && own->asked == ASK_DATA_NODE) {
        own->step = ASK_NAME_NODE; /* it may know another one */
        return SL_VERDICT_RETRY;
    }
    if (verdict != SL_VERDICT_DONE || exchange->request.status != SILT_OK || own->asked == ASK_SIZE) {
        return verdict;
    }
    return judge_answer(part, own);
}

static const struct sl_exchange_class exchange_class = {.prepare = prepare, .judge = judge};

/* ---- a part ---- */

static silt_status begin(void *store, struct sl_part *part, silt_error *err)
{
    struct sl_hdfs *hdfs = store;
    struct own *own = part->own;
    struct sl_hdfs_cluster *cluster = NULL;
    SL_TRY(sl_hdfs_begin(hdfs, part->request->path, false, &own->name, &cluster, err));
    sl_hdfs_request_init(&own->request, hdfs, cluster, "GET");
    sl_buf_init(&own->location, hdfs->env);
    own->made = true;
    own->request.user = part;
    own->request.max_answer = part->max_answer;
    *part->exchange = (struct sl_exchange){.class = &exchange_class, .user = &own->request};
    return SILT_OK;
}

static silt_status fail(const struct sl_part *part, silt_error *err)
{
    struct own *own = part->own;
    const struct sl_exchange *exchange = part->exchange;
    if (exchange->status == SILT_OK && own->asked == ASK_NAME_NODE && exchange->request.code == 307) {
        SL_TRY(sl_hdfs_take_redirect(&own->request, exchange, &own->location, err));
    }
    return sl_hdfs_fail(own->request.hdfs, exchange, &own->name, err);
}

/* Fewer bytes than were wanted: the file must end there. */
static silt_status finish_short(struct sl_part *part, silt_error *err)
{
    const struct own *own = part->own;
    silt_read_request *read = part->request;
    struct sl_hdfs_file file;
    SL_TRY(sl_hdfs_read_description(own->request.hdfs, part->exchange, &own->name, &file, err));
    const int64_t left = file.size_bytes > read->offset ? file.size_bytes - read->offset : 0;
    if (file.is_folder || own->came != left) {
        return sl_fail(err, SILT_EIO, NULL, "HDFS gave %lld bytes from %lld on of a file of %lld", (long long)own->came,
                       (long long)read->offset, (long long)file.size_bytes);
    }
    read->file_size = file.size_bytes;
    read->data_len = (size_t)own->came;
    return SILT_OK;
}

static silt_status finish(struct sl_part *part, silt_error *err)
{
    const struct own *own = part->own;
    if (own->asked == ASK_SIZE) {
        return finish_short(part, err);
    }
    if (part->exchange->status != SILT_OK || part->exchange->request.code != 200) {
        return fail(part, err);
    }
    if (own->came != part->request->length) {
        return sl_fail(err, SILT_EIO, NULL, "HDFS gave %lld bytes, %lld were wanted", (long long)own->came,
                       (long long)part->request->length);
    }
    part->request->data_len = (size_t)own->came;
    return SILT_OK;
}

static void end(struct sl_part *part)
{
    struct own *own = part->own;
    if (own->made) {
        sl_hdfs_request_release(&own->request);
        sl_buf_release(&own->location);
        own->made = false;
    }
}

static const struct sl_part_class parts = {
    .own_size = sizeof(struct own), .begin = begin, .fail = fail, .finish = finish, .end = end};

silt_status sl_hdfs_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                silt_read_request *requests, size_t n, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    const struct sl_part_source source = {.class = &parts, .store = hdfs, .context = hdfs->context};
    return sl_part_stream_run(&source, call, stream, requests, n, err);
}
