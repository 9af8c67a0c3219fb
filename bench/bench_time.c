/*
 * Runs a program several times, each in a fresh process, and prints what the kernel says about it: wall time, processor time, peak
 * memory. A program of its own because a process inherits the peak memory of what it was forked from, and because a small
 * forking process adds little to times of a few milliseconds.
 *
 *     bench_time [--repeat N] [--cpus N] [--out FILE] [--drop N] PROGRAM ARGUMENTS…
 *
 * --cpus N binds it to the last N processors; --out keeps the standard output of the last run, else it is thrown away; the first
 * --drop N runs are not told: they bring files into the page cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 1000

struct request {
    int repeat;
    int drop;
    int cpus; /* 0: all */
    const char *out;
    char **command;
};

struct run {
    int64_t wall_us;
    int64_t cpu_us;
    int64_t max_rss_kb;
};

static bool parse_int(const char *text, int *out)
{
    char *end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 0 || value > MAX_RUNS) {
        return false;
    }
    *out = (int)value;
    return true;
}

static bool parse(int argc, char **argv, struct request *out)
{
    *out = (struct request){.repeat = 1};
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        bool fine = false;
        if (strcmp(argv[i], "--repeat") == 0) {
            fine = parse_int(argv[i + 1], &out->repeat);
        } else if (strcmp(argv[i], "--drop") == 0) {
            fine = parse_int(argv[i + 1], &out->drop);
        } else if (strcmp(argv[i], "--cpus") == 0) {
            fine = parse_int(argv[i + 1], &out->cpus);
        } else if (strcmp(argv[i], "--out") == 0) {
            out->out = argv[i + 1];
            fine = true;
        }
        if (!fine) {
            return false;
        }
    }
    out->command = &argv[i];
    return i < argc && out->repeat > 0 && out->repeat + out->drop <= MAX_RUNS;
}

/* The last `n` of the processors that this process may use. */
static bool bind_processors(int n)
{
    cpu_set_t allowed;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return false;
    }
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&chosen) < n; cpu--) {
        if (CPU_ISSET((size_t)cpu, &allowed)) {
            CPU_SET((size_t)cpu, &chosen);
        }
    }
    return CPU_COUNT(&chosen) == n && sched_setaffinity(0, sizeof(chosen), &chosen) == 0;
}

/* In the child: does not return. */
static void become(const struct request *request, bool is_last)
{
    const char *path = is_last && request->out != NULL ? request->out : "/dev/null";
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && dup2(file, STDOUT_FILENO) >= 0) {
        (void)execvp(request->command[0], request->command);
    }
    (void)fprintf(stderr, "bench_time: %s: %s\n", request->command[0], strerror(errno));
    _exit(127);
}

static int64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t micros(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static bool run_once(const struct request *request, bool is_last, struct run *out)
{
    struct rusage usage;
    int state = 0;
    const int64_t begin_us = now_us();
    const pid_t child = fork();
    if (child == 0) {
        become(request, is_last);
    }
    if (child < 0 || wait4(child, &state, 0, &usage) != child) {
        (void)fprintf(stderr, "bench_time: no process can be started: %s\n", strerror(errno));
        return false;
    }
    out->wall_us = now_us() - begin_us;
    out->cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
    out->max_rss_kb = usage.ru_maxrss;
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        (void)fprintf(stderr, "bench_time: %s failed (%d)\n", request->command[0],
                      WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state));
        return false;
    }
    return true;
}

static void print_list(const char *name, const struct run *runs, int n, int64_t (*get)(const struct run *run))
{
    (void)printf("\"%s\": [", name);
    for (int i = 0; i < n; i++) {
        (void)printf("%s%" PRId64, i == 0 ? "" : ", ", get(&runs[i]));
    }
    (void)printf("]");
}

static int64_t get_wall(const struct run *run)
{
    return run->wall_us;
}

static int64_t get_cpu(const struct run *run)
{
    return run->cpu_us;
}

static int64_t get_rss(const struct run *run)
{
    return run->max_rss_kb;
}

int main(int argc, char **argv)
{
    static struct run runs[MAX_RUNS];
    struct request request;
    if (!parse(argc, argv, &request)) {
        (void)fprintf(stderr,
                      "usage: bench_time [--repeat N] [--drop N] [--cpus N] [--out FILE] PROGRAM [ARGUMENT…]\n");
        return EXIT_FAILURE;
    }
    if (request.cpus > 0 && !bind_processors(request.cpus)) {
        (void)fprintf(stderr, "bench_time: there are no %d processors to use\n", request.cpus);
        return EXIT_FAILURE;
    }
    for (int i = -request.drop; i < request.repeat; i++) {
        if (!run_once(&request, i + 1 == request.repeat, &runs[i < 0 ? 0 : i])) {
            return EXIT_FAILURE;
        }
    }
    (void)printf("{");
    print_list("wall_us", runs, request.repeat, get_wall);
    (void)printf(", ");
    print_list("cpu_us", runs, request.repeat, get_cpu);
    (void)printf(", ");
    print_list("max_rss_kb", runs, request.repeat, get_rss);
    (void)printf("}\n");
    return EXIT_SUCCESS;
}
