/*
 * Where a file or folder of an Azure account is, as its URI says. Pure; any thread.
 *
 *     abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH      also abfs, wasbs, wasb, with .dfs. or .blob.
 *     az://CONTAINER/PATH                                      also the others: the account comes from the options
 */
#ifndef SL_REMOTE_AZURE_PLACE_H
#define SL_REMOTE_AZURE_PLACE_H

#include <stdbool.h>

#include "base/str.h"
#include "silt/status.h"

#define SL_AZURE_DEFAULT_SUFFIX "core.windows.net"

/* Views into the URI. */
struct sl_azure_place {
    struct sl_str container;
    struct sl_str path;    /* without a slash at its begin; empty: the whole container */
    struct sl_str head;    /* of the host, what stands before ".dfs." or ".blob."; absent when the URI names no host */
    struct sl_str account; /* the head's first part; absent as head */
    struct sl_str suffix;  /* what stands behind; absent as head */
};

silt_status sl_azure_place_parse(struct sl_str uri, struct sl_azure_place *out, silt_error *err);
/* As above, for a file: the path is not empty and does not end in a slash. */
silt_status sl_azure_place_of_file(const char *uri, struct sl_azure_place *out, silt_error *err);
/* As above, for a folder: slashes at its end are taken off. */
silt_status sl_azure_place_of_folder(const char *uri, struct sl_azure_place *out, silt_error *err);
/*
 * Credentials go only to hosts of the service: is the suffix one of Azure's clouds, or `extra` (an option; NULL for none)?
 */
bool sl_azure_suffix_known(struct sl_str suffix, const char *extra);

#endif
