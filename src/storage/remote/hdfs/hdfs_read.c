/*
 * Reading of files: the name node says at which data node the bytes are, which then gives them. Many reads go through both steps together.
 * What a data node gives is as long as it was asked for, or ends where the name node says that the file ends.
 *
 * Any thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/hdfs/hdfs_int.h"

#define MAX_WHOLE ((size_t)1 << 40)

/* One read on its way. */
struct reading {
    silt_read_request *read;
    struct sl_hdfs_name name;
    struct sl_hdfs_cluster *cluster;
    int64_t offset; /* from the file's begin */
    int64_t length; /* -1: to the end */
    silt_status status;
    silt_error error;
    bool open;              /* bytes are still to be had */
    struct sl_buf location; /* of the data node */
};

struct batch {
    struct sl_hdfs *hdfs;
    const silt_call *call;
    struct reading *readings;
    size_t n;
    struct sl_hdfs_request *requests; /* of the step at hand, room for n */
    struct sl_exchange *exchanges;
    size_t n_requests;
    bool silent; /* of the data nodes that failed in the last round none said anything */
};

silt_status sl_hdfs_read_description(const struct sl_hdfs *hdfs, const struct sl_exchange *exchange,
                                     const struct sl_hdfs_name *name, struct sl_hdfs_file *out, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    if (exchange->status != SILT_OK || exchange->request.code != 200) {
        return sl_hdfs_fail(hdfs, exchange, name, err);
    }
    SL_TRY(sl_hdfs_parse(hdfs->env, sl_buf_view(&exchange->request.answer), &doc, err));
    const silt_status status = sl_hdfs_read_file(sl_json_root(doc), out, err);
    out->name = (struct sl_str){0}; /* was the document's */
    sl_json_free(doc);
    return status;
}

silt_status sl_hdfs_describe(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const silt_call *call,
                             const struct sl_hdfs_name *name, struct sl_hdfs_file *out, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, hdfs, cluster, "GET");
    sl_hdfs_put_operation(&request.target, name->path, "GETFILESTATUS");
    silt_status status = sl_hdfs_run(&request, call, err);
    if (status == SILT_OK) {
        status = sl_hdfs_read_description(hdfs, &request.exchange, name, out, err);
    }
    sl_hdfs_request_release(&request);
    return status;
}

static silt_status expect_file(const struct sl_hdfs_file *file, const struct sl_hdfs_name *name, silt_error *err)
{
    return !file->is_folder ? SILT_OK
                            : sl_fail(err, SILT_ENOTFOUND, NULL, "/%.*s is a folder, not a file", SL_FMT(name->path));
}

static silt_status describe_file(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const silt_call *call,
                                 const struct sl_hdfs_name *name, struct sl_hdfs_file *out, silt_error *err)
{
    SL_TRY(sl_hdfs_describe(hdfs, cluster, call, name, out, err));
    return expect_file(out, name, err);
}

silt_status sl_hdfs_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                         silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct sl_hdfs_name name;
    struct sl_hdfs_cluster *cluster = NULL;
    struct sl_hdfs_file file;
    SL_TRY(sl_hdfs_begin(hdfs, path, false, &name, &cluster, err));
    SL_TRY(describe_file(hdfs, cluster, call, &name, &file, err));
    *size_bytes = file.size_bytes;
    *modified_ms = file.modified_ms;
    return SILT_OK;
}

/* ---- one read ---- */

static void finish(struct reading *reading, silt_status status)
{
    reading->status = status;
    reading->open = false;
}

/* The last bytes of a file, and nothing of it, need its size. */
static bool needs_size(const struct reading *reading)
{
    return reading->read->offset < 0 || reading->read->length == 0;
}

static void place(struct reading *reading, int64_t size_bytes)
{
    const silt_read_request *read = reading->read;
    reading->read->file_size = size_bytes;
    if (read->offset < 0) {
        reading->offset = read->offset < -size_bytes ? 0 : size_bytes + read->offset;
    }
    const int64_t left = size_bytes > reading->offset ? size_bytes - reading->offset : 0;
    reading->length = read->length < 0 || read->length > left ? left : read->length;
    reading->open = reading->length > 0;
}

/* Beyond the file's end there is nothing, if that is where it is. */
static void judge_range(const struct batch *batch, struct reading *reading)
{
    struct sl_hdfs_file file;
    silt_status status = describe_file(batch->hdfs, reading->cluster, batch->call, &reading->name, &file,
                                       &reading->error);
    if (status == SILT_OK && file.size_bytes > reading->offset) {
        status = sl_fail(&reading->error, SILT_EIO, NULL, "HDFS has no byte %lld of a file of %lld",
                         (long long)reading->offset, (long long)file.size_bytes);
    }
    reading->read->file_size = status == SILT_OK ? file.size_bytes : -1;
    finish(reading, status);
}

/* Answers of other codes than 200, of a name node or a data node. */
static void judge_failure(const struct batch *batch, struct reading *reading, const struct sl_exchange *exchange)
{
    const bool answered = exchange->status == SILT_OK;
    if (answered &&
        sl_hdfs_read_fault(batch->hdfs->env, sl_buf_view(&exchange->request.answer), NULL) == SL_HDFS_RANGE) {
        judge_range(batch, reading);
    } else {
        finish(reading, sl_hdfs_fail(batch->hdfs, exchange, &reading->name, &reading->error));
    }
}

/* Takes the body, a block of just its size. */
static silt_status keep(const struct batch *batch, struct reading *reading, struct sl_buf *body)
{
    const size_t n = body->len;
    size_t len = 0;
    size_t cap = 0;
    if (n == 0) {
        return SILT_OK;
    }
    char *block = sl_buf_take(body, &len, &cap);
    char *fitting = cap == n ? block : sl_resize(batch->hdfs->env, block, cap, n);
    if (fitting == NULL) {
        sl_release(batch->hdfs->env, block, cap);
        return sl_fail_nomem(&reading->error);
    }
    reading->read->data = fitting;
    reading->read->data_len = n;
    return SILT_OK;
}

static void take_body(const struct batch *batch, struct reading *reading, struct sl_exchange *exchange)
{
    const int64_t got = (int64_t)exchange->request.answer.len;
    silt_status status = SILT_OK;
    if (reading->length >= 0 && got > reading->length) {
        status = sl_fail(&reading->error, SILT_EIO, NULL, "HDFS gave %lld bytes, %lld were wanted", (long long)got,
                         (long long)reading->length);
    } else if (reading->length >= 0 && got < reading->length) {
        struct sl_hdfs_file file;
        status = describe_file(batch->hdfs, reading->cluster, batch->call, &reading->name, &file, &reading->error);
        if (status == SILT_OK && file.size_bytes != reading->offset + got) {
            status = sl_fail(&reading->error, SILT_EIO, NULL, "HDFS gave %lld bytes from %lld on of a file of %lld",
                             (long long)got, (long long)reading->offset, (long long)file.size_bytes);
        }
        reading->read->file_size = status == SILT_OK ? file.size_bytes : -1;
    } else if (reading->length < 0) {
        reading->read->file_size = reading->offset + got;
    }
    if (status == SILT_OK) {
        status = keep(batch, reading, &exchange->request.answer);
    }
    finish(reading, status);
}

/* ---- steps of all reads ---- */

static void release_step(struct batch *batch)
{
    for (size_t i = 0; i < batch->n_requests; i++) {
        sl_exchange_release(&batch->exchanges[i]);
        sl_hdfs_request_release(&batch->requests[i]);
    }
    batch->n_requests = 0;
}

static struct sl_hdfs_request *add_request(struct batch *batch, struct reading *reading)
{
    struct sl_hdfs_request *request = &batch->requests[batch->n_requests++];
    sl_hdfs_request_init(request, batch->hdfs, reading->cluster, "GET");
    request->user = reading;
    request->max_answer = reading->length >= 0 && (uint64_t)reading->length < MAX_WHOLE
                              ? (size_t)reading->length + 65536
                              : MAX_WHOLE;
    return request;
}

static silt_status run_step(struct batch *batch, silt_error *err)
{
    return batch->n_requests == 0
               ? SILT_OK
               : sl_hdfs_run_many(batch->requests, batch->n_requests, batch->call, batch->exchanges, err);
}

/* Asks name nodes for the sizes that are needed, all at once. */
static silt_status ask_sizes(struct batch *batch, silt_error *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct reading *reading = &batch->readings[i];
        if (reading->open && needs_size(reading)) {
            struct sl_hdfs_request *request = add_request(batch, reading);
            request->max_answer = 0; /* the default */
            sl_hdfs_put_operation(&request->target, reading->name.path, "GETFILESTATUS");
        }
    }
    const silt_status whole = run_step(batch, err);
    for (size_t i = 0; i < batch->n_requests; i++) {
        struct reading *reading = batch->requests[i].user;
        struct sl_hdfs_file file;
        silt_status status = sl_hdfs_read_description(batch->hdfs, &batch->exchanges[i], &reading->name, &file,
                                                      &reading->error);
        if (status == SILT_OK) {
            status = expect_file(&file, &reading->name, &reading->error);
        }
        if (status == SILT_OK) {
            place(reading, file.size_bytes);
        } else {
            finish(reading, status);
        }
    }
    release_step(batch);
    return whole;
}

/* Asks name nodes where the bytes are. HttpFS gives them at once. */
static silt_status ask_name_nodes(struct batch *batch, silt_error *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct reading *reading = &batch->readings[i];
        if (!reading->open) {
            continue;
        }
        struct sl_hdfs_request *request = add_request(batch, reading);
        char number[32];
        sl_hdfs_put_operation(&request->target, reading->name.path, "OPEN");
        (void)snprintf(number, sizeof(number), "%lld", (long long)reading->offset);
        sl_hdfs_put_parameter(&request->target, "offset", sl_str_from(number));
        if (reading->length >= 0) {
            (void)snprintf(number, sizeof(number), "%lld", (long long)reading->length);
            sl_hdfs_put_parameter(&request->target, "length", sl_str_from(number));
        }
    }
    const silt_status whole = run_step(batch, err);
    for (size_t i = 0; i < batch->n_requests; i++) {
        struct sl_exchange *exchange = &batch->exchanges[i];
        struct reading *reading = batch->requests[i].user;
        if (exchange->status == SILT_OK && exchange->request.code == 200) {
            take_body(batch, reading, exchange);
        } else if (exchange->status == SILT_OK && exchange->request.code == 307) {
            const silt_status status = sl_hdfs_take_redirect(&batch->requests[i], exchange, &reading->location,
                                                             &reading->error);
            if (status != SILT_OK) {
                finish(reading, status);
            }
        } else {
            judge_failure(batch, reading, exchange);
        }
    }
    release_step(batch);
    return whole;
}

/* Fetches the bytes. Where a data node does not answer, the read stays open, with the reason in its error. */
static silt_status ask_data_nodes(struct batch *batch, silt_error *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct reading *reading = &batch->readings[i];
        if (reading->open) {
            struct sl_hdfs_request *request = add_request(batch, reading);
            request->direct = true;
            request->once = true;
            sl_buf_put_str(&request->target, sl_buf_view(&reading->location));
        }
    }
    const silt_status whole = run_step(batch, err);
    batch->silent = true;
    for (size_t i = 0; i < batch->n_requests; i++) {
        struct sl_exchange *exchange = &batch->exchanges[i];
        struct reading *reading = batch->requests[i].user;
        const bool lost = sl_exchange_judge(exchange) == SL_VERDICT_RETRY;
        if (exchange->status == SILT_OK && exchange->request.code == 200) {
            take_body(batch, reading, exchange);
        } else if (lost && (exchange->status == SILT_OK || exchange->status == SILT_EIO)) {
            batch->silent = batch->silent && exchange->status != SILT_OK && exchange->request.silent;
            reading->status = sl_hdfs_fail(batch->hdfs, exchange, &reading->name, &reading->error);
        } else {
            judge_failure(batch, reading, exchange);
        }
    }
    release_step(batch);
    return whole;
}

static struct reading *find_open(const struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->readings[i].open) {
            return &batch->readings[i];
        }
    }
    return NULL;
}

static silt_status run_rounds(struct batch *batch, silt_error *err)
{
    struct sl_tries tries;
    bool again = true;
    sl_tries_begin(&tries, batch->hdfs->env, batch->call);
    SL_TRY(ask_sizes(batch, err));
    while (again && find_open(batch) != NULL) {
        SL_TRY(ask_name_nodes(batch, err));
        SL_TRY(ask_data_nodes(batch, err));
        struct reading *left = find_open(batch);
        if (left != NULL) {
            SL_TRY(sl_tries_wait(&tries, batch->silent, &again, &left->error, err));
        }
    }
    return SILT_OK;
}

/* ---- the slot ---- */

static void begin_reading(struct batch *batch, silt_read_request *read)
{
    struct reading *reading = &batch->readings[batch->n++];
    *reading = (struct reading){
        .read = read, .open = true, .offset = read->offset, .length = read->length, .error = SILT_ERROR_INIT};
    sl_buf_init(&reading->location, batch->hdfs->env);
    read->data = NULL;
    read->data_len = 0;
    read->file_size = -1;
    const silt_status status = sl_hdfs_begin(batch->hdfs, read->path, false, &reading->name, &reading->cluster,
                                             &reading->error);
    if (status != SILT_OK) {
        finish(reading, status);
    }
}

/* `whole` is the failure of all that are still open. */
static void complete(struct batch *batch, silt_status whole, void (*on_done)(void *ctx, silt_read_request *request),
                     void *ctx, silt_error *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct reading *reading = &batch->readings[i];
        const silt_status status = reading->open && whole != SILT_OK ? whole : reading->status;
        reading->read->status = status;
        if (status != SILT_OK && whole == SILT_OK) {
            *err = reading->error;
        }
        sl_buf_release(&reading->location);
        on_done(ctx, reading->read);
    }
}

silt_status sl_hdfs_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                              void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct batch batch = {.hdfs = hdfs, .call = call};
    silt_status status = SILT_OK;
    batch.readings = sl_alloc_array(hdfs->env, n, sizeof(*batch.readings));
    batch.requests = sl_alloc_array(hdfs->env, n, sizeof(*batch.requests));
    batch.exchanges = sl_alloc_array(hdfs->env, n, sizeof(*batch.exchanges));
    if (batch.readings == NULL || batch.requests == NULL || batch.exchanges == NULL) {
        status = sl_fail_nomem(err);
        for (size_t i = 0; i < n; i++) {
            requests[i].status = status;
            on_done(ctx, &requests[i]);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            begin_reading(&batch, &requests[i]);
        }
        status = run_rounds(&batch, err);
        complete(&batch, status, on_done, ctx, err);
    }
    sl_release(hdfs->env, batch.exchanges, n * sizeof(*batch.exchanges));
    sl_release(hdfs->env, batch.requests, n * sizeof(*batch.requests));
    sl_release(hdfs->env, batch.readings, n * sizeof(*batch.readings));
    return status;
}
