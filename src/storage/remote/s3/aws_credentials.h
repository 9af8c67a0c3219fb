/*
 * Where AWS credentials come from, in the order of AWS's own tools: options; environment; a web identity; the profile; the container;
 * the instance. docs/stores.md lists them.
 */
#ifndef SL_REMOTE_S3_AWS_CREDENTIALS_H
#define SL_REMOTE_S3_AWS_CREDENTIALS_H

#include "storage/remote/context.h"
#include "storage/remote/credentials.h"

struct sl_aws_chain {
    const struct sl_remote_context *context;
    const char *bucket; /* whose options go first; borrowed */
};

/* A source for sl_credential_cache_new: ctx is a struct sl_aws_chain. SILT_EACCESS when there are none, with a hint what can be set. */
silt_status sl_aws_credentials_fetch(void *chain, const silt_call *call, struct sl_credential **out, silt_error *err);

#endif
