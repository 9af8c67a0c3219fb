/*
 * What SET said about writes: application ids, how schemas change, which rows an overwrite replaces. Read by the statements that write.
 */
#ifndef SL_SQL_WRITE_OPTIONS_H
#define SL_SQL_WRITE_OPTIONS_H

#include "silt/transaction.h"
#include "sql/run.h"

struct sl_write_options {
    struct sl_str app_id; /* absent: none */
    int64_t app_version;
    bool has_app_version;
    bool auto_reset;    /* the version is forgotten after each write */
    bool merges_schema; /* new columns are added */
    bool overwrites_schema;
    bool dynamic;                /* an overwrite replaces the partitions that receive rows */
    struct sl_str replace_where; /* absent: an overwrite replaces everything */
    struct sl_str partition_by;  /* names with commas between them; absent: as it is */
    uint32_t max_attempts;       /* to commit; 0: the default */
    int64_t time_limit_ms;       /* likewise */
};

/* Values were checked by SET. SILT_EINVALID for options that contradict each other. Views borrow from the session. */
silt_status sl_write_options_get(const silt_session *session, struct sl_write_options *out, silt_error *err);

/*
 * Gives the transaction its application id, user metadata and engine. SILT_EINVALID: of id and version only one is set. *recorded: the table has the id with this version or a later one, so
 * that the statement is skipped: run->result says so, and the transaction is to be freed.
 */
silt_status sl_write_begin(struct sl_run *run, const struct sl_write_options *options, silt_txn *txn, bool *recorded,
                           silt_error *err);
/* No older version, and no temporary table: a query would read that, and nobody would look where the rows go. `only` says so. */
silt_status sl_write_check_target(struct sl_run *run, const struct sl_table_name *name, const char *only,
                                  silt_error *err);
/* After a write that was committed or skipped. */
void sl_write_end(struct sl_run *run, const struct sl_write_options *options);

#endif
