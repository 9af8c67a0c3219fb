/*
 * Tokens of the Azure CLI: from its cache of tokens where that says clearly which one is meant, else from the program `az`, which may renew them. Any
 * thread; nothing is written to the CLI's folder.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/azure/azure_token.h"

#define MAX_CACHE ((size_t)16 << 20)
#define MAX_PRINTED ((size_t)1 << 20)
#define MAX_TIME_US INT64_C(60000000) /* az takes seconds at the best of times */
#define SLICE_MS 50

extern char **environ;

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

static silt_status start(const struct sl_azure_grant *grant, int output, pid_t *pid, silt_error *err)
{
    char *argv[9] = {(char *)(uintptr_t) "az",
                     (char *)(uintptr_t) "account",
                     (char *)(uintptr_t) "get-access-token",
                     (char *)(uintptr_t) "--output=json",
                     (char *)(uintptr_t) "--resource",
                     (char *)(uintptr_t)SL_AZURE_RESOURCE "/",
                     NULL,
                     NULL,
                     NULL};
    if (grant->tenant != NULL) {
        argv[6] = (char *)(uintptr_t) "--tenant";
        argv[7] = (char *)(uintptr_t)grant->tenant;
    }
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return sl_fail_nomem(err);
    }
    int result = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (result == 0) {
        result = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (result == 0) {
        result = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (result == 0) {
        result = posix_spawnp(pid, "az", &actions, NULL, argv, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions); /* cannot fail */
    if (result != 0) {
        const silt_status status = sl_fail(err, result == ENOENT ? SILT_EACCESS : SILT_EIO, NULL,
                                           "the Azure CLI (az) cannot be started to get a token (errno %d)", result);
        sl_error_hint(err, "install it and log in with az login, or give other credentials");
        return status;
    }
    return SILT_OK;
}

static silt_status read_output(int fd, const silt_env *env, const silt_call *call, struct sl_buf *out, silt_error *err)
{
    const int64_t latest_us = sl_monotonic_us(env) + MAX_TIME_US;
    for (;;) {
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        SL_TRY(sl_call_check(env, call, err));
        if (sl_monotonic_us(env) > latest_us || out->len > MAX_PRINTED) {
            return sl_fail(err, SILT_EIO, NULL, "az account get-access-token did not end within %d s",
                           (int)(MAX_TIME_US / 1000000));
        }
        if (poll(&waited, 1, SLICE_MS) <= 0) {
            continue; /* nothing yet, or a signal */
        }
        char *room = sl_buf_reserve(out, 4096);
        if (room == NULL) {
            return sl_buf_status(out, err);
        }
        const ssize_t got = read(fd, room, 4096);
        if (got == 0) {
            return SILT_OK;
        }
        if (got < 0 && errno != EINTR) {
            return sl_fail_errno(err, errno, "read what az prints", NULL);
        }
        out->len += got > 0 ? (size_t)got : 0;
    }
}

static silt_status run_program(const struct sl_azure_grant *grant, const silt_env *env, const silt_call *call,
                               struct sl_buf *out, silt_error *err)
{
    int ends[2] = {-1, -1};
    pid_t pid = 0;
    int result = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return sl_fail_errno(err, errno, "make a pipe for az", NULL);
    }
    silt_status status = start(grant, ends[1], &pid, err);
    (void)close(ends[1]); /* the program's own end */
    if (status == SILT_OK) {
        status = read_output(ends[0], env, call, out, err);
        if (status != SILT_OK) {
            (void)kill(pid, SIGKILL); /* our child, not yet waited for */
        }
        while (waitpid(pid, &result, 0) < 0 && errno == EINTR) {
        }
    }
    (void)close(ends[0]); /* only read */
    if (status == SILT_OK && !(WIFEXITED(result) && WEXITSTATUS(result) == 0)) {
        status = sl_fail(err, SILT_EACCESS, NULL, "no token for Azure storage: az account get-access-token failed (%d)",
                         WIFEXITED(result) ? WEXITSTATUS(result) : -1);
        sl_error_hint(err, "run az login");
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
