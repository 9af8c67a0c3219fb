/*
 * Inside of the HTTP pool. A pool (http.c) holds idle workers; a worker is a multi handle with its connections and with flights that
 * can be used again; a flight (http_flight.c, http_result.c) is an easy handle with one request under way, http_socket.c knows its connection; a session (http_session.c) is a worker
 * borrowed by one thread, which sends the requests that it is given, at most as many at once as the pool's options say.
 */
#ifndef SL_REMOTE_HTTP_INT_H
#define SL_REMOTE_HTTP_INT_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "storage/remote/http.h"
#include "storage/remote/http_fields.h"

/* Longest header block that is taken, and header bytes of one request in all (100 Continue, trailers). */
#define SL_HTTP_MAX_HEADERS ((size_t)256 << 10)
#define SL_HTTP_MAX_HEADERS_IN_ALL ((size_t)1 << 20)
#define SL_HTTP_DEFAULT_MAX_ANSWER ((size_t)64 << 20)
/* Longest that a session waits before it looks at its call. */
#define SL_HTTP_SLICE_US INT64_C(100000)

/* ---- the pool: any thread ---- */

struct sl_http_worker;

struct sl_http {
    const silt_env *env;
    struct sl_http_options options; /* no number is 0; `resolve` is not used */
    char *ca_file;                  /* NULL: the system's */
    struct curl_slist *resolve;
    CURLSH *share; /* of what resolving gave */
    pthread_mutex_t share_locks[CURL_LOCK_DATA_LAST];
    size_t n_share_locks; /* that were made */
    pthread_mutex_t lock; /* of what follows */
    bool has_lock;
    struct sl_http_worker *idle; /* used last comes first, its connections are warm */
    size_t n_idle;
    atomic_bool answered; /* some server gave an answer: the network is there, and addresses are right */
};

/* Borrows a worker, making one if none is idle. SILT_ENOMEM. */
silt_status sl_http_borrow(struct sl_http *http, struct sl_http_worker **out, silt_error *err);
/* Gives it back; it has no flight under way. broken: its connections are closed. */
void sl_http_give_back(struct sl_http *http, struct sl_http_worker *worker, bool broken);

/* ---- a worker and its flights: one thread at a time ---- */

struct sl_http_flight {
    struct sl_http *http;
    struct sl_http_worker *worker;
    CURL *easy;
    struct sl_http_flight *next; /* in `idle` or `busy` of the worker */
    struct sl_http_request *request;
    struct curl_slist *headers;
    bool in_multi;

    size_t body_sent;             /* bytes that libcurl took */
    bool whole;                   /* it took all of them, perhaps in an attempt of its own before */
    size_t body_got;              /* of the answer */
    size_t headers_got;           /* of the answer, all blocks */
    int64_t last_us;              /* monotonic, of the last byte in either direction; counts once `sent` */
    bool sent;                    /* the request went out, or part of it may have */
    bool answered;                /* some byte came since it went out last */
    bool broke;                   /* libcurl would have sent it once more, see take_off */
    bool stale;                   /* nothing was sent, since the connection that was kept is at its end */
    int fd;                       /* of the connection, -1: not known */
    bool in_block;                /* between a status line and the empty line */
    enum sl_http_framing framing; /* of the last header block that came */
    int64_t length;               /* its Content-Length, see sl_http_framing_of */
    silt_status failure;          /* found by a callback, with its text in request->error */
    char reason[CURL_ERROR_SIZE];
};

struct sl_http_worker {
    const silt_env *env;
    struct sl_http_worker *next;
    CURLM *multi;
    struct sl_http_flight *idle;
    struct sl_http_flight *busy;
    size_t n_busy;
    struct sl_http_socket *sockets;
};

/* The two ends of a connection, as libcurl names them. */
struct sl_http_ends {
    const char *remote_ip;
    int remote_port;
    int local_port;
};

/* libcurl's callbacks, with a flight and with a worker as user. */
curl_socket_t sl_http_socket_open(void *user, curlsocktype purpose, struct curl_sockaddr *address);
int sl_http_socket_close(void *user, curl_socket_t fd);
/* A request is about to go out on this connection; false if it must not, since the server has ended it or sent what nobody asked for. */
bool sl_http_socket_use(struct sl_http_worker *worker, const struct sl_http_ends *ends, int *fd);
void sl_http_socket_set_framed(struct sl_http_worker *worker, int fd);

/* A flight with an easy handle of its own. NULL: out of memory. */
struct sl_http_flight *sl_http_flight_new(struct sl_http *http, struct sl_http_worker *worker);
void sl_http_flight_free(struct sl_http_flight *flight); /* NULL is legal */
/* Makes the easy handle ready for a request. A failure is that of the request. fresh: on a connection of its own. */
silt_status sl_http_flight_prepare(struct sl_http_flight *flight, struct sl_http_request *request, bool fresh,
                                   silt_error *err);
/* Lets the request go as if it had never been prepared. */
void sl_http_flight_withdraw(struct sl_http_flight *flight);
/* Fills the request from what libcurl says, and lets it go. */
void sl_http_flight_land(struct sl_http_flight *flight, CURLcode result);
/* The same for a request that ends without libcurl: with this failure. err is copied. */
void sl_http_flight_abort(struct sl_http_flight *flight, silt_status status, const silt_error *err);
/* True when nothing moved for longer than the pool's options allow; the request's failure is then set. */
bool sl_http_flight_is_stuck(struct sl_http_flight *flight, int64_t now_us);

/* Status of the answer so far, 0: none. */
long sl_http_flight_code(const struct sl_http_flight *flight);

/* Ends a request that is not in flight. */
void sl_http_request_fail(struct sl_http_request *request, silt_status status, const silt_error *err);

/* The host and port of a URL, without userinfo. Borrowed. */
struct sl_str sl_http_host_of(const char *url);
bool sl_http_has_body(const char *method);

/* ---- a session: one thread ---- */

struct sl_http_session {
    struct sl_http *http;
    const silt_call *call;
    void (*on_done)(void *ctx, struct sl_http_request *request); /* NULL for none */
    void *ctx;
    struct sl_http_worker *worker;
    struct sl_http_request *first; /* that were not begun yet */
    struct sl_http_request **last_link;
    size_t n_open; /* not completed */
    bool broken;   /* the multi handle failed */
};

/* A failure leaves nothing to close. */
silt_status sl_http_session_open(struct sl_http_session *session, struct sl_http *http, const silt_call *call,
                                 silt_error *err);
/* Adds a request; it is begun by the next turn that has room for it. Not from on_done. */
void sl_http_session_add(struct sl_http_session *session, struct sl_http_request *request);
/*
 * Moves what can be moved and completes what is done. If nothing is, waits for up to wait_us or SL_HTTP_SLICE_US, whichever is less. A
 * failure is for the whole: the session can only be closed then.
 */
silt_status sl_http_session_turn(struct sl_http_session *session, int64_t wait_us, silt_error *err);
/* Completes what is open with the status, which is not SILT_OK if anything is. */
void sl_http_session_close(struct sl_http_session *session, silt_status status, const silt_error *err);

#endif
