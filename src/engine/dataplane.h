/*
 * The data plane: what the default engine needs beyond the public handlers, as one versioned vtable that a shared library
 * exports. libsilt loads it at first use (loading the library behind it costs tens of milliseconds a process), so a command
 * that reads only the log never pays.
 *
 * A data plane may be used from several threads at once; each call works on a connection of its own. Streams that it hands
 * out keep what they need; they must be released before close.
 */
#ifndef SL_ENGINE_DATAPLANE_H
#define SL_ENGINE_DATAPLANE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/arrow.h"
#include "silt/deletion_vector.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/storage.h"
#include "storage/cache/cache_fetch.h"

#define SL_DATAPLANE_ABI_VERSION 6
#define SL_DATAPLANE_ENTRY "silt_duckdb_dataplane"

/* Names that tables of the data plane may have beside their columns, and "*" does not give. */
#define SL_DATAPLANE_VIRTUAL                        \
    {                                               \
        "file_index", "file_row_number", "filename" \
    }

struct sl_dataplane; /* the implementation's instance */

/*
 * What a data plane calls back in libsilt: the dispatch to the stores, which only libsilt contains. The contracts are
 * those of the silt_storage_ functions of the same names. Static storage.
 */
struct sl_dataplane_host {
    uint32_t size;
    silt_status (*read)(silt_storage *storage, const silt_call *call, const char *path, void **data, size_t *data_len,
                        silt_error *err);
    void (*free_data)(silt_storage *storage, void *data, size_t data_len);
    silt_status (*stat)(silt_storage *storage, const silt_call *call, const char *path, int64_t *size_bytes,
                        int64_t *modified_ms, silt_error *err);
    silt_status (*local_path)(silt_storage *storage, const char *path, char *buf, size_t buf_size, silt_error *err);
    silt_status (*adopt)(silt_storage *storage, const silt_call *call, const char *local, const char *path,
                         silt_error *err);
    silt_status (*remove)(silt_storage *storage, const silt_call *call, const char *path, silt_error *err);
    /* The functions silt_storage_upload_begin and silt_upload_… */
    silt_status (*upload_begin)(silt_storage *storage, const silt_call *call, const char *path, silt_upload **out,
                                silt_error *err);
    size_t (*upload_unit)(const silt_upload *upload);
    silt_status (*upload_append)(silt_upload *upload, const silt_call *call, const void *data, size_t data_len,
                                 silt_error *err);
    silt_status (*upload_finish)(silt_upload *upload, const silt_call *call, const void *data, size_t data_len,
                                 silt_error *err);
    void (*upload_abort)(silt_upload *upload);
    /* Deletion vectors: the functions silt_rows_… */
    silt_status (*rows_load)(silt_storage *storage, const silt_call *call, const silt_rows_request *requests, size_t n,
                             silt_rows **out, silt_error *err);
    void (*rows_free)(silt_rows *rows);
    void (*rows_mask)(const silt_rows *rows, int64_t first, size_t n, uint8_t *live);
    int64_t (*rows_next_live)(const silt_rows *rows, int64_t from);
    int64_t (*rows_next_dead)(const silt_rows *rows, int64_t from);
    /* Files of stores without local paths: the functions sl_fetch_… */
    silt_status (*fetch_open)(const struct sl_fetch_request *request, const silt_call *call, struct sl_fetch **out,
                              silt_error *err);
    void (*fetch_close)(struct sl_fetch *fetch);
    const char *(*fetch_path)(const struct sl_fetch *fetch, size_t file);
    int64_t (*fetch_size)(const struct sl_fetch *fetch, size_t file);
    silt_status (*fetch_now)(struct sl_fetch *fetch, const silt_call *call, const struct sl_fetch_part *parts, size_t n,
                             silt_error *err);
    silt_status (*fetch_want)(struct sl_fetch *fetch, const struct sl_fetch_part *parts, size_t n, silt_error *err);
    silt_status (*fetch_start)(struct sl_fetch *fetch, silt_error *err);
    silt_status (*fetch_wait)(struct sl_fetch *fetch, const silt_call *call, size_t file, silt_error *err);
    void (*fetch_withdraw)(struct sl_fetch *fetch);
};

struct sl_dataplane_options {
    uint32_t size;
    const struct sl_dataplane_host *host; /* required; outlives the data plane */
    uint32_t threads;                     /* 0: number of processors */
    const char *memory_limit;             /* NULL: default */
    const char *temp_dir;                 /* NULL: $TMPDIR or /tmp */
    const char *time_zone;                /* NULL: UTC */
};

/* Parameters of a query: a struct array of one row; NULL schema: none. Borrowed. */
struct sl_dataplane_params {
    const struct ArrowSchema *schema;
    const struct ArrowArray *row;
};

/* A scan bound to a data plane: what the text of its subquery refers to. */
struct sl_dataplane_scan;

struct sl_dataplane_vtable {
    uint32_t size;
    uint32_t abi_version; /* SL_DATAPLANE_ABI_VERSION */
    const char *name;
    const char *(*library_version)(void); /* of what is behind it, e.g. "v1.5.6" */

    silt_status (*open)(const silt_env *env, const struct sl_dataplane_options *options, struct sl_dataplane **out,
                        silt_error *err);
    void (*close)(struct sl_dataplane *dp); /* NULL is legal */

    /* Handlers whose impl is the data plane; their close slot does nothing. */
    const silt_parquet_handler_vtable *parquet;
    const silt_expression_handler_vtable *expression;

    /* The parse tree of a SELECT (or VALUES, FROM, DESCRIBE …) as JSON; SILT_ESYNTAX with err->position (bytes). */
    silt_status (*parse)(struct sl_dataplane *dp, struct sl_str sql, struct sl_buf *json, silt_error *err);

    /*
     * Binds a plan and appends to `sql` the text of a query "SELECT … FROM …" that yields the plan's logical columns (without
     * parentheses around it). The plan is copied. scan_close after the last query that uses the text.
     *
     * A text that begins with "FROM " is a table with nothing selected from it: what follows may stand in place of the subquery. An
     * optimiser knows such a table better (DuckDB shares equal joins below different projections of it). But it may have more
     * columns than the plan, of the names SL_DATAPLANE_VIRTUAL, so that a query that says one of these must take the subquery.
     */
    silt_status (*scan_open)(struct sl_dataplane *dp, const silt_scan_plan *plan, struct sl_dataplane_scan **out,
                             struct sl_buf *sql, silt_error *err);
    void (*scan_close)(struct sl_dataplane *dp, struct sl_dataplane_scan *scan); /* NULL is legal */

    /* Result columns of a query, without running it. */
    silt_status (*describe)(struct sl_dataplane *dp, struct sl_str sql, const struct sl_dataplane_params *params,
                            struct ArrowSchema *out, silt_error *err);

    /*
     * Runs one statement. err->position is a byte offset into sql, -1 if not known. What `call` points to (the cancel flag)
     * must outlive the stream as well: pulling it obeys the same deadline and cancellation.
     */
    silt_status (*query)(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                         const struct sl_dataplane_params *params, struct ArrowArrayStream *out, silt_error *err);

    /*
     * As parquet->write, with the rows of a query: column i of the query becomes column i of request->schema under ANSI
     * store assignment (overflow, loss or an unreadable text is an error, never a wrapped or null value).
     */
    silt_status (*write_query)(struct sl_dataplane *dp, const silt_call *call, struct sl_str sql,
                               const struct sl_dataplane_params *params, const silt_parquet_write *request,
                               silt_error *err);

    /* Sets an option of the underlying database for all connections (SET name = value). */
    silt_status (*set_option)(struct sl_dataplane *dp, struct sl_str name, struct sl_str value, silt_error *err);
};

/* What a library exports under SL_DATAPLANE_ENTRY. */
typedef const struct sl_dataplane_vtable *(*sl_dataplane_entry)(void);

/*
 * The default engine's side (in libsilt): loads the library once an engine, opens the data plane at first use. *out is borrowed from
 * the engine. SILT_EUNSUPPORTED [SILT_ENGINE_NOT_FOUND] says where it was looked for; SILT_EENGINE: the engine is another.
 */
struct sl_dataplane_ref {
    const struct sl_dataplane_vtable *vtable;
    struct sl_dataplane *dp;
};
silt_status sl_engine_dataplane(silt_engine *engine, struct sl_dataplane_ref *out, silt_error *err);

#endif
