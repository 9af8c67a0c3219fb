/*
 * Tables: a location, and the way to its snapshots.
 *
 * A silt_table is immutable, reference-counted and usable from any thread. Opening one does no I/O.
 */
#ifndef SILT_TABLE_H
#define SILT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "silt/committer.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/snapshot.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_table silt_table;

/*
 * A table at a URI or path (a relative path is resolved against the working directory; not percent-encoded).
 * Takes a reference of the engine. SILT_EUNSUPPORTED for an unknown scheme.
 */
SILT_API SILT_NODISCARD silt_status silt_table_for_path(silt_engine *engine, const char *uri, silt_table **out,
                                                        silt_error *err);

/* A ratified commit that a catalog holds (PROTOCOL.md "Catalog-managed tables", "Terminology: Commits"). */
typedef struct silt_catalog_commit {
    uint32_t size;
    int64_t version;
    /*
     * Of a staged commit: the name of its file within `_delta_log/_staged_commits`, "<version>.<uuid>.json". NULL for an inline
     * commit.
     */
    const char *staged_name;
    int64_t size_bytes;  /* of the staged file, which is read only if it has that many; 0: the catalog does not know */
    int64_t modified_ms; /* when it was committed, milliseconds since the epoch; its in-commit timestamp goes first */
    const char *content; /* of an inline commit: the bytes that its file would have; copied */
    size_t content_len;
} silt_catalog_commit;

/* What a catalog says of a table. */
typedef struct silt_catalog_state {
    uint32_t size;
    int64_t latest_version; /* ratified last: nothing newer is looked at */
    const silt_catalog_commit
        *commits; /* those that it still holds, ascending and without gaps; may be published too */
    size_t n_commits;
    silt_committer
        *committer; /* by which transactions commit; NULL: the table can only be read. A reference is taken */
} silt_catalog_state;

/*
 * A table as its catalog describes it at this moment: commits of the catalog stand before published ones of the same version, and nothing
 * after its latest version counts. The only way to open tables with the feature catalogManaged (or catalogOwned-preview), which are
 * refused when they are opened by their bare path. For a newer state, open the table again. Everything is copied.
 * SILT_EINVALID for a state that cannot be.
 */
SILT_API SILT_NODISCARD silt_status silt_table_for_catalog(silt_engine *engine, const char *uri,
                                                           const silt_catalog_state *state, silt_table **out,
                                                           silt_error *err);

SILT_API silt_table *silt_table_ref(silt_table *table);           /* the same object; pair it with an unref */
SILT_API void silt_table_unref(silt_table *table);                /* NULL is legal */
SILT_API const char *silt_table_uri(const silt_table *table);     /* absolute, without a trailing slash */
SILT_API silt_engine *silt_table_engine(const silt_table *table); /* borrowed */

/*
 * Snapshots: *out is a reference of the caller's. SILT_ENOTTABLE: nothing of a log is there; SILT_ECORRUPT: gaps, broken
 * commits; SILT_ENOTFOUND: no such version (the message says which are there); SILT_EUNSUPPORTED: the protocol needs a
 * feature that silt lacks, or a checkpoint must be read and the engine has nothing that reads Parquet.
 */
SILT_API SILT_NODISCARD silt_status silt_table_latest_snapshot(silt_table *table, const silt_call *call,
                                                               silt_snapshot **out, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_table_snapshot_at_version(silt_table *table, const silt_call *call,
                                                                   int64_t version, silt_snapshot **out,
                                                                   silt_error *err);
/* The latest version whose timestamp is <= timestamp_us (microseconds, UTC). */
SILT_API SILT_NODISCARD silt_status silt_table_snapshot_at_timestamp(silt_table *table, const silt_call *call,
                                                                     int64_t timestamp_us, silt_snapshot **out,
                                                                     silt_error *err);

/* One version of a table's history, as DESCRIBE HISTORY shows it. Text is NULL where the commit does not say. */
typedef struct silt_history_entry {
    uint32_t size;
    int64_t version;
    int64_t timestamp_ms; /* in-commit timestamp, else commitInfo.timestamp's file time */
    const char *user_id;
    const char *user_name;
    const char *operation;
    const char *operation_parameters; /* JSON object */
    const char *job;                  /* JSON */
    const char *notebook;             /* JSON */
    const char *cluster_id;
    int64_t read_version; /* -1 if not said */
    const char *isolation_level;
    int32_t is_blind_append;       /* 1, 0, or -1 if not said */
    const char *operation_metrics; /* JSON object */
    const char *user_metadata;
    const char *engine_info;
} silt_history_entry;

/*
 * Calls on_entry for the versions that the log still holds, newest first, at most `limit` (0: all). Entries are borrowed;
 * false stops. commitInfo is free-form: what is not understood is left out, never an error.
 */
SILT_API SILT_NODISCARD silt_status silt_table_history(silt_table *table, const silt_call *call, int64_t limit,
                                                       bool (*on_entry)(void *ctx, const silt_history_entry *entry),
                                                       void *ctx, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
