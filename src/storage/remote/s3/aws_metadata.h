/*
 * Credentials that the machine has: of a container (ECS, EKS Pod Identity), and of an EC2 instance by its metadata service, version 2.
 */
#ifndef SL_REMOTE_S3_AWS_METADATA_H
#define SL_REMOTE_S3_AWS_METADATA_H

#include "storage/remote/context.h"
#include "storage/remote/credentials.h"

/* Is a container's endpoint configured? */
bool sl_aws_container_is_set(const struct sl_remote_context *context);
silt_status sl_aws_container_fetch(const struct sl_remote_context *context, const silt_call *call,
                                   struct sl_credential **out, silt_error *err);

/* SILT_ENOTFOUND when nobody answers within a second, which is how a machine looks that is no EC2 instance. */
silt_status sl_aws_instance_fetch(const struct sl_remote_context *context, const silt_call *call,
                                  struct sl_credential **out, silt_error *err);

/* May a container's endpoint be asked by plain HTTP? Only this machine and the two link-local hosts of the services may. Pure. */
bool sl_aws_container_url_allowed(struct sl_str url);
/* Reads {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}. Pure. */
silt_status sl_aws_credential_parse(const silt_env *env, struct sl_str json, struct sl_credential **out,
                                    silt_error *err);

#endif
