/*
 * Committers: how a catalog gives away the versions of its tables (PROTOCOL.md "Catalog-managed tables").
 *
 * A table that is managed by its file system needs none: the store's put_if_absent decides. A catalog implements one, hands it to
 * silt_table_for_catalog, and transactions on that table then commit like this:
 *   1. stage: silt writes the commit to `_delta_log/_staged_commits/<version>.<uuid>.json` (not for inline committers);
 *   2. ratify: the catalog makes it the version, or not. Nothing but its answer counts;
 *   3. publish: ratified commits are copied to `_delta_log/<version>.json`, in order, by whoever comes first.
 * A crash after the first step leaves a file without meaning; after the second the commit stands, and the next writer publishes it.
 */
#ifndef SILT_COMMITTER_H
#define SILT_COMMITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/storage.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_committer silt_committer;
struct silt_catalog_commit;
struct silt_table;

/* Flags of a committer. */
#define SILT_COMMITTER_INLINE 1U /* it keeps the bytes of commits itself: nothing is staged */

/* A commit that is to become a version. Borrowed during the call. */
typedef struct silt_ratify_request {
    uint32_t size;
    const char *table_uri; /* as silt_table_uri gives it */
    int64_t version;
    const char *staged_name; /* of the file within `_delta_log/_staged_commits`; NULL for inline committers */
    int64_t modified_ms;     /* when it was staged, milliseconds since the epoch */
    const char *content;     /* the bytes of the commit file */
    size_t content_len;
} silt_ratify_request;

/*
 * The slots of a committer. Each may be called from several threads at once. `call` may be NULL; errors are reported through err (never
 * NULL here).
 */
typedef struct silt_committer_vtable {
    uint32_t size;        /* sizeof(silt_committer_vtable) of the header compiled against */
    uint32_t abi_version; /* SILT_ABI_VERSION */
    const char *name;     /* for messages */
    uint32_t flags;

    /* Required. Frees impl. */
    void (*close)(void *impl);

    /*
     * Required. Makes the commit the version if and only if the version before it is the latest. Returns SILT_OK with DONE (ratified, for good),
     * EXISTS (the version has another commit, or the same one by an earlier request) or AMBIGUOUS (no answer; err may tell why), or a
     * failure after which the commit is certainly not ratified by this call and never will be. *outcome is AMBIGUOUS at entry. The same
     * request may come again after AMBIGUOUS.
     */
    silt_status (*ratify)(void *impl, const silt_call *call, const silt_ratify_request *request,
                          silt_put_outcome *outcome, silt_error *err);

    /*
     * Required. Says which version was ratified last (-1: none), and calls on_commit for the commits from a version on that the catalog still
     * holds, ascending and without gaps; they may be published too. What it holds no more is published. on_commit returns false to stop
     * early. Answers that are given later must never show less than these did.
     */
    silt_status (*get_commits)(void *impl, const silt_call *call, const char *table_uri, int64_t from_version,
                               bool (*on_commit)(void *ctx, const struct silt_catalog_commit *commit), void *ctx,
                               int64_t *latest_version, silt_error *err);

    /*
     * Optional. Learns that all versions up to this one are published: it may forget their commits. NULL slot: it finds out for itself.
     */
    silt_status (*note_published)(void *impl, const silt_call *call, const char *table_uri, int64_t version,
                                  silt_error *err);
} silt_committer_vtable;

/*
 * Makes a committer of a vtable and an instance. Checks size, abi_version and the required slots (SILT_EINVALID). Reference-counted;
 * `close` runs when the last reference goes. On failure impl is not closed.
 */
SILT_API SILT_NODISCARD silt_status silt_committer_new(const silt_env *env, const silt_committer_vtable *vtable,
                                                       void *impl, silt_committer **out, silt_error *err);
SILT_API silt_committer *silt_committer_ref(silt_committer *committer); /* the same object; pair it with an unref */
SILT_API void silt_committer_unref(silt_committer *committer);          /* NULL is legal */

/*
 * Publishes all ratified commits that the committer of the table still holds, in the order of versions; commits do so themselves when
 * they can. *version is the last that is published then, -1 if none is known. Any process may do it at any time, several at once.
 * SILT_EINVALID for a table without a committer.
 */
SILT_API SILT_NODISCARD silt_status silt_table_publish(struct silt_table *table, const silt_call *call,
                                                       int64_t *version, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
