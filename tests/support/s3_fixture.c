/* The S3 store before the stub server. */
#include "s3_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/s3/s3.h"

#define MAX_WORDS 40 /* of options, and the NULL behind them */

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

void s3_fixture_start(struct stub_store *f)
{
    clear_environment();
    stub_store_start(f);
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

/* The pairs behind the usual ones that they do not replace. */
static void complete(const char *const *pairs, const char **out)
{
    static const char *const usual[][2] = {{"aws_access_key_id", "AKTEST"},
                                           {"aws_secret_access_key", S3_FIXTURE_SECRET},
                                           {"aws_conditional_put", "trust"},
                                           {"aws_endpoint_url_s3", "STUB"}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        if (!is_given(pairs, usual[i][0])) {
            out[n++] = usual[i][0];
            out[n++] = usual[i][1];
        }
    }
    for (; pairs != NULL && *pairs != NULL; pairs++) {
        assert_true(n + 1 < MAX_WORDS);
        out[n++] = *pairs;
    }
    out[n] = NULL;
}

void s3_fixture_options(struct stub_store *f, const char *const *pairs)
{
    const char *all[MAX_WORDS];
    complete(pairs, all);
    stub_store_options(f, all);
}

void s3_fixture_open(struct stub_store *f, const char *const *pairs)
{
    const char *all[MAX_WORDS];
    complete(pairs, all);
    stub_store_open(f, sl_s3_open, all);
}
