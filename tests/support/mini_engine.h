/*
 * A second engine, the smallest that a stranger could write: it uses nothing of silt but the public headers. Files are tables
 * of values kept in memory under their paths, the store is silt's memory store, and the expression handler reads the text of
 * predicates itself. Tests use it to run the kernel without a data plane.
 *
 * Rows come in batches of MINI_BATCH_ROWS, so that a small file has several. Not thread-safe: for tests of one thread.
 */
#ifndef SILT_TEST_MINI_ENGINE_H
#define SILT_TEST_MINI_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/silt.h"

#define MINI_BATCH_ROWS 3
#define MINI_MAX_COLUMNS 16

/* A column of a file. Values of text belong to it. */
struct mini_column {
    char *name;
    silt_value *values;
};

struct mini_file {
    char *path;
    size_t n_columns;
    size_t n_rows;
    struct mini_column columns[MINI_MAX_COLUMNS];
    struct mini_file *next;
};

struct mini_engine {
    silt_engine *engine;
    silt_storage *store;
    struct mini_file *files;
    size_t n_reads;         /* calls of the Parquet handler's read */
    size_t n_files_read;    /* files that those calls named */
    size_t n_columns_asked; /* by the last of them */
    bool had_predicate;     /* the last of them */
    bool matched_by_id;     /* likewise; files of the mini engine have names only */
    bool had_row_index;     /* likewise */
    size_t n_written;       /* files that write made */
    bool lies_about_types;  /* read hands out every column as int8 */
    bool leaves_rows_out;   /* read leaves out every third row, as if a predicate had ruled it out */
};

enum {
    MINI_NO_EXPRESSION = 1
};

/* env NULL: silt_env_default(). False when an engine cannot be made. */
bool mini_engine_init(struct mini_engine *mini, const silt_env *env, unsigned flags, silt_error *err);
void mini_engine_release(struct mini_engine *mini); /* after all streams of it */

/* Puts a file: cells row by row. An empty object goes to the store under the same path. */
void mini_engine_can(struct mini_engine *mini, const char *path, const char *const *names, size_t n_columns,
                     const silt_value *cells, size_t n_rows);
/* Puts `n` lines (without line ends) as commit `version` of the table at `root`. */
bool mini_engine_commit(struct mini_engine *mini, const char *root, int64_t version, const char *const *lines,
                        size_t n);

silt_value mini_null(void);
silt_value mini_long(int64_t v);
silt_value mini_double(double v);
silt_value mini_text(const char *v);

/* ---- parts of the engine, for its own files ---- */

struct mini_file *mini_find(struct mini_engine *mini, const char *path);
/* Takes names and cells; file->next is set. */
struct mini_file *mini_add(struct mini_engine *mini, const char *path, size_t n_columns, size_t n_rows);
silt_value mini_copy_value(silt_value v);

extern const silt_parquet_handler_vtable mini_parquet;
extern const silt_expression_handler_vtable mini_expression;

/* Arrow by hand. */
void mini_schema(struct ArrowSchema *out, size_t n); /* a struct of n children, to be filled in */
void mini_schema_child(struct ArrowSchema *schema, size_t index, const char *name, const char *format);
/* A column of n values in an Arrow format of a flat type; NULL values: all null. False for a format that it does not know. */
bool mini_array(struct ArrowArray *out, const char *format, const silt_value *values, size_t n);
void mini_struct(struct ArrowArray *out, size_t n_children, int64_t length);
/* A cell; text is borrowed. False for a format that it does not know. */
bool mini_cell(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row, silt_value *out);
int mini_compare(const silt_value *a, const silt_value *b);

#endif
