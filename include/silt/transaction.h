/*
 * Transactions: optimistic, one table, one new version.
 *
 * A transaction has one owner and is not thread-safe. Nothing is visible before silt_txn_commit answers; data files
 * that a failed or abandoned transaction wrote are removed when it is freed (best effort; VACUUM removes the rest).
 */
#ifndef SILT_TRANSACTION_H
#define SILT_TRANSACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/expr.h"
#include "silt/scan.h"
#include "silt/schema.h"
#include "silt/snapshot.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_txn silt_txn;

/* A key and its value; both NUL-terminated, borrowed during the call. */
typedef struct silt_property {
    const char *key;
    const char *value;
} silt_property;

/* A transaction that creates a table: version 0 must not exist when it commits. */
typedef struct silt_create_options {
    uint32_t size;
    const silt_schema *schema; /* required */
    const char *const *partition_columns;
    size_t n_partition_columns;
    const silt_property *properties;
    size_t n_properties;
    const char *name;        /* or NULL */
    const char *description; /* or NULL */
} silt_create_options;

/*
 * Begins at the newest snapshot. operation is what history shows ("WRITE", "CREATE TABLE", …). SILT_EUNSUPPORTED when
 * the table's protocol asks writers for what silt does not do.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_begin(silt_table *table, const silt_call *call, const char *operation,
                                                   silt_txn **out, silt_error *err);
/* Begins at a snapshot that the caller holds. */
SILT_API SILT_NODISCARD silt_status silt_txn_begin_at(silt_table *table, silt_snapshot *snapshot, const char *operation,
                                                      silt_txn **out, silt_error *err);
/* Begins a table. SILT_EEXISTS when a table is there. Names, types and properties are validated here. */
SILT_API SILT_NODISCARD silt_status silt_txn_begin_create(silt_table *table, const silt_call *call,
                                                          const silt_create_options *options, const char *operation,
                                                          silt_txn **out, silt_error *err);
/*
 * Begins to replace a table by another one at the same place: every live file is removed, metadata, schema and partitioning are the new ones,
 * and so are the properties: of the old ones only delta.enableDeletionVectors, delta.checkpointPolicy and delta.enableRowTracking are kept,
 * unless they are given. History stays, and the protocol never asks for less. SILT_ENOTTABLE when there is no
 * table. operation as in "CREATE OR REPLACE TABLE".
 */
SILT_API SILT_NODISCARD silt_status silt_txn_begin_replace(silt_table *table, const silt_call *call,
                                                           const silt_create_options *options, const char *operation,
                                                           silt_txn **out, silt_error *err);
/* Frees; without a commit before it, abandons. NULL is legal. */
SILT_API void silt_txn_free(silt_txn *txn);

SILT_API int64_t silt_txn_read_version(const silt_txn *txn);      /* -1 for a table that is being created */
SILT_API const silt_schema *silt_txn_schema(const silt_txn *txn); /* as it will be after the commit; borrowed */
/*
 * The same with the names that data files have for the columns, and their ids as metadata "parquet.field.id" (PROTOCOL.md "Column
 * Mapping"); without mapping the schema itself. Borrowed; a change of schema or properties ends it.
 */
SILT_API const silt_schema *silt_txn_physical_schema(const silt_txn *txn);

/*
 * operationParameters, operationMetrics and userMetadata of commitInfo (PROTOCOL.md "Commit Provenance Information").
 * Texts are copied and stored as JSON strings; a key that is set again is replaced.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_set_parameter(silt_txn *txn, const char *key, const char *value,
                                                           silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_txn_set_metric(silt_txn *txn, const char *key, int64_t value, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_txn_set_user_metadata(silt_txn *txn, const char *text, silt_error *err);
/* Sets a table property (NULL value: unsets). The commit then carries a metaData action. */
SILT_API SILT_NODISCARD silt_status silt_txn_set_property(silt_txn *txn, const char *key, const char *value,
                                                          silt_error *err);
/*
 * Replaces the schema, which is referenced; before files are added. SILT_ESCHEMA names a column that no table may have;
 * what the live files forbid is told by the commit.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_set_schema(silt_txn *txn, const silt_schema *schema, silt_error *err);
/*
 * Adds what only the given schema has to the table's, at every level (mergeSchema); new columns can be null. A wider type of the same family
 * replaces the table's where the table has delta.enableTypeWidening; else the table's stays. Before files are added. *changed (may be
 * NULL) tells whether there was anything new.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_merge_schema(silt_txn *txn, const silt_schema *schema, bool *changed,
                                                          silt_error *err);
/* Removes every live file and gives the table another schema and other partition columns (overwriteSchema). Before files are added. */
SILT_API SILT_NODISCARD silt_status silt_txn_overwrite_schema(silt_txn *txn, const silt_call *call,
                                                              const silt_schema *schema,
                                                              const char *const *partition_columns, size_t n,
                                                              silt_error *err);
/* Application id and version, for idempotent writes: a commit whose id is recorded with >= version is SKIPPED. */
SILT_API SILT_NODISCARD silt_status silt_txn_set_app_id(silt_txn *txn, const char *app_id, int64_t version,
                                                        silt_error *err);

/*
 * A metadata domain of the caller's (PROTOCOL.md "Domain Metadata"): set to a text that silt does not look into, or removed. Copied; a
 * domain can be named once. SILT_EINVALID for domains that begin with "delta.", which are the protocol's; SILT_EUNSUPPORTED
 * (DELTA_DOMAIN_METADATA_NOT_SUPPORTED) on a table without the feature domainMetadata; SILT_ENOTFOUND for removing one that is not there.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_set_domain(silt_txn *txn, const char *domain, const char *configuration,
                                                        silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_txn_remove_domain(silt_txn *txn, const char *domain, silt_error *err);

/*
 * What the result depends on. A transaction that says nothing and only adds files is a blind append, which no change of data stands
 * against; one that reads its table, and be it to insert, must say so.
 *
 * Rows for which the predicate can be true, wherever they are: it is judged by partition values, then by statistics. NULL: the whole table.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_read_predicate(silt_txn *txn, const silt_expr *predicate, silt_error *err);
/* Rows of one live file of the snapshot; path as in silt_scan_files. SILT_ENOTFOUND when it is not live. */
SILT_API SILT_NODISCARD silt_status silt_txn_read_file(silt_txn *txn, const silt_call *call, const char *path,
                                                       silt_error *err);
/*
 * Rows that a scan of the transaction's snapshot gives: its filter, and its files. Finer than the predicate alone, as a file that
 * the scan passed over may be removed by others. SILT_EINVALID for a scan of another version.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_read_scan(silt_txn *txn, const silt_call *call, const silt_scan *scan,
                                                       silt_error *err);

/* A data file that the caller wrote itself. */
typedef struct silt_add_file {
    uint32_t size;
    const char *path; /* relative to the table, not percent-encoded; with `outside` an absolute URI or path */
    int64_t size_bytes;
    int64_t modified_ms;
    const silt_value *partition_values; /* in the order of the table's partition columns */
    size_t n_partition_values;
    /*
     * Statistics of the file, NULL or a JSON object (PROTOCOL.md "Per-file Statistics"), with the columns' physical names. Readers skip files
     * by them, so they are checked: numRecords and counts are whole numbers, not negative, no nullCount is above numRecords; minValues and
     * maxValues have values of the columns' types, no minimum is above its maximum; structs are objects, tightBounds is a boolean, and nothing
     * is there twice. Not looked at: members and columns that the table does not have, bounds of binary, arrays, maps and variants, and whether
     * they are true.
     */
    const char *stats;
    bool data_change;
    bool checks_held; /* the caller evaluated the table's constraints on every row */
    /*
     * The name was made for this file, of random bytes: no live file can have it. Spares the commit from looking among the live files, which
     * reads a checkpoint of the table.
     */
    bool fresh_name;
    bool
        outside; /* the file may lie outside of the table's folder, like those of a shallow clone: VACUUM never removes it there */
} silt_add_file;
/*
 * Adds it; everything is copied. SILT_EINVALID names what is wrong with its statistics; the transaction goes on without the file.
 * SILT_ECONSTRAINT when the table has NOT NULL columns and checks_held is false, or when it has row
 * tracking and the statistics lack numRecords. A file that is live already is refused by the commit (DELTA_DUPLICATE_ACTIONS_FOUND), unless
 * data_change is false: then it is the same file with other statistics, and keeps its deletion vector, row ids and tags.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_add_file(silt_txn *txn, const silt_add_file *file, silt_error *err);
/* Removes a live file of the snapshot; path as in silt_scan_files. SILT_ENOTFOUND when it is not live. */
SILT_API SILT_NODISCARD silt_status silt_txn_remove_file(silt_txn *txn, const silt_call *call, const char *path,
                                                         bool data_change, silt_error *err);
/* Removes every live file (an overwrite); counts as reading the whole table. */
SILT_API SILT_NODISCARD silt_status silt_txn_remove_all(silt_txn *txn, const silt_call *call, silt_error *err);
/*
 * Takes out the rows for which the predicate is true, before any file is added: files that hold nothing else, by their partition values or
 * statistics, are removed unread; the other rows of files that may hold such rows are written again. Rows for which it is null
 * stay. Every row that is added afterwards must fulfil the predicate, else the commit fails with SILT_ECONSTRAINT, class
 * DELTA_REPLACE_WHERE_MISMATCH. Counts as reading what the predicate can be true for. Once a transaction; a failure ends it.
 * SILT_EUNSUPPORTED when rows would be written again in a table with change data or row tracking.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_replace_where(silt_txn *txn, const silt_call *call,
                                                           const silt_expr *predicate, silt_error *err);
/*
 * Removes the live files of every partition that the transaction has added files to (dynamic partition overwrite); call it after the last
 * file was added. A table without partition columns is overwritten as a whole. Counts as reading those partitions.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_overwrite_partitions(silt_txn *txn, const silt_call *call,
                                                                  silt_error *err);

/*
 * Writes rows as data files of the table through the engine: columns are matched by name (ignoring case), cast under
 * ANSI store assignment, split by partition, and their statistics recorded. Consumes the stream in every case.
 * SILT_ESCHEMA names a column that does not fit; SILT_ECONSTRAINT a violated NOT NULL.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_write(silt_txn *txn, const silt_call *call, struct ArrowArrayStream *rows,
                                                   silt_error *err);

typedef enum silt_commit_outcome {
    SILT_COMMIT_COMMITTED = 0,
    SILT_COMMIT_SKIPPED = 1,  /* our application id and version are there already */
    SILT_COMMIT_CONFLICT = 2, /* see `conflict`; nothing was changed */
    SILT_COMMIT_UNKNOWN = 3   /* the store never answered; the version may or may not be ours */
} silt_commit_outcome;

typedef enum silt_conflict_kind {
    SILT_CONFLICT_NONE = 0,
    SILT_CONFLICT_CONCURRENT_APPEND = 1,
    SILT_CONFLICT_CONCURRENT_DELETE_READ = 2,
    SILT_CONFLICT_CONCURRENT_DELETE_DELETE = 3,
    SILT_CONFLICT_METADATA_CHANGED = 4,
    SILT_CONFLICT_CONCURRENT_TRANSACTION = 5,
    SILT_CONFLICT_PROTOCOL_CHANGED = 6,
    SILT_CONFLICT_CONCURRENT_WRITE = 7,
    SILT_CONFLICT_RETRIES_EXHAUSTED = 8
} silt_conflict_kind;

/* What commits that won against a transaction changed in it; bits. */
typedef enum silt_rebase {
    SILT_REBASED_TIMESTAMP = 1, /* another in-commit timestamp than the first attempt's */
    SILT_REBASED_ROW_IDS = 2,   /* row ids or row commit versions were given anew */
    SILT_REBASED_METADATA = 4,  /* new high-water marks of identity columns were adopted */
    SILT_REBASED_PROTOCOL = 8,  /* support of more table features, none of which stands against it */
    SILT_REBASED_FILES = 16     /* files that a backfill of row tracking touched */
} silt_rebase;

/* How hard a commit tries. Zero in a member: the default. */
typedef struct silt_commit_options {
    uint32_t size;
    uint32_t max_attempts; /* to put a version; 100,000 by default */
    /*
     * For winning a version, in microseconds from the start of silt_txn_commit; without, only the call's deadline counts. What is under
     * way then has ten seconds more to be answered, and ten more for what became of it to be learned; else the outcome is unknown.
     */
    int64_t time_limit_us;
    /* How long an attempt without an answer is followed up, within the time limit, before its outcome is unknown; 60 s by default. */
    int64_t resolve_us;
} silt_commit_options;
/* Copies the options. Before silt_txn_commit. */
SILT_API SILT_NODISCARD silt_status silt_txn_set_commit_options(silt_txn *txn, const silt_commit_options *options,
                                                                silt_error *err);

/* Text is NULL where there is none, and lives until silt_txn_free. */
typedef struct silt_commit_result {
    uint32_t size; /* members beyond it are not filled */
    silt_commit_outcome outcome;
    silt_conflict_kind conflict;
    int64_t version; /* committed, or the winner's; -1 if neither */
    uint32_t attempts;
    int64_t files_added;
    int64_t files_removed;
    int64_t rows_added;             /* -1 if not known */
    uint32_t winners;               /* commits of others in between that it was rebased onto */
    uint32_t rebased;               /* of enum silt_rebase */
    int64_t in_commit_timestamp_ms; /* of what was committed; -1 without */
    const char *conflict_operation; /* the winner's, as its commitInfo says */
    const char
        *conflict_file; /* as in the log; for DELTA_CONCURRENT_TRANSACTION a metadata domain or an application id */
    const char *conflict_partition; /* of the file: "[p=x, q=null]" */
} silt_commit_result;

/*
 * Commits. Returns SILT_OK with COMMITTED or SKIPPED; SILT_ECONFLICT with CONFLICT and SILT_EUNKNOWN with UNKNOWN,
 * err then says what to do. The transaction can only be freed afterwards.
 */
SILT_API SILT_NODISCARD silt_status silt_txn_commit(silt_txn *txn, const silt_call *call, silt_commit_result *result,
                                                    silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
