/*
 * An S3 store whose server is the stub that misbehaves as it is told (tests/stores/stub.py), in path style, and its parts.
 */
#ifndef SILT_S3_FIXTURE_H
#define SILT_S3_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "silt/storage.h"
#include "storage/remote/context.h"
#include "stub_server.h"

#define S3_FIXTURE_SECRET "S3cretOfTheTest"

struct s3_fixture {
    struct stub_server stub;
    struct sl_remote_options *options;
    struct sl_remote_context context;
    silt_storage *storage; /* opened by s3_fixture_open */
    silt_error err;
    char endpoint[64]; /* of the stub */
    char *asked;       /* room for what the stub says, 1 MiB */
};

/* Takes variables of AWS out of the environment, starts the stub, and the pool of connections. */
void s3_fixture_start(struct s3_fixture *f);
void s3_fixture_stop(struct s3_fixture *f);
/*
 * Options beside the endpoint of the stub, names and values in turn, NULL at the end; keys and aws_conditional_put=trust are set unless they
 * are given. A value that begins with "STUB" gets the stub's endpoint in its place. May be called again.
 */
void s3_fixture_options(struct s3_fixture *f, const char *const *pairs);
/* The store with these options. */
void s3_fixture_open(struct s3_fixture *f, const char *const *pairs);

/* The next requests whose target begins with prefix get these steps (see stub.py), NULL at the end. method NULL: any. */
void s3_fixture_script(struct s3_fixture *f, const char *method, const char *prefix, const char *const *steps);
/* What a request had: "header: value" lines of all requests so far, each behind "METHOD TARGET". */
const char *s3_fixture_log(struct s3_fixture *f);
long s3_fixture_count(struct s3_fixture *f, const char *target);

#endif
