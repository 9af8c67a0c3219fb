/*
 * How a token for Azure storage is asked for and what the answer says (OAuth 2.0 as Microsoft Entra ID, managed identities and the Azure CLI speak it).
 * Pure; any thread. azure_token.h keeps the token.
 */
#ifndef SL_REMOTE_AZURE_GRANT_H
#define SL_REMOTE_AZURE_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"
#include "storage/remote/http.h"

#define SL_AZURE_RESOURCE "https://storage.azure.com"
#define SL_AZURE_LOGIN "https://login.microsoftonline.com"
#define SL_AZURE_METADATA "http://169.254.169.254/metadata/identity/oauth2/token"

enum sl_azure_grant_kind {
    SL_AZURE_GRANT_FIXED = 0,     /* the token itself was given */
    SL_AZURE_GRANT_SECRET = 1,    /* client id and secret */
    SL_AZURE_GRANT_FEDERATED = 2, /* client id and another issuer's token in a file */
    SL_AZURE_GRANT_MACHINE = 3,   /* managed identity: a machine's metadata service, or that of App Service */
    SL_AZURE_GRANT_CLI = 4        /* who is logged in with the Azure CLI */
};

/* Text is borrowed and may be NULL where the kind does not need it. */
struct sl_azure_grant {
    enum sl_azure_grant_kind kind;
    const char *token;           /* FIXED */
    const char *client_id;       /* SECRET, FEDERATED; MACHINE: of a user-assigned identity */
    const char *secret;          /* SECRET */
    const char *tenant;          /* CLI */
    const char *url;             /* SECRET, FEDERATED: of the token endpoint; MACHINE: of the service */
    const char *token_file;      /* FEDERATED */
    const char *identity_header; /* MACHINE: App Service's secret, NULL on a machine */
    const char *object_id;       /* MACHINE: another way to name the identity */
    const char *resource_id;     /* MACHINE: another */
    bool implied;                /* nobody asked for it: it is what is left when nothing is given */
};

/* Fills method, URL, headers and body; text is of the arena. assertion: the content of token_file. Not for FIXED and CLI. */
silt_status sl_azure_grant_request(const struct sl_azure_grant *grant, struct sl_str assertion, struct sl_arena *arena,
                                   struct sl_http_request *out, silt_error *err);
/*
 * What the answer to that says; appends the token. *expires_us is in wall time. SILT_EACCESS when it was refused: the error has the server's code, never
 * its text, which may repeat what was sent.
 */
silt_status sl_azure_grant_answer(const struct sl_azure_grant *grant, const struct sl_http_request *answer,
                                  const silt_env *env, struct sl_buf *token, int64_t *expires_us, silt_error *err);
/* The same of what `az account get-access-token` prints. */
silt_status sl_azure_cli_answer(struct sl_str text, const silt_env *env, struct sl_buf *token, int64_t *expires_us,
                                silt_error *err);
/*
 * Looks for a token in the Azure CLI's own cache (msal_token_cache.json): *found is false unless just one for Azure storage, of this tenant if one is
 * named, is good for five more minutes.
 */
silt_status sl_azure_cli_cache(struct sl_str text, const char *tenant, const silt_env *env, struct sl_buf *token,
                               int64_t *expires_us, bool *found, silt_error *err);

#endif
