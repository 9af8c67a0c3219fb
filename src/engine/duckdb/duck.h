/*
 * What the files of the DuckDB data plane share: the instance, connections, running statements, error mapping, SQL text.
 * Only src/engine/duckdb includes this. A map of the folder, from the outside in:
 *
 *   the library's face   duck_entry.c  the vtable that libsilt loads
 *   the instance         duck_open.c   options, the one database, connections; duck_instance.c: what its parts ask of it
 *   its footers          duck_cache.c   what DuckDB may keep of them
 *   functions            duck_bound.h  what those in a query are bound to
 *   statements           duck_run.c, duck_params.c, duck_watch.c (cancelling), duck_result.c (rows out), duck_error.c
 *   SQL's text           duck_sql.c    names, literals, types; duck_query.c: a user's text parsed, described, run
 *   scans                duck_scan.c   a plan as SQL, in steps (duck_scan.h): duck_group.c, duck_meta.c, duck_branch.c; duck_part.c:
 *                        values of files; duck_live.c: deletion vectors; duck_void.c: columns of no type; duck_table.c: schema maps
 *                        duck_footer.h with its files: what is in Parquet files, and how it is read
 *                        duck_variant.h: variants; duck_aside.h: columns that DuckDB would read wrongly; duck_lz4.h: pages of an old codec
 *   handlers             duck_read.c (and duck_sparse.c, duck_pick.c, duck_sift.c), duck_filter.c (rows in by duck_rows.c), duck_write.c
 *   a write              duck_write.c  the course of it; duck_cast.c: store assignment; duck_copy.c, duck_split.c, duck_stats.c,
 *                        duck_send.c with duck_pace.h, duck_publish.c: its steps (duck_write.h); duck_field_ids.c: ids of columns; duck_text.c: partition
 *                        values as the log spells them
 *   a file of a name     duck_write_file.c, for checkpoints; duck_write_pages.c, without COPY
 *   files                duck_files.c  what DuckDB can open, scratch folders
 *
 * Threading: the instance is used from many threads; `lock` guards what is marked so. A connection has one owner.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_H
#define SL_ENGINE_DUCKDB_DUCK_H

#include <duckdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/decimal.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "engine/dataplane.h"
#include "schema/type.h"

/* An open database. A fatal error kills it for good; the next connection then opens another. */
struct sl_duck_db {
    atomic_uint refs;
    atomic_bool dead;
    duckdb_database handle;
};

/* A setting made through set_option, put again into a database that is opened anew. */
struct sl_duck_setting {
    struct sl_str name;
    struct sl_str value;
};

struct sl_aside_type;
struct sl_duck_object;
struct sl_duck_parts;
struct sl_duck_pick;
struct sl_duck_sift;
struct sl_duck_rows_source;
struct sl_duck_watch;

/* Interrupts calls that are cancelled or late, see duck_watch.c. */
struct sl_duck_watcher {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running;
    bool stop;
    struct sl_duck_watch *first; /* guarded by lock */
};

/* Physical schemas of files seen, see duck_footer.c. */
struct sl_duck_footers {
    struct sl_arena arena;
    struct sl_map files;   /* "size path" → schema */
    struct sl_map schemas; /* signature → schema */
    size_t users;          /* checks under way */
};

/* What DuckDB keeps of footers, see duck_cache.c. */
struct sl_duck_cache {
    uint64_t bytes; /* of memory, about */
    struct sl_arena arena;
    struct sl_map counted; /* local names */
    size_t copies;         /* of users that read files under names that never come again */
    unsigned queries;      /* run, for looks at it */
    bool keeps;            /* whether it takes more */
};

/* What functions in queries are bound to, see duck_bound.h. */
struct sl_duck_objects {
    pthread_mutex_t lock;
    struct sl_duck_object *first; /* guarded by lock */
};

struct sl_dataplane {
    const silt_env *env;
    const struct sl_dataplane_host *host;
    struct sl_arena arena; /* option texts */
    uint32_t threads;
    const char *memory_limit;
    const char *temp_dir;
    const char *time_zone;
    pthread_mutex_t lock;
    struct sl_duck_db *db;                           /* guarded by lock; NULL when none is open */
    struct sl_vec settings;                          /* guarded by lock; struct sl_duck_setting, texts in arena */
    uint64_t decimals[SL_DECIMAL_MAX_PRECISION + 1]; /* guarded by lock; bit s of [p]: decimal(p,s) has its function */
    struct sl_aside_type *aside_types;               /* guarded by lock; in arena */
    struct sl_duck_rows_source *rows;                /* guarded by lock */
    struct sl_duck_texts *texts;                     /* guarded by lock */
    uint64_t next_id;                                /* guarded by lock */
    struct sl_duck_footers footers;                  /* guarded by lock */
    struct sl_duck_cache cache;                      /* guarded by lock */
    struct sl_duck_watcher watcher;
    struct sl_duck_objects objects;
};

/* ---- duck_open.c: the instance, its database, connections ---- */

struct sl_duck_conn {
    struct sl_dataplane *dp;
    struct sl_duck_db *db;
    duckdb_connection handle;
};

silt_status sl_duck_open(const silt_env *env, const struct sl_dataplane_options *options, struct sl_dataplane **out,
                         silt_error *err);
void sl_duck_close(struct sl_dataplane *dp);
silt_status sl_duck_set_option(struct sl_dataplane *dp, struct sl_str name, struct sl_str value, silt_error *err);
/* Opens the database if there is none alive. */
silt_status sl_duck_connect(struct sl_dataplane *dp, struct sl_duck_conn *out, silt_error *err);
void sl_duck_disconnect(struct sl_duck_conn *conn); /* safe on a zeroed one */

/* ---- duck_instance.c: asked of the instance ---- */

/* A number that no other registration with the instance has. */
uint64_t sl_duck_next_id(struct sl_dataplane *dp);
/* The zone of zone-less texts, as it was set last. */
bool sl_duck_zone_is_utc(struct sl_dataplane *dp);

/* ---- duck_cache.c: what DuckDB keeps of footers ---- */

#define SL_DUCK_KEEP_FOOTERS "SET GLOBAL parquet_metadata_cache = true"
#define SL_DUCK_KEEP_NO_FOOTERS "SET GLOBAL parquet_metadata_cache = false"

/* For one connection. */
#define SL_DUCK_KEEP_NONE_HERE "SET SESSION parquet_metadata_cache = false"

/* In a database that was just opened; dp->lock is held, or nobody else has the instance. */
bool sl_duck_cache_begin(struct sl_dataplane *dp, duckdb_connection handle);
void sl_duck_cache_init(struct sl_duck_cache *cache, const silt_env *env);
void sl_duck_cache_release(struct sl_duck_cache *cache);
/* A file that DuckDB will read, under a local name that lasts. */
void sl_duck_cache_count(struct sl_dataplane *dp, const char *local, uint64_t footer_bytes);
/* Around what reads copies of files. */
void sl_duck_cache_begin_copies(struct sl_dataplane *dp);
void sl_duck_cache_end_copies(struct sl_dataplane *dp);
/* Before a query of the user's. */
void sl_duck_cache_look(struct sl_dataplane *dp);

/* ---- duck_run.c: running statements ---- */

struct sl_duck_run {
    struct sl_str sql;
    const struct sl_dataplane_params *params; /* or NULL */
    bool streaming;
    bool in_utc;    /* whatever the session's zone is */
    bool hands_out; /* the result leaves as Arrow: see sl_variant_hand_out */
};
/* *out is destroyed by the caller, also after a failure (it is zeroed first). */
silt_status sl_duck_run(struct sl_duck_conn *conn, const silt_call *call, const struct sl_duck_run *run,
                        duckdb_result *out, silt_error *err);
/* A statement of our own making, materialised. */
silt_status sl_duck_exec(struct sl_duck_conn *conn, const silt_call *call, const struct sl_buf *sql, duckdb_result *out,
                         silt_error *err);
silt_status sl_duck_prepare(struct sl_duck_conn *conn, struct sl_str sql, duckdb_prepared_statement *out,
                            silt_error *err);
/* Next chunk (owned by the caller), NULL at the end; interruptible. */
silt_status sl_duck_fetch(struct sl_duck_conn *conn, const silt_call *call, duckdb_result *result,
                          duckdb_data_chunk *out, silt_error *err);

/* ---- duck_void.c: columns of type void, by the types of the rows ---- */

void sl_duck_void_schema(const struct silt_type *type, struct ArrowSchema *schema);
void sl_duck_void_array(const struct silt_type *type, struct ArrowArray *array);

/* ---- duck_params.c ---- */
silt_status sl_duck_bind(struct sl_duck_conn *conn, duckdb_prepared_statement stmt,
                         const struct sl_dataplane_params *params, silt_error *err);

/* ---- duck_error.c ---- */

/*
 * Fills err from DuckDB's text of an error (JSON or plain). sql is what was run, for positions; call is asked why an
 * interrupt came. A fatal error marks the connection's database dead. Never returns SILT_OK.
 */
silt_status sl_duck_fail(struct sl_duck_conn *conn, const silt_call *call, struct sl_str sql, const char *text,
                         silt_error *err);

/* ---- duck_watch.c ---- */

struct sl_duck_watch {
    struct sl_duck_watch *next;
    const silt_call *call;
    duckdb_connection handle;
    bool listed;
};
void sl_duck_watcher_init(struct sl_duck_watcher *watcher);
void sl_duck_watcher_stop(struct sl_duck_watcher *watcher);
/* Until the end of the watch the call's cancellation or deadline interrupts the connection. */
silt_status sl_duck_watch_begin(struct sl_duck_conn *conn, const silt_call *call, struct sl_duck_watch *watch,
                                silt_error *err);
void sl_duck_watch_end(struct sl_duck_conn *conn, struct sl_duck_watch *watch);

/* ---- duck_result.c: results as Arrow ---- */

/* A connection, its result and how to turn it into Arrow. */
struct sl_duck_reader {
    struct sl_duck_conn conn;
    silt_call call; /* a copy; has_call tells if it counts */
    bool has_call;
    duckdb_result result;
    duckdb_arrow_options arrow;
    duckdb_prepared_statement titled; /* NULL, or whose column names the schema takes */
};
silt_status sl_duck_reader_open(struct sl_dataplane *dp, const silt_call *call, const struct sl_duck_run *run,
                                struct sl_duck_reader *out, silt_error *err);
void sl_duck_reader_close(struct sl_duck_reader *reader); /* safe on a zeroed one */
silt_status sl_duck_reader_schema(struct sl_duck_reader *reader, struct ArrowSchema *out, silt_error *err);
/* batch->release stays NULL at the end. */
silt_status sl_duck_reader_next(struct sl_duck_reader *reader, struct ArrowArray *batch, silt_error *err);
/* Moves the reader into a stream. */
silt_status sl_duck_reader_stream(struct sl_duck_reader *reader, struct ArrowArrayStream *out, silt_error *err);
const silt_call *sl_duck_reader_call(const struct sl_duck_reader *reader);

/* ---- duck_query.c: parse, describe, query ---- */

silt_status sl_duck_parse(struct sl_dataplane *dp, struct sl_str sql, struct sl_buf *json, silt_error *err);
silt_status sl_duck_describe(struct sl_dataplane *dp, struct sl_str sql, const struct sl_dataplane_params *params,
                             struct ArrowSchema *out, silt_error *err);
silt_status sl_duck_query(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                          const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err);

/* ---- duck_sql.c: pieces of SQL ---- */

void sl_duck_put_ident(struct sl_buf *sql, struct sl_str name);
void sl_duck_put_text(struct sl_buf *sql, struct sl_str text);
/* A flat type's name as DuckDB's catalog spells it; NULL for decimals, nested types and what DuckDB has no name for. */
const char *sl_duck_type_name(silt_type_kind kind);
/* DuckDB's type of a Delta type. */
silt_status sl_duck_put_type(struct sl_buf *sql, const struct silt_type *type, silt_error *err);
/* The same with variants as files hold them: groups of metadata and value. */
silt_status sl_duck_put_stored_type(struct sl_buf *sql, const struct silt_type *type, silt_error *err);
/* A path of a file to read, and "['a','b']" of several; what DuckDB would take for a pattern is escaped. */
void sl_duck_put_path(struct sl_buf *sql, const char *path);
void sl_duck_put_paths(struct sl_buf *sql, const char *const *paths, size_t n);

/* One string cell of a chunk, absent view for NULL; valid as long as the chunk. */
struct sl_str sl_duck_cell_str(duckdb_data_chunk chunk, idx_t column, idx_t row);
bool sl_duck_cell_i64(duckdb_data_chunk chunk, idx_t column, idx_t row, int64_t *out); /* BIGINT; false for NULL */
bool sl_duck_cell_bool(duckdb_data_chunk chunk, idx_t column, idx_t row);              /* false for NULL */

/* ---- duck_files.c: files that DuckDB can open ---- */

struct sl_duck_source {
    const char *path;       /* as the store knows it */
    const char *local_path; /* or NULL */
    int64_t size_bytes;     /* -1 if not known */
};
/* Local names of sources; of what a store without local paths holds, the footers were brought (duck_fetch.h). */
struct sl_duck_files {
    struct sl_dataplane *dp;
    struct sl_arena arena;
    const char **local;
    const struct sl_duck_source *sources; /* a copy */
    size_t n;
    char *temp_dir;              /* in the arena; NULL if nothing is brought */
    bool has_copies;             /* see duck_cache.c */
    struct sl_duck_fetch *fetch; /* NULL if nothing is brought */
};
silt_status sl_duck_files_open(struct sl_dataplane *dp, const silt_call *call, silt_storage *storage,
                               const struct sl_duck_source *sources, size_t n, struct sl_duck_files *out,
                               silt_error *err);
void sl_duck_files_close(struct sl_duck_files *files); /* safe on a zeroed one */
/* A new folder <parent>/<prefix><uuid>, path in the arena. */
silt_status sl_duck_make_dir(struct sl_dataplane *dp, struct sl_arena *arena, const char *parent, const char *prefix,
                             char **out, silt_error *err);
/* Creates a folder and those above it. */
silt_status sl_duck_make_dirs(struct sl_dataplane *dp, const char *path, silt_error *err);
/* Removes a folder and all in it, as far as it can be done. */
void sl_duck_remove_dir(struct sl_dataplane *dp, const char *path);
/* files->temp_dir, removed with the files. */
silt_status sl_duck_files_make_dir(struct sl_duck_files *files, silt_error *err);
/* Whether the file is a copy in that folder; others lie where they lie, or in the range cache. */
bool sl_duck_files_is_copy(const struct sl_duck_files *files, size_t index);
/* Some of them are copies from now on. */
void sl_duck_files_note_copies(struct sl_duck_files *files);

/* ---- duck_footer.c: the cache of footers ---- */

void sl_duck_footers_init(struct sl_duck_footers *footers, const silt_env *env);
void sl_duck_footers_release(struct sl_duck_footers *footers);

/* ---- duck_part.c: partition values as functions of file_index ---- */

/* Values of n_files x n_columns, registered under an id that SQL text names. */
struct sl_duck_parts_input {
    const silt_value *const *values; /* [file], each with n_columns values */
    size_t n_files;
    size_t n_columns;
    const struct silt_type *const *types; /* [column]; NULL: no column of the scan, its values are not looked at */
};
silt_status sl_duck_parts_new(struct sl_dataplane *dp, const struct sl_duck_parts_input *input,
                              struct sl_duck_parts **out, silt_error *err);
void sl_duck_parts_drop(struct sl_duck_parts *parts); /* NULL is legal */
/* Appends the call of the function that gives column `column` of the parts, of this type. */
silt_status sl_duck_parts_put(struct sl_duck_conn *conn, struct sl_buf *sql, const struct sl_duck_parts *parts,
                              size_t column, const struct silt_type *type, silt_error *err);
/* Registers the functions in a database that was just opened. */
bool sl_duck_parts_register(struct sl_dataplane *dp, duckdb_connection handle);

/* ---- duck_live*.c: rows that deletion vectors leave, as a filter of a scan ---- */

struct sl_duck_live;
/*
 * Reads the vectors of a plan's files and registers what they leave under an id that SQL text names; queries that are bound keep it
 * alive. Files are known by their places in this plan. *out is NULL for a plan without row sets, and NULL is legal below. How many rows
 * a file with a vector has is looked up in the file where the plan does not know.
 */
silt_status sl_duck_live_new(struct sl_dataplane *dp, const silt_call *call, const silt_scan_plan *plan,
                             const struct sl_duck_files *files, struct sl_duck_live **out, silt_error *err);
void sl_duck_live_drop(struct sl_duck_live *live);
/*
 * How many of the files [first, end) one SELECT is to read: all, or 1 where a file is better read alone, since whole row groups of it
 * are gone, or up to the next such file. The SELECTs are joined by UNION ALL.
 */
size_t sl_duck_live_piece(const struct sl_duck_live *live, size_t first, size_t end);
/*
 * Appends joint (" WHERE " or " AND ") and a condition to the SELECT that reads the files [first, first + n), whose file_index 0 is the
 * file `first`; nothing where none of them has a vector.
 */
void sl_duck_live_put(struct sl_buf *sql, const struct sl_duck_live *live, const char *joint, size_t first, size_t n);
/* Registers the functions in a database that was just opened. */
bool sl_duck_live_register(struct sl_dataplane *dp, duckdb_connection handle);

/* ---- duck_text.c: silt_partition_text(any, id): partition values as the log spells them ---- */

/* Texts too long to name a folder, of one write, registered under an id that SQL text names. Owned by the write. */
struct sl_duck_texts {
    struct sl_dataplane *dp;
    struct sl_duck_texts *next; /* this and all below: guarded by dp->lock */
    uint64_t id;
    struct sl_arena arena;
    struct sl_map keys;  /* text → its number */
    struct sl_vec texts; /* struct sl_str, by number */
};
void sl_duck_texts_open(struct sl_dataplane *dp, struct sl_duck_texts *texts);
void sl_duck_texts_close(struct sl_duck_texts *texts); /* safe on a zeroed one */
/* The text that a result of the function stands for; absent if it is none. */
struct sl_str sl_duck_texts_find(struct sl_duck_texts *texts, struct sl_str result);
bool sl_duck_text_register(struct sl_dataplane *dp, duckdb_connection handle);

/* ---- duck_table.c: read_parquet with a schema map ---- */

/* Columns that DuckDB adds to each scan; a column of a table may not hide them. */
bool sl_duck_is_virtual_name(struct sl_str name);

/* What follows the key of an entry of the map. */
void sl_duck_put_map_entry(struct sl_buf *sql, struct sl_str alias, struct sl_str type);
/* The entry of a column that is in no file: a map must not be empty. */
void sl_duck_put_no_column(struct sl_buf *sql);

/* ---- duck_scan.c ---- */

silt_status sl_duck_scan_open(struct sl_dataplane *dp, const silt_scan_plan *plan, struct sl_dataplane_scan **out,
                              struct sl_buf *sql, silt_error *err);
void sl_duck_scan_close(struct sl_dataplane *dp, struct sl_dataplane_scan *scan);
/* The whole scan as a stream: parquet->scan. */
silt_status sl_duck_scan(void *impl, const silt_call *call, const silt_scan_plan *plan, struct ArrowArrayStream *out,
                         silt_error *err);

/* ---- duck_read.c ---- */
silt_status sl_duck_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                         struct ArrowArrayStream *out, silt_error *err);

/* ---- duck_groups.c: what footers say of row groups: parquet->groups ---- */
silt_status sl_duck_bring(void *impl, const silt_call *call, const silt_parquet_bring *request, silt_error *err);
silt_status sl_duck_groups(void *impl, const silt_call *call, const silt_parquet_groups *request, silt_error *err);

/* ---- duck_sparse.c: few rows of a large file ---- */

/* Rows in which one of these members ("column.member") is not null; at most 64. */
struct sl_duck_sparse {
    const char *const *members;
    size_t n;
};
/*
 * Appends a condition on file_row_number that holds for all such rows of a file, and for few others. A member that the file
 * lacks is null in every row.
 */
silt_status sl_duck_put_sparse(struct sl_dataplane *dp, const silt_call *call, const char *local_path,
                               const struct sl_duck_sparse *wanted, struct sl_buf *sql, silt_error *err);

/* ---- duck_pick.c: rows of a file by their places ---- */

/* What a condition for these rows, ascending and each once, refers to; n is not 0. *out is NULL when it needs nothing. */
silt_status sl_duck_pick_new(struct sl_dataplane *dp, const int64_t *rows, size_t n, struct sl_duck_pick **out,
                             silt_error *err);
void sl_duck_pick_drop(struct sl_duck_pick *pick); /* NULL is legal */
/* Appends a condition on file_row_number that holds for the rows that pick was made for, and for few others that lie between them. */
void sl_duck_put_picked(struct sl_buf *sql, const int64_t *rows, size_t n, const struct sl_duck_pick *pick);
/* Registers the function in a database that was just opened. */
bool sl_duck_pick_register(struct sl_dataplane *dp, duckdb_connection handle);
/* The same for ranges of rows, ascending; n is not 0. */
void sl_duck_put_row_ranges(struct sl_buf *sql, const silt_row_range *ranges, size_t n);

/* ---- duck_sift.c: rows of a file by a caller's judgement of their texts ---- */

silt_status sl_duck_sift_new(struct sl_dataplane *dp, const silt_text_filter *filter, struct sl_duck_sift **out,
                             silt_error *err);
void sl_duck_sift_drop(struct sl_duck_sift *sift); /* NULL is legal */
/* Appends a condition on a column of strings. */
void sl_duck_put_sifted(struct sl_buf *sql, const struct sl_duck_sift *sift, const silt_parquet_leaf *leaf);
/* Registers the function in a database that was just opened. */
bool sl_duck_sift_register(struct sl_dataplane *dp, duckdb_connection handle);

/* ---- duck_rows.c: an Arrow stream as a table ---- */

struct sl_duck_rows {
    struct sl_buf table; /* what to select from */
    struct sl_duck_rows_source *source;
};
/* Consumes `in` in every case. The connection must outlive the rows. They can be read once. */
silt_status sl_duck_rows_open(struct sl_duck_conn *conn, const silt_call *call, struct ArrowArrayStream *in,
                              struct sl_duck_rows *out, silt_error *err);
void sl_duck_rows_close(struct sl_duck_rows *rows); /* safe on a zeroed one */
/* Registers the table function in a database that was just opened. */
bool sl_duck_rows_register(struct sl_dataplane *dp, duckdb_connection handle);
/* If the source itself failed: its error instead of DuckDB's text about it. Returns `status` else. */
silt_status sl_duck_rows_error(const struct sl_duck_rows *rows, silt_status status, silt_error *err);

/* ---- duck_filter.c ---- */
silt_status sl_duck_filter(void *impl, const silt_call *call, struct ArrowArrayStream *in, const silt_expr *predicate,
                           struct ArrowArrayStream *out, silt_error *err);

/* ---- duck_cast.c: store assignment ---- */

/*
 * Appends the expression that turns `value` (SQL text) of DuckDB type `from` into `to`, as files hold it: `stored` is `to` with the names
 * that it has there.
 */
silt_status sl_duck_put_cast(struct sl_buf *sql, struct sl_str value, duckdb_logical_type from,
                             const struct silt_field *to, const struct silt_field *stored, silt_error *err);

/* ---- duck_write.c ---- */
silt_status sl_duck_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                          struct ArrowArrayStream *rows, silt_error *err);
silt_status sl_duck_write_query(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                                const struct sl_dataplane_params *params, const silt_parquet_write *request,
                                silt_error *err);

/* ---- duck_write_file.c: a checkpoint ---- */
silt_status sl_duck_write_file(void *impl, const silt_call *call, silt_parquet_write_file *request,
                               struct ArrowArrayStream *rows, silt_error *err);

#endif
