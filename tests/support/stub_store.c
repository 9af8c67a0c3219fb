/* Remote stores before the stub server, see stub_store.h. */
#include "stub_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "json/json.h"
#include "json/writer.h"
#include "storage/remote/errand.h"

#define MAX_OPTIONS 16
#define ASKED_SIZE ((size_t)1 << 20)
#define STEP_SIZE ((size_t)4096)
#define N_STEPS 16

static void start(struct stub_store *f, bool tls)
{
    memset(f, 0, sizeof(*f));
    (void)unsetenv("http_proxy");
    f->err = (silt_error)SILT_ERROR_INIT;
    f->asked = malloc(ASKED_SIZE);
    assert_non_null(f->asked);
    assert_true(stub_server_start(&f->stub, tls));
    (void)snprintf(f->endpoint, sizeof(f->endpoint), "http%s://127.0.0.1:%d", tls ? "s" : "",
                   tls ? f->stub.tls_port : f->stub.port);
    const struct sl_http_options options = {.ca_file = tls ? f->stub.ca_file : NULL};
    f->context.env = silt_env_default();
    assert_int_equal(sl_http_new(f->context.env, &options, &f->context.http, &f->err), SILT_OK);
}

void stub_store_start(struct stub_store *f)
{
    start(f, false);
}

void stub_store_start_tls(struct stub_store *f)
{
    start(f, true);
}

void stub_store_stop(struct stub_store *f)
{
    silt_storage_unref(f->storage);
    sl_http_free(f->context.http);
    sl_options_free(f->options);
    stub_server_stop(&f->stub);
    free(f->asked);
}

int stub_store_teardown(void **state)
{
    stub_store_stop(*state);
    free(*state);
    return 0;
}

/* Copies text with the stub's place in it; commas and percent signs escaped if that is wanted. */
static void fill_in(const struct stub_store *f, const char *text, bool escape, char *out, size_t out_size)
{
    size_t len = 0;
    for (const char *at = text; *at != '\0';) {
        const char *part = NULL;
        char one[2] = {*at, '\0'};
        size_t skip = 1;
        if (strncmp(at, "STUB", 4) == 0 || strncmp(at, "HOST", 4) == 0) {
            part = *at == 'S' ? f->endpoint : f->endpoint + strlen("http://");
            skip = 4;
        } else if (escape && (*at == ',' || *at == '%')) {
            part = *at == ',' ? "%2C" : "%25";
        } else {
            part = one;
        }
        assert_true(len + strlen(part) + 1 < out_size);
        len += (size_t)snprintf(out + len, out_size - len, "%s", part);
        at += skip;
    }
    out[len] = '\0';
}

void stub_store_options(struct stub_store *f, const char *const *pairs)
{
    silt_store_option options[MAX_OPTIONS];
    static char values[MAX_OPTIONS][8192];
    size_t n = 0;
    for (; *pairs != NULL; pairs += 2) {
        assert_true(n < MAX_OPTIONS);
        fill_in(f, pairs[1], false, values[n], sizeof(values[n]));
        options[n] = (silt_store_option){pairs[0], values[n]};
        n++;
    }
    sl_options_free(f->options);
    f->options = NULL;
    assert_int_equal(sl_options_new(f->context.env, options, n, &f->options, &f->err), SILT_OK);
    f->context.options = f->options;
}

void stub_store_open(struct stub_store *f, sl_remote_opener opener, const char *const *pairs)
{
    const silt_storage_vtable *vtable = NULL;
    void *impl = NULL;
    silt_storage_unref(f->storage);
    f->storage = NULL;
    stub_store_options(f, pairs);
    assert_int_equal(opener(&f->context, &vtable, &impl, &f->err), SILT_OK);
    assert_int_equal(silt_storage_new(f->context.env, vtable, impl, &f->storage, &f->err), SILT_OK);
}

const char *stub_store_step(const struct stub_store *f, int code, const char *body, const char *more)
{
    static char steps[N_STEPS][STEP_SIZE];
    static unsigned next;
    char *step = steps[next++ % N_STEPS];
    int len = snprintf(step, STEP_SIZE, "code=%d", code);
    if (more[0] != '\0') {
        step[len++] = ',';
        fill_in(f, more, false, step + len, STEP_SIZE - (size_t)len);
        len += (int)strlen(step + len);
    }
    len += snprintf(step + len, STEP_SIZE - (size_t)len, ",body=");
    fill_in(f, body, true, step + len, STEP_SIZE - (size_t)len);
    return step;
}

void stub_store_script(struct stub_store *f, const char *method, const char *prefix, const char *const *steps)
{
    char url[128];
    struct sl_buf body;
    struct sl_json_writer writer;
    struct sl_exchange exchange = {0};
    sl_buf_init(&body, f->context.env);
    sl_json_writer_init(&writer, &body);
    sl_json_begin_object(&writer);
    sl_json_key_c(&writer, "prefix");
    sl_json_put_c(&writer, prefix);
    sl_json_key_c(&writer, "method");
    sl_json_put_c(&writer, method);
    sl_json_key_c(&writer, "steps");
    sl_json_begin_array(&writer);
    for (; *steps != NULL; steps++) {
        sl_json_put_c(&writer, *steps);
    }
    sl_json_end_array(&writer);
    sl_json_end_object(&writer);
    (void)snprintf(url, sizeof(url), "%s/_script", f->endpoint);
    const struct sl_http_request request = {
        .method = "POST", .url = url, .body = sl_buf_cstr(&body), .body_len = body.len};
    const struct sl_errand_options options = {0};
    assert_int_equal(sl_errand(&f->context, NULL, &request, &options, &exchange, &f->err), SILT_OK);
    assert_int_equal(exchange.request.code, 200);
    sl_exchange_release(&exchange);
    sl_buf_release(&body);
}

const char *stub_store_log(struct stub_store *f)
{
    assert_true(stub_server_ask(&f->stub, "/_log", f->asked, ASKED_SIZE));
    return f->asked;
}

long stub_store_count(struct stub_store *f, const char *method, const char *prefix)
{
    struct sl_json_doc *doc = NULL;
    struct sl_str key;
    const sl_json *entry = NULL;
    long n = 0;
    assert_int_equal(sl_json_parse(f->context.env, sl_str_from(stub_store_log(f)), &doc, &f->err), SILT_OK);
    struct sl_json_iter iter = sl_json_iterate(sl_json_root(doc));
    while (sl_json_next(&iter, &key, &entry)) {
        n += sl_str_eq_c(sl_json_member_text(entry, "method"), method) &&
             sl_str_starts_with(sl_json_member_text(entry, "target"), sl_str_from(prefix));
    }
    sl_json_free(doc);
    return n;
}
