/*
 * Children that are killed at a system call, see deadly_process.h.
 */
#include "deadly_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not every machine has the calls of old. */
static const struct {
    long number;
    const char *name;
} deadly_calls[] = {
    {SYS_write, "write"},         {SYS_pwrite64, "pwrite"},
    {SYS_writev, "writev"},       {SYS_pwritev, "pwritev"},
    {SYS_fsync, "fsync"},         {SYS_fdatasync, "fdatasync"},
    {SYS_ftruncate, "ftruncate"}, {SYS_truncate, "truncate"},
    {SYS_fallocate, "fallocate"}, {SYS_linkat, "linkat"},
    {SYS_symlinkat, "symlinkat"}, {SYS_renameat2, "renameat2"},
    {SYS_unlinkat, "unlinkat"},   {SYS_mkdirat, "mkdirat"},
    {SYS_utimensat, "utimensat"}, {SYS_copy_file_range, "copy_file_range"},
    {SYS_sendfile, "sendfile"},
#ifdef SYS_link
    {SYS_link, "link"},           {SYS_rename, "rename"},
    {SYS_unlink, "unlink"},       {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},         {SYS_creat, "creat"},
#endif
#ifdef SYS_renameat
    {SYS_renameat, "renameat"},
#endif
};

#define N_CALLS (sizeof(deadly_calls) / sizeof(deadly_calls[0]))
/* Two a call, four for each way to open, the first one and the last. */
#define MAX_FILTER (2 * N_CALLS + 16)

static const struct sock_filter load_number = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
static const struct sock_filter stop = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
static const struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

/* Stops at an open that makes a file or empties one; the low half of an argument comes first on the machines that are known here. */
static size_t filter_open(struct sock_filter *filter, long number, size_t flags_arg)
{
    const size_t offset = offsetof(struct seccomp_data, args) + flags_arg * sizeof(uint64_t);
    const struct sock_filter part[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT | O_TRUNC, 0, 1),
        stop,
        pass,
    };
    memcpy(filter, part, sizeof(part));
    return sizeof(part) / sizeof(part[0]);
}

bool deadly_arm(void)
{
    struct sock_filter filter[MAX_FILTER];
    size_t n = 0;
    filter[n++] = load_number;
    for (size_t i = 0; i < N_CALLS; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)deadly_calls[i].number, 0, 1);
        filter[n++] = stop;
    }
    n += filter_open(filter + n, SYS_openat, 2);
#ifdef SYS_open
    n += filter_open(filter + n, SYS_open, 1);
#endif
    filter[n++] = pass;
    const struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        (void)fprintf(stderr, "cannot filter system calls: %s\n", strerrordesc_np(errno));
        return false;
    }
    return true;
}

static pid_t start_followed(bool (*fn)(void *arg), void *arg)
{
    (void)fflush(NULL); /* else the child writes what is buffered once more */
    const pid_t pid = fork();
    if (pid == 0) {
        bool good = ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
        good = good && fn(arg);
        (void)fflush(NULL);
        _exit(good ? 0 : 1);
    }
    return pid;
}

static void name_call(pid_t thread, char out[32])
{
    struct __ptrace_syscall_info info = {0};
    (void)ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof(info), &info);
    const long number = (long)info.seccomp.nr;
    (void)snprintf(out, 32, number == SYS_openat ? "open" : "system call %ld", number);
    for (size_t i = 0; i < N_CALLS; i++) {
        if (deadly_calls[i].number == number) {
            (void)snprintf(out, 32, "%s", deadly_calls[i].name);
        }
    }
}

/* A thread has stopped: lets it go on, unless it is at the deadly call. */
static void go_on(pid_t child, pid_t thread, int state, unsigned kill_at, struct deadly_end *end)
{
    const int event = state >> 16;
    int signal_number = WSTOPSIG(state);
    if (event == PTRACE_EVENT_SECCOMP && !end->killed) {
        end->n_calls++;
        if (end->n_calls == kill_at) {
            name_call(thread, end->call);
            end->killed = true;
            (void)kill(child, SIGKILL); /* a call that is about to begin does not begin any more */
            return;
        }
    }
    if (event != 0 || signal_number == SIGSTOP || signal_number == SIGTRAP) {
        signal_number = 0; /* a new thread, or ptrace's own */
    }
    (void)ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)signal_number);
}

bool deadly_run(bool (*fn)(void *arg), void *arg, unsigned kill_at, struct deadly_end *end)
{
    *end = (struct deadly_end){0};
    const pid_t child = start_followed(fn, arg);
    int state = 0;
    const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (child <= 0 || waitpid(child, &state, 0) != child || !WIFSTOPPED(state) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) != 0 || ptrace(PTRACE_CONT, child, NULL, NULL) != 0) {
        if (child > 0) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &state, __WALL);
        }
        return false;
    }
    for (;;) {
        const pid_t thread = waitpid(-1, &state, __WALL);
        if (thread < 0 && errno != EINTR) {
            return false;
        }
        if (thread == child && !WIFSTOPPED(state)) {
            end->good = WIFEXITED(state) && WEXITSTATUS(state) == 0;
            return end->killed == (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
        }
        if (thread > 0 && WIFSTOPPED(state)) {
            go_on(child, thread, state, kill_at, end);
        }
    }
}
