/*
 * Where tokens for Azure storage come from, as a source of credentials: the token alone, no id and no secret. Any thread.
 */
#ifndef SL_REMOTE_AZURE_TOKEN_H
#define SL_REMOTE_AZURE_TOKEN_H

#include "silt/env.h"
#include "storage/remote/azure/azure_grant.h"
#include "storage/remote/context.h"
#include "storage/remote/credentials.h"

/* Text is borrowed. */
struct sl_azure_token_source {
    const struct sl_remote_context *context;
    struct sl_azure_grant grant;
};

/* sl_credential_source.fetch; ctx is a struct sl_azure_token_source. */
silt_status sl_azure_token_fetch(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err);

/* azure_cli.c: asks the Azure CLI: its cache, else the program az. */
silt_status sl_azure_cli_token(const struct sl_azure_grant *grant, const silt_env *env, const silt_call *call,
                               struct sl_buf *token, int64_t *expires_us, silt_error *err);
/* azure_cli.c: reads a small file whole; at most max bytes. */
silt_status sl_azure_read_file(const char *path, size_t max, struct sl_buf *out, silt_error *err);

#endif
