/*
 * Running one parsed statement. Each function fills result on success and leaves it untouched on failure; error positions are relative
 * to the user's text.
 */
#ifndef SL_SQL_RUN_H
#define SL_SQL_RUN_H

#include "silt/transaction.h"
#include "sql/session_int.h"
#include "sql/statement.h"

struct sl_run {
    silt_session *session;
    const silt_call *call;
    struct sl_dataplane_params params;
    struct sl_str text; /* of the statement */
    size_t offset;      /* of it in the user's text */
    struct sl_arena *arena;
    struct sl_statement *statement;
    silt_result *result;
};

/* Literals and partition values without a zone are of the session's; see sl_session_local_to_utc. ctx is the run. */
bool sl_run_is_utc(const struct sl_run *run);
silt_status sl_run_local_time(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err);

silt_status sl_run_statement(struct sl_run *run, silt_error *err);

silt_status sl_run_query(struct sl_run *run, silt_error *err);
silt_status sl_run_create(struct sl_run *run, silt_error *err);
silt_status sl_run_insert(struct sl_run *run, silt_error *err);
silt_status sl_run_drop(struct sl_run *run, silt_error *err);
silt_status sl_run_truncate(struct sl_run *run, silt_error *err);
silt_status sl_run_describe(struct sl_run *run, silt_error *err); /* DESCRIBE …, SHOW … */
silt_status sl_run_set(struct sl_run *run, silt_error *err);      /* SET, RESET */

/* A table's name as the user wrote it, for messages. */
const char *sl_table_name_text(struct sl_run *run, const struct sl_table_name *name);

/*
 * The source of rows of INSERT and CREATE … AS: a query inside the statement, prepared and described. Columns of the query are then
 * mapped onto target columns by a query around it.
 */
struct sl_row_source {
    struct sl_prepared_query query;
    struct ArrowSchema columns;
    size_t prefix_len; /* bytes put before the query's text by sl_row_source_wrap */
    const struct sl_str
        *constants; /* one for each target column: SQL of what the query does not give, else absent; NULL: none */
    const silt_schema *shape; /* the query's columns, if nested values are brought into the target's shape; else NULL */
};
silt_status sl_row_source_open(struct sl_run *run, size_t begin, size_t end, struct sl_row_source *out,
                               silt_error *err);
void sl_row_source_close(struct sl_row_source *source); /* safe on a zeroed one */
/* SELECT list of target columns over the query: column i is the query's column mapping[i], source->constants[i] with SL_COLUMN_GIVEN, or
 * NULL with SIZE_MAX. */
silt_status sl_row_source_wrap(struct sl_row_source *source, const silt_schema *target, const size_t *mapping,
                               struct sl_buf *sql, silt_error *err);
/*
 * Which columns of the query are nothing but NULL without a type: the data plane describes them as integers, yet they can be stored in
 * any column. untyped has one flag for each column of the query.
 */
silt_status sl_row_source_untyped(struct sl_run *run, struct sl_row_source *source, bool *untyped, silt_error *err);
/* Writes the rows as files of the transaction. */
silt_status sl_row_source_write(struct sl_run *run, struct sl_row_source *source, const size_t *mapping, silt_txn *txn,
                                silt_error *err);
/* Commits and makes the row of metrics; a commit that turns out to be recorded already is told as sl_run_skip does. */
silt_status sl_run_commit(struct sl_run *run, silt_txn *txn, bool rows_metric, silt_error *err);
/* The result of a write that is recorded in the table already. */
silt_status sl_run_skip(struct sl_run *run, bool rows_metric, silt_error *err);

#endif
