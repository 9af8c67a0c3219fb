/*
 * From the columns of INSERT's query to those of its table: by position, by name or by list, beside values that PARTITION gives; and what
 * that makes of the table's schema.
 */
#ifndef SL_SQL_INSERT_COLUMNS_H
#define SL_SQL_INSERT_COLUMNS_H

#include "sql/write_options.h"

struct sl_insert_columns {
    size_t *mapping; /* as sl_row_source_wrap takes it */
    struct sl_str
        *constants; /* for each column of the table: SQL of its value, absent if the query gives it or nobody does */
    silt_schema *shape;   /* a reference, or NULL; as in struct sl_row_source */
    silt_expr *partition; /* of PARTITION: its values as a condition, a reference; NULL: none was given */
};
void sl_insert_columns_release(struct sl_insert_columns *columns); /* safe on a zeroed one */

/*
 * Fits the query's columns to the transaction's table. With merges new columns are added to its schema, with overwrites the schema becomes that
 * of the query, and every file is removed. Everything but references lives in run->arena.
 */
struct sl_insert_way {
    bool merges;
    bool overwrites;
    struct sl_str partition_by; /* with overwrites; absent: the columns that are left of the table's */
};
silt_status sl_insert_columns_fit(struct sl_run *run, struct sl_row_source *source, silt_txn *txn,
                                  const struct sl_insert_way *way, struct sl_insert_columns *out, silt_error *err);

#endif
