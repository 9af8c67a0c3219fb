/*
 * From what is wanted to a scan: facts of the filter, planning (scan_plan.c), the part of the filter that remains, the columns of
 * the plan (scan_columns.c). Called by the builder.
 */
#include "kernel/scan/scan_int.h"

#include <string.h>

#include "base/error.h"

/* ---- the filter ---- */

static silt_status find_partitions(silt_scan *scan, struct sl_partition_column **out, size_t *n, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    const silt_schema *physical = silt_snapshot_physical_schema(scan->snapshot);
    *n = silt_snapshot_partition_count(scan->snapshot);
    *out = sl_arena_alloc_array(&scan->arena, *n + 1, sizeof(**out));
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < *n; i++) {
        const char *name = silt_snapshot_partition_column(scan->snapshot, i);
        size_t index = 0;
        const struct silt_field *field = sl_type_find(&schema->root, sl_str_from(name), &index);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_PARTITION_COLUMN_NOT_FOUND",
                           "partition column %s of the table is not in its schema", name);
        }
        (*out)[i] = sl_partition_column_of(field, &physical->root.fields[index]);
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
        in_files[i] = answered[i] && scan->facts.conjuncts[i].uses_data && !scan->facts.conjuncts[i].uses_partition &&
                      !scan->facts.conjuncts[i].uses_metadata;
    }
    if (all) {
        scan->remaining = silt_expr_ref(scan->filter);
    } else {
        SL_TRY(join_members(scan, answered, &scan->remaining, err));
    }
    return join_members(scan, in_files, &scan->file_filter, err);
}

/* In the names that files have, so that readers can use their own statistics and indexes. */
static struct sl_str physical_name(void *ctx, const struct sl_str *path, size_t path_len, size_t level)
{
    const silt_scan *scan = ctx;
    struct sl_str names[SL_SCHEMA_MAX_DEPTH];
    (void)path_len;
    if (level >= SL_SCHEMA_MAX_DEPTH ||
        !sl_schema_physical_path(silt_snapshot_schema(scan->snapshot), silt_snapshot_physical_schema(scan->snapshot),
                                 path, level + 1, names)) {
        return (struct sl_str){NULL, 0};
    }
    return names[level];
}

static silt_status map_file_filter(silt_scan *scan, silt_error *err)
{
    if (scan->file_filter == NULL || sl_snapshot_mapping(scan->snapshot) == SL_MAPPING_NONE) {
        return SILT_OK;
    }
    silt_expr *mapped = NULL;
    SL_TRY(sl_expr_rename(scan->file_filter, physical_name, scan, &mapped, err));
    silt_expr_unref(scan->file_filter);
    scan->file_filter = mapped;
    return SILT_OK;
}

static silt_status make_facts(silt_scan *scan, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(scan->snapshot);
    struct sl_partition_column *partitions = NULL;
    size_t n_partitions = 0;
    SL_TRY(find_partitions(scan, &partitions, &n_partitions, err));
    SL_TRY(sl_scan_filter_make(&scan->arena, scan->filter, schema, partitions, n_partitions, &scan->facts, err));
    return sl_scan_filter_map(&scan->arena, schema, silt_snapshot_physical_schema(scan->snapshot), &scan->facts, err);
}

silt_status sl_scan_assemble(silt_scan *scan, const silt_call *call, const struct sl_scan_wish *wish, silt_error *err)
{
    SL_TRY(make_facts(scan, err));
    bool *answered = sl_arena_alloc_array(&scan->arena, scan->facts.n_conjuncts + 1, sizeof(*answered));
    if (answered == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_scan_plan_files(scan, call, wish, answered, err));
    SL_TRY(split_filter(scan, answered, err));
    SL_TRY(map_file_filter(scan, err));
    return sl_scan_choose_columns(scan, wish, err);
}
