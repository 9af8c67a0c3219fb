/*
 * One request under way: what libcurl is told about it, and what its callbacks give and take. How it ends is in http_result.c.
 *
 * One thread at a time, that of the session.
 */
#include "storage/remote/http_int.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/http_fields.h"

/* ---- callbacks ---- */

static int64_t now_of(const struct sl_http_flight *flight)
{
    return sl_monotonic_us(flight->http->env);
}

static bool may_go_out_twice(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

bool sl_http_has_body(const char *method)
{
    return !may_go_out_twice(method) && strcmp(method, "DELETE") != 0;
}

/*
 * Called when there is a connection, and before the first byte of the request goes out. The second call without an answer in between
 * means that a connection, kept open from an earlier request, broke after the request had gone out on it: the server may have obeyed
 * it, and libcurl is about to send it once more.
 */
static int take_off(void *user, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    struct sl_http_flight *flight = user;
    const struct sl_http_ends ends = {.remote_ip = remote_ip, .remote_port = remote_port, .local_port = local_port};
    (void)local_ip;
    if (!sl_http_socket_use(flight->worker, &ends, &flight->fd) && !flight->sent) {
        flight->stale = true;
        return CURL_PREREQFUNC_ABORT;
    }
    if (flight->sent && !flight->answered && !may_go_out_twice(flight->request->method)) {
        flight->broke = true;
        return CURL_PREREQFUNC_ABORT;
    }
    flight->sent = true;
    flight->answered = false;
    flight->last_us = now_of(flight);
    return CURL_PREREQFUNC_OK;
}

static size_t give_body(char *out, size_t size, size_t n, void *user)
{
    struct sl_http_flight *flight = user;
    const size_t left = flight->request->body_len - flight->body_sent;
    const size_t part = size * n < left ? size * n : left;
    if (part > 0) {
        memcpy(out, (const char *)flight->request->body + flight->body_sent, part);
    }
    flight->body_sent += part;
    flight->whole = flight->whole || flight->body_sent == flight->request->body_len;
    flight->last_us = now_of(flight);
    return part;
}

static int rewind_body(void *user, curl_off_t offset, int origin)
{
    struct sl_http_flight *flight = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > flight->request->body_len) {
        return CURL_SEEKFUNC_FAIL;
    }
    flight->body_sent = (size_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* An answer that is longer than any that was asked for is the server's fault, and the next would be no shorter. */
static silt_status refuse_length(struct sl_http_flight *flight, const char *what, size_t max)
{
    flight->request->final = true;
    return sl_fail(&flight->request->error, SILT_EIO, NULL, "%s of %.*s is longer than %zu bytes", what,
                   SL_FMT(sl_http_host_of(flight->request->url)), max);
}

/* Ends the request from a callback: no byte is taken. */
static size_t refuse(struct sl_http_flight *flight, silt_status status)
{
    flight->failure = status;
    return 0;
}

static silt_error *error_of(struct sl_http_flight *flight)
{
    return &flight->request->error;
}

static size_t take_header(char *line, size_t size, size_t n, void *user)
{
    struct sl_http_flight *flight = user;
    struct sl_buf *block = &flight->request->headers_raw;
    const struct sl_str text = sl_str_make(line, size * n);
    flight->answered = true;
    flight->last_us = now_of(flight);
    flight->headers_got += text.len;
    if (!flight->in_block) {
        /* A status line, or else a trailer, which nobody looks at. */
        if (sl_str_starts_with(text, SL_STR("HTTP/"))) {
            flight->in_block = true;
            sl_buf_clear(block);
        }
    } else if (sl_str_eq_c(text, "\r\n") || sl_str_eq_c(text, "\n")) {
        flight->in_block = false;
        flight->framing = sl_http_framing_of(sl_buf_view(block), &flight->length);
    } else {
        sl_buf_put_str(block, text);
    }
    if (sl_buf_status(block, NULL) == SILT_ENOMEM) {
        return refuse(flight, sl_fail_nomem(error_of(flight)));
    }
    if (sl_buf_status(block, NULL) != SILT_OK || flight->headers_got > SL_HTTP_MAX_HEADERS_IN_ALL) {
        return refuse(flight, refuse_length(flight, "header of an answer", SL_HTTP_MAX_HEADERS));
    }
    if (flight->framing == SL_HTTP_FRAMING_BROKEN) { /* libcurl would wait for as many bytes as one of them says */
        return refuse(flight, sl_fail(error_of(flight), SILT_EIO, NULL,
                                      "answer of %.*s has several lengths, or none that is a number",
                                      SL_FMT(sl_http_host_of(flight->request->url))));
    }
    return text.len;
}

long sl_http_flight_code(const struct sl_http_flight *flight)
{
    long code = 0;
    return curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK ? code : 0;
}

/* Makes room for the whole body as soon as its length is known, so that it need not be moved as it grows. */
static void reserve_answer(struct sl_http_flight *flight)
{
    struct sl_buf *answer = &flight->request->answer;
    if (flight->framing == SL_HTTP_FRAMING_LENGTH && flight->length > 0 && (uint64_t)flight->length <= answer->max) {
        (void)sl_buf_reserve(answer, (size_t)flight->length); /* a failure is sticky */
    }
}

static size_t take_body(char *bytes, size_t size, size_t n, void *user)
{
    struct sl_http_flight *flight = user;
    struct sl_http_request *request = flight->request;
    const size_t len = size * n;
    const bool first = flight->body_got == 0;
    flight->last_us = now_of(flight);
    if (len > request->answer.max - flight->body_got) {
        return refuse(flight, refuse_length(flight, "answer", request->answer.max));
    }
    flight->body_got += len;
    if (request->sink != NULL && sl_http_flight_code(flight) / 100 == 2) {
        request->code = (int)sl_http_flight_code(flight);
        const silt_status status = request->sink(request->user, bytes, len, error_of(flight));
        return status == SILT_OK ? len : refuse(flight, status);
    }
    if (first) {
        reserve_answer(flight);
    }
    sl_buf_put(&request->answer, bytes, len);
    const silt_status status = sl_buf_status(&request->answer, error_of(flight));
    return status == SILT_OK ? len : refuse(flight, status);
}

/* ---- set-up ---- */

/* Bytes that HTTP/2 sends before the server has said anything. */
#define FIRST_WINDOW 65535

struct number_option {
    CURLoption option;
    long value;
};

/* The same for every request. */
static const struct number_option NUMBERS[] = {
    {CURLOPT_NOSIGNAL, 1},
    {CURLOPT_FOLLOWLOCATION, 0},
    {CURLOPT_NETRC, CURL_NETRC_IGNORED},
    {CURLOPT_PATH_AS_IS, 1},
    {CURLOPT_DISALLOW_USERNAME_IN_URL, 1},
    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS},
    {CURLOPT_TCP_KEEPALIVE, 1},
    {CURLOPT_TCP_NODELAY, 1},
    {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
    {CURLOPT_SSL_VERIFYPEER, 1},
    {CURLOPT_SSL_VERIFYHOST, 2},
    {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
};

static bool set_number(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_pointer(CURL *easy, CURLoption option, const void *value)
{
    return curl_easy_setopt(easy, option, value) == CURLE_OK;
}

static bool set_fixed(struct sl_http_flight *flight)
{
    CURL *easy = flight->easy;
    const struct sl_http *http = flight->http;
    const int64_t connect_ms = (http->options.connect_timeout_us + 999) / 1000;
    bool ok = true;
    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        ok = ok && set_number(easy, NUMBERS[i].option, NUMBERS[i].value);
    }
    /*
     * Only for speed; refused where a handle still has its buffer, as after a host that could not be resolved. Between two pieces of a body
     * libcurl looks for an answer. TLS sends records of 16 KiB anyway, and a server that refuses early and closes would be overrun between
     * those of one piece: the failure to send would come before its answer.
     */
    const bool tls = sl_str_starts_with(sl_str_from(flight->request->url), SL_STR("https://"));
    (void)set_number(easy, CURLOPT_BUFFERSIZE, 128L << 10);
    (void)set_number(easy, CURLOPT_UPLOAD_BUFFERSIZE, tls ? 16L << 10 : 128L << 10);
    ok = ok && set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    ok = ok && set_pointer(easy, CURLOPT_USERAGENT, "silt/" SILT_VERSION_STRING);
    ok = ok && set_number(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms < LONG_MAX ? (long)connect_ms : LONG_MAX);
    ok = ok && set_pointer(easy, CURLOPT_SHARE, http->share);
    if (http->ca_file != NULL) { /* and nothing beside it */
        ok = ok && set_pointer(easy, CURLOPT_CAINFO, http->ca_file) && set_pointer(easy, CURLOPT_CAPATH, NULL);
    }
    if (http->resolve != NULL) {
        ok = ok && set_pointer(easy, CURLOPT_RESOLVE, http->resolve);
    }
    ok = ok && curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, take_off) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind_body) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, sl_http_socket_open) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, sl_http_socket_close) == CURLE_OK;
    ok = ok && set_pointer(easy, CURLOPT_PREREQDATA, flight) && set_pointer(easy, CURLOPT_HEADERDATA, flight) &&
         set_pointer(easy, CURLOPT_WRITEDATA, flight) && set_pointer(easy, CURLOPT_READDATA, flight) &&
         set_pointer(easy, CURLOPT_SEEKDATA, flight) && set_pointer(easy, CURLOPT_OPENSOCKETDATA, flight) &&
         set_pointer(easy, CURLOPT_CLOSESOCKETDATA, flight->worker) &&
         set_pointer(easy, CURLOPT_ERRORBUFFER, flight->reason);
    return ok;
}

static bool set_method(struct sl_http_flight *flight)
{
    CURL *easy = flight->easy;
    const struct sl_http_request *request = flight->request;
    const char *method = request->method;
    if (strcmp(method, "GET") == 0) {
        return set_number(easy, CURLOPT_HTTPGET, 1);
    }
    if (strcmp(method, "HEAD") == 0) {
        return set_number(easy, CURLOPT_NOBODY, 1);
    }
    bool ok = set_pointer(easy, CURLOPT_CUSTOMREQUEST, method);
    if (sl_http_has_body(method)) {
        ok = ok && set_number(easy, CURLOPT_UPLOAD, 1) &&
             curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_len) == CURLE_OK;
    }
    /* A server may refuse a body before it has it all; on a stream of HTTP/2, libcurl then loses the answer. */
    if (request->body_len > FIRST_WINDOW) {
        ok = ok && set_number(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    }
    return ok;
}

/* A byte that would end a line makes another header of what should be a value. */
static bool is_one_line(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' && *text != '\t') {
            return false;
        }
    }
    return true;
}

static silt_status add_header(struct sl_http_flight *flight, const char *line, silt_error *err)
{
    struct curl_slist *list = curl_slist_append(flight->headers, line);
    if (list == NULL) {
        return sl_fail_nomem(err);
    }
    flight->headers = list;
    return SILT_OK;
}

static silt_status set_headers(struct sl_http_flight *flight, silt_error *err)
{
    const struct sl_http_request *request = flight->request;
    struct sl_buf line;
    sl_buf_init(&line, flight->http->env);
    silt_status status = add_header(flight, "Expect:", err);
    for (size_t i = 0; status == SILT_OK && i < request->n_headers; i++) {
        const struct sl_http_header *header = &request->headers[i];
        if (!is_one_line(header->name) || !is_one_line(header->value) || strpbrk(header->name, ":; ") != NULL) {
            status = sl_fail(err, SILT_EINVALID, NULL, "header %zu of a request does not fit into a line", i);
            break;
        }
        sl_buf_clear(&line);
        sl_buf_put_c(&line, header->name);
        sl_buf_put_c(&line, header->value[0] != '\0' ? ": " : ";"); /* libcurl's spelling of an empty value */
        sl_buf_put_c(&line, header->value);
        status = sl_buf_status(&line, err);
        if (status == SILT_OK) {
            status = add_header(flight, sl_buf_cstr(&line), err);
        }
    }
    sl_buf_release(&line);
    if (status == SILT_OK && !set_pointer(flight->easy, CURLOPT_HTTPHEADER, flight->headers)) {
        status = sl_fail_nomem(err);
    }
    return status;
}

static silt_status set_auth(struct sl_http_flight *flight, silt_error *err)
{
    if (flight->request->auth == SL_HTTP_AUTH_NONE) {
        return SILT_OK;
    }
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SPNEGO) == 0) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "Kerberos is asked for, and this libcurl is built without SPNEGO");
    }
    const bool ok = set_number(flight->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_NEGOTIATE) &&
                    set_pointer(flight->easy, CURLOPT_USERPWD, ":");
    return ok ? SILT_OK : sl_fail_nomem(err);
}

static silt_status check_url(const char *url, silt_error *err)
{
    const struct sl_str text = sl_str_from(url);
    const bool http = sl_str_starts_with(text, SL_STR("http://")) || sl_str_starts_with(text, SL_STR("https://"));
    const struct sl_str host = sl_http_host_of(url);
    if (!http || host.len == 0 || !is_one_line(url)) {
        return sl_fail(err, SILT_EINVALID, NULL, "no URL of http or https, on host \"%.*s\"", SL_FMT(host));
    }
    if (host.ptr[-1] == '@') {
        return sl_fail(err, SILT_EINVALID, NULL, "the URL on host %.*s must not name a user", SL_FMT(host));
    }
    return SILT_OK;
}

silt_status sl_http_flight_prepare(struct sl_http_flight *flight, struct sl_http_request *request, bool fresh,
                                   silt_error *err)
{
    const silt_env *env = flight->http->env;
    sl_http_request_release(request);
    sl_buf_init(&request->headers_raw, env);
    request->headers_raw.max = SL_HTTP_MAX_HEADERS;
    sl_buf_init(&request->answer, env);
    request->answer.max = request->max_answer != 0 ? request->max_answer : SL_HTTP_DEFAULT_MAX_ANSWER;
    flight->request = request;
    flight->body_sent = 0;
    flight->whole = !sl_http_has_body(request->method) || request->body_len == 0;
    flight->body_got = 0;
    flight->headers_got = 0;
    flight->last_us = 0;
    flight->sent = false;
    flight->answered = false;
    flight->broke = false;
    flight->stale = false;
    flight->fd = -1;
    flight->in_block = false;
    flight->framing = SL_HTTP_FRAMING_NONE;
    flight->length = -1;
    flight->failure = SILT_OK;
    flight->reason[0] = '\0';
    SL_TRY(check_url(request->url, err));
    curl_easy_reset(flight->easy);
    if (!set_fixed(flight) || !set_method(flight) || !set_pointer(flight->easy, CURLOPT_URL, request->url) ||
        !set_number(flight->easy, CURLOPT_FRESH_CONNECT, fresh ? 1 : 0)) {
        return sl_fail_nomem(err);
    }
    SL_TRY(set_auth(flight, err));
    return set_headers(flight, err);
}

bool sl_http_flight_is_stuck(struct sl_http_flight *flight, int64_t now_us)
{
    const int64_t limit_us = flight->http->options.idle_timeout_us;
    if (!flight->sent || now_us - flight->last_us <= limit_us) {
        return false;
    }
    flight->request->silent = true;
    flight->failure = sl_fail(&flight->request->error, SILT_EIO, NULL, "nothing came from %.*s for %lld ms",
                              SL_FMT(sl_http_host_of(flight->request->url)), (long long)(limit_us / 1000));
    return true;
}

struct sl_http_flight *sl_http_flight_new(struct sl_http *http, struct sl_http_worker *worker)
{
    struct sl_http_flight *flight = sl_alloc_zero(http->env, sizeof(*flight));
    if (flight == NULL) {
        return NULL;
    }
    flight->http = http;
    flight->worker = worker;
    flight->easy = curl_easy_init();
    if (flight->easy == NULL) {
        sl_release(http->env, flight, sizeof(*flight));
        return NULL;
    }
    return flight;
}

void sl_http_flight_free(struct sl_http_flight *flight)
{
    if (flight != NULL) {
        curl_easy_cleanup(flight->easy);
        curl_slist_free_all(flight->headers);
        sl_release(flight->http->env, flight, sizeof(*flight));
    }
}
