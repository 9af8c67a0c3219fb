/*
 * The sockets of a worker, so that a connection that was kept can be looked at before a request goes out on it. Not before the first
 * byte of a request may anything come from a server of HTTP/1: what is there is the end of the connection (of TLS: the notice of it),
 * or bytes behind an earlier answer that would be taken for this one's. libcurl looks itself, but takes a connection with bytes for one
 * that is alive, and sends.
 *
 * One thread at a time, that of the session.
 */
#include "storage/remote/http_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

struct sl_http_socket {
    struct sl_http_socket *next;
    int fd;
    bool used;   /* by a request; its ends are then known */
    bool framed; /* speaks HTTP/2, whose servers may send at any time */
    int local_port;
    int remote_port;
    char remote_ip[INET6_ADDRSTRLEN];
};

curl_socket_t sl_http_socket_open(void *user, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct sl_http_flight *flight = user;
    (void)purpose;
    struct sl_http_socket *record = sl_alloc_zero(flight->http->env, sizeof(*record));
    if (record == NULL) {
        flight->failure = sl_fail_nomem(&flight->request->error);
        return CURL_SOCKET_BAD;
    }
    record->fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (record->fd < 0) {
        sl_release(flight->http->env, record, sizeof(*record));
        return CURL_SOCKET_BAD;
    }
    record->next = flight->worker->sockets;
    flight->worker->sockets = record;
    return record->fd;
}

int sl_http_socket_close(void *user, curl_socket_t fd)
{
    struct sl_http_worker *worker = user;
    struct sl_http_socket **link = &worker->sockets;
    while (*link != NULL && (*link)->fd != fd) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        struct sl_http_socket *record = *link;
        *link = record->next;
        sl_release(worker->env, record, sizeof(*record));
    }
    return close(fd);
}

/* Port and address as text, "" for neither IPv4 nor IPv6. */
static int describe(const struct sockaddr_storage *address, char *text, size_t size)
{
    text[0] = '\0';
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return inet_ntop(AF_INET, &v4->sin_addr, text, (socklen_t)size) != NULL ? ntohs(v4->sin_port) : -1;
    }
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        return inet_ntop(AF_INET6, &v6->sin6_addr, text, (socklen_t)size) != NULL ? ntohs(v6->sin6_port) : -1;
    }
    return -1;
}

/* Looks the ends of a socket up; -1 and "" for what is not connected. */
static void look_up_ends(struct sl_http_socket *record)
{
    char local_ip[INET6_ADDRSTRLEN];
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof(address);
    const bool bound = getsockname(record->fd, (struct sockaddr *)(void *)&address, &len) == 0;
    record->local_port = bound ? describe(&address, local_ip, sizeof(local_ip)) : -1;
    address = (struct sockaddr_storage){0};
    len = sizeof(address);
    const bool connected = getpeername(record->fd, (struct sockaddr *)(void *)&address, &len) == 0;
    record->remote_port = connected ? describe(&address, record->remote_ip, sizeof(record->remote_ip)) : -1;
}

bool sl_http_socket_use(struct sl_http_worker *worker, const struct sl_http_ends *ends, int *fd)
{
    *fd = -1;
    for (struct sl_http_socket *record = worker->sockets; record != NULL; record = record->next) {
        if (!record->used) {
            look_up_ends(record);
        }
        if (record->local_port != ends->local_port || record->remote_port != ends->remote_port ||
            strcmp(record->remote_ip, ends->remote_ip) != 0) {
            continue;
        }
        struct pollfd ready = {.fd = record->fd, .events = POLLIN};
        const bool stale = record->used && !record->framed && poll(&ready, 1, 0) > 0;
        record->used = true;
        *fd = record->fd;
        return !stale;
    }
    return true; /* not a socket of ours that libcurl can name: it looks itself, as well as it can */
}

void sl_http_socket_set_framed(struct sl_http_worker *worker, int fd)
{
    for (struct sl_http_socket *record = worker->sockets; record != NULL; record = record->next) {
        record->framed = record->framed || record->fd == fd;
    }
}
