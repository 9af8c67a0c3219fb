/*
 * An exchange: one request to a store and the answer that counts, over as many attempts as it takes.
 *
 * Each attempt is prepared anew (signed with the time and the credentials of that moment), performed, and judged by the store. What is to
 * be repeated waits with exponential back-off and full jitter, or as long as the server's Retry-After says, within the call's
 * deadline and the limits of sl_exchange_limits. Many exchanges run at once; those that wait do not hold up the others.
 */
#ifndef SL_REMOTE_EXCHANGE_H
#define SL_REMOTE_EXCHANGE_H

#include "storage/remote/http.h"

enum sl_verdict {
    SL_VERDICT_DONE = 0, /* the answer counts, be it good or bad: on_done */
    SL_VERDICT_RETRY =
        1, /* try again after a pause: no answer, 429, 500, 502, 503, 504, 409 of a conditional create, … */
    SL_VERDICT_RENEW =
        2, /* credentials were refused: prepare again with fresh ones, once; a second time counts as DONE */
    SL_VERDICT_NEXT = 3 /* a step of several went well: the next at once. It is no attempt that the limits count */
};

struct sl_exchange;

/* What a store does with its exchanges. Static. */
struct sl_exchange_class {
    /*
     * Fills `request` (method, url, headers, body) for the attempt; what it points to lives until the next prepare or the release of the
     * exchange. renew: the credentials of the last attempt were refused. A failure completes the exchange with it. Where there is a sink,
     * the body comes anew from its beginning. It may ask servers, with an exchange of its own.
     */
    silt_status (*prepare)(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err);
    /* Says what to make of an attempt. NULL: sl_exchange_judge. */
    enum sl_verdict (*judge)(struct sl_exchange *exchange);
    /*
     * True when the answer of the last attempt says that the server did nothing of what was asked. Asked about answers that the judge
     * wants to repeat, and by sl_exchange_is_unclear. NULL: sl_exchange_refused.
     */
    bool (*refused)(const struct sl_exchange *exchange);
};

struct sl_exchange {
    const struct sl_exchange_class *class;
    void *user; /* the store's */

    struct sl_http_request request; /* of the last attempt, with its answer */
    uint32_t attempts;              /* made */
    /*
     * Some attempt before the last one may have had its effect without an answer that says so. A conditional create that is then answered
     * "exists" is ambiguous. With a failure of the last attempt, sl_exchange_is_unclear tells of it as well.
     */
    bool unclear;
    silt_status
        status; /* when completed: SILT_OK: request.code and the rest are those of an answer; else why there is none */
    silt_error error;
};

struct sl_exchange_limits {
    uint32_t max_attempts; /* 0: 10; at most 5 while no server was ever met: names not known, connections refused */
    uint32_t max_silent;   /* 0: 3; attempts in a row that end by a time-out */
    int64_t base_delay_us; /* 0: 100 ms; doubles each time, full jitter */
    int64_t max_delay_us;  /* 0: 20 s; also of a Retry-After */
    int64_t max_total_us;  /* 0: 3 min, from the first attempt to the last */
};

/*
 * Runs all and returns when each is completed; as sl_http_perform. limits NULL: defaults. An exchange must be zeroed but for `class`,
 * `user` and what prepare does not fill. When attempts or time run out, what the last attempt gave is what counts: an answer, or a
 * failure with a hint that says how often it was tried.
 */
silt_status sl_exchange_run(struct sl_http *http, const silt_env *env, const struct sl_exchange_limits *limits,
                            const silt_call *call, struct sl_exchange *exchanges, size_t n,
                            void (*on_done)(void *ctx, struct sl_exchange *exchange), void *ctx, silt_error *err);

/*
 * The same for exchanges that follow one another: exchanges[0..n) are those that may be under way at once. `next` makes one that is free ready
 * (false: there are no more), `on_done` takes what came of it, after which it is free again; a status that is not SILT_OK ends the run with it:
 * then on_done is called for those that are under way, whatever they have, and its status is not looked at any more.
 */
struct sl_exchange_feed {
    void *ctx;
    bool (*next)(void *ctx, struct sl_exchange *exchange);
    silt_status (*on_done)(void *ctx, struct sl_exchange *exchange, silt_error *err);
};
silt_status sl_exchange_run_feed(struct sl_http *http, const silt_env *env, const struct sl_exchange_limits *limits,
                                 const silt_call *call, struct sl_exchange *exchanges, size_t n,
                                 const struct sl_exchange_feed *feed, silt_error *err);

/*
 * For what takes several exchanges a try, such as one with a name node and then one with a data node: as many tries, with the same pauses and in the
 * same time, as an exchange with default limits has attempts.
 */
struct sl_tries {
    const silt_env *env;
    const silt_call *call;
    uint32_t made;
    uint32_t silent; /* that nothing was said to, one after the other */
    int64_t started_us;
    int64_t ceiling_us; /* of the next pause */
};
void sl_tries_begin(struct sl_tries *tries, const silt_env *env, const silt_call *call);
/*
 * After a try that failed, because of a server that said nothing (`silent`) or something: waits for the next one. *again false, without waiting: there
 * is to be none, which is added to the failure as a hint. SILT_ECANCELLED and SILT_EDEADLINE, with err: of the call, while it waited.
 */
silt_status sl_tries_wait(struct sl_tries *tries, bool silent, bool *again, silt_error *failure, silt_error *err);

/* The usual verdict: RETRY without an answer and on 408, 429, 500, 502, 503, 504; RENEW on 401; else DONE. */
enum sl_verdict sl_exchange_judge(struct sl_exchange *exchange);

/* Whether an answer says that nothing was done: 3xx, 4xx but for 408. 2xx and 5xx do not, whatever their text is. */
bool sl_exchange_refused(const struct sl_exchange *exchange);

/*
 * Of a completed exchange that did not succeed: true unless it is certain that none of its attempts had its effect. A conditional create
 * is a failure only when this is false, else ambiguous.
 */
bool sl_exchange_is_unclear(const struct sl_exchange *exchange);

/* Frees the answer. What `user` owns is the store's to free. */
void sl_exchange_release(struct sl_exchange *exchange);

#endif
