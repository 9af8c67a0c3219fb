/*
 * Analysis of a scan's filter: splits it into AND members and collects the columns they name. Pure; called by the scan
 * builder, and by tests. Recursion happens only in src/expr, whose trees have a depth limit.
 */
#include "kernel/scan/scan_filter.h"

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

struct analysis {
    const struct sl_scan_filter *filter; /* partitions are set */
    const silt_schema *schema;
    struct sl_vec conjuncts; /* struct sl_conjunct */
    struct sl_vec columns;   /* struct sl_skip_column */
    struct sl_conjunct *current;
    bool failed; /* out of memory */
};

bool sl_path_equal(const struct sl_str *a, size_t a_len, const struct sl_str *b, size_t b_len)
{
    if (a_len != b_len) {
        return false;
    }
    for (size_t i = 0; i < a_len; i++) {
        if (!sl_str_eq(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

/*
 * PROTOCOL: an empty string of any type is null. A required column has no nulls: Delta Spark writes empty text of a required text
 * column as it is, and to read null there would be a value that the schema excludes.
 */
struct sl_partition_column sl_partition_column_of(const struct silt_field *field)
{
    const bool keeps_empty = field->type->kind == SILT_TYPE_STRING && !field->nullable;
    return (struct sl_partition_column){field->name, field->type, keeps_empty};
}

struct sl_str sl_partition_text(const struct sl_partition_column *column, const struct sl_kv_list *values)
{
    bool found = false;
    const struct sl_str text = sl_kv_get(values, column->name, &found);
    return text.len > 0 || column->keeps_empty ? text : (struct sl_str){NULL, 0};
}

size_t sl_scan_filter_partition(const struct sl_scan_filter *filter, struct sl_str name)
{
    for (size_t i = 0; i < filter->n_partitions; i++) {
        if (sl_str_eq(filter->partitions[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Statistics of nested columns carry no bounds, and what their null counts count differs between writers. */
static bool has_statistics(const struct silt_type *type)
{
    return !sl_type_is_nested(type) && type->kind != SILT_TYPE_VARIANT && type->kind != SILT_TYPE_VOID;
}

static bool remember_column(struct analysis *a, const struct sl_str *path, size_t path_len)
{
    for (size_t i = 0; i < a->columns.len; i++) {
        const struct sl_skip_column *known = sl_vec_at(&a->columns, i);
        if (sl_path_equal(known->path, known->path_len, path, path_len)) {
            return true;
        }
    }
    const struct silt_field *field = sl_schema_find_path(a->schema, path, path_len);
    if (field == NULL || !has_statistics(field->type)) {
        return true;
    }
    struct sl_skip_column *column = sl_vec_push(&a->columns);
    if (column == NULL) {
        a->failed = true;
        return false;
    }
    *column = (struct sl_skip_column){.path = path, .path_len = path_len, .type = field->type, .physical_path = path};
    return true;
}

/* A test for sl_expr_columns_all that looks at every column: true goes on. */
static bool visit_column(void *ctx, const struct sl_str *path, size_t path_len)
{
    struct analysis *a = ctx;
    if (path_len == 1 && sl_scan_filter_partition(a->filter, path[0]) != SIZE_MAX) {
        a->current->uses_partition = true;
        return true;
    }
    a->current->uses_data = true;
    return remember_column(a, path, path_len);
}

static void visit_conjunct(void *ctx, const struct sl_expr_node *node)
{
    struct analysis *a = ctx;
    a->current = sl_vec_push(&a->conjuncts);
    if (a->current == NULL) {
        a->failed = true;
        return;
    }
    a->current->node = node;
    (void)sl_expr_columns_all(node, visit_column, a); /* stops early only when `failed` was set */
}

static const void *copy_items(struct sl_arena *arena, const struct sl_vec *items)
{
    void *copy = sl_arena_alloc_array(arena, items->len + 1, items->elem_size);
    if (copy != NULL && items->len > 0) {
        memcpy(copy, items->data, items->len * items->elem_size);
    }
    return copy;
}

silt_status sl_scan_filter_make(struct sl_arena *arena, const silt_expr *predicate, const silt_schema *schema,
                                const struct sl_partition_column *partitions, size_t n_partitions,
                                struct sl_scan_filter *out, silt_error *err)
{
    *out = (struct sl_scan_filter){.partitions = partitions, .n_partitions = n_partitions};
    if (predicate == NULL) {
        return SILT_OK;
    }
    silt_status status = SILT_OK;
    struct analysis a = {.filter = out, .schema = schema};
    sl_vec_init(&a.conjuncts, arena->env, sizeof(struct sl_conjunct));
    sl_vec_init(&a.columns, arena->env, sizeof(struct sl_skip_column));
    sl_expr_each_conjunct(predicate->root, visit_conjunct, &a);
    const struct sl_conjunct *conjuncts = a.failed ? NULL : copy_items(arena, &a.conjuncts);
    const struct sl_skip_column *columns = a.failed ? NULL : copy_items(arena, &a.columns);
    if (conjuncts == NULL || columns == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    out->conjuncts = conjuncts;
    out->n_conjuncts = a.conjuncts.len;
    out->columns = columns;
    out->n_columns = a.columns.len;
out:
    sl_vec_release(&a.conjuncts);
    sl_vec_release(&a.columns);
    return status;
}
