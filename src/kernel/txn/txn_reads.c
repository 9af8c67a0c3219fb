/*
 * What a transaction says that its result depends on, for the conflict check. Called by applications and by the SQL layer; one owner.
 */
#include "kernel/txn/txn_int.h"

#include "base/error.h"
#include "expr/expr.h"
#include "kernel/scan/scan_build.h"
#include "kernel/snapshot/state.h"

void sl_txn_release_reads(silt_txn *txn)
{
    for (size_t i = 0; i < txn->reads.len; i++) {
        silt_expr_unref((silt_expr *)((const struct sl_read *)sl_vec_at(&txn->reads, i))->predicate);
    }
    sl_vec_release(&txn->reads);
    sl_vec_release(&txn->read_files);
}

/* Takes the reference of the predicate. */
static silt_status push_read(silt_txn *txn, silt_expr *predicate, bool files_listed, silt_error *err)
{
    struct sl_read *slot = sl_vec_push(&txn->reads);
    if (slot == NULL) {
        silt_expr_unref(predicate);
        return sl_fail_nomem(err);
    }
    *slot = (struct sl_read){predicate, files_listed};
    return SILT_OK;
}

silt_status silt_txn_read_predicate(silt_txn *txn, const silt_expr *predicate, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (predicate == NULL) {
        txn->reads_table = true;
        return SILT_OK;
    }
    silt_expr *resolved = NULL;
    SL_TRY(sl_expr_resolve(predicate, txn->schema, &resolved, err));
    return push_read(txn, resolved, false, err);
}

silt_status silt_txn_read_file(silt_txn *txn, const silt_call *call, const char *path, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    const struct sl_add *add = NULL;
    if (path != NULL) {
        SL_TRY(sl_txn_find_live(txn, call, path, &add, err));
    }
    if (add == NULL) {
        return sl_fail(err, path != NULL ? SILT_ENOTFOUND : SILT_EINVALID, "DELTA_FILE_NOT_FOUND",
                       "%s is no live file of the table at version %lld", path != NULL ? path : "nothing",
                       (long long)txn->read_version);
    }
    struct sl_str *slot = sl_vec_push(&txn->read_files);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = add->path;
    return SILT_OK;
}

silt_status silt_txn_read_scan(silt_txn *txn, const silt_call *call, const silt_scan *scan, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (scan == NULL || txn->snapshot == NULL ||
        silt_snapshot_version(sl_scan_snapshot(scan)) != silt_snapshot_version(txn->snapshot) ||
        !sl_str_eq(sl_snapshot_root(sl_scan_snapshot(scan)), txn->root)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the scan is not of the transaction's snapshot, version %lld",
                       (long long)txn->read_version);
    }
    if (sl_scan_filter(scan) == NULL) {
        txn->reads_table = true;
        return SILT_OK;
    }
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    for (size_t i = 0; i < plan->n_files; i++) {
        SL_TRY(silt_txn_read_file(txn, call, plan->files[i].path, err));
    }
    return push_read(txn, silt_expr_ref((silt_expr *)sl_scan_filter(scan)), true, err);
}
