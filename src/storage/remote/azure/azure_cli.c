/*
 * Tokens of the Azure CLI: from its cache of tokens where that says clearly which one is meant, else from the program `az`, which may renew them. Any
 * thread; nothing is written to the CLI's folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "storage/remote/azure/azure_token.h"
#include "storage/remote/command.h"

#define MAX_CACHE ((size_t)16 << 20)

silt_status sl_azure_read_file(const char *path, size_t max, struct sl_buf *out, silt_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return sl_fail_errno(err, errno, "open", path);
    }
    silt_status status = SILT_OK;
    for (;;) {
        char *room = sl_buf_reserve(out, 4096);
        if (room == NULL) {
            status = sl_buf_status(out, err);
            break;
        }
        const ssize_t got = read(fd, room, 4096);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            status = sl_fail_errno(err, errno, "read", path);
        }
        if (got <= 0) {
            break;
        }
        out->len += (size_t)got;
        if (out->len > max) {
            status = sl_fail(err, SILT_ELIMIT, NULL, "%s is longer than %zu bytes", path, max);
            break;
        }
    }
    (void)close(fd); /* only read */
    return status;
}

/* ---- the cache ---- */

static silt_status look_in_cache(const struct sl_azure_grant *grant, const silt_env *env, struct sl_buf *token,
                                 int64_t *expires_us, bool *found)
{
    const char *folder = getenv("AZURE_CONFIG_DIR");
    const char *home = getenv("HOME");
    struct sl_buf path;
    struct sl_buf text;
    sl_buf_init(&path, env);
    sl_buf_init(&text, env);
    if (folder != NULL && folder[0] != '\0') {
        sl_buf_printf(&path, "%s/msal_token_cache.json", folder);
    } else {
        sl_buf_printf(&path, "%s/.azure/msal_token_cache.json", home != NULL ? home : "");
    }
    silt_status status = sl_buf_status(&path, NULL);
    *found = false;
    /* A cache that is not there, or not to be read, is no fault: az keeps it encrypted on some systems. */
    if (status == SILT_OK && sl_azure_read_file(sl_buf_cstr(&path), MAX_CACHE, &text, NULL) == SILT_OK) {
        status = sl_azure_cli_cache(sl_buf_view(&text), grant->tenant, env, token, expires_us, found, NULL);
    }
    sl_buf_release(&path);
    sl_buf_release(&text);
    return status;
}

/* ---- the program ---- */

static silt_status run_program(const struct sl_azure_grant *grant, const silt_env *env, const silt_call *call,
                               struct sl_buf *out, silt_error *err)
{
    const bool has_tenant = grant->tenant != NULL;
    const char *const argv[] = {"az",
                                "account",
                                "get-access-token",
                                "--output=json",
                                "--resource",
                                SL_AZURE_RESOURCE "/",
                                has_tenant ? "--tenant" : NULL,
                                grant->tenant,
                                NULL};
    const struct sl_command command = {argv, "the Azure CLI (az account get-access-token)"};
    int code = 0;
    const silt_status status = sl_command_run(env, call, &command, out, &code, err);
    if (status == SILT_EACCESS) {
        sl_error_hint(err, "install it and log in with az login, or give other credentials");
    }
    if (status == SILT_OK && code != 0) {
        const silt_status failed = sl_fail(err, SILT_EACCESS, NULL,
                                           "no token for Azure storage: az account get-access-token failed (%d)", code);
        sl_error_hint(err, "run az login");
        return failed;
    }
    return status;
}

silt_status sl_azure_cli_token(const struct sl_azure_grant *grant, const silt_env *env, const silt_call *call,
                               struct sl_buf *token, int64_t *expires_us, silt_error *err)
{
    bool found = false;
    silt_status status = look_in_cache(grant, env, token, expires_us, &found);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status == SILT_OK && found) {
        return SILT_OK;
    }
    sl_buf_clear(token);
    struct sl_buf printed;
    sl_buf_init(&printed, env);
    status = run_program(grant, env, call, &printed, err);
    if (status == SILT_OK) {
        status = sl_azure_cli_answer(sl_buf_view(&printed), env, token, expires_us, err);
    }
    sl_buf_release(&printed);
    return status;
}
