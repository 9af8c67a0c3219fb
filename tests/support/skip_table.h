/*
 * Random small tables for tests of data skipping: one column of every scalar type, nested ones, one that was widened, and a partition
 * column; up to six files of few rows. Values come from small pools full of edges, so that bounds and literals meet. Seeded.
 */
#ifndef SILT_SKIP_TABLE_H
#define SILT_SKIP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "schema/type.h"
#include "schema/value.h"

#define SKIP_MAX_FILES 6
#define SKIP_MAX_ROWS 8

enum skip_column_id {
    SKIP_BOOL,
    SKIP_BYTE,
    SKIP_SHORT,
    SKIP_INT,
    SKIP_LONG,
    SKIP_FLOAT,
    SKIP_DOUBLE,
    SKIP_WIDENED, /* a double that was a float when the older files were written */
    SKIP_DECIMAL,
    SKIP_WIDE_DECIMAL,
    SKIP_STRING,
    SKIP_BINARY,
    SKIP_DATE,
    SKIP_TIMESTAMP,
    SKIP_TIMESTAMP_NTZ,
    SKIP_NESTED_INT,  /* st.a */
    SKIP_NESTED_TEXT, /* st.u.t */
    SKIP_PARTITION,
    SKIP_N_COLUMNS
};
#define SKIP_N_DATA SKIP_PARTITION

struct skip_column {
    const char *name; /* as in SQL, with dots */
    struct sl_str path[3];
    size_t path_len;
    struct silt_type type;
};
extern const struct skip_column skip_columns[SKIP_N_COLUMNS];

struct skip_random {
    uint64_t state;
};
uint64_t skip_pick(struct skip_random *random, uint64_t n);

struct skip_row {
    silt_value values[SKIP_N_COLUMNS];
    bool st_is_null; /* then st.a and st.u.t are null */
    bool u_is_null;
    bool deleted; /* by a deletion vector */
};

struct skip_file {
    struct skip_row rows[SKIP_MAX_ROWS];
    size_t n_rows;
    bool is_old; /* written when SKIP_WIDENED was a float */
};

struct skip_table {
    struct skip_file files[SKIP_MAX_FILES];
    size_t n_files;
};

/* The schema's fields as JSON, without brackets. */
const char *skip_schema_json(void);
/* A random value of a column's type, null now and then. Static text. */
silt_value skip_value(struct skip_random *random, enum skip_column_id column);
void skip_table_make(struct skip_table *table, struct skip_random *random);
/*
 * The live rows of n tables for DuckDB: t(file, …) AS (VALUES …); file i of table k is k * SKIP_MAX_FILES + i. False when there are none.
 */
bool skip_tables_print(const struct skip_table *tables, size_t n, struct sl_buf *out);

#endif
