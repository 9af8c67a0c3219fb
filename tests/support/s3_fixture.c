/* The S3 store before the stub server. */
#include "s3_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "json/writer.h"
#include "storage/remote/fetch.h"
#include "storage/remote/s3/s3.h"

#define MAX_OPTIONS 16
#define ASKED_SIZE ((size_t)1 << 20)

static void clear_environment(void)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_ENDPOINT_URL",
                                        "AWS_ENDPOINT_URL_S3",
                                        "AWS_PROFILE",
                                        "AWS_WEB_IDENTITY_TOKEN_FILE",
                                        "AWS_ROLE_ARN",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                                        "AWS_EC2_METADATA_SERVICE_ENDPOINT",
                                        "http_proxy"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unsetenv(names[i]);
    }
    (void)setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    (void)setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    (void)setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
}

void s3_fixture_start(struct s3_fixture *f)
{
    memset(f, 0, sizeof(*f));
    clear_environment();
    f->err = (silt_error)SILT_ERROR_INIT;
    f->asked = malloc(ASKED_SIZE);
    assert_non_null(f->asked);
    assert_true(stub_server_start(&f->stub, false));
    (void)snprintf(f->endpoint, sizeof(f->endpoint), "http://127.0.0.1:%d", f->stub.port);
    f->context.env = silt_env_default();
    assert_int_equal(sl_http_new(f->context.env, &(struct sl_http_options){0}, &f->context.http, &f->err), SILT_OK);
}

void s3_fixture_stop(struct s3_fixture *f)
{
    silt_storage_unref(f->storage);
    sl_http_free(f->context.http);
    sl_options_free(f->options);
    stub_server_stop(&f->stub);
    free(f->asked);
}

static bool is_given(const char *const *pairs, const char *name)
{
    for (; pairs != NULL && *pairs != NULL; pairs += 2) {
        if (strcmp(*pairs, name) == 0) {
            return true;
        }
    }
    return false;
}

void s3_fixture_options(struct s3_fixture *f, const char *const *pairs)
{
    static const char *const usual[][2] = {{"aws_access_key_id", "AKTEST"},
                                           {"aws_secret_access_key", S3_FIXTURE_SECRET},
                                           {"aws_conditional_put", "trust"},
                                           {"aws_endpoint_url_s3", "STUB"}};
    silt_store_option options[MAX_OPTIONS];
    char texts[MAX_OPTIONS][256];
    size_t n = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (!is_given(pairs, usual[i][0])) {
            options[n++] = (silt_store_option){usual[i][0], usual[i][1]};
        }
    }
    for (; pairs != NULL && *pairs != NULL; pairs += 2) {
        assert_true(n < MAX_OPTIONS);
        options[n++] = (silt_store_option){pairs[0], pairs[1]};
    }
    for (size_t i = 0; i < n; i++) {
        if (strncmp(options[i].value, "STUB", 4) == 0) {
            (void)snprintf(texts[i], sizeof(texts[i]), "%s%s", f->endpoint, options[i].value + 4);
            options[i].value = texts[i];
        }
    }
    sl_options_free(f->options);
    f->options = NULL;
    assert_int_equal(sl_options_new(f->context.env, options, n, &f->options, &f->err), SILT_OK);
    f->context.options = f->options;
}

void s3_fixture_open(struct s3_fixture *f, const char *const *pairs)
{
    const silt_storage_vtable *vtable = NULL;
    void *impl = NULL;
    silt_storage_unref(f->storage);
    s3_fixture_options(f, pairs);
    assert_int_equal(sl_s3_open(&f->context, &vtable, &impl, &f->err), SILT_OK);
    assert_int_equal(silt_storage_new(f->context.env, vtable, impl, &f->storage, &f->err), SILT_OK);
}

void s3_fixture_script(struct s3_fixture *f, const char *method, const char *prefix, const char *const *steps)
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
    const struct sl_fetch_options options = {0};
    assert_int_equal(sl_fetch(&f->context, NULL, &request, &options, &exchange, &f->err), SILT_OK);
    assert_int_equal(exchange.request.code, 200);
    sl_exchange_release(&exchange);
    sl_buf_release(&body);
}

const char *s3_fixture_log(struct s3_fixture *f)
{
    assert_true(stub_server_ask(&f->stub, "/_log", f->asked, ASKED_SIZE));
    return f->asked;
}

long s3_fixture_count(struct s3_fixture *f, const char *target)
{
    return stub_server_count(&f->stub, target);
}
