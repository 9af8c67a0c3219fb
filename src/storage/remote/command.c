/* Running programs that print credentials. Any thread. */
#include "storage/remote/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"

#define MAX_PRINTED ((size_t)1 << 20)
#define MAX_TIME_US INT64_C(60000000) /* az takes seconds at the best of times */
#define SLICE_MS 50

extern char **environ;

static silt_status start(const struct sl_command *command, int output, pid_t *pid, silt_error *err)
{
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
        char *const *argv = (char *const *)(uintptr_t)command->argv; /* posix_spawn writes to none of them */
        result = posix_spawnp(pid, command->argv[0], &actions, NULL, argv, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions); /* cannot fail */
    return result == 0 ? SILT_OK
                       : sl_fail(err, result == ENOENT ? SILT_EACCESS : SILT_EIO, NULL,
                                 "%s cannot be started (errno %d)", command->what, result);
}

static silt_status read_output(int fd, const silt_env *env, const silt_call *call, const struct sl_command *command,
                               struct sl_buf *out, silt_error *err)
{
    const int64_t latest_us = sl_monotonic_us(env) + MAX_TIME_US;
    for (;;) {
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        SL_TRY(sl_call_check(env, call, err));
        if (sl_monotonic_us(env) > latest_us || out->len > MAX_PRINTED) {
            return sl_fail(err, SILT_EIO, NULL, "%s did not end within %d s", command->what,
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
            return sl_fail_errno(err, errno, "read what is printed by", command->what);
        }
        out->len += got > 0 ? (size_t)got : 0;
    }
}

silt_status sl_command_run(const silt_env *env, const silt_call *call, const struct sl_command *command,
                           struct sl_buf *out, int *code, silt_error *err)
{
    int ends[2] = {-1, -1};
    pid_t pid = 0;
    int result = 0;
    *code = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return sl_fail_errno(err, errno, "make a pipe for", command->what);
    }
    silt_status status = start(command, ends[1], &pid, err);
    (void)close(ends[1]); /* the program's own end */
    if (status == SILT_OK) {
        status = read_output(ends[0], env, call, command, out, err);
        if (status != SILT_OK) {
            (void)kill(pid, SIGKILL); /* our child, not yet waited for */
        }
        while (waitpid(pid, &result, 0) < 0 && errno == EINTR) {
        }
        *code = WIFEXITED(result) ? WEXITSTATUS(result) : -1;
    }
    (void)close(ends[0]); /* only read */
    return status;
}
