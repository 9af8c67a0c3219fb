/* See azure_fixture.h. */
#include "azure_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

int azure_group_set_up(void **state)
{
    static struct stub_server stub;
    *state = &stub;
    return stub_server_start_script(&stub, "fake_azure.py") ? 0 : -1;
}

int azure_group_tear_down(void **state)
{
    stub_server_stop(*state);
    return 0;
}

void azure_set(const struct stub_server *stub, const char *settings)
{
    char target[512];
    char answer[16];
    (void)snprintf(target, sizeof(target), "/_set?%s", settings);
    assert_true(stub_server_ask(stub, target, answer, sizeof(answer)));
}

int azure_set_up(void **state)
{
    azure_set(*state, "reset=1");
    return 0;
}

static size_t count_lines(const struct stub_server *stub, const char *target, const char *text)
{
    static char answer[1 << 20];
    size_t n = 0;
    assert_true(stub_server_ask(stub, target, answer, sizeof(answer)));
    for (char *line = answer; line != NULL && *line != '\0';) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        n += strstr(line, text) != NULL;
        line = end;
    }
    return n;
}

size_t azure_count(const struct stub_server *stub, const char *text)
{
    return count_lines(stub, "/_log", text);
}

size_t azure_count_names(const struct stub_server *stub, const char *text)
{
    return count_lines(stub, "/_names", text);
}

silt_call azure_call_within(int64_t ms)
{
    const silt_env *env = silt_env_default();
    return (silt_call){.size = sizeof(silt_call),
                       .abi_version = SILT_ABI_VERSION,
                       .deadline_us = env->monotonic_us(env->ctx) + ms * 1000};
}

void azure_expect_no_secret(const silt_error *err)
{
    static const char *const secrets[] = {AZURE_KEY, AZURE_SIGNATURE, "good%2Bsig", AZURE_SECRET,
                                          "hush",    "sig=",          "token-"};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        if (strstr(err->message, secrets[i]) != NULL || strstr(err->hint, secrets[i]) != NULL ||
            strstr(err->path, secrets[i]) != NULL) {
            fail_msg("\"%s\" is in: %s (%s)", secrets[i], err->message, err->hint);
        }
    }
}
