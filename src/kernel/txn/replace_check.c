/*
 * Do the rows that a transaction adds fulfil the condition whose rows it replaces? Told by the files as they were written, so that what is
 * judged is what readers will see: partition values and statistics first, and only where these leave a doubt by the rows
 * themselves. Called before the commit, once.
 */
#include "kernel/txn/replace.h"

#include "base/arrow.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/scan/data_skip.h"
#include "kernel/snapshot/state.h"

struct judge {
    silt_txn *txn;
    const struct sl_replace_view *view;
    struct sl_scan_filter filter; /* rows that must not be there */
    struct sl_partition_pruner pruner;
    struct sl_bounds *bounds;
    silt_scan *scan; /* of the files in doubt */
    size_t n_doubts;
};

static silt_status init_judge(struct judge *judge, const silt_expr *forbidden, struct sl_arena *arena, silt_error *err)
{
    const silt_txn *txn = judge->txn;
    SL_TRY(sl_scan_filter_make(arena, forbidden, txn->schema, judge->view->partitions, judge->view->n_partitions,
                               &judge->filter, err));
    SL_TRY(sl_scan_filter_map(arena, txn->schema, judge->view->physical, &judge->filter, err));
    judge->bounds = sl_arena_alloc_array(arena, judge->filter.n_columns + 1, sizeof(*judge->bounds));
    return judge->bounds != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Absolute, decoded, and as the file system knows it if it does. */
static silt_status find_path(const struct judge *judge, struct sl_arena *arena, const struct sl_add *add,
                             silt_plan_file *out, silt_error *err)
{
    char local[8192];
    struct sl_str path;
    SL_TRY(sl_snapshot_file_path(judge->txn->snapshot, arena, add->path, &path, err));
    out->path = path.ptr;
    const silt_status status = silt_storage_local_path(judge->txn->storage, path.ptr, local, sizeof(local), NULL);
    if (status == SILT_OK) {
        out->local_path = sl_arena_strdup(arena, sl_str_from(local));
        return out->local_path != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    return status == SILT_ENOMEM ? sl_fail_nomem(err) : SILT_OK;
}

static silt_status judge_add(struct judge *judge, const struct sl_add *add, silt_error *err)
{
    struct sl_arena *arena = sl_scan_arena(judge->scan);
    const struct sl_partition_tuple *tuple = NULL;
    SL_TRY(sl_partition_pruner_find(&judge->pruner, &add->partition_values, add->path, &tuple, err));
    if (tuple->dropped) {
        return SILT_OK;
    }
    if (judge->filter.n_columns > 0) {
        SL_TRY(sl_stats_bounds_from_json(add->stats, judge->filter.columns, judge->filter.n_columns, arena,
                                         judge->bounds, err));
        if (!sl_data_skip_may_match(&judge->filter, tuple, judge->bounds, arena)) {
            return SILT_OK;
        }
    }
    silt_plan_file file = {.size_bytes = add->size,
                           .modified_ms = add->modification_time,
                           .partition_values = tuple->values,
                           .num_records = -1,
                           .base_row_id = -1,
                           .row_commit_version = -1};
    SL_TRY(find_path(judge, arena, add, &file, err));
    judge->n_doubts++;
    return sl_scan_add_file(judge->scan, &file, err);
}

static silt_status fail_mismatch(const silt_txn *txn, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_ECONSTRAINT, "DELTA_REPLACE_WHERE_MISMATCH",
                                       "rows that are written do not fulfil the condition of what they replace, %s",
                                       silt_expr_text(txn->replaces));
    sl_error_hint(err, "the condition must be true for every row that is written; null is not true");
    return status;
}

static silt_status read_doubts(const struct judge *judge, const silt_call *call, silt_error *err)
{
    struct ArrowArrayStream rows = {0};
    bool found = false;
    bool done = false;
    SL_TRY(silt_scan_read(judge->scan, call, &rows, err));
    silt_status status = SILT_OK;
    while (status == SILT_OK && !done && !found) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(&rows, &batch, &done, err);
        found = status == SILT_OK && !done && batch.length > 0;
        sl_arrow_array_release(&batch);
    }
    sl_arrow_stream_release(&rows);
    return status == SILT_OK && found ? fail_mismatch(judge->txn, err) : status;
}

silt_status sl_replace_check(silt_txn *txn, const silt_call *call, silt_error *err)
{
    struct sl_replace_view view = {.physical = NULL};
    struct judge judge = {.txn = txn, .view = &view};
    silt_expr *forbidden = NULL;
    if (txn->replaces == NULL || txn->adds.len <= txn->first_new) {
        return SILT_OK;
    }
    silt_status status = sl_replace_view_init(&view, txn, err);
    if (status == SILT_OK) {
        status = sl_replace_negate(txn->replaces, &forbidden, err);
    }
    if (status == SILT_OK) {
        status = sl_scan_new(txn->snapshot, &judge.scan, err);
    }
    if (status == SILT_OK) {
        status = init_judge(&judge, forbidden, sl_scan_arena(judge.scan), err);
    }
    if (status == SILT_OK) {
        sl_partition_pruner_init(&judge.pruner, sl_scan_arena(judge.scan), &judge.filter);
        for (size_t i = txn->first_new; i < txn->adds.len && status == SILT_OK; i++) {
            status = judge_add(&judge, &sl_txn_action_at(&txn->adds, i)->u.add, err);
        }
        sl_partition_pruner_release(&judge.pruner);
    }
    if (status == SILT_OK && judge.n_doubts > 0) {
        sl_replace_view_finish(&view, txn, forbidden, judge.scan);
        status = read_doubts(&judge, call, err);
    }
    silt_scan_unref(judge.scan);
    silt_expr_unref(forbidden);
    sl_replace_view_release(&view);
    return status;
}
