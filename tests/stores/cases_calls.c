/*
 * Cases about calls: ones that are over, ones that end while they run, many at a time, and servers that do not let one in.
 */
#include "contract.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMED_BYTES ((size_t)1 << 20)
#define N_TIMED 40
#define N_THREADS 16
#define N_ROUNDS 12
#define N_BATCH 20
#define PATIENCE_US 10000000

static void count_done(void *ctx, silt_read_request *request)
{
    (void)request;
    (*(size_t *)ctx)++;
}

/* ---- over before they begin ---- */

void a_call_that_is_over_does_nothing(struct contract *c)
{
    const volatile int cancel = 1;
    const silt_call cancelled = {.size = sizeof(cancelled), .cancel = &cancel};
    const silt_call late = {.size = sizeof(late), .deadline_us = 1};
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_status status = silt_storage_put_if_absent(c->store, &cancelled, path_of(c, path, "f"), "x", 1, &outcome,
                                                    &err);
    (void)expect_status(c, status, SILT_ECANCELLED, &err, "a cancelled put_if_absent");
    status = silt_storage_put(c->store, &late, path, "x", 1, &err);
    (void)(expect_status(c, status, SILT_EDEADLINE, &err, "a late put") && expect_missing(c, "f") &&
           put_text(c, "f", "x"));
    status = silt_storage_remove(c->store, &late, path, &err);
    (void)(expect_status(c, status, SILT_EDEADLINE, &err, "a late remove") && expect_text(c, "f", "x"));
    size_t done = 0;
    silt_read_request request = {.path = path, .length = -1};
    status = silt_storage_read_many(c->store, &cancelled, &request, 1, count_done, &done, &err);
    (void)(expect_status(c, status, SILT_ECANCELLED, &err, "a cancelled read") &&
           expect(c, done == 1 && request.status == SILT_ECANCELLED, "a cancelled read was not completed as such"));
    silt_read_request_release(c->store, &request);
}

/* ---- ending while they run ---- */

struct timed {
    unsigned done;
    unsigned ambiguous;
    unsigned failed;
};

/* After a failure the file is not there, and does not come; after DONE it is, whole. AMBIGUOUS says nothing. */
static void judge_timed(struct contract *c, unsigned i, silt_status status, silt_put_outcome outcome, const char *bytes,
                        const silt_error *err, struct timed *timed)
{
    char name[32];
    char path[CONTRACT_PATH_SIZE];
    (void)snprintf(name, sizeof(name), "timed-%u", i);
    if (status == SILT_OK && outcome == SILT_PUT_DONE) {
        timed->done++;
        (void)expect_bytes(c, name, bytes, TIMED_BYTES);
    } else if (status == SILT_OK && outcome == SILT_PUT_AMBIGUOUS) {
        timed->ambiguous++;
        const silt_status there = silt_storage_stat(c->store, NULL, path_of(c, path, name), NULL, NULL, NULL);
        (void)expect(c, there == SILT_ENOTFOUND || expect_bytes(c, name, bytes, TIMED_BYTES),
                     "a part of a file is there");
    } else {
        timed->failed++;
        (void)expect(c, status == SILT_EDEADLINE || status == SILT_ECANCELLED, "a create that was ended: %s: %s",
                     silt_status_name(status), err->message);
        (void)expect(c, outcome != SILT_PUT_EXISTS || status != SILT_OK, "a free name EXISTS");
        (void)expect_missing(c, name);
    }
}

/* The files of failed calls, once more at the end: a request that was given up must not arrive later. */
static void judge_late(struct contract *c, const bool *failed)
{
    for (unsigned i = 0; i < N_TIMED; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "timed-%u", i);
        if (failed[i]) {
            (void)expect_missing(c, name);
        }
    }
}

static char *timed_bytes(struct contract *c)
{
    char *bytes = malloc(TIMED_BYTES);
    if (expect(c, bytes != NULL, "no memory")) {
        memset(bytes, 't', TIMED_BYTES);
    }
    return bytes;
}

static int64_t create_timed(struct contract *c, unsigned i, int64_t within_us, const char *bytes, bool *failed,
                            struct timed *timed)
{
    char name[32];
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    const int64_t start_us = c->env->monotonic_us(c->env->ctx);
    const silt_call call = {.size = sizeof(call), .deadline_us = within_us < 0 ? 0 : start_us + within_us};
    (void)snprintf(name, sizeof(name), "timed-%u", i);
    const silt_status status = silt_storage_put_if_absent(c->store, &call, path_of(c, path, name), bytes, TIMED_BYTES,
                                                          &outcome, &err);
    const int64_t took_us = c->env->monotonic_us(c->env->ctx) - start_us;
    *failed = status != SILT_OK;
    judge_timed(c, i, status, outcome, bytes, &err, timed);
    return took_us;
}

/* Deadlines spread over what one create takes, so that they pass in every phase of it. */
void a_create_that_ran_out_of_time_tells_the_truth(struct contract *c)
{
    bool failed[N_TIMED] = {false};
    struct timed timed = {0};
    char *bytes = timed_bytes(c);
    if (c->failed) {
        return;
    }
    const int64_t whole_us = create_timed(c, 0, -1, bytes, &failed[0], &timed);
    (void)expect(c, timed.done == 1, "a create without a deadline was not DONE");
    for (unsigned i = 1; i < N_TIMED && !c->failed; i++) {
        const int64_t within_us = whole_us * i * 3 / (2 * N_TIMED) + 1;
        const int64_t took_us = create_timed(c, i, within_us, bytes, &failed[i], &timed);
        (void)expect(c, took_us < within_us + PATIENCE_US, "a call with %lld us took %lld us", (long long)within_us,
                     (long long)took_us);
    }
    judge_late(c, failed);
    free(bytes);
    note_case(c, "%u done, %u ambiguous, %u failed", timed.done, timed.ambiguous, timed.failed);
}

struct canceller {
    const silt_env *env;
    atomic_llong at_us; /* 0: wait for it; negative: end */
    volatile int cancel;
};

static void *cancel_calls(void *arg)
{
    struct canceller *canceller = arg;
    for (long long at_us = atomic_load(&canceller->at_us); at_us >= 0; at_us = atomic_load(&canceller->at_us)) {
        if (at_us > 0 && canceller->env->monotonic_us(canceller->env->ctx) >= at_us) {
            canceller->cancel = 1;
        }
        (void)usleep(50);
    }
    return NULL;
}

static void create_cancelled(struct contract *c, struct canceller *canceller, unsigned i, int64_t within_us,
                             const char *bytes, bool *failed, struct timed *timed)
{
    char name[32];
    char path[CONTRACT_PATH_SIZE];
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    const silt_call call = {.size = sizeof(call), .cancel = &canceller->cancel};
    (void)snprintf(name, sizeof(name), "timed-%u", i);
    canceller->cancel = 0;
    atomic_store(&canceller->at_us, c->env->monotonic_us(c->env->ctx) + within_us);
    const silt_status status = silt_storage_put_if_absent(c->store, &call, path_of(c, path, name), bytes, TIMED_BYTES,
                                                          &outcome, &err);
    atomic_store(&canceller->at_us, 0);
    *failed = status != SILT_OK;
    judge_timed(c, i, status, outcome, bytes, &err, timed);
}

void a_create_that_was_cancelled_tells_the_truth(struct contract *c)
{
    struct canceller canceller = {.env = c->env, .cancel = 0};
    bool failed[N_TIMED] = {false};
    struct timed timed = {0};
    pthread_t thread;
    char *bytes = timed_bytes(c);
    atomic_init(&canceller.at_us, 0);
    if (c->failed || !expect(c, pthread_create(&thread, NULL, cancel_calls, &canceller) == 0, "no thread")) {
        free(bytes);
        return;
    }
    const int64_t whole_us = create_timed(c, 0, -1, bytes, &failed[0], &timed);
    for (unsigned i = 1; i < N_TIMED && !c->failed; i++) {
        create_cancelled(c, &canceller, i, whole_us * i * 3 / (2 * N_TIMED) + 1, bytes, &failed[i], &timed);
    }
    atomic_store(&canceller.at_us, -1);
    (void)pthread_join(thread, NULL);
    judge_late(c, failed);
    free(bytes);
    note_case(c, "%u done, %u ambiguous, %u failed", timed.done, timed.ambiguous, timed.failed);
}

/* ---- many at a time ---- */

struct worker {
    struct contract *c;
    unsigned id;
};

static void work_round(struct contract *c, unsigned id, unsigned round)
{
    char name[64];
    char text[64];
    char path[CONTRACT_PATH_SIZE];
    char paths[N_BATCH][64];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(text, sizeof(text), "text %u of %u", round, id);
    for (unsigned i = 0; i < N_BATCH; i++) {
        (void)snprintf(paths[i], sizeof(paths[i]), "w%u/%u/%u", id, round, i);
    }
    (void)(put_new_text(c, paths[0], text, SILT_PUT_DONE) && put_text(c, paths[1], text) &&
           expect_text(c, paths[0], text) && expect_text(c, paths[1], text) && expect_missing(c, paths[2]));
    (void)snprintf(name, sizeof(name), "w%u/%u", id, round);
    (void)expect_list(c, name, NULL, true, "0\n1\n");
    (void)expect_status(c, silt_storage_remove(c->store, NULL, path_of(c, path, paths[1]), &err), SILT_OK, &err,
                        "remove");
    (void)expect_list(c, name, NULL, false, "0\n");
}

static void *work(void *arg)
{
    const struct worker *worker = arg;
    for (unsigned round = 0; round < N_ROUNDS && !worker->c->failed; round++) {
        work_round(worker->c, worker->id, round);
    }
    return NULL;
}

void many_threads_use_one_store(struct contract *c)
{
    pthread_t threads[N_THREADS];
    struct worker workers[N_THREADS];
    unsigned started = 0;
    for (; started < N_THREADS; started++) {
        workers[started] = (struct worker){.c = c, .id = started};
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0) {
            break;
        }
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)expect(c, started == N_THREADS, "%u threads were started", started);
}

/* ---- not let in ---- */

static bool keep_going(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return true;
}

/* One line, and none of the values that were given for it as secrets. */
static void judge_text(struct contract *c, const silt_error *err, const struct contract_options *options)
{
    (void)expect(c, err->message[0] != '\0' && strchr(err->message, '\n') == NULL, "the error is not one line");
    for (size_t i = 0; i < options->n; i++) {
        char name[128] = "";
        for (size_t k = 0; k + 1 < sizeof(name) && options->items[i].name[k] != '\0'; k++) {
            name[k] = (char)tolower((unsigned char)options->items[i].name[k]);
        }
        const bool secret = strstr(name, "secret") != NULL || strstr(name, "token") != NULL ||
                            strstr(name, "account_key") != NULL || strstr(name, "account.key") != NULL;
        (void)expect(c, !secret || strstr(err->message, options->items[i].value) == NULL,
                     "the error tells the value of option %s", options->items[i].name);
    }
}

struct attempt {
    silt_storage *store;
    const silt_call *call;
    const char *dir;
    char path[CONTRACT_PATH_SIZE];
};

enum operation {
    OPERATION_READ = 0,
    OPERATION_LIST = 1,
    OPERATION_STAT = 2,
    OPERATION_PUT = 3,
    OPERATION_REMOVE = 4,
    OPERATION_CREATE = 5,
    N_OPERATIONS = 6
};
static const char *const operation_names[] = {"read", "list", "stat", "put", "remove", "put_if_absent"};

static silt_status attempt_operation(const struct attempt *attempt, enum operation operation, silt_put_outcome *outcome,
                                     silt_error *err)
{
    void *data = NULL;
    size_t len = 0;
    silt_status status = SILT_OK;
    *outcome = SILT_PUT_DONE;
    switch (operation) {
    case OPERATION_READ:
        status = silt_storage_read(attempt->store, attempt->call, attempt->path, &data, &len, err);
        silt_storage_free(attempt->store, data, len);
        return status;
    case OPERATION_LIST:
        return silt_storage_list(attempt->store, attempt->call, attempt->dir, NULL, keep_going, NULL, err);
    case OPERATION_STAT: return silt_storage_stat(attempt->store, attempt->call, attempt->path, NULL, NULL, err);
    case OPERATION_PUT: return silt_storage_put(attempt->store, attempt->call, attempt->path, "x", 1, err);
    case OPERATION_REMOVE: return silt_storage_remove(attempt->store, attempt->call, attempt->path, err);
    case OPERATION_CREATE:
    default: return silt_storage_put_if_absent(attempt->store, attempt->call, attempt->path, "x", 1, outcome, err);
    }
}

static void begin_attempt(struct attempt *attempt, silt_storage *store, const silt_call *call, const char *dir)
{
    *attempt = (struct attempt){.store = store, .call = call, .dir = dir};
    (void)snprintf(attempt->path, sizeof(attempt->path), "%s/f", dir);
}

void a_missing_bucket_is_named(struct contract *c)
{
    struct attempt attempt;
    if (c->settings->missing_uri == NULL) {
        skip_case(c, "no bucket can be missing here");
        return;
    }
    begin_attempt(&attempt, c->store, NULL, c->settings->missing_uri);
    const char *host = strstr(attempt.dir, "://");
    host = host == NULL ? attempt.dir : host + 3;
    char bucket[128] = "";
    (void)snprintf(bucket, sizeof(bucket), "%.*s", (int)strcspn(host, "/@"), host);
    for (unsigned i = 0; i < N_OPERATIONS; i++) {
        silt_error err = SILT_ERROR_INIT;
        silt_put_outcome outcome = SILT_PUT_DONE;
        const silt_status status = attempt_operation(&attempt, (enum operation)i, &outcome, &err);
        if (i == OPERATION_REMOVE && status == SILT_OK) {
            continue; /* what is not there need not be removed */
        }
        (void)(expect_status(c, status, SILT_ENOTFOUND, &err, operation_names[i]) &&
               expect(c, strstr(err.message, bucket) != NULL, "%s: the bucket is not named: %s", operation_names[i],
                      err.message));
        judge_text(c, &err, &c->settings->options);
    }
}

void wrong_credentials_are_refused(struct contract *c)
{
    struct attempt attempt;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (c->settings->wrong.n == 0) {
        skip_case(c, "no credentials are needed here");
        return;
    }
    if (!put_text(c, "f", "kept")) {
        return;
    }
    silt_engine *engine = engine_with(c, &c->settings->wrong, c->dir, &store);
    for (unsigned i = 0; engine != NULL && i < N_OPERATIONS; i++) {
        silt_put_outcome outcome = SILT_PUT_DONE;
        begin_attempt(&attempt, store, NULL, c->dir);
        const silt_status status = attempt_operation(&attempt, (enum operation)i, &outcome, &err);
        (void)expect_status(c, status, SILT_EACCESS, &err, operation_names[i]);
        judge_text(c, &err, &c->settings->wrong);
    }
    silt_storage_unref(store);
    silt_engine_unref(engine);
    (void)expect_text(c, "f", "kept");
}

void nobody_listening_is_told(struct contract *c)
{
    struct attempt attempt;
    silt_storage *store = NULL;
    if (c->settings->unreachable.n == 0) {
        skip_case(c, "there is no server");
        return;
    }
    silt_engine *engine = engine_with(c, &c->settings->unreachable, c->dir, &store);
    for (unsigned i = 0; engine != NULL && i < N_OPERATIONS; i++) {
        silt_error err = SILT_ERROR_INIT;
        silt_put_outcome outcome = SILT_PUT_DONE;
        const silt_call call = {.size = sizeof(call), .deadline_us = c->env->monotonic_us(c->env->ctx) + 500000};
        begin_attempt(&attempt, store, &call, c->dir);
        const silt_status status = attempt_operation(&attempt, (enum operation)i, &outcome, &err);
        const bool told = status == SILT_EIO || status == SILT_EDEADLINE ||
                          (i == OPERATION_CREATE && status == SILT_OK && outcome == SILT_PUT_AMBIGUOUS);
        (void)expect(c, told, "%s: expected EIO or EDEADLINE, got %s: %s", operation_names[i], silt_status_name(status),
                     err.message);
        judge_text(c, &err, &c->settings->unreachable);
    }
    silt_storage_unref(store);
    silt_engine_unref(engine);
}
