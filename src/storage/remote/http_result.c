/*
 * How a request ends: what libcurl's results mean, whether an answer is whole, and what the request is told.
 *
 * One thread at a time, that of the session.
 */
#include "storage/remote/http_int.h"

#include "base/error.h"

/* ---- texts ---- */

struct sl_str sl_http_host_of(const char *url)
{
    struct sl_str rest = sl_str_from(url);
    const size_t scheme = sl_str_find(rest, SL_STR("://"));
    rest = scheme != SIZE_MAX ? sl_str_sub(rest, scheme + 3, rest.len) : rest;
    size_t end = 0;
    size_t begin = 0;
    while (end < rest.len && strchr("/?#", rest.ptr[end]) == NULL) {
        end++;
        begin = rest.ptr[end - 1] == '@' ? end : begin;
    }
    return sl_str_sub(rest, begin, end);
}

/* Makes one line of printable US-ASCII of libcurl's text, which may quote a server. */
static const char *clean_reason(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            *at = '?';
        }
    }
    return text;
}

static silt_status say_time_out(const struct sl_http_flight *flight, struct sl_str host, silt_error *err)
{
    return sl_fail(err, SILT_EIO, NULL, "no connection to %.*s within %lld ms", SL_FMT(host),
                   (long long)(flight->http->options.connect_timeout_us / 1000));
}

static silt_status say_tls(struct sl_http_flight *flight, struct sl_str host, silt_error *err)
{
    const char *reason = clean_reason(flight->reason);
    const silt_status status = sl_fail(err, SILT_EIO, NULL, "TLS with %.*s failed: %s", SL_FMT(host), reason);
    if (strstr(reason, "wrong version number") != NULL) { /* what OpenSSL makes of an answer in plain HTTP */
        sl_error_hint(err, "the server answers without TLS; if that is meant, the endpoint has to begin with http://");
        return status;
    }
    sl_error_hint(err, "if its certificate is signed by an authority that the system does not know, name a file of "
                       "certificates in PEM: store option ca_file");
    return status;
}

/*
 * Whether a handshake that failed would fail again: the two do not speak the same protocol, or one does not like what the other is. What
 * may be of the moment (an end of the connection, a broken record, an internal error) is no such reason. In the words of OpenSSL.
 */
static bool is_hopeless(const char *reason)
{
    static const char *const signs[] = {
        "wrong version number", "unsupported protocol",    "protocol version",    "no protocols available",
        "handshake failure",    "no ciphers available",    "no shared cipher",    "insufficient security",
        "unrecognized name",    "certificate required",    "unknown ca",          "bad certificate",
        "access denied",        "unsupported certificate", "certificate unknown", "certificate expired",
        "certificate revoked",  "no application protocol", "http request",        "legacy renegotiation disabled",
    };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (strstr(reason, signs[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* What a result of libcurl means, in words that quote nothing of a URL but the host. */
static silt_status explain(struct sl_http_flight *flight, CURLcode result, silt_error *err)
{
    const struct sl_str host = sl_http_host_of(flight->request->url);
    const char *reason = flight->reason[0] != '\0' ? clean_reason(flight->reason) : curl_easy_strerror(result);
    switch (result) {
    case CURLE_OUT_OF_MEMORY: return sl_fail_nomem(err);
    case CURLE_UNSUPPORTED_PROTOCOL:
        if (strstr(reason, "HTTP/0.9") != NULL) { /* of what came, not of the URL */
            return sl_fail(err, SILT_EIO, NULL, "what host %.*s answered is no HTTP", SL_FMT(host));
        }
        /* fall through */
    case CURLE_URL_MALFORMAT:
        return sl_fail(err, SILT_EINVALID, NULL, "no URL of http or https that can be used, on host %.*s",
                       SL_FMT(host));
    case CURLE_COULDNT_RESOLVE_HOST:
        flight->request->unreached = true;
        return sl_fail(err, SILT_EIO, NULL, "cannot resolve host %.*s", SL_FMT(host));
    case CURLE_COULDNT_RESOLVE_PROXY:
        flight->request->unreached = true;
        return sl_fail(err, SILT_EIO, NULL, "cannot resolve the proxy for host %.*s", SL_FMT(host));
    case CURLE_COULDNT_CONNECT:
        flight->request->unreached = true;
        return sl_fail(err, SILT_EIO, NULL, "cannot connect to %.*s: %s", SL_FMT(host), reason);
    case CURLE_OPERATION_TIMEDOUT: flight->request->silent = true; return say_time_out(flight, host, err);
    case CURLE_SSL_CONNECT_ERROR: flight->request->final = is_hopeless(reason); return say_tls(flight, host, err);
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE: flight->request->final = true; return say_tls(flight, host, err);
    case CURLE_PARTIAL_FILE: return sl_fail(err, SILT_EIO, NULL, "%.*s cut its answer short", SL_FMT(host));
    case CURLE_GOT_NOTHING:
        return sl_fail(err, SILT_EIO, NULL, "%.*s closed the connection without an answer", SL_FMT(host));
    default: return sl_fail(err, SILT_EIO, NULL, "request to %.*s failed: %s", SL_FMT(host), reason);
    }
}

/* ---- the end ---- */

/* True of HTTP/2, where frames say where an answer ends. */
static bool is_framed(const struct sl_http_flight *flight)
{
    long version = 0;
    return curl_easy_getinfo(flight->easy, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
           version >= CURL_HTTP_VERSION_2_0;
}

/* Judges an answer that libcurl takes for a whole one. */
static silt_status check_whole(struct sl_http_flight *flight, int code, silt_error *err)
{
    const struct sl_http_request *request = flight->request;
    const struct sl_str host = sl_http_host_of(request->url);
    const bool framed = is_framed(flight);
    const bool bodiless = strcmp(request->method, "HEAD") == 0 || code == 204 || code == 304;
    if (code < 200) {
        return sl_fail(err, SILT_EIO, NULL, "%.*s gave no answer", SL_FMT(host));
    }
    if (flight->in_block) { /* libcurl takes the end of the connection for that of the head: fields may be missing */
        return sl_fail(err, SILT_EIO, NULL, "%.*s cut the head of its answer short", SL_FMT(host));
    }
    if (code / 100 == 2 && flight->body_sent < request->body_len && sl_http_has_body(request->method)) {
        return sl_fail(err, SILT_EIO, NULL, "%.*s answered %d before it had the whole request", SL_FMT(host), code);
    }
    if (bodiless) {
        return SILT_OK;
    }
    if (flight->framing == SL_HTTP_FRAMING_LENGTH && (uint64_t)flight->length != flight->body_got) {
        return sl_fail(err, SILT_EIO, NULL, "answer of %.*s has %zu bytes, and should have %lld", SL_FMT(host),
                       flight->body_got, (long long)flight->length);
    }
    if (flight->framing == SL_HTTP_FRAMING_NONE && !framed && code / 100 == 2 && strcmp(request->method, "GET") == 0) {
        return sl_fail(err, SILT_EIO, NULL, "answer of %.*s has neither a length nor an end", SL_FMT(host));
    }
    return SILT_OK;
}

/* Nothing of an answer that is not whole is left to be taken for one. */
static void fail_request(struct sl_http_request *request, silt_status status, bool unsent)
{
    request->status = status;
    request->unsent = unsent;
    request->code = 0;
    sl_buf_release(&request->headers_raw);
    sl_buf_release(&request->answer);
}

void sl_http_flight_withdraw(struct sl_http_flight *flight)
{
    flight->request = NULL;
    curl_slist_free_all(flight->headers); /* the handle is reset before it is used again */
    flight->headers = NULL;
}

/* A server that had not the whole request when the connection ended, and gave no answer either, cannot have obeyed. */
static bool is_unsent(const struct sl_http_flight *flight)
{
    return !flight->sent || (!flight->whole && !flight->answered);
}

void sl_http_flight_land(struct sl_http_flight *flight, CURLcode result)
{
    struct sl_http_request *request = flight->request;
    const int code = (int)sl_http_flight_code(flight);
    silt_status status = flight->failure;
    if (is_framed(flight)) {
        sl_http_socket_set_framed(flight->worker, flight->fd);
    }
    if (status == SILT_OK && flight->broke) {
        status = sl_fail(&request->error, SILT_EIO, NULL, "%.*s closed the connection without an answer",
                         SL_FMT(sl_http_host_of(request->url)));
    } else if (status == SILT_OK && result != CURLE_OK) {
        status = explain(flight, result, &request->error);
    } else if (status == SILT_OK) {
        status = check_whole(flight, code, &request->error);
    }
    if (status == SILT_OK) {
        request->status = SILT_OK;
        request->code = code;
        atomic_store_explicit(&flight->http->answered, true, memory_order_relaxed);
    } else {
        request->error.sys_code = code;
        fail_request(request, status, is_unsent(flight));
    }
    sl_http_flight_withdraw(flight);
}

void sl_http_flight_abort(struct sl_http_flight *flight, silt_status status, const silt_error *err)
{
    flight->request->error = *err;
    fail_request(flight->request, status, is_unsent(flight));
    sl_http_flight_withdraw(flight);
}

void sl_http_request_fail(struct sl_http_request *request, silt_status status, const silt_error *err)
{
    sl_http_request_release(request);
    request->error = *err;
    fail_request(request, status, true);
}
