/* The common steps of an examination. Any thread. */
#include "storage/remote/examine.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/http_int.h"
#include "storage/remote/url.h"

#define MAX_SKEW_US INT64_C(300000000) /* stores take some minutes; a machine that is off by five is off */
#define MAX_ADDRESSES 8
#define MAX_ANSWER ((size_t)1 << 20)

/* ---- options ---- */

struct option_walk {
    const struct sl_remote_context *context;
    const char *prefix;
    size_t n;
};

static void tell_option(void *ctx, const struct sl_option_source *source)
{
    struct option_walk *walk = ctx;
    const char *where = source->is_variable ? "from the environment" : "given";
    struct sl_buf value;
    if (!sl_option_is_of(source->option, walk->prefix)) {
        return;
    }
    walk->n++;
    if (source->is_secret) {
        sl_trace_note(walk->context, SILT_DOCTOR_OK, "options", source->name, "%s, a secret", where);
        return;
    }
    if (source->option == SL_OPTION_UNUSED) {
        sl_trace_note(walk->context, SILT_DOCTOR_NOTE, "options", source->name, "%s, and means nothing to silt", where);
        return;
    }
    sl_buf_init(&value, walk->context->env);
    sl_trace_put_value(&value, source->value);
    /* A variable of one store's clients that counts for all stores says so. */
    const bool of_all = sl_option_is_of(source->option, "");
    const bool foreign = (!source->is_variable || of_all) && strcmp(source->name, sl_option_name(source->option)) != 0;
    sl_trace_note(walk->context, SILT_DOCTOR_OK, "options", source->name, "%s: %s%s%s%s", where, sl_buf_cstr(&value),
                  foreign ? ", taken as " : "", foreign ? sl_option_name(source->option) : "",
                  foreign && source->is_variable ? ", for every store" : "");
    sl_buf_release(&value);
}

void sl_examine_options(const struct sl_remote_context *context, const char *prefix)
{
    struct option_walk walk = {context, prefix, 0};
    sl_options_each(context->options, tell_option, &walk);
    if (walk.n == 0) {
        sl_trace_note(context, SILT_DOCTOR_OK, "options", "", "none given, none in the environment");
    }
}

/* ---- proxies ---- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* Is the host one of those that are asked without a proxy? Names count with all below them. */
static bool is_exempt(const char *list, struct sl_str host)
{
    while (list != NULL && *list != '\0') {
        const size_t n = strcspn(list, ", ");
        struct sl_str entry = sl_str_make(list, n);
        list += n + (list[n] != '\0' ? 1 : 0);
        entry = sl_str_starts_with(entry, SL_STR(".")) ? sl_str_sub(entry, 1, entry.len) : entry;
        if (entry.len == 0 || entry.len > host.len) {
            continue;
        }
        const struct sl_str tail = sl_str_sub(host, host.len - entry.len, host.len);
        const bool whole = entry.len == host.len || host.ptr[host.len - entry.len - 1] == '.';
        if (sl_str_eq_c(entry, "*") || (whole && sl_str_eq_nocase(tail, entry))) {
            return true;
        }
    }
    return false;
}

/* The proxy that requests to the host go through, by curl's rules; NULL for none. */
static const char *find_proxy(struct sl_str scheme, struct sl_str host, const char **name)
{
    static const char *const tls[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
    const bool is_tls = sl_str_eq_c(scheme, "https");
    const char *const *names = is_tls ? tls : plain;
    const size_t n = is_tls ? sizeof(tls) / sizeof(tls[0]) : sizeof(plain) / sizeof(plain[0]);
    const char *exempt = variable("no_proxy") != NULL ? variable("no_proxy") : variable("NO_PROXY");
    if (is_exempt(exempt, host)) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (variable(names[i]) != NULL) {
            *name = names[i];
            return variable(names[i]);
        }
    }
    return NULL;
}

static void tell_proxy(const struct sl_remote_context *context, const char *name, const char *proxy)
{
    struct sl_buf shown;
    if (proxy == NULL) {
        sl_trace_note(context, SILT_DOCTOR_OK, "proxy", "", "none is used");
        return;
    }
    sl_buf_init(&shown, context->env);
    sl_trace_put_value(&shown, proxy);
    sl_trace_note(context, SILT_DOCTOR_NOTE, "proxy", name, "requests go through %s", sl_buf_cstr(&shown));
    sl_buf_release(&shown);
}

/* ---- addresses ---- */

static struct sl_str without_port(struct sl_str host)
{
    const size_t bracket = sl_str_find(host, SL_STR("]"));
    if (host.len > 0 && host.ptr[0] == '[' && bracket != SIZE_MAX) {
        return sl_str_sub(host, 1, bracket);
    }
    const size_t colon = sl_str_find(host, SL_STR(":"));
    return sl_str_sub(host, 0, colon == SIZE_MAX ? host.len : colon);
}

static void put_addresses(struct sl_buf *out, const struct addrinfo *found)
{
    int n = 0;
    for (const struct addrinfo *at = found; at != NULL && n < MAX_ADDRESSES; at = at->ai_next, n++) {
        char text[NI_MAXHOST];
        if (getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0) {
            sl_buf_printf(out, "%s%s", n > 0 ? ", " : "", text);
        }
    }
}

static void tell_addresses(const struct sl_remote_context *context, const char *host)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct sl_buf text;
    const int result = getaddrinfo(host, NULL, &wanted, &found);
    if (result != 0) {
        sl_trace_note(context, SILT_DOCTOR_NOTE, "dns", host, "not resolved: %s", gai_strerror(result));
        return;
    }
    sl_buf_init(&text, context->env);
    put_addresses(&text, found);
    sl_trace_note(context, SILT_DOCTOR_OK, "dns", host, "%s", sl_buf_cstr(&text));
    sl_buf_release(&text);
    freeaddrinfo(found);
}

/* ---- the answer ---- */

static void tell_clock(const struct sl_remote_context *context, const struct sl_http_request *answer)
{
    int64_t seconds = 0;
    if (!sl_http_date_parse(sl_http_header(answer, "date"), &seconds)) {
        sl_trace_note(context, SILT_DOCTOR_SKIPPED, "clock", "", "the server does not tell the time");
        return;
    }
    const int64_t ahead_us = sl_now_us(context->env) - seconds * 1000000;
    const int64_t off_s = (ahead_us > 0 ? ahead_us : -ahead_us) / 1000000;
    if (ahead_us > -MAX_SKEW_US && ahead_us < MAX_SKEW_US) {
        sl_trace_note(context, SILT_DOCTOR_OK, "clock", "", "%lld s from the server's", (long long)off_s);
        return;
    }
    silt_error err = SILT_ERROR_INIT;
    (void)sl_fail(&err, SILT_EIO, NULL, "this machine's clock is %lld min %s the server's", (long long)(off_s / 60),
                  ahead_us > 0 ? "ahead of" : "behind");
    sl_error_hint(&err, "set the clock: signed requests are refused when they are off by 5 to 15 minutes");
    sl_trace_failure(context, "clock", "", &err);
}

static silt_status ask(const struct sl_remote_context *context, const silt_call *call, const char *origin,
                       silt_error *err)
{
    struct sl_http_request request = {.method = "GET", .url = origin, .max_answer = MAX_ANSWER};
    const struct sl_str host = sl_http_host_of(origin);
    silt_status status = sl_http_perform(context->http, call, &request, 1, NULL, NULL, err);
    if (status == SILT_OK && request.status != SILT_OK) {
        status = request.status;
        if (err != NULL) {
            *err = request.error;
        }
    }
    struct sl_arena arena;
    sl_arena_init(&arena, context->env);
    const char *copy = sl_arena_strdup(&arena, host);
    const char *subject = copy != NULL ? copy : "";
    if (status == SILT_OK) {
        const bool tls = sl_str_starts_with(sl_str_from(origin), SL_STR("https://"));
        sl_trace_note(context, SILT_DOCTOR_OK, "reach", subject, "answers (HTTP %d to a request without credentials)%s",
                      request.code, tls ? ", its certificate is good" : ", without TLS");
        tell_clock(context, &request);
    } else if (err != NULL) {
        sl_trace_failure(context, "reach", subject, err);
    }
    sl_arena_release(&arena);
    sl_http_request_release(&request);
    return status;
}

silt_status sl_examine_reach(const struct sl_remote_context *context, const silt_call *call, const char *url,
                             silt_error *err)
{
    struct sl_arena arena;
    const char *name = "";
    sl_arena_init(&arena, context->env);
    const struct sl_str text = sl_str_from(url);
    const struct sl_str scheme = sl_str_sub(text, 0, sl_str_find(text, SL_STR("://")));
    const struct sl_str host = without_port(sl_http_host_of(url));
    const char *origin = sl_arena_printf(&arena, "%.*s/", SL_FMT(sl_url_origin(text)));
    const char *host_text = sl_arena_strdup(&arena, host);
    silt_status status = origin == NULL || host_text == NULL ? sl_fail_nomem(err) : SILT_OK;
    if (status == SILT_OK) {
        const char *proxy = find_proxy(scheme, host, &name);
        tell_proxy(context, name, proxy);
        if (proxy == NULL && sl_option_get(context->options, SL_OPTION_RESOLVE, NULL) == NULL) {
            tell_addresses(context, host_text);
        }
        status = ask(context, call, origin, err);
    }
    sl_arena_release(&arena);
    return status;
}
