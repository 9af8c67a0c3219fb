/*
 * Members of a crew: processes that run this program again, each with a store of its own, or threads over one store where
 * processes could not see each other's files (memory). They share a struct crew.
 *
 * A new program instead of a plain fork: a store may own threads and connections, which do not survive one.
 */
#include "contract.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREW_SECONDS 900 /* a member that takes longer is ended by its alarm */
#define READY_STEP_US 1000
#define READY_STEPS 30000
#define MAX_ARGUMENTS 128

static const struct {
    const char *name;
    crew_role *run;
} roles[] = {{"race", race_member}, {"versions", version_reader}, {"names", name_reader}};

static crew_role *find_role(const char *name)
{
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, name) == 0) {
            return roles[i].run;
        }
    }
    return NULL;
}

void member_problem(struct member *member, const char *format, ...)
{
    if (!member->failed) {
        va_list list;
        va_start(list, format);
        (void)vsnprintf(member->problem, sizeof(member->problem), format, list);
        va_end(list);
    }
    member->failed = true;
}

void crew_wait(const struct crew *crew)
{
    for (unsigned i = 0; i < READY_STEPS && atomic_load(&crew->ready) < crew->n; i++) {
        (void)usleep(READY_STEP_US);
    }
}

/* ---- threads ---- */

struct thread_member {
    struct contract *c;
    struct crew *crew;
    crew_role *role;
    unsigned id;
};

static void *run_thread(void *arg)
{
    const struct thread_member *member = arg;
    member->role(member->c, member->crew, member->id);
    return NULL;
}

static bool run_threads(struct contract *c, struct crew *crew, crew_role *role, crew_role *lead)
{
    pthread_t threads[CONTRACT_MAX_MEMBERS];
    struct thread_member members[CONTRACT_MAX_MEMBERS];
    for (unsigned i = 0; i < crew->n; i++) {
        members[i] = (struct thread_member){.c = c, .crew = crew, .role = role, .id = i};
        if (pthread_create(&threads[i], NULL, run_thread, &members[i]) != 0) {
            (void)fputs("contract: error: no thread could be made\n", stderr);
            exit(1); /* those that run wait for it for ever */
        }
    }
    if (lead != NULL) {
        lead(c, crew, crew->n);
    }
    for (unsigned i = 0; i < crew->n; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return true;
}

/* ---- processes ---- */

/* In the child, between fork and exec: nothing that could need a lock. */
static void become_member(char **arguments)
{
    (void)alarm(CREW_SECONDS);
    (void)execv("/proc/self/exe", arguments);
    _exit(127);
}

static pid_t start_member(const struct contract *c, const char *role, unsigned id, int fd)
{
    char *arguments[MAX_ARGUMENTS];
    char number[32];
    char memory[32];
    int n = c->settings->argc;
    if (n + 9 > MAX_ARGUMENTS) {
        return -1;
    }
    memcpy(arguments, c->settings->argv, (size_t)n * sizeof(*arguments));
    (void)snprintf(number, sizeof(number), "%u", id);
    (void)snprintf(memory, sizeof(memory), "%d", fd);
    arguments[n++] = (char *)(uintptr_t) "--role";
    arguments[n++] = (char *)(uintptr_t)role;
    arguments[n++] = (char *)(uintptr_t) "--member";
    arguments[n++] = number;
    arguments[n++] = (char *)(uintptr_t) "--memory";
    arguments[n++] = memory;
    if (c->settings->plant != NULL) {
        arguments[n++] = (char *)(uintptr_t) "--plant";
        arguments[n++] = (char *)(uintptr_t)c->settings->plant;
    }
    arguments[n] = NULL;
    const pid_t pid = fork();
    if (pid == 0) {
        become_member(arguments);
    }
    return pid;
}

static void end_members(const pid_t *members, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (members[i] > 0) {
            (void)kill(members[i], SIGKILL);
        }
    }
}

/* When one ends before its time, the others would wait for it: they are ended. */
static bool wait_members(struct contract *c, pid_t *members, unsigned n)
{
    bool good = true;
    for (unsigned left = n; left > 0;) {
        int state = 0;
        const pid_t pid = waitpid(-1, &state, 0);
        if (pid < 0) {
            if (errno == EINTR) {
                continue;
            }
            return expect(c, false, "a member got lost: errno %d", errno);
        }
        for (unsigned i = 0; i < n; i++) {
            if (members[i] == pid) {
                members[i] = 0;
                left--;
            }
        }
        if (good && !(WIFEXITED(state) && WEXITSTATUS(state) == 0)) {
            good = expect(c, false, "a member of the crew ended with state 0x%x", (unsigned)state);
            end_members(members, n);
        }
    }
    return good;
}

static bool run_processes(struct contract *c, struct crew *crew, int fd, const char *role, crew_role *lead)
{
    pid_t members[CONTRACT_MAX_MEMBERS] = {0};
    (void)fflush(NULL);
    for (unsigned i = 0; i < crew->n; i++) {
        members[i] = start_member(c, role, i, fd);
        if (!expect(c, members[i] > 0, "a process could not be started")) {
            end_members(members, i);
            (void)wait_members(c, members, i);
            return false;
        }
    }
    if (lead != NULL) {
        lead(c, crew, crew->n);
    }
    return wait_members(c, members, crew->n);
}

/* ---- crews ---- */

static struct crew *map_crew(int fd)
{
    void *memory = mmap(NULL, sizeof(struct crew), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool prepare_crew(const struct contract *c, struct crew *crew, unsigned n)
{
    pthread_barrierattr_t attributes;
    crew->n = n;
    crew->round_names = c->round_names;
    memcpy(crew->dir, c->dir, sizeof(crew->dir));
    if (pthread_barrierattr_init(&attributes) != 0) {
        return false;
    }
    const bool good = pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                      pthread_barrier_init(&crew->step, &attributes, n) == 0;
    (void)pthread_barrierattr_destroy(&attributes);
    return good;
}

struct crew *crew_run(struct contract *c, unsigned n, const char *role, crew_role *lead)
{
    const int fd = memfd_create("crew", 0); /* kept across exec */
    struct crew *crew = NULL;
    if (fd >= 0 && ftruncate(fd, (off_t)sizeof(*crew)) == 0) {
        crew = map_crew(fd);
    }
    bool good = expect(c, crew != NULL && prepare_crew(c, crew, n), "no memory for a crew");
    good = good &&
           (c->in_memory ? run_threads(c, crew, find_role(role), lead) : run_processes(c, crew, fd, role, lead));
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!good && crew != NULL) {
        crew_free(crew);
        crew = NULL;
    }
    return crew;
}

void crew_free(struct crew *crew)
{
    (void)munmap(crew, sizeof(*crew));
}

int crew_member(struct contract *c, const char *role, unsigned id, int fd)
{
    crew_role *run = find_role(role);
    struct crew *crew = map_crew(fd);
    if (run == NULL || crew == NULL || id >= crew->n) {
        return 1;
    }
    memcpy(c->dir, crew->dir, sizeof(c->dir));
    run(c, crew, id);
    crew_free(crew);
    return 0;
}
