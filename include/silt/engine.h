/*
 * The engine interface: the three handlers through which the kernel reaches the world.
 *
 *  - storage (silt/storage.h): bytes of the log and of data files;
 *  - Parquet: reading and writing of data files and checkpoints;
 *  - expressions: filtering and projecting streams of rows.
 *
 * Each handler is a `static const` vtable with size and abi_version plus an instance pointer. Required slots are
 * checked by silt_engine_new. The kernel calls slots only through its checked dispatch, from any thread. An engine
 * is immutable and reference-counted.
 */
#ifndef SILT_ENGINE_H
#define SILT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/deletion_vector.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/expr.h"
#include "silt/schema.h"
#include "silt/status.h"
#include "silt/storage.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_engine silt_engine;

/* ---- Parquet ---- */

/* A file to read. */
typedef struct silt_parquet_file {
    const char *path;       /* as the store knows it, not percent-encoded */
    const char *local_path; /* path for the local file system, NULL when the store has none */
    int64_t size_bytes;     /* -1 if not known */
} silt_parquet_file;

/* Rows [begin, end) of a file. */
typedef struct silt_row_range {
    int64_t begin, end;
} silt_row_range;

/* A leaf column of a file: exact names from the top to the leaf, struct steps only. */
typedef struct silt_parquet_leaf {
    const char *const *path;
    size_t path_len;
} silt_parquet_leaf;

/* Bytes of a column; ptr NULL: null. Borrowed during the call. */
typedef struct silt_text {
    const char *ptr;
    size_t len;
} silt_text;

/* Which rows are wanted by the text that they have in a column of strings, before anything is made of the rows. */
typedef struct silt_text_filter {
    uint32_t size;
    silt_parquet_leaf leaf; /* in the names of the file */
    /* Sets wanted[0 … n). Never fails; what it cannot tell is wanted. Called on any thread, on several at once, each row at most once. */
    void (*judge)(void *ctx, const silt_text *texts, size_t n, bool *wanted);
    void *ctx;
} silt_text_filter;

/*
 * What to read. The stream's batches never mix files. Columns come in the order of `schema`, of exactly its types
 * (narrower physical types are widened, what cannot be widened is SILT_ESCHEMA), matched by name (case-sensitive) or,
 * when match_by_field_id, by the field's "parquet.field.id" metadata (a field without it by name); columns that a file lacks are null.
 */
typedef struct silt_parquet_read {
    uint32_t size;
    silt_storage *storage; /* borrowed; where files without a local path are read from */
    const silt_parquet_file *files;
    size_t n_files;
    const silt_schema *schema; /* physical names */
    bool match_by_field_id;
    bool with_file_index;       /* adds a last column "_silt_file_index", int64: place in `files` */
    bool with_row_index;        /* adds a last column "_silt_row_index", int64: row's place in its file */
    const silt_expr *predicate; /* over physical names; rows that cannot match may be left out; NULL: none */
    /*
     * Members of top-level columns of `schema`, "column.member" in the names of the file: rows in which all of them are null may be left
     * out. For the few rows of a checkpoint that are not about files: a handler that finds them by the file's statistics need
     * not read the rest. n 0: every row is wanted.
     */
    const char *const *any_of;
    size_t n_any_of;
    /*
     * With one file: places of the rows that are wanted, ascending, each once; all others may be left out, so that a handler need not
     * decode what they hold. Whoever asks like this tells rows apart by with_row_index. n 0: every row is wanted.
     */
    const int64_t *rows;
    size_t n_rows;
    /*
     * Structs need not be told apart from structs whose members are all null: the handler may give either for the other, which lets it
     * read members by themselves.
     */
    bool lax_structs;
    /*
     * With one file: ranges of rows that are wanted, ascending and apart; all others may be left out. Rows are told apart as above. n 0:
     * every row is wanted.
     */
    const silt_row_range *ranges;
    size_t n_ranges;
    /*
     * With one file: rows whose text is not wanted may be left out. Rows are told apart as above. Outlives the stream. NULL: every row is
     * wanted.
     */
    const silt_text_filter *texts;
} silt_parquet_read;

/* What a file's footer says of a leaf in one row group. */
typedef struct silt_leaf_bounds {
    int64_t n_null;      /* rows in which the leaf, or a struct above it, is null; -1: not said */
    bool has_bounds;     /* all below counts; false: not said, or of a type that is not told here */
    silt_type_kind kind; /* as stored: byte to long, date, timestamp, timestamp_ntz */
    int64_t least, most; /* no value lies outside; days or microseconds since 1970 */
} silt_leaf_bounds;

typedef struct silt_parquet_groups {
    uint32_t size;
    const silt_parquet_file *file;
    const silt_parquet_leaf *leaves; /* a leaf that the file lacks has no bounds and n_null -1 */
    size_t n_leaves;
    /* Told of every row group in the order of the file; bounds: one a leaf, borrowed. Failing ends the call with that status. */
    silt_status (*visit)(void *ctx, silt_row_range rows, const silt_leaf_bounds *bounds, silt_error *err);
    void *ctx;
} silt_parquet_groups;

/* Statistics of one leaf column of a written file. */
typedef struct silt_column_stats {
    const char *const *path; /* physical names from the top to the leaf; only struct steps */
    size_t path_len;
    int64_t null_count; /* -1 if not known; nulls of the leaf itself or of a parent */
    bool has_min;
    bool has_max;
    silt_value min; /* exact lower bound of non-null values (NaN is greatest, as in Spark) */
    silt_value max; /* exact upper bound; absent when a NaN is there or bounds are not exact */
} silt_column_stats;

/* A file that was written. Borrowed during on_file. */
typedef struct silt_written_file {
    uint32_t size;
    const char *path; /* relative to the request's directory, not percent-encoded */
    int64_t size_bytes;
    int64_t modified_ms;
    int64_t num_rows;
    const silt_value *partition_values; /* in the order of the request's partition columns */
    size_t n_partition_values;
    const silt_column_stats *stats;
    size_t n_stats;
} silt_written_file;

/*
 * What to write. Rows go to one or more files under `dir`, none much larger than target_file_size as far as that is known in time;
 * with partition columns a file holds rows of one combination of their values, and the columns themselves are left out of it. Files are
 * durable and under their final names when on_file tells of them. On failure everything written is removed.
 */
typedef struct silt_parquet_write {
    uint32_t size;
    silt_storage *storage;     /* borrowed */
    const char *dir;           /* table root */
    const char *path_prefix;   /* put before each file's name within dir, may hold '/'; "" for none */
    const silt_schema *schema; /* physical schema of the rows, partition columns included; the stream is cast to
                                       it by position under store-assignment rules */
    const char *const *partition_columns; /* physical names; n 0 for none */
    size_t n_partition_columns;
    const char *codec;                                         /* "zstd", "snappy", "gzip", "lz4", "none" … */
    int64_t target_file_size;                                  /* bytes */
    int64_t row_group_rows;                                    /* 0: the handler's default */
    bool (*on_file)(void *ctx, const silt_written_file *file); /* false: out of memory, stop */
    void *on_file_ctx;
    /*
     * Of `schema`'s shape, in the names that users know, for messages; NULL: schema. Fields whose metadata has "parquet.field.id" and
     * "parquet.field.nested.ids" (a map from dotted names to ids) are stored with those ids.
     */
    const silt_schema *logical;
    size_t
        random_prefix_length; /* > 0: a folder of that many random letters and digits for each file instead of folders that are
                                     named after partition values */
    bool keep_partition_columns; /* store them in the files as well, after all others */
} silt_parquet_write;

/*
 * One file to write, under a name that the caller chose: for checkpoints. The columns of the stream become the columns of the file, in
 * their types and the rows keep their order; every column may be null in it. The file is visible under its name only when it is whole and durable; after a failure nothing
 * of it is.
 */
typedef struct silt_parquet_write_file {
    uint32_t size;
    silt_storage *storage;  /* borrowed */
    const char *dir;        /* table root; unfinished work may lie hidden in it */
    const char *path;       /* of the file, as the store knows it; its folder is made if it is missing */
    const char *codec;      /* as in silt_parquet_write */
    int64_t row_group_rows; /* 0: the handler's default */
    /* Filled on success. */
    int64_t size_bytes;
    int64_t modified_ms;
} silt_parquet_write_file;

/* One file of a scan plan. */
typedef struct silt_plan_file {
    const char *path;       /* absolute, as the store knows it */
    const char *local_path; /* or NULL */
    int64_t size_bytes;
    int64_t modified_ms;                  /* add.modificationTime */
    const silt_value *partition_values;   /* one for each partition column of the plan */
    const silt_deletion_vector *deleted;  /* rows that are gone; NULL: none (see silt_rows_load) */
    const silt_deletion_vector *selected; /* only these rows are wanted; NULL: all */
    int64_t num_records;                  /* rows stored in the file, -1 if not known: its footer tells */
    int64_t base_row_id;                  /* -1 if the file has none (PROTOCOL.md "Row Tracking") */
    int64_t row_commit_version;           /* add.defaultRowCommitVersion, -1 if the file has none */
} silt_plan_file;

/* Where a top-level column of a plan comes from. */
typedef enum silt_plan_source {
    SILT_FROM_FILE,      /* stored in the data files, under its physical name or field id */
    SILT_FROM_PARTITION, /* files[f].partition_values[index]; not in the files, and not to be read from them */
    SILT_FROM_METADATA   /* the struct "_metadata": its fields are told apart by their names, see silt_plan_column */
} silt_plan_source;

/*
 * Fields of "_metadata", as Delta Spark has them: file_path (text, a percent-encoded URI), file_name (text, its last part), file_size
 * (long), file_block_start (long, 0), file_block_length (long, file_size), file_modification_time (timestamp), row_index (long, the
 * row's place in its file), row_id and row_commit_version (long, see silt_scan_plan), base_row_id and default_row_commit_version (long,
 * base_row_id and row_commit_version of the file). A plan's struct has those that were asked for.
 */
typedef struct silt_plan_column {
    silt_plan_source source;
    int32_t index; /* of SILT_FROM_PARTITION, else -1 */
} silt_plan_column;

/*
 * A planned scan in logical terms, for engines that can run a scan as a whole (and for SQL). logical and physical
 * have the same shape: physical has the names that the files use at every level and, with match_by_field_id, the fields' ids as
 * their metadata "parquet.field.id". A top-level column of `physical` with the metadata "silt.required" must be in every file: one that
 * lacks it is SILT_ECORRUPT with the file's path. `logical` begins with the columns that were
 * asked for (silt_scan_schema); columns that only the filter names come after them.
 */
typedef struct silt_scan_plan {
    uint32_t size;
    silt_storage *storage; /* borrowed */
    const silt_schema *logical;
    const silt_schema *physical;
    const silt_plan_column *columns; /* one for each top-level column of `logical` */
    size_t n_partition_columns;
    bool match_by_field_id; /* a column that a file has no id for is missing there: null */
    const silt_plan_file *files;
    size_t n_files;
    bool has_row_sets;       /* some file has `deleted` or `selected` */
    const silt_expr *filter; /* over logical names, to be applied fully to every row; NULL: none */
    const char *table;       /* for messages */
    int64_t version;
    const char *root; /* the table's URI or path */
    /*
     * Physical names of the stored columns that hold row ids and row commit versions, NULL if the table has none. Where such a column is
     * missing in a file or null in a row, the value is base_row_id + row_index, or the file's row_commit_version.
     */
    const char *row_id_column;
    const char *row_commit_version_column;
    /*
     * One flag for each top-level column of `logical`: false for a column that the query will not read, so that remote files need not give
     * it. To read it all the same is an error. NULL: every column may be read.
     */
    const bool *may_read;
} silt_scan_plan;

/* Columns of files that will be read soon. */
typedef struct silt_parquet_bring {
    uint32_t size;
    silt_storage *storage; /* borrowed */
    const silt_parquet_file *files;
    size_t n_files;
    const char *const *columns; /* at the top of the files' schemas; one that a file lacks is passed over */
    size_t n_columns;
} silt_parquet_bring;

typedef struct silt_parquet_handler_vtable {
    uint32_t size;
    uint32_t abi_version;
    const char *name;
    void (*close)(void *impl); /* required */
    /* Required. The stream holds what it needs of the request; storage must outlive it. */
    silt_status (*read)(void *impl, const silt_call *call, const silt_parquet_read *request,
                        struct ArrowArrayStream *out, silt_error *err);
    /* Required. Consumes `rows` in every case. */
    silt_status (*write)(void *impl, const silt_call *call, const silt_parquet_write *request,
                         struct ArrowArrayStream *rows, silt_error *err);
    /* Optional. Runs a whole scan, filter included. NULL: the kernel builds it from `read` and expressions. */
    silt_status (*scan)(void *impl, const silt_call *call, const silt_scan_plan *plan, struct ArrowArrayStream *out,
                        silt_error *err);
    /*
     * Optional. Tells of the row groups of a file what its footer says, so that whole groups need not be read. It is of use only where that
     * is much cheaper than reading the file: a handler may tell of none (NULL is the same). SILT_ECORRUPT for no Parquet file.
     */
    silt_status (*groups)(void *impl, const silt_call *call, const silt_parquet_groups *request, silt_error *err);
    /*
     * Optional. Consumes `rows` in every case. SILT_EEXISTS when the name is taken, and then nothing was changed. NULL: checkpoints can be
     * written as JSON only.
     */
    silt_status (*write_file)(void *impl, const silt_call *call, silt_parquet_write_file *request,
                              struct ArrowArrayStream *rows, silt_error *err);
    /*
     * Optional. Of files on a store that is far away: asks for what the columns take in all of them at once and keeps it where `read` finds
     * it, so that reading them one after the other takes no round each. NULL: `read` asks for what it needs.
     */
    silt_status (*bring)(void *impl, const silt_call *call, const silt_parquet_bring *request, silt_error *err);
} silt_parquet_handler_vtable;

typedef struct silt_parquet_handler {
    const silt_parquet_handler_vtable *vtable;
    void *impl;
} silt_parquet_handler;

/* ---- Expressions ---- */

typedef struct silt_expression_handler_vtable {
    uint32_t size;
    uint32_t abi_version;
    const char *name;
    void (*close)(void *impl); /* required */
    /*
     * Required. A stream of the rows of `in` for which `predicate` is true (NULL: all), in their order, with all
     * their columns. Consumes `in`.
     */
    silt_status (*filter)(void *impl, const silt_call *call, struct ArrowArrayStream *in, const silt_expr *predicate,
                          struct ArrowArrayStream *out, silt_error *err);
} silt_expression_handler_vtable;

typedef struct silt_expression_handler {
    const silt_expression_handler_vtable *vtable; /* NULL: scans with a filter hand out unfiltered rows only through
                                                     the plan, silt_scan_read refuses them */
    void *impl;
} silt_expression_handler;

/* ---- The engine ---- */

typedef struct silt_engine_options {
    uint32_t size;
    uint32_t abi_version;
    const silt_env *env;           /* NULL: silt_env_default(); must outlive the engine */
    const silt_executor *executor; /* NULL: inline; must outlive the engine */
    silt_storage_registry *stores; /* required; consumed on success */
    silt_parquet_handler parquet;  /* vtable NULL: tables can be opened only where no Parquet file is needed */
    silt_expression_handler expression;
} silt_engine_options;

/* Checks every vtable (SILT_EINVALID names slot and handler) and takes ownership of stores and impls on success. */
SILT_API SILT_NODISCARD silt_status silt_engine_new(const silt_engine_options *options, silt_engine **out,
                                                    silt_error *err);
SILT_API silt_engine *silt_engine_ref(silt_engine *engine);          /* the same object; pair it with an unref */
SILT_API void silt_engine_unref(silt_engine *engine);                /* NULL is legal */
SILT_API const silt_env *silt_engine_env(const silt_engine *engine); /* as given; borrowed */
/* The store of a URI or path, borrowed from the engine. SILT_EUNSUPPORTED names a scheme that has none. Any thread. */
SILT_API SILT_NODISCARD silt_status silt_engine_storage(silt_engine *engine, const char *uri, silt_storage **out,
                                                        silt_error *err);

/* The most threads that a data plane may be given. */
#define SILT_MAX_THREADS 1024

typedef struct silt_default_engine_options {
    uint32_t size;
    const silt_env *env;                    /* NULL: default */
    const silt_executor *executor;          /* NULL: a small thread pool */
    uint32_t threads;                       /* of the data plane, up to SILT_MAX_THREADS; 0: number of processors */
    const char *memory_limit;               /* of the data plane, e.g. "4GB"; NULL: its default */
    const char *temp_dir;                   /* for spilling; NULL: $TMPDIR or /tmp */
    silt_storage_registry *stores;          /* NULL: local, memory and the remote ones; consumed on success */
    const silt_store_option *store_options; /* of the remote stores, copied; looked at now; only with `stores` NULL */
    size_t n_store_options;
} silt_default_engine_options;

/*
 * The engine that comes with silt: local and memory stores, and DuckDB as the data plane, which is loaded at first
 * use: libsilt_duckdb.so where $SILT_ENGINE_PATH says, else beside libsilt, else where the system's loader looks. A
 * call that needs it and does not find it fails with SILT_EUNSUPPORTED, class SILT_ENGINE_NOT_FOUND. The remote stores are in a library
 * of their own, libsilt_remote.so, found in the same way ($SILT_REMOTE_PATH), class SILT_STORES_NOT_FOUND. options NULL:
 * defaults.
 */
SILT_API SILT_NODISCARD silt_status silt_engine_default_new(const silt_default_engine_options *options,
                                                            silt_engine **out, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
