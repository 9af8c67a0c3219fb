/*
 * Credentials that stores sign or ask with, and a cache of them that is renewed before they expire, by one thread at a time.
 */
#ifndef SL_REMOTE_CREDENTIALS_H
#define SL_REMOTE_CREDENTIALS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

/* Immutable and counted. What a part means is the store's: a key pair, a bearer token alone, … Never printed. */
struct sl_credential {
    const silt_env *env;
    atomic_size_t refs;
    char *id; /* NULL: none; so are the others */
    char *secret;
    char *token;
    int64_t expires_us; /* wall time; 0: never */
};

/* Copies; absent views are none. */
silt_status sl_credential_new(const silt_env *env, const struct sl_str parts[3], int64_t expires_us,
                              struct sl_credential **out, silt_error *err);
struct sl_credential *sl_credential_ref(struct sl_credential *credential);
void sl_credential_unref(struct sl_credential *credential); /* wipes it when it was the last; NULL is legal */

/* Where they come from. fetch is called by one thread at a time; it may take long, and obeys the call. */
struct sl_credential_source {
    void *ctx;
    silt_status (*fetch)(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err);
};

struct sl_credential_cache;

/*
 * A file of credentials that is not there (SILT_ENOTFOUND) as SILT_EACCESS: of a store the former says that a table's file is not there.
 */
silt_status sl_credential_lacking(silt_status status, silt_error *err);

/* Fetches nothing yet. What the source borrows must outlive the cache. */
silt_status sl_credential_cache_new(const silt_env *env, const struct sl_credential_source *source,
                                    struct sl_credential_cache **out, silt_error *err);
void sl_credential_cache_free(struct sl_credential_cache *cache); /* NULL is legal */

/*
 * Those of now: fetched when there are none, when they expire within five minutes, or when `refused` (NULL for none), which a server did not take,
 * are still the newest. While one thread fetches, others go on with what has not expired, or wait. A failure to renew is no
 * failure while the old ones hold; it is tried again after half a minute. Unref them afterwards.
 */
silt_status sl_credential_cache_get(struct sl_credential_cache *cache, const silt_call *call,
                                    const struct sl_credential *refused, struct sl_credential **out, silt_error *err);

#endif
