/*
 * One pool, many threads: each gets its own answers, and a cancelled one does not disturb the others.
 */
#include "stub_server.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "storage/remote/exchange.h"

#define THREADS 8
#define ROUNDS 20
#define WIDTH 6

struct worker {
    pthread_t thread;
    const struct stub_server *stub;
    struct sl_http *http;
    unsigned number;
    unsigned wrong;
};

struct job {
    char url[256];
    const char *method;
    char body[32];
    char expected[32];
};

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    const struct job *job = exchange->user;
    (void)call;
    (void)renew;
    (void)err;
    exchange->request.method = job->method;
    exchange->request.url = job->url;
    exchange->request.body = job->body;
    exchange->request.body_len = strlen(job->body);
    return SILT_OK;
}

static const struct sl_exchange_class CLASS = {.prepare = prepare};

/* Writes objects, reads them back, and asks what fails first. */
static void fill(const struct worker *worker, struct job *job, unsigned round, unsigned i, bool reads)
{
    char target[128];
    *job = (struct job){.method = reads ? "GET" : "PUT"};
    (void)snprintf(target, sizeof(target), "%s/t%u/%u", i == 0 ? "/do/code=500;object" : "/o", worker->number,
                   round * WIDTH + i);
    (void)snprintf(job->url, sizeof(job->url), "http://127.0.0.1:%d%s", worker->stub->port, target);
    (void)snprintf(reads ? job->expected : job->body, sizeof(job->body), "t%u-%u-%u", worker->number, round, i);
}

static void run_round(struct worker *worker, unsigned round, bool reads)
{
    static const struct sl_exchange_limits LIMITS = {.base_delay_us = 100};
    struct job jobs[WIDTH];
    struct sl_exchange exchanges[WIDTH];
    silt_error err = SILT_ERROR_INIT;
    for (unsigned i = 0; i < WIDTH; i++) {
        fill(worker, &jobs[i], round, i, reads);
        exchanges[i] = (struct sl_exchange){.class = &CLASS, .user = &jobs[i]};
    }
    const silt_status status = sl_exchange_run(worker->http, silt_env_default(), &LIMITS, NULL, exchanges, WIDTH, NULL,
                                               NULL, &err);
    worker->wrong += status != SILT_OK ? 1 : 0;
    for (unsigned i = 0; i < WIDTH; i++) {
        const struct sl_http_request *request = &exchanges[i].request;
        if (exchanges[i].status != SILT_OK || request->code != 200 ||
            strcmp(sl_buf_cstr(&request->answer), jobs[i].expected) != 0) {
            worker->wrong++;
        }
        sl_exchange_release(&exchanges[i]);
    }
}

/* A request that is never answered, ended by its deadline: its connection must not come back. */
static void run_into_deadline(struct worker *worker)
{
    char url[256];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/do/hang/t%u", worker->stub->port, worker->number);
    const silt_env *env = silt_env_default();
    const silt_call call = {.size = sizeof(call), .deadline_us = env->monotonic_us(env->ctx) + 20000};
    struct sl_http_request request = {.method = "GET", .url = url};
    worker->wrong += sl_http_perform(worker->http, &call, &request, 1, NULL, NULL, NULL) != SILT_EDEADLINE ? 1 : 0;
    sl_http_request_release(&request);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    for (unsigned round = 0; round < ROUNDS; round++) {
        run_round(worker, round, false);
        if (round % 10 == 5) {
            run_into_deadline(worker);
        }
        run_round(worker, round, true);
    }
    return NULL;
}

static void threads_share_a_pool(void **state)
{
    (void)state;
    struct stub_server stub;
    struct worker workers[THREADS];
    struct sl_http *http = NULL;
    assert_true(stub_server_start(&stub, false));
    assert_int_equal(sl_http_new(silt_env_default(), &(struct sl_http_options){.max_connections = 4}, &http, NULL),
                     SILT_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.stub = &stub, .http = http, .number = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
        wrong += workers[i].wrong;
    }
    assert_int_equal(wrong, 0);
    /* Connections are kept: a thread uses no more than four at once, and loses those that its deadlines end. */
    assert_true(stub_server_connections(&stub) <= THREADS * (4 + 2 * ROUNDS / 10));
    sl_http_free(http);
    stub_server_stop(&stub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_pool),
    };
    return cmocka_run_group_tests_name("storage/remote/http_threads", tests, NULL, NULL);
}
