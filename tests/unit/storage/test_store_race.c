/*
 * Races on every kind of store: exactly one writer of a name wins, and readers see whole files or none.
 */
#include "storage_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 8
#define N_THREAD_NAMES 50
#define N_PROCESSES 8
#define N_PROCESS_NAMES 100

/* ---- exclusion ---- */

struct racer {
    const struct store_fixture *fixture;
    pthread_barrier_t *start;
    unsigned id;
    size_t n_names;
    bool won[N_PROCESS_NAMES];
    bool failed;
};

static void race_for_name(struct racer *racer, size_t i)
{
    char name[64];
    char path[4096];
    char text[512];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    (void)snprintf(name, sizeof(name), "_delta_log/%020zu.json", i);
    (void)snprintf(path, sizeof(path), "%s/%s", racer->fixture->root, name);
    memset(text, 'a' + (int)racer->id, sizeof(text));
    silt_status status = silt_storage_put_if_absent(racer->fixture->store, NULL, path, text, sizeof(text), &outcome,
                                                    NULL);
    racer->failed = racer->failed || status != SILT_OK || outcome == SILT_PUT_AMBIGUOUS;
    racer->won[i] = outcome == SILT_PUT_DONE;
}

static void *race(void *arg)
{
    struct racer *racer = arg;
    (void)pthread_barrier_wait(racer->start);
    for (size_t i = 0; i < racer->n_names; i++) {
        race_for_name(racer, i);
    }
    return NULL;
}

static void expect_bytes_of(const struct store_fixture *fixture, size_t i, unsigned winner)
{
    char name[64];
    char text[513] = {0};
    (void)snprintf(name, sizeof(name), "_delta_log/%020zu.json", i);
    memset(text, 'a' + (int)winner, 512);
    store_expect(fixture->store, store_path(fixture, name), text);
}

static void exactly_one_of_many_threads_wins_each_name(void **state)
{
    const struct store_fixture *fixture = *state;
    static struct racer racers[N_THREADS];
    pthread_t threads[N_THREADS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, N_THREADS), 0);
    for (unsigned t = 0; t < N_THREADS; t++) {
        racers[t] = (struct racer){.fixture = fixture, .start = &start, .id = t, .n_names = N_THREAD_NAMES};
        assert_int_equal(pthread_create(&threads[t], NULL, race, &racers[t]), 0);
    }
    for (unsigned t = 0; t < N_THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_false(racers[t].failed);
    }
    (void)pthread_barrier_destroy(&start);
    for (size_t i = 0; i < N_THREAD_NAMES; i++) {
        unsigned winners = 0;
        unsigned winner = 0;
        for (unsigned t = 0; t < N_THREADS; t++) {
            winners += racers[t].won[i] ? 1 : 0;
            winner = racers[t].won[i] ? t : winner;
        }
        assert_int_equal(winners, 1);
        expect_bytes_of(fixture, i, winner);
    }
}

/* A child: waits until the pipe is closed, races, and leaves one character a name in its file. */
static void run_child(const struct store_fixture *fixture, unsigned id, int gate)
{
    static struct racer racer;
    char byte = 0;
    char path[4096];
    racer = (struct racer){.fixture = fixture, .id = id, .n_names = N_PROCESS_NAMES};
    while (read(gate, &byte, 1) < 0 && errno == EINTR) {
    }
    for (size_t i = 0; i < racer.n_names; i++) {
        race_for_name(&racer, i);
    }
    (void)snprintf(path, sizeof(path), "%s/winner-%u", fixture->local_dir, id);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (size_t i = 0; i < racer.n_names; i++) {
        racer.failed = racer.failed || write(fd, racer.won[i] ? "1" : "0", 1) != 1;
    }
    _exit(racer.failed || close(fd) != 0 ? 1 : 0);
}

static void exactly_one_of_many_processes_wins_each_name(void **state)
{
    const struct store_fixture *fixture = *state;
    if (strncmp(fixture->root, "memory:", 7) == 0) {
        skip(); /* not shared between processes */
    }
    int gate[2];
    pid_t children[N_PROCESSES];
    assert_int_equal(pipe(gate), 0);
    for (unsigned p = 0; p < N_PROCESSES; p++) {
        children[p] = fork();
        assert_true(children[p] >= 0);
        if (children[p] == 0) {
            (void)close(gate[1]);
            run_child(fixture, p, gate[0]);
        }
    }
    (void)close(gate[0]);
    (void)close(gate[1]);
    char won[N_PROCESSES][N_PROCESS_NAMES];
    for (unsigned p = 0; p < N_PROCESSES; p++) {
        int ended = 0;
        char path[4096];
        assert_int_equal(waitpid(children[p], &ended, 0), children[p]);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
        (void)snprintf(path, sizeof(path), "%s/winner-%u", fixture->local_dir, p);
        int fd = open(path, O_RDONLY);
        assert_int_equal(read(fd, won[p], N_PROCESS_NAMES), N_PROCESS_NAMES);
        (void)close(fd);
    }
    for (size_t i = 0; i < N_PROCESS_NAMES; i++) {
        unsigned winners = 0;
        unsigned winner = 0;
        for (unsigned p = 0; p < N_PROCESSES; p++) {
            winners += won[p][i] == '1' ? 1 : 0;
            winner = won[p][i] == '1' ? p : winner;
        }
        assert_int_equal(winners, 1);
        expect_bytes_of(fixture, i, winner);
    }
}

/* ---- visibility ---- */

#define BLOCK_SIZE ((size_t)600000)
#define N_ROUNDS 40

struct polling {
    const struct store_fixture *fixture;
    atomic_bool finished;
    atomic_uint seen;
    atomic_uint torn;
};

static void *poll_files(void *arg)
{
    struct polling *polling = arg;
    bool last = false;
    while (!last) {
        last = atomic_load(&polling->finished);
        for (unsigned i = 0; i <= N_ROUNDS; i++) {
            char path[4096];
            void *data = NULL;
            size_t len = 0;
            (void)snprintf(path, sizeof(path), "%s/%u.bin", polling->fixture->root, i);
            silt_status status = silt_storage_read(polling->fixture->store, NULL, path, &data, &len, NULL);
            if (status == SILT_ENOTFOUND && !last) {
                break;
            }
            const char *bytes = data;
            if (status != SILT_OK || len != BLOCK_SIZE || memcmp(bytes, bytes + 1, len - 1) != 0) {
                atomic_fetch_add(&polling->torn, 1);
            }
            atomic_fetch_add(&polling->seen, 1);
            silt_storage_free(polling->fixture->store, data, len);
        }
    }
    return NULL;
}

static void a_reader_sees_whole_files_or_none(void **state)
{
    const struct store_fixture *fixture = *state;
    struct polling polling = {.fixture = fixture};
    atomic_init(&polling.finished, false);
    atomic_init(&polling.seen, 0);
    atomic_init(&polling.torn, 0);
    pthread_t reader;
    char *block = malloc(BLOCK_SIZE);
    assert_non_null(block);
    assert_int_equal(pthread_create(&reader, NULL, poll_files, &polling), 0);
    for (unsigned i = 0; i <= N_ROUNDS; i++) {
        char name[32];
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        (void)snprintf(name, sizeof(name), "%u.bin", i);
        const char *path = store_path(fixture, name);
        memset(block, 'a' + (int)(i % 26), BLOCK_SIZE);
        assert_int_equal(silt_storage_put_if_absent(fixture->store, NULL, path, block, BLOCK_SIZE, &outcome, NULL),
                         SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE);
        memset(block, 'A' + (int)(i % 26), BLOCK_SIZE);
        assert_int_equal(silt_storage_put(fixture->store, NULL, store_path(fixture, "0.bin"), block, BLOCK_SIZE, NULL),
                         SILT_OK);
    }
    atomic_store(&polling.finished, true);
    assert_int_equal(pthread_join(reader, NULL), 0);
    free(block);
    assert_true(atomic_load(&polling.seen) >= N_ROUNDS);
    assert_int_equal(atomic_load(&polling.torn), 0);
}

static const struct store_test tests[] = {
    {"exactly_one_of_many_threads_wins_each_name", exactly_one_of_many_threads_wins_each_name},
    {"exactly_one_of_many_processes_wins_each_name", exactly_one_of_many_processes_wins_each_name},
    {"a_reader_sees_whole_files_or_none", a_reader_sees_whole_files_or_none},
};

int main(void)
{
    return run_store_tests("store races", tests, sizeof(tests) / sizeof(tests[0]));
}
