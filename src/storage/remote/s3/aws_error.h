/*
 * What AWS's services and those that speak like them say of an error: a body of XML with a code. Pure; any thread.
 */
#ifndef SL_REMOTE_S3_AWS_ERROR_H
#define SL_REMOTE_S3_AWS_ERROR_H

#include "base/str.h"
#include "silt/env.h"

/* Cut to fit and freed of all but letters, digits, '.', '-' and '_': fit for a message. Empty where nothing was said. */
struct sl_aws_error {
    char code[64];     /* "NoSuchKey" */
    char region[40];   /* where the bucket is, with PermanentRedirect, AuthorizationHeaderMalformed and their like */
    char endpoint[96]; /* … of it */
};

/* Of a body that may be anything. The server's own message is left alone: it may repeat what was sent to it. */
void sl_aws_error_read(const silt_env *env, struct sl_str body, struct sl_aws_error *out);

#endif
