/*
 * The server that misbehaves on request (tests/stores/stub.py), for tests that talk HTTP. Python must be in the path; its source's place comes
 * from SILT_SOURCE_DIR.
 */
#ifndef SILT_STUB_SERVER_H
#define SILT_STUB_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stub_server {
    pid_t pid;
    int to_fd; /* its standard input: it ends when this is closed */
    int port;
    int tls_port;      /* 0 without TLS */
    char ca_file[512]; /* the certificate of the TLS port */
};

/* Also takes proxies out of the process's environment. */
bool stub_server_start(struct stub_server *stub, bool tls);
/* Another server of tests/stores that prints its port and is asked in the same way. */
bool stub_server_start_script(struct stub_server *stub, const char *name);
void stub_server_stop(struct stub_server *stub);

/* "http://127.0.0.1:PORT" and the target, in a buffer of its own that lasts until it has been used 16 times more. */
const char *stub_server_url(const struct stub_server *stub, const char *target);
const char *stub_server_tls_url(const struct stub_server *stub, const char *target);

/* Requests with exactly this target, and connections with requests; -1 when the server cannot be asked. */
long stub_server_count(const struct stub_server *stub, const char *target);
long stub_server_connections(const struct stub_server *stub);
/* Connections with requests that are open. */
long stub_server_open(const struct stub_server *stub);
/* How often late bytes and notices of an end have gone out. */
long stub_server_late(const struct stub_server *stub);
/* Writes what GET of a control target answers; false when the server cannot be asked or it does not fit. */
bool stub_server_ask(const struct stub_server *stub, const char *target, char *out, size_t out_size);

#endif
