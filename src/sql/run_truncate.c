/*
 * TRUNCATE TABLE: removes every file of the table in one version. A table without files stays as it is.
 */
#include "base/env.h"
#include "base/error.h"
#include "kernel/txn/txn_write.h"
#include "sql/run.h"
#include "sql/write_options.h"

static silt_status truncate(struct sl_run *run, const struct sl_write_options *options, silt_txn *txn, silt_error *err)
{
    const int64_t begin_us = sl_monotonic_us(run->session->env);
    bool recorded = false;
    SL_TRY(sl_write_begin(run, options, txn, &recorded, err));
    if (recorded) {
        return sl_run_skip(run, false, err);
    }
    SL_TRY(silt_txn_remove_all(txn, run->call, err));
    if (sl_txn_removed_files(txn) == 0) {
        return SILT_OK; /* as Delta Spark: nothing to write */
    }
    SL_TRY(silt_txn_set_metric(txn, "executionTimeMs", (sl_monotonic_us(run->session->env) - begin_us) / 1000, err));
    return sl_run_commit(run, txn, false, err);
}

silt_status sl_run_truncate(struct sl_run *run, silt_error *err)
{
    struct sl_write_options options;
    silt_table *table = NULL;
    silt_txn *txn = NULL;

    run->result->kind = SILT_RESULT_NONE;
    SL_TRY(sl_write_options_get(run->session, &options, err));
    SL_TRY(sl_write_check_target(run, &run->statement->table, "only Delta tables are truncated", err));
    SL_TRY(sl_session_open_table(run->session, &run->statement->table, &table, err));
    silt_status status = silt_txn_begin(table, run->call, "TRUNCATE", &txn, err);
    if (status == SILT_OK) {
        status = truncate(run, &options, txn, err);
    }
    if (status == SILT_OK) {
        sl_write_end(run, &options);
    }
    silt_txn_free(txn);
    silt_table_unref(table);
    return status;
}
