/*
 * Processes of tests, see process_fixture.h.
 */
#include "process_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t process_start(bool (*fn)(void *arg), void *arg)
{
    (void)fflush(NULL); /* else the child writes what is buffered once more */
    const pid_t pid = fork();
    if (pid == 0) {
        const bool good = fn(arg);
        (void)fflush(NULL);
        _exit(good ? 0 : 1);
    }
    return pid;
}

bool process_wait(pid_t pid, int *killed_by)
{
    int state = 0;
    pid_t got = -1;
    do {
        got = waitpid(pid, &state, 0);
    } while (got < 0 && errno == EINTR);
    if (killed_by != NULL) {
        *killed_by = got == pid && WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    }
    return got == pid && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

bool process_run(bool (*fn)(void *arg), void *arg, int *killed_by)
{
    const pid_t pid = process_start(fn, arg);
    return pid > 0 && process_wait(pid, killed_by);
}

uint64_t process_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}
