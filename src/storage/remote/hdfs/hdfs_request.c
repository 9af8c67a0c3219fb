/*
 * Requests to name nodes and data nodes as exchanges. A name node that is in standby, or does not answer, is left for the next one of its
 * cluster, which is remembered. Any thread, a request by one.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/hdfs/hdfs_int.h"
#include "storage/remote/url.h"

#define MAX_ANSWER ((size_t)64 << 20) /* of JSON: a page of a listing */

static const struct sl_http_header data_headers[] = {{.name = "Content-Type", .value = "application/octet-stream"}};

void sl_hdfs_request_init(struct sl_hdfs_request *request, struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster,
                          const char *method)
{
    *request = (struct sl_hdfs_request){.hdfs = hdfs, .cluster = cluster, .method = method, .max_answer = MAX_ANSWER};
    sl_buf_init(&request->target, hdfs->env);
    sl_buf_init(&request->url, hdfs->env);
}

void sl_hdfs_request_release(struct sl_hdfs_request *request)
{
    sl_exchange_release(&request->exchange);
    sl_buf_release(&request->target);
    sl_buf_release(&request->url);
}

/* Who asks: a token says it by itself, Kerberos does in a header. */
static void put_identity(const struct sl_hdfs *hdfs, struct sl_buf *url)
{
    if (hdfs->delegation != NULL) {
        sl_hdfs_put_parameter(url, "delegation", sl_str_from(hdfs->delegation));
    } else if (hdfs->user != NULL && !hdfs->kerberos) {
        sl_hdfs_put_parameter(url, "user.name", sl_str_from(hdfs->user));
    }
}

/* A server that sends to itself (HttpFS) wants the same proof again; any other has its own in the URL. */
static bool is_own_origin(const struct sl_hdfs_request *request)
{
    const struct sl_str origin = sl_url_origin(sl_buf_view(&request->target));
    for (unsigned i = 0; i < request->cluster->n; i++) {
        if (sl_str_eq_c(origin, request->cluster->bases[i])) {
            return true;
        }
    }
    return false;
}

silt_status sl_hdfs_prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    struct sl_hdfs_request *request = exchange->user;
    const struct sl_hdfs *hdfs = request->hdfs;
    (void)call;
    (void)renew;
    SL_TRY(sl_buf_status(&request->target, err));
    sl_buf_clear(&request->url);
    bool negotiate = hdfs->kerberos && hdfs->delegation == NULL;
    if (request->direct) {
        sl_buf_put_str(&request->url, sl_buf_view(&request->target));
        negotiate = negotiate && is_own_origin(request);
        exchange->request.headers = data_headers;
        exchange->request.n_headers = request->body_len > 0 || strcmp(request->method, "PUT") == 0 ? 1 : 0;
    } else {
        request->node = atomic_load(&request->cluster->active) % request->cluster->n;
        sl_buf_put_c(&request->url, request->cluster->bases[request->node]);
        sl_buf_put_str(&request->url, sl_buf_view(&request->target));
        put_identity(hdfs, &request->url);
    }
    exchange->request.method = request->method;
    exchange->request.url = sl_buf_cstr(&request->url);
    exchange->request.body = request->body;
    exchange->request.body_len = request->body_len;
    exchange->request.max_answer = request->max_answer;
    exchange->request.auth = negotiate ? SL_HTTP_AUTH_NEGOTIATE : SL_HTTP_AUTH_NONE;
    return sl_buf_status(&request->url, err);
}

/* Turns to the next name node, unless another thread has done so. */
static void turn_away(struct sl_hdfs_request *request)
{
    unsigned seen = request->node;
    (void)atomic_compare_exchange_strong(&request->cluster->active, &seen, (request->node + 1) % request->cluster->n);
}

enum sl_verdict sl_hdfs_judge(struct sl_exchange *exchange)
{
    struct sl_hdfs_request *request = exchange->user;
    const struct sl_http_request *answer = &exchange->request;
    enum sl_verdict verdict = sl_exchange_judge(exchange);
    verdict = verdict == SL_VERDICT_RENEW ? SL_VERDICT_DONE : verdict;
    if (request->direct) {
        return request->once ? SL_VERDICT_DONE : verdict;
    }
    if (answer->status == SILT_OK && (answer->code == 403 || answer->code == 503)) {
        const enum sl_hdfs_fault fault = sl_hdfs_read_fault(request->hdfs->env, sl_buf_view(&answer->answer), NULL);
        if (fault == SL_HDFS_STANDBY) {
            turn_away(request);
            return request->cluster->n > 1 ? SL_VERDICT_RETRY : SL_VERDICT_DONE;
        }
        verdict = fault == SL_HDFS_LATER ? SL_VERDICT_RETRY : verdict;
    }
    if (answer->status == SILT_EIO) {
        turn_away(request);
    }
    return verdict;
}

static const struct sl_exchange_class exchange_class = {.prepare = sl_hdfs_prepare, .judge = sl_hdfs_judge};

silt_status sl_hdfs_run(struct sl_hdfs_request *request, const silt_call *call, silt_error *err)
{
    struct sl_hdfs *hdfs = request->hdfs;
    sl_exchange_release(&request->exchange);
    request->exchange = (struct sl_exchange){.class = &exchange_class, .user = request};
    const silt_status status = sl_exchange_run(hdfs->context->http, hdfs->env, NULL, call, &request->exchange, 1, NULL,
                                               NULL, err);
    if (status == SILT_OK && request->exchange.status != SILT_OK && err != NULL) {
        *err = request->exchange.error;
    }
    return status != SILT_OK ? status : request->exchange.status;
}

silt_status sl_hdfs_run_many(struct sl_hdfs_request *requests, size_t n, const silt_call *call,
                             struct sl_exchange *exchanges, silt_error *err)
{
    struct sl_hdfs *hdfs = requests[0].hdfs;
    for (size_t i = 0; i < n; i++) {
        exchanges[i] = (struct sl_exchange){.class = &exchange_class, .user = &requests[i]};
    }
    return sl_exchange_run(hdfs->context->http, hdfs->env, NULL, call, exchanges, n, NULL, NULL, err);
}

silt_status sl_hdfs_take_redirect(const struct sl_hdfs_request *request, const struct sl_exchange *exchange,
                                  struct sl_buf *url, silt_error *err)
{
    const struct sl_str location = sl_http_header(&exchange->request, "location");
    if (location.ptr == NULL || !sl_url_is_usable(location)) {
        return sl_fail(err, SILT_EIO, NULL, "the name node sends on to what is no URL of HTTP");
    }
    if (request->hdfs->scheme == SL_SWEBHDFS && !request->hdfs->allow_http && !sl_url_is_private(location)) {
        return sl_fail(err, SILT_EACCESS, NULL, "the name node sends on to %.*s, without TLS",
                       SL_FMT(sl_url_origin(location)));
    }
    sl_buf_clear(url);
    sl_buf_put_str(url, location);
    return sl_buf_status(url, err);
}

silt_status sl_hdfs_fail(const struct sl_hdfs *hdfs, const struct sl_exchange *exchange,
                         const struct sl_hdfs_name *name, silt_error *err)
{
    if (exchange->status != SILT_OK) {
        if (err != NULL) {
            *err = exchange->error;
        }
        return exchange->status;
    }
    const int code = exchange->request.code;
    struct sl_buf words;
    sl_buf_init(&words, hdfs->env);
    const enum sl_hdfs_fault fault = sl_hdfs_read_fault(hdfs->env, sl_buf_view(&exchange->request.answer), &words);
    /* WebHDFS has 403 for faults of any kind, and names them; a gateway before it refuses without. */
    const bool denied = fault == SL_HDFS_DENIED || code == 401 || (code == 403 && words.len == 0);
    if (hdfs->delegation != NULL && sl_str_find(sl_buf_view(&words), sl_str_from(hdfs->delegation)) != SIZE_MAX) {
        sl_buf_clear(&words); /* it repeats the token that it was sent */
    }
    const char *text = words.len > 0 ? sl_buf_cstr(&words) : "no reason given";
    silt_status status = SILT_EIO;
    if (fault == SL_HDFS_NOT_FOUND) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no /%.*s on HDFS (%d, %s)", SL_FMT(name->path), code,
                         text);
    } else if (fault == SL_HDFS_EXISTS) {
        status = sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    } else if (fault == SL_HDFS_FULL) {
        status = sl_fail(err, SILT_ENOSPACE, NULL, "HDFS has no room for /%.*s (%d, %s)", SL_FMT(name->path), code,
                         text);
    } else if (denied) {
        status = sl_fail(err, SILT_EACCESS, NULL, "HDFS refused access to /%.*s (%d, %s)", SL_FMT(name->path), code,
                         text);
        if (code == 401 && hdfs->kerberos) {
            sl_error_hint(err, "Kerberos needs a ticket of the process: klist shows it, kinit gets one");
        } else if (code == 401) {
            sl_error_hint(err, "if HDFS wants Kerberos: store option hadoop.security.authentication=kerberos");
        }
    } else {
        status = sl_fail(err, SILT_EIO, NULL, "HDFS answered %d for /%.*s (%s)", code, SL_FMT(name->path), text);
    }
    sl_buf_release(&words);
    return status;
}
