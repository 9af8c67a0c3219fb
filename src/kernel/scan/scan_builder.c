/*
 * The scan builder and the scan object: which columns, which filter; then the plan (scan_plan.c) and its last assembly into the
 * public silt_scan_plan.
 *
 * A builder has one owner. A built scan is immutable; its count is the only thing that changes.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

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
        (*out)[i] = (struct sl_partition_column){field->name, field->type};
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
static silt_status choose_columns(const silt_scan_builder *builder, silt_scan *scan, struct sl_vec *columns,
                                  silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(builder->snapshot);
    size_t n = builder->projected ? builder->columns.len : schema->root.n_fields;
    bool good = sl_vec_reserve(columns, n + 1);
    for (size_t i = 0; i < n && good; i++) {
        good = add_column(columns, builder->projected ? *(size_t *)sl_vec_at(&builder->columns, i) : i);
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

static silt_status make_schemas(const silt_scan_builder *builder, silt_scan *scan, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(builder->snapshot);
    struct sl_vec columns;
    sl_vec_init(&columns, scan->env, sizeof(size_t));
    silt_status status = choose_columns(builder, scan, &columns, err);
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
    int32_t *partition_index = sl_arena_alloc_array(&scan->arena, root->n_fields + 1, sizeof(*partition_index));
    if (partition_index == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        size_t index = sl_scan_filter_partition(&scan->facts, root->fields[i].name);
        partition_index[i] = index != SIZE_MAX ? (int32_t)index : -1;
    }
    scan->plan = (silt_scan_plan){
        .size = sizeof(silt_scan_plan),
        .storage = sl_snapshot_storage(scan->snapshot),
        .logical = scan->plan_schema,
        .physical = scan->plan_schema, /* the same names and types: tables with column mapping are refused */
        .partition_index = partition_index,
        .n_partition_columns = scan->facts.n_partitions,
        .files = scan->files.data,
        .n_files = scan->files.len,
        .filter = scan->remaining,
        .table = sl_snapshot_root(scan->snapshot).ptr,
        .version = silt_snapshot_version(scan->snapshot),
    };
    return SILT_OK;
}

static silt_status build(const silt_scan_builder *builder, const silt_call *call, silt_scan *scan, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    struct sl_partition_column *partitions = NULL;
    size_t n_partitions = 0;
    SL_TRY(join_filters(builder, scan, err));
    SL_TRY(find_partitions(scan, schema, &partitions, &n_partitions, err));
    SL_TRY(sl_scan_filter_make(&scan->arena, scan->filter, schema, partitions, n_partitions, &scan->facts, err));
    bool *answered = sl_arena_alloc_array(&scan->arena, scan->facts.n_conjuncts + 1, sizeof(*answered));
    if (answered == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_scan_plan_files(scan, call, answered, err));
    SL_TRY(split_filter(scan, answered, err));
    SL_TRY(make_schemas(builder, scan, err));
    return make_plan(scan, err);
}

silt_status silt_scan_builder_build(silt_scan_builder *builder, const silt_call *call, silt_scan **out, silt_error *err)
{
    if (builder == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a scan builder and a place for the scan are required");
    }
    *out = NULL;
    silt_scan *scan = sl_alloc_zero(builder->env, sizeof(*scan));
    if (scan == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&scan->refs, 1);
    scan->env = builder->env;
    scan->snapshot = silt_snapshot_ref(builder->snapshot);
    sl_arena_init(&scan->arena, scan->env);
    sl_vec_init(&scan->files, scan->env, sizeof(silt_plan_file));
    sl_vec_init(&scan->ordinals, scan->env, sizeof(int64_t));
    silt_status status = build(builder, call, scan, err);
    if (status != SILT_OK) {
        silt_scan_unref(scan);
        return status;
    }
    *out = scan;
    return SILT_OK;
}

/* ---- the scan ---- */

silt_scan *silt_scan_ref(silt_scan *scan)
{
    if (scan != NULL) {
        atomic_fetch_add_explicit(&scan->refs, 1, memory_order_relaxed);
    }
    return scan;
}

void silt_scan_unref(silt_scan *scan)
{
    if (scan == NULL || atomic_fetch_sub_explicit(&scan->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    silt_expr_unref(scan->file_filter);
    silt_expr_unref(scan->remaining);
    silt_expr_unref(scan->filter);
    silt_schema_unref(scan->schema);
    silt_schema_unref(scan->plan_schema);
    sl_vec_release(&scan->files);
    sl_vec_release(&scan->ordinals);
    sl_arena_release(&scan->arena);
    silt_snapshot_unref(scan->snapshot);
    sl_release(scan->env, scan, sizeof(*scan));
}

const silt_schema *silt_scan_schema(const silt_scan *scan)
{
    return scan != NULL ? scan->schema : NULL;
}

const silt_scan_plan *silt_scan_get_plan(const silt_scan *scan)
{
    return scan != NULL ? &scan->plan : NULL;
}

const silt_expr *silt_scan_remaining_filter(const silt_scan *scan)
{
    return scan != NULL ? scan->remaining : NULL;
}
