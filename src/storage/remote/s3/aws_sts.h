/*
 * Temporary credentials of the Security Token Service: for a role, by credentials or by a token of an identity provider.
 */
#ifndef SL_REMOTE_S3_AWS_STS_H
#define SL_REMOTE_S3_AWS_STS_H

#include "storage/remote/context.h"
#include "storage/remote/credentials.h"

struct sl_aws_role {
    struct sl_str arn;
    struct sl_str session;     /* empty: "silt" */
    struct sl_str external_id; /* empty: none */
    struct sl_str region;      /* whose service is asked; empty: us-east-1's */
};

/* base: who asks for the role; NULL: the holder of `token`. */
silt_status sl_aws_assume_role(const struct sl_remote_context *context, const silt_call *call,
                               const struct sl_aws_role *role, const struct sl_credential *base, struct sl_str token,
                               struct sl_credential **out, silt_error *err);

/* Reads the answer to either: Credentials with AccessKeyId, SecretAccessKey, SessionToken, Expiration, all of them. Pure. */
silt_status sl_aws_sts_parse(const silt_env *env, struct sl_str body, struct sl_credential **out, silt_error *err);

#endif
