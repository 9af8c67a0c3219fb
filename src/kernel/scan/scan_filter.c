/*
 * Analysis of a scan's filter: splits it into AND members and collects the columns they name. Pure; called by the scan
 * builder, and by tests. Recursion happens only in src/expr, whose trees have a depth limit.
 */
#include "kernel/scan/scan_filter.h"

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "schema/column_mapping.h"
#include "schema/type_change.h"

struct analysis {
    const struct sl_scan_filter *filter; /* partitions are set */
    const silt_schema *schema;
    struct sl_vec conjuncts; /* struct sl_conjunct */
    struct sl_vec columns;   /* struct sl_skip_column */
    struct sl_conjunct *current;
    struct sl_arena *arena;
    silt_status status;
    silt_error *err;
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
struct sl_partition_column sl_partition_column_of(const struct silt_field *field, const struct silt_field *physical)
{
    struct sl_partition_column column = {
        .name = field->name,
        .type = field->type,
        .keeps_empty = field->type->kind == SILT_TYPE_STRING && !field->nullable,
        .collated = sl_field_is_collated(field) || sl_field_has_char(field),
        .physical = physical->name,
    };
    if (physical == field) {
        column.other = sl_field_meta_text(field, SL_STR("delta.columnMapping.physicalName"));
    }
    return column;
}

struct sl_str sl_partition_text(const struct sl_partition_column *column, const struct sl_kv_list *values)
{
    bool found = false;
    struct sl_str text = sl_kv_get(values, column->physical, &found);
    if (!found && column->other.ptr != NULL) {
        text = sl_kv_get(values, column->other, &found);
    }
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
    const struct silt_field *top = sl_schema_find_path(a->schema, path, 1);
    struct sl_skip_column *column = sl_vec_push(&a->columns);
    if (column == NULL) {
        a->status = sl_fail_nomem(a->err);
        return false;
    }
    *column = (struct sl_skip_column){.path = path,
                                      .path_len = path_len,
                                      .type = field->type,
                                      .physical_path = path,
                                      .collated = sl_field_is_collated(field) ||
                                                  (top != NULL && sl_field_has_char(top))};
    a->status = sl_field_earlier_types(a->arena, field, &column->earlier, &column->n_earlier, a->err);
    return a->status == SILT_OK;
}

/* A test for sl_expr_columns_all that looks at every column: true goes on. */
static bool visit_column(void *ctx, const struct sl_str *path, size_t path_len)
{
    struct analysis *a = ctx;
    if (path_len == 1 && sl_scan_filter_partition(a->filter, path[0]) != SIZE_MAX) {
        a->current->uses_partition = true;
        return true;
    }
    if (path_len > 0 && sl_type_find(&a->schema->root, path[0], NULL) == NULL) {
        a->current->uses_metadata = true;
        return true;
    }
    a->current->uses_data = true;
    return remember_column(a, path, path_len);
}

static void visit_conjunct(void *ctx, const struct sl_expr_node *node)
{
    struct analysis *a = ctx;
    if (a->status != SILT_OK) {
        return;
    }
    a->current = sl_vec_push(&a->conjuncts);
    if (a->current == NULL) {
        a->status = sl_fail_nomem(a->err);
        return;
    }
    a->current->node = node;
    (void)sl_expr_columns_all(node, visit_column, a); /* stops early only when the status says why */
}

static void *copy_items(struct sl_arena *arena, const struct sl_vec *items)
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
    struct analysis a = {.filter = out, .schema = schema, .arena = arena, .err = err};
    sl_vec_init(&a.conjuncts, arena->env, sizeof(struct sl_conjunct));
    sl_vec_init(&a.columns, arena->env, sizeof(struct sl_skip_column));
    sl_expr_each_conjunct(predicate->root, visit_conjunct, &a);
    const struct sl_conjunct *conjuncts = NULL;
    struct sl_skip_column *columns = NULL;
    if (a.status == SILT_OK) {
        conjuncts = copy_items(arena, &a.conjuncts);
        columns = copy_items(arena, &a.columns);
        a.status = conjuncts != NULL && columns != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (a.status == SILT_OK) {
        out->conjuncts = conjuncts;
        out->n_conjuncts = a.conjuncts.len;
        out->columns = columns;
        out->n_columns = a.columns.len;
    }
    sl_vec_release(&a.conjuncts);
    sl_vec_release(&a.columns);
    return a.status;
}

silt_status sl_scan_filter_map(struct sl_arena *arena, const silt_schema *schema, const silt_schema *physical,
                               struct sl_scan_filter *filter, silt_error *err)
{
    for (size_t i = 0; i < filter->n_columns && physical != schema; i++) {
        struct sl_skip_column *column = &filter->columns[i];
        struct sl_str *path = sl_arena_alloc_array(arena, column->path_len, sizeof(*path));
        if (path == NULL) {
            return sl_fail_nomem(err);
        }
        if (!sl_schema_physical_path(schema, physical, column->path, column->path_len, path)) {
            return sl_fail(err, SILT_EINVALID, NULL, "a column of the filter is not in the schema");
        }
        column->physical_path = path;
    }
    return SILT_OK;
}
