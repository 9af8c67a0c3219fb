/*
 * Reading files within a transaction, by the schema that it gives the table; see replace.h.
 */
#include "kernel/txn/replace.h"

#include "base/error.h"
#include "schema/value.h"

static silt_status find_partitions(struct sl_replace_view *view, const silt_txn *txn, silt_error *err)
{
    const struct sl_str_list *columns = &txn->metadata.partition_columns;
    struct sl_partition_column *partitions = sl_arena_alloc_array(&view->arena, columns->n + 1, sizeof(*partitions));
    silt_plan_column *sources = sl_arena_alloc_array(&view->arena, txn->schema->root.n_fields + 1, sizeof(*sources));
    if (partitions == NULL || sources == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < txn->schema->root.n_fields; i++) {
        sources[i] = (silt_plan_column){SILT_FROM_FILE, -1};
    }
    for (size_t i = 0; i < columns->n; i++) {
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&txn->schema->root, columns->items[i], &index);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %.*s is not in the table's schema", SL_FMT(columns->items[i]));
        }
        partitions[i] = sl_partition_column_of(field, &view->physical->root.fields[index]);
        sources[index] = (silt_plan_column){SILT_FROM_PARTITION, (int32_t)i};
    }
    view->partitions = partitions;
    view->n_partitions = columns->n;
    view->sources = sources;
    return SILT_OK;
}

silt_status sl_replace_view_init(struct sl_replace_view *view, const silt_txn *txn, silt_error *err)
{
    *view = (struct sl_replace_view){.physical = silt_schema_ref(txn->physical)};
    sl_arena_init(&view->arena, txn->env);
    return find_partitions(view, txn, err);
}

void sl_replace_view_release(struct sl_replace_view *view)
{
    silt_schema_unref(view->physical);
    sl_arena_release(&view->arena);
    *view = (struct sl_replace_view){.physical = NULL};
}

void sl_replace_view_finish(const struct sl_replace_view *view, const silt_txn *txn, silt_expr *filter, silt_scan *scan)
{
    const struct sl_scan_parts parts = {.logical = txn->schema,
                                        .physical = view->physical,
                                        .sources = view->sources,
                                        .n_constants = view->n_partitions,
                                        .filter = filter};
    sl_scan_finish(scan, &parts);
}

silt_status sl_replace_negate(const silt_expr *condition, silt_expr **out, silt_error *err)
{
    const silt_value yes = sl_value_bool(true);
    silt_expr *literal = NULL;
    silt_expr *is_true = NULL;
    silt_status status = silt_expr_literal(condition->env, &yes, &literal, err);
    if (status == SILT_OK) {
        status = silt_expr_compare(condition->env, SILT_COMPARE_NULL_SAFE_EQ, condition, literal, &is_true, err);
    }
    if (status == SILT_OK) {
        status = silt_expr_not(condition->env, is_true, out, err);
    }
    silt_expr_unref(is_true);
    silt_expr_unref(literal);
    return status;
}
