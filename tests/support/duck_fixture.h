/*
 * A default engine with its DuckDB data plane, a folder of its own, and short forms of what tests do with it: run a query and
 * get its text, write rows of a query, scan what was written. Helpers fail the test when something fails that must not.
 */
#ifndef SILT_DUCK_FIXTURE_H
#define SILT_DUCK_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "engine/dataplane.h"
#include "silt/silt.h"

/* A file as on_file told of it; texts and values live with the fixture. */
struct duck_written {
    const char *path; /* relative */
    const char *full;
    int64_t size_bytes;
    int64_t num_rows;
    silt_value *partition_values;
    silt_column_stats *stats;
    size_t n_stats;
};

struct duck_fixture {
    const silt_env *env;
    silt_engine *engine;
    struct sl_dataplane_ref plane;
    silt_storage *storage; /* the local store, or the one in memory */
    bool in_memory;
    char *dir;  /* a folder of the machine, removed at the end */
    char *root; /* of the table, as the store is told it: dir/table or memory://t/<n> */
    struct sl_arena arena;
    struct sl_buf text;
    struct sl_vec files; /* struct duck_written, of the last write */
    silt_error err;
    size_t fail_after; /* on_file answers false after so many files; SIZE_MAX: never */
    const silt_call *call;
    struct sl_vec filters; /* silt_expr *, of plans */
};

/* cmocka set-up and tear-down with the fixture as state. */
int duck_setup(void **state);
int duck_setup_memory(void **state);
int duck_teardown(void **state);

silt_schema *duck_schema(struct duck_fixture *fx, const char *fields_json); /* the array of fields */

/* Rows of a query as lines, cells separated by '|', nulls as NULL. Lives until the next call. */
const char *duck_text(struct duck_fixture *fx, const char *sql);
silt_status duck_try_query(struct duck_fixture *fx, const char *sql);

struct duck_write_options {
    const char *partition_columns[4];
    size_t n_partition_columns;
    const char *codec;
    int64_t target_file_size;
    int64_t row_group_rows;
    const char *prefix;
};
silt_status duck_try_write(struct duck_fixture *fx, const char *sql, const silt_schema *schema,
                           const struct duck_write_options *options);
void duck_write(struct duck_fixture *fx, const char *sql, const silt_schema *schema,
                const struct duck_write_options *options);
const struct duck_written *duck_file(const struct duck_fixture *fx, size_t index);
/* Statistics of a leaf by its dotted path; NULL if there are none. */
const silt_column_stats *duck_stats(const struct duck_fixture *fx, size_t file, const char *path);
/* "min..max nulls", with "-" for a missing bound. */
const char *duck_stats_text(struct duck_fixture *fx, size_t file, const char *path);

/* A plan over the files of the last write; filter text may be NULL. */
const silt_scan_plan *duck_plan(struct duck_fixture *fx, const silt_schema *schema,
                                const struct duck_write_options *options, const char *filter);
/* "SELECT columns FROM (scan) rest" as text. */
const char *duck_scan_text(struct duck_fixture *fx, const silt_scan_plan *plan, const char *columns, const char *rest);
silt_status duck_try_scan(struct duck_fixture *fx, const silt_scan_plan *plan);

/* Files below a folder of the machine, hidden ones included. */
size_t duck_count_files(const char *dir);

#endif
