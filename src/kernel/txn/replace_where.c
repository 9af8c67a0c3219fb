/*
 * Replacing the rows for which a condition is true. Which files can hold such rows, and which of them hold nothing else, is told by
 * partition values and statistics, in the same way as for scans: the first are those that a scan for the condition keeps, the
 * others those that it does not keep once it asks for a row beside it as well. What remains between is read and written again without the
 * rows of the condition. A row for which the condition is null stays, as in Delta Spark.
 *
 * Called by applications and the SQL layer, on the caller's thread. PROTOCOL.md "Add File and Remove File".
 */
#include "kernel/txn/replace.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/stats_check.h"
#include "kernel/txn/txn_write.h"

/* The files that a scan keeps, by absolute path. */
struct kept {
    silt_txn *txn;
    struct sl_map paths;
    struct sl_arena scratch;
    int64_t rows; /* of those that were removed; -1: not known */
};

static silt_status plan_files(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request,
                              const silt_expr *beside, silt_scan **out, silt_error *err)
{
    silt_scan_builder *builder = NULL;
    silt_status status = silt_scan_builder_new(txn->snapshot, &builder, err);
    if (status == SILT_OK && request->local_time != NULL) {
        status = silt_scan_builder_local_time(builder, request->local_time, request->local_time_ctx, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_filter(builder, request->condition, err);
    }
    if (status == SILT_OK && beside != NULL) {
        status = silt_scan_builder_filter(builder, beside, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, call, out, err);
    }
    silt_scan_builder_free(builder);
    return status;
}

static silt_status note_rows(struct kept *kept, const struct sl_add *add, silt_error *err)
{
    int64_t rows = -1;
    if (kept->rows < 0) {
        return SILT_OK;
    }
    /* What cannot be read is not known: these are another writer's statistics. */
    if (sl_stats_count_rows(kept->txn->env, add->stats, &rows, NULL) == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (rows >= 0 && add->deletion_vector != NULL) {
        rows -= add->deletion_vector->cardinality;
    }
    if (rows < 0 || !sl_add_i64(kept->rows, rows, &kept->rows)) {
        kept->rows = -1;
    }
    return SILT_OK;
}

static silt_status remove_kept(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct kept *kept = ctx;
    struct sl_str path;
    (void)stop; /* every file is looked at */
    SL_TRY(sl_snapshot_file_path(kept->txn->snapshot, &kept->scratch, add->path, &path, err));
    const bool found = sl_map_find(&kept->paths, path) != NULL;
    sl_arena_reset(&kept->scratch);
    if (!found) {
        return SILT_OK;
    }
    SL_TRY(note_rows(kept, add, err));
    return sl_txn_remove_add(kept->txn, add, true, err);
}

static silt_status remove_files(silt_txn *txn, const silt_call *call, const silt_scan *scan, int64_t *rows,
                                silt_error *err)
{
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    struct kept kept = {.txn = txn};
    silt_status status = SILT_OK;
    sl_arena_init(&kept.scratch, txn->env);
    sl_map_init(&kept.paths, txn->env);
    for (size_t i = 0; i < plan->n_files && status == SILT_OK; i++) {
        bool inserted = false;
        status = sl_map_put(&kept.paths, sl_str_from(plan->files[i].path), &inserted) != NULL ? SILT_OK
                                                                                              : sl_fail_nomem(err);
    }
    if (status == SILT_OK && plan->n_files > 0) {
        status = sl_snapshot_each_file(txn->snapshot, call, SL_FILES_ALL, remove_kept, &kept, err);
    }
    if (status == SILT_OK && txn->removes.len != plan->n_files) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "%zu files were planned for, %zu of them are live", plan->n_files,
                         txn->removes.len);
    }
    sl_map_release(&kept.paths);
    sl_arena_release(&kept.scratch);
    *rows = kept.rows;
    return status;
}

/* Copied rows would be told as deleted and inserted ones, or lose their ids. */
static silt_status check_rewrite(const silt_txn *txn, const silt_scan *scan, silt_error *err)
{
    const struct sl_kv_list *config = &txn->metadata.configuration;
    const char *property = sl_property_bool(config, "delta.enableChangeDataFeed") ? "delta.enableChangeDataFeed"
                           : sl_property_bool(config, "delta.enableRowTracking")  ? "delta.enableRowTracking"
                                                                                  : NULL;
    const silt_scan_plan *plan = silt_scan_get_plan(scan);
    if (property == NULL || plan->n_files == 0) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_REPLACE_WHERE",
                                       "replacing rows by this condition would rewrite %zu files, which silt does not "
                                       "do on a table with %s",
                                       plan->n_files, property);
    sl_error_path(err, plan->files[0].path);
    sl_error_hint(err, "name partition columns only, so that whole files are replaced");
    return status;
}

/* Writes the rows of the files again for which `beside` is true. */
static silt_status rewrite(silt_txn *txn, const silt_call *call, const silt_scan *planned, silt_expr *beside,
                           silt_error *err)
{
    const silt_scan_plan *plan = silt_scan_get_plan(planned);
    struct sl_replace_view view;
    struct ArrowArrayStream rows = {0};
    silt_scan *scan = NULL;
    silt_status status = sl_replace_view_init(&view, txn, err);
    if (status == SILT_OK) {
        status = sl_scan_new(txn->snapshot, &scan, err);
    }
    for (size_t i = 0; i < plan->n_files && status == SILT_OK; i++) {
        status = sl_scan_add_file(scan, &plan->files[i], err); /* what it points to lives in `planned` */
    }
    if (status == SILT_OK) {
        sl_replace_view_finish(&view, txn, beside, scan);
        status = silt_scan_read(scan, call, &rows, err);
    }
    if (status == SILT_OK) {
        status = silt_txn_write(txn, call, &rows, err);
    }
    silt_scan_unref(scan);
    sl_replace_view_release(&view);
    return status;
}

static bool is_truth(const struct sl_expr_node *node)
{
    switch (node->kind) {
    case SL_EXPR_LITERAL: return node->value.is_null || node->value.kind == SILT_TYPE_BOOLEAN;
    case SL_EXPR_COLUMN:
    case SL_EXPR_CAST: return node->type != NULL && node->type->kind == SILT_TYPE_BOOLEAN;
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return false;
    default: return true;
    }
}

static silt_status check_request(const silt_txn *txn, const struct sl_txn_replace *request, silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    if (request == NULL || request->condition == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a condition says which rows are replaced; none was given");
    }
    if (txn->adds.len > 0 || txn->removes.len > 0) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "rows are replaced by a condition before files are added or removed, and once a transaction");
    }
    return sl_txn_check_removable(txn, true, err);
}

static silt_status set_metrics(silt_txn *txn, int64_t removed, silt_error *err)
{
    SL_TRY(silt_txn_set_metric(txn, "numAddedChangeFiles", 0, err));
    if (txn->removes.len == 0) {
        SL_TRY(silt_txn_set_metric(txn, "numRemovedFiles", 0, err));
        SL_TRY(silt_txn_set_metric(txn, "numRemovedBytes", 0, err));
    }
    if (removed >= 0 && txn->rows_added >= 0) {
        SL_TRY(silt_txn_set_metric(txn, "numCopiedRows", txn->rows_added, err));
        SL_TRY(silt_txn_set_metric(txn, "numDeletedRows", removed - txn->rows_added, err));
    }
    return SILT_OK;
}

/* All but the arguments' checks; request->condition is resolved. */
static silt_status replace(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request, silt_error *err)
{
    silt_expr *beside = NULL;
    silt_scan *touched = NULL;
    silt_scan *mixed = NULL;
    int64_t removed = -1;
    silt_status status = sl_replace_negate(request->condition, &beside, err);
    if (status == SILT_OK) {
        status = plan_files(txn, call, request, NULL, &touched, err);
    }
    if (status == SILT_OK) {
        status = plan_files(txn, call, request, beside, &mixed, err);
    }
    if (status == SILT_OK) {
        status = check_rewrite(txn, mixed, err);
    }
    if (status == SILT_OK) {
        status = remove_files(txn, call, touched, &removed, err);
    }
    if (status == SILT_OK && silt_scan_get_plan(mixed)->n_files > 0) {
        status = rewrite(txn, call, mixed, beside, err);
    }
    if (status == SILT_OK) {
        status = set_metrics(txn, removed, err);
    }
    silt_scan_unref(mixed);
    silt_scan_unref(touched);
    silt_expr_unref(beside);
    return status;
}

silt_status sl_txn_replace_where(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request,
                                 silt_error *err)
{
    silt_expr *condition = NULL;
    silt_error found = SILT_ERROR_INIT;
    SL_TRY(check_request(txn, request, err));
    SL_TRY(sl_expr_resolve(request->condition, txn->schema, &condition, err));
    if (!is_truth(condition->root)) {
        const silt_status refused = sl_fail(err, SILT_EINVALID, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
                                            "%s is no condition: it is neither true nor false",
                                            silt_expr_text(request->condition));
        silt_expr_unref(condition);
        return refused;
    }
    txn->replaces = condition;
    const struct sl_txn_replace resolved = {condition, request->local_time, request->local_time_ctx};
    silt_status status = silt_txn_read_predicate(txn, condition, &found);
    if (status == SILT_OK) {
        status = replace(txn, call, &resolved, &found);
    }
    txn->first_new = txn->adds.len;
    txn->rows_copied = txn->rows_added;
    if (status != SILT_OK && txn->fault == SILT_OK) {
        /* Rows may be taken out already: such a transaction must never be committed. */
        txn->fault = status;
        txn->fault_error = found;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

silt_status silt_txn_replace_where(silt_txn *txn, const silt_call *call, const silt_expr *predicate, silt_error *err)
{
    const struct sl_txn_replace request = {.condition = predicate};
    return sl_txn_replace_where(txn, call, &request, err);
}
