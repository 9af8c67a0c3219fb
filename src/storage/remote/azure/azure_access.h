/*
 * How one container is reached: its endpoints and what requests are authorised with, as options and environment say. Made when a container is first
 * used, kept as long as the store. Any thread; what changes is said to.
 */
#ifndef SL_REMOTE_AZURE_ACCESS_H
#define SL_REMOTE_AZURE_ACCESS_H

#include <stdatomic.h>

#include "base/arena.h"
#include "storage/remote/azure/azure_place.h"
#include "storage/remote/azure/azure_token.h"

enum sl_azure_auth {
    SL_AZURE_AUTH_NONE = 0,
    SL_AZURE_AUTH_KEY = 1,
    SL_AZURE_AUTH_SAS = 2,
    SL_AZURE_AUTH_TOKEN = 3
};

enum sl_azure_hierarchy {
    SL_AZURE_UNKNOWN = 0, /* nobody has asked yet */
    SL_AZURE_FLAT = 1,
    SL_AZURE_HIERARCHICAL = 2
};

struct sl_azure_access {
    struct sl_azure_access *next; /* the store's */
    struct sl_arena arena;        /* text below */
    struct sl_str head;           /* of the place that it was made for; absent where that names no host */
    struct sl_str suffix;
    const char *account;
    const char *container;
    const char *blob_url; /* without a slash at its end */
    const char *dfs_url;  /* NULL: there is no such service */
    const char *version;  /* of the service's interface, for x-ms-version */
    enum sl_azure_auth auth;
    struct sl_str key; /* decoded */
    const char *sas;   /* as a query */
    struct sl_azure_token_source source;
    struct sl_credential_cache *tokens; /* NULL unless auth is TOKEN */
    atomic_int hierarchy;               /* enum sl_azure_hierarchy */
};

/* Asks nobody. SILT_EINVALID names the option that is missing or cannot be used. */
silt_status sl_azure_access_new(const struct sl_remote_context *context, const struct sl_azure_place *place,
                                struct sl_azure_access **out, silt_error *err);
void sl_azure_access_free(const silt_env *env, struct sl_azure_access *access); /* NULL is legal */

#endif
