/*
 * A transaction seen by the SQL layer, which writes through a query of the data plane instead of a stream.
 */
#ifndef SL_KERNEL_TXN_WRITE_H
#define SL_KERNEL_TXN_WRITE_H

#include "base/str.h"
#include "silt/scan.h"
#include "silt/transaction.h"

/* Text of commitInfo.engineInfo; the default is "silt/<version>". */
silt_status sl_txn_set_engine_info(silt_txn *txn, const char *engine_info, silt_error *err);

/* URI of the table, as silt_table_uri gives it. */
const char *sl_txn_table_uri(const silt_txn *txn);

/* Rows that a write replaces: as silt_txn_replace_where, with the zone of partition values that are written without one. */
struct sl_txn_replace {
    const silt_expr *condition;
    silt_local_time local_time; /* NULL: UTC */
    void *local_time_ctx;
};
silt_status sl_txn_replace_where(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request,
                                 silt_error *err);
/* As silt_txn_overwrite_partitions, likewise; the condition is not looked at. */
silt_status sl_txn_overwrite_partitions(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request,
                                        silt_error *err);

/* As silt_txn_begin_replace, at a snapshot that the caller has read. */
struct sl_txn_replace_table {
    const silt_create_options *options;
    const char *operation;
};
silt_status sl_txn_begin_replace_at(silt_table *table, silt_snapshot *snapshot, const silt_call *call,
                                    const struct sl_txn_replace_table *request, silt_txn **out, silt_error *err);

/* In a mapping: a value of the column's own type that is not the source's. */
#define SL_COLUMN_GIVEN (SIZE_MAX - 1)

/*
 * Checks that columns of a source can be stored in the table: mapping[i] is the source column of table column i, SIZE_MAX for
 * none (null), or SL_COLUMN_GIVEN. SILT_ESCHEMA names the column and both types when no store assignment exists between them.
 */
silt_status sl_txn_check_columns(const silt_txn *txn, const struct ArrowSchema *source, const size_t *mapping,
                                 silt_error *err);
/* The same where members of structs are found by their names, and those that the source lacks become null. */
silt_status sl_txn_check_columns_by_name(const silt_txn *txn, const struct ArrowSchema *source, const size_t *mapping,
                                         silt_error *err);
/* Files that it removes so far. */
size_t sl_txn_removed_files(const silt_txn *txn);
/* Ignoring case. */
bool sl_txn_is_partition_column(const silt_txn *txn, struct sl_str name);
/* True if the table has recorded an application id of the transaction with its version or a later one: there is nothing to do. */
bool sl_txn_is_recorded(const silt_txn *txn);

/*
 * Fills a request whose rows must come in the order and types of silt_txn_schema; files that it reports become adds of the
 * transaction. Everything in it is borrowed from the transaction.
 */
silt_status sl_txn_write_request(silt_txn *txn, silt_parquet_write *request, silt_error *err);
/* Of a write that failed with this status and error: that something is missing is a conflict when the table was dropped meanwhile. */
silt_status sl_txn_write_failed(const silt_txn *txn, const silt_call *call, silt_status status, silt_error *err);
/* After a write through such a request succeeded: reports what on_file found wrong (a null in a NOT NULL column …). */
silt_status sl_txn_write_finish(silt_txn *txn, silt_error *err);

#endif
