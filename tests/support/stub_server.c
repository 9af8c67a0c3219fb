/*
 * Starting, asking and ending tests/stores/stub.py, see stub_server.h.
 */
#include "stub_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_server(const char *script, bool tls, int in_fd, int out_fd)
{
    if (dup2(in_fd, STDIN_FILENO) >= 0 && dup2(out_fd, STDOUT_FILENO) >= 0) {
        execlp("python3", "python3", script, tls ? "--tls" : (char *)NULL, (char *)NULL);
    }
    _exit(127);
}

/* One line, without its end. */
static bool read_line(int fd, char *out, size_t size)
{
    size_t len = 0;
    while (len + 1 < size) {
        const ssize_t got = read(fd, out + len, 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        if (out[len] == '\n') {
            out[len] = '\0';
            return true;
        }
        len++;
    }
    return false;
}

/* The proxy of whoever runs the tests knows nothing of a server on the loop-back address. */
static void forget_proxies(void)
{
    static const char *const NAMES[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        (void)unsetenv(NAMES[i]);
    }
}

static bool start(struct stub_server *stub, const char *name, bool tls)
{
    forget_proxies();
    const char *source = getenv("SILT_SOURCE_DIR");
    char script[1024];
    char line[640];
    int to_child[2];
    int from_child[2];
    *stub = (struct stub_server){.pid = -1, .to_fd = -1};
    if (source == NULL || pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0) {
        return false;
    }
    (void)snprintf(script, sizeof(script), "%s/tests/stores/%s", source, name);
    stub->pid = fork();
    if (stub->pid == 0) {
        become_server(script, tls, to_child[0], from_child[1]);
    }
    (void)close(to_child[0]);
    (void)close(from_child[1]);
    stub->to_fd = to_child[1];
    const bool good = stub->pid > 0 && read_line(from_child[0], line, sizeof(line)) &&
                      sscanf(line, "%d %d %511s", &stub->port, &stub->tls_port, stub->ca_file) == (tls ? 3 : 1);
    (void)close(from_child[0]);
    return good;
}

bool stub_server_start(struct stub_server *stub, bool tls)
{
    return start(stub, "stub.py", tls);
}

bool stub_server_start_script(struct stub_server *stub, const char *name)
{
    return start(stub, name, false);
}

void stub_server_stop(struct stub_server *stub)
{
    if (stub->to_fd >= 0) {
        (void)close(stub->to_fd);
        stub->to_fd = -1;
    }
    if (stub->pid > 0) {
        (void)waitpid(stub->pid, NULL, 0);
        stub->pid = -1;
    }
}

static const char *make_url(const char *scheme, int port, const char *target)
{
    static _Thread_local char urls[16][2048];
    static _Thread_local unsigned turn;
    char *url = urls[turn++ % 16];
    (void)snprintf(url, sizeof(urls[0]), "%s://127.0.0.1:%d%s", scheme, port, target);
    return url;
}

const char *stub_server_url(const struct stub_server *stub, const char *target)
{
    return make_url("http", stub->port, target);
}

const char *stub_server_tls_url(const struct stub_server *stub, const char *target)
{
    return make_url("https", stub->tls_port, target);
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t put = send(fd, text, len, MSG_NOSIGNAL);
        if (put <= 0) {
            return false;
        }
        text += put;
        len -= (size_t)put;
    }
    return true;
}

/* The body of the answer that is behind `fd`, as long as its Content-Length says. */
static bool read_answer(int fd, char *out, size_t out_size)
{
    char line[4096];
    size_t length = 0;
    do {
        if (!read_line(fd, line, sizeof(line))) {
            return false;
        }
        (void)sscanf(line, "Content-Length: %zu", &length);
    } while (line[0] != '\r');
    if (length >= out_size) {
        return false;
    }
    size_t len = 0;
    while (len < length) {
        const ssize_t got = read(fd, out + len, length - len);
        if (got <= 0) {
            return false;
        }
        len += (size_t)got;
    }
    out[len] = '\0';
    return true;
}

bool stub_server_ask(const struct stub_server *stub, const char *target, char *out, size_t out_size)
{
    char request[2048];
    const int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: stub\r\n\r\n", target);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)stub->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const bool good = fd >= 0 && len > 0 && (size_t)len < sizeof(request) &&
                      connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                      write_all(fd, request, (size_t)len) && read_answer(fd, out, out_size);
    if (fd >= 0) {
        (void)close(fd);
    }
    return good;
}

static long ask_number(const struct stub_server *stub, const char *target)
{
    char text[64];
    return stub_server_ask(stub, target, text, sizeof(text)) ? strtol(text, NULL, 10) : -1;
}

long stub_server_count(const struct stub_server *stub, const char *target)
{
    char question[2048];
    (void)snprintf(question, sizeof(question), "/_count%s", target);
    return ask_number(stub, question);
}

long stub_server_connections(const struct stub_server *stub)
{
    return ask_number(stub, "/_connections");
}

long stub_server_open(const struct stub_server *stub)
{
    return ask_number(stub, "/_open");
}

long stub_server_late(const struct stub_server *stub)
{
    return ask_number(stub, "/_late");
}
