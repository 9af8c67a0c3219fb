/*
 * The cache of parts of remote files that do not change (data files, checkpoints): what is in it, and emptying it. The
 * default engine fills and uses it by itself.
 *
 * It is a folder: `dir`, or with NULL or "" $SILT_CACHE_DIR, else $XDG_CACHE_HOME/silt, else $HOME/.cache/silt. $SILT_CACHE_SIZE
 * limits it (bytes, or with K, M, G, T; 10 GiB if not set); what was unused for longest goes first, and what is in use stays.
 */
#ifndef SILT_CACHE_H
#define SILT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One remote file of which parts are there. Text is borrowed during the callback. */
typedef struct silt_cache_item {
    uint32_t size;
    const char *uri;
    int64_t size_bytes;   /* of the remote file */
    int64_t cached_bytes; /* on this machine's disk */
    int64_t used_ms;      /* last use, milliseconds since the epoch */
} silt_cache_item;

/* Tells of each file, in no order, until on_item returns false. env NULL: the default. Any thread, beside any other use. */
SILT_API SILT_NODISCARD silt_status silt_cache_list(const silt_env *env, const char *dir,
                                                    bool (*on_item)(void *ctx, const silt_cache_item *item), void *ctx,
                                                    silt_error *err);

/*
 * Removes all that no process is using. *removed and *busy (NULL if not wanted) count files that went and that stayed. env NULL: the
 * default. Any thread, beside any other use.
 */
SILT_API SILT_NODISCARD silt_status silt_cache_clear(const silt_env *env, const char *dir, int64_t *removed,
                                                     int64_t *busy, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
