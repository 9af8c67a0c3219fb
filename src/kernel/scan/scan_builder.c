/*
 * The scan builder: which columns and which rows are wanted, checked against the snapshot's schema as they are named. What is made
 * of them is in scan_assemble.c. A builder has one owner.
 */
#include "kernel/scan/scan_int.h"

#include "base/alloc.h"
#include "base/error.h"

struct silt_scan_builder {
    const silt_env *env;
    silt_snapshot *snapshot; /* a reference */
    struct sl_vec columns;   /* size_t: places in the schema, as projected */
    bool projected;
    struct sl_vec filters; /* silt_expr *, resolved, a reference each */
};

/* ---- builder ---- */

silt_status silt_scan_builder_new(silt_snapshot *snapshot, silt_scan_builder **out, silt_error *err)
{
    if (out == NULL || snapshot == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a snapshot and a place for the scan builder are required");
    }
    *out = NULL;
    const silt_env *env = silt_engine_env(sl_snapshot_engine(snapshot));
    silt_scan_builder *builder = sl_alloc_zero(env, sizeof(*builder));
    if (builder == NULL) {
        return sl_fail_nomem(err);
    }
    builder->env = env;
    builder->snapshot = silt_snapshot_ref(snapshot);
    sl_vec_init(&builder->columns, env, sizeof(size_t));
    sl_vec_init(&builder->filters, env, sizeof(silt_expr *));
    *out = builder;
    return SILT_OK;
}

static silt_expr *filter_at(const silt_scan_builder *builder, size_t index)
{
    return *(silt_expr **)sl_vec_at(&builder->filters, index);
}

void silt_scan_builder_free(silt_scan_builder *builder)
{
    if (builder == NULL) {
        return;
    }
    for (size_t i = 0; i < builder->filters.len; i++) {
        silt_expr_unref(filter_at(builder, i));
    }
    sl_vec_release(&builder->filters);
    sl_vec_release(&builder->columns);
    silt_snapshot_unref(builder->snapshot);
    sl_release(builder->env, builder, sizeof(*builder));
}

/* Names the column and, when one is near, the column that may have been meant. */
static silt_status fail_unknown_column(const silt_schema *schema, const char *name, silt_error *err)
{
    struct sl_str wanted = sl_str_from(name);
    const size_t limit = wanted.len / 2 + 1; /* half of it may be wrong */
    size_t best = limit + 1;
    const struct silt_field *nearest = NULL;
    for (size_t i = 0; i < schema->root.n_fields; i++) {
        size_t distance = sl_str_distance(wanted, schema->root.fields[i].name, limit);
        if (distance < best) {
            best = distance;
            nearest = &schema->root.fields[i];
        }
    }
    silt_status status = sl_fail(err, SILT_ESCHEMA, "DELTA_COLUMN_NOT_FOUND", "column %s is not in the table's schema",
                                 name);
    if (nearest != NULL) {
        sl_error_hint(err, "did you mean %.*s?", SL_FMT(nearest->name));
    }
    return status;
}

static bool holds(const struct sl_vec *columns, size_t index)
{
    for (size_t i = 0; i < columns->len; i++) {
        if (*(size_t *)sl_vec_at(columns, i) == index) {
            return true;
        }
    }
    return false;
}

static silt_status find_columns(const silt_schema *schema, const char *const *columns, size_t n, struct sl_vec *found,
                                silt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (columns[i] == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "column %zu of a projection has no name", i);
        }
        size_t index = 0;
        if (sl_type_find(&schema->root, sl_str_from(columns[i]), &index) == NULL) {
            return fail_unknown_column(schema, columns[i], err);
        }
        if (holds(found, index)) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND",
                           "column %s is in a projection more than once", columns[i]);
        }
        size_t *slot = sl_vec_push(found);
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        *slot = index;
    }
    return SILT_OK;
}

silt_status silt_scan_builder_project(silt_scan_builder *builder, const char *const *columns, size_t n, silt_error *err)
{
    if (builder == NULL || (columns == NULL && n > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and column names are required");
    }
    struct sl_vec found;
    sl_vec_init(&found, builder->env, sizeof(size_t));
    silt_status status = find_columns(silt_snapshot_schema(builder->snapshot), columns, n, &found, err);
    if (status != SILT_OK) {
        sl_vec_release(&found);
        return status;
    }
    sl_vec_release(&builder->columns);
    builder->columns = found;
    builder->projected = true;
    return SILT_OK;
}

silt_status silt_scan_builder_filter(silt_scan_builder *builder, const silt_expr *predicate, silt_error *err)
{
    if (builder == NULL || predicate == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and a predicate are required");
    }
    silt_expr *resolved = NULL;
    SL_TRY(sl_expr_resolve(predicate, silt_snapshot_schema(builder->snapshot), &resolved, err));
    silt_expr **slot = sl_vec_push(&builder->filters);
    if (slot == NULL) {
        silt_expr_unref(resolved);
        return sl_fail_nomem(err);
    }
    *slot = resolved;
    return SILT_OK;
}

/* ---- building ---- */

static silt_status join_filters(const silt_scan_builder *builder, silt_scan *scan, silt_error *err)
{
    if (builder->filters.len == 0) {
        return SILT_OK;
    }
    if (builder->filters.len == 1) {
        scan->filter = silt_expr_ref(filter_at(builder, 0));
        return SILT_OK;
    }
    return silt_expr_and(scan->env, builder->filters.data, builder->filters.len, &scan->filter, err);
}

silt_status silt_scan_builder_build(silt_scan_builder *builder, const silt_call *call, silt_scan **out, silt_error *err)
{
    if (builder == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and a place for the scan are required");
    }
    *out = NULL;
    silt_scan *scan = NULL;
    SL_TRY(sl_scan_new(builder->snapshot, &scan, err));
    silt_status status = join_filters(builder, scan, err);
    if (status == SILT_OK) {
        struct sl_scan_wish wish = {builder->columns.data, builder->columns.len, !builder->projected};
        status = sl_scan_assemble(scan, call, &wish, err);
    }
    if (status != SILT_OK) {
        silt_scan_unref(scan);
        return status;
    }
    *out = scan;
    return SILT_OK;
}
