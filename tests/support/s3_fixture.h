/*
 * An S3 store whose server is the stub that misbehaves as it is told (tests/stores/stub.py), in path style, and its parts.
 */
#ifndef SILT_S3_FIXTURE_H
#define SILT_S3_FIXTURE_H

#include "stub_store.h"

#define S3_FIXTURE_SECRET "S3cretOfTheTest"

/* Takes variables of AWS out of the environment, then as stub_store_start. */
void s3_fixture_start(struct stub_store *f);
/*
 * As stub_store_options, of names and values NULL or with NULL at the end. The endpoint of the stub, keys and aws_conditional_put=trust are set
 * unless they are given.
 */
void s3_fixture_options(struct stub_store *f, const char *const *pairs);
/* The store with these options. */
void s3_fixture_open(struct stub_store *f, const char *const *pairs);

#endif
