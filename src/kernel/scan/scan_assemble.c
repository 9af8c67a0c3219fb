/*
 * From what is wanted to a scan: facts of the filter, planning (scan_plan.c), the part of the filter that remains, the columns of
 * the plan, and the public silt_scan_plan. Called by the builder.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

#include "base/error.h"

/* ---- the filter ---- */

static silt_status find_partitions(silt_scan *scan, const silt_schema *schema, struct sl_partition_column **out,
                                   size_t *n, silt_error *err)
{
    *n = silt_snapshot_partition_count(scan->snapshot);
    *out = sl_arena_alloc_array(&scan->arena, *n + 1, sizeof(**out));
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < *n; i++) {
        const char *name = silt_snapshot_partition_column(scan->snapshot, i);
        const struct silt_field *field = sl_type_find(&schema->root, sl_str_from(name), NULL);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %s of the table is not in its schema", name);
        }
        (*out)[i] = sl_partition_column_of(field);
    }
    return SILT_OK;
}

/* The AND of the members that `wanted` says yes to; NULL when there is none. */
static silt_status join_members(silt_scan *scan, const bool *wanted, silt_expr **out, silt_error *err)
{
    *out = NULL;
    silt_status status = SILT_OK;
    struct sl_vec members;
    sl_vec_init(&members, scan->env, sizeof(silt_expr *));
    for (size_t i = 0; i < scan->facts.n_conjuncts && status == SILT_OK; i++) {
        silt_expr *member = NULL;
        if (!wanted[i]) {
            continue;
        }
        status = sl_expr_from_node(scan->env, scan->facts.conjuncts[i].node, &member, err);
        silt_expr **slot = status == SILT_OK ? sl_vec_push(&members) : NULL;
        if (slot != NULL) {
            *slot = member;
        } else if (status == SILT_OK) {
            silt_expr_unref(member);
            status = sl_fail_nomem(err);
        }
    }
    if (status == SILT_OK && members.len == 1) {
        *out = silt_expr_ref(*(silt_expr **)sl_vec_at(&members, 0));
    } else if (status == SILT_OK && members.len > 1) {
        status = silt_expr_and(scan->env, members.data, members.len, out, err);
    }
    for (size_t i = 0; i < members.len; i++) {
        silt_expr_unref(*(silt_expr **)sl_vec_at(&members, i));
    }
    sl_vec_release(&members);
    return status;
}

static silt_status split_filter(silt_scan *scan, bool *answered, silt_error *err)
{
    size_t n = scan->facts.n_conjuncts;
    bool *in_files = sl_arena_alloc_array(&scan->arena, n + 1, sizeof(*in_files));
    if (in_files == NULL) {
        return sl_fail_nomem(err);
    }
    bool all = n > 0;
    for (size_t i = 0; i < n; i++) {
        all = all && !answered[i];
        answered[i] = !answered[i]; /* from here on: remains */
        in_files[i] = answered[i] && scan->facts.conjuncts[i].uses_data && !scan->facts.conjuncts[i].uses_partition;
    }
    if (all) {
        scan->remaining = silt_expr_ref(scan->filter);
    } else {
        SL_TRY(join_members(scan, answered, &scan->remaining, err));
    }
    return join_members(scan, in_files, &scan->file_filter, err);
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

struct column_adder {
    const silt_schema *schema;
    struct sl_vec *columns;
};

static bool add_column(struct sl_vec *columns, size_t index)
{
    size_t *slot = holds(columns, index) ? NULL : sl_vec_push(columns);
    if (slot != NULL) {
        *slot = index;
    }
    return slot != NULL || holds(columns, index);
}

static bool add_filter_column(void *ctx, const struct sl_str *path, size_t path_len)
{
    struct column_adder *adder = ctx;
    size_t index = 0;
    if (path_len == 0 || sl_type_find(&adder->schema->root, path[0], &index) == NULL) {
        return true; /* resolved expressions name columns of the schema only */
    }
    return add_column(adder->columns, index);
}

/* Columns of the plan: the projected ones, those that the remaining filter needs, and at least one, for engines that cannot
 * read rows of no column. */
static silt_status choose_columns(const struct sl_scan_wish *wish, silt_scan *scan, struct sl_vec *columns,
                                  silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    size_t n = wish->all_columns ? schema->root.n_fields : wish->n_columns;
    bool good = sl_vec_reserve(columns, n + 1);
    for (size_t i = 0; i < n && good; i++) {
        good = add_column(columns, wish->all_columns ? i : wish->columns[i]);
    }
    scan->n_projected = n;
    struct column_adder adder = {schema, columns};
    if (good && scan->remaining != NULL) {
        good = sl_expr_columns_all(scan->remaining->root, add_filter_column, &adder);
    }
    if (good && columns->len == 0 && schema->root.n_fields > 0) {
        good = add_column(columns, 0);
    }
    return good ? SILT_OK : sl_fail_nomem(err);
}

static silt_status make_schemas(const struct sl_scan_wish *wish, silt_scan *scan, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    struct sl_vec columns;
    sl_vec_init(&columns, scan->env, sizeof(size_t));
    silt_status status = choose_columns(wish, scan, &columns, err);
    if (status == SILT_OK) {
        status = sl_schema_project(schema, columns.data, columns.len, &scan->plan_schema, err);
    }
    if (status == SILT_OK && scan->n_projected == columns.len) {
        scan->schema = silt_schema_ref(scan->plan_schema);
    } else if (status == SILT_OK) {
        status = sl_schema_project(schema, columns.data, scan->n_projected, &scan->schema, err);
    }
    sl_vec_release(&columns);
    return status;
}

static silt_status make_plan(silt_scan *scan, silt_error *err)
{
    const struct silt_type *root = &scan->plan_schema->root;
    silt_plan_column *sources = sl_arena_alloc_array(&scan->arena, root->n_fields + 1, sizeof(*sources));
    if (sources == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        size_t index = sl_scan_filter_partition(&scan->facts, root->fields[i].name);
        sources[i] = index != SIZE_MAX ? (silt_plan_column){SILT_FROM_PARTITION, (int32_t)index}
                                       : (silt_plan_column){SILT_FROM_FILE, -1};
    }
    scan->plan = (silt_scan_plan){
        .size = sizeof(silt_scan_plan),
        .storage = sl_snapshot_storage(scan->snapshot),
        .logical = scan->plan_schema,
        .physical = scan->plan_schema, /* the same names and types: tables with column mapping are refused */
        .columns = sources,
        .n_partition_columns = scan->facts.n_partitions,
        .files = scan->files.data,
        .n_files = scan->files.len,
        .filter = scan->remaining,
        .table = sl_snapshot_root(scan->snapshot).ptr,
        .version = silt_snapshot_version(scan->snapshot),
        .root = sl_snapshot_root(scan->snapshot).ptr,
    };
    return SILT_OK;
}

silt_status sl_scan_assemble(silt_scan *scan, const silt_call *call, const struct sl_scan_wish *wish, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    struct sl_partition_column *partitions = NULL;
    size_t n_partitions = 0;
    SL_TRY(find_partitions(scan, schema, &partitions, &n_partitions, err));
    SL_TRY(sl_scan_filter_make(&scan->arena, scan->filter, schema, partitions, n_partitions, &scan->facts, err));
    bool *answered = sl_arena_alloc_array(&scan->arena, scan->facts.n_conjuncts + 1, sizeof(*answered));
    if (answered == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_scan_plan_files(scan, call, answered, err));
    SL_TRY(split_filter(scan, answered, err));
    SL_TRY(make_schemas(wish, scan, err));
    return make_plan(scan, err);
}
