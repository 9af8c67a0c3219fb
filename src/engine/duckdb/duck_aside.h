/*
 * Columns that DuckDB reads wrongly out of the files themselves, and which are read aside, out of copies with other footers: variants that
 * are annotated as such. DuckDB makes them its own VARIANT at once, in which a null variant and no variant are the same, and follows
 * their bytes without a limit; and instants in nanoseconds, which it cuts. Without the annotation it gives what is there.
 *
 *   duck_aside.c      what a scan reads aside, and the SQL of it
 *   duck_unmark.c     the copies: the wanted columns' bytes where they were, holes elsewhere, and the footer without the annotation
 *   duck_aside_sql.c  silt_aside_<n>(file_index, file_row_number, handle): values by their rows
 *
 * Nothing is copied before a value is asked for. Any thread.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_ASIDE_H
#define SL_ENGINE_DUCKDB_DUCK_ASIDE_H

#include "duck_bound.h"

/* A column, of a group of files whose schema is the same. */
struct sl_aside_column {
    struct sl_str stored;   /* its name in the files */
    struct sl_str declared; /* the DuckDB type to read it as */
    uint32_t first_leaf;    /* its leaves, counted in the order of the schema */
    uint32_t n_leaves;
};

/* A type that has a function of its own; never freed while the instance lives. */
struct sl_aside_type {
    struct sl_aside_type *next;
    struct sl_str declared;
    unsigned number;
};

/* A file, and its copy once there is one. */
struct sl_aside_file {
    const char *local;
    const char *path; /* for messages */
    const char *copy; /* guarded by the lock of the aside; NULL until it is made */
};

struct sl_aside_stream; /* see duck_aside_sql.c */

struct sl_duck_aside {
    struct sl_duck_object object;
    struct sl_dataplane *dp;
    pthread_mutex_t lock; /* guards what follows */
    struct sl_arena arena;
    struct sl_aside_file *files;
    size_t n_files;
    struct sl_vec columns; /* struct sl_aside_column; complete before the first query */
    char *dir;             /* of copies; NULL while there are none */
    struct sl_aside_stream *idle;
};

/* For the files of a scan, whose paths are copied. */
silt_status sl_aside_new(struct sl_dataplane *dp, const struct sl_duck_files *files, struct sl_duck_aside **out,
                         silt_error *err);
void sl_aside_drop(struct sl_duck_aside *aside); /* NULL is legal */
/*
 * Appends the SQL of a column's value in a branch whose file_index 0 is file `first` of the scan. Registers what it calls. Texts of the
 * column are copied.
 */
silt_status sl_aside_put(struct sl_duck_conn *conn, struct sl_buf *sql, struct sl_duck_aside *aside,
                         const struct sl_aside_column *column, size_t first, silt_error *err);
/* Registers the functions that there are so far in a database that was just opened. */
bool sl_aside_register(struct sl_dataplane *dp, duckdb_connection handle);

/* Used among the three files. */
extern const struct sl_duck_object_class sl_aside_class;
bool sl_aside_register_type(struct sl_dataplane *dp, duckdb_connection handle, const struct sl_aside_type *type);
void sl_aside_close_streams(struct sl_duck_aside *aside);

/* Writes the copy of a local file, with the bytes of these leaves. SILT_ECORRUPT, SILT_EIO … */
silt_status sl_unmark_file(const silt_env *env, const char *local, const char *copy,
                           const struct sl_aside_column *columns, size_t n_columns, silt_error *err);

#endif
