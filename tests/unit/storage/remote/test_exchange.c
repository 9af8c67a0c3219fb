/*
 * Exchanges against a server that misbehaves, on a clock that only sleeping moves.
 */
#include "stub_server.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

#include "storage/remote/exchange.h"

#define MAX_EXCHANGES 200

/* What the store of these tests knows of an exchange. */
struct wish {
    const char *method;
    char url[256];
    const char *body;
    bool if_absent;
    unsigned prepared;
    unsigned renewed;
    silt_status refuse_to_prepare;
};

struct rig {
    struct stub_server stub;
    struct test_env test;
    struct sl_http *http;
    struct wish wishes[MAX_EXCHANGES];
    struct sl_exchange exchanges[MAX_EXCHANGES];
    size_t order[MAX_EXCHANGES];
    size_t n_done;
    volatile int cancel;
    size_t cancel_after; /* so many have been completed; 0: never */
};

static int start_stub(void **state)
{
    static struct rig rig;
    *state = &rig;
    return stub_server_start(&rig.stub, false) ? 0 : -1;
}

static int stop_stub(void **state)
{
    struct rig *rig = *state;
    stub_server_stop(&rig->stub);
    return 0;
}

static void open_pool(struct rig *rig, const struct sl_http_options *options)
{
    silt_error err = SILT_ERROR_INIT;
    sl_http_free(rig->http);
    assert_int_equal(sl_http_new(&rig->test.env, options, &rig->http, &err), SILT_OK);
}

static int set_up(void **state)
{
    struct rig *rig = *state;
    memset(rig->wishes, 0, sizeof(rig->wishes));
    memset(rig->exchanges, 0, sizeof(rig->exchanges));
    rig->n_done = 0;
    rig->cancel = 0;
    rig->cancel_after = 0;
    rig->http = NULL;
    test_env_init(&rig->test);
    open_pool(rig, NULL);
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    for (size_t i = 0; i < MAX_EXCHANGES; i++) {
        sl_exchange_release(&rig->exchanges[i]);
    }
    sl_http_free(rig->http);
    rig->http = NULL;
    test_env_check(&rig->test);
    return 0;
}

/* ---- a store ---- */

static silt_status prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err)
{
    static const struct sl_http_header IF_ABSENT = {"If-None-Match", "*"};
    struct wish *wish = exchange->user;
    (void)call;
    wish->prepared++;
    wish->renewed += renew ? 1 : 0;
    if (wish->refuse_to_prepare != SILT_OK) {
        (void)snprintf(err->message, sizeof(err->message), "not prepared");
        return wish->refuse_to_prepare;
    }
    exchange->request.method = wish->method;
    exchange->request.url = wish->url;
    exchange->request.body = wish->body;
    exchange->request.body_len = wish->body != NULL ? strlen(wish->body) : 0;
    exchange->request.headers = wish->if_absent ? &IF_ABSENT : NULL;
    exchange->request.n_headers = wish->if_absent ? 1 : 0;
    return SILT_OK;
}

static bool slow_down_is_a_refusal(const struct sl_exchange *exchange)
{
    return exchange->request.code == 503 || sl_exchange_refused(exchange);
}

static const struct sl_exchange_class PLAIN = {.prepare = prepare};
static const struct sl_exchange_class KNOWS_SLOW_DOWN = {.prepare = prepare, .refused = slow_down_is_a_refusal};

static struct sl_exchange *wish_for(struct rig *rig, size_t i, const char *method, const char *target)
{
    sl_exchange_release(&rig->exchanges[i]);
    rig->wishes[i] = (struct wish){.method = method};
    (void)snprintf(rig->wishes[i].url, sizeof(rig->wishes[i].url), "%s", stub_server_url(&rig->stub, target));
    rig->exchanges[i] = (struct sl_exchange){.class = &PLAIN, .user = &rig->wishes[i]};
    return &rig->exchanges[i];
}

static struct sl_exchange *create(struct rig *rig, const char *target)
{
    struct sl_exchange *exchange = wish_for(rig, 0, "PUT", target);
    rig->wishes[0].body = "mine";
    rig->wishes[0].if_absent = true;
    return exchange;
}

static void note_done(void *ctx, struct sl_exchange *exchange)
{
    struct rig *rig = ctx;
    rig->order[rig->n_done++] = (size_t)(exchange - rig->exchanges);
    if (rig->n_done == rig->cancel_after) {
        rig->cancel = 1;
    }
}

static silt_status run(struct rig *rig, size_t n, const struct sl_exchange_limits *limits, const silt_call *call)
{
    silt_error err = SILT_ERROR_INIT;
    rig->n_done = 0;
    const silt_status status = sl_exchange_run(rig->http, &rig->test.env, limits, call, rig->exchanges, n, note_done,
                                               rig, &err);
    assert_int_equal(rig->n_done, n);
    assert_int_equal(status == SILT_OK, err.message[0] == '\0');
    return status;
}

static void run_to_answer(struct rig *rig, int code)
{
    assert_int_equal(run(rig, 1, NULL, NULL), SILT_OK);
    if (rig->exchanges[0].status != SILT_OK) {
        fail_msg("%s", rig->exchanges[0].error.message);
    }
    assert_int_equal(rig->exchanges[0].request.code, code);
}

/* ---- tests ---- */

static void first_answer_counts_when_it_is_good(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/body=good/first");
    run_to_answer(rig, 200);
    assert_string_equal(sl_buf_cstr(&exchange->request.answer), "good");
    assert_int_equal(exchange->attempts, 1);
    assert_false(exchange->unclear);
    assert_int_equal(rig->test.n_sleeps, 0);
}

static void busy_server_is_asked_again(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = wish_for(
        rig, 0, "PUT", "/do/code=503;code=500;code=502;code=504;code=429;code=408;quiet,end=reset;body=good/busy");
    run_to_answer(rig, 200);
    assert_string_equal(sl_buf_cstr(&exchange->request.answer), "good");
    assert_int_equal(exchange->attempts, 8);
    assert_int_equal(rig->wishes[0].prepared, 8);
    assert_true(rig->test.slept_us > 0);
}

static void other_refusals_are_final(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/code=403;body=good/final");
    run_to_answer(rig, 403);
    assert_int_equal(exchange->attempts, 1);
    assert_false(sl_exchange_is_unclear(exchange));
}

/* Without random bytes a delay is as long as it may be. */
static void delays_double_up_to_a_ceiling(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange_limits limits = {.base_delay_us = 1000, .max_delay_us = 3000};
    wish_for(rig, 0, "GET", "/do/code=500;code=500;code=500;code=500;body=good/double");
    rig->test.random_status = SILT_EIO;
    assert_int_equal(run(rig, 1, &limits, NULL), SILT_OK);
    assert_int_equal(rig->exchanges[0].request.code, 200);
    assert_int_equal(rig->test.slept_us, 1000 + 2000 + 3000 + 3000);
}

static void delays_have_jitter(void **state)
{
    struct rig *rig = *state;
    wish_for(rig, 0, "GET", "/do/code=500;body=good/jitter");
    run_to_answer(rig, 200);
    assert_true(rig->test.slept_us > 0 && rig->test.slept_us < 100000);
}

static void waits_as_long_as_the_server_says(void **state)
{
    struct rig *rig = *state;
    wish_for(rig, 0, "GET", "/do/code=503,retry-after=7;body=good/after");
    run_to_answer(rig, 200);
    assert_true(rig->test.slept_us >= 7000000 && rig->test.slept_us <= 7100000);
    /* The clock began at 2020-01-01T00:00:00Z. */
    rig->test.slept_us = 0;
    rig->test.wall_us = INT64_C(1577836800000000);
    wish_for(rig, 0, "GET", "/do/code=503,retry-after=Wed%2C%2001%20Jan%202020%2000:00:12%20GMT;body=good/date");
    run_to_answer(rig, 200);
    assert_true(rig->test.slept_us >= 12000000 && rig->test.slept_us <= 12100000);
    rig->test.slept_us = 0;
    wish_for(rig, 0, "GET", "/do/code=503,retry-after=86400;body=good/day");
    run_to_answer(rig, 200);
    assert_true(rig->test.slept_us >= 20000000 && rig->test.slept_us <= 20100000);
    rig->test.slept_us = 0;
    wish_for(rig, 0, "GET", "/do/code=503,retry-after=soon;body=good/soon");
    run_to_answer(rig, 200);
    assert_true(rig->test.slept_us <= 100000);
}

static void lost_answer_of_a_create_stays_unclear(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = create(rig, "/do/effect,quiet,end=close;object/lost");
    run_to_answer(rig, 412);
    assert_int_equal(exchange->attempts, 2);
    assert_true(exchange->unclear);
}

/* The same on a connection that was kept: libcurl alone would have sent it twice and told of one answer. */
static void lost_answer_on_a_kept_connection_stays_unclear(void **state)
{
    struct rig *rig = *state;
    wish_for(rig, 0, "GET", "/do/body=warm/warm");
    run_to_answer(rig, 200);
    const struct sl_exchange *exchange = create(rig, "/do/effect,quiet,end=close;object/kept");
    run_to_answer(rig, 412);
    assert_int_equal(exchange->attempts, 2);
    assert_int_equal(stub_server_count(&rig->stub, "/do/effect,quiet,end=close;object/kept"), 2);
    assert_true(exchange->unclear);
}

static void error_after_the_effect_stays_unclear(void **state)
{
    struct rig *rig = *state;
    static const char *const TARGETS[] = {"/do/effect,code=500;object/e500", "/do/effect,code=502;object/e502",
                                          "/do/effect,code=503;object/e503", "/do/effect,code=504;object/e504",
                                          "/do/effect,code=408;object/e408", "/do/effect,body=abc,cut=1;object/ecut"};
    for (size_t i = 0; i < sizeof(TARGETS) / sizeof(TARGETS[0]); i++) {
        const struct sl_exchange *exchange = create(rig, TARGETS[i]);
        run_to_answer(rig, 412);
        assert_true(exchange->unclear);
    }
}

static void refusals_leave_nothing_unclear(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = create(rig, "/do/code=429;code=429;object/r429");
    run_to_answer(rig, 200);
    assert_false(exchange->unclear);
    exchange = create(rig, "/do/code=503;object/r503");
    rig->exchanges[0].class = &KNOWS_SLOW_DOWN;
    run_to_answer(rig, 200);
    assert_int_equal(exchange->attempts, 2);
    assert_false(exchange->unclear);
}

static void unreachable_server_leaves_nothing_unclear(void **state)
{
    struct rig *rig = *state;
    struct sl_exchange *exchange = create(rig, "/");
    const struct sl_exchange_limits limits = {.max_attempts = 3};
    (void)snprintf(rig->wishes[0].url, sizeof(rig->wishes[0].url), "http://127.0.0.1:1/x?sig=secret");
    assert_int_equal(run(rig, 1, &limits, NULL), SILT_OK);
    assert_int_equal(exchange->status, SILT_EIO);
    assert_int_equal(exchange->attempts, 3);
    assert_false(sl_exchange_is_unclear(exchange));
    assert_non_null(strstr(exchange->error.hint, "attempt 3"));
    assert_null(strstr(exchange->error.message, "secret"));
}

/* A wrong address, or no network: nobody wants to wait for that as for a server that was there and is coming back. */
static void who_was_never_met_is_given_up_soon(void **state)
{
    struct rig *rig = *state;
    for (unsigned round = 0; round < 2; round++) {
        const struct sl_exchange *exchange = create(rig, "/");
        (void)snprintf(rig->wishes[0].url, sizeof(rig->wishes[0].url), "http://127.0.0.1:1/x");
        assert_int_equal(run(rig, 1, NULL, NULL), SILT_OK);
        assert_int_equal(exchange->status, SILT_EIO);
        assert_int_equal(exchange->attempts, round == 0 ? 5 : 10);
        wish_for(rig, 0, "GET", "/do/code=404/met");
        run_to_answer(rig, 404);
    }
}

static void last_attempt_without_an_answer_is_unclear(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange_limits limits = {.max_attempts = 1};
    const struct sl_exchange *exchange = create(rig, "/do/effect,quiet,end=close/last");
    assert_int_equal(run(rig, 1, &limits, NULL), SILT_OK);
    assert_int_equal(exchange->status, SILT_EIO);
    assert_false(exchange->unclear);
    assert_true(sl_exchange_is_unclear(exchange));
}

static void when_attempts_run_out_the_last_answer_counts(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange_limits limits = {.max_attempts = 4};
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/code=503,body=busy/out");
    assert_int_equal(run(rig, 1, &limits, NULL), SILT_OK);
    assert_int_equal(exchange->attempts, 4);
    assert_int_equal(exchange->status, SILT_OK);
    assert_int_equal(exchange->request.code, 503);
    assert_string_equal(sl_buf_cstr(&exchange->request.answer), "busy");
}

static void time_runs_out_before_a_wait_and_not_after_it(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange_limits limits = {.max_total_us = 5000000};
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/code=503,retry-after=6/total");
    assert_int_equal(run(rig, 1, &limits, NULL), SILT_OK);
    assert_int_equal(exchange->attempts, 1);
    assert_int_equal(exchange->request.code, 503);
    const silt_call call = {.size = sizeof(call), .deadline_us = rig->test.monotonic_us + 5000000};
    exchange = wish_for(rig, 0, "PUT", "/do/quiet,end=close;code=503,retry-after=6/deadline");
    assert_int_equal(run(rig, 1, NULL, &call), SILT_OK);
    assert_int_equal(exchange->attempts, 2);
    assert_int_equal(exchange->request.code, 503);
    assert_true(rig->test.slept_us < 1000000);
}

static void credentials_are_renewed_once(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/code=401;body=good/renew");
    run_to_answer(rig, 200);
    assert_int_equal(rig->wishes[0].renewed, 1);
    assert_int_equal(rig->test.n_sleeps, 0);
    exchange = wish_for(rig, 0, "GET", "/do/code=401/refused");
    run_to_answer(rig, 401);
    assert_int_equal(exchange->attempts, 2);
    assert_int_equal(rig->wishes[0].renewed, 1);
}

static void what_cannot_be_prepared_completes_with_it(void **state)
{
    struct rig *rig = *state;
    const struct sl_exchange *exchange = wish_for(rig, 0, "GET", "/do/body=a/p");
    rig->wishes[0].refuse_to_prepare = SILT_EACCESS;
    assert_int_equal(run(rig, 1, NULL, NULL), SILT_OK);
    assert_int_equal(exchange->status, SILT_EACCESS);
    assert_string_equal(exchange->error.message, "not prepared");
    assert_int_equal(exchange->attempts, 0);
    assert_false(sl_exchange_is_unclear(exchange));
}

static void one_that_waits_holds_nobody_up(void **state)
{
    struct rig *rig = *state;
    open_pool(rig, &(struct sl_http_options){.max_connections = 1});
    wish_for(rig, 0, "GET", "/do/code=503,retry-after=9;body=good/slow");
    for (size_t i = 1; i < 20; i++) {
        wish_for(rig, i, "GET", "/do/body=good/quick");
    }
    assert_int_equal(run(rig, 20, NULL, NULL), SILT_OK);
    assert_int_equal(rig->order[19], 0);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(rig->exchanges[i].request.code, 200);
    }
}

static void many_at_once_have_their_own_answers(void **state)
{
    struct rig *rig = *state;
    open_pool(rig, &(struct sl_http_options){.max_connections = 16});
    const long before = stub_server_connections(&rig->stub);
    for (size_t i = 0; i < MAX_EXCHANGES; i++) {
        char target[64];
        (void)snprintf(target, sizeof(target), "/do/%sbody=n%zu/many", i % 3 == 0 ? "code=500;" : "", i);
        wish_for(rig, i, "GET", target);
    }
    assert_int_equal(run(rig, MAX_EXCHANGES, NULL, NULL), SILT_OK);
    for (size_t i = 0; i < MAX_EXCHANGES; i++) {
        char expected[16];
        (void)snprintf(expected, sizeof(expected), "n%zu", i);
        assert_int_equal(rig->exchanges[i].status, SILT_OK);
        assert_string_equal(sl_buf_cstr(&rig->exchanges[i].request.answer), expected);
        assert_int_equal(rig->exchanges[i].attempts, i % 3 == 0 ? 2 : 1);
    }
    assert_true(stub_server_connections(&rig->stub) - before <= 16);
}

/* Who is told of a cancellation takes it that nothing was done. */
static void what_was_answered_is_not_denied_by_a_cancellation(void **state)
{
    struct rig *rig = *state;
    const silt_call call = {.size = sizeof(call), .cancel = &rig->cancel};
    const struct sl_exchange *exchange = create(rig, "/cancelled-late");
    rig->cancel_after = 1;
    assert_int_equal(run(rig, 1, NULL, &call), SILT_OK);
    assert_int_equal(rig->cancel, 1);
    assert_int_equal(exchange->status, SILT_OK);
    assert_int_equal(exchange->request.code, 200);
}

static void cancelled_run_completes_all(void **state)
{
    struct rig *rig = *state;
    const silt_call call = {.size = sizeof(call), .cancel = &rig->cancel};
    open_pool(rig, &(struct sl_http_options){.max_connections = 4});
    for (size_t i = 0; i < 20; i++) {
        wish_for(rig, i, "PUT",
                 i < 3    ? "/do/hang/cancel"
                 : i == 3 ? "/do/body=a/cancel"
                          : "/do/code=500,retry-after=5/cancel");
    }
    rig->cancel_after = 1;
    assert_int_equal(run(rig, 20, NULL, &call), SILT_ECANCELLED);
    assert_int_equal(rig->order[0], 3);
    for (size_t i = 0; i < 20; i++) {
        const struct sl_exchange *exchange = &rig->exchanges[i];
        assert_int_equal(exchange->status, i == 3 ? SILT_OK : SILT_ECANCELLED);
        if (i != 3) {
            assert_int_equal(sl_exchange_is_unclear(exchange), i < 3 || exchange->attempts > 0);
        }
    }
}

static void nothing_to_do_is_done(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(run(rig, 0, NULL, NULL), SILT_OK);
}

/* Whatever allocation fails, each exchange is completed once, and an answer is the whole one. */
static void survives_every_failed_allocation(void **state)
{
    struct rig *rig = *state;
    size_t n = 1;
    for (;; n++) {
        silt_error err = SILT_ERROR_INIT;
        struct sl_http *http = NULL;
        create(rig, "/do/code=429;code=200,body=whole/oom");
        wish_for(rig, 1, "GET", "/do/body=whole/oom2");
        rig->n_done = 0;
        test_env_fail_at(&rig->test, n);
        silt_status status = sl_http_new(&rig->test.env, &(struct sl_http_options){.ca_file = "/dev/null"}, &http,
                                         &err);
        if (status == SILT_OK) {
            status = sl_exchange_run(http, &rig->test.env, NULL, NULL, rig->exchanges, 2, note_done, rig, &err);
            assert_int_equal(rig->n_done, 2);
        }
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        for (size_t i = 0; i < 2 && rig->n_done == 2; i++) {
            const struct sl_exchange *exchange = &rig->exchanges[i];
            assert_true(exchange->status == SILT_ENOMEM || exchange->status == SILT_OK);
            assert_string_equal(sl_buf_cstr(&exchange->request.answer), exchange->status == SILT_OK ? "whole" : "");
        }
        const bool over = rig->test.n_requests < n;
        test_env_fail_at(&rig->test, 0);
        sl_exchange_release(&rig->exchanges[0]);
        sl_exchange_release(&rig->exchanges[1]);
        sl_http_free(http);
        if (over) {
            assert_int_equal(status, SILT_OK);
            break;
        }
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_answer_counts_when_it_is_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(busy_server_is_asked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_refusals_are_final, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delays_double_up_to_a_ceiling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delays_have_jitter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(waits_as_long_as_the_server_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_answer_of_a_create_stays_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_answer_on_a_kept_connection_stays_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(error_after_the_effect_stays_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals_leave_nothing_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unreachable_server_leaves_nothing_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_was_never_met_is_given_up_soon, set_up, tear_down),
        cmocka_unit_test_setup_teardown(last_attempt_without_an_answer_is_unclear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(when_attempts_run_out_the_last_answer_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_runs_out_before_a_wait_and_not_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(credentials_are_renewed_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_prepared_completes_with_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_waits_holds_nobody_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_at_once_have_their_own_answers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled_run_completes_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_answered_is_not_denied_by_a_cancellation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_do_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_every_failed_allocation, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("storage/remote/exchange", tests, start_stub, stop_stub);
}
