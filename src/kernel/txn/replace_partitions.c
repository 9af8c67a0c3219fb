/*
 * Replacing whole partitions: those to which the transaction adds files. Partition values are compared as values of their types, so that
 * what two writers spell differently is one partition. Called after the last file was added. PROTOCOL.md "Partition Value Serialization".
 */
#include "kernel/txn/replace.h"

#include "base/error.h"
#include "kernel/scan/partition_prune.h"
#include "kernel/snapshot/state.h"
#include "kernel/txn/txn_write.h"
#include "schema/value.h"

/* More predicates than these cost more in a conflict check than they spare: then the whole table counts as read. */
#define MOST_PREDICATES 256

struct partitions {
    silt_txn *txn;
    const struct sl_txn_replace *request;
    struct sl_replace_view view;
    struct sl_scan_filter filter; /* of nothing: for the values alone */
    struct sl_partition_pruner pruner;
    struct sl_map written; /* keys of partitions that receive rows */
    struct sl_buf key;
};

/* Texts are of one value when they are equal: of the two zeroes, which are equal, one stands for both. */
static silt_value plain_value(const silt_value *value)
{
    silt_value plain = *value;
    const bool floating = value->kind == SILT_TYPE_FLOAT || value->kind == SILT_TYPE_DOUBLE;
    if (floating && !plain.is_null && plain.as.f64 == 0) {
        plain.as.f64 = 0;
    }
    return plain;
}

/* The values one after the other, each with its length before it; null is told apart from every text. */
static silt_status make_key(struct partitions *p, const struct sl_kv_list *values, struct sl_str path,
                            const struct sl_partition_tuple **tuple, silt_error *err)
{
    struct sl_buf text;
    silt_status status = sl_partition_pruner_find(&p->pruner, values, path, tuple, err);
    sl_buf_init(&text, p->txn->env);
    p->key.len = 0;
    for (size_t i = 0; i < p->view.n_partitions && status == SILT_OK; i++) {
        const silt_value value = plain_value(&(*tuple)->values[i]);
        text.len = 0;
        if (value.is_null) {
            sl_buf_put_char(&p->key, '-');
            continue;
        }
        status = sl_partition_value_format(&text, &value, err);
        sl_buf_printf(&p->key, "%zu:", text.len);
        sl_buf_put_str(&p->key, sl_buf_view(&text));
    }
    if (status == SILT_OK) {
        status = sl_buf_status(&text, err);
    }
    sl_buf_release(&text);
    return status == SILT_OK ? sl_buf_status(&p->key, err) : status;
}

static silt_status compare_value(const struct partitions *p, size_t column, const silt_value *value, silt_expr **out,
                                 silt_error *err)
{
    const char *name = p->view.partitions[column].name.ptr;
    silt_expr *left = NULL;
    silt_expr *right = NULL;
    silt_status status = silt_expr_column(p->txn->env, &name, 1, &left, err);
    if (status == SILT_OK) {
        status = silt_expr_literal(p->txn->env, value, &right, err);
    }
    if (status == SILT_OK) {
        status = silt_expr_compare(p->txn->env, SILT_COMPARE_NULL_SAFE_EQ, left, right, out, err);
    }
    silt_expr_unref(left);
    silt_expr_unref(right);
    return status;
}

static silt_status read_partition(struct partitions *p, const silt_value *values, silt_error *err)
{
    const size_t n = p->view.n_partitions;
    silt_expr **members = sl_arena_alloc_zero(&p->view.arena, (n + 1) * sizeof(silt_expr *));
    silt_expr *all = NULL;
    silt_status status = members != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        status = compare_value(p, i, &values[i], &members[i], err);
    }
    if (status == SILT_OK) {
        status = silt_expr_and(p->txn->env, (const silt_expr *const *)members, n, &all, err);
    }
    if (status == SILT_OK) {
        status = silt_txn_read_predicate(p->txn, all, err);
    }
    silt_expr_unref(all);
    for (size_t i = 0; members != NULL && i < n; i++) {
        silt_expr_unref(members[i]);
    }
    return status;
}

static silt_status note_written(struct partitions *p, silt_error *err)
{
    for (size_t i = 0; i < p->txn->adds.len; i++) {
        const struct sl_add *add = &sl_txn_action_at(&p->txn->adds, i)->u.add;
        const struct sl_partition_tuple *tuple = NULL;
        bool inserted = false;
        SL_TRY(make_key(p, &add->partition_values, add->path, &tuple, err));
        const struct sl_str key = sl_arena_copy(&p->view.arena, sl_buf_view(&p->key));
        if (key.ptr == NULL || sl_map_put(&p->written, key, &inserted) == NULL) {
            return sl_fail_nomem(err);
        }
        if (!inserted) {
            continue;
        }
        if (p->written.len <= MOST_PREDICATES) {
            SL_TRY(read_partition(p, tuple->values, err));
        } else {
            SL_TRY(silt_txn_read_predicate(p->txn, NULL, err));
        }
    }
    return SILT_OK;
}

static silt_status remove_older(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct partitions *p = ctx;
    const struct sl_partition_tuple *tuple = NULL;
    (void)stop; /* every file is looked at */
    SL_TRY(make_key(p, &add->partition_values, add->path, &tuple, err));
    return sl_map_find(&p->written, sl_buf_view(&p->key)) != NULL ? sl_txn_remove_add(p->txn, add, true, err) : SILT_OK;
}

static silt_status overwrite(struct partitions *p, const silt_call *call, silt_error *err)
{
    SL_TRY(sl_replace_view_init(&p->view, p->txn, err));
    SL_TRY(sl_scan_filter_make(&p->view.arena, NULL, p->txn->schema, p->view.partitions, p->view.n_partitions,
                               &p->filter, err));
    sl_partition_pruner_init(&p->pruner, &p->view.arena, &p->filter);
    p->pruner.local_time = p->request->local_time;
    p->pruner.local_time_ctx = p->request->local_time_ctx;
    silt_status status = note_written(p, err);
    if (status == SILT_OK && p->txn->adds.len > 0) {
        status = sl_snapshot_each_file(p->txn->snapshot, call, SL_FILES_ALL, remove_older, p, err);
    }
    sl_partition_pruner_release(&p->pruner);
    return status;
}

silt_status sl_txn_overwrite_partitions(silt_txn *txn, const silt_call *call, const struct sl_txn_replace *request,
                                        silt_error *err)
{
    SL_TRY(sl_txn_check_open(txn, err));
    SL_TRY(sl_txn_check_removable(txn, true, err));
    if (txn->replaces != NULL || txn->removes.len > 0) {
        return sl_fail(err, SILT_EINVALID, "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE",
                       "the transaction replaces other rows already");
    }
    if (txn->metadata.partition_columns.n == 0) {
        return silt_txn_remove_all(txn, call, err);
    }
    struct partitions p = {.txn = txn, .request = request};
    silt_error found = SILT_ERROR_INIT;
    sl_map_init(&p.written, txn->env);
    sl_buf_init(&p.key, txn->env);
    const silt_status status = overwrite(&p, call, &found);
    sl_buf_release(&p.key);
    sl_map_release(&p.written);
    sl_replace_view_release(&p.view);
    if (status != SILT_OK) {
        txn->fault = status; /* some files are removed and some not */
        txn->fault_error = found;
        return sl_txn_check_open(txn, err);
    }
    return SILT_OK;
}

silt_status silt_txn_overwrite_partitions(silt_txn *txn, const silt_call *call, silt_error *err)
{
    const struct sl_txn_replace utc = {.local_time = NULL};
    return sl_txn_overwrite_partitions(txn, call, &utc, err);
}
