/*
 * The pump: requests wait in a queue, go out as there is room, and are completed as their answers come. One thread a session.
 *
 * The queue is the session's own and not libcurl's, since libcurl would count the time that a request waits for its turn as time that
 * it waits for a connection.
 */
#include "storage/remote/http_int.h"

#include <stddef.h>

#include "base/env.h"
#include "base/error.h"

silt_status sl_http_session_open(struct sl_http_session *session, struct sl_http *http, const silt_call *call,
                                 silt_error *err)
{
    session->http = http;
    session->call = call;
    session->first = NULL;
    session->last_link = &session->first;
    session->n_open = 0;
    session->broken = false;
    return sl_http_borrow(http, &session->worker, err);
}

void sl_http_session_add(struct sl_http_session *session, struct sl_http_request *request)
{
    request->next = NULL;
    *session->last_link = request;
    session->last_link = &request->next;
    session->n_open++;
}

static struct sl_http_request *take_first(struct sl_http_session *session)
{
    struct sl_http_request *request = session->first;
    session->first = request->next;
    if (session->first == NULL) {
        session->last_link = &session->first;
    }
    request->next = NULL;
    return request;
}

static void tell(struct sl_http_session *session, struct sl_http_request *request)
{
    session->n_open--;
    if (session->on_done != NULL) {
        session->on_done(session->ctx, request);
    }
}

/* ---- flights of the worker ---- */

static struct sl_http_flight *take_idle(struct sl_http_worker *worker, struct sl_http *http)
{
    struct sl_http_flight *flight = worker->idle;
    if (flight == NULL) {
        return sl_http_flight_new(http, worker);
    }
    worker->idle = flight->next;
    return flight;
}

static void put_idle(struct sl_http_worker *worker, struct sl_http_flight *flight)
{
    flight->next = worker->idle;
    worker->idle = flight;
}

static void leave_busy(struct sl_http_session *session, struct sl_http_flight *flight)
{
    struct sl_http_worker *worker = session->worker;
    struct sl_http_flight **link = &worker->busy;
    while (*link != flight) {
        link = &(*link)->next;
    }
    *link = flight->next;
    worker->n_busy--;
    if (curl_multi_remove_handle(worker->multi, flight->easy) != CURLM_OK) {
        session->broken = true;
    }
}

/* Sends a request off with a flight that is in no list, or completes it with why it cannot be. */
static void send_off(struct sl_http_session *session, struct sl_http_flight *flight, struct sl_http_request *request,
                     bool fresh)
{
    struct sl_http_worker *worker = session->worker;
    silt_error error = SILT_ERROR_INIT;
    silt_status status = sl_http_flight_prepare(flight, request, fresh, &error);
    if (status == SILT_OK && curl_multi_add_handle(worker->multi, flight->easy) != CURLM_OK) {
        status = sl_fail_nomem(&error);
    }
    if (status != SILT_OK) {
        sl_http_flight_abort(flight, status, &error);
        put_idle(worker, flight);
        tell(session, request);
        return;
    }
    flight->next = worker->busy;
    worker->busy = flight;
    worker->n_busy++;
}

static void begin(struct sl_http_session *session, struct sl_http_request *request)
{
    silt_error error = SILT_ERROR_INIT;
    struct sl_http_flight *flight = take_idle(session->worker, session->http);
    if (flight == NULL) {
        sl_http_request_fail(request, sl_fail_nomem(&error), &error);
        tell(session, request);
        return;
    }
    send_off(session, flight, request, false);
}

static void begin_those_with_room(struct sl_http_session *session)
{
    while (session->first != NULL && session->worker->n_busy < session->http->options.max_connections) {
        begin(session, take_first(session));
    }
}

static void finish(struct sl_http_session *session, struct sl_http_flight *flight, CURLcode result)
{
    struct sl_http_request *request = flight->request;
    leave_busy(session, flight);
    if (flight->stale) { /* nothing of it was sent, and on a connection of its own it cannot be stale again */
        sl_http_flight_withdraw(flight);
        send_off(session, flight, request, true);
        return;
    }
    sl_http_flight_land(flight, result);
    put_idle(session->worker, flight);
    tell(session, request);
}

/* True when some request was completed. */
static bool finish_those_done(struct sl_http_session *session)
{
    bool any = false;
    int left = 0;
    for (CURLMsg *message = curl_multi_info_read(session->worker->multi, &left); message != NULL;
         message = curl_multi_info_read(session->worker->multi, &left)) {
        struct sl_http_flight *flight = session->worker->busy;
        while (flight != NULL && flight->easy != message->easy_handle) {
            flight = flight->next;
        }
        if (message->msg == CURLMSG_DONE && flight != NULL) {
            finish(session, flight, message->data.result); /* the message is gone with the handle */
            any = true;
        }
    }
    return any;
}

/* The same for those that nothing moves any more. Looked at after libcurl has moved what it could. */
static bool finish_those_stuck(struct sl_http_session *session)
{
    const int64_t now_us = sl_monotonic_us(session->http->env);
    bool any = false;
    struct sl_http_flight *next = NULL;
    for (struct sl_http_flight *flight = session->worker->busy; flight != NULL; flight = next) {
        next = flight->next;
        if (sl_http_flight_is_stuck(flight, now_us)) {
            finish(session, flight, CURLE_OPERATION_TIMEDOUT);
            any = true;
        }
    }
    return any;
}

static silt_status wait_a_while(struct sl_http_session *session, int64_t wait_us, silt_error *err)
{
    const silt_call *call = session->call;
    int64_t slice_us = wait_us < SL_HTTP_SLICE_US ? wait_us : SL_HTTP_SLICE_US;
    if (call != NULL && call->deadline_us != 0) {
        const int64_t left_us = call->deadline_us - sl_monotonic_us(session->http->env);
        slice_us = left_us < slice_us ? left_us : slice_us;
    }
    const int wait_ms = slice_us > 0 ? (int)((slice_us + 999) / 1000) : 0;
    if (curl_multi_poll(session->worker->multi, NULL, 0, wait_ms, NULL) != CURLM_OK) {
        session->broken = true;
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

silt_status sl_http_session_turn(struct sl_http_session *session, int64_t wait_us, silt_error *err)
{
    SL_TRY(sl_call_check(session->http->env, session->call, err));
    begin_those_with_room(session);
    int running = 0;
    const CURLMcode code = curl_multi_perform(session->worker->multi, &running);
    if (code != CURLM_OK) {
        session->broken = true;
        return code == CURLM_OUT_OF_MEMORY
                   ? sl_fail_nomem(err)
                   : sl_fail(err, SILT_EIO, NULL, "requests cannot go on: %s", curl_multi_strerror(code));
    }
    const bool any_done = finish_those_done(session);
    const bool any_stuck = finish_those_stuck(session);
    if (any_done || any_stuck || session->worker->n_busy == 0) {
        return SILT_OK;
    }
    return wait_a_while(session, wait_us, err);
}

void sl_http_session_close(struct sl_http_session *session, silt_status status, const silt_error *err)
{
    while (session->worker->busy != NULL) {
        struct sl_http_flight *flight = session->worker->busy;
        struct sl_http_request *request = flight->request;
        leave_busy(session, flight);
        sl_http_flight_abort(flight, status, err);
        put_idle(session->worker, flight);
        tell(session, request);
    }
    while (session->first != NULL) {
        struct sl_http_request *request = take_first(session);
        sl_http_request_fail(request, status, err);
        tell(session, request);
    }
    sl_http_give_back(session->http, session->worker, session->broken);
    session->worker = NULL;
}
