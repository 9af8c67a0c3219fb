/*
 * Exchanges over attempts. All that run at once share one session; one that waits for its next attempt is in a list and holds nobody up.
 * No more are prepared than can be sent, so that signatures are fresh.
 *
 * One thread a run.
 */
#include "storage/remote/exchange.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/http_int.h"

#define DEFAULT_MAX_ATTEMPTS 10
#define DEFAULT_BASE_DELAY_US INT64_C(100000)
#define DEFAULT_MAX_SILENT 3
#define MAX_UNREACHED \
    5 /* a second or so: more likely a wrong address, or no network, than a server that is coming back */
#define DEFAULT_MAX_DELAY_US INT64_C(20000000)
#define DEFAULT_MAX_TOTAL_US INT64_C(180000000)

/* An exchange on its way. */
struct effort {
    struct effort *next; /* in `waiting` */
    int64_t started_us;
    int64_t ceiling_us; /* of the next delay */
    int64_t due_us;     /* of the next attempt, while it waits */
    bool renew;         /* the next attempt needs fresh credentials */
    bool renewed;       /* it was asked for once */
    bool completed;
    uint32_t silent; /* attempts that the server said nothing to, one after the other */
    uint32_t steps;  /* attempts that were steps on the way */
};

struct run {
    const silt_env *env;
    const silt_call *call;
    struct sl_exchange_limits limits; /* no field is 0 */
    struct sl_http_session session;
    struct sl_exchange *exchanges;
    struct effort *efforts; /* one for each */
    size_t n;
    size_t n_begun;
    struct effort *waiting;
    void (*on_done)(void *ctx, struct sl_exchange *exchange);
    void *ctx;
    const struct sl_exchange_feed *feed; /* NULL: all exchanges are there from the beginning */
    bool dry;                            /* it has no more */
    silt_status halted;                  /* by the feed */
    silt_error halt;
};

/* ---- verdicts ---- */

enum sl_verdict sl_exchange_judge(struct sl_exchange *exchange)
{
    if (exchange->request.status != SILT_OK) {
        return exchange->request.status == SILT_EIO && !exchange->request.final ? SL_VERDICT_RETRY : SL_VERDICT_DONE;
    }
    switch (exchange->request.code) {
    case 401: return SL_VERDICT_RENEW;
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return SL_VERDICT_RETRY;
    default: return SL_VERDICT_DONE;
    }
}

bool sl_exchange_refused(const struct sl_exchange *exchange)
{
    const int code = exchange->request.code;
    return code >= 300 && code < 500 && code != 408;
}

/* True when nothing rules out that the last attempt had its effect. */
static bool may_have_happened(const struct sl_exchange *exchange)
{
    if (exchange->request.status != SILT_OK) {
        return !exchange->request.unsent;
    }
    const bool refused = exchange->class->refused != NULL ? exchange->class->refused(exchange)
                                                          : sl_exchange_refused(exchange);
    return !refused;
}

bool sl_exchange_is_unclear(const struct sl_exchange *exchange)
{
    return exchange->unclear || may_have_happened(exchange);
}

/* ---- completion ---- */

static struct effort *effort_of(const struct run *run, const struct sl_exchange *exchange)
{
    return &run->efforts[exchange - run->exchanges];
}

static struct sl_exchange *exchange_of(const struct run *run, const struct effort *effort)
{
    return &run->exchanges[effort - run->efforts];
}

/* With what its last attempt gave. */
static void complete(struct run *run, struct sl_exchange *exchange)
{
    exchange->status = exchange->request.status;
    exchange->error = exchange->request.error;
    if (run->feed != NULL) {
        silt_error error = SILT_ERROR_INIT;
        const silt_status status = run->feed->on_done(run->feed->ctx, exchange, &error);
        if (status != SILT_OK && run->halted == SILT_OK) {
            run->halted = status;
            run->halt = error;
        }
    } else if (run->on_done != NULL) {
        run->on_done(run->ctx, exchange);
    }
}

/* With a failure before an attempt. */
static void complete_failed(struct run *run, struct sl_exchange *exchange, silt_status status, const silt_error *err)
{
    sl_http_request_fail(&exchange->request, status, err);
    complete(run, exchange);
}

/* ---- delays ---- */

static int64_t jitter(const silt_env *env, int64_t ceiling_us)
{
    uint64_t chance = UINT64_MAX;
    if (env->random_bytes(env->ctx, &chance, sizeof(chance)) != SILT_OK) {
        return ceiling_us; /* jitter is a courtesy */
    }
    return (int64_t)(chance % ((uint64_t)ceiling_us + 1));
}

/* A random part of what the back-off allows; at least what the server asks for, and then not all at once either. */
static int64_t choose_delay(const struct run *run, const struct sl_exchange *exchange, int64_t ceiling_us)
{
    const struct sl_http_request *request = &exchange->request;
    const int64_t delay_us = jitter(run->env, ceiling_us);
    const struct sl_str text = sl_http_header(request, "retry-after");
    int64_t asked_us = 0;
    if (request->status != SILT_OK || text.ptr == NULL ||
        !sl_http_retry_after_parse(text, sl_now_us(run->env), &asked_us)) {
        return delay_us;
    }
    asked_us = asked_us < run->limits.max_delay_us ? asked_us : run->limits.max_delay_us;
    const int64_t spread_us = delay_us < run->limits.base_delay_us ? delay_us : run->limits.base_delay_us;
    return asked_us > 0 ? asked_us + spread_us : delay_us;
}

static void wait_until(struct run *run, struct effort *effort, int64_t due_us)
{
    effort->due_us = due_us;
    effort->next = run->waiting;
    run->waiting = effort;
}

/* Nobody was met so far, now or before. A server that was there once, and is not for a while, is waited for. */
static bool is_nowhere(const struct run *run, const struct sl_exchange *exchange)
{
    return exchange->request.status != SILT_OK && exchange->request.unreached && exchange->attempts >= MAX_UNREACHED &&
           !atomic_load_explicit(&run->session.http->answered, memory_order_relaxed);
}

static bool is_before_deadline(const silt_call *call, int64_t due_us)
{
    return call == NULL || call->deadline_us == 0 || due_us < call->deadline_us;
}

static int64_t next_ceiling(const struct sl_exchange_limits *limits, int64_t ceiling_us)
{
    return ceiling_us < limits->max_delay_us / 2 ? ceiling_us * 2 : limits->max_delay_us;
}

static void hint_given_up(silt_error *err, uint32_t made, bool before_deadline)
{
    if (err->hint[0] == '\0') {
        sl_error_hint(err, "gave up after attempt %u%s", (unsigned)made,
                      !before_deadline ? " because of the deadline" : "");
    }
}

/* Puts the exchange to wait for its next attempt; false when there is to be none. */
static bool try_again(struct run *run, struct sl_exchange *exchange)
{
    struct effort *effort = effort_of(run, exchange);
    const struct sl_exchange_limits *limits = &run->limits;
    const int64_t due_us = sl_monotonic_us(run->env) + choose_delay(run, exchange, effort->ceiling_us);
    const bool in_time = due_us - effort->started_us <= limits->max_total_us;
    effort->silent = exchange->request.status != SILT_OK && exchange->request.silent ? effort->silent + 1 : 0;
    const bool before_deadline = is_before_deadline(run->call, due_us);
    const uint32_t made = exchange->attempts - effort->steps;
    const bool enough = made >= limits->max_attempts || effort->silent >= limits->max_silent ||
                        is_nowhere(run, exchange);
    if (enough || !in_time || !before_deadline) {
        if (exchange->request.status != SILT_OK) {
            hint_given_up(&exchange->request.error, made, before_deadline);
        }
        return false;
    }
    effort->ceiling_us = next_ceiling(limits, effort->ceiling_us);
    wait_until(run, effort, due_us);
    return true;
}

/* ---- attempts ---- */

static void attempt_done(void *ctx, struct sl_http_request *request)
{
    struct run *run = ctx;
    struct sl_exchange *exchange = (struct sl_exchange *)(void *)((char *)request -
                                                                  offsetof(struct sl_exchange, request));
    struct effort *effort = effort_of(run, exchange);
    enum sl_verdict verdict = SL_VERDICT_DONE;
    exchange->attempts++;
    if (request->status == SILT_OK || request->status == SILT_EIO) { /* nothing else gets better by waiting */
        verdict = exchange->class->judge != NULL ? exchange->class->judge(exchange) : sl_exchange_judge(exchange);
    }
    bool again = false;
    if (verdict == SL_VERDICT_RENEW && !effort->renewed) {
        effort->renew = true;
        effort->renewed = true;
        wait_until(run, effort, sl_monotonic_us(run->env));
        again = true;
    } else if (verdict == SL_VERDICT_RETRY) {
        again = try_again(run, exchange);
    } else if (verdict == SL_VERDICT_NEXT) {
        effort->steps++;
        wait_until(run, effort, sl_monotonic_us(run->env));
        again = true;
    }
    if (!again) {
        effort->completed = true;
        complete(run, exchange);
        return;
    }
    /* What is repeated leaves nothing behind but what it may have done. */
    exchange->unclear = exchange->unclear || may_have_happened(exchange);
    sl_http_request_release(request);
    request->unsent = true;
}

static void begin_attempt(struct run *run, struct effort *effort)
{
    struct sl_exchange *exchange = exchange_of(run, effort);
    silt_error error = SILT_ERROR_INIT;
    const silt_status status = exchange->class->prepare(exchange, run->call, effort->renew, &error);
    effort->renew = false;
    if (status != SILT_OK) {
        effort->completed = true;
        complete_failed(run, exchange, status, &error);
        return;
    }
    sl_http_session_add(&run->session, &exchange->request);
}

/* Takes one that is due out of the list; NULL if there is none. *next_us is then when the first of the others is. */
static struct effort *take_due(struct run *run, int64_t now_us, int64_t *next_us)
{
    *next_us = INT64_MAX;
    for (struct effort **link = &run->waiting; *link != NULL; link = &(*link)->next) {
        struct effort *effort = *link;
        if (effort->due_us <= now_us) {
            *link = effort->next;
            return effort;
        }
        *next_us = effort->due_us < *next_us ? effort->due_us : *next_us;
    }
    return NULL;
}

/* One that was not begun yet; NULL: there is none, or no room for it. */
static struct effort *take_new(struct run *run)
{
    if (run->feed == NULL) {
        return run->n_begun < run->n ? &run->efforts[run->n_begun++] : NULL;
    }
    for (size_t i = 0; i < run->n && !run->dry && run->halted == SILT_OK; i++) {
        if (run->efforts[i].completed) {
            run->dry = !run->feed->next(run->feed->ctx, &run->exchanges[i]);
            return run->dry ? NULL : &run->efforts[i];
        }
    }
    return NULL;
}

/* Begins what is due and then what is new, as there is room. *next_us is when another could be begun, INT64_MAX if that depends on room. */
static void begin_attempts(struct run *run, int64_t *next_us)
{
    const size_t room = run->session.http->options.max_connections;
    *next_us = INT64_MAX;
    while (run->session.n_open < room) {
        const int64_t now_us = sl_monotonic_us(run->env);
        struct effort *effort = take_due(run, now_us, next_us);
        if (effort == NULL) {
            effort = take_new(run);
            if (effort == NULL) {
                return;
            }
            *effort = (struct effort){.started_us = now_us, .ceiling_us = run->limits.base_delay_us};
        }
        begin_attempt(run, effort);
    }
    *next_us = INT64_MAX;
}

static bool is_over(const struct run *run)
{
    return run->session.n_open == 0 && run->waiting == NULL && (run->feed != NULL ? run->dry : run->n_begun == run->n);
}

/* What was answered is not denied because the call is over by then: who is told of that takes it that nothing was done. */
static silt_status run_all(struct run *run, silt_error *err)
{
    while (!is_over(run)) {
        int64_t next_us = 0;
        SL_TRY(sl_call_check(run->env, run->call, err));
        begin_attempts(run, &next_us);
        if (run->halted != SILT_OK) {
            return sl_error_take(err, &run->halt);
        }
        const int64_t wait_us = next_us == INT64_MAX ? SL_HTTP_SLICE_US : next_us - sl_monotonic_us(run->env);
        if (run->session.n_open > 0) {
            SL_TRY(sl_http_session_turn(&run->session, wait_us, err));
        } else if (!is_over(run)) {
            SL_TRY(sl_call_sleep(run->env, run->call, wait_us > 0 ? wait_us : 0, err));
        }
    }
    return run->halted != SILT_OK ? sl_error_take(err, &run->halt) : SILT_OK; /* by the last answer */
}

/* After a failure of the whole: those that had no attempt under way. */
static void complete_rest(struct run *run, silt_status status, const silt_error *err)
{
    for (size_t i = 0; i < run->n; i++) {
        const bool begun = run->efforts != NULL && (run->feed != NULL || i < run->n_begun);
        if (begun ? !run->efforts[i].completed : run->feed == NULL) {
            complete_failed(run, &run->exchanges[i], status, err);
        }
    }
}

static struct sl_exchange_limits choose_limits(const struct sl_exchange_limits *limits)
{
    struct sl_exchange_limits chosen = limits != NULL ? *limits : (struct sl_exchange_limits){0};
    chosen.max_attempts = chosen.max_attempts != 0 ? chosen.max_attempts : DEFAULT_MAX_ATTEMPTS;
    chosen.max_silent = chosen.max_silent != 0 ? chosen.max_silent : DEFAULT_MAX_SILENT;
    chosen.base_delay_us = chosen.base_delay_us > 0 ? chosen.base_delay_us : DEFAULT_BASE_DELAY_US;
    chosen.max_delay_us = chosen.max_delay_us > 0 ? chosen.max_delay_us : DEFAULT_MAX_DELAY_US;
    chosen.max_total_us = chosen.max_total_us > 0 ? chosen.max_total_us : DEFAULT_MAX_TOTAL_US;
    if (chosen.base_delay_us > chosen.max_delay_us) {
        chosen.base_delay_us = chosen.max_delay_us;
    }
    return chosen;
}

/* ---- tries of several exchanges ---- */

void sl_tries_begin(struct sl_tries *tries, const silt_env *env, const silt_call *call)
{
    *tries = (struct sl_tries){
        .env = env, .call = call, .started_us = sl_monotonic_us(env), .ceiling_us = choose_limits(NULL).base_delay_us};
}

silt_status sl_tries_wait(struct sl_tries *tries, bool silent, bool *again, silt_error *failure, silt_error *err)
{
    const struct sl_exchange_limits limits = choose_limits(NULL);
    const int64_t delay_us = jitter(tries->env, tries->ceiling_us);
    const int64_t due_us = sl_monotonic_us(tries->env) + delay_us;
    const bool before_deadline = is_before_deadline(tries->call, due_us);
    tries->made++;
    tries->silent = silent ? tries->silent + 1 : 0;
    tries->ceiling_us = next_ceiling(&limits, tries->ceiling_us);
    *again = tries->made < limits.max_attempts && tries->silent < limits.max_silent && before_deadline &&
             due_us - tries->started_us <= limits.max_total_us;
    if (!*again) {
        hint_given_up(failure, tries->made, before_deadline);
        return SILT_OK;
    }
    return sl_call_sleep(tries->env, tries->call, delay_us, err);
}

/* ---- runs ---- */

static silt_status start_run(struct run *run, struct sl_http *http, silt_error *err)
{
    silt_error error = SILT_ERROR_INIT;
    run->session = (struct sl_http_session){.on_done = attempt_done, .ctx = run};
    run->efforts = sl_alloc_array(run->env, run->n, sizeof(*run->efforts));
    silt_status status = SILT_ENOMEM;
    if (run->efforts == NULL) {
        sl_ignore(sl_fail_nomem(&error)); /* for its text */
    } else {
        for (size_t i = 0; i < run->n; i++) {
            run->efforts[i] = (struct effort){.completed = run->feed != NULL}; /* those of a feed are free */
        }
        status = sl_http_session_open(&run->session, http, run->call, &error);
    }
    if (status == SILT_OK) {
        status = run_all(run, &error);
        sl_http_session_close(&run->session, status, &error);
    }
    if (status != SILT_OK) {
        complete_rest(run, status, &error);
        if (err != NULL) {
            *err = error;
        }
    }
    sl_release(run->env, run->efforts, run->n * sizeof(*run->efforts));
    return status;
}

silt_status sl_exchange_run(struct sl_http *http, const silt_env *env, const struct sl_exchange_limits *limits,
                            const silt_call *call, struct sl_exchange *exchanges, size_t n,
                            void (*on_done)(void *ctx, struct sl_exchange *exchange), void *ctx, silt_error *err)
{
    struct run run = {.env = env,
                      .call = call,
                      .limits = choose_limits(limits),
                      .exchanges = exchanges,
                      .n = n,
                      .on_done = on_done,
                      .ctx = ctx};
    return n > 0 ? start_run(&run, http, err) : SILT_OK;
}

silt_status sl_exchange_run_feed(struct sl_http *http, const silt_env *env, const struct sl_exchange_limits *limits,
                                 const silt_call *call, struct sl_exchange *exchanges, size_t n,
                                 const struct sl_exchange_feed *feed, silt_error *err)
{
    struct run run = {.env = env,
                      .call = call,
                      .limits = choose_limits(limits),
                      .exchanges = exchanges,
                      .n = n,
                      .feed = feed,
                      .halt = SILT_ERROR_INIT};
    return n > 0 ? start_run(&run, http, err) : SILT_OK;
}

void sl_exchange_release(struct sl_exchange *exchange)
{
    sl_http_request_release(&exchange->request);
}
