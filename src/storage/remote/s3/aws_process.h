/*
 * Credentials that a program prints: credential_process of an AWS profile.
 */
#ifndef SL_REMOTE_S3_AWS_PROCESS_H
#define SL_REMOTE_S3_AWS_PROCESS_H

#include "base/str.h"
#include "silt/env.h"
#include "storage/remote/credentials.h"

/*
 * Runs the command, with the shell's quoting. SILT_EACCESS when it fails or prints no credentials: the error names the profile, and neither the command, which
 * may hold a secret, nor what it printed.
 */
silt_status sl_aws_process_fetch(const silt_env *env, const silt_call *call, struct sl_str profile,
                                 struct sl_str command, struct sl_credential **out, silt_error *err);

/* Reads {"Version": 1, "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"}, the last two optional. Pure. */
silt_status sl_aws_process_parse(const silt_env *env, struct sl_str json, struct sl_credential **out, silt_error *err);

#endif
