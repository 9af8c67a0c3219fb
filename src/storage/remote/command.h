/*
 * A program that prints credentials: the Azure CLI, what a profile's credential_process names.
 */
#ifndef SL_REMOTE_COMMAND_H
#define SL_REMOTE_COMMAND_H

#include "base/buf.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_command {
    const char *const *argv; /* NULL-terminated; argv[0] is looked for in PATH */
    const char *what;        /* what messages call it: an argument may be a secret */
};

/*
 * Runs it with nothing on its standard input and with its errors going nowhere, as they may hold secrets; appends what it prints. SILT_EACCESS when there
 * is no such program, SILT_EIO when it prints more than 1 MiB or has not ended after a minute, by when it is killed. *code is its exit code, -1 for a signal.
 */
silt_status sl_command_run(const silt_env *env, const silt_call *call, const struct sl_command *command,
                           struct sl_buf *out, int *code, silt_error *err);

#endif
