/*
 * A remote store whose server is the stub that misbehaves as it is told (tests/stores/stub.py): for stores whose protocol the stub does not
 * speak, so that every answer is scripted.
 */
#ifndef SILT_STUB_STORE_H
#define SILT_STUB_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "silt/storage.h"
#include "storage/remote/context.h"
#include "stub_server.h"

/* Lists of strings for the calls below. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct stub_store {
    struct stub_server stub;
    struct sl_remote_options *options;
    struct sl_remote_context context;
    silt_storage *storage; /* opened by stub_store_open */
    silt_error err;
    char endpoint[64]; /* "http://127.0.0.1:PORT" */
    char *asked;       /* room for what the stub says, 1 MiB */
};

void stub_store_start(struct stub_store *f);
void stub_store_start_tls(struct stub_store *f); /* the same, and stores speak TLS */
void stub_store_stop(struct stub_store *f);
/* Teardown of a test whose state is a store of calloc: stops and frees it. */
int stub_store_teardown(void **state);
/*
 * These options in place of those before, names and values in turn. "STUB" in a value stands for the endpoint, "HOST" for it without the
 * scheme.
 */
void stub_store_options(struct stub_store *f, const char *const *pairs);
/* The store with these options. */
void stub_store_open(struct stub_store *f, sl_remote_opener opener, const char *const *pairs);

/* The next requests of that method (NULL: of any) whose target begins with prefix get these steps, one each. */
void stub_store_script(struct stub_store *f, const char *method, const char *prefix, const char *const *steps);
/* A step: this code and body, and more settings of stub.py ("" for none). "STUB" in a body or setting as above. In one of 16 buffers. */
const char *stub_store_step(const struct stub_store *f, int code, const char *body, const char *more);

/* All requests so far, as JSON; and how many "METHOD" requests had a target that begins with prefix. */
const char *stub_store_log(struct stub_store *f);
long stub_store_count(struct stub_store *f, const char *method, const char *prefix);

#endif
